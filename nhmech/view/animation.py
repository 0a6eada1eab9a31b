"""A trajectory as an animation: the pose of every body at evenly spaced times, and the trails that grow along."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..errors import NhmechError
from .camera import frame
from .floor import floor_pose, grid_cell, is_moving, ribbon
from .messages import set_transform
from .scene import FOCUS, Scene
from .shapes import floats


def sample(model: pin.Model, trajectory, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) [s] at `fps` frames a second from start to end of the trajectory, and the configurations there (n, nq), interpolated on the manifold."""
    t, q = np.asarray(trajectory.t, dtype=float), np.asarray(trajectory.q, dtype=float)
    if len(t) == 0 or q.shape != (len(t), model.nq):
        raise NhmechError(f"trajectory: {len(t)} times and q of shape {q.shape}; this vehicle needs q of shape (N, {model.nq}) with N >= 1")
    if not np.all(np.isfinite(q)):
        raise NhmechError(f"trajectory: q is not finite at t = {t[np.flatnonzero(~np.isfinite(q).all(axis=1))[0]]:g} s; nothing can be drawn from there on")
    if fps <= 0:
        raise NhmechError(f"fps={fps} must be positive")
    if t[-1] <= t[0]:
        return t[:1], q[:1]
    times = np.linspace(t[0], t[-1], max(2, int(np.ceil((t[-1] - t[0]) * fps)) + 1))
    right = np.clip(np.searchsorted(t, times, side="right"), 1, len(t) - 1)
    share = (times - t[right - 1]) / np.maximum(t[right] - t[right - 1], 1e-300)
    return times, np.array([pin.interpolate(model, q[k - 1], q[k], s) for k, s in zip(right, share)])


def animate(scene: Scene, trajectory, fps: float) -> list[dict]:
    """All messages that draw and move a vehicle along a trajectory."""
    vehicle = scene.vehicle
    times, q = sample(vehicle.model, trajectory, fps)
    poses = [scene.poses(row) for row in q]
    contacts = np.array([scene.contacts(row) for row in q])  # (frames, contacts, 3)
    size, normal = scene.size(q[0]), np.array(vehicle.ground.normal)
    view = frame(size, np.array([p[FOCUS][:3, 3] for p in poses]), normal, scene.forward(q[0]))
    tracks = {path: np.array([p[path] for p in poses]) for path in poses[0]}
    if is_moving(vehicle.ground):
        period = 20 * grid_cell(size)
        tracks["/ground"] = np.array([floor_pose(vehicle.ground, view.ground, period, t - times[0]) for t in times])
    clips = [_clip(path, times - times[0], track) for path, track in tracks.items()]
    trails = []
    if len(times) > 1:
        trails = [ribbon(f"/trails/{i}", contacts[:, i], size, normal, i) for i in range(contacts.shape[1])]
    placed = [set_transform(path, track[0]) for path, track in tracks.items()]
    animation = {"type": "set_animation", "path": "", "animations": clips, "options": {"play": True, "repetitions": 1}, "start": float(times[0])}
    animation["trails"] = {"paths": [trail["path"] for trail in trails], "segments": len(times) - 1}
    return [*scene.messages(view), *placed, *trails, animation]


def _clip(path: str, times: np.ndarray, poses: np.ndarray) -> dict:
    """Position and quaternion of the group at `path` over time."""
    quaternions = [pin.Quaternion(pose[:3, :3]).coeffs() for pose in poses]
    tracks = ((".position", "vector3", poses[:, :3, 3]), (".quaternion", "quaternion", quaternions))
    listed = [{"name": name, "type": kind, "times": floats(times), "values": floats(values)} for name, kind, values in tracks]
    return {"path": path, "clip": {"name": path, "fps": 1, "tracks": listed}}
