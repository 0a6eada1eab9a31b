"""What an integration method is given of a motion, and the solving of an implicit step's equations
by iteration within compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any, Protocol

import casadi as ca

from ...mechanics.equations import Equations
from ..state_vector import StateVector

INLINE = 3000      # operations of a step up to which it is written as one expression

# Relative to 1 + |x|: after a correction below the first there is no further one, nor one that is
# expected to be below a tenth of it; one below the second may be rounding; above the third nothing
# is expected.
ROUNDED, SOLVED, SURE = 1e-16, 1e-12, 1e-6
SWEEPS, ROUNDS = 5, 10     # an iteration ends after SWEEPS * ROUNDS corrections


@dataclass(frozen=True, eq=False)
class Flow:
    """A motion as a method of integration sees it."""

    equations: Equations  # those of the motion
    rate: ca.Function  # (t, x, u, theta) -> dx/dt
    held: ca.Function  # the same with xi held
    project: ca.Function  # (t, x, theta) -> x on the constraints, ...
    # (t, x, theta) -> x pulled back onto the constraints, ..., health: follows each step
    end: ca.Function
    # (t, x, theta) -> directions (nx, k) in x, phi (k,): to go along the i-th one changes the i-th
    # holonomic function alone, by as much, and neither xi nor any other row. None of them (k = 0)
    # where steps stay on the constraints by themselves.
    lift: ca.Function

    @property
    def state_vector(self) -> StateVector:
        return StateVector.of(self.equations)

    def symbol(self, rates: int) -> Any:
        """Of which a step with so many rates is made: one expression (SX) where it is short, for
        that is the faster code; calls of its parts (MX) where it would be slow to compile."""
        work = rates * self.rate.n_instructions() + self.end.n_instructions()
        return ca.SX if work <= INLINE else ca.MX

    def arguments(self, symbol: Any) -> list:
        """Symbols t, x, u, theta, dt."""
        rate = self.rate
        return [symbol.sym("t"), symbol.sym("x", rate.size1_in(1)),
                symbol.sym("u", rate.size1_in(2)), symbol.sym("theta", rate.size1_in(3)),
                symbol.sym("dt")]


class Method(Protocol):
    """A rule that makes steps of a given length."""

    @property
    def rates(self) -> int:
        """How many a step asks for, as a rule."""
        ...

    def step(self, flow: Flow) -> ca.Function:
        """(t, x, u, theta, dt) -> x, health; of an implicit one also whether its equations were
        solved (1 or 0)."""
        ...


def solve_by_iteration(correct: ca.Function, z: ca.MX, *held: ca.MX) -> tuple[ca.MX, ca.MX]:
    """z where its corrections have come down to rounding, and whether they did (1 or 0). `correct`
    maps (z, *held) to z and the size of the correction relative to 1 + |x|.

    The iteration ends where a correction is as small as rounding, or the next one would be if it
    shrinks as the last one did; also where one below `SOLVED` is no smaller than the one before,
    for that is rounding, which each step makes at random. From there on z is unchanged, so that a
    case in a lane gives what it gives alone, however many corrections its neighbours need; skipping
    them saves time only.
    """
    nz, symbols = correct.size1_in(0), correct.mx_in()
    y = ca.MX.sym("y", nz + 2)       # z, size of the last correction, whether there is a next one
    after, size = correct(y[:nz], *symbols[1:])
    once = ca.Function("nhmech_correct", [y, *symbols[1:]], [_choice(nz)(y, after, size)])
    several = _repeat("nhmech_sweep", once, SWEEPS)
    found = _repeat("nhmech_solve", several, ROUNDS)(ca.vertcat(z, nan, 1), *held)
    return found[:nz], ca.fmax(1 - found[nz + 1], found[nz] <= SOLVED)


def _choice(nz: int) -> ca.Function:
    """(y, z after a correction, its size) -> y after it."""
    y, after, size = ca.SX.sym("y", nz + 2), ca.SX.sym("after", nz), ca.SX.sym("size")
    before, running = y[nz], y[nz + 1]
    small = ca.logic_and(size <= SURE, size ** 2 <= ROUNDED / 10 * before)
    stopped = ca.logic_and(size <= SOLVED, size >= before)
    ended = ca.logic_or(size <= ROUNDED, ca.logic_or(small, stopped))
    chosen = [ca.if_else(running, new, old) for new, old in zip(
        ca.vertsplit(ca.vertcat(after, size)), ca.vertsplit(y[:nz + 1]))]
    return ca.Function("nhmech_choose", [y, after, size],
                       [ca.vertcat(*chosen, ca.logic_and(running, ca.logic_not(ended)))])


def _repeat(name: str, once: ca.Function, times: int) -> ca.Function:
    """`once` applied repeatedly, until the last entry of its argument is 0."""
    symbols = once.mx_in()
    y, keep = symbols[0], ca.Function(f"{name}_keep", symbols, [symbols[0]])
    running = ca.Function.if_else(f"{name}_running", once, keep)
    for _ in range(times):
        y = running(y[-1], y, *symbols[1:])
    return ca.Function(name, symbols, [y])
