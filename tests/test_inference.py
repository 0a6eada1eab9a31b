"""Wheels, casters, roles, drives and the `<nhmech>` element on small robots made here."""

from math import pi

import numpy as np
import pinocchio as pin
import pytest
from metamorphic import box_triangles, write_stl

from nhmech.errors import InputError, ModelError
from nhmech.urdf.describe import describe
from nhmech.urdf.description import MidAxle, Released
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.tag import format_tag
from nhmech.urdf.wheel import Wheel

MASS = ('<inertial><mass value="1"/>'
        '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>')
LYING = '<origin rpy="1.5707963267948966 0 0"/>'


def link(name, shape="", origin="", mass=MASS):
    collision = f"<collision>{origin}<geometry>{shape}</geometry></collision>" if shape else ""
    return f'<link name="{name}">{mass}{collision}</link>'


def joint(name, child, *, parent="base", kind="continuous", xyz="0 0 0", rpy="0 0 0", axis="0 1 0",
          extra=""):
    limit = (extra if "<limit" in extra or kind in ("continuous", "fixed")
             else extra + '<limit lower="-1" upper="1" effort="1" velocity="1"/>')
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{limit}</joint>')


def tyre(radius):
    return f'<cylinder radius="{radius}" length="0.02"/>'


def wheel(name, xyz, *, radius=0.1, parent="base", **more):
    return link(name, tyre(radius), LYING) + joint(f"{name}_joint", name, parent=parent, xyz=xyz,
                                                   **more)


def ball(name, xyz, radius=0.03):
    return link(name, f'<sphere radius="{radius}"/>') + joint(f"{name}_joint", name, kind="fixed",
                                                              xyz=xyz)


PAIR = wheel("left_wheel", "0 0.2 0") + wheel("right_wheel", "0 -0.2 0")
CASTER = ball("caster", "-0.3 0 -0.07")


def robot(*parts):
    return f'<robot name="cart">{link("base")}{"".join(parts)}</robot>'


def notices(description, kind):
    return [str(notice) for notice in description.notices if notice.kind is kind]


def wheels_of(text, **arguments):
    return {w.name: (w.kind, w.radius) for w in describe(text, **arguments).wheels}


# --- wheels


def test_a_lying_cylinder_where_no_wheel_is_slides_as_a_ball():
    """It is one like what slides beside it; an upright post that reaches the ground is none, nor is
    a cover around a wheel."""
    def fixed(name, shape, xyz, origin=""):
        return link(name, shape, origin) + joint(f"{name}_joint", name, kind="fixed", xyz=xyz)

    cart = robot(wheel("left_wheel", "0.08 0.2 0"), wheel("right_wheel", "0.08 -0.2 0"), CASTER,
                 fixed("roller", '<cylinder radius="0.04" length="0.1"/>', "0.3 0.1 -0.06", LYING),
                 fixed("post", '<cylinder radius="0.02" length="0.1"/>', "0.3 -0.1 -0.05"),
                 fixed("cover", tyre(0.1), "0.08 0.25 0", LYING))
    assert {w.link: w.radius for w in describe(cart).wheels if w.kind == "caster_ball"} == {
        "caster": 0.03, "roller": 0.04}


def test_pair_and_caster():
    description = describe(robot(PAIR, CASTER))
    assert wheels_of(robot(PAIR, CASTER)) == {"left_wheel_joint": ("disc", 0.1),
                                              "right_wheel_joint": ("disc", 0.1),
                                              "caster": ("caster_ball", 0.03)}
    assert description.rolling == description.driven == ("left_wheel_joint", "right_wheel_joint")
    reason = str(description.reasons["left_wheel_joint"])
    assert "'left_wheel_joint'" in reason and "0.1 m" in reason


def test_the_name_may_be_the_link_s_or_that_of_a_fixed_tyre():
    by_link = link("front_wheel", tyre(0.1), LYING) + joint("traction", "front_wheel",
                                                            xyz="0.5 0 0")
    hub = link("rotor", tyre(0.04), LYING) + joint("motor", "rotor", xyz="0.5 0 0")
    glue = joint("glue", "wheel_tyre", parent="rotor", kind="fixed", xyz="0 0.05 0")
    tyred = hub + link("wheel_tyre", tyre(0.1), LYING) + glue
    assert wheels_of(robot(PAIR, by_link))["traction"] == ("disc", 0.1)
    description = describe(robot(PAIR, tyred))
    assert {w.name: w.radius for w in description.wheels}["motor"] == 0.1
    assert description.wheels[-1].point == (0.0, 0.05,
                                            0.0) and description.wheels[-1].link == "rotor"
    assert "motor" not in wheels_of(robot(PAIR, CASTER, hub))


