"""The loop over many cases in CasADi's virtual machine, for machines without a compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from .lanes import LaneState
from .status import Status


@dataclass(frozen=True)
class MappedLanes:
    """The interface of `Lanes`, for a step (t, x, u, theta, dt, side, guard) -> (x, health, status)
    that CasADi maps over the cases."""

    step: ca.Function
    width: int = 1
    _made: dict[tuple[int, int], ca.Function] = field(default_factory=dict)

    def run(self, state: LaneState, u: np.ndarray, theta: np.ndarray, *, dt: float, k0: int,
            steps: int, hold: int = 1, every: int = 1, record: np.ndarray | None = None,
            spread: Callable = map, parts: int = 1, mended: int = 1) -> None:
        """As `Lanes.run`, but every step is projected, `parts` is the number of CasADi's threads,
        and `spread` is not used."""
        mapped = self._map_step(state.count, parts)
        for k in range(k0, k0 + steps):
            if record is not None and k % every == 0:
                record[k // every] = state.x
            held = u[k // hold] if u.ndim == 3 else u
            inputs = k * dt, state.x, held.T, theta.T, dt, state.side[None], state.health[2:]
            after, found, answer = (out.full() for out in mapped(*inputs))
            alive = state.status == Status.DONE
            refused = alive & (answer[0] != Status.DONE)
            taken = alive & ~refused
            state.status[refused], state.done[refused] = answer[0, refused], k
            state.x[:, taken] = after[:, taken]
            state.health[:2, alive] = found[:2, alive]
            state.health[2, taken] = found[2, taken]

    def bind(self, state: LaneState, u: np.ndarray, theta: np.ndarray, *, dt: float,
             steps: int) -> Callable[[], None]:
        """As `Lanes.bind`."""
        return lambda: self.run(state, u, theta, dt=dt, k0=0, steps=steps)

    def _map_step(self, count: int, threads: int) -> ca.Function:
        key = count, threads
        if key not in self._made:
            self._made.clear()
            how = ("thread", threads) if threads > 1 else ()
            self._made[key] = self.step.map(count, *how)
        return self._made[key]
