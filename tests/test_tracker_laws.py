"""The path trackers: one interface, and what each paper proves of its law."""

import xml.etree.ElementTree as ET
from functools import cache
from math import atanh, cos, pi, sin, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
import tracking_table as table
from scipy.integrate import solve_ivp
from support import askew, joint, link, robot, shipped
from trains import train

import nhmech
from nhmech import InputError, ModelError
from nhmech.attitude import wrap
from nhmech.control import feedback_linearisation, kanayama, polar, pure_pursuit, stanley
from nhmech.control.path import relative_pose
from nhmech.control.path_library import circle, lane_change, line, make_path
from nhmech.control.path_reference import path_error
from nhmech.control.registry import controller_class
from nhmech.control.unicycle import Unicycle, unicycle
from nhmech.simulation.state import base_pose

EIGHT = make_path("figure8", 3.0)
TRACKERS = (*table.TRACKERS, "polar")


# -- one interface ---------------------------------------------------------------------------------
@pytest.mark.parametrize("name", TRACKERS)
def test_one_interface(name):
    """Any tracker, made alike, stops at the end of an open path; its errors are there during a run
    and after it."""
    vehicle = shipped("differential_drive")
    path = lane_change(2.0, 0.4, before=0.5, after=1.0).place(1.0, 2.0, 0.7)
    tracker = controller_class(name)(vehicle, path, speed=0.4)
    simulator = nhmech.Simulator(vehicle, tracker, dt=0.01, control_period=0.02)
    state = simulator.reset(**tracker.start)
    assert state.xi["forward_speed"] == pytest.approx(0.4, abs=1e-12)
    assert state.pose[:2] == pytest.approx(
        path.point(0.0) - tracker.ahead * np.array([cos(0.7), sin(0.7)]), abs=1e-12
    )
    trajectory = simulator.run(path.length / 0.4 + 12.0, every=10)
    errors = tracker.errors(trajectory)
    assert errors.shape == (len(trajectory.t), 3)
    assert tracker.error(simulator.state) == pytest.approx(errors[-1], abs=1e-12)
    assert np.abs(errors[-1]).max() <= 0.02
    assert abs(simulator.state.xi["forward_speed"]) <= 1e-3
    again = simulator.reset(**tracker.start)
    first = tracker(0.0, again)
    tracker.reset()
    assert [part.values for part in tracker(0.0, again)] == [part.values for part in first]


@pytest.mark.parametrize("name, lag", [("ackermann_car", 0.2), ("differential_drive", 0.05)])
def test_lag_is_the_mean_delay_of_a_servo(name, lag):
    """Of p'' = (p* - p) / T^2 - 2 p' / T, and of p' = (p* - p) / T for a rate: the area above the
    answer to a step, 2 T or T. The unit is the vehicle's length and twice the way in that time."""
    vehicle, dt = shipped(name), 1e-3
    if name == "ackermann_car":
        joint, wanted = vehicle.steering.steered[0].steering, 0.1
        command = nhmech.JointPosition({joint: wanted})
        column = f"{joint}.position"
    else:
        joint, wanted = vehicle.driven[0], 2.0
        command = nhmech.JointVelocity(dict.fromkeys(vehicle.driven, wanted))
        column = f"{joint}.velocity"
    simulator = nhmech.Simulator(vehicle, lambda t, state: command, dt=dt, on_lift="ignore")
    simulator.reset()
    answer = simulator.run(2.0).column(column) / wanted
    delay = dt * np.sum(1 - answer[:-1])
    tracker = pure_pursuit.PurePursuit(vehicle, EIGHT, speed=0.4)
    assert tracker.lag == lag == pytest.approx(delay, rel=5e-3)
    assert tracker.unit == pytest.approx(unicycle(vehicle).length + 2 * 0.4 * lag, rel=1e-13, abs=0)


def test_start_fits_a_bent_path():
    """Steered, turned and moving as the path asks, so that the first moment has no error."""
    for vehicle in (*map(shipped, ("ackermann_car", "tricycle", "swerve", "rover",
                                   "differential_drive")), askew("ackermann_car")):
        radius = table.tightest(vehicle)
        tracker = kanayama.Kanayama(vehicle, circle(radius), speed=0.5)
        simulator = nhmech.Simulator(vehicle, tracker)
        state = simulator.reset(**tracker.start)
        wanted = tracker.unicycle.twist(0.5, 0.5 / radius)
        assert [state.xi[key] for key in ("forward_speed", "lateral_speed",
                                          "yaw_rate")] == pytest.approx(
            wanted, abs=1e-12)
        tracker(0.0, state)
        assert tracker.error(state) == pytest.approx((0, 0, 0), abs=1e-12)


@pytest.mark.parametrize("make, error, said", [
    (lambda v: polar.Polar(v, EIGHT), InputError, "closed path has no end"),
    (lambda v: pure_pursuit.PurePursuit(v, EIGHT, speed=-1.0), InputError, "speed = -1.0"),
    (lambda v: pure_pursuit.PurePursuit(v, EIGHT, lookahead=0.0), InputError, "lookahead = 0.0"),
    (lambda v: stanley.Stanley(v, "figure8"), InputError, "path = 'figure8' must be a Path"),
    (lambda v: kanayama.Kanayama(v, EIGHT, drive="servo"), InputError, "drive = 'servo'"),
    (lambda v: kanayama.Kanayama(shipped("sled"), EIGHT), ModelError, "no driven wheel"),
    (lambda v: kanayama.Kanayama(shipped("ball"), EIGHT), ModelError,
     "cannot both drive forward and turn"),
    # but a drive of one's own may hold it
    (lambda v: kanayama.Kanayama(shipped("bicycle"), EIGHT), ModelError,
     "'bicycle' falls over sideways.*BicycleBalance"),
    (lambda v: kanayama.Kanayama(shipped("bicycle"), EIGHT, drive=lambda *_: 1 / 0),
     ZeroDivisionError, "division by zero"),
])
def test_errors_say_what_is_wrong(make, error, said):
    with pytest.raises(error, match=said):
        make(shipped("differential_drive"))


@pytest.mark.parametrize("name", table.TRACKERS)
def test_from_the_wrong_heading_and_beside_the_path(name):
    """Started across the path and off it, back on it within a few lengths."""
    vehicle = shipped("differential_drive")
    path = line(30.0)
    tracker = controller_class(name)(vehicle, path, speed=0.5)
    simulator = nhmech.Simulator(vehicle, tracker, dt=0.01, control_period=0.02)
    simulator.reset(pose=(1.0, 0.3, 2.0), xi={"forward_speed": 0.3, "yaw_rate": 0.0})
    errors = tracker.errors(simulator.run(14.0, every=20))
    assert np.abs(errors[-1, 1:]).max() <= 2e-3
    # along the path, and not back
    assert simulator.state.pose[0] > 4.0


