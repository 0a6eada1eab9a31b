"""Configuration spaces that several systems stand on."""

from __future__ import annotations

import casadi as ca

from ..mechanics.algebroid import LieAlgebroid, euclidean
from ..mechanics.quasi_velocities import change_of_basis


def planar_body() -> LieAlgebroid:
    """A body in the plane, (x, y, phi), with quasi-velocities `forward`, `side` [m/s] along its own axes and `turn` [rad/s].

    phi counts turns; nothing is singular.
    """
    plane = euclidean("x", "y", "phi", units=("m/s", "m/s", "rad/s"))
    c, s = ca.cos(plane.q[2]), ca.sin(plane.q[2])
    axes = ca.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return change_of_basis(plane, axes, ("forward", "side", "turn"), plane.v_units)
