"""The two-wheeled carriage: a generalised Chaplygin system with a gyroscopic form."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.reduction import chaplygin
from ..mechanics.symmetry import symmetry
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import along, curvature_term, random_motions, wander
from .example import Check, Example, apart, largest, solve
from .shapes import AXLE, DARK, Shape, pose

SOURCE = "paper 004, example VII.2"
NAMES = ("m", "m0", "l", "I", "C", "a", "r")
EUCLIDEAN_GROUP = {"x": lambda s: {"x": 1}, "y": lambda s: {"y": 1},
                   "turn": lambda s: {"x": -s.q.y, "y": s.q.x, "phi": 1}}


def example(m: float = 4.0, m0: float = 3.0, l: float = 0.12, I: float = 0.1885, C: float = 0.0025,
            a: float = 0.1, r: float = 0.25) -> Example:
    """L = m (x'^2 + y'^2) / 2 + m0 l phi' (y' cos phi - x' sin phi) + I phi'^2 / 2
    + C (psi1'^2 + psi2'^2) / 2 on R^2 x S^1 x T^2.

    m total and m0 chassis mass [kg], l [m] its centre ahead of the axle, I [kg m^2] of all about
    the axle's middle, C of a wheel about the axle, wheel radius a and half track r [m]. Forward
    motion has negative psi1' (right wheel) and psi2' (left wheel): x' = -(a/2) cos(phi) (psi1' +
    psi2'), y' = -(a/2) sin(phi) (psi1' + psi2'), phi' = -(a/2r) (psi1' - psi2').

    Reduced by SE(2), with kappa = -(a^3/4r^2) m0 l (psi1' - psi2') and J the Hessian of L*:
    L* = (J11 (psi1'^2 + psi2'^2) + 2 J12 psi1' psi2') / 2, J11 = m a^2/4 + I a^2/4r^2 + C, J12 = m
    a^2/4 - I a^2/4r^2, omega_U = omega_L* + kappa dpsi1 ^ dpsi2, and i_X omega_U = dE gives J psi''
    = -kappa (psi2', -psi1').
    """
    space = euclidean("x", "y", "phi", "psi1", "psi2",
                      units=("m/s", "m/s", "rad/s", "rad/s", "rad/s"))
    carriage = lagrangian_system(space, _lagrangian, parameters=NAMES)
    constrained = constrain(carriage, dict(zip(NAMES, (m, m0, l, I, C, a, r))), rows={
        "mu1": lambda s: s.v.x + s.p.a / 2 * ca.cos(s.q.phi) * (s.v.psi1 + s.v.psi2),
        "mu2": lambda s: s.v.y + s.p.a / 2 * ca.sin(s.q.phi) * (s.v.psi1 + s.v.psi2),
        "mu3": lambda s: s.v.phi + s.p.a / (2 * s.p.r) * (s.v.psi1 - s.v.psi2)})
    start = {"q": (0.0, 0.0, 0.0, 0.0, 0.0), "xi": (-6.0, -9.0)}
    matrix = mass_matrix(m, I, C, a, r)

    def reduced() -> float:
        """L on the constraints and p . [E_1, E_2] there, at random states."""
        rng = np.random.default_rng(3)
        q, xi = rng.normal(size=(6, 5)), rng.normal(size=(6, 2)) * 5
        found = along(made, ca.vertcat(carriage.energy, curvature_term(made)), np.zeros(len(q)),
                      q, xi)
        exact = np.stack([np.einsum("ni,ij,nj->n", xi, matrix, xi) / 2,
                          [form_coefficient(m0, l, a, r, rates) for rates in xi]], axis=1)
        return largest(found - exact)

    def reduced_by_symmetry() -> float:
        """The Hessian of L*, the gyroscopic form and the 2-form of `chaplygin` by SE(2)."""
        quotient = chaplygin(symmetry(constrained, EUCLIDEAN_GROUP))
        base, worst = quotient.base.system, 0.0
        evaluate = ca.Function("reduced", [base.v, base.theta],
                               [ca.jacobian(base.momentum, base.v), quotient.alpha,
                                quotient.omega])
        for rates in np.random.default_rng(4).normal(size=(5, 2)) * 5:
            found, alpha, omega = (value.full()
                                   for value in evaluate(rates, constrained.parameters))
            worst = largest(worst, found - matrix,
                            alpha.ravel() - gyroscopic_force(m0, l, a, r, rates),
                            omega[0, 1] - form_coefficient(m0, l, a, r, rates))
        return worst

    def reduced_equations() -> float:
        worst = 0.0
        for _, v, rates, _ in random_motions(made):
            force = gyroscopic_force(m0, l, a, r, v[3:])
            worst = largest(worst, apart(matrix @ rates[3:], force))
        return worst

    def closed_form() -> float:
        """Forward speed V = Vf tanh(k t + c) and yaw rate W = Om sech(k t + c), as of a sleigh."""
        M, J = m + 2 * C / a ** 2, I + 2 * C * r ** 2 / a ** 2
        t = np.linspace(0, 8, 17)
        _, xi = solve(made, t)
        V, W = -a / 2 * xi.sum(axis=1), -a / (2 * r) * (xi[:, 0] - xi[:, 1])
        final = np.sqrt(V[0] ** 2 + J / M * W[0] ** 2)
        phase = m0 * l * final / J * t + np.arctanh(V[0] / final)
        yaw_rate = np.sign(W[0]) * final * np.sqrt(M / J) / np.cosh(phase)
        return largest(V - final * np.tanh(phase), W - yaw_rate)

    signed = f"{SOURCE}, with the sign of eqs. (21), (22)"
    made = Example("carriage", "Two-wheeled carriage", SOURCE, constrained, start, (
        Check("L* and the reduced 2-form", SOURCE, 1e-12, reduced),
        Check("Chaplygin reduction by SE(2)", signed, 1e-12, reduced_by_symmetry),
        Check("J psi'' = gyroscopic force", signed, 1e-12, reduced_equations),
        Check("forward speed and yaw rate in closed form", "in this file", 1e-10, closed_form),
        Check("energy over 100 s", "d'Alembert", 1e-11, lambda: wander(made, carriage.energy))),
                   ("psi1'", "psi2'"),
        shapes=_shapes(a, r, l), generators=EUCLIDEAN_GROUP)
    return made


def mass_matrix(m: float, I: float, C: float, a: float, r: float) -> np.ndarray:
    """The Hessian of L* [kg m^2], (2, 2)."""
    sum_, difference = m * a ** 2 / 4, I * a ** 2 / (4 * r ** 2)
    return np.array([[sum_ + difference + C, sum_ - difference],
                     [sum_ - difference, sum_ + difference + C]])


def form_coefficient(m0: float, l: float, a: float, r: float, rates) -> float:
    """kappa, the coefficient of dpsi1 ^ dpsi2 in the reduced 2-form [kg m^2/s]."""
    return -a ** 3 / (4 * r ** 2) * m0 * l * (rates[0] - rates[1])


def gyroscopic_force(m0: float, l: float, a: float, r: float, rates) -> np.ndarray:
    """-kappa (psi2', -psi1') [N m], (2,): minus the paper's printed alpha, which has
    the sign of i_X omega_L* = dE + alpha."""
    return -form_coefficient(m0, l, a, r, rates) * np.array([rates[1], -rates[0]])


def _lagrangian(s: Symbols):
    p, phi = s.p, s.q.phi
    return (p.m * (s.v.x ** 2 + s.v.y ** 2) / 2
            + p.m0 * p.l * s.v.phi * (s.v.y * ca.cos(phi) - s.v.x * ca.sin(phi))
            + p.I * s.v.phi ** 2 / 2 + p.C * (s.v.psi1 ** 2 + s.v.psi2 ** 2) / 2)


def _shapes(a: float, r: float, l: float) -> tuple[Shape, ...]:
    def at(q, ahead: float, left: float) -> np.ndarray:
        c, s = np.cos(q[2]), np.sin(q[2])
        return pose((q[0] + ahead * c - left * s, q[1] + ahead * s + left * c, a), yaw=q[2])

    return (Shape("box", (4 * l, 1.6 * r, 0.5 * a), lambda q: at(q, l, 0)),
            Shape("cylinder", (a, 0.25 * a), lambda q: at(q, 0, -r) @ AXLE, DARK, trail=True),
            Shape("cylinder", (a, 0.25 * a), lambda q: at(q, 0, r) @ AXLE, DARK, trail=True))
