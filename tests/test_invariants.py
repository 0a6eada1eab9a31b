"""Reduction where the invariants are no entries of q: what is left lives on action algebroids."""

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support import sampled
from symmetric_systems import SE2, carriage

from nhmech.errors import MechanicsError
from nhmech.mechanics import (
    casimirs,
    chaplygin,
    constrain,
    euclidean,
    find_symmetry,
    gibbs_appell,
    lagrangian_system,
    nonholonomic_bracket,
    product,
    quotient,
    reconstruct,
    run_reduced,
    special_euclidean_2,
    special_orthogonal,
    symmetry,
)
from nhmech.mechanics.invariants import given_invariants
from nhmech.systems import heavy_top, load_system, system_names
from nhmech.systems.example import solve

WORLD = ("wx", "wy", "wz")
X = {"x": lambda s: {"x": 1}, "y": lambda s: {"y": 1}}


def vertical(q):
    """World's z axis in the body, of a quaternion."""
    return Rotation.from_quat(q).as_matrix()[2]


def turn(s):
    """About the vertical, in body components."""
    x, y, z, w = s.q.qx, s.q.qy, s.q.qz, s.q.qw
    return {"wx": 2 * (x * z - y * w), "wy": 2 * (y * z + x * w), "wz": 1 - 2 * (x * x + y * y)}


def agree(full, reduced, tolerance):
    """Accelerations at random states of the whole, and of where they are on the quotient."""
    speeds, rng = gibbs_appell(full).names, np.random.default_rng(6)
    whole, base = gibbs_appell(full, speeds), reduced.equations(speeds)
    constrained = full.constrained
    for q in constrained.configurations:
        xi, theta = rng.normal(size=len(speeds)), constrained.parameters
        np.testing.assert_allclose(base.acceleration(0, reduced.place(q), xi, [], theta).full(),
                                   whole.acceleration(0, q, xi, [], theta).full(),
                                   rtol=0, atol=tolerance)


@pytest.mark.paper("002 action", "beyond invariants")
def test_the_heavy_top_ends_on_the_action_algebroid():
    """L = T - m g l gamma_3 with gamma' = gamma x omega (Arnold, section 30)."""
    top = heavy_top.example(I2=1.1)
    reduced = quotient(find_symmetry(top))
    space = reduced.base.system.algebroid
    assert space.q_names == ("z_x", "z_y", "z_z") and space.v_names == ("wx", "wy", "wz")
    assert "- g l m z_z\n" in str(reduced.base)
    gamma, omega = np.random.default_rng(1).normal(size=(2, 3))
    rate = reduced.equations().drift(0, gamma, omega, [], top.constrained.parameters)[0]
    np.testing.assert_allclose(rate.full().ravel(), np.cross(gamma, omega), rtol=1e-14)
    space.check()
    agree(top, reduced, 1e-12)
    for q in top.constrained.configurations:
        np.testing.assert_allclose(reduced.place(q), vertical(q), rtol=0, atol=1e-14)


def test_a_reduced_system_is_accepted_where_a_system_is():
    """The heavy top ends on the dual of e(3), whose Casimirs are |gamma|^2 and gamma . p; the
    turns of a reduced ball are found in its first stage as they are in `base`."""
    reduced = quotient(find_symmetry(heavy_top.example(I2=1.1)))
    found = casimirs(nonholonomic_bracket(reduced))
    assert len(found) == 2
    rng = np.random.default_rng(2)
    gamma, p = rng.normal(size=(2, 3))
    by_hand = [gamma @ gamma, gamma @ p]
    values = [float(casimir.value(gamma, p)) for casimir in found]
    np.testing.assert_allclose(sorted(values), sorted(by_hand), rtol=1e-12)
    first = chaplygin(symmetry(load_system("chaplygin_ball"), X), ("wx", "wy", "wz"))
    assert find_symmetry(first).names == find_symmetry(first.base).names


@pytest.mark.paper("beyond invariants")
def test_veselovas_problem_ends_on_so3_and_the_sphere():
    """The quotient is the system that `veselova_sphere` types by hand."""
    whole, by_hand = load_system("veselova"), load_system("veselova_sphere")
    reduced = quotient(symmetry(whole, whole.generators))
    agree(whole, reduced, 1e-12)
    found, typed = (gibbs_appell(made, ("wx", "wz")) for made in (reduced.base, by_hand))
    theta = by_hand.constrained.parameters
    for gamma in by_hand.constrained.configurations:
        for part in (0, 1):
            np.testing.assert_allclose(found.drift(0, gamma, [0.4, -0.7], [], theta)[part].full(),
                                       typed.drift(0, gamma, [0.4, -0.7], [], theta)[part].full(),
                                       rtol=0, atol=1e-12)


