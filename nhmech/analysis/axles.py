"""Where the axles meet: the rotation centre, why a vehicle is locked, and which lateral rows to
free."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import casadi as ca
import numpy as np
import pinocchio as pin

from ..checks import check_arguments, read_vector
from ..vehicle.couplings import TURNLESS
from ..vehicle.vehicle import Vehicle
from .mobility import planar
from .motions import kernel


@dataclass(frozen=True)
class Axles:
    """The axles of a vehicle at one configuration, and where they meet.

    Attributes
    ----------
    wheels
        Names of the wheels that do not trail.
    rows
        Their lateral rows (k, 3) in (forward, lateral, length * yaw rate), each a unit vector.
    length
        [m] that makes the third column a speed.
    kind
        "point": all axles meet in one point; "line": they coincide, and the base can turn about any
        point of that line; "parallel": they meet at infinity, and the base can only move straight;
        "anywhere": no axle constrains the base; "locked": they have no common point, and the base
        cannot move.
    centre
        (2,) [m], the common point in the base's frame projected to the ground; for "line" its point
        nearest to the base's origin.
    direction
        (2,) unit vector along the line, or towards the centre at infinity.
    steerable
        Whether a joint can turn one of them.
    """

    wheels: tuple[str, ...]
    rows: np.ndarray
    length: float
    kind: str
    centre: np.ndarray | None
    direction: np.ndarray | None
    steerable: bool

    def __repr__(self) -> str:
        return f"Axles({', '.join(self.wheels) or 'none'}: {self.describe()})"

    @property
    def turns(self) -> bool:
        """Whether the axles let the base turn."""
        return self.kind in ("point", "line", "anywhere")

    def to_free(self) -> tuple[tuple[str, ...], ...]:
        """The smallest sets of wheels that let the base turn if their lateral rows are released, as
        alternatives; none if it can turn already.

        Wheels with equal rows are released together, as one axle."""
        if self.turns:
            return ()
        groups = _groups(self.rows)
        for count in range(1, len(groups)):
            found = []
            for freed in combinations(range(len(groups)), count):
                rest = [groups[i][0] for i in range(len(groups)) if i not in freed]
                if _meet(self.rows[rest], self.length)[0] in ("point", "line", "anywhere"):
                    found.append(tuple(self.wheels[k] for i in freed for k in groups[i]))
            if found:
                fewest = min(map(len, found))
                return tuple(names for names in found if len(names) == fewest)
        return ()

    def describe(self) -> str:
        """One sentence, including what to release if the axles do not meet."""
        if self.turns or (self.kind == "parallel" and self.steerable):
            return self.place()
        free = " or ".join(", ".join(names) for names in self.to_free())
        return f"{self.place()}; free the lateral rows of {free or 'more wheels'}"

    def place(self) -> str:
        """The place where they meet, or the axles that do not meet."""
        if self.kind == "anywhere":
            return "anywhere: no axle binds the base"
        if self.kind == "point" and self.centre is not None:
            return f"the axles meet at {_two(self.centre, 4)} m of the base"
        if self.kind == "line" and self.centre is not None and self.direction is not None:
            return ("any point of the common axle, which passes at "
                    f"{_two(self.centre, 4)} m of the base along {_two(self.direction, 3)}")
        if self.kind == "parallel" and self.steerable:
            return "at infinity: it moves straight on until it steers"
        first = self.wheels[0]
        others = [name for name, row in zip(self.wheels, self.rows)
                  if np.linalg.norm(np.cross(row, self.rows[0])) > TURNLESS]
        locked = "straight only" if self.kind == "parallel" else "locked"
        return f"none, {locked}: the axle of {first} does not meet that of {', '.join(others)}"


def _two(vector: np.ndarray, digits: int) -> str:
    x, y = np.round(vector, 9) + 0.0                          # no negative zeros
    return f"({x:.{digits}g}, {y:.{digits}g})"


class AxleReader:
    """`axles` of one vehicle at many configurations; the function of its rows is made once."""

    def __init__(self, vehicle: Vehicle, *, gripping: bool = False):
        self.vehicle = vehicle
        sideways = [c for c in vehicle.contacts if "lateral" in c.held and c.mount.axle is not None]
        self.contacts = tuple(c for c in sideways
                              if gripping or (c.name, "lateral") in vehicle.contact_rows)
        s = vehicle.constrained.system
        forms = ca.vertcat(ca.SX(0, s.v.numel()),
                           *[ca.jacobian(c.speed("lateral"), s.v) for c in self.contacts])
        self._forms = ca.Function("lateral", [s.t, s.q, s.theta], [ca.densify(forms)])

    def at(self, q: np.ndarray) -> Axles:
        """The axles at q (nq,)."""
        vehicle, length = self.vehicle, self.vehicle.steering.length
        values = self._forms(0.0, q,
                             vehicle.theta).full().reshape(len(self.contacts), vehicle.algebroid.nv)
        trailing = np.abs(values[:, 6:]).max(axis=1, initial=0.0) > 1e-6 * length
        rows = values[~trailing, :6] @ planar(vehicle, q).T / np.array([1.0, 1.0, length])
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        wheels = tuple(c.name for c, trails in zip(self.contacts, trailing) if not trails)
        return Axles(wheels, rows, length, *_meet(rows, length), bool(vehicle.steering.steered))

    def centre(self, q: np.ndarray, v: np.ndarray | None = None) -> np.ndarray | None:
        """The point (3,) [m] in W about which the base turns, at the height of its origin; None
        if there is none.

        Where the axles meet; where they coincide or bind nothing, and v (nv,) is given, the point
        of the common axle (or of the ground) that the base's twist turns about now.
        """
        found, plane = self.at(q), planar(self.vehicle, q)
        point = found.centre if found.kind == "point" else None
        if found.kind in ("line", "anywhere") and v is not None:
            forward, lateral, turn = plane @ np.asarray(v, dtype=float)[:6]
            if abs(turn) * found.length <= TURNLESS * max(np.hypot(forward, lateral), found.length):
                return None
            point = np.array([-lateral, forward]) / turn
            if found.kind == "line":
                point = found.centre + point @ found.direction * found.direction
        if point is None:
            return None
        return q[:3] + pin.Quaternion(np.asarray(q, dtype=float)[3:7]).toRotationMatrix() @ (
            point @ plane[:2, :3]
        )


@check_arguments
def axles(vehicle: Vehicle, q: np.ndarray | None = None, *, gripping: bool = False) -> Axles:
    """The axles of a vehicle and where they meet.

    A wheel whose lateral row contains a joint rate (a caster, a trailer, a bicycle's fork) trails
    and is not counted.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    q
        A configuration; the zero pose if None.
    gripping
        Whether to include wheels whose lateral rows a skid-steer model released or replaced: these
        show why the vehicle could not turn without the model.
    """
    q = vehicle.configuration() if q is None else _read(vehicle, q)
    return AxleReader(vehicle, gripping=gripping).at(q)


@check_arguments
def rotation_centre(vehicle: Vehicle, q: np.ndarray) -> np.ndarray | None:
    """The point (3,) [m] in W about which the base turns; None if there is none.

    It is given at the height of the base's origin.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    q
        A configuration (nq,).
    """
    return AxleReader(vehicle).centre(_read(vehicle, q))


def _read(vehicle: Vehicle, q: np.ndarray) -> np.ndarray:
    return read_vector("q", q, vehicle.algebroid.q_names)


def _meet(rows: np.ndarray, length: float) -> tuple[str, np.ndarray | None, np.ndarray | None]:
    """The centre c by the kernel of the rows: turning at rate w about c moves the origin with w
    (c_y, -c_x)."""
    rest = kernel(rows)
    if rest.shape[1] == 3:
        return "anywhere", None, None
    if rest.shape[1] == 0:
        return "locked", None, None
    if rest.shape[1] == 1:
        forward, lateral, turn = rest[:, 0]
        if abs(turn) <= TURNLESS:
            return "parallel", None, np.array([-lateral, forward])
        return "point", np.array([-lateral, forward]) / turn * length, None
    # the common axle: row . (c_y, -c_x, length) = 0
    row = np.cross(rest[:, 0], rest[:, 1])
    along, size = row[:2] if row[1] > 0 else -row[:2], np.linalg.norm(row[:2])
    return "line", np.array([row[1], -row[0]]) * row[2] * length / size ** 2, along / size


def _groups(rows: np.ndarray) -> list[list[int]]:
    """Indices of rows that are the same axle."""
    groups: list[list[int]] = []
    for i, row in enumerate(rows):
        same = next((group for group in groups
                     if np.linalg.norm(np.cross(row, rows[group[0]])) <= TURNLESS), None)
        if same is None:
            groups.append([i])
        else:
            same.append(i)
    return groups
