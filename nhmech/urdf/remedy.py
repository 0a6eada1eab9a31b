"""Suggestions to the user: options of `load` in Python and on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from shlex import quote
from typing import Any

from ..errors import Remedy
from .wheel import Wheel

WheelFields = Mapping[str, object]   # fields of a `Wheel` that are worth typing


class Blank(Enum):
    """A number that the file does not hold; the user puts it in the place of the word."""

    RADIUS = "RADIUS"
    HEIGHT = "HEIGHT"


def suggest(*parts: str | Remedy) -> Remedy:
    """Text and options, one after the other, in both languages."""
    return Remedy("".join(part if isinstance(part, str) else part.python for part in parts),
                  "".join(part if isinstance(part, str) else part.command for part in parts))


def option(name: str, value: Any) -> Remedy:
    """A keyword of `load` with its value, in both languages. `name`: one of `OPTIONS`. `value`: as
    `load` takes it; wheels may be `Wheel` or `WheelFields`."""
    python, command = OPTIONS[name]
    return Remedy(f"{name}={python(value)}", command(value))


def ask_for_packages(names: Iterable[str | None]) -> list[str | Remedy]:
    """The options with which missing meshes of packages are found; None for plain paths."""
    packages = dict.fromkeys((name for name in names if name is not None), "FOLDER")
    if not packages:
        return []
    return ["Say where the meshes are: ", option("packages", packages),
            ", FOLDER being the package's. Or: "]


def wheel_fields(wheel: Wheel, **others: object) -> dict[str, object]:
    """The fields by which a wheel is typed; `others` are added or replace its own."""
    fields: dict[str, object] = {"joint": wheel.joint, "kind": wheel.kind}
    if wheel.radius:
        fields["radius"] = wheel.radius
    if wheel.joint is None:
        fields |= {"link": wheel.link, "axis": wheel.axis, "point": wheel.point}
    fields |= {name: getattr(wheel, name) for name in wheel.traits.needed if name not in fields}
    if wheel.tyre is not None:
        fields |= {"law": wheel.law, "tyre": str(wheel.tyre)}
    return {name: value for name, value in (fields | others).items()
            if value is not None or name == "joint"}


def _python_wheels(wheels: Iterable[Wheel | WheelFields]) -> str:
    return f"[{', '.join(map(_python_wheel, wheels))}]"


def _python_wheel(wheel: Wheel | WheelFields) -> str:
    # joint, kind and radius go first and need no keyword
    words = [_python(value) if name in ("joint", "kind", "radius") else f"{name}={_python(value)}"
             for name, value in _fields(wheel).items()]
    return f"Wheel({', '.join(words)})"


def _command_wheels(wheels: Iterable[Wheel | WheelFields]) -> str:
    return " ".join("--wheel "
                    + _quote(",".join(f"{name}={_word(value)}"
                                      for name, value in _fields(wheel).items()
                                      if value is not None)) for wheel in wheels)


def _fields(wheel: Wheel | WheelFields) -> WheelFields:
    return wheel_fields(wheel) if isinstance(wheel, Wheel) else wheel


def _python(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_python, value))})"
    return repr(value) if value is None or isinstance(value, str) else _word(value)


def _word(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return " ".join(map(_word, value))
    if isinstance(value, Blank):
        return value.value
    return f"{value:.6g}" if isinstance(value, (int, float)) else str(value)


def _quote(word: str) -> str:
    """A text as one word of a shell."""
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _repeat(flag: str, between: str) -> Callable[[Mapping[str, object]], str]:
    """`flag` before every entry of a mapping."""
    return lambda entries: " ".join(f"{flag} {quote(f'{name}{between}{_word(value)}')}"
                                    for name, value in entries.items())


def _command_skid(skid: object) -> str:
    word = ",".join(skid) if isinstance(skid, (tuple, list)) else _word(skid)
    return f"--skid {quote(word)}"


# keyword of `load` -> how Python spells its value, and how the command line spells all of it
OPTIONS: dict[str, tuple[Callable[[Any], str], Callable[[Any], str]]] = {
    "wheels": (_python_wheels, _command_wheels),
    "skid": (repr, _command_skid),
    "locked": (repr, _repeat("--lock", "=")),
    "free": (repr, lambda names: " ".join(f"--free {quote(name)}" for name in names)),
    "packages": (repr, _repeat("--package", "=")),
    "arguments": (repr, _repeat("--arg", ":=")),
    "repair": (repr, lambda repair: "--repair" if repair else "--no-repair"),
}
