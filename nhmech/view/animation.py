"""A trajectory as an animation: the pose of every body at evenly spaced times, and the trails that
grow along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..simulation.runs.trajectory import Trajectory
from ..vehicle.vehicle import Vehicle
from .camera import View, frame
from .drawable import Playable, Snapshot
from .floor import RIBBON, floor_pose, grid_cell, is_moving
from .instruments import Instruments
from .layers import make_layers
from .messages import set_transform
from .overlays.contact_phases import ContactPhases, draw_trail, phases_along
from .overlays.overlay import LegendLine, Overlay
from .sampling import sample, snapshots
from .scene import FOCUS, Scene
from .shapes import floats

CHORD = 0.05  # of a trail's width: a bend that is cut by less cannot be seen
MOST = 300    # moments of a curve, as many as a small plot shows


def animate(scene: Scene, trajectory: Playable, fps: float, overlays: Sequence[Overlay] = (),
            follow: bool | None = None, title: str | None = None) -> list[dict]:
    """All messages that draw a vehicle and its overlays and move them along a trajectory."""
    vehicle, slides = scene.vehicle, ContactPhases.of(scene.vehicle, trajectory)
    overlays = [*overlays, *([] if slides is None else [slides]), *make_layers(scene)]
    times, q = sample(vehicle.model, trajectory, fps)
    poses = [scene.poses(row) for row in q]
    extent, normal = scene.extent(q[0]), np.array(vehicle.ground.normal)
    size = extent.size
    further = np.vstack([np.zeros((0, 3)), *(overlay.points for overlay in overlays)])
    focus = np.array([pose[FOCUS][:3, 3] for pose in poses])
    view = frame(extent, focus, normal, scene.forward(q[0]), follow, further)
    tracks = {path: np.array([pose[path] for pose in poses]) for path in poses[0]}
    if is_moving(vehicle.ground):
        period = 20 * grid_cell(size)
        tracks["/ground"] = np.array([floor_pose(vehicle.ground, view.ground, period, t - times[0])
                                      for t in times])
    trails, moments = [], times[:1]
    if len(times) > 1:
        moments, contacts = _trace(scene, trajectory, times, q, CHORD * RIBBON * size)
        phases = phases_along(vehicle, trajectory, (moments[1:] + moments[:-1]) / 2)
        trails = [message for i in range(contacts.shape[1]) for message in draw_trail(
            i, contacts[:, i], phases[:, i], size, normal, contacts.shape[1])]
    clips = [_clip(path, times - times[0], track) for path, track in tracks.items()]
    more_clips, rows = _animate_overlays(
        overlays, view, times - times[0],
        snapshots(vehicle.model, trajectory, times, q) if overlays else [])
    animation = {"type": "set_animation", "path": "", "animations": clips + more_clips,
                 "options": {"play": True, "repetitions": 1}, "start": float(times[0]),
                 "trails": [trail["path"] for trail in trails],
                 "moments": floats(moments - times[0]), "rows": rows}
    return [*scene.messages(view, overlays, title),
            *(set_transform(path, track[0]) for path, track in tracks.items()), *trails,
            *make_curves(scene, trajectory), animation]


def _trace(scene: Scene, motion: Playable, times: np.ndarray, q: np.ndarray,
           tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Times (m,) and contact points (m, n, 3) of trails that pass every recorded state within
    `tolerance` [m]: the frames, at `times` and `q`, and states between them where a straight line
    would cut a bend."""
    passed: list[tuple[float, np.ndarray]] = []

    def split(low: int, high: int, start: np.ndarray, end: np.ndarray) -> None:
        """Adds what is needed of the states low ... high - 1 between two points."""
        if low >= high:
            return
        middle = (low + high) // 2
        probes = {k: scene.contacts(motion.q[k]) for k in (middle, (2 * low + high) // 3)}
        if max(_deviation(points, start, end) for points in probes.values()) <= tolerance:
            return
        split(low, middle, start, probes[middle])
        passed.append((float(motion.t[middle]), probes[middle]))
        split(middle + 1, high, probes[middle], end)

    contacts = [scene.contacts(row) for row in q]
    inside = np.searchsorted(motion.t, times, side="right"), np.searchsorted(motion.t, times)
    for i, after in enumerate(contacts[1:]):
        passed.append((float(times[i]), contacts[i]))
        split(int(inside[0][i]), int(inside[1][i + 1]), contacts[i], after)
    passed.append((float(times[-1]), contacts[-1]))
    return np.array([t for t, _ in passed]), np.array([points for _, points in passed])


def _deviation(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> float:
    """The largest distance [m] of points (n, 3), each from its straight piece start -> end."""
    along = end - start
    share = np.sum((points - start) * along, axis=1) / np.maximum(np.sum(along**2, axis=1), 1e-30)
    nearest = start + np.clip(share, 0.0, 1.0)[:, None] * along
    return float(np.max(np.linalg.norm(points - nearest, axis=1), initial=0.0))


def _animate_overlays(overlays: Sequence[Overlay], view: View, times: np.ndarray,
                      moments: Sequence[Snapshot]) -> tuple[list[dict], list[dict]]:
    """Clips of the overlays' objects, and the lines of the legend over the frames."""
    clips, rows = [], []
    for overlay in overlays:
        frames = [overlay.at(moment, view) for moment in moments]
        clips += [_overlay_clip(path, times, [poses[path] for poses in frames])
                  for path in frames[0]]
        rows += [_legend_track(line) for line in zip(*map(overlay.rows, moments))]
    return clips, rows


def _legend_track(line: Sequence[LegendLine]) -> dict:
    """One line of the legend over the frames."""
    return {"texts": [row.text for row in line], "colors": floats([row.colour for row in line]),
            "paths": list(line[0].paints)}


def _overlay_clip(path: str, times: np.ndarray, poses: Sequence[np.ndarray | None]) -> dict:
    """A clip with scale that is hidden where the pose is None, and does not move meanwhile."""
    last = next((pose for pose in poses if pose is not None), np.eye(4))
    filled = []
    for pose in poses:
        last = last if pose is None else pose
        filled.append(last)
    unscaled = np.array(filled)
    scales = np.linalg.norm(unscaled[:, :3, :3], axis=1)
    unscaled[:, :3, :3] /= scales[:, None, :]
    clip = _clip(path, times, unscaled)
    clip["clip"]["tracks"] += [
        _track(".scale", "vector3", times, floats(scales)),
        _track(".visible", "bool", times, [pose is not None for pose in poses])]
    return clip


def _clip(path: str, times: np.ndarray, poses: np.ndarray) -> dict:
    """Position and quaternion of the group at `path` over time."""
    quaternions = [pin.Quaternion(pose[:3, :3]).coeffs() for pose in poses]
    tracks = [_track(".position", "vector3", times, floats(poses[:, :3, 3])),
              _track(".quaternion", "quaternion", times, floats(quaternions))]
    return {"path": path, "clip": {"name": path, "fps": 1, "tracks": tracks}}


def _track(name: str, kind: str, times: np.ndarray, values: object) -> dict:
    return {"name": name, "type": kind, "times": floats(times), "values": values}


def make_curves(scene: Scene, motion: Playable) -> list[dict[str, Any]]:
    """The messages: of a vehicle's wheels, of readings at moments over the run, and of all columns
    of a trajectory there. None if there is nothing to plot."""
    vehicle = scene.vehicle
    if not isinstance(vehicle, Vehicle) or not isinstance(motion, Trajectory) or len(motion.t) < 2:
        return []
    rows = np.unique(np.linspace(0, len(motion.t) - 1, MOST).round().astype(int))
    instruments = Instruments(vehicle, paths=scene.paths)
    moments = snapshots(vehicle.model, motion, motion.t[rows], motion.q[rows])
    readings = [instruments.read(moment) for moment in moments]
    columns = [{"name": f"{name} [{column.unit}]" if column.unit else name, "unit": column.unit,
                "values": floats(np.asarray(column.values)[rows])}
               for name, column in motion.columns().items() if name != "t"]
    return [instruments.describe(moments[0]), {"type": "readings", "readings": readings},
            {"type": "columns", "t": floats(motion.t[rows]), "columns": columns}]
