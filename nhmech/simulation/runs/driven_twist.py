"""The actual twist of a run beside the one that its controller commanded."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...urdf.notice import Notice, NoticeKind
from ...vehicle.vehicle import Vehicle
from ..state import base_pose
from .history import History
from .limit_spans import LimitSpan

OFF = 0.01        # relative to the commanded twist: a larger residual gives a notice
SETTLED = 1.0     # [s] after which a servo with time constant 0.1 s has a relative error of 5e-4
STEADY = 0.1      # [1/s] relative rate of a command that is followed with an error below OFF / 2
PARTS = (("forward", "m/s"), ("lateral", "m/s"), ("yaw", "rad/s"))
SMALL = 1e-3      # relative to the largest command: a smaller one counts as standstill


def measure_twist(vehicle: Vehicle, trajectory: History) -> np.ndarray:
    """Forward [m/s], lateral [m/s] and yaw rate [rad/s] of the base in the ground plane at each
    recorded moment, as in `commanded_twist`, (N, 3)."""
    return planar_twist(vehicle, trajectory.q, trajectory.v)


def planar_twist(vehicle: Vehicle, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The same at configurations q (..., nq) and velocities v (..., nv), (..., 3)."""
    n, R = vehicle.placer.normal, base_pose(q)[..., :3, :3]
    velocity = np.einsum("...ij,...j->...i", R, v[..., :3])
    turning = np.einsum("...ij,...j->...i", R, v[..., 3:6])
    heading = np.cross(R[..., :, 1], n)
    heading /= np.linalg.norm(heading, axis=-1, keepdims=True)
    aside = np.cross(n, heading)
    return np.stack([(heading * velocity).sum(-1), (aside * velocity).sum(-1), turning @ n], -1)


def twist_notice(vehicle: Vehicle, trajectory: History,
                 commanded: np.ndarray | None, spans: Iterable[LimitSpan]) -> Notice | None:
    """A notice if the actual twist, some time after the last change of the command, differs from
    `commanded` (N, 3), or if a component of it is never followed; None if `commanded` is None.

    Forward speed and yaw rate are compared (the latter times the length of the vehicle), and the
    lateral speed if one is commanded; otherwise it depends on the position of the base frame.
    `spans`: when joints were at their limits, which may be the reason.
    """
    if commanded is None or len(trajectory.t) < 2:
        return None
    scale = np.array([1.0, 1.0, vehicle.steering.length])
    wanted, found = commanded * scale, measure_twist(vehicle, trajectory) * scale
    size = np.linalg.norm(wanted, axis=1)
    if not np.nanmax(size, initial=0.0) > 0:
        return None
    error = found - wanted
    error[np.abs(wanted[:, 1]) <= OFF * size, 1] = 0.0
    judged = _find_settled(trajectory.t, wanted, size) & (size > SMALL * np.nanmax(size))
    part = np.where(judged, np.linalg.norm(error, axis=1) / np.where(judged, size, 1.0), 0.0)
    if part.max() <= OFF:
        return _note_never_driven(trajectory.t, wanted / scale, found / scale)
    k = int(np.flatnonzero(part >= 0.9 * part.max())[-1])      # late, after transients
    shown = [", ".join(f"{name} {value:.4g} {unit}" for (name, unit), value in
                       zip(PARTS, twist / scale))
             for twist in (wanted[k], found[k])]
    why = "".join(f"; {span}" for span in spans if span.start <= trajectory.t[k] <= span.end)
    return Notice(NoticeKind.TWIST_RESIDUAL,
                  f"the driven twist differs from the commanded one by up to {part[k]:.2g} of it: "
                  f"at t = {trajectory.t[k]:.6g} s commanded {shown[0]}; driven {shown[1]}{why}")


def _note_never_driven(t: np.ndarray, wanted: np.ndarray, found: np.ndarray) -> Notice | None:
    """A notice about components of a command that changes all the time."""
    most, made = np.nanmax(np.abs(wanted), axis=0), np.abs(found).max(axis=0)
    never = [f"{name} (up to {most[i]:.4g} {unit})" for i, (name, unit) in enumerate(PARTS)
             if most[i] > OFF * most.max() and made[i] <= OFF * most[i]]
    if not never or t[-1] - t[0] < SETTLED:
        return None
    return Notice(NoticeKind.TWIST_RESIDUAL, f"of the commanded twist {' and '.join(never)} was "
                  "never driven: the wheels do not allow it")


def _find_settled(t: np.ndarray, wanted: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Whether the command has been steady for some time before each moment, (N,)."""
    with np.errstate(invalid="ignore"):
        change = np.linalg.norm(np.diff(wanted, axis=0), axis=1)
        steady = change <= STEADY * np.diff(t) * np.maximum(size[1:], size[:-1])
    # NaN, where nothing is commanded, does not count as steady
    last = np.maximum.accumulate(np.r_[t[0], np.where(steady, t[0], t[1:])])
    return (t - last >= SETTLED) & np.isfinite(size)
