"""Limits of rolling without a run: against statics by hand for three and four wheels, and against
runs that drive into them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from math import atan, cos, inf, sin, sqrt

import pytest
from support import at_length, command_line, joint, link, robot, shipped

import nhmech
from nhmech import JointVelocity, Simulator, Wheel
from nhmech.analysis import Cause, lift_acceleration, limits, rolling_events
from nhmech.analysis.demand import steady_turn
from nhmech.analysis.friction import coefficients
from nhmech.analysis.secants import find_zero
from nhmech.control import TwistDrive

G, MU = 9.81, 0.6
R, L, B = 0.1, 0.5, 0.3                # [m] radius, axle to axle, half a track
X, H, M = 0.2, 0.12, 10.0              # [m], [kg] centre of mass before the rear axle, height; mass
WITHIN = 2e-3                          # what the wheels' mass of 2e-4 of the whole can change


def wheeled(*front: str, com=(X, 0.0, H), efforts=(inf, inf), mass=M) -> nhmech.Vehicle:
    """Two driven wheels at the base's origin, the left one first; in front two that steer, or one
    ball without friction. All the mass is in the base."""
    rim, (left, right) = (1e-7, 1e-7, 1e-7), (
        f'<limit effort="{effort}" velocity="1e9"/>' if effort < inf else "" for effort in efforts)
    parts = [link("base", mass, (0.05, 0.05, 0.05), com), link("left", 1e-4, rim),
             link("right", 1e-4, rim), joint("l", "base", "left", (0, B, R), more=left),
             joint("r", "base", "right", (0, -B, R), more=right)]
    wheels = [Wheel("l", "disc", R, driven=True), Wheel("r", "disc", R, driven=True)]
    for name, side in zip(front, (B, -B) if front else (), strict=True):
        parts += [link(f"{name}_fork", 1e-4, rim), link(name, 1e-4, rim),
                  joint(f"{name}_steer", "base", f"{name}_fork", (L, side, R), axis=(0, 0, 1)),
                  joint(name, f"{name}_fork", name)]
        wheels.append(Wheel(name, "disc", R, driven=False))
    if not front:
        parts += [link("ball", 1e-4, rim), joint("b", "base", "ball", (L, 0, R), kind="fixed")]
        wheels.append(Wheel(None, "caster_ball", R, link="ball", point=(0, 0, 0)))
    return nhmech.load(f'<robot name="hand">{"".join(parts)}</robot>', wheels=wheels)


@cache
def known(name: str, mu: float = MU, radius: float = 1.5):
    """`limits` of a shipped robot, found once."""
    return limits(shipped(name), mu, radius=radius)


def bisect(fails, low: float, high: float) -> float:
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if fails(middle) else (middle, high)
    return low


@pytest.mark.parametrize("front", [(), ("fl", "fr")])
def test_straight_ahead_by_hand(front):
    """The rear axle drives: m a = mu N, with N what the moments about the front contacts say."""
    found = limits(wheeled(*front), MU, speed=2.0)
    rear = L - X
    harder, softer = MU * rear / (L - MU * H), MU * rear / (L + MU * H)
    assert found.acceleration.value == pytest.approx(G * harder, rel=WITHIN)
    assert found.deceleration.value == pytest.approx(G * softer, rel=WITHIN)
    assert found.up.value == pytest.approx(atan(harder), rel=WITHIN)
    assert found.down.value == pytest.approx(atan(softer), rel=WITHIN)
    assert found.stopping_distance == pytest.approx(2.0 / (G * softer), rel=WITHIN)
    for limit in (found.acceleration, found.deceleration, found.up, found.down):
        assert limit.cause is Cause.SLIP and limit.names == ("l", "r")


def test_a_high_load_lifts_the_front():
    """a = g x / h, whatever the wheels' friction; and braking lifts the rear before it slips where
    nothing else holds."""
    tall = wheeled(com=(X, 0.0, 0.6))
    found = limits(tall, 5.0)
    assert found.acceleration.value == pytest.approx(G * X / 0.6, rel=WITHIN)
    assert found.acceleration.cause is Cause.LIFT_OFF and found.acceleration.names == ("ball",)
    assert found.up.value == pytest.approx(atan(X / 0.6), rel=WITHIN)


def test_a_turn_and_a_cross_slope_on_three_wheels_by_hand():
    """Side force acts at the centre of mass and is held at the axle: the wheels push with opposite
    longitudinal forces against its moment, and share it as suits their loads."""
    radius, vehicle = 1.5, wheeled()
    found = limits(vehicle, MU, radius=radius)

    def slips(side: float, back: float, down: float = G) -> bool:
        """Whether accelerations to the left and backwards [m/s^2] are too much."""
        ball = M * (down * X + back * H) / L
        both, shift = M * down - ball, M * side * H / B
        twist = M * side * X / B
        room = 0.0
        for normal, along in (((both - shift) / 2, (-M * back - twist) / 2),
                              ((both + shift) / 2, (-M * back + twist) / 2)):
            if MU * normal < abs(along):
                return True
            room += sqrt((MU * normal) ** 2 - along ** 2)
        return room < M * side

    turn = bisect(lambda V: slips(V ** 2 / radius, V ** 2 / radius ** 2 * X), 0.0, 20.0)
    slope = bisect(lambda angle: slips(G * sin(angle), 0.0, G * cos(angle)), 0.0, 1.5)
    assert found.slip.value == pytest.approx(turn, rel=WITHIN)
    assert found.across.value == pytest.approx(slope, rel=WITHIN)
    # the inner wheel: its share of the axle's load against the roll moment
    assert found.lift_off.cause is Cause.LIFT_OFF and found.lift_off.names == ("l",)
    V = bisect(lambda V: M * G * (1 - X / L) - M * V ** 2 * H * X / radius ** 2 / L
               < M * V ** 2 / radius * H / B, 0.0, 50.0)
    assert found.lift_off.value == pytest.approx(V, rel=WITHIN)


def test_a_car_by_hand():
    """On four wheels the inner side lifts at V^2 = g R b / h; across a slope all slip at mu."""
    high = limits(wheeled("fl", "fr", com=(X, 0.0, 0.4)), 0.5, radius=4.0)
    assert high.lift_off.value == pytest.approx(sqrt(G * 4.0 * B / 0.4), rel=WITHIN)
    assert high.across.value == pytest.approx(atan(0.5), rel=WITHIN)
    assert high.across.cause is Cause.SLIP and {*high.across.names} == {"l", "r", "fl", "fr"}
    tipping = limits(wheeled("fl", "fr", com=(X, 0.0, 0.4)), 1.5, radius=4.0)
    assert tipping.across.value == pytest.approx(atan(B / 0.4), rel=WITHIN)
    assert tipping.across.cause is Cause.LIFT_OFF
    assert tipping.slip.value is None and "before a wheel slips" in tipping.slip.reason


def test_effort_limits_come_first_where_they_are_small():
    """Two wheels of 1 N m: m a = 2 tau / r."""
    found = limits(wheeled(efforts=(1.0, 1.0)), MU)
    assert found.acceleration.value == pytest.approx(2 * 1.0 / R / M, rel=WITHIN)
    assert found.acceleration.cause is Cause.EFFORT and set(found.acceleration.names) == {"l", "r"}
    assert sin(found.up.value) == pytest.approx(2 * 1.0 / R / M / G, rel=WITHIN)


def test_more_friction():
    """More friction is faster up to where a wheel lifts, which it does not change."""
    some, more = (known("differential_drive", mu) for mu in (0.3, 0.6))
    assert some.slip.value < more.slip.value and some.lift_off == more.lift_off
    assert more.margin(more.slip) == pytest.approx(more.slip.value - 1, rel=1e-12)


def test_the_velocity_limit_of_a_wheel_is_said():
    """The outer wheel of a differential drive turns at (1 + b / R) V / r."""
    found = known("differential_drive")
    assert found.top_speed.value == pytest.approx(25.0 * 0.1 / (1 + 0.22 / 1.5), rel=1e-9)
    assert found.top_speed.cause is Cause.VELOCITY and found.top_speed.value < found.slip.value
    assert found.top_speed.names == ("right_wheel_joint",)
    assert limits(wheeled(), MU).top_speed.value is None


# -- against runs ----------------------------------------------------------------------------------
@pytest.mark.parametrize("name, mu, radius, what", [
    ("tricycle", 0.6, 1.5, "lift_off"), ("ackermann_car", 0.6, 6.0, "slip"),
    *at_length(("differential_drive", 0.3, 1.5, "slip"), ("differential_drive", 0.2, 3.0, "slip"))])
def test_a_run_on_the_circle_ends_there(name, mu, radius, what):
    """The speed grows slowly on the circle; the event of the run is within one per cent."""
    vehicle, start, found = shipped(name), 0.985, known(name, mu, radius)
    limit, when = getattr(found, what).value, getattr(found, what).when
    assert found.top_speed.value is None or found.top_speed.value > limit
    speed = lambda t: limit * (start + 0.02 * t)  # noqa: E731
    sign = -1 if when == "turning right" else 1
    drive = TwistDrive(vehicle, lambda t, state: (speed(t), 0.0, sign * speed(t) / radius))
    demand = steady_turn(vehicle, sign / radius)
    simulator = Simulator(vehicle, drive, dt=4e-3, events=rolling_events(vehicle, mu))
    xi = dict(zip(vehicle.speeds, (start * limit * demand.velocity)[list(vehicle.frame.speeds)]))
    joints = vehicle.joint_positions(demand.q)
    leaders = {axle.steering: joints[axle.steering] for axle in vehicle.steering.steered[:1]}
    simulator.reset(joints=leaders, xi=xi)
    run = simulator.run(5.0)
    assert run.stop in ("event: friction limit", "event: lift-off")
    reached = float(run.column("forward_speed")[-1])
    assert reached == pytest.approx(limit, rel=0.01)


@pytest.mark.parametrize("name, way", [("differential_drive", 1), ("differential_drive", -1),
                                       ("tricycle", 1)])
def test_a_run_that_accelerates_harder_and_harder_ends_there(name, way):
    vehicle, found = shipped(name), known(name)
    limit = (found.acceleration if way > 0 else found.deceleration).value
    demand = steady_turn(vehicle, 0.0)
    effort = demand.load(acceleration=1.0)[1] * way * limit
    push = lambda t, state: effort * (0.9 + 0.05 * t)  # noqa: E731
    run = Simulator(vehicle, push, dt=4e-3, events=rolling_events(vehicle, MU)).run(4.0)
    assert run.stop.startswith("event")
    speed, t = run.column("forward_speed")[-3:], run.t[-3:]
    assert way * (speed[1] - speed[0]) / (t[1] - t[0]) == pytest.approx(limit, rel=0.01)


@pytest.mark.parametrize("name", ["differential_drive", *at_length("tricycle")])
def test_it_stands_on_slopes_up_to_the_limit(name):
    """Wheels told to stand still hold it below the limit and not above it."""
    found, vehicle = known(name), shipped(name)
    brake = dict.fromkeys(vehicle.driven, 0.0)
    side = -1 if found.across.when == "its left side uphill" else 1
    slopes = {(-1, 0): found.up, (1, 0): found.down, (0, side): found.across}
    for (forward, left), limit in slopes.items():
        for part, holds in ((0.99, True), (1.01, False)):
            angle = part * limit.value
            ground = nhmech.Ground((forward * sin(angle), left * sin(angle), cos(angle)))
            robot = shipped(name, ground)
            run = Simulator(robot, lambda t, state: JointVelocity(brake), dt=2e-3,
                            events=rolling_events(robot, MU)).run(0.01)
            assert (run.stop == "duration") == holds, (forward, left, part)


# -- what has no number ----------------------------------------------------------------------------
@pytest.mark.parametrize("name, what, reason", [
    ("disc", "acceleration", "nothing drives it"), ("disc", "slip", "nothing drives it"),
    ("pendulum", "acceleration", "can pitch or lean"), ("bicycle", "slip", "can pitch or lean"),
    ("ackermann_car", "slip", "front_left_steering_joint would have to be at 1.269 rad")])
def test_what_does_not_exist_says_why(name, what, reason):
    found = known(name)
    limit = getattr(found, what)
    assert limit.value is None and limit.cause is None and reason in limit.reason
    assert f"none: {limit.reason}" in found.describe()
    assert "nan" not in found.describe()


def test_one_reason_for_all_is_said_once():
    assert [line.split() for line in known("disc").describe().splitlines()] == [
        ["limits", "none:", "nothing", "drives", "it"]]
    assert len(known("ackermann_car").describe().splitlines()) >= 9


@pytest.mark.parametrize("side", [1, -1])
def test_steering_that_does_not_reach_names_the_limit_on_its_side(side):
    car = shipped("ackermann_car")
    limit = car.limits["front_left_steering_joint"]
    bound = limit.upper if side > 0 else limit.lower
    said = f"would have to be at {'-' * (side < 0)}.* its limit is {bound:.3f}"
    with pytest.raises(nhmech.MechanicsError, match=said):
        steady_turn(car, side / 1.5)


def test_wheels_that_slide_sideways_are_not_judged():
    """All four of a skid-steered robot."""
    found = known("skid_steer")
    assert found.not_judged == tuple(contact.name for contact in shipped("skid_steer").contacts)
    assert f"{', '.join(found.not_judged)}: slide sideways" in found.describe()
    assert known("differential_drive").not_judged == ()


@pytest.mark.parametrize("name", ["differential_drive", *at_length("ackermann_car")])
def test_limits_of_a_vehicle_on_tyres_are_those_of_one_that_rolls(name):
    """With what it carries; and it says so."""
    wheels = [wheel.name for wheel in shipped(name).description.wheels if wheel.joint is not None]
    load = {"payload.mass": 3.0, "payload.x": 0.1, "payload.z": 0.4}
    rolling = shipped(name).with_parameters(load)
    tyred = nhmech.load(nhmech.urdf_path(name), tyres=dict.fromkeys(wheels, "passenger_car"))
    tyred = tyred.with_parameters(load)
    found, known = (limits(vehicle, MU, radius=6.0) for vehicle in (tyred, rolling))
    assert found.tyres == tuple(wheels) and known.tyres == ()
    assert found.describe() == known.describe() + (
        f"\ntyres           {', '.join(wheels)}: taken to roll without slip")
    for one in ("slip", "lift_off", "acceleration", "deceleration", "up", "across"):
        assert getattr(found, one).value == pytest.approx(getattr(known, one).value, rel=1e-9)
    assert lift_acceleration(tyred) == pytest.approx(lift_acceleration(rolling), rel=1e-9)


def test_a_trailer_comes_to_rest_behind():
    """sin(hitch) of the first trailer, from the geometry of an axle that follows a point; a circle
    that is too tight is refused with the joint."""
    train = shipped("trailers")
    angles = train.joint_positions(steady_turn(train, 1 / 6.0).q)
    mirrored = train.joint_positions(steady_turn(train, -1 / 6.0).q)
    assert angles["hitch_1_joint"] < 0 < mirrored["hitch_1_joint"]
    assert angles["hitch_1_joint"] == pytest.approx(-mirrored["hitch_1_joint"], abs=1e-12)
    with pytest.raises(nhmech.MechanicsError, match="limit|does not settle"):
        steady_turn(train, 1.0)


@pytest.mark.parametrize("arguments", [dict(mu=-0.1), dict(mu="ice"), dict(mu={"no": 0.5}),
                                       dict(radius=0.0), dict(radius=-1.0), dict(radius=inf),
                                       dict(speed="fast"), dict(speed=0)])
def test_bad_numbers_are_refused(arguments):
    with pytest.raises(nhmech.InputError):
        limits(shipped("differential_drive"), **{"mu": MU, **arguments})


def test_friction_and_ground_at_rest_are_needed():
    with pytest.raises(nhmech.InputError, match="no wheel of 'disc' has a friction coefficient"):
        limits(shipped("disc"))
    turning = shipped("differential_drive", nhmech.Ground(angular_velocity=(0, 0, 1)))
    with pytest.raises(nhmech.InputError, match="the ground moves"):
        limits(turning, MU)
    # the file of this robot says 0.7
    assert set(limits(shipped("differential_drive")).mu.values()) == {0.7, inf}


def test_friction_is_taken_from_the_file():
    """<mu1> and <mu2> of a wheel's link, where the wheel itself has no mu; what is given goes
    first."""
    text = nhmech.urdf_path("carriage").read_text().replace(' mu="0.6"', "")
    gazebo = "".join(f'<gazebo reference="{name}"><mu1>0.35</mu1><mu2>0.35</mu2></gazebo>'
                     for name in ("left_wheel", "right_wheel"))
    robot = nhmech.load(text.replace("</robot>", f"{gazebo}</robot>"))
    known = coefficients(robot, None)
    assert known["left_wheel_joint"] == known["right_wheel_joint"] == 0.35
    assert coefficients(robot, {"left_wheel_joint": 0.5})["left_wheel_joint"] == 0.5
    assert coefficients(robot, 0.2)["right_wheel_joint"] == 0.2


# -- the command -----------------------------------------------------------------------------------
def test_the_command_prints_the_same():
    words = ("limits", "differential_drive", "--mu", "0.6", "--radius", "1.5")
    printed, found = command_line(*words), known("differential_drive")
    assert printed.exit_code == 0 and found.describe() in printed.stdout
    values = json.loads(command_line(*words, "--json").stdout)
    assert values["slip"]["value"] == found.slip.value and values["slip"]["cause"] == "slip"
    assert values["stopping_distance"] == found.stopping_distance
    assert values["margin"]["slip"] == found.margin(found.slip)
    assert command_line("limits", "differential_drive", "--mu", "0").exit_code == 2
    assert command_line("limits", "differential_drive", "--radius", "-1").exit_code == 2


def test_numbers_stand_below_each_other_in_their_units():
    found = known("differential_drive")
    value = found.slip.value
    assert found.slip.describe("m/s").startswith(f"{value:.4g} m/s: ")
    assert found.slip.describe("mm/s", 1000).startswith(f"{1000 * value:.4g} mm/s: ")
    lines = found.describe().splitlines()
    for said in (found.slip.describe("m/s"), found.acceleration.describe("m/s^2")):
        assert sum(line[len("first lift-off  "):].startswith(said) for line in lines) == 1


def test_a_margin_beyond_the_double_is_told_in_times():
    found = known("differential_drive")
    slow, near = replace(found, speed=0.02), replace(found, speed=found.slip.value / 1.25)
    assert f"; {found.slip.value / 0.02:.3g} times 0.02 m/s" in slow.describe()
    assert "; 25 % above" in near.describe()


def test_a_caster_that_bears_nothing_lifts_at_no_acceleration():
    """Rounding alone decides whether its load is positive: it holds nobody back. Ahead the wheels
    lift where m a h + J a / r = m g l about the caster, 0.12 m behind the centre of mass."""
    weightless = joint("caster_joint", "base", "caster", xyz=(-0.12, 0, -0.05), kind="fixed")
    text = robot(link("base", 5.0, (0.05, 0.05, 0.08)), weightless, '<link name="caster"/>',
                 *(part for side, y in (("left", 0.13), ("right", -0.13)) for part in
                   (link(side, 0.3, (3e-4, 5e-4, 3e-4)),
                    joint(f"{side}_joint", "base", side, xyz=(0, y, -0.02)))))
    wheels = [nhmech.Wheel(f"{side}_joint", "disc", 0.06) for side in ("left", "right")]
    caster = nhmech.Wheel(None, "caster_ball", 0.03, link="caster", point=(0, 0, 0))
    moment = 5.0 * 0.08 + 0.6 * 0.06 + 2 * 5e-4 / 0.06
    assert lift_acceleration(nhmech.load(text, wheels=[*wheels, caster])) == pytest.approx(
        5.6 * 9.81 * 0.12 / moment, rel=1e-6)


def test_a_hinge_that_is_pushed_bounds_the_acceleration_as_one_that_is_held():
    """Straight ahead the loads are those of one body, though the front would turn round behind."""
    limit = '<limit lower="-0.7" upper="0.7" effort="0" velocity="0"/>'
    parts = [link("rear", 10.0, com=(0.0, 0.0, 0.5)), link("front", 8.0, com=(0.2, 0.0, 0.4)),
             joint("hinge", "rear", "front", (0.4, 0, 0), axis=(0, 0, 1), kind="revolute",
                   more=limit)]
    for half, x in (("rear", -0.3), ("front", 0.3)):
        for side, y in (("left", 0.2), ("right", -0.2)):
            parts += [link(f"{half}_{side}", 1.0),
                      joint(f"{half}_{side}_joint", half, f"{half}_{side}", (x, y, 0.1))]
    wheels = [Wheel(f"{half}_{side}_joint", "disc", 0.1, driven=half == "rear")
              for half in ("rear", "front") for side in ("left", "right")]
    free, held = (lift_acceleration(nhmech.load(robot(*parts), wheels=wheels, locked=locked))
                  for locked in ({}, {"hinge": 0.0}))
    assert free == pytest.approx(held, rel=1e-9)


@pytest.mark.parametrize("function, root, most", [
    (lambda x: 3.0 - x, 3.0, 4), (lambda x: 9.0 - x ** 2, 3.0, 12),
    (lambda x: 1 - (x / 7) ** 9, 7.0, 16), (lambda x: 1e-3 - x ** 3, 0.1, 25),
    (lambda x: min(2.0, 40 - 10 * x), 4.0, 12)])
def test_a_zero_is_found_from_below_in_few_steps(function, root, most):
    """To 1e-9, where the margin is not negative yet; the search ends when it is there."""
    calls = []

    def counted(x):
        calls.append(x)
        return function(x)

    found = find_zero(counted, 0.0, 8.0, function(0.0), function(8.0))
    assert function(found) >= 0 and root * (1 - 1e-9) <= found <= root * (1 + 1e-15)
    assert len(calls) <= most and all(0 < x < 8 for x in calls)