def test_a_two_wheeled_pendulum_follows_upright():
    vehicle = shipped("pendulum")
    tracker = kanayama.Kanayama(vehicle, make_path("figure8", 1.5), speed=0.3)
    simulator = nhmech.Simulator(vehicle, tracker, dt=5e-3, control_period=0.01)
    simulator.reset(**tracker.start)
    run = simulator.run(8.0, every=10)
    errors = tracker.errors(run)
    upright = [base[2, 2] for base in map(base_pose, run.q)]
    assert np.sqrt(np.mean(errors[:, 1] ** 2)) <= table.LATERAL and min(upright) > cos(0.3)


MIRRORED = [(line(6.0), line(6.0)), (lane_change(4.0, 1.0), lane_change(4.0, -1.0)),
            (circle(2.0), circle(2.0, left=False))]


@pytest.mark.parametrize("chosen", ["differential_drive", "ackermann_car"])
@pytest.mark.parametrize("name", TRACKERS)
def test_a_law_is_the_same_anywhere_and_in_a_mirror(name, chosen):
    """Path and pose moved and turned: the same twist; both reflected: the other turn and side."""
    vehicle, law, (x0, y0, turn) = shipped(chosen), controller_class(name), (3.0, -2.0, 2.5)
    rng = np.random.default_rng(8)
    for path, mirror in MIRRORED[:2] if name == "polar" else MIRRORED:
        own, other, moved = (law(vehicle, one, speed=0.4)
                             for one in (path, mirror, path.place(x0, y0, turn)))
        for t in (0.0, 0.1, 0.4, 0.7):
            x, y = path.point(0.5 + 0.4 * t) + rng.uniform(-0.3, 0.3, 2)
            yaw = float(path.heading(0.5)) + rng.uniform(-0.6, 0.6)
            there = (x0 + x * cos(turn) - y * sin(turn), y0 + x * sin(turn) + y * cos(turn),
                     yaw + turn)
            twist, reflected, same = (
                tracker.twist(t, SimpleNamespace(pose=pose)) for tracker, pose in (
                    (own, (x, y, yaw)), (other, (x, -y, -yaw)), (moved, there)))
            assert np.abs(twist).max() > 0.01
            np.testing.assert_allclose(same, twist, rtol=0, atol=1e-11)
            np.testing.assert_allclose(reflected * (1, -1, -1), twist, rtol=0, atol=1e-11)


# -- the unicycle ----------------------------------------------------------------------------------
def test_unicycle_is_read_off_the_distribution():
    """P does not move sideways, wherever a vehicle's steering stands;
    where it is on cars, and how tight they turn, by trigonometry."""
    car = unicycle(shipped("ackermann_car"))
    assert car.offset == pytest.approx((0, 0),
                                       abs=1e-12) and car.wheelbase == pytest.approx(2.6, rel=1e-9)
    limit = shipped("ackermann_car").limits["front_left_steering_joint"]
    # the left wheel is 0.69 m to the left
    left = 2.6 / np.tan(limit.upper) + 0.69
    right = 2.6 / np.tan(-limit.lower) - 0.69
    assert car.turning_radius == pytest.approx(max(left, right), rel=1e-12)
    assert all(unicycle(shipped(name)).free for name in ("swerve", "mecanum", "omni"))
    # measured by its wheels, but not by trailers
    assert car.length == shipped("ackermann_car").steering.length < car.wheelbase
    drawn = unicycle(shipped("trailers"))
    assert drawn.length == drawn.wheelbase == pytest.approx(1.1, rel=1e-9)
    # steered at its rear, where its base frame is the other way round
    back = unicycle(train(2, turned=pi))
    assert back.length == pytest.approx(1.1, rel=1e-9)
    assert back.wheelbase == pytest.approx(train(2).steering.length, rel=1e-9)
    for name in ("ackermann_car", "tricycle", "rover", "differential_drive", "skid_steer",
                 "trailers"):
        vehicle, point = shipped(name), unicycle(shipped(name))
        E = vehicle.equations
        assert not point.free
        for q in vehicle.constrained.samples[:6]:
            v = E.velocity(0.0, q, np.linspace(0.3, 0.7, vehicle.frame.nxi),
                           vehicle.theta).full().ravel()
            sideways = (cos(point.yaw) * (v[1] + v[5] * point.offset[0])
                        - sin(point.yaw) * (v[0] - v[5] * point.offset[1]))
            assert abs(sideways) <= 1e-9 * np.abs(v[:6]).max()


def test_of_several_steered_axles_the_farthest_counts():
    """Two wheels side by side, and two steered ones before them, one behind the other."""
    parts, wheels = [link("base", 8.0)], []
    for name, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(name), joint(f"{name}_joint", "base", name, (0, y, 0))]
        wheels.append(nhmech.Wheel(f"{name}_joint", "disc", 0.1, driven=True))
    for name, x in (("near", 0.5), ("far", 1.2)):
        parts += [link(f"{name}_fork"), joint(f"{name}_steering", "base", f"{name}_fork",
                                              (x, 0, 0), axis=(0, 0, 1)),
                  link(name), joint(f"{name}_joint", f"{name}_fork", name)]
        wheels.append(nhmech.Wheel(f"{name}_joint", "disc", 0.1))
    vehicle = nhmech.load(robot(*parts), wheels=wheels)
    found = unicycle(vehicle)
    assert found.wheelbase == pytest.approx(1.2, rel=1e-12)
    assert found.length == vehicle.steering.length > 0.6


def test_unicycle_of_a_base_frame_that_stands_askew():
    """0.3 m ahead, 0.07 m aside and turned by 0.4 rad: P is the foot of the new origin on the rear
    axle, so that radii to the left and to the right change by its way along the axle."""
    own, moved = unicycle(shipped("ackermann_car")), unicycle(askew("ackermann_car"))
    ahead, aside, turn = relative_pose(moved.pose((0.0, 0.0, 0.0)), (0.3, 0.07, 0.4))
    foot = 0.3 * sin(0.4) - 0.07 * cos(0.4)
    assert (ahead, aside, turn) == pytest.approx((0, foot, 0), abs=1e-12)
    assert (moved.wheelbase, moved.length) == pytest.approx((2.6, own.length), rel=1e-9)
    limit = shipped("ackermann_car").limits["front_left_steering_joint"]
    left, right = 2.6 / np.tan(limit.upper) + 0.69, 2.6 / np.tan(-limit.lower) - 0.69
    assert moved.turning_radius == pytest.approx(max(left - foot, right + foot), rel=1e-12)


