"""Controllers by name, and their parameters from words of a command line.

A controller class is `Name(vehicle, path_or_twist..., *, speed=..., gain=...)`. Parameters called
`vehicle`, `path`, `speed` and `twist` are filled from what a run is about; every other one can be
set by name. An attribute `start` of the controller, where there is one, holds the arguments of
`Simulator.reset` that go with it.

A new controller is a module of this package and one entry in `CONTROLLERS`; the command line, the
reference and the contract tests find it there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..checks import check_arguments, read_word
from ..errors import InputError, Remedy, did_you_mean, listed
from ..simulation.command import Controller
from ..vehicle.vehicle import Vehicle
from .path import Path

# module of this package -> class in it; the first line of the class docstring says what it is
CONTROLLERS: dict[str, str] = {
    "demo": "DemoDrive",
    "twist": "TwistDrive",
    "wheel_servo": "WheelServo",
    "balance": "Balance",
    "bicycle": "BicycleBalance",
    "trailer_backing": "TrailerBacking",
    "trailer_flatness": "TrailerFlatness",
    "lqr": "LQR",
    "pure_pursuit": "PurePursuit",
    "stanley": "Stanley",
    "kanayama": "Kanayama",
    "feedback_linearisation": "FeedbackLinearisation",
    "polar": "Polar",
    "mpc": "MPC",
}

FILLED = ("vehicle", "path", "speed", "twist")      # by a run, not by a setting
# how messages call a parameter that is missing, and what gives it
NEEDED = {"path": ("a path", Remedy("Give path=", "Give --path")),
          "speed": ("a speed", Remedy("Give speed=", "Give --speed")),
          "twist": ("a speed or a twist", Remedy("Give speed=, or twist in settings=",
                                                 "Give --speed, or --set twist=..."))}
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a controller; `default` is `inspect.Parameter.empty` if it is required."""

    name: str
    default: object
    annotation: str = ""

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def settable(self) -> bool:
        """Whether its value can be given as a word; a callable, for example, cannot."""
        return self._reader is not None

    def read(self, text: str) -> Any:
        """The value of a word, of the default's type, else of the annotation's; vectors are numbers
        with commas.
        """
        reader = self._reader
        if reader is None:
            raise InputError(f"{self.name} cannot be set on the command line; set it in Python")
        read, expected = reader
        try:
            return read(text)
        except ValueError as error:
            raise InputError(f"{self.name}={text}: {self.name} is {expected}") from error

    @property
    def _reader(self) -> Reader | None:
        for kind in (bool, int, float, str):
            if isinstance(self.default, kind):
                return READERS[kind.__name__]
        if isinstance(self.default, (tuple, list)) or hasattr(self.default, "shape"):
            return READERS["tuple"]
        for word, reader in READERS.items():
            if word in self.annotation:
                return reader
        return None if self.annotation else (_read_any, "a word")


def _read_bool(text: str) -> bool:
    if text.lower() not in TRUE + FALSE:
        raise ValueError("write true or false")
    return text.lower() in TRUE


def _read_float(text: str) -> float:
    value = float(text)
    if value != value:
        raise ValueError("not a number")
    return value


def _read_vector(text: str) -> tuple[float, ...]:
    return tuple(_read_float(part) for part in text.replace(",", " ").split())


def _read_any(text: str) -> Any:
    """A number or a vector if the word can be read as one, else the word itself."""
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        return text
    return numbers if len(numbers) > 1 else numbers[0]


# what reads a word, and what it expects
Reader = tuple[Callable[[str], Any], str]
# by a part of the annotation, the first that is found
READERS: dict[str, Reader] = {
    **dict.fromkeys(("Sequence", "tuple", "ndarray"),
                    (_read_vector, "numbers separated by commas")),
    "bool": (_read_bool, "true or false"),
    "float": (_read_float, "a number"),
    "int": (int, "a whole number"),
    "str": (str, "a word"),
}


def controller_names() -> tuple[str, ...]:
    """Names of the controllers of this package, as on the command line.

    Examples
    --------
    >>> controller_names()[:3]
    ('demo', 'twist', 'wheel_servo')
    """
    return tuple(CONTROLLERS)


