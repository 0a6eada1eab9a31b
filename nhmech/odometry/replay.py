"""Logged wheels and steering replayed through ideal rolling: the track that the base would take."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, Slerp

from ..errors import InputError
from ..once import cached_property
from .planar import integrate, join_halves
from .rolling import Rolling, Rows
from .samples import JointSamples, PoseSamples


@dataclass(frozen=True, eq=False)
class Track:
    """The motion of the base that follows from the wheels."""

    poses: np.ndarray  # (K, 3) from (0, 0, 0)
    slopes: np.ndarray  # their derivatives by the unknown numbers (p, K, 3)
    # by how much the wheels slid against each other up to each pose, row by row (K, m) [m]
    slid: np.ndarray
    d_slid: np.ndarray  # its derivatives (p, K, m)


@dataclass(frozen=True, eq=False)
class Wiring:
    """The joint and the sign of each measured column; swapped cables or signs make it wrong."""

    order: tuple[int, ...]  # column of each joint (n,)
    sign: tuple[float, ...]  # +1 or -1 of each joint (n,)

    @classmethod
    def right(cls, n: int) -> Wiring:
        """The wiring in which each column is the joint of its name."""
        return cls(tuple(range(n)), (1.0,) * n)

    def swap(self, i: int, j: int) -> Wiring:
        """The wiring with two joints exchanged."""
        order = list(self.order)
        order[i], order[j] = order[j], order[i]
        return Wiring(tuple(order), self.sign)

    def reverse(self, joints: list[int]) -> Wiring:
        """The wiring with the signs of some joints reversed."""
        return Wiring(self.order, tuple(-s if i in joints else s for i, s in enumerate(self.sign)))

    def apply(self, values: np.ndarray) -> np.ndarray:
        """The columns in the order and with the signs of the joints."""
        return values[:, list(self.order)] * np.array(self.sign)


@dataclass(frozen=True, eq=False)
class Replay:
    """The joints of a log, replayed through the rolling of a vehicle."""

    rolling: Rolling
    joints: JointSamples  # in the order of `rolling.joints`, stamps rising
    t: np.ndarray  # moments of the track (K + 1,) [s], within the stamps
    pose: PoseSamples | None = None  # has roll and pitch, for a vehicle whose attitude moves
    _rows: dict[tuple[float, Wiring], Rows] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Replay of {len(self.t)} moments>"

    @cached_property
    def _angles(self) -> CubicSpline:
        return CubicSpline(self.joints.t, positions(self.joints))

    @cached_property
    def _tilts(self) -> Slerp | None:
        if not self.rolling.attitude_moves:
            return None
        if self.pose is None or self.pose.is_planar:
            raise InputError(f"{self.rolling.vehicle.name} rolls or pitches as it drives: its "
                             "motion follows from the wheels and the attitude together, and the "
                             "log has planar poses only; log the pose in three dimensions")
        return Slerp(self.pose.t, Rotation.from_quat(self.pose.rotation))

    def rows(self, late: float, wiring: Wiring) -> Rows:
        """Rows of the half steps, the joints read `late` [s] before the stamps."""
        if (late, wiring) not in self._rows:
            self._rows.clear()
            edges = np.sort(np.concatenate([self.t, (self.t[1:] + self.t[:-1]) / 2]))
            begin, end = self.joints.t[[0, -1]]
            at = np.clip(edges - late, begin, end)
            angles = wiring.apply(self._angles(at))
            tilt, tilting = self._attitude(edges)      # given by the poses themselves
            self._rows[late, wiring] = self.rolling.rows(
                (angles[1:] + angles[:-1]) / 2, np.diff(angles, axis=0), tilt, tilting)
        return self._rows[late, wiring]

    def _attitude(self, at: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Rotation without heading in the middle of each half step, and its change."""
        slerp = self._tilts
        if slerp is None:
            return None, None
        begin, end = slerp.times[[0, -1]]

        def tilts(t: np.ndarray) -> Rotation:
            found = slerp(np.clip(t, begin, end))
            R = found.as_matrix()
            back = np.zeros((len(t), 3))
            back[:, 2] = -np.arctan2(R[:, 1, 0], R[:, 0, 0])
            return Rotation.from_rotvec(back) * found

        ends = tilts(at)
        turning = (ends[:-1].inv() * ends[1:]).as_rotvec()
        return tilts((at[1:] + at[:-1]) / 2).as_matrix(), turning

    def track(self, radius: np.ndarray, track: float = 1.0, wheelbase: float = 1.0,
              late: float = 0.0, wiring: Wiring | None = None) -> Track:
        """The track for multipliers of radii (G,), track and wheelbase, which are its unknowns."""
        wiring = wiring or Wiring.right(len(self.rolling.joints))
        halves = self.rows(late, wiring).displacements(radius, track, wheelbase)
        poses, slopes = integrate(*join_halves(halves.base, halves.d_base))
        m, p = halves.slid.shape[1], len(slopes)
        slid = np.concatenate([np.zeros((1, m)), np.cumsum(halves.slid, 0)[1::2]])
        d_slid = np.concatenate([np.zeros((p, 1, m)), np.cumsum(halves.d_slid, 1)[:, 1::2]], 1)
        return Track(poses, slopes, slid, d_slid)


def positions(joints: JointSamples) -> np.ndarray:
    """Positions (N, n), those that are not logged by integrating the rates. Raises `InputError`
    if there are neither."""
    found = joints.position.copy()
    for i, name in enumerate(joints.names):
        column, rates = found[:, i], joints.velocity[:, i]
        known = np.isfinite(column)
        if known.sum() >= 2:
            found[:, i] = np.interp(joints.t, joints.t[known], column[known])
        elif np.isfinite(rates).sum() >= 2:
            moving = np.isfinite(rates)
            full = np.interp(joints.t, joints.t[moving], rates[moving])
            found[1:, i] = np.cumsum((full[1:] + full[:-1]) / 2 * np.diff(joints.t))
            found[0, i] = 0.0
        else:
            raise InputError(f"{joints.topic} has neither positions nor velocities of {name!r}")
    return found
