"""Arguments and options of several commands, and the types that read them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import wraps
from math import radians
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..checks import LARGEST_NUMBER
from ..errors import InputError, NhmechError, did_you_mean, listed
from ..once import cached_property

if TYPE_CHECKING:
    from ..urdf.wheel import Wheel
    from ..vehicle.ground import Ground
    from ..vehicle.vehicle import Vehicle

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
Parameter = click.Parameter | None
Context = click.Context | None


def number(text: str) -> float:
    """A float; `45deg` is 45 degrees in radians."""
    return radians(float(text[:-3])) if text.endswith("deg") else float(text)


class Typed(tuple[float, ...]):
    """Numbers, and the words in which they were given."""

    words: str

    @classmethod
    def of(cls, numbers: Iterable[float], words: str) -> Typed:
        """Numbers from the words of the command line."""
        made = cls(numbers)
        made.words = words
        return made


class Positive(click.ParamType):
    """A positive, finite number; the option's `metavar` names its unit."""

    name = "NUMBER"

    def convert(self, value: Any, param: Parameter, ctx: Context) -> float:
        """The number."""
        try:
            value = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if not 0 < value < LARGEST_NUMBER:
            self.fail(f"{value} must be positive and finite", param, ctx)
        return value


class IntegratorType(click.ParamType):
    """A name that `Simulator(integrator=...)` accepts. The schemes are imported when they are first
    needed."""

    name = "NAME"

    @cached_property
    def _choice(self) -> click.Choice:
        from ..simulation.integration.schemes import SCHEMES

        return click.Choice([*SCHEMES, "auto"])

    def convert(self, value: Any, param: Parameter, ctx: Context) -> str:
        """The name."""
        return self._choice.convert(value, param, ctx)

    def get_metavar(self, *given: Any, **named: Any) -> str | None:
        """The names, for the help text."""
        return self._choice.get_metavar(*given, **named)

    def shell_complete(self, *given: Any, **named: Any) -> list[Any]:
        """The names that complete a word."""
        return self._choice.shell_complete(*given, **named)


class WheelType(click.ParamType):
    """`joint=left_wheel,kind=disc,radius=0.1` -> `Wheel`; vectors are three numbers separated by
    spaces."""

    name = "KEY=VALUE,..."

    def convert(self, value: Any, param: Parameter, ctx: Context) -> Wheel:
        """The wheel."""
        from ..urdf.wheel import Wheel

        valid = [f.name for f in fields(Wheel)]
        given: dict[str, Any] = {}
        for item in value.split(","):
            key, equals, word = (part.strip() for part in item.partition("="))
            if not equals or key not in valid:
                self.fail(f"{item!r}: write KEY=VALUE with one of the keys {', '.join(valid)}",
                          param, ctx)
            try:
                given[key] = self.read(key, word)
            except ValueError as error:
                holders = [part for part in word.split() if part in ("HEIGHT", "RADIUS")]
                reason = (f"{holders[0]} stands for a number in metres that the file does not "
                          "hold; write it" if holders else str(error))
                self.fail(f"{item!r}: {reason}", param, ctx)
        try:
            return Wheel(**{"joint": None, **given})
        except InputError as error:
            self.fail(error.command_line, param, ctx)

    @staticmethod
    def read(key: str, word: str) -> Any:
        """The value of one word. Raises `ValueError` for an invalid one."""
        if key in ("joint", "kind", "link", "law", "tyre"):
            return word
        if key == "driven":
            if word.lower() not in ("true", "false", "yes", "no"):
                raise ValueError("driven is true or false")
            return word.lower() in ("true", "yes")
        if key in ("axis", "point"):
            vector = tuple(float(part) for part in word.split())
            if len(vector) != 3:
                raise ValueError(f"{key} must be three numbers separated by spaces")
            return vector
        return number(word)