def test_steering_named_wheel_is_no_wheel():
    fork = link("fork") + joint("front_wheel_steering", "fork", kind="revolute", xyz="0.5 0 0",
                                axis="0 0 1")
    description = describe(robot(PAIR, fork, wheel("front_wheel", "0 0 0", parent="fork")))
    assert description.steering == ("front_wheel_steering",) and len(description.wheels) == 3
    assert set(description.driven) == {"left_wheel_joint", "right_wheel_joint",
                                       "front_wheel_steering"}


def test_rounded_angles_are_snapped():
    tilted = PAIR.replace(' rpy="0 0 0"', ' rpy="-1.57 0 0"').replace(LYING, "")
    tilted = tilted.replace('axis xyz="0 1 0"', 'axis xyz="0 0 1"')
    description = describe(robot(tilted, CASTER))
    assert f'rpy="{-pi / 2!r}' in description.xml
    assert notices(description, NoticeKind.ROUNDED_ANGLES)


@pytest.mark.parametrize("height", [0.0, 0.02, -0.003])
@pytest.mark.parametrize("tag", ["collision", "visual"])
def test_a_footprint_as_high_as_the_axles_says_nothing_about_the_radius(height, tag):
    """Makers put base_footprint into the base: no wheel has its ground there."""
    text = robot(PAIR, CASTER, link("base_footprint"),
                 joint("foot", "base_footprint", kind="fixed", xyz=f"0 0 {height}"))
    description = describe(text.replace("collision", tag))
    assert [(w.kind, w.radius) for w in description.wheels] == [
        (w.kind, w.radius) for w in describe(robot(PAIR, CASTER)).wheels]


@pytest.mark.parametrize("heavy", [0.05, -0.05])
def test_a_chassis_with_feet_in_its_mesh_rests_on_those_below_its_centre_of_mass(tmp_path, heavy):
    """Feet of 20 mm at x = -0.2 and 0.2, which go as low as the wheels of 0.1 m."""
    box = box_triangles(0.6, 0.3, 0.1)
    feet = [box_triangles(0.02, 0.02, 0.15) + [x, 0, -0.025] for x in (-0.2, 0.2)]
    write_stl(tmp_path / "chassis.stl", np.concatenate([box, *feet]))
    mass = MASS.replace("<inertial>", f'<inertial><origin xyz="{heavy} 0 0"/>')
    chassis = link("chassis", '<mesh filename="chassis.stl"/>', mass=mass)
    (tmp_path / "robot.urdf").write_text(
        robot(PAIR, chassis, joint("c", "chassis", kind="fixed")))
    ball = describe(tmp_path / "robot.urdf").wheels[-1]
    assert (ball.kind, ball.link, ball.radius) == ("caster_ball", "chassis", 0.2 * 0.1)
    assert ball.point == pytest.approx((np.sign(heavy) * 0.2, 0.0, -0.08), abs=1e-6)


def test_a_sphere_on_an_axle_is_a_disc():
    description = describe(robot(PAIR.replace(tyre(0.1), '<sphere radius="0.1"/>'), CASTER))
    assert {w.kind for w in description.wheels if w.joint} == {"disc"}
    assert "rolls like a disc" in str(description.reasons["left_wheel_joint"])


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        (robot(), ("no joint turns",)),
        (robot(PAIR.replace("wheel", "roll").replace(tyre(0.1), '<box size="0.1 0.1 0.1"/>')),
         ("no rolling joint", "Wheel('left_roll_joint', 'disc'", "the distance from the axle")),
        (robot(PAIR.replace(tyre(0.1), '<mesh filename="a.stl"/>')),
         ("the mesh 'a.stl' of link 'left_wheel' was not found",
          "wheels=[Wheel('left_wheel_joint', 'disc', RADIUS)")),
        (robot(PAIR.replace(tyre(0.1), '<box size="0.1 0.1 0.1"/>')),
         ("no collision or visual shape is round about the axle", "wheels=[")),
        (robot(wheel("left_wheel", "0 0.2 0"), wheel("right_wheel", "0 -0.2 0", radius=0.13)),
         ("one plane", "0.13", "radius 0.1")),
        (robot(PAIR, link("base_footprint"),
               joint("foot", "base_footprint", kind="fixed", xyz="0 0 -0.2")),
         ("contradicts the height", "0.2000 m above")),
        (robot(PAIR.replace('rpy="0 0 0"', 'rpy="0.1 0 0"')),
         ("leans 5.7 degrees", "wheels=[Wheel('left_wheel_joint'")),
        (robot(PAIR, wheel("odd_wheel", "0.3 0 0", rpy="0 0 0.8"),
               wheel("even_wheel", "-0.3 0 0", rpy="0 0 0.8")), ("'omni', 0.1)",)),
        (robot(PAIR, link("spare_wheel", tyre(0.1),
                          LYING) + joint("s", "spare_wheel", kind="fixed", xyz="0.4 0 0")),
         ("no joint lets it roll: its joint is fixed", "'blade'")),
    ],
)
def test_refused_not_guessed(text, fragments):
    with pytest.raises(ModelError) as caught:
        describe(text)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_four_wheels_with_skid_or_with_held_steering():
    four = robot(PAIR, wheel("back_left_wheel", "-0.5 0.2 0"),
                 wheel("back_right_wheel", "-0.5 -0.2 0"))
    assert describe(four, skid="mid-axle").skid == MidAxle()
    assert describe(four, skid=1.5).skid == MidAxle(1.5)
    assert describe(four, skid="left_wheel_joint").skid == Released(("left_wheel_joint",))
    assert describe(four, skid=["left_wheel_joint", "right_wheel_joint"]).skid == Released(
        ("left_wheel_joint", "right_wheel_joint"))
    for wrong in ("middle", 0, -1.0, float("nan"), True, ["nobody"], [], 3j):
        with pytest.raises(InputError, match="^skid"):
            describe(four, skid=wrong)


