"""Speeds of one's own choice, moving frames, and names that are wrong."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import nhmech
from nhmech.mechanics import (
    MovingFrame,
    constrain,
    euclidean,
    generalised_speeds,
    gibbs_appell,
    hamel,
    lagrangian_system,
)
from nhmech.mechanics.writing import symbols
from nhmech.symbolic.inverse import inverse
from nhmech.systems.falling_disc import space

DISC = {"u1": lambda s: s.v.lean, "u2": lambda s: s.v.spin + s.v.yaw * ca.sin(s.q.lean),
        "u3": lambda s: s.v.yaw * ca.cos(s.q.lean)}


def in_rates(name: str):
    """The free system of x, y, yaw, lean, spin that the disc's speeds are tried on."""
    return constrain(lagrangian_system(
        euclidean("x", "y", "yaw", "lean", "spin"),
        lambda s: (s.v.x ** 2 + s.v.y ** 2 + 2 * s.v.yaw ** 2 + s.v.lean ** 2 + s.v.spin ** 2
                   + s.v.yaw * s.v.spin * ca.sin(s.q.lean)) / 2 - ca.cos(s.q.lean)),
        rows={name: lambda s: s.v.x - ca.cos(s.q.yaw) * s.v.spin})


def test_speeds_of_the_falling_disc_give_its_algebroid():
    """The basis that the shipped disc writes out by hand, and the same Hamel symbols."""
    made = generalised_speeds(in_rates("rolling"), DISC | {
        "vx": lambda s: s.v.x, "vy": lambda s: s.v.y}).system.algebroid
    theirs = space()
    order = [made.v_names.index(name) for name in ("vx", "vy", "u1", "u2", "u3")]
    q = np.random.default_rng(0).normal(size=5)
    for part in range(5):
        ours = ca.Function("c", [made.q], [made.structure[order[part]]])(q).full()
        expected = ca.Function("c", [theirs.q], [theirs.structure[part]])(q).full()
        np.testing.assert_allclose(ours[np.ix_(order, order)], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.paper("002 7")
@pytest.mark.parametrize("former", [gibbs_appell, hamel])
def test_the_motion_is_the_same_in_other_speeds(former):
    """dq/dt and d2q/dt2 of the same state, constraints included."""
    plain, rng = in_rates("rolling"), np.random.default_rng(1)
    made = generalised_speeds(plain, DISC)
    assert made.system.algebroid.v_names == ("u1", "u2", "u3", "x'", "y'")
    first, second = gibbs_appell(plain), former(made)
    for _ in range(4):
        q, xi = rng.normal(size=5), rng.normal(size=4)
        v = first.velocity(0, q, xi, []).full().ravel()
        a = first.acceleration(0, q, xi, [], []).full().ravel()
        c, s = np.cos(q[3]), np.sin(q[3])
        w = np.array([v[3], v[4] + v[2] * s, v[2] * c, v[0], v[1]])
        w_rate = np.array([a[3], a[4] + a[2] * s + v[2] * v[3] * c, a[2] * c - v[2] * v[3] * s,
                           a[0], a[1]])
        speeds = [w[made.system.algebroid.v_names.index(name)] for name in second.names]
        np.testing.assert_allclose(second.velocity(0, q, speeds, []).full().ravel(), w, rtol=1e-12,
                                   atol=1e-13)
        np.testing.assert_allclose(second.acceleration(0, q, speeds, [], []).full().ravel(),
                                   w_rate, rtol=1e-11, atol=1e-12)


def test_an_inverse_has_no_square_roots_and_no_bad_pivots():
    """A turn by a right angle has no pivot where another choice would divide by its cosine."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    turn = ca.blockcat([[ca.cos(x), -ca.sin(x), 0], [ca.sin(x), ca.cos(x), 0], [0, 0, 2 + y]])
    made = ca.Function("made", [x, y], [inverse(turn), turn])
    for at in (0.0, np.pi / 2, 1.0):
        a, b = (part.full() for part in made(at, 0.4))
        np.testing.assert_allclose(a @ b, np.eye(3), atol=1e-15)
    operations = {made.instruction_id(k) for k in range(made.n_instructions())}
    assert ca.OP_SQRT not in operations


@pytest.mark.parametrize("speeds, why", [
    ({"u": lambda s: s.v.x ** 2}, "not linear"),
    ({"u": lambda s: s.v.x + s.q.yaw}, "has no velocity"),
    ({"u": lambda s: ca.cos(s.t) * s.v.x + ca.sin(s.t) * s.v.y}, "coefficients that depend on tim"),
    ({"u": lambda s: s.v.x, "w": lambda s: 2 * s.v.x}, "depend on each other"),
    ({"x'": lambda s: s.v.yaw}, "twice"), ({}, "give one to"),
    ({"u": lambda s: s.v.yow}, "did you mean 'yaw'")])
def test_speeds_that_are_none_are_refused(speeds, why):
    with pytest.raises(nhmech.NhmechError, match=why):
        generalised_speeds(in_rates("rolling"), speeds)


def test_speeds_along_turning_axes_are_those_of_a_driven_coordinate():
    """u' = w turn + cos f, w' = -u turn - sin f in axes at the angle turn t, f = 1 along x."""
    turn, t, q, u, w = 1.3, 0.4, np.array([0.2, -0.1, 1.3 * 0.4]), 0.7, -0.5
    driven = constrain(lagrangian_system(euclidean("x", "y", "axes"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2 + s.q.x),
        holonomic={"axes": lambda s: s.q.axes - turn * s.t})
    c, s = np.cos(q[2]), np.sin(q[2])
    equations = gibbs_appell(generalised_speeds(driven, {
        "u": lambda s: ca.cos(s.q.axes) * s.v.x + ca.sin(s.q.axes) * s.v.y,
        "w": lambda s: -ca.sin(s.q.axes) * s.v.x + ca.cos(s.q.axes) * s.v.y}), ("u", "w"))
    rate = equations.drift(t, q, [u, w], [], [])[1].full().ravel()
    np.testing.assert_allclose(rate, [w * turn + c, -u * turn - s], rtol=1e-12)


@pytest.mark.parametrize("words, why", [
    ({"parameters": ["m", "m"]}, "'m' is given twice"), ({"parameters": ["lambda"]}, "lambda_"),
    ({"inputs": ["left wheel"]}, "left_wheel")])
def test_names_that_cannot_be_are_refused(words, why):
    with pytest.raises(nhmech.InputError, match=why):
        lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2, **words)
    with pytest.raises(nhmech.InputError, match="'x' is given twice"):
        lagrangian_system(euclidean("x", "x"), lambda s: s.v.x ** 2)


def test_velocities_of_moving_frames():
    """Against the derivative of the position, and against a turn about each axis."""
    system = lagrangian_system(euclidean("x", "y", "a", "b"), lambda s: s.v.x ** 2)
    s = symbols(system)
    frame = MovingFrame.planar(s.q.x, s.q.y, s.q.a).shifted(0.3, -0.2, 0.1).turned("y", s.q.b)
    point = (0.4, 0.5, -0.6)
    in_world = frame.R_W @ frame.velocity(s, point)
    spin = frame.R_W @ frame.angular_velocity(s)
    f = ca.Function("f", [system.q, system.v],
                    [in_world, s.rate(frame.point(*point)), spin, frame.R_W, frame.p_W])
    q, v = np.array([0.3, -1.0, 0.7, 1.9]), np.array([0.2, 0.5, -0.8, 1.3])
    by_frame, by_rate, omega, R, at = (part.full() for part in f(q, v))
    ahead, left = np.array([[np.cos(0.7), np.sin(0.7)], [-np.sin(0.7), np.cos(0.7)]])
    np.testing.assert_allclose(at.ravel(), [*q[:2] + 0.3 * ahead - 0.2 * left, 0.1], rtol=1e-14)
    np.testing.assert_allclose(by_frame, by_rate, rtol=1e-11, atol=1e-15)
    level = np.array([-np.sin(q[2]), np.cos(q[2]), 0.0])
    np.testing.assert_allclose(omega.ravel(), v[2] * np.array([0, 0, 1]) + v[3] * level,
                               rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)


def test_a_snake_is_ten_lines():
    """Its wheels do not slip sideways, as seen by hand from link to link."""
    def links(s):
        head = MovingFrame.planar(s.q.x, s.q.y, s.q.yaw)
        middle = head.shifted(-0.1).turned("z", s.q.first).shifted(-0.1)
        return head, middle, middle.shifted(-0.1).turned("z", s.q.second).shifted(-0.1)

    snake = constrain(lagrangian_system(
        euclidean("x", "y", "yaw", "first", "second"),
        lambda s: sum(link.energy(s, 1.0, (0, 0, 0.02)) for link in links(s))),
        rows={f"wheel {i}": lambda s, i=i: links(s)[i].velocity(s)[1] for i in range(3)})
    equations = gibbs_appell(snake, speeds=("first'", "second'"))
    q = np.array([0.1, 0.2, 0.3, 0.5, -0.4])
    v = equations.velocity(0, q, [0.7, -0.2], []).full().ravel()
    c, s = np.cos(q[2]), np.sin(q[2])
    ahead = c * v[0] + s * v[1]
    assert -s * v[0] + c * v[1] == pytest.approx(0, abs=1e-14)
    c1, s1 = np.cos(q[3]), np.sin(q[3])          # the hinge of the first joint is 0.1 behind
    at_hinge = np.array([ahead, -0.1 * v[2]])
    assert -s1 * at_hinge[0] + c1 * at_hinge[1] - 0.1 * (v[2] + v[3]) == pytest.approx(0, abs=1e-13)


def test_the_energy_of_a_body_is_that_of_its_points():
    """Of eight points of a mass of an eighth each at the corners of a box, whose centre is a point
    of the frame; a point may have fewer numbers than three."""
    system = lagrangian_system(euclidean("x", "y", "a", "b", "c"), lambda s: s.v.x ** 2)
    s = symbols(system)
    frame = MovingFrame.planar(s.q.x, s.q.y, s.q.a).turned("x", s.q.b).shifted(z=0.2).turned(
        "y", s.q.c).shifted(0.1)
    sides = np.array([0.3, 0.5, 0.7])
    inertia = 1.7 * (sides @ sides - sides ** 2)
    centre = np.array([0.2, -0.4, 0.0])
    corners = [centre + sides * signs for signs in np.ndindex(2, 2, 2)
               for signs in [2 * np.array(signs) - 1]]
    by_points = sum(1.7 / 8 * ca.sumsqr(s.rate(frame.point(*corner))) / 2 for corner in corners)
    energies = ca.Function("energies", [system.q, system.v], [
        by_points, frame.energy(s, 1.7, inertia, centre[:2])])
    for q, v in np.random.default_rng(3).normal(size=(3, 2, 5)):
        expected, found = map(float, energies(q, v))
        assert found == pytest.approx(expected, rel=1e-12, abs=0)
    with pytest.raises(nhmech.InputError, match="axis = 'w' must be 'x', 'y' or 'z'"):
        frame.turned("w", 0.1)


@pytest.mark.parametrize("axis", range(3))
def test_a_turn_is_right_handed(axis):
    """About each axis the next one moves towards the one after it."""
    R = ca.DM(MovingFrame(ca.SX(3, 1), ca.SX.eye(3)).turned("xyz"[axis], 0.3).R_W).full()
    unit = np.eye(3)
    following, last = unit[(axis + 1) % 3], unit[(axis + 2) % 3]
    np.testing.assert_allclose(R @ unit[axis], unit[axis], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(R @ following, np.cos(0.3) * following + np.sin(0.3) * last,
                               rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("slope, kept", [(1e-8, ("v", "x'")), (1e-10, ("v", "y'"))])
def test_the_first_coordinates_that_make_a_basis_stay(slope, kept):
    """v = x' + slope y': x' is independent of it as long as the condition is below 1e9."""
    plane = constrain(lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 + s.v.y ** 2))
    made = generalised_speeds(plane, {"v": lambda s: s.v.x + slope * s.v.y})
    assert made.system.algebroid.v_names == kept


