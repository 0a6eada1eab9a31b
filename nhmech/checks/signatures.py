"""Checks the arguments of every public name by their annotations.

What a number or a name must be beyond its type, a function reads itself (`values`).
"""

from __future__ import annotations

import collections.abc as abc
import inspect
import math
import os
import sys
import types
import typing
from collections.abc import Callable, Iterator
from functools import cache, wraps
from itertools import islice
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from .values import LARGEST, LARGEST_NUMBER, as_number, as_numbers, of_a_file, show

F = TypeVar("F", bound=Callable[..., Any])


class Refused(Exception):
    """A value that differs from the expected type, in words."""


Reader = Callable[[Any], Any]      # value -> what the function gets; raises `Refused`


def check_arguments(callee: F) -> F:
    """A function or class that checks its arguments by its annotations; raises `InputError`.

    Numbers may be of any type that is a real number, and are not NaN, nor so large that their
    squares are none. The function gets plain ones: floats, arrays of floats, tuples or lists,
    dicts; one name serves for a sequence of names. A protocol is met by what has its attributes.
    Annotations that are not known at run time are not checked.

    Examples
    --------
    >>> nhmech.control.circle("wide")
    Traceback (most recent call last):
        ...
    nhmech.errors.InputError: circle: radius = 'wide' must be a finite number
    """
    if isinstance(callee, type):
        callee.__init__ = check_arguments(callee.__init__)     # type: ignore[misc]
        return callee
    signature = inspect.signature(callee)
    name = callee.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @wraps(callee)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        for parameter, read in _readers(callee).items():
            if parameter in bound.arguments:
                given = bound.arguments[parameter]
                try:
                    bound.arguments[parameter] = read(given)
                except Refused as error:
                    raise InputError(f"{name}: {parameter} = {show(given)} must be {error}"
                                     ) from None
        return callee(*bound.args, **bound.kwargs)

    return typing.cast(F, checked)


@cache
def _readers(callee: Callable[..., Any]) -> dict[str, Reader]:
    """The reader of each parameter; names imported for type checkers only are looked up there."""
    found: dict[str, Reader] = {}
    for parameter in list(inspect.signature(callee).parameters.values()):
        annotation = parameter.annotation
        if isinstance(annotation, str):
            annotation = _resolve(callee, parameter.name, annotation)
        if annotation in (inspect.Parameter.empty, None):
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            annotation = tuple[annotation, ...]        # type: ignore[valid-type]
        elif parameter.kind is parameter.VAR_KEYWORD:
            annotation = abc.Mapping[str, annotation]  # type: ignore[valid-type]
        found[parameter.name] = reader(annotation)
    return found


def _resolve(callee: Callable[..., Any], name: str, text: str) -> Any:
    """The meaning of an annotation; None if its names do not exist at run time."""
    try:
        return eval(text, getattr(sys.modules[callee.__module__], "__dict__", {}))
    except (NameError, TypeError, AttributeError):
        return None


def reader(annotation: Any) -> Reader:
    """The reader of values of a type."""
    if isinstance(annotation, abc.Hashable) and annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        rest = [a for a in arguments if a not in _ARRAYS] if {*arguments} >= _ARRAYS else None
        if rest is not None:
            return _read_any_of([*map(reader, rest), _read_array])
        return _read_any_of([reader(argument) for argument in arguments])
    if origin is typing.Literal:
        return _expect(lambda value: value in arguments, " or ".join(map(repr, arguments)))
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return _read_tuple([reader(argument) for argument in arguments])
    if isinstance(origin, type):
        return _read_generic(origin, arguments)
    if not isinstance(annotation, type):
        return lambda value: value
    if getattr(annotation, "_is_protocol", False):
        return _read_protocol(annotation)
    if annotation.__module__.startswith("casadi"):
        return _read_expression(annotation)
    name = annotation.__name__
    article = "" if name.isupper() else "an " if name[0] in "AEIOU" else "a "
    return _expect(lambda value: isinstance(value, annotation), f"{article}{name}")


def _read_generic(origin: type, arguments: tuple[Any, ...]) -> Reader:
    """The reader of Callable[...], Mapping[K, V], Sequence[T] and similar types."""
    if issubclass(origin, os.PathLike):
        return _PLAIN[os.PathLike]
    if origin is abc.Callable:
        return _expect(callable, "a function")
    if issubclass(origin, abc.Mapping):
        return _read_mapping(*map(reader, arguments))
    if issubclass(origin, abc.Iterable) and arguments:
        return _read_sequence(reader(arguments[0]))
    return _expect(lambda value: isinstance(value, origin), f"a {origin.__name__}")


