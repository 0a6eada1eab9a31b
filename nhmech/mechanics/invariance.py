"""Invariance under an infinitesimal symmetry: of the Lagrangian, the distribution, the forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice

import casadi as ca
import numpy as np

from .equations import solve_definite
from .frame import adapted_frame
from .samples import sample_points
from .system import ConstrainedSystem, LagrangianSystem

_DIGITS = 1e-13     # relative: a change of q that is little more than rounding
_ROUNDING = 1e-4    # of a quantity divided by an entry's extent: a smaller slope may be rounding


def complete_lift(system: LagrangianSystem, section: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Rates of q (nq,) and of v (nv,) along the complete lift of a section s of the algebroid.

    q' = rho s,  (v')^a = (rho v)(s^a) + c^a_bg v^b s^g; on a tangent bundle this is
    X^i d/dq^i + v^j dX^i/dq^j d/dv^i.
    """
    algebroid, v = system.algebroid, system.v
    twist = ca.vertcat(ca.SX(0, 1), *[ca.dot(v, c @ section) for c in algebroid.structure])
    return algebroid.anchor @ section, ca.jtimes(section, system.q, system.q_rate) + twist


@dataclass(frozen=True)
class Invariance:
    """The derivatives of one quantity along the lifts of k sections."""

    what: str  # quantity, in words
    labels: tuple[str, ...]  # of its n entries
    rate: ca.SX  # (n, k), which must vanish
    size: ca.SX  # (n, k), in the same unit: size of the terms that cancel in the rate


def invariances(constrained: ConstrainedSystem, sections: ca.SX) -> list[Invariance]:
    """Derivatives, along the lifts of sections (nv, k), of L (of the energy if there is no
    Lagrangian), forces, rows and phi; also of the acceleration and the manifold if these define the
    motion.

    In (t, q, v, u, theta), linear in the sections. Those of rows, phi and the manifold must vanish
    on the constraints only. A force is dragged along as a one-form: (L_s tau)_a = s^C(tau_a) +
    tau_b d(s^C v^b)/dv^a.
    """
    system, d = constrained.system, constrained.distribution
    q, v, tau = system.q, system.v, system.force
    function = system.energy if system.lagrangian is None else system.lagrangian
    speed = d.A @ v + d.b
    count = sections.shape[1]
    lifts = [complete_lift(system, sections[:, i]) for i in range(count)]
    moved, sizes = (ca.horzcat(ca.SX(q.numel() + v.numel(), 0), *columns) for columns in (
        [ca.densify(ca.vertcat(*lift)) for lift in lifts],
        [_lift_size(system, sections[:, i]) for i in range(count)]))
    extents = _extents(constrained)
    reach = _ROUNDING * ca.sum1(sizes / extents)

    def along(f: ca.SX, further: ca.SX | None = None) -> tuple[ca.SX, ca.SX]:
        slope = ca.jacobian(f, ca.vertcat(q, v))
        further = ca.SX(f.numel(), count) if further is None else further
        whole = ca.fabs(f) + ca.fabs(slope) @ ca.fabs(ca.vertcat(q, v))
        return (slope @ moved + further, ca.fabs(slope) @ sizes + ca.fabs(further)
                + (ca.mmax(whole) if f.numel() else 0) * ca.repmat(reach, f.numel(), 1))

    dragged = ca.horzcat(ca.SX(v.numel(), 0),
                         *[ca.jacobian(v_rate, v).T @ tau for _, v_rate in lifts])
    rest = _of_motion(constrained, lifts, along) if constrained.invariant.numel() else []
    name = "the energy" if system.lagrangian is None else "the Lagrangian"
    return [Invariance(name, ("",), *along(function)),
            Invariance("the force", system.algebroid.v_names, *along(tau, dragged)),
            Invariance("the distribution", d.names, *along(speed)),
            Invariance("the holonomic constraint", tuple(d.names[i] for i in d.phi_rows),
                       *along(d.phi)), *rest]


def _lift_size(system: LagrangianSystem, section: ca.SX) -> ca.SX:
    """Size of the terms that cancel in a complete lift, (nq + nv,)."""
    s, v, rho = ca.fabs(section), ca.fabs(system.v), ca.fabs(system.algebroid.anchor)
    twist = [v.T @ ca.fabs(c) @ s for c in system.algebroid.structure]
    return ca.densify(ca.vertcat(rho @ s, ca.fabs(ca.jacobian(section, system.q)) @ (rho @ v)
                                 + ca.vertcat(ca.SX(0, 1), *twist)))


def _extents(constrained: ConstrainedSystem) -> np.ndarray:
    """Size of each entry of (q, v), (nq + nv,): infinite for one that is always zero.

    A velocity that changes by as much as a hundredth of itself if the last digits of q do is zero
    too. No other measure of rounding holds in all units.
    """
    near = replace(constrained, samples=constrained.configurations * (1 + _DIGITS * np.cos(
        np.arange(constrained.configurations.size)).reshape(constrained.configurations.shape)))
    states, others = ([np.concatenate([q, v]) for _, q, v, _ in random_states(one, 8)]
                      for one in (constrained, near))
    if len(states) != len(others):
        return np.full(constrained.system.q.numel() + constrained.system.v.numel(), np.inf)
    found = np.abs(states).max(axis=0, initial=0.0)
    moved = np.abs(np.subtract(states, others)).max(axis=0, initial=0.0)
    return np.where(found > 100 * moved, found, np.inf)