@pytest.mark.parametrize("aside", [0.3, -0.3])
@pytest.mark.parametrize("turn", [pi / 2, -pi / 2])
def test_what_rolls_across_its_base_goes_to_the_left(turn, aside):
    """A base frame at right angles to the way has no forward: of both senses the left one."""
    text = nhmech.urdf_path("carriage").read_text().replace("</robot>", (
        '<link name="turned"/><joint name="turn" type="fixed"><parent link="turned"/>'
        f'<child link="base_link"/><origin xyz="0.2 {aside} 0" rpy="0 0 {turn}"/></joint></robot>'))
    point = unicycle(nhmech.load(text))
    assert point.yaw == pytest.approx(pi / 2, rel=1e-12)
    assert point.offset == pytest.approx((0, aside), abs=1e-12) and not point.free


def test_what_turns_about_one_point_alone_follows_no_path():
    """Two fixed axles that cross: neither forward without a turn nor a turn without a way."""
    parts, wheels = [link("base", 5.0)], []
    for name, place, axis in (("front", (0.3, 0.0, 0.0), (0, 1, 0)),
                              ("left", (0.0, 0.3, 0.0), (1, 0, 0))):
        parts += [link(name, 0.3), joint(f"{name}_joint", "base", name, place, axis=axis)]
        wheels.append(nhmech.Wheel(f"{name}_joint", "disc", 0.05))
    for name, place in (("ball", (-0.2, 0.1, -0.03)), ("other", (-0.2, -0.1, -0.03))):
        parts += [link(name, 0.1), joint(f"{name}_joint", "base", name, place, kind="fixed")]
        wheels.append(nhmech.Wheel(None, "caster_ball", 0.02, link=name))
    with pytest.raises(ModelError, match="'rig' cannot both drive forward and turn"):
        unicycle(nhmech.load(robot(*parts), wheels=wheels))


@pytest.mark.parametrize("rows, follows, slides", [
    ([(0, 0, 1)], False, True), ([(0.9e-6, 0, 1)], False, True), ([(1.1e-6, 0, 1)], True, False),
    ([(0, 1, 0)], True, False), ([(0, 1, 0), (1, 0, 0)], False, False),
    ([(0, 1, 0), (0, 0, 1)], False, False), ([], True, False)])
def test_one_barred_twist_makes_a_unicycle_unless_it_is_a_turn(rows, follows, slides, monkeypatch):
    """A base that never turns goes in every direction, aslant."""
    from nhmech.control import unicycle as module

    monkeypatch.setattr(module, "barred_twists",
                        lambda vehicle: np.reshape(np.array(rows, dtype=float), (-1, 3)))
    vehicle = shipped("differential_drive")
    assert module.goes_aslant(vehicle) == slides
    if follows:
        assert module.unicycle.__wrapped__(vehicle).free == (not rows)
        return
    with pytest.raises(ModelError, match="cannot both drive forward and turn"):
        module.unicycle.__wrapped__(vehicle)


def test_a_vehicle_without_steering_is_its_own_wheelbase():
    for name, free in (("differential_drive", False), ("skid_steer", False), ("mecanum", True)):
        point, length = unicycle(shipped(name)), shipped(name).steering.length
        assert (point.wheelbase, point.length, point.turning_radius) == (length, length, 0.0)
        assert point.free == free and point.yaw == 0.0


@pytest.mark.parametrize("zero", [0.0, 0.5, -0.6])
@pytest.mark.parametrize("name", ["tricycle", "ackermann_car"])
def test_the_wheelbase_does_not_depend_on_where_steering_is_zero(name, zero):
    """The same vehicle, its steering joints mounted turned; kingpins may be off its middle."""
    root = ET.fromstring(nhmech.urdf_path(name).read_text())
    pivots = [e for e in root.iter("joint") if e.get("name") in shipped(name).description.steering]
    assert len(pivots) == (2 if name == "ackermann_car" else 1)
    for pivot in pivots:
        pivot.find("origin").set("rpy", f"0 0 {zero}")
    found = unicycle(nhmech.load(ET.tostring(root, encoding="unicode")))
    assert found.wheelbase == pytest.approx(unicycle(shipped(name)).wheelbase, rel=1e-9)


def test_a_point_of_the_base_goes_where_its_heading_points():
    """With the base turned and its origin anywhere: `base` undoes `pose`, and the base's `twist`
    moves P along its own heading at the speed asked for, turning as asked for."""
    rng = np.random.default_rng(6)
    for _ in range(5):
        x, y, yaw, speed, turn = rng.normal(size=5)
        point = Unicycle((x, y), yaw, False, 1.0, 1.0, 0.0)
        place = tuple(rng.normal(size=3))
        np.testing.assert_allclose(point.base(point.pose(place)), place, rtol=0, atol=1e-14)
        forward, lateral, rate = point.twist(speed, turn)
        c, s = cos(place[2]), sin(place[2])
        step = 1e-5 * np.array([c * forward - s * lateral, s * forward + c * lateral, rate])
        ahead, behind = point.pose(tuple(place + step)), point.pose(tuple(place - step))
        moved = np.subtract(ahead, behind) / 2e-5
        heading = point.pose(place)[2]
        np.testing.assert_allclose(moved, [speed * cos(heading), speed * sin(heading), turn],
                                   rtol=0, atol=1e-9)


@pytest.mark.parametrize("x", [0.3, -0.5])
def test_tracked_point_beside_the_base_origin(x):
    """A differential drive whose base frame stands beside the axle: the axle's middle follows the
    path."""
    def wheel(name, y):
        shape = ('<collision><origin rpy="1.5707963267948966 0 0"/>'
                 '<geometry><cylinder radius="0.1" length="0.02"/></geometry></collision>')
        part = link(f"{name}_wheel", 0.2, (1e-3, 2e-3, 1e-3), body=shape)
        return part + joint(f"{name}_wheel_joint", "base", f"{name}_wheel", (x, y, 0.1))

    ball = link("ball_caster", 0.1, (1e-4, 1e-4, 1e-4),
                body='<collision><geometry><sphere radius="0.05"/></geometry></collision>')
    text = robot(link("base", 5.0, com=(x, 0, 0.1)), wheel("left", 0.2), wheel("right", -0.2), ball,
                 joint("ball_caster_joint", "base", "ball_caster", (x - 0.3, 0, 0.05),
                       kind="fixed"))
    vehicle = nhmech.load(text)
    assert unicycle(vehicle).offset == pytest.approx((x, 0), abs=1e-12)
    tracker = kanayama.Kanayama(vehicle, EIGHT, speed=0.5)
    simulator = nhmech.Simulator(vehicle, tracker, dt=0.01, control_period=0.02)
    simulator.reset(**tracker.start)
    errors = tracker.errors(simulator.run(4.0, every=10))
    assert np.abs(errors[:, 1]).max() <= 5e-3 and np.abs(errors[:, 2]).max() <= 0.05


