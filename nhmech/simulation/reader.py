"""Where everything that a `State` shows stands in its numbers; worked out once for a simulator."""

from __future__ import annotations

from .flat import FlatState
from .sensors import Sensors
from .state import Places
from .subject import Subject


def places(subject: Subject, flat: FlatState, xi_names: tuple[str, ...], speeds: list[int], sensors: Sensors) -> Places:
    """Of numbers that begin with (q, v, x, u).

    flat, xi_names, speeds  of the run's first chart; later charts are read through the same names
    sensors                 what the links measure
    """
    algebroid = flat.algebroid
    nq, nv, positions = algebroid.nq, algebroid.nv, flat.names(())
    v = {name: nq + i for i, name in enumerate(algebroid.v_names)}
    x = {name: nq + nv + i for i, name in enumerate(positions)}
    joints = subject.joint_names if subject.vehicle is not None else positions
    measured = subject.encoder_names
    inputs = slice(nq + nv + flat.nx, nq + nv + flat.nx + subject.constrained.system.u.numel())
    return Places(nq, nv, inputs, {name: nq + i for name, i in zip(xi_names, speeds)}, v,
                  {positions[i]: nq + nv + i for i in flat.angle_slots()},
                  {name: x[name] for name in joints}, {name: v[name] for name in subject.joint_names},
                  {name: x[name] for name in measured}, {name: v[name] for name in measured}, tuple(flat.slots),
                  sensors)
