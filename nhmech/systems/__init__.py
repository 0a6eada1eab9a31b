"""Textbook systems, one file each: a derivation, and what it is held against."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