@pytest.mark.parametrize("speed", [0.4, 0.8])
def test_gains_are_pure_numbers_times_units_of_length_and_speed(speed):
    """As each docstring says; those without settings damp critically, or arrive straight."""
    vehicle, path = shipped("differential_drive"), line(9.0)

    def made(law, **settings):
        tracker = law(vehicle, path, speed=speed, **settings)
        return tracker, tracker.unit

    for (along, across, heading), settings in (((1, 1, 2), {}), ((3, 5, 7), dict(
            along=3, across=5, heading=7))):
        tracker, unit = made(kanayama.Kanayama, **settings)
        assert tracker.gains == pytest.approx((along * speed / unit, across / unit ** 2,
                                               heading / unit), rel=1e-14)
    for (stiffness, damping), settings in (((1, 2), {}), ((3, 5), dict(stiffness=3, damping=5))):
        tracker, unit = made(feedback_linearisation.FeedbackLinearisation, **settings)
        assert tracker.gains == pytest.approx((stiffness * (speed / unit) ** 2,
                                               damping * speed / unit), rel=1e-14)
    for (approach, align, weight), settings in (((1, 2.5, 2), {}), ((3, 5, 7), dict(
            approach=3, align=5, weight=7))):
        tracker, unit = made(polar.Polar, **settings)
        gamma = approach * speed / unit
        assert tracker.gains == pytest.approx((gamma, align * gamma, weight), rel=1e-14)
    for number, settings in ((1, {}), (3, dict(lookahead=3 * unit))):
        assert made(pure_pursuit.PurePursuit, **settings)[0].lookahead == pytest.approx(
            number * unit, rel=1e-13, abs=0)
    for law in (kanayama.Kanayama, feedback_linearisation.FeedbackLinearisation, polar.Polar,
                pure_pursuit.PurePursuit, stanley.Stanley):
        assert law(vehicle, path).speed == 0.5
    tracker, unit = made(stanley.Stanley)
    assert tracker.gain == 1 and tracker.ahead == unit and tracker.most == pi / 2


@pytest.mark.parametrize("length, begin", [(5.0, 0.0), (5.0, 1.7), (5.0, 4.9), (0.2, 0.0),
                                           (0.2, 0.15), (3.0, 3.0)])
def test_the_timetable_keeps_the_pace(length, begin):
    """ds/dt is the pace at s, and d2s/dt2 its rate; all of the speed until one unit is left, then
    as exp(-speed t / unit) to the end. On a closed path it goes on for ever."""
    vehicle = shipped("differential_drive")
    tracker = stanley.Stanley(vehicle, line(length), speed=0.6)
    if length > tracker.unit:
        assert tracker.timetable(7.0) == (0.0, 0.6, 0.0)      # before it begins
    state = nhmech.Simulator(vehicle).reset(pose=(begin - tracker.ahead, 0.0, 0.0))
    tracker(7.0, state)
    assert tracker.timetable(7.0)[0] == pytest.approx(begin, abs=1e-12)
    h, braking = 1e-4, max((length - begin - tracker.unit) / 0.6, 0.0)
    for t in 7.0 + np.array([0.03, 0.4, 0.9, 1.4, 4.0]) * (braking or 1.0):
        (s, v, rate), (before, slower, _), (after, faster, _) = (
            tracker.timetable(x) for x in (t, t - h, t + h))
        assert v == pytest.approx(tracker.pace(s), rel=1e-9, abs=1e-15)
        assert v == pytest.approx((after - before) / (2 * h), rel=1e-6, abs=1e-12)
        assert rate == pytest.approx((faster - slower) / (2 * h), rel=1e-6, abs=1e-12)
        assert (v == 0.6) == (t - 7.0 < braking) and begin <= s <= length
    assert tracker.timetable(1e3)[0] == pytest.approx(length, rel=1e-12, abs=0)
    assert tracker.pace(length + 1.0) == 0.0 and tracker.pace(-1.0) == min(
        0.6, 0.6 * (length + 1.0) / tracker.unit)
    closed = stanley.Stanley(vehicle, circle(1.0), speed=0.6)
    assert closed.timetable(100.0) == (0.0, 0.6, 0.0) and closed.pace(50.0) == 0.6
    closed(1.0, state)
    assert closed.timetable(101.0)[0] - closed.timetable(1.0)[0] == pytest.approx(60, rel=1e-12)


# -- what the papers prove -------------------------------------------------------------------------
def unicycle_flow(pose, v, omega):
    return np.array([v * cos(pose[2]), v * sin(pose[2]), omega])


def rolled(law, start, duration, t_eval=None):
    """A unicycle under (t, pose, rest) -> (v, omega, rest'), `start` = pose and the rest,
    integrated closely."""
    def flow(t, z):
        v, omega, more = law(t, z[:3], z[3:])
        return np.concatenate([unicycle_flow(z[:3], v, omega), more])

    return solve_ivp(flow, (0, duration), start, method="DOP853", rtol=1e-12, atol=1e-13,
                     t_eval=t_eval, dense_output=True)


def kanayama_v(error, gains) -> float:
    """Lyapunov's function [m^2], zero on the reference only."""
    x, y, theta = error
    return (x * x + y * y) / 2 + (1 - np.cos(theta)) / gains[1]


