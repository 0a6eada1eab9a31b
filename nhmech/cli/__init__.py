"""The command `nhmech`: one file per subcommand, imported when it is called.

Exit codes: 0 done, 2 bad input, 3 the run was stopped by a failure.
"""

from __future__ import annotations

from importlib import import_module

import click

from ..errors import NhmechError
from ..version import __version__
from .telling import tell

# each is the function of the same name in the module of the same name
COMMANDS = ("run", "controllers", "inspect", "view", "plot", "report", "export", "systems", "cache")


class Commands(click.Group):
    """A group that imports a subcommand only when it is wanted, and turns our errors into messages
    and exit codes."""

    def list_commands(self, ctx):
        return list(COMMANDS)

    def get_command(self, ctx, name):
        if name not in COMMANDS:
            return None
        return getattr(import_module(f".{name}", __name__), name)

    def invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except NhmechError as error:
            ctx.exit(tell(error))
        except OSError as error:
            if error.filename is None:
                raise
            ctx.exit(tell(error))


@click.group(cls=Commands,
             context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="nhmech")
def main():
    """Exact nonholonomic simulation of wheeled robots from their URDF.

    \b
    nhmech run carriage --view            drive a shipped robot in the browser
    nhmech run robot.urdf --html run.html your own, as one HTML file that plays by itself
    nhmech inspect robot.urdf             which wheels and joints were found, and why
    nhmech systems check                  textbook systems, held against closed forms

    Exit codes: 0 done, 2 bad input, 3 the run was stopped by a failure.
    """
