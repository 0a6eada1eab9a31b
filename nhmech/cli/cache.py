"""`nhmech cache`: the compiled code and the equations that are kept between runs."""

from __future__ import annotations

import click


@click.command(short_help="Show or clear the cache.")
@click.option("--clear", is_flag=True,
              help="Remove all entries; each is built again when it is next needed.")
def cache(clear: bool) -> None:
    """Show where compiled code and equations of motion are kept, how much of both there is, and
    which compiler makes the code.

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
        click.echo(f"removed   {kept.clear()} entries")
    compiler = find_compiler()
    note = "  (of this process only: the usual one is not private)" if kept.temporary else ""
    click.echo(f"folder    {kept.folder}{note}")
    for what, entries in (("code     ", kept.entries()), ("equations", kept.equations())):
        size = sum(path.stat().st_size for path in entries)
        click.echo(f"{what} {len(entries)}, {size / 1e6:.2f} MB")
    click.echo(f"compiler  {compiler} ({compiler.version})" if compiler else
               "compiler  none: runs use the virtual machine of CasADi")
