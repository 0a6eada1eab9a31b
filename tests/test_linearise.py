"""Outputs of a linearisation and their derivatives, where forces, speeds and time are any."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support import shipped

from nhmech import Ground, InputError
from nhmech.analysis import linearise
from nhmech.mechanics import constrain, euclidean, lagrangian_system

SPEEDS = ("left_wheel_joint", "right_wheel_joint")


def test_outputs_of_a_robot_on_a_slope():
    """Speeds of the base by those of its wheels, and the force across a wheel, which is a function
    of the second degree of the speeds and one of the first of the efforts and of the sine and
    cosine of the heading: their differences are exact."""
    vehicle = shipped("differential_drive", Ground(normal=(0.1, -0.2, 1.0)))
    row, xi, u = "left_wheel_joint/lateral", np.array([3.0, -1.7]), np.array([0.4, -0.9])
    outputs = ("yaw", "forward_speed", row, "yaw_rate", "right_wheel_joint", "lateral_speed")

    def at(yaw=0.6):
        return vehicle.configuration((0.4, -1.2, yaw))

    assert vehicle.speeds == SPEEDS
    linear = linearise(vehicle, at(), xi, u, outputs=outputs)
    assert linear.names == ("yaw", *SPEEDS) and linear.outputs == outputs
    assert linear.output_units == ("rad", "m/s", "N", "rad/s", "rad/s", "m/s")
    assert linear.inputs == vehicle.constrained.system.u_names
    radius = vehicle.contacts[0].mount.wheel.radius
    places = dict(zip(vehicle.contact_names, vehicle.contact_points(vehicle.configuration())))
    track = np.linalg.norm(places[SPEEDS[0]] - places[SPEEDS[1]])
    place = vehicle.frame.kept.index(vehicle.constrained.distribution.names.index(row))

    def force(yaw=0.6, xi=xi, u=u):
        return float(vehicle.equations.multipliers(0.0, at(yaw), xi, u, vehicle.theta)[place])

    unit = np.eye(2)
    expected = {
        "yaw": [1, 0, 0], "right_wheel_joint": [0, 0, 1], "lateral_speed": [0, 0, 0],
        "forward_speed": [0, radius / 2, radius / 2],
        "yaw_rate": [0, -radius / track, radius / track],
        row: [(force(0.6 + np.pi / 2) - force(0.6 - np.pi / 2)) / 2,
              *((force(xi=xi + e) - force(xi=xi - e)) / 2 for e in unit)]}
    size = abs(force())
    for name, C, D in zip(outputs, linear.C, linear.D):
        np.testing.assert_allclose(C, expected[name], rtol=1e-9, atol=1e-12 * size)
        through = [force(u=u + e) - force(u=u) for e in unit] if name == row else [0, 0]
        np.testing.assert_allclose(D, through, rtol=1e-9, atol=1e-12 * size)
    # without efforts they are zero
    idle, zero = (linearise(vehicle, at(), xi, effort, outputs=outputs)
                  for effort in (None, np.zeros(2)))
    np.testing.assert_array_equal(idle.C, zero.C)
    assert np.abs(idle.C - linear.C).max() < 1e-9 * size      # efforts act along the heading alone


def test_multipliers_of_a_system_without_wheels_have_no_unit():
    """A pendulum that swings on x^2 + y^2 = 1 at its lowest point: 2 lambda = 9.81 + x'^2."""
    swing = constrain(
        lagrangian_system(euclidean("x", "y", units=("m/s", "")), lambda s: (
            s.v.x ** 2 + s.v.y ** 2) / 2 - 9.81 * s.q.y), samples=[[0.0, -1.0]],
        holonomic={"rod": lambda s: s.q.x ** 2 + s.q.y ** 2 - 1})
    found = linearise(swing, [0.0, -1.0], [0.7], outputs=("rod", "x'", "y'"))
    assert found.output_units == ("", "m/s", "") and found.units == ("m", "m/s")
    np.testing.assert_allclose(np.abs(found.C[0]), [0, 0.7], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.C[1:], [[0, 1], [0.7, 0]], rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="output 'rope' does not exist"):
        linearise(swing, [0.0, -1.0], [0.7], outputs=("x'", "rope"))


@pytest.mark.parametrize("t", [0.0, 0.3, 2.0])
def test_stiffness_and_damping_at_their_time(t):
    """x'' = -(1 + t) x - sin(t) x' + cos(t) push, moving."""
    system = lagrangian_system(
        euclidean("x"), lambda s: s.v.x ** 2 / 2, inputs=("push",),
        force=lambda s: {"x": -(1 + s.t) * s.q.x - ca.sin(s.t) * s.v.x + ca.cos(s.t) * s.u.push})
    linear = linearise(constrain(system), [0.4], [0.6], [0.9], t)
    np.testing.assert_allclose(linear.A, [[0, 1], [-(1 + t), -np.sin(t)]], rtol=1e-14)
    np.testing.assert_allclose(linear.B, [[0], [np.cos(t)]], rtol=1e-14)
    np.testing.assert_allclose(
        linear.drift, [-(1 + t) * 0.4 - np.sin(t) * 0.6 + np.cos(t) * 0.9], rtol=1e-13)
    assert repr(linear) == "Linearisation(names=('x', \"x'\"), inputs=('push',))"


def test_directions_of_symmetry_are_left_out_unless_they_are_wanted():
    vehicle = shipped("differential_drive")
    left_out, kept = (linearise(vehicle, vehicle.configuration(), [1.0, 2.0], ignorable=wanted)
                      for wanted in (False, True))
    assert linearise(vehicle, vehicle.configuration(), [1.0, 2.0]).names == left_out.names == SPEEDS
    assert len(kept.names) == 2 + 5 and kept.names[-2:] == tuple(f"{name}'" for name in SPEEDS)
    # a displacement turns against the base, whose yaw rate is 0.1 / 0.44 of the wheels' difference
    turning = 1j * 0.1 / 0.44 * np.array([-1, 1])
    for value in (*left_out.eigenvalues, *turning):
        assert np.abs(kept.eigenvalues - value).min() < 1e-12
    for one in (left_out, kept):
        assert np.all(np.diff(one.eigenvalues.real) <= 0)
