"""Logged odometry, compared with ideal rolling of the vehicle that recorded it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..checks import check_arguments, read_positive
from ..errors import InputError, listed
from ..vehicle.vehicle import Vehicle
from .case import SPREAD, Case, Comparison
from .estimate import Estimate, fit
from .findings import Finding, at
from .planar import rotate
from .publishers import clean_joints
from .replay import Replay, Wiring, positions
from .rolling import Group, Rolling
from .samples import JointSamples, PoseSamples
from .stamps import clean
from .verdicts import verdicts
from .windows import Windows

MOST = 20_000          # poses that are used; of more, every so many
SEGMENTS = 20          # in which the fit lets the track start anew
OVERLAP = 20           # poses between the first and the last joint state, at least
STILL = 1e-3           # [m] of way: a robot that stands shows nothing
ASTRAY = 0.02          # of the way, and of the turning: from there on wiring is doubted
BETTER = 0.3           # of the error: other wiring is believed that leaves less
TURNED = 5e-3          # [rad] of a sensor: more may be something else
DRIFT = 5.0            # standard errors of the median of windows that half overlap
DRIFTED = 1e-3         # of the way
SLIDING = 1.0          # [m/s] standard deviation of the prior of a slide to the side
LESS = 0.8             # of the noise: the explanation that leaves so little is believed
WINDOW = 0.5           # [s]
OPEN = 0.1             # standard error of a number that the log leaves open


@dataclass(frozen=True, eq=False)
class OdometryReport:
    """The result of `judge_odometry`.

    Attributes
    ----------
    vehicle
        Whose rolling was the measure.
    topics
        Of the joint states and of the poses.
    t
        Moments of the poses (K,) [s].
    poses
        Logged x, y [m], heading [rad] (K, 3).
    rolled, fitted
        The track of the wheels by the vehicle as it is, and by the numbers that fit best, moved to
        begin at the first pose, (K, 3).
    windows
        What is left by windows.
    estimate
        Numbers that fit best: "radius:NAME" of each group and "track", "wheelbase" as multipliers,
        "sensor_x", "sensor_y" [m], "sensor_yaw" [rad] of the frame of the poses on the base,
        "slide" [m/s] of the base to the left all the time, "clock" [s] by which stamps of poses
        are late. The error is NaN of what was not asked for.
    groups
        Wheels whose radius is one unknown.
    wiring
        How the joints have to be exchanged and turned round for the poses to be possible.
    findings
        What is wrong, the messages first.
    """

    vehicle: Vehicle
    topics: tuple[str, str]
    t: np.ndarray
    poses: np.ndarray
    rolled: np.ndarray
    fitted: np.ndarray
    windows: Windows
    estimate: Estimate
    groups: tuple[Group, ...]
    wiring: Wiring
    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        return (f"<OdometryReport of {self.vehicle.name!r}: "
                f"{listed(f.kind.value for f in self.findings)}>")

    @property
    def way(self) -> float:
        """Length of the logged path [m]."""
        return float(np.linalg.norm(np.diff(self.poses[:, :2], axis=0), axis=1).sum())

    @property
    def parameters(self) -> dict[str, tuple[float, float]]:
        """Parameters of `diff_drive_controller`, with standard errors; none for a vehicle that it
        cannot drive, or if the log does not determine the separation, which is relative to the
        geometric one and so includes a track factor of skid steering.
        """
        sides = {group.side: group for group in self.groups if not group.steers}
        track, error = self.estimate["track"]
        if set(sides) != {1, -1} or len(self.groups) != 2 or not error < OPEN:
            return {}
        widened = (self.vehicle.description.track_factor or 1.0) - 1.0
        return {"wheel_separation_multiplier": (track + widened, error)} | {
            f"{word}_wheel_radius_multiplier": self.estimate[f"radius:{sides[side].name}"]
            for side, word in ((1, "left"), (-1, "right"))}

    def lines(self) -> list[str]:
        """The best-fitting numbers, one per line; the log does not determine those marked so."""
        words = {"track": "wheel separation, times", "wheelbase": "wheelbase, times",
                 "sensor_x": "sensor x [m]", "sensor_y": "sensor y [m]",
                 "sensor_yaw": "sensor yaw [rad]", "slide": "slide to the left [m/s]",
                 "clock": "poses late by [s]"}
        words |= {f"radius:{group.name}": f"radius of {group.name}, times"
                  for group in self.groups}
        found = []
        for name in self.estimate.names:
            value, error = self.estimate[name]
            if np.isfinite(error):
                found.append(f"{words[name]} {value:.5f} +- {error:.2g}" if error < OPEN
                             else f"{words[name]}: left open by this log")
        return found


@check_arguments
def judge_odometry(vehicle: Vehicle, joints: JointSamples, pose: PoseSamples, *,
                   window: float = WINDOW) -> OdometryReport:
    """Replays logged joints through ideal rolling, and reports contradictions to the logged poses.

    Poses may be those of the odometry, which should follow from the wheels alone, or of a sensor
    that sees the world, such as motion capture; passing errors are slip, lasting ones are due to
    geometry, signs, the sensor's pose or the clock.

    Parameters
    ----------
    vehicle
        On level ground.
    joints
        Of the wheels, and of the steering where there is some; joints of other names are ignored.
    pose
        What is judged.
    window
        [s] in which slip is looked for.

    Raises
    ------
    InputError
        For streams that have nothing to do with the vehicle or with each other.
    """
    read_positive("window", window)
    rolling = Rolling(vehicle, known_joints(vehicle, joints))
    found: list[Finding] = []
    joints, notes = clean_joints(joints.select(rolling.joints))
    found += notes
    pose, notes = clean(pose)
    found += notes
    case = _case(rolling, joints, pose, window)
    joints, pose = case.replay.joints, case.pose
    wiring = _wiring(case)
    estimate = _estimate(case, wiring)
    rolled, fitted = (_move_track(case.model(value, wiring).poses, case.poses[0])
                      for value, wiring in ((case.nominal, Wiring.right(len(rolling.joints))),
                                            (estimate.values, wiring)))
    seen = Comparison(case, wiring, estimate, case.windows(fitted))
    return OdometryReport(vehicle, (joints.topic, pose.topic), pose.t, case.poses, rolled, fitted,
                          seen.windows, estimate, rolling.groups, wiring,
                          (*found, *verdicts(seen)))


def known_joints(vehicle: Vehicle, joints: JointSamples) -> list[str]:
    """Joints of the log that the vehicle has. Raises `InputError` if there are none."""
    known = [name for name in joints.names if name in vehicle.joint_names]
    if known:
        return known
    left, near = list(vehicle.joint_names), []
    for name in joints.names:
        for other in difflib.get_close_matches(name, left, 1, 0.5):
            left.remove(other)
            near.append(f"{name}={other}")
    raise InputError(f"{joints.topic} has the joints {listed(joints.names)}, and {vehicle.name} "
                     f"has {listed(vehicle.joint_names)}: none is the same"
                     + (f"; to rename: {', '.join(near)}" if near else ""))


def _case(rolling: Rolling, joints: JointSamples, pose: PoseSamples, window: float) -> Case:
    inside = np.flatnonzero((pose.t >= joints.t[0]) & (pose.t <= joints.t[-1]))
    if len(inside) < OVERLAP:
        raise InputError(
            f"{joints.topic} is from {at(joints.t[0])} to {at(joints.t[-1])} s and {pose.topic} "
            f"from {at(pose.t[0])} to {at(pose.t[-1])} s: they have {len(inside)} poses in common, "
            f"{OVERLAP} are needed; where one clock is the simulator's and the other the wall's, "
            "record again with use_sim_time for all nodes")
    pose = pose.take(inside[::1 + len(inside) // MOST])
    values = positions(joints)
    for i, name in enumerate(joints.names):
        if np.ptp(values[:, i]) <= 2 * np.pi + 1e-6 and name in rolling.vehicle.description.rolling:
            values[:, i] = np.unwrap(values[:, i])
    still = pose.planar
    if np.linalg.norm(np.diff(still[:, :2], axis=0), axis=1).sum() < STILL and \
            np.ptp(values, axis=0).max() < STILL:
        raise InputError(f"the robot stands still all through {pose.topic}: there is nothing to "
                         "compare")
    replay = Replay(rolling, replace(joints, position=values), pose.t, pose)
    return Case(replay, pose, rolling.vehicle.steering.length,
                window)


def _estimate(case: Case, wiring: Wiring) -> Estimate:
    spread = np.array([SPREAD[name.partition(":")[0]] for name in case.names])
    arms = case.replay.rolling.arms
    a = np.abs(case.replay.rows(0.0, wiring).a).max(0)
    for i, name in enumerate(("track", "wheelbase")):
        if not ((arms[:, 1 - i] != 0) & (a[:, i] > 1e-9)).any():
            spread[case.names.index(name)] = 0.0
    segments = np.array_split(np.arange(len(case.poses)), min(SEGMENTS, len(case.poses) // 8 + 1))

    def estimate() -> Estimate:
        return fit(lambda value: case.model(value, wiring), case.nominal, case.names, spread,
                   case.poses, segments)

    found = estimate()
    # what looks like a sensor that is turned may be a base that slides to the side
    yaw, slide = (case.names.index(name) for name in ("sensor_yaw", "slide"))
    if _slides(case, wiring, found):
        spread[yaw], spread[slide] = 0.0, SLIDING
        other = estimate()
        if other.used.sum() > found.used.sum() or other.noise[0] < LESS * found.noise[0]:
            return other
    return found


def _move_track(track: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The track, moved to begin at a pose."""
    by = start[2] - track[0, 2]
    place = rotate(np.full(len(track), by), track[:, :2] - track[0, :2]) + start[:2]
    return np.column_stack([place, track[:, 2] + by])


