"""Results from the equations of motion: steady motions, stability, limits of rolling, structure."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