def test_trailer_wheels_on_their_own_hitch_are_no_second_axle():
    trailer = link("trailer") + joint("hitch", "trailer", xyz="-0.3 0 0", axis="0 0 1")
    trailer += wheel("trailer_left_wheel", "-0.6 0.2 0", parent="trailer")
    trailer += wheel("trailer_right_wheel", "-0.6 -0.2 0", parent="trailer")
    description = describe(robot(PAIR, trailer))
    assert description.steering == ("hitch",) and description.driven == (
        "left_wheel_joint",
        "right_wheel_joint",
    )


# --- casters


def test_named_shapes_stand_in_for_casters():
    box = (link("caster_link", '<box size="0.04 0.02 0.06"/>')
           + joint("j", "caster_link", kind="fixed", xyz="-0.3 0 -0.069"))
    description = describe(robot(PAIR, box))
    caster = description.wheels[-1]
    assert (caster.kind, caster.radius) == ("caster_ball", 0.01)
    assert caster.point == pytest.approx((0, 0, -0.021))
    assert any("moved 1.0 mm down" in n for n in notices(description, NoticeKind.CASTER_SHAPE))
    roll = link("caster_link", tyre(0.03), LYING) + joint("j", "caster_link", kind="fixed",
                                                          xyz="-0.3 0 -0.07")
    assert wheels_of(robot(PAIR, roll))["caster_link"] == ("caster_ball", 0.03)
    # whatever its name: nothing else supports the robot
    assert wheels_of(robot(PAIR, box.replace("caster_link", "foot")))["foot"] == (
        "caster_ball", 0.01)
    high = robot(PAIR, box.replace("caster_link", "foot").replace("-0.069", "-0.05"))
    assert notices(describe(high), NoticeKind.FREE_PITCH)


def test_a_caster_that_is_not_understood():
    mesh = link("caster_link", '<mesh filename="c.stl"/>') + joint(
        "j", "caster_link", kind="fixed", xyz="-0.3 0 -0.07"
    )
    high = ball("caster_ball", "-0.3 0 -0.04")
    for part, why in ((mesh, "mesh"), (high, "30.0 mm above")):
        with pytest.raises(ModelError) as caught:
            describe(robot(PAIR, part))
        assert "tip over" in str(caught.value) and why in str(caught.value)
        line = str(caught.value).split("wheels=", 1)[1]
        assert len(describe(robot(PAIR, part),
                            wheels=eval(line[: line.index("]") + 1], {"Wheel": Wheel})).wheels) == 3
        front = CASTER.replace("caster", "front_caster").replace("-0.3", "0.3")
        found = describe(robot(PAIR, part, front))
        assert any(why in n for n in notices(found, NoticeKind.NO_SUPPORT))


def test_swivel_casters_roll_and_are_not_driven():
    swivel = link("caster_fork") + joint("caster_swivel", "caster_fork", xyz="-0.3 0 0.1",
                                         axis="0 0 1")
    description = describe(robot(PAIR, swivel, wheel("caster_wheel", "-0.04 0 -0.15", radius=0.05,
                                                     parent="caster_fork")))
    assert (description.steering == ("caster_swivel",)
            and description.driven == ("left_wheel_joint", "right_wheel_joint"))
    assert len(description.wheels) == 3
    assert not any("caster_fork" in str(n) for n in description.notices)


