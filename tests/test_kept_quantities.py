"""What a nonholonomic motion keeps: gauge momenta and moving energies, Casimirs, measures, and
solutions of the Hamilton-Jacobi equation, against published ones."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nhmech.errors import InputError, MechanicsError
from nhmech.mechanics import (
    HamiltonJacobi,
    casimirs,
    chaplygin,
    constrain,
    euclidean,
    find_symmetry,
    first_integrals,
    hamilton_jacobi,
    hamiltonise,
    invariant_measure,
    lagrangian_system,
    lie_algebra,
    nonholonomic_bracket,
    product,
    quotient,
    symmetry,
)
from nhmech.mechanics.writing import symbols
from nhmech.systems import (
    ball_on_turntable,
    heavy_top,
    load_system,
    unbalanced_ball,
    vertical_disk,
)
from nhmech.systems.example import solve

X, Y, Z = ({name: lambda s, name=name: {name: 1}} for name in "xyz")
WORLD = ("wx", "wy", "wz")


def names(example):
    return [found.name for found in first_integrals(example)]


# -- gauge momenta and moving energies -------------------------------------------------------------
@pytest.mark.paper("beyond gauge")
def test_the_ball_on_the_turntable_is_no_longer_done_by_hand():
    """Fasso and Sansonetto 2016, section 5: E - Omega L_z, where w_z is constant by itself; and
    both level components of the angular momentum about the contact."""
    example = ball_on_turntable.example(Omega=3.0)
    found = first_integrals(example)
    assert [f.name for f in found] == [
        "E + 3 y d/dx - 3 x d/dy", "d/dx + 16.6667 turn of qx.. about y",
        "d/dy - 16.6667 turn of qx.. about x", "d/dwz"]
    assert [f.has_energy for f in found] == [True, False, False, False]
    assert "moving energy" in repr(found[0]) and "gauge momentum" in repr(found[1])
    system, theta = example.constrained.system, example.constrained.parameters
    by_hand = ca.Function("moving", [system.t, system.q, system.v, system.theta],
                          [ball_on_turntable.moving_energy(symbols(system))])
    for place, speed in zip(*example_states(example)):
        spin = float(found[3].value(0, place, speed, theta))
        assert float(found[0].value(0, place, speed, theta)) - 3.0 * spin == pytest.approx(
            float(by_hand(0, place, speed, theta)), rel=1e-12, abs=0)


def test_turns_of_coordinates_are_found_beside_a_lie_algebra():
    """The same ball without its attitude, on R^2 x so(3) with the brackets of world components:
    E - Omega (x p_y - y p_x) is kept, and the turn of place and spin is a symmetry."""
    m, r, J, rate = 1.0, 0.2, 0.016, 1.3
    spins = lie_algebra(-np.array([ca.DM(c).full() for c in lie_algebra("so(3)").structure]), WORLD)
    ball = lagrangian_system(product(euclidean("x", "y"), spins), lambda s: (
        m * (s.v.x ** 2 + s.v.y ** 2) + J * (s.v.wx ** 2 + s.v.wy ** 2 + s.v.wz ** 2)) / 2)
    table = constrain(ball, rows={"x": lambda s: s.v.x - r * s.v.wy + rate * s.q.y,
                                  "y": lambda s: s.v.y + r * s.v.wx - rate * s.q.x})
    assert find_symmetry(table).names == ("d/dwz - y d/dx + x d/dy",)
    moving = first_integrals(table)[0]
    q, v = np.random.default_rng(0).normal(size=2), np.random.default_rng(1).normal(size=5)
    expected = (m * v[:2] @ v[:2] + J * v[2:] @ v[2:]) / 2 - rate * m * (q[0] * v[1] - q[1] * v[0])
    assert float(moving.value(0, q, v, [])) == pytest.approx(expected, rel=1e-12, abs=0)


def example_states(example):
    """q, v (N, ...) at random, on the constraints."""
    rng, equations = np.random.default_rng(9), example.equations()
    q = example.constrained.configurations
    v = np.array([equations.velocity(0, place, rng.normal(size=len(equations.names)),
                                     example.constrained.parameters).full().ravel() for place in q])
    return q, v


@pytest.mark.paper("beyond gauge")
@pytest.mark.parametrize("name", ["ball_on_turntable", "chaplygin_ball", "veselova",
                                  "heisenberg_drift", "nonholonomic_particle", "snakeboard",
                                  "vertical_disk", "bead_rod"])
def test_they_are_constant_along_runs(name):
    """By an integration that knows nothing of them."""
    example = load_system(name)
    times = np.linspace(0, 0.5, 4)
    q, xi = solve(example, times, rtol=1e-13)
    equations, theta = example.equations(), example.constrained.parameters
    v = [equations.velocity(t, *state, theta).full().ravel() for t, *state in zip(times, q, xi)]
    found = first_integrals(example)
    assert found
    for integral in found:
        values = [float(integral.value(t, *state, theta)) for t, *state in zip(times, q, v)]
        size = max(1.0, np.abs(values).max())
        assert np.ptp(values) <= 1e-10 * size, integral


def test_known_sets_of_integrals():
    assert names(load_system("chaplygin_ball"))[0] == "E"        # and the contact's momentum, 3
    assert len(names(load_system("chaplygin_ball"))) == 4
    assert names(load_system("veselova")) == ["E", "turn of qx.. about x", "turn of qx.. about y"]
    assert names(load_system("heisenberg_drift")) == ["E - 0.4 d/dz"]
    assert names(load_system("suslov")) == ["E"]
    # those of the disc are linear in v too, but hypergeometric in the lean
    assert names(load_system("falling_disc")) == ["E"]


def test_what_only_vanishes_on_the_constraints_is_no_integral():
    """Heisenberg's row itself is a <p, Y> that is constant."""
    assert not any("x d/dy" in name for name in names(load_system("heisenberg_drift")))


