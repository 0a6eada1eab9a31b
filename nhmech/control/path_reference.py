"""The path of a controller as plain values for run files, and the distance of a run from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..checks import check_arguments
from ..errors import ModelError
from ..simulation.runs.trajectory import Trajectory
from ..vehicle.vehicle import Vehicle
from .path import Curve, Path, relative_pose
from .unicycle import unicycle

SAMPLES = 1024       # pieces of a path that is kept
DIGITS = 12          # of its numbers
MOMENTS = 4000       # of a run at which the distance is worked out, at most


@dataclass(frozen=True)
class TrackedAxle:
    """The tracked point: the ground point below the middle of one body's axle."""

    joint: int  # index of the body's joint in Pinocchio's model
    point: np.ndarray  # (3,) in the body's frame [m]
    axle: np.ndarray  # (3,) unit, to the left

    @classmethod
    def of(cls, vehicle: Vehicle, q: np.ndarray, joint: int) -> TrackedAxle:
        """The middle of the contact points, at q, of the wheels whose axle is fixed to a body."""
        axles = {i: c.mount.axle for i, c in enumerate(vehicle.contacts)
                 if c.mount.body == joint and c.mount.axle is not None}
        if not axles:
            raise ModelError(f"no wheel is mounted directly on body {vehicle.model.names[joint]!r} "
                             f"of {vehicle.name!r}: name another body")
        data = vehicle.model.createData()
        pin.forwardKinematics(vehicle.model, data, q)
        on, axle, yaw = list(axles), next(iter(axles.values())), unicycle(vehicle).yaw
        aside = data.oMi[1].rotation @ [-np.sin(yaw), np.cos(yaw), 0.0]
        left = aside @ data.oMi[joint].rotation @ axle
        return cls(joint, data.oMi[joint].actInv(vehicle.contact_points(q)[on].mean(axis=0)),
                   axle if left > 0 else -axle)

    def pose(self, vehicle: Vehicle, data: pin.Data, q: np.ndarray) -> tuple[np.ndarray, float]:
        """x, y (2,) [m] of the point and the heading of the axle [rad]."""
        pin.forwardKinematics(vehicle.model, data, q)
        forward = np.cross(data.oMi[self.joint].rotation @ self.axle, vehicle.placer.normal)
        return data.oMi[self.joint].act(self.point)[:2], float(np.arctan2(forward[1], forward[0]))

    def rows(self, vehicle: Vehicle, q: np.ndarray) -> np.ndarray:
        """Displacement (3, nv) of the point forwards and to the left, and turn of the axle, per eta
        of the fibre."""
        data = vehicle.model.createData()
        pin.computeJointJacobians(vehicle.model, data, q)
        J = pin.getJointJacobian(vehicle.model, data, self.joint, pin.LOCAL)
        left, up = self.axle, data.oMi[self.joint].rotation.T @ vehicle.placer.normal
        ahead = np.cross(left, up)
        return np.array([*(d @ J[:3] + np.cross(self.point, d) @ J[3:] for d in (ahead, left)),
                         up @ J[3:]])


def path_reference(vehicle: Vehicle, path: Path, *, joint: int = 1,
                   point: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0),
                   axle: Sequence[float] | np.ndarray = (0.0, 1.0, 0.0),
                   backwards: bool = False) -> dict:
    """The tracked point and the path, as JSON values.

    A controller whose attribute `path_reference` is such a dict has it saved with its runs
    (`Trajectory.settings["path"]`), and `nhmech plot` and `nhmech report` draw its errors. `joint`
    is the index in Pinocchio's model of the joint that moves the body (1 is the base's), `point`
    (3,) [m] and `axle` (3,), a unit vector to the left, are in the body's frame; `backwards` means
    tail first.
    """
    x, y, heading, _ = path.at(np.linspace(0.0, path.length, SAMPLES + 1))
    columns = {"x": x, "y": y, "heading": np.broadcast_to(heading, x.shape)}
    rounded = {name: [float(f"{value:.{DIGITS}g}") for value in column]
               for name, column in columns.items()}
    return {"length": float(path.length), "closed": bool(path.closed), **rounded,
            "body": vehicle.model.names[joint], "point": [float(c) for c in point],
            "axle": [float(c) for c in axle], "backwards": backwards}


