"""Trailers: the flat feed-forward, and backing up."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from lxml import etree
from runs import angle, rate
from support import at_length, joint, link, robot, shipped
from trains import DRAWBARS, HITCHES, train

import nhmech
from nhmech.control.path_library import FigureEight, circle, lane_change, line
from nhmech.control.path_reference import path_error
from nhmech.control.path_regulator import TrackedAxle
from nhmech.control.taylor import derivative, multiply_series, power, unit_series
from nhmech.control.trailer_backing import TrailerBacking
from nhmech.control.trailer_chain import trailer_joints, trailer_links
from nhmech.control.trailer_flatness import TrailerFlatness

STEER = "front_left_steering_joint"
FOLDS = np.deg2rad(45)          # no hitch may ever pass this


def last_axle(vehicle, run, hitch: str) -> np.ndarray:
    """Ground point below the middle of a trailer's axle at each record, (N, 2)."""
    on = [i for i, c in enumerate(vehicle.contacts) if vehicle.model.names[c.mount.body] == hitch]
    assert len(on) == 2
    return np.array([vehicle.contact_points(q)[on].mean(axis=0)[:2] for q in run.q])


def folded(run, count: int = 2) -> np.ndarray:
    return np.array([angle(run, name) for name in HITCHES[:count]])


# -- geometry and series ---------------------------------------------------------------------------
def test_chain_is_measured():
    links = trailer_links(shipped("trailers"), trailer_joints(shipped("trailers")))
    assert [link.joint for link in links] == list(HITCHES)
    np.testing.assert_allclose([(link.hitch, link.drawbar) for link in links],
                               [(0.0, 1.4), (0.35, 1.2)], rtol=0, atol=1e-12)
    with pytest.raises(nhmech.errors.ModelError,
                       match="a trailer is a body with axles"):
        trailer_joints(shipped("ackermann_car"))
    with pytest.raises(nhmech.errors.InputError,
                       match="'hitch_1_joint' is no last hitch of 'trailers'; "
                                                       "last hitches are hitch_2_joint"):
        TrailerBacking(shipped("trailers"), trailer="hitch_1_joint")


def test_of_two_trailers_beside_each_other_one_is_chosen():
    """Both hitched to the car: neither is the last one."""
    text = nhmech.urdf_path("trailers").read_text().replace(
        '<parent link="trailer_1"/>\n    <child link="trailer_2"/>\n    <origin xyz="-1.75 0 0"/>',
        '<parent link="base_link"/>\n    <child link="trailer_2"/>\n    <origin xyz="0 3 0"/>')
    vehicle = nhmech.load(text)
    for name in HITCHES:
        assert trailer_joints(vehicle, name) == (name,)
    with pytest.raises(nhmech.ModelError, match="hitch_1_joint, hitch_2_joint are equally far back"
                                                "; choose one with trailer="):
        trailer_joints(vehicle)


def train_of(hitches: dict[str, tuple[str, bool]], driven=(), steered=()):
    """What a chain of trailers is read off: hitches with what they hang on, and whether there is an
    axle."""
    model, ids = pin.Model(), {"base": 1}
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    for name, (before, _) in hitches.items():
        ids[name] = model.addJoint(ids[before], pin.JointModelRZ(), pin.SE3.Identity(), name)
    mounts = [SimpleNamespace(body=1, axle=np.array([0.0, 1.0, 0.0]))]
    mounts += [SimpleNamespace(body=ids[name], axle=mounts[0].axle if has_axle else None)
               for name, (_, has_axle) in hitches.items()]
    return SimpleNamespace(
        model=model, driven=driven, name="train", description=SimpleNamespace(steering=[*hitches]),
        steering=SimpleNamespace(steered=[SimpleNamespace(steering=name) for name in steered]),
        contacts=[SimpleNamespace(mount=mount) for mount in mounts])


