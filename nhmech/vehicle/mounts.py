"""Where the wheels of a description sit on Pinocchio's model."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..errors import ModelError
from .contact import Mount
from .description import Description
from .model import joint_axis
from .wheel import Wheel


def mounts(model: pin.Model, description: Description) -> tuple[Mount, ...]:
    """One `Mount` for each wheel. Raises `ModelError` where a wheel's link does not turn with its joint."""
    return tuple(_mount(model, wheel) for wheel in description.wheels)


def _mount(model: pin.Model, wheel: Wheel) -> Mount:
    frame = _link_frame(model, wheel)
    point = np.zeros(3) if wheel.point is None else np.asarray(wheel.point, dtype=float)
    centre = frame.placement.act(point)
    if wheel.joint is None:
        ball = wheel.axis is None or wheel.kind in ("sphere", "caster_ball")
        axle = None
        if not ball:
            axle = frame.placement.rotation @ wheel.axis
            axle = _clean(axle / np.linalg.norm(axle))
        return Mount(wheel, frame.parentJoint, _clean(centre), axle, None)
    joint = model.getJointId(wheel.joint)
    if frame.parentJoint != joint:
        raise ModelError(f"wheel {wheel.name!r}: link {wheel.link!r} does not turn with joint {wheel.joint!r}")
    axis = joint_axis(model, joint)
    placement = model.jointPlacements[joint]
    centre = placement.act(axis * (axis @ centre))      # on the axle, where it does not depend on the wheel's angle
    return Mount(wheel, model.parents[joint], _clean(centre), _clean(placement.rotation @ axis),
                 model.joints[joint].idx_v)


def _link_frame(model: pin.Model, wheel: Wheel) -> pin.Frame:
    if wheel.link is None:
        joint = model.getJointId(wheel.joint)
        frames = [f for f in model.frames if f.type == pin.FrameType.BODY and f.parentJoint == joint]
        if not frames:
            raise ModelError(f"wheel {wheel.name!r}: joint {wheel.joint!r} carries no link")
        return frames[0]
    if not model.existFrame(wheel.link, pin.FrameType.BODY):
        links = ", ".join(f.name for f in model.frames if f.type == pin.FrameType.BODY)
        raise ModelError(f"wheel {wheel.name!r}: there is no link {wheel.link!r}; links are {links}")
    return model.frames[model.getFrameId(wheel.link, pin.FrameType.BODY)]


def body_names(model: pin.Model) -> list[str]:
    """The link that names each joint's body, index 0 for the universe."""
    names = ["universe"] + [""] * (model.njoints - 1)
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY and not names[frame.parentJoint]:
            names[frame.parentJoint] = frame.name
    return names


def _clean(vector: np.ndarray) -> np.ndarray:
    """Entries that are rounding noise of a unit-sized number become zero, so that they leave the expressions."""
    return np.where(np.abs(vector) < 1e-15, 0.0, vector)
