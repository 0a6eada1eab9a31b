"""Validity of ideal rolling: contact forces by closed forms, all splits of them,
friction, and the moments located in a run."""

from __future__ import annotations

import pickle
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from runs import moment
from scipy.optimize import brentq, linprog, minimize_scalar
from support import (
    VARIED,
    command_line,
    joint,
    kinematics,
    link,
    needs_compiler,
    random_states,
    robot,
    shipped,
    velocity,
)

import nhmech
from nhmech import JointTorque
from nhmech.analysis import cone_programme, friction, rolling_limits
from nhmech.analysis.cone_programme import Cones, minimise
from nhmech.analysis.contact_load import ContactLoad, contact_load
from nhmech.analysis.friction import coefficients, least_use, rough_use, slack, widest_split
from nhmech.analysis.mobility import mobility
from nhmech.analysis.rolling_limits import (
    friction_limit,
    lift_off,
    rolling_events,
    run_validity,
)
from nhmech.analysis.validity import Validity, Verdict, WheelLoad, validity
from nhmech.control.demo import DemoDrive
from nhmech.control.twist import TwistDrive
from nhmech.errors import InputError, SimulationError
from nhmech.simulation.contact.force_reader import ForceReader
from nhmech.vehicle.reactions import ground_load, share_load, solve_saddle

G = 9.81
LEFT, RIGHT, CASTER = "left_wheel_joint", "right_wheel_joint", "caster_link"

# a cart: centre of mass over the axle and H above it, caster behind
M, M_W, R, B, H, X, I_W, I_D, I_ZZ = 8.0, 0.7, 0.1, 0.22, 0.3, 0.25, 0.0035, 0.002, 0.2


def cart(mu: float | None = None, com: float = 0.0, axis: int = 1, mass: float = M):
    body = link("base", mass, (0.12, 0.15, I_ZZ), (com, 0.0, H)) + "".join(
        link(side, M_W, (I_D, I_W, I_D)) for side in ("l", "r"))
    joints = joint("left", "base", "l", (0, B, 0)) + joint("right", "base", "r", (0, -B, 0),
                                                           axis=(0, axis, 0))
    wheels = [nhmech.Wheel("left", "disc", R, mu=mu, driven=True),
              nhmech.Wheel("right", "disc", R, mu=mu, driven=True),
              nhmech.Wheel(None, "caster_ball", 0.05, link="base", point=(-X, 0.0, 0.05 - R))]
    return nhmech.load(robot(body, joints), wheels=wheels, packages={})


