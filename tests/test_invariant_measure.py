"""Measures that a motion keeps, against published densities and Liouville's equation."""

import casadi as ca
import numpy as np
import pytest

from nhmech.errors import MechanicsError
from nhmech.mechanics import (
    constrain,
    euclidean,
    gibbs_appell,
    invariant_measure,
    lagrangian_system,
    lie_algebra,
    product,
    special_euclidean_2,
)
from nhmech.systems import load_system

pytestmark = pytest.mark.paper("beyond measure")

M, J = 1.3, 0.4
LENGTHS = (1e-9, 1.0, 1e9)      # [m] as numbers in Gm, m and nm


def suslov(axis, inertia):
    """A body that does not turn about an axis fixed in it, by its angular velocity alone."""
    def spin(s):
        return ca.vertcat(s.v.wx, s.v.wy, s.v.wz)

    body = lagrangian_system(lie_algebra("so(3)"), lambda s: ca.bilin(ca.DM(inertia), spin(s),
                                                                      spin(s)) / 2)
    return constrain(body, rows={"axis": lambda s: ca.dot(ca.DM(axis), spin(s))})


def test_suslovs_problem_keeps_one_about_a_principal_axis_only():
    """Kozlov 1988: the axis has to be an eigenvector of the inertia."""
    inertia = np.array([[2.0, 0.3, -0.1], [0.3, 1.5, 0.4], [-0.1, 0.4, 1.1]])
    _, axes = np.linalg.eigh(inertia)
    for axis in axes.T:
        assert invariant_measure(suslov(axis, inertia)).has_measure
    assert not invariant_measure(suslov(axes[:, 0] + 0.1 * axes[:, 1], inertia)).has_measure


def sleigh(ahead, *, odometer=False, inertia=J, **more):
    """m v' = m a w^2, (J + m a^2) w' = -m a v w, with s' = v where there is an odometer."""
    def energy(s):
        v, lateral, w = s.v.forward_speed, s.v.lateral_speed + ahead * s.v.yaw_rate, s.v.yaw_rate
        return (M * (v ** 2 + lateral ** 2) + inertia * w ** 2) / 2

    space = product(special_euclidean_2(), euclidean("s")) if odometer else special_euclidean_2()
    rows = {"blade": lambda s: s.v.lateral_speed}
    if odometer:
        rows["odometer"] = lambda s: s.v.s - s.v.forward_speed
    return constrain(lagrangian_system(space, energy, **more), rows=rows)


def test_friction_on_a_belt_keeps_one_that_grows_along_it():
    """x' = c and y'' = -k y': N = exp(k x / c)."""
    c, k = 2.0, 0.3
    belt = invariant_measure(constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        5 * (s.v.x ** 2 + s.v.y ** 2) / 2), force=lambda s: {"y": -5 * k * s.v.y}),
        rows={"belt": lambda s: s.v.x - c}))
    assert belt.has_measure
    np.testing.assert_allclose(belt.trace([0.1, 0.2]), [[k], [0]], rtol=1e-14, atol=1e-15)
    assert belt.density([1.5, 0.2], [0.5, 0.1]) == pytest.approx(np.exp(k / c), rel=1e-12)


def test_a_coordinate_that_nothing_moves_has_no_part_in_it():
    still = invariant_measure(constrain(lagrangian_system(euclidean("x", "w"), lambda s: (
        s.v.x ** 2 + s.v.w ** 2) / 2), rows={"still": lambda s: s.v.w}))
    assert still.has_measure and still.density([1.5, 0.2], [0.5, 0.2]) == pytest.approx(
        1, rel=1e-12, abs=0)


def test_the_divergence_of_a_sleigh():
    """m a / (J + m a^2) per forward speed."""
    found = invariant_measure(sleigh(0.25), ("forward_speed", "yaw_rate"))
    np.testing.assert_allclose(found.trace([0.1, 0.2, 0.3]),
                               [[0], [M * 0.25 / (J + M * 0.25 ** 2)], [0]], rtol=1e-13, atol=1e-15)


def test_a_sleigh_keeps_one_where_its_centre_is_above_the_blade():
    assert invariant_measure(sleigh(0.0)).has_measure
    for length in LENGTHS:
        off = sleigh(0.2 * length, inertia=J * length ** 2)
        assert not invariant_measure(off).has_measure
        assert float(invariant_measure(off, ("forward_speed", "yaw_rate")).trace([0, 0, 0])[1]) == \
            pytest.approx(M * 0.2 / (J + M * 0.2 ** 2) / length, rel=1e-12, abs=0)


