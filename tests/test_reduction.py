"""Reduction and reconstruction: Chaplygin, Routh, Euler-Poincare;
2-forms against the Cartan form of the full system."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from support import sampled
from symmetric_systems import (
    CARRIAGE,
    POLAR_TORUS,
    SE2,
    SPIN,
    TORUS,
    X,
    Y,
    capri_kobayashi,
    carriage,
    carriage_in_body_speeds,
    particle,
    rigid_body,
    skate_with_flywheel,
    sleigh,
    vertical_disk,
)

from nhmech import MechanicsError
from nhmech.mechanics.algebroid import euclidean
from nhmech.mechanics.gibbs_appell import gibbs_appell
from nhmech.mechanics.momentum import momentum_map
from nhmech.mechanics.quasi_velocities import change_of_basis
from nhmech.mechanics.quotient import quotient
from nhmech.mechanics.reconstruction import reconstruct, run_reduced
from nhmech.mechanics.reduction import at_momentum, chaplygin
from nhmech.mechanics.symmetry import symmetry
from nhmech.mechanics.symmetry_search import find_symmetry
from nhmech.mechanics.writing import constrain, lagrangian_system

WHEELS = ("psi1'", "psi2'")


def body_se2(constrained):
    """SE(2) of the carriage in body speeds: what is found, without the wheels."""
    made = find_symmetry(constrained)
    return symmetry(constrained, {name: made.generators[:, i]
                                  for i, name in enumerate(made.names) if "psi" not in name})


def hilly_particle():
    """A particle with z' = y x' + sin(x) y' in a potential of x and y:
    curvature, base forces and a mass matrix that varies."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + (2 + ca.cos(s.q.x)) * s.v.y ** 2 + s.v.z ** 2) / 2 - s.q.x ** 2 * s.q.y,
        force=lambda s: {"x": s.u.f - s.v.x, "y": 0.3 * s.v.y * s.q.x}, inputs=("f",))
    return constrain(free, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x - ca.sin(s.q.x) * s.v.y})


def hilly_particle_in_quasi_velocities():
    """The same with w = y'/(1 + x^2): base velocities whose bracket is 2 x/(1 + x^2) of the
    second."""
    plain = hilly_particle()
    q, w = plain.system.q, ca.SX.sym("w", 3)
    basis = ca.diagcat(1, 1 + q[0] ** 2, 1)
    system, d, v = plain.system, plain.distribution, ca.densify(basis @ w)
    space = change_of_basis(system.algebroid, basis, ("x'", "w", "z'"))
    lagrangian, force = ca.substitute([system.lagrangian, system.force], [system.v], [v])
    system = system.transfer(space, w, system.a, lagrangian, basis.T @ force)
    return replace(plain, system=system, distribution=replace(d, A=d.A @ basis))


def in_the_plane():
    """A free particle in Cartesian coordinates, which a turn about the origin moves both."""
    return constrain(lagrangian_system(euclidean("x", "y"),
                                       lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2))


TURN = {"turn": lambda s: {"x": -s.q.y, "y": s.q.x}}


def disc_with_a_float():
    """A vertical disc that lifts a float by a tenth of its angle: a holonomic row beside its two of
    rolling."""
    free = lagrangian_system(euclidean("x", "y", "z", "theta", "phi"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2 + 2 * s.v.theta ** 2 + 3 * s.v.phi ** 2) / 2
        - s.q.z ** 2)
    rows = {"along": lambda s: s.v.x - ca.cos(s.q.phi) * s.v.theta,
            "across": lambda s: s.v.y - ca.sin(s.q.phi) * s.v.theta}
    return constrain(free, rows=rows, holonomic={"float": lambda s: s.q.z - s.q.theta / 10})


CHAPLYGIN = {
    "carriage": (carriage, lambda c: symmetry(c, SE2)),
    "carriage in body speeds": (carriage_in_body_speeds, body_se2),
    "vertical disk": (vertical_disk, lambda c: symmetry(c, {**X, **Y})),
    "disc with a float": (disc_with_a_float, lambda c: symmetry(
        c, {name: lambda s, name=name: {name: 1} for name in ("x", "y")})),
    "particle": (particle, lambda c: symmetry(c, {"z": lambda s: {"z": 1}})),
    "hilly particle": (hilly_particle, lambda c: symmetry(c, {"z": lambda s: {"z": 1}})),
    "hilly particle in quasi-velocities": (hilly_particle_in_quasi_velocities,
                                           lambda c: symmetry(c, {"z": lambda s: {"z": 1}})),
}