def forces(V: float, W: float, left: float,
           right: float) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Of the cart, by Newton and Euler: normals (left, right, caster),
    longitudinal (left, right), lateral in all; acceleration."""
    a = (left + right) / R / (M + 2 * M_W + 2 * I_W / R ** 2)
    alpha = B * (right - left) / R / (I_ZZ + 2 * M_W * B ** 2 + 2 * I_D + 2 * I_W * B ** 2 / R ** 2)
    pitching = M * a * (R + H) + 2 * M_W * a * R + 2 * I_W * a / R            # towards the back
    rolling = M * V * W * (R + H) + 2 * M_W * V * W * R + 2 * I_W * V / R * W
    caster, weight = pitching / X, (M + 2 * M_W) * G
    normals = np.array([(weight - caster) / 2 - rolling / (2 * B),
                        (weight - caster) / 2 + rolling / (2 * B), caster])
    spin = np.array([a - B * alpha, a + B * alpha]) / R
    return normals, (np.array([left, right]) - I_W * spin) / R, (M + 2 * M_W) * V * W, a


def state(vehicle, V: float, W: float):
    return nhmech.Simulator(vehicle).reset(xi={"forward_speed": V, "yaw_rate": W})


def constant(*torques):
    return lambda t, _: np.array(torques)


# -- forces ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(4))
def test_forces_of_a_cart(seed):
    vehicle, rng = cart(), np.random.default_rng(seed)
    V, W, u = *rng.uniform(0, 1, 2), rng.uniform(0, 1, 2)
    now = state(vehicle, V, W)
    found, (normals, along_, lateral, _) = validity(vehicle, 0.0, now.q, now.v, u), forces(V, W, *u)
    assert found.verdict is Verdict.HOLDS and not found.lifted
    np.testing.assert_allclose([one.normal for one in found.wheels], normals, rtol=1e-11,
                               atol=1e-11)
    np.testing.assert_allclose([found["left"].longitudinal, found["right"].longitudinal], along_,
                               rtol=1e-10, atol=1e-11)
    assert found["left"].lateral + found["right"].lateral == pytest.approx(lateral, abs=1e-10)
    assert found.sums == (("left/lateral + right/lateral", pytest.approx(lateral, abs=1e-10)),)
    assert (found["left"].undetermined == {"lateral": (-np.inf, np.inf)}
            and not found["base"].undetermined)
    assert found["left"].needed == pytest.approx(np.hypot(along_[0], lateral / 2) / normals[0],
                                                 rel=1e-10)


@pytest.mark.parametrize("axis", [1, -1])
def test_a_sum_over_opposed_axles_has_their_signs(axis):
    """The right wheel's joint turned round: its lateral direction is the other one, and what both
    carry is the difference of their entries."""
    vehicle = cart(axis=axis)
    now = state(vehicle, 0.6, 0.8)
    found, (_, along_, lateral, _) = (validity(vehicle, 0.0, now.q, now.v, np.zeros(2)),
                                      forces(0.6, 0.8, 0.0, 0.0))
    text = f"left/lateral {'+' if axis > 0 else '-'} right/lateral"
    assert found.sums == ((text, pytest.approx(lateral, rel=1e-10)),) and lateral > 1
    assert found["right"].longitudinal == pytest.approx(axis * along_[1], rel=1e-10)


@pytest.mark.parametrize("name, free", [("ackermann_car", 3), ("disc", 0), ("carriage", 1)])
def test_a_load_is_shared_in_all_ways_that_no_motion_feels(vehicle, name, free):
    robot = vehicle(name)
    q = robot.configuration()
    A, load = ground_load(robot, 0.0, q, np.zeros(robot.model.nv), np.zeros(len(robot.driven)))
    lam, basis = share_load(robot, A, load)
    assert basis.shape[1] == free == mobility(robot).splits
    assert basis.T @ basis == pytest.approx(np.eye(free), abs=1e-12)
    assert basis.T @ lam == pytest.approx(np.zeros(free), abs=1e-9)


def test_forces_of_the_coasting_reference(vehicle, case):
    reference, robot_ = case("diffdrive_coast"), vehicle("differential_drive")
    start = reference["initial_state"]
    simulator = nhmech.Simulator(robot_, dt=1e-3)
    simulator.reset(xi={"forward_speed": start["v"], "yaw_rate": start["yaw_rate"]})
    run = simulator.run(4.0, every=500)
    for sample in reference["expected"]["samples"]:
        i = moment(run, sample["t"])
        found = validity(robot_, run.t[i], run.q[i], run.v[i], run.u[i])
        for side, wheel in (("left", LEFT), ("right", RIGHT)):
            assert found[wheel].normal == pytest.approx(sample[f"normal_{side}"], abs=1e-9)
            assert found[wheel].longitudinal == pytest.approx(sample[f"longitudinal_{side}"],
                                                              abs=1e-12)
        assert found[CASTER].normal == pytest.approx(sample["normal_caster"], abs=1e-11)
        assert found.sums[0][1] == pytest.approx(sample["lateral_total"], abs=1e-9)
        normals, longitudinal = np.array([[sample[f"{what}_{side}"] for side in ("left", "right")]
                                          for what in ("normal", "longitudinal")])

        def needed(left):
            return (np.hypot(longitudinal, [left, sample["lateral_total"] - left]) / normals).max()

        best = minimize_scalar(needed, bracket=(0, sample["lateral_total"]), tol=1e-12).fun
        # mu = 0.7 in the file
        assert found.use[0] == found.use[1] and 0.7 * found.use[0] == pytest.approx(best, rel=1e-7)
        assert 0.7 * found.use[0] < best * (1 + 1e-9)


def mid_axle_wrench(vehicle, q, v, u, forces, points) -> np.ndarray:
    """What the mid-axle model adds to the forces at the contacts, on the base: its side force is
    shared evenly by the contacts, along their axles; a track widened by the factor f gives a
    longitudinal force F at p from the middle the further moment (f - 1) (n x p).e F about n."""
    place, n = pin.SE3(kinematics(vehicle, q).oMi[1]), np.array(vehicle.ground.normal)
    kept = [vehicle.constrained.distribution.names[i] for i in vehicle.frame.kept]
    side = solve_saddle(vehicle, 0.0, q, v, u).lam[kept.index("mid_axle/lateral")] / len(points)
    middle = np.mean([c.mount.centre for c in vehicle.contacts], axis=0)
    total = np.zeros(6)
    for c, held in zip(vehicle.contacts, vehicle.contact_directions(q)):
        arm = place.rotation @ (c.mount.centre - middle)
        turning = ((vehicle.description.track_factor - 1) * np.cross(n, arm) @ held["longitudinal"]
                   * forces[c.name, "longitudinal"] * n)
        force = side * held["lateral"]
        total += place.actInv(pin.Force(force, np.cross(points[c.name], force) + turning)).vector
    return total


def test_a_load_stays_what_it_was_and_goes_to_other_processes(vehicle):
    """Its axes are worked out when asked for, of the moment that it was made for: the caller's
    arrays may go on."""
    car = vehicle("ackermann_car")
    (_, q, xi, u), = random_states(car, 1, 4)
    load, early, late = (contact_load(car, 0.0, at, velocity(car, 0.0, q, xi),
                                      u) for at in (q, q.copy(), q.copy()))
    axes, sums = early.axes.copy(), early.sums
    q[3:7] = 0.0, 0.0, 1.0, 0.0
    assert np.array_equal(load.axes, axes) and load.sums == sums and len(sums) > 0
    # axes asked for before, and never
    for other in map(pickle.loads, map(pickle.dumps, (early, late))):
        assert np.array_equal(other.axes,
                              axes) and other.sums == sums and other.names == early.names
        assert np.array_equal(other.split, early.split)


@pytest.mark.parametrize("name", [*VARIED, "skid_steer with a wider track"])
def test_contact_forces_balance_gravity_and_inertia(vehicle, name):
    """Sum of contact wrenches on the base = base wrench of `pin.rnea` at the acceleration of
    the equations of motion (Gibbs-Appell)."""
    wide = name.endswith("wider track")
    for served, q, xi, u in random_states(shipped("skid_steer", skid=1.6)
                                          if wide else vehicle(name), 5, 3):
        v = velocity(served, 0.0, q, xi)
        load = contact_load(served, 0.0, q, v, u)
        dv = served.equations.acceleration(0.0, q, xi, u, served.theta).full().ravel()
        data = kinematics(served, q)
        wanted = pin.rnea(served.model, data, q, v, dv)[:6]
        found, place = np.zeros(6), pin.SE3(data.oMi[1])
        points = dict(zip(served.contact_names, served.contact_points(q)))
        for (wheel, _), axis, f in zip(load.names, load.axes, load.split):
            found += place.actInv(pin.Force(f * axis, np.cross(points[wheel], f * axis))).vector
        if served.description.track_factor is not None:
            found += mid_axle_wrench(served, q, v, u, dict(zip(load.names, load.split)), points)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * load.size,
                                   err_msg=str(served.name))


def test_braking_car_shifts_its_load(vehicle):
    car = vehicle("ackermann_car")
    now = state(car, 8.0, 0.0)
    u = np.array([-60.0 if "wheel" in name else 0.0 for name in car.driven])
    data = kinematics(car, now.q)
    dv = car.equations.acceleration(0.0, now.q, np.array(list(now.xi.values())), u,
                                      car.theta).full().ravel()
    mass, centre = pin.computeTotalMass(car.model), pin.centerOfMass(car.model, data, now.q)
    points = dict(zip(car.contact_names, car.contact_points(now.q)))
    spin = sum(car.model.inertias[j].inertia[1, 1] * dv[car.model.joints[j].idx_v]
               for j in map(car.model.getJointId, car.contact_names))
    front, rear = points["front_left_wheel_joint"][0], points["rear_left_wheel_joint"][0]
    wanted = (mass * G * (centre[0] - rear) - mass * dv[0] * centre[2] - spin) / (front - rear)
    found = validity(car, 0.0, now.q, now.v, u)
    sums = dict(found.sums)
    front, rear = (sums[f"{end}_left_wheel_joint/normal + {end}_right_wheel_joint/normal"]
                   for end in ("front", "rear"))
    assert dv[0] < -0.1 and front == pytest.approx(wanted, rel=1e-10)
    assert rear == pytest.approx(mass * G - wanted, rel=1e-10)
    # a driven wheel that bears nothing would slip
    assert found.verdict is Verdict.POSSIBLE and found.use[1] == np.inf


# -- splits ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("x, y", [(0.0, 0.0), (0.1, 0.05), (-0.25, 0.12), (0.35, 0.0)])
def test_table_on_four_legs(x, y):
    """Of a load at (x, y) on a table 2a by 2b, the front left leg carries
    from max(0, x/a + y/b) / 2 to min(1 + x/a, 1 + y/b) / 2."""
    a, b, corners = 0.4, 0.3, {"fl": (1, 1), "fr": (1, -1), "rl": (-1, 1), "rr": (-1, -1)}
    legs = "".join(link(name, 1e-9, (1e-12,) * 3)
                   + joint(f"{name}_leg", "base", name, (i * a, j * b, 0.0), kind="fixed")
                   for name, (i, j) in corners.items())
    table = nhmech.load(robot(link("base", 2.0, com=(x, y, 0.3)), legs),
                        wheels=[nhmech.Wheel(None, "caster_ball", 0.05,
                                             link=name) for name in corners])
    found = validity(table, 0.0, table.configuration(), np.zeros(6), np.zeros(0))
    W = (2.0 + 4e-9) * G
    for name, (i, j) in corners.items():
        low, high = max(0.0, i * x / a + j * y / b) / 2, min(1 + i * x / a, 1 + j * y / b) / 2
        np.testing.assert_allclose(found[name].undetermined["normal"], (low * W, high * W), rtol=0,
                                   atol=1e-7)
    # four pairs, and all of them
    assert found.verdict is Verdict.HOLDS and len(found.sums) == 5
    assert sum(one.normal for one in found.wheels) == pytest.approx(W, rel=1e-10)


def random_load(seed: int, wheels: int, more: int) -> ContactLoad:
    """Some forces, and some ways to change them that leave the sum of the normals alone."""
    rng, n = np.random.default_rng(seed), 3 * wheels
    names = tuple((f"w{i // 3}", ("normal", "longitudinal", "lateral")[i % 3]) for i in range(n))
    change = rng.normal(size=(n, more))
    change[::3] -= change[::3].mean(axis=0)
    split = rng.normal(size=n) * 4
    split[::3] = rng.uniform(5, 15, wheels)
    axes = dict(zip(("normal", "longitudinal", "lateral"), np.eye(3)))
    vehicle = SimpleNamespace(contact_names=[f"w{i}" for i in range(wheels)],
                              contact_directions=lambda q, t: [axes] * wheels)
    return ContactLoad(names, vehicle, 0.0, np.zeros(0), split, np.linalg.qr(change)[0], True)


@pytest.mark.parametrize("seed, wheels, more",
                         [(0, 2, 1), (1, 3, 2), (2, 4, 3), (3, 4, 1), (4, 6, 7), (5, 3, 4)])
def test_slack_and_use_against_polygons(seed, wheels, more):
    """Between linear programmes with polygons inside and outside of the friction cones;
    and the slack vanishes at the least mu."""
    load, mu, sides = random_load(seed, wheels,
                                  more), {f"w{i}": 0.4 + 0.1 * i for i in range(wheels)}, 720
    angles = 2 * np.pi * np.arange(sides) / sides
    directions = np.column_stack([np.cos(angles), np.sin(angles)])

    def polygons(shrink):
        rows, right = [], []
        for i in range(wheels):
            change = directions @ load.kernel[3 * i + 1:3 * i
                                              + 3] - shrink * mu[f"w{i}"] * load.kernel[3 * i]
            rows.append(np.column_stack([change, np.full(sides, shrink)]))
            right.append(
                shrink * mu[f"w{i}"] * load.split[3 * i]
                - directions @ load.split[3 * i + 1 : 3 * i + 3]
            )
        return -linprog(np.r_[np.zeros(more), -1.0], np.vstack(rows), np.concatenate(right),
                        bounds=(None, None)).fun

    found = slack(load, mu)
    assert polygons(np.cos(np.pi / sides)) - 1e-6 <= found <= polygons(1.0) + 1e-6
    use, best = least_use(load, mu)
    assert slack(load, {wheel: value * use
                        for wheel, value in mu.items()}) == pytest.approx(0, abs=1e-8 * load.size)
    uses = [np.hypot(*best[3 * i + 1:3 * i
                           + 3]) / (mu[f"w{i}"] * best[3 * i]) for i in range(wheels)]
    assert max(uses) == pytest.approx(use, rel=1e-12, abs=0)
    assert (
        np.linalg.norm((best - load.split) - load.kernel @ (load.kernel.T @ (best - load.split)))
        < 1e-9 * load.size
    )


@pytest.mark.parametrize("seed", range(3))
def test_corners_are_the_extremes(seed):
    load = random_load(seed, 5, 3)
    normals = load.kernel[load.normal]
    for i, wheel in enumerate(f"w{k}" for k in range(5)):
        ends = [linprog(sign * normals[i], -normals, load.split[load.normal],
                        bounds=(None, None)).fun * sign
                + load.split[3 * i] for sign in (1, -1)]
        np.testing.assert_allclose([load.corners[:, 3 * i].min(), load.corners[:, 3 * i].max()],
                                   ends, rtol=0, atol=1e-7, err_msg=wheel)
    least = -linprog(np.r_[np.zeros(3), -1.0], np.column_stack([-normals, np.ones(5)]),
                     load.split[load.normal], bounds=(None, None)).fun
    assert load.least_normal == pytest.approx(least, abs=1e-7)


def test_cone_programme_finds_the_nearest_point_of_a_disc():
    """min s, |y - p| <= s, |y| <= 1 for p outside: s = |p| - 1."""
    p = np.array([3.0, -4.0])
    eye = np.column_stack([np.eye(2), np.zeros(2)])
    cones = Cones(np.array([eye, eye]), np.array([-p, np.zeros(2)]),
                  np.array([[0, 0, 1.0], [0, 0, 0.0]]), np.array([0.0, 1.0]))
    y = minimise(np.array([0, 0, 1.0]), cones, np.array([0, 0, 9.0]))
    np.testing.assert_allclose(y, [0.6, -0.8, 4.0], rtol=0, atol=1e-6)
    assert y[2] == pytest.approx(4.0, abs=1e-10)


# -- friction --------------------------------------------------------------------------------------
def test_coasting_turn_needs_the_centripetal_acceleration():
    """m V^2 / R = mu m g: neither wheel's lateral force is determined, but their sum is,
    and so is the moment of slip."""
    vehicle = cart()
    for V, W in ((0.5, 0.8), (0.9, -1.1), (2.0, 1.5)):
        now = state(vehicle, V, W)
        mu = abs(V * W) / G
        found = validity(vehicle, 0.0, now.q, now.v, np.zeros(2))
        assert (found.use == (pytest.approx(mu, rel=1e-9), pytest.approx(mu, rel=1e-9))
                and found.verdict is Verdict.HOLDS)
        assert validity(vehicle, 0.0, now.q, now.v, np.zeros(2),
                        mu * (1 + 1e-7)).verdict is Verdict.HOLDS
        slips = validity(vehicle, 0.0, now.q, now.v, np.zeros(2), mu * (1 - 1e-7))
        assert slips.verdict is Verdict.FAILS and "needs mu" in slips.describe()
        assert min(slips[side].margin for side in ("left", "right")) < 0


def test_friction_limit_is_located():
    """Constant torques, so that V and W grow linearly: slip where both wheels are at their limits,
    sum of sqrt(mu^2 N^2 - F^2) = m V W."""
    vehicle, u, mu = cart(mu=0.5), (0.5, 0.7), 0.5
    a = forces(0, 0, *u)[3]
    W1 = B * (u[1] - u[0]) / R / (I_ZZ + 2 * M_W * B ** 2 + 2 * I_D + 2 * I_W * B ** 2 / R ** 2)

    def left_over(t):
        normals, along_, lateral, _ = forces(a * t, W1 * t, *u)
        return np.sqrt(np.maximum((mu * normals[:2]) ** 2 - along_ ** 2, 0)).sum() - lateral

    wanted = brentq(left_over, 0.5, 3.0, xtol=1e-13)
    simulator = nhmech.Simulator(vehicle, constant(*u), dt=5e-3, events=[friction_limit(vehicle)])
    simulator.reset()
    run = simulator.run(4.0)
    assert run.stop == "event: friction limit" and run.t[-1] == pytest.approx(wanted, abs=1e-8)
    report = run_validity(run, every=20)
    assert (report.until == run.t[-1]
            and f"stopped being valid at t = {run.t[-1]:.6g} s" in report.describe())
    assert report[-1].use[0] == pytest.approx(1.0, abs=1e-8)
    assert all(one.verdict is Verdict.HOLDS for one in report.states[:-1])


def test_verdicts_along_a_run_are_those_of_its_states(vehicle):
    """They are told without the kindest splits; here rolling holds, then depends on the split, then
    fails."""
    car = vehicle("ackermann_car")
    simulator = nhmech.Simulator(car, TwistDrive(car, lambda t, state: (2 * t, 0.0, 0.4 * t)),
                                 dt=5e-3, control_period=0.01, on_lift="ignore")
    found = run_validity(simulator.run(2.0, every=20), 0.45).states
    told = found.verdicts
    assert set(told) == set(Verdict) and told == [one.verdict for one in found]


def test_limit_passed_at_the_start():
    vehicle = cart(mu=0.5)
    # by speed; by the first command
    for given, torque in (((4.0, 2.0), 0.0), ((0.0, 0.0), 5.0)):
        for terminal in (True, False):
            simulator = nhmech.Simulator(vehicle, constant(torque, torque), dt=1e-3,
                                         events=[friction_limit(vehicle, terminal=terminal)],
                                         on_lift="ignore")
            simulator.reset(xi=dict(zip(("forward_speed", "yaw_rate"), given)))
            run = simulator.run(0.01)
            assert (run.events == ((0.0, "friction limit"),)
                    and run.stop == ("event: friction limit" if terminal else "duration"))
            assert "stopped being valid at t = 0 s" in run_validity(run).describe()


def test_disc_in_a_steady_circle_needs_the_centripetal_acceleration(vehicle):
    disc, lean, turn = vehicle("disc"), 0.3, 1.5
    simulator = nhmech.Simulator(disc)

    def at(spin):
        now = simulator.reset((0, 0, 0, 0, lean, 0),
                              xi={"roll_rate": 0.0, "spin_joint": spin,
                                  "yaw_rate": turn * np.cos(lean)})
        xi = np.array(list(now.xi.values()))
        return now, disc.equations.acceleration(0.0, now.q, xi, np.zeros(0),
                                                  disc.theta).full().ravel()

    spin = brentq(lambda s: at(s)[1][3], -60, 60, xtol=1e-13)
    now, _ = at(spin)
    found = validity(disc, 0.0, now.q, now.v, np.zeros(len(disc.driven)))
    mass = pin.computeTotalMass(disc.model)
    # of the centre, on its circle
    speed = np.linalg.norm(now.v[:3])
    assert found.wheels[0].normal == pytest.approx(mass * G, rel=1e-9)
    assert (found.wheels[0].needed == pytest.approx(turn * speed / G, rel=1e-9)
            and found.use[0] == pytest.approx(turn * speed / G, rel=1e-9))


def test_car_that_brakes_too_hard_fails(vehicle):
    car = vehicle("ackermann_car")
    now = state(car, 8.0, 0.0)
    wheels = [i for i, name in enumerate(car.driven) if "wheel" in name]
    u = np.zeros(len(car.driven))
    u[wheels] = -1e4
    found = validity(car, 0.0, now.q, now.v, u)
    assert found.verdict is Verdict.FAILS and found.use[0] > 1 and found.use[1] >= found.use[0]


# -- lift-off --------------------------------------------------------------------------------------
def test_caster_lifts_at_the_deceleration_of_tipping():
    """Tall cart, centre of mass behind the axle, braked: the caster bears nothing where
    M (R + H) a + 2 (m R + I / R) a = M g d."""
    d = 0.08
    vehicle = cart(mu=5.0, com=-d)
    a = M * G * d / (M * (R + H) + 2 * M_W * R + 2 * I_W / R)
    torque = -a * R * (M + 2 * M_W + 2 * I_W / R ** 2) / 2
    now = state(vehicle, 1.0, 0.0)
    for factor, lifted in ((1 - 1e-7, False), (1 + 1e-7, True)):
        u = np.full(2, torque * factor)
        found = validity(vehicle, 0.0, now.q, now.v, u)
        assert found.lifted is lifted and found.verdict is (
            Verdict.FAILS if lifted else Verdict.HOLDS
        )
        assert contact_load(vehicle, 0.0, now.q, now.v, u).least_normal == pytest.approx(
            M * G * d / X * (1 - factor), abs=1e-11)
    assert ("base lifts off" in found.describe() and not found["left"].undetermined
            and found.use == (np.inf, np.inf))

    def brake(t, _):
        return np.full(2, 1.01 * torque if t >= 0.2 - 1e-12 else 0.0)

    simulator = nhmech.Simulator(vehicle, brake, dt=1e-3, events=[lift_off(vehicle)],
                                 on_lift="ignore")
    simulator.reset(xi={"forward_speed": 1.0, "yaw_rate": 0.0})
    run = simulator.run(0.5)
    # the moment of the jump
    assert run.stop == "event: lift-off" and run.t[-1] == pytest.approx(0.2, abs=1e-8)


@pytest.mark.parametrize("events", [
    lambda cart: [lift_off(cart, terminal=False), friction_limit(cart, 0.3, terminal=False)],
    lambda cart: rolling_events(cart, 0.3, terminal=False)], ids=["each", "both"])
def test_turning_over_is_located(events):
    """Constant torques: the inner wheel's normal is K0 - K1 V W, V W quadratic in time."""
    vehicle, u = cart(), (0.5, 0.9)
    a = forces(0, 0, *u)[3]
    W1 = B * (u[1] - u[0]) / R / (I_ZZ + 2 * M_W * B ** 2 + 2 * I_D + 2 * I_W * B ** 2 / R ** 2)
    K0 = forces(0, 0, *u)[0][0]
    wanted = np.sqrt(K0 / ((K0 - forces(1, 1, *u)[0][0]) * a * W1))
    simulator = nhmech.Simulator(vehicle, constant(*u), dt=5e-3, events=events(vehicle),
                                 on_lift="warn")
    simulator.reset()
    run = simulator.run(wanted + 0.1)
    times = {name: t for t, name in run.events}
    assert run.stop == "duration" and times["friction limit"] < wanted
    assert times["lift-off"] == pytest.approx(wanted, abs=1e-8)
    assert times["lift-off: left"] == pytest.approx(wanted, abs=2e-8)
    report = run_validity(run, 0.3, every=20)
    assert report.until == times["friction limit"] and report.first(Verdict.FAILS).t > report.until


