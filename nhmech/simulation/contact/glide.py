"""A step in which contacts slide, roll or leave the ground, and none lands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...compile.contact_step import (
    DONE,
    FAILED,
    OPEN,
    CompiledContactStep,
    ContactLayout,
    compile_contact_step,
)
from ...errors import SimulationError
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
from .impulses import CLOSE, COMPLIANCE, FLOOR, NEARER, ONWARD, Impulses, Rows, independent_rows
from .motion import STILL, Motion, Phase
from .nonsmooth_terms import NonsmoothTerms

OUTER = 12             # iterations of the implicit step at most; three to five are usual
ONTO = 6               # of Newton's method onto the ground at most
NEAR = 1e-9            # change of velocities, relative, with which they may end
REFUSED = 1e-7         # residual of a contact problem that has not been solved
# heights from which they are put back, and which a step does not leave, of the vehicle's size
LEVEL, HIGH = 1e-15, 1e-9
# of the compiled step: a pivot that is none, of its row; how far redundant rows may be apart, of
# the largest
TINY, FAINT = 1e-14, 1e-11
# and how much the changes of a round shrink at least as long as what impulses do is that of an
# earlier one
SLOWER = 0.03
# how much the row of a normal changes from the middle of a step to its end, relative, where its
# point jumped: a rim turns by less than a tenth in a step that is short enough
LEAP = 0.3


class Unsolved(SimulationError):
    """A step that is too long, or that has no solution."""


@dataclass(frozen=True, eq=False)
class Glide:
    """The implicit step of `NonsmoothStep` between two landings.

    Compiled code takes it where there is any; what that refuses, a contact problem that Newton's
    method does not solve at once above all, is done in Python.
    """

    terms: NonsmoothTerms
    share: np.ndarray  # how much each contact gives way under the same force, (n,); their mean is 1

    @cached_property
    def energy(self) -> EnergyTerms:
        return EnergyTerms(self.terms)

    @cached_property
    def code(self) -> CompiledContactStep | None:
        """The step in C; None where there is no compiler."""
        terms = self.terms
        A, _, _ = terms.read_rows(0.0, self._somewhere, np.zeros(terms.nv),
                                  np.ones(len(terms.contacts)))
        bilateral = list(terms.bilateral)
        held = tuple(bilateral[i] for i in independent_rows(A[bilateral] * terms.per_metre))
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
        return compile_contact_step(
            terms.rows_function, terms.momentum_function, self.energy.function, terms.move,
            projection_to_cone(), terms.body_rows.functions, layout, words,
            {name: np.array(values, dtype=float) for name, values in constants.items()})

    @cached_property
    def _somewhere(self) -> np.ndarray:
        """A configuration x where rows that are independent at all are so."""
        x = np.random.default_rng(0).normal(size=self.terms.move.nnz_out(0))
        x[3:7] /= np.linalg.norm(x[3:7])
        return x

    def take(self, now: Motion, u: np.ndarray, dt: float, closed: np.ndarray,
             guess: np.ndarray, stays: bool = False) -> Motion:
        """The motion after dt [s] with the inputs u (nu,).

        Parameters
        ----------
        closed
            Which contacts are on the ground, (n,).
        guess
            Impulses that may be near those of this step, (m,).
        stays
            Whether the wheels touch the ground throughout where they do as the step begins, which
            makes it of order one. Where they will do so at its end has no answer in a step in which
            a rim comes to lie flat: held at either side, it ends on the other.

        Raises
        ------
        Unsolved
            Where the contact problem is not solved, where iterations do not close, and where no
            place near has the wheels on the ground.
        """
        found = self.take_in_c(now, u, dt, closed, guess, stays)
        if found is None:
            found = self.take_in_python(now, u, dt, np.flatnonzero(closed), stays)
        return found

    def take_in_c(self, now: Motion, u: np.ndarray, dt: float, closed: np.ndarray,
                  guess: np.ndarray, stays: bool = False) -> Motion | None:
        """`take` in compiled code; None where there is none, or it refuses."""
        if self.code is None:
            return None
        memory = self.code.arrays
        memory["x"][...], memory["w"][...], memory["u"][...] = now.x, now.w, u
        memory["closed"][...] = memory["touch"][...] = closed
        memory["guess"][...] = guess
        status = self.code(now.t, dt, stays)
        if status == OPEN:
            raise Unsolved(_open(now.t))
        if status == FAILED:
            raise Unsolved(_unsolved(now.t))
        if status != DONE:
            return None
        return Motion(now.t + dt, memory["x1"].copy(), memory["w1"].copy(),
                      memory["phases"].copy(), now.impulses + memory["impulses"],
                      now.slid + memory["slid"], now.lost + memory["lost"],
                      memory["heights"].copy())

    def solve_in_c(self, closed: np.ndarray, W: np.ndarray, g: np.ndarray, least: float,
                   P: np.ndarray) -> tuple[np.ndarray, float] | None:
        """`ContactProblem.solve` in compiled code, of contacts by their numbers; None where there
        is none."""
        if self.code is None:
            return None
        touch, P = np.zeros(len(self.terms.contacts)), P.copy()
        touch[closed] = 1.0
        error = self.code.solve_problem(touch, W, g, least, P)
        return (P, error) if np.isfinite(error) else None

    def take_in_python(self, now: Motion, u: np.ndarray, dt: float, closed: np.ndarray,
                       stays: bool = False) -> Motion:
        """`take`, of contacts on the ground by their numbers."""
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
            nudge = self.energy.nudge(now, rows0, end, x, w1, rows1, impulses, M, power.item(), G,
                                      leaps) if k else 0.0
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
            raise Unsolved(_unsolved(now.t))
        if not change <= NEAR:
            raise Unsolved(_open(now.t))
        return impulses.record(now, rows0, rows1, end, x, w1, impulses.impulses, leaps)

    def _leap(self, G: np.ndarray, A: np.ndarray, closed: np.ndarray, stays: bool) -> set[int]:
        """Lets impulses act where conditions on the end are asked, A (m, nv), of contacts whose
        point jumps within the step, as the lowest of a rim that rocks over its flat side: elsewhere
        they would do work. Returns which."""
        found = set()
        for i, c in ((i, self.terms.contacts[i]) for i in closed):
            if not c.along:      # the direction of a tyre's load is not its row
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
        """x with all bilateral functions zero and the heights of the contacts that press, and none
        of those that the step begins with below; and the rows there. Raises `Unsolved` where no
        place near is such."""
        terms = self.terms
        heights = terms.heights[closed]
        rows = terms.read_rows(t, x, w, touch, h)
        worst = np.inf
        for k in range(ONTO + 1):
            # not the lowest point of a rim that lies flat, which is nowhere
            high = rows[2][heights]
            down = heights[(high < 0) | presses & np.isfinite(high)]
            functions = [*down, *terms.bilateral_heights]
            off, before = rows[2][functions], worst
            worst = np.abs(off).max(initial=0.0)
            # what is small and no step halves is rounding
            is_rounding = before / 2 < worst < HIGH * terms.size
            if not worst > LEVEL * terms.size or is_rounding or k == ONTO:
                break
            forms = [terms.forms[k] for k in functions]
            step = np.linalg.lstsq(rows[0][forms] * terms.per_metre, -off, rcond=1e-10)[0]
            x = terms.mover(x, 1.0, step * terms.per_metre)[0].copy()
            rows = terms.read_rows(t, x, w, touch, h)
        if not worst < HIGH * terms.size:
            raise Unsolved(f"wheels that press on the ground are {worst:.2g} m off it at "
                           f"t = {t:.6g} s, and no place near has them there: take a smaller dt")
        return x, rows


def _unsolved(t: float) -> str:
    return (f"the contact problem at t = {t:.6g} s is not solved: friction and normal forces "
            "contradict each other there; take a smaller mu")


def _open(t: float) -> str:
    return (f"the iterations of a step with sliding wheels do not close at t = {t:.6g} s, nor do "
            "those of its parts; take a smaller dt")
