"""Which joints are wheels, and how large: by what they are, not by what they are called."""

from math import cos, inf, pi, sin

import numpy as np
import pytest

import nhmech
from nhmech.errors import ModelError
from nhmech.urdf.describe import describe
from nhmech.urdf.description import Witness
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheel import Wheel

MASS = ('<inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" '
        'izz="0.1"/></inertial>')
LYING = f"{pi / 2} 0 0"      # rpy of a URDF cylinder that lies along y


def shape(geometry, rpy="0 0 0", xyz="0 0 0", tag="collision"):
    return f'<{tag}><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{geometry}</geometry></{tag}>'


def part(name, parent, shapes="", kind="fixed", xyz="0 0 0", axis="0 1 0", rpy="0 0 0", limit=""):
    """A link and the joint that it hangs on, called name and name + "_j"."""
    limit = limit or ('<limit lower="-1" upper="1" effort="1" velocity="1"/>'
                      if kind in ("revolute", "prismatic") else "")
    return (f'<link name="{name}">{MASS}{shapes}</link><joint name="{name}_j" type="{kind}">'
            f'<parent link="{parent}"/><child link="{name}"/><origin xyz="{xyz}" rpy="{rpy}"/>'
            f'<axis xyz="{axis}"/>{limit}</joint>')


def disc(radius, width=0.02):
    return shape(f'<cylinder radius="{radius}" length="{width}"/>', LYING)


def roll(name, xyz, radius=0.1, parent="base", kind="continuous", shapes=None, **more):
    return part(name, parent, disc(radius) if shapes is None else shapes, kind, xyz, **more)


def ball(name, xyz, radius=0.03):
    return part(name, "base", shape(f'<sphere radius="{radius}"/>'), xyz=xyz)


PAIR = roll("a", "0 0.2 0") + roll("b", "0 -0.2 0")
BALL = ball("c", "-0.3 0 -0.07")


def robot(*parts):
    return f'<robot name="r"><link name="base">{MASS}</link>{"".join(parts)}</robot>'


def wheels(*parts, **arguments):
    return {w.name: (w.kind, w.radius) for w in describe(robot(*parts), **arguments).wheels}


def notices(description, kind):
    return [str(n) for n in description.notices if n.kind is kind]


FOUND = {"a_j": ("disc", 0.1), "b_j": ("disc", 0.1), "c": ("caster_ball", 0.03)}
UP = "0 0 1"
FREE = '<limit effort="1" velocity="1"/>'


# --- what turns and is no wheel -------------------------------------------------------------------

ARM = (part("pan", "base", disc(0.05), "continuous", "0 0 0.2", UP)
       + part("elbow", "pan", disc(0.05), "revolute", "0 0 0.3")
       + part("wrist", "elbow", disc(0.05), "continuous", "0 0 0.3"))


@pytest.mark.parametrize("other", [
    ARM,
    part("lidar", "base", shape('<cylinder radius="0.04" length="0.05"/>'), "continuous",
         "0 0 0.1", UP),
    roll("flywheel", "0 0 0.1", 0.08),
    roll("reaction_wheel", "0 0 0.3", 0.1),
    roll("spare_wheel", "-0.4 0 0.2", 0.1),
    roll("gear", "0 0.15 0", 0.09),                 # beside the wheel, nearly as large
    roll("pulley", "-0.1 0.2 0", 0.03),
    part("propeller", "base", disc(0.3), "continuous", "-0.4 0 0.5", "1 0 0"),
    part("turret", "base", disc(0.1), "continuous", "0 0 0.2", UP),
    part("steering_wheel", "base", disc(0.1), "continuous", "0.2 0 0.4", "1 0 0"),
    part("gripper_wheel", "base", "", "revolute", "0.3 0 0.2"),
], ids=["arm", "lidar", "flywheel", "reaction wheel", "spare wheel", "gear", "pulley", "propeller",
        "turret", "steering wheel", "gripper"])
def test_what_turns_and_is_no_wheel(other):
    assert wheels(PAIR, BALL, other) == FOUND


def test_a_name_in_the_air_is_told():
    description = describe(robot(PAIR, BALL, roll("reaction_wheel", "0 0 0.3", 0.08)))
    assert any("reaction_wheel_j: no wheel" in n and "0.32 m above" in n
               for n in notices(description, NoticeKind.HANDLE))