# --- wheels that are given


def test_given_wheels_are_filled_in_and_win():
    text = robot(PAIR, CASTER)
    description = describe(text, wheels=[Wheel("left_wheel_joint", "torus", 0.1, crown=0.01),
                                         Wheel(None, "sphere", 0.03, link="caster")])
    first, second = description.wheels
    assert (first.link, first.axis, first.point) == ("left_wheel", (0.0, 1.0, 0.0), (0.0, 0.0, 0.0))
    assert (second.link, second.axis, second.point) == ("caster", None, (0.0, 0.0, 0.0))
    assert "from the wheels given" in str(description.reasons["left_wheel_joint"])
    other = describe(text, wheels=[Wheel("left_wheel_joint", "disc", 0.07)])
    assert any("0.07" in n for n in notices(other, NoticeKind.OTHER_RADIUS))


@pytest.mark.parametrize(
    ("wheels", "fragment"),
    [([Wheel("nobody", "disc", 0.1)], "joints that move: left_wheel_joint"),
     ([Wheel("caster_joint", "disc", 0.1)], "cannot roll"),
     ([Wheel(None, "caster_ball", 0.1, link="nobody")], "links: base"),
     ([Wheel("left_wheel_joint", "disc", 0.1, link="base")], "does not turn with the joint"),
     ([Wheel("left_wheel_joint", "disc", 0.1, axis=(1, 0, 0))], "not the joint's axis"),
     ([Wheel("left_wheel_joint", "disc", 0.1)] * 2, "listed twice"), ([], "list at least one"),
     (["left_wheel_joint"], "is not a Wheel"), (3, "not a sequence")],
)
def test_given_wheels_that_do_not_fit(wheels, fragment):
    with pytest.raises(InputError) as caught:
        describe(robot(PAIR, CASTER), wheels=wheels)
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "fragment"),
    [
        ({"joint": None}, "needs the name"),
        ({"joint": 3}, "joint=3 must be a name"),
        ({"kind": "cube"}, "kind 'cube' does not exist; there are disc, torus"),
        ({"kind": None}, "kind None does not exist"),
        ({"radius": -0.1}, "radius = -0.1 must be a positive length"),
        ({"radius": "wide"}, "radius = 'wide' must be a length"),
        ({"radius": 0.0}, "kind 'disc' needs radius="),
        ({"crown": 0.05}, "crown=0.05 has no meaning for kind 'disc'"),
        ({"kind": "torus", "crown": 0.2}, "between 0 and the radius"),
        ({"kind": "torus"}, "kind 'torus' needs crown="),
        ({"roller_angle": 0.7}, "roller_angle=0.7 has no meaning for kind 'disc'"),
        ({"kind": "mecanum"}, "kind 'mecanum' needs roller_angle="),
        ({"mu": 0.0}, "mu = 0.0 must be a positive number"),
        ({"axis": (0, 0, 0)}, "no direction"),
        ({"point": (0, float("nan"), 0)}, "three finite numbers"),
        ({"joint": None, "link": "base"}, "kind 'disc' needs axis="),
        ({"joint": None, "kind": "blade", "radius": 0.0, "link": "base"}, "needs axis="),
        ({"joint": None, "kind": "blade", "radius": 0.0, "link": "base", "axis": (0, 1, 0)},
         "needs point="),
    ],
)
def test_wheels_that_cannot_be(fields, fragment):
    with pytest.raises(InputError) as caught:
        Wheel(**{"joint": "left_wheel_joint", "kind": "disc", "radius": 0.1, **fields})
    assert fragment in str(caught.value)


def test_fields_after_the_radius_are_named():
    with pytest.raises(TypeError):
        Wheel("left_wheel_joint", "torus", 0.1, 0.01)


# --- the element


def tagged(*lines):
    return robot(PAIR, CASTER, ARM, "<nhmech>", *lines, "</nhmech>")


ARM = link("arm") + joint("arm_joint", "arm", kind="revolute", xyz="0 0 0.2", axis="1 0 0")


