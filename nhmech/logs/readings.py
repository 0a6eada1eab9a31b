"""What a vehicle shows of a state under the names and in the frames of ROS: as plain data, for the
messages of files and of running nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ..errors import REPR, listed
from ..simulation.contact.force_reader import reactions_at
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .frames import WORLD, Frames


class Transform(NamedTuple):
    """Placement of frame `child` in `parent`: translation (3,) [m], and a quaternion (4,) x, y, z,
    w of length one with w >= 0."""

    parent: str
    child: str
    translation: np.ndarray
    rotation: np.ndarray

    @classmethod
    def of(cls, parent: str, child: str, X: pin.SE3) -> Transform:
        return cls(parent, child, X.translation.copy(),
                   _positive(pin.Quaternion(X.rotation).normalized()))


def _positive(quaternion: pin.Quaternion) -> np.ndarray:
    """The one of the two of its rotation, x, y, z, w, that has w >= 0."""
    numbers = quaternion.coeffs()
    return numbers if numbers[3] >= 0 else -numbers


@dataclass(frozen=True, eq=False)
class Reading:
    """One state as ROS tells it."""

    t: float  # [s]
    base: Transform  # root link in odom, which is the world frame W
    # (6,) linear [m/s] and angular [rad/s] velocity of the root link, along its own axes
    twist: np.ndarray
    # position, velocity, effort: of the moving joints, in the order of `Readings.joints`: unwrapped
    # [rad, m], [rad/s, m/s], [N m, N]; effort is empty if forces play no part
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    links: tuple[Transform, ...]  # links that move in their parents
    # the contacts' frames in odom: x along the rolling, y sideways, z the normal
    contacts: tuple[Transform, ...]
    # contact -> force of the ground on the wheel (3,) [N] in the contact's frame
    forces: Mapping[str, np.ndarray]
    # link -> (10,) its attitude in odom as a quaternion, gyro [rad/s] and accelerometer [m/s^2]
    imus: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __repr__(self) -> str:
        x, y, z = self.base.translation
        return f"<Reading at t = {self.t:.6g} s: {self.base.child} at ({x:.4g}, {y:.4g}, {z:.4g})>"


class Readings:
    """Reads states of one vehicle, whose moving `joints` and `root` link it names."""

    def __init__(self, vehicle: Vehicle):
        self.vehicle, self.frames = vehicle, Frames(vehicle)
        self.joints, self.root = tuple(vehicle.joint_names), self.frames.root
        inputs = list(vehicle.constrained.system.u_names)
        # of each joint, in u; None if it has none
        self._efforts = [inputs.index(name) if name in inputs else None for name in self.joints]

    def __repr__(self) -> str:
        return f"<Readings of {self.vehicle.name!r}: joints {listed(self.joints, REPR)}>"

    def fixed(self) -> tuple[Transform, ...]:
        """Links that do not move in their parents."""
        return tuple(Transform.of(link.parent, link.name, self.frames.link(link))
                     for link in self.frames.fixed)

    def read(self, t: float, q: np.ndarray, v: np.ndarray, position: np.ndarray,
             u: np.ndarray | None, forces: Mapping[str, np.ndarray] | None = None,
             felt: Mapping[str, np.ndarray] | None = None) -> Reading:
        """A state from its numbers: positions of `joints`, unwrapped; inputs u, or None without
        forces; contact -> force of the ground on the wheel in W (3,) [N]; and link -> gyro and
        accelerometer (6,) of its IMU."""
        self.frames.place(q)
        contacts = self.frames.contacts(q, t)
        forces = {name: contacts[name].rotation.T @ force
                  for name, force in (forces or {}).items()}
        effort = () if u is None else [0.0 if i is None else u.item(i) for i in self._efforts]
        return Reading(
            t, Transform.of(WORLD, self.root, pin.XYZQUATToSE3(q[:7])), np.array(v[:6]),
            np.array(position, dtype=float), np.array(v[6:]), np.array(effort, dtype=float),
            tuple(Transform.of(link.parent, link.name, self.frames.link(link))
                  for link in self.frames.moving),
            tuple(Transform.of(WORLD, f"{name}_contact", X) for name, X in contacts.items()),
            forces, {link: np.concatenate([_positive(pin.Quaternion(self.frames.attitude(link))),
                                           numbers]) for link, numbers in (felt or {}).items()})

    def read_state(self, state: State) -> Reading:
        """A state of a simulation, with the forces of the ground."""
        found = reactions_at(self.vehicle, state.t, state.q, state.v, state.u).world
        position = np.array([state.joint_position[name] for name in self.joints])
        return self.read(state.t, state.q, state.v, position, state.u, found)
