"""Body twists of bases on driven steering joints that their wheels trail: powered casters and
turntables go any way at once, and a tricycle's fork is held."""

import xml.etree.ElementTree as ET
from functools import cache

import casadi as ca
import numpy as np
import pytest
from support import joint, link, robot
from test_idle_casters import below, turntable

import nhmech
from nhmech.analysis.demand import steady_turn
from nhmech.analysis.mobility import mobility
from nhmech.control.twist import TwistDrive
from nhmech.simulation.runs.driven_twist import measure_twist

PLACES = ((0.2, 0.15), (0.18, -0.15), (-0.2, 0.03))
TRAIL, ACROSS = 0.01, 0.012


@cache
def casters(size: float = 1.0, side: int = 1, yaw: float = 0.0):
    """A base on three modules; `size` times as large, mirrored to the other side, its base frame
    turned."""
    modules = (below("body", f"module_{i}", size * x, side * size * y, size * TRAIL, r=size * 0.05,
                     across=side * size * ACROSS) for i, (x, y) in enumerate(PLACES))
    return nhmech.load(robot(link("base"), link("body", 20, (1, 1, 1), (0, 0, 0.1)),
                             joint("turn", "base", "body", rpy=(0, 0, -yaw), kind="fixed"),
                             *modules))


def command(vehicle, twist, angles):
    """Rates of all joints that a twist commands, and the state that it is asked in."""
    state = nhmech.Simulator(vehicle).reset(joints=angles)
    positions, rates = TwistDrive(vehicle, twist)(0.0, state)
    assert positions.values == {}
    return dict(rates.values), state


def random_command(vehicle, rng):
    twist = rng.normal(size=3)
    angles = {name: rng.uniform(-3, 3) for name in vehicle.description.steering}
    return twist, angles, *command(vehicle, twist, angles)


@pytest.mark.parametrize("curvature", [0.0, 0.8, -1.7])
def test_on_a_circle_each_stands_along_its_way_by_the_smaller_turn(curvature):
    """Its hub moves along the wheel, ahead rather than behind."""
    vehicle = casters()
    angles = vehicle.joint_positions(steady_turn(vehicle, curvature).q)
    for i, (x, y) in enumerate(PLACES):
        delta = angles[f"module_{i}_swivel"]
        assert abs(delta) < np.pi / 2
        R = np.array([[np.cos(delta), -np.sin(delta)], [np.sin(delta), np.cos(delta)]])
        hub = (x, y) + R @ (-TRAIL, ACROSS)
        along, across = R.T @ (1 - curvature * hub[1], curvature * hub[0])
        assert across == pytest.approx(0, abs=1e-12) and along > 0.5


def test_rates_are_those_of_the_hub_along_and_across_the_wheel():
    """The hub is at s + R(delta) (-trail, across) for the steering axis s: its velocity is r phi'
    along the wheel, and the inverse of a 2x2 matrix gives delta' and phi'."""
    vehicle, rng = casters(), np.random.default_rng(5)
    for _ in range(20):
        (forward, lateral, yaw), angles, rates, _ = random_command(vehicle, rng)
        for i, place in enumerate(PLACES):
            delta = angles[f"module_{i}_swivel"]
            R = np.array([[np.cos(delta), -np.sin(delta)], [np.sin(delta), np.cos(delta)]])
            hub = R @ (-TRAIL, ACROSS)
            x, y = np.array(place) + hub
            velocity = np.array([forward - yaw * y, lateral + yaw * x])
            expected = np.linalg.solve(np.column_stack([(hub[1], -hub[0]), 0.05 * R[:, 0]]),
                                       velocity)
            found = rates[f"module_{i}_swivel"], rates[f"module_{i}_joint"]
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("make", [casters, lambda: nhmech.load(turntable("roll"))],
                         ids=["casters", "turntable"])