def test_the_element_is_read_and_printed():
    text = tagged(
        '<wheel joint="left_wheel_joint" radius="0.1" mu="0.8"/>',
        '<wheel joint="right_wheel_joint" kind="torus" radius="0.1" crown="0.01" driven="false"/>',
        '<wheel link="base" kind="blade" axis="0 1 0" point="0.1 0 -0.1"/>',
        '<drive joint="left_wheel_joint"/><lock joint="arm_joint" position="0.3"/>',
        '<speeds>forward_speed yaw_rate</speeds><skid track_factor="1.5"/>',
    )
    description = describe(text)
    assert [w.kind for w in description.wheels] == ["disc", "torus", "blade"]
    assert (description.driven, description.locked, description.skid) == (
        ("left_wheel_joint",), {"arm_joint": 0.3}, MidAxle(1.5))
    assert description.speeds == ("forward_speed", "yaw_rate")
    printed = format_tag(description)
    again = describe(robot(PAIR, CASTER, ARM, printed))
    assert again.wheels == tuple(w if w.driven is None else Wheel(**{**w.__dict__, "driven": None})
                                 for w in description.wheels)
    assert format_tag(again) == printed
    assert describe(text, locked={"arm_joint": 0.1}).locked == {"arm_joint": 0.1}
    assert describe(text, free=["arm_joint"]).free == ("arm_joint",)


@pytest.mark.parametrize(
    ("line", "fragment"),
    [("<wheels/>", "<wheels> does not exist"),
     ('<wheel joint="left_wheel_joint" radius="0.1" colour="red"/>', "'colour' does not exist"),
     ('<wheel joint="left_wheel_joint" radius="ten"/>', "not a number"),
     ('<wheel joint="left_wheel_joint" radius="-1"/>', "positive length"),
     ('<wheel radius="0.1"/>', "needs the name"),
     ('<wheel joint="left_wheel_joint" radius="0.1" driven="yes"/>', "true or false"),
     ('<wheel joint="nobody" radius="0.1"/>', "does not exist"), ("<drive/>", "joint= is missing"),
     ('<drive joint="arm_joint"/>', "is locked"), ('<lock joint="nobody"/>', "does not exist"),
     ('<lock joint="arm_joint" position="2"/>', "outside its limits"),
     ('<lock joint="left_wheel_joint"/>', "rolling joint"),
     ('<free joint="caster_joint"/>', "cannot move"),
     ('<free joint="arm_joint"/><lock joint="arm_joint"/>', "choose one"),
     ("<speeds/>", "is empty"),
     ("<speeds>left_wheel_joint</speeds><speeds>right_wheel_joint</speeds>", "is there already"),
     ('<skid model="mid-axle" track_factor="1"/>', "exactly one"),
     ('<skid model="other"/>', "there are mid-axle and coulomb"),
     ('<skid track_factor="0"/>', "must be positive"),
     ('<skid free="nobody"/>', "the wheels are left_wheel_joint"),
     ("</nhmech><nhmech>", "another <nhmech>")],
)
def test_a_wrong_element_says_where(line, fragment):
    with pytest.raises(ModelError) as caught:
        describe(tagged(line))
    assert fragment in str(caught.value)


# --- roles


def test_other_joints_are_held_and_can_be_released():
    limit = '<limit lower="0.1" upper="0.5" effort="1" velocity="1"/>'
    lift = link("lift") + joint("lift_joint", "lift", kind="prismatic", axis="0 0 1", extra=limit)
    text = robot(PAIR, CASTER, ARM, lift)
    description = describe(text, locked={"arm_joint": -0.5})
    assert description.locked == {"arm_joint": -0.5, "lift_joint": 0.1} and not description.free
    released = describe(text, free=["arm_joint"])
    assert (released.free == ("arm_joint",) and released.limits["arm_joint"].upper == 1
            and released.locked == {"lift_joint": 0.1})
    for arguments, fragment in (
        ({"free": ["nobody"]}, "does not exist"),
        ({"locked": {"nobody": 0.0}}, "does not exist"),
        ({"locked": {"arm_joint": "up"}}, "finite number"),
        ({"locked": {"arm_joint": float("nan")}}, "finite number"),
        ({"locked": ["arm_joint"]}, "must map"),
        ({"free": 3}, "sequence of names"),
        ({"free": ["arm_joint"], "locked": {"arm_joint": 0.0}}, "choose one"),
    ):
        with pytest.raises(InputError) as caught:
            describe(text, **arguments)
        assert fragment in str(caught.value)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_equal_limits_of_a_free_joint_are_none(kind):
    equal = '<limit lower="0.2" upper="0.2" effort="1" velocity="3"/>'
    lift = link("lift") + joint("lift_joint", "lift", kind=kind, axis="0 0 1", extra=equal)
    description = describe(robot(PAIR, CASTER, lift), free=["lift_joint"])
    limits = description.limits["lift_joint"]
    assert (limits.lower, limits.upper, limits.velocity) == (float("-inf"), float("inf"), 3)
    assert any("lift_joint" in str(n) and "limits are equal" in str(n) for n in description.notices)


