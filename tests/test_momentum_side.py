"""The general model of paper 004, eq. (15): singular and nonholonomic systems in momenta, their
brackets, and symplectic reduction."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from symmetric_systems import SE2, carriage, rigid_body, vertical_disk

from nhmech import MechanicsError
from nhmech.mechanics import (
    ConstrainedHamiltonian,
    bates_sniatycki,
    chaplygin,
    constrain,
    constraint_algorithm,
    euclidean,
    find_symmetry,
    gibbs_appell,
    lagrangian_system,
    momentum_side,
    nonholonomic_bracket,
    on_level,
    symmetry,
)
from nhmech.symbolic.row_reduction import row_reduce
from nhmech.systems import load_system
from nhmech.systems.capri_kobayashi import singular_system

CAPRI = {"m2": 0.7, "m3": 1.6}
SYSTEMS = ["nonholonomic_particle", "falling_disc", "carriage", "chaplygin_sleigh", "veselova",
           "heavy_top", "bead_parabola"]


def at(motion, *expressions):
    """Values at the points of M_f, (n, rows, columns) each."""
    return [motion.manifold.at_points(ca.densify(part)) for part in expressions]


def cawley():
    return constrain(lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x * s.v.z + s.q.y * s.q.z ** 2 / 2)))


@pytest.mark.paper("004 (12)")
@pytest.mark.parametrize("name", SYSTEMS)
def test_motion_in_momenta_is_that_of_gibbs_and_appell(name):
    """q' and p' = d/dt dL/dv at the Legendre image of a state."""
    constrained = load_system(name).constrained
    system, motion = constrained.system, momentum_side(constrained).solve()
    assert not motion.steps and motion.gauge == 0
    equations = gibbs_appell(constrained)
    rng = np.random.default_rng(3)
    v, a = (ca.SX.sym(name, system.v.numel()) for name in "va")
    momentum = ca.substitute(system.momentum, system.v, v)
    rate = (ca.jtimes(momentum, system.q, ca.substitute(system.q_rate, system.v, v))
            + ca.jtimes(momentum, v, a))
    legendre = ca.Function("legendre", [system.q, v, a, system.theta], [momentum, rate])
    field = ca.Function("field", [motion.model.space.q, system.theta], [motion.rate])
    for q in constrained.configurations[:3]:
        state = 0, q, rng.normal(size=len(equations.names))
        theta = constrained.parameters
        speed = equations.velocity(*state, theta)
        acceleration = equations.acceleration(*state, np.zeros(system.u.numel()), theta)
        p, p_rate = legendre(q, speed, acceleration, theta)
        q_rate = equations.drift(*state, np.zeros(system.u.numel()), theta)[0]
        expected = ca.vertcat(q_rate, p_rate).full()
        found = field(ca.vertcat(q, p), theta).full()
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(found).max())


@pytest.mark.paper("004 (4)")
def test_both_sides_of_a_singular_lagrangian():
    """h_1 o Leg = E_L; dimensions, classes and gauge are those of the velocity side's image."""
    for constrained in (constrain(singular_system(), CAPRI), cawley()):
        motion, other = momentum_side(constrained).solve(), constraint_algorithm(constrained)
        assert motion.classes == (other.first_class, other.second_class)
        assert motion.gauge == other.gauge
        system, model = constrained.system, momentum_side(constrained)
        leg = ca.vertcat(system.q, ca.gradient(system.lagrangian, system.v))
        gap = ca.substitute(ca.vertcat(model.hamiltonian - system.energy, model.constraints),
                            model.space.q, leg)
        values = ca.Function("gap", [system.q, system.v, system.theta], [gap])
        rng = np.random.default_rng(0)
        assert np.abs(values(rng.normal(size=system.q.numel()), rng.normal(size=system.v.numel()),
                             constrained.parameters).full()).max() < 1e-13


