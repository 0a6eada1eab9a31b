"""How a run is made, as plain values that go into its file."""

from __future__ import annotations

import json
import logging
import platform

import casadi as ca
import numpy as np
import pinocchio as pin

from ..version import __version__
from .command import controller_name, optional, raised_in


def settings_of(simulator) -> dict:
    """JSON values: dt and control_period [s], integrator, controller's name, versions, and as
    "path" what the controller's attribute `path_reference` says that it follows, if it has one. A
    `path_reference` that fails or is no JSON costs no run: it is left out, and a warning says
    so."""
    controller = simulator.controller
    versions = {"nhmech": __version__, "pin": pin.__version__, "casadi": ca.__version__,
                "numpy": np.__version__, "python": platform.python_version()}
    name = None if controller is None else controller_name(controller)
    found = {"dt": simulator.dt, "control_period": simulator.dt * simulator.control_every,
             "integrator": simulator.primary.scheme.name, "controller": name, "versions": versions}
    try:
        path = optional(controller, "path_reference")
    except Exception as error:
        _left_out(f"path_reference of {name}",
                  f"it raised {type(error).__name__}: {error}{raised_in(error)}")
        return found
    if not isinstance(path, dict):
        return found
    return found | saveable({"path": path}, f"path_reference of {name}")


def saveable(values: dict, what: str = "settings") -> dict:
    """The values as JSON has them: arrays and numbers of NumPy as lists and numbers. Those that
    JSON has no words for are left out, with a warning that names them and `what` they are of."""
    kept = {}
    for name, value in values.items():
        try:
            kept[name] = _as_json(name, value)
        except ValueError as error:
            _left_out(what, str(error))
    return kept


def dumps(values: dict) -> str:
    """JSON text of the values: arrays and numbers of NumPy as lists and numbers. Raises
    `ValueError` that names the one that JSON has no words for."""
    return json.dumps({name: _as_json(name, value) for name, value in values.items()})


def _as_json(name: str, value):
    """The value as it will be read back."""
    try:
        return json.loads(json.dumps(value, default=_plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{name!r} is no JSON ({error})") from error


def _plain(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {value!r:.80}")


def _left_out(what: str, why: str) -> None:
    logging.getLogger("nhmech").warning("%s: %s; the run goes without it", what, why)