def test_a_chain_of_trailers_leads_to_the_last_one():
    """Of those with the most before them, or the one that is named, if none is behind it."""
    three = {"a": ("base", True), "b": ("a", True), "c": ("b", True)}
    branch = three | {"d": ("a", True), "e": ("base", True)}
    for hitches, words, last, chain in (
            (three, {}, "", "abc"), (three, {}, "c", "abc"), (branch, {}, "", "abc"),
            (branch, {}, "d", "ad"), (branch, {}, "e", "e"),
            (three, {"driven": ("c",)}, "", "ab"), (three, {"driven": ("b",)}, "", "a"),
            (three | {"b": ("a", False)}, {}, "", "abc"),
            (three | {"c": ("b", False)}, {}, "", "ab"),
            (three | {"f": ("base", True)}, {"steered": ("f",), "driven": ("f",)}, "", "abc"),
            (branch, {"steered": ("a",)}, "", "e")):
        assert trailer_joints(train_of(hitches, **words), last) == tuple(chain)
    for hitches, last, others in ((three, "a", "c"), (three, "b", "c"), (branch, "a", "c, d, e"),
                                  (branch, "f", "c, d, e")):
        with pytest.raises(nhmech.InputError, match=f"'{last}' is no last hitch of 'train'; last "
                                                    f"hitches are {others}$"):
            trailer_joints(train_of(hitches), last)
    with pytest.raises(nhmech.ModelError, match="c, d are equally far back"):
        trailer_joints(train_of(branch | {"d": ("b", True)}))
    with pytest.raises(nhmech.ModelError, match="and there is none"):
        trailer_joints(train_of(three, steered=("a",)))


def two_wheeled(**options):
    """A robot on two driven wheels, whose own frames are turned, that draws a trailer from above
    its axle; a caster in front of it."""
    parts = [link("base", 8.0), link("caster", 0.1), link("cart", 3.0),
             joint("foot", "base", "caster", (0.3, 0.05, -0.05), kind="fixed"),
             joint("hitch", "base", "cart", (0.1, 0.02, 0.03), axis=(0, 0, 1))]
    wheels = [nhmech.Wheel(None, "caster_ball", 0.05, link="caster")]
    for name, parent, place in (("driven_left", "base", (0.1, 0.22, 0.0)),
                                ("driven_right", "base", (0.1, -0.18, 0.0)),
                                ("cart_left", "cart", (-0.5, 0.2, -0.03)),
                                ("cart_right", "cart", (-0.5, -0.2, -0.03))):
        parts += [link(name, 0.4), joint(f"{name}_joint", parent, name, place,
                                         (-np.pi / 2, 0.6, 0), (0, 0, 1))]
        wheels.append(nhmech.Wheel(f"{name}_joint", "disc", 0.1, driven=parent == "base"))
    return nhmech.load(robot(*parts), wheels=wheels, **options)


@pytest.mark.parametrize("speeds", [None, ("forward_speed", "yaw_rate")])
def test_feed_forward_of_two_driven_wheels(speeds):
    """Their rates, or speed and turning rate, held for a step: second order."""
    vehicle, path, errors = two_wheeled(speeds=speeds), FigureEight(2.0), []
    links = trailer_links(vehicle, trailer_joints(vehicle))
    assert (links[0].joint, links[0].hitch, links[0].drawbar) == (
        "hitch", pytest.approx(0, abs=1e-12), pytest.approx(0.5, rel=1e-12, abs=0))
    for step in (2e-2, 1e-2):
        controller = TrailerFlatness(vehicle, path, speed=0.5, period=step)
        simulator = nhmech.Simulator(vehicle, controller, dt=step, mode="kinematic")
        simulator.reset(**controller.start)
        run = simulator.run(3.0, every=round(0.2 / step))
        errors.append(np.linalg.norm(last_axle(vehicle, run, "hitch") - path.point(0.5 * run.t),
                                     axis=1).max())
    assert errors[0] < 3e-5 and errors[0] / errors[1] == pytest.approx(4, abs=0.1)
    assert np.ptp(angle(run, "hitch")) > 0.1


def test_taylor_series():
    """exp, and the unit tangent of a circle run through at a growing pace; its own derivative is
    across it."""
    factorials = np.cumprod([1.0, *range(1, 8)])
    np.testing.assert_allclose(power(1 / factorials, -2.5), (-2.5) ** np.arange(8) / factorials,
                               rtol=1e-12)
    np.testing.assert_allclose(multiply_series(1 / factorials, 1 / factorials),
                               2.0 ** np.arange(8) / factorials, rtol=1e-14)
    cos, sin = np.array([1, 0, -1 / 2, 0, 1 / 24, 0]), np.array([0, 1, 0, -1 / 6, 0, 1 / 120])
    pace = np.array([1.0, 0.4, 0.3, 0.0, 0.0, 0.0])
    found = unit_series(np.column_stack([multiply_series(pace, cos), multiply_series(pace, sin)]))
    np.testing.assert_allclose(found, np.column_stack([cos, sin]), rtol=0, atol=1e-15)
    np.testing.assert_allclose(derivative(1 / factorials), 1 / factorials[:-1], rtol=1e-14)
    np.testing.assert_allclose(derivative(found), np.column_stack([-sin, cos])[:-1], atol=1e-14)


