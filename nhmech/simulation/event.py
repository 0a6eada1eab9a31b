"""Moments that end or mark a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .state import State


@dataclass(frozen=True)
class Event:
    """A zero of `function(t, state)`.

    terminal   ends the run there; otherwise the moment is only noted in `trajectory.events`
    direction  +1 rising zeros only, -1 falling ones only, 0 both
    limit      the function is to stay positive: a run that starts where it is not, with the first command, has its
               event at the start
    """

    name: str
    function: Callable[[float, State], float]
    terminal: bool = True
    direction: int = 0
    limit: bool = False

    def crossed(self, before: float, after: float) -> bool:
        """Whether the function went through zero between two values."""
        rising, falling = before < 0 <= after, before > 0 >= after
        return (rising and self.direction >= 0) or (falling and self.direction <= 0)
