"""Vehicles of less common builds, each by a small robot of its own: trailers on ball couplings,
wheels with camber, drums, gauge wheels, hinges that steer, roots whose z axis is not up."""

from __future__ import annotations

import re
from math import cos, pi, radians, sin

import numpy as np
import pinocchio as pin
import pytest
from metamorphic import box_triangles, write_stl
from support import joint, link as bare, robot

import nhmech
from nhmech.analysis import mobility
from nhmech.analysis.validity import validity
from nhmech.control import TwistDrive
from nhmech.errors import InputError, ModelError
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind

LIMIT = '<limit lower="-0.6" upper="0.6" effort="9" velocity="9"/>'


def link(name: str, mass: float = 1.0, shape: str = "", rpy: str = "0 0 0", **more) -> str:
    """A link with one collision shape."""
    body = "" if not shape else (f'<collision><origin rpy="{rpy}"/><geometry><{shape}/></geometry>'
                                 "</collision>")
    return bare(name, mass, body=body, **more)


def wheel(name: str, parent: str, xyz, radius=0.1, *, width=0.04, lean=0.0, kind="continuous",
          more="") -> str:
    """A cylinder on an axle to the left, which `lean` turns about x [rad]."""
    return (link(name, 1.0, f'cylinder radius="{radius}" length="{width}"', f"{pi / 2} 0 0")
            + joint(f"{name}_joint", parent, name, xyz, rpy=(lean, 0, 0), kind=kind, more=more))


def pair(name: str, parent: str, x: float, radius=0.1, *, half=0.2, z: float | None = None,
         camber=0.0, **more) -> str:
    """Two wheels, on the ground if the parent's frame is there."""
    z = radius * cos(camber) if z is None else z
    return "".join(wheel(f"{name}_{side}", parent, (x, y, z), radius, lean=camber * y / half,
                         **more) for side, y in (("left", half), ("right", -half)))


def car(*more: str) -> str:
    """Two fixed wheels, two steered ones, and what hangs on it."""
    parts = [link("base", 20, com=(0.3, 0, 0.3)), pair("rear_wheel", "base", 0.0)]
    for side, y in (("left", 0.2), ("right", -0.2)):
        parts += [link(f"{side}_knuckle", 0.5),
                  joint(f"{side}_steer", "base", f"{side}_knuckle", (0.6, y, 0.1), axis=(0, 0, 1),
                        kind="revolute", more=LIMIT),
                  wheel(f"front_wheel_{side}", f"{side}_knuckle", (0, 0, 0))]
    return robot(*parts, *more)


def chain(parent: str, child: str, xyz, axes) -> str:
    """Joints at one place, one after the other, about these axes."""
    parts, above = [], parent
    for k, axis in enumerate(axes):
        below = child if k + 1 == len(axes) else f"{child}_{k}"
        if below != child:
            parts.append(link(below, 0.01))
        parts.append(joint(f"{child}_joint_{k}", above, below, xyz if k == 0 else (0, 0, 0),
                           axis=axis, kind="revolute", more=LIMIT.replace("0.6", "1.5")))
        above = below
    return "".join(parts)


def texts(found, kind: NoticeKind) -> list[str]:
    return [notice.text for notice in found.notices if notice.kind is kind]


# --- couplings and chains of joints --------------------------------------------------------------


@pytest.mark.parametrize("axes", [[(0, 0, 1)], [(0, 0, 1), (0, 1, 0)],
                                  [(0, 0, 1), (0, 1, 0), (1, 0, 0)]])
def test_a_trailer_on_a_ball_coupling_turns_at_it(axes):
    """Whatever other joints are at the pivot, the trailer swings in to asin(L / R)."""
    trailer = (link("trailer", 5, com=(-0.5, 0, 0.1)) + chain("base", "trailer", (0, 0, 0.1), axes)
               + pair("trailer_wheel", "trailer", -0.6, z=0.0))
    vehicle = nhmech.load(car(trailer))
    assert set(vehicle.description.steering) == {"left_steer", "right_steer", "trailer_joint_0"}
    assert "trailer_joint_0" not in vehicle.driven and mobility(vehicle).type == (1, 1)
    drive = TwistDrive(vehicle, (0.5, 0.0, 0.4))
    run = nhmech.Simulator(vehicle, drive, mode="kinematic", dt=0.01).run(12.0)
    hitch = run.column("trailer_joint_0.position")[-1]
    assert abs(hitch) == pytest.approx(np.arcsin(0.6 / 1.25), rel=1e-3)


