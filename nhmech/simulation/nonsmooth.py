"""Steps in which wheels roll, slide, leave the ground and land: the time stepping of Moreau and
Jean."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np

from ..errors import SimulationError
from .contact_problem import Cone, ContactProblem
from .nonsmooth_terms import NonsmoothTerms, to_body, to_world
from .state_vector import StateVector

OUTER = 12             # iterations of the implicit step at most; three to five are usual
CLOSE = 1e-11          # change of velocities, relative, at which they end
# of the velocities that impulses make: how much the ground gives way. It decides how redundant
# contacts share the load, alike for all stiff wheels; what it lets them move is taken away again
# (proximal point method), some digits a round
COMPLIANCE, NEARER = 1e-6, 20
STILL = 1e-7           # of the velocities of a step: below this a contact does not move
REFUSED = 1e-7         # residual of a contact problem that has not been solved
LANDED = 1e-12         # [m] to which the moment of a landing is located
TOUCHING = 1e-9        # [m] of height below which a contact of a start is on the ground
LANDINGS = 200         # in one step at most
BOUNCES = 2            # of one contact in a step, after which it stays down in that step


class Phase(IntEnum):
    """What a wheel does.

    Members
    -------
    ROLLING
        It rolls (or stands) without slip.
    SLIDING
        It slides along the ground.
    AIRBORNE
        It does not touch the ground.
    """

    ROLLING = 0
    SLIDING = 1
    AIRBORNE = 2


@dataclass(frozen=True, eq=False)
class Motion:
    """A moment in full velocities.

    Attributes
    ----------
    t
        [s].
    x
        Position, quaternion and joint positions (angles unwrapped).
    w
        Velocities (nv,), those of the base along the axes of W.
    phases
        Of each contact, (n,).
    impulses
        Of the ground on the contacts since the step began, row by row, (m,) [N s].
    slid, lost
        Way that each contact has slid [m] and energy that it has lost [J] since the start, (n,).
    """

    t: float
    x: np.ndarray
    w: np.ndarray
    phases: np.ndarray
    impulses: np.ndarray
    slid: np.ndarray
    lost: np.ndarray

    @property
    def closed(self) -> np.ndarray:
        """Which contacts are on the ground, (n,)."""
        return self.phases != Phase.AIRBORNE


@dataclass(frozen=True, eq=False)
class NonsmoothStep:
    """A step of a vehicle whose wheels obey Signorini's condition and Coulomb's law.

    Over a step from w0 to w1, with mass, forces and force directions at its middle::

        M (w1 - w0) = dt F + B^T Lambda + J^T P,     B1 w1 + b = 0
        u = J1 w1 + b and P as in `ContactProblem`

    B are the bilateral rows and J those of the contacts on the ground, J1 and B1 at the end of the
    step, so that wheels that stick do so there exactly. It is the implicit midpoint rule where
    nothing changes, and of order two; the moment of sticking is known to one step. Heights of
    contacts that stay down are put back to zero. A landing is located and followed by a percussion
    with Newton's restitution, u_n(after) = -e u_n(before).

    Sources: Moreau, 'Unilateral contact and dry friction in finite freedom dynamics', 1988; Jean,
    Computer Methods in Applied Mechanics and Engineering 177, 1999, 235-257; Acary and Brogliato,
    'Numerical Methods for Nonsmooth Dynamical Systems', Springer 2008.

    Attributes
    ----------
    restitution
        e of each contact, (n,).
    """

    terms: NonsmoothTerms
    restitution: np.ndarray

    @cached_property
    def _vector(self) -> StateVector:
        return StateVector(self.terms.vehicle.algebroid, 0)

    @cached_property
    def _theta(self) -> np.ndarray:
        return self.terms.vehicle.theta

    @cached_property
    def _per_metre(self) -> np.ndarray:
        """Of each velocity, what makes a metre per second."""
        return self.terms.per_metre

    @cached_property
    def _places(self) -> tuple[np.ndarray, ...]:
        """Of plain coordinates, their places in q and x; of angles, likewise of the cosine."""
        slots = self._vector.slots
        plain = [(iq, ix) for ix, iq, angle in slots if not angle]
        turning = [(iq, ix) for ix, iq, angle in slots if angle]
        return tuple(np.array(part, dtype=int).reshape(-1, 2).T for part in (plain, turning))

    def configuration(self, x: np.ndarray) -> np.ndarray:
        """q (nq,) of x."""
        (iq, ix), (jq, jx) = self._places
        q = np.empty(self._vector.algebroid.nq)
        q[iq], q[jq], q[jq + 1] = x[ix], np.cos(x[jx]), np.sin(x[jx])
        return q

    def start(self, t: float, x: np.ndarray, w: np.ndarray) -> Motion:
        """The motion from there: contacts that approach the ground meet it, those that move away
        leave it. Raises `SimulationError` where the impact has no solution."""
        n, rows = len(self.terms.contacts), self._rows(t, self.configuration(x))
        heights = self._heights(rows[2])
        slip = rows[0] @ w + rows[1]
        slides = [bool(np.abs(slip[list(c.along)]).max(initial=0.0) > STILL)
                  for c in self.terms.contacts]
        phases = np.where(heights > TOUCHING, Phase.AIRBORNE,
                          np.where(slides, Phase.SLIDING, Phase.ROLLING))
        motion = Motion(t, x, w, phases, np.zeros(len(rows[1])), np.zeros(n), np.zeros(n))
        return self._percuss(motion, self.restitution)

    # -- a step ------------------------------------------------------------------------------------
    def advance(self, motion: Motion, u: np.ndarray, dt: float) -> Motion:
        """One step of dt [s] with the inputs u (nu,).

        Raises
        ------
        SimulationError
            Where the contact problem is not solved, and where contacts land without end.
        """
        now = replace(motion, impulses=np.zeros_like(motion.impulses))
        end, landed = motion.t + dt, np.zeros(len(motion.phases), dtype=int)
        for _ in range(LANDINGS):
            left = end - now.t
            found = self._glide(now, u, left, landed > BOUNCES)
            low = self._heights(self._rows(found.t, self.configuration(found.x))[2]) < -LANDED
            low &= ~now.closed & (landed <= BOUNCES)
            if not low.any():
                return found
            now, landing = self._fall(now, u, left, landed > BOUNCES)
            landed += landing
            phases = np.where(landing, Phase.ROLLING, now.phases)
            now = self._percuss(replace(now, phases=phases), self.restitution)
            if end - now.t <= 0:
                return now
        raise SimulationError(f"at t = {now.t:.6g} s the wheels land {LANDINGS} times within one "
                              f"step of {dt:g} s; take a shorter dt")

    def _fall(self, now: Motion, u: np.ndarray, dt: float,
              calmed: np.ndarray) -> tuple[Motion, np.ndarray]:
        """The motion up to the first landing within dt [s], and which contacts land, (n,)."""
        watched = ~now.closed & ~calmed
        low, high, tau = 0.0, dt, dt
        for _ in range(200):
            found = self._glide(now, u, tau, calmed)
            A, b, phi = self._rows(found.t, self.configuration(found.x))
            heights = np.where(watched, self._heights(phi), np.inf)
            i = int(heights.argmin())
            if abs(heights[i]) <= LANDED or high - low <= 1e-15 * dt:
                return found, heights <= LANDED
            low, high = (tau, high) if heights[i] > 0 else (low, tau)
            row = self.terms.contacts[i].normal
            speed = float(A[row] @ found.w + b[row])
            newton = tau - heights[i] / speed if speed < 0 else low
            tau = newton if low < newton < high else (low + high) / 2
        return found, heights <= LANDED

    def _glide(self, now: Motion, u: np.ndarray, dt: float,
               calmed: np.ndarray | None = None) -> Motion:
        """A step in which contacts may leave the ground, and none lands.

        Parameters
        ----------
        calmed
            Contacts that have bounced enough: those in the air are taken to be on the ground too.
        """
        middle, end, w0, w1 = now.t + dt / 2, now.t + dt, now.w, now.w
        closed = np.flatnonzero(now.closed if calmed is None else now.closed | calmed)
        problem = _Impulses(self, closed)
        rows0 = self._rows(now.t, self.configuration(now.x))
        kept = closed
        for _ in range(OUTER):
            mean = (w0 + w1) / 2
            q = self.configuration(_move(now.x, dt / 2 * mean))
            M, F, D = (part.copy() for part in
                       self.terms.momentum(middle, q, mean, u, self._theta))
            forces = self._rows(middle, q)[0]
            x, rows1 = self._onto_ground(end, _move(now.x, dt * mean), kept)
            before = w1
            w1 = problem.solve(M - dt / 2 * D, M @ w0 + dt * (F - D @ before / 2), forces, rows1)
            kept = closed[problem.presses]
            if np.abs(w1 - before).max() <= CLOSE * max(1.0, np.abs(w1).max()):
                break
        w1 = problem.finish()
        if problem.error > REFUSED:
            raise SimulationError(
                f"the contact problem at t = {now.t:.6g} s is not solved (residual "
                f"{problem.error:.2g}): friction and normal forces contradict each other there, or "
                "the step is too long; take a shorter dt, or a smaller mu")
        return self._record(now, rows0, rows1, problem, end, x, w1)

    def _percuss(self, now: Motion, restitution: np.ndarray) -> Motion:
        """Velocities after the impact of the contacts on the ground that approach it."""
        q = self.configuration(now.x)
        rows = self._rows(now.t, q)
        A, b, _ = rows
        normals = [c.normal for c in self.terms.contacts]
        approach = A[normals] @ now.w + b[normals]
        size = STILL * max(1e-3, np.abs(A @ now.w + b).max(initial=0.0))
        if not (now.closed & (approach < -size)).any():
            leaves = now.closed & (approach > size)
            return replace(now, phases=np.where(leaves, Phase.AIRBORNE, now.phases))
        closed = np.flatnonzero(now.closed)
        problem = _Impulses(self, closed)
        M = self.terms.momentum(now.t, q, now.w, np.zeros(self._nu), self._theta)[0].copy()
        back = np.where(approach < -size, restitution * approach, 0.0)[closed]
        problem.solve(M, M @ now.w, A, rows, back)
        w = problem.finish()
        if problem.error > REFUSED:
            raise SimulationError(f"the impact at t = {now.t:.6g} s is not solved (residual "
                                  f"{problem.error:.2g})")
        return self._record(now, rows, rows, problem, now.t, now.x, w)

    # -- rates -------------------------------------------------------------------------------------
    def accelerate(self, motion: Motion,
                   u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """dv/dt (nv,), how it changes with u (nv, nu), and the forces on the contacts, row by row
        (m,) [N], while each wheel goes on with what it does.

        Rows that hold the same share the load with least norm. A wheel that slides has friction
        against its slip.
        """
        terms, q = self.terms, self.configuration(motion.x)
        v = to_body(q, motion.w)
        M, F, _ = (part.copy() for part in terms.momentum(motion.t, q, motion.w, u, self._theta))
        A, b, _ = self._rows(motion.t, q)
        effect = terms.effect(motion.t, q, v, u, self._theta)[0].copy()
        turn = np.zeros(len(v))
        turn[:3] = -np.cross(v[3:6], v[:3])             # dv/dt = T dw/dt + turn
        gamma = terms.gamma(motion.t, q, v, self._theta)[0] + A @ to_world(q, turn)
        held, pulls = list(terms.bilateral), [A[i] for i in terms.bilateral]
        slip, parts = A @ motion.w + b, [np.eye(len(A))[i] for i in held]
        for c, phase in zip(terms.contacts, motion.phases):
            if phase == Phase.AIRBORNE:
                continue
            pull = np.eye(len(A))[list(c.rows)]
            along = slip[list(c.along)]
            if phase == Phase.SLIDING and along.any():
                pull = pull[:1] - c.mu * along / np.linalg.norm(along) @ pull[1:]
            held += c.rows[:len(pull)]
            pulls += list(pull @ A)
            parts += list(pull)
        nv, n = len(v), len(held)
        matrix = np.zeros((nv + n, nv + n))
        matrix[:nv, :nv], matrix[nv:, :nv] = M, A[held]
        matrix[:nv, nv:] = -np.reshape(pulls, (n, nv)).T
        right = np.zeros((nv + n, 1 + effect.shape[1]))
        right[:nv, 0], right[nv:, 0] = F, -gamma[held]
        for j, column in enumerate(effect.T):
            right[:nv, 1 + j] = to_world(q, column)
        found = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
        rates = np.array([to_body(q, column) for column in found[:nv].T]).T
        return (rates[:, 0] + turn, rates[:, 1:],
                np.reshape(parts, (n, len(A))).T @ found[nv:, 0])

    @property
    def _nu(self) -> int:
        return self.terms.vehicle.constrained.system.u.numel()

    def _record(self, now: Motion, rows0: tuple, rows1: tuple, problem: _Impulses, t: float,
                x: np.ndarray, w: np.ndarray) -> Motion:
        """The motion after a step, with what its contacts did."""
        phases, slid, lost = now.phases.copy(), now.slid.copy(), now.lost.copy()
        phases[problem.closed] = problem.phases
        before, after = rows0[0] @ now.w + rows0[1], rows1[0] @ w + rows1[1]
        impulses = problem.impulses
        for i in problem.closed:
            c = self.terms.contacts[i]
            lost[i] -= impulses[list(c.rows)] @ (before + after)[list(c.rows)] / 2
            if c.along and phases[i] == Phase.SLIDING:
                slid[i] += (t - now.t) * float(np.linalg.norm(
                    (before + after)[list(c.along)])) / 2
        return Motion(t, x, w, phases, now.impulses + impulses, slid, lost)

    # -- places ------------------------------------------------------------------------------------
    def _rows(self, t: float, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        A, b, phi = self.terms.rows(t, q, self._theta)
        return A.copy(), b.copy(), phi.copy()

    def _heights(self, phi: np.ndarray) -> np.ndarray:
        return phi[[c.height for c in self.terms.contacts]]

    def _onto_ground(self, t: float, x: np.ndarray, kept: np.ndarray,
                     ) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """x with the heights of some contacts and all bilateral functions zero, and the rows
        there."""
        terms = self.terms
        d = terms.vehicle.constrained.distribution
        functions = [*(terms.contacts[i].height for i in kept), *terms.bilateral_heights]
        forms = [d.phi_rows[k] for k in functions]
        rows = self._rows(t, self.configuration(x))
        for _ in range(4):
            off = rows[2][functions]
            if np.abs(off).max(initial=0.0) <= 1e-15:
                break
            step = np.linalg.lstsq(rows[0][forms] * self._per_metre, -off, rcond=1e-10)[0]
            x = _move(x, step * self._per_metre)
            rows = self._rows(t, self.configuration(x))
        return x, rows


class _Impulses:
    """The impulses of one step, and what they make of the contacts.

    Parameters
    ----------
    closed
        Contacts on the ground.

    Attributes
    ----------
    error
        Residual of the contact problem.
    impulses
        (m,), zero at rows of no contact on the ground.
    phases
        Of the closed contacts, after the step.
    presses
        Which of them end on the ground.
    """

    def __init__(self, step: NonsmoothStep, closed: np.ndarray):
        self.closed = closed
        self._contacts = [step.terms.contacts[i] for i in closed]
        self._bilateral = list(step.terms.bilateral)
        self._rows = [row for c in self._contacts for row in c.rows]
        self._cones, at = [], 0
        for c in self._contacts:
            self._cones.append(Cone(at, tuple(range(at + 1, at + len(c.rows))), c.mu))
            at += len(c.rows)
        self._P = np.zeros(at)
        self._per_metre = step.terms.per_metre
        self._give = 0.0
        self._system: tuple = ()
        self.error = 0.0
        self.impulses = np.zeros(0)
        self.phases = np.zeros(len(closed), dtype=int)
        self.presses = np.ones(len(closed), dtype=bool)

    def solve(self, mass: np.ndarray, momentum: np.ndarray, forces: np.ndarray,
              rows: tuple[np.ndarray, np.ndarray, np.ndarray],
              back: np.ndarray | None = None) -> np.ndarray:
        """w (nv,) with mass w = momentum + forces^T (impulses), and the rows' conditions on it.

        Parameters
        ----------
        back
            e u_n(before) of the closed contacts, for an impact.
        """
        A, b, _ = rows
        nv, held, J = len(momentum), _independent(A[self._bilateral]), A[self._rows]
        held = [self._bilateral[i] for i in held]
        matrix = np.zeros((nv + len(held), nv + len(held)))
        matrix[:nv, :nv], matrix[:nv, nv:] = mass, -forces[held].T
        matrix[nv:, :nv] = A[held]
        right = np.zeros((nv + len(held), 1 + len(self._rows)))
        right[:nv, 0], right[nv:, 0] = momentum, -b[held]
        right[:nv, 1:] = forces[self._rows].T
        found = np.linalg.solve(matrix, right)[:nv]
        W, g = J @ found[:, 1:], J @ found[:, 0] + b[self._rows]
        if back is not None:
            g[[cone.normal for cone in self._cones]] += back
        if len(self._rows):
            self._give = COMPLIANCE * np.diag(W).max()
            W[np.diag_indices(len(W))] += self._give
            self._push(W, g)
        self._system = found, J, W, g, A, b, back
        return self._velocity()

    def _push(self, W: np.ndarray, g: np.ndarray) -> None:
        """The impulses on a ground that gives way to what they have grown by."""
        nearer = ContactProblem(W, g - self._give * self._P, self._cones)
        self._P, self.error = nearer.solve(self._P)

    def _velocity(self) -> np.ndarray:
        """w (nv,) of the impulses found; what the contacts do then is noted."""
        found, J, W, g, _, b, back = self._system
        w = found[:, 0] + found[:, 1:] @ self._P
        u = J @ w + b[self._rows]
        if back is not None:
            u[[cone.normal for cone in self._cones]] += back
        self._judge(u, float(np.abs(g).max(initial=1e-9)))
        return w

    def finish(self) -> np.ndarray:
        """w (nv,) of the latest solution without what the ground gave way; the share of the load
        stays as it is."""
        _, _, W, g, A, b, back = self._system
        size = CLOSE * float(np.abs(g).max(initial=0.0))
        for _ in range(NEARER if len(self._rows) else 0):
            before = self._P
            self._push(W, g)
            if self._give * np.abs(self._P - before).max() <= size * COMPLIANCE:
                break
        w = self._velocity()
        self.impulses = np.zeros(len(b))
        self.impulses[self._rows] = self._P
        return self._hold(w, A, b, back)

    def _judge(self, u: np.ndarray, size: float) -> None:
        """What the contacts do after the step, of their speeds u."""
        for k, cone in enumerate(self._cones):
            self.presses[k] = self._P[cone.normal] > 0 or u[cone.normal] <= STILL * size
            slides = np.linalg.norm(u[list(cone.along)]) > STILL * size
            self.phases[k] = (Phase.AIRBORNE if not self.presses[k] else
                              Phase.SLIDING if slides else Phase.ROLLING)

    def _hold(self, w: np.ndarray, A: np.ndarray, b: np.ndarray,
              back: np.ndarray | None) -> np.ndarray:
        """w without what the ground's compliance let the held rows move."""
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


def _independent(rows: np.ndarray) -> list[int]:
    """Rows that span all of them."""
    kept: list[int] = []
    for i in range(len(rows)):
        if np.linalg.matrix_rank(rows[[*kept, i]], tol=1e-9) > len(kept):
            kept.append(i)
    return kept


def _move(x: np.ndarray, step: np.ndarray) -> np.ndarray:
    """x moved by a step in w times time: the base turned by a rotation vector in W."""
    moved = np.concatenate((x[:3] + step[:3], x[3:7], x[7:] + step[6:]))
    rx, ry, rz = step[3:6].tolist()
    angle = math.sqrt(rx * rx + ry * ry + rz * rz)
    s, c = (math.sin(angle / 2) / angle if angle else 0.5), math.cos(angle / 2)
    ax, ay, az, (bx, by, bz, bw) = s * rx, s * ry, s * rz, x[3:7].tolist()
    turned = (c * bx + ax * bw + ay * bz - az * by, c * by - ax * bz + ay * bw + az * bx,
              c * bz + ax * by - ay * bx + az * bw, c * bw - ax * bx - ay * by - az * bz)
    length = math.hypot(*turned)
    moved[3:7] = [part / length for part in turned]
    return moved
