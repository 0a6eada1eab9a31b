"""A run as one self-contained HTML file. No server, no browser, no network."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from ..control.path_reference import path_of
from ..paths import replace_file
from .animation import animate
from .drawable import Drawable, Motion
from .overlays import make_overlays
from .overlays.overlay import Overlay
from .page import render_recording
from .scene import Scene


def save_html(vehicle: Drawable, trajectory: Motion, path: str | PathLike[str], fps: float = 30.0,
              overlays: Sequence[str | Overlay] = (), *, follow: bool | None = None,
              title: str | None = None) -> Path:
    """Writes a page that plays a run and can be handed on as it is; returns its path.

    It has about 1 MB and needs no network.

    Parameters
    ----------
    vehicle
        The vehicle, or anything with name, model, visual_model, ground, contact_points(q) -> (n, 3)
        [m] and contact_names.
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

    Examples
    --------
    >>> run = Simulator(vehicle).run(0.1)
    >>> nhmech.save_html(vehicle, run, tmp_path / "run.html").stat().st_size > 100_000
    True
    """
    made = make_overlays(vehicle, overlays, path=path_of(trajectory))
    messages = animate(Scene(vehicle), trajectory, fps, made, follow, title)
    page = render_recording(messages, title or vehicle.name)
    with replace_file(path) as new:
        new.write_text(page, encoding="utf-8")
    return Path(path)