def test_a_wrist_below_the_wheels_is_refused_or_outvoted():
    """It reaches the lowest plane alone; names or a base_footprint tell which plane is the
    ground."""
    wrist = roll("wrist", "0.4 0 -0.4", 0.05)
    with pytest.raises(ModelError, match='"wrist_j">: alone reaches the lowest') as caught:
        describe(robot(PAIR, BALL, wrist))
    assert "Wheel('a_j', 'disc', 0.1), Wheel('b_j', 'disc', 0.1)" in caught.value.remedy.python
    mark = part("base_footprint", "base", xyz="0 0 -0.1")
    assert wheels(PAIR, BALL, wrist, mark) == FOUND
    named = PAIR.replace('"a', '"wheel_a').replace('"b_', '"wheel_b_').replace('"b"', '"wheel_b"')
    assert set(wheels(named, BALL, wrist)) == {"wheel_a_j", "wheel_b_j", "c"}


def test_a_drum_on_an_arm_below_named_wheels_is_in_the_ground():
    """Its motor makes it no wheel; what a plugin lists is one."""
    named = PAIR.replace('"a', '"wheel_a').replace('"b_', '"wheel_b_').replace('"b"', '"wheel_b"')
    drum = (part("arm", "base", "", "revolute", "0.4 0 0.1")
            + roll("drum", "0.2 0 -0.3", 0.1, "arm")
            + '<transmission><joint name="drum_j"><hardwareInterface>VelocityJointInterface'
              "</hardwareInterface></joint></transmission>")
    description = describe(robot(named, BALL, drum))
    assert {w.name for w in description.wheels} == {"wheel_a_j", "wheel_b_j", "c"}
    assert any("drum_j: no wheel, because its lowest point is 0.2 m below" in text
               for text in notices(description, NoticeKind.HANDLE))
    with pytest.raises(ModelError, match="a_j, b_j share a plane above it") as caught:
        describe(robot(PAIR, BALL, drum))
    assert {w.name for w in list(pasted(robot(PAIR, BALL, drum), caught.value))[1].wheels} == {
        "a_j", "b_j", "c"}


def test_an_arm_is_no_unicycle():
    """Its last joint turns round and round; a name makes it a wheel on a leg."""
    arm = [part("shoulder", "base", disc(0.05), "revolute", "0 0 0.1"),
           part("elbow", "shoulder", disc(0.05), "revolute", "0.4 0 0")]
    wrist = roll("flange", "0.4 0 -0.1", 0.05, "elbow")
    with pytest.raises(ModelError, match="it hangs on shoulder_j, elbow_j, as a wrist") as caught:
        describe(robot(*arm, wrist))
    assert "Wheel('flange_j', 'disc', 0.05)" in caught.value.remedy.python
    assert wheels(*arm, wrist.replace("flange", "wheel")) == {"wheel_j": ("disc", 0.05)}
    assert wheels(wrist.replace("elbow", "base")) == {"flange_j": ("disc", 0.05)}


def test_a_ball_that_turns_every_way_is_a_caster():
    joints = (part("x", "base", "", "continuous", "-0.3 0 -0.07", "1 0 0")
              + part("y", "x", "", "continuous", axis="0 1 0"))
    for last, axis in (("z", UP), ("x2", "1 0 0")):
        ball_ = part(last, "y", shape('<sphere radius="0.03"/>'), "continuous", axis=axis)
        assert wheels(PAIR, joints, ball_) == {"a_j": ("disc", 0.1), "b_j": ("disc", 0.1),
                                               last: ("caster_ball", 0.03)}


# --- what is a wheel ------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [FREE, '<limit lower="0" upper="0" effort="1" velocity="1"/>',
                                   '<limit lower="-1e16" upper="1e16" effort="1" velocity="1"/>',
                                   '<limit lower="-1.57" upper="1.57" effort="1" velocity="1"/>'])
def test_limits_do_not_make_a_wheel_something_else(limit):
    pair = (roll("a", "0 0.2 0", kind="revolute", limit=limit)
            + roll("b", "0 -0.2 0", kind="revolute", limit=limit))
    description = describe(robot(pair, BALL))
    assert description.rolling == ("a_j", "b_j")
    assert notices(description, NoticeKind.IGNORED_LIMITS)
    joint = next(f for f in description.reasons["a_j"].facts if f.witness is Witness.JOINT)
    assert joint.agrees == ("1.57" not in limit)