def states(reduction, seed):
    """(q, xi, u) at the system's configurations."""
    whole, rng = reduction.symmetry.constrained, np.random.default_rng(seed)
    for q in whole.configurations:
        yield (q, rng.normal(size=reduction.base.system.v.numel()) * 2,
               rng.normal(size=whole.system.u.numel()))


@pytest.mark.paper("004 (20)")
@pytest.mark.parametrize("name", sampled(CHAPLYGIN, 4))
def test_reduced_accelerations_are_the_full_ones(name):
    system, sym = CHAPLYGIN[name]
    whole = system()
    reduced = chaplygin(sym(whole))
    names = reduced.base.system.algebroid.v_names
    full, base = gibbs_appell(whole, names), reduced.equations()
    assert base.names == names and reduced.base.distribution.m == 0
    for q, xi, u in states(reduced, 7):
        r = q[list(reduced.coordinates)]
        q_rate, xi_rate = full.drift(0.0, q, xi, u, whole.parameters)
        r_rate, reduced_rate = base.drift(0.0, r, xi, u, whole.parameters)
        assert reduced_rate.full() == pytest.approx(xi_rate.full(), rel=1e-10, abs=1e-11)
        assert r_rate.full() == pytest.approx(q_rate.full()[list(reduced.coordinates)], rel=1e-12,
                                              abs=1e-13)
        lifted_rate, v = reduced.lift(0.0, q, xi, whole.parameters)
        assert lifted_rate.full() == pytest.approx(q_rate.full(), rel=1e-12, abs=1e-13)
        assert v.full() == pytest.approx(full.velocity(0.0, q, xi, whole.parameters).full(),
                                         rel=1e-12, abs=1e-13)


@pytest.mark.paper("004 (20)")
@pytest.mark.parametrize("name", sampled(CHAPLYGIN, 4))
def test_signs_of_one_convention(name):
    """i_X omega* = dE* - alpha and i_X omega = dE* on the true dynamics without other forces;
    alpha(X) = 0; G is antisymmetric."""
    system, sym = CHAPLYGIN[name]
    whole = system()
    reduced = chaplygin(sym(whole))
    s, n = reduced.base.system, reduced.alpha.numel()
    inputs = [s.q, s.v, s.u, s.theta]
    forms = ca.Function("forms", inputs,
                        [reduced.omega_star, reduced.omega, reduced.alpha, reduced.energy_form,
                                          reduced.gyroscopic,
                                          s.force - reduced.alpha])
    for q, xi, u in states(reduced, 8):
        r = q[list(reduced.coordinates)]
        star, omega, alpha, dE, G, tau = (value.full()
                                          for value in forms(r, xi, u, whole.parameters))
        field = np.r_[xi, reduced.equations().drift(0.0, r, xi, u,
                                                    whole.parameters)[1].full().ravel()]
        force = np.r_[tau.ravel(), np.zeros(n)]
        assert field @ star == pytest.approx(dE.ravel() - np.r_[alpha.ravel(), np.zeros(n)] - force,
                                             rel=1e-10, abs=1e-10)
        assert field @ omega == pytest.approx(dE.ravel() - force, rel=1e-10, abs=1e-10)
        assert abs(alpha.ravel() @ xi) <= 1e-12 * (1 + np.abs(alpha).max() * np.abs(xi).max())
        assert pytest.approx(-G.T, abs=1e-15) == G
        assert np.linalg.matrix_rank(omega) == 2 * n