def test_kanayama_lyapunov():
    """dV/dt = -Kx x^2 - v_r Ktheta sin^2(theta) / Ky at random states (Proposition 1), hence V
    falls along a run."""
    rng = np.random.default_rng(2)
    h = 1e-5
    for _ in range(200):
        gains = tuple(rng.uniform(0.5, 3.0, 3))
        pose, reference = (np.append(rng.normal(size=2), rng.uniform(-pi, pi)) for _ in range(2))
        v_r, omega_r = rng.uniform(0, 2), rng.normal()
        error = relative_pose(reference, pose)
        if abs(error[2]) > pi - 1e-3:
            continue
        f = unicycle_flow(pose, *kanayama.tracking_law(error, v_r, omega_r, gains))
        g = unicycle_flow(reference, v_r, omega_r)
        V = [kanayama_v(relative_pose(reference + s * h * g, pose + s * h * f),
                               gains) for s in (1, -1)]
        expected = -gains[0] * error[0] ** 2 - v_r * gains[2] * sin(error[2]) ** 2 / gains[1]
        assert (V[0] - V[1]) / (2 * h) == pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert expected <= 0
    gains, speed = (1.0, 4.0, 4.0), 0.5

    def reference(t):
        return [float(x) for x in EIGHT.at(np.float64(speed * t))]

    def law(t, pose, _):
        x, y, heading, curvature = reference(t)
        error = relative_pose((x, y, heading), pose)
        return *kanayama.tracking_law(error, speed, speed * curvature, gains), []

    start = np.array(reference(0)[:3]) + (0.5, -0.7, 2.0)
    times = np.linspace(0, 40, 801)
    run = rolled(law, start, 40.0, times)
    V = np.array([kanayama_v(relative_pose(reference(t)[:3], z), gains)
                  for t, z in zip(run.t, run.y.T)])
    assert np.all(np.diff(V) <= 1e-15) and V[-1] <= 1e-9 * V[0]


def test_feedback_linearisation_is_exactly_linear():
    """e'' + kd e' + kp e = 0 in both coordinates, from a state off the path and off the speed."""
    kp, kd, speed = 1.3, 1.1, 0.5                                      # roots -0.55 +- 1.0i
    vehicle = shipped("differential_drive")
    tracker = feedback_linearisation.FeedbackLinearisation(vehicle, EIGHT, speed=speed)
    simulator = nhmech.Simulator(vehicle, tracker)
    tracker(0.0, simulator.reset(**tracker.start))                     # its clock begins
    tracker.gains = kp, kd

    def law(t, pose, zeta):
        rate, omega = feedback_linearisation.compensator(pose, zeta[0], tracker.reference(t),
                                                         tracker.gains)
        return zeta[0], omega, [rate]

    x, y, heading = EIGHT.start()
    start = np.array([x + 0.1, y - 0.05, heading + 0.3, 0.6])
    times = np.linspace(0, 12, 121)
    run = rolled(law, start, 12.0, times)
    e0 = np.array([0.1, -0.05])
    de0 = 0.6 * np.array([cos(heading + 0.3),
                          sin(heading + 0.3)]) - speed * np.array([cos(heading), sin(heading)])
    real, imaginary = kd / 2, sqrt(kp - kd * kd / 4)
    expected = np.exp(-real * times)[:, None] * (
        np.cos(imaginary * times)[:, None] * e0
        + np.sin(imaginary * times)[:, None] * (de0 + real * e0) / imaginary
    )
    got = run.y[:2].T - EIGHT.point(speed * times)
    assert np.abs(got - expected).max() <= 1e-9


def test_feedback_linearisation_in_the_loop():
    """The controller itself in a kinematic run: what sampling adds falls with the period, in
    proportion."""
    vehicle = shipped("differential_drive")
    worst = []
    for dt in (4e-3, 2e-3):
        tracker = feedback_linearisation.FeedbackLinearisation(vehicle, EIGHT, speed=0.5)
        kp, kd = tracker.gains
        simulator = nhmech.Simulator(vehicle, tracker, dt=dt, mode="kinematic")
        x, y, heading = EIGHT.start()
        simulator.reset(pose=(x + 0.03, y - 0.02, heading))
        run = simulator.run(3.0)
        # both roots: critically damped
        w = kd / 2
        assert kp == pytest.approx(w * w, rel=1e-12)
        s = np.array([tracker.timetable(t)[0] for t in run.t])
        got = run.q[:, :2] - EIGHT.point(s)
        e0, de0 = got[0], 0.5 * (np.array([cos(heading), sin(heading)])
                                 - [cos(EIGHT.heading(s[0])), sin(EIGHT.heading(s[0]))])
        expected = np.exp(-w * run.t)[:, None] * (e0 + (de0 + w * e0) * run.t[:, None])
        worst.append(np.abs(got - expected).max())
    assert worst[0] <= 4e-3 and worst[0] / worst[1] == pytest.approx(2.0, abs=0.2)


def polar_v(coordinates, gains) -> float:
    """Lyapunov's function, with e in metres."""
    e, alpha, theta = coordinates
    return (e * e + alpha * alpha + gains[2] * theta * theta) / 2


def test_polar_lyapunov():
    """dV/dt = -gamma e^2 cos^2(alpha) - k alpha^2 at random states, with the coordinates of real
    poses."""
    rng = np.random.default_rng(3)
    h = 1e-6
    for _ in range(300):
        gains = rng.uniform(0.3, 2), rng.uniform(0.3, 4), rng.uniform(0.3, 3)
        pose, goal = (np.append(rng.normal(size=2), rng.uniform(-pi, pi)) for _ in range(2))
        e, alpha, theta = polar.polar(pose, goal)
        if e < 0.1 or max(abs(alpha), abs(theta)) > pi - 0.01:
            continue
        f = unicycle_flow(pose, *polar.approach_law((e, alpha, theta), gains))
        V = [polar_v(polar.polar(pose + s * h * f, goal), gains) for s in (1, -1)]
        assert (V[0] - V[1]) / (2 * h) == pytest.approx(
            -gains[0] * (e * cos(alpha)) ** 2 - gains[1] * alpha**2, rel=1e-5, abs=1e-6
        )


@pytest.mark.parametrize("share", [0.3, 0.999, 1.0, 1.001, 4.0])
def test_polar_is_slowed_to_its_speed_and_never_sped_up(share):
    """Both parts by one factor where gamma e is above the speed; below, the law itself."""
    tracker = polar.Polar(shipped("differential_drive"), line(9.0), speed=0.4)
    e = share * 0.4 / tracker.gains[0]
    law = np.array(polar.approach_law((e, 0.0, -0.3), tracker.gains))
    pose = 9.0 - e * cos(-0.3), -e * sin(-0.3), -0.3
    np.testing.assert_allclose(tracker.law(0.0, pose, 0.0), law / max(share, 1.0), rtol=1e-12)