def test_doubt_comes_before_failure(vehicle):
    """Four driven wheels: from the first torque on, a split exists in which a wheel without load
    would slip."""
    robot_ = vehicle("skid_steer")
    doubt = friction_limit(robot_, terminal=False, doubt=True)
    simulator = nhmech.Simulator(robot_, lambda t,
                                 _: np.full(len(robot_.driven), 0.0 if t < 0.0495 else 1.0),
                                 dt=1e-2, events=[doubt])
    simulator.reset()
    run = simulator.run(0.08)
    assert [(round(t, 6), name) for t, name in run.events] == [(0.05, "friction limit")]
    assert validity(robot_, 0.0, run.q[0], run.v[0], run.u[0]).verdict is Verdict.HOLDS
    found = validity(robot_, run.t[-1], run.q[-1], run.v[-1], run.u[-1])
    assert found.verdict is Verdict.POSSIBLE and "not judged" in found.describe()


def test_use_does_not_depend_on_the_unit_of_friction(vehicle):
    """A driving car, states in which the barrier's matrix turns singular among them:
    use mu is one number, whatever mu."""
    car = vehicle("ackermann_car")
    drive = DemoDrive(car)
    simulator = nhmech.Simulator(car, drive, control_period=0.01)
    simulator.reset(**drive.start)
    run = simulator.run(1.8, every=20)
    for k in range(70, len(run)):
        uses = [mu * validity(car, run.t[k], run.q[k], run.v[k], run.u[k],
                              mu).use[0] for mu in (0.8, 0.5)]
        assert uses[0] == pytest.approx(uses[1], rel=1e-7)


