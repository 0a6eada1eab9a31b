"""Arguments held to their annotations: what is right passes in any dress, and nothing else."""

import math
import os
import pathlib
import types
from collections import ChainMap, OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike

from nhmech.checks import check_arguments, read_count
from nhmech.errors import InputError


class Named(Protocol):
    name: str


class Subclass(np.ndarray):
    pass


READ_ONLY = np.arange(3.0)
READ_ONLY.setflags(write=False)
THREE = tuple[float, float, float]
# annotation -> (values that users rightly pass, what the function gets)
RIGHT = {
    float: ([2, 2.0, np.float32(2), np.float64(2), np.int8(2), np.uint64(2), Fraction(2),
             np.array(2), np.array(2.0), np.longdouble(2)], 2.0),
    int: ([2, np.int8(2), np.int64(2), np.uint64(2)], 2),
    bool: ([True, np.True_], True),
    THREE: ([(0, 1, 2), [0.0, 1, 2], range(3), READ_ONLY, np.arange(3), pd.Series([0, 1, 2]),
             deque([0, 1, 2]), [np.float32(0), Fraction(1), np.array(2)], READ_ONLY.view(Subclass),
             (x for x in (0, 1, 2))], (0.0, 1.0, 2.0)),
    Sequence[str]: (["a", ("a",), np.array(["a"]), pd.Index(["a"]), iter(["a"]), {"a"}], ("a",)),
    Mapping[str, float]: ([{"a": 1}, OrderedDict(a=np.float32(1)), ChainMap({"a": Fraction(1)}),
                           types.MappingProxyType({"a": np.array(1.0)})], {"a": 1.0}),
    float | None: ([np.int64(1), 1], 1.0),
    Literal["a", "b"]: (["a", np.str_("a")], "a"),
    str | os.PathLike: (["a", np.str_("a")], "a"),
}
NAN = math.nan
WRONG = {
    float: ["2", b"2", None, NAN, True, np.True_, 2j, [2.0], 1e300, 10 ** 400, np.array([2.0]),
            np.timedelta64(1), pd.NA, pd.NaT, float],
    int: [2.5, 2.0, "2", True, 1 << 70, np.timedelta64(1), NAN],
    bool: [1, 0, "yes", None, np.array([True])],
    THREE: [(0, 1), range(10 ** 12), "abc", b"abc", [0, 1, "x"], [0, 1, NAN], {0, 1, 2},
            {0: 1, 1: 2, 2: 3}, np.eye(3), 3],
    Sequence[str]: [1, [1], ["a"] * 50 + [None], range(10 ** 12), {"a": 1}, b"a"],
    Mapping[str, float]: [{"a": "x"}, {1: 1.0}, [("a", 1)], {"a": NAN}, None],
    ArrayLike: ["x", ["1"], [None], [[1], [2, 3]], {}, {1}, np.array(["x"]), np.array([object()])],
    Literal["a", "b"]: ["c", 1, None, ["a"]],
    str | os.PathLike: [1, b"a", None],
    Callable: [1, "print", None],
    Named: [1, Named],
}


def typed(annotation):
    def take(x: annotation):
        return x

    return take


@pytest.mark.parametrize("annotation", RIGHT, ids=str)
def test_what_users_rightly_pass(annotation):
    values, expected = RIGHT[annotation]
    for value in values:
        found = check_arguments(typed(annotation))(value)
        assert found == expected and type(found) in (type(expected), np.str_), value


def test_arrays_of_any_dress():
    take = check_arguments(typed(ArrayLike))
    for value in ([0, 1, 2], range(3), READ_ONLY, READ_ONLY.view(Subclass), READ_ONLY.astype(">f4"),
                  pd.Series([0, 1, 2]), np.array([0, Fraction(1), 2], dtype=object)):
        found = take(value)
        assert type(found) is np.ndarray and found.dtype == float and found.flags.writeable
        assert np.array_equal(found, READ_ONLY) and not np.shares_memory(found, READ_ONLY)
    assert take(np.zeros((0, 3))).shape == (0, 3)
    assert take(2.0).shape == ()


@pytest.mark.parametrize("annotation", WRONG, ids=str)
def test_what_is_wrong(annotation):
    for value in WRONG[annotation]:
        with pytest.raises(InputError, match="^take: x = ") as error:
            check_arguments(typed(annotation))(value)
        assert len(str(error.value)) < 500


@pytest.mark.parametrize("value", WRONG[int], ids=repr)
def test_what_is_no_count(value):
    with pytest.raises(InputError, match="n = .* must be a whole number"):
        read_count("n", value)


def test_a_wrong_number_of_arguments_names_the_function():
    class Drawn:
        @check_arguments
        def __init__(self, x: float):
            self.x = x

    for callee, name in ((check_arguments(typed(float)), "take"), (Drawn, "Drawn")):
        for words in ((), (1.0, 2.0)):
            with pytest.raises(TypeError, match=rf"^{name}\(\) .*argument"):
                callee(*words)


def test_paths_are_handed_on():
    path = pathlib.Path("a")
    assert check_arguments(typed(str | os.PathLike))(path) is path