def _slides(case: Case, wiring: Wiring, found: Estimate) -> bool:
    """Fits a constant sliding to the side."""
    if abs(found.values[case.names.index("sensor_yaw")]) > TURNED:
        return True
    windows = case.windows(case.model(found.values, wiring).poses)
    error = DRIFT * 1.2533 * windows.noise[1] / np.sqrt(max(len(windows) / 2, 1.0))
    return bool(abs(windows.usual[1]) > max(error, DRIFTED * np.median(windows.way)))


def _wiring(case: Case) -> Wiring:
    """Swaps two wheels, or reverses some, as long as that explains far more."""
    rolling = case.replay.rolling
    wheels = [rolling.joints.index(w) for group in rolling.groups for w in group.wheels]
    sides = {(group.side, group.steers): [rolling.joints.index(w) for w in group.wheels]
             for group in rolling.groups}
    best = Wiring.right(len(rolling.joints))
    error = case.error(best)
    for _ in range(len(wheels)):
        if error < ASTRAY:
            break
        others = _others(best, wheels, sides)
        errors = [case.error(other) for other in others]
        k = int(np.argmin(errors))
        if not errors[k] < BETTER * error:
            break
        best, error = others[k], errors[k]
    return best


def _others(wiring: Wiring, wheels: Sequence[int],
            sides: Mapping[tuple[int, bool], list[int]]) -> list[Wiring]:
    """Wirings one step away: of single wheels, of a side, and of all."""
    found = [wiring.swap(i, j) for n, i in enumerate(wheels) for j in wheels[n + 1:]]
    found += [wiring.reverse([i]) for i in wheels]
    found += [wiring.reverse([i for (other, _), side in sides.items() if other == which
                              for i in side]) for which in (1, -1)]
    found.append(wiring.reverse(list(wheels)))
    mirrored = wiring
    for (which, steers), side in sides.items():
        for i, j in zip(side, sides.get((-which, steers), ())) if which > 0 else ():
            mirrored = mirrored.swap(i, j)
    return [*found, mirrored]