def test_a_run_from_a_file_is_judged_with_its_vehicle(tmp_path):
    vehicle = cart(mu=0.3)
    simulator = nhmech.Simulator(vehicle, constant(0.5, 0.9), dt=5e-3,
                                 events=[friction_limit(vehicle, terminal=False)])
    simulator.reset()
    run = simulator.run(2.0)
    again = nhmech.Trajectory.load(run.save(tmp_path / "run.npz"))
    assert again.simulated.vehicle.name == vehicle.name
    assert (run_validity(again, every=50).describe() == run_validity(run, every=50).describe()
            and "stopped being valid" in run_validity(again, every=50).describe())


@pytest.mark.parametrize("words, code, says", [
    ([], 0, "friction ideal rolling was valid from t = 0 to 1 s; closest to slip at"),
    (["--mu", "0.05"], 0,
     "friction ideal rolling stopped being valid at t = 0.88 s (friction limit), "
                          "right_wheel_joint, needs mu = 0.05002 > 0.05"),
    (["--mu", "right_wheel_joint=0.05", "--on-slip", "stop"], 0, "stopped  event: friction limit"),
    (["--on-slip", "ignore"], 0, "stopped  duration"),
    (["--mu", "left=0.5"], 2, "mu: wheel 'left' does not exist; there are left_wheel_joint"),
    (["--mu", "-1"], 2, "positive")])