WORLD = [("x", "prismatic", (1, 0, 0)), ("y", "prismatic", (0, 1, 0)),
         ("yaw", "revolute", (0, 0, 1))]


@pytest.mark.parametrize("mass", [1e-3, 5.0])
def test_joints_that_place_a_robot_in_a_world_steer_nothing_whatever_their_links_weigh(mass):
    chained, above = [bare("world")], "world"
    for name, kind, axis in WORLD:
        below = "base" if name == "yaw" else f"world_{name}"
        chained += [] if below == "base" else [link(below, mass)]
        chained.append(joint(f"world_{name}_joint", above, below, axis=axis, kind=kind, more=LIMIT))
        above = below
    text = robot(*chained, link("base", 10, com=(0, 0, 0.2)), pair("front_wheel", "base", 0.2),
                 pair("rear_wheel", "base", -0.2))
    description = describe(text.replace(bare("world"), '<link name="world"/>'))
    assert description.steering == () and set(description.locked) == {
        f"world_{name}_joint" for name, _, _ in WORLD}


def test_robots_side_by_side_in_a_world_are_refused():
    def cart(name: str, y: float) -> str:
        return (link(f"{name}_base", 10) + joint(f"{name}_at", "world", f"{name}_base", (0, y, 0.1),
                                                 kind="fixed")
                + wheel(f"{name}_wheel_left", f"{name}_base", (0, 0.2, 0))
                + wheel(f"{name}_wheel_right", f"{name}_base", (0, -0.2, 0)))
    world = '<link name="world"/>'
    with pytest.raises(ModelError, match="one_base, two_base stand side by side on 'world'"):
        describe(robot(world, cart("one", 1.0), cart("two", -1.0)))
    assert len(describe(robot(world, cart("one", 0.0))).wheels) == 2


@pytest.mark.parametrize("name, driven", [("steering_joint", True), ("articulation", True),
                                          ("hitch", False)])
def test_a_hinge_that_is_called_steering_is_driven(name, driven):
    front = link("front", 8) + joint(name, "base", "front", (0.4, 0, 0.1), axis=(0, 0, 1),
                                     kind="revolute", more=LIMIT)
    text = robot(link("base", 10, com=(-0.1, 0, 0.2)), pair("rear_wheel", "base", -0.4), front,
                 pair("front_wheel", "front", 0.4, z=0.0))
    assert (name in describe(text).driven) is driven


# --- wheels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", [2.0, 4.0, 11.0])
def test_wheels_with_camber_roll_on_their_edge(degrees):
    """They touch r sin(camber) further out, where statics and rates have them: r phi' = v - y w."""
    camber, radius, half = radians(degrees), 0.3, 0.28
    parts = [link("seat", 60, com=(0.1, 0, 0.5)),
             pair("wheel", "seat", 0.0, radius, half=half, camber=camber)]
    for side, y in (("left", 0.2), ("right", -0.2)):
        parts.append(link(f"{side}_ball", 0.1, 'sphere radius="0.04"')
                     + joint(f"{side}_ball_joint", "seat", f"{side}_ball", (0.4, y, 0.04),
                             kind="fixed"))
    vehicle = nhmech.load(robot(*parts))
    (said,) = texts(vehicle, NoticeKind.CAMBER)
    assert f"lean by {degrees:.2g} degrees" in said and mobility(vehicle).type == (2, 0)
    q = vehicle.configuration()
    points = dict(zip(vehicle.contact_names, vehicle.contact_points(q)))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        outer = sign * (half + radius * sin(camber))
        np.testing.assert_allclose(points[f"wheel_{side}_joint"], (0.0, outer, 0.0), atol=1e-9)
    found = validity(vehicle, 0.0, q, np.zeros(vehicle.algebroid.nv), np.zeros(2))
    balls = sum(one.normal for one in found.wheels if "ball" in one.wheel)
    assert balls == pytest.approx(9.81 * (60 * 0.1 + 2 * 0.1 * 0.4) / 0.4, rel=1e-9)
    drive = TwistDrive(vehicle, (0.3, 0.0, 0.5))
    run = nhmech.Simulator(vehicle, drive, mode="kinematic", dt=0.01).run(0.1)
    rates = [run.column(f"wheel_{side}_joint.velocity")[-1] for side in ("left", "right")]
    outer = half + radius * sin(camber)
    assert run.column("yaw_rate")[-1] == pytest.approx(0.5, rel=1e-9)
    assert sum(rates) / 2 == pytest.approx(0.3 / radius, rel=1e-9)
    assert (rates[1] - rates[0]) / 2 == pytest.approx(0.5 * outer / radius, rel=1e-9)


