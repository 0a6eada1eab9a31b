"""A run on the screen, for the commands that play one."""

from __future__ import annotations

import os
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..ctrl_c import forget_ctrl_c
from ..paths import free_path
from .looks import Look

if TYPE_CHECKING:
    from ..view.drawable import Drawable, Playable


def has_browser() -> bool:
    """Whether a browser could open a window here."""
    if sys.platform.startswith("linux") and not (
            os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def play(vehicle: Drawable, trajectory: Playable, speed: float, look: Look,
         instead: Path | None) -> None:
    """Play a run once in the browser. `instead`: HTML file to write if no browser opens, numbered
    if the name is taken; None if one has been written already."""
    if has_browser():
        from ..view.viewer import Viewer

        with Viewer(vehicle, open_browser=True, overlays=look.overlays,
                    follow=look.follow is not False, title=look.title) as viewer:
            if viewer.wait_for_browser(20.0):
                click.echo(f"playing  {viewer.url}  (Ctrl-C ends it)")
                with suppress(KeyboardInterrupt):
                    viewer.play(trajectory, speed)
                forget_ctrl_c()
                return
    if instead is not None:
        look.write_html(vehicle, trajectory, free_path(instead))
    click.echo("no browser could be opened; the HTML file plays in any browser", err=True)
