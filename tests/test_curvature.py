"""Curvature of the connection: closed forms, and the displacement that a small loop of the joints
leaves."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import shipped

from nhmech.analysis.curvature import Curvature, connection_curvature, describe_curvature
from nhmech.analysis.structure import structure
from nhmech.errors import InputError
from nhmech.mechanics import LieAlgebroid, constrain, euclidean, lagrangian_system
from nhmech.systems import load_system
from nhmech.systems.vertical_disk import example as vertical_disk


@pytest.mark.parametrize("name", ["carriage", "differential_drive"])
def test_two_wheels_on_an_axle(name):
    """X_l, X_r = (r/2, 0, -+ r/track) in (forward, sideways, yaw), [e_forward, e_yaw] =
    -e_sideways: B = -r^2 / track, sideways."""
    vehicle = shipped(name)
    left, right = (next(c for c in vehicle.contacts
                        if c.name == f"{side}_wheel_joint") for side in ("left", "right"))
    points = dict(zip(vehicle.contact_names, vehicle.contact_points(vehicle.configuration())))
    track, r = np.linalg.norm(points[left.name] - points[right.name]), left.mount.wheel.radius
    found = connection_curvature(vehicle)
    sideways = found.component("lateral_speed", left.name, right.name)
    assert not found.flat and sideways == pytest.approx(-r ** 2 / track, rel=1e-12, abs=0)
    assert {of for of, _, _ in found.components} == {"lateral_speed"}
    assert describe_curvature(found) == (f"a small loop in {left.name} and {right.name} shifts the "
                                         f"base: sideways {-r ** 2 / track:.4g} m/rad^2")


@pytest.mark.parametrize("angle", [0.0, 0.5, -1.2])
def test_tricycle(angle):
    """Driven front wheel: X_w = (r cos, 0, r sin / L) and X_steer = 0 on the base,
    so that B(steer, w) = (-r sin, 0, r cos / L)."""
    vehicle = shipped("tricycle")
    straight = vehicle.steering.steered[0].straight
    wheelbase = straight[2] / straight[1] * vehicle.steering.length
    r = next(c for c in vehicle.contacts if c.name == "front_wheel_joint").mount.wheel.radius
    found = structure(vehicle,
                      vehicle.configuration((0.3, 0.2, 0.9), {"steering_joint": angle})).curvature
    seen = [found.component(name, "steering_joint", "front_wheel_joint")
            for name in ("forward_speed", "lateral_speed", "yaw_rate")]
    np.testing.assert_allclose(seen, [-r * np.sin(angle), 0, r * np.cos(angle) / wheelbase],
                               rtol=1e-12, atol=1e-15)


def test_textbook_systems():
    """Unicycle: (x', y') = R (cos, sin)(theta1) theta2', so B(theta1, theta2) = R (-sin, cos);
    snakeboard: u = -r cot(back) yaw', B = -r / sin^2(back)."""
    R, q = 0.35, np.array([0.3, -0.2, 0.7, 1.1])
    disk = vertical_disk(R=R).constrained
    found = connection_curvature(disk, q)
    heading = q[disk.system.algebroid.v_names.index("theta1'")]
    values = [found.component(name, "theta1'", "theta2'") for name in ("x'", "y'")]
    np.testing.assert_allclose(values, R * np.array([-np.sin(heading), np.cos(heading)]),
                               rtol=1e-12)

    board = load_system("snakeboard").constrained
    q = np.array([0.1, 0.2, 0.4, 0.3, 0.6, -0.6])
    found = connection_curvature(board, q, base=("rotor", "yaw_rate", "back"))
    assert found.component("forward_speed", "yaw_rate",
                           "back") == pytest.approx(-0.2 / np.sin(0.6) ** 2, rel=1e-12, abs=0)
    assert found.component("forward_speed", "rotor", "yaw_rate") == 0


def velocity(vehicle, q, rates: dict[str, float]) -> np.ndarray:
    """v with A v = 0 and the given joint rates, by least squares."""
    A = vehicle.functions.constraints(0.0, q, vehicle.theta)[0].full()
    top = np.zeros((len(rates), A.shape[1]))
    top[range(len(rates)), [vehicle.algebroid.v_names.index(name) for name in rates]] = 1
    return np.linalg.lstsq(np.vstack([top, A]), np.r_[list(rates.values()), np.zeros(len(A))],
                           rcond=1e-12)[0]