@pytest.mark.paper("beyond invariants")
@pytest.mark.parametrize("name", ["chaplygin_ball", "unbalanced_ball"])
def test_balls_in_two_stages(name):
    """Translations by Chaplygin's reduction, to SO(3) with a gyroscopic force; then the turns
    about the vertical, to so(3) over the sphere."""
    ball = load_system(name)
    first = chaplygin(symmetry(ball, X), ("wx", "wy", "wz"))
    reduced = quotient(symmetry(first.base, {"turn": turn}))
    assert reduced.base.system.algebroid.q_names == ("z_x", "z_y", "z_z")
    agree(first.base, reduced, 1e-10)
    # and the first stage is the ball itself
    equations, theta = ball.equations(), ball.constrained.parameters
    for q in ball.constrained.configurations[:4]:
        found = reduced.equations(("wx", "wy", "wz")).drift(0, vertical(q[2:]), [0.3, -1, 0.8], [],
                                                            theta)[1].full()
        np.testing.assert_allclose(found, equations.drift(0, q, [0.3, -1, 0.8], [],
                                                          theta)[1].full(), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["falling_disc", "torus_coin"])
def test_the_disc_in_two_stages(name):
    """Only the lean is left, over a three-dimensional fibre."""
    disc = load_system(name)
    first = chaplygin(symmetry(disc, X), ("u1", "u2", "u3"))
    reduced = quotient(find_symmetry(first.base))
    assert reduced.base.system.algebroid.q_names == ("lean",)
    agree(first.base, reduced, 1e-11)


@pytest.mark.paper("004 reconstruction")
def test_the_attitude_comes_back():
    top = heavy_top.example(I2=1.1)
    reduced = quotient(find_symmetry(top))
    times, start = np.linspace(0, 1, 5), np.array(top.start["q"])
    motion = run_reduced(reduced, times, reduced.place(start), top.start["xi"])
    path = reconstruct(reduced, motion, start)
    expected, _ = solve(top, times, rtol=1e-13)
    np.testing.assert_allclose(path.q, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(motion.r, axis=1), 1, rtol=0, atol=1e-11)
    with pytest.raises(MechanicsError, match="does not project to"):
        reconstruct(reduced, motion, [0.0, 0.0, 0.0, 1.0])


def test_invariants_of_ones_own():
    """A second vertical sign convention, and a name that one likes better."""
    top = heavy_top.example(I2=1.1)
    made = quotient(find_symmetry(top), {
        "down_x": lambda s: -turn(s)["wx"], "down_y": lambda s: -turn(s)["wy"],
        "down_z": lambda s: -turn(s)["wz"]})
    assert "+ down_z g l m" in str(made.base)
    agree(top, made, 1e-12)
    with pytest.raises(MechanicsError, match="'east' is no invariant: the generator"):
        quotient(find_symmetry(top), {"east": lambda s: 1 - 2 * (s.q.qy ** 2 + s.q.qz ** 2)})


def test_what_is_no_polynomial_in_the_invariants_is_refused():
    body = lagrangian_system(special_orthogonal(), lambda s: (
        s.v.wx ** 2 + 2 * s.v.wy ** 2 + 3 * s.v.wz ** 2) / 2 - ca.exp(turn(s)["wx"]))
    found = symmetry(constrain(body), {"turn": turn})
    with pytest.raises(MechanicsError, match="the Lagrangian still depends on qx, .* no polynomial "
                                             "in the invariants z_x, z_y, z_z"):
        quotient(found)


def leaning(potential):
    """A body with a potential of gamma, and the turn about the vertical."""
    body = lagrangian_system(special_orthogonal(), lambda s: (
        s.v.wx ** 2 + 2 * s.v.wy ** 2 + 3 * s.v.wz ** 2) / 2 - potential(
            *(turn(s)[name] for name in WORLD)))
    return symmetry(constrain(body), {"turn": turn})


@pytest.mark.parametrize("potential", [
    lambda x, y, z: x ** 2 * y * z - 0.3 * z ** 3 + x * y, lambda x, y, z: z ** 4 / 3,
    lambda x, y, z: 1.7 * z ** 2 + 1e-8 * x, lambda x, y, z: 1 / 3 + y / 7])
def test_polynomials_of_up_to_the_fourth_degree_are_found(potential):
    """And small coefficients beside large ones."""
    found = leaning(potential)
    agree(found.constrained, reduced := quotient(found), 1e-12)
    energy, places = reduced.base.system, np.random.default_rng(2).normal(size=(4, 3))
    rest = ca.Function("rest", [energy.q], [ca.substitute(energy.lagrangian, energy.v, 0)])
    for gamma in places / np.linalg.norm(places, axis=1)[:, None]:
        assert float(rest(gamma)) == pytest.approx(-potential(*gamma), rel=1e-9, abs=1e-12)


