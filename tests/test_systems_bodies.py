"""Rigid bodies and knife edges of the literature: their symmetries, and what is left of them."""

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nhmech.errors import MechanicsError
from nhmech.mechanics import action_algebroid, chaplygin, find_symmetry, quotient, symmetry
from nhmech.systems import (
    elroys_beanie,
    heavy_top,
    heisenberg_drift,
    knife_edge_on_incline,
    knife_edge_on_turning_incline,
    load_system,
    rattleback,
    suslov,
    torus_coin,
    veselova_sphere,
)


def test_suslov_reduces_to_so3():
    """Its symmetry is all of SO(3); what is left has no configuration, and the same accelerations
    at every attitude."""
    example = load_system("suslov")
    found = find_symmetry(example.constrained)
    assert len(found.names) == 3 and found.kind == "general"
    reduced = quotient(found).equations(("wx", "wy"))
    assert reduced.frame.constrained.system.algebroid.nq == 0
    full, rng = example.equations(), np.random.default_rng(2)
    for q in example.constrained.configurations[:4]:
        w, theta = rng.normal(size=2), example.constrained.parameters
        np.testing.assert_allclose(reduced.acceleration(0, [], w, [], theta).full(),
                                   full.acceleration(0, q, w, [], theta).full(), atol=1e-14)


def test_a_body_without_products_of_inertia_turns_on_and_on():
    """Suslov's omega is then constant."""
    made = suslov.example(I13=0.0, I23=0.0)
    theta, q = made.constrained.parameters, made.constrained.configurations[0]
    assert np.abs(made.equations().drift(0, q, [0.7, -1.1], [], theta)[1].full()).max() < 1e-15


def test_the_top_has_the_symmetries_of_lagrange_and_of_euler():
    assert len(find_symmetry(heavy_top.example().constrained).names) == 2
    asymmetric = find_symmetry(heavy_top.example(I2=1.1).constrained)
    assert asymmetric.names == ("turn of qx.. about z",) and asymmetric.kind == "horizontal"
    free = find_symmetry(heavy_top.example(I2=1.1, g=0.0).constrained)
    assert len(free.names) == 3


@pytest.mark.parametrize("module", [knife_edge_on_incline, knife_edge_on_turning_incline])
def test_the_knife_edge_reduces_across_the_slope(module):
    example = module.example()
    reduction = chaplygin(symmetry(example.constrained, example.generators))
    assert reduction.base.system.algebroid.q_names == ("x", "phi")
    full, base, rng = example.equations(), reduction.equations(), np.random.default_rng(5)
    for x, y, phi in example.constrained.configurations[:5]:
        speeds, theta = rng.normal(size=2), example.constrained.parameters
        np.testing.assert_allclose(
            base.drift(0, [x, phi], speeds, [], theta)[1].full(),
            full.drift(0, [x, y, phi], speeds, [], theta)[1].full(), rtol=1e-11, atol=1e-12)


def test_the_snake_is_moved_by_its_shape():
    """SE(2) is purely kinematic: the joints are the base, and joint torques alone drive it."""
    example = load_system("wheeled_snake")
    found = find_symmetry(example)
    assert found.kind == "purely kinematic" and len(found.names) == 3
    reduction = chaplygin(found, ("back", "front"))
    assert reduction.base.system.algebroid.q_names == ("back", "front")
    full, base, rng = example.equations(), reduction.equations(), np.random.default_rng(3)
    for q in example.constrained.configurations[:4]:
        xi, u, theta = rng.normal(size=2), rng.normal(size=2), example.constrained.parameters
        np.testing.assert_allclose(base.drift(0, q[3:], xi, u, theta)[1].full(),
                                   full.drift(0, q, xi, u, theta)[1].full(), rtol=1e-10)


def test_the_snake_is_locked_in_a_straight_line():
    """The three rows lose no rank there, but the joints no longer determine the motion."""
    example = load_system("wheeled_snake")
    rows = example.constrained.constraint_function()
    A = rows(0, [0.0, 0, 0, 0, 0], example.constrained.parameters)[0].full()
    assert np.linalg.matrix_rank(A) == 3 and np.linalg.matrix_rank(A[:, :3]) == 2


