"""Seeing it: a live viewer on meshcat, self-contained HTML recordings, pictures and plots."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