@pytest.mark.parametrize("length", LENGTHS)
def test_the_way_of_a_sleigh_is_the_logarithm_of_its_density(length):
    """div = -m a v / (J + m a^2) is a rate where the way is a coordinate."""
    a, start, end = 0.2, np.array([0.1, -0.2, 0.3, 0.0]), np.array([0.4, 0.3, -0.5, 0.7])
    units = np.array([length, length, 1.0, length])
    found = invariant_measure(sleigh(a * length, inertia=J * length ** 2, odometer=True))
    assert found.density(end * units, start * units) == pytest.approx(
        np.exp(M * a * 0.7 / (J + M * a ** 2)), rel=1e-10)


@pytest.mark.parametrize("rate", [1e-6, 0.25, 1e12])
def test_friction_keeps_none(rate):
    """Slow or fast, in whatever unit of time."""
    damped = sleigh(0.0, force=lambda s: {"yaw_rate": -rate * J * s.v.yaw_rate})
    found = invariant_measure(damped)
    assert not found.has_measure
    assert float(found.trace([0, 0, 0])[0]) == pytest.approx(rate, rel=1e-12, abs=0)
    with pytest.raises(MechanicsError, match="no density of q alone is invariant: .* fail by"):
        found.density([1, 0, 0], [0, 0, 0])


@pytest.mark.parametrize("length", LENGTHS)
def test_the_particle_needs_no_reduction(length):
    """z' = y x': N = (1 + y^2)^(-1/2)."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    found = invariant_measure(constrain(
        free, rows={"slope": lambda s: s.v.z - s.q.y / length * s.v.x},
        samples=length * np.random.default_rng(0).normal(size=(8, 3))))
    end, start = length * np.array([[0.4, 1.2, -0.3], [0.1, 0.0, 0.5]])
    assert found.density(end, start) == pytest.approx((1 + 1.2 ** 2) ** -0.5, rel=1e-10)
    assert found.density(start, start) == 1


def test_a_disc_keeps_liouvilles_measure_of_its_base():
    """dq dp of the coordinates' momenta is kept, and rho has the determinant 1 / cos(lean): in dq
    dp of the quasi-velocities' momenta N = cos(lean)."""
    disc = load_system("falling_disc")
    found, (start, end, *_) = invariant_measure(disc), disc.constrained.configurations
    lean = disc.constrained.system.algebroid.q_names.index("lean")
    assert found.density(end, start) == pytest.approx(np.cos(end[lean]) / np.cos(start[lean]),
                                                      rel=1e-10)


def test_a_divergence_of_rounding_errors_is_none():
    """An upright disk turns at constant rates."""
    assert invariant_measure(load_system("vertical_disk")).closed <= 1e-12


def test_the_density_of_veselovas_problem():
    """(gamma . I^-1 gamma)^(1/2) d gamma d omega (Veselov and Veselova 1986), with d omega =
    d xi d(gamma . omega) / gamma_z for xi = (wx, wy)."""
    example = load_system("veselova_sphere")
    found = invariant_measure(example, ("wx", "wy"))
    inertia = np.array(example.constrained.parameters[:3])

    def density(gamma):
        E = np.array([[1, 0], [0, 1], -gamma[:2] / gamma[2]])
        return np.sqrt(gamma @ (gamma / inertia)) / (
            abs(gamma[2]) * np.linalg.det(E.T @ np.diag(inertia) @ E))

    upper = [gamma / np.linalg.norm(gamma) for gamma in example.constrained.configurations
             if gamma[2] > 0]
    for gamma in upper[1:]:
        assert found.density(gamma, upper[0]) == pytest.approx(density(gamma) / density(upper[0]),
                                                               rel=1e-9)
    with pytest.raises(MechanicsError, match="no path was found between"):
        found.density(2 * upper[0], upper[0])


