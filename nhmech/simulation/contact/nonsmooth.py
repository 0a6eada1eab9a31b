"""Steps in which wheels roll, slide, leave the ground and land: the time-stepping scheme of Moreau
and Jean."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ...compile.loop import Loop
from ...compile.sliding_loop import SlidingLayout, sliding_loop
from ...errors import SimulationError
from ...once import cached_property
from ..state_vector import StateVector
from .implicit_step import NEAR, REFUSED, ImplicitStep, Unsolved
from .impulses import CLOSE, Impulses, Rows, StepEnds
from .motion import SLOW, STILL, Motion, base_axes
from .nonsmooth_terms import NonsmoothTerms
from .phases import FLIES, ROLLS, Phase

LANDED = 1e-12         # of the vehicle's size: height at the located moment of a landing, at most
LANDINGS = 200         # landings in one step at most
HALVES = 8             # a step that is not solved is halved so many times at most
IMPACT = 12            # iterations of an impact at most; two without tyres
QUARTERS = 6           # divisions of an impact that are tried: into 1, 4, 16... parts
BOUNCES = 2            # after so many landings in one step a contact stays down until its end
# Tyres in an impact are linearised at this load [N], plus this much per newton second of impulse.
BLOW = 1e6


@dataclass(frozen=True, eq=False)
class NonsmoothStep:
    """The steps of a vehicle whose wheels obey Signorini's condition and Coulomb's law.

    A step from w0 to w1 satisfies, with mass, forces and force directions at its middle::

        M (w1 - w0) = dt F + B^T Lambda + J^T P,     B1 w1 + b = 0
        u = J1 w1 + b and P as in `ContactProblem`

    F contains the forces of tyres under the loads P/dt. B are the bilateral rows and J those of the
    contacts on the ground; J1 and B1 are taken at the end of the step, so that wheels that stick
    have no slip there. Where a contact goes on sliding, friction opposes its mean slip over the
    step. While no phase changes this is the implicit midpoint rule, of order two; the moment at
    which a contact sticks is known to within one step. Heights of contacts that stay on the ground
    are corrected to zero. The moment of a landing is located; an impact with Newton's restitution
    follows, u_n(after) = -e u_n(before).

    Sources: Moreau, 'Unilateral contact and dry friction in finite freedom dynamics', 1988; Jean,
    Computer Methods in Applied Mechanics and Engineering 177, 1999, 235-257; Acary and Brogliato,
    'Numerical Methods for Nonsmooth Dynamical Systems', Springer 2008.
    """

    terms: NonsmoothTerms
    restitution: np.ndarray  # e of each contact, (n,)
    # Vertical stiffness of the contacts, (n,). Its ratios determine how redundant contacts share
    # the load, in the limit of stiff wheels. Equal if None.
    stiffness: np.ndarray | None = None

    @cached_property
    def _share(self) -> np.ndarray:
        """Relative compliance of the ground at each contact, (n,), with mean 1."""
        if self.stiffness is None:
            return np.ones(len(self.terms.contacts))
        return 1 / self.stiffness / np.mean(1 / self.stiffness)

    @property
    def landed(self) -> float:
        """A contact has landed when it is so far below the ground [m]."""
        return LANDED * self.terms.size

    @cached_property
    def implicit(self) -> ImplicitStep:
        return ImplicitStep(self.terms, self._share)

    def start(self, t: float, x: np.ndarray, w: np.ndarray) -> Motion:
        """The motion from x and w on: contacts that approach the ground undergo an impact, those
        that move away leave it. Raises `SimulationError` if the impact has no solution."""
        n = len(self.terms.contacts)
        rows = self.terms.read_rows(t, x, w, np.ones(n))
        motion = Motion(t, x, w, self.terms.find_phases(rows, w), np.zeros(len(rows[1])),
                        np.zeros(n), np.zeros(n), rows[2][self.terms.heights])
        return self._percuss(motion, self.restitution)

    def advance(self, motion: Motion, u: np.ndarray, dt: float) -> Motion:
        """One step of dt [s] with the inputs u (nu,). Raises `SimulationError` if the contact
        problem is not solved, and if contacts land more than `LANDINGS` times."""
        return self._go(motion.begin(), u, dt, motion.impulses, HALVES)

    def _go(self, now: Motion, u: np.ndarray, dt: float, guess: np.ndarray, halves: int) -> Motion:
        """One step. A step that is not solved is halved, at most so many times; then the contact
        points at the beginning are used throughout."""
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
            return self.implicit.take(now, u, dt, now.closed, guess, stays)
        end, landed = now.t + dt, np.zeros(len(now.phases), dtype=int)
        for _ in range(LANDINGS):
            left, calmed = end - now.t, landed > BOUNCES
            found = self.implicit.take(now, u, left, now.closed | calmed, guess, stays)
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
        """The motion up to the first landing before `found`, which is below the ground; and whether
        each contact lands there, (n,)."""
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
            found = self.implicit.take(now, u, tau, closed, now.impulses, stays)
        # a rim that lay flat has a lowest point only now
        found, heights = below
        return found, heights <= self.landed

    def _percuss(self, now: Motion, restitution: np.ndarray) -> Motion:
        """The motion after the impact of those contacts on the ground that approach it.

        Forces of tyres are proportional to their loads, M (w1 - w0) = G((w0 + w1)/2)^T P, with the
        coefficients of large loads. An impact that is not solved is divided into parts.
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
        for parts in (4 ** k for k in range(QUARTERS)):
            w, impulses, error = now.w, np.zeros(len(b)), 0.0
            # left: part of the approach speed that remains at the end of each part
            for left in 1 - np.arange(1, parts + 1) / parts:
                aim = back * (held - left * (1 + held))
                w, problem, wrong, rows = self._strike(now, w, aim)
                impulses, error = impulses + problem.impulses, max(error, wrong)
            if error <= REFUSED:
                return problem.record(StepEnds(now, rows0, now.t, now.x, w, rows), impulses)
        raise SimulationError(f"the impact at t = {now.t:.6g} s is not solved (residual "
                              f"{error:.2g})")

    def _strike(self, now: Motion, before: np.ndarray, back: np.ndarray,
                ) -> tuple[np.ndarray, Impulses, float, Rows]:
        """A part of an impact that begins with the velocities `before`: the velocities after it,
        its impulses, its residual, and the rows."""
        terms = self.terms
        problem = Impulses(terms, np.flatnonzero(now.closed), self._share, self.implicit.solve_in_c)
        none = np.zeros(terms.vehicle.constrained.system.u.numel())
        w = before
        for _ in range(IMPACT):
            mean = (before + w) / 2
            heavy = np.full(terms.m, BLOW)
            _, _, D0, _, _ = terms.momentum(now.t, now.x, mean, none, heavy, now.closed)
            lam = heavy + BLOW * problem.impulses
            M, _, D, G, _ = terms.momentum(now.t, now.x, mean, none, lam, now.closed)
            rows = terms.read_rows(now.t, now.x, w, now.closed)
            drag, old = (D - D0) / BLOW / 2, w    # slope of the tyre forces by the load
            w = problem.solve(M - drag, M @ before - drag @ w, G, rows, back)
            change = terms.change(old, w)
            if change <= CLOSE:
                break
        w = problem.finish()
        return w, problem, problem.error if change <= NEAR else change, rows