@check_arguments
def controller_class(name: str) -> type:
    """The class of a controller of this package, by its name on the command line.

    Parameters
    ----------
    name
        One of `controller_names`.

    Raises
    ------
    InputError
        For an unknown name; the message lists the known ones.
    """
    read_word("controller", name, CONTROLLERS)
    return getattr(import_module(f".{name}", __package__), CONTROLLERS[name])


def one_line(controller: object) -> str:
    """First line of the docstring."""
    return (inspect.getdoc(controller) or "").partition("\n")[0]


def controller_parameters(controller: Callable) -> dict[str, Parameter]:
    """Parameters of a controller class by name, `vehicle` and the like included."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    try:
        signature = inspect.signature(controller)
    except ValueError as error:
        raise InputError(f"{_name(controller)} has no signature: write it as a Python class with "
                         "an __init__") from error
    return {p.name: Parameter(p.name, p.default,
                              "" if p.annotation is inspect.Parameter.empty else str(p.annotation))
            for p in signature.parameters.values() if p.kind not in kinds}


def settable_parameters(controller: Callable) -> dict[str, Parameter]:
    """Parameters that can be set by a word."""
    known = list(controller_parameters(controller).items())
    return {key: parameter for key, parameter in known[1:]
            if key not in FILLED and parameter.settable}


def make_controller(controller: type | Controller, vehicle: Vehicle, *, path: Path | None = None,
                    speed: float | None = None,
                    settings: Mapping[str, str] | None = None) -> Controller:
    """The controller of a run: a class is constructed with the vehicle and the other arguments that
    it takes; anything else is used as it is.

    `speed` [m/s] is straight ahead for a controller that follows a `twist`; `settings` are further
    parameters by name, as words.
    """
    settings = settings or {}
    if not isinstance(controller, type):
        for what, given in (("path", path), ("speed", speed), ("settings", settings or None)):
            if given is not None:
                raise InputError(f"{_name(controller)} is a function (t, state): it takes no "
                                 f"{what}; write a class to have some")
        return controller
    known = controller_parameters(controller)
    arguments = (_fill(controller, known, path, speed, settings)
                 | _read_settings(controller, known, settings))
    first = next(iter(known), None)
    missing = [key for key, parameter in known.items() if key not in arguments and key != first
               and (parameter.required or (key == "twist" and parameter.default is None))]
    if missing:
        needed = [NEEDED[key][0] if key in NEEDED else key for key in missing]
        raise InputError(f"{controller.__name__} needs {' and '.join(needed)}",
                         NEEDED[missing[0]][1] if missing[0] in NEEDED else None)
    return controller(*(() if first is None else (vehicle,)), **arguments)


def _fill(controller: type, known: Mapping[str, Parameter], path: Path | None, speed: float | None,
          settings: Collection[str]) -> dict[str, Any]:
    """Arguments from the vehicle, path, speed and twist of a run."""
    name = controller.__name__
    arguments: dict[str, Any] = {}
    takes = ", ".join(list(known)[1:]) or "nothing but the vehicle"
    if path is not None:
        if "path" not in known:
            raise InputError(f"{name} follows no path: leave it out. It takes {takes}")
        arguments["path"] = path
    if speed is not None:
        if "speed" in known:
            arguments["speed"] = speed
        elif "twist" in known and "twist" not in settings:
            arguments["twist"] = (speed, 0.0, 0.0)
        else:
            raise InputError(f"{name} takes no speed. It takes {takes}")
    return arguments


def _read_settings(controller: type, known: Mapping[str, Parameter],
                   settings: Mapping[str, str]) -> dict[str, Any]:
    """Arguments from words."""
    settable, arguments = settable_parameters(controller), {}
    for key, text in settings.items():
        if key == "twist" and key in known:
            arguments[key] = _read_twist(text)
        elif key in settable:
            arguments[key] = settable[key].read(text)
        else:
            there = [*settable, *(["twist"] if "twist" in known else [])]
            raise InputError(f"{controller.__name__} has no parameter {key!r} to set; there are "
                             f"{listed(there)}{did_you_mean(key, there)}")
    return arguments


def _read_twist(text: str) -> tuple[float, float, float]:
    try:
        forward, lateral, turn = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"twist={text}: write three numbers, forward [m/s], lateral [m/s], yaw "
                         "rate [rad/s], with commas between them") from error
    return forward, lateral, turn


def _name(controller: object) -> str:
    return getattr(controller, "__qualname__", type(controller).__name__)
