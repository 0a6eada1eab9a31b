"""What linearisations and steady motions leave out: the symmetries of the equations, and nothing
else."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support import shipped
from trains import DRAWBARS, train

import nhmech
from nhmech import MechanicsError
from nhmech.analysis import SteadyMotions, linearise
from nhmech.analysis.variations import Variations, _independent
from nhmech.mechanics import constrain, euclidean, lagrangian_system, lie_algebra
from nhmech.systems import car_with_trailers, load_system, sled
from nhmech.vehicle.ground import Ground

STEER = "steering_joint angle"


@pytest.fixture(scope="module")
def bicycle():
    return SteadyMotions(shipped("bicycle"))


@pytest.fixture(scope="module")
def turn(bicycle):
    """Hands-free, lean 0.2 rad."""
    vehicle = bicycle.variations.simulated.vehicle
    start = bicycle.find(vehicle.configuration((0, 0, 0.3, 0.01, 0, 0)), bicycle.straight(6.0).xi,
                         conditions={"roll": 0.01})
    return bicycle.family(start, "roll", [0.2])[0]


@pytest.mark.parametrize("known", [("roll",), ("forward_speed",), ("roll", "forward_speed")])
def test_a_turn_is_found_from_ten_percent_away(bicycle, turn, known):
    """Off a steady motion the symmetric directions are still known: they are fields, not what the
    dynamics happens to see there."""
    rng, vehicle = np.random.default_rng(0), bicycle.variations.simulated.vehicle
    lean, steer = (bicycle.value(turn, name) for name in ("roll", STEER))
    values = {name: bicycle.value(turn, name) for name in known}
    for _ in range(20):
        a, b = 1 + rng.uniform(-0.1, 0.1, 2)
        q = vehicle.configuration((*rng.normal(size=2), rng.normal(), lean * a, 0, 0),
                                  {"steering_joint": steer * b})
        xi = turn.xi * (1 + rng.uniform(-0.1, 0.1, 3))
        found = bicycle.find(q, xi, conditions=values)
        np.testing.assert_allclose(found.xi, turn.xi, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose([bicycle.value(found, name) for name in ("roll", STEER)],
                                   [lean, steer], rtol=1e-8)


def test_values_of_a_family_may_lie_far_apart():
    """y'' = -(z^3 - 3 z + 4), z = y - 20 sin x, is at rest where z = -2.19582... only, and Newton's
    method from z > 1 stays at the minimum at z = 1: `family` goes there by steps of its own."""
    def force(s):
        z = s.q.y - 20 * ca.sin(s.q.x)
        return {"y": -(z ** 3 - 3 * z + 4)}

    system = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2,
                               force=force)
    motions, root = SteadyMotions(constrain(system)), -2.195823345445647
    start = motions.find([0.0, root], [0.0, 0.0], conditions={"q x": 0.0})
    with pytest.raises(MechanicsError, match="no steady motion found"):
        motions.find(start.q, start.xi, conditions={"q x": 3.0})
    member, = motions.family(start, "q x", [3.0])
    np.testing.assert_allclose(member.q, [3.0, 20 * np.sin(3.0) + root], rtol=1e-12)


@pytest.mark.parametrize("speed", [1.3, -1.3])
def test_every_hitch_of_a_train_shows(speed):
    """Hitched on the axle, a trailer of length L turns by itself at the rate -V/L, and pulls nobody
    aside: the last one acts on nothing."""
    lengths = np.random.default_rng(5).uniform(0.6, 2.0, 3)
    numbers = {f"drawbar_{i}": L for i, L in enumerate(lengths, 1)}
    numbers |= {f"behind_{i}": 0.0 for i in range(1, 4)} | {"ahead_2": 0.2}
    made = car_with_trailers.example(3, **numbers)
    motions = SteadyMotions(made)
    names = motions.variations.equations.names
    xi = np.array([speed if name == "forward_speed" else 0.0 for name in names])
    straight = motions.find(np.zeros(motions.variations.space.nq), xi,
                            conditions={"forward_speed": speed})
    values = linearise(motions.variations, straight.q, straight.xi).eigenvalues
    apart = np.abs(values[:, None] + speed / lengths).min(axis=0)
    assert apart.max() < 1e-9 * abs(speed) / lengths.min()
    assert len(values) == 4 + len(names)           # the steering and three hitches


def test_every_hitch_of_a_described_train_shows():
    tractor = train(2)
    motions, speed = SteadyMotions(tractor, tractor.driven), -1.3
    straight = motions.straight(speed)
    linear = linearise(motions.variations, straight.q, straight.xi, straight.u)
    assert {"hitch_1_joint", "hitch_2_joint"} <= set(linear.names)
    for length in DRAWBARS:
        assert np.abs(linear.eigenvalues + speed / length).min() < 1e-9
    at_rest = motions.straight(0.0)
    assert linearise(motions.variations, at_rest.q, at_rest.xi).names == linear.names


@pytest.mark.parametrize("name", ["bicycle", "ball", "trailers", "falling_disc", "unbalanced_ball"])
def test_what_is_left_out_drives_itself_alone(name):
    """Modulo the symmetries: along a steady motion, what the group moves comes back to nothing in
    the coordinates that are kept."""
    given = shipped(name) if name in nhmech.urdf_names() else load_system(name)
    variations, rng = Variations(given), np.random.default_rng(3)
    q = variations.simulated.constrained.configurations[0]
    if name == "bicycle":
        motion = SteadyMotions(variations).straight(5.0)
    else:
        motion = SteadyMotions(variations, variations.system.u_names).find(
            q, rng.normal(size=variations.xi.numel()))
    point = variations.at(motion.q, motion.xi, motion.u)
    size = np.abs(point.whole).max()
    np.testing.assert_allclose(point.reduce @ point.lift, np.eye(len(point.A)), rtol=0, atol=1e-12)
    # of the tangent space only: motions that leave the constraints are none
    tangent = variations.at(motion.q, motion.xi, motion.u, ignorable=True).lift
    group = tangent @ np.linalg.svd(point.reduce @ tangent)[2][len(point.A):].T
    assert group.shape[1] > 0
    carried = point.whole - point.drag
    np.testing.assert_allclose(point.reduce @ carried @ group, 0, atol=1e-9 * max(1, size))


@pytest.mark.parametrize("fibration", ["x", "y", "body"])
def test_a_circle_is_steady_in_any_speeds(fibration):
    """A sled on a circle, whose x' changes all the time: modulo turns and shifts, nothing does."""
    made = sled.example(fibration=fibration)
    motions, q = SteadyMotions(made), [0.3, -0.2, 0.7]
    along = {"x": 1.5 * np.cos(0.7), "y": 1.5 * np.sin(0.7), "body": 1.5}[fibration]
    if fibration == "body":
        q = made.constrained.configurations[0]
    names = motions.variations.equations.names
    xi = np.array([0.8 if name in ("phi'", "yaw_rate") else along for name in names])
    member = motions.find(q, xi)
    np.testing.assert_allclose(member.xi, xi, rtol=1e-12)
    linear = linearise(motions.variations, q, xi)
    assert linear.A.shape == (2, 2) and np.abs(linear.drift).max() < 1e-12
    np.testing.assert_allclose(linear.A, 0, atol=1e-12)


