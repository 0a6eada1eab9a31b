"""The bound at which rolling ends: friction no longer suffices, a wheel lifts off, a body lands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...mechanics.distribution import Component
from ...mechanics.equations import Equations
from ...once import once
from ...urdf.notice import Notice
from ...vehicle.contact_forces import contact_force_function
from ...vehicle.vehicle import Vehicle
from ..state import State
from ..state_vector import state_symbols


@dataclass(frozen=True, eq=False)
class RollingBound:
    """A bound on a run: its one margin is positive while friction suffices for rolling, all wheels
    press on the ground, and no body touches it."""

    vehicle: Vehicle
    split: np.ndarray  # 1 / mu of each contact (k,), zero if it cannot slip; compiled code reads it
    # (t, q, theta) -> height of the lowest body (1,) [m]; None if only wheels can touch the ground
    lowest_body: ca.Function | None
    names: tuple[str, ...]  # name of the event
    # the margin at a state of a run [N, m]; infinite after rolling has ended
    room: Callable[[State], float]
    notices: tuple[Notice, ...] = ()  # about parts that are not watched

    def __repr__(self) -> str:
        return f"<RollingBound of {self.vehicle.name!r}>"

    def margins(self, state: State) -> list[float]:
        """The margin, as a list of one number."""
        return [self.room(state)]

    def along(self, equations: Equations) -> ca.Function:
        """(t, x, u, theta, split) -> the margin (1,) while wheels roll, for compiled code."""
        return _along(equations, tuple(self.vehicle.contact_rows.items()), self.lowest_body)


@once
def _along(equations: Equations, rows: tuple[tuple[Component, int], ...],
           lowest_body: ca.Function | None) -> ca.Function:
    system, (x, q, v) = equations.constrained.system, state_symbols(equations)
    function = contact_force_function(equations, dict(rows))
    grip = ca.SX.sym("grip", function.numel_in("grip"))
    _, _, room, _ = function(system.t, q, v, system.u, system.theta, grip)
    least = ca.mmin(room)
    if lowest_body is not None:
        least = ca.fmin(least, lowest_body(system.t, q, system.theta))
    return ca.Function("nhmech_room", [system.t, x, system.u, system.theta, grip],
                       [ca.densify(least)], {"cse": True})
