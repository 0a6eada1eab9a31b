"""Steps along families of steady motions that are straight lines: how long they are, and how they
shorten where Newton's method does not reach the next member."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support import shipped

from nhmech import MechanicsError
from nhmech.analysis.equilibria import SteadyMotions, pitch_of
from nhmech.mechanics.algebroid import euclidean
from nhmech.mechanics.writing import constrain, lagrangian_system

FAR = 2 ** 6          # the shortest step of a family is this part of the way between two values


def spring(*names: str, push: float = 1.0) -> SteadyMotions:
    """x'' = push - x, and other coordinates that a spring holds at -2 x: equilibria are a line."""
    def lagrangian(s):
        rest = sum((getattr(s.q, name) + 2 * s.q.x) ** 2 for name in names)
        return (s.v.x ** 2 + sum(getattr(s.v, name) ** 2 for name in names) - s.q.x ** 2 - rest) / 2

    return SteadyMotions(constrain(lagrangian_system(
        euclidean("x", *names), lagrangian, inputs=("push",),
        force=lambda s: {"x": push * s.u.push})), inputs=["push"])


def reaching(motions: SteadyMotions, reach: float, monkeypatch) -> list[float]:
    """Lets `find` fail where x is to move farther than that; the values it is asked for."""
    find, asked = motions.find, []

    def found(q, xi, u, conditions):
        asked.append(conditions["q x"])
        if abs(conditions["q x"] - q[0]) > reach:
            raise MechanicsError("too far")
        return find(q, xi, u, conditions)

    monkeypatch.setattr(motions, "find", found)
    return asked


@pytest.mark.parametrize("start, end", [(100.0, 101.0), (101.0, 100.0), (-0.25, 0.25)])
def test_a_family_is_followed_in_steps_that_shrink_and_grow_by_two(start, end, monkeypatch):
    """To a sixty-fourth of the way between two values, and no farther; wherever the values are."""
    motions = spring()
    first = motions.find([start], [0.0], [start], {"q x": start})
    way = abs(end - start)
    asked = reaching(motions, way / FAR * 1.001, monkeypatch)
    last, = motions.family(first, "q x", [end])
    assert last.q[0] == pytest.approx(end, rel=1e-14, abs=0)
    assert last.u[0] == pytest.approx(end, rel=1e-12)
    # after each member the double step is tried once
    assert len(asked) <= 6 + 2 * FAR and {*np.sign(np.subtract(asked, start))} == {
        np.sign(end - start)}
    assert asked[:4] == pytest.approx(
        [start + (end - start) / 2 ** k for k in range(4)], rel=1e-14, abs=0)
    asked = reaching(motions, way / FAR * 0.999, monkeypatch)
    with pytest.raises(MechanicsError, match=f"followed to q x = {start:.9g} and not to {end:.9g}"):
        motions.family(first, "q x", [end])


@pytest.mark.parametrize("push", [1.0, -0.5])
@pytest.mark.parametrize("name, way", [("q x", 1.0), ("q y", -1.0), ("q z", -1.0)])
@pytest.mark.parametrize("step", [0.3, -0.3])
def test_steps_of_a_branch_have_the_length_that_is_given(name, way, step, push):
    """In x, y = z = -2 x and push u = x together, whose tangent is (1, -2, -2, 1 / push)."""
    motions = spring("y", "z", push=push)
    first = motions.find([0.4, -0.8, -0.8], np.zeros(3), [0.4 / push], {"q x": 0.4})
    members = motions.branch(first, name, step, 4)
    moved = way * step / np.sqrt(9 + 1 / push ** 2)
    for k, member in enumerate(members, 1):
        x = 0.4 + k * moved
        np.testing.assert_allclose(member.q, [x, -2 * x, -2 * x], rtol=0, atol=1e-12)
        assert member.u == pytest.approx([x / push], rel=1e-12) and member.family == 1


@pytest.mark.parametrize("halved", [0, 1, 3, 6, 7])
def test_a_step_of_a_branch_is_halved_where_newtons_method_fails(halved, monkeypatch):
    """Six times at most."""
    motions = spring()
    first, solve = motions.find([0.4], [0.0], [0.4], {"q x": 0.4}), motions.equations.solve
    reach = 0.2 / 2 ** halved * (1 + 1e-9)

    def solved(t, q, xi, u, conditions, across):
        if np.hypot(q[0] - first.q[0], u[0] - first.u[0]) > reach:
            raise MechanicsError("too far")
        return solve(t, q, xi, u, conditions, across)

    monkeypatch.setattr(motions.equations, "solve", solved)
    if halved > 6:
        with pytest.raises(MechanicsError, match="^too far$"):
            motions.branch(first, "q x", 0.2, 1)
        return
    member, = motions.branch(first, "q x", 0.2, 1)
    assert member.q[0] == pytest.approx(0.4 + 0.2 / 2 ** halved / np.sqrt(2), rel=1e-12)


def damped(drag: float) -> SteadyMotions:
    """x'' = push - drag x': any speed is steady, wherever it is."""
    return SteadyMotions(constrain(lagrangian_system(
        euclidean("x"), lambda s: s.v.x ** 2 / 2, inputs=("push",),
        force=lambda s: {"x": s.u.push - drag * s.v.x})), inputs=["push"])


@pytest.mark.parametrize("step", [0.3, -0.3])
def test_a_branch_of_speeds(step):
    motions = damped(0.75)
    first = motions.find([2.0], [0.4], [0.3], {"x'": 0.4})
    for k, member in enumerate(motions.branch(first, "x'", step, 4), 1):
        speed = 0.4 + k * step / np.sqrt(1 + 0.75 ** 2)
        assert member.xi == pytest.approx([speed], rel=1e-12) == member.v
        assert member.u == pytest.approx([0.75 * speed], rel=1e-12) and member.q == [2.0]


