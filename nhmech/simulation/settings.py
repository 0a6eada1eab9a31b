"""The settings of a run, as plain values for its file."""

from __future__ import annotations

import json
import logging
import platform
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

from ..version import __version__
from .callbacks import controller_name, error_location, optional_attribute


def describe_settings(controller: object, dt: float, control_period: float,
                      integrator: str) -> dict[str, Any]:
    """JSON values: dt and control_period [s], integrator, the controller's name, versions, and as
    "path" and "noise" the `path_reference` and the `measurement_noise` of the controller, if it has
    them.

    A value that fails or is not JSON is left out, with a warning; the run goes on.
    """
    versions = {"nhmech": __version__, "pin": pin.__version__, "casadi": ca.__version__,
                "numpy": np.__version__, "python": platform.python_version()}
    name = None if controller is None else controller_name(controller)
    found = {"dt": dt, "control_period": control_period, "integrator": integrator,
             "controller": name, "versions": versions}
    for key, attribute in (("path", "path_reference"), ("noise", "measurement_noise")):
        try:
            value = optional_attribute(controller, attribute)
        except Exception as error:
            _warn(f"{attribute} of {name}",
                  f"it raised {type(error).__name__}: {error}{error_location(error)}")
            continue
        if isinstance(value, dict):
            found |= saveable({key: value}, f"{attribute} of {name}")
    return found


def saveable(values: Mapping[str, Any], what: str = "settings") -> dict[str, Any]:
    """The values as JSON types: NumPy's arrays and numbers become lists and numbers. Values that
    JSON cannot express are left out, with a warning that names them and `what` they belong to."""
    kept = {}
    for name, value in values.items():
        try:
            kept[name] = _as_json(name, value)
        except ValueError as error:
            _warn(what, str(error))
    return kept


def dumps(values: Mapping[str, Any]) -> str:
    """JSON text of the values, with NumPy's arrays and numbers as lists and numbers. Raises a
    `ValueError` that names a value that JSON cannot express."""
    return json.dumps({name: _as_json(name, value) for name, value in values.items()})


def _as_json(name: str, value: object) -> Any:
    """The value as JSON types."""
    try:
        return json.loads(json.dumps(value, default=_plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{name!r} is no JSON ({error})") from error


def _plain(value: object) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {value!r:.80}")


def _warn(what: str, why: str) -> None:
    logging.getLogger("nhmech").warning("%s: %s; the run goes without it", what, why)
