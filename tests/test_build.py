"""What a vehicle is built with: the gauge of a massless root, units and preferences of its speeds,
guards, and what is remarked about it."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import Ground, ModelError, Wheel
from nhmech.urdf.description import JointLimits
from nhmech.urdf.notice import NoticeKind
from nhmech.vehicle.build import build, parameters_of
from nhmech.vehicle.remarks import remarks
from nhmech.vehicle.stiffness import fastest_decay


# -- what bodies see of the world ------------------------------------------------------------------
def test_a_ball_rolls_down_with_five_sevenths_of_gravity_along_the_ground():
    """A solid one in any attitude, on a slope, with gravity that leans another way."""
    mass, radius, ground = 2.0, 0.3, Ground.inclined(0.2, 0.3)
    ball = nhmech.load(robot(link("ball", mass, (0.4 * mass * radius ** 2,) * 3)), ground=ground,
                       wheels=[Wheel(None, "sphere", radius, link="ball", point=(0, 0, 0))])
    ball = ball.with_parameters(gravity=9.0, slope=0.3, slope_direction=2.5)
    n, up = np.array(ground.normal), np.array(Ground.inclined(0.3, 2.5).normal) * (-1, -1, 1)
    q, rng = ball.configuration(), np.random.default_rng(0)
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    xi = rng.normal(size=3)
    v = ball.equations.velocity(0, q, xi, []).full().ravel()
    dv = ball.equations.acceleration(0, q, xi, [], []).full().ravel()
    found = pin.Quaternion(q[3:7]).toRotationMatrix() @ (dv[:3] + np.cross(v[3:6], v[:3]))
    np.testing.assert_allclose(found, -5 / 7 * 9.0 * (up - n * (n @ up)), rtol=1e-12, atol=1e-12)


def test_a_wrench_acts_at_the_origin_of_its_link_along_the_axes_of_the_world():
    """Its generalised force is J^T w, with Pinocchio's Jacobian of the link, in any pose, on a
    slope as on the level."""
    vehicle = shipped("differential_drive", Ground.inclined(0.2, 0.3)).with_wrench(
        "left_wheel", "caster_link")
    s, model, rng = vehicle.constrained.system, vehicle.model, np.random.default_rng(0)
    slopes = ca.Function("slopes", [s.q], [ca.densify(ca.jacobian(*s.expand(s.force), s.u))])
    for _ in range(3):
        q = pin.integrate(model, vehicle.configuration(), rng.normal(size=model.nv))
        wanted = [pin.computeFrameJacobian(model, model.createData(), q, model.getFrameId(link),
                                           pin.LOCAL_WORLD_ALIGNED).T
                  for link in vehicle.wrench_bodies]
        np.testing.assert_allclose(slopes(q).full()[:, -12:], np.hstack(wanted), rtol=0,
                                   atol=1e-12)


# -- a root without mass ---------------------------------------------------------------------------
def unicycle(base=0.0, tilt=0.0, kind="disc", more="", wheels=(), **wheel):
    """A wheel about an axle that is tilted in the zero pose, on a root of that mass."""
    own = link("base", base) if base else '<link name="base"/>'
    text = robot(own, link("w", 2.0), joint("spin", "base", "w", axis=(0, np.cos(tilt),
                                                                      np.sin(tilt)), more=more))
    return nhmech.load(text, wheels=[Wheel("spin", kind, 0.2, **{"driven": False} | wheel),
                                     *wheels])


@pytest.mark.parametrize("axis, level", [((0, 1, 0), (1, 0, 0)), ((1, 0, 0), (0, -1, 0)),
                                         ((0.6, 0.8, 0), (0.8, -0.6, 0))])
def test_a_massless_root_has_a_level_axis_across_its_axle(axis, level):
    text = robot('<link name="base"/>', link("w", 2.0), joint("spin", "base", "w", axis=axis))
    gauge = nhmech.load(text, wheels=[Wheel("spin", "disc", 0.2, driven=False)]).gauge
    assert gauge.joint == "spin"
    np.testing.assert_allclose(gauge.axle, axis, rtol=0, atol=1e-12)
    np.testing.assert_allclose(gauge.level, level, rtol=0, atol=1e-12)


@pytest.mark.parametrize("degrees, is_level", [(59.9, True), (60.1, False)])
def test_the_axle_of_a_massless_root_is_level_up_to_sixty_degrees(degrees, is_level):
    if is_level:
        gauge = unicycle(tilt=np.radians(degrees)).gauge
        np.testing.assert_allclose(gauge.level, (1, 0, 0), rtol=0, atol=1e-12)
    else:
        with pytest.raises(ModelError, match="'spin': in the zero pose its axle must be level"):
            unicycle(tilt=np.radians(degrees))


def test_a_root_with_mass_or_with_more_on_it_has_no_gauge():
    assert unicycle().gauge is not None and unicycle(base=1.0).gauge is None
    assert shipped("differential_drive").gauge is None
    ball = robot(link("ball", 1.0))
    assert nhmech.load(ball, wheels=[Wheel(None, "sphere", 0.2, link="ball")]).gauge is None


@pytest.mark.parametrize("options", [{"driven": True}, {"more": '<dynamics damping="0.1"/>'}])
def test_a_massless_root_bears_no_effort(options):
    with pytest.raises(ModelError, match="'spin' is driven or damped against a root without mass"):
        unicycle(**options)
    assert unicycle(base=1.0, **options).gauge is None


# -- speeds ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["tricycle", "ackermann_car", "bicycle", "sled"])
def test_speeds_are_scaled_to_metres(name):
    """Rates of wheels by their radii, other turns by the length of the vehicle."""
    vehicle = shipped(name)
    radii = {wheel.joint: wheel.radius for wheel in vehicle.description.wheels if wheel.joint}
    assert dict(zip(vehicle.algebroid.v_names, vehicle.constrained.scales)) == {
        one: 1.0 if one.endswith("_speed") else radii.get(one, vehicle.steering.length)
        for one in vehicle.algebroid.v_names}


@pytest.mark.parametrize("name, first, rolling", [
    ("ackermann_car", ("front_left_steering_joint", "rear_left_wheel_joint",
                       "rear_right_wheel_joint"), 4),
    ("tricycle", None, 3), ("differential_drive", ("left_wheel_joint", "right_wheel_joint"), 2)])
def test_leaders_and_driven_joints_are_preferred_to_wheels_and_these_to_the_base(name, first,
                                                                                 rolling):
    """A follower is not among them, driven or not."""
    vehicle = shipped(name)
    found, wheels, *base = vehicle.constrained.preferred
    assert found == (vehicle.driven if first is None else first)
    assert wheels == vehicle.description.rolling and len(wheels) == rolling
    assert base == [("yaw_rate",), ("roll_rate", "pitch_rate")]
    followers = replace(vehicle.description, driven=(*vehicle.driven, "front_right_steering_joint"))
    if name == "ackermann_car":
        assert build(followers, vehicle.ground).constrained.preferred[0] == first


def test_positions_are_angles_of_joints_that_neither_roll_nor_slide():
    """Those that may be given in degrees by mistake."""
    assert shipped("tricycle").posing.turned == {*shipped("tricycle").description.steering}
    parts = [link("base", 9.0), link("slider", 1.0), joint(
        "rail", "base", "slider", axis=(0, 0, 1), kind="prismatic",
        more='<limit lower="-1" upper="1" effort="9" velocity="9"/>')]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(f"{side}_wheel", 0.4), joint(side, "base", f"{side}_wheel", (0, y, 0))]
    made = nhmech.load(robot(*parts), free=("rail",), wheels=[
        Wheel("left", "disc", 0.1), Wheel("right", "disc", 0.1)])
    assert made.posing.turned == frozenset()


def test_speeds_that_were_named_hold_where_it_was_built_and_not_elsewhere():
    named = ("right_wheel_joint", "left_wheel_joint")
    vehicle = shipped("differential_drive", speeds=named)
    assert {*vehicle.speeds} == {*named}
    assert vehicle.description.speeds == named
    q = vehicle.configuration((0.3, 0.2, 0.5))
    there = vehicle.rechoose(q)
    assert there.description.speeds is None and len(there.constrained.samples) == 1
    np.testing.assert_array_equal(there.constrained.samples[0], q)
    assert there.ground == vehicle.ground and there.parameters.values == vehicle.parameters.values


def test_the_pair_of_a_coupling_is_chosen_where_the_vehicle_is():
    swerve = shipped("swerve")
    names = [axle.steering for axle in swerve.steering.steered]
    for at in (dict.fromkeys(names, 0.0), dict.fromkeys(names, np.pi / 2)):
        there = swerve.rechoose(swerve.configuration(None, at))
        coupled = {one.partition("/")[0] for one in there.constrained.distribution.names
                   if one.endswith("coupling")}
        pair = {axle.steering for axle in swerve.steering.pair(at)}
        assert coupled == {*names} - pair
    assert {axle.steering for axle in swerve.steering.pair(dict.fromkeys(names, np.pi / 2))} != {
        axle.steering for axle in swerve.steering.pair()}


# -- guards and round wheels -----------------------------------------------------------------------
def test_wheels_on_an_axle_are_guarded_by_its_sine():
    """|axle x n|: zero where a wheel lies flat; balls have none."""
    vehicle = unicycle(base=1.0)
    c = vehicle.constrained
    guards = ca.Function("guards", [c.system.q], [c.guards])
    assert c.guard_names == ("the axle of 'spin' is parallel to the ground's normal: a wheel lying "
                             "flat has no contact point",)
    for roll in (0.0, 0.5, -1.2):
        q = vehicle.configuration((0, 0, 0, roll, 0, 0.3))
        assert float(guards(q)) == pytest.approx(np.cos(roll), rel=1e-12, abs=0)
    ball, = unicycle(base=1.0, kind="sphere").constrained.guard_names
    assert ball.startswith("the axle of 'spin'") and ball.endswith("of rolling are lost")
    free = nhmech.load(robot(link("b")), wheels=[Wheel(None, "sphere", 0.2, link="b")])
    assert free.constrained.guard_names == () and free.constrained.guards.numel() == 0


@pytest.mark.parametrize("change, count", [
    (None, 0), ("wrench", 1), ("inertia", 1), ("radius", 0)])
def test_the_angle_of_a_wheel_occurs_only_where_it_matters(change, count):
    """Where it is pushed at a point that turns with it, or its inertia may change."""
    vehicle = shipped("differential_drive")
    if change == "wrench":
        vehicle = vehicle.with_wrench("left_wheel")
    elif change is not None:
        vehicle = vehicle.with_parameters(symbolic=[
            "left_wheel.Ixx" if change == "inertia" else "left_wheel_joint.radius"])
    s = vehicle.constrained.system
    at = {name: vehicle.model.joints[vehicle.model.getJointId(name)].idx_q
          for name in vehicle.description.rolling}
    matters = [name for name, i in at.items()
               if ca.depends_on(ca.vertcat(s.gibbs, s.force), s.q[i])]
    assert matters == ["left_wheel_joint"][:count]


def test_parameters_of_a_description_are_those_of_its_vehicle():
    vehicle = shipped("tricycle")
    assert parameters_of(vehicle.description).values == vehicle.parameters.values


# -- remarks ---------------------------------------------------------------------------------------
def texts(vehicle, kind) -> list[str]:
    return [notice.text for notice in remarks(vehicle) if notice.kind is kind]


@pytest.mark.parametrize("off, told", [(4.9e-6, False), (5.1e-6, True)])
@pytest.mark.parametrize("side", [1, -1])
def test_contacts_out_of_the_plane_are_told_from_five_micrometres_on(off, told, side):
    parts = [link("base", 9.0), link("ball", 0.1), joint(
        "to_ball", "base", "ball", (-0.3, 0, side * off - 0.05), kind="fixed")]
    for name, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(f"{name}_wheel", 0.4), joint(name, "base", f"{name}_wheel", (0, y, 0))]
    found = texts(nhmech.load(robot(*parts), wheels=[
        Wheel("left", "disc", 0.1), Wheel("right", "disc", 0.1),
        Wheel(None, "caster_ball", 0.05, link="ball")]), NoticeKind.SUPPORT_OFFSETS)
    assert len(found) == told
    if told:
        assert found[0].endswith(f"from the ground: ball {side * 0.01:+.2f} mm")


def platform(angles, kind="mecanum"):
    """Roller wheels at the corners of a base."""
    corners = [(0.3, 0.25), (0.3, -0.25), (-0.3, 0.25), (-0.3, -0.25)]
    parts, wheels = [link("base", 9.0)], []
    for i, ((x, y), angle) in enumerate(zip(corners, angles)):
        parts += [link(f"w{i}", 0.4), joint(f"j{i}", "base", f"w{i}", (x, y, 0))]
        wheels.append(Wheel(f"j{i}", kind, 0.1, **(
            {"roller_angle": angle} if kind == "mecanum" else {})))
    return nhmech.load(robot(*parts), wheels=wheels)


@pytest.mark.parametrize("kind, nxi", [("disc", 3), ("omni", 6)])
def test_wheels_without_rollers_need_not_determine_the_motion(kind, nxi):
    """Three swivel casters leave the platform three motions; where all of them trail, as in the
    neutral pose, two of these turn wheels."""
    parts, wheels = [link("base", 9.0)], []
    for k, (x, y) in enumerate(((0.3, 0.2), (0.3, -0.2), (-0.3, 0.0))):
        parts += [link(f"f{k}", 0.3), joint(f"s{k}", "base", f"f{k}", (x, y, 0), axis=(0, 0, 1)),
                  link(f"w{k}", 0.2), joint(f"j{k}", f"f{k}", f"w{k}", (-0.05, 0, 0))]
        wheels.append(Wheel(f"j{k}", kind, 0.1, driven=False))
    vehicle = nhmech.load(robot(*parts), wheels=wheels)
    assert vehicle.frame.nxi == nxi
    found = texts(vehicle, NoticeKind.ROLLER_RANK)
    assert [text.startswith("the speeds of the 3 roller wheels determine only 2 of the base's 3")
            for text in found] == [True] * (kind == "omni")


@pytest.mark.parametrize("off, told", [(1e-5, False), (0.0, True)])
def test_roller_angles_that_differ_by_more_than_rounding_determine_the_motion(off, told):
    angles = [np.pi / 4] * 3
    angles[1] += off
    assert bool(texts(platform(angles), NoticeKind.ROLLER_RANK)) == told


@pytest.mark.parametrize("signs, rank", [((1, -1, -1, 1), 3), ((1, 1, 1, 1), 2),
                                         ((1, -1, -1), 3), ((1, 1, 1), 2), ((1, 1), 3)])
def test_roller_wheels_that_do_not_determine_the_motion_are_told(signs, rank):
    """From three wheels on."""
    found = texts(platform([sign * np.pi / 4 for sign in signs]), NoticeKind.ROLLER_RANK)
    if rank == 3:
        assert not found
    else:
        assert found[0].startswith(f"the speeds of the {len(signs)} roller wheels determine only "
                                   "2 of the base's 3 motions")


def test_limits_of_followers_of_two_leaders_are_told():
    """Without a fixed axle, and where a follower has any."""
    swerve = shipped("swerve")
    names = [axle.steering for axle in swerve.steering.steered]
    pair = [axle.steering for axle in swerve.steering.pair()]
    others = [name for name in names if name not in pair]

    def told(limits):
        changed = replace(swerve, description=replace(swerve.description, limits=limits))
        return texts(changed, NoticeKind.UNENFORCED_LIMITS)

    assert told({}) == [] and told(dict.fromkeys(names, JointLimits())) == []
    assert told({pair[0]: JointLimits(-1, 1)}) == []
    for limit in (JointLimits(-1, 1), JointLimits(lower=-1), JointLimits(upper=1)):
        text, = told({others[1]: limit})
        assert text.startswith(f"the limits of {others[1]} are not enforced: with two leaders "
                               f"({pair[0]} and {pair[1]})")
    car = shipped("ackermann_car")
    assert not texts(car, NoticeKind.UNENFORCED_LIMITS)


@pytest.mark.parametrize("part, told", [(0.999, False), (1.001, True)])
def test_damping_too_fast_for_a_usual_step_is_told(part, told):
    """A wheel on its own: damping over inertia is 0.9 * 2.785 / 1 ms."""
    vehicle = shipped("differential_drive")
    name = "left_wheel_joint"
    rate, _ = fastest_decay(vehicle.with_parameters({f"{name}.damping": 1.0}))
    damped = vehicle.with_parameters({f"{name}.damping": part * 0.9 * 2.785e3 / rate})
    assert bool(texts(damped, NoticeKind.STIFFNESS)) == told
