"""The command `nhmech`: one file per subcommand, imported when it is called.

Exit codes: 0 done, 2 bad input, 3 the run was stopped by a failure.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

from ..ctrl_c import hear_ctrl_c
from ..errors import did_you_mean
from ..version import __version__
from .failures import keep_going, printable_messages

# each is the function of the same name in the module of the same name, with _ behind a word of
# Python's own
COMMANDS = ("run", "drive", "page", "controllers", "inspect", "limits", "view", "plot", "report",
            "export", "import", "odometry", "live", "dds", "systems", "cache")


def _throw_output_away() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _stop_with_the_reader() -> Iterator[None]:
    """A reader that closes the pipe, as `head` does, is no error; click would exit with an error
    code."""
    try:
        yield
    except BrokenPipeError:
        _throw_output_away()
        sys.exit(0)


class Commands(click.Group):
    """A group that imports a subcommand when it is called, and turns the errors of this package
    into messages and exit codes."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the command. A standard output that cannot be written ends it with one line; a
        closed pipe ends it without a message."""
        if getattr(sys.stdout, "errors", "") == "strict" and hasattr(sys.stdout, "reconfigure"):
            # what the terminal's encoding lacks, bytes of a file's name too, is shown as an escape
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            try:
                return super().main(*args, **kwargs)
            finally:
                sys.stdout.flush()
        except OSError as error:      # files have errors of their own
            if error.errno not in (errno.ENOSPC, errno.EIO, errno.EPIPE):
                raise
            # what is left in the buffer would fail again at the end of the process
            _throw_output_away()
            if error.errno == errno.EPIPE:
                sys.exit(0)
            click.echo(f"Error: standard output cannot be written: {error.strerror}", err=True)
            sys.exit(3)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """The context of the command."""
        with printable_messages(), _stop_with_the_reader():
            return super().make_context(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The subcommands in the order of `COMMANDS`."""
        return list(COMMANDS)

    def resolve_command(self, ctx: click.Context, args: list[str],
                        ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand that begins with this word; an error names the nearest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"{error.message.rstrip('.')}"
                                   f"{did_you_mean(args[0], COMMANDS)}", ctx) from error

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The subcommand of this name."""
        if name not in COMMANDS:
            return None
        place = f"{name}_" if iskeyword(name) else name
        return getattr(import_module(f".{place}", __name__), place)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a subcommand."""
        codes: list[int] = []
        with hear_ctrl_c(), keep_going(codes), printable_messages(), _stop_with_the_reader():
            return super().invoke(ctx)
        ctx.exit(codes[0])


@click.group(cls=Commands,
             context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="nhmech")
def main() -> None:
    """Exact nonholonomic simulation of wheeled robots from their URDF.

    \b
    nhmech run carriage --view            watch a shipped robot in the browser
    nhmech drive carriage                 drive it yourself, by keys, gamepad or touch
    nhmech run robot.urdf --html run.html drive your own, as an HTML file that plays by itself
    nhmech inspect robot.urdf             list the wheels and joints that were found, and why
    nhmech systems check                  compare textbook systems with closed forms

    Exit codes: 0 done, 2 bad input, 3 the run was stopped by a failure.
    """
