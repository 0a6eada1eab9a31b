"""The plane geometry of axles: a wheel at (x, y) with its heading turned by g does not move along
its axle, (-sin g, cos g), and all lengths are in units of the vehicle's."""

from __future__ import annotations

from dataclasses import replace
from math import atan, inf, pi, tan

import casadi as ca
import numpy as np
import pytest
from support import shipped

from nhmech import ModelError
from nhmech.urdf.description import JointLimits
from nhmech.vehicle.couplings import (
    PLANAR,
    Axle,
    Steering,
    check_can_move,
    narrow_limits,
    rank_error,
)


def steered(name: str, x: float, y: float, trail: float = 0.0) -> Axle:
    straight, across = np.array([0.0, 1.0, x]), np.array([-1.0, 0.0, y])
    angle = ca.SX.sym(name)
    row = ca.DM(straight) * ca.cos(angle) + ca.DM(across) * ca.sin(angle)
    row[2] += trail
    return Axle(f"{name} wheel", name, row, straight, across, trail)


def fixed(name: str, *row: float) -> Axle:
    return Axle(f"{name} wheel", "", ca.SX(ca.DM(row)), np.array(row), np.zeros(3))


REAR = fixed("rear", 0.0, 1.0, 0.0)


def test_a_base_moves_forward_sideways_and_turns_in_the_plane():
    names = shipped("tricycle").algebroid.v_names
    assert [names[i] for i in PLANAR] == ["forward_speed", "lateral_speed", "yaw_rate"]


@pytest.mark.parametrize("near", [0.0, 1.4, -3.0, 20.0])
def test_the_angle_is_the_nearest_at_which_the_wheel_allows_a_twist(near):
    axle, twists = steered("a", 0.7, -0.4), np.random.default_rng(7).normal(size=(3, 40))
    found = axle.angle_for(twists, near)
    assert np.abs(found - near).max() <= pi / 2 + 1e-12
    for angle, twist in zip(found, twists.T):
        assert axle.at(angle) @ twist == pytest.approx(0, abs=1e-12)
        assert axle.angle_for(twist, near) == pytest.approx(angle, abs=1e-12)
        assert float(axle.angle_for(ca.SX(ca.DM(twist)), near)) == pytest.approx(angle, abs=1e-9)


@pytest.mark.parametrize("trail", [0.3, -0.3])
def test_a_trail_moves_the_angle_to_where_the_wheel_allows_the_twist(trail):
    """At a constant angle, of which there are two; where the centre of rotation is within the
    trail, the least slip is that of all angles."""
    axle, grid = steered("a", 0.7, -0.4, trail), np.linspace(-pi, pi, 2001)
    without, kinds = replace(axle, trail=0.0), set()
    for twist in np.random.default_rng(8).normal(size=(60, 3)):
        angle, free = axle.angle_for(twist, 0.4), without.angle_for(twist, 0.4)
        slip = abs(axle.at(angle) @ twist)
        least = min(abs(axle.at(one) @ twist) for one in grid)
        assert slip <= least + 1e-12
        kinds.add(bool(slip > 1e-3))
        assert abs(angle - free) <= pi / 2 + 1e-12
        assert float(axle.angle_for(ca.SX(ca.DM(twist)), 0.4)) == pytest.approx(angle, abs=1e-9)
    assert kinds == {True, False}


def test_a_pair_is_two_fixed_axles_or_one_and_a_leader():
    a, b, across = steered("a", 1, 0.3), steered("b", 1, -0.3), fixed("across", 1.0, 0.0, 0.2)
    one, two = Steering((REAR,), (a, b), 1.0), Steering((REAR, across), (a, b), 1.0)
    assert one.pair() == (REAR, a) and one.pair(leaders=("b",)) == (REAR, b)
    assert two.binding == (REAR, across) == two.pair() == two.pair(leaders=("b",))
    assert one.coupled and two.coupled and not Steering((REAR,), (a,), 1.0).coupled
    assert not Steering((), (a, b), 1.0).coupled and not Steering((REAR, across), (), 1.0).coupled
    # on one line they are one, a millionth apart they are not
    for off, count in ((0.9e-6, 1), (1.1e-6, 2)):
        assert len(Steering((REAR, fixed("other", 0.0, 1.0, off)), (a,), 1.0).binding) == count