def test_scaling_is_no_symmetry_to_be_left_out():
    """x'' = -4 x is the same for 2 x, but an oscillator has two states wherever it is."""
    spring = constrain(lagrangian_system(euclidean("x"),
                                         lambda s: s.v.x ** 2 / 2 - 2 * s.q.x ** 2))
    values = linearise(spring, [0.7], [0.2]).eigenvalues
    np.testing.assert_allclose(np.sort(values.imag), [-2, 2], rtol=1e-12)
    np.testing.assert_allclose(values.real, 0, atol=1e-12)


def test_a_slope_takes_the_heading_out_of_the_symmetries():
    level = shipped("differential_drive")
    assert Variations(level).at(level.configuration(), [0.0, 0.0]).names == ()
    sloping = nhmech.load(nhmech.urdf_path("differential_drive"), ground=Ground((0.1, 0.0, 1.0)))
    point = Variations(sloping).at(sloping.configuration(), [1.0, 0.5])
    assert [sloping.algebroid.v_names[i] for i in point.names] == ["yaw_rate"]


@pytest.mark.parametrize("speed", [(0.0, 0.0), (0.5, 0.4), (-1.2, 0.7)])
def test_where_motions_of_all_places_are_symmetries_the_speeds_alone_are_left(speed):
    """In the hyperbolic plane, ds^2 = dx^2 + e^2x dy^2, a particle has the speeds a = x' and b =
    e^x y' of a frame that its motions keep, with a' = b^2 and b' = -a b."""
    plane = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + ca.exp(2 * s.q.x) * s.v.y ** 2) / 2))
    point = Variations(plane).at([0.3, -0.2], speed)
    a, b = speed[0], np.exp(0.3) * speed[1]
    assert point.names == ()
    expected = np.array([[0, 2 * b], [-b, -a]])
    frame = np.diag([1.0, np.exp(0.3)])
    np.testing.assert_allclose(frame @ point.A @ np.linalg.inv(frame), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("place", [(0.3, -0.2), (2e8, -1e8)])
def test_a_free_particle_moves_on_unchanged_wherever_it_is(place):
    """Also where a turn about the origin is hardly another motion than a shift."""
    free = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2))
    point = Variations(free).at(place, [0.7, -0.4])
    assert point.names == () and np.abs(point.A).max() < 1e-12


