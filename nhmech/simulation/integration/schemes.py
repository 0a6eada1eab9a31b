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

    # the rows of A below its diagonal; the first stage has none. The nodes c are their sums.
    stages: tuple[Weights, ...]
    weights: Weights  # b, one for each stage

    def advance(self, rate: Callable, t, x, dt):
        """x at t + dt by dx/dt = rate(t, x); numbers or symbols, one column or many."""
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
        As `Simulator(integrator=...)` takes it.
    order
        Of the global error in dt.
    method
        Of a scheme with fixed steps, a `Tableau` of an explicit one; None of Dormand and Prince's
        adaptive method (`compile.adaptive`), which chooses steps of its own.
    symmetric
        Whether a step of -dt leads back: where the motion is reversible, energy and other integrals
        then stay near their values for ever.
    is_quadratic
        Whether it takes equations alone whose dxi/dt is quadratic in xi.
    is_conservative
        Whether it takes motions alone that keep their energy; it keeps it too, to rounding.
    real_limit, imaginary_limit
        The largest |rate| dt at which x' = rate x does not grow, for a rate on the negative real
        and on the imaginary axis; infinite where the steps follow a tolerance.
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
# those whose steps are their user's
FIXED = tuple(name for name, scheme in SCHEMES.items() if scheme.method is not None)