@pytest.mark.paper("004 (19)")
@pytest.mark.parametrize("name", sampled(CHAPLYGIN, 4))
def test_reduced_2_form_is_the_cartan_form_on_horizontal_vectors(name):
    """omega on U = F meet TM (paper 004, eq. (19)) from omega_L = dq ^ dp upstairs,
    with no bracket and no curvature in it.

    In quasi-velocities theta = p_a e^a and -d theta = e^a ^ dp_a + 1/2 c^g_ab p_g e^a ^ e^b.
    """
    system, sym = CHAPLYGIN[name]
    whole = system()
    reduced = chaplygin(sym(whole))
    s, base = whole.system, reduced.base.system
    n, xi = base.v.numel(), base.v
    velocity = reduced.lift(0.0, s.q, xi, s.theta)[1]
    E = ca.jacobian(velocity, xi)
    p = ca.substitute(s.momentum, s.v, velocity)
    # (nv, 2n): the one-forms e^a on the 2n vectors
    e = ca.horzcat(E, ca.SX(E.shape[0], n))
    dp = ca.horzcat(ca.jacobian(p, s.q) @ s.algebroid.anchor @ E, ca.jacobian(p, xi))
    twist = sum((p[g] * c for g, c in enumerate(s.algebroid.structure)),
                ca.SX(*s.algebroid.structure[0].shape))
    upstairs = e.T @ dp - dp.T @ e + e.T @ twist @ e
    evaluate = ca.Function(
        "omega",
        [s.q, xi, s.theta],
        [upstairs, ca.substitute(reduced.omega, base.q, s.q[list(reduced.coordinates)])],
    )
    for q, speeds, _ in states(reduced, 9):
        above, below = evaluate(q, speeds, whole.parameters)
        assert below.full() == pytest.approx(above.full(), rel=1e-11, abs=1e-12)


def exterior_derivative(form: ca.SX, z: ca.SX) -> ca.SX:
    """All components (d omega)_ijk = d_i omega_jk + d_j omega_ki + d_k omega_ij."""
    n = z.numel()
    return ca.vertcat(
        *[
            ca.jacobian(form[j, k], z[i])
            + ca.jacobian(form[k, i], z[j])
            + ca.jacobian(form[i, j], z[k])
            for i in range(n)
            for j in range(i + 1, n)
            for k in range(j + 1, n)
        ]
    )


@pytest.mark.parametrize("name, closed",
                         [("carriage", False), ("vertical disk", True), ("particle", False),
                                          ("hilly particle", False)])
def test_omega_star_is_closed_and_omega_need_not_be(name, closed):
    system, sym = CHAPLYGIN[name]
    reduced = chaplygin(sym(system()))
    base = reduced.base.system
    z = ca.vertcat(base.q, base.v)
    evaluate = ca.Function("d", [base.q, base.v, base.theta],
                           [exterior_derivative(form,
                                                z) for form in (reduced.omega_star, reduced.omega)])
    values = [evaluate(q[list(reduced.coordinates)], xi, reduced.base.parameters)
              for q, xi, _ in states(reduced, 10)]
    largest = np.max([[np.abs(value.full()).max() for value in pair] for pair in values], axis=0)
    assert largest[0] <= 1e-12
    assert largest[1] <= 1e-14 if closed else largest[1] > 1e-4


