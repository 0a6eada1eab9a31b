"""A trajectory at other times than the recorded ones."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..checks import read_number
from ..errors import InputError
from .drawable import Playable, Snapshot

MOST_FRAMES = 10_000_000      # of a page; a browser plays some 100,000


def sample(model: pin.Model, trajectory: Playable, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) [s] at `fps` frames a second from start to end of the trajectory, and the
    configurations (n, nq) there, interpolated on the manifold.
    """
    t, q = np.asarray(trajectory.t, dtype=float), np.asarray(trajectory.q, dtype=float)
    if len(t) == 0 or q.shape != (len(t), model.nq):
        raise InputError(f"trajectory: {len(t)} times and q of shape {q.shape}; "
                         f"this vehicle needs q of shape (N, {model.nq}) with N >= 1")
    if not np.all(np.isfinite(q)):
        begin = t[np.flatnonzero(~np.isfinite(q).all(axis=1))[0]]
        raise InputError(f"trajectory: q is not finite at t = {begin:g} s; nothing can be drawn "
                         "from there on")
    fps = read_number("fps", fps, "a positive number of frames a second", above=0.0)
    if t[-1] <= t[0]:
        return t[:1], q[:1]
    frames = np.ceil((t[-1] - t[0]) * fps) + 1
    if frames > MOST_FRAMES:
        raise InputError(f"fps = {fps:g} makes {frames:.3g} frames of {t[-1] - t[0]:g} s; a page "
                         f"has at most {MOST_FRAMES}")
    times = np.linspace(t[0], t[-1], max(2, int(frames)))
    return times, interpolate(model, trajectory, times)


def interpolate(model: pin.Model, trajectory: Playable, times: np.ndarray) -> np.ndarray:
    """Configurations (n, nq) at `times` (n,) [s]; beyond the ends the first and the last one."""
    t, q = trajectory.t, trajectory.q
    if len(t) == 1:
        return np.repeat(q[:1], len(times), axis=0)
    right = np.clip(np.searchsorted(t, times, side="right"), 1, len(t) - 1)
    share = np.clip((times - t[right - 1]) / np.maximum(t[right] - t[right - 1], 1e-300), 0.0, 1.0)
    return np.array([pin.interpolate(model, q[k - 1], q[k], s) for k, s in zip(right, share)])


def snapshots(model: pin.Model, trajectory: Playable, times: np.ndarray,
              q: np.ndarray | None = None) -> list[Snapshot]:
    """The motion at `times` (n,) [s]: velocities between the recorded ones, the inputs held from
    each recorded time on, and what the contacts did up to the next. A kinematic run has no inputs.
    `q`: configurations (n, nq) at these times, where they are known."""
    q = interpolate(model, trajectory, times) if q is None else q
    t = np.asarray(trajectory.t, dtype=float)
    v, u = getattr(trajectory, "v", None), getattr(trajectory, "u", None)
    if getattr(trajectory, "kinematic", False):
        u = None
    velocities = inputs = [None] * len(times)
    if v is not None:
        velocities = list(np.array([np.interp(times, t, column) for column in np.asarray(v).T]).T)
    if u is not None:
        held = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 1)
        inputs = list(np.asarray(u)[held])
    contacts_at = getattr(trajectory, "contacts_at", lambda t: None)
    return [Snapshot(*known, contacts_at(known[1]))
            for known in zip(q, times, velocities, inputs)]
