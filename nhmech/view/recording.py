"""A run as one self-contained HTML file. No server, no browser, no network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..control.path_reference import path_of
from ..paths import replace_file
from .animation import animate
from .overlays import make_overlays
from .page import render_recording
from .scene import Scene


def save_html(vehicle, trajectory, path, fps: float = 30.0, overlays: Sequence = (), *,
              follow: bool | None = None, title: str | None = None) -> Path:
    """Write a page of about 1 MB that plays `trajectory` and can be handed on as it is; returns its
    path.

    `vehicle` has name, model, visual_model, ground, contact_points(q) -> (n, 3) [m] and
    contact_names; `trajectory` has t (N,) [s] and q (N, nq), for some overlays also v and u.

    Parameters
    ----------
    overlays
        Names out of `nhmech.view.overlays`, such as "forces"; or overlays, such as `Ghost(vehicle,
        other_run, "other")`. "path" is the one that the run's controller followed.
    follow
        Whether the camera goes along; where None, if the way is long.
    title
        In the page's corner; the vehicle's name where None.
    """
    drawn = make_overlays(vehicle, overlays, path=path_of(trajectory))
    messages = animate(Scene(vehicle), trajectory, fps, drawn, follow, title)
    page = render_recording(messages, title or vehicle.name)
    with replace_file(path) as new:
        new.write_text(page, encoding="utf-8")
    return Path(path)