def test_series_at_several_places_are_those_of_each():
    """a a^-2.5 a^1.5 = 1 of any a with a_0 > 0, as long as the shorter factor; unit vectors have
    length 1 and the direction of what they are made from."""
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(6, 4)), rng.normal(size=(6, 4, 2))
    a[0] = 0.4, 1.7, 2.0, 3.1
    one = multiply_series(multiply_series(power(a, -2.5), a), power(a[:5], 1.5))
    np.testing.assert_allclose(one, np.eye(5)[0][:, None] * np.ones(4), rtol=0, atol=1e-11)
    e = unit_series(b)
    (x, y), (along, across) = np.moveaxis(b, -1, 0), np.moveaxis(e, -1, 0)
    length = multiply_series(along, along) + multiply_series(across, across)
    np.testing.assert_allclose(length, np.eye(6)[0][:, None] * np.ones(4), rtol=0, atol=1e-9)
    np.testing.assert_allclose(multiply_series(x, across), multiply_series(y, along), rtol=0,
                               atol=1e-9)
    assert np.all(np.sum(b[0] * e[0], axis=-1) > 0)
    for k in range(4):
        np.testing.assert_allclose(power(a, -2.5)[:, k], power(a[:, k], -2.5), rtol=1e-13)
        np.testing.assert_allclose(e[:, k], unit_series(b[:, k]), rtol=1e-13)
        np.testing.assert_allclose(derivative(b)[:, k], derivative(b[:, k]), rtol=1e-15)


# -- flatness --------------------------------------------------------------------------------------
@pytest.mark.parametrize("count, before, aside", [(1, 0.0, 0.0), (2, 0.0, 0.0), (2, 0.4, -0.3)])
def test_the_flat_state_is_one_that_rolls(count, before, aside):
    """Pose, hitches and speeds that the curve gives satisfy every row of every wheel,
    with the last axle moving along the path; wherever the base's origin is."""
    vehicle, path, speed = train(count, ahead=before, aside=aside), FigureEight(7.0), 0.8
    controller = TrailerFlatness(vehicle, path, speed=speed, period=1e-6)
    for place in (0.3, 4.0, 9.1, 13.0):
        p, headings = controller.chain(place)
        tips = p[0].copy()
        for heading, drawbar in zip(headings[1:], DRAWBARS):
            tips = tips - drawbar * np.array([np.cos(heading), np.sin(heading)])
        np.testing.assert_allclose(tips, path.point(place), rtol=0, atol=1e-11)
        assert headings[-1] == pytest.approx(
            np.arctan2(np.sin(path.heading(place)), np.cos(path.heading(place))), abs=1e-10
        )
        joints = dict(zip(HITCHES, np.diff(headings))) | {STEER: controller.steering(place)[0][0]}
        c, s = np.cos(headings[0]), np.sin(headings[0])
        origin = p[0] + before * np.array([c, s]) + aside * np.array([-s, c])
        q = vehicle.configuration((*origin, headings[0]), joints)
        xi = controller._mean_speeds(place / speed)
        v = vehicle.equations.velocity(0.0, q, xi, vehicle.theta).full().ravel()
        ahead = controller.chain(place + 1e-4)[1], controller.chain(place - 1e-4)[1]
        names = vehicle.algebroid.v_names
        for k, name in enumerate(HITCHES[:count]):
            slope = np.remainder(np.diff(ahead[0])[k] - np.diff(ahead[1])[k] + np.pi,
                                 2 * np.pi) - np.pi
            rate = slope / 2e-4 * speed
            assert v[names.index(name)] == pytest.approx(rate, abs=1e-6), (
                "the hitches turn as their rows say"
            )
        steered = controller.steering(place + np.array([-1e-4, 1e-4]))[0][0]
        assert v[names.index(STEER)] == pytest.approx(np.diff(steered)[0] / 2e-4 * speed, abs=1e-5)
        turning = np.diff([one[0] for one in ahead[::-1]]) / 2e-4 * speed
        assert v[5] == pytest.approx(turning, abs=1e-6)
        assert v[1] == pytest.approx(before * v[5], abs=1e-12)
    start = controller.start
    assert set(start["joints"]) == {STEER, *HITCHES[:count]}
    state = nhmech.Simulator(vehicle).reset(**start)
    tips, (_, headings) = state.T_WB[:2, 3] - aside * state.T_WB[:2, 1], controller.chain(0.0)
    for heading, step in zip(headings, (-before, *(-drawbar for drawbar in DRAWBARS))):
        tips = tips + step * np.array([np.cos(heading), np.sin(heading)])
    np.testing.assert_allclose(tips, path.point(0.0), rtol=0, atol=1e-12)
    assert {name: state.xi[name] for name in start["xi"]} == pytest.approx(start["xi"], abs=1e-12)