def test_axles_that_lean_alike_are_no_camber():
    parts = [wheel(f"wheel_{side}", "base", (0, y, 0.1), lean=0.07)
             for side, y in (("left", 0.2), ("right", -0.2))]
    with pytest.raises(ModelError, match="leans 4.0 degrees"):
        describe(robot(link("base", 10), *parts))


def test_two_steered_wheels_of_three_turn_about_upright_axes():
    """Kingpins lean inwards and back; the robot is a car with one wheel behind."""
    parts = [link("base", 20, com=(0.4, 0, 0.3)), wheel("rear_wheel", "base", (0, 0, 0.1))]
    for side, y in (("left", 1.0), ("right", -1.0)):
        parts += [link(f"{side}_knuckle", 0.5),
                  joint(f"{side}_steer", "base", f"{side}_knuckle", (0.6, 0.2 * y, 0.1),
                        rpy=(0.2 * y, 0, 0), axis=(0, 0, 1), kind="revolute", more=LIMIT),
                  link(f"front_{side}", 1.0, 'cylinder radius="0.1" length="0.04"',
                       f"{pi / 2} 0 0"),
                  joint(f"front_{side}_joint", f"{side}_knuckle", f"front_{side}",
                        rpy=(-0.2 * y, 0, 0))]
    vehicle = nhmech.load(robot(*parts))
    assert mobility(vehicle).type == (1, 1) and texts(vehicle, NoticeKind.LEANING_STEERING)
    run = nhmech.Simulator(vehicle, TwistDrive(vehicle, (0.3, 0.0, 0.2)), mode="kinematic",
                           dt=0.01).run(3.0)
    assert run.column("yaw_rate")[-1] == pytest.approx(0.2, rel=1e-6)


def test_a_nose_wheel_whose_strut_leans_is_steered_by_a_twist():
    """By 6 degrees, as of aircraft: yaw / v = tan(angle) / wheelbase at the limit."""
    parts = [link("base", 20, com=(0.1, 0, 0.3)), pair("main", "base", 0.0), link("strut", 0.5),
             joint("strut_joint", "base", "strut", (0.6, 0, 0.1), rpy=(0, -0.1, 0), axis=(0, 0, 1),
                   kind="revolute", more=LIMIT),
             link("nose", 1.0, 'cylinder radius="0.1" length="0.04"', f"{pi / 2} 0 0"),
             joint("nose_joint", "strut", "nose", rpy=(0, 0.1, 0))]
    vehicle = nhmech.load(robot(*parts))
    assert mobility(vehicle).type == (1, 1) and texts(vehicle, NoticeKind.LEANING_STEERING)
    for yaw_rate, driven in ((0.2, 0.2), (9.0, 0.3 * np.tan(0.6) / 0.6)):
        drive = TwistDrive(vehicle, (0.3, 0.0, yaw_rate))
        run = nhmech.Simulator(vehicle, drive, mode="kinematic", dt=0.01).run(3.0)
        assert run.column("yaw_rate")[-1] == pytest.approx(driven, rel=1e-6)


def roller(name: str, parent: str, xyz) -> str:
    return wheel(name, parent, xyz, 0.1, width=0.5)


