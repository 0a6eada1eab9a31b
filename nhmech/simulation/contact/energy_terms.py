"""What a step does to the energy of a vehicle, and what lets it do no more than its forces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ...compile.buffered import Buffered, in_c
from ...vehicle.tyres import tyre_of
from .impulses import Impulses, Rows
from .motion import Motion
from .nonsmooth_terms import NonsmoothTerms
from .world_axes import base_axes

# of the energies at hand: a change that is rounding
UNSEEN = 1e-14
# how much a step is sped up or slowed for its energy at most: of steps in which the vehicle turns
# by less than a radian it is a hundredth
NUDGE = 0.05


@dataclass(frozen=True, eq=False)
class EnergyTerms:
    """Keeps the account of a step: the energy changes by the work of forces and friction.

    The midpoint rule does so to order two only where mass or rows change along the step. A force
    along the momentum at its middle, c M w with w the mean velocity, makes up for that: a discrete
    gradient (Gonzalez, Journal of Nonlinear Science 6, 1996, 449-467), of the order of the step's
    own error. With the changes over the step, and speeds u of contacts at both its ends::

        c w M w dt = dt tau w + sum min(P (u0 + u1)/2, 0) - change of E  without it

    Ground that moves does the work -P b too, with the b of its rows.
    """

    terms: NonsmoothTerms

    def __repr__(self) -> str:
        return f"<EnergyTerms of {self.terms.vehicle.name!r}>"

    @cached_property
    def function(self) -> ca.Function:
        """(t, x, w, theta) -> kinetic plus potential energy [J]."""
        system = self.terms.vehicle.constrained.system
        w = ca.SX.sym("w", self.terms.nv)
        energy = ca.substitute(system.energy, system.v, base_axes(system.q, self.terms.nv) @ w)
        return self.terms.of_x("nonsmooth_energy", [system.t, system.q, w, system.theta],
                               [ca.densify(energy)])

    @cached_property
    def pulls(self) -> np.ndarray:
        """Which contacts have tyres, (n,): the directions of their loads are not their rows."""
        wheels = self.terms.vehicle.contacts
        found = np.zeros(len(self.terms.contacts), dtype=bool)
        found[:len(wheels)] = [tyre_of(c) is not None for c in wheels]
        return found

    def at(self, t: float, x: np.ndarray, w: np.ndarray) -> float:
        """E [J]."""
        return float(self._energy(t, x, w, self.terms.vehicle.theta)[0].item())

    @cached_property
    def _energy(self) -> Buffered:
        return Buffered(in_c(self.function) or self.function)

    def nudge(self, now: Motion, rows0: Rows, t: float, x: np.ndarray, w: np.ndarray, rows1: Rows,
              impulses: Impulses, mass: np.ndarray, power: float, G: np.ndarray,
              leaps: set[int]) -> float:
        """c dt, of a step from `now` that ends in x and w at t [s] after these impulses.

        Parameters
        ----------
        mass, power, G
            Of `NonsmoothTerms.momentum_function`.
        leaps
            Contacts whose impulses act where they are at the end.
        """
        mean, dt = (now.w + w) / 2, t - now.t
        # of the same time: places may be told from a ground that moves
        before, after = self.at(now.t, now.x, now.w), self.at(now.t, x, w)
        gap = before - after + mean @ mass @ (w - now.w) - dt * power
        own, P = G @ mean, impulses.impulses
        ends, moves = (rows0[0] @ now.w + rows1[0] @ w) / 2, (rows0[1] + rows1[1]) / 2
        for i in impulses.closed:
            rows = list(self.terms.contacts[i].rows)
            if not self.pulls[i] and i not in leaps:
                gap += min(P[rows] @ (ends + moves)[rows], 0.0) - P[rows] @ (own + moves)[rows]
        held, forces = impulses.bilateral
        gap += forces @ (ends - own)[held]
        inertia = float(mean @ mass @ mean)
        least = UNSEEN * (abs(before) + abs(after) + inertia)
        gap = np.sign(gap) * max(abs(gap) - least, 0.0)
        return float(np.clip(gap / inertia, -NUDGE, NUDGE)) if inertia else 0.0