def rollers(wheel, radius=0.1, count=8, small=0.02):
    """Tangential rollers in a ring about y, which reach to `radius`."""
    return "".join(
        part(f"{wheel}{k}", wheel, shape(f'<sphere radius="{small}"/>'), "continuous",
             f"{(radius - small) * cos(t):.12f} 0 {(radius - small) * sin(t):.12f}",
             f"{sin(t):.12f} 0 {-cos(t):.12f}")
        for k, t in enumerate(2 * pi * np.arange(count) / count))


def test_a_wheel_may_carry_rollers():
    omni = "".join(
        part(name, "base", shape('<cylinder radius="0.05" length="0.02"/>', LYING), "continuous",
             f"{0.2 * cos(t):.12f} {0.2 * sin(t):.12f} 0", rpy=f"0 0 {t - pi / 2}")
        + rollers(name) for name, t in zip("klm", (0, 2 * pi / 3, 4 * pi / 3), strict=True))
    mend = [Wheel(f"{n}_j", "omni", 0.1) for n in "klm"]
    try:
        found = describe(robot(omni))
    except ModelError as error:        # what kind they are is decided elsewhere
        assert "Wheel('k_j', 'omni', 0.1)" in error.remedy.python
        found = describe(robot(omni), wheels=mend)
    assert {w.joint: w.radius for w in found.wheels} == dict.fromkeys(("k_j", "l_j", "m_j"),
                                                                      pytest.approx(0.1))


# --- where the radius is from ---------------------------------------------------------------------

NO_SHAPE = roll("wheel_a", "0 0.2 0", shapes="") + roll("wheel_b", "0 -0.2 0", shapes="")
FOOT = part("base_footprint", "base", xyz="0 0 -0.1")
DIFF_DRIVE = ('<gazebo><plugin name="d" filename="libgazebo_ros_diff_drive.so"><left_joint>a_j'
              '</left_joint><right_joint>b_j</right_joint><wheel_diameter>{}</wheel_diameter>'
              '</plugin></gazebo>')


def test_a_wrist_above_wheels_without_a_shape_is_no_ground():
    arm = (part("shoulder", "base", "", "revolute", "0 0 0.3")
           + part("wrist", "shoulder", disc(0.05), "continuous", "0.3 0 0"))
    plugin = DIFF_DRIVE.format(0.2).replace("a_j", "wheel_a_j").replace("b_j", "wheel_b_j")
    for more in (FOOT, plugin):
        assert wheels(NO_SHAPE, BALL, more, arm) == wheels(NO_SHAPE, BALL, more)
        assert len(wheels(NO_SHAPE, BALL, more)) == 3


def test_a_height_is_enough_where_names_say_wheel_and_is_told():
    description = describe(robot(NO_SHAPE, FOOT, BALL))
    assert [w.radius for w in description.wheels] == pytest.approx([0.1, 0.1, 0.03])
    [notice] = notices(description, NoticeKind.OTHER_RADIUS)
    assert notice.startswith("wheel_a_j, wheel_b_j: radius 0.1 m is only the height of its axle")
    drawn = robot(PAIR, roll("wheel_x", "0.4 0 0.05", shapes=""))
    assert describe(drawn).wheels[-1].radius == pytest.approx(0.15)


def test_a_plugin_s_diameter_is_the_last_source():
    bare = PAIR.replace(disc(0.1), "")
    description = describe(robot(bare, DIFF_DRIVE.format(0.16), BALL.replace("0.07", "0.05")))
    assert [w.radius for w in description.wheels] == pytest.approx([0.08, 0.08, 0.03])
    [notice] = notices(description, NoticeKind.OTHER_RADIUS)
    assert "a_j, b_j: radius 0.08 m is only the radius in plugin" in notice
    left_over = describe(robot(PAIR, DIFF_DRIVE.format(0.66), BALL))
    assert left_over.wheels[0].radius == 0.1
    [notice] = notices(left_over, NoticeKind.OTHER_RADIUS)
    assert "radius 0.1 m" in notice and "0.33 m" in notice
    against = left_over.reasons["a_j"].contradicting
    assert [(f.witness, f.radius) for f in against] == [(Witness.ELEMENT, pytest.approx(0.33))]