def test_steering_has_the_right_mean_between_two_moments():
    """It runs straight from one to the next; chords of the exact one miss a thousand times as
    much."""
    step = 0.2
    controller = TrailerFlatness(train(1), FigureEight(7.0), speed=0.8, period=step)
    times, (nodes, weights) = np.arange(4.0, 7.1, step), np.polynomial.legendre.leggauss(20)
    exact = 1.5 * weights @ controller.steering(0.8 * (5.5 + 1.5 * nodes))[0][0]
    missed, chords = (step * (angles.sum() - (angles[0] + angles[-1]) / 2) - exact for angles in (
        controller._targets(times)[0][0], controller.steering(0.8 * times)[0][0]))
    assert abs(missed) < 1e-3 * abs(chords) and abs(chords) > 1e-5


def test_speeds_are_means_over_the_control_period():
    """Of a wheel, and of steering, that change all the time; in the middle they differ by a
    thousandth."""
    step, begin, (nodes, weights) = 0.1, 4.0, np.polynomial.legendre.leggauss(6)
    held, now = (TrailerFlatness(train(1), FigureEight(7.0), speed=0.8, period=period)
                 for period in (step, 1e-6))
    exact = sum(weight / 2 * now._mean_speeds(begin + step * (1 + node) / 2)
                for node, weight in zip(nodes, weights))
    np.testing.assert_allclose(held._mean_speeds(begin), exact, rtol=1e-4)
    assert np.all(np.abs(now._mean_speeds(begin) / exact - 1) > 1e-3)


@pytest.mark.parametrize("count", [2, *at_length(1)])
def test_feed_forward_reproduces_the_path(count):
    """Open loop, kinematic: within 1e-8 m of the moving point over 6 m at steps of 2.5 ms;
    speeds that are held for a step leave an error of second order."""
    vehicle, path, speed = train(count, speeds=("forward_speed", STEER)), FigureEight(6.0), 1.0
    errors = []
    for step in (2e-2, 1e-2, 2.5e-3):
        controller = TrailerFlatness(vehicle, path, speed=speed, period=step)
        simulator = nhmech.Simulator(vehicle, controller, dt=step, mode="kinematic")
        simulator.reset(**controller.start)
        run = simulator.run(6.0, every=round(0.2 / step))
        found = last_axle(vehicle, run, HITCHES[count - 1])
        errors.append(np.linalg.norm(found - path.point(speed * run.t), axis=1).max())
    steer = run.q[:, run.names["q"].index(STEER)]
    assert np.ptp(steer) > 0.05 and np.abs(folded(run, count)).max() > 0.15, "the path bends"
    assert errors[2] < 1e-8 and errors[0] / errors[1] == pytest.approx(4, abs=0.05), f"{errors}"


def test_feed_forward_of_a_wheel_rate():
    """The left rear wheel's rate instead, held while steering turns: second order."""
    vehicle, path, errors = train(2), FigureEight(6.0), []
    for step in (4e-2, 2e-2):
        controller = TrailerFlatness(vehicle, path, speed=1.0, period=step)
        simulator = nhmech.Simulator(vehicle, controller, dt=step, mode="kinematic")
        simulator.reset(**controller.start)
        run = simulator.run(6.0, every=round(0.2 / step))
        errors.append(np.linalg.norm(last_axle(vehicle, run, HITCHES[1]) - path.point(run.t),
                                     axis=1).max())
    assert errors[0] < 1e-5 and errors[0] / errors[1] == pytest.approx(4, abs=0.1)


