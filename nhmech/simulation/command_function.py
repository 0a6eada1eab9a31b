"""Commands carried out by compiled functions on the memory of a moment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..once import cached_property
from ..symbolic.buffered import Buffered
from .command_reader import Numbers, Part
from .least_squares import LeastSquares, closed_form
from .moment import Moment


class CommandSymbols:
    """The symbols of a function that carries out a command: `t`, `q`, `v`, `x` and `theta` of the
    moment, and the `numbers` of the command.

    Parameters
    ----------
    kind
        Type of the symbols, SX or MX.
    sizes
        Sizes of q, v, x and theta.
    count
        Number of values in a command, without the limits of its parts.
    limits
        Number of limits, which follow the values.
    """

    def __init__(self, kind: Any, sizes: Sequence[int], count: int, limits: int):
        self.kind = kind
        self.t = kind.sym("t")
        self.q, self.v, self.x, self.theta = (
            kind.sym(name, size) for name, size in zip(("q", "v", "x", "theta"), sizes))
        self.numbers = kind.sym("numbers", count)
        self.limits = kind.sym("limits", limits)

    def of(self, parts: Sequence[Part]) -> Iterator[tuple[Part, list, Any]]:
        """For each part, its values and its limit; None if it has no limit."""
        numbers, limits = iter(ca.vertsplit(self.numbers)), iter(ca.vertsplit(self.limits))
        for part in parts:
            found = [next(numbers) for _ in part.joints]
            yield part, found, next(limits) if part.is_limited else None

    @property
    def inputs(self) -> list:
        return [self.t, self.q, self.v, self.x, self.theta, ca.vertcat(self.numbers, self.limits)]

    @property
    def are_finite(self) -> Any:
        """Whether the values are finite. The limits need not be."""
        return ca.sum1(ca.fabs(self.numbers)) <= sys.float_info.max


class CommandFunction:
    """Carries out all commands that name the same joints in the same classes.

    It finds the y of least norm that minimises |A y - b|: in closed form if A is well conditioned.

    Parameters
    ----------
    symbols
        The symbols in A and b.
    A, b
        Expressions, (m, n) and (m,).
    finish
        y -> the results.

    Attributes
    ----------
    results
        Results of the latest call, in memory of this object, or in that given to `follow`.
    """

    def __init__(self, symbols: CommandSymbols, A: Any, b: Any, finish: Callable[[Any], list]):
        entries, right = ca.SX.sym("A", A.sparsity()), ca.SX.sym("b", b.numel())
        closed = ca.Function("closed_form", [entries, right], closed_form(entries, right),
                             {"cse": True})
        given, is_given = symbols.kind.sym("given", A.size2()), symbols.kind.sym("is_given")
        found, quality = closed(A, b)
        results = finish(ca.if_else(is_given, given, found))
        quality = ca.if_else(symbols.are_finite, quality, -1)
        self._shape, n = A.shape, len(results)
        self._evaluate = Buffered(ca.Function(
            "nhmech_command", [*symbols.inputs, given, is_given],
            [ca.densify(one) for one in (*results, quality, A, b)],
            {"cse": True} if symbols.kind is ca.SX else {}), matrices=[n + 1])
        self._moment: Moment | None = None
        *_, numbers, self._given, self._is_given = self._evaluate.inputs
        *self.results, quality, self._A, self._b = self._evaluate.outputs
        # the fastest way to write and read; it accepts arrays too
        self._numbers: Any = numbers.data
        self._quality = quality.data
        self._trigger = self._evaluate.trigger

    def __repr__(self) -> str:
        return f"<CommandFunction of A {self._shape}>"

    def follow(self, numbers: Numbers, moment: Moment, theta: np.ndarray,
               results: Sequence[np.ndarray] = ()) -> float:
        """Carries out a command with these values and limits at this moment.

        `results` is memory to write to, the same at each call with one moment.

        Returns
        -------
        float
            How well conditioned A is; the results are valid above `WELL`. Negative for values that
            are not finite, and for arrays of a wrong type or size.
        """
        if self._moment is not moment:
            self._moment = moment
            self._evaluate.bind((moment.clock[:1], moment.q, moment.v, moment.x, theta), results)
        try:
            self._numbers[:] = numbers
        except (ValueError, NotImplementedError):
            return -1.0
        self._trigger()
        return self._quality[0]

    @cached_property
    def _by_singular_values(self) -> LeastSquares:
        return LeastSquares(*self._shape)

    def least_squares(self) -> np.ndarray:
        """y by singular value decomposition."""
        return self._by_singular_values(self._A, self._b)

    def finish(self, y: np.ndarray) -> None:
        """Computes the results from a given y."""
        self._given[...], self._is_given[...] = y, 1.0
        self._trigger()
        self._is_given[...] = 0.0
