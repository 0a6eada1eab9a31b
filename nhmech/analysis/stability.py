"""Stability of steady motions: eigenvalues over a parameter, critical values, and sensitivities to
parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..checks import check_arguments, show
from ..ctrl_c import hear_ctrl_c
from ..errors import InputError, MechanicsError
from ..mechanics.system import HasConstrained
from .equilibria import Equilibrium, SteadyMotions
from .linearise import linearise
from .variations import Variations

# an eigenvalue below this part of the largest, at every member of a family, belongs to the family
ZERO = 1e-6


@dataclass(frozen=True)
class Sweep:
    """Eigenvalues of the linearisation about a family of steady motions.

    Attributes
    ----------
    values
        (N,) of the parameter.
    parameter, unit
        Its name.
    eigenvalues
        (N, n) [1/s], each column one continuous branch.
    neutral
        Number of eigenvalues that are zero for the whole family because they belong to motion along
        it.
    members
        The steady motions.
    """

    parameter: str
    unit: str
    values: np.ndarray
    eigenvalues: np.ndarray
    neutral: int
    members: tuple[Equilibrium, ...]

    def __repr__(self) -> str:
        ends = f" {self.values[0]:g} to {self.values[-1]:g} {self.unit}" if self.members else ""
        return f"Sweep({self.parameter}{ends}, {len(self.members)} steady motions)"

    @property
    def growth(self) -> np.ndarray:
        """Largest real part among the eigenvalues that are not neutral [1/s], (N,)."""
        return np.array([growth_rate(row, self.neutral) for row in self.eigenvalues])

    @property
    def marginal(self) -> float:
        """Growth [1/s] that is no more than rounding: without damping, eigenvalues stay on the
        imaginary axis."""
        return _rounding(self.eigenvalues)


def _rounding(eigenvalues: np.ndarray) -> float:
    return ZERO * max(1.0, float(np.abs(eigenvalues).max(initial=0.0)))


def growth_rate(eigenvalues: np.ndarray, neutral: int = 0) -> float:
    """Largest real part without the `neutral` eigenvalues nearest to zero; -inf if none is left."""
    rest = eigenvalues[np.argsort(np.abs(eigenvalues))[neutral:]]
    return float(rest.real.max(initial=-np.inf))


@check_arguments
@hear_ctrl_c()
def speed_sweep(constrained: HasConstrained | Variations, speeds: Iterable[float],
                inputs: Iterable[str] = ()) -> Sweep:
    """Eigenvalues of a vehicle about straight running, by forward speed.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`.
    speeds
        [m/s], increasing: branches go on from one to the next.
    inputs
        As of `SteadyMotions`.

    Raises
    ------
    InputError
        For speeds that do not increase.
    """
    motions = SteadyMotions(constrained, inputs)
    speeds = np.array(list(speeds), dtype=float)
    if not (np.diff(speeds) > 0).all():
        raise InputError(f"speeds = {show(speeds)} must increase")
    members, rows = [], []
    for v in speeds:
        members.append(m := motions.straight(v))
        rows.append(linearise(motions.variations, m.q, m.xi, m.u).eigenvalues)
    found = branches(rows)
    neutral = min((int(np.sum(np.abs(row) <= _rounding(found))) for row in rows), default=0)
    return Sweep("forward speed", "m/s", speeds, found, neutral, tuple(members))


def branches(rows: list[np.ndarray]) -> np.ndarray:
    """Eigenvalues sorted into continuous branches, (N, n), by linear extrapolation."""
    from scipy.optimize import linear_sum_assignment

    sorted_rows = [np.asarray(rows[0], dtype=complex)] if rows else []
    for row in rows[1:]:
        expected = (sorted_rows[-1] if len(sorted_rows) == 1
                    else 2 * sorted_rows[-1] - sorted_rows[-2])
        _, order = linear_sum_assignment(np.abs(expected[:, None] - row[None, :]))
        sorted_rows.append(row[order])
    return np.array(sorted_rows)


def critical_value(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a growth rate between two values of a parameter, to rounding (Brent's method).
    """
    from scipy.optimize import brentq

    ends = function(low), function(high)
    if not ends[0] * ends[1] <= 0:
        raise MechanicsError(f"the growth rate has the same sign at {low} and {high}: "
                             f"{ends[0]:.6g} and {ends[1]:.6g}")
    return float(brentq(function, low, high, xtol=1e-13, rtol=4 * np.finfo(float).eps))


@check_arguments
@hear_ctrl_c()
def critical_speeds(constrained: HasConstrained | Variations, speeds: Iterable[float] = (),
                    inputs: Iterable[str] = (), *, sweep: Sweep | None = None) -> list[float]:
    """Forward speeds [m/s] at which straight running becomes stable or unstable.

    Without damping the eigenvalues of the stable side lie on the imaginary axis, up to rounding;
    the critical speed is then where the growth exceeds `ZERO`. Eigenvalues that meet on the axis
    separate like a square root, so the error of that speed is of the order of `ZERO` squared.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`.
    speeds
        [m/s] between which to look.
    inputs
        As of `SteadyMotions`.
    sweep
        A sweep made before, instead of speeds.
    """
    motions = SteadyMotions(constrained, inputs)
    sweep = speed_sweep(motions.variations, speeds, inputs) if sweep is None else sweep

    neutral = sweep.neutral

    def excess(v: float, level: float) -> float:
        member = motions.straight(v)
        linear = linearise(motions.variations, member.q, member.xi, member.u)
        return growth_rate(linear.eigenvalues, neutral) - level

    g, marginal = sweep.growth, sweep.marginal
    found = []
    for a, b, ga, gb in zip(sweep.values, sweep.values[1:], g, g[1:]):
        if (ga > marginal) != (gb > marginal):
            level = 0.0 if min(ga, gb) < -marginal else marginal
            found.append(critical_value(partial(excess, level=level), float(a), float(b)))
    return found
