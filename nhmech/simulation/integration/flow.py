"""The description of a motion that integration methods receive, and the iteration that solves the
equations of an implicit step within compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any, Protocol

import casadi as ca

from ...compile.repeated import repeated
from ...mechanics.equations import Equations
from ..state_vector import StateVector

INLINE = 3000      # a step with at most so many operations is one expression

# Sizes of corrections relative to 1 + |x|. The iteration ends after a correction below the first,
# or if the next one is expected to be below a tenth of it; a correction below the second may be
# rounding; after one above the third, the next is not predicted.
ROUNDED, SOLVED, SURE = 1e-16, 1e-12, 1e-6
CORRECTIONS = 50      # at most


@dataclass(frozen=True, eq=False)
class Flow:
    """A motion, as integration methods receive it."""

    equations: Equations  # equations of motion
    rate: ca.Function  # (t, x, u, theta) -> dx/dt
    held: ca.Function  # the same with constant xi
    # (t, x, theta) -> x projected onto the constraints, ..., health: applied after each step
    end: ca.Function
    # (t, x, theta) -> directions (nx, k) in x, phi (k,): moving along the i-th direction changes
    # only the i-th holonomic function, at unit rate, and neither xi nor any other row. k = 0 if
    # steps stay on the constraints by themselves.
    lift: ca.Function

    @property
    def state_vector(self) -> StateVector:
        return StateVector.of(self.equations)

    def symbol(self, rates: int) -> Any:
        """Type of the symbols for a step that evaluates the rate so many times: SX, one expression,
        if it is short, because that code is faster; MX, calls of its parts, if it would be slow to
        compile."""
        work = rates * self.rate.n_instructions() + self.end.n_instructions()
        return ca.SX if work <= INLINE else ca.MX

    def arguments(self, symbol: Any) -> list:
        """Symbols t, x, u, theta, dt."""
        rate = self.rate
        return [symbol.sym("t"), symbol.sym("x", rate.size1_in(1)),
                symbol.sym("u", rate.size1_in(2)), symbol.sym("theta", rate.size1_in(3)),
                symbol.sym("dt")]


class Method(Protocol):
    """An integration method with steps of a given length."""

    @property
    def rates(self) -> int:
        """Number of evaluations of the rate in a step, usually."""
        ...

    def step(self, flow: Flow) -> ca.Function:
        """(t, x, u, theta, dt) -> x, health; of an implicit one also whether its equations were
        solved (1 or 0), and of one that conserves energy whether forces did no work (1 or 0)."""
        ...


def solve_by_iteration(correct: ca.Function, z: ca.MX, *held: ca.MX) -> tuple[ca.MX, ca.MX]:
    """z after corrections down to rounding, and whether they converged (1 or 0). `correct` maps (z,
    *held) to z and the size of the correction relative to 1 + |x|.

    The iteration ends after a correction as small as rounding, or if the next one would be, should
    it shrink like the last one; also if a correction below `SOLVED` is not smaller than the one
    before, because that is rounding. From there on z does not change, so that the result of a case
    does not depend on how many corrections the other lanes need; skipping them only saves time.
    """
    nz, symbols = correct.size1_in(0), correct.mx_in()
    y = ca.MX.sym("y", nz + 2)       # z, size of the last correction, whether to correct again
    after, size = correct(y[:nz], *symbols[1:])
    once = ca.Function("nhmech_correct", [y, *symbols[1:]], [_choice(nz)(y, after, size)])
    found = repeated(once, CORRECTIONS)(ca.vertcat(z, nan, 1), *held)
    return found[:nz], ca.fmax(1 - found[nz + 1], found[nz] <= SOLVED)


def _choice(nz: int) -> ca.Function:
    """(y, z after a correction, size of the correction) -> next y."""
    y, after, size = ca.SX.sym("y", nz + 2), ca.SX.sym("after", nz), ca.SX.sym("size")
    before, running = y[nz], y[nz + 1]
    small = ca.logic_and(size <= SURE, size ** 2 <= ROUNDED / 10 * before)
    stopped = ca.logic_and(size <= SOLVED, size >= before)
    ended = ca.logic_or(size <= ROUNDED, ca.logic_or(small, stopped))
    chosen = [ca.if_else(running, new, old) for new, old in zip(
        ca.vertsplit(ca.vertcat(after, size)), ca.vertsplit(y[:nz + 1]))]
    return ca.Function("nhmech_choose", [y, after, size],
                       [ca.vertcat(*chosen, ca.logic_and(running, ca.logic_not(ended)))])