@pytest.mark.paper("004 VII.2")
def test_carriage_of_the_paper(case):
    """L*, the reduced 2-form and the gyroscopic form of example VII.2, all coefficients at random
    rates, and the reference numbers."""
    reference = case("carriage")
    P = reference["parameters"]["paper"]
    assert pytest.approx(CARRIAGE, rel=1e-12, abs=0) == P
    reduced = chaplygin(symmetry(carriage(), SE2))
    base = reduced.base.system
    assert base.algebroid.q_names == ("psi1", "psi2") and base.algebroid.v_names == WHEELS
    evaluate = ca.Function("reduced", [base.v, base.theta],
                           [base.lagrangian, reduced.omega, reduced.omega_star, reduced.alpha])
    a, r, l, m, m0, I, C = (P[name] for name in ("a", "r", "l", "m", "m0", "I", "C"))
    diagonal, cross = m * a**2 / 4 + I * a**2 / (4 * r**2) + C, m * a**2 / 4 - I * a**2 / (4 * r**2)
    for w in np.random.default_rng(11).normal(size=(5, 2)) * 8:
        lagrangian, omega, star, alpha = (value.full() for value in evaluate(w, list(P.values())))
        expected = (m * a ** 2 / 8 * (w[0] + w[1]) ** 2
                    + I * a ** 2 / (8 * r ** 2) * (w[1] - w[0]) ** 2 + C / 2 * (w @ w))
        assert lagrangian.item() == pytest.approx(expected, rel=1e-13, abs=0)
        assert star[:2, :2] == pytest.approx(np.zeros((2, 2)), abs=1e-15)
        assert omega[0, 1] == pytest.approx(-a ** 3 / (4 * r ** 2) * m0 * l * (w[0] - w[1]),
                                            rel=1e-12, abs=0)
        assert omega[:2, 2:] == pytest.approx(np.array([[diagonal, cross], [cross, diagonal]]),
                                              rel=1e-13, abs=0)
        printed = m0 * l * a ** 3 / (4 * r ** 2) * (w[1] - w[0]) * np.array([w[1], -w[0]])
        # the paper prints the other sign
        assert alpha.ravel() == pytest.approx(-printed, rel=1e-12, abs=0)
    start, expected = reference["initial_state"], reference["expected"]
    w = [start["psi1_rate"], start["psi2_rate"]]
    _, omega, _, alpha = (value.full() for value in evaluate(w, list(P.values())))
    assert omega[0, 1] == pytest.approx(expected["reduced_2form_coefficient_dpsi1_dpsi2_at_t0"],
                                        rel=1e-12, abs=0)
    assert omega[:2, 2:] == pytest.approx(np.array(expected["mass_matrix"]), rel=1e-12, abs=0)
    assert alpha.ravel() == pytest.approx(expected["gyroscopic_force_at_t0"], rel=1e-12, abs=0)
    rate = reduced.equations().drift(0.0, [0, 0], w, [], list(P.values()))[1].full().ravel()
    assert rate == pytest.approx(expected["psi_acc_at_t0"], rel=1e-12)
    energy = ca.Function("energy", [base.v, base.theta], [base.energy])(w, list(P.values()))
    assert float(energy) == pytest.approx(expected["energy"], rel=1e-12)


def test_carriage_in_body_speeds_has_the_same_reduction():
    """On SE(2) with embedded angles the base is a torus of (cos, sin) pairs, and the forms
    are those of the plain coordinates."""
    plain, body = (chaplygin(CHAPLYGIN[name][1](CHAPLYGIN[name][0]()))
                   for name in ("carriage", "carriage in body speeds"))
    space = body.base.system.algebroid
    assert space.circles == ((0, 0), (2, 1)) and space.q_names == (
        "psi1.cos",
        "psi1.sin",
        "psi2.cos",
        "psi2.sin",
    )
    space.check()
    for w in np.random.default_rng(12).normal(size=(4, 2)):
        values = []
        for made in (plain, body):
            system = made.base.system
            evaluate = ca.Function("w", [system.v, system.theta],
                                   [made.omega, made.alpha, system.lagrangian])
            values.append(evaluate(w, list(CARRIAGE.values())))
        for one, other in zip(*values):
            assert other.full() == pytest.approx(one.full(), rel=1e-12, abs=1e-15)


@pytest.mark.paper("004 reconstruction")
def test_carriage_reconstructed(case):
    """SE(2) from the wheel rates, against the reference path and against a run of the full
    system."""
    reference = case("carriage")
    reduced = chaplygin(symmetry(carriage(), SE2))
    samples = reference["expected"]["samples"]
    times = [sample["t"] for sample in samples]
    motion = run_reduced(reduced, times, [0, 0], [-6.0, -9.0])
    path = reconstruct(reduced, motion, [0, 0, 0, 0, 0])
    expected = np.array(
        [[sample[name] for name in ("x", "y", "phi", "psi1", "psi2")] for sample in samples]
    )
    rates = np.array([[sample["psi1_rate"], sample["psi2_rate"]] for sample in samples])
    assert path.q == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert motion.xi == pytest.approx(rates, rel=1e-11)
    forward = path.v[:, 0] * np.cos(path.q[:, 2]) + path.v[:, 1] * np.sin(path.q[:, 2])
    assert forward == pytest.approx([sample["forward_speed"] for sample in samples], rel=1e-11)
    # one reduced motion, every start of the group: the path from another pose is the same path
    # moved
    moved = reconstruct(reduced, motion, [1.0, -2.0, 0.7, 0, 0])
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    assert moved.q[:, :2] == pytest.approx(path.q[:, :2] @ turn.T + [1, -2], rel=1e-10, abs=1e-10)
    embedded = chaplygin(body_se2(carriage_in_body_speeds()))
    again = reconstruct(embedded, run_reduced(embedded, times, [1, 0, 1, 0], [-6.0, -9.0]),
                        [0, 0, 1, 0, 1, 0, 1, 0])
    assert again.q[:, :2] == pytest.approx(expected[:, :2], rel=1e-10, abs=1e-10)
    assert np.arctan2(again.q[:, 3], again.q[:, 2]) == pytest.approx(expected[:, 2], abs=1e-10)


