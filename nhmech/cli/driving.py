"""Controllers for `nhmech run`: the options that choose one, and the controller that they make."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from ..checks import read_word
from ..errors import InputError, NhmechError, did_you_mean, listed
from .completion import complete_controller, complete_path
from .options import Context, PairType, Parameter, Positive, naming, number, option, option_group

if TYPE_CHECKING:
    import numpy as np

    from ..control.path import Path
    from ..simulation.runs.trajectory import Trajectory
    from ..urdf.wheel import Wheel
    from ..vehicle.vehicle import Vehicle


class ControllerType(click.ParamType):
    """The name of a controller of this package, `module:name`, or `path/to/file.py:name` -> the
    object of that name."""

    name = "NAME|MODULE:NAME"

    def convert(self, value: Any, param: Parameter, ctx: Context) -> Any:
        """The function, or the class of a controller."""
        from ..control.registry import controller_class, controller_names

        if value in controller_names():
            return controller_class(value)
        place, colon, name = value.rpartition(":")
        if not (colon and place and name):
            known = controller_names()
            self.fail(f"{value!r}: write one of {listed(known)}, or module:function, or "
                      f"file.py:function{did_you_mean(value, known)}", param, ctx)
        try:
            module = _import_file(place) if place.endswith(".py") else _import_module(place)
        except Exception as error:  # the code was written by the user: anything can happen
            what = "" if isinstance(error, (ImportError, OSError)) else f"{type(error).__name__}: "
            self.fail(f"{value!r}: {what}{error}", param, ctx)
        if not callable(getattr(module, name, None)):
            there = [key for key, thing in vars(module).items()
                     if callable(thing) and not key.startswith("_")]
            self.fail(f"{value!r}: no function {name!r} in {place}; there are {listed(there)}",
                      param, ctx)
        return getattr(module, name)


def _import_file(place: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(place, place)  # a name that hides no module
    if spec is None or spec.loader is None:
        raise ImportError(f"{place} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[place] = module  # where dataclasses look up their annotations
    spec.loader.exec_module(module)
    return module


def _import_module(place: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")  # the current folder, as `python -m` has it
    return importlib.import_module(place)


@dataclass(frozen=True)
class DrivingOptions:
    """The choice of a controller, the path that it follows, its speed and other parameters."""

    controller: Any = option(
        "--controller", type=ControllerType(), shell_complete=complete_controller,
        help="One of `nhmech controllers`, or your own: it is called as NAME(t, state); a class is "
             "first constructed with the vehicle. Default of `nhmech run`: a gentle S-curve.")
    path: str | None = option(
        "--path", metavar="NAME[:SIZE]|FILE.csv", shell_complete=complete_path,
        help="What the controller follows, e.g. figure8, figure8:4 [m] or a file of waypoints x, y "
             "[m]. The default size suits the robot.")
    speed: float | None = option(
        "--speed", type=Positive(), metavar="M/S", help="How fast the controller drives.")
    settings: tuple[tuple[str, str], ...] = option(
        "--set", type=PairType("VALUE", str), multiple=True,
        help="A parameter of the controller, e.g. lookahead=0.6; repeat.")
    noise: tuple[tuple[str, float], ...] = option(
        "--noise", type=PairType("DEVIATION", number), multiple=True,
        help="Gaussian noise on what the controller sees, e.g. position=0.01 [m], heading=1deg, "
             "joint_velocity=0.05; seed=1 draws other values; repeat. See "
             "`nhmech.control.MeasurementNoise` for the names.")
    delay: float | None = option(
        "--delay", type=Positive(), metavar="SECONDS",
        help="Time from the measurement to the motors' response.")

    @property
    def is_ours(self) -> bool:
        """Whether it is a controller of this package; those are asked a hundred times a second."""
        module = getattr(self.controller, "__module__", None) or ""      # None where exec made it
        return self.controller is None or module.startswith("nhmech.control.")


driving_options = option_group("driving", DrivingOptions)


@dataclass(frozen=True)
class Driver:
    """The controller of a run, and the path that it follows."""

    controller: Any  # the controller itself
    path: Path | None  # the path that it follows
    in_loop: Any  # the controller with the noise and the delay that it meets

    @property
    def followed_path(self) -> Path | None:
        """The controller's own path, if it has one."""
        return getattr(self.controller, "path", self.path)

    def start(self) -> dict[str, Any]:
        """Arguments of `Simulator.reset`: the controller's own, or the path's beginning."""
        start = getattr(self.controller, "start", None)
        if start is None:
            return {} if self.path is None else {"pose": self.path.start()}
        if not isinstance(start, dict) or not set(start) <= {"pose", "joints", "xi", "q"}:
            name = type(self.controller).__name__
            raise InputError(f"the attribute start of {name} is {start!r}; write a dict of pose, "
                             "joints, xi or q")
        return start

    def print_tracking(self, trajectory: Trajectory) -> np.ndarray | None:
        """Print how far from its path a run was; returns `lateral_error`."""
        lateral = self.lateral_error(trajectory)
        if lateral is not None:
            from ..control.path_reference import describe_lateral

            click.echo(f"path     {describe_lateral(lateral)}")
        return lateral

    def lateral_error(self, trajectory: Trajectory) -> np.ndarray | None:
        """Distance from its path [m] of each recorded state, of the point that the controller says
        it tracks, else of the base's origin; None without a path."""
        if self.path is None:
            return None
        from ..control.path_reference import path_error
        from ..control.tracking import Tracker

        if isinstance(self.controller, Tracker):
            return self.controller.errors(trajectory)[:, 1]
        vehicle = trajectory.simulated.vehicle
        assert vehicle is not None
        error = path_error(vehicle, trajectory, self.path)
        assert error is not None  # a path was given
        return error.lateral


