"""Markers of a run for RViz and Foxglove: the path that was to be followed, and how much of its
friction each wheel uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot, isfinite
from typing import Any

import numpy as np

from .messages import Messages
from .readings import Reading

MARKERS = "visualization_msgs/msg/MarkerArray"      # rosbags has it: no node sends any

LINE_STRIP, CYLINDER = 4, 3         # of visualization_msgs/Marker
PATH_COLOUR = (0.94, 0.75, 0.0, 0.6)
OPAQUE = 0.8
THIN = 1e-3                         # [m] of a bar of no height: RViz warns of a size of zero
FULL = 2.0                          # uses of friction beyond this are drawn as this
NUMBERS = 5                         # of each bar: middle and height [m], red, green, blue


class Markers:
    """Builds marker messages. `messages`: of the library whose types are used. `size`: [m] of a bar
    at the limit of friction."""

    def __init__(self, messages: Messages, size: float):
        self.messages, self.size = messages, size

    def path(self, stamp: Any, frame: str, points: np.ndarray) -> Any:
        """A line through points (n, 3) [m]."""
        m = self.messages
        return self._array([self._marker(
            stamp, frame, "path", LINE_STRIP, 0.0, (0.1 * self.size, 0.0, 0.0), PATH_COLOUR,
            [m.vector(point, "Point") for point in points])])

    def friction(self, stamp: Any, wheels: Sequence[str], numbers: np.ndarray) -> Any:
        """A bar at each contact, along the ground's normal, of numbers (`NUMBERS` a wheel)."""
        found = []
        for name, (middle, height, red, green, blue) in zip(wheels, numbers.reshape(-1, NUMBERS)):
            wide = 0.2 * self.size
            found.append(self._marker(stamp, f"{name}_contact", name, CYLINDER, middle,
                                      (wide, wide, height), (red, green, blue, OPAQUE), []))
        return self._array(found)

    def bars(self, reading: Reading, mu: Mapping[str, float]) -> np.ndarray:
        """The numbers of `friction`: a bar is as high as the friction that its wheel uses, |force
        along the ground| / (mu normal force), green below one half, red at 1 and beyond."""
        found = []
        for name, limit in mu.items():
            x, y, normal = reading.forces[name]
            along = hypot(x, y)
            used = min(along / (limit * normal), FULL) if limit * normal > 0 else (
                FULL if along > 0 else 0.0)
            height = max(self.size * used, THIN)
            found += [height / 2, height, min(1.0, 2 * used), min(1.0, max(0.0, 2 - 2 * used)), 0.0]
        return np.array(found)

    def _array(self, markers: list[Any]) -> Any:
        return self.messages.find(MARKERS)(markers=markers)

    def _marker(self, stamp: Any, frame: str, name: str, kind: int, middle: float,
                scale: Sequence[float], colour: Sequence[float], points: list[Any]) -> Any:
        m = self.messages
        pose = m.find("geometry_msgs/msg/Pose")(
            position=m.vector((0.0, 0.0, middle), "Point"),
            orientation=m.vector((0.0, 0.0, 0.0, 1.0), "Quaternion", "xyzw"))
        red, green, blue, alpha = map(float, colour)
        image = m.find("sensor_msgs/msg/CompressedImage")(
            header=m.header(m.time(0)), format="", data=np.zeros(0, np.uint8))
        return m.find("visualization_msgs/msg/Marker")(
            header=m.header(stamp, frame), ns=name, id=0, type=kind, action=0, pose=pose,
            scale=m.vector(scale),
            color=m.find("std_msgs/msg/ColorRGBA")(r=red, g=green, b=blue, a=alpha),
            lifetime=m.find("builtin_interfaces/msg/Duration")(sec=0, nanosec=0),
            frame_locked=True, points=points, colors=[], texture_resource="", texture=image,
            uv_coordinates=[], text="", mesh_resource="",
            mesh_file=m.find("visualization_msgs/msg/MeshFile")(filename="",
                                                                data=np.zeros(0, np.uint8)),
            mesh_use_embedded_materials=False)


def limits_of(mu: Mapping[str, float | None]) -> dict[str, float]:
    """The wheels whose friction is known and finite."""
    return {name: value for name, value in mu.items() if value is not None and isfinite(value)}