class PairType(click.ParamType):
    """`NAME=VALUE` -> (name, value)."""

    def __init__(self, value_name: str, read: Callable[[str], Any]):
        self.name = f"NAME={value_name}"
        self.read = read

    def convert(self, value: Any, param: Parameter, ctx: Context) -> tuple[str, Any]:
        """Name and value."""
        name, equals, word = value.partition("=")
        if not (equals and name and word):
            self.fail(f"{value!r}: write {self.name}", param, ctx)
        try:
            return name, self.read(word)
        except ValueError as error:
            self.fail(f"{value!r}: {error}", param, ctx)


class ArgumentType(click.ParamType):
    """`NAME:=VALUE`, as xacro has it -> (name, value)."""

    name = "NAME:=VALUE"

    def convert(self, value: Any, param: Parameter, ctx: Context) -> tuple[str, str]:
        """Name and value."""
        name, equals, word = value.partition(":=")
        if not (equals and name):
            self.fail(f"{value!r}: write {self.name}", param, ctx)
        return name, word


class SkidType(click.ParamType):
    """`mid-axle`, `coulomb`, a track factor, or names of wheels."""

    name = "mid-axle|coulomb|FACTOR|WHEEL,..."

    def convert(self, value: Any, param: Parameter, ctx: Context) -> Any:
        """Arguments of `load`."""
        if value in ("mid-axle", "coulomb"):
            return value
        try:
            return float(value)
        except ValueError:
            return tuple(word.strip() for word in value.split(","))


class OutputFile(click.Path):
    """A file to write, with one of some endings; a folder that cannot be written in is refused
    before hours of simulation are spent."""

    def __init__(self, *suffixes: str):
        super().__init__(dir_okay=False, path_type=Path)
        self.suffixes = suffixes

    def convert(self, value: Any, param: Parameter, ctx: Context) -> Path:
        """The file."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"{str(path)!r}: the folder {str(path.parent)!r} does not exist", param, ctx)
        if not os.access(path.parent, os.W_OK | os.X_OK):
            self.fail(f"{str(path)!r}: no permission to write to the folder {str(path.parent)!r}",
                      param, ctx)
        if path.suffix not in self.suffixes:
            endings = ("one of " if len(self.suffixes) > 1 else "") + listed(self.suffixes)
            self.fail(f"{str(path)!r}: the name must end in {endings}", param, ctx)
        return path


def output_option(*suffixes: str, help: str, required: bool = False) -> Decorator:
    """The option for the output file of a command."""
    return click.option("-o", "--output", type=OutputFile(*suffixes), required=required, help=help,
                        metavar="FILE" + (suffixes[0] if len(suffixes) == 1 else ""))


def option(*flags: str, **settings: Any) -> Any:
    """A field of a group of options, with the arguments of the `click.option` of its name."""
    nothing = () if settings.get("multiple") else False if settings.get("is_flag") else None
    # click's own for --on/--off is to be off
    # a default, None too, is a value to click: an option with one is never missing
    default = {} if settings.get("required") else {"default": nothing}
    return field(default=nothing, metadata={"flags": flags, "settings": default | settings})


def option_group(name: str, group: type) -> Decorator:
    """A decorator that adds the options of the dataclass `group`, and passes their values to the
    command as one argument, `name`."""
    options = fields(group)

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run_with_group(**values: Any) -> Any:
            chosen = group(**{option.name: values.pop(option.name) for option in options})
            return command(**values, **{name: chosen})

        decorated: Command = run_with_group
        for option in reversed(options):
            flags, settings = option.metadata["flags"], option.metadata["settings"]
            decorated = click.option(*flags, option.name, **settings)(decorated)
        return decorated

    return decorate


@dataclass(frozen=True)
class RobotOptions:
    """The arguments of `load` besides the robot's file."""

    wheels: tuple[Wheel, ...] = option(
        "--wheel", type=WheelType(), multiple=True, metavar="KEY=VALUE,...",
        help="A wheel, e.g. 'joint=left,kind=disc,radius=0.1'; repeat. These wheels replace all "
             "that the file names or that would be found: list every wheel that touches the "
             "ground, casters too.")
    skid: Any = option(
        "--skid", type=SkidType(),
        help="For wheels that cannot all roll in a turn: 'mid-axle', a track factor, the wheels "
             "that may slide sideways, or 'coulomb' for friction (with --mu and --on-slip go-on).")
    free: tuple[str, ...] = option(
        "--free", multiple=True, metavar="JOINT",
        help="Release a joint that would be locked; repeat.")
    locked: tuple[tuple[str, float], ...] = option(
        "--lock", type=PairType("POSITION", number), multiple=True,
        help="Hold a joint at a position [rad or m; 30deg]; repeat.")
    speeds: tuple[str, ...] = option(
        "--independent", multiple=True, metavar="SPEED",
        help="Use this independent speed instead of the automatic choice; repeat.")
    packages: tuple[tuple[str, Path], ...] = option(
        "--package", type=PairType("FOLDER", Path), multiple=True,
        help="Folder of package://NAME/, for meshes; repeat.")
    arguments: tuple[tuple[str, str], ...] = option(
        "--arg", type=ArgumentType(), multiple=True, help="Argument for a xacro file; repeat.")
    repair: bool = option(
        "--repair", is_flag=True,
        help="Repair a faulty file: XML mistakes, impossible inertias, wheels without mass, "
             "reversed or negative limits. Each repair is printed.")
    tyres: str | None = option(
        "--tyres", metavar="TYRE",
        help="Put slipping tyres on all wheels that can have them: the name of a set such as "
             "passenger_car, or 'passenger_car lateral.friction=0.8'.")