class SampledPath(Path):
    """A path from evenly spaced points and headings: cubic Hermite pieces, of 4th order where
    curvature has no jump."""

    def __init__(self, length: float, closed: bool, x: Sequence[float], y: Sequence[float],
                 heading: Sequence[float]):
        from scipy.interpolate import CubicHermiteSpline

        self.length, self.closed = length, closed
        self._s, self._heading = np.linspace(0.0, length, len(x)), np.asarray(heading, dtype=float)
        self._point = CubicHermiteSpline(self._s, np.stack([x, y], axis=-1),
                                         np.stack([np.cos(heading), np.sin(heading)], axis=-1))
        self._bend = np.gradient(self._heading, self._s)

    def _inner(self, s: float | np.ndarray) -> Curve:
        lap = np.floor(s / self.length) if self.closed else 0.0
        s = s - lap * self.length
        point = self._point(s)
        turned = lap * (self._heading[-1] - self._heading[0])
        heading = np.interp(s, self._s, self._heading) + turned
        return point[..., 0], point[..., 1], heading, np.interp(s, self._s, self._bend)


@dataclass(frozen=True, eq=False)
class PathError:
    """The distance of a run from its path.

    Attributes
    ----------
    path
        `Path`.
    t
        Moments (n,) [s].
    point
        What was to stay on the path (n, 2) [m].
    lateral
        Of the point, positive to the left of the path (n,) [m].
    heading
        Against the tangent, in [-pi, pi) (n,) [rad].
    """

    path: Path
    t: np.ndarray
    point: np.ndarray
    lateral: np.ndarray
    heading: np.ndarray

    def __repr__(self) -> str:
        return f"PathError({len(self.t)} moments, {self.describe()})"

    def describe(self) -> str:
        """The errors in words, such as "lateral error 2.1 mm RMS, 5.3 mm at most"."""
        return describe_lateral(self.lateral)


def describe_lateral(lateral: np.ndarray) -> str:
    """RMS and largest lateral error [m] of a run, in words."""
    rms, most = write_lateral(lateral)
    return f"lateral error {rms} RMS, {most} at most"


def write_lateral(lateral: np.ndarray) -> tuple[str, str]:
    """RMS and largest lateral error [m] of a run, each with a unit that suits both."""
    rms, most = np.sqrt(np.mean(lateral ** 2)), np.max(np.abs(lateral))
    unit, factor = ("m", 1.0) if most >= 1 else ("mm", 1e3)
    return f"{factor * rms:.3g} {unit}", f"{factor * most:.3g} {unit}"


def path_of(trajectory: object) -> Path | None:
    """The path that the controller of a run followed; None if the run does not record it."""
    kept = getattr(trajectory, "settings", {}).get("path")
    if not isinstance(kept, Mapping):
        return None
    return SampledPath(*(kept[key] for key in ("length", "closed", "x", "y", "heading")))


@check_arguments
def path_error(vehicle: Vehicle, trajectory: Trajectory,
               path: Path | None = None) -> PathError | None:
    """The distance of a run from its path; None if there is no path.

    The point is the one that the run recorded as following the path, or the base's origin if it
    recorded none.

    lateral = (p - p(s)) . normal(s), heading = that of the body less that of the tangent, s nearest
    to p on the path.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    trajectory
        The run.
    path
        If None, the path that its controller followed.

    Raises
    ------
    InputError
        For a run of another robot.
    ModelError
        If the vehicle lacks the body that followed the path.

    Examples
    --------
    >>> from nhmech.control import TwistDrive, line, path_error
    >>> run = Simulator(vehicle, TwistDrive(vehicle, (0.5, 0.0, 0.0))).run(0.1)
    >>> bool(abs(path_error(vehicle, run, line(5.0)).lateral).max() < 1e-9)
    True
    """
    axle, turn = TrackedAxle(1, np.zeros(3), np.array([0.0, 1.0, 0.0])), 0.0
    followed = path_of(trajectory)
    trajectory.check_is_of(vehicle)
    path = path or followed
    if path is None:
        return None
    if followed is not None:
        kept = trajectory.settings["path"]
        axle, turn = _read_axle(vehicle, kept), np.pi if kept["backwards"] else 0.0
    some = np.unique(np.linspace(0, len(trajectory) - 1, MOMENTS).astype(int))
    data = vehicle.model.createData()
    found = [axle.pose(vehicle, data, q) for q in trajectory.q[some]]
    points, looks = np.array([p for p, _ in found]), np.array([h for _, h in found]) + turn
    x, y, tangent, _ = path.at(path.trace(points, looks, vehicle.steering.length))
    _, lateral, heading = relative_pose((*points.T, looks), (x, y, tangent))
    return PathError(path, trajectory.t[some], points, lateral, heading)


def _read_axle(vehicle: Vehicle, kept: Mapping) -> TrackedAxle:
    joint = vehicle.model.getJointId(kept["body"])
    if joint >= vehicle.model.njoints:
        raise ModelError(f"the run's path is followed by the body of {kept['body']!r}, which "
                         f"{vehicle.name!r} does not have; is it another robot?")
    return TrackedAxle(joint, np.array(kept["point"]), np.array(kept["axle"]))
