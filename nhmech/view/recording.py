"""A run as one self-contained HTML file. No server, no browser, no network."""

from __future__ import annotations

from pathlib import Path

from .animation import animate
from .page import recorded_page
from .scene import Scene


def save_html(vehicle, trajectory, path, fps: float = 30.0) -> Path:
    """Write a page of about 1 MB that plays `trajectory` and can be handed on as it is; returns its path.

    `vehicle` has name, model, visual_model, ground, contact_points(q) -> (n, 3) [m] and contact_names; `trajectory` has t (N,) [s] and q (N, nq).
    """
    page = recorded_page(animate(Scene(vehicle), trajectory, fps), vehicle.name)
    Path(path).write_text(page, encoding="utf-8")
    return Path(path)