@pytest.mark.paper("004 VII.1")
def test_vertical_disk(case):
    """L* = (I1 theta1'^2 + (m R^2 + I2) theta2'^2)/2, omega = omega*, no gyroscopic form;
    translations by quadrature."""
    reference = case("vertical_disk")
    P, start = reference["parameters"], reference["initial_state"]
    reduced = chaplygin(symmetry(vertical_disk(**P), {**X, **Y}))
    base = reduced.base.system
    values = ca.Function("reduced", [base.q, base.v, base.theta],
                         [base.lagrangian, reduced.alpha, reduced.gyroscopic])
    for r, w in np.random.default_rng(13).normal(size=(4, 2, 2)):
        lagrangian, alpha, G = (value.full() for value in values(r, w, list(P.values())))
        assert lagrangian.item() == pytest.approx((P["I1"] * w[0] ** 2
                                                   + (P["m"] * P["R"] ** 2 + P["I2"]) * w[1] ** 2)
                                                  / 2, rel=1e-13, abs=0)
        assert np.abs(alpha).max() <= 1e-15 and np.abs(G).max() <= 1e-15
    samples = reference["expected"]["samples"]
    motion = run_reduced(reduced, [s["t"] for s in samples], [start["theta1"], start["theta2"]],
                         [start["theta1_rate"], start["theta2_rate"]])
    path = reconstruct(reduced, motion, [start[name] for name in ("x", "y", "theta1", "theta2")])
    assert path.q == pytest.approx(
        np.array([[s[name] for name in ("x", "y", "theta1", "theta2")] for s in samples]),
        rel=1e-12,
        abs=1e-12,
    )


def torus(mu=(0.764, -0.972)):
    return at_momentum(symmetry(capri_kobayashi(True), POLAR_TORUS), mu)


def test_a_momentum_that_reactions_change_is_no_value_to_reduce_at():
    found = symmetry(capri_kobayashi(True), POLAR_TORUS)
    friction = ca.SX(*found.constrained.distribution.A.shape[::-1])
    friction[-1, :] = 0.1
    rubbing = replace(found.constrained, friction=friction)
    with pytest.raises(MechanicsError, match="at a momentum value needs ideal constraints"):
        at_momentum(replace(found, constrained=rubbing), (0.764, -0.972))


@pytest.mark.paper("004 (23)")
def test_capri_kobayashi_at_a_momentum_value(case):
    """H_mu = sum p_r^2/(4 m) + (mu/r - r)^2/(4 m) + r^2, r and p_r along the motion,
    and the angles reconstructed: x and y."""
    reference = case("capri_kobayashi")
    samples, masses = (reference["expected"]["samples"],
                       np.array([reference["parameters"]["m2"], reference["parameters"]["m3"]]))
    mu = np.array([samples[0]["J2"], samples[0]["J3"]])
    reduced = torus(mu)
    base = reduced.base.system
    assert base.algebroid.v_names == ("r2'", "r3'")
    read = ca.Function("read", [base.q, base.v], [base.energy, base.momentum, reduced.alpha])
    for q, xi, _ in states(reduced, 14):
        r = q[[2, 4]]
        energy, p, alpha = (value.full().ravel()
                            for value in read(q[list(reduced.coordinates)], xi))
        assert energy[0] == pytest.approx(
            sum(p**2 / (4 * masses) + (mu / r - r) ** 2 / (4 * masses) + r**2), rel=1e-12
        )
        assert np.abs(alpha).max() == 0
    radii = np.array([[s["r2"], s["r3"]] for s in samples])
    momenta = np.array([[s["pr2"], s["pr3"]] for s in samples])
    motion = run_reduced(reduced, [s["t"] for s in samples], [0, 0, *radii[0]],
                         momenta[0] / (2 * masses))
    assert motion.r[:, 2:] == pytest.approx(radii, rel=1e-11)
    assert 2 * masses * motion.xi == pytest.approx(momenta, rel=1e-11, abs=1e-11)
    energy = [float(read(r, xi)[0]) for r, xi in zip(motion.r, motion.xi)]
    assert energy == pytest.approx([s["H"] for s in samples], rel=1e-11)
    angles = [np.arctan2(samples[0][f"y{i}"], samples[0][f"x{i}"]) for i in (2, 3)]
    path = reconstruct(reduced, motion, [0, 0, radii[0, 0], angles[0], radii[0, 1], angles[1]])
    for column, i in ((2, 2), (4, 3)):
        point = path.q[:, column] * np.exp(1j * path.q[:, column + 1])
        assert point == pytest.approx(np.array([s[f"x{i}"] + 1j * s[f"y{i}"] for s in samples]),
                                      rel=1e-10, abs=1e-11)