@pytest.mark.parametrize("middle, chosen", [(0.801, "ab"), (0.799, "ac")])
def test_a_pair_of_leaders_is_the_first_that_is_nearly_as_independent_as_the_best(middle, chosen):
    """Straight wheels on one line: their independence is their distance. Four fifths are enough."""
    axles = {name: steered(name, x, 0.0) for name, x in (("a", 0), ("b", middle), ("c", 1))}
    steering = Steering((), tuple(axles.values()), 1.0)
    assert [one.steering for one in steering.pair()] == [*chosen]
    # both that are named, however near; and all with one that is
    assert [one.steering for one in steering.pair(leaders=("b", "c"))] == ["b", "c"]
    assert "".join(one.steering for one in steering.pair(leaders="c")) == "ac"
    # turned across, those of a and c are on one line at rest no longer
    turned = steering.pair({"a": pi / 2, "b": 0.0, "c": pi / 2})
    assert [one.steering for one in turned] == ["a", "b"]


def test_followers_meet_in_the_centre_of_rotation_and_make_the_determinant_vanish():
    a, b, c = steered("a", 1, 0.3), steered("b", 1, -0.3), steered("c", -0.5, 0.1)
    for steering, given in ((Steering((REAR,), (a, b, c), 1.0), {"a": 0.4}),
                            (Steering((), (a, b, c), 1.0), {"a": 0.4, "b": -0.3})):
        pair = steering.pair()
        angles = steering.followers(given, pair)
        twist = steering.twist(angles, pair)
        assert np.linalg.norm(twist) == pytest.approx(1, rel=1e-12)
        for axle in (*steering.binding, *steering.steered):
            assert axle.at(angles.get(axle.steering, 0.0)) @ twist == pytest.approx(0, abs=1e-12)
        functions = steering.functions(pair)
        assert [*functions] == [axle.steering for axle in steering.steered if axle not in pair]
        for turned in (0.0, 0.2):
            for name, function in functions.items():
                names = [s.name() for s in ca.symvar(function)]
                value = float(ca.Function("phi", ca.symvar(function), [function])(
                    *[angles[one] + turned * (one == name) for one in names]))
                rows = [one.at(angles.get(one.steering, 0.0)) for one in pair]
                own = next(one for one in steering.steered if one.steering == name)
                rows.append(own.at(angles[name] + turned))
                assert value == pytest.approx(np.linalg.det(rows), abs=1e-12)
                assert (abs(value) < 1e-12) == (turned == 0)
    free = Steering((REAR,), (a,), 1.0)
    assert free.followers({"a": 0.4}, free.pair()) == {"a": 0.4}
    assert free.functions(free.pair()) == {}


def test_axles_that_coincide_determine_no_motion():
    for off, coincide in ((0.9e-6, True), (1.1e-6, False)):
        a, b = steered("a", 0.0, 0.3), steered("b", off, -0.3)
        steering = Steering((), (a, b), 1.0)
        if coincide:
            with pytest.raises(ModelError, match="axles of 'a wheel' and 'b wheel' coincide"):
                steering.twist({}, (a, b))
        else:
            np.testing.assert_allclose(np.abs(steering.twist({}, (a, b))), [1, 0, 0], atol=1e-9)


@pytest.mark.parametrize("x", [0.0, 2.0])
def test_axles_on_nearly_one_line_are_named_with_angles_at_which_they_are_not(x):
    """Up to a sine of 0.03 between their rows (0, 1, x)."""
    for sine, is_aligned in ((0.0299, True), (0.0301, False)):
        a, b = steered("a", x, 0.3), steered("b", tan(atan(x) + np.arcsin(sine)), -0.3)
        steering = Steering((), (steered("c", 5, 0), a, b), 1.0)
        assert steering.find_aligned({}) == ((a, b) if is_aligned else ())
        error = rank_error(steering, ("a", "b"), {"a": 0.0, "b": 0.0, "c": 0.0}, "there")
        assert "the constraints lose rank there" in str(error) and "a = +0.0000 rad" in str(error)
        assert ("are one line there" in str(error)) == is_aligned
        assert (error.remedy is not None) == is_aligned
    assert Steering((), (a,), 1.0).find_aligned({}) == ()


