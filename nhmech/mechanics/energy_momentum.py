"""The energy-momentum method: stability of a relative equilibrium by its first integrals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_arguments, read_vector
from ..ctrl_c import hear_ctrl_c
from ..errors import MechanicsError
from .constraint_manifold import null_space, product_size
from .first_integrals import FirstIntegral, first_integrals
from .frame import AdaptedFrame, adapted_frame
from .invariance import complete_lift
from .symmetry_search import find_symmetry
from .system import ConstrainedSystem, HasConstrained, require_constrained
from .transported_momenta import paces, shape_stability

# residual of dE = c . dJ at a relative equilibrium, relative to dE and its change over the states
STEADY = 1e-8
DEFINITE = 1e-9     # smaller eigenvalues, relative to the largest in equal units, count as zero
DIGITS = 1e-13      # relative: a change of the state that is little more than rounding


@dataclass(frozen=True)
class EnergyMomentum:
    """The second variation of E - c . J at a relative equilibrium.

    Attributes
    ----------
    coefficients
        Name of an integral J_i -> c_i, with dE = c . dJ; none of transported momenta.
    eigenvalues
        Of the second variation on the kernel of all dJ, modulo the symmetries, ascending; of
        momenta that are only transported, on the leaf on which they move with the shape. 0 are
        those that are rounding in units in which all directions are alike.
    neutral
        Dimension of the symmetry directions that were divided out.
    """

    coefficients: Mapping[str, float]
    eigenvalues: np.ndarray
    neutral: int

    def __repr__(self) -> str:
        word = "stable" if self.is_stable else "not decided"
        return f"<EnergyMomentum: {word}, {len(self.eigenvalues)} directions>"

    @property
    def is_stable(self) -> bool:
        """Whether the second variation is definite, so that motions nearby stay near the group
        orbit of this one for ever. If it is not, stability is undecided."""
        return bool((self.eigenvalues > 0).all() or (self.eigenvalues < 0).all())


@check_arguments
@hear_ctrl_c()
def energy_momentum(constrained: HasConstrained, q: ArrayLike, xi: ArrayLike,
                    speeds: Sequence[str] | None = None) -> EnergyMomentum:
    """Stability of a steady motion by its integrals, nonholonomic ones included.

    At a relative equilibrium dE = c . dJ, J the other integrals that `first_integrals` finds; the
    motion keeps E - c . J, and is stable modulo the symmetries where its second variation is
    definite on the kernel of dJ. Where the dJ depend on each other, c is chosen so that the least
    eigenvalue is largest. Sources: Simo, Lewis and Marsden, Arch. Rational Mech. Anal. 115 (1991)
    15; for nonholonomic systems Zenkov, Bloch and Marsden, Dynamics and Stability of Systems 13
    (1998) 123, theorem 3.2. Where dE = c . dJ fails, the momenta that the shape carries along, as
    the falling disc's, take the place of the integrals (there, theorem 3.3; `shape_stability`).

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`, without holonomic rows.
    q, xi
        (nq,), (nxi,) the steady motion.
    speeds
        Names of xi; chosen by conditioning if None.

    Raises
    ------
    MechanicsError
        For holonomic rows, and for a motion at which E has no critical point on the levels of the
        integrals: it is not steady, or kept by integrals that were not found.
    """
    constrained = require_constrained(constrained)
    if constrained.distribution.phi.numel():
        raise MechanicsError("energy_momentum needs a system without holonomic constraints: write "
                             "it in coordinates of its manifold")
    frame = adapted_frame(constrained, speeds)
    place = read_vector("q", q, constrained.system.algebroid.q_names)
    speed = read_vector("xi", xi, frame.names)
    integrals = first_integrals(constrained)
    if not integrals or not integrals[0].has_energy:
        raise MechanicsError("this motion has no constant energy")
    slopes, hessians, units, sizes = _expand(constrained, frame, integrals, place, speed)
    dE, dJ = slopes[0], slopes[1:]
    c = np.linalg.lstsq(dJ.T, dE, rcond=1e-9)[0]
    left = np.abs(dE - c @ dJ)
    reach = _reach(constrained, place, speed) / units
    if left.max(initial=0.0) > STEADY * (np.abs(dE) + np.abs(hessians[0]) @ reach).max(initial=0.0):
        carried = _by_transport(constrained, frame, place, speed)
        if isinstance(carried, EnergyMomentum):
            return carried
        raise MechanicsError("this is no relative equilibrium of the integrals that were found: "
                             f"dE = c . dJ fails by {np.max(left / units) * sizes[0]:.3g}; nor of "
                             f"momenta that the shape carries along: {carried}")
    kernel = null_space(dJ)
    turned = _symmetry_directions(constrained, frame, place, speed) / units[:, None]
    turned = turned @ null_space(dJ @ turned, product_size(dJ, turned))
    rest = kernel @ null_space(turned.T @ kernel, product_size(turned.T, kernel))
    free = null_space(dJ.T)
    c = c + free @ _best(hessians, c, free, rest)
    second = hessians[0] - np.tensordot(c, hessians[1:], 1)
    # the same directions in the units that were given
    kernel, turned = np.linalg.qr(units[:, None] * kernel)[0], units[:, None] * turned
    given = kernel @ np.linalg.svd(turned.T @ kernel)[2][kernel.shape[1] - rest.shape[1]:].T
    names = [integral.name for integral in integrals[1:]]
    return EnergyMomentum(
        dict(zip(names, map(float, c * sizes[0] / sizes[1:]))),
        _decided(np.linalg.eigvalsh(rest.T @ second @ rest), np.linalg.eigvalsh(
            given.T @ (second * sizes[0] / np.outer(units, units)) @ given)),
        kernel.shape[1] - rest.shape[1])


def _decided(alike: np.ndarray, given: np.ndarray) -> np.ndarray:
    """The eigenvalues `given` of a form, ascending, with 0 for as many as are rounding `alike`, of
    the same form in units in which all directions are alike: in all units as many are positive."""
    least = DEFINITE * np.abs(alike).max(initial=0.0)
    below, above = (alike < -least).sum(), (alike > least).sum()
    place = np.arange(len(given))
    return np.where((place < below) | (place >= len(given) - above), given, 0.0)


def _by_transport(constrained: ConstrainedSystem, frame: AdaptedFrame, q: np.ndarray,
                  xi: np.ndarray) -> EnergyMomentum | str:
    """The method with transported momenta, or the reason why there are none, in words."""
    from scipy.linalg import eigvalsh

    system, symbols = constrained.system, ca.SX.sym("xi", frame.nxi)
    velocity = ca.Function("velocity", [system.t, system.q, symbols, system.theta],
                           system.expand(ca.densify(frame.velocity(symbols))))
    v = velocity(constrained.moment, q, xi, constrained.parameters).full().ravel()
    try:
        found = find_symmetry(constrained)
        second = shape_stability(found, q, v)
    except MechanicsError as reason:
        return str(reason)
    n = len(second) // 2
    metric, hessian = second[:n, :n], second[n:, n:]
    return EnergyMomentum({}, np.sort(np.concatenate([np.linalg.eigvalsh(metric), _decided(
        eigvalsh(hessian, metric), np.linalg.eigvalsh(hessian))])), found.dim_vertical)


def _expand(constrained: ConstrainedSystem, frame: AdaptedFrame, integrals: Sequence[FirstIntegral],
            q: np.ndarray, xi: np.ndarray) -> tuple[np.ndarray, ...]:
    """First (k, n) and second (k, n, n) derivatives of the integrals by displacements along the
    fibre and by xi, in units (n,) of these and (k,) of the integrals in which all are alike; and
    these units."""
    system, space = constrained.system, constrained.system.algebroid
    z, place, speed = (ca.SX.sym("z", space.nv + frame.nxi), ca.SX.sym("q", space.nq),
                       ca.SX.sym("xi", frame.nxi))
    theta = ca.SX(ca.DM(constrained.parameters))
    rho = ca.substitute(space.anchor, ca.vertcat(system.q, system.theta), ca.vertcat(place, theta))
    near = space.normalise(place + rho @ z[:space.nv])
    symbols = ca.SX.sym("xi", frame.nxi)
    velocity = ca.Function("velocity", [system.t, system.q, symbols, system.theta],
                           system.expand(ca.densify(frame.velocity(symbols))))
    v = velocity(constrained.moment, near, speed + z[space.nv:], theta)
    derivatives = []
    for integral in integrals:
        hessian, slope = ca.hessian(integral.value(constrained.moment, near, v, theta), z)
        derivatives += [ca.densify(slope), ca.densify(hessian)]
    both = ca.Function("expand", [z, place, speed], derivatives)

    def at(q: np.ndarray, xi: np.ndarray) -> list[np.ndarray]:
        found = [part.full() for part in both(0, q, xi)]
        return [np.array(found[::2])[..., 0], np.array(found[1::2])]

    slopes, hessians = found = at(q, xi)
    if not np.isfinite(hessians).all():      # nor are slopes that grow beyond all bounds
        raise MechanicsError("a conserved quantity is not finite there")
    change = 1 + DIGITS * np.cos(np.arange(len(q) + len(xi)))
    beside = at(space.normalise(q * change[:len(q)]), xi * change[len(q):])
    mass = ca.Function("mass", [system.t, system.q, system.v, system.theta], system.expand(
        ca.densify(ca.diag(system.mass_and_bias()[0]))))
    units = _equal_units(
        mass(constrained.moment, q, np.zeros(space.nv), constrained.parameters).full().ravel(),
        *(np.where(np.abs(one - other) < 0.01 * np.abs(one), one, 0.0)
          for one, other in zip(found, beside)))
    slopes, hessians = slopes * units, hessians * np.outer(units, units)
    sizes = np.array([np.abs(hessians[0]).max(initial=0.0),
                      *np.abs(slopes[1:]).max(axis=1, initial=0.0)])
    sizes[sizes == 0] = 1.0
    return slopes / sizes[:, None], hessians / sizes[:, None, None], units, sizes


def _equal_units(mass: np.ndarray, slopes: np.ndarray, hessians: np.ndarray) -> np.ndarray:
    """Units (n,) of displacements and speeds: such as have the same kinetic energy, in a unit of
    time in which the integrals depend as much on the ones as on the others."""
    nv = len(mass)
    inertia = np.concatenate([mass, np.diag(hessians[0])[nv:]])
    units = np.where(inertia > 0, inertia, 1.0) ** -0.5
    times = []
    for k, (slope, hessian) in enumerate(zip(slopes * units, hessians * np.outer(units, units))):
        both, mixed, rest, place, speed = (np.abs(part).max(initial=0.0) for part in (
            hessian[:nv, :nv], hessian[:nv, nv:], hessian[nv:, nv:], slope[:nv], slope[nv:]))
        times += [(rest ** 0.5, both ** 0.5), (mixed, both), (rest, mixed)]
        times += [(speed, place)] if k else []       # the slope of the energy is zero at rest
    units[:nv] *= np.median([one / other for one, other in times if one and other] or [1.0])
    return units


def _reach(constrained: ConstrainedSystem, q: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """How far states go, (n,): displacements along the fibre that change q by itself, and xi."""
    pace = paces(constrained, q, ca.SX.eye(constrained.system.algebroid.nv))
    return np.concatenate([np.divide(1.0, pace, out=np.zeros(len(pace)), where=pace > 0),
                           np.abs(xi)])


def _symmetry_directions(constrained: ConstrainedSystem, frame: AdaptedFrame, q: np.ndarray,
                         xi: np.ndarray) -> np.ndarray:
    """(n, k) directions of the symmetries."""
    system = constrained.system
    n = system.algebroid.nv + frame.nxi
    try:
        S = find_symmetry(constrained).generators
    except MechanicsError:          # there is none
        return np.zeros((n, 0))
    symbols = ca.SX.sym("xi", frame.nxi)
    moved = [ca.vertcat(S[:, i], complete_lift(system, S[:, i])[1][list(frame.speeds)])
             for i in range(S.shape[1])]
    directions = ca.Function("directions", [system.t, system.q, symbols, system.theta], [
        ca.densify(ca.substitute(ca.horzcat(*moved), system.v,
                                 ca.densify(frame.velocity(symbols))))])
    return directions(constrained.moment, q, xi, constrained.parameters).full()


def _best(hessians: np.ndarray, c: np.ndarray, free: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """The change of c along `free` that maximises the least eigenvalue of the second variation, a
    concave function."""
    if not (free.shape[1] and rest.shape[1]):
        return np.zeros(free.shape[1])
    from scipy.optimize import minimize

    def least(s: np.ndarray) -> float:
        second = hessians[0] - np.tensordot(c + free @ s, hessians[1:], 1)
        return -float(np.linalg.eigvalsh(rest.T @ second @ rest).min())

    # eigenvalues that agree say nothing: their maximum may be in between
    return minimize(least, np.zeros(free.shape[1]), method="Nelder-Mead",
                    options={"xatol": 1e-10, "fatol": np.inf}).x
