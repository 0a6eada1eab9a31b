from .bridge import Bridge as Bridge
from .settings import Settings as Settings