def test_a_drum_that_carries_its_own_body_is_a_wheel():
    base = link("base", 20, com=(0, 0, 0.3)) + pair("rear_wheel", "base", -0.3)
    body = link("front", 10) + joint("hinge", "base", "front", (0.2, 0, 0.1), axis=(0, 0, 1),
                                     kind="revolute", more=LIMIT)
    assert "roll_joint" in describe(robot(base, body, roller("roll", "front", (0.4, 0, 0)))).rolling
    on_base = describe(robot(base, pair("front_wheel", "base", 0.4),
                             roller("roll", "base", (0, 0, 0.1))))
    assert "roll_joint" not in on_base.rolling
    assert "far wider than high" in texts(on_base, NoticeKind.HANDLE)[0]


def test_small_wheels_beside_large_ones_neither_drive_nor_lead():
    """Gauge wheels behind a tractor: the large axle holds sideways."""
    text = car(pair("gauge", "base", -0.5, 0.04))
    found = describe(text)
    assert set(found.driven) == {"rear_wheel_left_joint", "rear_wheel_right_joint", "left_steer",
                                 "right_steer"}
    assert found.skid is not None and set(found.skid.wheels) == {"gauge_left_joint",
                                                                 "gauge_right_joint"}


def test_small_wheels_beside_mecanum_wheels_measure():
    """They have rollers too, or the robot could not move sideways."""
    parts = [link("base", 20, com=(0, 0, 0.3)), pair("front_mecanum", "base", 0.3),
             pair("rear_mecanum", "base", -0.3), pair("track", "base", 0.0, 0.04, half=0.1)]
    across = (link("across", 0.1, 'cylinder radius="0.04" length="0.01"', f"{pi / 2} 0 0")
              + joint("across_joint", "base", "across", (0.1, 0, 0.04), rpy=(0, 0, pi / 2)))
    vehicle = nhmech.load(robot(*parts, across))
    kinds = {w.name: w.kind for w in vehicle.description.wheels}
    assert {name for name, kind in kinds.items() if kind == "omni"} == {
        "track_left_joint", "track_right_joint", "across_joint"}
    assert mobility(vehicle).type == (3, 0)
    _, beside, crossing = texts(vehicle, NoticeKind.ROLLERS)
    assert beside.startswith("track_left_joint, track_right_joint: taken as omni")
    assert crossing.startswith("across_joint: taken as omni")
    assert all("less than half as large" in said for said in (beside, crossing))
    large = describe(robot(*parts[:3], pair("track", "base", 0.0, 0.08, half=0.15)))
    assert {w.kind for w in large.wheels if w.radius < 0.1} == {"disc"}


@pytest.mark.parametrize("height, said", [(0.07, True), (0.3, False)])
def test_what_hangs_closely_above_the_ground_is_said_to_be_no_wheel(height, said):
    """Without a word for wheel, too: somebody placed an axle of a trailer too high."""
    found = describe(car(pair("axle", "base", -0.5, z=0.1 + height)))
    handles = texts(found, NoticeKind.HANDLE)
    assert bool(handles) is said
    assert not said or "axle_left_joint, axle_right_joint: no wheel" in handles[0]


@pytest.mark.parametrize("count", [3, 4])
def test_wheels_around_a_middle_whose_axes_point_out_are_not_opposed(count):
    parts = [link("base", 10)]
    for k in range(count):
        angle = 2 * pi * k / count
        place = (0.2 * cos(angle), 0.2 * sin(angle), 0.1)
        parts.append(link(f"omni_{k}", 1.0, 'cylinder radius="0.1" length="0.04"', f"{pi / 2} 0 0")
                     + joint(f"omni_{k}_joint", "base", f"omni_{k}", place,
                             rpy=(0, 0, angle - pi / 2)))
    found = describe(robot(*parts))
    assert {w.kind for w in found.wheels} == {"omni"}
    assert not texts(found, NoticeKind.OPPOSED_AXES)


# --- roots ---------------------------------------------------------------------------------------

CART = (link("base", 10, com=(0, 0, 0.1)) + wheel("wheel_left", "base", (0, 0.2, 0.1))
        + wheel("wheel_right", "base", (0, -0.2, 0.1))
        + link("caster", 0.1, 'sphere radius="0.04"')
        + joint("caster_joint", "base", "caster", (0.2, 0, 0.04), kind="fixed"))


