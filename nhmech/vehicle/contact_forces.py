"""The forces of the ground on the wheels, as one function of the state."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from ..mechanics.distribution import Component
from ..mechanics.equations import Equations, solve_definite


def contact_force_function(equations: Equations, rows: Mapping[Component, int]) -> ca.Function:
    """(t, q, v, u, theta, grip) -> forces (n,), kernel (n, d), room (2,), margin; `rows` has the
    row of each component of the contact forces.

    Rows that depend on the kept ones, A[dropped] = C A[kept], make the forces undetermined: with
    the multipliers lambda of the kept rows, all forces f = [lambda - C^T y; y] give the same
    motion. `forces` are those of least norm |f|; the columns of `kernel` span the differences of
    the others from these, which include multipliers of couplings if a dropped contact row depends
    on one. `grip` (k,) is 1 / mu of each contact with a normal row, in the order of `rows`; zero if
    it cannot slip. `room` [N] is the least normal force in `forces`, and the least of normal - grip
    |tangential|. `margin` is that of the frame: near zero the forces lose all digits.
    """
    frame, system = equations.frame, equations.constrained.system
    kept, index = list(frame.kept), list(rows.values())
    held = [i for i, row in enumerate(index) if row in kept]
    dropped = [i for i, row in enumerate(index) if row not in kept]
    t, q, v, u, theta = system.t, system.q, system.v, system.u, system.theta
    lam = equations.multipliers(t, q, v[list(frame.speeds)], u, theta)
    shares = system.expand(frame.shares([index[i] for i in dropped]))[0]

    forces, kernel = ca.SX(len(index), 1), ca.SX(len(index), len(dropped))
    columns = [kept.index(index[i]) for i in held]
    forces[held] = lam[columns]
    kernel[held, :] = -shares[:, columns].T
    kernel[dropped, :] = ca.SX.eye(len(dropped))
    forces -= kernel @ solve_definite(kernel.T @ kernel, kernel.T @ forces)

    components = list(rows)
    normals = {c.contact: forces[i] for i, c in enumerate(components) if c.is_normal}
    grip = ca.SX.sym("grip", len(normals))
    rooms = [normal - grip[i] * _length([forces[k] for k, c in enumerate(components)
                                         if c.contact == contact and not c.is_normal])
             for i, (contact, normal) in enumerate(normals.items())]
    least = [ca.mmin(ca.vertcat(ca.inf, *values)) for values in (normals.values(), rooms)]
    outputs = [forces, kernel, ca.vertcat(*least), frame.margin]
    return ca.Function("contact_forces", [t, q, v, u, theta, grip],
                       [ca.densify(output) for output in outputs],
                       ["t", "q", "v", "u", "theta", "grip"],
                       ["forces", "kernel", "room", "margin"], {"cse": True})


def _length(parts: list[ca.SX]) -> ca.SX:
    return ca.sqrt(sum((part ** 2 for part in parts), ca.SX(0)))