@pytest.mark.paper("004 (4)")
def test_capri_and_kobayashi_in_momenta():
    """The printed h_1, constraints x1 = y1 = 0, and Dirac's bracket {x_i, p_xj} = delta_ij on what
    is left (paper 004, section VII.A)."""
    model = momentum_side(constrain(singular_system(), CAPRI))
    motion, z = model.solve(), model.space.q
    x1, y1, x2, y2, x3, y3, _, _, px2, py2, px3, py3 = ca.vertsplit(z)
    printed = (x1 ** 2 + y1 ** 2 + x2 ** 2 + y2 ** 2 + x3 ** 2 + y3 ** 2
               + ((px2 + y2) ** 2 + (py2 - x2) ** 2) / (4 * CAPRI["m2"])
               + ((px3 + y3) ** 2 + (py3 - x3) ** 2) / (4 * CAPRI["m3"]))
    gap, places = at(motion, model.hamiltonian - printed, ca.vertcat(x1, y1, z[6:8]))
    assert np.abs(gap).max() < 1e-13 and np.abs(places).max() < 1e-13
    left = [2, 3, 4, 5, 8, 9, 10, 11]
    canonical = np.zeros((12, 12))
    canonical[np.ix_(left, left)] = np.block([[np.zeros((4, 4)), np.eye(4)],
                                              [-np.eye(4), np.zeros((4, 4))]])
    bracket, section, along = at(motion, motion.bracket, motion.section, motion.bracket
                                 @ ca.gradient(model.hamiltonian, z))
    assert np.abs(bracket - canonical).max() < 1e-13
    assert np.abs(section - along).max() < 1e-13


@pytest.mark.paper("004 (4)", "004 II.A")
def test_gotay_nester_and_hinds_differ_in_gauge():
    """Cawley's L = x' z' + y z^2 / 2: of three first class constraints the primary one alone moves
    nothing physical after Gotay and Nester, all three after Hinds; there is no Dirac bracket."""
    one, other = (momentum_side(cawley(), hinds=hinds).solve() for hinds in (False, True))
    assert one.classes == other.classes == (3, 0)
    assert (one.gauge, other.gauge) == (1, 3)
    x_rate, p_z = at(one, one.rate[0], one.model.space.q[5])
    assert np.abs(x_rate - p_z).max() < 1e-14              # x' = p_z is determined, eq. (5)
    with pytest.raises(MechanicsError, match="3 are of first class"):
        other.bracket