def test_feed_forward_of_a_base_frame_that_stands_askew():
    """Hitches are measured, and the train is driven, along its own way, not along the frame's x
    axis."""
    vehicle, path = train(2, speeds=("rear_left_wheel_joint", STEER), ahead=0.3, turned=1.2,
                          aside=0.2), FigureEight(6.0)
    links = trailer_links(vehicle, trailer_joints(vehicle))
    np.testing.assert_allclose([(link.hitch, link.drawbar) for link in links],
                               [(0.0, drawbar) for drawbar in DRAWBARS], rtol=0, atol=1e-12)
    controller = TrailerFlatness(vehicle, path, speed=1.0, period=1e-2)
    simulator = nhmech.Simulator(vehicle, controller, dt=1e-2, mode="kinematic")
    state = simulator.reset(**controller.start)
    assert {name: state.xi[name] for name in vehicle.speeds} == pytest.approx(
        controller.start["xi"], abs=1e-12)
    run = simulator.run(2.0, every=20)
    np.testing.assert_allclose(last_axle(vehicle, run, HITCHES[1]), path.point(run.t), rtol=0,
                               atol=1e-6)


@pytest.mark.parametrize("speed", [1.0, -1.0])
def test_feed_forward_stands_still_beyond_an_open_path(speed):
    """And goes on to its very ends; backwards it is beyond the beginning at once."""
    vehicle, path = train(1), lane_change(8.0, 0.5)
    controller = TrailerFlatness(vehicle, path, speed=speed, period=1e-2)
    assert controller.curve.k == 9
    np.testing.assert_allclose(controller.chain(path.length + 1.0)[0],
                               controller.chain(path.length)[0], rtol=1e-12)
    state = nhmech.Simulator(vehicle).reset(**controller.start)
    for t, moves in ((0.0, True), (1e-9, speed > 0), (path.length, speed > 0),
                     (path.length + 1e-9, False)):
        rates = controller(t, state).values
        assert set(rates) == set(vehicle.driven if not moves else vehicle.speeds)
        assert (max(map(abs, rates.values())) > 1.0) == moves


def test_feed_forward_rolls_on_ground_that_moves():
    """Along a belt: wheels turn by what the train is faster than the belt."""
    vehicle = nhmech.load(nhmech.urdf_path("trailers").read_text().replace("-1.75 0 0", "-1.4 0 0"),
                          ground=nhmech.Ground(velocity=(0.3, 0.0, 0.0)))
    controller = TrailerFlatness(vehicle, line(9.0))
    assert (controller.speed, controller.period) == (0.5, 1e-3)
    rates = controller(2.0, nhmech.Simulator(vehicle).state).values
    radius = {wheel.joint: wheel.radius for wheel in vehicle.description.wheels}
    wheel = next(name for name in rates if name in radius)
    assert rates[wheel] == pytest.approx((0.5 - 0.3) / radius[wheel], rel=1e-9)


def test_feed_forward_is_as_fast_as_its_steering():
    """The rate that it asks of a joint is told, and grows with the speed up to the limit."""
    path, vehicle = FigureEight(8.0), train(2)
    with pytest.raises(nhmech.ModelError) as caught:
        TrailerFlatness(vehicle, path, speed=200.0)
    rate, place = map(float, re.search(r"for ([\d.]+) rad/s at s = ([\d.]+) m",
                                       str(caught.value)).groups())
    most = 200.0 * vehicle.limits[STEER].velocity / rate
    for way in (1, -1):
        made = TrailerFlatness(vehicle, path, speed=way * most * 0.99)
        with pytest.raises(nhmech.ModelError, match="rad/s"):
            TrailerFlatness(vehicle, path, speed=way * most * 1.01)
    h = path.length / 1200
    slope = (made.steering(place + h)[0] - made.steering(place)[0]) / h
    assert np.abs(slope).max() * 200.0 == pytest.approx(rate, rel=1e-2)


