"""What an infinitesimal symmetry must leave alone: the Lagrangian, the distribution, the forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from .equations import solve_definite
from .frame import adapted_frame
from .system import ConstrainedSystem, LagrangianSystem


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
    """The derivatives of one quantity along the lifts of k sections, as terms to be added.

    Attributes
    ----------
    what
        Quantity, in words.
    labels
        Of its n entries.
    terms
        (n, k) each; their sum must vanish, and is small if it is small against them.
    """

    what: str
    labels: tuple[str, ...]
    terms: tuple[ca.SX, ...]


def invariances(constrained: ConstrainedSystem, sections: ca.SX) -> list[Invariance]:
    """Derivatives along the lifts of sections (nv, k) of L (of the energy where a system has no
    Lagrangian), forces, rows and phi; and of the acceleration and the manifold where the motion is
    given by them.

    In (t, q, v, u, theta), linear in the sections. Those of rows, phi and the manifold must vanish
    on the constraints only. A force is dragged along as a one-form: (L_s tau)_a = s^C(tau_a) +
    tau_b d(s^C v^b)/dv^a.
    """
    system, d = constrained.system, constrained.distribution
    q, v, tau = system.q, system.v, system.force
    function = system.energy if system.lagrangian is None else system.lagrangian
    speed = d.A @ v + d.b
    lifts = [complete_lift(system, sections[:, i]) for i in range(sections.shape[1])]

    def along(f: ca.SX) -> tuple[ca.SX, ca.SX]:
        by_q, by_v = ca.jacobian(f, q), ca.jacobian(f, v)
        return (ca.horzcat(ca.SX(f.numel(), 0), *[by_q @ q_rate for q_rate, _ in lifts]),
                ca.horzcat(ca.SX(f.numel(), 0), *[by_v @ v_rate for _, v_rate in lifts]))

    dragged = ca.horzcat(ca.SX(v.numel(), 0),
                         *[ca.jacobian(v_rate, v).T @ tau for _, v_rate in lifts])
    rest = _of_motion(constrained, lifts, along) if constrained.invariant.numel() else []
    name = "the energy" if system.lagrangian is None else "the Lagrangian"
    return [Invariance(name, ("",), along(function)),
            Invariance("the force", system.algebroid.v_names, (*along(tau), dragged)),
            Invariance("the distribution", d.names, along(speed)),
            Invariance("the holonomic constraint", tuple(d.names[i] for i in d.phi_rows),
                       along(d.phi)[:1]), *rest]


def _of_motion(constrained: ConstrainedSystem, lifts: list[tuple[ca.SX, ca.SX]],
               along: Callable[[ca.SX], tuple[ca.SX, ca.SX]]) -> list[Invariance]:
    """Of dv/dt = F(t, q, v) and its manifold: the lift takes F to the rate that F gives to the
    lift's own (v')."""
    system, chi = constrained.system, constrained.invariant
    M, h = system.mass_and_bias()
    F = ca.densify(solve_definite(M, system.force - h))
    carried = ca.horzcat(ca.SX(F.numel(), 0), *[
        -(system.rate(v_rate) + ca.jtimes(v_rate, system.v, F)) for _, v_rate in lifts])
    labels = tuple(str(i) for i in range(chi.numel()))
    return [Invariance("the acceleration", system.algebroid.v_names, (*along(F), carried)),
            Invariance("the manifold of the motion", labels, along(chi))]


def random_states(constrained: ConstrainedSystem, count: int,
                  seed: int = 0) -> list[tuple[float, np.ndarray, np.ndarray, np.ndarray]]:
    """(t, q, v, u): configurations of the system in turn, with random v that satisfy A v + b = 0;
    near them, where the motion has a manifold.

    t is random too, but 0 where holonomic constraints move, for configurations are given at t = 0.
    """
    system, frame = constrained.system, adapted_frame(constrained)
    xi = ca.SX.sym("xi", frame.nxi)
    velocity = ca.Function("velocity", [system.t, system.q, xi, system.theta],
                           [ca.densify(frame.velocity(xi))])
    rng, configurations = np.random.default_rng(seed), constrained.configurations
    moving, made = ca.depends_on(ca.densify(constrained.distribution.phi), system.t), []
    for k in range(count):
        t, q = 0.0 if moving else rng.uniform(0, 1), configurations[k % len(configurations)]
        v = velocity(t, q, rng.normal(size=frame.nxi), constrained.parameters).full().ravel()
        if constrained.invariant.numel():
            q, v = constrained.nearest_state(q, v, t) or (q, np.full(v.size, np.nan))
        # the frame's speeds may determine nothing at a special configuration
        if np.all(np.isfinite(v)):
            made.append((t, q, v, rng.normal(size=system.u.numel())))
    return made


def evaluate(constrained: ConstrainedSystem, found: Sequence[Invariance], states: int,
             seed: int = 0):
    """For each quantity: derivatives and sizes of what cancels in them, (states, n, k) both.

    L and the forces are taken at velocities off the distribution too, for there they must be
    invariant as well.
    """
    system, rng = constrained.system, np.random.default_rng(seed + 1)
    inputs = [system.t, system.q, system.v, system.u, system.theta]
    values: list[tuple[list, list]] = [([], []) for _ in found]
    functions = []
    for f in found:
        sums = [
            sum(terms[1:], terms[0]) for terms in (f.terms, [ca.fabs(term) for term in f.terms])
        ]
        functions.append(ca.Function("lifted", inputs, [ca.densify(total) for total in sums]))
    for t, q, v, u in random_states(constrained, states, seed):
        free = rng.normal(size=v.size)
        for (derivative, size), function, f in zip(values, functions, found):
            off = f.what in ("the Lagrangian", "the energy", "the force")
            out = function(t, q, free if off else v, u, constrained.parameters)
            derivative.append(out[0].full().reshape(f.terms[0].shape))
            size.append(out[1].full().reshape(f.terms[0].shape))
    return [(np.array(derivative), np.array(size)) for derivative, size in values]
