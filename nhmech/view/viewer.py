"""A vehicle in a browser window: while a simulation runs, or played back at real time."""

from __future__ import annotations

import time
import webbrowser
from pathlib import Path

import numpy as np
import pinocchio as pin

from ..errors import NhmechError
from .camera import frame
from .floor import RIBBON, floor_pose, grid_cell, is_moving, ribbon
from .messages import set_transform
from .page import live_page
from .recording import save_html
from .remote import RemoteWindow
from .scene import FOCUS, Scene
from .server import Server

FPS = 60.0
CHUNK = 64  # points of a trail that are sent as one object


class Viewer:
    """Shows one vehicle on meshcat's page; a context manager.

    vehicle       has name, model, visual_model, ground, contact_points(q) -> (n, 3) [m] and contact_names
    open_browser  open the page in the user's browser
    window        None: a server of its own inside this process, on 127.0.0.1; or the ZMQ address of a meshcat-server that runs already

    Nothing here waits for a browser: without one, the vehicle moves unseen. Raises `NhmechError` where the server is closed or does not answer.
    """

    def __init__(self, vehicle, *, open_browser: bool = False, window: str | None = None):
        self.vehicle = vehicle
        self._scene = Scene(vehicle)
        self._window = Server(live_page(vehicle.name)) if window is None else RemoteWindow(window)
        self._view = None
        self._shown: dict[str, np.ndarray] = {}
        self._chunk, self._points = 0, []
        if open_browser:
            webbrowser.open(self.url, new=2)

    @property
    def url(self) -> str:
        """Address of the page, on this machine only."""
        return self._window.url

    def wait_for_browser(self, timeout: float = 10.0) -> bool:
        """Whether the page has been opened, after waiting for that at most `timeout` [s]."""
        return self._window.wait_for_browser(timeout)

    def display(self, state) -> None:
        """Show a configuration q (nq,), or a state with `q` and, where the ground or a clock moves, `t` [s]. Only bodies that moved are sent."""
        q, t = np.asarray(getattr(state, "q", state), dtype=float), float(getattr(state, "t", 0.0))
        if q.shape != (self.vehicle.model.nq,) or not np.all(np.isfinite(q)):
            raise NhmechError(f"viewer: q must be {self.vehicle.model.nq} finite numbers, got {q}")
        messages = self._begin(q) if self._view is None else []
        poses = self._scene.poses(q)
        period = 20 * grid_cell(self._view.size)
        near = poses[FOCUS][:3, 3]
        if is_moving(self.vehicle.ground) or np.linalg.norm(near - self._shown.get("/ground", np.eye(4))[:3, 3]) > 0.3 * self._view.reach:
            poses["/ground"] = floor_pose(self.vehicle.ground, near, period, t)
        for path, pose in poses.items():
            if path not in self._shown or not np.array_equal(pose, self._shown[path]):
                self._shown[path] = pose
                messages.append(set_transform(path, pose))
        self._window.send([*messages, *self._trail(q), {"type": "time", "t": t}])

    def play(self, trajectory, speed: float = 1.0) -> None:
        """Show a trajectory at `speed` times real time; returns at its end."""
        if speed <= 0:
            raise NhmechError(f"speed={speed} must be positive")
        t, q = np.asarray(trajectory.t, dtype=float), np.asarray(trajectory.q, dtype=float)
        self.clear_trails()
        begin = time.monotonic()
        now = t[0]
        while now < t[-1]:
            k = int(np.searchsorted(t, now, side="right"))
            share = (now - t[k - 1]) / (t[k] - t[k - 1])
            self.display(_Moment(pin.interpolate(self.vehicle.model, q[k - 1], q[k], share), now))
            time.sleep(1 / FPS)
            now = t[0] + speed * (time.monotonic() - begin)
        self.display(_Moment(q[-1], t[-1]))

    def clear_trails(self) -> None:
        """Remove the trails, for example after the vehicle was put elsewhere."""
        self._window.forget("/trails")
        self._chunk, self._points = 0, []

    def save_html(self, trajectory, path, fps: float = 30.0) -> Path:
        """Write a page that plays `trajectory`, see `nhmech.view.save_html`."""
        return save_html(self.vehicle, trajectory, path, fps)

    def close(self) -> None:
        """Stop the server, if it is this viewer's own; harmless when called again."""
        self._window.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _begin(self, q) -> list[dict]:
        """Everything that does not move, framed around the first pose."""
        size = self._scene.size(q)
        near = self._scene.middle(q)
        path = near + np.outer([0.0, -0.5, 0.5], size * self._scene.forward(q))
        self._view = frame(size, path, self.vehicle.ground.normal, self._scene.forward(q), follow=True)
        return self._scene.messages(self._view)

    def _trail(self, q) -> list[dict]:
        """The newest piece of each contact's trail, once the vehicle has moved by a part of the trail's width."""
        contacts = self._scene.contacts(q)
        if self._points and np.max(np.linalg.norm(contacts - self._points[-1], axis=1), initial=0.0) < 0.5 * RIBBON * self._view.size:
            return []
        self._points.append(contacts)
        if len(self._points) < 2:
            return []
        lines, chunk = np.array(self._points), self._chunk
        if len(self._points) > CHUNK:
            self._chunk, self._points = chunk + 1, self._points[-2:]
        return [ribbon(f"/trails/{i}/{chunk}", lines[:, i], self._view.size, self.vehicle.ground.normal, i) for i in range(lines.shape[1])]


class _Moment:
    """A configuration and its time."""

    def __init__(self, q, t: float):
        self.q, self.t = q, t