def test_no_source_no_number():
    with pytest.raises(ModelError) as caught:
        describe(robot(NO_SHAPE, BALL))
    assert "RADIUS the distance from the axle to the ground" in str(caught.value)


def pasted(text, error):
    """Every `wheels=[...]` of a remedy, typed in as it stands."""
    for line in error.remedy.python.split("wheels=")[1:]:
        yield describe(text, wheels=eval(line[:line.index("]") + 1], {"Wheel": Wheel}))


def test_every_suggestion_about_heights_loads():
    uneven = robot(PAIR, roll("front", "0.4 0 0", 0.13), BALL)
    with pytest.raises(ModelError, match="one plane") as caught:
        describe(uneven)
    mended, without = pasted(uneven, caught.value)
    assert [w.radius for w in mended.wheels] == pytest.approx([0.1, 0.1, 0.1, 0.03])
    assert [w.name for w in without.wheels] == ["a_j", "b_j", "c"]
    floating = robot(PAIR, BALL.replace("-0.07", "-0.17"), FOOT.replace("-0.1", "-0.2"))
    with pytest.raises(ModelError, match="contradicts the height") as caught:
        describe(floating)
    high, low = pasted(floating, caught.value)
    assert [w.radius for w in high.wheels] == pytest.approx([0.2, 0.2, 0.03])
    assert low.wheels[0].radius == 0.1
    assert "RADIUS" not in str(caught.value)


def test_two_sources_outvote_one(tmp_path):
    """A cylinder that is only the hub, against the drawn tyre and the height."""
    drawn = shape('<sphere radius="0.1"/>', tag="visual")
    hub = disc(0.04)
    pair = roll("a", "0 0.2 0", shapes=hub + drawn) + roll("b", "0 -0.2 0", shapes=hub + drawn)
    description = describe(robot(pair, BALL, FOOT))
    assert [w.radius for w in description.wheels] == [0.1, 0.1, 0.03]
    [notice] = notices(description, NoticeKind.OTHER_RADIUS)
    assert "0.04 m" in notice and "0.1 m" in notice
    # a footprint that is a little off is only told
    low = describe(robot(PAIR, BALL, FOOT.replace("-0.1", "-0.13")))
    assert low.wheels[0].radius == 0.1
    assert "0.13 m" in notices(low, NoticeKind.OTHER_RADIUS)[0]


# --- given numbers --------------------------------------------------------------------------------


def test_given_numbers_are_checked():
    given = [Wheel("a_j", "disc", 0.12), Wheel("b_j", "disc", 0.1),
             Wheel(None, "caster_ball", 0.03, link="c")]
    description = describe(robot(PAIR, BALL, FOOT), wheels=given)
    [radius] = notices(description, NoticeKind.OTHER_RADIUS)
    assert radius.startswith("a_j: radius 0.12 m as given") and "0.1 m" in radius
    [plane] = notices(description, NoticeKind.OFF_PLANE)
    assert "a_j 20.0 mm below" in plane
    left_out = describe(robot(PAIR, BALL), wheels=[given[1]])
    [unlisted] = notices(left_out, NoticeKind.UNLISTED_WHEEL)
    assert unlisted.startswith("a_j: would be found")
    right = describe(robot(PAIR, BALL, FOOT), wheels=[Wheel("a_j", "disc", 0.1), *given[1:]])
    assert not [n for n in right.notices if n.kind in (NoticeKind.OTHER_RADIUS,
                                                       NoticeKind.OFF_PLANE)]


# --- casters and wheels that nothing lets roll ----------------------------------------------------


def test_a_fixed_wheel_of_another_size_slides_and_one_like_the_others_is_told():
    small = part("r", "base", disc(0.03), xyz="-0.3 0 -0.07")
    assert wheels(PAIR, small)["r"] == ("caster_ball", 0.03)
    assert notices(describe(robot(PAIR, small)), NoticeKind.CASTER_SHAPE)
    with pytest.raises(ModelError, match="no joint lets it roll") as caught:
        describe(robot(PAIR, part("r", "base", disc(0.1), xyz="-0.3 0 0")))
    [mended] = pasted(robot(PAIR, part("r", "base", disc(0.1), xyz="-0.3 0 0")), caught.value)
    assert [w.kind for w in mended.wheels] == ["disc", "disc", "blade"]


