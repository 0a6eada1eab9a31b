"""Where the contacts of a vehicle stand among its rows, and their friction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError, Remedy, listed
from ...urdf.description import Description, Scrubbing
from ...vehicle.friction import own_friction, read_friction
from ...vehicle.vehicle import Vehicle


@dataclass(frozen=True)
class ContactRows:
    """Where one contact stands among the rows of a vehicle."""

    name: str  # the contact's
    normal: int  # row of its normal speed
    # rows of its speeds along the ground, as many as the wheel holds: two, one, or none
    along: tuple[int, ...]
    height: int  # which of phi is its height
    mu: float  # friction coefficient

    @property
    def rows(self) -> tuple[int, ...]:
        """All of them, the normal first."""
        return self.normal, *self.along


def read_coefficients(vehicle: Vehicle, mu: float | Mapping[str, float] | None,
                      sliding: Collection[str], bodies: Sequence[str]) -> dict[str, float]:
    """Wheel -> coefficient: infinite of those that are not `sliding`, which roll while they are on
    the ground; 0 of those that hold nothing along it; and link -> coefficient of `bodies`, where
    `mu` does not say it the mean of the wheels that slide. Raises `InputError` for a wheel without
    one."""
    given, own = read_friction(vehicle, mu, bodies), own_friction(vehicle)
    held = {c.name for c in vehicle.contacts if len(c.held) > 1}
    found = {name: 0.0 if name not in held else np.inf if name not in sliding else
             given.get(name, own[name]) for name in vehicle.contact_names}
    missing = [name for name, value in found.items() if value is None]
    if missing:
        raise InputError(
            f"contact=\"coulomb\" needs the friction coefficient of {listed(missing)} of "
            f"{vehicle.name!r}", Remedy(
                "Give mu=0.6, or mu={\"" + missing[0] + "\": 0.6}",
                f"Give --mu 0.6, or --mu {missing[0]}=0.6"))
    grips = [value for value in found.values() if value and value < np.inf]
    mean = float(np.mean(grips)) if grips else 0.0
    found |= {body: given.get(body, mean) for body in bodies}
    infinite = [name for name, value in found.items()
                if value == np.inf and (name in sliding or name in bodies)]
    if infinite:
        raise InputError(f"mu of {listed(infinite)} is inf: what cannot slip has no place "
                         "in contact=\"coulomb\"; give the others law=\"coulomb\" and leave "
                         "contact= out")
    return {name: float(value or 0.0) for name, value in found.items()}


def sliding_wheels(description: Description | None, contact: str | None) -> frozenset[str]:
    """Names of those that slide where friction does not suffice: with "coulomb" all but tyres, with
    "ideal" none, with None those with that law, or all of a vehicle that scrubs by friction."""
    if description is None or contact == "ideal":
        return frozenset()
    every = contact == "coulomb" or isinstance(description.skid, Scrubbing)
    laws = ("coulomb", "rolling") if every else ("coulomb",)
    return frozenset(wheel.name for wheel in description.wheels if wheel.law in laws)
