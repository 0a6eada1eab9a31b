"""Names for what a comparison of odometry and wheels shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import degrees

import numpy as np

from ..analysis.mobility import mobility
from ..errors import listed
from .case import Comparison
from .findings import LASTING, SLIDING, Finding, FindingKind, at
from .planar import rotate
from .stamps import interval

SURE = 4.0              # standard errors that are no chance
# deviations that matter: of a multiplier, [m] and [rad] of the sensor, intervals of the clock,
# [m/s] of sliding
MULTIPLIER, PLACE, ANGLE, TICKS, SLIDE = 3e-3, 5e-3, 5e-3, 0.5, 1e-3
OPEN = 0.1              # standard error of a multiplier that the log leaves open
SIDEWAYS = 2.0          # times the forward and turning parts: a slide to the side
FAR = 0.2               # of the speed: a logged twist is another quantity
LATERAL = 0.02          # of the speed, by which a logged lateral speed may be off
ASTRAY = 0.1            # of the way in a window: noise that is none
COUNTED = 0.2           # of a radius: no wheel is so far from its file

ONE = {"track": FindingKind.SEPARATION, "wheelbase": FindingKind.WHEELBASE}


def verdicts(seen: Comparison) -> list[Finding]:
    """The findings, lasting ones first."""
    astray = _astray(seen)
    if astray is not None:
        return [*_wiring(seen), *_twist(seen), astray]
    return [*_wiring(seen), *_geometry(seen), *_sensor(seen), *_twist(seen), *_slips(seen)]


def _astray(seen: Comparison) -> Finding | None:
    """Whether windows differ too much for a fit, or for slip in single ones to be seen."""
    windows = seen.windows
    way, off = float(np.sqrt(np.mean(windows.way ** 2))), float(np.linalg.norm(windows.noise[:2]))
    if off <= ASTRAY * way:
        return None
    return Finding(FindingKind.SLIP, f"all the time: in windows of {seen.case.duration:g} s the "
                   f"poses are {1e3 * off:.3g} mm off what the wheels roll, {off / way:.0%} of the "
                   "way: the wheels slip all along, or the poses are as noisy as that; no numbers "
                   "can be fitted")


def tell_apart(odometry: Iterable[Finding], truth: Iterable[Finding]) -> str:
    """Faults of an odometry, and events of its robot, in one sentence each. `odometry`, `truth`:
    findings about the odometry, and about external poses, with the same wheels."""
    wrong = _name_findings(odometry, (*SLIDING, FindingKind.TWIST, FindingKind.SENSOR_POSE))
    geometry = _name_findings(odometry, LASTING)
    slid, other = _name_findings(truth, SLIDING), _name_findings(truth, LASTING)
    computed = "the odometry is what its wheels say"
    if wrong:
        computed = f"the odometry is not what its wheels say ({wrong}): look at its computation"
    elif geometry:
        computed = (f"the odometry computes with another geometry than the vehicle's file "
                    f"({geometry})")
    moved = []
    if slid:
        moved.append(f"the wheels did not roll ({slid}): that is the physics, friction and load, "
                     "and no odometry of wheels can know it")
    if other:
        moved.append(f"the robot moved by another geometry than the vehicle's file ({other}): the "
                     "numbers that fit the truth are those to set")
    return f"{computed}; {', and '.join(moved) or 'the robot moved as its wheels say'}"


def _name_findings(found: Iterable[Finding], kinds: tuple[FindingKind, ...]) -> str:
    """Findings of some kinds, each once."""
    return ", ".join(dict.fromkeys(one.kind.value for one in found if one.kind in kinds))


def _wiring(seen: Comparison) -> Iterator[Finding]:
    """Findings about joints that are exchanged or reversed."""
    joints = seen.case.replay.rolling.joints
    swapped = [joints[j] for i, j in enumerate(seen.wiring.order) if i != j]
    if swapped:
        yield Finding(FindingKind.SWAPPED, f"the poses are possible with the readings of "
                      f"{listed(swapped)} exchanged: sides or cables are swapped")
    turned = [joint for joint, sign in zip(joints, seen.wiring.sign) if sign < 0]
    if turned:
        verb = "turns" if len(turned) == 1 else "turn"
        yield Finding(FindingKind.SIGN, f"{listed(turned)} {verb} the other way round than logged, "
                      "or forward is backward in the poses")


def _geometry(seen: Comparison) -> Iterator[Finding]:
    """Findings about radii, track and wheelbase."""
    groups, vehicle = seen.case.replay.rolling.groups, seen.case.replay.rolling.vehicle
    for group in groups:
        value, error = seen.estimate[f"radius:{group.name}"]
        if _is_off(value - 1, error, MULTIPLIER):
            radius = vehicle.parameters.values[f"{group.wheels[0]}.radius"]
            hint = ("; so far off, look at the encoders' resolution and the gear ratio first"
                    if abs(value - 1) > COUNTED else "")
            yield Finding(FindingKind.RADIUS, f"{group.name}: the poses are those of a radius of "
                          f"{value * radius:.5g} +- {error * radius:.2g} m, the vehicle has "
                          f"{radius:.5g} m{hint}")
    for name, kind in ONE.items():
        value, error = seen.estimate[name]
        if _is_off(value - 1, error, MULTIPLIER):
            yield Finding(kind, f"the poses are those of {value:.5g} +- {error:.2g} times the "
                          f"{'wheel separation' if name == 'track' else name} of the vehicle")


def _is_off(change: float, error: float, matters: float) -> bool:
    return bool(np.isfinite(error) and error < OPEN and abs(change) > max(SURE * error, matters))


def _sensor(seen: Comparison) -> Iterator[Finding]:
    """Findings about the frame of the poses, its place on the base, and its clock."""
    vehicle = seen.case.replay.rolling.vehicle
    values = {name: seen.estimate[name] for name in ("sensor_x", "sensor_y", "sensor_yaw")}
    least = {"sensor_yaw": ANGLE}
    off = [name for name, (value, error) in values.items()
           if _is_off(value, error, least.get(name, PLACE))]
    x, y, yaw = (value for value, _ in values.values())
    child = seen.case.pose.child
    if off:
        yield Finding(FindingKind.SENSOR_POSE, f"the poses are those of a frame at x {x:+.4f} m, "
                      f"y {y:+.4f} m, yaw {degrees(yaw):+.3f} deg on {vehicle.description.root}"
                      + (f", and are given as those of {child}" if child else ""))
    if "sensor_yaw" in off and (mobility(vehicle).manoeuvrability or 0) < 3:
        yield Finding(FindingKind.LATERAL_VELOCITY, "the poses move sideways by "
                      f"{100 * np.tan(yaw):+.3g} % of the forward speed, which the wheels do not: "
                      f"a frame that is turned, or an odometry that slides")
    late, error = seen.estimate["clock"]
    if _is_off(late, error, TICKS * interval(seen.case.replay.joints.t)):
        yield Finding(FindingKind.CLOCK_OFFSET, f"stamps of {seen.case.pose.topic} are "
                      f"{'late' if late > 0 else 'early'} by {abs(late):.4g} +- {error:.2g} s "
                      f"against {seen.case.replay.joints.topic}")


def _twist(seen: Comparison) -> Iterator[Finding]:
    """The logged twists compared with those of the wheels and of the poses."""
    case, logged = seen.case, seen.case.pose.twist[:, [0, 1, 5]]
    good = np.isfinite(logged).all(1)
    if good.sum() < 10 or not logged[good].any():
        return
    nominal = case.replay.track(np.ones(len(case.replay.rolling.groups)), wiring=seen.wiring)
    rates = np.gradient(nominal.poses, case.replay.t, axis=0)
    rolled = np.column_stack([rotate(-nominal.poses[:, 2], rates[:, :2]), rates[:, 2]])[good]
    logged, heading = logged[good], case.poses[good, 2]
    speed = float(np.sqrt(np.mean(rolled[:, :2] ** 2) * 2))
    n = max(round(case.duration / max(interval(case.replay.t), 1e-9)), 1)
    off = _means(logged - rolled, n)
    level = np.column_stack([rotate(-heading, logged[:, :2]), logged[:, 2]])
    # medians, since wheels may slip for a while
    wrong, turned = (float(np.median(np.linalg.norm(part[:, :2], axis=1)))
                     for part in (off, _means(level - rolled, n)))
    frame = case.pose.frame or "the frame of the poses"
    if wrong > LATERAL * speed and turned < wrong / 4:
        yield Finding(FindingKind.TWIST, f"the twists of {case.pose.topic} are given along the "
                      f"axes of {frame}, and belong along those of the base")
        return
    if np.median(np.abs(off[:, 0])) > FAR * speed:
        yield Finding(FindingKind.TWIST, f"the twists of {case.pose.topic} are not those of its "
                      "wheels")
        return
    lateral = off[:, 1]
    usual = float(np.median(lateral))
    noise = 1.4826 * float(np.median(np.abs(lateral - usual))) * 1.2533 / np.sqrt(len(lateral))
    if abs(usual) > max(LATERAL * speed, SURE * noise):
        yield Finding(FindingKind.LATERAL_VELOCITY, f"the twists of {case.pose.topic} have a "
                      f"lateral velocity that is {usual:+.4g} m/s off that of the wheels")


def _means(values: np.ndarray, n: int) -> np.ndarray:
    """Means of n successive values each, (W, 3)."""
    W = max(len(values) // n, 1)
    return np.array([part.mean(0) for part in np.array_split(values, W)])


def _slips(seen: Comparison) -> Iterator[Finding]:
    """Times in which the wheels do not roll ideally, and slides that last all the time."""
    windows, case = seen.windows, seen.case
    rolling = case.replay.rolling
    sideways = (mobility(rolling.vehicle).manoeuvrability or 0) < 3
    slide, error = seen.estimate["slide"]
    if _is_off(slide, error, SLIDE):
        yield Finding(FindingKind.LATERAL_VELOCITY, f"the poses slide to the left at {slide:+.4g} "
                      f"+- {error:.2g} m/s all the time, which the wheels do not")
    for first, last in windows.spans():
        yield _slip(seen, first, last, sideways)


def _slip(seen: Comparison, first: int, last: int, sideways: bool) -> Finding:
    """The finding about a run of windows with slip."""
    windows, length = seen.windows, seen.case.length
    every = np.arange(first, last + 1, 2)                   # windows overlap by half
    left = (windows.left[every] - windows.usual).sum(0)
    largest = np.abs(windows.left[first:last + 1] - windows.usual).max(0)
    start, end = float(windows.start[first]), float(windows.end[last])
    when = f"between {at(start)} and {at(end)} s"
    if sideways and largest[1] > SIDEWAYS * max(largest[0], length * largest[2]):
        return Finding(FindingKind.LATERAL_VELOCITY, f"{when} the robot moves {left[1]:+.4g} m "
                       "sideways, which its wheels do not: they slip, where the poses are seen "
                       "from outside", start, end)
    sides = _by_wheels(seen, left)
    return Finding(FindingKind.SLIP, f"{when} the robot goes {left[0]:+.4g} m, {left[1]:+.4g} m to "
                   f"the left and {degrees(left[2]):+.4g} deg further than its wheels roll{sides}",
                   start, end)


def _by_wheels(seen: Comparison, left: np.ndarray) -> str:
    """The slip of the wheels on either side; nothing if wheels steer or roll sideways."""
    rolling = seen.case.replay.rolling
    places = dict(zip(rolling.vehicle.contact_names,
                      rolling.vehicle.contact_points(rolling.q0)[:, 1] - rolling.q0[1]))
    if not rolling.is_constant or len(rolling.groups) != 2:
        return ""
    slid = [(group.name, -(left[0] - left[2] * float(np.mean([places[w] for w in group.wheels]))))
            for group in rolling.groups]
    return "; " + ", ".join(f"{name} spun {by:+.4g} m" for name, by in slid)