def make_driver(vehicle: Vehicle, options: DrivingOptions) -> Driver:
    """The controller that the options choose; the demonstration if they choose none."""
    from ..control.demo import DemoDrive
    from ..control.registry import controller_class, controller_parameters, make_controller

    controller, path = options.controller, None
    if controller is None:
        if options.path is not None:
            raise InputError(f"--path {options.path}: no controller follows it; choose one with "
                             "--controller, such as pure_pursuit")
        controller = controller_class("demo")
    if options.path is not None:
        speed = options.speed
        if speed is None and inspect.isclass(controller):
            known = controller_parameters(controller).get("speed")
            speed = known.default if known and isinstance(known.default, (int, float)) else None
        path = read_path_option(vehicle, options.path, speed)
    try:
        made = make_controller(controller, vehicle, path=path, speed=options.speed,
                               settings=dict(options.settings))
    except NhmechError:
        raise
    except Exception as error:
        raise InputError(f"{controller.__name__} could not be made: {type(error).__name__}: "
                         f"{error}") from error
    if isinstance(made, DemoDrive) and made.commanded_twist is None:
        rates = listed(f"{name} {rate:.3g}" for name, rate in made.start["xi"].items() if rate)
        click.echo(f"notice   no twist drives it: pushed off at {rates}, it coasts", err=True)
    return Driver(made, path, add_imperfections(made, options))


def add_imperfections(controller: Any, options: DrivingOptions) -> Any:
    """The controller with measurement noise and delayed commands. Raises `InputError` for noise on
    a quantity that does not exist."""
    if options.noise:
        from ..control.measurement import MeasurementNoise

        # a seed that is whole is a count
        sizes: dict[str, Any] = {name: int(size) if name == "seed" and size.is_integer() else size
                                 for name, size in options.noise}
        known = [name for name in inspect.signature(MeasurementNoise.__init__).parameters
                 if name not in ("self", "controller")]
        with naming("--noise", options.noise):
            for name in sizes:
                read_word("noise", name, known)
            controller = MeasurementNoise(controller, **sizes)
    if options.delay is not None:
        from ..control.combinators import Delay

        controller = Delay(controller, options.delay)
    return controller


def read_path_option(vehicle: Vehicle, text: str, speed: float | None = None) -> Path:
    """The path that `--path` names, in a size that suits the vehicle."""
    from ..control.path_choice import read_path, scale

    return read_path(text, scale(vehicle, speed))


def only_listed(vehicle: Vehicle, wheels: Sequence[Wheel]) -> str:
    """The addition to an error about a vehicle whose listed `wheels` leave out a part that looks
    like a wheel."""
    from ..urdf.notice import NoticeKind

    if not wheels or not any(n.kind is NoticeKind.UNLISTED_WHEEL for n in vehicle.notices):
        return ""
    touch = "touches" if len(wheels) == 1 else "touch"
    return (f"; --wheel lists all wheels, so only {', '.join(vehicle.contact_names)} {touch} the "
            f"ground; locked, without contact: {', '.join(vehicle.description.locked)}")