@pytest.mark.parametrize("start, step", [(-0.6, 0.15), (0.6, -0.15)])
def test_a_branch_goes_on_past_the_bottom_of_a_parabola(start, step):
    """push = x^2: the next member is at right angles to the tangent, one step along it."""
    motions = SteadyMotions(constrain(lagrangian_system(
        euclidean("x"), lambda s: s.v.x ** 2 / 2 - s.q.x ** 3 / 3, inputs=("push",),
        force=lambda s: {"x": s.u.push})), inputs=["push"])
    members = [motions.find([start], [0.0], [start ** 2], {"q x": start})]
    members += motions.branch(members[0], "q x", step, 8)
    x, push = (np.array([getattr(member, name)[0] for member in members]) for name in "qu")
    np.testing.assert_allclose(push, x ** 2, rtol=0, atol=1e-12)
    assert np.sign(x[-1]) == np.sign(step) and np.all(np.sign(np.diff(x)) == np.sign(step))
    tangents = np.column_stack([np.ones(8), 2 * x[:-1]]) / np.hypot(1, 2 * x[:-1])[:, None]
    along = np.sum(tangents * np.column_stack([np.diff(x), np.diff(push)]), axis=1)
    np.testing.assert_allclose(along, step, rtol=1e-9)


@pytest.mark.parametrize("inputs, conditions, says", [
    ((), {}, "of dimension 0, not 1: leave out a condition, or free an input"),
    (("a", "b"), {"q x": 0.0}, "of dimension 0, not 1: leave out a condition, or free an input"),
    (("a", "b"), {}, "of dimension 2, not 1: give further conditions")])
def test_what_is_no_branch_says_how_it_becomes_one(inputs, conditions, says):
    motions = SteadyMotions(constrain(lagrangian_system(
        euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2 - s.q.x ** 2 - s.q.y ** 2) / 2,
        inputs=("a", "b"), force=lambda s: {"x": s.u.a, "y": s.u.b})), inputs=inputs)
    start = motions.find([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    held = conditions | ({"q y": 0.0} if conditions else {})
    with pytest.raises(MechanicsError, match=f"under these conditions form a family {says}"):
        motions.branch(start, "q x", 0.1, 1, held)


@pytest.mark.parametrize("bent, halved", [
    (2.49, 0), (2.51, 1), (4.9, 1), (5.1, 2), (2.5 * FAR * 0.99, 6), (2.5 * FAR * 1.01, None),
    (np.inf, None)])
def test_a_step_that_newtons_method_leaves_by_half_is_halved(bent, halved, monkeypatch):
    """It may have come to another branch. What it goes grows with the square of the step."""
    motions = spring()
    first, solve = motions.find([0.4], [0.0], [0.4], {"q x": 0.4}), motions.equations.solve

    def solved(t, q, xi, u, conditions, across):
        square = (q[0] - first.q[0]) ** 2 + (u[0] - first.u[0]) ** 2
        return (*solve(t, q, xi, u, conditions, across)[:4], bent * square)

    monkeypatch.setattr(motions.equations, "solve", solved)
    if halved is None:
        with pytest.raises(MechanicsError, match="the branch turns too sharply for steps of 0.2; "
                                                 "start with shorter ones, or it meets another"):
            motions.branch(first, "q x", -0.2, 1)
        return
    member, = motions.branch(first, "q x", 0.2, 1)
    assert member.q[0] == pytest.approx(0.4 + 0.2 / 2 ** halved / np.sqrt(2), rel=1e-12)


# -- a vehicle whose wheel is uneven ---------------------------------------------------------------
@pytest.mark.parametrize("angle", [0.7, -2.0])
def test_an_uneven_wheel_is_held_at_its_angle_and_does_not_run_steadily(angle):
    """Its drive holds its mass beside the axle, m g x cos(angle + pitch), and the body leans until
    the whole is above the contacts."""
    plain = shipped("pendulum")
    vehicle = plain.with_parameters({"left_wheel.com_x": 0.01})
    q, place = vehicle.configuration(), plain.algebroid.q_names.index("left_wheel_joint.cos")
    q[place:place + 2] = np.cos(angle), np.sin(angle)
    motions, data = SteadyMotions(vehicle, vehicle.driven), vehicle.model.createData()
    found = motions.standing(q)
    assert motions.value(found, "left_wheel_joint angle") == pytest.approx(angle, abs=1e-12)
    com = pin.centerOfMass(vehicle.model, data, found.q)
    np.testing.assert_allclose(com[:2], vehicle.contact_points(found.q)[:, :2].mean(axis=0),
                               rtol=0, atol=1e-12)
    held = plain.parameters.values["left_wheel.mass"] * 9.81 * 0.01 * np.cos(
        angle + pitch_of(found.q))
    np.testing.assert_allclose(found.u, [-held, 0.0], rtol=0, atol=1e-12)
    assert motions.straight(0.0, found.q).residual < 1e-11
    with pytest.raises(MechanicsError, match="'pendulum' has no steady straight running: the mass "
                                             "of left_wheel_joint is not symmetric about the axle"):
        motions.straight(0.5)
    even = SteadyMotions(plain, plain.driven).straight(0.5)
    assert motions.equations.variations.system.u_names == ("left_wheel_joint", "right_wheel_joint")
    assert even.residual < 1e-11 and even.v[0] == pytest.approx(0.5, rel=1e-12)
