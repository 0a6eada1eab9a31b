"""Expanding a xacro file with the `xacro` package, in a process of its own.

xacro keeps what it works on in globals of its modules, may end the process, writes its warnings to
standard error, and finds ROS packages through ROS's own index alone. A child process is the one
place where all of that disturbs nobody, however many threads load robots.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from ..errors import ModelError
from .packages import find_package
from .remedy import option, suggest

_UNDEFINED = re.compile(r"[Uu]ndefined substitution argument '?(\w+)")
# the child sees the modules that its parent sees, and none of its current folder
_CHILD = ("import json, sys; job = json.load(sys.stdin); sys.path[:] = job.pop('modules'); "
          "from nhmech.urdf.xacro_file import expand; print(json.dumps(expand(**job)))")


def is_xacro_path(path: Path) -> bool:
    """Whether the file's name says xacro: robot.xacro, robot.urdf.xacro, robot.xacro.urdf."""
    return "xacro" in path.name.lower().split(".")[1:]


def expand_xacro(path: Path, packages: Mapping[str, Path],
                 arguments: Mapping[str, str] | None = None) -> str:
    """The plain URDF text of a xacro file; `$(find NAME)` is resolved by `nhmech.urdf.packages`.

    Parameters
    ----------
    path
        The file.
    packages
        ROS package name -> folder.
    arguments
        Values of its `<xacro:arg>`s by name; others take their defaults.

    Raises
    ------
    ModelError
        Where the `xacro` package is missing or the file does not expand.
    """
    if importlib.util.find_spec("xacro") is None:
        raise ModelError(f"{path.name} is a xacro file and the Python package 'xacro' is not "
                         "installed: pip install xacro")
    job = {"modules": sys.path, "file": str(path),
           "packages": {name: str(folder) for name, folder in packages.items()},
           "arguments": {name: str(value) for name, value in (arguments or {}).items()}}
    child = subprocess.run([sys.executable, "-c", _CHILD], input=json.dumps(job),
                           capture_output=True, text=True, encoding="utf-8")
    answer = json.loads(child.stdout) if child.returncode == 0 else {}
    if "text" in answer:
        return answer["text"]
    if "package" in answer:
        name = answer["package"]
        raise ModelError(f"{path.name}: $(find {name}): no such ROS package",
                         suggest("Say where it is: ", option("packages", {name: "/path/to/it"})))
    detail = answer.get("error") or child.stderr.strip() or f"exit code {child.returncode}"
    missing = _UNDEFINED.search(detail)
    remedy = None if missing is None else suggest(
        "It is an argument without a default: pass ", option("arguments", {missing[1]: "VALUE"}))
    raise ModelError(f"{path.name}: xacro could not expand it: {detail}", remedy)


class _NoPackage(Exception):
    """`$(find NAME)` names a package that is nowhere; the message is its name."""


def expand(file: str, packages: Mapping[str, str], arguments: dict[str, str]) -> dict[str, str]:
    """The child's work: {"text": URDF}, or {"package": name} of one that is missing, or
    {"error": message}."""
    def find(name: str) -> str:
        folder = find_package(name, {p: Path(f) for p, f in packages.items()},
                              Path(file).resolve().parent)
        if folder is None:
            raise _NoPackage(name)
        return str(folder)

    # xacro asks ROS's package index, of which this is all that it uses
    index = ModuleType("ament_index_python.packages")
    vars(index)["get_package_share_directory"] = find
    sys.modules["ament_index_python"] = ModuleType("ament_index_python")
    sys.modules[index.__name__] = index
    import xacro

    try:
        return {"text": xacro.process_file(file, mappings=arguments).toprettyxml(indent="  ")}
    except (Exception, SystemExit) as error:  # xacro has no single root of its errors, and may exit
        cause = _root_cause(error)
        if isinstance(cause, _NoPackage):
            return {"package": str(cause)}
        return {"error": str(error).strip() or type(error).__name__}


def _root_cause(error: BaseException) -> BaseException:
    seen = set()
    while id(error) not in seen:
        seen.add(id(error))
        following = getattr(error, "exc", None) or error.__cause__
        if not isinstance(following, BaseException):
            return error
        error = following
    return error
