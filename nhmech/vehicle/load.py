"""The front door: a robot's file becomes a vehicle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

from ..checks import read_mapping
from ..errors import InputError
from ..urdf.skid import SkidArgument
from ..urdf.wheel import Wheel
from .build import build
from .ground import Ground
from .vehicle import Vehicle


def load(source: str | PathLike, *, wheels: Sequence[Wheel] | None = None,
         ground: Ground = Ground(), free: Sequence[str] = (),
         locked: Mapping[str, float] | None = None, skid: SkidArgument = None,
         speeds: Sequence[str] | None = None, packages: Mapping[str, str] | None = None,
         arguments: Mapping[str, str] | None = None) -> Vehicle:
    """Reads a robot and attaches ideal rolling to it.

    Parameters
    ----------
    source
        Path of a URDF or xacro file, or XML text.
    wheels
        What touches the ground; else the file's `<nhmech>`; else inferred from joint names and
        collision shapes.
    ground
        The plane it rolls on.
    free
        Joints to release that are neither wheel nor steering; all others are held.
    locked
        Joint -> position [rad, m] at which it is held.
    skid
        For parallel fixed axles: "mid-axle", a track factor, or the names of wheels whose lateral
        row is freed.
    speeds
        Names of the independent speeds; chosen by conditioning where None.
    packages
        ROS package name -> folder, for `package://` paths.
    arguments
        Of a xacro file (`<xacro:arg>`): name -> value.

    Raises
    ------
    InputError
        For an argument that cannot be used, such as the name of a joint that does not exist.
    ModelError
        For a file that cannot be read, a wheel that is not found or cannot be measured, or a
        vehicle that cannot stand or turn.

    Examples
    --------
    >>> vehicle = nhmech.load(nhmech.urdf_path("differential_drive"))
    >>> vehicle.driven
    ('left_wheel_joint', 'right_wheel_joint')
    """
    from ..urdf.describe import describe

    if not isinstance(ground, Ground):
        raise InputError(f"ground = {ground!r} must be a Ground, such as Ground(normal=(0, 0, 1))")
    arguments = read_mapping("arguments", arguments, "name of a <xacro:arg> -> value")
    description = describe(source, wheels=wheels, free=free, locked=locked, skid=skid,
                           speeds=speeds, packages=packages, arguments=arguments)
    return build(description, ground)