def after_a_loop(vehicle, q, first: str, second: str, base: tuple[str, ...],
                 size: float) -> np.ndarray:
    """Displacement (nv,) after `size` along first, then second, and both back;
    Runge-Kutta steps on the configuration's group."""
    start = q
    for name, sign in ((first, 1), (second, 1), (first, -1), (second, -1)):
        rates = {other: sign * size * (other == name) for other in base}
        for _ in range(4):
            h, k = 0.25, [velocity(vehicle, q, rates)]
            for part in (0.5, 0.5, 1.0):
                k.append(velocity(vehicle, pin.integrate(vehicle.model, q, part * h * k[-1]),
                                  rates))
            q = pin.integrate(vehicle.model, q, h * (k[0] + 2 * k[1] + 2 * k[2] + k[3]) / 6)
    return pin.difference(vehicle.model, start, q)


@pytest.mark.parametrize("name, joints",
                         [("ackermann_car", {"front_left_steering_joint": 0.3}), ("mecanum", {}),
                                          ("swerve",
                                           {"front_left_steering_joint": 0.4,
                                            "rear_left_steering_joint": -0.3})])
def test_what_a_small_loop_leaves(name, joints):
    """B times the area, to second order in the size: the mean over loops of both signs has no
    third-order part."""
    vehicle = shipped(name)
    q, size = vehicle.configuration((0.0, 0.0, 0.4), joints), 4e-3
    found = connection_curvature(vehicle, q)
    below, above = found.base, [vehicle.algebroid.v_names.index(of) for of in found.fibre]
    for i, first in enumerate(below):
        for j, second in enumerate(below[:i]):
            moved = (after_a_loop(vehicle, q, first, second, below, size)
                     + after_a_loop(vehicle, q, first, second, below, -size)) / 2
            np.testing.assert_allclose(moved[above] / size ** 2, found.values[:, i, j],
                                       atol=3e-5 * max(1, np.abs(found.values).max()))


def test_where_there_is_none_and_where_it_is_flat():
    pendulum = shipped("pendulum")
    assert connection_curvature(pendulum) is None and "not defined" in describe_curvature(
        structure(pendulum).curvature
    )
    assert connection_curvature(load_system("capri_kobayashi").constrained).flat
    found = connection_curvature(shipped("carriage"))
    with pytest.raises(InputError, match="'pitch' does not exist"):
        found.component("pitch", *found.base)


def test_the_loop_that_shifts_most_is_told_first():
    values = np.zeros((2, 3, 3))
    for (i, j), shifts in {(0, 1): (1.0, -1.0), (0, 2): (0.1, -3.0)}.items():
        values[:, i, j], values[:, j, i] = shifts, np.negative(shifts)
    units = dict.fromkeys("abcxy", "rad/s")
    text = describe_curvature(Curvature(("a", "b", "c"), ("x", "y"), units, values, False))
    assert text.index("loop in a and c") < text.index("loop in a and b")
    assert "more pairs" in describe_curvature(
        Curvature(("a", "b", "c"), ("x", "y"), units, values, False), most=1)


@pytest.mark.parametrize("units, unit", [
    (("rad/s", "rad/s"), "m/rad^2"), (("rad/s", "m/s"), "m/(rad m)"), (("rad/s", ""), "m/rad"),
    (("", "rad/s"), "m/rad"), (("", ""), "m")])
def test_the_unit_of_a_loop_is_that_of_the_fibre_by_both_of_the_base(units, unit):
    values = np.array([[[0, 0.5], [-0.5, 0]]])
    found = Curvature(("a", "b"), ("x",), dict(zip("abx", (*units, "m/s"))), values, False)
    assert describe_curvature(found) == f"a small loop in a and b shifts x 0.5 {unit}"


@pytest.mark.parametrize("rounding", [1e-16, -1e-16])
def test_of_equal_shifts_the_first_pair_comes_first(rounding):
    values = np.zeros((1, 3, 3))
    values[0, 0, 1:], values[0, 1:, 0] = (0.3, 0.3 + rounding), (-0.3, -0.3 - rounding)
    units = dict.fromkeys("abcx", "rad/s")
    text = describe_curvature(Curvature(("a", "b", "c"), ("x",), units, values, False), most=1)
    assert text.startswith("a small loop in a and b shifts x 0.3")


# -- z' = f x' + g y' over x and y: B is dg/dx - df/dy, up to a sign ------------------------------
def over_the_plane(f, g=lambda q: 0, **options):
    space = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    return constrain(space, **options, rows={
        "row": lambda s: s.v.z - f(s.q) * s.v.x - g(s.q) * s.v.y})


def test_curvature_counts_from_a_billionth_on():
    """Of f = c y: c, where no lift is larger than 1."""
    for c, is_flat in ((0.995e-9, True), (1.005e-9, False)):
        found = connection_curvature(over_the_plane(lambda q, c=c: c * q.y), np.zeros(3),
                                     base=("x", "y"))
        assert found.flat is is_flat
        assert abs(found.component("z'", "x'", "y'")) == pytest.approx(c, rel=1e-12, abs=0)


