from .bridge import Bridge as Bridge, Diagnostic as Diagnostic, Odometry as Odometry
from .node import Node as Node
from .settings import Settings as Settings
