"""A run as one self-contained HTML page, in a file or in a notebook. No server, no browser, no
network."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from ..checks import check_arguments
from ..control.path_reference import path_of
from ..ctrl_c import hear_ctrl_c
from ..errors import InputError
from ..paths import replace_file
from ..simulation.simulated import Simulated
from ..systems.example import Example
from .animation import animate
from .drawable import Drawable, Playable
from .overlays import make_overlays
from .overlays.overlay import Overlay
from .page import render_recording
from .scene import Scene
from .system_picture import as_drawable


@check_arguments
@hear_ctrl_c()
def save_html(vehicle: Drawable | Example | Simulated, trajectory: Playable,
              path: str | PathLike[str], fps: float = 30.0,
              overlays: Sequence[str | Overlay] = (), *, follow: bool | None = None,
              title: str | None = None) -> Path:
    """Writes a self-contained HTML page that plays a run, and returns its path.

    The file has about 1 MB and needs no network.

    Parameters
    ----------
    vehicle
        The vehicle, a textbook system, what a trajectory has as `simulated`, or anything with name,
        model, visual_model, ground, contact_points(q) -> (n, 3) [m] and contact_names.
    trajectory
        The run, or anything with t (N,) [s] and q (N, nq); some overlays need v and u too.
    path
        The file to write, `.html`.
    fps
        Frames per second of its animation.
    overlays
        What is drawn on top: names such as "forces" and "rotation_centre", "path" for the path that
        the run's controller followed, or overlays such as `Ghost(vehicle, other_run, "other")`.
    follow
        Whether the camera moves along; None lets it follow a long path.
    title
        In the page's corner; None takes the vehicle's name.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        For what cannot be drawn, and for the run of another vehicle or system.

    Examples
    --------
    >>> run = Simulator(vehicle).run(0.1)
    >>> nhmech.save_html(vehicle, run, tmp_path / "run.html").stat().st_size > 100_000
    True
    """
    drawn, motion = as_drawable(vehicle, trajectory)
    made = make_overlays(drawn, overlays, path=path_of(trajectory))
    messages = animate(Scene(drawn), motion, fps, made, follow, title)
    page = render_recording(messages, title or drawn.name)
    with replace_file(path) as new:
        new.write_text(page, encoding="utf-8")
    return Path(path)


class NotebookPage:
    """The page of a run; Jupyter displays it in place, with its play controls."""

    def __init__(self, page: str, height: int):
        self.page, self.height = page, height

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{escape(self.page, quote=True)}" width="100%" '
                f'height="{self.height}" style="border: 0; border-radius: 8px" '
                'title="the run, with play controls"></iframe>')

    def __repr__(self) -> str:
        return (f"<NotebookPage of {len(self.page) / 1e6:.1f} MB, which a notebook displays; "
                "nhmech.save_html writes it to a file>")


@check_arguments
def show(vehicle: Drawable | Example | Simulated, trajectory: Playable, *, height: int = 460,
         **options: Any) -> NotebookPage:
    """A run as an animation that a notebook displays in place.

    It is the self-contained page of `save_html` in a frame, about 1 MB a cell.

    Parameters
    ----------
    vehicle
        A vehicle, or a textbook system from `nhmech.systems.load_system`.
    trajectory
        Its run.
    height
        Of the frame [pixels].
    options
        Those of `save_html`, such as overlays=["rotation_centre"].

    Examples
    --------
    show(vehicle, run)
    """
    if not (isinstance(height, int) and height > 0):
        raise InputError(f"height = {height!r} must be a positive number of pixels")
    with tempfile.TemporaryDirectory(prefix="nhmech-") as folder:
        page = Path(folder) / "run.html"
        save_html(vehicle, trajectory, page, **options)
        return NotebookPage(page.read_text(encoding="utf-8"), height)
