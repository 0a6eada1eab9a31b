"""`load`: builds a vehicle from the file of a robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from ..checks import read_mapping
from ..ctrl_c import hear_ctrl_c
from ..errors import InputError, NhmechError, Remedy
from ..urdf.remedy import option, suggest
from ..urdf.wheel import Wheel
from ..urdf.wheels.skid import SkidArgument
from ..urdf.wheels.tyres import TyresArgument
from .build import build
from .ground import Ground
from .stiffness import MasslessMotion, check_massless
from .vehicle import Vehicle


@hear_ctrl_c()
def load(source: str | PathLike, *, wheels: Sequence[Wheel] | None = None,
         ground: Ground = Ground(), free: Sequence[str] = (),
         locked: Mapping[str, float] | None = None, skid: SkidArgument = None,
         speeds: Sequence[str] | None = None, packages: Mapping[str, str] | None = None,
         arguments: Mapping[str, str] | None = None, repair: bool = False,
         tyres: TyresArgument = None) -> Vehicle:
    """Reads a robot description and attaches ideal rolling to its wheels.

    Parameters
    ----------
    source
        Path of a URDF or xacro file, or XML text.
    wheels
        All contacts with the ground, a sequence of `Wheel`. None takes those of the file's
        `<nhmech>` element, or else infers them from joints, names and shapes.
    ground
        The plane that it rolls on.
    free
        Joints that are neither wheel nor steering and are released; all others are locked.
    locked
        Joint -> position [rad, m] at which it is held.
    skid
        For parallel fixed axles: "mid-axle", a track factor, "coulomb", or the names of wheels that
        may slide sideways.
    speeds
        Names of the independent speeds; if None they are chosen by conditioning.
    packages
        ROS package name -> folder, for `package://` paths.
    arguments
        Of a xacro file (`<xacro:arg>`): name -> value.
    repair
        Whether to mend a faulty file: slips of its XML, inertias that no body can have (moved to
        the nearest possible one), wheels without mass (made of rubber), a robot without any mass
        (its base made of water), limits that are reversed or negative (dropped). Each repair is
        one of the `notices`, with before and after.
    tyres
        A `Tyre`, the name of one of `urdf.TYRES` or its text, for every wheel that can have one; or
        wheel -> tyre. Those wheels slip according to their tyres' forces, instead of rolling
        ideally.

    Raises
    ------
    InputError
        For an argument that cannot be used, such as the name of a joint that does not exist.
    ModelError
        For a file that cannot be read, a wheel that is not found or whose radius is unknown, or a
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

    def attempt(**changes: Any) -> Vehicle:
        given = {"wheels": wheels, "free": free, "locked": locked, "skid": skid, "speeds": speeds,
                 "packages": packages, "arguments": arguments, "repair": repair,
                 "tyres": tyres}
        vehicle = build(describe(source, **(given | changes)), ground)
        check_massless(vehicle)
        return vehicle

    try:
        return attempt()
    except MasslessMotion as error:
        error.remedy = _find_cure(attempt, error.joints, locked)
        raise


def _find_cure(attempt: Callable[..., Vehicle], joints: Sequence[str],
               locked: Mapping[str, float] | None) -> Remedy | None:
    """The first remedy with which the vehicle loads: one that gives every motion inertia, or that
    removes the motions without."""
    cures: list[tuple[str, Any, str]] = [
        ("repair", True, "Give wheels without mass that of rubber by " if joints else
         "Give its shapes the mass of water, its wheels that of rubber by ")]
    if joints:
        cures.append(("locked", {**(locked or {}), **dict.fromkeys(joints, 0.0)},
                      "Hold what has no mass by "))
    for name, value, text in cures:
        try:
            attempt(**{name: value})
        except NhmechError:
            continue
        return suggest(text, option(name, value))
    return None
