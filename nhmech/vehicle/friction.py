"""Friction coefficients that somebody gives for a vehicle's wheels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..errors import ModelError
from .build import build
from .vehicle import Vehicle


def given_friction(vehicle: Vehicle, mu: float | Mapping[str, float] | None) -> dict[str, float]:
    """Wheel -> coefficient, of those that `mu` says something about: all, those it names, or none.

    Raises
    ------
    ModelError
        For wheels that do not exist and numbers that are not positive.
    """
    given = (
        mu
        if isinstance(mu, Mapping)
        else {}
        if mu is None
        else dict.fromkeys(vehicle.contact_names, mu)
    )
    for wheel, value in given.items():
        if wheel not in vehicle.contact_names:
            raise ModelError(f"mu: {vehicle.name!r} has no wheel {wheel!r}; "
                             f"there are {', '.join(vehicle.contact_names)}")
        if not value > 0:
            raise ModelError(f"mu of {wheel!r} is {value}; a friction coefficient is a positive "
                             "number, or inf for a wheel that cannot slip")
    return dict(given)


def with_friction(vehicle: Vehicle, mu: float | Mapping[str, float] | None) -> Vehicle:
    """The vehicle whose wheels know these coefficients (`Wheel.mu`), and keep their own where `mu`
    says nothing.

    Its runs and their files know them too.

    Raises
    ------
    ModelError
        As `given_friction`.
    """
    given = given_friction(vehicle, mu)
    if not given:
        return vehicle
    wheels = tuple(replace(wheel, mu=given.get(wheel.name,
                                               wheel.mu)) for wheel in vehicle.description.wheels)
    return build(replace(vehicle.description, wheels=wheels), vehicle.ground, vehicle.parameters,
                 wrench_bodies=vehicle.wrench_bodies)