def test_a_rattleback_is_placed_on_the_plane_below_its_mass():
    """No point of the ellipsoid is below z = 0 and one is on it; its centre is h above the centre
    of mass, which is above the origin."""
    p, rng = dict(a=0.2, b=0.03, c=0.02, h=0.01), np.random.default_rng(8)
    axes = np.array([p["a"], p["b"], p["c"]])
    for roll, pitch, yaw in rng.uniform(-0.5, 0.5, (4, 3)):
        q = rattleback.place(roll, pitch, yaw, p)
        assert np.array_equal(q[:2], (0.0, 0.0))
        R = Rotation.from_quat(q[3:]).as_matrix()
        np.testing.assert_allclose(
            R, (Rotation.from_rotvec((0, 0, yaw)) * Rotation.from_rotvec((roll, 0, 0))
                * Rotation.from_rotvec((0, pitch, 0))).as_matrix(), rtol=0, atol=1e-15)

        def height(way) -> np.ndarray:
            return q[2] + (p["h"] * np.array([0, 0, 1]) + axes * way) @ R[2]

        ways = rng.normal(size=(1000, 3))
        assert height(ways / np.linalg.norm(ways, axis=1)[:, None]).min() >= 0
        # where the tangent plane is level
        lowest = -axes * R[2] / np.linalg.norm(axes * R[2])
        assert abs(height(lowest)) < 1e-16


def test_elroys_beanie_turns_by_its_shape_alone():
    """Without momentum, theta = theta_0 - I2 / (I1 + I2) (psi - psi_0): the mechanical
    connection."""
    example = elroys_beanie.example()
    m, I1, I2, _ = example.constrained.parameters
    planar = symmetry(example, {
        "x": lambda s: {"forward_speed": ca.cos(s.q.yaw), "lateral_speed": -ca.sin(s.q.yaw)},
        "y": lambda s: {"forward_speed": ca.sin(s.q.yaw), "lateral_speed": ca.cos(s.q.yaw)},
        "turn": lambda s: {"forward_speed": s.q.x * ca.sin(s.q.yaw) - s.q.y * ca.cos(s.q.yaw),
                           "lateral_speed": s.q.x * ca.cos(s.q.yaw) + s.q.y * ca.sin(s.q.yaw),
                           "yaw_rate": 1}})
    assert planar.kind == "horizontal"
    shape = quotient(planar).equations()
    assert shape.frame.constrained.system.algebroid.q_names == ("psi",)
    swing = shape.acceleration(0, [0.4], [0.0, 0.0, -0.3, 1.5], [], example.constrained.parameters)
    assert float(swing[3]) == pytest.approx(-0.9 * 0.4 * (I1 + I2) / (I1 * I2), rel=1e-12)
    assert float(swing[2]) == pytest.approx(0.9 * 0.4 / I1, rel=1e-12)


def test_a_ball_of_equal_moments_on_veselovas_sphere_goes_round():
    """With I1 = I2 = I3 the angular velocity is constant: gamma turns about it."""
    made = veselova_sphere.example((1.2, 1.2, 1.2))
    theta = made.constrained.parameters
    for gamma in made.constrained.configurations[:4]:
        a = made.equations().acceleration(0, gamma, [0.4, -0.8], [], theta).full()
        assert np.abs(a).max() < 1e-13
    with pytest.raises(MechanicsError, match="none of the candidates is a symmetry"):
        find_symmetry(load_system("veselova_sphere"))


@pytest.mark.paper("004 affine")
def test_drift_is_reduced_by_the_translation():
    """z' = y x' - x y' + c: the base (x, y) moves as in Newton's equations of the docstring, where
    the drift c plays no part; the quotient says the same with its row."""
    example = heisenberg_drift.example()
    along = symmetry(example, {"z": lambda s: {"z": 1}})
    assert quotient(along).base.system.algebroid.q_names == ("x", "y")
    reduced, f = chaplygin(along), dict(zip(example.constrained.system.theta_names,
                                            example.constrained.parameters))["f"]
    x, y = 0.7, -0.4
    found = reduced.equations().drift(0, [x, y], [0.3, 0.9], [], example.constrained.parameters)[1]
    force = f * y / (1 + x ** 2 + y ** 2)
    np.testing.assert_allclose(found.full().ravel(), [f - force * y, force * x], rtol=1e-12)


def test_a_sharp_torus_is_the_disc():
    disc, coin = load_system("falling_disc"), torus_coin.example(2.0, 0.3, crown=0.0)
    assert set(find_symmetry(coin).names) >= {"d/dx", "d/dy", "d/du2"}
    rng = np.random.default_rng(4)
    for q in disc.constrained.configurations[:5]:
        xi = rng.normal(size=3)
        found, expected = (made.equations().acceleration(
            0, q, xi, [], made.constrained.parameters).full()[2:] for made in (coin, disc))
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.paper("002 action")
def test_fields_that_are_no_action_are_refused():
    """The other sign turns gamma the other way round, with the brackets of minus so(3)."""
    with pytest.raises(MechanicsError, match="anchor morphism"):
        action_algebroid("so(3)", ("a", "b", "c"), lambda q: -ca.skew(q))
