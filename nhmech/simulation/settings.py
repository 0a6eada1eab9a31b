"""How a run is made, as plain values that go into its file."""

from __future__ import annotations

import platform

import casadi as ca
import numpy as np
import pinocchio as pin

from ..version import __version__
from .command import controller_name


def settings_of(simulator) -> dict:
    """JSON values: dt and control_period [s], integrator, controller's name, versions, and as "path" what the controller's attribute
    `path_reference` says that it follows, if it has one."""
    controller = simulator.controller
    versions = {"nhmech": __version__, "pin": pin.__version__, "casadi": ca.__version__,
                "numpy": np.__version__, "python": platform.python_version()}
    found = {"dt": simulator.dt, "control_period": simulator.dt * simulator.control_every, "integrator": simulator.primary.integrator,
             "controller": None if controller is None else controller_name(controller), "versions": versions}
    path = getattr(controller, "path_reference", None)
    return found | {"path": path} if isinstance(path, dict) else found