@pytest.mark.paper("004 (12)")
def test_a_singular_lagrangian_with_a_row():
    """A massless w with w = x: what is left is the particle z' = y x' in the potential -x^2 / 2."""
    singular = constrain(lagrangian_system(euclidean("x", "y", "z", "w"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2 + s.q.w * s.q.x - s.q.w ** 2 / 2),
        rows={"slope": lambda s: s.v.z - s.q.y * s.v.x})
    motion = momentum_side(singular).solve()
    assert len(motion.steps) == 1 and motion.gauge == 0
    x, y, z, w, px, py, pz, pw = ca.vertsplit(motion.model.space.q)
    # (y x')' = z'' = lambda and x'' = x - y lambda
    lam = (py * px + y * x) / (1 + y * y)
    expected = ca.vertcat(px, py, pz, px, x - y * lam, 0, lam, 0)
    gap, size, place = at(motion, motion.rate - expected, expected, ca.vertcat(w - x, pw))
    assert np.abs(gap).max() < 1e-10 * np.abs(size).max() and np.abs(place).max() < 1e-12


def test_what_has_no_momentum_side():
    def system(lagrangian, rows=None, **options):
        return constrain(lagrangian_system(euclidean("x", "w"), lagrangian, **options),
                         rows=rows or {})
    def plain(s):
        return s.v.x ** 2 / 2
    for constrained, words in (
            (system(lambda s: s.v.x ** 4 + s.v.w ** 2), "quadratic in v"),
            (system(plain, {"massless": lambda s: s.v.w - s.v.x}), "not almost regular"),
            (system(plain, force=lambda s: {"x": -s.v.x}), "without forces"),
            (system(plain, {"belt": lambda s: s.v.x - 1}), "linear in the velocities")):
        with pytest.raises(MechanicsError, match=words):
            momentum_side(constrained)
    with pytest.raises(MechanicsError, match="without constraint rows"):
        momentum_side(load_system("carriage"), hinds=True)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("share, regular", [(0.99, True), (1.01, False)])
def test_a_row_may_have_a_billionth_of_a_speed_without_momentum(size, share, regular):
    """In any unit of the row."""
    made = constrain(lagrangian_system(euclidean("x", "y", "w"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2), rows={
            "row": lambda s: size * (s.v.x + share * 1e-9 * s.v.w)})
    if regular:
        assert momentum_side(made).forms.shape == (2, 6)
    else:
        with pytest.raises(MechanicsError, match="not almost regular: .* momentum enter row"):
            momentum_side(made)


def random_model(reactions, seed=0):
    """P = R^6 with a symplectic form that varies, H and M of no special kind, F of corank
    `reactions`."""
    rng, space = np.random.default_rng(seed), euclidean(*"abcdef")
    z = space.q
    theta = rng.normal(size=(6, 6)) @ z + ca.DM(rng.normal(size=(6, 6))) @ ca.sin(z)
    slope = ca.jacobian(theta, z)
    H = ca.sumsqr(z) / 2 + ca.sin(ca.dot(rng.normal(size=6), z))
    phi = ca.DM(rng.normal(size=(2, 6))) @ z + 0.1 * ca.vertcat(z[0] * z[1], ca.cos(z[3]) - 1)
    forms = ca.DM(rng.normal(size=(reactions, 6))) + 0.1 * ca.repmat(z.T, reactions, 1)
    return ConstrainedHamiltonian(space, slope - slope.T, H, phi, forms,
                                  0.1 * rng.normal(size=(8, 6)))


@pytest.mark.paper("004 (15)", "004 (18)")
def test_any_space_and_any_forms():
    """X from its definition by least squares, and by the projector onto TM along F^perp."""
    model = random_model(2)
    motion = model.solve()
    assert motion.gauge == 0 and not motion.steps
    parts = at(motion, model.omega, model.differential(model.hamiltonian).T,
               model.differential(model.constraints), model.forms, motion.section,
               motion.projector, model.free)
    for omega, dH, phi, mu, X, P, free in zip(*parts):
        F = np.linalg.svd(mu)[2][2:].T
        asked = np.linalg.lstsq(np.vstack([F.T @ omega.T, phi]),
                                np.vstack([F.T @ dH, np.zeros((2, 1))]), rcond=None)[0]
        np.testing.assert_allclose(X, asked, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(P @ free, X, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(P @ P, P, rtol=1e-9, atol=1e-11)
        assert np.abs(phi @ P).max() < 1e-10


@pytest.mark.paper("004 (15)", "004 (18)")
def test_fewer_reactions_than_constraints():
    """H = (p2^2 + p3^2)/2 + (q1 - q2^2)^2 / 2 + q2 q3 with p1 = 0 and the reaction dp1 alone: the
    solution lives on q1 = q2^2, with q1' = 2 q2 p2; the projector takes one row of two."""
    space = euclidean("q1", "q2", "q3", "p1", "p2", "p3")
    q1, q2, q3, p1, p2, p3 = ca.vertsplit(space.q)
    omega = ca.SX(ca.DM(np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])))
    H = (p2 ** 2 + p3 ** 2 + (q1 - q2 ** 2) ** 2) / 2 + q2 * q3
    motion = ConstrainedHamiltonian(space, omega, H, p1, ca.SX([[0, 0, 0, 1, 0, 0]]),
                                    np.random.default_rng(0).normal(size=(6, 6))).solve()
    assert len(motion.steps) == 1 and motion.gauge == 0 and motion.manifold.dimension == 4
    expected = ca.vertcat(2 * q2 * p2, p2, p3, 0, -q3, -q2)
    projected = motion.projector @ motion.model.free
    gap, second, place = at(motion, motion.section - expected, projected - expected,
                            q1 - q2 ** 2)
    assert max(np.abs(part).max() for part in (gap, second, place)) < 1e-12


def test_points_of_the_manifold_are_sought_near_the_samples():
    """Around each, and on its side of q1^2 = 25."""
    space = euclidean("q1", "q2", "q3", "p1", "p2", "p3")
    omega = ca.SX(ca.DM(np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])))
    samples = np.array([[5.0, 2, -1, 0, 3, 4], [5.0, -20, 10, 0, -30, 40]])
    motion = ConstrainedHamiltonian(space, omega, ca.sumsqr(space.q[3:]) / 2,
                                    space.q[0] ** 2 - 25, ca.SX([[1, 0, 0, 0, 0, 0]]),
                                    samples).solve()
    away = np.abs(motion.manifold.states[:, None] - samples).max(axis=2)
    assert away.min(axis=1).max() <= 0.3 and away.min() > 0
    assert set(away.argmin(axis=1)) == {0, 1}
    np.testing.assert_allclose(motion.manifold.states[:, 0], 5, rtol=1e-12)


