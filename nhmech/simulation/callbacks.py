"""Functions that a user passes in: how they are called, and what messages call them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InputError, NhmechError, SimulationError
from .state import ATTRIBUTES, State

HERE = Path(__file__).parent


def check_callable(what: str, value: object, takes: str) -> None:
    """Raises `InputError` unless the value is None or callable."""
    if value is not None and not callable(value):
        raise InputError(f"{what} = {value!r} must be a callable {takes}")


def controller_name(controller: object) -> str:
    """The name of a controller in messages: its own `name`, that of a function, or its class."""
    name = getattr(controller, "name", None)
    if isinstance(name, str):
        return name
    return getattr(controller, "__qualname__", type(controller).__name__).rpartition("<locals>.")[2]


def optional_attribute(controller: object, name: str) -> Any:
    """The attribute (or property) of that name, or None. An error inside a property is raised, even
    an `AttributeError`."""
    try:
        return getattr(controller, name)
    except AttributeError:
        if inspect.getattr_static(controller, name, None) is None:
            return None
        raise


def call(function: Callable, what: str, state: State, takes: str = "(t, state)") -> Any:
    """Calls `function(t, state)`. Raises a `SimulationError` that says what failed, when, and in
    which line of the user's file."""
    try:
        return function(state.t, state)
    except Exception as error:
        raise failure(error, what, state, takes) from error


def failure(error: Exception, what: str, state: State,
            takes: str = "(t, state)") -> SimulationError:
    """The error that `call` raises."""
    if isinstance(error, NhmechError):
        return SimulationError(f"{what} at t = {state.t:.6g} s: {error}")
    return SimulationError(f"{what} raised {type(error).__name__} at t = {state.t:.6g} s: {error}"
                           f"{error_location(error, takes)}")


def error_location(error: Exception, takes: str = "") -> str:
    """The place " (file.py, line 12)" of an error in a user's function; empty if it has no file.
    `takes` says what the function must take, for a `TypeError` of the call itself.

    Names near an attribute that no `State` has are added to the message here, because a
    `__getattr__` of the state would slow down every attribute.
    """
    found = None
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        # without the frames of this package
        if Path(file).parent != HERE:
            found = file, trace.tb_lineno
        trace = trace.tb_next
    if found is None:
        return f"; it must take {takes}" if takes and isinstance(error, TypeError) else ""
    file, line = found
    where = f" ({Path(file).name}, line {line})" if file.endswith(".py") else ""
    if isinstance(error, AttributeError) and isinstance(error.obj, State):
        return f"{where}; a state has {', '.join(ATTRIBUTES)}; x, y and heading are its `pose`"
    return where
