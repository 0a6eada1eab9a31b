"""A textbook system in the place of a vehicle: one free body for each shape."""

from __future__ import annotations

from dataclasses import dataclass

import coal
import numpy as np
import pinocchio as pin

from ..errors import InputError, listed
from ..simulation.simulated import Simulated
from ..systems.example import Example
from ..vehicle.ground import Ground
from .drawable import Drawable, Playable, check_run

NEEDED = ("name", "model", "visual_model", "ground", "contact_points", "contact_names")
SOLIDS = {"box": coal.Box, "cylinder": coal.Cylinder, "sphere": coal.Sphere}


@dataclass(frozen=True)
class _Poses:
    """The motion of the shapes."""

    t: np.ndarray
    q: np.ndarray


class SystemPicture:
    """The interface of a drawable vehicle, made from the shapes of a textbook system."""

    def __init__(self, example: Example):
        if not example.shapes:
            raise InputError(f"{example.name} has no shapes to show; save the run and plot it")
        self.name, self.ground, self.shapes = example.name, Ground(), tuple(example.shapes)
        self.model, self.visual_model = pin.Model(), pin.GeometryModel()
        for i, shape in enumerate(self.shapes):
            joint = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(),
                                        f"shape_{i}")
            solid = pin.GeometryObject(f"shape_{i}", joint, pin.SE3.Identity(),
                                       SOLIDS[shape.kind](*shape.size))
            solid.meshColor, solid.overrideMaterial = np.array(shape.color), True
            self.visual_model.addGeometryObject(solid)
        self._trailing = [i for i, shape in enumerate(self.shapes) if shape.trail]
        self.contact_names = [f"body {i + 1}" for i in range(len(self._trailing))]
        if len(self._trailing) == 1:
            self.contact_names = [example.title]

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Poses of all shapes as one vector, (7 n,)."""
        return np.concatenate([pin.SE3ToXYZQUAT(pin.SE3(shape.pose(q))) for shape in self.shapes])

    def contact_points(self, q: np.ndarray) -> np.ndarray:
        """Points (k, 3) [m] that leave the trails: the shapes' positions laid onto the ground."""
        points = np.asarray(q).reshape(-1, 7)[self._trailing, :3].copy()
        points[:, 2] = 0.0
        return points


def as_drawable(what: Drawable | Example | Simulated,
                motion: Playable) -> tuple[Drawable, Playable]:
    """The drawable and its motion; for a textbook system, its shapes and their motion. Raises
    `InputError` for what cannot be drawn, and for the run of something else."""
    check_run(what, motion)
    if isinstance(what, Simulated):
        named = what.vehicle or what.example
        if named is None:
            raise InputError("a system written by hand has no shapes to show; plot its run, or "
                             "give an object that has them (nhmech.view.drawable.Drawable)")
        what = named
    if isinstance(what, Example):
        picture = SystemPicture(what)
        poses = np.array([picture.configuration(q) for q in motion.q])
        return picture, _Poses(motion.t, poses)
    missing = [name for name in NEEDED if not hasattr(what, name)]
    if missing:
        raise InputError(f"{what!r} cannot be drawn, it has no {listed(missing)}; give a vehicle "
                         "or a textbook system")
    return what, motion