@pytest.mark.paper("004 (15)")
def test_existence_and_uniqueness():
    """Three reactions for two constraints leave one direction free; one for two, of no special
    kind, has no motion at all, and says so."""
    many = random_model(3).solve()
    assert not many.steps and many.gauge == 1
    with pytest.raises(MechanicsError, match="operations|empty|ranks|no solution"):
        random_model(1).solve()


@pytest.mark.paper("004 dirac")
@pytest.mark.parametrize("name", ["nonholonomic_particle", "carriage", "falling_disc", "veselova"])
def test_diracs_formula_is_the_nonholonomic_bracket(name):
    """Pushed forward to (q, E^T p) it is what the curvature of E makes."""
    constrained = load_system(name).constrained
    known, motion = nonholonomic_bracket(constrained), momentum_side(constrained).solve()
    system, space = constrained.system, motion.model.space
    E = gibbs_appell(constrained, known.names).frame.E
    nq = system.q.numel()
    reduced = ca.vertcat(system.q, E.T @ space.q[nq:])
    push = ca.jacobian(reduced, space.q) @ space.anchor
    found, places = at(motion, push @ motion.bracket @ push.T, reduced)
    for tensor, place in zip(found, places):
        expected = known.tensor(place[:nq], place[nq:], constrained.parameters).full()
        np.testing.assert_allclose(tensor, expected, rtol=1e-10,
                                   atol=1e-10 * np.abs(expected).max())


def momenta(found, model):
    """p . s_i as functions on phase space."""
    p = model.space.q[found.constrained.system.q.numel():]
    return ca.densify(found.generators.T @ p)


@pytest.mark.paper("004 V.2")
@pytest.mark.parametrize("name", ["falling_disc", "carriage", "nonholonomic_particle"])
def test_bates_and_sniatycki(name):
    """i_X omega_U = d_U H modulo V, omega_U not degenerate, in classes (i) to (iii)."""
    constrained = load_system(name).constrained
    found = find_symmetry(constrained)
    model = momentum_side(constrained)
    motion = model.solve()
    for z in motion.manifold.states[:3]:
        made = bates_sniatycki(motion, momenta(found, model), z)
        assert made.is_symplectic
        size = np.abs(made.slope).max()
        assert np.abs(made.omega.T @ made.velocity - made.slope).max() < 1e-9 * max(1.0, size)
        assert len(made.slope) + made.vertical.shape[1] == (
            2 * found.dim_motion - found.dim_horizontal)


def test_the_bracket_does_not_depend_on_the_unit_of_mass():
    """{q, p} has no mass in it: the row p_z = y p_x is the same in any unit."""
    def bracket(mass):
        motion = momentum_side(constrain(lagrangian_system(
            euclidean("x", "y", "z"), lambda s: mass * (
                s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2), rows={"row": lambda s: (
                    s.v.z - s.q.y * s.v.x)})).solve()
        space = motion.model.space
        return ca.Function("bracket", [space.q], [motion.bracket])([0.3, 0.7, -0.2, 1.1, 0.4, 0.77])

    for mass in (1e-12, 1e-6, 1e6, 1e12):
        np.testing.assert_allclose(bracket(mass), bracket(1.0), rtol=1e-12, atol=1e-14)


def test_equations_that_cannot_be_told_apart_are_refused():
    """The second row is the first, to rounding."""
    matrix = np.array([[1.0, 2.0], [0.5, 1.0 + 1e-12]])
    with pytest.raises(MechanicsError, match="not all of 2 .* 0.5 to 2 in size; choose units"):
        row_reduce(ca.SX(ca.DM(matrix)), ca.SX.zeros(2), matrix[None], 2)


def test_what_is_no_symmetry_is_refused_in_any_unit():
    """The Hamiltonian of a particle on a slope changes with its height."""
    slope = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2 - s.q.y), rows={"row": lambda s: s.v.x})
    motion = momentum_side(slope).solve()
    for unit in (1.0, 1e-12):
        with pytest.raises(MechanicsError, match="H is not invariant"):
            bates_sniatycki(motion, unit * motion.model.space.q[3:], motion.manifold.states[0])