@pytest.mark.parametrize("up, rpy", [("-y", (pi / 2, -pi / 2, 0)), ("y", (-pi / 2, 0, 0)),
                                     ("-z", (pi, 0, 0)), ("-x", (0, -pi / 2, 0))])
def test_a_root_whose_z_axis_is_not_up_is_named_with_the_turn(up, rpy):
    """An optical frame, one of a CAD program, one that looks down; the turn is tried."""
    text = robot('<link name="camera"/>', CART,
                 joint("at", "camera", "base", rpy=rpy, kind="fixed"))
    with pytest.raises(ModelError) as caught:
        describe(text)
    said = re.search(rf"It stands if {up} of 'camera' is up.*rpy=\"([^\"]*)\"", str(caught.value))
    assert said is not None and "wheels=" not in str(caught.value)
    root = ('<link name="own"/><joint name="turn" type="fixed"><parent link="own"/><child '
            f'link="camera"/><origin rpy="{said[1]}"/></joint></robot>')
    found = describe(text.replace("</robot>", root))
    assert [w.kind for w in found.wheels] == ["disc", "disc", "caster_ball"]
    assert not texts(found, NoticeKind.ROLLS_SIDEWAYS)


@pytest.mark.parametrize("given, error, said", [
    (dict(skid=-1), InputError, "skid = -1 must be a positive track factor"),
    (dict(skid="left"), ModelError, "would tip over"),
    (dict(tyres="ice"), ModelError, "would tip over")])
def test_what_is_asked_of_a_robot_that_does_not_stand_is_read_first_or_not_at_all(
        given, error, said):
    """What is no value is refused at once; what only its wheels could be asked is not."""
    text = robot('<link name="camera"/>', CART,
                 joint("at", "camera", "base", rpy=(pi / 2, -pi / 2, 0), kind="fixed"))
    with pytest.raises(error, match=said) as caught:
        describe(text, **given)
    assert type(caught.value) is error


def test_what_stands_no_way_round_gets_no_turn():
    with pytest.raises(ModelError) as caught:
        describe(robot(link("base", 10, 'box size="1 1 1"')))
    assert "is up" not in str(caught.value)


@pytest.mark.parametrize("name", ["ackermann_car", "skid_steer", "mecanum", "trailers", "rover"])
def test_a_robot_that_loads_upside_down_is_told_and_its_advice_mends_it(name):
    """These stand both ways round, for their wheels do."""
    text = nhmech.urdf_path(name).read_text()
    for turns, is_told in ((0, False), (1, True), (2, False)):
        [*said] = texts(describe(text), NoticeKind.UPSIDE_DOWN)
        assert bool(said) is is_told
        advice = r"carry '(\S+)' by a fixed joint with rpy=\"([^\"]*)\""
        root, rpy = re.search(advice, said[0]).groups() if said else ("base_link", f"{pi} 0 0")
        text = text.replace("</robot>", f'<link name="own_{turns}"/>' + joint(
            f"turn_{turns}", f"own_{turns}", root, rpy=rpy.split(), kind="fixed") + "</robot>")


@pytest.mark.parametrize("depth, height, is_told", [
    (0.011, 0.2, True), (0.009, 0.2, False), (0.011, 0.201, False)])
@pytest.mark.parametrize("shape", ["box", "cylinder", "sphere", "mesh"])
def test_upside_down_is_what_reaches_into_the_ground_and_not_above_the_wheels(
        shape, depth, height, is_told, tmp_path):
    """A tenth of the radius, 0.1 m, is what heights of wheels are allowed to be off; shapes turned
    and shifted."""
    half, middle = (height + depth) / 2, (height - depth) / 2
    write_stl(tmp_path / "body.stl", box_triangles(0.1, 0.1, 2 * half))
    form, rpy = {"box": (f'box size="0.1 {2 * half} 0.1"', f"{pi / 2} 0 0"),
                 "cylinder": (f'cylinder radius="{half}" length="0.1"', f"{pi / 2} 0 0"),
                 "sphere": (f'sphere radius="{half}"', "0 0 0"),
                 "mesh": (f'mesh filename="{tmp_path}/body.stl"', "0 0 0")}[shape]
    body = (f'<collision><origin xyz="0 0 {middle - 0.3}" rpy="{rpy}"/><geometry><{form}/>'
            "</geometry></collision>")
    parts = [bare("base", 10), bare("body", 1, body=body),
             joint("on", "base", "body", (0.3, 0, 0.3), kind="fixed"),
             pair("rear_wheel", "base", 0.0), pair("front_wheel", "base", 0.6)]
    assert bool(texts(describe(robot(*parts)), NoticeKind.UPSIDE_DOWN)) is is_told


