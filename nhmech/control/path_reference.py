"""The path of a controller as plain values that a run file keeps, and how far from it a run was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..simulation.trajectory import Trajectory
from ..vehicle.vehicle import Vehicle
from .path import Path

SAMPLES = 1024       # pieces of a path that is kept
DIGITS = 12          # of its numbers
MOMENTS = 4000       # of a run at which the distance is worked out, at most


def path_reference(vehicle: Vehicle, path: Path, *, joint: int = 1,
                   point: Sequence[float] = (0.0, 0.0, 0.0),
                   axle: Sequence[float] = (0.0, 1.0, 0.0), backwards: bool = False) -> dict:
    """JSON values that say what is to stay on which path.

    A controller whose attribute `path_reference` is such a dict has it saved with its runs
    (`Trajectory.settings["path"]`), and `nhmech plot` and `nhmech report` draw its errors.

    Parameters
    ----------
    joint
        Index in Pinocchio's model of the joint whose body is to follow; 1 is the base's.
    point
        The body's point that is to stay on the path, in the body's frame (3,) [m].
    axle
        Unit vector of the body to the left: ahead is across it and level (3,).
    backwards
        Whether the path is followed tail first.
    """
    x, y, heading, _ = path.at(np.linspace(0.0, path.length, SAMPLES + 1))
    rounded = [[float(f"{value:.{DIGITS}g}") for value in column]
               for column in (x, y, np.broadcast_to(heading, x.shape))]
    return {"length": float(path.length), "closed": bool(path.closed),
            "x": rounded[0], "y": rounded[1], "heading": rounded[2],
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

    def _inner(self, s):
        lap = np.floor(s / self.length) if self.closed else 0.0
        s = s - lap * self.length
        point = self._point(s)
        turned = lap * (self._heading[-1] - self._heading[0])
        heading, bend = np.interp(s, self._s,
                                  self._heading) + turned, np.interp(s, self._s, self._bend)
        return point[..., 0], point[..., 1], heading, bend


@dataclass(frozen=True, eq=False)
class PathError:
    """How far a run was from its path.

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
        Against the tangent, in (-pi, pi] (n,) [rad].
    """

    path: Path
    t: np.ndarray
    point: np.ndarray
    lateral: np.ndarray
    heading: np.ndarray

    def describe(self) -> str:
        """E.g. "lateral error 2.1 mm RMS, 5.3 mm at most"."""
        return describe_lateral(self.lateral)


def describe_lateral(lateral: np.ndarray) -> str:
    """Of lateral errors [m] along a run."""
    rms, most = 1e3 * np.sqrt(np.mean(lateral ** 2)), 1e3 * np.max(np.abs(lateral))
    return f"lateral error {rms:.3g} mm RMS, {most:.3g} mm at most"


def path_of(trajectory: object) -> Path | None:
    """What the run's controller followed, where the run knows."""
    kept = getattr(trajectory, "settings", {}).get("path")
    if not isinstance(kept, Mapping):
        return None
    return SampledPath(*(kept[key] for key in ("length", "closed", "x", "y", "heading")))


def path_error(vehicle: Vehicle, trajectory: Trajectory,
               path: Path | None = None) -> PathError | None:
    """How far a run was from its path; None where there is none.

    The point is the base's origin where `path` is given; otherwise the run knows what was to
    follow.

    lateral = (p - p(s)) . normal(s), heading = that of the body less that of the tangent, s nearest
    to p on the path.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    trajectory
        The run.
    path
        Where None, the path that its controller followed.
    """
    kept = trajectory.settings.get("path")
    if path is not None:
        body, point, axle, backwards = 1, np.zeros(3), np.array([0.0, 1.0, 0.0]), False
    elif isinstance(kept, Mapping):
        path = path_of(trajectory)
        body, backwards = vehicle.model.getJointId(kept["body"]), kept["backwards"]
        point, axle = np.array(kept["point"]), np.array(kept["axle"])
        if body >= vehicle.model.njoints:
            raise ModelError(f"the run's path is followed by the body of {kept['body']!r}, which "
                             f"{vehicle.name!r} has not; is it another robot?")
    else:
        return None
    some = np.unique(np.linspace(0, len(trajectory) - 1, min(MOMENTS, len(trajectory))).astype(int))
    data, n, near, rows = vehicle.model.createData(), vehicle.placer.normal, None, []
    for k in some:
        pin.forwardKinematics(vehicle.model, data, trajectory.q[k])
        place, ahead = data.oMi[body].act(point)[:2], np.cross(data.oMi[body].rotation @ axle, n)
        looks = np.arctan2(ahead[1], ahead[0]) + (np.pi if backwards else 0.0)
        near = path.entry(place, looks,
                          vehicle.steering.length) if near is None else path.nearest(place, near)
        x, y, tangent, _ = (float(value) for value in path.at(np.float64(near)))
        turn = looks - tangent
        left = (place[1] - y) * np.cos(tangent) - (place[0] - x) * np.sin(tangent)
        rows.append((*place, left, np.pi - np.remainder(np.pi - turn, 2 * np.pi)))
    x, y, lateral, heading = np.array(rows).T
    return PathError(path, trajectory.t[some], np.stack([x, y], axis=-1), lateral, heading)
