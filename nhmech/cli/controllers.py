"""`nhmech controllers`: the controllers that come with the package."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

from .completion import complete_controller

if TYPE_CHECKING:
    from ..control.registry import Parameter


@click.command(short_help="List the controllers, or show one with its parameters.")
@click.argument("name", required=False, shell_complete=complete_controller)
def controllers(name: str | None) -> None:
    """List the controllers for `nhmech run --controller`, or show the equations and parameters of
    one, NAME.

    \b
    nhmech controllers
    nhmech controllers twist
    """
    from ..control.registry import (
        controller_class,
        controller_names,
        controller_parameters,
        one_line,
        settable_parameters,
    )

    if name is None:
        names = controller_names()
        width = max(map(len, names))
        for each in names:
            click.echo(f"{each:<{width}}  {one_line(controller_class(each))}")
        return
    controller = controller_class(name)
    known = controller_parameters(controller)
    click.echo(inspect.getdoc(controller))
    click.echo()
    options = {"path": "--path NAME or FILE.csv", "speed": "--speed",
               "twist": "--speed, or --set twist=FORWARD,LATERAL,TURN"}
    for key, text in options.items():
        if key in known:
            click.echo(f"{key:<10} {text}{_default(known[key])}")
    for key, parameter in settable_parameters(controller).items():
        click.echo(f"{key:<10} --set {key}=...{_default(parameter)}")


def _default(parameter: Parameter) -> str:
    if parameter.required or (parameter.name == "twist" and parameter.default is None):
        return " (needed)"
    return f" (default: {parameter.default})"
