"""Textbook systems, one file each: a derivation, and what it is held against."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..errors import MechanicsError

_NOT_SYSTEMS = ("example", "shapes", "written")


def system_names() -> tuple[str, ...]:
    """Names of the systems in this folder."""
    modules = (module.name for module in iter_modules(__path__))
    return tuple(sorted(name for name in modules if name not in _NOT_SYSTEMS
                        and not name.startswith("_")))


def load_system(name: str):
    """The `Example` of that name. Raises `MechanicsError` that lists the names where there is
    none."""
    if name not in system_names():
        raise MechanicsError(f"no system {name!r}; there are {', '.join(system_names())}")
    return import_module(f"{__name__}.{name}").example()