def test_steered_wheels_that_cannot_roll_are_blades():
    front = "".join(part(n, "base", disc(0.1), "revolute", f"0.5 {y} 0", UP)
                    for n, y in (("f", 0.2), ("g", -0.2)))
    description = describe(robot(PAIR, front))
    assert [(w.name, w.kind) for w in description.wheels[2:]] == [("f", "blade"), ("g", "blade")]
    assert description.steering == ("f_j", "g_j")
    assert description.notices[0].kind is NoticeKind.NO_ROLLING


def test_a_caster_in_one_piece_swings_without_friction():
    swivel = part("s", "base", shape('<cylinder radius="0.03" length="0.02"/>', LYING,
                                     "-0.04 0 0"), "continuous", "-0.3 0 -0.07", UP)
    assert wheels(PAIR, swivel) == {"a_j": ("disc", 0.1), "b_j": ("disc", 0.1),
                                    "s": ("caster_ball", 0.03)}


def test_the_line_that_finds_a_caster_s_mesh():
    mesh = part("caster", "base", shape('<mesh filename="package://p/c.stl"/>'),
                xyz="-0.3 0 -0.05")
    with pytest.raises(ModelError) as caught:
        describe(robot(PAIR, mesh))
    assert "--package p=FOLDER" in caught.value.remedy.command


# --- what a file has wrong ------------------------------------------------------------------------


@pytest.mark.parametrize("names", ["ab", ("left_wheel", "right_wheel")])
def test_a_cylinder_that_stands_across_its_axle(names):
    """Forgotten rpy: refused whatever the names, and the line loads; a height that says the same
    confirms it."""
    standing = shape('<cylinder radius="0.1" length="0.02"/>')
    text = robot(*(roll(n, f"0 {y} 0", shapes=standing)
                   for n, y in zip(names, (0.2, -0.2), strict=True)), BALL)
    with pytest.raises(ModelError, match="A URDF cylinder stands along z") as caught:
        describe(text)
    [mended] = pasted(text, caught.value)
    assert [w.radius for w in mended.wheels] == [0.1, 0.1, 0.03]
    if names == "ab":
        return
    confirmed = describe(text.replace("</robot>", f"{FOOT}</robot>"))
    assert [w.radius for w in confirmed.wheels] == pytest.approx([0.1, 0.1, 0.03])
    assert notices(confirmed, NoticeKind.OTHER_RADIUS)


def test_a_wheel_may_carry_something_else():
    """A cap that turns on it, whatever for; but not the wheel itself."""
    cap = part("cap", "a", disc(0.03), "continuous", "0 0.02 0")
    description = describe(robot(PAIR, cap, BALL))
    assert description.rolling == ("a_j", "b_j") and "cap_j" in description.locked
    assert [f.agrees for f in description.reasons["a_j"].facts if f.witness is Witness.LEAF] == [
        False]
    motor = part("motor", "base", disc(0.1), "continuous", "0 0.2 0")
    pair = motor + roll("a", "0 0.02 0", parent="motor") + roll("b", "0 -0.2 0")
    assert describe(robot(pair, BALL)).rolling == ("a_j", "b_j")


def test_two_wheels_on_one_shaft_touch_in_the_middle():
    shaft = part("shaft", "base", "".join(
        shape('<cylinder radius="0.1" length="0.02"/>', LYING, f"0 {y} 0") for y in (0.2, -0.2)),
        "continuous", "-0.4 0 0")
    wheel = describe(robot(PAIR, shaft)).wheels[-1]
    assert wheel.joint == "shaft_j" and wheel.point == (0.0, 0.0, 0.0)