@pytest.mark.paper("004 V.2", "004 (19)")
def test_purely_kinematic_it_is_chaplygins_form():
    """omega on the carriage's wheels (psi, psi'), eq. (19), is that of the reduction (20)."""
    constrained = carriage()
    found = symmetry(constrained, SE2)
    reduction, model = chaplygin(found), momentum_side(constrained)
    base, motion = reduction.base.system, model.solve()
    E = gibbs_appell(constrained, base.algebroid.v_names).frame.E
    momentum = ca.substitute(constrained.system.momentum, constrained.system.v,
                             ca.densify(E @ base.v))
    leg = ca.Function("leg", [constrained.system.q, base.v, base.theta], [
        ca.vertcat(constrained.system.q, momentum)])
    form = ca.Function("form", [base.q, base.v, base.theta], [reduction.omega])
    rng = np.random.default_rng(5)
    theta = constrained.parameters
    q, xi = rng.normal(size=5), rng.normal(size=2)
    made = bates_sniatycki(motion, momenta(found, model), leg(q, xi, theta).full().ravel())
    rates = made.basis[3:5]                                # of the wheels' angles
    speeds = wheel_speed_rates(constrained, E, made, theta)
    columns = np.vstack([rates, speeds])
    expected = columns.T @ form(reduction.place(q), xi, theta).full() @ columns
    assert made.omega.shape == (4, 4)
    np.testing.assert_allclose(made.omega, expected, rtol=0, atol=1e-10)


def wheel_speed_rates(constrained, E, made, theta):
    """d xi of vectors (dq, dp) of U: E^T p = M_c xi differentiated."""
    s = constrained.system
    p = ca.SX.sym("p", s.v.numel())
    mass = ca.densify(E.T @ ca.jacobian(s.momentum, s.v) @ E)
    speed = ca.solve(mass, E.T @ p)
    slope = ca.Function("slope", [s.q, p, s.theta], [ca.jacobian(speed, ca.vertcat(s.q, p))])
    return slope(made.point[:s.q.numel()], made.point[s.q.numel():], theta).full() @ made.basis


@pytest.mark.paper("004 nonabelian", "004 (23)")
def test_a_momentum_value_of_a_group_that_does_not_commute():
    """The free rigid body at J = mu, reduced by the turns about mu: two dimensions, with the form
    of Kirillov, Kostant and Souriau omega(xi x m, eta x m) = -m . (xi x eta) on |m| = |mu|, and
    Euler's motion m' = m x Omega on it."""
    body = rigid_body()
    found = find_symmetry(body)
    model = momentum_side(body)
    J = momenta(found, model)
    z = np.array([0.1, -0.3, 0.5, 0.8, 0.4, -0.7, 1.2])
    z[:4] /= np.linalg.norm(z[:4])
    value = ca.Function("J", [model.space.q, model.theta], [J])
    mu = value(z, body.parameters).full().ravel()
    level = on_level(model, J, mu)
    level = replace(level, samples=z[None, :])
    motion = level.solve()
    assert motion.manifold.dimension == 3
    made = bates_sniatycki(motion, ca.dot(ca.DM(mu), J), z)       # G_mu: turns about mu
    assert made.omega.shape == (2, 2) and made.is_symplectic
    assert np.abs(made.omega.T @ made.velocity - made.slope).max() < 1e-10
    m, rates = made.point[4:], made.basis[3:]                      # body momentum, and its rates
    spins = [np.cross(m, rate) / (m @ m) for rate in rates.T]      # xi with xi x m = rate
    expected = -m @ np.cross(*spins)
    assert abs(abs(made.omega[0, 1]) - abs(expected)) < 1e-10 and abs(expected) > 0.01
    omega = m / np.array([1.0, 2.0, 3.5])
    np.testing.assert_allclose(rates @ made.velocity, np.cross(m, omega), rtol=0, atol=1e-10)


def test_what_is_no_symmetry_of_the_model_is_named():
    model = momentum_side(vertical_disk())
    motion, p = model.solve(), model.space.q[4:]
    z = motion.manifold.states[0]
    bates_sniatycki(motion, p[:2], z)
    with pytest.raises(MechanicsError, match="M is not invariant"):
        bates_sniatycki(motion, p[2], z)
    top = momentum_side(load_system("heavy_top"))
    with pytest.raises(MechanicsError, match="H is not invariant"):
        bates_sniatycki(top.solve(), top.space.q[4:5], np.array([0.5, 0.5, 0.5, 0.5, 1, 2, 3]))