@pytest.mark.parametrize("gap, independent", [(3e-9, True), (3e-10, False)])
def test_speeds_that_hardly_differ(gap, independent):
    plane = constrain(lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 + s.v.y ** 2))
    speeds = {"v": lambda s: s.v.x, "w": lambda s: s.v.x + gap * s.v.y}
    if independent:
        assert generalised_speeds(plane, speeds).system.algebroid.v_names == ("v", "w")
    else:
        with pytest.raises(nhmech.InputError, match="v, w depend on each other: rank 1 of 2"):
            generalised_speeds(plane, speeds)


def test_speeds_are_one_at_least_and_a_basis_at_most():
    line = constrain(lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2))
    with pytest.raises(nhmech.InputError, match="0 speeds for a fibre of 1 coordinates"):
        generalised_speeds(line, {})
    with pytest.raises(nhmech.InputError, match="2 speeds for a fibre of 1 .*: give one to 1"):
        generalised_speeds(line, {"v": lambda s: s.v.x, "w": lambda s: 2 * s.v.x})
    assert generalised_speeds(line, {"v": lambda s: 2 * s.v.x}).system.algebroid.v_units == ("",)
    turning = constrain(lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2),
                        samples=np.array([[0.0, 0.0], [np.pi / 2, 0.0]]))
    with pytest.raises(nhmech.MechanicsError, match="cannot be completed to a basis at all"):
        generalised_speeds(turning, {"v": lambda s: (
            ca.cos(s.q.x) * s.v.x + ca.sin(s.q.x) * s.v.y)})