def charged(basis: bool):
    """L = (x'^2 + y'^2 + (z' - x y')^2)/2, plainly or in the speeds x', y', w = z' - x y'; z is the
    group."""
    space = euclidean("x", "y", "z")
    if not basis:
        free = lagrangian_system(space,
                                 lambda s: (s.v.x ** 2 + s.v.y ** 2
                                            + (s.v.z - s.q.x * s.v.y) ** 2) / 2)
        return symmetry(constrain(free), {"z": lambda s: {"z": 1}})
    columns = ca.horzcat(ca.SX([1, 0, 0]), ca.vertcat(0, 1, space.q[0]), ca.SX([0, 0, 1]))
    space = change_of_basis(space, columns, ("x'", "y'", "w"))
    return symmetry(
        constrain(lagrangian_system(space, lambda s: (s.v.x**2 + s.v.y**2 + s.v.w**2) / 2)),
        {"z": lambda s: {"w": 1}},
    )


@pytest.mark.parametrize("charge", [0.0, 0.8, -1.7])
def test_a_magnetic_term_is_the_curvature_of_the_group_direction(charge):
    """At p_z = e a Lorentz force of a unit field times e: in R where base velocities commute,
    in alpha where their bracket is vertical."""
    for basis in (False, True):
        reduced = at_momentum(charged(basis), [charge])
        base = reduced.base.system
        G = ca.Function("G", [base.q, base.v], [reduced.gyroscopic])
        for q, xi, _ in states(reduced, 15):
            rate = reduced.equations().drift(0.0, q[:2], xi, [], [])[1].full().ravel()
            assert rate == pytest.approx(charge * np.array([-xi[1], xi[0]]), rel=1e-12, abs=1e-13)
            assert G(q[:2], xi).full()[0, 1] == pytest.approx(charge if basis else 0.0, abs=1e-14)


def test_horizontal_reduction_with_a_constraint_left():
    """A skate with a flywheel at J_w = 0.6: alpha has a magnetic part and the skate's own,
    and the skate's row stays in the velocities."""
    reduced = at_momentum(symmetry(skate_with_flywheel(), SPIN), [0.6], ("x'", "phi'"))
    whole = reduced.symmetry.constrained
    full = gibbs_appell(whole, ("x'", "phi'", "w'"))
    J = momentum_map(reduced.symmetry)
    for q, xi, _ in states(reduced, 16):
        r = q[list(reduced.coordinates)]
        v = reduced.lift(0.0, q, xi, [])[1].full().ravel()
        assert float(J.momentum(0.0, q, v, [])) == pytest.approx(0.6, rel=1e-12, abs=0)
        expected = full.drift(0.0, q, [xi[0], xi[1], v[3]], [], [])[1].full().ravel()
        assert reduced.equations().drift(0.0, r, xi, [], [])[1].full().ravel() == pytest.approx(
            expected[:2], rel=1e-10, abs=1e-11
        )


