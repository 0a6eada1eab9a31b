"""Words that a shell completes: shipped robots, controllers and paths, besides files."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def complete_robot(context: click.Context, parameter: click.Parameter,
                   begun: str) -> list[CompletionItem]:
    """Shipped robots that begin with the word; files if there are none."""
    from ..paths import urdf_names

    return _complete(begun, urdf_names())


def complete_path(context: click.Context, parameter: click.Parameter,
                  begun: str) -> list[CompletionItem]:
    """Paths of the library that begin with the word; files if there are none."""
    from ..control.path_library import PATHS

    return _complete(begun, PATHS)


def complete_controller(context: click.Context, parameter: click.Parameter,
                        begun: str) -> list[CompletionItem]:
    """Controllers that begin with the word; files if there are none."""
    from ..control.registry import controller_names

    return _complete(begun, controller_names())


def _complete(begun: str, words: Iterable[str]) -> list[CompletionItem]:
    found = [CompletionItem(word) for word in words if word.startswith(begun)]
    return found or [CompletionItem(begun, type="file")]


robot_argument = click.argument("file", shell_complete=complete_robot)
