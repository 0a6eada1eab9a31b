"""Finds gauge momenta and moving energies, whose conditions are linear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from .equations import Equations
from .frame import adapted_frame
from .gibbs_appell import gibbs_appell
from .invariant_measure import equal_units
from .symmetry_search import (
    TRIES,
    candidates,
    finite_points,
    name_combination,
    null_combinations,
)
from .system import ConstrainedSystem, HasConstrained, require_constrained

AROUND = 0.4    # distance of random configurations from known ones [m, rad]
SPARE = 12      # random states beyond twice as many as there are candidates


@dataclass(frozen=True)
class FirstIntegral:
    """A function alpha E - <p, Y> that is constant along every motion, p = dL/dv.

    Attributes
    ----------
    name
        Such as "E - 3 d/dyaw".
    value
        (t, q, v, theta) -> the integral.
    section
        (nv,) Y(q, theta).
    has_energy
        Whether alpha is 1: the energy (Y = 0) or a moving energy; else a gauge momentum.
    """

    name: str
    value: ca.Function
    section: ca.SX
    has_energy: bool

    def __repr__(self) -> str:
        kind = "gauge momentum" if not self.has_energy else "moving energy" \
            if self.section.nnz() else "energy"
        return f"<FirstIntegral {self.name}, {kind}>"


@check_arguments
@hear_ctrl_c()
def first_integrals(constrained: HasConstrained) -> tuple[FirstIntegral, ...]:
    """All integrals alpha E - <p, Y> of the motion without inputs.

    Y is among the combinations of simple sections; the integrals are in echelon form.

    A moving energy E - <p, Y> is constant where Y, like the velocities, satisfies the affine
    constraints, A Y + b = 0, and leaves the Lagrangian alone; a gauge momentum <p, Y> need be of no
    symmetry. No such condition is asked for: that the rate vanishes is linear in alpha and Y, and
    is solved at random states. Candidates are those of `find_symmetry`: translations, turns, and
    q_i d/dq_j. Source: Fasso and Sansonetto, J. Nonlinear Science 26 (2016) 519; Fasso, Giacobbe
    and Sansonetto, Reports on Mathematical Physics 62 (2008) 345.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`, with numbers for its
        parameters: the coefficients hold for these.

    Raises
    ------
    MechanicsError
        For a motion that is on no distribution, or finite at too few states around the samples.

    Examples
    --------
    >>> from nhmech.mechanics import first_integrals
    >>> from nhmech.systems import load_system
    >>> [found.name for found in first_integrals(load_system("heisenberg_drift"))]
    ['E - 0.4 d/dz']
    """
    constrained = require_constrained(constrained)
    constrained.require_distribution("first_integrals")
    system = constrained.system
    names, sections = candidates(system)
    functions = ca.vertcat(system.energy, -(sections.T @ system.momentum))
    extents = ca.fabs(ca.vertcat(system.energy, ca.fabs(sections.T) @ ca.fabs(system.momentum)))
    values, rates, sizes, extents = _along(constrained, functions, extents)
    basis = null_combinations(rates, sizes, extents=np.linalg.norm(extents, axis=0))
    found: list[FirstIntegral] = []
    spread = values - values[0]
    kept = np.zeros((len(values), 0))
    for row in basis:
        part = spread @ row
        rest = part - kept @ np.linalg.lstsq(kept, part, rcond=None)[0] if kept.size else part
        # constant on the constraints, or a combination of earlier ones
        if np.linalg.norm(rest) <= 1e-7 * np.linalg.norm(np.abs(spread) @ np.abs(row)):
            continue
        kept = np.column_stack([kept, part / np.linalg.norm(part)])
        found.append(_integral(constrained, functions, row, names, sections))
    return tuple(found)


def _integral(constrained: ConstrainedSystem, functions: ca.SX, row: np.ndarray, names: list[str],
              sections: ca.SX) -> FirstIntegral:
    system, is_energy = constrained.system, bool(row[0])
    # a gauge momentum is <p, Y> with the sign of its first section
    weights = row if is_energy else -row
    words = np.concatenate([row[:1], -row[1:]]) if is_energy else row
    value = ca.Function("integral", [system.t, system.q, system.v, system.theta],
                        [ca.dot(ca.DM(weights), functions)])
    return FirstIntegral(name_combination(words, ["E", *names]), value,
                         sections @ ca.SX(ca.sparsify(ca.DM(row[1:]))), is_energy)


def _places(constrained: ConstrainedSystem, count: int) -> Iterator[tuple[float, np.ndarray]]:
    """Times and random configurations around the known ones."""
    space, rng = constrained.system.algebroid, np.random.default_rng(7)
    known = constrained.configurations
    for k in range(count):
        t = constrained.moment + float(rng.uniform(0, 1))
        q = space.normalise(known[k % len(known)] + AROUND * rng.normal(size=space.nq))
        at = constrained.nearest(q, t)
        if at is not None:
            yield t, at


def _along(constrained: ConstrainedSystem, functions: ca.SX,
           extents: ca.SX) -> tuple[np.ndarray, ...]:
    """Values of functions of (t, q, v), their rates along the motion, the sizes of the terms of
    these rates, and `extents`, at random states, (N, k) each."""
    system, frame = constrained.system, adapted_frame(constrained)
    equations = gibbs_appell(constrained, frame=frame)
    by_place, by_speed = system.rate(functions), ca.jacobian(functions, system.v)
    rate = ca.Function("rate", [system.t, system.q, system.v, system.a, system.theta], [
        functions, by_place + by_speed @ system.a,
        ca.fabs(by_place) + ca.fabs(by_speed) @ ca.fabs(system.a), extents])
    xi_symbols = ca.SX.sym("xi", frame.nxi)
    velocity = ca.Function("velocity", [system.t, system.q, xi_symbols, system.theta],
                           system.expand(ca.densify(frame.velocity(xi_symbols))))
    none, rng = np.zeros(system.u.numel()), np.random.default_rng(8)
    wanted, unit = 2 * functions.numel() + SPARE, usual_speeds(equations)

    def tried() -> Iterator[list[np.ndarray]]:
        for t, q in _places(constrained, TRIES * wanted):
            xi = unit * rng.normal(size=frame.nxi)
            v = velocity(t, q, xi, constrained.parameters)
            at = equations.acceleration(t, q, xi, none, constrained.parameters)
            yield [part.full().ravel() for part in rate(t, q, v, at, constrained.parameters)]

    found = finite_points(tried(), wanted, "name configurations by `samples` around which it is")
    return tuple(np.array(found).swapaxes(0, 1))


def usual_speeds(equations: Equations) -> np.ndarray:
    """Units (nxi,) of xi in which each has the same kinetic energy, and at which forces and inertia
    change the motion alike: states at such speeds are the same ones in any unit."""
    constrained, frame = equations.constrained, equations.frame
    unit = equal_units(constrained, ca.fabs(frame.E.T @ constrained.system.mass_and_bias()[0]
                                            @ frame.E)).full().ravel()
    unit[~np.isfinite(unit)] = 1.0
    points = constrained.configurations
    none = np.zeros(constrained.system.u.numel())
    spread = np.std(points, axis=0)
    spread[spread == 0] = 1.0
    forces, inertia = [], []
    for q in points:
        (_, still), (way, moving) = (
            [part.full().ravel() for part in equations.drift(constrained.moment, q, xi, none,
                                                             constrained.parameters)]
            for xi in (np.zeros_like(unit), unit))
        forces.append(np.abs(still / unit).max(initial=0.0))
        inertia.append(np.abs((moving - still) / unit).max(initial=0.0)
                       + np.abs(way / spread).max(initial=0.0))
    finite = np.isfinite(forces) & np.isfinite(inertia)
    force, change = (np.median(np.compress(finite, part)) for part in (forces, inertia))
    return unit * (force / change) ** 0.5 if force and change else unit