def test_mimic():
    finger = link("finger") + joint("finger_joint", "finger", kind="revolute", parent="arm",
                                    extra='<mimic joint="arm_joint" multiplier="-2" offset="0.1"/>')
    text = robot(PAIR.replace('<axis xyz="0 1 0"/></joint>',
                              '<axis xyz="0 1 0"/><mimic joint="arm_joint"/></joint>',
                              1), CASTER, ARM, finger)
    held = describe(text, locked={"arm_joint": 0.2})
    assert not held.mimic and held.locked["finger_joint"] == pytest.approx(-0.3, rel=1e-15)
    [dropped] = notices(held, NoticeKind.DROPPED_MIMIC)
    assert dropped.startswith("left_wheel_joint: <mimic> is dropped")
    free = describe(text, free=["arm_joint"])
    assert free.free == ("arm_joint", "finger_joint") and not free.locked
    (row,) = free.mimic
    assert (row.joint, row.leader, row.multiplier,
            row.offset) == ("finger_joint", "arm_joint", -2, 0.1)


def test_limits_damping_and_friction():
    left = wheel("left_wheel", "0 0.2 0", kind="revolute",
                 extra='<limit effort="2" velocity="0"/><dynamics damping="0.3" friction="1"/>')
    description = describe(robot(left, wheel("right_wheel", "0 -0.2 0"), CASTER))
    limits = description.limits["left_wheel_joint"]
    assert (limits.lower, limits.upper, limits.effort, limits.velocity) == (
        float("-inf"), float("inf"), 2, float("inf"))
    assert description.damping == {"left_wheel_joint": 0.3}
    for fragment in ("Coulomb friction ignored", "limits on its angle are ignored",
                     "limit 0 or -1 is taken as no limit"):
        assert any("left_wheel_joint" in str(n) and fragment in str(n)
                   for n in description.notices)


def test_driven_joints_by_authority():
    transmission = '<transmission name="t"><joint name="left_wheel_joint"/></transmission>'
    control = ('<ros2_control name="c" type="system"><joint name="right_wheel_joint">'
               '<command_interface name="velocity"/></joint></ros2_control>')
    sensor = ('<ros2_control name="s" type="sensor"><joint name="left_wheel_joint">'
              '<state_interface name="position"/></joint></ros2_control>')
    assert describe(robot(PAIR, CASTER, transmission)).driven == ("left_wheel_joint",)
    assert describe(robot(PAIR, CASTER, transmission, control,
                          sensor)).driven == ("right_wheel_joint",)
    drive = '<nhmech><drive joint="left_wheel_joint"/><drive joint="right_wheel_joint"/></nhmech>'
    assert describe(robot(PAIR, CASTER, control, drive)).driven == (
        "left_wheel_joint",
        "right_wheel_joint",
    )
    given = [Wheel("left_wheel_joint", "disc", 0.1, driven=True),
             Wheel("right_wheel_joint", "disc", 0.1, driven=False)]
    assert describe(robot(PAIR, CASTER, control), wheels=given).driven == ("left_wheel_joint",)


# --- forgotten axes and origins, wheels left out


NO_AXIS, NO_RPY = ('<axis xyz="0 1 0"/>', ""), (LYING, "")


@pytest.mark.parametrize("changes, fragments", [
    ([NO_AXIS], ("stands along (0 1 0), across the axle (1 0 0)",
                 "has no <axis>, which in URDF means x: write <axis xyz=\"0 1 0\"/>")),
    ([NO_RPY], ("stands along (0 0 1), across the axle (0 1 0)",
                "A URDF cylinder stands along z", "rpy=\"1.5707963 0 0\"")),
    ([NO_AXIS, NO_RPY], ("write <axis xyz=\"0 1 0\"/> and turn the shapes onto it",))])
def test_axle_and_cylinder_that_do_not_agree(changes, fragments):
    text = PAIR
    for change in changes:
        text = text.replace(*change)
    with pytest.raises(ModelError) as caught:
        describe(robot(text))
    for fragment in fragments:
        assert fragment in str(caught.value)
    assert "there is none" not in str(caught.value)


@pytest.mark.parametrize("rpy, origin, given, meant", [
    # the wheel's shape is turned, its axis forgotten
    ("0 0 0", LYING, "0 0 1", "0 1 0"),
    # the whole joint is turned, and the axis with it
    ("-1.5707963267948966 0 0", "", "0 1 0", "0 0 1"),
    # to the left: positive speed rolls ahead
    ("1.5707963267948966 0 0", "", "0 1 0", "0 0 -1"),
    ("0 0 1.5707963267948966", '<origin rpy="0 1.5707963267948966 0"/>', "0 0 1", "1 0 0")])
