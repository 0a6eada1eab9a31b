"""Where the contacts of a vehicle stand among its rows, and their friction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...errors import InputError, Remedy, listed
from ...vehicle.friction import own_friction, read_friction
from ...vehicle.vehicle import Vehicle


@dataclass(frozen=True)
class ContactRows:
    """Where one contact stands among the rows of a vehicle.

    Attributes
    ----------
    name
        The contact's.
    normal
        Row of its normal speed.
    along
        Rows of its speeds along the ground, as many as the wheel holds: two, one, or none.
    height
        Which of phi is its height.
    mu
        Friction coefficient.
    """

    name: str
    normal: int
    along: tuple[int, ...]
    height: int
    mu: float

    @property
    def rows(self) -> tuple[int, ...]:
        """All of them, the normal first."""
        return self.normal, *self.along


def read_coefficients(vehicle: Vehicle, mu: float | Mapping[str, float] | None) -> dict[str, float]:
    """Wheel -> coefficient, 0 of those that hold nothing along the ground. Raises `InputError` for
    a wheel without one."""
    given, own = read_friction(vehicle, mu), own_friction(vehicle)
    held = {c.name for c in vehicle.contacts if len(c.held) > 1}
    found = {name: given.get(name, own[name]) if name in held else 0.0
             for name in vehicle.contact_names}
    missing = [name for name, value in found.items() if value is None]
    if missing:
        raise InputError(
            f"contact=\"coulomb\" needs the friction coefficient of {listed(missing)} of "
            f"{vehicle.name!r}", Remedy(
                "Give mu=0.6, or mu={\"" + missing[0] + "\": 0.6}",
                f"Give --mu 0.6, or --mu {missing[0]}=0.6"))
    infinite = [name for name, value in found.items() if value == np.inf]
    if infinite:
        raise InputError(f"mu of {listed(infinite)} is inf: a wheel that cannot slip has no place "
                         "in contact=\"coulomb\"; a large number such as 100 comes close")
    return {name: float(value or 0.0) for name, value in found.items()}
