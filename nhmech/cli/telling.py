"""How an error is told at the command line, and the exit code that it gives."""

from __future__ import annotations

import click

from ..errors import NhmechError, SimulationError

BAD_INPUT, STOPPED = 2, 3


def tell(error: NhmechError | OSError) -> int:
    """Prints an error of this package, or one about a file, in the words of the command line.
    Returns the exit code."""
    from .wording import in_options

    click.secho("error: ", err=True, fg="red", nl=False)
    about_a_file = isinstance(error, OSError)
    click.echo(f"{error.filename}: {error.strerror or error}" if about_a_file
               else in_options(str(error)), err=True)
    return STOPPED if isinstance(error, SimulationError) else BAD_INPUT