def test_the_fifth_degree_is_refused():
    with pytest.raises(MechanicsError, match="no polynomial in the invariants z_x, z_y, z_z"):
        quotient(leaning(lambda x, y, z: x ** 5))


def test_what_hardly_changes_is_no_invariant_and_the_generator_is_named():
    """By a ten-millionth of it. Of several generators the one is named that changes it."""
    body = constrain(lagrangian_system(special_orthogonal(), lambda s: (
        s.v.wx ** 2 + 2 * s.v.wy ** 2 + 3 * s.v.wz ** 2) / 2))
    found = find_symmetry(body)
    assert found.names == tuple(f"turn of qx.. about {axis}" for axis in "xyz")
    about_z = symmetry(body, {"about z": found.generators[:, 2]})
    for unit in (1e-6, 1.0, 1e6):
        with pytest.raises(MechanicsError, match="'bent' is no invariant: the generator 'about z'"):
            quotient(about_z, {"bent": lambda s: unit * (1 + 1e-7 * s.q.qx)})
    for order in ("zxy", "xyz", "yzx"):
        given = {axis: found.generators[:, "xyz".index(axis)] for axis in order}
        with pytest.raises(MechanicsError, match="'z_x' is no invariant: the generator '[xy]'"):
            quotient(symmetry(body, given), {"z_x": lambda s: turn(s)["wx"]})


@pytest.mark.parametrize("unit", [1e-10, 1.0, 1e10])
def test_the_unit_of_a_generator_decides_nothing(unit):
    """Neither which basis it leaves alone, nor which functions, nor those that are found."""
    point = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2))
    along = {"x": lambda s: {"x": unit}}
    with pytest.raises(MechanicsError, match="'east' is no invariant: the generator 'x' changes"):
        quotient(symmetry(point, along), {"east": lambda s: s.q.x})
    with pytest.raises(MechanicsError, match="generator 'turn' changes \"x'\"; use body-fixed"):
        quotient(symmetry(point, {"turn": lambda s: {"x": -unit * s.q.y, "y": unit * s.q.x}}))
    body = constrain(lagrangian_system(special_orthogonal(), lambda s: (
        s.v.wx ** 2 + 2 * s.v.wy ** 2 + 3 * s.v.wz ** 2) / 2))
    turns = find_symmetry(body).generators
    found = symmetry(body, {"x": turns[:, 0], "y": turns[:, 1], "z": unit * turns[:, 2]})
    assert quotient(found).invariants.names == ()
    assert quotient(symmetry(body, {"z": unit * turns[:, 2]})).invariants.names == (
        "z_x", "z_y", "z_z")


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_the_unit_of_an_invariant_decides_nothing(unit):
    """Of a body that turns about the vertical, the distance of a point from it; rounding in it is
    no change, and a ten-millionth of an angle is one."""
    point = constrain(lagrangian_system(euclidean("x", "y", "a"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.a ** 2) / 2))
    turns = symmetry(point, {"turn": lambda s: {"x": -s.q.y, "y": s.q.x, "a": 1}})

    def away(s, share):
        x, y = (0.6 * s.q.x - 0.8 * s.q.y), (0.8 * s.q.x + 0.6 * s.q.y)
        return unit * (x ** 2 + y ** 2 + share * s.q.a)

    def steep(s, share):
        """Which is of very different sizes where it is tried."""
        return unit * ca.exp(20 / unit * away(s, share))

    for function in (away, steep):
        assert given_invariants(turns, {"r": lambda s: function(s, 0.0)}).names == ("r",)
        with pytest.raises(MechanicsError, match="'r' is no invariant: the generator 'turn'"):
            given_invariants(turns, {"r": lambda s: function(s, 1e-7)})


@pytest.mark.parametrize("unit", [1e-10, 1e10])
def test_the_base_is_found_with_generators_in_any_unit(unit):
    """Of Chaplygin's reduction, with speeds that nobody named."""
    made = chaplygin(symmetry(carriage(), {name: lambda s, of=of: {
        key: unit * value for key, value in of(s).items()} for name, of in SE2.items()}))
    assert made.base.system.algebroid.q_names == ("psi1", "psi2")
    assert made.base.system.algebroid.v_names == ("psi1'", "psi2'")
    np.testing.assert_allclose(
        made.equations().drift(0, [0.1, 0.2], [0.7, -0.4], [], made.base.parameters)[1],
        gibbs_appell(carriage(), ("psi1'", "psi2'")).drift(
            0, np.zeros(5), [0.7, -0.4], [], made.base.parameters)[1], rtol=1e-10, atol=1e-13)


