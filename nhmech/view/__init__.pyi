from . import plots as plots
from .drive import Drive as Drive
from .movie import save_movie as save_movie
from .overlays.forces import Forces as Forces
from .overlays.ghost import Ghost as Ghost
from .overlays.path import ReferencePath as ReferencePath
from .overlays.rotation_centre import RotationCentre as RotationCentre
from .picture import screenshot as screenshot
from .recording import save_html as save_html, show as show
from .report import save_report as save_report
from .viewer import Viewer as Viewer
from .written_page import save_page as save_page
