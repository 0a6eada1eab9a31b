"""Derivatives of the eigenvalues of a steady motion by the parameters, including the change of the
steady motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..errors import MechanicsError
from .equilibria import Equilibrium, SteadyMotions
from .steady_equations import SINGULAR
from .variations import Point, Variations

# an eigenvalue closer than this part of the largest one to another has no derivative
SIMPLE = 1e-5


class EigenvalueSensitivities(NamedTuple):
    """Eigenvalues of a steady motion and their derivatives with respect to the parameters."""

    eigenvalues: np.ndarray  # lambda (n,) [1/s]
    # d lambda / d theta (n, ntheta), NaN for an eigenvalue that is zero or not simple
    slopes: np.ndarray


@check_arguments
def eigenvalue_sensitivities(motions: SteadyMotions, motion: Equilibrium,
                             conditions: Mapping[str, float] | None = None,
                             t: float = 0.0) -> EigenvalueSensitivities:
    """Eigenvalues of a steady motion and their derivatives by the parameters.

    They are lambda (n,) and d lambda / d theta (n, ntheta), with the conditions kept at their
    values.

    With right and left vectors r, w of A: d lambda = w dA r / (w r), dA along (dq, dxi, dtheta),
    where dq, dxi keep the steady motion steady and its wheels on the ground. All derivatives are
    automatic, those of A second ones. NaN for those that are zero or not simple.

    Parameters
    ----------
    motions
        The family.
    motion
        One of its members.
    conditions
        What is kept: value by name of a quantity.
    t
        Time [s].

    Raises
    ------
    MechanicsError
        If no parameter is symbolic (`vehicle.with_parameters(symbolic=[...])`), and where the
        motion follows a symmetry that changes the speeds, such as the turn of a ball's axes.
    """
    variations, s = motions.variations, motions.variations.system
    if not s.theta.numel():
        raise MechanicsError("no parameter is symbolic: name some in "
                             "vehicle.with_parameters(symbolic=[...])")
    point = variations.at(motion.q, motion.xi, motion.u, t)
    if np.abs(point.reduce @ point.drag).max(initial=0.0) > SIMPLE:
        raise MechanicsError("the eigenvalues of this motion are those in axes that its symmetry "
                             "carries along, and their derivatives are not known; take speeds in "
                             "axes that move with it")
    at = t, motion.q, motion.xi, motion.u, variations.theta
    moved = _path(motions, point, at, tuple(conditions or {}))
    values = np.linalg.eigvals(point.A)
    size, slope = np.abs(values).max(initial=1.0), _slope(variations)
    # the whole system, ignorable directions among its coordinates, has the same eigenvalues, and A
    # needs no projection
    result = np.full((len(values), variations.theta.size), np.nan, dtype=complex)
    for i, value in enumerate(values):
        apart = np.sort(np.abs(values - value))[1:].min(initial=np.inf)
        if min(apart, abs(value)) < SIMPLE * size:
            continue
        left, _, right = np.linalg.svd(point.whole - value * np.eye(len(point.whole)))
        w, r = left[:, -1].conj(), right[-1].conj()
        parts = [slope(*at, a, b).full().ravel()
                 for a in (w.real, w.imag) for b in (r.real, r.imag)]
        result[i] = (parts[0] - parts[3] + 1j * (parts[1] + parts[2])) @ moved / (w @ r)
    order = np.argsort(-values.real)
    return EigenvalueSensitivities(values[order], result[order])


def _slope(variations: Variations) -> ca.Function:
    """(t, q, xi, u, theta, w, r) -> (nv + nxi + ntheta,), d(w A r) along q (by the fibre), xi,
    theta; w, r held."""
    s, space, nv = variations.system, variations.space, variations.space.nv
    w, r = ca.SX.sym("w", nv + variations.xi.numel()), ca.SX.sym("r", nv + variations.xi.numel())
    eta, dxi, v, f = r[:nv], r[nv:], variations.velocity, variations.rate
    bracket = ca.vertcat(*[ca.dot(v, c @ eta) for c in space.structure])

    def along(e: ca.SX) -> ca.SX:
        return ca.jtimes(e, s.q, space.anchor @ eta) + ca.jtimes(e, variations.xi, dxi)

    form = ca.dot(w[:nv], along(v) - bracket) + ca.dot(w[nv:], along(f))
    by_all = ca.horzcat(ca.jacobian(form, s.q) @ space.anchor, ca.jacobian(form, variations.xi),
                        ca.jacobian(form, s.theta))
    return ca.Function("slope", [*variations.inputs, w, r], [by_all])


def _path(motions: SteadyMotions, point: Point, at: tuple,
          names: tuple[str, ...]) -> np.ndarray:
    """d(eta, xi, theta) / d theta of the steady motion, (nv + nxi + ntheta, ntheta)."""
    variations, s = motions.variations, motions.variations.system
    by_theta = ca.Function("by_theta", variations.inputs, [
        ca.jacobian(e, s.theta) for e in (variations.velocity, variations.rate,
                                          variations.distribution.phi)])
    v_theta, f_theta, phi_theta = (x.full() for x in by_theta(*at))
    _, c_eta, c_xi, c_theta = (x.full() for x in motions.equations.reading(names)(*at))
    still = np.zeros((len(point.phi), point.E.shape[1]))
    left = np.block([[point.reduce @ point.whole], [point.holonomic, still], [c_eta, c_xi]])
    right = -np.vstack([point.reduce @ np.vstack([v_theta, f_theta]), phi_theta, c_theta])
    return np.vstack([np.linalg.lstsq(left, right, rcond=SINGULAR)[0], np.eye(right.shape[1])])