def test_friction_at_the_command_line(words, code, says):
    done = command_line("run", "carriage", "--duration", "1", *words)
    assert done.exit_code == code and " ".join(says.split()) in " ".join(done.output.split())
    assert code or ("friction " in done.output) == ("ignore" not in words)


@pytest.mark.parametrize("torque, mu, says",
                         [(0.0, 0.8, "was valid from"), (-60.0, 0.8, "was possible from")])
def test_both_lines_of_a_run_agree(vehicle, torque, mu, says):
    """Braked gently enough for some sharing of the load and not for all, a car is not said to have
    rolled validly."""
    car = vehicle("ackermann_car")
    u = np.array([torque if "wheel" in name else 0.0 for name in car.driven])
    simulator = nhmech.Simulator(car, lambda t, _: u, dt=1e-2)
    simulator.reset(xi={"forward_speed": 8.0, "yaw_rate": 0.0})
    found = run_validity(simulator.run(0.1), mu, every=5)
    lines, verdicts = found.describe().splitlines(), {state.verdict for state in found.states}
    assert (says in lines[0] and Verdict.FAILS not in verdicts
            and (Verdict.POSSIBLE in verdicts) is (torque != 0))
    assert len(lines) == 1 or (lines[1].startswith("whether it held between t = ")
                               and "valid" not in "".join(lines))