def test_feed_forward_says_where_the_steering_ends():
    """At the first place of 1200 where one of the joints would have to be beyond its limit."""
    path, vehicle = lane_change(6.0, 2.0, 5.0, 5.0), train(1)
    with pytest.raises(nhmech.ModelError) as caught:
        TrailerFlatness(vehicle, path)
    name, angle, place, low, high = re.search(
        r"asks '(\w+)' of 'trailers' for (-?[\d.]+) rad at s = ([\d.]+) m, its limits are "
        r"(-?[\d.]+) and (-?[\d.]+):", str(caught.value)).groups()
    limit = vehicle.limits[name]
    assert (float(low), float(high)) == pytest.approx((limit.lower, limit.upper), abs=1e-3)
    assert float(angle) > limit.upper > 0 and 5.0 < float(place) < 11.0


def test_feed_forward_says_where_it_ends():
    with pytest.raises(nhmech.errors.ModelError, match="'hitch_2_joint' of 'trailers' sits 0.35 m "
                                                       "behind the axle .* TrailerBacking"):
        TrailerFlatness(shipped("trailers"), FigureEight(12.0))
    with pytest.raises(nhmech.errors.ModelError, match="asks 'front_left_steering_joint' .* its "
                                                       "limits are .* choose a wider path"):
        TrailerFlatness(train(1), FigureEight(2.0))
    with pytest.raises(nhmech.errors.ModelError,
                       match="rad/s at s = .* more than 1.5: .* smoother "
                             "curvature .2 derivatives"):
        TrailerFlatness(train(2), lane_change(30.0, 2.0, 5.0, 5.0), speed=20.0)
    with pytest.raises(nhmech.errors.ModelError, match="no trailer of 'ackermann_car'"):
        TrailerFlatness(shipped("ackermann_car"), circle(10.0))


# -- backing ---------------------------------------------------------------------------------------
def backed(vehicle, joints: dict, seconds: float, path=None, mode: str = "kinematic",
           speed: float = 0.5):
    controller = TrailerBacking(vehicle, path, speed=speed, period=2e-2)
    simulator = nhmech.Simulator(vehicle, controller, dt=2e-2, mode=mode)
    start = controller.start
    simulator.reset(start["pose"], joints)
    return controller, simulator.run(seconds, every=10)


@pytest.mark.parametrize("count, first, second, mode", [(2, -20, -20, "dynamic"), *at_length(
    (1, 20, 0, "kinematic"), (1, -20, 0, "dynamic"), (2, 20, 20, "kinematic"),
    (2, 20, -20, "kinematic"), (2, -20, 20, "kinematic"))])
def test_backs_up_from_twenty_degrees_without_jackknife(count, first, second, mode):
    """Hitches on and (the shipped second trailer) off the axle;
    straight and on the line at the end, 45 degrees never passed."""
    vehicle = shipped("trailers") if count == 2 else train(1)
    controller, run = backed(vehicle, dict(zip(HITCHES[:count], np.deg2rad([first, second]))), 60.0,
                             mode=mode)
    hitches = folded(run, count)
    assert np.abs(hitches).max() < FOLDS
    assert np.abs(hitches[:, -1]).max() < np.deg2rad(2)
    assert rate(run, "forward_speed")[-1] == pytest.approx(-0.5, abs=0.01)
    behind = last_axle(vehicle, run, HITCHES[count - 1])
    assert abs(behind[-1, 1]) < 0.3 and behind[-1, 0] < behind[0, 0] - 8
    steer = run.q[:, run.names["q"].index(STEER)]
    limit = vehicle.limits[STEER]
    assert steer.min() > limit.lower - 1e-2 and steer.max() < limit.upper + 1e-2


@pytest.mark.parametrize("turned", [-2.5, *at_length(0.7, np.pi / 2, np.pi)])
def test_a_train_backs_alike_however_its_base_frame_is_turned(turned):
    """Towards its trailers along the same curve, and forward, where it is folded, by as much."""
    path, folds, known = circle(12.0), dict(zip(HITCHES, (0.75, -0.2))), train(2, behind=0.35)
    ahead, aside = 0.4 * np.array([np.cos(turned), np.sin(turned)])
    vehicle = train(2, behind=0.35, turned=turned, ahead=ahead, aside=aside)
    (_, plain), (_, run) = (backed(one, folds, 6.0, path) for one in (known, vehicle))
    np.testing.assert_allclose(last_axle(vehicle, run, HITCHES[1]),
                               last_axle(known, plain, HITCHES[1]), rtol=0, atol=1e-8)
    np.testing.assert_allclose(folded(run), folded(plain), rtol=0, atol=1e-10)
    one, other = path_error(vehicle, run), path_error(known, plain)
    np.testing.assert_allclose(one.lateral, other.lateral, rtol=0, atol=1e-8)
    np.testing.assert_allclose(one.heading, other.heading, rtol=0, atol=1e-8)
    assert np.ptp(folded(run)[0]) > 0.3


