"""The forces of the ground at each state of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

import numpy as np

from ...once import cached_property
from ...vehicle.reactions import Reactions
from ...vehicle.vehicle import Vehicle
from ..contact.contact_forces import ContactForces, world_forces


class ReactionsAlong(Sequence[Reactions]):
    """`Reactions` at each state t (N,), q (N, nq) of a run; `find` computes the forces at all
    states at once."""

    def __init__(self, vehicle: Vehicle, t: np.ndarray, q: np.ndarray,
                 find: Callable[[], ContactForces]):
        self._vehicle = vehicle
        self._t, self._q = t, q
        self._find = find

    def __repr__(self) -> str:
        return f"<ReactionsAlong {len(self)} states>"

    def __len__(self) -> int:
        return len(self._t)

    @cached_property
    def found(self) -> ContactForces:
        """The forces at all states, as arrays."""
        return self._find()

    @cached_property
    def world(self) -> np.ndarray:
        """Force on each contact in W at each state, (N, contacts, 3) [N]."""
        return world_forces(self._vehicle, self._t, self._q, self.found)

    @overload
    def __getitem__(self, k: int) -> Reactions: ...

    @overload
    def __getitem__(self, k: slice) -> list[Reactions]: ...

    def __getitem__(self, k: int | slice) -> Reactions | list[Reactions]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        k = range(len(self))[k]
        return self.found.at(k, self._vehicle, self._t[k], self._q[k])

    def component(self, wheel: str, direction: str) -> np.ndarray:
        """Force on a wheel in one direction [N], (N,)."""
        return self.found.component(wheel, direction)
