"""Controllers, callables `(t, state) -> Command`, and the paths they follow."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
