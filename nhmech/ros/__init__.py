"""A vehicle as a ROS node: the bridge, which knows no ROS, and the nodes around it."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