@pytest.mark.parametrize("unit", [1e-11, 1e-9, 1e9])
def test_integrals_do_not_depend_on_the_unit_of_mass(unit):
    disk = vertical_disk.example(m=1.3 * unit, I1=0.05 * unit, I2=0.1 * unit)
    assert names(disk) == names(load_system("vertical_disk"))


@pytest.mark.parametrize("metre, second", [
    (1e-6, 1e-3), (1e-3, 1.0), (1e-3, 1e-3), (1e3, 1e-3), (1.0, 1e3), (1e3, 1e3), (1e6, 1.0)])
def test_integrals_do_not_depend_on_the_units_of_length_and_time(metre, second):
    """Of a pendulum with a spring on a cart that is free, and of a skate on a disc that turns."""
    def swings(s):
        across = s.v.x + 0.5 * metre * ca.cos(s.q.a) * s.v.a
        up = 0.5 * metre * ca.sin(s.q.a) * s.v.a
        return s.v.x ** 2 + across ** 2 + up ** 2 - (0.7 * metre / second * s.q.a) ** 2

    assert names(constrain(lagrangian_system(euclidean("x", "a"), swings))) == ["E", "d/dx"]
    rate = 0.8 / second
    skate = constrain(
        lagrangian_system(euclidean("x", "y", "yaw"), lambda s: (
            1.7 * (s.v.x ** 2 + s.v.y ** 2) + 0.4 * (metre * s.v.yaw) ** 2) / 2),
        rows={"blade": lambda s: ((s.v.y - rate * s.q.x) * ca.cos(s.q.yaw)
                                  - (s.v.x + rate * s.q.y) * ca.sin(s.q.yaw))})
    assert names(skate) == [f"E + {rate:.6g} y d/dx - {rate:.6g} x d/dy", "d/dyaw"]


def test_a_momentum_that_the_constraints_hold_at_zero_is_no_integral():
    """The lateral speed of the snakeboard, whose trucks turn alike."""
    assert "d/dlateral_speed" not in names(load_system("snakeboard"))


def within(width):
    """A point in a potential that is finite where |x| < width, known at x = 0."""
    point = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2
                              - ca.sqrt(width ** 2 - s.q.x ** 2))
    return constrain(point, samples=np.zeros((1, 2)))


def test_states_that_are_not_finite_are_replaced():
    """With those left over, fewer than there are candidates, a third one was found."""
    assert names(within(0.04)) == ["E", "d/dy"]


def test_samples_at_which_nothing_is_finite_do_not_count():
    """Where a potential ends at |x| = 1, some random configurations are beyond."""
    ends = lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2 - ca.sqrt(1 - s.q.x ** 2))
    assert names(constrain(ends)) == ["E", "d/dy"]


