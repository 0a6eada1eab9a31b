"""What a controller may answer."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import SimulationError


class BadCommand(SimulationError):
    """A command that cannot be carried out; the simulator adds whose it is."""


@dataclass(frozen=True)
class JointTorque:
    """Efforts by joint name [N m, N]; driven joints that are not named get none."""

    values: Mapping[str, float]


@dataclass(frozen=True)
class JointVelocity:
    """Wanted rates by joint name [rad/s, m/s]."""

    values: Mapping[str, float]


@dataclass(frozen=True)
class JointPosition:
    """Wanted positions by joint name [rad, m]."""

    values: Mapping[str, float]


NAMED = (JointTorque, JointVelocity, JointPosition)

# Efforts of the driven joints in their order (in kinematic mode: xi), one command, several, or None for nothing
Named = JointTorque | JointVelocity | JointPosition
Command = np.ndarray | Named | Sequence[Named] | None


def controller_name(controller) -> str:
    """How messages call a controller: its own `name`, that of a function, or its class."""
    name = getattr(controller, "name", None)
    if isinstance(name, str):
        return name
    return getattr(controller, "__qualname__", type(controller).__name__).rpartition("<locals>.")[2]


def optional(controller, name: str):
    """What its attribute (or property) of that name says; None where there is no such. What a property raises is raised
    here, an `AttributeError` too."""
    try:
        return getattr(controller, name)
    except AttributeError:
        if inspect.getattr_static(controller, name, None) is None:
            return None
        raise


def raised_in(error: Exception) -> str:
    """" (file.py, line 12)" of an error in somebody's function; nothing where it was not raised in a file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = "" if trace is None else trace.tb_frame.f_code.co_filename
    return f" ({Path(file).name}, line {trace.tb_lineno})" if file.endswith(".py") else ""
