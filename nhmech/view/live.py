"""What a page must be told to show the next moment: only what changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .camera import frame
from .floor import RIBBON, floor_pose, grid_cell, is_moving, ribbon
from .messages import set_property, set_transform
from .overlays import Moment, Overlay
from .scene import FOCUS, Scene

CHUNK = 32      # points of a trail that are sent as one object
# trails that are sent with one moment; the others have their turn with the next ones
AT_ONCE = 2


class LiveScene:
    """A vehicle, its trails and overlays, and what of them a page knows already."""

    def __init__(self, vehicle, overlays: Sequence[Overlay], follow: bool, title: str | None):
        self.vehicle, self._scene, self._overlays = vehicle, Scene(vehicle), overlays
        self._follow, self._title = follow, title
        self._view = None
        self._shown: dict[str, np.ndarray | None] = {}
        self._said: dict[str, tuple] = {}
        self.clear_trails()

    def clear_trails(self) -> None:
        """Begin them anew."""
        self._chunk, self._points, self._stale, self._turn = 0, [], set(), 0

    def messages(self, moment: Moment, passed: Sequence[np.ndarray] = ()) -> list[dict]:
        """That show this moment; `passed` are configurations since the last one, for the trails."""
        messages = self._begin(moment.q) if self._view is None else []
        contacts = self._scene.contacts(moment.q)
        poses = self._scene.poses(moment.q, contacts)
        near, period = poses[FOCUS][:3, 3], 20 * grid_cell(self._view.size)
        away = np.linalg.norm(near - self._shown.get("/ground", np.eye(4))[:3, 3])
        if is_moving(self.vehicle.ground) or away > 0.3 * self._view.reach:
            poses["/ground"] = floor_pose(self.vehicle.ground, near, period, moment.t)
        messages += self._placed(poses)
        for overlay in self._overlays:
            messages += self._placed(overlay.at(moment, self._view))
        for points in (*map(self._scene.contacts, passed), contacts):
            self._extend(points)
        return [*messages, *self._trails(), *self._legend(moment), {"type": "time", "t": moment.t}]

    def _begin(self, q) -> list[dict]:
        """Everything that does not move, framed around the first pose."""
        size = self._scene.size(q)
        path = self._scene.middle(q) + np.outer([0.0, -0.5, 0.5], size * self._scene.forward(q))
        self._view = frame(size, path, self.vehicle.ground.normal, self._scene.forward(q),
                           self._follow)
        legend = [entry for overlay in self._overlays for entry in overlay.legend]
        drawn = [message for overlay in self._overlays for message in overlay.objects(self._view)]
        return [*self._scene.messages(self._view, legend, self._title), *drawn]

    def _placed(self, poses: dict[str, np.ndarray | None]) -> list[dict]:
        """Moves what moved; hides and shows what came or went."""
        messages = []
        for path, pose in poses.items():
            shown = self._shown.get(path)
            if pose is None if path not in self._shown else (pose is None) != (shown is None):
                messages.append(set_property(path, "visible", pose is not None))
            if pose is not None and (shown is None or (pose != shown).any()):
                messages.append(set_transform(path, pose))
            self._shown[path] = pose
        return messages

    def _legend(self, moment: Moment) -> list[dict]:
        """Its changing lines, and the colours that go with them."""
        rows = [row for overlay in self._overlays for row in overlay.rows(moment)]
        messages = []
        for row in rows:
            for path, opacity in row.paints.items():
                if self._said.get(path) != row.colour:
                    self._said[path] = row.colour
                    messages.append(set_property(path, "color", [*row.colour, opacity]))
        lines = tuple((row.text, row.colour) for row in rows)
        if lines != self._said.get("", ()):
            self._said[""] = lines
            messages.append({"type": "rows",
                             "rows": [{"text": text, "color": colour} for text, colour in lines]})
        return messages

    def _extend(self, contacts: np.ndarray) -> None:
        """The trails, once the vehicle has moved by a part of a trail's width."""
        if self._points:
            moved = np.max(np.linalg.norm(contacts - self._points[-1], axis=1), initial=0.0)
            if moved < 0.5 * RIBBON * self._view.size:
                return
        self._points.append(contacts)
        if len(self._points) > 1:
            self._stale = set(range(len(contacts)))

    def _trails(self) -> list[dict]:
        """The newest pieces of some trails; of all where they are full."""
        if not self._stale:
            return []
        lines, full = np.array(self._points), len(self._points) > CHUNK
        turns = sorted(self._stale,
                       key=lambda i: (i - self._turn) % lines.shape[1])[:None if full else AT_ONCE]
        self._stale -= set(turns)
        self._turn, chunk = turns[-1] + 1, self._chunk
        if full:
            self._chunk, self._points = chunk + 1, self._points[-2:]
        size, normal = self._view.size, self.vehicle.ground.normal
        return [ribbon(f"/trails/{i}/{chunk}", lines[:, i], size, normal, i) for i in turns]
