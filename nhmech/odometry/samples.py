"""The motion data of a robot's log, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError, listed


@dataclass(frozen=True, eq=False)
class Samples:
    """A stream of messages with stamps."""

    topic: str  # where they were published; the name of the file for a table
    t: np.ndarray  # stamps (N,) [s], in the order of the file
    received: np.ndarray | None  # when they were recorded (N,) [s]; None if the file does not say

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.topic!r}: {len(self)} messages>"

    def _rows(self) -> dict[str, np.ndarray]:
        return {name: value for name, value in vars(self).items()
                if isinstance(value, np.ndarray) and value.ndim and len(value) == len(self.t)}

    def take(self, rows: np.ndarray, t: np.ndarray | None = None):
        """Some of the messages, in this order, with other stamps where `t` gives them."""
        found = replace(self, **{name: value[rows] for name, value in self._rows().items()})
        return found if t is None else replace(found, t=t)


@dataclass(frozen=True, eq=False, repr=False)
class JointSamples(Samples):
    """Joint states.

    Attributes
    ----------
    topic
        Topic on which they were published; the name of the file for a table.
    t, received
        Stamps in the order of the file, and when they were recorded, (N,) [s]; `received` is None
        if the file does not say.
    names
        Of the joints.
    position
        (N, n) [rad, m], NaN where a message has none; continuous joints unwrapped.
    velocity, effort
        (N, n) [rad/s, m/s] and [N m, N], NaN where a message has none.
    named
        Which joints a message names, (N, n); None if each of them names all.
    """

    names: tuple[str, ...]
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    named: np.ndarray | None = None

    def rename(self, names: dict[str, str]) -> JointSamples:
        """The same with other names of joints.

        Raises
        ------
        InputError
            For joints that the log has not.
        """
        for name in names:
            if name not in self.names:
                raise InputError(f"{self.topic} has no joint {name!r} to rename; it has "
                                 f"{listed(self.names)}")
        return replace(self, names=tuple(names.get(name, name) for name in self.names))

    def select(self, names: Sequence[str]) -> JointSamples:
        """These joints, in this order."""
        columns = [self.names.index(name) for name in names]
        parts = ("position", "velocity", "effort", *(("named",) if self.named is not None else ()))
        return replace(self, names=tuple(names),
                       **{part: getattr(self, part)[:, columns] for part in parts})


@dataclass(frozen=True, eq=False, repr=False)
class PoseSamples(Samples):
    """Poses of a frame of the robot.

    Attributes
    ----------
    topic
        Topic on which they were published; the name of the file for a table.
    t, received
        Stamps in the order of the file, and when they were recorded, (N,) [s]; `received` is None
        if the file does not say.
    position
        (N, 3) [m].
    rotation
        Unit quaternions x, y, z, w (N, 4).
    twist
        Linear [m/s] and angular velocity [rad/s] in the frame itself (N, 6), NaN where it is
        unknown.
    frame, child
        Names of the frame that it is in, and of the frame whose pose it is.
    is_planar
        Whether height, roll and pitch are unknown.
    """

    position: np.ndarray
    rotation: np.ndarray
    twist: np.ndarray
    frame: str = ""
    child: str = ""
    is_planar: bool = False

    @property
    def planar(self) -> np.ndarray:
        """x, y [m] and continuous heading [rad], (N, 3)."""
        x, y, z, w = self.rotation.T
        yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        return np.column_stack([self.position[:, :2], np.unwrap(yaw)])


