"""The messages that show the next moment on a page that runs already: only what has changed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..vehicle.vehicle import Vehicle
from .camera import View, frame
from .drawable import Colour, Drawable, Snapshot
from .floor import RIBBON, floor_pose, grid_cell, is_moving
from .instruments import PERIOD, Instruments
from .layers import make_layers
from .messages import set_property, set_transform
from .overlays.contact_phases import ContactPhases, draw_trail, wheel_phases
from .overlays.overlay import Overlay, Poses
from .scene import FOCUS, Scene
from .trails import trail_looks, trail_piece

CHUNK = 32  # points of the trails that are sent at once: more would be sent again too often
RENEWED = 4  # frames between two looks at layers that are hidden at first


class LiveScene:
    """A vehicle, its trails and overlays, and their state on a page; `draws_trails`: whether the
    page draws trails by itself."""

    def __init__(self, vehicle: Drawable, overlays: Sequence[Overlay], follow: bool,
                 title: str | None,
                 instrument: Callable[[Mapping[int, str]], Instruments] | None = None,
                 draws_trails: bool = True):
        self.vehicle, self._scene = vehicle, Scene(vehicle)
        self._overlays = [*overlays, *make_layers(self._scene)]
        self._follow, self._title = follow, title
        self._view: View | None = None
        self._poses: dict[str, np.ndarray | None] = {}
        self._colours: dict[str, Colour] = {}
        self._legend: tuple[tuple[str, Colour], ...] = ()
        self._count = 0
        self._instruments = None if instrument is None else instrument(self._scene.paths)
        self._due, self._draws_trails = -math.inf, draws_trails
        self._unread: Snapshot | None = None
        self.clear_trails()

    def clear_trails(self) -> None:
        """Begin the trails anew."""
        self._chunk, self._is_stale = 0, False
        self._points: list[np.ndarray] = []
        self._phases: list[np.ndarray] = []     # of each point, up to it

    def messages(self, moment: Snapshot, passed: Sequence[Snapshot] = (),
                 share: float = 1.0) -> list[dict]:
        """The messages that show this moment; `passed` are the moments since the last one, for the
        trails. `share` is the part of this thread's time that readings may take; an infinite one
        does not wait."""
        messages: list[dict] = []
        if self._view is None:
            self._view, messages = self._begin(moment)
        view, ground = self._view, self.vehicle.ground
        contacts = self._scene.contacts(moment.q)
        poses = self._scene.poses(moment.q, contacts)
        near, drawn = poses[FOCUS][:3, 3], self._poses.get("/ground")
        away = np.linalg.norm(near if drawn is None else near - drawn[:3, 3])
        if is_moving(ground) or away > 0.3 * view.reach:
            poses["/ground"] = floor_pose(ground, near, 20 * grid_cell(view.size), moment.t)
        least = view.unseen
        messages += self._move(poses, least)
        for overlay in self._overlays:
            # what most pages hide lies below a body and moves along: it is renewed now and then
            if overlay.layer is None or overlay.layer.is_shown or self._count % RENEWED == 0:
                messages += self._move(overlay.at(moment, view), least)
        self._count += 1
        for one in passed:
            self._extend(self._scene.contacts(one.q), one, view.size)
        self._extend(contacts, moment, view.size)
        self._unread = moment
        return [*messages, *self._trails(view.size), *self._rows(moment), *self._read(share),
                {"type": "time", "t": moment.t}]

    def late_messages(self, share: float = 1.0) -> list[dict]:
        """What the last moment was shown without, once it is due."""
        moment, messages = self._unread, self._read(share)
        return [*messages, {"type": "time", "t": moment.t}] if moment and messages else []

    def _read(self, share: float) -> list[dict]:
        """The values of the instruments, when due: the forces of many wheels take longer than their
        picture, which must not wait for them."""
        now, begin, moment = time.monotonic(), time.thread_time(), self._unread
        if self._instruments is None or moment is None or now < self._due and share < math.inf:
            return []
        self._unread = None
        values = [part.tolist() for part in (moment.v, moment.u) if part is not None]
        message = {**self._instruments.read(moment), "columns": sum(values, [])}
        self._due = now + max(PERIOD, (time.thread_time() - begin) / share)
        return [message]

    def _begin(self, moment: Snapshot) -> tuple[View, list[dict]]:
        """The view of the first pose, and everything that does not move."""
        q = moment.q
        if moment.contacts is not None and isinstance(self.vehicle, Vehicle):
            self._overlays.append(ContactPhases(self.vehicle))
        extent, forward = self._scene.extent(q), self._scene.forward(q)
        path = self._scene.middle(q) + np.outer([0.0, -0.5, 0.5], extent.size * forward)
        view = frame(extent, path, self.vehicle.ground.normal, forward, self._follow)
        messages = self._scene.messages(view, self._overlays, self._title)
        messages.append({"type": "trails", **trail_looks(self.vehicle, view.size)})
        if self._instruments is not None:
            messages.append({**self._instruments.describe(moment),
                             "columns": self._instruments.columns()})
        return view, messages

    def _move(self, poses: Poses, least: float) -> list[dict]:
        """Moves objects that moved by more than `least`; hides and shows those that disappeared or
        appeared."""
        messages = []
        for path, pose in poses.items():
            last = self._poses.get(path)
            # an object that was never moved is visible
            was_visible = last is not None or path not in self._poses
            if was_visible != (pose is not None):
                messages.append(set_property(path, "visible", pose is not None))
            if pose is None:
                self._poses[path] = None
            elif last is None or abs(pose - last).max() > least:
                messages.append(set_transform(path, pose))
                self._poses[path] = pose
        return messages

    def _rows(self, moment: Snapshot) -> list[dict]:
        rows = [row for overlay in self._overlays for row in overlay.rows(moment)]
        messages = []
        for row in rows:
            for path, opacity in row.paints.items():
                if self._colours.get(path) != row.colour:
                    self._colours[path] = row.colour
                    messages.append(set_property(path, "color", [*row.colour, opacity]))
        legend = tuple((row.text, row.colour) for row in rows)
        if legend != self._legend:
            self._legend = legend
            messages.append({"type": "rows", "rows": [{"text": text, "color": colour}
                                                      for text, colour in legend]})
        return messages

    def _extend(self, contacts: np.ndarray, moment: Snapshot, size: float) -> None:
        """Adds a point to the trails, once the vehicle has moved by half a trail's width."""
        if self._points:
            moved = np.max(np.linalg.norm(contacts - self._points[-1], axis=1), initial=0.0)
            if moved < 0.5 * RIBBON * size:
                return
        self._points.append(contacts)
        self._phases.append(wheel_phases(self.vehicle, moment))
        self._is_stale = len(self._points) > 1

    def _trails(self, size: float) -> list[dict]:
        if not self._is_stale:
            return []
        number, points, phases = self._chunk, np.array(self._points), np.array(self._phases)
        self._is_stale = False
        if len(points) > CHUNK:
            self._chunk, self._points = number + 1, self._points[-2:]
            self._phases = self._phases[-2:]
        if self._draws_trails:
            return [trail_piece(number, points, phases)]
        count, normal = points.shape[1], np.array(self.vehicle.ground.normal)
        return [message for i in range(count) for message in draw_trail(
            i, points[:, i], phases[1:, i], size, normal, count, f"/{number}")]
