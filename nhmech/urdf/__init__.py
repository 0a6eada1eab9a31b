"""What is read of a robot's file: its description, notices about it, and the kinds of wheels."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
