"""Packages whose names are imported when they are first used."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType


class LazyPackage(ModuleType):
    """A package that offers only the names of a table."""

    # public name -> the module that defines it, or the package of which it is a module
    homes: dict[str, str]
    __all__: list[str]

    def __getattr__(self, name: str) -> object:
        if name not in self.homes:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}; "
                                 + _suggestion(name, self.homes))
        home = self.homes[name]
        value = (import_module(f"{home}.{name}") if home == self.__name__
                 else getattr(import_module(home), name))
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        # Importing the module `hamel` sets this attribute, whose public meaning is the function.
        if isinstance(value, ModuleType) and value.__name__ == self.homes.get(name):
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(self.__all__)


def attach_stub(package: str, file: str) -> None:
    """Makes a package lazy while it is imported.

    Its public names are those that `__init__.pyi` beside its `file` imports; type checkers and
    editors read the same stub.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {alias.name: resolve_name("." * line.level + (line.module or ""), package)
             for line in stub.body if isinstance(line, ast.ImportFrom) for alias in line.names}
    module = sys.modules[package]
    module.__dict__.update(homes=homes, __all__=[*homes])
    module.__class__ = LazyPackage


def _suggestion(name: str, names: dict[str, str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, names, cutoff=0.75)
    return f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(sorted(names))}"