@pytest.mark.parametrize("name", ["veselova_sphere", "heisenberg_drift", "ball_on_turntable"])
def test_densities_satisfy_liouvilles_equation(name):
    """d ln N/dt + d ln det(E^T M E)/dt + div (dq/dt, dxi/dt) = 0, by differences."""
    example = load_system(name)
    found, equations = invariant_measure(example), gibbs_appell(example)
    constrained, system = example.constrained, example.constrained.system
    theta, h, rng = constrained.parameters, 1e-3, np.random.default_rng(3)
    E, mass = equations.frame.E, system.mass_and_bias()[0]
    metric = ca.Function("metric", [system.q, system.theta], [ca.densify(E.T @ mass @ E)])
    q = constrained.configurations[1]
    xi = rng.normal(size=len(equations.names))
    nq, state = len(q), np.r_[q, xi]

    def rates(z):
        return np.r_[tuple(part.full().ravel() for part in equations.drift(
            0, z[:nq], z[nq:], np.zeros(system.u.numel()), theta))]

    def slope(f):
        """Of order six, at 0."""
        return (45 * (f(h) - f(-h)) - 9 * (f(2 * h) - f(-2 * h)) + f(3 * h) - f(-3 * h)) / (60 * h)

    spread = sum(slope(lambda d, e=e, i=i: rates(state + d * e)[i])
                 for i, e in enumerate(np.eye(len(state))))
    way = rates(state)[:nq]

    def volume(d):
        place = system.algebroid.normalise(q + d * way) if name != "veselova_sphere" \
            else (q + d * way) / np.linalg.norm(q + d * way)
        return np.log(np.linalg.det(metric(place, theta).full()) * found.density(place, q))

    assert spread + slope(volume) == pytest.approx(0, abs=1e-8 * max(1.0, abs(spread)))


@pytest.mark.parametrize("energy, words, message", [
    (lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2, {"holonomic": {"line": lambda s: s.q.x - s.q.y}},
     "without holonomic constraints"),
    (lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2 + s.q.x, {"rows": {
        "belt": lambda s: s.v.x - ca.cos(s.t) * s.v.y}}, "does not depend on time"),
    (lambda s: s.v.x ** 4 + s.v.y ** 2, {}, "quadratic in the velocities")])
def test_systems_that_are_refused(energy, words, message):
    made = constrain(lagrangian_system(euclidean("x", "y"), energy), **words)
    with pytest.raises(MechanicsError, match=message):
        invariant_measure(made)


@pytest.mark.parametrize("off, reached", [(1e-11, True), (1e-7, False), (1e-4, False)])
def test_a_path_ends_where_it_should(off, reached):
    """Off the sphere |gamma| = 1 by so much there is none, however near its last point comes."""
    example = load_system("veselova_sphere")
    found = invariant_measure(example, ("wx", "wy"))
    start, end = [q for q in example.constrained.configurations if q[2] > 0][:2]
    density = found.density(end, start)
    if reached:
        assert found.density((1 + off) * end, start) == pytest.approx(density, rel=1e-9)
    else:
        with pytest.raises(MechanicsError, match="no path was found between"):
            found.density((1 + off) * end, start)


@pytest.mark.parametrize("rate, kept", [(1e-3, False), (1e-10, False), (1e-14, True)])
def test_slow_friction_beside_a_fast_belt(rate, kept):
    """x' = 1 and a friction of y' whose rate grows with y: d/dy of the divergence is not zero. A
    change below 1e-13 of the others is a rounding error."""
    plane = lagrangian_system(
        euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2,
        force=lambda s: {"y": -rate * (1 + s.q.y) * s.v.y})
    found = invariant_measure(constrain(plane, rows={"belt": lambda s: s.v.x - 1}))
    assert found.has_measure is kept


def test_friction_that_vanishes_at_a_sample_keeps_none():
    for friction, kept in ((lambda x: x ** 2, False), (lambda x: 0, True)):
        made = constrain(lagrangian_system(
            euclidean("x"), lambda s: s.v.x ** 2 / 2,
            force=lambda s: {"x": -friction(s.q.x) * s.v.x}), samples=[[0.0], [0.7], [1.3]])
        assert invariant_measure(made).has_measure is kept


def test_quadratic_friction_keeps_none():
    """-k v |v| would be no polynomial; k v^2 pushes one way and has the divergence 2 k v, and v^3
    one that is not linear in v."""
    for force, kept in ((lambda s: -0.3 * s.v.x ** 2, True), (lambda s: -0.3 * s.v.x ** 3, False)):
        made = constrain(lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2,
                                           force=lambda s: {"x": force(s)}))
        found = invariant_measure(made)
        assert found.has_measure is kept
        if kept:        # x'' = -0.3 x'^2: N = exp(0.6 x)
            assert found.density([1.5], [0.5]) == pytest.approx(np.exp(0.6), rel=1e-10)
