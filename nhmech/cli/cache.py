"""`nhmech cache`: the compiled code that is kept between runs."""

from __future__ import annotations

import click


@click.command()
@click.option("--clear", is_flag=True,
              help="Remove all entries; each is compiled anew when it is next needed.")
def cache(clear):
    """Show where compiled code is kept, how much of it there is, and with what it was made.

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
    alone = "  (of this process only: the usual one is not private)" if kept.temporary else ""
    click.echo(f"folder   {kept.folder}{alone}")
    click.echo(f"entries  {len(kept.entries())}, {kept.size() / 1e6:.2f} MB")
    by = (
        f"{compiler} ({compiler.version})"
        if compiler
        else "none: runs use the virtual machine of CasADi"
    )
    click.echo(f"compiler {by}")