def test_no_friction_coefficient_at_the_command_line():
    done = command_line("run", "ball", "--on-slip", "stop")
    assert done.exit_code == 2 and "Give --mu 0.8" in done.output


# -- what it costs ---------------------------------------------------------------------------------
@pytest.mark.parametrize("period, looks", [(None, 101),
                                           pytest.param(0.1, 11, marks=needs_compiler)])
def test_far_from_slip_a_step_costs_one_look_at_the_forces(period, looks, vehicle, monkeypatch):
    """Both events share it, and as long as the least-norm split holds nothing is optimised. Where
    a command is held, there is one look at all its states."""
    car, counts = vehicle("ackermann_car"), {"forces": 0, "programmes": 0, "loads": 0}
    nhmech.Simulator(car, DemoDrive(car)).run(0.01)      # what it asks of a vehicle once

    def counted(name, function):
        def wrapper(*given, **more):
            counts[name] += 1
            return function(*given, **more)
        return wrapper

    for name in ("read", "room"):
        monkeypatch.setattr(ForceReader, name, counted("forces", getattr(ForceReader, name)))
    monkeypatch.setattr(friction, "minimise", counted("programmes", minimise))
    monkeypatch.setattr(rolling_limits, "load_from", counted("loads", rolling_limits.load_from))
    simulator = nhmech.Simulator(car, DemoDrive(car), dt=1e-2, control_period=period,
                                 events=rolling_events(car, 0.8))
    simulator.atlas.primary.loop(build=True)
    run = simulator.run(1.0)
    # after each step or each command, and at the start
    assert run.stop == "duration" and counts == {"forces": looks, "programmes": 0, "loads": 0}


