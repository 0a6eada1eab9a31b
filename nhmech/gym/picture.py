"""The rendering of an environment: a picture from above, or the live view."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..errors import InputError
from ..view.viewer import Viewer
from .task import Task

PIXELS = 480
WINDOW = 8.0             # lengths of the vehicle that the picture is wide
TRAIL = 400              # periods
GROUND, PATH, BODY, WHEEL, TRACE, GOAL = (
    (250, 250, 248), (150, 150, 150), (60, 110, 180), (20, 20, 20), (220, 120, 60), (60, 150, 90))


class Screen:
    """Shows nothing."""

    def begin(self, env: Any) -> None:
        """At the start of an episode."""

    def show(self, env: Any) -> None:
        """After each step."""

    def picture(self, q: np.ndarray) -> np.ndarray | None:
        """The picture (480, 480, 3) of bytes, if there is one."""
        return None

    def close(self) -> None:
        """Closes the window that it opened."""


def screen(task: Task, mode: str | None) -> Screen:
    """The screen of a render mode. Raises `InputError` for an unknown one."""
    screens = {None: Screen, "rgb_array": lambda: _FromAbove(task), "human": lambda: _Live(task)}
    if mode not in screens:
        raise InputError(f"render_mode = {mode!r} must be \"rgb_array\", \"human\" or None")
    return screens[mode]()


class _Live(Screen):
    """Each step in the live view, at the pace of the clock."""

    def __init__(self, task: Task):
        self._task, self._viewer, self._next = task, Viewer(task.vehicle), 0.0
        print(self._viewer.url)

    def begin(self, env: Any) -> None:
        self._next = time.monotonic()
        self._viewer.display(env.configuration)

    def show(self, env: Any) -> None:
        self._next += self._task.period
        time.sleep(max(self._next - time.monotonic(), 0.0))
        self._viewer.display(env.configuration)

    def close(self) -> None:
        self._viewer.close()


class _FromAbove(Screen):
    """Wheels, body, path and trail, about the vehicle."""

    def __init__(self, task: Task):
        self._task, self._trail = task, []        # type: Task, list[np.ndarray]
        self._track = None if task.track is None else task.track.rows[1:3].T

    def begin(self, env: Any) -> None:
        self._trail = [env.configuration[:2]]

    def show(self, env: Any) -> None:
        self._trail = [*self._trail[-TRAIL:], env.configuration[:2]]

    def picture(self, q: np.ndarray) -> np.ndarray:
        from PIL import Image, ImageDraw

        image = Image.new("RGB", (PIXELS, PIXELS), GROUND)
        draw = ImageDraw.Draw(image)
        scale = PIXELS / (WINDOW * self._task.length)

        def pixels(points: np.ndarray) -> list[tuple[float, float]]:
            seen = (np.atleast_2d(points)[:, :2] - q[:2]) * (scale, -scale) + PIXELS / 2
            return [(float(x), float(y)) for x, y in seen]

        if self._track is not None:
            draw.line(pixels(self._track), fill=PATH, width=2)
        if len(self._trail) > 1:
            draw.line(pixels(np.array(self._trail)), fill=TRACE, width=2)
        contacts = self._task.vehicle.contact_points(q)
        if len(contacts) > 1:
            middle = contacts.mean(axis=0)
            around = np.argsort(np.arctan2(*(contacts - middle)[:, 1::-1].T))
            draw.polygon(pixels(contacts[around]), outline=BODY, width=3)
        forward = np.array([1 - 2 * (q[4] ** 2 + q[5] ** 2), 2 * (q[3] * q[4] + q[5] * q[6])])
        forward /= max(np.linalg.norm(forward), 1e-9)
        nose = q[:2] + 0.6 * self._task.length * forward
        draw.line(pixels(np.array([q[:2], nose])), fill=BODY, width=3)
        for x, y in pixels(contacts):
            draw.ellipse((x - 5, y - 5, x + 5, y + 5), fill=WHEEL)
        return np.asarray(image)
