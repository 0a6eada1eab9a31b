"""Who drives a run, along what: the options of `nhmech run` that choose a controller, and what they
come to."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys

import click

from ..errors import ModelError, NhmechError
from .options import PairType, Positive


class ControllerType(click.ParamType):
    """The name of a controller of this package, `module:name`, or `path/to/file.py:name` -> the
    object of that name."""

    name = "NAME|MODULE:NAME"

    def convert(self, value, param, ctx):
        from ..control.registry import controller_class, controller_names

        if value in controller_names():
            return controller_class(value)
        place, colon, name = value.rpartition(":")
        if not (colon and place and name):
            self.fail(f"{value!r}: write one of {', '.join(controller_names())}, or "
                      "module:function, or "
                      "file.py:function", param, ctx)
        try:
            module = self.from_file(place) if place.endswith(".py") else self.from_path(place)
        # whatever stands in there was written by the user
        except Exception as error:
            what = "" if isinstance(error, (ImportError, OSError)) else f"{type(error).__name__}: "
            self.fail(f"{value!r}: {what}{error}", param, ctx)
        if not callable(getattr(module, name, None)):
            there = [key for key,
                     thing in vars(module).items() if callable(thing) and not key.startswith("_")]
            self.fail(f"{value!r}: no function {name!r} in {place}; there are "
                      f"{', '.join(there) or 'none'}", param, ctx)
        return getattr(module, name)

    @staticmethod
    def from_file(place: str):
        # a name that hides no other module
        spec = importlib.util.spec_from_file_location(place, place)
        module = importlib.util.module_from_spec(spec)
        # where dataclasses look up what their annotations mean
        sys.modules[place] = module
        spec.loader.exec_module(module)
        return module

    @staticmethod
    def from_path(place: str):
        if "" not in sys.path:
            sys.path.insert(0, "")  # the current folder, as `python -m` has it
        return importlib.import_module(place)


_OPTIONS = (
    click.option("--controller", type=ControllerType(),
                 help="One of `nhmech controllers`, or yours: called as NAME(t, state); a class is "
                      "first made with the vehicle. Default: a gentle S-curve."),
    click.option("--path", metavar="NAME[:SIZE]|FILE.csv",
                 help="What the controller follows, e.g. figure8, figure8:4 [m] or a file of "
                      "waypoints x, y [m]. Without a size it suits the robot."),
    click.option("--speed", type=Positive(), metavar="M/S", help="How fast the controller drives."),
    click.option("--set", "settings", type=PairType("VALUE", str), multiple=True,
                 help="A parameter of the controller, e.g. lookahead=0.6; repeat."),
)


def driving(command):
    """Adds the options that `drive` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def drive(vehicle, controller, path: str | None, speed: float | None, settings):
    """(controller, path) of a run; the controller is the demonstration where None was asked for.

    Raises
    ------
    ModelError
        For a path or parameters that the controller does not take, and for a class that cannot be
        made with them.
    """
    from ..control.path_choice import read_path, scale
    from ..control.registry import controller_class, controller_parameters, make_controller

    if controller is None:
        if path is not None:
            raise ModelError(f"--path {path}: nothing follows it; choose a --controller, such as "
                             "pure_pursuit")
        controller = controller_class("demo")
    along = None
    if path is not None:
        usual = controller_parameters(controller).get("speed") if inspect.isclass(controller) else None
        usual = (
            usual.default if usual is not None and isinstance(usual.default, (int, float)) else None
        )
        along = read_path(path, scale(vehicle, speed or usual))
    try:
        return make_controller(controller, vehicle, path=along, speed=speed,
                               settings=dict(settings)), along
    except NhmechError:
        raise
    except Exception as error:
        raise ModelError(
            f"{controller.__name__} could not be made: {type(error).__name__}: {error}"
        ) from error


def only_listed(vehicle, wheels) -> str:
    """What to add to an error about a vehicle whose `wheels` somebody listed, and left out what
    looks like one."""
    from ..urdf.notice import NoticeKind

    unlisted = [n for n in vehicle.notices if n.kind is NoticeKind.UNLISTED_WHEEL]
    if not wheels or not unlisted:
        return ""
    touch = "touches" if len(wheels) == 1 else "touch"
    return (f"; --wheel lists all wheels, so only {', '.join(vehicle.contact_names)} {touch} the "
            f"ground; locked, and touching nothing: {', '.join(vehicle.description.locked)}")


def is_ours(controller) -> bool:
    """Whether a controller is one of this package, which work at ten steps a control period."""
    return controller is None or getattr(controller, "__module__", "").startswith("nhmech.control.")


def start_of(controller, path) -> dict:
    """Arguments of `Simulator.reset`: the controller's own `start`, else the path's beginning.

    Raises
    ------
    ModelError
        For a `start` that is no such dict.
    """
    start = getattr(controller, "start", None)
    if start is None:
        return {} if path is None else {"pose": path.start()}
    if not isinstance(start, dict) or not set(start) <= {"pose", "joints", "xi", "q"}:
        raise ModelError(f"the attribute start of {type(controller).__name__} is {start!r}; "
                         "write a dict of pose, joints, xi or q")
    return start


def print_tracking(controller, path, trajectory) -> None:
    """Prints how far from its path a run was: the point that the controller says it tracks, else
    the base's origin."""
    if path is None:
        return
    from ..control.path_reference import describe_lateral, path_error
    from ..control.tracking import Tracker

    lateral = (controller.errors(trajectory)[:, 1] if isinstance(controller, Tracker) else
               path_error(trajectory.simulated.vehicle, trajectory, path).lateral)
    click.echo(f"path     {describe_lateral(lateral)}")
