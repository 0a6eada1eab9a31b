"""A run inside a notebook."""

from __future__ import annotations

import tempfile
from html import escape
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..systems.example import Example
from .drawable import Drawable, Motion
from .recording import save_html


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


def show(vehicle: Drawable | Example, trajectory: Motion, *, height: int = 460,
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
        if isinstance(vehicle, Example):
            from .system_picture import save_system_html

            save_system_html(vehicle, trajectory, page, **options)
        else:
            save_html(vehicle, trajectory, page, **options)
        return NotebookPage(page.read_text(encoding="utf-8"), height)
