"""Inertia of the bodies, with axisymmetric wheels lumped into what carries them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..urdf.description import Description
from .model import joint_axis
from .parameters import Parameters, present

INERTIAL = ("mass", "com_x", "com_y", "com_z", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


@dataclass(frozen=True)
class Inertia:
    """mass [kg], centre of mass (3,) in the body's frame [m], inertia about it (3, 3) [kg m^2];
    numbers or symbols."""

    mass: ca.SX | float
    com: ca.SX
    matrix: ca.SX

    def moved(self, R: np.ndarray, p: np.ndarray) -> Inertia:
        """The same body in a frame in which its own stands at p, turned by R."""
        R = ca.SX(ca.sparsify(ca.DM(R)))
        return Inertia(self.mass, tidy(R @ self.com + ca.DM(p)), tidy(R @ self.matrix @ R.T))

    def plus(self, other: Inertia | None) -> Inertia:
        """Both as one rigid body; Steiner's theorem."""
        if other is None:
            return self
        mass = self.mass + other.mass
        com = tidy((self.mass * self.com + other.mass * other.com) / mass)
        return Inertia(mass, com,
                       tidy(self.matrix + other.matrix
                            + _steiner(self, com) + _steiner(other, com)))


@dataclass(frozen=True)
class Spin:
    """What a lumped wheel adds to the body that carries it: it turns about its axle.

    Attributes
    ----------
    carrier
        Index of the carrying body.
    rate
        Index in v of the wheel's own rate.
    axial
        Moment of inertia about the axle [kg m^2].
    axle
        Unit, in the carrier's frame (3,).
    """

    carrier: int
    rate: int
    axial: ca.SX | float
    axle: ca.SX


def lumped_inertias(model: pin.Model, names: list[str], parameters: Parameters,
                    spinning: Collection[int]) -> tuple[list[Inertia | None], list[Spin]]:
    """Inertia of each joint's body (None without mass), that of joint i at i - 1, and the spins of
    lumped wheels.

    The payload is part of the root's body.
    """
    inertias = [_body(parameters, names[i]) if present(parameters[f"{names[i]}.mass"]) else None
                for i in range(1, model.njoints)]
    if present(parameters["payload.mass"]):
        place = ca.vertcat(*[ca.SX(parameters[f"payload.{c}"]) for c in "xyz"])
        payload = Inertia(parameters["payload.mass"], place, ca.SX(3, 3))
        inertias[0] = payload.plus(inertias[0])
    spins = []
    for joint in sorted(spinning):
        wheel = inertias[joint - 1]
        if wheel is None:
            continue
        axis, placement, carrier = (
            joint_axis(model, joint), model.jointPlacements[joint], model.parents[joint] - 1,
        )
        axial = ca.DM(axis).T @ wheel.matrix @ ca.DM(axis)
        spins.append(Spin(carrier, model.joints[joint].idx_v, axial,
                          tidy(ca.SX(ca.DM(placement.rotation @ axis)))))
        inertias[carrier] = wheel.moved(placement.rotation,
                                        placement.translation).plus(inertias[carrier])
        inertias[joint - 1] = None
    return inertias, spins


def has_symbolic_inertia(parameters: Parameters, body: str) -> bool:
    """Whether a derivative by one of a body's inertial parameters is asked for, which may break its
    symmetry."""
    return any(f"{body}.{key}" in parameters.symbolic for key in INERTIAL)