def test_components_count_relative_to_the_largest_above_one():
    for large, small in ((0.5, 1e-9), (4.0, 4e-9), (1e7, 1e-2)):
        for factor, is_seen in ((0.995, False), (1.005, True)):
            values = np.zeros((2, 2, 2))
            for i, value in enumerate((large, -factor * small)):
                values[i] = [[0, value], [-value, 0]]
            found = Curvature(("a", "b"), ("x", "y"), dict.fromkeys("abxy", "m/s"), values, False)
            assert found.components == {("x", "a", "b"): large} | (
                {("y", "a", "b"): -factor * small} if is_seen else {})


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e5])
def test_flat_is_what_is_so_everywhere_up_to_rounding_of_the_lifts(size):
    """f dx + g dy = size d(sin(1000 x y) / 1000), and size (2 + y^2) dx, which is none at y = 0,
    the first sample."""
    def slope(x, y):
        return size * ca.cos(1e3 * x * y)

    exact = connection_curvature(over_the_plane(lambda q: slope(q.x, q.y) * q.y,
                                                lambda q: slope(q.x, q.y) * q.x), base=("x", "y"))
    assert exact.flat and np.abs(exact.values).max() < 1e-11 * size
    samples = np.random.default_rng(0).normal(size=(8, 3))
    samples[0, 1] = 0.0
    bent = connection_curvature(over_the_plane(lambda q: size * (2 + q.y ** 2), samples=samples),
                                base=("x", "y"))
    assert not bent.flat and not bent.components
    assert describe_curvature(bent) == "zero here, not elsewhere"


def test_the_fibre_is_asked_at_all_samples_whether_brackets_leave_it():
    """[e_y, e_z] = 2 y e_x, which is none where y = 0: e_x = d/dx, e_y = d/dy and
    e_z = y^2 d/dx + d/dz."""
    q = ca.vertcat(*map(ca.SX.sym, "xyz"))
    structure = [ca.SX(3, 3) for _ in range(3)]
    structure[0][1, 2], structure[0][2, 1] = 2 * q[1], -2 * q[1]
    anchor = ca.SX.eye(3)
    anchor[0, 2] = q[1] ** 2
    space = LieAlgebroid(q, tuple("xyz"), ("a", "b", "c"), ("",) * 3, anchor, tuple(structure))
    system = lagrangian_system(space, lambda s: (s.v.a ** 2 + s.v.b ** 2 + s.v.c ** 2) / 2)
    samples = np.random.default_rng(0).normal(size=(8, 3))
    samples[0, 1] = 0.0
    rows = {"b": lambda s: s.v.b - s.q.z * s.v.a, "c": lambda s: s.v.c - s.q.y * s.v.a}
    assert connection_curvature(constrain(system, rows=rows, samples=samples), base=("a",)) is None
    rows = {"a": lambda s: s.v.a - s.q.z * s.v.b}
    assert connection_curvature(constrain(system, rows=rows, samples=samples),
                                base=("b", "c")) is not None


def test_the_base_is_that_of_the_speeds_unless_it_is_named():
    """A tricycle over its steering and one of its rear wheels, at (0, y): X_w = (1, 0,
    tan(angle) / L) r / (1 - y tan(angle) / L)."""
    vehicle, angle = shipped("tricycle"), 0.4
    q = vehicle.configuration(None, {"steering_joint": angle})
    assert connection_curvature(vehicle, q).base == vehicle.speeds
    base = ("rear_left_wheel_joint", "steering_joint")
    found = connection_curvature(vehicle, q, base=base)
    assert set(found.base) == set(base)
    wheel = next(c for c in vehicle.contacts if c.name == base[0])
    r, y = wheel.mount.wheel.radius, vehicle.contact_points(vehicle.configuration())[
        vehicle.contact_names.index(base[0])][1]
    straight = vehicle.steering.steered[0].straight
    wheelbase = straight[2] / straight[1] * vehicle.steering.length
    slope, change = np.tan(angle) / wheelbase, 1 / np.cos(angle) ** 2 / wheelbase
    part = 1 - y * slope
    for name, rate in (("forward_speed", r * y * change / part ** 2),
                       ("yaw_rate", r * change / part ** 2)):
        assert found.component(name, "steering_joint", base[0]) == pytest.approx(rate, rel=1e-9)
    chosen = shipped("tricycle", speeds=("steering_joint", "rear_right_wheel_joint"))
    assert set(connection_curvature(chosen).base) == set(chosen.speeds) == {
        "steering_joint", "rear_right_wheel_joint"}
