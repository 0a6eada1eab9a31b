"""A textbook system in the place of a vehicle: one free body for each shape."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from ..errors import NhmechError
from ..systems.example import Example
from ..vehicle.ground import Ground
from .recording import save_html

_KINDS = {"box": coal.Box, "cylinder": coal.Cylinder, "sphere": coal.Sphere}


@dataclass(frozen=True)
class _Motion:
    t: np.ndarray
    q: np.ndarray


class SystemPicture:
    """What the viewer needs of a vehicle, made from an example's shapes. Raises `NhmechError` where
    it has none."""

    def __init__(self, example: Example):
        if not example.shapes:
            raise NhmechError(f"{example.name} has no shapes to show; save the run and plot it")
        self.name, self.ground, self.shapes = example.name, Ground(), tuple(example.shapes)
        self.model, self.visual_model = pin.Model(), pin.GeometryModel()
        for i, shape in enumerate(self.shapes):
            joint = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(),
                                        f"shape_{i}")
            drawn = pin.GeometryObject(f"shape_{i}", joint, pin.SE3.Identity(),
                                       _KINDS[shape.kind](*shape.size))
            drawn.meshColor, drawn.overrideMaterial = np.array(shape.color), True
            self.visual_model.addGeometryObject(drawn)
        self._trailing = [i for i, shape in enumerate(self.shapes) if shape.trail]
        self.contact_names = [f"body {i + 1}" for i in range(len(self._trailing))]

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Poses of all shapes as one vector, (7 n,)."""
        return np.concatenate([pin.SE3ToXYZQUAT(pin.SE3(shape.pose(q))) for shape in self.shapes])

    def contact_points(self, configuration: np.ndarray) -> np.ndarray:
        """Where the trails are drawn: the shapes' positions laid onto the ground, (k, 3)."""
        points = np.asarray(configuration).reshape(-1, 7)[self._trailing, :3].copy()
        points[:, 2] = 0.0
        return points


def save_system_html(example: Example, trajectory, path, fps: float = 30) -> Path:
    """The run of a textbook system as one self-contained HTML file; returns its path."""
    picture = SystemPicture(example)
    configurations = np.array([picture.configuration(q) for q in trajectory.q])
    return save_html(picture, _Motion(trajectory.t, configurations), path, fps=fps)