@pytest.mark.parametrize("mass", [M, 0.1])
def test_what_holds_takes_no_second_look_however_light_it_is(mass, monkeypatch):
    """Of the second one the caster bears 0.2 N."""
    robot_ = cart(com=-0.05, mass=mass)
    simulator = nhmech.Simulator(robot_, lambda t, state: np.zeros(2), dt=1e-2,
                                 events=rolling_events(robot_, 0.8))
    monkeypatch.setattr(ForceReader, "read", lambda *_, **__: pytest.fail("a second look"))
    assert simulator.run(0.05).events == ()


@pytest.mark.parametrize("mu, torque, terminal", [
    (0.17, lambda t: 150.0, True), (0.2, lambda t: 400 * np.sin(9 * t), True),
    (0.2, lambda t: 400 * np.sin(9 * t), False), (None, lambda t: 1.0 if t < 0.25 else -0.1, True)])
def test_events_of_held_commands_are_those_of_single_steps(mu, torque, terminal, vehicle):
    """The same moments to the last bit: within a command, at a jump of it, more than once; and of a
    cart whose caster lifts (mu = None)."""
    drive = vehicle("ackermann_car") if mu else cart()
    wheels = [name for name in drive.driven if "steering" not in name]

    def push(t, state):
        return JointTorque(dict.fromkeys(wheels, torque(t)))

    found = []
    for along in (True, False):
        events = (lift_off(drive),) if mu is None else rolling_events(drive, mu, terminal=terminal)
        events = [event if along else replace(event, along=None) for event in events]
        simulator = nhmech.Simulator(drive, push, dt=1e-3, control_period=0.05, events=events)
        simulator.atlas.primary.loop(build=True)
        simulator.reset(joints={"front_left_steering_joint": 0.2} if mu else None,
                        xi={"forward_speed": 3.0 if mu else 1.5})
        found.append(simulator.run(0.6))
    first, second = found
    assert first.events and first.events == second.events and first.stop == second.stop
    np.testing.assert_array_equal(first.t, second.t)
    np.testing.assert_array_equal(first.q, second.q)


@pytest.mark.parametrize("seed", [13, 48, 61, 69, 83, 96, 117, 153])
def test_use_is_the_least_where_wheels_end_without_load(seed, monkeypatch):
    """The slack changes its sign there, to 1e-7, and few programmes are solved: the ratios of all
    wheels improve together, whatever their mu."""
    wheels, programmes = 2 + seed % 5, []
    load, mu = random_load(seed, wheels, 1 + seed % 7), {f"w{i}": 0.4 + 0.1 * i
                                                         for i in range(wheels)}
    minimise = cone_programme.minimise
    monkeypatch.setattr(friction, "minimise",
                        lambda *given, **k: programmes.append(1) or minimise(*given, **k))
    use, _ = least_use(load, mu)
    assert 0 < use < np.inf and len(programmes) <= 12
    below, above = (widest_split(load, {wheel: value * use * factor
                                        for wheel, value in mu.items()})[0]
                    for factor in (1 - 1e-7, 1 + 1e-7))
    assert below < 0 < above


@pytest.mark.parametrize("seed, wheels, more", [(0, 2, 1), (2, 4, 3), (4, 6, 7)])
def test_the_sign_of_the_slack_takes_fewer_steps(seed, wheels, more, monkeypatch):
    """On either side of the least mu; next to it as many as the whole programme."""
    load, steps = random_load(seed, wheels, more), []
    solved = cone_programme._solve
    monkeypatch.setattr(cone_programme, "_solve", lambda *given: steps.append(1) or solved(*given))
    mu = {f"w{i}": 0.4 + 0.1 * i for i in range(wheels)}
    use, _ = least_use(load, mu)
    for factor, positive in ((0.3, False), (0.9, False), (1 - 1e-7, False), (1 + 1e-7, True),
                             (1.1, True), (3.0, True)):
        scaled = {wheel: value * use * factor for wheel, value in mu.items()}
        steps.clear()
        whole = slack(load, scaled)
        count = len(steps)
        steps.clear()
        found, split = widest_split(load, scaled, sign=True)
        assert (found > 0) is (whole > 0) is positive, factor
        left = min(scaled[wheel] * split[i] - np.hypot(*split[i + 1:i + 3]) for i, (wheel, _)
                   in list(enumerate(load.names))[::3])
        assert left == pytest.approx(found, rel=1e-9, abs=1e-9 * load.size)
        assert len(steps) <= (count if abs(factor - 1) < 1e-6 else count / 2)


@pytest.mark.parametrize("mu", [0.05, 0.3, None])
def test_a_glance_tells_what_the_whole_judgement_does(mu, vehicle):
    """Verdicts and the hardest state of a run, which are not worked out for each state, against
    `validity` of each."""
    car = vehicle("ackermann_car")
    simulator = nhmech.Simulator(car, lambda t, state: 60 * np.sin(t + np.arange(3)), dt=1e-2,
                                 on_lift="ignore")
    simulator.reset(joints={"front_left_steering_joint": 0.2}, xi={"forward_speed": 1.0})
    run = simulator.run(3.0)
    found = run_validity(run, mu, every=20)
    each = [validity(car, run.t[k], run.q[k], run.v[k], run.u[k], mu) for k in range(0, 301, 20)]
    assert found.states.verdicts == [one.verdict for one in each]
    assert found.hardest.t == max(each, key=lambda one: one.use[0]).t
    assert [one.use for one in found.states] == [one.use for one in each]
    assert all(use <= rough + 1e-12 for load, one in zip(found.states.loads, each)
               for use, rough in zip(one.use, rough_use(load, coefficients_of(car, mu))))


