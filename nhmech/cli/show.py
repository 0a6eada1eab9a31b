"""Trajectories on the screen or in a file, for the commands that have one."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

import click

from .saved import unused


def has_browser() -> bool:
    """Whether a browser could open a window here."""
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def write_html(vehicle, trajectory, path: Path, look: dict) -> None:
    """Writes one self-contained HTML file and prints where it is. `look` as from `looks.look`."""
    click.echo(f"html     {save_page(vehicle, trajectory, path, look).resolve()}")


def save_page(vehicle, trajectory, path: Path, look: dict) -> Path:
    """`nhmech.view.save_html`, imported when it is called."""
    from ..view.recording import save_html

    return save_html(vehicle, trajectory, path, **look)


def play(vehicle, trajectory, speed: float, look: dict, *, instead: Path,
         written: bool = False) -> None:
    """Plays once in the browser; where none opens, writes the HTML file `instead`, unless `written`
    says it is there.

    It is numbered where that name is taken.
    """
    if has_browser():
        from ..view.viewer import Viewer

        with Viewer(vehicle, open_browser=True,
                    **look | {"follow": look["follow"] is not False}) as viewer:
            if viewer.wait_for_browser(20.0):
                click.echo(f"playing  {viewer.url}  (Ctrl-C ends it)")
                try:
                    viewer.play(trajectory, speed)
                except KeyboardInterrupt:
                    pass
                return
    click.echo("no browser could be opened here; the HTML file plays in any", err=True)
    if not written:
        write_html(vehicle, trajectory, unused(instead), look)
