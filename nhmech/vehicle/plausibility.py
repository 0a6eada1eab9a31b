"""Notices about implausible numbers: possible in a simulation, but not in a real vehicle. Usually a
unit or an origin is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from math import degrees

import numpy as np
import pinocchio as pin

from ..errors import Remedy
from ..urdf.notice import Notice, NoticeKind
from ..urdf.remedy import option, suggest, wheel_fields
from ..urdf.wheel import Wheel
from .model import body_names
from .proportions import Proportions, Way, proportions
from .vehicle import Vehicle

# Wrong units differ by a factor of 25.4 (inches), 100, 1000 or more. A factor of ten separates
# these from real robots, which differ by three at most.
UNIT = 10.0
LARGEST, SMALLEST = 5.0, 5e-4   # [m] radii; the largest tyres have 2.1, toys 5e-3
MILLIMETRE = 1e-3               # [m]
TILT = 0.01       # [rad]: gravity then accelerates the vehicle along the ground with 1 % of g
LOW = 0.01        # of the largest radius; a floor plate is thicker
DENSE = 2e4       # [kg/m^3] of gold and tungsten, in a cube as large as the vehicle
THIN = 1.2        # [kg/m^3] of air, in twice the volume below the centre of mass


def implausible(vehicle: Vehicle) -> Iterator[Notice]:
    """A notice for each implausible number of a vehicle."""
    found = proportions(vehicle)
    yield from _tilt(vehicle)
    yield from _radii(vehicle, found)
    yield from _centre(found)
    yield from _masses(vehicle, found)


def _tilt(vehicle: Vehicle) -> Iterator[Notice]:
    """A caster above the plane of the wheels lets the whole vehicle tilt."""
    R = pin.Quaternion(vehicle.configuration()[3:7]).toRotationMatrix()
    cosine, wheels = float(R[:, 2] @ vehicle.placer.normal), vehicle.description.wheels
    tilt = float(np.arccos(min(cosine, 1.0)))
    if tilt <= TILT:
        return
    heights, _ = vehicle.placer.evaluate(vehicle.placer.upright(pin.neutral(vehicle.model)))
    held = np.array([bool(wheel.traits.held) for wheel in wheels], dtype=bool)
    # the plane of the wheels, if there are casters too
    plane = heights[held] if 0 < held.sum() < len(held) else heights
    offsets = heights - np.median(plane)
    worst = int(np.argmax(np.abs(offsets)))
    side = "above" if offsets[worst] > 0 else "below"
    yield Notice(
        NoticeKind.TILTED,
        f"the base stands tilted by {degrees(tilt):.2g} degrees: in the zero pose of the file, "
        f"{wheels[worst].name!r} is {1e3 * abs(offsets[worst]):.3g} mm {side} the plane of the "
        "other contacts",
        _level(wheels, worst, float(offsets[worst])))


def _level(wheels: tuple[Wheel, ...], worst: int, offset: float) -> Remedy | None:
    radius = wheels[worst].radius + offset
    if wheels[worst].radius <= 0 or radius <= 0:
        return None
    fields = [wheel_fields(wheel, **({"radius": radius} if i == worst else {}))
              for i, wheel in enumerate(wheels)]
    return suggest("If it should stand level, correct the origin or the radius: ",
                   option("wheels", fields))


def _radii(vehicle: Vehicle, found: Proportions) -> Iterator[Notice]:
    """Radii compared with each other, and with those of real wheels."""
    wheels = [wheel for wheel in vehicle.description.wheels if wheel.radius > 0]
    if not wheels:
        return
    largest = max(wheels, key=lambda wheel: wheel.radius)
    smallest = min(wheels, key=lambda wheel: wheel.radius)
    size = f"{largest.name!r} has radius {largest.radius:.4g} m"
    if found.spread and largest.radius > UNIT * found.spread:
        yield Notice(NoticeKind.RADIUS_SCALE,
                     f"{size}, though all contacts are within {found.spread:.4g} m: lengths are in "
                     "metres", _in_metres(vehicle, found.spread))
    elif largest.radius > LARGEST:
        # with distances to match, the wheels alone cannot be meant
        whole = (". If all of the file are in millimetres, multiply each xyz, size, radius, length "
                 "and mesh scale and the limits of slides by 0.001, and each inertia by 1e-6"
                 if found.spread else "")
        yield Notice(NoticeKind.RADIUS_SCALE,
                     f"{size}; the largest tyres made have 2.1 m: lengths are in metres{whole}",
                     None if found.spread else _in_metres(vehicle, LARGEST))
    elif smallest.radius < SMALLEST:
        yield Notice(NoticeKind.RADIUS_SCALE,
                     f"{smallest.name!r} has radius {smallest.radius:.4g} m, less than "
                     f"{1e3 * SMALLEST:g} mm: lengths are in metres")
    elif found.wheelbase is not None and found.wheelbase < largest.radius:
        yield Notice(NoticeKind.SHORT_WHEELBASE,
                     f"the wheelbase, {found.wheelbase:.4g} m, is shorter than the radius of "
                     f"{largest.name!r}, {largest.radius:.4g} m: wheels one behind the other would "
                     "overlap")


def _in_metres(vehicle: Vehicle, bound: float) -> Remedy | None:
    """The remedy that radii are in millimetres, if all are then smaller than `bound` [m]."""
    wheels = vehicle.description.wheels
    radii = [wheel.radius * (MILLIMETRE if wheel.radius > bound else 1.0) for wheel in wheels]
    if max(radii) > bound:
        return None
    fields = [wheel_fields(wheel, **({"radius": radius} if radius else {}))
              for wheel, radius in zip(wheels, radii)]
    return suggest("If they are millimetres: ", option("wheels", fields))


def _centre(found: Proportions) -> Iterator[Notice]:
    """A centre of mass outside the support polygon, or below the ground."""
    if found.centre_of_mass is None:
        return
    height = float(found.centre_of_mass[2])
    if height <= LOW * found.radius:
        place = "at ground level" if abs(height) <= LOW * found.radius else (
            f"{abs(height):.4g} m below the ground")
        yield Notice(NoticeKind.LOW_CENTRE,
                     f"the centre of mass is {place}, height {height:.4g} m: loads would not shift "
                     "and nothing could tip over; check the <origin> in the heaviest <inertial>")
    outward = _outside(found.polygon, found.centre_of_mass[:2])
    if outward.any():
        way = max(Way, key=lambda way: float(outward @ way.value))
        yield Notice(NoticeKind.UNSUPPORTED_CENTRE,
                     f"the centre of mass is {np.hypot(*outward):.4g} m outside the contacts on "
                     f"the {way.side} side: the vehicle falls over at rest; check its load and the "
                     "<origin> in the heaviest <inertial>, or add the missing support")


def _outside(polygon: np.ndarray, point: np.ndarray) -> np.ndarray:
    """From the nearest point of a convex polygon (p, 2), counter-clockwise, to a point: (2,) [m],
    zero inside and without a polygon."""
    along = np.roll(polygon, -1, axis=0) - polygon
    to_point = point - polygon
    if not (along[:, 0] * to_point[:, 1] < along[:, 1] * to_point[:, 0]).any():
        return np.zeros(2)
    share = np.clip((along * to_point).sum(axis=1) / (along ** 2).sum(axis=1), 0.0, 1.0)
    gaps = to_point - share[:, None] * along
    return np.asarray(gaps[np.argmin(np.hypot(*gaps.T))])


def _masses(vehicle: Vehicle, found: Proportions) -> Iterator[Notice]:
    """Density of the whole vehicle, and radius of gyration of each body."""
    cube = found.size ** 3
    if found.mass > DENSE * cube > 0:
        yield Notice(NoticeKind.MASS_SCALE,
                     f"the vehicle weighs {found.mass:.4g} kg, more than a cube of gold of "
                     f"{found.size:.3g} m, the distance of its contacts: masses are in kilograms")
    height = 0.0 if found.centre_of_mass is None else float(found.centre_of_mass[2])
    room = 2 * height * found.area
    if 0 < found.mass < THIN * room:
        yield Notice(NoticeKind.MASS_SCALE,
                     f"the vehicle weighs {found.mass:.4g} kg, less than the air in the "
                     f"{room:.3g} m^3 that it takes up: masses are in kilograms")
    names = body_names(vehicle.model)
    for name, body in list(zip(names, vehicle.model.inertias))[1:]:
        if body.mass <= 0 or not found.size:
            continue
        # radius of gyration
        distance = float(np.sqrt(max(np.trace(body.inertia), 0.0) / 2 / body.mass))
        if distance > UNIT * found.size:
            yield Notice(NoticeKind.INERTIA_SCALE,
                         f"{name!r}: with its mass of {body.mass:.4g} kg, its inertia means that "
                         f"the mass is {distance:.3g} m from its centre on average, though all "
                         f"contacts are within {found.size:.3g} m: inertias are in kg m^2")
