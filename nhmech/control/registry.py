"""Controllers by name, and how words of a command line become their parameters.

A controller class is `Name(vehicle, path_or_twist..., *, speed=..., gain=...)`. Parameters called
`vehicle`, `path`, `speed` and `twist` are filled from what a run is about; every other one can be
set by name. An attribute `start` of the controller, where there is one, holds the arguments of
`Simulator.reset` that go with it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from ..errors import ModelError

# name -> module of this package : class; the first line of the class docstring says what it is
CONTROLLERS: dict[str, str] = {
    "demo": "demo:DemoDrive",
    "twist": "twist:TwistDrive",
    "wheel_servo": "wheel_servo:WheelServo",
    "balance": "balance:Balance",
    "bicycle": "bicycle:BicycleBalance",
    "trailer_backing": "trailer_backing:TrailerBacking",
    "trailer_flatness": "trailer_flatness:TrailerFlatness",
    "lqr": "lqr:LQR",
    "pure_pursuit": "pure_pursuit:PurePursuit",
    "stanley": "stanley:Stanley",
    "kanayama": "kanayama:Kanayama",
    "feedback_linearisation": "feedback_linearisation:FeedbackLinearisation",
    "polar": "polar:Polar",
    "mpc": "mpc:MPC",
}

GIVEN = ("vehicle", "path", "speed", "twist")      # filled by a run, not by a setting
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a controller; `default` is `inspect.Parameter.empty` where it must be
    given."""

    name: str
    default: object
    annotation: str = ""

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def settable(self) -> bool:
        """Whether a word can be its value: not where only an object can, such as a callable."""
        return self._kind is not None

    def read(self, text: str):
        """The value of a word, of the default's type, else of the annotation's; vectors are numbers
        with commas.

        Raises
        ------
        ModelError
            The message names the parameter.
        """
        kind = self._kind
        try:
            if kind is bool:
                if text.lower() not in TRUE + FALSE:
                    raise ValueError("write true or false")
                return text.lower() in TRUE
            value = (
                tuple(float(part) for part in text.replace(",", " ").split())
                if kind is tuple
                else kind(text)
            )
            if any(number != number for number in (value if kind is tuple else (value,))):
                raise ValueError("not a number")
            return value
        except ValueError as error:
            wanted = {bool: "true or false", int: "a whole number", float: "a number",
                      tuple: "numbers with commas between them"}[kind]
            raise ModelError(f"{self.name}={text}: {self.name} is {wanted}") from error

    @property
    def _kind(self) -> Callable | None:
        if isinstance(self.default, (bool, int, float, str)):
            return type(self.default)
        if isinstance(self.default, (tuple, list)) or hasattr(self.default, "shape"):
            return tuple
        words = {"Sequence": tuple, "tuple": tuple, "ndarray": tuple, "bool": bool, "float": float,
                 "int": int, "str": str}
        for word, kind in words.items():
            if word in self.annotation:
                return kind
        return None if self.annotation else _any


def _any(text: str):
    """A number or a vector where it reads as one, the word itself otherwise."""
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        return text
    return numbers if len(numbers) > 1 else numbers[0]


def controller_names() -> tuple[str, ...]:
    """Names of the controllers of this package, as on the command line."""
    return tuple(CONTROLLERS)


def controller_class(name: str) -> type:
    """The class of a controller of this package, by its name on the command line.

    Parameters
    ----------
    name
        One of `controller_names`.

    Raises
    ------
    ModelError
        For an unknown name; the message lists the known ones.
    """
    if name not in CONTROLLERS:
        raise ModelError(f"no controller {name!r}; there are {', '.join(CONTROLLERS)}")
    module, _, attribute = CONTROLLERS[name].partition(":")
    return getattr(import_module(f".{module}", __package__), attribute)


def one_line(controller) -> str:
    """First line of the docstring."""
    return (inspect.getdoc(controller) or "").partition("\n")[0]


def parameters(controller) -> dict[str, Parameter]:
    """Parameters of a controller class by name, `vehicle` and the like included; `ModelError` if it
    does not tell."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    try:
        signature = inspect.signature(controller)
    except ValueError as error:
        what = _name(controller)
        raise ModelError(f"{what} does not say what it takes: write a class with an __init__ in "
                         "Python") from error
    return {p.name: Parameter(p.name, p.default,
                              "" if p.annotation is inspect.Parameter.empty else str(p.annotation))
            for p in signature.parameters.values() if p.kind not in kinds}


def settable(controller) -> dict[str, Parameter]:
    """Parameters that can be set by a word."""
    known = parameters(controller)
    return {key: parameter for key,
            parameter in list(known.items())[1:] if key not in GIVEN and parameter.settable}


def make_controller(controller, vehicle, *, path=None, speed: float | None = None,
                    settings: Mapping[str, str] = {}):
    """The controller of a run.

    Parameters
    ----------
    controller
        A class, made with the vehicle and whatever of the following it takes; anything else is
        called as it is.
    path
        `path_library.Path`.
    speed
        [m/s]; for a controller that follows a `twist`, straight ahead.
    settings
        Further parameters by name, as words.

    Raises
    ------
    ModelError
        For parameters that the controller does not have, that it misses, or whose value cannot be
        read.
    """
    if not inspect.isclass(controller):
        for what, given in (("path", path is not None), ("speed", speed is not None),
                            ("settings", bool(settings))):
            if given:
                raise ModelError(f"{_name(controller)} is a function (t, state): it takes no "
                                 f"{what}; write a class to have some")
        return controller
    known, name = parameters(controller), controller.__name__
    first = next(iter(known), None)
    filled: dict[str, object] = {}
    open_ = settable(controller)
    if path is not None:
        if "path" not in known:
            raise ModelError(f"{name} follows no path: leave it out. It takes {_listed(known)}")
        filled["path"] = path
    if speed is not None:
        if "speed" in known:
            filled["speed"] = speed
        elif "twist" in known and "twist" not in settings:
            filled["twist"] = (speed, 0.0, 0.0)
        else:
            raise ModelError(f"{name} takes no speed. It takes {_listed(known)}")
    for key, text in settings.items():
        if key == "twist" and key in known:
            filled[key] = _twist(text)
        elif key in open_:
            filled[key] = open_[key].read(text)
        else:
            raise ModelError(f"{name} has no parameter {key!r} to set; there are "
                             f"{', '.join(open_) or 'none'}")
    missing = [key for key, parameter in known.items() if key not in filled and key != first
               and (parameter.required or (key == "twist" and parameter.default is None))]
    if missing:
        said = {"path": "a path (--path)", "twist": "a speed (--speed), or a twist",
                "speed": "a speed (--speed)"}
        raise ModelError(f"{name} needs {' and '.join(said.get(key, key) for key in missing)}")
    return controller(vehicle, **filled) if first is not None else controller(**filled)


def _twist(text: str) -> tuple[float, float, float]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) != 3:
        raise ModelError(f"twist={text}: write three numbers, forward [m/s], lateral [m/s], yaw "
                         "rate [rad/s], with commas between them")
    return values


def _listed(known: Mapping[str, Parameter]) -> str:
    return ", ".join(list(known)[1:]) or "nothing but the vehicle"


def _name(controller) -> str:
    return getattr(controller, "__qualname__", type(controller).__name__)