def _of_motion(constrained: ConstrainedSystem, lifts: list[tuple[ca.SX, ca.SX]],
               along: Callable[..., tuple[ca.SX, ca.SX]]) -> list[Invariance]:
    """Invariances of dv/dt = F(t, q, v) and of its manifold: the lift maps F to the rate of its own
    (v') along F."""
    system, chi = constrained.system, constrained.invariant
    M, h = system.mass_and_bias()
    F = ca.densify(solve_definite(M, system.force - h))
    carried = ca.horzcat(ca.SX(F.numel(), 0), *[
        -(system.rate(v_rate) + ca.jtimes(v_rate, system.v, F)) for _, v_rate in lifts])
    labels = tuple(str(i) for i in range(chi.numel()))
    return [Invariance("the acceleration", system.algebroid.v_names, *along(F, carried)),
            Invariance("the manifold of the motion", labels, *along(chi))]


def random_states(constrained: ConstrainedSystem, count: int,
                  ) -> list[tuple[float, np.ndarray, np.ndarray, np.ndarray]]:
    """(t, q, v, u): the `sample_points` of the system in turn, from the last on, since the first
    may be special (`samples_beside`); random v that satisfy A v + b = 0. If the motion has a
    manifold, states on it nearby.

    v has a normal distribution with a mean kinetic energy of the order of the differences of the
    potential, which does not depend on the units of length, mass and time.
    """
    system, frame = constrained.system, adapted_frame(constrained)
    xi = ca.SX.sym("xi", frame.nxi)
    inputs = [system.t, system.q, system.theta]
    velocity = ca.Function("velocity", [*inputs[:2], xi, system.theta],
                           [ca.densify(frame.velocity(xi))])
    mass = ca.Function("mass", inputs, system.expand(ca.densify(
        frame.E.T @ ca.substitute(system.mass_and_bias()[0], system.v,
                                  ca.SX.zeros(system.v.shape)) @ frame.E)))
    rng, points, made = np.random.default_rng(0), [*zip(*sample_points(constrained))], []
    height = _height(constrained)
    for t, q in islice(cycle(points[::-1]), count):
        speeds = height * _by_energy(mass(t, q, constrained.parameters).full(),
                                     rng.normal(size=frame.nxi))
        v = velocity(t, q, speeds, constrained.parameters).full().ravel()
        if constrained.invariant.numel():
            q, v = constrained.nearest_state(q, v, t) or (q, np.full(v.size, np.nan))
        # the independent speeds may not determine v at a special configuration
        if np.all(np.isfinite(v)):
            made.append((t, q, v, rng.normal(size=system.u.numel())))
    return made


def _by_energy(mass: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Speeds with speeds^T mass speeds = |normal|^2; unscaled if the mass is not definite."""
    try:
        return np.linalg.solve(np.linalg.cholesky(mass).T, normal)
    except np.linalg.LinAlgError:
        return normal


def _height(constrained: ConstrainedSystem) -> float:
    """Square root of the differences of the potential between configurations; 1 if they vanish."""
    system, theta = constrained.system, constrained.parameters
    found = np.array([float(system.energy_function(constrained.moment, q, np.zeros(
        system.v.numel()), theta)) for q in constrained.configurations[:8]])
    found = found[np.isfinite(found)]
    height = np.ptp(found) if found.size else 0.0
    return float(np.sqrt(height)) if height > 1e-12 * np.abs(found).max(initial=0.0) else 1.0


def evaluate(constrained: ConstrainedSystem, found: Sequence[Invariance], states: int):
    """For each quantity: derivatives, and sizes of the terms that cancel in them, (states, n, k).

    L and the forces are also evaluated at velocities off the distribution, where they must be
    invariant too.
    """
    system, rng = constrained.system, np.random.default_rng(1)
    inputs = [system.t, system.q, system.v, system.u, system.theta]
    values: list[tuple[list, list]] = [([], []) for _ in found]
    functions = [ca.Function("lifted", inputs, [ca.densify(f.rate), ca.densify(f.size)])
                 for f in found]
    mass = ca.Function("mass", inputs, system.expand(ca.densify(system.mass_and_bias()[0])))
    height = _height(constrained)
    for t, q, v, u in random_states(constrained, states):
        here = mass(t, q, v, u, constrained.parameters).full()
        free = height * _by_energy(here, rng.normal(size=v.size))
        for (derivative, size), function, f in zip(values, functions, found):
            off = f.what in ("the Lagrangian", "the energy", "the force")
            out = function(t, q, free if off else v, u, constrained.parameters)
            derivative.append(out[0].full())
            size.append(out[1].full())
    return [(np.array(derivative), np.array(size)) for derivative, size in values]
