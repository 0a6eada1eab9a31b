"""What is made of equations or of a vehicle once, and shared by all that run it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

Given = TypeVar("Given")
Options = ParamSpec("Options")
Made = TypeVar("Made")
_turn = RLock()      # of the thread that makes something; others wait for it, and use it


def once(make: Callable[Concatenate[Given, Options], Made],
         ) -> Callable[Concatenate[Given, Options], Made]:
    """Caches the results of `make` as long as its first argument lives, for each choice of the
    others, and for all threads: every simulator of a vehicle needs them."""
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