def test_aligned_axles_are_held_where_each_passes_through_the_pivot_of_the_other():
    """From (0, 0.3) to (0.008, -0.3), to six digits, nearest to where they are."""
    a, b = steered("a", 0.0, 0.3), steered("b", 0.008, -0.3)
    steering, angle = Steering((), (a, b), 1.0), round(atan(0.008 / 0.6), 6)
    for turns in (0.0, pi):
        error = rank_error(steering, ("a", "b"), {"a": 0.01 + turns, "b": 0.02}, "here")
        assert error.remedy.python == (
            "Steer round that, or hold them there: "
            f"locked={{'a': {round(atan(0.008 / 0.6) + turns, 6)}, 'b': {angle}}}")
        assert f"a = {0.01 + turns:+.4f} rad, b = +0.0200 rad" in str(error)
    assert "The axles of a wheel" in str(error) and "are one line there" in str(error)


def test_the_nearest_pair_of_axles_is_the_aligned_one():
    """Whatever the sizes of their rows, and at the angles that are given."""
    a, b, c = steered("a", 0.0, 30.0), steered("b", 0.02, -20.0), steered("c", -0.025, 0.3)
    steering = Steering((), (a, b, c), 1.0)
    assert steering.find_aligned({}) == (a, b)
    assert steering.find_aligned({"b": 0.5}) == (a, c)
    assert steering.find_aligned({"b": 0.5, "c": 0.5}) == ()


@pytest.mark.parametrize("part, moves", [(1e-9, True), (0.99e-6, True), (1.01e-6, False)])
@pytest.mark.parametrize("size", [1.0, 1e3])
def test_three_fixed_axles_meet_up_to_rounding(part, moves, size):
    """In (0, 1): rows (0, 1, 0), (1, 0, -1) and (1, 1, -1 + third), whose least singular value is
    this part of the largest one."""
    def rows(third):
        return size * np.array([(0.0, 1.0, 0.0), (1.0, 0.0, -1.0), (1.0, 1.0, third - 1)])

    values = np.linalg.svd(rows(1e-5), compute_uv=False)
    third = 1e-5 * part * values[0] / values[2]
    axles = tuple(fixed(name, *row) for name, row in zip(("rear", "b", "c"), rows(third)))
    check_can_move(Steering(axles[:2], (), 1.0))
    if moves:
        return check_can_move(Steering(axles, (), 1.0))
    with pytest.raises(ModelError, match="'rear wheel', 'b wheel', 'c wheel' do not meet in one"
                       ) as caught:
        check_can_move(Steering(axles, (), 1.0))
    assert "skid='mid-axle'" in caught.value.remedy.python


def acot(x: float) -> float:
    return atan(1 / x)


def ackermann(own: JointLimits, its: JointLimits) -> dict[str, JointLimits]:
    """Limits of two front wheels, 0.6 apart and 1 before the fixed axle: cot(right) = cot(left) +
    0.6."""
    steering = Steering((REAR,), (steered("left", 1, 0.3), steered("right", 1, -0.3)), 1.0)
    return narrow_limits({"left": own, "right": its, "other": JointLimits(-1, 1)}, steering)


def test_a_leader_turns_as_far_as_its_follower_may():
    found = ackermann(JointLimits(-1.0, 1.0, 7.0, 8.0), JointLimits(-0.5, 0.5, 9.0))
    left, right = found["left"], found["right"]
    assert left.upper == pytest.approx(acot(1 / tan(0.5) - 0.6), rel=1e-11)
    assert left.lower == pytest.approx(-acot(1 / tan(0.5) + 0.6), rel=1e-11)
    assert (left.velocity, left.effort, right.velocity) == (7.0, 8.0, 9.0)
    assert (right.lower, right.upper) == pytest.approx((-0.5, 0.5), abs=1e-12)
    assert found["other"] == JointLimits(-1, 1)


def test_a_follower_turns_as_far_as_its_leader_moves_it():
    found = ackermann(JointLimits(-0.3, 0.2), JointLimits(-1.0, 1.0))
    assert found["left"] == JointLimits(-0.3, 0.2)
    right = found["right"]
    assert right.upper == pytest.approx(acot(1 / tan(0.2) + 0.6), abs=2e-9)
    assert right.lower == pytest.approx(-acot(1 / tan(0.3) - 0.6), abs=2e-9)
    assert right.upper > acot(1 / tan(0.2) + 0.6)         # by a margin above bisection's error


