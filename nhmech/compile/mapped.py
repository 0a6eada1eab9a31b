"""What `lanes` does, in CasADi's virtual machine: for machines without a compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from .lanes import FALLEN, NOT_FINITE, OFF, RAN, SINGULAR, LaneState, Limits


@dataclass(frozen=True)
class Mapped:
    """(t, x, u, theta, dt) -> (x, health) mapped over the cases; the interface of `Lanes`."""

    step: ca.Function
    width: int = 1
    _made: dict = field(default_factory=dict)

    def run(
        self,
        state: LaneState,
        u: np.ndarray,
        theta: np.ndarray,
        *,
        dt: float,
        k0: int,
        steps: int,
        limits: Limits,
        hold: int = 1,
        every: int = 1,
        record: np.ndarray | None = None,
        spread: Callable = map,
        parts: int = 1,
    ) -> None:
        """As `Lanes.run`; `parts` are threads of CasADi's, and `spread` is not used."""
        mapped = self._mapped(state.count, parts)
        for k in range(k0, k0 + steps):
            if record is not None and k % every == 0:
                record[k // every] = state.x
            held = u[k // hold] if u.ndim == 3 else u
            after, found = (out.full() for out in mapped(k * dt, state.x, held.T, theta.T, dt))
            alive = state.status == RAN
            low, high = np.minimum(found[2], state.health[2]), np.maximum(found[2], state.health[2])
            finite = np.isfinite(after).all(axis=0) & np.isfinite(found).all(axis=0)
            cases = [~finite, found[0] > limits.loose, (low < limits.flat) & (high > 1.5 * low),
                     found[1] * state.side < limits.poor]
            why = np.select(cases, [NOT_FINITE, OFF, FALLEN, SINGULAR], RAN)
            bad = alive & (why != RAN)
            state.status[bad], state.done[bad] = why[bad], k
            taken = alive & ~bad
            state.x[:, taken] = after[:, taken]
            state.health[:, taken] = found[:, taken]

    def _mapped(self, count: int, threads: int) -> ca.Function:
        key = count, threads
        if key not in self._made:
            self._made.clear()
            self._made[key] = self.step.map(count, "thread",
                                            threads) if threads > 1 else self.step.map(count)
        return self._made[key]
