"""Expanding a xacro file with the `xacro` package, which is imported only here and only when
needed."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping
from pathlib import Path

from ..errors import ModelError
from .packages import find_package

_UNDEFINED = re.compile(r"[Uu]ndefined substitution argument '?(\w+)")


def is_xacro_path(path: Path) -> bool:
    """Whether the file's name says xacro: robot.xacro, robot.urdf.xacro, robot.xacro.urdf."""
    return "xacro" in path.name.lower().split(".")[1:]


def expand_xacro(path: Path, packages: Mapping[str, Path],
                 arguments: Mapping[str, str] | None = None) -> str:
    """The plain URDF text of a xacro file; `$(find NAME)` is resolved by `nhmech.urdf.packages`.

    Parameters
    ----------
    arguments
        Values of its `<xacro:arg>`s by name; others take their defaults.

    Raises
    ------
    ModelError
        Where the `xacro` package is missing or the file does not expand.
    """
    try:
        import xacro
        from xacro import substitution_args
    except ImportError:
        raise ModelError(f"{path.name} is a xacro file and the Python package 'xacro' is not "
                         "installed: "
                         "pip install xacro") from None

    def find(name: str) -> str:
        folder = find_package(name, packages, path.resolve().parent)
        if folder is None:
            raise ModelError(f"{path.name}: $(find {name}): no such ROS package; "
                             f"pass packages={{{name!r}: '/path/to/it'}}")
        return str(folder)

    original = substitution_args._eval_find
    table = substitution_args._eval_dict
    said = io.StringIO()
    try:
        substitution_args._eval_find = table["find"] = find
        with contextlib.redirect_stderr(said):
            mappings = {name: str(value) for name, value in (arguments or {}).items()}
            document = xacro.process_file(str(path), mappings=mappings)
            return document.toprettyxml(indent="  ")
    except ModelError:
        raise
    except (Exception, SystemExit) as error:  # xacro has no single root of its errors, and may exit
        cause = _root_cause(error)
        if isinstance(cause, ModelError):
            raise cause from None
        detail = str(error).strip() or said.getvalue().strip() or type(error).__name__
        if missing := _UNDEFINED.search(detail):
            detail += (
                f"; it is an argument without a default: pass arguments={{'{missing[1]}': 'VALUE'}}"
            )
        raise ModelError(f"{path.name}: xacro could not expand it: {detail}") from None
    finally:
        substitution_args._eval_find = table["find"] = original


def _root_cause(error: BaseException) -> BaseException:
    seen = set()
    while id(error) not in seen:
        seen.add(id(error))
        following = getattr(error, "exc", None) or error.__cause__
        if not isinstance(following, BaseException):
            return error
        error = following
    return error
