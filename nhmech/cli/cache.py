"""`nhmech cache`: the compiled code that is kept between runs."""

from __future__ import annotations

import click


@click.command(short_help="Show or clear the compiled code that is kept between runs.")
@click.option("--clear", is_flag=True,
              help="Remove all entries; each is compiled anew when it is next needed.")
def cache(clear: bool) -> None:
    """Show where compiled code is kept, how much of it there is, and which compiler makes it.

    \b
    nhmech cache
    nhmech cache --clear

    The folder is $NHMECH_CACHE, or nhmech in the user's cache folder; the compiler is $CC, or cc,
    gcc or clang.
    """
    from ..compile.cache import default_cache
    from ..compile.compiler import find_compiler

    kept = default_cache()
    if clear:
        click.echo(f"removed  {kept.clear()} entries")
    compiler = find_compiler()
    note = "  (of this process only: the usual one is not private)" if kept.temporary else ""
    click.echo(f"folder   {kept.folder}{note}")
    click.echo(f"entries  {len(kept.entries())}, {kept.size() / 1e6:.2f} MB")
    click.echo(f"compiler {compiler} ({compiler.version})" if compiler else
               "compiler none: runs use the virtual machine of CasADi")