def test_an_upright_axis_of_a_wheel_that_lies(rpy, origin, given, meant):
    """The axis that is suggested, typed in as it stands, makes the robot load."""
    right = PAIR.replace(LYING, origin).replace('rpy="0 0 0"',
                                                f'rpy="{rpy}"').replace("<joint", "\n<joint")
    wrong = right.replace('<axis xyz="0 1 0"/>', f'<axis xyz="{given}"/>')
    with pytest.raises(ModelError) as caught:
        describe(robot(wrong, CASTER))
    told = str(caught.value)
    assert told.startswith('<string>, line 2, <axis> of <joint name="left_wheel_joint">: <axis '
                           f'xyz="{given}"/>')
    assert (
        f'Did you mean <axis xyz="{meant}"/>? right_wheel_joint, line 3: <axis xyz="{meant}"/>.'
        in told
    )
    assert "blade" not in told
    mended = wrong.replace(f'<axis xyz="{given}"/>', f'<axis xyz="{meant}"/>')
    assert describe(robot(mended, CASTER)).rolling == ("left_wheel_joint", "right_wheel_joint")


def test_a_listed_wheel_that_would_lie_flat():
    listed = [Wheel("left_wheel_joint", "disc", 0.1), Wheel("right_wheel_joint", "disc", 0.1)]
    with pytest.raises(ModelError,
                       match='<axis> of <joint name="left_wheel_joint">.*Did you mean <axis '
                             'xyz="0 1 0"/>'):
        describe(robot(UPRIGHT, CASTER), wheels=listed)
    with pytest.raises(InputError,
                       match="wheel 'left_wheel_joint': its axle .0 0 1. is vertical in the start "
                             "pose"):
        describe(robot(UPRIGHT.replace(tyre(0.1), MESH), CASTER), wheels=listed)
    with pytest.raises(InputError, match="wheel 'caster': its axle .0 0 1. is vertical"):
        describe(robot(PAIR, CASTER),
                 wheels=[Wheel(None, "disc", 0.03, link="caster", axis=(0, 0, 1))])


def test_a_level_axis_across_a_wheel_that_lies():
    with pytest.raises(ModelError,
                       match='lies along .0 1 0. in the joint.s frame. Did you mean <axis xyz="0 '
                             '1 0"/>'):
        describe(robot(PAIR.replace('<axis xyz="0 1 0"/>', '<axis xyz="1 0 0"/>'), CASTER))


UPRIGHT = PAIR.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 0 1"/>')
MESH = '<mesh filename="a.stl"/>'