def inertial_values(inertia: pin.Inertia) -> dict[str, float]:
    """The ten numbers of a Pinocchio inertia, by name."""
    m = inertia.inertia
    values = (inertia.mass, *inertia.lever, m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
    return dict(zip(INERTIAL, map(float, values)))


def tidy(matrix: ca.SX) -> ca.SX:
    """Entries that are rounding noise of the others become structural zeros, so that they leave the
    expressions."""
    result = ca.SX(matrix)
    constants = [abs(float(e)) for e in result.nonzeros() if e.is_constant()]
    largest = max(constants, default=0.0)
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            entry = result[i, j]
            if entry.is_constant() and abs(float(entry)) < 1e-15 * max(largest, 1e-300):
                result[i, j] = 0
    return ca.sparsify(result)


def _steiner(inertia: Inertia, com: ca.SX) -> ca.SX:
    d = inertia.com - com
    return inertia.mass * (ca.sumsqr(d) * ca.SX.eye(3) - d @ d.T)


def _body(parameters: Parameters, name: str) -> Inertia:
    """A body's ten inertial parameters."""
    p = {key: parameters[f"{name}.{key}"] for key in INERTIAL}
    matrix = ca.SX(3, 3)
    for key, i, j in (("Ixx", 0, 0), ("Iyy", 1, 1), ("Izz", 2, 2), ("Ixy", 0, 1), ("Ixz", 0, 2),
                      ("Iyz", 1, 2)):
        if present(p[key]):
            matrix[i, j] = matrix[j, i] = p[key]
    return Inertia(p["mass"],
                   ca.sparsify(ca.vertcat(*[ca.SX(p[key]) for key in ("com_x", "com_y", "com_z")])),
                   matrix)


GRAVITY = 9.81      # [m/s^2]


def parameter_values(model: pin.Model, names: list[str],
                     description: Description) -> dict[str, float]:
    """Every named number of a vehicle as its description has it; see `Vehicle.with_parameters` for
    the names."""
    values = {"gravity": GRAVITY}
    for i in range(1, model.njoints):
        for key, value in inertial_values(model.inertias[i]).items():
            size = model.inertias[i].mass if key == "mass" else 1.0
            values[f"{names[i]}.{key}"] = 0.0 if abs(value) < 1e-16 * max(size, 1e-3) else value
    for joint in list(model.names)[2:]:
        values[f"{joint}.damping"] = description.damping.get(joint, 0.0)
        values[f"{joint}.rotor_inertia"] = 0.0
        values[f"{joint}.gear_ratio"] = 1.0
    for wheel in description.wheels:
        values[f"{wheel.name}.radius"] = wheel.radius
        values[f"{wheel.name}.crown"] = wheel.crown
        if wheel.joint is not None:
            values[f"{wheel.name}.rolling_resistance"] = 0.0
    values.update({f"payload.{key}": 0.0 for key in ("mass", "x", "y", "z")})
    return values


def write_inertias(model: pin.Model, names: list[str], parameters: Parameters) -> None:
    """Pinocchio's model gets the same numbers, so that its algorithms stay an independent check.

    Raises
    ------
    ModelError
        For numbers that no vehicle can have.
    """
    p = parameters.values
    for name, value in p.items():
        if name.endswith((".mass", ".rotor_inertia", ".damping",
                          ".rolling_resistance")) and value < 0:
            raise ModelError(f"parameter {name!r} = {value} is negative")
        if name.endswith(".radius") and value < 0:
            raise ModelError(f"parameter {name!r} = {value} is no length in metres")
    for i in range(1, model.njoints):
        k = names[i]
        matrix = np.array([[p[f"{k}.Ixx"], p[f"{k}.Ixy"], p[f"{k}.Ixz"]],
                           [p[f"{k}.Ixy"], p[f"{k}.Iyy"], p[f"{k}.Iyz"]],
                           [p[f"{k}.Ixz"], p[f"{k}.Iyz"], p[f"{k}.Izz"]]])
        # a sum rule is left to the file's check: planar models have Izz alone
        moments = np.linalg.eigvalsh(matrix)
        if moments[0] < -1e-9 * np.abs(moments).max():
            raise ModelError(f"the inertia of {k!r} is none that a body can have: "
                             f"its principal moments are {moments} kg m^2")
        model.inertias[i] = pin.Inertia(p[f"{k}.mass"],
                                        np.array([p[f"{k}.com_{c}"] for c in "xyz"]), matrix)
    if p["payload.mass"]:
        place = np.array([p[f"payload.{c}"] for c in "xyz"])
        model.inertias[1] += pin.Inertia(p["payload.mass"], place, np.zeros((3, 3)))
    armature = np.zeros(model.nv)
    for joint in range(2, model.njoints):
        name = model.names[joint]
        armature[model.joints[joint].idx_v] = (
            p[f"{name}.rotor_inertia"] * p[f"{name}.gear_ratio"] ** 2
        )
    model.armature = armature
    model.gravity.linear = np.array([0, 0, -p["gravity"]])