def test_without_a_coefficient_the_loads_alone_tell_the_verdicts(monkeypatch):
    """On a car in a bend some split leaves a steered wheel without load, where no friction would
    do: that is not looked at."""
    text = nhmech.urdf_path("ackermann_car").read_text()
    car = nhmech.load(re.sub(r'<mu1>.*?</mu1>|<mu2>.*?</mu2>| mu="[^"]*"', "", text))
    simulator = nhmech.Simulator(car, dt=1e-2)
    simulator.reset(joints={"front_left_steering_joint": 0.2}, xi={"forward_speed": 3.0})
    states = run_validity(simulator.run(1.0), every=20).states
    loads = states.loads
    assert all(rough_use(load, coefficients(car, 1.0))[1] == np.inf for load in loads)
    monkeypatch.setattr(sys.modules[Validity.__module__], "least_use", None)
    assert states.verdicts == [Verdict.HOLDS] * len(loads)


def coefficients_of(car, mu) -> dict[str, float]:
    return coefficients(car, 1.0 if mu is None else mu)


def test_the_least_on_a_line_is_that_of_the_programme():
    """Parabolas that bottom and meet anywhere, some of them constant."""
    rng = np.random.default_rng(3)
    for n in (1, 2, 3, 5, 8) * 8:
        P, p = rng.normal(size=(n, 2, 1)), rng.normal(size=(n, 2))
        P[rng.random(n) < 0.2] = 0.0
        P[0] = 1.0
        z = friction._least_on_a_line(P[:, :, 0], p)
        cones = Cones(np.concatenate([P, np.zeros((n, 2, 1))], axis=2), p,
                      np.tile([0.0, 1.0], (n, 1)), np.zeros(n))
        start = np.array([0.0, np.hypot(p[:, 0], p[:, 1]).max() + 1.0])
        least = minimise(np.array([0.0, 1.0]), cones, start)[1]
        found = np.linalg.norm(P @ z + p, axis=1).max()
        assert found == pytest.approx(least, abs=1e-9) and found <= least + 1e-12


# -- words and errors ------------------------------------------------------------------------------
@pytest.mark.parametrize("kindest, says", [
    (0.3, "needs mu = 0.3 > 0.2"), (0.2 * (1 + 1e-7), "needs mu = 0.20000002 > 0.2"),
    (0.1, "needs mu = 0.1 <= 0.2"),
    (0.2 * (1 + 5e-9), "needs mu = 0.200000001 > 0.2"),
    (0.2 * (1 + 2e-9), "needs all of mu = 0.2"), (0.2 * (1 + 1e-13), "needs all of mu = 0.2")])
def test_a_reason_shows_which_number_is_larger(kindest, says):
    load = WheelLoad("wheel", 10.0, 0.0, 0.0, kindest, kindest, 0.2, {})
    assert Validity(0.0, (load,), Verdict.FAILS, (1.0, 1.0), False, (),
                    ()).reason() == f"wheel, {says}"


def test_words(vehicle):
    robot_ = vehicle("differential_drive")
    now = state(robot_, 0.6, 1.8)
    text = validity(robot_, 0.0, now.q, now.v, np.zeros(2), {LEFT: 0.05}).describe()
    assert (f"undetermined: {LEFT}/lateral" in text
            and f"determined: {LEFT}/lateral + {RIGHT}/lateral = 9.408 N" in text)
    assert coefficients(robot_, {LEFT: 0.05}) == {LEFT: 0.05, RIGHT: 0.7, CASTER: np.inf}


def test_errors(vehicle):
    robot_, ball = vehicle("differential_drive"), vehicle("ball")
    now = state(robot_, 0.6, 1.8)
    with pytest.raises(InputError,
                       match="mu: wheel 'left' does not exist; there are left_wheel_joint"):
        validity(robot_, 0.0, now.q, now.v, np.zeros(2), {"left": 0.5})
    with pytest.raises(InputError,
                       match="is -0.1; a friction coefficient is a positive number"):
        validity(robot_, 0.0, now.q, now.v, np.zeros(2), -0.1)
    with pytest.raises(InputError,
                       match="no wheel of 'ball' has a friction coefficient. Give mu="):
        friction_limit(ball)
    simulator = nhmech.Simulator(robot_, wrench={"base_link": np.zeros(6)},
                                 events=[lift_off(robot_)])
    simulator.reset()
    with pytest.raises(SimulationError, match="event 'lift-off' at t = 0 s: the state has 8 "
                                              "inputs.*with_wrench") as caught:
        simulator.run(0.01)
    assert len(caught.value.trajectory) == 1
    kinematic = nhmech.Simulator(robot_, constant(0.0, 0.0), mode="kinematic")
    kinematic.reset()
    with pytest.raises(InputError, match="kinematic"):
        run_validity(kinematic.run(0.01))


def test_the_least_of_the_largest_distance_on_a_line():
    """max |P_i z + p_i| over i, a convex function of z, against a search; one moving point among
    ones that stand, and points that move alike."""
    rng = np.random.default_rng(4)
    cases = [(rng.normal(size=(n, 2)), rng.normal(size=(n, 2))) for n in (1, 2, 2, 3, 3, 6, 6)]
    cases += [(np.array([[1.0, 0], [0, 0]]), np.array([[0.0, 0.1], [3, 0]])),
              (np.array([[1.0, 2], [1, 2]]), np.array([[0.0, 1], [2, 0]]))]
    for P, p in cases:
        def largest(z, P=P, p=p):
            return np.linalg.norm(P * z + p, axis=1).max()

        found = largest(friction._least_on_a_line(P, p)[0])
        best = minimize_scalar(largest, bounds=(-100, 100), method="bounded",
                               options={"xatol": 1e-12}).fun
        assert found <= best + 1e-9 and found >= best - 1e-6
