"""Trajectories on the screen or in a file, for the commands that have one."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

import click


def has_browser() -> bool:
    """Whether a browser could open a window here."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def write_html(vehicle, trajectory, path: Path) -> None:
    """Writes one self-contained HTML file and prints where it is."""
    from ..view.recording import save_html

    save_html(vehicle, trajectory, path)
    click.echo(f"html     {Path(path).resolve()}")


def play(vehicle, trajectory, speed: float, *, instead: Path, written: bool = False) -> None:
    """Plays once in the browser; where none opens, writes the HTML file `instead`, unless it is `written` already."""
    if has_browser():
        from ..view.viewer import Viewer

        with Viewer(vehicle, open_browser=True) as viewer:
            viewer.display(trajectory.q[0])
            if viewer.wait_for_browser(20.0):
                click.echo(f"playing  {viewer.url}  (Ctrl-C ends it)")
                try:
                    viewer.play(trajectory, speed)
                except KeyboardInterrupt:
                    pass
                return
    click.echo("no browser could be opened here; the HTML file plays in any", err=True)
    if not written:
        write_html(vehicle, trajectory, instead)