@pytest.mark.paper("004 V")
def test_rigid_body_at_a_momentum_value(case):
    """TSO(3)/SO(3) is Euler-Poincare on so(3); the level J = mu is the leaf |M| = |mu|, a sphere;
    the attitude comes back from omega."""
    reference = case("euler_poincare")
    samples = reference["expected"]["samples"]
    made = find_symmetry(rigid_body())
    reduced = quotient(made)
    base = reduced.base.system
    assert made.kind == "horizontal" and reduced.coordinates == () and base.algebroid.nq == 0
    mu, I = (np.array(value) for value in (samples[0]["momentum_world"],
                                           reference["parameters"]["I"]))
    order = [base.algebroid.v_names.index(name) for name in reduced.equations().names]
    for M in np.random.default_rng(17).normal(size=(4, 3)):
        rate = reduced.equations().drift(0.0, [], (M / I)[order], [], [])[1].full().ravel()
        # M' = M x omega: |M|^2 is a Casimir
        assert np.cross(M, M / I)[order] == pytest.approx(I[order] * rate, rel=1e-12, abs=1e-14)

    start = np.array(samples[0]["omega_body"])
    motion = run_reduced(reduced, [s["t"] for s in samples], [], start[order])
    omega = np.empty_like(motion.xi)
    omega[:, order] = motion.xi
    assert omega == pytest.approx(np.array([s["omega_body"] for s in samples]), rel=1e-10,
                                  abs=1e-11)
    assert np.sum((I * omega) ** 2, axis=1) == pytest.approx(
        np.full(len(samples), reference["expected"]["momentum_squared"]), rel=1e-12)
    path = reconstruct(reduced, motion, [0, 0, 0, 1])
    for q, v, sample in zip(path.q, path.v, samples):
        assert Rotation.from_quat(q).as_matrix() == pytest.approx(
            np.array(sample["rotation"]), abs=1e-10
        )
        assert momentum_map(made).momentum(0.0, q, v,
                                           []).full().ravel() == pytest.approx(mu, abs=1e-10)


@pytest.mark.paper("004 V")
def test_quotient_of_a_constrained_system():
    """The carriage in body speeds by SE(2): constraints stay, positions are gone, accelerations are
    the same."""
    whole = carriage_in_body_speeds()
    reduced = quotient(body_se2(whole))
    assert (
        reduced.base.system.algebroid.q_names == ("psi1.cos", "psi1.sin", "psi2.cos", "psi2.sin")
        and reduced.base.distribution.m == 3
    )
    reduced.base.system.algebroid.check()
    full, base = gibbs_appell(whole, ("psi1", "psi2")), reduced.equations(("psi1", "psi2"))
    for q in whole.configurations:
        xi = q[:2]
        expected = full.drift(0.0, q, xi, [], whole.parameters)[1].full()
        r = q[list(reduced.coordinates)]
        assert base.drift(0.0, r, xi, [], whole.parameters)[1].full() == pytest.approx(
            expected, rel=1e-12, abs=1e-13
        )


def rheonomic():
    """The hilly particle on a slope that turns and rises with time: rows in t and q, affine."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + (2 + ca.cos(s.q.x)) * s.v.y ** 2 + s.v.z ** 2) / 2 - s.q.x ** 2 * s.q.y)
    return constrain(free, rows={"slope": lambda s: (
        s.v.z - (s.q.y + ca.sin(s.t)) * s.v.x - ca.sin(s.q.x) * s.v.y
        - s.q.x * ca.cos(2 * s.t))})


@pytest.mark.paper("004 affine", "004 reconstruction")
def test_affine_and_moving_rows_reduced_and_reconstructed():
    """The base's motion is the whole one's, and so is what is lifted from it, over 3 s."""
    constrained = rheonomic()
    reduced = chaplygin(symmetry(constrained, {"z": lambda s: {"z": 1}}))
    assert reduced.base.system.algebroid.q_names == ("x", "y")
    whole, base = gibbs_appell(constrained, ("x'", "y'")), reduced.equations()
    rng = np.random.default_rng(8)
    for t in (0.0, 0.7, 2.0):
        q, xi = rng.normal(size=3), rng.normal(size=2)
        np.testing.assert_allclose(base.drift(t, q[:2], xi, [], [])[1].full(),
                                   whole.drift(t, q, xi, [], [])[1].full(), rtol=1e-12, atol=1e-12)
    q, xi, times = np.array([0.3, -0.2, 0.5]), np.array([0.4, 0.7]), np.linspace(0, 3, 7)
    found = reconstruct(reduced, run_reduced(reduced, times, q[:2], xi), q)
    rate = whole.drift

    def both(t, y):
        return np.concatenate([part.full().ravel() for part in rate(t, y[:3], y[3:], [], [])])

    expected = solve_ivp(both, (0, 3), np.r_[q, xi], method="DOP853", t_eval=times, rtol=1e-12,
                         atol=1e-12)
    np.testing.assert_allclose(found.q, expected.y[:3].T, rtol=0, atol=1e-9)


def sideways_belt():
    """A row that is not linear, and a symmetry within the distribution."""
    free = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2)
    return constrain(free, rows={"belt": lambda s: s.v.y - 0.3})


def pushed():
    """A particle with an input along x."""
    free = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2,
                             inputs=("push",), force=lambda s: {"x": s.u.push})
    return constrain(free)


def slow_light():
    """A particle whose Lagrangian is of the fourth degree along x."""
    return constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2 + s.v.x ** 4))


def rubbed():
    """A bead on a slope across x, whose reaction rubs along y."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    tied = symmetry(constrain(free, rows={"slope": lambda s: s.v.z - s.q.y * s.v.y}), X)
    return replace(tied, constrained=replace(tied.constrained,
                                             friction=ca.SX(ca.DM([0.0, 0.1, 0.0]))))


