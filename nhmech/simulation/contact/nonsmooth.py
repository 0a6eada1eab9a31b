"""Steps in which wheels roll, slide, leave the ground and land: the time stepping of Moreau and
Jean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...errors import SimulationError
from .glide import NEAR, REFUSED, Glide, Unsolved
from .impulses import CLOSE, Impulses, Rows
from .motion import SLOW, STILL, Motion, Phase
from .nonsmooth_terms import NonsmoothTerms

LANDED = 1e-12         # of the vehicle's size: height to which the moment of a landing is located
LANDINGS = 200         # in one step at most
HALVES = 8             # of a step that is not solved, one after the other
IMPACT = 12            # iterations of an impact at most; two without tyres
BOUNCES = 2            # of one contact in a step, after which it stays down in that step
BLOW = 1e6             # [N] under which tyres are in an impact, and per newton second what is added


@dataclass(frozen=True, eq=False)
class NonsmoothStep:
    """A step of a vehicle whose wheels obey Signorini's condition and Coulomb's law.

    Over a step from w0 to w1, with mass, forces and force directions at its middle::

        M (w1 - w0) = dt F + B^T Lambda + J^T P,     B1 w1 + b = 0
        u = J1 w1 + b and P as in `ContactProblem`

    F contains the forces of tyres under the loads P/dt. B are the bilateral rows and J those of the
    contacts on the ground, J1 and B1 at the end of the step, so that wheels that stick do so there
    exactly. Where a contact goes on sliding, friction is against its mean slip over the step. It is
    the implicit midpoint rule where nothing changes, and of order two; the moment of sticking is
    known to one step. Heights of contacts that stay down are put back to zero. A
    landing is located and followed by a percussion with Newton's restitution, u_n(after) = -e
    u_n(before).

    Sources: Moreau, 'Unilateral contact and dry friction in finite freedom dynamics', 1988; Jean,
    Computer Methods in Applied Mechanics and Engineering 177, 1999, 235-257; Acary and Brogliato,
    'Numerical Methods for Nonsmooth Dynamical Systems', Springer 2008.
    """

    terms: NonsmoothTerms
    restitution: np.ndarray  # e of each contact, (n,)
    # vertical stiffness of the wheels against each other, (n,), which decides how redundant
    # contacts share the load, in the limit of stiff wheels; equal if None
    stiffness: np.ndarray | None = None

    @cached_property
    def _share(self) -> np.ndarray:
        """How much each contact gives way, (n,); their mean is 1."""
        if self.stiffness is None:
            return np.ones(len(self.terms.contacts))
        return 1 / self.stiffness / np.mean(1 / self.stiffness)

    @property
    def landed(self) -> float:
        """How far below the ground what flies has landed [m]."""
        return LANDED * self.terms.size

    @cached_property
    def glide(self) -> Glide:
        return Glide(self.terms, self._share)

    def start(self, t: float, x: np.ndarray, w: np.ndarray) -> Motion:
        """The motion from there: contacts that approach the ground meet it, those that move away
        leave it. Raises `SimulationError` where the impact has no solution."""
        n = len(self.terms.contacts)
        rows = self.terms.read_rows(t, x, w, np.ones(n))
        motion = Motion(t, x, w, self.terms.touching(rows, w), np.zeros(len(rows[1])), np.zeros(n),
                        np.zeros(n), rows[2][self.terms.heights])
        return self._percuss(motion, self.restitution)

    def advance(self, motion: Motion, u: np.ndarray, dt: float) -> Motion:
        """One step of dt [s] with the inputs u (nu,). Raises `SimulationError` where the contact
        problem is not solved, and where contacts land without end."""
        return self._go(motion.begin(), u, dt, motion.impulses, HALVES)

    def _go(self, now: Motion, u: np.ndarray, dt: float, guess: np.ndarray, halves: int) -> Motion:
        """A step; where it is not solved, so many times halved at most, and then with the wheels
        held where they touch the ground as the part begins."""
        try:
            return self._go_whole(now, u, dt, guess)
        except Unsolved:
            if not halves:
                return self._go_whole(now, u, dt, guess, stays=True)
        middle = self._go(now, u, dt / 2, guess / 2, halves - 1)
        return self._go(middle, u, dt / 2, guess / 2, halves - 1)

    def _go_whole(self, now: Motion, u: np.ndarray, dt: float, guess: np.ndarray,
                  stays: bool = False) -> Motion:
        if now.closed.all():
            return self.glide.take(now, u, dt, now.closed, guess, stays)
        end, landed = now.t + dt, np.zeros(len(now.phases), dtype=int)
        for _ in range(LANDINGS):
            left, calmed = end - now.t, landed > BOUNCES
            found = self.glide.take(now, u, left, now.closed | calmed, guess, stays)
            low = (found.heights < -self.landed) & ~now.closed & ~calmed
            if not low.any():
                return found
            now, landing = self._fall(now, found, u, calmed, stays)
            landed += landing
            phases = np.where(landing, Phase.ROLLING, now.phases)
            now = self._percuss(replace(now, phases=phases), self.restitution)
            if end - now.t <= 0:
                return now
        raise SimulationError(f"at t = {now.t:.6g} s the wheels land {LANDINGS} times within one "
                              f"step of {dt:g} s; take a shorter dt")

    def _fall(self, now: Motion, found: Motion, u: np.ndarray, calmed: np.ndarray,
              stays: bool) -> tuple[Motion, np.ndarray]:
        """The motion up to the first landing on the way to one below the ground, `found`, and which
        contacts land, (n,)."""
        watched, closed = ~now.closed & ~calmed, now.closed | calmed
        dt = found.t - now.t
        low, high, tau = 0.0, dt, dt
        for _ in range(200):
            heights = np.where(watched, found.heights, np.inf)
            i = int(heights.argmin())
            if heights[i] > 0:
                low = tau
            else:
                high, below = tau, (found, heights)
            if abs(heights[i]) <= self.landed:
                return found, heights <= self.landed
            if high - low <= 1e-15 * dt:
                break
            A, b, _ = self.terms.read_rows(found.t, found.x, found.w, found.closed)
            row = self.terms.contacts[i].normal
            speed = float(A[row] @ found.w + b[row])
            newton = tau - heights[i] / speed if speed < 0 else low
            tau = newton if low < newton < high else (low + high) / 2
            found = self.glide.take(now, u, tau, closed, now.impulses, stays)
        # the lowest point of a rim that was flat is where there was none
        found, heights = below
        return found, heights <= self.landed

    def _percuss(self, now: Motion, restitution: np.ndarray) -> Motion:
        """Velocities after the impact of the contacts on the ground that approach it.

        Tyres pull with their loads, M (w1 - w0) = G((w0 + w1)/2)^T P, with the coefficients of
        their largest; where that is not solved, it is in several parts.
        """
        terms = self.terms
        rows0 = terms.read_rows(now.t, now.x, now.w, now.closed)
        A, b, _ = rows0
        approach = A[terms.normals] @ now.w + b[terms.normals]
        size = STILL * max(SLOW * terms.speed, np.abs(A @ now.w + b).max(initial=0.0))
        if not (now.closed & (approach < -size)).any():
            leaves = now.closed & (approach > size)
            return replace(now, phases=np.where(leaves, Phase.AIRBORNE, now.phases))
        back = np.where(approach < -size, approach, 0.0)[now.closed]
        held = restitution[now.closed]
        for parts in (1, 4, 16, 64, 256, 1024):
            w, impulses, error = now.w, np.zeros(len(b)), 0.0
            # of each part's end, the speed against the ground that is left of that before
            for left in 1 - np.arange(1, parts + 1) / parts:
                aim = back * (held - left * (1 + held))
                w, problem, wrong, rows = self._strike(now, w, aim)
                impulses, error = impulses + problem.impulses, max(error, wrong)
            if error <= REFUSED:
                return problem.record(now, rows0, rows, now.t, now.x, w, impulses)
        raise SimulationError(f"the impact at t = {now.t:.6g} s is not solved (residual "
                              f"{error:.2g})")

    def _strike(self, now: Motion, before: np.ndarray, back: np.ndarray,
                ) -> tuple[np.ndarray, Impulses, float, Rows]:
        """A part of an impact from velocities `before`: those after it, its impulses, how far it is
        from being solved, and the rows."""
        terms = self.terms
        problem = Impulses(terms, np.flatnonzero(now.closed), self._share, self.glide.solve_in_c)
        none = np.zeros(terms.vehicle.constrained.system.u.numel())
        w = before
        for _ in range(IMPACT):
            mean = (before + w) / 2
            heavy = np.full(terms.m, BLOW)
            _, F0, D0, _, _ = terms.momentum(now.t, now.x, mean, none, heavy, now.closed)
            lam = heavy + BLOW * problem.impulses
            M, F, D, G, _ = terms.momentum(now.t, now.x, mean, none, lam, now.closed)
            rows = terms.read_rows(now.t, now.x, w, now.closed)
            drag, old = (D - D0) / BLOW / 2, w    # what tyres add as their loads do
            w = problem.solve(M - drag, M @ before + (F - F0) / BLOW - drag @ w, G, rows, back)
            change = terms.change(old, w)
            if change <= CLOSE:
                break
        w = problem.finish()
        return w, problem, problem.error if change <= NEAR else change, rows
