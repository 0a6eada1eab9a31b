"""A trajectory at other times than the recorded ones."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..errors import NhmechError
from .overlays import Moment


def sample(model: pin.Model, trajectory, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) [s] at `fps` frames a second from start to end of the trajectory, and
    configurations (n, nq) there.

    They are interpolated on the manifold.

    Raises
    ------
    NhmechError
        For numbers that do not fit the model or are not finite.
    """
    t, q = np.asarray(trajectory.t, dtype=float), np.asarray(trajectory.q, dtype=float)
    if len(t) == 0 or q.shape != (len(t), model.nq):
        raise NhmechError(f"trajectory: {len(t)} times and q of shape {q.shape}; "
                          f"this vehicle needs q of shape (N, {model.nq}) with N >= 1")
    if not np.all(np.isfinite(q)):
        begin = t[np.flatnonzero(~np.isfinite(q).all(axis=1))[0]]
        raise NhmechError(f"trajectory: q is not finite at t = {begin:g} s; nothing can be drawn "
                          "from there on")
    if fps <= 0:
        raise NhmechError(f"fps={fps} must be positive")
    if t[-1] <= t[0]:
        return t[:1], q[:1]
    times = np.linspace(t[0], t[-1], max(2, int(np.ceil((t[-1] - t[0]) * fps)) + 1))
    return times, at_times(model, trajectory, times)


def at_times(model: pin.Model, trajectory, times) -> np.ndarray:
    """Configurations (n, nq) at `times` (n,) [s]; the first and the last one beyond the ends."""
    t, q = trajectory.t, trajectory.q
    if len(t) == 1:
        return np.repeat(q[:1], len(times), axis=0)
    right = np.clip(np.searchsorted(t, times, side="right"), 1, len(t) - 1)
    share = np.clip((times - t[right - 1]) / np.maximum(t[right] - t[right - 1], 1e-300), 0.0, 1.0)
    return np.array([pin.interpolate(model, q[k - 1], q[k], s) for k, s in zip(right, share)])


def moments(model: pin.Model, trajectory, times: np.ndarray,
            q: np.ndarray | None = None) -> list[Moment]:
    """At `times` (n,), where the configurations `q` are known perhaps: speeds between the recorded
    ones, and the inputs held from each recorded time on. A kinematic run has no inputs."""
    q = at_times(model, trajectory, times) if q is None else q
    t, v, u = (
        np.asarray(trajectory.t, dtype=float),
        getattr(trajectory, "v", None),
        getattr(trajectory, "u", None),
    )
    if getattr(trajectory, "kinematic", False):
        u = None
    before = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 1)
    speeds = (
        None
        if v is None
        else np.array([np.interp(times, t, column) for column in np.asarray(v).T]).T
    )
    inputs = None if u is None else np.asarray(u)[before]
    return [Moment(q[k], time, None if speeds is None else speeds[k],
                   None if inputs is None else inputs[k])
            for k, time in enumerate(times)]
