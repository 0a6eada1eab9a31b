"""Classes of the shipped and the real robots, dependent rows, undetermined forces,
rotation centres, and what to free."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from robot_table import real
from support import SHIPPED, askew, joint, link, robot, shipped, velocity
from test_axles import wagon

import nhmech
from nhmech import Wheel
from nhmech.analysis.axles import AxleReader, axles, rotation_centre
from nhmech.analysis.mobility import CLASSES, mobility, planar
from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.systems.differential_drive import example as differential_drive
from nhmech.urdf.description import Mimic
from nhmech.vehicle.build import build

FREE, SPOT, CAR, SWERVE = (3, 0), (2, 0), (1, 1), (1, 2)

# (degree of mobility, steerability), from what each is:
# rollers or a ball bind nothing; one axle line turns on the spot; ...
CLASS_OF_SHIPPED = {"ackermann_car": CAR, "ball": FREE, "bicycle": SPOT, "carriage": SPOT,
                    "coin": SPOT, "differential_drive": SPOT, "disc": SPOT, "mecanum": FREE,
                    "omni": FREE, "pendulum": SPOT, "rover": CAR, "skid_steer": SPOT, "sled": SPOT,
                    "swerve": SWERVE, "trailers": CAR, "tricycle": CAR}
LEANING = {"ball", "bicycle", "coin", "disc", "pendulum"}


def test_the_classes_are_the_five_of_the_paper():
    assert set(CLASSES) == {FREE, SPOT, (2, 1), CAR, SWERVE}


def test_every_robot_is_in_the_table():
    assert set(CLASS_OF_SHIPPED) == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_class_of_shipped(name):
    found = mobility(shipped(name))
    assert found.type == CLASS_OF_SHIPPED[name] and found.manoeuvrability == sum(found.type)
    assert (found.leaning == (name in LEANING)
            and ("leaning" in found.type_in_words) == found.leaning)


@pytest.mark.parametrize("name, words", [
    ("differential_drive", "forward speed and yaw rate are free, all fixed axles in line"),
    ("sled", "forward speed and yaw rate are free, one fixed axle"),
    ("mecanum", "omnidirectional: any motion is possible at once, without steering"),
    ("ackermann_car", "car-like: one steering beside a fixed axle"),
    ("swerve", "two independent steerings, no fixed axle"),
    ("skid_steer", "forward speed and yaw rate are free"),
    ("bicycle",
     "forward speed and yaw rate are free, one fixed axle, the wheel that steering_joint "
     "turns trails without constraining the motion, leaning or pitching not counted")])
def test_words_of_one_class_say_only_what_is_so(name, words):
    """Of type (2, 0) is all that has one fixed axle; a bicycle's fork is a castor in the
    classification, for its wheel trails."""
    assert mobility(shipped(name)).type_in_words == words


@pytest.mark.parametrize("name", SHIPPED)
def test_dependent_rows_are_the_combinations_that_are_named(name):
    """At every sample if constant, at the first otherwise; rank, rows and speeds add up."""
    vehicle = shipped(name)
    found, names = mobility(vehicle), vehicle.constrained.distribution.names
    assert (found.rows - found.rank == len(found.dependent)
            and found.rank + found.speeds == vehicle.algebroid.nv)
    for dependence in found.dependent:
        for q in (
            vehicle.constrained.samples if dependence.constant else vehicle.constrained.samples[:1]
        ):
            A = vehicle.functions.constraints(0.0, q, vehicle.theta)[0].full()
            combined = sum((value * A[names.index(row)]
                            for row, value in dependence.coefficients.items()),
                           np.zeros(A.shape[1]))
            np.testing.assert_allclose(A[names.index(dependence.row)], combined, rtol=0, atol=1e-9)


def test_what_is_undetermined():
    """Two wheels on an axle share their lateral force; four wheels on a plane share their normal
    forces in one way."""
    found = mobility(shipped("differential_drive"))
    assert found.undetermined == (("left_wheel_joint", "lateral"),
                                  ("right_wheel_joint", "lateral")) and found.splits == 1
    assert [str(row) for row in found.dependent] == ["right_wheel_joint/lateral = "
                                                     "left_wheel_joint/lateral"]
    found = mobility(shipped("mecanum"))
    assert ({direction for _, direction in found.undetermined} == {"normal"}
            and len(found.undetermined) == 4 and found.splits == 1)
    assert mobility(shipped("omni")).splits == 0 and mobility(shipped("bicycle")).undetermined == ()


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_a_factor_is_constant_up_to_rounding_of_its_size(factor):
    """Of rows whose direction varies; and as far as a hundred-millionth where it is 1."""
    space = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)

    def one(s):
        return s.v.x - ca.sin(s.q.y) * s.v.z / 3

    def dependence(row, **options):
        return str(*mobility(constrain(space, rows={"one": one, "two": row}, **options)).dependent)

    assert dependence(lambda s: factor * one(s)) == f"two = {factor:.4g} one"
    samples = np.array([[0.0, 0.3, 0.1], [1.0, -0.2, 0.5]])
    for step, said in ((0.995e-8, "two = one"), (1.005e-8, "two = one (in the zero pose)")):
        assert dependence(lambda s, step=step: (1 - ca.if_else(s.q.x > 0.5, step, 0)) * one(s),
                          samples=samples) == said


@pytest.mark.parametrize("radius", [0.1, 1e-5])
def test_what_is_undetermined_does_not_depend_on_the_size_of_wheels(radius):
    """Of four wheels that slide sideways: their loads, in one way."""
    parts, wheels = [link("base", 6.0, com=(0, 0, 0.1))], []
    for i, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        parts += [link(f"wheel{i}", 0.1), joint(f"j{i}", "base", f"wheel{i}", (x, y, radius))]
        wheels.append(nhmech.Wheel(f"j{i}", "disc", radius))
    found = mobility(nhmech.load(robot(*parts), wheels=wheels, skid=1.5))
    assert found.splits == 1
    assert found.undetermined == tuple((f"j{i}", "normal") for i in range(4))


def test_a_system_without_wheels_has_rows_but_no_class():
    found = mobility(differential_drive().constrained)
    assert (found.rows, found.rank, found.speeds, found.type,
            found.manoeuvrability, found.leaning) == (3, 3, 2, None, None, False)
    assert (found.undetermined, found.splits, found.fixed, found.trailing) == ((), 0, 0, ())


@pytest.mark.parametrize("trail, steered", [(0.0, 1), (0.06, 0)])
def test_the_class_of_what_leans_is_that_of_its_axles_upright(trail, steered):
    """A bicycle whose fork points at the contact of its wheel is a car of one steering; where the
    contact trails the fork is a caster."""
    parts = [link("rear", 8.0, com=(0.4, 0, 0.6)), link("fork", 1.0),
             joint("steer", "rear", "fork", (1.0 + trail, 0, 0.3), axis=(0, 0, 1))]
    for name, parent, at in (("back", "rear", (0, 0, 0.3)), ("front", "fork", (-trail, 0, 0))):
        parts += [link(f"{name}_wheel", 1.0), joint(name, parent, f"{name}_wheel", at)]
    vehicle = nhmech.load(robot(*parts), wheels=[
        nhmech.Wheel("back", "disc", 0.3, driven=True), nhmech.Wheel("front", "disc", 0.3)])
    found = mobility(vehicle)
    assert found.leaning and found.type == (2 - steered, steered)
    assert found.fixed == 1 and found.trailing == (() if steered else ("steer",))


def test_a_wheel_steers_also_where_a_rack_turns_it():
    """One motion, whichever of the two joints is the independent one."""
    parts = [link("base", 6.0, com=(0.3, 0, 0.1)), link("fork", 0.5), link("rack", 0.5),
             joint("steer", "base", "fork", (0.6, 0, 0.1), axis=(0, 0, 1)),
             joint("rack_joint", "base", "rack", (0.6, 0, 0.3), axis=(0, 0, 1))]
    wheels = []
    for name, parent, at in (("left", "base", (0, 0.2, 0.1)), ("right", "base", (0, -0.2, 0.1)),
                             ("front", "fork", (0, 0, 0))):
        parts += [link(f"{name}_wheel", 0.3), joint(name, parent, f"{name}_wheel", at)]
        wheels.append(Wheel(name, "disc", 0.1, driven=name != "front"))
    alone = nhmech.load(robot(*parts), wheels=wheels, free=("rack_joint",))
    geared = build(replace(alone.description, mimic=(Mimic("steer", "rack_joint", 3.0),)),
                   alone.ground)
    assert mobility(geared).type == mobility(alone).type == CAR
    assert mobility(geared).speeds == mobility(alone).speeds - 1


@pytest.mark.parametrize("normal", [(0, 0, 1), (0.3, -0.2, 1)])
def test_the_planar_twist_is_along_and_about_the_ground(normal):
    """In the world: of the base's velocity along its x axis laid on the ground and to the left of
    it, and of its turn about the normal. Where x stands upright, y is forward."""
    vehicle, rng = shipped("sled", nhmech.Ground(normal=normal)), np.random.default_rng(1)
    n = vehicle.ground.normal / np.linalg.norm(vehicle.ground.normal)
    upright = pin.Quaternion.FromTwoVectors(np.eye(3)[0], n).coeffs()
    q = vehicle.configuration()
    for attitude in (*rng.normal(size=(4, 4)), upright):
        q[3:7] = attitude / np.linalg.norm(attitude)
        R = pin.Quaternion(q[3:7]).toRotationMatrix()
        laid = R[:, 0] - n * (n @ R[:, 0])
        ahead = laid / np.linalg.norm(laid) if np.linalg.norm(laid) > 1e-9 else R[:, 1]
        left, twist = np.cross(n, ahead), rng.normal(size=6)
        np.testing.assert_allclose(
            planar(vehicle, q) @ twist,
            [ahead @ R @ twist[:3], left @ R @ twist[:3], n @ R @ twist[3:]], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name, leaders", [
    ("ackermann_car", {"front_left_steering_joint": 0.4}),
    ("rover", {"front_left_steering_joint": -0.3}),
    ("tricycle", {"steering_joint": 0.7}),
    ("swerve", {"front_left_steering_joint": 0.3, "rear_left_steering_joint": -0.5}),
    ("trailers", {"front_left_steering_joint": -0.2})])
def test_the_base_turns_about_the_rotation_centre(name, leaders):
    """The velocity of the base's point there is zero, whatever the speeds."""
    vehicle = shipped(name)
    q = vehicle.configuration((0.3, -0.2, 0.7), leaders)
    centre = rotation_centre(vehicle, q)
    v = velocity(vehicle, 0.0, q, np.ones(vehicle.frame.nxi))
    R = pin.Quaternion(q[3:7]).toRotationMatrix()
    at_centre = R @ v[:3] + np.cross(R @ v[3:6], centre - q[:3])
    assert abs(v[5]) > 1e-3
    np.testing.assert_allclose(at_centre, 0, atol=1e-9 * np.linalg.norm(centre))
    assert axles(vehicle, q).kind == "point" and axles(vehicle, q).turns


