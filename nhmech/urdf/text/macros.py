"""A xacro file that only defines macros: the file that calls them, or the one to write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from shlex import quote

from ...errors import FEW, ModelError, Remedy, listed
from .source import Source, read_source
from .xacro_file import Macro

_LARGEST = 1 << 20      # bytes of a xacro file that is searched for calls
_MOST = 200             # files that are searched
_BLOCK = '<origin xyz="0 0 0" rpy="0 0 0"/>'     # what most macros take as a block
_SPACE = "http://www.ros.org/wiki/xacro"


def uncalled_error(source: Source, is_sound: Callable[[Source], bool]) -> ModelError:
    """The error about macros that are never called. `source`: without links; its file defines
    macros. `is_sound`: whether a robot can be used: the suggestion has been tried."""
    names = listed((f"{macro.name}({', '.join(macro.parameters)})" for macro in source.macros), FEW)
    text = (f"{source.label}: there is no <link> in it: it defines the macros {names} and calls "
            "none")
    if source.path is None:
        call = _call(source.macros[0], "")
        return ModelError(text, _say(f"Put a call before </robot>, such as {call}"))
    for caller in _find_callers(source.path, source.macros):
        if _works(caller, source, is_sound):
            return ModelError(text, _say(f"{caller.name} calls it; load that: {caller}"))
    path = _free_name(source.path)
    for macro in source.macros:
        wrapper = _wrap(source.path, macro, "")
        if _works(wrapper, source, is_sound, path):
            return ModelError(text, _write(path, wrapper))
    macro = source.macros[0]
    blanks = listed(map(str.upper, macro.parameters))
    return ModelError(text, Remedy(*(f"{way}\nwith the values of {blanks}" for way in
                                     vars(_write(path, _wrap(source.path, macro))).values())))


def _say(text: str) -> Remedy:
    return Remedy(text, text)


def _write(path: Path, wrapper: str) -> Remedy:
    """The command that writes a wrapper, for programs and for a shell."""
    return Remedy(f"Write this file and load it, {path}:\n{wrapper}",
                  f"Write a file that does, and load it:\ncat > {quote(str(path))} <<'END'\n"
                  f"{wrapper}\nEND")


def _call(macro: Macro, value: str | None = None) -> str:
    """A call of a macro; without a value its parameters are left to be filled in."""
    given = "".join(f' {name}="{escape(name.upper() if value is None else value)}"'
                    for name in macro.parameters)
    if not macro.blocks:
        return f"<xacro:{macro.name}{given}/>"
    return f"<xacro:{macro.name}{given}>{_BLOCK * macro.blocks}</xacro:{macro.name}>"


def _wrap(path: Path, macro: Macro, value: str | None = None) -> str:
    return "\n".join([
        f'<robot name="{escape(macro.name)}" xmlns:xacro="{_SPACE}">',
        f'  <xacro:include filename="{escape(path.name)}"/>',
        f"  {_call(macro, value)}",
        "</robot>"])


def _works(robot: Path | str, source: Source, is_sound: Callable[[Source], bool],
           path: Path | None = None) -> bool:
    try:
        return is_sound(read_source(robot, source.packages, path=path))
    except ModelError:
        return False


def _free_name(path: Path) -> Path:
    """An unused name beside a file."""
    stem = path.name.split(".")[0]
    names = (path.with_name(f"{stem}_robot{count}.urdf.xacro") for count in ("", *range(2, 100)))
    return next((name for name in names if not name.exists()), path.with_name("robot.urdf.xacro"))


def _find_callers(path: Path, macros: Sequence[Macro]) -> Iterator[Path]:
    """Files near one that call its macros: those beside it come first."""
    calls = [f":{macro.name}" for macro in macros]
    near = (*sorted(path.parent.glob("*.xacro")), *sorted(path.parent.parent.glob("*/*.xacro")))
    for file in list(dict.fromkeys(near))[:_MOST]:
        try:
            if file == path or file.stat().st_size > _LARGEST:
                continue
            text = file.read_text(errors="replace")
        except OSError:
            continue
        name = path.name if file.parent == path.parent else f"{path.parent.name}/{path.name}"
        if name in text and any(call in text for call in calls):
            yield file
