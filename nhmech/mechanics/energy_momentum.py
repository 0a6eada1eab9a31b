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
from .transported_momenta import shape_stability

# residual of dE = c . dJ at a relative equilibrium, relative to dE and its slope
STEADY = 1e-8
DEFINITE = 1e-9     # smaller eigenvalues, relative to the largest, are undecided


@dataclass(frozen=True)
class EnergyMomentum:
    """The second variation of E - c . J at a relative equilibrium.

    Attributes
    ----------
    coefficients
        Name of an integral J_i -> c_i, with dE = c . dJ; none of transported momenta.
    eigenvalues
        Of the second variation on the kernel of all dJ, modulo the symmetries, ascending; of
        momenta that are only transported, on the leaf on which they move with the shape.
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
        found = self.eigenvalues
        least = DEFINITE * np.abs(found).max(initial=0.0)
        return bool((found > least).all() or (found < -least).all())


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
    slopes, hessians = _expand(constrained, frame, integrals, place, speed)
    if not np.isfinite(hessians).all():      # nor are slopes that grow beyond all bounds
        raise MechanicsError("a conserved quantity is not finite there")
    dE, dJ = slopes[0], slopes[1:]
    c = np.linalg.lstsq(dJ.T, dE, rcond=1e-9)[0]
    left = np.abs(dE - c @ dJ).max(initial=0.0)
    if left > STEADY * max(np.abs(part).max(initial=0.0) for part in (dE, hessians[0])):
        carried = _by_transport(constrained, frame, place, speed)
        if isinstance(carried, EnergyMomentum):
            return carried
        raise MechanicsError("this is no relative equilibrium of the integrals that were found: "
                             f"dE = c . dJ fails by {left:.3g}; nor of momenta that the shape "
                             f"carries along: {carried}")
    kernel = null_space(dJ)
    turned = _symmetry_directions(constrained, frame, dJ, place, speed).T
    rest = kernel @ null_space(turned @ kernel, product_size(turned, kernel))
    free = null_space(dJ.T)
    c = c + free @ _best(hessians, c, free, rest)
    second = hessians[0] - np.tensordot(c, hessians[1:], 1)
    names = [integral.name for integral in integrals[1:]]
    return EnergyMomentum(dict(zip(names, map(float, c))),
                          np.linalg.eigvalsh(rest.T @ second @ rest),
                          kernel.shape[1] - rest.shape[1])


def _by_transport(constrained: ConstrainedSystem, frame: AdaptedFrame, q: np.ndarray,
                  xi: np.ndarray) -> EnergyMomentum | str:
    """The method with transported momenta, or the reason why there are none, in words."""
    system, symbols = constrained.system, ca.SX.sym("xi", frame.nxi)
    velocity = ca.Function("velocity", [system.t, system.q, symbols, system.theta],
                           system.expand(ca.densify(frame.velocity(symbols))))
    v = velocity(constrained.moment, q, xi, constrained.parameters).full().ravel()
    try:
        found = find_symmetry(constrained)
        second = shape_stability(found, q, v)
    except MechanicsError as reason:
        return str(reason)
    return EnergyMomentum({}, np.linalg.eigvalsh(second), found.dim_vertical)


def _expand(constrained: ConstrainedSystem, frame: AdaptedFrame,
            integrals: Sequence[FirstIntegral], q: np.ndarray,
            xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First (k, n) and second (k, n, n) derivatives of the integrals by displacements along the
    fibre and by xi."""
    system, space = constrained.system, constrained.system.algebroid
    z = ca.SX.sym("z", space.nv + frame.nxi)
    rho = ca.Function("rho", [system.q, system.theta], [ca.densify(space.anchor)])(
        q, constrained.parameters)
    place = space.normalise(ca.SX(ca.DM(q)) + rho @ z[:space.nv])
    speed = ca.SX(ca.DM(xi)) + z[space.nv:]
    symbols = ca.SX.sym("xi", frame.nxi)
    velocity = ca.Function("velocity", [system.t, system.q, symbols, system.theta],
                           system.expand(ca.densify(frame.velocity(symbols))))
    theta = ca.SX(ca.DM(constrained.parameters))
    v = velocity(constrained.moment, place, speed, theta)
    slopes, hessians = [], []
    for integral in integrals:
        value = integral.value(constrained.moment, place, v, theta)
        hessian, slope = ca.hessian(value, z)
        both = ca.Function("expand", [z], [ca.densify(slope), ca.densify(hessian)])
        slope, hessian = (part.full() for part in both(np.zeros(z.numel())))
        slopes.append(slope.ravel())
        hessians.append(hessian)
    return np.array(slopes), np.array(hessians)


def _symmetry_directions(constrained: ConstrainedSystem, frame: AdaptedFrame, dJ: np.ndarray,
                         q: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """(n, k) directions of the symmetries that stay on the levels of the integrals."""
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
    found = directions(constrained.moment, q, xi, constrained.parameters).full()
    return found @ null_space(dJ @ found, product_size(dJ, found))


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
