"""Values that are derived from an object, such as a vehicle or its equations, once for all threads:
the first thread computes, the others wait."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from functools import wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

Given = TypeVar("Given")
Options = ParamSpec("Options")
Made = TypeVar("Made")


if TYPE_CHECKING:
    from functools import cached_property
else:
    class cached_property(functools.cached_property):
        """`functools.cached_property` with a lock, which it no longer has since Python 3.12: two
        threads must not derive the same CasADi expressions at the same time."""

        def __init__(self, make):
            super().__init__(make)
            self._turn = RLock()

        def __get__(self, instance, owner=None):
            with self._turn:
                return super().__get__(instance, owner)


_turn = RLock()      # held by the thread that computes a result, which other threads then use


def once(make: Callable[Concatenate[Given, Options], Made],
         ) -> Callable[Concatenate[Given, Options], Made]:
    """Caches the results of `make` for all threads, for each choice of its arguments, as long as
    its first argument exists."""
    known: WeakKeyDictionary[Any, dict[Hashable, Made]] = WeakKeyDictionary()

    @wraps(make)
    def kept(given: Given, *args: Options.args, **kwargs: Options.kwargs) -> Made:
        key = args, tuple(kwargs.items())
        with _turn:
            made = known.setdefault(given, {})
            if key not in made:
                made[key] = make(given, *args, **kwargs)
            return made[key]

    return kept