NO_OPTIONS = RobotOptions()

robot_options = option_group("robot", RobotOptions)


@contextmanager
def naming(flag: str, value: tuple | None) -> Iterator[None]:
    """Errors of the block begin with the option, if it was given."""
    try:
        yield
    except NhmechError as error:
        if value:
            error.text = f"{flag} {_as_typed(value)}: {error.text}"
        raise


def _as_typed(value: tuple) -> str:
    """Numbers, or pairs of names and numbers, nearly as they were typed."""
    if isinstance(value, Typed):
        return value.words
    return ",".join(f"{one[0]}={one[1]:g}" if isinstance(one, tuple) else f"{one:g}"
                    for one in value)


# how fast a run is played; the flags are the command's own
PLAYBACK: dict[str, Any] = {
    "type": Positive(), "metavar": "FACTOR", "default": 1.0, "show_default": True,
    "help": "Playback speed in the browser; 1 is real time. The HTML file has its own control."}


def find_robot(file: str) -> Path:
    """A path as it is, or the URDF of a shipped robot by its name."""
    from ..paths import urdf_names, urdf_path
    from ..systems import system_names

    if Path(file).is_file():
        return Path(file)
    if file in urdf_names():
        return urdf_path(file)
    if file in system_names():
        raise InputError(f"{file} is a textbook system, which has no URDF: try `nhmech systems "
                         f"run {file}`")
    raise InputError(f"{file}: no such file, and no shipped robot of that name; shipped are "
                     f"{listed(urdf_names())}{did_you_mean(file, urdf_names())}")


def load_robot(file: str, options: RobotOptions = NO_OPTIONS,
               ground: Ground | None = None) -> Vehicle:
    """`nhmech.load` with the values of the options; level ground if None."""
    path = find_robot(file)

    from ..vehicle.ground import Ground
    from ..vehicle.load import load

    return load(path, ground=ground or Ground(), wheels=list(options.wheels) or None,
                free=options.free, locked=dict(options.locked), skid=options.skid,
                speeds=options.speeds or None,
                packages={name: str(folder) for name, folder in options.packages},
                arguments=dict(options.arguments), repair=options.repair, tyres=options.tyres)
