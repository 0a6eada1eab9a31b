"""The description of a robot from its file, notices about it, and the kinds of wheels."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
