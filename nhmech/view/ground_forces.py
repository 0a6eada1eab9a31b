"""The forces of the ground at one moment of a motion."""

from __future__ import annotations

from collections.abc import Mapping

from ..simulation.contact.force_reader import reactions_at
from ..vehicle.reactions import Reactions
from ..vehicle.vehicle import Vehicle
from .drawable import Snapshot


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


def friction_at(mu: Mapping[str, float], moment: Snapshot) -> dict[str, float]:
    """Friction coefficients of the wheels: those of the run if it has any, else `mu`."""
    own = {} if moment.contacts is None else moment.contacts.mu
    return {wheel: own.get(wheel, value) for wheel, value in mu.items()}
