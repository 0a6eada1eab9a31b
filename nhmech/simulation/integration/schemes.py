"""The integration schemes: each is one entry of `SCHEMES`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm

import casadi as ca

from ...vehicle.stiffness import RK4_LIMIT
from .discrete_gradient import DiscreteGradient
from .flow import Flow, Method
from .gauss import Gauss
from .kahan import Kahan

Weights = Sequence[Fraction | int]


@dataclass(frozen=True, eq=False)
class Tableau:
    """Butcher's tableau of an explicit Runge-Kutta scheme."""

    # rows of A below the diagonal; the first stage has an empty one. The nodes c are their sums.
    stages: tuple[Weights, ...]
    weights: Weights  # b, one for each stage

    def advance(self, rate: Callable, t, x, dt):
        """x at t + dt for dx/dt = rate(t, x); numbers or symbols, one column or many."""
        rates: list = []
        for row in self.stages:
            node = Fraction(sum(row))
            rates.append(rate(t + _times(dt, node) if node else t, _move(x, dt, row, rates)))
        return _move(x, dt, self.weights, rates)

    @property
    def rates(self) -> int:
        return len(self.stages)

    def step(self, flow: Flow) -> ca.Function:
        symbol = flow.symbol(self.rates)
        t, x, u, theta, dt = held = flow.arguments(symbol)
        raw = self.advance(lambda t, x: flow.rate(t, x, u, theta), t, x, dt)
        x_next, *_, health = flow.end(t + dt, raw, theta)
        return ca.Function("nhmech_advance", held, [x_next, health],
                           {"cse": True} if symbol is ca.SX else {})


def _move(x, dt, weights: Weights, rates: list):
    """x + dt * sum(weights * rates), with one division by the common denominator."""
    over = lcm(*(Fraction(w).denominator for w in weights))
    terms = [_scale(int(w * over), k) for w, k in zip(weights, rates, strict=True) if w]
    return x + _times(dt, Fraction(1, over)) * sum(terms[1:], terms[0]) if terms else x


def _scale(factor: int, value):
    return value if factor == 1 else factor * value


def _times(dt, fraction: Fraction):
    scaled = _scale(fraction.numerator, dt)
    return scaled if fraction.denominator == 1 else scaled / fraction.denominator


@dataclass(frozen=True)
class Scheme:
    """An integrator.

    Attributes
    ----------
    name
        The value of `Simulator(integrator=...)`.
    order
        Order of the global error in dt.
    method
        The method of a scheme with fixed steps, a `Tableau` if it is explicit; None for Dormand and
        Prince's adaptive method (`compile.adaptive`), which chooses its own steps.
    symmetric
        Whether a step of -dt leads back. In a reversible motion, energy and other integrals then do
        not drift.
    is_quadratic
        Whether it requires that dxi/dt is quadratic in xi.
    is_conservative
        Whether it requires a motion that conserves energy; it conserves it to rounding.
    real_limit, imaginary_limit
        The largest |rate| dt at which x' = rate x does not grow, for a rate on the negative real
        and on the imaginary axis; infinite for steps that follow a tolerance.
    """

    name: str
    order: int
    method: Method | None
    symmetric: bool = False
    is_quadratic: bool = False
    is_conservative: bool = False
    real_limit: float = inf
    imaginary_limit: float = inf


HALF, SIXTH = Fraction(1, 2), Fraction(1, 6)

# Kutta 1901, the scheme of batches and of `dynamics`; stability as in Hairer and Wanner, Solving
# Ordinary Differential Equations II, section IV.2
RK4 = Tableau(((), (HALF,), (0, HALF), (0, 0, 1)), (SIXTH, 2 * SIXTH, 2 * SIXTH, SIXTH))

SCHEMES = {scheme.name: scheme for scheme in (
    Scheme("rk4", 4, RK4, real_limit=RK4_LIMIT, imaginary_limit=2.828),
    Scheme("dop853", 8, None),
    Scheme("gauss", 6, Gauss(3), symmetric=True),
    Scheme("gauss4", 4, Gauss(2), symmetric=True),
    Scheme("kahan", 2, Kahan(), symmetric=True, is_quadratic=True, imaginary_limit=2.0),
    Scheme("discrete_gradient", 2, DiscreteGradient(), symmetric=True, is_conservative=True),
)}
# schemes whose steps have the length dt
FIXED = tuple(name for name, scheme in SCHEMES.items() if scheme.method is not None)