def test_rotation_centre_of_a_car_in_closed_form():
    """Tricycle: wheelbase / tan(steering) to the left of the rear axle."""
    vehicle = shipped("tricycle")
    found = axles(vehicle, vehicle.configuration(None, {"steering_joint": 0.5}))
    straight, across = vehicle.steering.steered[0].straight, vehicle.steering.steered[0].across
    wheelbase = straight[2] / straight[1] * vehicle.steering.length
    assert across @ across == pytest.approx(1, rel=1e-9) and wheelbase > 0.1
    np.testing.assert_allclose(found.centre, [0, wheelbase / np.tan(0.5)], rtol=1e-9, atol=1e-12)


def test_where_there_is_no_single_centre():
    ahead = axles(shipped("ackermann_car"))
    assert ahead.kind == "parallel" and "straight on until it steers" in ahead.describe()
    assert axles(shipped("mecanum")).kind == "anywhere"
    found = axles(shipped("differential_drive"))
    assert found.kind == "line" and found.direction == pytest.approx((0, 1), abs=1e-12)
    np.testing.assert_allclose(found.centre, 0, atol=1e-12)
    assert rotation_centre(shipped("differential_drive"),
                           shipped("differential_drive").configuration()) is None
    ahead = real("clearpath_dd100")
    place = ahead.contact_points(ahead.configuration())[:2].mean(axis=0)
    assert 0.09 < place[0] < 0.11 and f"({place[0]:.4g}, 0)" in axles(ahead).describe()


