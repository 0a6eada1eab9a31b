from .catalogue import load_system as load_system, system_names as system_names
from .example import Check as Check, Example as Example
from .shapes import Shape as Shape
