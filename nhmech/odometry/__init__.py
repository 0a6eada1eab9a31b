"""Logged odometry against the ideal rolling of its own wheels."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
