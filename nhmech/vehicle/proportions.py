"""Size and mass of a vehicle, and its static stability against tipping over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import atan2

import numpy as np
import pinocchio as pin

from ..once import cached_property
from .contact import Contact
from .vehicle import Vehicle

FLAT = 1e-9         # of the size: contacts nearer to a line than this do not span a polygon
SAME_AXLE = 0.1     # of the largest radius: wheels no farther apart in this direction share an axle


class Way(Enum):
    """Directions in which a vehicle can tip: (forward, left) components of a unit vector."""

    FORWARD = (1.0, 0.0)
    BACKWARD = (-1.0, 0.0)
    LEFT = (0.0, 1.0)
    RIGHT = (0.0, -1.0)

    @property
    def side(self) -> str:
        """Name of this side of a vehicle."""
        return {Way.FORWARD: "front", Way.BACKWARD: "rear"}.get(self, self.name.lower())


@dataclass(frozen=True, eq=False)
class Proportions:
    """Mass, size and support of a vehicle in its zero pose.

    Lengths are along (forward, left, up) from the point of the ground below the base's origin:
    forward is the base's x axis laid on the ground, up the ground's normal.
    """

    mass: float  # of the whole vehicle [kg]
    centre_of_mass: np.ndarray | None  # (3,) [m]; None without mass
    contacts: np.ndarray  # (k, 2) forward and left [m]
    # distance from the foremost axle to the rearmost one [m]; None with one axle
    wheelbase: float | None
    # largest distance between two wheels of an axle [m]; None if each has one wheel
    track: float | None
    radius: float  # of the largest wheel [m]; 0 with blades only

    @property
    def spread(self) -> float:
        """Largest distance between two contacts [m]; 0 with one contact."""
        gaps = self.contacts[:, None] - self.contacts
        return float(np.linalg.norm(gaps, axis=2).max(initial=0.0))

    @property
    def size(self) -> float:
        """The largest of the distances between contacts and of the wheels' diameters [m]."""
        return max(self.spread, 2 * self.radius)

    @property
    def area(self) -> float:
        """Area of the support polygon [m^2], or 0."""
        (x, y), (x2, y2) = self.polygon.T, np.roll(self.polygon, -1, axis=0).T
        return float((x * y2 - x2 * y).sum()) / 2

    @cached_property
    def polygon(self) -> np.ndarray:
        """Corners of the support polygon, the convex hull of the contacts, counter-clockwise seen
        from above, (p, 2) [m].

        Empty if the contacts lie on one line.
        """
        corners = convex_hull(self.contacts, FLAT * self.size ** 2)
        return self.contacts[corners if len(corners) > 2 else []].reshape(-1, 2)

    @property
    def edges(self) -> np.ndarray:
        """Edges of the support polygon: rows (a, b, c) such that a forward + b left <= c inside,
        (a, b) of unit length, (p, 3)."""
        along = np.roll(self.polygon, -1, axis=0) - self.polygon
        outward = np.column_stack([along[:, 1], -along[:, 0]])
        outward = outward / np.linalg.norm(along, axis=1, keepdims=True)
        return np.column_stack([outward, (outward * self.polygon).sum(axis=1)])

    def reach(self, way: Sequence[float]) -> float | None:
        """Distance [m] from below the centre of mass to the edge of the support polygon in the
        direction (forward, left) `way`; negative if it is beyond that edge, None without a
        polygon."""
        edges = self.edges
        if self.centre_of_mass is None or not len(edges):
            return None
        slopes = edges[:, :2] @ np.asarray(way, dtype=float)
        rooms = edges[:, 2] - edges[:, :2] @ self.centre_of_mass[:2]
        ahead = slopes > FLAT
        return float((rooms[ahead] / slopes[ahead]).min())

    def tip_angle(self, way: Way) -> float | None:
        """Slope [rad] of the ground at which the vehicle at rest begins to tip over, facing so that
        `way` is downhill.

        arctan(reach / height of the centre of mass): there the vertical through the centre of mass
        meets the edge of the support polygon. Negative if it tips over on level ground; None
        without a polygon.
        """
        reach = self.reach(way.value)
        if reach is None or self.centre_of_mass is None:
            return None
        return atan2(reach, max(float(self.centre_of_mass[2]), 0.0))


def convex_hull(points: np.ndarray, slack: float = 0.0) -> list[int]:
    """Indices of the corners of the convex hull of points (n, 2), counter-clockwise; twice the area
    of the triangle with its neighbours exceeds `slack` at each of them."""
    places, corners = points.tolist(), []
    order = sorted(range(len(places)), key=places.__getitem__)
    # the lower half from left to right, then the upper one back (Andrew, Information Processing
    # Letters 9, 1979, 216-219)
    for half in (order, order[::-1]):
        kept: list[int] = []
        for i in half:
            while len(kept) > 1:
                (x0, y0), (x1, y1), (x, y) = (places[k] for k in (*kept[-2:], i))
                if (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > slack:
                    break
                kept.pop()
            kept.append(i)
        corners += kept[:-1]
    return corners


def proportions(vehicle: Vehicle) -> Proportions:
    """Mass, size and support of a vehicle in its zero pose."""
    q, n = vehicle.configuration(), vehicle.placer.normal
    R = pin.Quaternion(q[3:7]).toRotationMatrix()
    forward = np.cross(R[:, 1], n)
    forward /= np.linalg.norm(forward)
    axes = np.array([forward, np.cross(n, forward), n])
    points = vehicle.contact_points(q)
    # blades and free balls have contacts too; all of them are in the plane of the ground
    origin = q[:3] - n * (q[:3] @ n - (points @ n).mean())
    mass = sum(inertia.mass for inertia in vehicle.model.inertias)
    centre = axes @ (pin.centerOfMass(vehicle.model, vehicle.data, q) - origin) if mass else None
    contacts = (points - origin) @ axes[:2].T
    radius = max(c.mount.wheel.radius for c in vehicle.contacts)
    bearing = _find_bearing(vehicle)
    return Proportions(float(mass), centre, contacts, *_base(contacts[bearing], radius), radius)


def _find_bearing(vehicle: Vehicle) -> list[int]:
    """Indices of the contacts between which the wheelbase is measured: wheels, except those that
    trail behind an undriven joint, if at least two others remain."""
    wheels = [i for i, c in enumerate(vehicle.contacts) if c.mount.wheel.traits.held]
    passive = set(vehicle.description.steering) - set(vehicle.driven)
    own = [i for i in wheels if not passive & _carriers(vehicle, vehicle.contacts[i])]
    return own if len(own) > 1 else wheels


def _carriers(vehicle: Vehicle, contact: Contact) -> set[str]:
    """Joints between the base and the body that carries the wheel."""
    names, joint = set(), contact.mount.body
    while joint > 1:
        names.add(vehicle.model.names[joint])
        joint = vehicle.model.parents[joint]
    return names


def _base(points: np.ndarray, radius: float) -> tuple[float | None, float | None]:
    """Wheelbase and track [m] of contacts (k, 2)."""
    axles: list[list[np.ndarray]] = []
    for point in sorted(points, key=lambda point: float(point[0])):
        if axles and point[0] - axles[-1][0][0] <= SAME_AXLE * radius:
            axles[-1].append(point)
        else:
            axles.append([point])
    spreads = [float(np.ptp([left for _, left in axle])) for axle in axles]
    track = max((spread for spread in spreads if spread > 0), default=None)
    wheelbase = float(axles[-1][0][0] - axles[0][0][0]) if len(axles) > 1 else None
    return wheelbase, track