def loop_of_sliding(step: NonsmoothStep, watch: ca.Function, speeds: int,
                    rests_end: bool) -> Loop | None:
    """The compiled loop. None if only Python can take such steps: without a compiler, and if bodies
    can touch the ground, because a record does not contain their points.

    Parameters
    ----------
    watch
        (t, q) -> margins (n,), whose signs no step of the loop changes.
    speeds
        Number of independent speeds, which follow the configuration in x.
    rests_end
        Whether the loop stops before a step after which all wheels roll.
    """
    terms = step.terms
    if terms.bodies.links or step.implicit.code is None:
        return None
    vector = StateVector(terms.vehicle.algebroid, 0)
    x, v = ca.SX.sym("x", vector.nconf), ca.SX.sym("v", terms.nv)
    q = vector.configuration(x)
    T = base_axes(q, terms.nv)
    enter = ca.Function("enter_world", [x, v], [ca.densify(T.T @ v)], {"cse": True})
    leave = ca.Function("leave_world", [x, v], [ca.densify(q), ca.densify(T @ v)], {"cse": True})
    layout = SlidingLayout(tuple(terms.vehicle.contact_rows.values()), len(terms.contacts),
                           speeds, ROLLS, FLIES, step.landed, rests_end)
    return sliding_loop(step.implicit.code, enter, leave, watch, layout)