def test_a_centre_farther_than_a_million_lengths_is_none():
    """Of a differential drive that goes straight on but for a turn of w: 1 / w to the left, where
    that is nearer."""
    vehicle = shipped("differential_drive")
    reader, q = AxleReader(vehicle), vehicle.configuration()
    assert vehicle.steering.length < 0.5
    for turn, is_seen in ((0.5e-6, False), (2e-6, True)):
        v = np.zeros(vehicle.algebroid.nv)
        v[0], v[5] = 1.0, turn / vehicle.steering.length
        centre = reader.centre(q, v)
        assert (centre is not None) == is_seen
        if is_seen:
            np.testing.assert_allclose(centre[:2], [0, 1 / v[5]], rtol=1e-9, atol=1e-6)


CORNERS = [f"{end}_{side}" for end in ("front", "rear") for side in ("left", "right")]


def turned(vehicle, *angles):
    """The swerve drive with each corner turned by hand, as no coupling would."""
    q = vehicle.configuration()
    for corner, angle in zip(CORNERS, angles):
        q[vehicle.algebroid.q_names.index(f"{corner}_steering_joint")] = angle
    return q


def towards(vehicle, place):
    """Angles that turn each axle, (-sin, cos) of its angle, to a place in the plane."""
    x, y = (place - vehicle.contact_points(vehicle.configuration())[:, :2]).T
    return np.arctan(-x / y)


