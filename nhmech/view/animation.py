"""A trajectory as an animation: the pose of every body at evenly spaced times, and the trails that
grow along."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from .camera import frame
from .floor import floor_pose, grid_cell, is_moving, ribbon
from .messages import set_transform
from .overlays import Overlay
from .sampling import moments, sample
from .scene import FOCUS, Scene
from .shapes import floats


def animate(scene: Scene, trajectory, fps: float, overlays: Sequence[Overlay] = (),
            follow: bool | None = None, title: str | None = None) -> list[dict]:
    """All messages that draw and move a vehicle, and what is drawn on top of it, along a
    trajectory."""
    vehicle = scene.vehicle
    times, q = sample(vehicle.model, trajectory, fps)
    poses = [scene.poses(row) for row in q]
    contacts = np.array([scene.contacts(row) for row in q])  # (frames, contacts, 3)
    size, normal = scene.size(q[0]), np.array(vehicle.ground.normal)
    further = np.vstack([np.zeros((0, 3)), *(overlay.points for overlay in overlays)])
    view = frame(size, np.array([p[FOCUS][:3, 3] for p in poses]), normal, scene.forward(q[0]),
                 follow, further)
    tracks = {path: np.array([p[path] for p in poses]) for path in poses[0]}
    if is_moving(vehicle.ground):
        period = 20 * grid_cell(size)
        tracks["/ground"] = np.array([floor_pose(vehicle.ground, view.ground, period,
                                                 t - times[0]) for t in times])
    clips = [_clip(path, times - times[0], track) for path, track in tracks.items()]
    rows = []
    seen = moments(vehicle.model, trajectory, times, q) if overlays else []
    for overlay in overlays:
        shown = [overlay.at(moment, view) for moment in seen]
        clips += [_overlay_clip(path, times - times[0],
                                [poses[path] for poses in shown]) for path in shown[0]]
        rows += _changing([overlay.rows(moment) for moment in seen])
    trails = []
    if len(times) > 1:
        trails = [ribbon(f"/trails/{i}", contacts[:, i], size, normal,
                         i) for i in range(contacts.shape[1])]
    placed = [set_transform(path, track[0]) for path, track in tracks.items()]
    animation = {"type": "set_animation", "path": "", "animations": clips,
                 "options": {"play": True, "repetitions": 1}, "start": float(times[0])}
    animation |= {"trails": [trail["path"] for trail in trails], "segments": len(times) - 1,
                  "rows": rows}
    drawn = [message for overlay in overlays for message in overlay.objects(view)]
    legend = [entry for overlay in overlays for entry in overlay.legend]
    return [*scene.messages(view, legend, title), *placed, *trails, *drawn, animation]


def _changing(rows: list[tuple]) -> list[dict]:
    """Lines of the legend over the frames, as the page takes them."""
    return [{"texts": [row.text for row in line], "colors": floats([row.colour for row in line]),
             "paths": list(line[0].paints)}
            for line in zip(*rows)]


def _overlay_clip(path: str, times: np.ndarray, poses: list) -> dict:
    """The same with scale, and hidden where the pose is None; it keeps its place meanwhile."""
    visible, kept = [pose is not None for pose in poses], []
    last = next((pose for pose in poses if pose is not None), np.eye(4))
    for pose in poses:
        last = last if pose is None else pose
        kept.append(last)
    scales = np.linalg.norm(np.array(kept)[:, :3, :3], axis=1)
    turned = np.array(kept)
    turned[:, :3, :3] /= scales[:, None, :]
    clip = _clip(path, times, turned)
    clip["clip"]["tracks"] += [{"name": ".scale", "type": "vector3", "times": floats(times),
                                "values": floats(scales)},
                               {"name": ".visible", "type": "bool", "times": floats(times),
                                "values": visible}]
    return clip


def _clip(path: str, times: np.ndarray, poses: np.ndarray) -> dict:
    """Position and quaternion of the group at `path` over time."""
    quaternions = [pin.Quaternion(pose[:3, :3]).coeffs() for pose in poses]
    tracks = ((".position", "vector3", poses[:, :3, 3]), (".quaternion", "quaternion", quaternions))
    listed = [{"name": name, "type": kind, "times": floats(times), "values": floats(values)}
              for name, kind, values in tracks]
    return {"path": path, "clip": {"name": path, "fps": 1, "tracks": listed}}