def test_a_turn_about_a_stiff_centre_is_a_symmetry():
    """In the presence of forces beside which rounding of its own is large."""
    spring = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 - 1e12 * (s.q.x ** 2 + s.q.y ** 2 - 1) ** 2) / 2))
    assert len(Variations(spring).at([0.6, 0.8], [0.0, 0.0]).names) == 1


def test_what_one_sample_alone_sees_is_no_symmetry():
    """A wall behind the first six of the samples."""
    wall = lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2, force=lambda s: {
        "x": -ca.fmax(s.q.x - 1, 0)})
    samples = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 2.0, 0.7]]).T
    for seen, names in ((samples, (0,)), (np.delete(samples, 6, axis=0), ())):
        assert Variations(constrain(wall, samples=seen)).at([0.3], [0.1]).names == names


@pytest.mark.parametrize("other", [(1.0, 0.0), (-1.0, 0.0)])
def test_a_sample_at_which_the_speeds_say_nothing_decides_nothing(other):
    """x' tells how a pendulum moves at its lowest point, and not where its rod is level."""
    point = lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2 - 9.81 * s.q.y)
    swing = constrain(point, samples=[[0.0, -1.0], other],
                      holonomic={"rod": lambda s: s.q.x ** 2 + s.q.y ** 2 - 1})
    linear = linearise(swing, [0.0, -1.0], [0.0])
    assert linear.names == ("x", "x'")
    np.testing.assert_allclose(linear.eigenvalues ** 2, -9.81, rtol=1e-12)


def test_a_sample_at_which_a_force_has_no_finite_slope_decides_nothing():
    made = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2, force=lambda s: {"x": -ca.sqrt(s.q.x)}),
        samples=[[x, 0.3] for x in (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5)])
    linear = linearise(made, [0.25, 0.3], [0.0, 0.0])
    np.testing.assert_allclose(linear.A, [[0, 1, 0], [-1, 0, 0], [0, 0, 0]], rtol=0, atol=1e-12)


def test_euler_s_top_in_its_body_alone():
    """Without an attitude: I w' = I w x w. About its middle axis the growth is
    w sqrt((I3 - I2) (I2 - I1) / (I1 I3))."""
    inertia, w = (0.4, 0.7, 0.9), 3.0
    top = constrain(lagrangian_system(lie_algebra("so(3)"), lambda s: sum(
        one * getattr(s.v, name) ** 2 for one, name in zip(inertia, vars(s.v))) / 2))
    linear = linearise(top, [], [0.0, w, 0.0])
    one, two, three = inertia
    growth = w * np.sqrt((three - two) * (two - one) / (one * three))
    np.testing.assert_allclose(linear.eigenvalues, [growth, 0, -growth], rtol=0, atol=1e-12)
    assert linear.A.shape == (3, 3)


def test_names_are_the_last_coordinates_that_tell_half_as_much_as_the_best():
    """Along a x + b y = 0, a bead moves by (b, -a)."""
    for a, name in ((0.5025, "y"), (0.4975, "x")):
        bead = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
            s.v.x ** 2 + s.v.y ** 2 - s.q.x ** 2 - s.q.x ** 4) / 2),
            holonomic={"line": lambda s, a=a: a * s.q.x + s.q.y})
        assert linearise(bead, [0.0, 0.0], [0.0]).names[0] == name


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_of_dependent_directions_the_first_ones_serve(size):
    a, b, c = size * np.random.default_rng(0).normal(size=(3, 5))
    found = _independent(np.column_stack([3 * a, 0 * a, b, a - 2 * b, c, a + b + c]))
    assert found == [0, 2, 4]


@pytest.mark.parametrize("count", [3, 10, 14])
def test_oscillators_of_different_frequencies_have_no_symmetry(count):
    """A linear field that commutes with their stiffness and keeps their kinetic energy is none. Of
    ten it was thought that nothing pulls them back: eight places are not all directions."""
    stiffness = np.linspace(1, 2, count)
    made = constrain(lagrangian_system(euclidean(*(f"x{i}" for i in range(count))), lambda s: sum(
        v ** 2 - k * q ** 2 for v, q, k in zip(
            vars(s.v).values(), vars(s.q).values(), stiffness)) / 2))
    found = linearise(made, np.zeros(count), np.zeros(count)).eigenvalues
    expected = np.r_[-np.sqrt(stiffness[::-1]), np.sqrt(stiffness)]
    np.testing.assert_allclose(np.sort(found.imag), expected, rtol=1e-9)
    np.testing.assert_allclose(found.real, 0, rtol=0, atol=1e-9)
