"""Named numbers of a vehicle, and Pinocchio's model with the same numbers."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..errors import ModelError
from .description import Description
from .inertia import inertial_values
from .parameters import Parameters

GRAVITY = 9.81      # [m/s^2]


def parameter_values(model: pin.Model, names: list[str], description: Description) -> dict[str, float]:
    """Every named number of a vehicle as its description has it; see `Vehicle.with_parameters` for the names."""
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
        values[f"{wheel.name}.crown"] = wheel.crown if wheel.kind == "torus" else 0.0
        if wheel.joint is not None:
            values[f"{wheel.name}.rolling_resistance"] = 0.0
    values.update({f"payload.{key}": 0.0 for key in ("mass", "x", "y", "z")})
    return values


def write_inertias(model: pin.Model, names: list[str], parameters: Parameters) -> None:
    """Pinocchio's model gets the same numbers, so that its algorithms stay an independent check.

    Raises `ModelError` for numbers that no vehicle can have.
    """
    p = parameters.values
    for name, value in p.items():
        if name.endswith((".mass", ".rotor_inertia", ".damping", ".rolling_resistance")) and value < 0:
            raise ModelError(f"parameter {name!r} = {value} is negative")
        if name.endswith(".radius") and value < 0:
            raise ModelError(f"parameter {name!r} = {value} is no length in metres")
    for i in range(1, model.njoints):
        k = names[i]
        matrix = np.array([[p[f"{k}.Ixx"], p[f"{k}.Ixy"], p[f"{k}.Ixz"]], [p[f"{k}.Ixy"], p[f"{k}.Iyy"], p[f"{k}.Iyz"]],
                           [p[f"{k}.Ixz"], p[f"{k}.Iyz"], p[f"{k}.Izz"]]])
        moments = np.linalg.eigvalsh(matrix)      # a sum rule is left to the file's check: planar models have Izz alone
        if moments[0] < -1e-9 * np.abs(moments).max():
            raise ModelError(f"the inertia of {k!r} is none that a body can have: "
                             f"its principal moments are {moments} kg m^2")
        model.inertias[i] = pin.Inertia(p[f"{k}.mass"], np.array([p[f"{k}.com_{c}"] for c in "xyz"]), matrix)
    if p["payload.mass"]:
        place = np.array([p[f"payload.{c}"] for c in "xyz"])
        model.inertias[1] += pin.Inertia(p["payload.mass"], place, np.zeros((3, 3)))
    armature = np.zeros(model.nv)
    for joint in range(2, model.njoints):
        name = model.names[joint]
        armature[model.joints[joint].idx_v] = p[f"{name}.rotor_inertia"] * p[f"{name}.gear_ratio"] ** 2
    model.armature = armature
    model.gravity.linear = np.array([0, 0, -p["gravity"]])
