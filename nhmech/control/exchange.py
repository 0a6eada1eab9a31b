"""Controllers that are exchanged for one another while a run goes on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..checks import read_word
from ..simulation.command import Command, Controller
from ..simulation.state import State
from .combinators import NOTHING_YET, Combinator


class Exchange(Combinator):
    """One of several controllers by name, at first the first: `chosen` commands. A controller that
    takes over is reset, so that it begins with the current state."""

    def __init__(self, controllers: Mapping[str, Controller]):
        super().__init__(*controllers.values())
        self.controllers = dict(controllers)
        self.chosen = next(iter(self.controllers))

    def choose(self, name: str) -> None:
        """Hands over to another one, from its next call on. Raises `InputError` for a name that
        there is not."""
        read_word("controller", name, self.controllers)
        controller = self.controllers[name]
        if name != self.chosen and hasattr(controller, "reset"):
            controller.reset()
        self.chosen = name

    def __call__(self, t: float, state: State) -> Command:
        return self.controllers[self.chosen](t, state)

    @property
    def commanded_twist(self) -> np.ndarray | None:
        """That of the chosen controller."""
        twists = dict(zip(self.controllers, self._inner_twists()))
        active = twists[self.chosen]
        known = any(twist is not None for twist in twists.values())
        return NOTHING_YET if active is None and known else active
