"""Reduction where the invariants are no entries of q: what is left lives on action algebroids."""

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support import sampled

from nhmech.errors import MechanicsError
from nhmech.mechanics import (
    casimirs,
    chaplygin,
    constrain,
    find_symmetry,
    gibbs_appell,
    lagrangian_system,
    nonholonomic_bracket,
    quotient,
    reconstruct,
    run_reduced,
    special_orthogonal,
    symmetry,
)
from nhmech.systems import heavy_top, load_system, system_names
from nhmech.systems.example import solve

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
    np.testing.assert_allclose(np.linalg.norm(motion.r, axis=1), 1, atol=1e-11)
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
