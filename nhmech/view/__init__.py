"""Seeing it: a live viewer on meshcat, self-contained HTML recordings, and pictures of them."""

from .picture import save_gif, screenshot
from .recording import save_html
from .viewer import Viewer

__all__ = ["Viewer", "save_gif", "save_html", "screenshot"]
