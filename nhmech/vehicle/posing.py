"""From a user's pose and joint positions to a configuration that satisfies all constraints."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import radians
from typing import TypeAlias

import numpy as np
import pinocchio as pin

from ..attitude import attitude
from ..checks import are_degrees, as_numbers, read_mapping, read_number
from ..errors import REPR, InputError, ModelError, Remedy, did_you_mean, listed
from ..urdf.description import Mimic
from .couplings import Steering
from .model import read_joint, upright, write_joint
from .placement import Placer, Support

Pose: TypeAlias = "Sequence[float] | np.ndarray | pin.SE3"

MEETING = 1e-9      # [rad] tolerance of the angle of a follower
LYING = 1e-9        # a wheel with a smaller |axle x n| lies on its side
RIGID = 1e-6        # tolerance of entries of R^T R, more than the rounding errors of a printed pose


@dataclass(frozen=True, eq=False)
class Gauge:
    """A condition for a massless root, which could otherwise turn with its wheel: its axis `level`,
    across the `axle` of `joint`, stays horizontal."""

    joint: str
    axle: np.ndarray
    level: np.ndarray


@dataclass(frozen=True, eq=False)
class Posing:
    """All data that determine the configuration of a vehicle."""

    placer: Placer
    support: Support
    steering: Steering  # the axles that must meet in one point
    gauge: Gauge | None  # of a massless root
    # the ground's reference point at t = 0, the default position of the base, (3,) [m]
    point: np.ndarray
    locked: Mapping[str, float]  # joint -> position [rad, m]
    turned: frozenset[str]  # joints whose position is an angle, without the wheels' own
    at_limits: dict[str, float]  # those that cannot start at zero -> nearest limit [rad, m]
    mimics: tuple[Mimic, ...] = ()

    def __repr__(self) -> str:
        return f"<Posing of {listed(self.placer.names, REPR)}>"

    def configuration(self, pose: Pose | None, joints: Mapping[str, float] | None,
                      t: float = 0.0) -> np.ndarray:
        """q, as `Vehicle.configuration`."""
        return self.placer.place(self.in_the_air(pose, joints), self.support, t)

    def in_the_air(self, pose: Pose | None, joints: Mapping[str, float] | None) -> np.ndarray:
        """q with all couplings closed and the base exactly at the pose, wherever the wheels are.
        Raises as `configuration` does."""
        model = self.placer.model
        moving = list(model.names)[2:]
        joints = read_mapping("joints", joints, "joint name -> position", keys=object)
        for name, position in joints.items():
            if name in self.locked:
                raise InputError(
                    f"joint {name!r} is held at {self.locked[name]:g}",
                    Remedy(f"To hold it elsewhere: load(..., locked={{{name!r}: {position}}}); to "
                           f"release it: load(..., free=[{name!r}])",
                           f"To hold it elsewhere: --lock {name}={position}; to release it: --free "
                           f"{name}"))
            if name not in moving:
                raise InputError(f"unknown joint {name!r}; moving joints are {listed(moving)}"
                                 f"{did_you_mean(name, moving)}")
        joints = {name: read_number(f"joint {name!r}", position, "a finite number")
                  for name, position in joints.items()}
        for name, position in joints.items():
            if name in self.turned and are_degrees([position]):
                _warn_of_degrees(f"joint {name!r} = {position:g}",
                                 f"{{{name!r}: {radians(position):.6g}}}")
        q = pin.neutral(model)
        base = self._base(pose)
        for name, position in self._mimicked(self.follow(joints)).items():
            write_joint(model, q, name, position)
        if self.gauge is not None:
            base = self._level(self.gauge, q, base)
        q[:3], q[3:7] = base.translation, pin.Quaternion(base.rotation).coeffs()
        return q

    def follow(self, joints: Mapping[str, float]) -> dict[str, float]:
        """Joint positions with those of the followers of the steering coupling added."""
        steering = self.steering
        if not steering.coupled:
            return dict(joints)
        steered = [axle.steering for axle in steering.steered]
        named = [name for name in steered if name in joints]
        angles = {name: joints.get(name, 0.0) for name in steered}
        angles = steering.followers(angles, steering.pair(angles, named))
        for name in named:
            if abs(angles[name] - joints[name]) > MEETING:
                raise InputError(f"steering angles do not meet in one rotation centre: {name!r} = "
                                 f"{joints[name]:.6f} rad, with the leader(s) it must be "
                                 f"{angles[name]:.6f}; name fewer joints")
        return {**joints, **angles}

    def _mimicked(self, given: Mapping[str, float]) -> dict[str, float]:
        """Positions of all joints that are not at zero, those that mimic others included; a
        follower that is given alone leads its leader. Steered joints that are linked have their
        angles already."""
        steered = {axle.steering for axle in self.steering.steered}
        links = [m for m in self.mimics if not {m.joint, m.leader} <= steered]
        found, led = dict(given), {m.joint for m in links}
        # first along the chains of those that are given, then along the others
        for rest in ({}, {m.leader: self.at_limits.get(m.leader, 0.0) for m in links
                          if m.leader not in led}):
            found = rest | found
            for m in links * len(links):
                if m.leader in found:
                    found.setdefault(m.joint, m.multiplier * found[m.leader] + m.offset)
                elif m.joint in found and m.multiplier:
                    found[m.leader] = (found[m.joint] - m.offset) / m.multiplier
        for m in links:
            wanted = m.multiplier * found[m.leader] + m.offset
            if abs(found[m.joint] - wanted) > MEETING * max(1.0, abs(wanted)):
                raise InputError(f"joint {m.joint!r} = {found[m.joint]:g} mimics {m.leader!r} = "
                                 f"{found[m.leader]:g}, with which it must be {wanted:g}; name "
                                 "fewer joints")
        return self.at_limits | found

    def _level(self, gauge: Gauge, q: np.ndarray, base: pin.SE3) -> pin.SE3:
        """Moves the rotation of the root about the axle into the spin joint, so that its axis
        `level` is horizontal."""
        model, axle, level = self.placer.model, gauge.axle, gauge.level
        across = base.rotation @ axle
        forward = np.cross(across, self.placer.normal)
        if np.linalg.norm(forward) < LYING:
            raise ModelError(f"{gauge.joint!r}: the axle is parallel to the ground's normal, "
                             "a wheel lying flat has no contact point")
        forward /= np.linalg.norm(forward)
        to = np.column_stack([forward, across, np.cross(forward, across)])
        R = to @ np.column_stack([level, axle, np.cross(level, axle)]).T
        angle = pin.log3(R.T @ base.rotation) @ axle
        write_joint(model, q, gauge.joint, read_joint(model, q, gauge.joint) + angle)
        return pin.SE3(R, base.translation)

    def _base(self, pose: Pose | None) -> pin.SE3:
        """T_WB of a pose; upright at the ground's reference point if None."""
        if isinstance(pose, pin.SE3):
            return pin.SE3(pose)
        standing = upright(self.placer.normal)
        if pose is None:
            return pin.SE3(standing, self.point.copy())
        value = as_numbers(pose)
        if value is None or not np.isfinite(value).all():
            raise InputError(f"pose {pose!r} must have finite numbers only")
        first = {(3,): 2, (6,): 3}.get(value.shape)
        if first is not None and are_degrees(value[first:].tolist()):
            numbers = [*value[:first], *np.radians(value[first:])]
            _warn_of_degrees(f"pose {pose!r}", ", ".join(f"{number:.6g}" for number in numbers))
        if value.shape == (3,):
            return pin.SE3(standing @ attitude(value[2]), np.r_[value[:2], self.point[2]])
        if value.shape == (6,):
            roll, pitch, yaw = value[3:]
            return pin.SE3(attitude(yaw, roll, pitch), value[:3])
        if value.shape != (4, 4):
            raise InputError(f"pose has shape {value.shape}; give (x, y, yaw), (x, y, z, roll, "
                             "pitch, yaw) or a 4x4 matrix")
        R = value[:3, :3]
        if np.abs(R.T @ R - np.eye(3)).max() > RIGID or np.linalg.det(R) < 0:
            raise InputError(f"pose {pose!r} has no rotation in its upper left corner")
        return pin.SE3(value)


def _warn_of_degrees(what: str, meant: str) -> None:
    """Logs that angles look like degrees. They are no error: headings and angles that were counted
    up may be as large."""
    logging.getLogger("nhmech").warning(
        "%s: more than a full turn; angles are in radians. If degrees were meant: %s", what, meant)
