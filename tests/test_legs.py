"""A base on legs, which are points of it, is put on a plane: by a placer that is made by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from nhmech import ModelError, Wheel
from nhmech.mechanics import rotation
from nhmech.vehicle.placement import Placer, find_support

MODEL = pin.Model()
MODEL.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
MODEL.addJoint(1, pin.JointModelRY(), pin.SE3.Identity(), "arm")      # which touches nothing
LEVEL, SLOPE = np.array([0.0, 0, 1]), np.array([0.0, 0.6, 0.8])


def placer(feet, normal=LEVEL, rises=0.0) -> Placer:
    """Of feet (k, 3) on a plane that rises along its normal with time."""
    t, q, theta = ca.SX.sym("t"), ca.SX.sym("q", 8), ca.SX.sym("theta", 0)
    R, n = rotation(q[3:7]), ca.DM(normal)
    heights, forms = [], []
    for foot in np.asarray(feet, dtype=float):
        heights.append(ca.dot(n, q[:3] + R @ foot) - rises * t)
        forms.append(ca.horzcat(n.T @ R, -n.T @ R @ pin.skew(foot), 0))
    function = ca.Function("heights", [t, q, theta], [ca.vertcat(*heights), ca.vertcat(*forms)])
    names = tuple(f"foot {k}" for k in range(len(feet)))
    return Placer(MODEL, function, normal, names, np.zeros(0))


def pose(xyz=(0, 0, 0), rpy=(0, 0, 0)) -> np.ndarray:
    return np.r_[xyz, pin.Quaternion(pin.rpy.rpyToMatrix(*rpy)).coeffs(), 0.4]


SQUARE = np.array([(1, 1, -0.5), (-1, 1, -0.5), (-1, -1, -0.5), (1, -1, -0.5)])
THREE = np.array([(1, 0.2, -0.5), (-1, 1, -0.6), (-1, -0.8, -0.4)])


@pytest.mark.parametrize("normal", [LEVEL, SLOPE])
@pytest.mark.parametrize("t", [0.0, 2.0])
def test_three_feet_are_put_on_the_ground_by_height_pitch_and_roll(normal, t):
    made = placer(THREE, normal, rises=0.1)
    q = made.upright(pose((1, 2, 3), (0.1, 0.2, 0.7)))
    support = made.support(q, np.ones(3, bool), 0.0)
    assert not support.level and support.offsets.tolist() == [0, 0, 0]
    placed = made.place(q, support, t)
    np.testing.assert_allclose(made.evaluate(placed, t)[0], 0, atol=1e-12)
    # it goes up, and hardly along the ground, as it turns on its way
    step = placed[:3] - q[:3]
    assert np.linalg.norm(step - normal * (normal @ step)) < 1e-3 < 0.1 < abs(normal @ step)
    before, after = (pin.Quaternion(one[3:7]).toRotationMatrix() for one in (q, placed))
    assert np.arccos(after[:, 2] @ normal) == pytest.approx(
        np.arccos(np.cross(THREE[1] - THREE[0], THREE[2] - THREE[0])[2] / np.linalg.norm(
            np.cross(THREE[1] - THREE[0], THREE[2] - THREE[0]))), rel=1e-9)
    # the forms are the derivatives of the heights
    v = np.random.default_rng(1).normal(size=7)
    ends = [made.evaluate(pin.integrate(MODEL, q, s * 1e-6 * v))[0] for s in (1, -1)]
    np.testing.assert_allclose(made.evaluate(q)[1] @ v, (ends[0] - ends[1]) / 2e-6, atol=1e-8)


def test_a_base_is_made_upright_by_the_smallest_turn():
    made = placer(THREE, SLOPE)
    q = pose((1, 2, 3), (0.1, 0.2, 0.7))
    turned = made.upright(q)
    before, after = (pin.Quaternion(one[3:7]).toRotationMatrix() for one in (q, turned))
    np.testing.assert_allclose(after[:, 2], SLOPE, rtol=0, atol=1e-12)
    angle = np.linalg.norm(pin.log3(after @ before.T))
    assert angle == pytest.approx(np.arccos(before[:, 2] @ SLOPE), rel=1e-9)
    np.testing.assert_array_equal(turned[:3], q[:3])
    np.testing.assert_array_equal(q, pose((1, 2, 3), (0.1, 0.2, 0.7)))


def test_more_feet_than_needed_keep_their_distances():
    """Those that bear are at the height of their mean; differences of rounding are none."""
    feet = SQUARE + np.array([(0, 0, 0.01), (0, 0, 0), (0, 0, 0), (0, 0, 0.03)])
    made = placer(feet)
    bears = np.array([True, True, False, False])
    support = made.support(pose(rpy=(0.1, 0, 0)), bears, 0.0)
    assert support.level
    np.testing.assert_allclose(support.offsets, [0.005, -0.005, -0.005, 0.025], rtol=0, atol=1e-12)
    assert made.support(pose(), np.zeros(4, bool), 0.0).offsets.sum() == pytest.approx(0, abs=1e-12)
    placed = made.place(pose((0, 0, 7), (0.1, 0.2, 0.3)), support)
    np.testing.assert_allclose(made.evaluate(placed)[0], support.offsets, rtol=0, atol=1e-12)
    assert placed[2] == pytest.approx(0.495, rel=1e-12, abs=0)
    assert placed[3:5] == pytest.approx([0, 0], abs=1e-12)
    for off, is_kept in ((0.9e-13, False), (3e-13, True)):
        almost = placer(SQUARE + np.array([(0, 0, off)] + [(0, 0, 0)] * 3))
        offsets = almost.support(pose(), np.array([False, True, True, True]), 0.0).offsets
        assert (offsets[0] != 0) == is_kept


@pytest.mark.parametrize("off, is_level", [(0.0, False), (0.99e-3, True), (1.01e-3, False)])
def test_three_feet_that_differ_by_rounding_stand_level(off, is_level):
    feet = np.array([(1, 0, -0.5 + 1.5 * off), (-1, 1, -0.5), (-1, -1, -0.5)])
    support = placer(feet).support(pose(), np.ones(3, bool), 1e-3)
    assert support.level == is_level
    np.testing.assert_allclose(support.offsets, is_level * off * np.array([1, -0.5, -0.5]),
                               rtol=0, atol=1e-12)


@pytest.mark.parametrize("feet, lean", [
    ([(0, 0, -0.5)], 0.1), ([(1, 0, -0.5), (-1, 0, -0.5)], 0.0)])
def test_fewer_feet_move_it_no_more_than_they_need(feet, lean):
    """One foot by its height; two in a row stand at any roll, and a base that fits stays so."""
    made = placer(feet)
    q = pose((1, 2, 3), (lean, 0, 0.4))
    placed = made.place(q, made.support(q, np.ones(len(feet), bool), 0.0))
    np.testing.assert_allclose(made.evaluate(placed)[0], 0, atol=1e-12)
    np.testing.assert_allclose(placed[3:], q[3:], rtol=0, atol=1e-12)
    assert placed[:2].tolist() == [1, 2]
    assert made.place(q, placer([]).support(q, np.ones(0, bool), 0.0)).tolist() == q.tolist()


@pytest.mark.parametrize("feet, rpy", [
    ([(1, 0, -0.5), (-1, 0, -0.7)], (0, 0, 0)), ([(0, 1, -0.5), (0, -1, -0.7)], (0, 0, 0.3))])
@pytest.mark.parametrize("size", [1.0, 0.01])
def test_two_feet_of_unequal_length_turn_it_one_way(feet, rpy, size):
    """Pitch, for feet one behind the other, or roll for those beside each other."""
    made = placer(size * np.array(feet))
    q = pose(rpy=rpy)
    placed = made.place(q, made.support(q, np.ones(2, bool), 0.0))
    np.testing.assert_allclose(made.evaluate(placed)[0], 0, atol=1e-12)
    turn = pin.log3(pin.Quaternion(q[3:7]).toRotationMatrix().T
                    @ pin.Quaternion(placed[3:7]).toRotationMatrix())
    axis = int(bool(feet[0][0]))
    assert abs(turn[axis]) == pytest.approx(np.arctan(0.1), rel=1e-9)
    assert np.delete(turn, axis) == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize("offsets, heights", [((0.0, 0.0, 0.0), (-5, 10, -5)),
                                              ((0.001, 0.0, -0.004), (-7, 9, -2))])
def test_feet_that_cannot_stand_are_said_with_their_heights(offsets, heights):
    """Three in a row, the middle one too long: how far each is from where it should be, beside
    their mean."""
    made = placer([(1, 0, -0.5), (0, 0, -0.485), (-1, 0, -0.5)])
    support = SimpleNamespace(level=False, offsets=np.array(offsets))
    said = ", ".join(f"foot {k} {height:+.3f} mm" for k, height in enumerate(heights))
    with pytest.raises(ModelError, match=re.escape(said)):
        made.place(pose(), support)


def test_what_cannot_stand_is_known_after_a_step_of_each_kind(monkeypatch):
    """Of height, pitch, roll and both: a step after which no foot is nearer is the last one."""
    evaluate, calls = Placer.evaluate, []
    monkeypatch.setattr(Placer, "evaluate", lambda *at: calls.append(at) or evaluate(*at))
    made = placer([(1, 0.1, -0.5), (0, 0, -0.485), (-1, -0.1, -0.5), (0, 1, -0.5), (0, -1, -0.5)])
    with pytest.raises(ModelError, match="no height, pitch and roll"):
        made.place(pose(), SimpleNamespace(level=False, offsets=np.zeros(5)))
    assert len(calls) <= 2 + 4 * 3


@pytest.mark.parametrize("size, is_level", [(1e-7, False), (1e-10, True)])
def test_feet_are_apart_where_they_are_farther_than_rounding(size, is_level):
    """Three as near as that determine no attitude."""
    assert placer(size * THREE).support(pose(), np.ones(3, bool), 0.0).level == is_level


def contacts(*wheels: Wheel) -> list[SimpleNamespace]:
    return [SimpleNamespace(mount=SimpleNamespace(wheel=wheel)) for wheel in wheels]


DISC = Wheel("w", radius=0.2)
BALL = Wheel(None, "caster_ball", 0.1, link="b")


@pytest.mark.parametrize("odd, off, refused", [
    (DISC, 0.0099, False), (DISC, 0.0101, True), (DISC, -0.0101, True), (DISC, -0.0099, False),
    (BALL, 0.0299, False), (BALL, 0.0301, True), (BALL, -0.0301, True)])
def test_contacts_are_in_one_plane_up_to_what_their_kind_allows(odd, off, refused):
    """Three wheels bear; a fourth is off by a twentieth of their radius at most, a ball by 0.15 of
    it."""
    # of four wheels the odd one is among those whose mean is the plane
    lift = off * (4 / 3 if odd is DISC else 1)
    made = placer(SQUARE + np.array([(0, 0, 0)] * 3 + [(0, 0, lift)]))
    found = contacts(DISC, DISC, DISC, odd)
    if not refused:
        support = find_support(made, found)
        assert support.level and support.offsets[3] == pytest.approx(off, rel=1e-9)
        return
    with pytest.raises(ModelError, match="do not lie in one plane") as caught:
        find_support(made, found)
    assert f"'foot 3' is {1e3 * off:+.2f} mm off, more than the" in str(caught.value)
    allowed = "10.00" if odd is DISC else "30.00"
    assert f"{allowed} mm accepted" in str(caught.value)
    assert f"{odd.radius + off:.4g}" in caught.value.remedy.python


@pytest.mark.parametrize("off, is_level", [(1.99e-3, True), (2.01e-3, False)])
def test_three_contacts_stand_level_up_to_a_hundredth_of_the_smallest_radius(off, is_level):
    """Of those that hold, whose mean is the plane; balls and blades do not count."""
    feet = np.array([(1, 0, -0.5 + 2 * off), (-1, 1, -0.5), (-1, -1, -0.5)])
    wheels = DISC, replace(DISC, radius=0.5), replace(BALL, radius=0.01)
    support = find_support(placer(feet), contacts(*wheels))
    assert support.level == is_level
    np.testing.assert_allclose(support.offsets, is_level * off * np.array([1, -1, -1]), rtol=0,
                               atol=1e-12)


def test_blades_are_in_one_plane_up_to_a_twentieth_of_a_tenth_of_a_metre():
    blade = Wheel(None, "blade", link="b", axis=(0, 1, 0), point=(0, 0, 0))
    for off, refused in ((0.00499, False), (0.00501, True)):
        made = placer(SQUARE + np.array([(0, 0, 0)] * 3 + [(0, 0, off * 4 / 3)]))
        if refused:
            with pytest.raises(ModelError, match="more than the 5.00 mm accepted"):
                find_support(made, contacts(*[blade] * 4))
        else:
            assert find_support(made, contacts(*[blade] * 4)).level


def test_a_contact_on_the_line_of_others_that_would_leave_it_is_refused():
    """Below the axle of two wheels, which roll about it: each keeps its height at any pitch."""
    t, q, theta = ca.SX.sym("t"), ca.SX.sym("q", 8), ca.SX.sym("theta", 0)
    R = rotation(q[3:7])

    def make(*feet):
        heights = [q[2] + (R @ ca.DM(foot[:3]))[2] - foot[3] for foot in feet]
        forms = [ca.horzcat(R[2, :], -R[2, :] @ pin.skew(np.array(foot[:3])), 0) for foot in feet]
        return Placer(MODEL, ca.Function("heights", [t, q, theta], [
            ca.vertcat(*heights), ca.vertcat(*forms)]), LEVEL,
            tuple(f"foot {k}" for k in range(len(feet))), np.zeros(0))
    axle = ((0, 1, 0, 0.5), (0, -1, 0, 0.5))
    find_support(make(*axle), contacts(DISC, DISC))
    find_support(make(*axle, (0, 0, 0, 0.5)), contacts(DISC, DISC, BALL))
    with pytest.raises(ModelError, match="are in one line.*'foot 1' would leave") as caught:
        find_support(make(axle[0], (0, 0, -0.5, 0.0), axle[1]), contacts(DISC, BALL, DISC))
    assert caught.value.remedy.python.count("Wheel(") == 2


def swinging(*feet):
    """Feet that keep these distances from points of the base, whatever its attitude: like wheels
    about an axle."""
    t, q, theta = ca.SX.sym("t"), ca.SX.sym("q", 8), ca.SX.sym("theta", 0)
    R = rotation(q[3:7])
    heights = [q[2] + (R @ ca.DM(foot[:3]))[2] - foot[3] for foot in feet]
    forms = [ca.horzcat(R[2, :], -R[2, :] @ pin.skew(np.array(foot[:3])), 0) for foot in feet]
    return Placer(MODEL, ca.Function("heights", [t, q, theta], [
        ca.vertcat(*heights), ca.vertcat(*forms)]), LEVEL,
        tuple(f"foot {k}" for k in range(len(feet))), np.zeros(0))


@pytest.mark.parametrize("feet, wheels, idle", [
    # the ball below the axle goes rather than a wheel, wherever it is in the list
    ([(0, 1, 0, 0.5), (0, -1, 0, 0.5), (0, 0, -0.5, 0.0)], (DISC, DISC, BALL), "foot 2"),
    ([(0, 0, -0.5, 0.0), (0, 1, 0, 0.5), (0, -1, 0, 0.5)], (BALL, DISC, DISC), "foot 0"),
    # of wheels alone the first without which the others stay
    ([(0, 1, 0, 0.5), (0, -1, 0, 0.5), (0, 0, -0.5, 0.0)], (DISC, DISC, DISC), "foot 0"),
    # two that would leave: no single one is to blame
    ([(0, 1, 0, 0.5), (0, -1, -0.1, 0.4), (0, 0, -0.5, 0.0), (0, 0.5, -0.5, 0.0)],
     (DISC, DISC, BALL, BALL), None)])
def test_contacts_on_one_line_name_the_one_that_bears_nothing(feet, wheels, idle):
    with pytest.raises(ModelError, match="are in one line") as caught:
        find_support(swinging(*feet), contacts(*wheels))
    text = str(caught.value)
    if idle is None:
        assert "some would leave the ground as soon as" in text and caught.value.remedy is None
    else:
        assert f"{idle!r} would leave the ground as soon as it tilts" in text
        assert caught.value.remedy.python.count("Wheel(") == len(wheels) - 1


@pytest.mark.parametrize("pitch", [0.3, 0.7, 1.2, -1.4])
def test_a_base_is_pitched_as_far_as_its_feet_ask_for(pitch):
    """Beyond the half radian of one step; closed form: the line of two feet is level."""
    made = placer([(np.cos(pitch), 0, np.sin(pitch)), (-np.cos(pitch), 0, -np.sin(pitch))])
    placed = made.place(pose((1, 2, 3)), SimpleNamespace(level=False, offsets=np.zeros(2)))
    turn = pin.log3(pin.Quaternion(placed[3:7]).toRotationMatrix())
    np.testing.assert_allclose(turn, (0, pitch, 0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(placed[:3], (1, 2, 0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("sine", [0.01, -0.3, 0.9])
def test_a_base_is_pitched_until_its_feet_are_at_their_offsets(sine):
    made = placer([(1, 0, 0), (-1, 0, 0)])
    placed = made.place(pose(), SimpleNamespace(level=False, offsets=np.array([sine, -sine])))
    turn = pin.log3(pin.Quaternion(placed[3:7]).toRotationMatrix())
    np.testing.assert_allclose(turn, (0, -np.arcsin(sine), 0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9])
def test_a_base_far_away_stands_to_the_rounding_of_its_place(far):
    """Where heights are differences of large numbers."""
    made = placer(THREE, SLOPE)
    q = made.upright(pose((far, -0.8 * far, 0.6 * far), (0.1, 0.2, 0.7)))
    placed = made.place(q, made.support(q, np.ones(3, bool), 0.0))
    assert np.abs(made.evaluate(placed)[0]).max() <= 1e-12 * far
    near = made.place(made.upright(pose((0, 0, 0), (0.1, 0.2, 0.7))), made.support(
        q, np.ones(3, bool), 0.0))
    np.testing.assert_allclose(placed[3:7], near[3:7], atol=1e-15 * far + 1e-12)


@pytest.mark.parametrize("size", [1e-3, 1e3, 1e6])
def test_a_base_of_any_size_stands_to_its_rounding(size):
    """As in millimetres, or in kilometres."""
    made = placer(size * THREE, SLOPE)
    q = made.upright(pose((1, 2, 3), (0.1, 0.2, 0.7)))
    placed = made.place(q, made.support(q, np.ones(3, bool), 0.0))
    assert np.abs(made.evaluate(placed)[0]).max() <= 1e-12 * max(size, 1)


@pytest.mark.parametrize("apart, stands", [(0.99e-6, False), (1.01e-6, True)])
def test_a_turn_that_hardly_moves_the_feet_is_none(apart, stands):
    """Singular values sqrt(2) and sqrt(2) d of the heights of feet at d and -d in height and
    pitch."""
    d = apart / np.sqrt(2)
    made = placer([(d, 0, 0), (-d, 0, 1e-9)])
    support = SimpleNamespace(level=False, offsets=np.zeros(2))
    if not stands:
        with pytest.raises(ModelError, match="no height, pitch and roll put the vehicle"):
            made.place(pose(), support)
    else:
        np.testing.assert_allclose(made.evaluate(made.place(pose(), support))[0], 0, atol=1e-12)


def test_a_height_that_is_no_number_is_no_placement():
    t, q, theta = ca.SX.sym("t"), ca.SX.sym("q", 8), ca.SX.sym("theta", 0)
    made = Placer(MODEL, ca.Function("heights", [t, q, theta], [
        ca.sqrt(q[2] - 1), ca.SX(ca.DM([[0, 0, 1, 0, 0, 0, 0]]))]), LEVEL, ("foot",), np.zeros(0))
    with pytest.raises(ModelError, match="put the vehicle on the ground"):
        made.place(pose((0, 0, 1.5)), SimpleNamespace(level=False, offsets=np.ones(1) * -1))


def test_a_ball_smaller_than_its_distance_keeps_its_radius_in_what_is_proposed():
    small = Wheel(None, "caster_ball", 0.02, link="b")
    made = placer(SQUARE + np.array([(0, 0, 0)] * 3 + [(0, 0, -0.0301)]))
    with pytest.raises(ModelError) as caught:
        find_support(made, contacts(DISC, DISC, DISC, small))
    assert "0.02" in caught.value.remedy.python and "-0.0" not in caught.value.remedy.python
