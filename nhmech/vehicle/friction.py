"""Friction coefficients of a vehicle's wheels, and variants of the vehicle for other laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import inf

from ..checks import is_finite, read_word
from ..errors import InputError
from ..urdf.description import MidAxle, Scrubbing
from ..urdf.notice import Notice, NoticeKind
from .build import build
from .vehicle import Vehicle


def read_friction(vehicle: Vehicle, mu: float | Mapping[str, float] | None,
                  bodies: Sequence[str] = ()) -> dict[str, float]:
    """Wheel -> coefficient, for the wheels that `mu` determines: all, those it names, or none;
    likewise for the links of `bodies`.
    """
    if mu is None:
        return {}
    names = *vehicle.contact_names, *bodies
    given = dict(mu) if isinstance(mu, Mapping) else dict.fromkeys(names, mu)
    for wheel, value in given.items():
        read_word("mu: wheel", wheel, names)
        if value != inf and not (is_finite(value) and value > 0):
            raise InputError(f"mu of {wheel!r} is {value!r}; a friction coefficient is a positive "
                             "number, or inf for a wheel that cannot slip")
    return given


def own_friction(vehicle: Vehicle) -> dict[str, float | None]:
    """Wheel -> its own coefficient: `Wheel.mu`, else `<mu1>` and `<mu2>` of the file, else None."""
    described = vehicle.description.mu
    return {wheel.name: described.get(wheel.name) if wheel.mu is None else wheel.mu
            for wheel in vehicle.description.wheels}


def with_scrubbing(vehicle: Vehicle) -> Vehicle:
    """The vehicle with friction instead of the mid-axle model of skid steering: all wheels resist
    lateral motion too, and slide where they must. Any other vehicle unchanged."""
    description = vehicle.description
    if description.track_factor is None:
        return vehicle
    notice = Notice(NoticeKind.SKID, "skid steering by friction: without the mid-axle model, the "
                                     "wheels also hold sideways until they slide")
    kept = (one for one in description.notices if one.kind is not NoticeKind.SKID)
    return build(replace(description, skid=Scrubbing(), notices=(*kept, notice)), vehicle.ground,
                 vehicle.parameters, wrench_bodies=vehicle.wrench_bodies)


@lru_cache(maxsize=64)
def as_commanded(vehicle: Vehicle) -> Vehicle:
    """The vehicle whose ideal kinematics determine the joint rates for a twist. If wheels scrub by
    friction this is the mid-axle model, because with ideal rolling they only allow straight motion.
    Any other vehicle unchanged."""
    if not isinstance(vehicle.description.skid, Scrubbing):
        return vehicle
    return build(replace(vehicle.description, skid=MidAxle()), vehicle.ground, vehicle.parameters,
                 wrench_bodies=vehicle.wrench_bodies)


def wheels_with_tyres(vehicle: Vehicle) -> tuple[str, ...]:
    """Names of the wheels with tyres."""
    return tuple(wheel.name for wheel in vehicle.description.wheels if wheel.law == "tyre")


@lru_cache(maxsize=64)
def without_tyres(vehicle: Vehicle) -> Vehicle:
    """The vehicle with ideal rolling in place of tyres. Any other vehicle unchanged."""
    if not wheels_with_tyres(vehicle):
        return vehicle
    wheels = tuple(replace(wheel, law="rolling", tyre=None) if wheel.law == "tyre" else wheel
                   for wheel in vehicle.description.wheels)
    return build(replace(vehicle.description, wheels=wheels), vehicle.ground, vehicle.parameters,
                 wrench_bodies=vehicle.wrench_bodies)


def as_rolling(vehicle: Vehicle) -> Vehicle:
    """The vehicle `without_tyres`, and `as_commanded` if wheels scrub."""
    return as_commanded(without_tyres(vehicle))


def with_friction(vehicle: Vehicle, mu: float | Mapping[str, float] | None) -> Vehicle:
    """The vehicle whose wheels have these coefficients as `Wheel.mu`, or their own where `mu` gives
    none; runs and run files keep them. Raises `InputError` as `read_friction`.
    """
    given = read_friction(vehicle, mu)
    if not given:
        return vehicle
    wheels = tuple(replace(wheel, mu=given.get(wheel.name,
                                               wheel.mu)) for wheel in vehicle.description.wheels)
    return build(replace(vehicle.description, wheels=wheels), vehicle.ground, vehicle.parameters,
                 wrench_bodies=vehicle.wrench_bodies)