def test_samples_at_which_a_speed_is_not_finite_do_not_count():
    """log(x) x' at x = 0."""
    free = lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 + s.v.y ** 2)
    given = replace(constrain(free), samples=np.array([[0.0, 1.0], [2.0, 3.0]]))
    made = generalised_speeds(given, {"v": lambda s: ca.log(s.q.x) * s.v.x + s.v.y})
    assert made.system.algebroid.v_names == ("v", "x'")
    with pytest.raises(nhmech.InputError, match="v depend on each other: rank 0 of 1"):
        generalised_speeds(replace(given, samples=given.samples[:1]), {
            "v": lambda s: ca.log(s.q.x) * s.v.x + s.v.y})


def test_one_sample_at_which_speeds_are_independent_tells_that_they_are():
    """x x' is none at x = 0, where no coordinate completes it."""
    free = constrain(lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 + s.v.y ** 2))
    speeds, places = {"v": lambda s: s.q.x * s.v.x}, np.array([[0.0, 1.0], [2.0, 3.0]])
    with pytest.raises(nhmech.MechanicsError, match="or samples away from their singularities"):
        generalised_speeds(replace(free, samples=places), speeds)
    made = generalised_speeds(replace(free, samples=places[1:]), speeds)
    assert made.system.algebroid.v_names == ("v", "y'")


def test_groups_of_speeds_are_preferred_that_are_still_there():
    free = replace(constrain(lagrangian_system(euclidean("x", "y", "z"), lambda s: s.v.x ** 2)),
                   preferred=(("z'", "y'"), ("x'", "y'"), ("z'",)))
    made = generalised_speeds(free, {"u": lambda s: s.v.x + 2 * s.v.y})
    assert made.system.algebroid.v_names == ("u", "x'", "z'")
    assert made.preferred == (("z'",),)