@pytest.mark.parametrize("place", [(1.3, 0.4), (-0.2, 0.1), (0.1, -3e3)])
def test_axles_meet_where_they_are_turned_to(place):
    swerve = shipped("swerve")
    found = axles(swerve, turned(swerve, *towards(swerve, place)))
    assert found.kind == "point" and found.turns and found.steerable and found.to_free() == ()
    np.testing.assert_allclose(np.linalg.norm(found.rows, axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(found.centre, place, rtol=1e-9)
    assert f"at ({place[0]:.4g}, {place[1]:.4g}) m" in found.describe()


def test_axles_that_are_all_turned_alike_meet_at_infinity():
    swerve = shipped("swerve")
    found = axles(swerve, turned(swerve, *[0.4] * 4))
    assert found.kind == "parallel" and not found.turns and found.centre is None
    assert abs(found.direction @ [-np.sin(0.4), np.cos(0.4)]) == pytest.approx(1, rel=1e-12)
    assert found.describe() == "at infinity: it moves straight on until it steers"


@pytest.mark.parametrize("angles, free", [
    ((0, 0, 0, 0), [(0, 1), (2, 3)]),             # two lines: one of them
    ((0, 0, 0.3, 0), [(3,)]),                     # without it a line meets an axle
    ((0, 0, 0.3, 0.3), [(2,), (3,)]),
    ((0.1, 0.3, -0.2, 0.6), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])])
def test_the_fewest_wheels_that_let_the_base_turn(angles, free):
    """Any two axles that are not parallel meet, and so do two that coincide."""
    swerve = shipped("swerve")
    found = axles(swerve, turned(swerve, *angles))
    assert found.to_free() == tuple(tuple(f"{CORNERS[k]}_wheel_joint" for k in one) for one in free)


def test_the_axles_that_do_not_meet_are_named():
    swerve = shipped("swerve")
    found = axles(swerve, turned(swerve, *(towards(swerve, (0.5, 0.9)) + [0, 0, 0, 0.2])))
    assert found.kind == "locked" and not found.turns and found.centre is None
    names = [f"{corner}_wheel_joint" for corner in CORNERS]
    assert found.describe() == (
        f"none, locked: the axle of {names[0]} does not meet that of {', '.join(names[1:])}; free "
        f"the lateral rows of {names[3]}")
    # the front ones on one line meet
    front = axles(swerve, turned(swerve, 0, 0, 0.3, -0.4)).describe()
    assert f"of {names[0]} does not meet that of {names[2]}, {names[3]};" in front


@pytest.mark.parametrize("turn", [0.7, -0.2])
def test_what_no_axle_binds_turns_where_it_stands_still(turn):
    """About the point whose velocity is zero; none without a turn, or without a velocity."""
    mecanum = shipped("mecanum")
    reader, q = AxleReader(mecanum), mecanum.configuration((0.4, -1.2, 0.9))
    v = np.zeros(mecanum.algebroid.nv)
    v[[0, 1, 5]] = 0.8, -0.5, turn
    R = pin.Quaternion(q[3:7]).toRotationMatrix()
    np.testing.assert_allclose(R @ v[:3] + np.cross(R @ v[3:6], reader.centre(q, v) - q[:3]), 0,
                               atol=1e-12)
    v[5] = 0
    assert reader.centre(q, v) is None and reader.centre(q) is None


@pytest.mark.parametrize("twist", [(0.8, -0.5, 0.7), (-0.2, 0.1, -1.3)])
def test_a_common_axle_is_a_line_on_which_the_base_turns_about_one_point(twist):
    """Of a frame that is beside the axle and turned against it; where wheels slip along it, about
    the point of the axle that is nearest to where nothing moves."""
    vehicle = askew("differential_drive")
    q, middle, along = (vehicle.configuration((0.4, -1.2, 0.9)), np.array([0.3, 0.07]),
                        np.array([-np.sin(0.4), np.cos(0.4)]))
    reader, foot = AxleReader(vehicle), middle - middle @ along * along
    found = reader.at(q)
    assert found.kind == "line" and found.turns and found.to_free() == ()
    np.testing.assert_allclose(found.centre, foot, rtol=1e-9)
    np.testing.assert_allclose(found.direction, along, rtol=1e-9)
    assert found.describe() == (
        f"any point of the common axle, which passes at ({foot[0]:.4g}, {foot[1]:.4g}) m of the "
        f"base along ({along[0]:.3g}, {along[1]:.3g})")
    v = np.zeros(vehicle.algebroid.nv)
    v[[0, 1, 5]] = twist
    still = np.array([-twist[1], twist[0]]) / twist[2]
    place = q[:3] + pin.Quaternion(q[3:7]).toRotationMatrix() @ np.r_[
        middle + (still - middle) @ along * along, 0]
    np.testing.assert_allclose(reader.centre(q, v), place, rtol=1e-9)


@pytest.mark.parametrize("size", [1e-4, 1.0])
def test_a_wheel_trails_from_a_millionth_of_the_length_on(size):
    made = wagon({"left": (0, 0)}, {"a": (0.8 * size, 0, 0.1 * size, 0)}, free=("a_steer",),
                 radius=0.1 * size)
    for part, wheels in ((0.99e-6, ("left", "a")), (1.01e-6, ("left",))):
        before, after = (f'xyz="{-trail * size} 0 0"' for trail in (0.1, 0.4 * part))
        xml = made.description.xml.replace(before, after)
        assert axles(build(replace(made.description, xml=xml), made.ground)).wheels == wheels


def test_a_ball_that_rolls_and_wheels_that_slip_are_no_axles():
    parts = [link("ball", 0.1), joint("to_ball", "base", "ball", (0.5, 0.1, -0.05), kind="fixed")]
    text = wagon(more=parts).description.xml
    made = nhmech.load(text, wheels=[
        Wheel("left", "disc", 0.1), Wheel("right", "omni", 0.1),
        Wheel(None, "sphere", 0.05, link="ball")])
    found = axles(made)
    assert found.wheels == ("left",) and found.kind == "line"


def test_why_a_steering_command_locks_a_car_and_what_to_free():
    """One front wheel steered alone: locked; the closed coupling: not."""
    car = shipped("ackermann_car")
    q, alone = car.configuration(), {"front_left_steering_joint": 0.3}
    q[car.model.joints[car.model.getJointId("front_left_steering_joint")].idx_q] = 0.3
    found = axles(car, q)
    assert found.kind == "locked" and not found.turns
    assert found.to_free() == (("front_right_wheel_joint",),)
    assert ("locked" in found.describe()
            and "free the lateral rows of front_right_wheel_joint" in found.describe())
    closed = axles(car, car.configuration(None, alone))
    assert closed.kind == "point" and closed.to_free() == ()


def test_why_skid_steering_cannot_turn():
    """Two parallel axles: straight only, until one of them is freed; freeing it makes a
    differential drive."""
    found = axles(shipped("skid_steer"), gripping=True)
    front, rear = (tuple(f"{end}_{side}_wheel_joint"
                         for side in ("left", "right")) for end in ("front", "rear"))
    assert found.kind == "parallel" and found.to_free() == (front, rear)
    freed = nhmech.load(nhmech.urdf_path("skid_steer"), skid=rear)
    assert AxleReader(freed).at(freed.configuration()).kind == "line"
    assert axles(freed).kind == "line" and mobility(freed).type == SPOT
