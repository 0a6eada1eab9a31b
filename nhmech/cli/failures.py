"""Error messages and exit codes of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from ..errors import NhmechError, OutputError, SimulationError, printable

BAD_INPUT, STOPPED = 2, 3


def report_error(error: NhmechError | OSError) -> int:
    """Print an error of this package, or one about a file, in the words of the command line, and
    return the exit code."""
    if isinstance(error, NhmechError):
        text = error.command_line
    else:
        text = f"{error.filename}: {error.strerror or error}"
    click.secho("error: ", err=True, fg="red", nl=False)
    click.echo(text, err=True)
    return STOPPED if isinstance(error, (SimulationError, OutputError)) else BAD_INPUT


@contextmanager
def keep_going(codes: list[int]) -> Iterator[None]:
    """Reports an error of the block and appends its exit code; the program goes on."""
    try:
        yield
    except (NhmechError, OSError) as error:
        if isinstance(error, OSError) and error.filename is None:
            raise
        codes.append(report_error(error))


@contextmanager
def printable_messages() -> Iterator[None]:
    """Messages of click about wrong words show control characters as escapes."""
    try:
        yield
    except click.ClickException as error:
        vars(error)["message"] = printable(error.message)
        raise