def test_tyres_on_both_ends_of_a_shaft_bear_by_the_line_of_the_notice():
    """A toy with two shafts would fall over as a bicycle does."""
    def shaft(name, x, tyres):
        return part(name, "base", "".join(shape('<cylinder radius="0.1" length="0.02"/>', LYING,
                                                f"0 {y} 0") for y in tyres), "continuous", x)
    text = robot(shaft("front", "0.4 0 0", (0.2, -0.2)), shaft("rear", "-0.4 0 0", (0.2, -0.2)))
    vehicle = nhmech.load(text)
    (said,) = [n for n in vehicle.notices if n.kind is NoticeKind.SHARED_SHAFT]
    assert "front_j, rear_j: turns tyres on both sides" in said.text
    held = nhmech.load(text, wheels=eval(said.remedy.python.partition("wheels=")[2],
                                         {"Wheel": Wheel}))
    assert held.support.level and len(held.speeds) == 1 < len(vehicle.speeds)
    assert not any(n.kind is NoticeKind.SHARED_SHAFT for n in held.notices)
    twins = shaft("front", "0.4 0 0", (0.03, -0.03))
    assert not notices(describe(robot(PAIR, twins)), NoticeKind.SHARED_SHAFT)


def test_a_leaning_axle_is_refused_with_wheels_and_casters():
    leaning = PAIR.replace('rpy="0 0 0"/><axis', 'rpy="0.1 0 0"/><axis')
    with pytest.raises(ModelError, match="leans 5.7 degrees") as caught:
        describe(robot(leaning, BALL))
    [mended] = pasted(robot(leaning, BALL), caught.value)
    assert [w.name for w in mended.wheels] == ["a_j", "b_j", "c"]


def test_legs_are_not_offered_as_wheels():
    leg = (part("thigh", "base", disc(0.04), "revolute", "0 0.1 0")
           + part("calf", "thigh", shape('<sphere radius="0.02"/>', xyz="0 0 -0.2"), "revolute",
                  "0 0 -0.2"))
    with pytest.raises(ModelError, match="those of legs and arms") as caught:
        describe(robot(leg))
    assert caught.value.remedy is None


def test_a_robot_that_is_only_drawn():
    """As in tutorials: no collision shapes at all, cylinders along z and turned joints."""
    pair = "".join(roll(n, f"0 {y} 0", shapes=shape('<cylinder radius="0.1" length="0.05"/>',
                                                    tag="visual"), rpy=f"{-pi / 2} 0 0", axis=UP)
                   for n, y in (("a", 0.2), ("b", -0.2)))
    sphere = part("c", "base", shape('<sphere radius="0.05"/>', tag="visual"), xyz="0.3 0 -0.05")
    head = part("h", "base", shape('<sphere radius="0.05"/>', tag="visual"), xyz="0.1 0 0.3")
    assert wheels(pair, sphere, head) == {"a_j": ("disc", 0.1), "b_j": ("disc", 0.1),
                                          "c": ("caster_ball", 0.05)}


@pytest.mark.parametrize("rpy, is_free", [("0 0 0", True), ("0.01 0 0.01", True),
                                          ("0 0 0.1", False), ("0.1 0 0", False)])
def test_wheels_side_by_side_are_one_axle_if_their_axles_are_one_line(rpy, is_free):
    """With toe or camber the base cannot pitch about both."""
    given = [Wheel(name, "disc", 0.1) for name in ("a_j", "b_j")]
    pair = roll("a", "0 0.2 0") + roll("b", "0 -0.2 0", rpy=rpy)
    found = describe(robot(pair), wheels=given)
    assert bool(notices(found, NoticeKind.FREE_PITCH)) == is_free


@pytest.mark.parametrize("camber", [-0.6, 0.6])
def test_a_leaning_wheel_of_two_is_off_the_plane_by_its_closed_form(camber):
    """A disc's lowest point is r cos(camber) below its centre: 100 - 82.53 mm are missing."""
    pair = roll("a", "0 0.2 0") + roll("b", "0 -0.2 0", rpy=f"{camber} 0 0")
    found = describe(robot(pair), wheels=[Wheel(name, "disc", 0.1) for name in ("a_j", "b_j")])
    [said] = notices(found, NoticeKind.OFF_PLANE)
    assert said.endswith(f"b_j {1e2 * (1 - cos(camber)):.1f} mm above")


def swivel(limit: str, rolling: str = '<limit effort="2" velocity="0"/>') -> str:
    """A castor whose swivel has these limits, and whose wheel has those."""
    fork = part("f", "base", kind="revolute", xyz="-0.3 0 0", axis="0 0 1", limit=limit)
    return fork + roll("c", "-0.05 0 -0.05", 0.05, "f", limit=rolling)