@pytest.mark.parametrize("text, point", [
    (UPRIGHT.replace("wheel_joint", "steering_joint"), "0, 0, -0.1"),
    (UPRIGHT.replace("wheel_joint", "steering_joint").replace('rpy="0 0 0"',
                                                              'rpy="3.141592653589793 0 0"'),
     "0, 0, 0.1"),
    (UPRIGHT.replace("continuous", "revolute").replace(
        '<axis xyz="0 0 1"/>',
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'),
     "0, 0, -0.1"),
    (UPRIGHT.replace(tyre(0.1), MESH) + link("base_footprint")
     + joint("foot", "base_footprint", kind="fixed", xyz="0 0 -0.17"), "0, 0, -0.17"),
    (UPRIGHT.replace(tyre(0.1), MESH), "0, 0, HEIGHT")])
def test_wheels_drawn_in_one_piece_with_their_steering(text, point):
    """Their contact is where the wheel's shape, or base_footprint, has the ground; else a word
    stands for it."""
    with pytest.raises(ModelError, match="can only steer") as caught:
        describe(robot(text))
    told = str(caught.value)
    assert told.count(f"point=({point})") == 2 and ("HEIGHT" in told) == ("HEIGHT" in point)
    line = told.split("wheels=", 1)[1]
    line = line[: line.index("]") + 1]
    if "HEIGHT" not in line:
        assert [
            w.kind for w in describe(robot(text), wheels=eval(line, {"Wheel": Wheel})).wheels
        ] == ["blade", "blade"]


# --- inertias that no wheel has


def test_a_base_without_mass_is_told():
    text = robot(PAIR, CASTER)
    assert notices(describe(text), NoticeKind.MASSLESS) == []
    light = robot(PAIR, CASTER.replace(MASS, "")).replace(MASS, "", 1)
    [notice] = notices(describe(light), NoticeKind.MASSLESS)
    assert notice.startswith("base: moves but has no mass")


@pytest.mark.parametrize("mass, caster, is_told", [
    ("", 0.9, True), ("", 1.0, False), (MASS, 0.9, False)])
def test_a_base_without_mass_is_told_where_what_is_fixed_to_it_weighs_less_than_a_wheel(
        mass, caster, is_told):
    """Each wheel weighs 1 kg."""
    light = CASTER.replace('mass value="1"', f'mass value="{caster}"')
    text = robot(PAIR, light).replace(link("base"), link("base", '<box size="1 1 1"/>', mass=mass))
    found = notices(describe(text), NoticeKind.MASSLESS)
    assert len(found) == is_told
    assert all("base: no mass in the file" in n and "0.9 kg" in n and "1 kg" in n for n in found)
    assert not notices(describe(text.replace('<box size="1 1 1"/>', "")), NoticeKind.MASSLESS)


def inertias(xx, yy, zz, origin="", mass=2.0):
    inertia = f'<inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/>'
    text = PAIR.replace(MASS, f'<inertial>{origin}<mass value="{mass}"/>{inertia}</inertial>')
    return notices(describe(robot(text, CASTER)), NoticeKind.WHEEL_INERTIA)


def test_a_wheel_without_inertia_is_told():
    [notice] = inertias(0, 0, 0)
    assert notice.startswith("left_wheel_joint, right_wheel_joint: the inertia is zero although "
                             "the mass is 2 kg")
    # 2 * 0.1^2 / 2
    assert "has 0.01 kg m^2 about its axle" in notice
    # massless on purpose
    assert not any("zero" in notice for notice in inertias(0, 0, 0, mass=0))
    # what is fixed to it turns with it
    none = MASS.replace("0.1", "0")
    hubs = [link(f"{side}_hub") + joint(f"{side}_bolts", f"{side}_hub", parent=f"{side}_wheel",
                                        kind="fixed") for side in ("left", "right")]
    text = robot(PAIR.replace(MASS, none), CASTER, *hubs)
    assert not any("zero" in n for n in notices(describe(text), NoticeKind.WHEEL_INERTIA))


DISC, ACROSS = 0.01, 2 * (3 * 0.1 ** 2 + 0.02 ** 2) / 12      # of 2 kg, radius 0.1 m, length 0.02 m


def test_an_inertia_in_a_frame_of_its_own_is_turned_into_the_joint_s():
    """The axle is the inertial frame's z there; turned back instead of forth it were its x."""
    turned = '<origin rpy="1.5707963267948966 0 1.5707963267948966"/>'
    assert inertias(ACROSS, DISC, ACROSS) == []
    axle = np.array([0, 1.0, 0]) @ pin.rpy.rpyToMatrix(np.pi / 2, 0, np.pi / 2)
    moments = [DISC if abs(part) > 0.5 else ACROSS for part in axle]
    assert inertias(*moments, origin=turned) == []
    assert len(inertias(*np.roll(moments, 1), origin=turned)) == 1
    assert len(inertias(*np.roll(moments, 2), origin=turned)) == 1


def test_an_inertia_not_turned_with_its_wheel_is_told():
    [notice] = inertias(ACROSS, ACROSS, DISC)
    assert notice.startswith("left_wheel_joint, right_wheel_joint: the inertia is not that of a "
                             "wheel with the axle (0 1 0)")
    assert (
        "ixx 0.005067, iyy 0.005067, izz 0.01 kg m^2, of which the two across it differ" in notice
    )
    assert (
        "2 kg, radius 0.1 m and length 0.02 m has 0.01 about the axle and 0.005067 across it"
        in notice
    )
    assert "give the <origin> of its <inertial> the rpy" in notice
    # as is advised
    assert inertias(ACROSS, ACROSS, DISC, LYING) == []
    assert inertias(ACROSS, DISC, ACROSS) == []
    [notice] = inertias(0.01, 0.002, 0.01)
    assert "the one about it is the smallest" in notice and notice.endswith("across it; correct "
                                                                            "the numbers")


def test_inertias_that_a_wheel_may_have_pass():
    # rounded; a drum
    assert inertias(0.01, 0.01, 0.01) == [] and inertias(0.01, 0.0085, 0.01) == []
    # spokes
    assert inertias(0.009, 0.01, 0.0075) == []


def test_wheels_that_were_not_listed_are_told():
    listed = describe(robot(PAIR), wheels=[Wheel("left_wheel_joint", "disc", 0.1)])
    assert listed.locked == {"right_wheel_joint": 0.0}
    [notice] = notices(listed, NoticeKind.UNLISTED_WHEEL)
    assert notice.startswith("right_wheel_joint: would be found as wheels, but only "
                             "left_wheel_joint was listed")
    assert notice.endswith("lock them by name: locked={'right_wheel_joint': 0.0}")
    on_purpose = describe(robot(PAIR), wheels=[Wheel("left_wheel_joint", "disc", 0.1)],
                          locked={"right_wheel_joint": 0.0})
    assert not notices(on_purpose, NoticeKind.UNLISTED_WHEEL)
