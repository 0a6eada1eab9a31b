"""Multipliers of holonomic constraints in closed form, through the inverse functions of the
superfluous coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..errors import MechanicsError
from .equations import Equations, equations_of, solve_definite, speed_symbols
from .frame import AdaptedFrame, adapted_frame, at_samples
from .samples import sample_points
from .system import ConstrainedSystem, HasConstrained, require_constrained
from .writing import Symbols, symbols

Inverse = Mapping[str, Callable[[ca.SX, Symbols], ca.SX]]


@check_arguments
def closed_form_multipliers(constrained: HasConstrained, inverse: Inverse) -> Equations:
    """Equations of motion with multipliers in closed form (paper 001, eqs. (2), (4), (5)).

    lambda_b = sum_a EL_a dg_a/dy_b at y = 0, with EL = d/dt dL/dx' - dL/dx - tau and x_a = g_a(y,
    x_ind, t) the inverse functions of y = phi(x, t); 0 = EL_j + sum_a EL_a dg_a/dx_j for the
    independent coordinates j.

    Dependent coordinates and their rates are replaced by g, so that the drift depends on the
    independent ones only, and the multipliers need no equation solved. Valid in the neighbourhood
    where g inverts phi.

    Parameters
    ----------
    constrained
        On a tangent bundle in coordinates (rho = 1), all constraints holonomic; `samples` in the
        neighbourhood of `inverse`.
    inverse
        Name of a dependent coordinate -> (y, s) -> g; y (m,) are the values of the holonomic
        functions in their order, s.q, s.t, s.p as in `writing`, of s.q the independent ones only.

    Raises
    ------
    MechanicsError
        For other bundles, nonholonomic or dependent rows, a wrong set of dependent coordinates, and
        for a g that contains a dependent coordinate or inverts phi at no sample.
    """
    constrained = require_constrained(constrained)
    system = constrained.system
    t, q, names = system.t, system.q, system.algebroid.q_names
    _require_holonomic(constrained)
    constrained.require_ideal("closed_form_multipliers")
    phi = constrained.distribution.phi
    y = ca.SX.sym("y", phi.numel())
    dependent, g = _inverse_functions(constrained, inverse, y)
    independent = [i for i in range(len(names)) if i not in dependent]
    frame = adapted_frame(constrained, [system.algebroid.v_names[i] for i in independent])

    x, x_ind = ca.substitute(g, y, ca.SX.zeros(y.shape)), q[independent]
    xi, xi_rate = speed_symbols(frame), ca.SX.sym("xi_rate", frame.nxi)
    slope = ca.jacobian(x, x_ind)
    x_rate = slope @ xi + ca.jtimes(x, t, ca.SX(1))
    x_second = ca.jtimes(x_rate, x_ind, xi) + ca.jtimes(x_rate, t, ca.SX(1)) + slope @ xi_rate
    whole = [_merge(parts, independent,
                    dependent) for parts in ((x_ind, x), (xi, x_rate), (xi_rate, x_second))]
    EL = ca.substitute([ca.densify(ca.gradient(system.gibbs, system.a) - system.force)],
                       [q, system.v, system.a], whole)[0]

    balance = EL[independent] + slope.T @ EL[dependent]                                   # eq. (2)
    solved = -solve_definite(ca.jacobian(balance, xi_rate),
                             ca.substitute(balance, xi_rate, ca.SX.zeros(xi_rate.shape)))
    lam = ca.substitute(ca.jacobian(g, y), y, ca.SX.zeros(y.shape)).T @ EL[dependent]     # eq. (4)
    acceleration, lam = ca.substitute([whole[2], _in_order(frame, lam)], [xi_rate],
                                      [ca.densify(solved)])
    return equations_of("closed_form_multipliers", frame, xi, acceleration, lam)


def _merge(parts: tuple[ca.SX, ca.SX], independent: list[int], dependent: list[int]) -> ca.SX:
    whole = ca.SX.zeros(len(independent) + len(dependent), 1)
    whole[independent], whole[dependent] = parts
    return whole


def _in_order(frame: AdaptedFrame, lam: ca.SX) -> ca.SX:
    """lambda of the holonomic functions in the order of the frame's rows."""
    rows = frame.constrained.distribution.phi_rows
    return lam[[rows.index(row) for row in frame.kept]]


def _require_holonomic(constrained: ConstrainedSystem) -> None:
    system, d = constrained.system, constrained.distribution
    anchor, unit = system.algebroid.anchor, np.eye(system.algebroid.nq)
    if (anchor.shape != unit.shape or not anchor.is_constant()
            or np.any(ca.DM(anchor).full() != unit)):
        raise MechanicsError("closed_form_multipliers works with coordinates: the anchor must be "
                             "the unit matrix")
    other = [name for i, name in enumerate(d.names) if i not in d.phi_rows]
    if other:
        raise MechanicsError("closed_form_multipliers takes holonomic constraints only; "
                             f"{', '.join(other)} has no function of position")
    kept = adapted_frame(constrained).kept
    if len(kept) < d.m:
        spare = [name for i, name in enumerate(d.names) if i not in kept]
        raise MechanicsError(f"the constraints have rank {len(kept)} of {d.m}: remove "
                             f"{', '.join(spare)}")
    difference = at_samples(constrained, d.A[list(d.phi_rows), :] - ca.jacobian(d.phi, system.q))
    if np.abs(difference).max(initial=0.0) > 1e-9:
        i = int(np.argwhere(np.abs(difference) > 1e-9)[0][1])
        raise MechanicsError(f"row {d.names[d.phi_rows[i]]!r} is not the differential of its "
                             "function")


def _inverse_functions(constrained: ConstrainedSystem, inverse: Inverse,
                       y: ca.SX) -> tuple[list[int], ca.SX]:
    """Indices of the dependent coordinates and their g (m,), checked against phi."""
    system, phi = constrained.system, constrained.distribution.phi
    names, s = system.algebroid.q_names, symbols(system)
    unknown = [name for name in inverse if name not in names]
    if unknown or len(inverse) != phi.numel():
        raise MechanicsError(f"{phi.numel()} dependent coordinates are wanted, of "
                             f"{', '.join(names)}; given are {', '.join(inverse) or 'none'}")
    dependent = [names.index(name) for name in inverse]
    g = ca.vertcat(ca.SX(0, 1), *[ca.SX(function(y, s)) for function in inverse.values()])
    for i, name in enumerate(inverse):
        for k in dependent:
            if ca.depends_on(g[i], system.q[k]):
                raise MechanicsError(f"the inverse function of {name!r} contains the dependent "
                                     f"coordinate {names[k]!r}")
    error = np.abs(at_samples(constrained, ca.substitute(g, y, phi) - system.q[dependent]))[:, :, 0]
    scale = 1 + np.abs(sample_points(constrained)[1]).max(axis=1)
    good = np.nan_to_num(error, nan=np.inf) <= 1e-9 * scale[:, None]
    if not good.all(axis=1).any():
        i = int(np.argmin(good.sum(axis=0)))
        raise MechanicsError(f"the inverse function of {tuple(inverse)[i]!r} does not return the "
                             f"coordinate at any sample (error {np.nanmin(error[:, i]):.3g} or "
                             "more); it may be another branch")
    return dependent, g
