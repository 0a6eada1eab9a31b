"""Packages whose names are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType


class LazyPackage(ModuleType):
    """A package that offers the names of a table and shows no others.

    Attributes
    ----------
    homes
        Public name -> the module that defines it, or the package of which it is a module.
    """

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


def attach(package: str, names: Mapping[str, str], *, also: str = "") -> None:
    """Makes a package lazy. Type checkers read the same names from its `if TYPE_CHECKING` block.

    Parameters
    ----------
    package
        Its name, which must have begun to be imported.
    names
        Module, relative to the package -> its public names, with spaces between them; "" for
        modules of the package that are public as they are.
    also
        Public names that the package's own file defines.
    """
    module = sys.modules[package]
    homes = {name: f"{package}.{home}".rstrip(".")
             for home, listed in names.items() for name in listed.split()}
    module.__dict__.update(homes=homes, __all__=[*homes, *also.split()])
    module.__class__ = LazyPackage


def _suggestion(name: str, names: Mapping[str, str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, names, cutoff=0.75)
    return f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(sorted(names))}"