def test_a_leader_whose_follower_may_turn_fully_turns_across_at_most():
    """Its own limits hold, and a quarter of a turn where it has none."""
    wide = JointLimits(-4.0, 4.0)
    assert ackermann(JointLimits(-1.3, 1.2), wide)["left"] == JointLimits(-1.3, 1.2)
    free = ackermann(JointLimits(), wide)
    assert (free["left"].lower, free["left"].upper) == pytest.approx((-pi / 2, pi / 2))
    assert free["right"] == wide


def test_a_follower_that_passes_sideways_on_the_way_keeps_its_limits():
    """Where the leader turns by -1.3 rad it is at 1.26 rad, and has not been between."""
    found = ackermann(JointLimits(-1.3, 0.2), JointLimits(-4.0, 4.0))
    assert found["right"] == JointLimits(-4.0, 4.0) and found["left"] == JointLimits(-1.3, 0.2)
    # one that may turn to one side alone draws its leader in to that side
    found = ackermann(JointLimits(-0.3, 0.2), JointLimits(0.0, 1.0))
    assert found["left"] == JointLimits(0.0, 0.2) and found["right"].lower == 0
    assert found["right"].upper == pytest.approx(acot(1 / tan(0.2) + 0.6), abs=2e-9)


def test_a_leader_turns_to_one_side_alone():
    found = ackermann(JointLimits(0.0, 0.7), JointLimits(-0.9, 0.9))
    assert found["left"] == JointLimits(0.0, 0.7)
    assert found["right"].lower == pytest.approx(0, abs=2e-9)
    assert found["right"].upper == pytest.approx(acot(1 / tan(0.7) + 0.6), abs=2e-9)


def test_a_leader_does_not_take_its_follower_through_its_limits():
    """To 1.4 rad, where the other wheel would be at 1.16 rad again, on the other side of its range;
    a wider range takes it past the sideways position, as far as it goes."""
    one = JointLimits(-1.4, 1.4)
    found = ackermann(one, one)
    assert found["left"].upper == 1.4 and found["right"].lower == -1.4
    assert found["left"].lower == pytest.approx(-acot(1 / tan(1.4) + 0.6), rel=1e-11)
    found = ackermann(one, JointLimits(-1.8, 1.4))
    assert found["left"].lower == pytest.approx(-acot(1 / tan(1.8) + 0.6), rel=1e-11)


@pytest.mark.parametrize("back", [1.4, 2.05])
@pytest.mark.parametrize("off", [0.0, 0.4, -0.4])
def test_limits_turn_with_the_place_of_zero(off, back):
    """A follower whose zero is where it stands at `off`, and which may turn past sideways."""
    left, right = steered("left", 1, 0.3), steered("right", 1, -0.3)
    c, s = np.cos(off), np.sin(off)
    moved = replace(right, straight=c * right.straight + s * right.across,
                    across=c * right.across - s * right.straight)
    found = [narrow_limits({"left": JointLimits(-1.5, 1.4),
                            "right": JointLimits(-back - turn, 1.4 - turn)},
                           Steering((REAR,), (left, other), 1.0))["left"]
             for other, turn in ((right, 0.0), (moved, off))]
    assert found[0].lower == pytest.approx(-acot(1 / tan(back) + 0.6) % -pi, rel=1e-11)
    assert (found[1].lower, found[1].upper) == pytest.approx((found[0].lower, found[0].upper),
                                                             rel=1e-11)


def test_limits_stay_where_a_leader_turns_on_or_there_are_two():
    own, its = JointLimits(-inf, inf), JointLimits(-0.5, 0.5)
    found = ackermann(own, its)
    assert found["right"] == its and found["left"].upper < pi / 2
    pair = Steering((), (steered("left", 1, 0.3), steered("right", 1, -0.3)), 1.0)
    assert narrow_limits({"left": own, "right": its}, pair) == {"left": own, "right": its}
    # a follower that is beyond its limit where the leader is straight says nothing
    own = JointLimits(-0.3, 0.3)
    assert ackermann(own, JointLimits(0.1, 0.5))["left"] == own