def test_integrals_of_a_motion_in_which_nothing_changes_speeds():
    """A wheel alone, on its Lie algebra, and with a row that stops it or gives its speed."""
    wheel = lagrangian_system(lie_algebra("u(1)"), lambda s: s.v.charge ** 2 / 2)
    assert names(constrain(wheel)) == ["E", "d/dcharge"]
    for rate in (0.0, 3.0):
        assert names(constrain(wheel, rows={"row": lambda s: s.v.charge - rate})) == []


@pytest.mark.parametrize("slope, second", [(1e-3, "d/dy"), (0.0, "d/dz")])
def test_momenta_that_differ_by_little_are_two(slope, second):
    """x' - y' = slope z': p_x, p_y and p_z are constant, and two of them are independent."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    tied = constrain(free, rows={"tie": lambda s: s.v.x - s.v.y - slope * s.v.z})
    assert names(tied)[:3] == ["E", "d/dx", second]


def test_too_few_states_decide_nothing():
    with pytest.raises(MechanicsError, match=r"at only \d+ of 30 random states.* `samples`"):
        first_integrals(within(1e-5))


# -- Casimirs --------------------------------------------------------------------------------------
@pytest.mark.paper("beyond casimirs")
def test_casimirs_of_the_heavy_top():
    """|gamma|^2 and gamma . M (Marsden and Ratiu, section 15.10)."""
    reduced = quotient(find_symmetry(heavy_top.example(I2=1.1)))
    found = casimirs(nonholonomic_bracket(reduced.base))
    assert [f.name for f in found] == ["z_x^2 + z_y^2 + z_z^2",
                                       "z_x p_wx + z_y p_wy + z_z p_wz"]
    gamma, momentum = np.random.default_rng(2).normal(size=(2, 3))
    assert float(found[1].value(gamma, momentum)) == pytest.approx(gamma @ momentum, rel=1e-13,
                                                                   abs=0)


@pytest.mark.paper("beyond casimirs")
def test_casimirs_of_other_brackets():
    body = quotient(find_symmetry(load_system("rigid_body")))
    assert [c.name for c in casimirs(nonholonomic_bracket(body.base))] == [
        "p_wx^2 + p_wy^2 + p_wz^2"]
    # nonholonomic: gamma . M is none, the constraint takes its direction away
    sphere = nonholonomic_bracket(load_system("veselova_sphere"))
    assert [c.name for c in casimirs(sphere)] == ["gamma_x^2 + gamma_y^2 + gamma_z^2"]
    assert casimirs(nonholonomic_bracket(load_system("chaplygin_sleigh"))) == ()


def test_casimirs_of_any_degree():
    """Of a commuting direction, in which every polynomial is one: up to the second degree, or as
    asked for."""
    charge = nonholonomic_bracket(lagrangian_system(lie_algebra("u(1)"), lambda s: s.v.charge ** 2))
    words = ["p_charge", "p_charge^2", "p_charge^3"]
    assert [c.name for c in casimirs(charge)] == words[:2]
    for degree in (1, 2, 3):
        found = casimirs(charge, degree)
        assert [c.name for c in found] == words[:degree]
        assert [float(c.value([], [3.0])) for c in found] == [3, 9, 27][:degree]
    with pytest.raises(InputError, match="degree = 0 must be a whole number, 1 or more"):
        casimirs(charge, 0)


def test_a_bracket_that_is_hardly_anywhere_finite():
    free = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2)
    narrow = constrain(free, rows={"row": lambda s: s.v.y - ca.sqrt(1e-8 - s.q.x ** 2) * s.v.x},
                       samples=np.zeros((1, 2)))
    with pytest.raises(MechanicsError, match="units in which it is"):
        casimirs(nonholonomic_bracket(narrow))


# -- measure and multiplier ------------------------------------------------------------------------
def reduce(name, generators, speeds=None):
    return chaplygin(symmetry(load_system(name), generators), speeds)


@pytest.mark.paper("beyond measure")
def test_the_measure_of_chaplygins_ball():
    """N = (1 - m r^2 gamma . (I + m r^2)^-1 gamma)^(-1/2) (Chaplygin 1903; Borisov and Mamaev
    2001); on SO(3) the gyroscopic tensor is not phi-simple."""
    made = reduce("chaplygin_ball", {**X, **Y}, WORLD)
    found = hamiltonise(made)
    assert found.has_measure and not found.is_hamiltonian
    m, r, *I = made.base.parameters

    def density(q):
        gamma = Rotation.from_quat(q).as_matrix()[2]
        return (1 - m * r ** 2 * gamma @ (gamma / (np.array(I) + m * r ** 2))) ** -0.5

    start, *places = made.base.configurations
    for q in places:
        assert found.density(q, start) == pytest.approx(density(q) / density(start), rel=1e-11)
    with pytest.raises(MechanicsError, match="off the phi-simple form by"):
        found.multiplier(places[0], start)


@pytest.mark.paper("beyond measure")
def test_chaplygins_multiplier_of_the_particle():
    """z' = y x': f = (1 + y^2)^(-1/2), with which dr/dtau = dH/dP, dP/dtau = -dH/dr."""
    made = reduce("nonholonomic_particle", Z)
    found = hamiltonise(made)
    assert found.is_hamiltonian
    origin = np.array([0.1, 0.0])
    f = lambda y: found.multiplier([0.4, y], origin)               # noqa: E731
    assert f(1.2) == pytest.approx((1 + 1.2 ** 2) ** -0.5, rel=1e-12, abs=0)
    # H = (P_x^2 / (1 + y^2) + P_y^2) / (2 f^2); at a state (x, y, x', y'):
    y, vx, vy = 0.7, 0.9, -0.4
    acceleration = made.equations().drift(0, [0.3, y], [vx, vy], [], [])[1].full().ravel()
    scale, slope = f(y), -y * (1 + y * y) ** -1.5
    p, p_rate = np.array([(1 + y * y) * vx, vy]), np.array(
        [2 * y * vy * vx + (1 + y * y) * acceleration[0], acceleration[1]])
    P_rate = (slope * vy * p + scale * p_rate) / scale              # d/dtau
    P = scale * p
    dH = ((P[0] ** 2 / (1 + y * y) + P[1] ** 2) * -slope / scale ** 3
          - P[0] ** 2 * y / (1 + y * y) ** 2 / scale ** 2)
    np.testing.assert_allclose(P_rate, [0, -dH], rtol=0, atol=1e-11)


@pytest.mark.paper("beyond measure")
@pytest.mark.parametrize("name, generators, speeds, measure, hamiltonian", [
    ("vertical_disk", {**X, **Y}, None, True, True),
    ("knife_edge_on_incline", Y, None, True, True),
    ("falling_disc", {**X, **Y}, ("u1", "u2", "u3"), True, False),
    ("torus_coin", {**X, **Y}, ("u1", "u2", "u3"), True, False),
    ("unbalanced_ball", {**X, **Y}, WORLD, True, False)])
def test_shipped_chaplygin_systems(name, generators, speeds, measure, hamiltonian):
    found = hamiltonise(reduce(name, generators, speeds))
    assert (found.has_measure, found.is_hamiltonian) == (measure, hamiltonian)


def test_momenta_of_coordinates_and_of_quasi_velocities():
    """dr dp and dr dpi with pi = dL/dxi = rho^T p have densities in the ratio det(rho)."""
    made = reduce("falling_disc", {**X, **Y}, ("u1", "u2", "u3"))
    base, (start, *places) = made.base, made.base.configurations
    rho = ca.Function("rho", [base.system.q], [ca.densify(base.system.algebroid.anchor)])
    volume = [np.linalg.det(rho(q).full()) for q in (start, places[0])]
    assert hamiltonise(made).density(places[0], start) == pytest.approx(
        volume[1] / volume[0] * invariant_measure(base).density(places[0], start), rel=1e-9)


def test_the_snake_keeps_no_measure():
    found = hamiltonise(chaplygin(find_symmetry(load_system("wheeled_snake")), ("back", "front")))
    assert not found.has_measure and found.measure.closed > 0.1
    with pytest.raises(MechanicsError, match="no density of q alone is invariant"):
        found.density([0.5, 0.6], [0.5, 0.5])


def test_an_unbalanced_ball_without_an_axis_keeps_none():
    """Borisov and Mamaev 2002: only with an axis of symmetry, or with its centre in the middle."""
    made = unbalanced_ball.example(I=(0.0031, 0.0036, 0.0024))
    found = hamiltonise(chaplygin(symmetry(made, {**X, **Y}), WORLD))
    assert not found.has_measure


def test_forces_and_bases_that_are_refused():
    with pytest.raises(MechanicsError, match="without forces"):
        hamiltonise(_pushed())


def _pushed():
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2, force=lambda s: {"x": -s.v.x})
    return chaplygin(symmetry(constrain(free, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x}), Z))

@pytest.mark.parametrize("row, what", [
    (lambda s: s.v.z - s.q.y * s.v.x - 0.4 * s.q.x, "L = T - V"),
    (lambda s: s.v.z - s.q.y * s.v.x - ca.sin(s.t), "L = T - V|time")])
def test_affine_and_moving_rows_are_not_hamiltonised(row, what):
    """Their base has a force that works, or one that is not linear in the velocities."""
    particle = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    level = chaplygin(symmetry(constrain(particle, rows={"row": row}), {"z": lambda s: {"z": 1}}))
    with pytest.raises(MechanicsError, match=what):
        hamiltonise(level)


# -- Hamilton and Jacobi ---------------------------------------------------------------------------
@pytest.mark.paper("beyond hj")
def test_the_vertical_disk_turns_and_rolls_evenly():
    """Ohsawa and Bloch 2009, example 4.1."""
    disk = load_system("vertical_disk")
    assert hamilton_jacobi(disk, {"theta1'": 0.7, "theta2'": 2.0}).is_solution
    wrong = hamilton_jacobi(disk, {"theta1'": lambda s: s.q.theta2, "theta2'": 2.0})
    assert not wrong.is_solution and wrong.motion > 0.1


@pytest.mark.paper("beyond hj")
def test_the_knife_edge_on_an_incline():
    """Ohsawa and Bloch 2009, example 4.2: phi' constant, and the speed along the edge that of a
    fall, sqrt(c + 2 g sin(tilt) x)."""
    edge = load_system("knife_edge_on_incline")

    def fall(s, place):
        return ca.cos(s.q.phi) * ca.sqrt(30 + 2 * s.p.g * ca.sin(s.p.tilt) * place)

    found = hamilton_jacobi(edge, {"x'": lambda s: fall(s, s.q.x), "phi'": 1.3})
    assert found.is_solution and found.motion <= 1e-12
    across = hamilton_jacobi(edge, {"x'": lambda s: fall(s, s.q.y), "phi'": 1.3})
    assert not across.is_solution and across.closed <= 1e-12 < across.energy
    with pytest.raises(MechanicsError, match="without forces"):
        hamilton_jacobi(load_system("rolling_ball"), {"x'": 1.0, "y'": 0.0, "wz": 0.0})
    with pytest.raises(InputError, match="3 independent speeds were named"):
        hamilton_jacobi(edge, {"x'": 1.0, "y'": 0.0, "phi'": 0.3})
    with pytest.raises(MechanicsError, match="linear in the velocities"):
        hamilton_jacobi(load_system("heisenberg_drift"), {"x'": 1.0, "y'": 0.0})


def test_a_field_that_is_no_number_is_no_solution():
    """NaN was below every threshold."""
    with pytest.raises(MechanicsError, match="not finite"):
        hamilton_jacobi(load_system("bead_parabola"),
                        {"x1'": lambda s: ca.sqrt(-1 - s.q.x1 ** 2)})
    found = HamiltonJacobi(0.0, float("nan"), 0.0)
    assert not found.is_solution and "no solution" in repr(found)


def test_how_far_a_field_is_from_a_solution():
    """gamma = (y, 3 x): d gamma = 2 dx dy, H = (y^2 + 9 x^2) / 2, and X moves along itself by
    (3 x, 3 y); at the worst of the samples."""
    plane = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2))
    made = replace(plane, samples=np.array([[0.1, 0.2], [1.0, -2.0], [0.3, 0.4]]))
    found = hamilton_jacobi(made, {"y'": lambda s: 3 * s.q.x, "x'": lambda s: s.q.y})
    np.testing.assert_allclose([found.closed, found.energy, found.motion], [2, 9, 6], rtol=1e-14)
    assert not found.is_solution and "no solution; closed 2, energy 9, motion 6" in repr(found)
