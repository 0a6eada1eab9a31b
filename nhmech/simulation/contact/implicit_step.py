"""The implicit step between two landings: contacts slide, roll or leave the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...compile.contact_step import (
    DONE,
    FAILED,
    OPEN,
    CompiledContactStep,
    ContactFunctions,
    ContactLayout,
    compile_contact_step,
)
from ...errors import SimulationError
from ...once import cached_property
from .contact_problem import (
    GOOD,
    HALVES,
    ROUNDS,
    SOFTEST,
    SOLVED,
    STIFFEN,
    SWEEPS,
    projection_to_cone,
)
from .energy_terms import NUDGE, UNSEEN, EnergyTerms
from .impulses import (
    CLOSE,
    COMPLIANCE,
    FLOOR,
    NEARER,
    ONWARD,
    Impulses,
    Rows,
    StepEnds,
    independent_rows,
)
from .motion import STILL, Motion
from .nonsmooth_terms import NonsmoothTerms
from .phases import Phase

OUTER = 12             # iterations of the implicit step at most; three to five are usual
ONTO = 6               # iterations of Newton's method onto the ground at most
NEAR = 1e-9            # relative change of velocities that is accepted in the last iteration
REFUSED = 1e-7         # residual above which a contact problem is not solved
# relative to the vehicle's size: heights below LEVEL are not corrected; heights up to HIGH are
# accepted after the correction
LEVEL, HIGH = 1e-15, 1e-9
# in the compiled step: a pivot below TINY of its row is zero; FAINT of the largest diagonal entry
# is added to the matrix of redundant rows
TINY, FAINT = 1e-14, 1e-11
# The effect of unit impulses from an earlier iteration is kept while each iteration reduces the
# change of the velocities at least by this factor.
SLOWER = 0.03
# A contact point has jumped if its normal row changes by more than this, relatively, from the
# middle of the step to its end; a rim turns by less than 0.1 rad in a step that is short enough.
LEAP = 0.3


class Unsolved(SimulationError):
    """The step is too long, or it has no solution."""


@dataclass(frozen=True, eq=False)
class ImplicitStep:
    """The implicit step of `NonsmoothStep` between two landings.

    Compiled code takes the step if there is a compiler. Python takes the steps that the compiled
    code refuses, and all steps without a compiler.
    """

    terms: NonsmoothTerms
    share: np.ndarray  # relative compliance of the ground at each contact, (n,), with mean 1

    @cached_property
    def energy(self) -> EnergyTerms:
        return EnergyTerms(self.terms)

    @cached_property
    def code(self) -> CompiledContactStep | None:
        """The step in C; None if there is no compiler."""
        terms = self.terms
        A, _, _ = terms.read_rows(0.0, self._somewhere, np.zeros(terms.nv),
                                  np.ones(len(terms.contacts)))
        held = tuple(independent_rows(A * terms.per_metre, terms.bilateral))
        layout = ContactLayout(tuple(c.rows for c in terms.contacts),
                               tuple(terms.heights.tolist()), held, terms.bilateral_heights,
                               terms.forms,
                               tuple(map(int, self.energy.pulls)), terms.bodies.owners)
        numbers = {
            "LEVEL": LEVEL * terms.size, "HIGH": HIGH * terms.size, "TINY": TINY, "FAINT": FAINT,
            "UNSEEN": UNSEEN, "NUDGE": NUDGE,
            "SLOWER": SLOWER, "LEAP": LEAP, "ROUNDS": ROUNDS, "SOLVED": SOLVED, "HALVES": HALVES,
            "GOOD": GOOD, "UNSOLVED": REFUSED, "SWEEPS": SWEEPS, "SOFTEST": SOFTEST,
            "STILL": STILL, "FLOOR": FLOOR * terms.speed, "SPEED": terms.speed,
            "COMPLIANCE": COMPLIANCE, "OUTER": OUTER, "ONTO": ONTO, "CLOSE": CLOSE, "NEAR": NEAR,
            "NEARER": NEARER, "ONWARD": ONWARD, **{phase.name: int(phase) for phase in Phase}}
        words = {name: repr(number) for name, number in numbers.items()}
        words["STIFFEN"] = ", ".join(map(repr, STIFFEN))
        constants = {"theta": terms.vehicle.theta, "mu": [c.mu for c in terms.contacts],
                     "give": self.share, "per_metre": terms.per_metre,
                     "points": terms.body_rows.points.ravel(order="F")}
        made = terms.functions
        functions = ContactFunctions(made.rows, made.momentum, self.energy.function, made.move,
                                     projection_to_cone(), terms.body_rows.functions)
        return compile_contact_step(
            functions, layout, words,
            {name: np.array(values, dtype=float) for name, values in constants.items()})

    @cached_property
    def _somewhere(self) -> np.ndarray:
        """A generic configuration x, where rows are dependent only if they are so everywhere."""
        x = np.random.default_rng(0).normal(size=self.terms.nconf)
        x[3:7] /= np.linalg.norm(x[3:7])
        return x

    def take(self, now: Motion, u: np.ndarray, dt: float, closed: np.ndarray,
             guess: np.ndarray, stays: bool) -> Motion:
        """The motion after dt [s] with the inputs u (nu,).

        Parameters
        ----------
        closed
            Whether each contact is on the ground, (n,).
        guess
            A first guess of the impulses, (m,).
        stays
            Whether to use the contact points at the beginning throughout the step, which is then of
            order one. In a step in which a rim comes to lie flat, the contact points at the end are
            undetermined: if they are assumed on either side, the step ends on the other.

        Raises
        ------
        Unsolved
            If the contact problem is not solved, if the iterations do not converge, and if no
            configuration nearby has the wheels on the ground.
        """
        found = self.take_in_c(now, u, dt, closed, guess, stays)
        if found is None:
            found = self.take_in_python(now, u, dt, np.flatnonzero(closed), stays)
        return found

    def take_in_c(self, now: Motion, u: np.ndarray, dt: float, closed: np.ndarray,
                  guess: np.ndarray, stays: bool) -> Motion | None:
        """`take` in compiled code; None if there is none, or if it refuses the step."""
        if self.code is None:
            return None
        memory = self.code.arrays
        memory["x"][...], memory["w"][...], memory["u"][...] = now.x, now.w, u
        memory["closed"][...] = memory["touch"][...] = closed
        memory["guess"][...] = guess
        status = self.code(now.t, dt, stays)
        if status == OPEN:
            raise Unsolved(_say_open(now.t))
        if status == FAILED:
            raise Unsolved(_say_unsolved(now.t))
        if status != DONE:
            return None
        return Motion(now.t + dt, memory["x1"].copy(), memory["w1"].copy(),
                      memory["phases"].copy(), now.impulses + memory["impulses"],
                      now.slid + memory["slid"], now.lost + memory["lost"],
                      memory["heights"].copy())

    def solve_in_c(self, closed: np.ndarray, W: np.ndarray, g: np.ndarray, least: float,
                   P: np.ndarray) -> tuple[np.ndarray, float] | None:
        """`ContactProblem.solve` in compiled code, for the contacts with the indices `closed`; None
        if there is none, or if it finds no solution."""
        if self.code is None:
            return None
        touch, P = np.zeros(len(self.terms.contacts)), P.copy()
        touch[closed] = 1.0
        error = self.code.solve_problem(touch, W, g, least, P)
        return (P, error) if np.isfinite(error) else None

    def take_in_python(self, now: Motion, u: np.ndarray, dt: float, closed: np.ndarray,
                       stays: bool) -> Motion:
        """`take` in Python; `closed`: indices of the contacts on the ground."""
        terms = self.terms
        middle, end, w0, w1 = now.t + dt / 2, now.t + dt, now.w, now.w
        impulses = Impulses(terms, closed, self.share)
        rows0 = terms.read_rows(now.t, now.x, w0, now.closed)
        own = [row for i in closed for row in terms.contacts[i].rows]
        touch = np.zeros(len(terms.contacts))
        touch[closed] = 1.0
        for k in range(OUTER):
            mean = (w0 + w1) / 2
            there = terms.mover(now.x, dt / 2, mean)[0].copy()
            M, F, D, G, power = terms.momentum(middle, there, mean, u, impulses.impulses / dt,
                                               touch, dt / 2)
            x, rows1 = self._onto_ground(end, terms.mover(now.x, dt, mean)[0].copy(), w1, closed,
                                         impulses.presses, touch, dt / 2)
            if stays:
                for old, new in zip(rows0[:2], rows1):
                    new[own] = old[own]
            leaps = self._leap(G, rows1[0], closed, stays)
            nudge = self.energy.nudge(StepEnds(now, rows0, end, x, w1, rows1), impulses, M,
                                      power.item(), G, leaps) if k else 0.0
            before = w1
            w1 = impulses.solve(M - dt / 2 * D, M @ (w0 + nudge * mean)
                                + dt * (F - D @ before / 2), G, rows1)
            if k == 0:
                impulses.follow(rows0[0] @ w0 + rows0[1])
            change = terms.change(before, w1)
            if k >= NEARER and change <= CLOSE:
                break
        w1 = impulses.finish()
        if impulses.error > REFUSED:
            raise Unsolved(_say_unsolved(now.t))
        if not change <= NEAR:
            raise Unsolved(_say_open(now.t))
        return impulses.record(StepEnds(now, rows0, end, x, w1, rows1), impulses.impulses, leaps)

    def _leap(self, G: np.ndarray, A: np.ndarray, closed: np.ndarray, stays: bool) -> set[int]:
        """Finds the contacts whose point jumps within the step, as the lowest point of a rim that
        rocks over its flat side. Their impulses then act along the rows A (m, nv) at the end, in
        place in G: elsewhere they would do work."""
        found = set()
        for i, c in ((i, self.terms.contacts[i]) for i in closed):
            if not c.along:      # a tyre, whose load is not along its row
                continue
            end = A[c.normal] * self.terms.per_metre
            apart = np.linalg.norm(end - G[c.normal] * self.terms.per_metre)
            if stays or apart > LEAP * np.linalg.norm(end):
                G[list(c.rows)] = A[list(c.rows)]
                found.add(i)
        return found

    def _onto_ground(self, t: float, x: np.ndarray, w: np.ndarray, closed: np.ndarray,
                     presses: np.ndarray, touch: np.ndarray, h: float,
                     ) -> tuple[np.ndarray, Rows]:
        """Newton's method for x: all bilateral functions and the heights of the contacts that press
        become zero, and no contact of `closed` is below the ground; also the rows there. Raises
        `Unsolved` if it does not converge."""
        terms = self.terms
        heights = terms.heights[closed]
        rows = terms.read_rows(t, x, w, touch, h)
        worst = np.inf
        for k in range(ONTO + 1):
            # a rim that lies flat has no lowest point: its height is infinite
            high = rows[2][heights]
            down = heights[(high < 0) | presses & np.isfinite(high)]
            functions = [*down, *terms.bilateral_heights]
            off, before = rows[2][functions], worst
            worst = np.abs(off).max(initial=0.0)
            # a small residual that a step does not halve is rounding
            is_rounding = before / 2 < worst < HIGH * terms.size
            if not worst > LEVEL * terms.size or is_rounding or k == ONTO:
                break
            forms = [terms.forms[k] for k in functions]
            step = np.linalg.lstsq(rows[0][forms] * terms.per_metre, -off, rcond=1e-10)[0]
            x = terms.mover(x, 1.0, step * terms.per_metre)[0].copy()
            rows = terms.read_rows(t, x, w, touch, h)
        if not worst < HIGH * terms.size:
            raise Unsolved(f"wheels that press on the ground are {worst:.2g} m off it at "
                           f"t = {t:.6g} s, and no configuration nearby puts them on it: take a "
                           "smaller dt")
        return x, rows


def _say_unsolved(t: float) -> str:
    return (f"the contact problem at t = {t:.6g} s is not solved: friction and normal forces "
            "contradict each other there; take a smaller mu")


def _say_open(t: float) -> str:
    return (f"the iterations of a step with sliding wheels do not converge at t = {t:.6g} s, nor "
            "do those of its parts; take a smaller dt")