def test_invariants_are_named_after_their_body():
    """The vertical, seen from a body beside another one that is not turned."""
    space = product(special_orthogonal("still_"), special_orthogonal("ball_"))

    def up(s):
        x, y, z, w = s.q.ball_qx, s.q.ball_qy, s.q.ball_qz, s.q.ball_qw
        return {"ball_wx": 2 * (x * z - y * w), "ball_wy": 2 * (y * z + x * w),
                "ball_wz": 1 - 2 * (x * x + y * y)}

    pair = constrain(lagrangian_system(space, lambda s: sum(
        (k + 1) * v ** 2 for k, v in enumerate(vars(s.v).values()))
        - up(s)["ball_wx"] * s.q.still_qx - up(s)["ball_wz"] ** 2))
    reduced = quotient(symmetry(pair, {"turn": up}))
    assert reduced.base.system.algebroid.q_names == (
        "still_qx", "still_qy", "still_qz", "still_qw", "ball_z_x", "ball_z_y", "ball_z_z")
    assert reduced.base.system.algebroid.quaternions == (0,)
    agree(pair, reduced, 1e-11)


def test_two_bodies_that_turn_together():
    """Nine invariants, what one body's axes are to the other's, besides the two verticals."""
    space = product(special_orthogonal("a_"), special_orthogonal("b_"))

    def up(s, name):
        x, y, z, w = (getattr(s.q, f"{name}_q{axis}") for axis in "xyzw")
        return (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y))

    def both(s):
        return {f"{name}_{speed}": part for name in "ab"
                for speed, part in zip(WORLD, up(s, name))}

    pair = constrain(lagrangian_system(space, lambda s: sum(
        (k + 1) * v ** 2 for k, v in enumerate(vars(s.v).values()))
        - up(s, "a")[0] * up(s, "b")[1] - up(s, "b")[2]))
    reduced = quotient(symmetry(pair, {"turn": both}))
    assert reduced.base.system.algebroid.q_names == tuple(
        f"{name}_z_{axis}" for name in "ab" for axis in "xyz")
    agree(pair, reduced, 1e-11)


def test_invariants_of_a_turn_in_the_plane():
    """A body on springs to the origin, which it sees ahead and to its left: its angle is a pair,
    and the spring's energy a polynomial of both."""
    def seen(s, sign):
        c, si = s.q._2, s.q._3
        return s.q.x * c + s.q.y * si if sign else s.q.y * c - s.q.x * si

    space = special_euclidean_2(embedded=True)
    body = constrain(lagrangian_system(product(space, euclidean("h")), lambda s: (
        3 * s.v.forward_speed ** 2 + 2 * s.v.lateral_speed ** 2 + s.v.yaw_rate ** 2 + s.v.h ** 2
        - 0.7 * (s.q.x ** 2 + s.q.y ** 2) - s.q.h * seen(s, True) ** 2 * seen(s, False))))

    def about_origin(s):
        return {"forward_speed": -seen(s, False), "lateral_speed": seen(s, True), "yaw_rate": 1}

    made = quotient(symmetry(body, {"turn": about_origin}), {
        "ahead": lambda s: seen(s, True), "left": lambda s: seen(s, False)})
    assert made.base.system.algebroid.q_names == ("h", "ahead", "left")
    agree(body, made, 1e-11)


# why a shipped system does not reduce by all the symmetry that is found
REASONS = ("none of the candidates is a symmetry", "needs an invariant basis of the fibre",
           "needs a Lagrangian", "no polynomial in the invariants")


@pytest.mark.parametrize("name", sampled(system_names(), 10))
def test_a_shipped_system_reduces_or_says_why_not(name):
    example = load_system(name)
    try:
        found = find_symmetry(example)
        reduced = quotient(found)
    except MechanicsError as error:
        assert any(reason in str(error) for reason in REASONS), error
        return
    space, constrained = reduced.base.system.algebroid, example.constrained
    assert space.nv == constrained.system.algebroid.nv
    if space.nq:
        space.check(reduced.base.configurations[:2])
    equations, rng = example.equations(), np.random.default_rng(5)
    base = reduced.equations(equations.names)
    for q in constrained.configurations[:3]:
        xi, u = rng.normal(size=len(equations.names)), rng.normal(size=constrained.system.u.numel())
        expected = equations.acceleration(0, q, xi, u, constrained.parameters).full()
        np.testing.assert_allclose(
            base.acceleration(0, reduced.place(q), xi, u, constrained.parameters).full(), expected,
            rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))