@pytest.mark.parametrize("limit, words, ends", [
    ('<limit lower="-1" upper="2" effort="1" velocity="1"/>', None, (-1, 2)),
    ('<limit effort="1" velocity="1"/>', "f_j: <limit> has neither lower nor upper", (-inf, inf)),
])
def test_limits_of_a_swivel(limit, words, ends):
    """A limit of zero is said of what is driven alone."""
    found = describe(robot(PAIR, swivel(limit)))
    said = [n for n in notices(found, NoticeKind.IGNORED_LIMITS)]
    assert found.limits["f_j"].lower == ends[0] and found.limits["f_j"].upper == ends[1]
    assert [words in n for n in said] == [True] if words else not said


def test_a_limit_of_zero_on_what_is_driven_is_none():
    for limit, words in (('<limit effort="0" velocity="3"/>', 1), ('<limit effort="2" '
                                                                   'velocity="3"/>', 0)):
        pair = roll("a", "0 0.2 0", limit=limit) + roll("b", "0 -0.2 0")
        found = describe(robot(pair, BALL))
        assert set(found.driven) == {"a_j", "b_j"}
        said = [n for n in notices(found, NoticeKind.IGNORED_LIMITS) if "limit 0" in n]
        assert len(said) == words and all(n.startswith("a_j:") for n in said)
        assert found.limits["a_j"].effort == (inf if words else 2.0)


@pytest.mark.parametrize("masses, is_light", [((1, 0), False), ((0, 1), False), ((0, 0), True)])
def test_a_body_is_massless_if_all_its_links_are(masses, is_light):
    """The wheel and a tag that is fixed to it."""
    wheel, tag = (MASS.replace('mass value="1"', f'mass value="{mass}"') for mass in masses)
    text = robot(PAIR, BALL, part("tag", "a"))
    text = text.replace(f'<link name="a">{MASS}', f'<link name="a">{wheel}')
    text = text.replace(f'<link name="tag">{MASS}', f'<link name="tag">{tag}')
    found = describe(text)
    assert [n.startswith("a:") for n in notices(found, NoticeKind.MASSLESS)] == [True] * is_light


def test_a_support_that_may_be_in_a_missing_mesh():
    """Whatever its name; a chassis above the axle itself is no support, but may hold one."""
    mesh = part("k", "base", shape('<mesh filename="package://p/c.stl"/>'), xyz="-0.3 0 -0.05")
    with pytest.raises(ModelError, match="tip over") as caught:
        describe(robot(PAIR, mesh))
    assert "packages={'p': 'FOLDER'}" in caught.value.remedy.python
    [supported] = pasted(robot(PAIR, mesh), caught.value)
    assert [w.name for w in supported.wheels] == ["a_j", "b_j", "k"]
    chassis = mesh.replace("-0.3 0 -0.05", "0 0 0.05")
    with pytest.raises(ModelError, match="alone to let it balance") as caught:
        describe(robot(PAIR, chassis))
    [balancing] = pasted(robot(PAIR, chassis), caught.value)
    assert notices(balancing, NoticeKind.FREE_PITCH)
    high = mesh.replace("-0.05", "0.5")
    assert notices(describe(robot(PAIR, high)), NoticeKind.FREE_PITCH)


def test_a_cylinder_beside_its_axle():
    """A joint's origin that is wrong: told with the numbers, whatever the names; never left out in
    silence."""
    beside = PAIR.replace(disc(0.1), shape('<cylinder radius="0.1" length="0.02"/>', LYING,
                                           "0.03 0 0"))
    with pytest.raises(ModelError, match=r"\(radius 0\.1 m\) lies 0\.03 m beside it") as caught:
        describe(robot(beside, BALL))
    [mended] = pasted(robot(beside, BALL), caught.value)
    assert [(w.name, w.radius) for w in mended.wheels] == [("a_j", 0.1), ("b_j", 0.1), ("c", 0.03)]
    rear = roll("m", "-0.5 0.2 0") + roll("n", "-0.5 -0.2 0")
    both = describe(robot(beside, rear))
    assert set(both.rolling) == {"a_j", "b_j", "m_j", "n_j"}
    assert notices(both, NoticeKind.OTHER_RADIUS)