def test_what_cannot_be_read_may_be_above_the_wheels():
    body = '<collision><geometry><mesh filename="none.stl"/></geometry></collision>'
    low = '<collision><geometry><box size="0.1 0.1 0.3"/></geometry></collision>'
    wheels = pair("rear_wheel", "base", 0.0), pair("front_wheel", "base", 0.6)
    for shapes, is_told in ((low, True), (low + body, False)):
        found = describe(robot(bare("base", 10, body=shapes), *wheels))
        assert bool(texts(found, NoticeKind.UPSIDE_DOWN)) is is_told


@pytest.mark.parametrize("lean, fork", [(-0.1, 0.0), (0.15, 0.0), (-0.3, 0.03)])
def test_a_strut_that_leans_turns_its_wheel_where_it_stands(lean, fork):
    """The axis passes the lower half of the wheel, far below the origin of its joint; the wheel
    may be a little before the axis at the axle, as in a fork, behind it on the ground."""
    down = np.array([0.8 * np.tan(lean) * -1 + fork, 0.0, -0.8])
    x, _, z = pin.rpy.rpyToMatrix(0, lean, 0).T @ down
    parts = [link("base", 20, com=(0.1, 0, 0.3)), pair("main", "base", 0.0), link("strut", 0.5),
             joint("strut_joint", "base", "strut", (0.6 - down[0], 0, 0.9), rpy=(0, lean, 0),
                   axis=(0, 0, 1), kind="revolute", more=LIMIT),
             link("piston", 0.5), joint("oleo", "strut", "piston", kind="prismatic", more=LIMIT),
             link("nose", 1.0, 'cylinder radius="0.1" length="0.04"', f"{pi / 2} 0 0"),
             joint("nose_joint", "piston", "nose", (x, 0, z), rpy=(0, -lean, 0))]
    vehicle = nhmech.load(robot(*parts))
    assert mobility(vehicle).type == (1, 1) and texts(vehicle, NoticeKind.LEANING_STEERING)
    run = nhmech.Simulator(vehicle, TwistDrive(vehicle, (0.3, 0.0, 9.0)), mode="kinematic",
                           dt=0.01).run(3.0)
    assert run.column("yaw_rate")[-1] == pytest.approx(0.3 * np.tan(0.6) / 0.6, rel=1e-6)


def test_angles_of_kingpins_are_rounded_as_files_have_them():
    """Wheels stand a micrometre beside their pivots, which lean by eleven degrees."""
    parts = [link("base", 20, com=(0.3, 0, 0.3)), pair("rear", "base", 0.0)]
    for side, y in (("left", 1.0), ("right", -1.0)):
        lean = pin.rpy.rpyToMatrix(0.17 * y, -0.087, 0)
        parts += [link(f"{side}_knuckle", 0.5),
                  joint(f"{side}_steer", "base", f"{side}_knuckle", (0.6, 0.2 * y, 0.1),
                        rpy=(0.17 * y, -0.087, 0), axis=(0, 0, 1), kind="revolute", more=LIMIT),
                  link(f"front_{side}", 1.0, 'cylinder radius="0.1" length="0.04"',
                       f"{pi / 2} 0 0"),
                  joint(f"front_{side}_joint", f"{side}_knuckle", f"front_{side}",
                        np.round(lean.T @ (0, 0.08 * y, 0), 6),
                        rpy=np.round(pin.rpy.matrixToRpy(lean.T), 6))]
    assert mobility(nhmech.load(robot(*parts))).type == (1, 1)