def test_a_train_pulls_straight_wherever_its_steering_is_zero():
    """The same train, its steering joints mounted turned, so that all their angles are less."""
    root = etree.parse(str(nhmech.urdf_path("trailers"))).getroot()
    for pivot in root.findall("joint"):
        if "steering" in pivot.get("name"):
            pivot.find("origin").set("rpy", "0 0 0.3")
            for end in ("lower", "upper"):
                limit = pivot.find("limit")
                limit.set(end, repr(float(limit.get(end)) - 0.3))
    path, folds = circle(12.0), dict(zip(HITCHES, (0.75, -0.2)))
    vehicle, known = nhmech.load(etree.tostring(root).decode()), shipped("trailers")
    (_, run), (_, plain) = (backed(one, folds | {STEER: angle}, 4.0, path)
                            for one, angle in ((vehicle, -0.2), (known, 0.1)))
    np.testing.assert_allclose(last_axle(vehicle, run, HITCHES[1]),
                               last_axle(known, plain, HITCHES[1]), rtol=0, atol=1e-6)
    steered = [one.q[:, one.names["q"].index(STEER)] for one in (run, plain)]
    np.testing.assert_allclose(steered[0] + 0.3, steered[1], rtol=0, atol=1e-6)
    assert np.ptp(steered[1]) > 0.05


@pytest.mark.parametrize("joint", HITCHES)
def test_without_feedback_it_jackknifes(joint):
    vehicle = shipped("trailers")
    controller = TrailerBacking(vehicle)
    driven = {name: -2.5 for name in vehicle.driven if "rear" in name}
    simulator = nhmech.Simulator(vehicle, lambda t,
                                 state: nhmech.JointVelocity(driven | {STEER: 0.0}),
                                 dt=2e-2, mode="kinematic")
    simulator.reset(None, {joint: np.deg2rad(1)})
    run = simulator.run(15.0, every=10)
    assert np.abs(folded(run)).max() > np.deg2rad(90)
    assert np.linalg.eigvals(controller.regulator.A).real.max() > 0.3


def test_backs_along_a_bend():
    """A lane change of 2 m in 20 m, backwards: bound 0.25 m on the last axle, fixed beforehand."""
    path = lane_change(20.0, 2.0, before=4.0, after=10.0)
    controller, run = backed(shipped("trailers"), {}, 56.0, path=path)
    behind = last_axle(shipped("trailers"), run, HITCHES[1])
    away = np.linalg.norm(behind - path.point(path.nearest(behind)), axis=1)
    assert away.max() < 0.25 and np.abs(folded(run)).max() < FOLDS
    assert behind[-1, 0] > 26.0 and behind[-1, 1] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("fold", [0.0, 0.1, -0.2])
def test_the_distance_of_a_train_from_its_path_is_that_of_its_last_axle(fold):
    """Tail first: its heading is that of the path where its tail points along it."""
    vehicle = shipped("trailers")
    _, run = backed(vehicle, {HITCHES[1]: fold}, 0.4)
    found = path_error(vehicle, run)
    np.testing.assert_allclose(found.point[[0, -1]], last_axle(vehicle, run, HITCHES[1])[[0, -1]],
                               rtol=0, atol=1e-12)
    assert found.heading[0] == pytest.approx(fold, abs=1e-12)
    # the path goes along -x, so that its left is -y
    np.testing.assert_allclose(found.lateral, -found.point[:, 1], rtol=0, atol=1e-11)
    with pytest.raises(nhmech.InputError, match="another|not a run of|is of"):
        path_error(shipped("carriage"), run)


