"""The step of a vehicle as a differentiable function of PyTorch and of JAX."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
