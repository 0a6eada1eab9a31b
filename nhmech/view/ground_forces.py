"""The forces of the ground at one moment of a motion."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from ..simulation.contact.force_reader import reactions_at
from ..vehicle.reactions import Reactions
from ..vehicle.vehicle import Vehicle
from .drawable import Snapshot

ROUNDING = 1e-9     # of the vehicle's weight: a force along the ground that is none


def has_forces(vehicle: Vehicle, moment: Snapshot) -> bool:
    """Whether the forces at a moment can be computed."""
    if moment.contacts is not None and moment.contacts.reactions is not None:
        return True
    return (moment.v is not None and moment.u is not None
            and len(moment.u) == vehicle.constrained.system.u.numel())


def forces_at(vehicle: Vehicle, moment: Snapshot) -> Reactions:
    """The forces on the wheels: the recorded ones if wheels slide or fly, else those that rolling
    requires."""
    if moment.contacts is not None and moment.contacts.reactions is not None:
        return moment.contacts.reactions
    assert moment.v is not None and moment.u is not None
    return reactions_at(vehicle, moment.t, moment.q, moment.v, moment.u)


def needed_friction(vehicle: Vehicle, wheel: str, forces: Reactions) -> float:
    """Tangential force over normal force of a wheel: zero up to rounding, infinite for one that
    does not press."""
    normal = forces.components[wheel].get("normal", 0.0)
    tangential = np.linalg.norm(forces.world[wheel] - normal * np.array(vehicle.ground.normal))
    weight = pin.computeTotalMass(vehicle.model) * np.linalg.norm(vehicle.model.gravity.linear)
    if tangential < ROUNDING * weight:
        return 0.0
    return float(tangential / normal) if normal > 0 else math.inf


def friction_at(mu: Mapping[str, float], moment: Snapshot) -> dict[str, float]:
    """Friction coefficients of the wheels: those of the run if it has any, else `mu`."""
    own = {} if moment.contacts is None else moment.contacts.mu
    return {wheel: own.get(wheel, value) for wheel, value in mu.items()}