def test_feedback_depends_on_distance_not_on_speed():
    """Twice as fast, twice the steering rate for the same state: the same motion by arc length.
    Nobody has to say 10 ms."""
    slow = TrailerBacking(shipped("trailers"), speed=0.5, period=2e-2).regulator
    fast = TrailerBacking(shipped("trailers"), speed=1.0).regulator
    assert fast.period == 1e-2
    np.testing.assert_allclose(fast.K, 2 * slow.K, rtol=1e-12)
    assert fast.names == slow.names


def test_backing_says_what_it_needs():
    with pytest.raises(nhmech.errors.ModelError,
                       match="no trailer of 'ackermann_car': a trailer is a body"):
        TrailerBacking(shipped("ackermann_car"))
    with pytest.raises(nhmech.errors.InputError, match="a speed other than zero"):
        TrailerBacking(shipped("trailers"), speed=0.0)
    with pytest.raises(nhmech.errors.InputError, match="preview = -0.1 must be a number of length"):
        TrailerBacking(shipped("trailers"), preview=-0.1)
    unsteered = shipped("trailers", speeds=("forward_speed", "front_right_steering_joint"))
    with pytest.raises(nhmech.errors.ModelError, match="one independent steering joint, this "
                       "vehicle has none among its independent speeds forward_speed, fr"):
        TrailerBacking(unsteered)


def test_tracked_point_is_below_the_axle():
    vehicle = shipped("trailers")
    q = vehicle.configuration((1.0, 2.0, 0.7), {HITCHES[0]: 0.3, HITCHES[1]: -0.2})
    joint = vehicle.model.getJointId(HITCHES[1])
    tracked = TrackedAxle.of(vehicle, vehicle.configuration(), joint)
    place, heading = tracked.pose(vehicle, vehicle.model.createData(), q)
    on = [i for i, c in enumerate(vehicle.contacts) if c.mount.body == joint]
    np.testing.assert_allclose(place, vehicle.contact_points(q)[on].mean(axis=0)[:2], rtol=0,
                               atol=1e-12)
    assert heading == pytest.approx(0.7 + 0.3 - 0.2, abs=1e-12)


@pytest.mark.parametrize("angle", [0.02, -0.02, 0.3])
def test_a_folded_train_is_pulled_straight(angle):
    """Past 40 degrees it pulls until all hitches are within 4: the steering goes straight within a
    fifth of the car's length, no faster than its motor; and it begins to back up again."""
    vehicle = shipped("trailers")
    controller, simulator = TrailerBacking(vehicle, speed=0.4), nhmech.Simulator(vehicle)

    def ask(hitch):
        state = simulator.reset(joints={HITCHES[0]: np.deg2rad(hitch), STEER: angle})
        return controller(0.0, state).values

    most = vehicle.limits[STEER].velocity
    for hitch, pulls in ((39, False), (41, True), (5, True), (3, False), (-39, False), (-41, True)):
        command = ask(hitch)
        assert controller.pulling == pulls == (controller.commanded_twist[0] > 0)
        if pulls:
            wanted = np.clip(-angle * 0.4 / (0.2 * vehicle.steering.length), -most, most)
            assert command[STEER] == pytest.approx(wanted, rel=1e-12, abs=0)
            assert controller.commanded_twist[0] == pytest.approx(0.4, rel=1e-12, abs=0)


def test_steering_is_slow_near_its_limits():
    """In the last twentieth of its way the rate falls to zero, towards the limit alone; it is never
    above the motor's."""
    controller = TrailerBacking(shipped("trailers"))
    limit = controller.limits
    way, most = limit.upper - limit.lower, limit.velocity
    for share, towards in ((0.06, 1.0), (0.05, 1.0), (0.025, 0.5), (0.0, 0.0), (-0.01, 0.0)):
        for speed in (0.1, 0.9 * most):
            assert controller._limit(limit.upper - share * way, speed) == pytest.approx(
                towards * speed, rel=1e-9, abs=1e-12)
            assert controller._limit(limit.lower + share * way, -speed) == pytest.approx(
                -towards * speed, rel=1e-9, abs=1e-12)
            assert controller._limit(limit.upper - share * way, -speed) == -speed
    assert controller._limit(0.0, 2 * most) == most and controller._limit(0.0, -2 * most) == -most
    # what turns right round has no limit to come to
    controller.limits = replace(limit, lower=-np.inf, upper=np.inf)
    assert controller._limit(9.0, 0.5 * most) == 0.5 * most
