"""Indices of the contacts among the rows of a vehicle, and their friction coefficients."""

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
    """Indices of one contact among the rows and heights of a vehicle, and its friction."""

    name: str  # of the contact
    normal: int  # row of its normal speed
    # rows of its speeds along the ground in the directions without slip: two, one, or none
    along: tuple[int, ...]
    height: int  # index of its height in phi
    mu: float  # friction coefficient

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows, the normal first."""
        return self.normal, *self.along


def read_coefficients(vehicle: Vehicle, mu: float | Mapping[str, float] | None,
                      sliding: Collection[str], bodies: Sequence[str]) -> dict[str, float]:
    """Friction coefficients by name of wheel or body.

    A wheel not in `sliding` has an infinite one: it rolls while it is on the ground. A wheel
    without rows along the ground has 0. A body that `mu` does not name has the mean of the wheels
    that may slide. Raises `InputError` for a wheel without a coefficient.
    """
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
        raise InputError(f"mu of {listed(infinite)} is inf, but contact=\"coulomb\" lets every "
                         "wheel slip; give the others law=\"coulomb\" and leave contact= out")
    return {name: float(value or 0.0) for name, value in found.items()}


def sliding_wheels(description: Description | None, contact: str | None) -> frozenset[str]:
    """Names of the wheels that slide when friction does not suffice. With contact="coulomb" these
    are all without tyres, with "ideal" none; with None those with law="coulomb", or all if the
    vehicle was loaded with skid="coulomb"."""
    if description is None or contact == "ideal":
        return frozenset()
    every = contact == "coulomb" or isinstance(description.skid, Scrubbing)
    laws = ("coulomb", "rolling") if every else ("coulomb",)
    return frozenset(wheel.name for wheel in description.wheels if wheel.law in laws)
