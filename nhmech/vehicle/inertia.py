"""Inertia of the bodies, with axisymmetric wheels lumped into the bodies that carry them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin

from .model import joint_axis
from .parameters import INERTIAL, Parameters, is_present

# relative to the largest entry of a matrix: smaller entries are rounding errors
ROUNDING = 1e-15


@dataclass(frozen=True, eq=False)
class Inertia:
    """mass [kg], centre of mass (3,) in the body's frame [m], inertia about it (3, 3) [kg m^2];
    numbers or symbols."""

    mass: ca.SX | float
    com: ca.SX
    matrix: ca.SX

    def move(self, R: np.ndarray, p: np.ndarray) -> Inertia:
        """The same body in another frame, in which its own frame has position p and rotation R."""
        turn = ca.SX(ca.sparsify(ca.DM(R)))
        return Inertia(self.mass, _tidy(turn @ self.com + ca.DM(p)),
                       _tidy(turn @ self.matrix @ turn.T))

    def combine(self, other: Inertia | None) -> Inertia:
        """Both bodies as one rigid body, by Steiner's theorem."""
        if other is None:
            return self
        mass = self.mass + other.mass
        if not is_present(mass):
            return Inertia(mass, self.com, _tidy(self.matrix + other.matrix))
        com = _tidy((self.mass * self.com + other.mass * other.com) / mass)
        matrix = self.matrix + other.matrix + _steiner(self, com) + _steiner(other, com)
        return Inertia(mass, com, _tidy(matrix))


@dataclass(frozen=True, eq=False)
class Spin:
    """The rotation of a lumped wheel about its axle, relative to the body that carries it."""

    carrier: int  # index of the carrying body
    rate: int  # index in v of the wheel's own rate
    axial: ca.SX | float  # moment of inertia about the axle [kg m^2]
    axle: ca.SX  # unit, in the carrier's frame (3,)


def lump_inertias(model: pin.Model, parameters: Parameters, body_names: Sequence[str],
                  spinning: Collection[int]) -> tuple[list[Inertia | None], list[Spin]]:
    """Inertia of each joint's body (None without any), with that of joint i at index i - 1, and the
    spins of lumped wheels. Arguments as the fields of `BuildContext`.

    The payload is part of the root's body.
    """
    inertias = [_read_body(parameters, body) for body in body_names[1:]]
    if is_present(parameters["payload.mass"]):
        place = ca.vertcat(*[ca.SX(parameters[f"payload.{c}"]) for c in "xyz"])
        inertias[0] = Inertia(parameters["payload.mass"], place, ca.SX(3, 3)).combine(inertias[0])
    spins = []
    for joint in sorted(spinning):
        wheel = inertias[joint - 1]
        if wheel is None:
            continue
        axis, placement = joint_axis(model, joint), model.jointPlacements[joint]
        carrier = model.parents[joint] - 1
        axial = ca.DM(axis).T @ wheel.matrix @ ca.DM(axis)
        spins.append(Spin(carrier, model.joints[joint].idx_v, axial,
                          _tidy(ca.SX(ca.DM(placement.rotation @ axis)))))
        wheel = wheel.move(placement.rotation, placement.translation)
        inertias[carrier] = wheel.combine(inertias[carrier])
        inertias[joint - 1] = None
    return inertias, spins


def _read_body(parameters: Parameters, name: str) -> Inertia | None:
    """The inertia of a body from its ten parameters; None without mass and inertia."""
    mass, x, y, z, xx, yy, zz, xy, xz, yz = (parameters.get(f"{name}.{key}") for key in INERTIAL)
    if not any(map(is_present, (mass, xx, yy, zz, xy, xz, yz))):
        return None
    matrix = ca.SX(3, 3)
    for value, i, j in ((xx, 0, 0), (yy, 1, 1), (zz, 2, 2), (xy, 0, 1), (xz, 0, 2), (yz, 1, 2)):
        if is_present(value):
            matrix[i, j] = matrix[j, i] = value
    return Inertia(mass, ca.sparsify(ca.vertcat(ca.SX(x), ca.SX(y), ca.SX(z))), matrix)


def _steiner(inertia: Inertia, com: ca.SX) -> ca.SX:
    d = inertia.com - com
    return inertia.mass * (ca.sumsqr(d) * ca.SX.eye(3) - d @ d.T)


def _tidy(matrix: ca.SX) -> ca.SX:
    """The matrix with rounding errors replaced by structural zeros, so that they vanish from
    expressions."""
    result = ca.SX(matrix)
    rows, columns = matrix.sparsity().get_triplet()
    numbers = [(i, j, abs(float(result[i, j]))) for i, j in zip(rows, columns)
               if result[i, j].is_constant()]
    largest = max((size for _, _, size in numbers), default=0.0)
    for i, j, size in numbers:
        if size < ROUNDING * largest:
            result[i, j] = 0
    return ca.sparsify(result)
