"""Seeing it: a live viewer on meshcat, self-contained HTML recordings, and pictures of them."""

from .movie import save_gif, save_movie
from .notebook import show
from .overlays.ghost import Ghost
from .picture import screenshot
from .recording import save_html
from .viewer import Viewer

__all__ = ["Ghost", "Viewer", "save_gif", "save_html", "save_movie", "screenshot", "show"]
