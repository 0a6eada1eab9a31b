"""What every equation former returns."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from .frame import AdaptedFrame


@dataclass(frozen=True)
class Equations:
    """Equations of motion in quasi-velocities, as `casadi.Function`s of (t, q, xi, u, theta) unless said otherwise.

    drift         -> dq/dt (nq,), dxi/dt (nxi,)
    multipliers   -> lambda (len(frame.kept),) of the kept rows
    velocity      (t, q, xi, theta) -> v (nv,)
    acceleration  -> dv/dt (nv,)
    names, units  of xi
    """

    frame: AdaptedFrame
    drift: ca.Function
    multipliers: ca.Function
    velocity: ca.Function
    acceleration: ca.Function
    names: tuple[str, ...]
    units: tuple[str, ...]
