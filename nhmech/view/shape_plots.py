"""Pictures of a vehicle's shape over time: hitches, forks, steering, a frame that leans."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.ignorable import frozen_parts
from ..errors import InputError
from ..simulation.contact.phases import Phase
from ..simulation.runs.trajectory import Trajectory
from ..vehicle.build import build
from ..vehicle.ground import Ground
from ..vehicle.vehicle import Vehicle
from .drawing import (
    Plot,
    as_label,
    as_words,
    axes_of,
    check_axes,
    clip_start,
    legend,
    line_colours,
    picture_of_run,
    plot_style,
    settle,
    shade_limits,
)

TILTED = 0.1        # [rad] by which the base is tilted, to see whether gravity acts on it
LEVEL = 1e-9        # of the weight's energy: a smaller change of height is none
TILTS = ("roll", "pitch")


@picture_of_run
def shape(vehicle: Vehicle, trajectory: Trajectory, axes: Any = None) -> Plot:
    """Positions of the joints that do not roll (hitches, forks, swivels, steering without its
    followers), and roll and pitch of the base where the wheels leave them free and gravity acts on
    them; of a run in which wheels leave the ground, tilt and height; one panel for each unit [deg,
    m].

    Roll and pitch are those of R_GB = Rz(yaw) Rx(roll) Ry(pitch), with z of G along the ground's
    normal. The tilt is the angle of the base's z axis to that normal, from 0 to 180 degrees, the
    height that of the base's origin.

    Raises
    ------
    InputError
        If there are none.
    """
    units = shape_units(vehicle, trajectory)
    if not units:
        raise InputError("this vehicle has no shape: all its joints roll, and its base cannot "
                         "tilt")
    panels = sorted(set(units.values()))
    lines = line_colours(vehicle, list(units))
    with plot_style():
        figure, axes = axes_of(axes, 3.4, 1.3 + 1.1 * len(panels), rows=len(panels))
        shown = check_axes(axes, panels)
        for ax, unit in zip(shown, panels):
            names = [name for name in units if units[name] == unit]
            for name in names:
                values = _values(vehicle, trajectory, name)
                values = np.degrees(values) if unit == "deg" else values
                ax.plot(trajectory.t, values, color=lines[name], label=as_label(as_words(name)))
            ax.set_ylabel(f"position [{unit}]")
            settle(ax, np.concatenate([line.get_ydata() for line in ax.lines]), 1e-6)
            shade_limits(ax, trajectory, {name: lines[name] for name in names})
            legend(ax)
            clip_start(ax)
        shown[-1].set_xlabel("time [s]")
        return figure, axes


def shape_units(vehicle: Vehicle, trajectory: Trajectory) -> dict[str, str]:
    """Quantity that `shape` draws -> its unit, "deg" or "m": joints by name, "roll" and "pitch",
    "tilt" and "height"."""
    rates = dict(zip(vehicle.algebroid.v_names, vehicle.algebroid.v_units))
    moved = {*vehicle.description.rolling, *_followers(vehicle)}
    joints = {name: "deg" if rates[name] == "rad/s" else "m"
              for name in vehicle.joint_names if name not in moved}
    level = vehicle
    if tuple(vehicle.ground.normal) != Ground().normal:      # a heading on a slope is a tilt too
        level = build(vehicle.description, Ground(), vehicle.parameters)
    held = frozen_parts(level)
    tilts = [name for name in TILTS if name not in held and _is_heavy(level, name)]
    found = joints | dict.fromkeys(tilts, "deg")
    if trajectory.contact is not None and any(span.wheels[name] is Phase.AIRBORNE for span in
                                              trajectory.phases for name in vehicle.contact_names):
        found |= {"tilt": "deg", "height": "m"}
    return found


def _followers(vehicle: Vehicle) -> set[str]:
    """Steering joints whose angle follows from that of others."""
    steering = vehicle.steering
    if not steering.coupled:
        return set()
    return ({axle.steering for axle in steering.steered}
            - {axle.steering for axle in steering.pair()})


def _is_heavy(vehicle: Vehicle, tilt: str) -> bool:
    """Whether the vehicle's potential energy depends on an angle; it does not depend on the pitch
    of a coin, which is its spin, nor on the angles of a ball."""
    rest = np.zeros(vehicle.algebroid.nv)
    heights = []
    for angle in (0.0, TILTED, -TILTED):
        roll, pitch = (angle if tilt == name else 0.0 for name in TILTS)
        q = vehicle.configuration((0.0, 0.0, 0.0, roll, pitch, 0.0))
        heights.append(vehicle.energy(0.0, q, rest))
    weight = sum(i.mass for i in vehicle.model.inertias) * vehicle.parameters.values["gravity"]
    return bool(np.ptp(heights) > LEVEL * weight)


def _values(vehicle: Vehicle, trajectory: Trajectory, name: str) -> np.ndarray:
    if name not in (*TILTS, "tilt", "height"):
        return trajectory.column(f"{name}.position")
    if name == "height":
        return (trajectory.T_WB[:, :3, 3] - vehicle.ground.point) @ vehicle.ground.normal
    R_WG = np.column_stack([*vehicle.ground.tangents, vehicle.ground.normal])
    R = R_WG.T @ trajectory.T_WB[:, :3, :3]
    if name == "tilt":
        return np.arccos(np.clip(R[:, 2, 2], -1.0, 1.0))
    if name == "roll":
        return np.arcsin(np.clip(R[:, 2, 1], -1.0, 1.0))
    return np.unwrap(np.arctan2(-R[:, 2, 0], R[:, 2, 2]))
