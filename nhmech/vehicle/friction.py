"""Friction coefficients that somebody gives for a vehicle's wheels."""

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
    """Wheel -> coefficient, of those that `mu` says something about: all, those it names, or none;
    and so of the links of `bodies`.
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
    """Wheel -> the coefficient it comes with: `Wheel.mu`, else what `<mu1>` and `<mu2>` of the file
    say; None where neither does."""
    told = vehicle.description.mu
    return {wheel.name: told.get(wheel.name) if wheel.mu is None else wheel.mu
            for wheel in vehicle.description.wheels}


def with_scrubbing(vehicle: Vehicle) -> Vehicle:
    """The vehicle with friction instead of a mid-axle model of skid steering: all its wheels hold
    sideways too, and slide where they must. Any other vehicle as it is."""
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
    """The vehicle whose ideal kinematics say which joint rates drive a twist: with the mid-axle
    model where wheels scrub by friction, for those that only roll let it go straight alone. Any
    other vehicle as it is."""
    if not isinstance(vehicle.description.skid, Scrubbing):
        return vehicle
    return build(replace(vehicle.description, skid=MidAxle()), vehicle.ground, vehicle.parameters,
                 wrench_bodies=vehicle.wrench_bodies)


@lru_cache(maxsize=64)
def as_rolling(vehicle: Vehicle) -> Vehicle:
    """The vehicle whose wheels roll ideally where it has tyres, and as `as_commanded` where they
    scrub; its numbers are those of its file. Any other vehicle as it is."""
    description = vehicle.description
    if not any(wheel.law == "tyre" for wheel in description.wheels):
        return as_commanded(vehicle)
    wheels = tuple(replace(wheel, law="rolling", tyre=None) if wheel.law == "tyre" else wheel
                   for wheel in description.wheels)
    return as_commanded(build(replace(description, wheels=wheels), vehicle.ground))


def with_friction(vehicle: Vehicle, mu: float | Mapping[str, float] | None) -> Vehicle:
    """The vehicle whose wheels know these coefficients (`Wheel.mu`), and keep their own where `mu`
    says nothing.

    Its runs and their files know them too. Raises `InputError` as `read_friction`.
    """
    given = read_friction(vehicle, mu)
    if not given:
        return vehicle
    wheels = tuple(replace(wheel, mu=given.get(wheel.name,
                                               wheel.mu)) for wheel in vehicle.description.wheels)
    return build(replace(vehicle.description, wheels=wheels), vehicle.ground, vehicle.parameters,
                 wrench_bodies=vehicle.wrench_bodies)
