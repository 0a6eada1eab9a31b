"""The impulses of the ground in one step, and the velocities and contact phases that follow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np

from .contact_problem import Cone, ContactProblem
from .motion import STILL, Motion
from .nonsmooth_terms import NonsmoothTerms
from .phases import Phase

CLOSE = 1e-11          # relative change of velocities at which iterations end
# The ground has this compliance, relative to W, which determines how redundant contacts share the
# load. The motion that it allows is removed by the proximal point method, by six digits a round.
COMPLIANCE, NEARER = 1e-6, 2
ONWARD = 0.5           # a contact goes on sliding if at least this part of its slip is left
FLOOR = 1e-9           # of the vehicle's speed: residuals are relative to at least this velocity

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]     # A, b, phi


class StepEnds(NamedTuple):
    """A step from the motion `now` to x and w at time t [s], with the rows at both ends."""

    now: Motion
    rows0: Rows
    t: float
    x: np.ndarray
    w: np.ndarray
    rows1: Rows


# (closed contacts, W, g, least speed, P) -> P and its residual, as `ContactProblem.solve`; None if
# it cannot solve the problem
Solver = Callable[[np.ndarray, np.ndarray, np.ndarray, float, np.ndarray],
                  tuple[np.ndarray, float] | None]


class Impulses:
    """The impulses of one step, found by iteration.

    Parameters
    ----------
    closed
        Indices of the contacts that are on the ground.
    share
        Relative compliance of the ground at each contact of the terms, (n,), with mean 1.
    solver
        Solves the contact problem; `ContactProblem` if None, and where it returns None.

    Attributes
    ----------
    error
        Residual of the contact problem.
    phases
        Phases of the closed contacts after the step.
    presses
        Whether each of them ends on the ground.
    """

    def __init__(self, terms: NonsmoothTerms, closed: np.ndarray, share: np.ndarray,
                 solver: Solver | None = None):
        self.closed = closed
        self._solver = solver
        self._contacts = [terms.contacts[i] for i in closed]
        self._bilateral = list(terms.bilateral)
        self._rows = [row for c in self._contacts for row in c.rows]
        self._cones, at = [], 0
        for c in self._contacts:
            self._cones.append(Cone(at, tuple(range(at + 1, at + len(c.rows))), c.mu))
            at += len(c.rows)
        self._P = self._from = np.zeros(at)
        self._per_metre = terms.per_metre
        self._floor = FLOOR * terms.speed
        self._many = terms.m
        self._heights = terms.heights
        self._softness = np.repeat(share[closed], [len(c.rows) for c in self._contacts])
        self._give, self._lag = np.zeros(at), np.zeros(at)
        self._rounds = 0
        self._system: tuple = ()
        self._drive: np.ndarray
        self._held: tuple[list[int], np.ndarray]
        self.error = 0.0
        self.phases = np.zeros(len(closed), dtype=int)
        self.presses = np.ones(len(closed), dtype=bool)

    def solve(self, mass: np.ndarray, momentum: np.ndarray, forces: np.ndarray,
              rows: Rows, back: np.ndarray | None = None,
              driven: Rows | None = None) -> np.ndarray:
        """w (nv,) with mass w = momentum + forces^T (impulses) that satisfies the rows A w + b.

        `back`: e u_n(before) of the closed contacts in an impact. `driven`: further rows (k, nv),
        their prescribed values (k,), and the directions (k, nv) of their impulses.
        """
        A, b, _ = rows
        nv, J = len(momentum), A[self._rows]
        held = independent_rows(A * self._per_metre, self._bilateral)
        ways: np.ndarray = A[held]
        aims: np.ndarray = -b[held]
        pulls: np.ndarray = forces[held]
        if driven is not None:
            ways = np.concatenate((ways, driven[0]))
            aims = np.concatenate((aims, driven[1]))
            pulls = np.concatenate((pulls, driven[2]))
        matrix = np.zeros((nv + len(aims), nv + len(aims)))
        matrix[:nv, :nv], matrix[:nv, nv:] = mass, -pulls.T
        matrix[nv:, :nv] = ways
        right = np.zeros((nv + len(aims), 1 + len(self._rows)))
        right[:nv, 0], right[nv:, 0] = momentum, aims
        right[:nv, 1:] = forces[self._rows].T
        both = np.linalg.solve(matrix, right)
        found, self._drive = both[:nv], both[nv + len(held):]
        self._held = held, both[nv:nv + len(held)]
        W, g = J @ found[:, 1:], J @ found[:, 0] + b[self._rows]
        if back is not None:
            g[[cone.normal for cone in self._cones]] += back
        if len(self._rows):
            self._give = COMPLIANCE * np.diag(W).max() * self._softness
            W[np.diag_indices(len(W))] += self._give
            self._push(W, g + self._lag)
        self._system = found, J, W, g, A, b, back
        return self._velocity()

    def follow(self, before: np.ndarray) -> None:
        """From here on, friction of contacts that go on sliding opposes their mean slip over the
        step, which makes the scheme of order two. `before`: speeds of all rows at the beginning
        (m,)."""
        found, J, _, _, _, b, _ = self._system
        after = J @ (found[:, 0] + found[:, 1:] @ self._P) + b[self._rows]
        for c, cone in zip(self._contacts, self._cones):
            old, new = before[list(c.along)], after[list(cone.along)]
            if old @ new > ONWARD * (old @ old):
                self._lag[list(cone.along)] = old

    @property
    def impulses(self) -> np.ndarray:
        """Impulses of all rows, (m,); zero for contacts that are not on the ground."""
        found = np.zeros(self._many)
        found[self._rows] = self._P
        return found

    @property
    def bilateral(self) -> tuple[list[int], np.ndarray]:
        """Indices of independent bilateral rows, and their impulses."""
        held, found = self._held
        return held, found[:, 0] + found[:, 1:] @ self._P

    @property
    def driven(self) -> np.ndarray:
        """Impulses of the driven rows, (k,)."""
        found = self._drive
        return found[:, 0] + found[:, 1:] @ self._P

    def _push(self, W: np.ndarray, g: np.ndarray) -> None:
        """One round of the proximal point method: the ground gives way only under the change of the
        impulses."""
        near = g - self._give * self._from
        found = None if self._solver is None else self._solver(self.closed, W, near, self._floor,
                                                               self._P)
        if found is None:
            found = ContactProblem(W, near, self._cones).solve(self._P, self._floor)
        self._P, self.error = found
        if self._rounds < NEARER:
            self._from = self._P
        self._rounds += 1

    def _velocity(self) -> np.ndarray:
        """w (nv,) after the impulses found; updates the phases."""
        found, J, W, g, _, b, back = self._system
        w = found[:, 0] + found[:, 1:] @ self._P
        u = J @ w + b[self._rows]
        if back is not None:
            u[[cone.normal for cone in self._cones]] += back
        self._judge(u, float(np.abs(g).max(initial=self._floor)))
        return w

    def finish(self) -> np.ndarray:
        """w (nv,) of the latest solution, without the motion that the compliance of the ground
        allowed; the distribution of the load does not change."""
        _, _, W, g, A, b, back = self._system
        while len(self._rows) and self._rounds <= NEARER:
            self._push(W, g + self._lag)
        w = self._velocity()
        return self._hold(w, A, b, back)

    def record(self, ends: StepEnds, impulses: np.ndarray,
               leaps: Collection[int] | None = None) -> Motion:
        """The motion after a step with these impulses (m,). `leaps`: contacts whose impulses act
        along the rows at the end of the step; None, in an impact, means all."""
        now, rows0, t, x, w, rows1 = ends
        phases, slid, lost = now.phases.copy(), now.slid.copy(), now.lost.copy()
        phases[self.closed] = self.phases
        before, after = rows0[0] @ now.w + rows0[1], rows1[0] @ w + rows1[1]
        at_end = rows1[0] @ now.w + rows1[1]
        for i, c in zip(self.closed, self._contacts):
            rows, leapt = list(c.rows), leaps is None or i in leaps
            work = impulses[rows] @ ((at_end if leapt else before) + after)[rows] / 2
            # a gain is an error of the midpoint rule, which `EnergyTerms` corrects; an impact
            # may hand on energy from contact to contact
            lost[i] -= work if leapt else min(work, 0.0)
            if c.along and phases[i] == Phase.SLIDING:
                slid[i] += (t - now.t) * float(np.linalg.norm(
                    (before + after)[list(c.along)])) / 2
        heights = rows1[2][self._heights]
        phases[np.isinf(heights)] = Phase.AIRBORNE
        return Motion(t, x, w, phases, now.impulses + impulses, slid, lost, heights)

    def _judge(self, u: np.ndarray, size: float) -> None:
        """Sets the phases after the step from the speeds u of the contacts."""
        W = self._system[2]
        for k, cone in enumerate(self._cones):
            n = cone.normal
            # a contact that moves away is open even if rounding leaves it an impulse
            self.presses[k] = self._P[n] * W[n, n] > u[n] or u[n] <= STILL * size
            slides = np.linalg.norm(u[list(cone.along)]) > STILL * size
            self.phases[k] = (Phase.AIRBORNE if not self.presses[k] else
                              Phase.SLIDING if slides else Phase.ROLLING)

    def _hold(self, w: np.ndarray, A: np.ndarray, b: np.ndarray,
              back: np.ndarray | None) -> np.ndarray:
        """w without the motion that the compliance of the ground allowed along rows that hold."""
        rows, aims = [*self._bilateral], list(-b[self._bilateral])
        for k, c in enumerate(self._contacts):
            if self.presses[k]:
                along = c.along if self.phases[k] == Phase.ROLLING else ()
                rows += [c.normal, *along]
                aims += [-b[c.normal] - (0.0 if back is None else back[k]), *-b[list(along)]]
        if not rows:
            return w
        for _ in range(2):
            step = np.linalg.lstsq(A[rows] * self._per_metre, aims - A[rows] @ w, rcond=1e-10)[0]
            w = w + step * self._per_metre
        if back is not None:
            for k, _ in enumerate(self._contacts):
                if self.presses[k] and back[k] < 0:
                    self.phases[k] = Phase.AIRBORNE
        return w


def independent_rows(A: np.ndarray, rows: Sequence[int]) -> list[int]:
    """Those of some rows of A that are linearly independent and span them all, whatever their
    norms."""
    kept: list[int] = []
    units = {i: A[i] / (np.linalg.norm(A[i]) or 1.0) for i in rows}
    for i in rows:
        if np.linalg.matrix_rank([units[k] for k in (*kept, i)], tol=1e-9) > len(kept):
            kept.append(i)
    return kept
