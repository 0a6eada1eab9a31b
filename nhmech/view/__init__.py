"""Seeing it: a live viewer on meshcat, self-contained HTML recordings, pictures and plots."""

from typing import TYPE_CHECKING

from .. import lazy

if TYPE_CHECKING:
    from . import plots as plots
    from .movie import save_gif as save_gif, save_movie as save_movie
    from .notebook import show as show
    from .overlays.forces import Forces as Forces
    from .overlays.ghost import Ghost as Ghost
    from .overlays.path import ReferencePath as ReferencePath
    from .overlays.rotation_centre import RotationCentre as RotationCentre
    from .picture import screenshot as screenshot
    from .recording import save_html as save_html
    from .report import save_report as save_report
    from .viewer import Viewer as Viewer

lazy.attach(__name__, {
    "": "plots",
    "movie": "save_gif save_movie",
    "notebook": "show",
    "overlays.forces": "Forces",
    "overlays.ghost": "Ghost",
    "overlays.path": "ReferencePath",
    "overlays.rotation_centre": "RotationCentre",
    "picture": "screenshot",
    "recording": "save_html",
    "report": "save_report",
    "viewer": "Viewer",
})
