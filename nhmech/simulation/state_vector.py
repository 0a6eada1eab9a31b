"""The state vector x = (q with each (cos, sin) pair replaced by its unwrapped angle, xi)."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.equations import Equations
from ..once import cached_property


@dataclass(frozen=True)
class StateVector:
    """The layout of the state vector x, and conversions between x and (q, angles, xi).

    Quaternions stay as they are. Angles are unwrapped: turns are counted.

    Attributes
    ----------
    algebroid
        The configuration space.
    nxi
        Number of independent speeds.
    """

    algebroid: LieAlgebroid
    nxi: int

    @classmethod
    def of(cls, equations: Equations) -> StateVector:
        frame = equations.frame
        return cls(frame.constrained.system.algebroid, frame.nxi)

    @cached_property
    def nconf(self) -> int:
        """Length of the configuration's part of x."""
        return self.algebroid.nq - len(self.algebroid.circles)

    @cached_property
    def nx(self) -> int:
        return self.nconf + self.nxi

    @cached_property
    def slots(self) -> list[tuple[int, int, bool]]:
        """For each coordinate (index in x, index in q, whether an angle replaces a pair)."""
        result, iq, ix, pairs = [], 0, 0, dict(self.algebroid.circles)
        while iq < self.algebroid.nq:
            angle = iq in pairs
            result.append((ix, iq, angle))
            iq, ix = iq + (2 if angle else 1), ix + 1
        return result

    def names(self, xi_names: tuple[str, ...]) -> tuple[str, ...]:
        names = self.algebroid.q_names
        positions = (names[iq].removesuffix(".cos") if angle else names[iq]
                     for _, iq, angle in self.slots)
        return (*positions, *xi_names)

    def split(self, x: ca.SX | ca.MX) -> list:
        """The configuration's part of x, and xi; symbolic. (Slices of a single number have other
        shapes.)"""
        return ca.vertsplit(x, [0, self.nconf, self.nx])

    def configuration(self, x):
        """q (nq,) from the configuration's part of x; symbols or numbers."""
        symbolic = isinstance(x, ca.SX)
        cos, sin = (ca.cos, ca.sin) if symbolic else (np.cos, np.sin)
        parts = []
        for ix, _, angle in self.slots:
            parts += [cos(x[ix]), sin(x[ix])] if angle else [x[ix]]
        return ca.vertcat(*parts) if symbolic else np.array(parts)

    def unit(self, configuration: ca.SX) -> ca.SX:
        """The configuration's part of x with normalised quaternions, symbolic."""
        result = ca.SX(configuration)
        for ix, iq, _ in self.slots:
            if iq in self.algebroid.quaternions:
                result[ix:ix + 4] /= ca.norm_2(result[ix:ix + 4])
        return result

    def rate(self, q_rate, v, xi_rate):
        """dx/dt from dq/dt and v, symbolic. The rate of an angle is a fibre coordinate, which is
        simpler than its cosine and sine."""
        turning = dict(self.algebroid.circles)
        parts = [v[turning[iq]] if angle else q_rate[iq] for _, iq, angle in self.slots]
        return ca.vertcat(*parts, xi_rate)

    def assemble(self, q: np.ndarray, xi: np.ndarray, near: np.ndarray | None = None) -> np.ndarray:
        """x from numbers; angles are those nearest to the angles of `near` (an x), or in (-pi, pi]
        if None."""
        x = np.empty(self.nx)
        for ix, iq, angle in self.slots:
            x[ix] = np.arctan2(q[iq + 1], q[iq]) if angle else q[iq]
            if angle and near is not None:
                x[ix] += 2 * np.pi * np.round((near[ix] - x[ix]) / (2 * np.pi))
        x[self.nconf:] = xi
        return x

    def angle_slots(self) -> tuple[int, ...]:
        """Indices of the unwrapped angles in x."""
        return tuple(ix for ix, _, angle in self.slots if angle)


def state_symbols(equations: Equations) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Symbols x (nx,), and q (nq,) and v (nv,) as expressions of x, and of the system's t and
    theta."""
    vector, system = StateVector.of(equations), equations.constrained.system
    x = ca.SX.sym("x", vector.nx)
    configuration, xi = vector.split(x)
    q = vector.configuration(configuration)
    return x, q, equations.velocity(system.t, q, xi, system.theta)