def test_every_twist_is_met_at_random_states(make):
    """With the commanded rates all rows hold: A v + b = 0, of the whole twist or, where a joint
    is not as fast, of the largest part of it."""
    vehicle, rng = make(), np.random.default_rng(6)
    assert mobility(vehicle).type == (3, 0)
    names = vehicle.algebroid.v_names
    for _ in range(20):
        twist, angles, rates, state = random_command(vehicle, rng)
        slow = command(vehicle, 1e-3 * twist, angles)[0]
        share = min(1.0, *(vehicle.limits[name].velocity / abs(1e3 * rate)
                           for name, rate in slow.items()))
        v = np.zeros(len(names))
        v[[0, 1, 5]] = share * twist
        v[[names.index(name) for name in rates]] = list(rates.values())
        A, b = vehicle.functions.constraints(0.0, state.q, vehicle.theta)[:2]
        assert np.abs(A.full() @ v + b.full().ravel()).max() <= 1e-9 * max(1, np.abs(v).max())


def test_mirrored_turned_and_scaled():
    """On the left as on the right, in another frame of the same body, ten times as large: all at
    once."""
    rng, yaw = np.random.default_rng(7), 0.7
    cos, sin = np.cos(yaw), np.sin(yaw)
    for _ in range(10):
        (forward, lateral, turn), angles, rates, _ = random_command(casters(), rng)
        forward, lateral, turn = 10 * forward, -10 * lateral, -turn
        signs = {name: -1 if "swivel" in name else 1 for name in rates}
        other, _ = command(casters(10.0, -1, yaw), (cos * forward + sin * lateral,
                                                    cos * lateral - sin * forward, turn),
                           {name: signs[name] * angle for name, angle in angles.items()})
        assert {name: signs[name] * rate for name, rate in other.items()} == pytest.approx(
            rates, rel=1e-9)


@pytest.mark.parametrize("mode", ["kinematic", "dynamic"])
def test_a_run_drives_sideways_and_back(mode):
    """Modules swing round as casters do, for the wheels then trail."""
    vehicle, twist = casters(), (-0.3, 0.1, -0.2)
    run = nhmech.Simulator(vehicle, TwistDrive(vehicle, twist), mode=mode,
                           control_period=0.01).run(1.0)
    assert measure_twist(vehicle, run)[-1] == pytest.approx(twist, abs=1e-3)


@pytest.fixture(scope="module")
def tricycle():
    """With its front wheel behind its steering axis."""
    root = ET.fromstring(nhmech.urdf_path("tricycle").read_text())
    wheel = next(e for e in root.iter("joint") if e.get("name") == "front_wheel_joint")
    origin = wheel.find("origin")
    if origin is None:
        origin = ET.SubElement(wheel, "origin")
    x, y, z = map(float, origin.get("xyz", "0 0 0").split())
    origin.set("xyz", f"{x - 0.02} {y} {z}")
    return nhmech.load(ET.tostring(root, encoding="unicode"))


@pytest.mark.parametrize("mode", ["kinematic", "dynamic"])
def test_a_fork_with_a_trail_is_held_at_the_angle_of_the_twist(tricycle, mode):
    """It cannot turn round as a caster would where the tricycle goes back."""
    limit = tricycle.limits["steering_joint"]
    for twist in ((0.5, 0.0, 0.2), (-0.5, 0.0, 0.2)):
        run = nhmech.Simulator(tricycle, TwistDrive(tricycle, twist), mode=mode,
                               control_period=0.01).run(1.5)
        found = measure_twist(tricycle, run)[-1]
        assert found[[0, 2]] == pytest.approx((twist[0], twist[2]), abs=1e-4)
        angles = run.column("steering_joint.position")
        assert limit.lower <= angles.min() and angles.max() <= limit.upper


def test_the_angle_of_a_trailing_wheel_lets_the_twist_pass(tricycle):
    """row(angle) . twist = 0, for numbers as for symbols; and no NaN about a centre that is nearer
    than the trail."""
    axle, = tricycle.steering.trailing
    twist, near = ca.SX.sym("twist", 3), ca.SX.sym("near")
    symbolic = ca.Function("angle", [twist, near], [axle.angle_for(twist, near)])
    rng = np.random.default_rng(8)
    for way in rng.normal(size=(50, 3)):
        start = rng.uniform(-4, 4)
        angle = axle.angle_for(way, start)
        assert axle.at(angle) @ way == pytest.approx(0.0, abs=1e-12)
        assert float(symbolic(way, start)) == pytest.approx(angle, abs=1e-12)
        assert abs(angle - start) <= np.pi
    spot = np.cross(axle.straight, axle.across)      # about the steering axis
    assert np.isfinite(axle.angle_for(spot)) and np.isfinite(float(symbolic(spot, 0.0)))
