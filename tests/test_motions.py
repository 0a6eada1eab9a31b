"""The motions that constraints leave, and what of them is left out as no variable."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support import joint, link, shipped
from test_ignorable import cart

from nhmech import MechanicsError
from nhmech.analysis import linearise
from nhmech.analysis.motions import kernel, motions
from nhmech.mechanics import constrain, euclidean, lagrangian_system


def test_followers_and_wheels_are_no_variables():
    """The right wheel of a steered axle follows the left one, and a joint that mimics another."""
    found = motions(shipped("ackermann_car"))
    assert found.variables == ("x", "y", "yaw", "front_left_steering_joint")
    assert set(found.left_out) == {"front_right_steering_joint", *(
        f"{end}_{side}_wheel_joint" for end in ("front", "rear") for side in ("left", "right"))}
    mimic = '<mimic joint="lead" multiplier="-2"/>'
    arms = [link("one", 0.5, com=(0.1, 0, 0.1)), joint("lead", "base", "one", (-0.1, 0, 0.3)),
            link("two", 0.5, com=(0.1, 0, 0.1)), joint("follow", "base", "two", (-0.1, 0.1, 0.3),
                                                       more=mimic)]
    made = cart(more=arms, free=("lead",))
    found, everything = motions(made), motions(made, wheel_angles=True)
    assert found.variables == ("x", "y", "yaw", "lead") and found.dimension == 4
    assert set(found.left_out) == {"left_joint", "right_joint", "follow"}
    assert everything.left_out == () and set(everything.variables) == {
        *found.variables, *found.left_out}
    assert everything.variables[:3] == ("x", "y", "yaw") and everything.variables[-1] == "follow"
    # what is left out is at rest in the sections and in the tangent space
    out = [made.algebroid.v_names.index(name) for name in found.left_out]
    assert not found.at_points()[:, out].any() and not found.tangent[:, out].any()
    assert found.tangent.shape == (len(found.points), made.algebroid.nv, 4)


@pytest.mark.parametrize("angle", [0.0, np.pi / 2])
def test_motions_at_a_place_have_speeds_that_serve_there(angle):
    """Of a swerve drive whose wheels are straight, and across, where those that it was loaded with
    do not determine the motion."""
    swerve = shipped("swerve")
    q = swerve.configuration()
    for i, name in enumerate(swerve.algebroid.q_names):
        if name.endswith("steering_joint"):
            q[i] = angle
    found = motions(swerve, q=q, wheel_angles=True)
    (E,) = found.at_points()
    np.testing.assert_allclose(swerve.constraint_matrix(q) @ E, 0, atol=1e-9 * np.abs(E).max())
    assert np.linalg.cond(E) < 1e3
    assert found.points.shape[0] == len(found.tangent) == 1


@pytest.mark.parametrize("find", [lambda vehicle, q: linearise(vehicle, q, np.zeros(2)),
                                  lambda vehicle, q: motions(vehicle, q=q)])
def test_a_place_where_one_contact_alone_is_off_the_ground_is_refused(find):
    """Pitched about the axle of the wheels."""
    vehicle = cart()
    q = vehicle.configuration(pose=(0, 0, 0.1, 0, 1e-3, 0))
    q[:7] = [0, 0, 0.1, 0, np.sin(5e-4), 0, np.cos(5e-4)]
    with pytest.raises(MechanicsError, match="not on the holonomic manifold"):
        find(vehicle, q)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_kernel_of_forms_is_the_same_in_any_unit(unit):
    """Of two rows and their sum; and of no rows, all vectors."""
    rows = np.random.default_rng(0).normal(size=(2, 5))
    forms = unit * np.vstack([rows, rows[0] + rows[1]])
    found = kernel(forms)
    assert found.shape == (5, 3) and np.abs(forms @ found).max() <= 1e-14 * unit
    np.testing.assert_allclose(found.T @ found, np.eye(3), rtol=0, atol=1e-14)
    assert np.array_equal(kernel(unit * np.zeros((0, 5))), np.eye(5))


def test_samples_where_constraints_lose_rank_are_passed_over():
    """x y = 0 at the origin: two lines cross."""
    plane = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    samples = np.array([[0.0, x, x - 1] for x in (0.0, 0.5, 1, 2, 3, -1, -2, -3)])
    cross = constrain(plane, holonomic={"cross": lambda s: s.q.x * s.q.y}, samples=samples)
    found = motions(cross)
    assert found.variables == ("y", "z") and found.tangent.shape == (len(found.points), 3, 2)
    np.testing.assert_array_equal(found.points, cross.configurations[1:])


def test_what_depends_on_time_is_held_at_the_time_that_is_asked_for():
    """z' = cos(t) x' + p y'."""
    system = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2, parameters=("p",))
    made = constrain(system, {"p": 0.3}, rows={
        "row": lambda s: s.v.z - ca.cos(s.t) * s.v.x - s.p.p * s.v.y})
    for t in (0.0, 0.7):
        for E in motions(made, t=t).at_points():
            np.testing.assert_allclose([-np.cos(t), -0.3, 1] @ E, 0, atol=1e-12)


def test_the_first_coordinates_that_tell_the_others_are_the_variables():
    """On a plane, and on a line, in general position."""
    space = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    one, two = (lambda s: s.q.x + 2 * s.q.y - 3 * s.q.z), (lambda s: 2 * s.q.x - s.q.y + s.q.z)
    assert motions(constrain(space, holonomic={"one": one})).variables == ("x", "y")
    assert motions(constrain(space, holonomic={"one": one, "two": two})).variables == ("x",)
    level = {"level": lambda s: s.q.x}
    assert motions(constrain(space, holonomic=level)).variables == ("y", "z")