def test_polar_turns_on_the_spot_at_its_goal():
    """By the law itself, where the goal lies along x: it does not drive, and nothing is slowed."""
    tracker = polar.Polar(shipped("differential_drive"), line(9.0).place(0.0, 0.0, -0.4), speed=0.4)
    gamma, k, h = tracker.gains
    alpha, theta = -0.7, 0.4
    u, omega = tracker.law(0.0, (*tracker.goal[:2], -alpha), 0.0)
    assert u == 0.0 and omega == pytest.approx(
        k * alpha + gamma * cos(alpha) * sin(alpha) / alpha * (alpha + h * theta), rel=1e-12)


def test_polar_straight_ahead():
    """alpha = 0, where sin(alpha) / alpha has its limit: u = gamma e, omega = gamma h theta."""
    for theta in (0.0, 0.7, -2.0):
        found = polar.approach_law((1.3, 0.0, theta), (0.8, 2.5, 1.7))
        assert found == pytest.approx((0.8 * 1.3, 0.8 * 1.7 * theta), rel=1e-15)
        near = polar.approach_law((1.3, 1e-9, theta), (0.8, 2.5, 1.7))
        assert near == pytest.approx(found, rel=1e-8, abs=1e-8)


def test_polar_converges_exponentially_from_everywhere():
    """From all around the goal and with every heading, e falls as exp(-gamma t);
    alpha and theta at the roots of x^2 + k x + gamma^2 h.

    No more than one cusp, none where the goal is ahead."""
    gains = gamma, k, h = 1.0, 2.5, 2.0
    goal = (0.4, -0.2, 1.1)

    def law(t, pose, _):
        return *polar.approach_law(polar.polar(pose, goal), gains), []

    times = np.linspace(0, 14, 281)
    for direction in np.linspace(-pi, pi, 8, endpoint=False) + 0.1:
        for turned in np.linspace(-pi, pi, 6, endpoint=False) + 0.2:
            start = (goal[0] + 2 * cos(direction), goal[1] + 2 * sin(direction), direction + turned)
            run = rolled(law, start, 14.0, times)
            coordinates = np.array([polar.polar(z, goal) for z in run.y.T])
            u = np.array([polar.approach_law(c, gains)[0] for c in coordinates])
            assert np.sum(np.diff(np.sign(u)) != 0) <= (abs(coordinates[0, 1]) > pi / 2)
            late = times > 10
            rate = np.polyfit(times[late], np.log(coordinates[late, 0]), 1)[0]
            assert rate == pytest.approx(-gamma, rel=1e-3)
            V = np.array([polar_v(c, gains) for c in coordinates])
            assert np.all(np.diff(V[coordinates[:, 0] > 1e-4]) <= 1e-9)
            x, y, heading = run.y[:, -1]
            assert np.hypot(x - goal[0],
                            y - goal[1]) <= 1e-4 and abs(wrap(heading - goal[2])) <= 1e-4
    # the angles, close to the goal: alpha' = -k alpha - gamma h theta, theta' = gamma alpha
    from scipy.linalg import expm

    A = np.array([[-k, -gamma * h], [gamma, 0.0]])
    # they fall faster than e: it arrives straight
    assert np.linalg.eigvals(A).real.max() < -gamma
    small = 1e-4
    # theta = small, alpha = 2 small
    start = (goal[0] - cos(goal[2] + small), goal[1] - sin(goal[2] + small), goal[2] - small)
    run = rolled(law, start, 2.0, np.linspace(0, 2, 5))
    for t, z in zip(run.t, run.y.T):
        assert polar.polar(z, goal)[1:] == pytest.approx(expm(A * t) @ (2 * small, small),
                                                         abs=1e-7 * small)


@pytest.mark.parametrize("path", [line(100.0), EIGHT, circle(2.0)],
                         ids=["line", "figure8", "circle"])
def test_stanley_error_by_its_closed_form(path):
    """e' = -k e / sqrt(1 + (k e / v)^2) on straight and bent paths:
    with y = k e / v, sqrt(1 + y^2) - artanh(1 / sqrt(1 + y^2)) + k t stays the same.
    From a small error that is e0 exp(-k t)."""
    wheelbase, speed, k = 0.4, 0.5, 1.5

    def front(pose):
        return pose[0] + wheelbase * cos(pose[2]), pose[1] + wheelbase * sin(pose[2])

    def offsets(pose, near):
        s = path.nearest(front(pose), near=near)
        x, y, heading, _ = (float(value) for value in path.at(np.float64(s)))
        fx, fy = front(pose)
        return s, (fy - y) * cos(heading) - (fx - x) * sin(heading), heading

    def law(t, pose, _):
        _, lateral, heading = offsets(pose, 1.0 + speed * t)
        delta = stanley.steering(lateral, heading - pose[2], k / speed)
        return speed * cos(delta), speed * sin(delta) / wheelbase, []

    def invariant(e):
        root = sqrt(1 + (k * e / speed) ** 2)
        return root - atanh(1 / root)

    for e0 in (0.3, -0.02):
        x, y, heading, _ = (float(value) for value in path.at(1.0))
        fx, fy = x - e0 * sin(heading), y + e0 * cos(heading)
        yaw = heading + 0.2
        times = np.linspace(0, 3.0, 31)
        run = rolled(law, (fx - wheelbase * cos(yaw), fy - wheelbase * sin(yaw), yaw), 3.0, times)
        errors = np.array([offsets(z, 1.0 + speed * t)[1] for t, z in zip(run.t, run.y.T)])
        assert np.all(errors * e0 > 0) and np.all(np.diff(np.abs(errors)) < 0)
        assert [invariant(e) for e in errors] == pytest.approx(
            [invariant(e0) - k * t for t in times], abs=1e-8
        )
    # the small one: exponential
    assert np.abs(errors) == pytest.approx(0.02 * np.exp(-k * times), rel=2e-3)


def test_pure_pursuit_on_a_circle():
    """From a point on a circle, along its tangent, the arc to a point of it ahead is the circle
    itself: no error is left."""
    for radius, left in ((2.0, True), (0.7, False)):
        path = circle(radius, left)
        for s in (0.0, 1.0, 2.5):
            x, y, heading, curvature = (float(value) for value in path.at(s))
            for lookahead in (0.1, 0.5, 1.2, 1.9 * radius, 1.95 * radius):
                at = pure_pursuit.goal(path, (x, y), s, lookahead)
                to = path.point(at) - (x, y)
                assert np.hypot(*to) == pytest.approx(lookahead, rel=1e-11)
                assert at - s == pytest.approx(2 * radius * np.arcsin(lookahead / (2 * radius)),
                                               rel=1e-9)
                assert pure_pursuit.arc(to, heading) == pytest.approx(curvature, rel=1e-9)


