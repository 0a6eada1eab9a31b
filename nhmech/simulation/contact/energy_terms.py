"""The energy balance of a step with sliding wheels, and the correction that closes it."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...compile.compiled_function import compile_function
from ...once import cached_property
from ...symbolic.buffered import Buffered
from ...vehicle.tyres import tyre_of
from .impulses import Impulses, StepEnds
from .motion import base_axes
from .nonsmooth_terms import NonsmoothTerms

# relative to the energies: a smaller change is rounding
UNSEEN = 1e-14
# largest relative correction of the velocities in a step; it is about 0.01 where the vehicle turns
# by less than a radian in the step
NUDGE = 0.05


@dataclass(frozen=True, eq=False)
class EnergyTerms:
    """Corrects a step so that its energy changes by the work of forces and friction.

    Where mass or rows change along the step, the midpoint rule satisfies this balance only to order
    two. A force along the momentum at the middle, c M w with w the mean velocity, corrects it: a
    discrete gradient (Gonzalez, Journal of Nonlinear Science 6, 1996, 449-467) that is no larger
    than the error of the step. With the speeds u0, u1 of the contacts at both ends of the step::

        c w M w dt = dt tau w + sum min(P (u0 + u1)/2, 0) - (change of E without c)

    Moving ground also does the work -P b, with b of its rows.
    """

    terms: NonsmoothTerms

    def __repr__(self) -> str:
        return f"<EnergyTerms of {self.terms.vehicle.name!r}>"

    @cached_property
    def function(self) -> ca.Function:
        """(t, x, w, theta) -> kinetic and potential energy E [J]."""
        system = self.terms.vehicle.constrained.system
        w = ca.SX.sym("w", self.terms.nv)
        energy = ca.substitute(system.energy, system.v, base_axes(system.q, self.terms.nv) @ w)
        return self.terms.functions.of_x("nonsmooth_energy", [system.t, system.q, w, system.theta],
                               [ca.densify(energy)])

    @cached_property
    def pulls(self) -> np.ndarray:
        """Whether each contact has a tyre, (n,), whose force is not along its row."""
        wheels = self.terms.vehicle.contacts
        found = np.zeros(len(self.terms.contacts), dtype=bool)
        found[:len(wheels)] = [tyre_of(c) is not None for c in wheels]
        return found

    def at(self, t: float, x: np.ndarray, w: np.ndarray) -> float:
        """Energy [J]."""
        return float(self._energy(t, x, w, self.terms.vehicle.theta)[0].item())

    @cached_property
    def _energy(self) -> Buffered:
        return compile_function(self.function)

    def nudge(self, ends: StepEnds, impulses: Impulses, mass: np.ndarray, power: float,
              G: np.ndarray, leaps: set[int]) -> float:
        """c dt of a step with these impulses.

        Parameters
        ----------
        mass, power, G
            As from `NonsmoothTerms.momentum`.
        leaps
            Indices of contacts whose impulses act along the rows at the end of the step.
        """
        now, rows0, t, x, w, rows1 = ends
        mean, dt = (now.w + w) / 2, t - now.t
        # both energies at the same time, because positions may be relative to moving ground
        before, after = self.at(now.t, now.x, now.w), self.at(now.t, x, w)
        gap = before - after + mean @ mass @ (w - now.w) - dt * power
        own, P = G @ mean, impulses.impulses
        speeds, moves = (rows0[0] @ now.w + rows1[0] @ w) / 2, (rows0[1] + rows1[1]) / 2
        for i in impulses.closed:
            rows = list(self.terms.contacts[i].rows)
            if not self.pulls[i] and i not in leaps:
                gap += min(P[rows] @ (speeds + moves)[rows], 0.0) - P[rows] @ (own + moves)[rows]
        held, forces = impulses.bilateral
        gap += forces @ (speeds - own)[held]
        inertia = float(mean @ mass @ mean)
        least = UNSEEN * (abs(before) + abs(after) + inertia)
        gap = np.sign(gap) * max(abs(gap) - least, 0.0)
        return float(np.clip(gap / inertia, -NUDGE, NUDGE)) if inertia else 0.0
