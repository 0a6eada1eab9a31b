"""How an error is told at the command line, and the exit code that it gives."""

from __future__ import annotations

import click

from ..errors import NhmechError, SimulationError

BAD_INPUT, STOPPED = 2, 3


def tell(error: NhmechError | OSError) -> int:
    """Print an error of this package, or one about a file, in the words of the command line.

    Returns the exit code.
    """
    text = (error.command_line if isinstance(error, NhmechError)
            else f"{error.filename}: {error.strerror or error}")
    click.secho("error: ", err=True, fg="red", nl=False)
    click.echo(text, err=True)
    return STOPPED if isinstance(error, SimulationError) else BAD_INPUT