@pytest.mark.parametrize("path", [EIGHT, circle(1.0)], ids=["figure8", "circle"])
def test_the_goal_of_a_pursuit_is_as_far_away_as_it_looks(path):
    """From beside the path too, and where it bends back so that Newton's method alone leads away
    from the goal."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        s, side, lookahead = rng.uniform((0.0, -0.2, 0.25), (path.length, 0.2, 1.75))
        x, y, heading, _ = path.station(s)
        point = x - side * sin(heading), y + side * cos(heading)
        at = pure_pursuit.goal(path, point, s, lookahead)
        assert s < at < s + 5 * lookahead
        assert np.hypot(*(path.point(at) - point)) == pytest.approx(lookahead, rel=1e-9)


@cache
def pursued(path, lookahead, offset, duration):
    def law(t, pose, _):
        s = path.nearest(pose[:2], near=1.0 + t)
        at = pure_pursuit.goal(path, tuple(pose[:2]), s, lookahead)
        return 1.0, pure_pursuit.arc(path.point(at) - pose[:2], pose[2]), []

    x, y, heading, _ = (float(value) for value in path.at(1.0))
    times = np.linspace(0, duration, 25)
    run = rolled(law, (x - offset * sin(heading), y + offset * cos(heading), heading), duration,
                 times)
    s = [path.nearest(z[:2], near=1.0 + t) for t, z in zip(times, run.y.T)]
    away = [(z[:2] - path.point(a), path.heading(a)) for a, z in zip(s, run.y.T)]
    return times, np.array([d[1] * cos(heading) - d[0] * sin(heading) for d, heading in away])


def test_pure_pursuit_converges_as_its_linearisation():
    """e'' + 2 e' / l + 2 e / l^2 = 0 over the distance: e = e0 exp(-s/l) (cos s/l + sin s/l) near a
    line; and to nothing on a circle."""
    l, e0 = 0.8, 1e-4
    times, e = pursued(line(100.0), l, e0, 4.0)
    assert e == pytest.approx(e0 * np.exp(-times / l) * (np.cos(times / l) + np.sin(times / l)),
                              abs=1e-6 * e0)
    _, e = pursued(circle(2.0), l, 0.1, 16.0)
    assert abs(e[-1]) <= 1e-8


@pytest.mark.parametrize("name", TRACKERS)
def test_begun_at_the_end_it_stays_there(name):
    """The timetable has nothing left to run through."""
    vehicle, path = shipped("differential_drive"), line(2.0)
    tracker = controller_class(name)(vehicle, path, speed=0.4)
    simulator = nhmech.Simulator(vehicle, tracker)
    simulator.reset(pose=tracker.unicycle.base(path.end()))
    run = simulator.run(0.02)
    assert np.abs(run.v).max() <= 1e-12 and np.isfinite(tracker.errors(run)).all()
    assert tracker.timetable(run.t[-1])[1:] == (0.0, 0.0)


def test_pure_pursuit_far_from_the_path_and_at_its_end():
    """Farther than the lookahead the goal is the nearest point; beyond the end of an open path it
    is on the tangent."""
    path = line(5.0)
    for off in (3.0, 1.5, 1.0):
        assert pure_pursuit.goal(path, (2.0, off), 2.0, 1.0) == 2.0
    assert pure_pursuit.goal(path, (2.0, 0.6), 2.0, 1.0) == pytest.approx(2.8, rel=1e-12)
    assert pure_pursuit.goal(path, (4.8, 0.0), 4.8, 1.0) == pytest.approx(5.8, rel=1e-12)
    # nowhere on the circle is that far: no hang
    assert pure_pursuit.goal(circle(0.2), (0.0, 0.0), 0.0, 1.0) > 0


@pytest.mark.parametrize("law", [pure_pursuit.PurePursuit, stanley.Stanley, kanayama.Kanayama])
@pytest.mark.parametrize("side", [-0.2, 0.2])
@pytest.mark.parametrize("before", [0.0, 0.3])
def test_a_follower_keeps_to_its_branch_through_a_crossing(law, side, before):
    """Put down beside a figure-eight where it crosses itself, or just before:
    s goes on growing, by what the vehicle drives, and the error dies."""
    vehicle, path = shipped("differential_drive"), make_path("figure8", 1.5)
    tracker, seen = law(vehicle, path, speed=0.5), []
    begin = path.length / 2 - before
    x, y, heading, _ = (float(value) for value in path.at(np.float64(begin)))

    def watched(t, state):
        command = tracker(t, state)
        seen.append(tracker._s)
        return command

    simulator = nhmech.Simulator(vehicle, watched, dt=0.02, mode="kinematic")
    simulator.reset((x - side * sin(heading), y + side * cos(heading), heading))
    run = simulator.run(6.0)
    assert np.all(np.diff(seen) > 0) and np.max(np.diff(seen)) < 2 * 0.5 * 0.02
    assert 0.9 * 3.0 < seen[-1] - begin < 1.1 * 3.0 + tracker.ahead
    assert np.abs(tracker.errors(run)[-1, 1]) < 0.02
    assert np.abs(path_error(vehicle, run, path).lateral).max() < 1.05 * abs(side)


def test_the_law_of_the_approach_has_no_jump_straight_ahead():
    gains = (3.0, 6.0, 1.0)
    np.testing.assert_allclose(polar.approach_law((2.0, 0.0, 0.4), gains),
                               polar.approach_law((2.0, 1e-9, 0.4), gains), rtol=0, atol=1e-7)


@pytest.mark.parametrize("left, stands", [(1.001e-3, False), (0.999e-3, True), (0.0, True)])
def test_a_tracker_stands_a_thousandth_of_a_unit_before_the_end(left, stands):
    """Not on a closed path, which has no end."""
    tracker = pure_pursuit.PurePursuit(shipped("differential_drive"), line(5.0))
    pose = (5.0 - left * tracker.unit, 0.1, 0.2)
    twist = tracker.twist(0.0, SimpleNamespace(pose=pose))
    assert (not twist.any()) == stands and twist.shape == (3,)
    round_ = pure_pursuit.PurePursuit(shipped("differential_drive"), circle(2.0))
    assert round_.twist(0.0, SimpleNamespace(pose=round_.path.start())).any()


@pytest.mark.parametrize("law", [stanley.Stanley, kanayama.Kanayama])
@pytest.mark.parametrize("name", ["differential_drive", "ackermann_car"])
def test_the_tracked_point_is_kept_with_a_run(name, law):
    """In the base's frame, with its axle to the left: `ahead` of P along P's heading."""
    vehicle = askew(name)
    tracker = law(vehicle, EIGHT)
    kept, point = tracker.path_reference, tracker.unicycle
    x, y, heading = point.pose((0.0, 0.0, 0.0))
    np.testing.assert_allclose(kept["point"], [x + tracker.ahead * cos(heading),
                                               y + tracker.ahead * sin(heading), 0], rtol=0,
                               atol=1e-12)
    np.testing.assert_allclose(kept["axle"], [-sin(heading), cos(heading), 0], rtol=0, atol=1e-12)
    assert kept["backwards"] is False and kept["body"] == vehicle.model.names[1]


@pytest.mark.parametrize("steps", [9.0, -0.7])
def test_errors_are_along_across_and_turned(steps):
    """Ahead of the timetable, left of the path, turned to the left, from where the run began."""
    tracker = kanayama.Kanayama(shipped("differential_drive"), line(30.0), speed=0.5)
    tracker.twist(2.0, SimpleNamespace(pose=(1.0, 0.0, 0.0)))
    state = SimpleNamespace(t=4.0, pose=(2.3, -0.4, 0.3))
    assert tracker.error(state) == pytest.approx((2.3 - 2.0, -0.4, 0.3), abs=1e-12)
    assert tracker.offset((2.3, 0.4, steps), 2.3) == pytest.approx((0.4, wrap(steps)), abs=1e-12)


@pytest.mark.parametrize("name", ["ackermann_car", "differential_drive"])
@pytest.mark.parametrize("side", [1, -1])
def test_stanley_steers_no_tighter_than_the_vehicle_can(name, side):
    """Far beside the path delta is cut: P goes round as tightly as the steering lets it."""
    vehicle = shipped(name)
    tracker = stanley.Stanley(vehicle, line(90.0), speed=0.5)
    v, omega = tracker.law(0.0, (9.0 - tracker.ahead, side * 40.0, 2.0 * side), 9.0)
    radius = tracker.unicycle.turning_radius
    assert omega * side < 0 and np.hypot(v, omega * tracker.ahead) == pytest.approx(0.5, rel=1e-12,
                                                                                    abs=0)
    assert abs(v / omega) == pytest.approx(radius, rel=1e-9, abs=1e-12)
    lateral, heading = 0.1 * side, -0.05 * side
    v, omega = tracker.law(0.0, (9.0 - tracker.ahead * cos(heading),
                                 lateral - tracker.ahead * sin(heading), heading), 9.0)
    delta = -heading - np.arctan(lateral / tracker.unit)
    assert (v, omega) == pytest.approx((0.5 * cos(delta), 0.5 * sin(delta) / tracker.ahead),
                                       rel=1e-9)


def test_a_compensator_adds_up_and_never_stands():
    """Its state begins at the reference's speed, goes on by its rate, and stays above 0.02 of the
    speed."""
    tracker = feedback_linearisation.FeedbackLinearisation(shipped("differential_drive"),
                                                           line(5.0), speed=0.5)
    tracker.twist(1.0, SimpleNamespace(pose=(0.0, 0.0, 0.0)))
    reference, pose = tracker.reference, (0.2, 0.1, 0.3)
    v, omega = tracker.law(1.0, pose, 0.2)
    assert v == 0.5                      # no time has passed
    rate, expected = feedback_linearisation.compensator(pose, 0.5, reference(1.0), tracker.gains)
    assert omega == expected
    assert tracker.law(1.1, pose, 0.2)[0] == pytest.approx(0.5 + 0.1 * rate, rel=1e-13, abs=0)
    tracker.law(1.2, (4.0, 0.0, 0.0), 4.0)              # far ahead of its reference
    assert tracker.law(2.2, (4.0, 0.0, 0.0), 4.0)[0] == pytest.approx(0.02 * 0.5, rel=1e-13, abs=0)
    tracker.reset()
    tracker.twist(1.0, SimpleNamespace(pose=(0.0, 0.0, 0.0)))
    assert tracker.law(7.0, pose, 0.2)[0] == pytest.approx(
        0.5 + 6.0 * feedback_linearisation.compensator((0.0, 0.0, 0.0), 0.5, reference(1.0),
                                                       tracker.gains)[0], rel=1e-12, abs=0)


@pytest.mark.parametrize("share, stands", [(0.0401, False), (0.0399, True)])
def test_a_compensator_stops_before_it_is_singular(share, stands):
    """At 0.04 of the speed, which exp(-speed t / unit) falls to."""
    tracker = feedback_linearisation.FeedbackLinearisation(shipped("differential_drive"),
                                                           line(5.0), speed=0.5)
    tracker.twist(0.0, SimpleNamespace(pose=(0.0, 0.0, 0.0)))
    t = (5.0 - tracker.unit) / 0.5 - np.log(share) * tracker.unit / 0.5
    left = tracker.remaining(t, (5.0, 0.0, 0.0), 5.0)
    assert left == (0.0 if stands else pytest.approx(share * tracker.unit, rel=1e-9))


@pytest.mark.parametrize("share, stands", [(0.00101, False), (0.00099, True)])
def test_who_follows_a_clock_stands_once_that_is_at_the_end(share, stands):
    """A thousandth of a unit before it, whatever is left to correct."""
    tracker = kanayama.Kanayama(shipped("differential_drive"), line(5.0), speed=0.5)
    tracker.twist(0.0, SimpleNamespace(pose=(0.0, 0.0, 0.0)))
    t = (5.0 - tracker.unit) / 0.5 - np.log(share) * tracker.unit / 0.5
    assert tracker.twist(t, SimpleNamespace(pose=(4.9, 0.0, 0.0))).any() != stands


@pytest.mark.parametrize("law, settings", [
    (kanayama.Kanayama, ("along", "across", "heading")),
    (feedback_linearisation.FeedbackLinearisation, ("stiffness", "damping")),
    (polar.Polar, ("approach", "align", "weight")), (stanley.Stanley, ("gain",)),
    (pure_pursuit.PurePursuit, ("lookahead",))])
def test_gains_are_positive(law, settings):
    for name in settings:
        for wrong in (0.0, -1.0):
            with pytest.raises(InputError, match=f"{name} = {wrong} must be a positive number"):
                law(shipped("differential_drive"), line(9.0), **{name: wrong})