def _expect(holds: Callable[[Any], bool], expected: str,
            kind: Callable[[Any], Any] = lambda value: value) -> Reader:
    def read(value: Any) -> Any:
        if not holds(value):
            raise Refused(expected)
        return kind(value)

    return read


def _read_number(value: Any) -> float:
    number = as_number(value)
    if number is None or not (abs(number) < LARGEST_NUMBER or math.isinf(number)):
        raise Refused("a finite number")
    return number


def _read_array(value: Any) -> np.ndarray:
    array = as_numbers(value)
    if array is None:
        raise Refused("an array of numbers")
    return array


def _read_expression(kind: Callable[[Any], Any]) -> Reader:
    """Reads expressions as CasADi does: numbers and matrices of numbers are expressions too."""
    def read(value: Any) -> Any:
        if type(value).__module__.startswith("casadi"):
            return value
        numbers = as_numbers(value)
        if numbers is None or not np.isfinite(numbers).all():
            raise Refused("an expression of CasADi, or numbers")
        return kind(numbers)

    return read


def _read_any_of(readers: list[Reader]) -> Reader:
    def read(value: Any) -> Any:
        expected = []
        for one in readers:
            try:
                return one(value)
            except Refused as error:
                expected.append(str(error))
        raise Refused(" or ".join(dict.fromkeys(expected)))

    return read


def _read_tuple(readers: list[Reader]) -> Reader:
    def read(value: Any) -> Any:
        count = len(readers)
        items = list(islice(_go_through(value), count + 1))
        if len(items) != count or isinstance(value, abc.Set):       # which has no order
            raise Refused(f"{count} values in a row")
        return tuple(map(_read_item, readers, items))

    return read


def _read_sequence(one: Reader) -> Reader:
    def read(value: Any) -> Any:
        if isinstance(value, str):
            return (one(value),)         # one name; else `one` says what was expected
        items = [_read_item(one, item) for item in _go_through(value)]
        return items if isinstance(value, list) else tuple(items)

    return read


def _go_through(value: Any) -> Iterator[Any]:
    if isinstance(value, (str, bytes, abc.Mapping)):
        raise Refused("a sequence")
    try:
        return iter(value)
    except TypeError:
        raise Refused("a sequence") from None


def _read_item(one: Reader, item: Any) -> Any:
    try:
        return one(item)
    except Refused as error:
        raise Refused(f"a sequence whose items are each {error}, and {show(item)} is not") from None


def _read_mapping(key: Reader, one: Reader) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, abc.Mapping):
            raise Refused("a mapping")
        found = {}
        for name, item in value.items():
            try:
                found[key(name)] = one(item)
            except Refused as error:
                raise Refused(f"a mapping, and its {show(name)}: {show(item)} must be {error}"
                              ) from None
        return found

    return read


def _read_protocol(protocol: type) -> Reader:
    """Reads a protocol by its attributes; their types are checked when they are used."""
    inherited = {*dir(typing.Protocol), "__weakref__", "__dict__", "__parameters__"}
    names = [name for name in {*vars(protocol), *getattr(protocol, "__annotations__", {})}
             if name == "__call__" or name not in inherited and not name.startswith("_")]

    if names == ["__call__"]:
        return _expect(callable, "a function")
    what = f"an object with {', '.join(sorted(names))}"

    def read(value: Any) -> Any:
        if isinstance(value, type) or not all(hasattr(value, name) for name in names):
            raise Refused(what + of_a_file(value))
        return value

    return read


# a union of types, or from NumPy 2.5 on a name for one, which stays whole in other unions
_ARRAYS = {*typing.get_args(ArrayLike)} or {ArrayLike}
_PLAIN: dict[Any, Reader] = {
    **dict.fromkeys((Any, object, Ellipsis), lambda value: value),
    **dict.fromkeys((None, type(None)), _expect(lambda value: value is None, "None")),
    float: _read_number,
    int: _expect(lambda value: isinstance(value, Integral) and as_number(value) is not None
                 and abs(int(value)) < LARGEST, "a whole number of 64 bits at most", int),
    bool: _expect(lambda value: isinstance(value, (bool, np.bool_)), "True or False", bool),
    str: _expect(lambda value: isinstance(value, str), "a text"),
    **dict.fromkeys((np.ndarray, ArrayLike), _read_array),
    os.PathLike: _expect(lambda value: isinstance(value, os.PathLike), "a path"),
    abc.Callable: _expect(callable, "a function"),
}