def test_propellers_and_arms_are_not_offered():
    props = "".join(part(f"p{k}", "base", shape('<cylinder radius="0.1" length="0.01"/>'),
                         "continuous", f"{x} {y} 0.05", UP)
                    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))))
    with pytest.raises(ModelError, match="no rolling joint") as caught:
        describe(robot(props))
    assert caught.value.remedy is None


@pytest.mark.parametrize("radius, is_contradicted", [(0.3, False), (0.45, True)])
def test_a_tyre_of_many_parts_is_no_rim_beside_its_hub(radius, is_contradicted):
    """Straight pieces in a ring, 0.3 m from the axle, and a hub: a wheel as large as the ring is
    contradicted by nothing that is drawn, a larger one is."""
    ring = "".join(shape('<cylinder radius="0.02" length="0.12"/>', f"0 {pi - a:.6f} 0",
                         f"{0.28 * cos(a):.6f} 0 {0.28 * sin(a):.6f}", "visual")
                   for a in np.arange(0, 2 * pi, pi / 10))
    hub = shape('<cylinder radius="0.022" length="0.1"/>', LYING, tag="visual")
    sides = "".join(part(side, "base", ring + hub, "continuous", f"0 {y} {radius}")
                    for side, y in (("left", 0.4), ("right", -0.4)))
    text = f'<robot name="pieces"><link name="base">{MASS}</link>{sides}</robot>'
    found = describe(text, wheels=[Wheel("left_j", "disc", radius),
                                   Wheel("right_j", "disc", radius)])
    told = [n for n in found.notices if n.kind is NoticeKind.OTHER_RADIUS]
    assert bool(told) == is_contradicted


def test_of_two_wheels_the_one_that_no_caster_stands_with_is_off_the_plane():
    text = robot(roll("a", "0 0.2 -0.04"), roll("b", "0 -0.2 0"), BALL)
    with pytest.raises(ModelError, match='line 1, <joint name="a_j">: the wheels do not') as caught:
        describe(text)
    mended, _ = pasted(text, caught.value)
    assert [w.radius for w in mended.wheels] == pytest.approx([0.06, 0.1, 0.03])


def test_radii_in_millimetres_are_told_by_the_distance_of_the_wheels():
    text = robot(roll("a", "0 0.2 0", 100), roll("b", "0 -0.2 0", 100), BALL)
    with pytest.raises(ModelError, match="'a_j' would have radius 100 m, though") as caught:
        describe(text)
    (mended,) = pasted(text, caught.value)
    assert [w.radius for w in mended.wheels] == [0.1, 0.1, 0.03]


@pytest.mark.parametrize("apart", [0.0, 1e-9])
def test_wheels_at_one_place_have_radii_in_metres(apart):
    """Divided by a thousand, these would be as much too large for their distance."""
    text = robot(roll("a", "0 0 0"), roll("b", f"0 {apart} 0"), BALL)
    assert [w.radius for w in describe(text).wheels[:2]] == [0.1, 0.1]


def test_a_ball_on_the_axle_of_a_wheel_is_the_other_wheel():
    sphere = roll("a", "0 0.2 0", shapes=shape('<sphere radius="0.1"/>'))
    assert wheels(sphere, roll("b", "0 -0.2 0"), BALL) == FOUND


def test_a_body_on_a_ball_that_is_the_root_has_a_line():
    """Or below it, as the file has it."""
    sphere = shape('<sphere radius="0.1"/>')
    root = f'<robot name="r"><link name="ball">{MASS}{sphere}</link>'
    chain = (part("x", "ball", "", "continuous", axis="1 0 0") + part("y", "x", "", "continuous")
             + part("body", "y", "", "continuous", axis=UP))
    with pytest.raises(ModelError, match="no rolling joint") as caught:
        describe(root + chain + "</robot>")
    assert caught.value.remedy.python.startswith("If it rolls on the ball 'ball': wheels=[")
    line = caught.value.remedy.python.partition("wheels=")[2]
    found, free = line.split(", free=")
    vehicle = nhmech.load(root + chain + "</robot>", wheels=eval(found, {"Wheel": Wheel}),
                          free=eval(free))
    assert {"x_j", "y_j", "body_j"} <= set(vehicle.speeds)