REFUSED = {
    "fourth degree along the group": (lambda: at_momentum(symmetry(slow_light(), X), [0.3]),
                                      "not quadratic along the group"),
    "friction at a momentum value": (lambda: at_momentum(rubbed(), [0.3]),
                                     "reduction at a momentum value needs ideal constraints"),
    "general symmetry": (lambda: chaplygin(symmetry(sleigh(), SE2)),
                         "needs a purely kinematic symmetry, this one .x, y, turn. is general: "
                         "dim V = 3, dim D = 2, dim of V meet D = 2, of 3"),
    "too small a group": (lambda: chaplygin(symmetry(carriage(), {**X, **Y})),
                          "is transverse: dim V = 2"),
    "horizontal symmetry": (lambda: chaplygin(symmetry(capri_kobayashi(True), POLAR_TORUS)),
                            "is horizontal"),
    "affine rows at a momentum value": (
        lambda: at_momentum(symmetry(sideways_belt(), X), [0.3]), "linear in the velocities"),
    "speeds of the group": (lambda: chaplygin(symmetry(carriage(), SE2), ("x'", "phi'")),
                            "still depends on x, y, phi"),
    "momentum of kinematic": (lambda: at_momentum(symmetry(carriage(), SE2), [0, 0, 0]),
                              "needs a horizontal symmetry.*purely kinematic"),
    "momentum of no group": (lambda: torus((1.0,)),
                             r"momentum value has shape \(1,\), the generators are turn 2, turn 3"),
    "not commuting": (lambda: at_momentum(find_symmetry(rigid_body()), [1, 0, 0]),
                      "do not commute: reduce by `quotient`"),
    "a force along the group": (lambda: at_momentum(symmetry(pushed(), X), [0.4]),
                                "a force acts along the group"),
    "Cartesian coordinates": (lambda: at_momentum(symmetry(capri_kobayashi(False), TORUS), [1, 1],
                                                  ("x2'", "x3'")),
                              "polar ones for a turn"),
    "no coordinate left": (lambda: at_momentum(symmetry(in_the_plane(), TURN), [0.3], ("x'",)),
                           r"coordinates that no generator moves \(none\) show 0 of 1 base"),
    "too few base velocities": (lambda: at_momentum(symmetry(in_the_plane(), TURN), [0.3]),
                                "name the 1 fibre coordinates that are base velocities"),
    "quotient basis": (lambda: quotient(symmetry(carriage(), SE2)),
                       "generator 'turn' changes \"x'\""),
    "start of a run": (lambda: run_reduced(torus(), [0, 1], [1.0], [0, 0]),
                       "starts from 4 coordinates .x1, y1, r2, r3."),
    "start elsewhere": (lambda: reconstruct(torus(),
                                            run_reduced(torus(), [0, 1], [0, 0, 1, 1], [0, 0]),
                                            np.zeros(6)),
                        "does not project to"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_reduction_refused(name):
    call, message = REFUSED[name]
    with pytest.raises(MechanicsError, match=message):
        call()
