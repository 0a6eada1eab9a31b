"""Nonholonomic mechanics on Lie algebroids: systems, distributions, equations, symmetry."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
