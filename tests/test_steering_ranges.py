"""Axles that meet in one point get to every twist that their limits let them reach, whichever way
round, and of others it is said that they are not driven."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import atan2, inf, pi

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech.control.twist import TwistDrive
from nhmech.control.twist_rule import driven_steering, guiding_axles, twist_function
from nhmech.control.unicycle import unicycle
from nhmech.simulation.runs.driven_twist import measure_twist
from nhmech.vehicle.vehicle import Vehicle


@cache
def ranged(name: str, *ranges: tuple[float, float]) -> Vehicle:
    """A shipped robot with these limits of its steering joints."""
    own = shipped(name)
    limits = dict(own.description.limits)
    for axle, (lower, upper) in zip(own.steering.steered, ranges):
        limits[axle.steering] = replace(limits[axle.steering], lower=lower, upper=upper)
    return replace(own, description=replace(own.description, limits=limits))


class Steered:
    """Steering joints that go where the rule of `TwistDrive` sends them, in small steps."""

    def __init__(self, name: str, *ranges: tuple[float, float]) -> None:
        self.vehicle = ranged(name, *ranges)
        self.steering, self.rule = self.vehicle.steering, twist_function(self.vehicle)
        self.names = [axle.steering for axle in guiding_axles(self.vehicle)]
        self.limits = [self.vehicle.limits[name] for name in self.names]
        self.driven = [axle.steering for axle in driven_steering(self.vehicle)]
        self.unit = np.array([1.0, 1.0, self.steering.length])
        self.still = self.vehicle.configuration(), np.zeros(self.vehicle.algebroid.nv)
        self.angles = dict.fromkeys(self.names, 0.0)

    def ask(self, twist) -> tuple[dict[str, float], np.ndarray]:
        """Where the joints are sent, and what is possible of a twist."""
        angles = [self.angles[name] for name in self.names]
        targets, _, _, _, possible = self.rule(0.0, *self.still, self.vehicle.theta, angles, twist,
                                               inf)
        return dict(zip(self.driven, targets.full().ravel())), possible.full().ravel()

    def place(self, leader: float) -> None:
        """Turns the one leader to an angle, by way of those between."""
        name = self.steering.pair()[1].steering
        for angle in np.linspace(self.angles[name], leader, 200):
            self._set({name: angle}, self.steering.pair())

    def go(self, twist, step: float = 0.04) -> None:
        """Steps until the joints are where they are sent; none of them passes a limit on the way.
        """
        for _ in range(600):
            targets, possible = self.ask(twist)
            if not possible.any():
                return
            pair = self.steering.pair(self.angles)
            leaders = [axle.steering for axle in pair if axle.steering]
            more = {name: targets[name] - self.angles[name] for name in leaders}
            if max(map(abs, more.values())) < 1e-9:
                return
            if self.steering.coupled:
                assert all(abs(angle - self.angles[name]) <= pi / 4 + 1e-9
                           for name, angle in targets.items())
            share = min(1.0, step / max(map(abs, more.values())))
            self._set({name: self.angles[name] + share * by for name, by in more.items()}, pair)
            for name, limit in zip(self.names, self.limits):
                assert limit.lower - 1e-6 <= self.angles[name] <= limit.upper + 1e-6

    def _set(self, leaders: dict[str, float], pair) -> None:
        self.angles = {name: float(angle) for name, angle in
                       self.steering.followers(self.angles | leaders, pair).items()}

    def slip(self, twist) -> float:
        """How much of a twist the axles bar at the present angles."""
        scaled = twist * self.unit
        rows = [axle.at(self.angles.get(axle.steering, 0.0))
                for axle in (*self.steering.binding, *self.steering.steered)]
        return max(abs(row @ scaled) / np.linalg.norm(row) for row in rows) / (
            np.linalg.norm(scaled) or 1.0)


@pytest.mark.parametrize("yaw", [0.26, 0.034])
def test_a_car_at_one_limit_goes_the_long_way_round_to_the_other(yaw):
    """More than a quarter of a turn away: it stayed at its limit, and the twist was said to be
    driven. Of one that turns about a point between its front wheels it drives what it can."""
    vehicle = ranged("ackermann_car", (-1.3, 1.3), (-1.3, 1.3))
    leader = vehicle.steering.pair()[1].steering
    drive = TwistDrive(vehicle, (0.05, 0.0, yaw))
    simulator = nhmech.Simulator(vehicle, drive, mode="kinematic", dt=5e-3, control_period=0.01)
    simulator.reset(joints={leader: vehicle.limits[leader].lower})
    found = measure_twist(vehicle, simulator.run(4.0))[-1]
    # its left kingpin is 2.6 m before the rear axle, and 0.69 m to the left
    most = 0.05 / (2.6 / np.tan(1.3) + 0.69)
    assert found == pytest.approx((0.05, 0.0, min(yaw, most)), abs=1e-9)
    assert found == pytest.approx(drive.possible_twist, abs=1e-9)
    assert bool(drive.shortfall) == (yaw > most)
    assert simulator.state.joint_position[leader] == pytest.approx(
        np.arctan(2.6 / (0.05 / min(yaw, most) - 0.69)), abs=1e-6)


def reached(car: Steered, k: float) -> list[float]:
    """The first and the last angle to which the leader of a car may turn from where it is: its own
    limits, and those of the follower, whose cotangent is that of the leader and `k` (more)."""
    leader, follower = car.limits
    ends = []
    for way in (-1, 1):
        angle, its = (car.angles[name] for name in car.names)
        while True:
            on = angle + way * 1e-3
            # turning with the leader, by less than half a turn
            heading = atan2(np.sin(on), np.cos(on) + k * np.sin(on))
            after = its + np.remainder(heading - its + pi / 2, pi) - pi / 2
            if not (leader.lower <= on <= leader.upper and follower.lower <= after <= follower.upper
                    ) or abs(on - car.angles[car.names[0]]) > pi:
                break
            angle, its = on, after
        ends.append(angle)
    return ends


@pytest.mark.parametrize("seed", range(6))
def test_a_car_goes_wherever_its_limits_let_it(seed):
    """Limits, starts and twists at random: what can be reached, one way or the other, is driven,
    and of the rest it is said that less is."""
    rng = np.random.default_rng(seed)
    ranges = [(rng.uniform(-2.2, -0.2), rng.uniform(0.2, 2.2)) for _ in range(2)]
    car, told = Steered("ackermann_car", *ranges), set()
    a, b = (axle.straight for axle in car.steering.steered)
    left, right = (axle.across for axle in car.steering.steered)
    k = (left[2] - right[2]) / a[2]
    assert a == pytest.approx(b, abs=1e-12)
    for _ in range(12):
        lowest, highest = reached(car, k)
        car.place(rng.uniform(lowest, highest))
        angle = rng.uniform(-pi / 2, pi / 2)
        way = np.array([np.cos(angle), 0.0, np.sin(angle)]) * rng.choice([-1, 1])
        wanted = car.steering.steered[0].angle_for(way, 0.0)
        near = [abs(wanted + turns * pi - end) for turns in (-1, 0, 1) for end in (lowest, highest)]
        if min(near) < 5e-3:
            continue
        twist = 0.1 * way / car.unit
        can = any(lowest < wanted + turns * pi < highest for turns in (-1, 0, 1))
        _, possible = car.ask(twist)
        assert (np.abs(possible - twist).max() < 1e-9) == can
        told.add(can)
        assert possible[0] == pytest.approx(twist[0], abs=1e-12) or not possible.any()
        car.go(twist)
        assert car.slip(possible) < 1e-6
    assert True in told


@pytest.mark.parametrize("most, least", [(1.3, 3), (1.9, 6), (2.4, 10), (pi, 14), (4.0, 14)])
def test_wheels_that_all_steer_get_to_what_is_said_to_be_possible(most, least):
    """One twist after the other, whichever: many of them were not driven by a swerve drive whose
    wheels were wound up by those before, and nothing said so. Half a turn to either side is enough
    for all."""
    swerve, rng = Steered("swerve", *[(-most, most)] * 4), np.random.default_rng(8)
    driven = 0
    for _ in range(14):
        twist = rng.normal(size=3) * (0.2, 0.2, 0.5)
        _, possible = swerve.ask(twist)
        swerve.go(twist)
        _, still = swerve.ask(twist)
        assert still == pytest.approx(possible, abs=1e-9)
        assert swerve.slip(possible) < 1e-6
        part = possible[2] / twist[2]
        if abs(part - 1) < 1e-9:
            driven += 1
        elif possible.any():       # as much of it as the first wheel to come to its limit lets pass
            assert possible == pytest.approx(twist * (1, part, part), abs=1e-12) and 0 < part < 1
            assert max(map(abs, swerve.angles.values())) == pytest.approx(most, abs=1e-6)
    assert driven >= least


@pytest.mark.parametrize("turn, side", [(1, 1), (1, -1), (-1, 1)])
def test_wheels_turn_back_to_straight_where_no_way_round_is_open(turn, side):
    """From a tight turn to the side, for which some wheel would go beyond its limit either way; by
    steps, as to any other twist."""
    swerve = Steered("swerve", *[(-2.4, 2.4)] * 4)
    swerve.go(np.array([0.1, 0.0, 0.2 * turn]) / swerve.unit)
    now = swerve.steering.twist(swerve.angles, swerve.steering.pair(swerve.angles))
    twist = (0.0, 0.2 * side, 0.0)
    targets, possible = swerve.ask(twist)
    assert possible == pytest.approx(twist, abs=1e-12)
    found = swerve.steering.twist(targets, swerve.steering.pair(targets))
    assert np.linalg.det([now, (1.0, 0.0, 0.0), found]) == pytest.approx(0, abs=1e-9)
    assert np.arccos(abs(found @ now)) < 0.4 and abs(found[0]) > abs(now[0])
    most = max(abs(targets[name] - swerve.angles[name]) for name in targets)
    assert most == pytest.approx(pi / 4, rel=1e-9)
    swerve.go(twist)
    assert swerve.slip(twist) < 1e-6


def test_axles_are_sent_ahead_by_no_more_than_a_step():
    """0.4 rad of the circle of twists, or an eighth of a turn of the first wheel to turn so far,
    which is one that the base nearly turns about."""
    swerve, rng, kinds = Steered("swerve", *[(-inf, inf)] * 4), np.random.default_rng(3), set()
    axles = swerve.steering.steered
    for _ in range(60):
        axle, off = axles[rng.integers(4)], rng.choice([0.03, 0.6]) * rng.normal(size=2)
        now = np.array([axle.across[2] + off[1], -axle.straight[2] - off[0], 1.0])
        now *= rng.choice([-1, 1]) / np.linalg.norm(now)      # about a point beside a wheel
        swerve.angles = {one.steering: float(one.angle_for(now)) for one in axles}
        to = rng.normal(size=3)
        to /= np.linalg.norm(to)
        targets, _ = swerve.ask(0.1 * to / swerve.unit)
        found = swerve.steering.twist(targets, swerve.steering.pair(targets))
        most = max(abs(targets[name] - swerve.angles[name]) for name in targets)
        gone = np.arccos(min(1.0, abs(found @ now)))
        ways = np.array([now, to, found])
        assert abs(np.linalg.det(ways)) < 1e-9        # on the circle, and nearer
        assert abs(found @ to) >= abs(now @ to) - 1e-9
        assert most <= pi / 4 + 1e-9 and gone <= 0.4 + 1e-9
        kind = (abs(most - pi / 4) < 1e-9, abs(gone - 0.4) < 1e-9, abs(found @ to) > 1 - 1e-12)
        assert any(kind)
        kinds.add(kind)
    assert {(True, False, False), (False, True, False), (False, False, True)} <= kinds


@pytest.mark.parametrize("part", [1 - 1e-7, 1 + 1e-7])
@pytest.mark.parametrize("name", ["ackermann_car", "tricycle"])
def test_a_limit_is_one_to_rounding(name, part):
    """Just within it all is driven, just beyond just what the limit lets pass."""
    car = Steered(name)
    leader = car.steering.pair()[1] if car.steering.coupled else car.steering.steered[0]
    way = np.cross(car.steering.binding[0].straight,
                   leader.at(car.vehicle.limits[leader.steering].upper))
    twist = way / way[0] / car.unit
    _, possible = car.ask(twist * (1, 1, part))
    assert possible == pytest.approx(twist * (1, 1, min(part, 1)), rel=1e-9, abs=1e-12)


def test_a_wheel_that_turns_to_one_side_alone_also_goes_straight():
    """From its limit, and where it is to turn to the other side."""
    tricycle = Steered("tricycle", (0.0, 0.8))
    for twist, possible in (((0.3, 0.0, 0.1), (0.3, 0.0, 0.1)),
                            ((0.3, 0.0, -0.1), (0.3, 0.0, 0.0)), ((0.3, 0, 0), (0.3, 0, 0)),
                            ((-0.3, 0.0, -0.1), (-0.3, 0.0, -0.1)), ((0, 0, 0.1), (0, 0, 0))):
        assert tricycle.ask(twist)[1] == pytest.approx(possible, abs=1e-12)


@pytest.mark.parametrize("lower, upper, now", [(-pi / 2, 0.8, 0.7), (-0.8, pi / 2, -0.7)])
@pytest.mark.parametrize("yaw", [0.2, -0.2])
def test_a_wheel_that_may_stand_just_across_turns_on_the_spot(lower, upper, now, yaw):
    tricycle = Steered("tricycle", (lower, upper))
    tricycle.angles = {"steering_joint": now}
    targets, possible = tricycle.ask((0.0, 0.0, yaw))
    assert possible == pytest.approx((0.0, 0.0, yaw), abs=1e-12)
    end = lower if lower < -1 else upper
    assert targets == {"steering_joint": pytest.approx(end, abs=1e-9)}


@pytest.mark.parametrize("lower, upper", [(-1.65, 1.65), (-0.2, 3.0), (-pi / 2, pi / 2)])
def test_a_wheel_that_turns_by_half_a_turn_lets_every_twist_pass(lower, upper):
    tricycle = Steered("tricycle", (lower, upper))
    for angle in np.linspace(-pi, pi, 50):
        twist = 0.1 * np.array([np.cos(angle), 0.0, np.sin(angle)]) / tricycle.unit
        targets, possible = tricycle.ask(twist)
        assert possible == pytest.approx(twist, abs=1e-12)
        (target,) = targets.values()
        assert lower - 1e-9 <= target <= upper + 1e-9
        tricycle.angles = targets
        assert tricycle.slip(twist) < 1e-9


@pytest.mark.parametrize("lower, upper, steer", [
    (-0.5, 1.0, 0.5), (-1.0, 0.4, 0.4), (-1.65, 1.0, 1.0), (-1.65, 1.65, None), (0.0, 0.8, 0.0)])
def test_the_turning_radius_is_that_of_the_wider_circle(lower, upper, steer):
    """Of the base's middle, behind the steered wheel; none where that may stand across, and none
    that is finite where it turns to one side alone."""
    tricycle = ranged("tricycle", (lower, upper))
    axle = tricycle.steering.steered[0]
    ahead = (axle.straight[2] - tricycle.steering.fixed[0].straight[2]) * tricycle.steering.length
    expected = 0.0 if steer is None else ahead / np.tan(steer) if steer else inf
    assert unicycle(tricycle).turning_radius == pytest.approx(expected, rel=1e-9)
