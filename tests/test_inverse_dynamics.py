"""Commands made into efforts and speeds at one moment, without a run: what is refused, what wheels
that slide have to say, what moves by itself."""

from __future__ import annotations

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from support import shipped

from nhmech import JointPosition, JointTorque, JointVelocity, SimulationError, Simulator
from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.simulation.command import BadCommand, commanded_twist
from nhmech.simulation.inverse_dynamics import InverseDynamics
from nhmech.simulation.simulated import Simulated
from nhmech.systems import ball_on_turntable
from nhmech.urdf.description import JointLimits

LEFT, RIGHT = "left_wheel_joint", "right_wheel_joint"


def still(**options):
    """A carriage at rest, the inverse dynamics of its chart, and what these are given."""
    simulator = Simulator(shipped("carriage"), **options)
    simulator.reset()
    return (simulator.atlas.chart.inverse_dynamics, simulator.moment,
            shipped("carriage").theta)


@pytest.mark.parametrize("mode", ["dynamic", "kinematic"])
@pytest.mark.parametrize("command, numbers", [
    (np.array([0.3, -0.2]), [0.3, -0.2]), (np.array([3, -2]), [3, -2]), ([3, -2.0], [3, -2]),
    (np.array([0.3, np.nan]), "not finite"), (np.array([np.inf, 0.3]), "not finite"),
    (np.array([0.3, -0.2, 0.1]), r"returned shape \(3,\)"),
    (np.array([0.3 + 1j, -0.2]), "returned complex128")], ids=str)
def test_numbers_alone_are_efforts_or_speeds(mode, command, numbers):
    """Whole ones too, and those of a list; what are none, or not as many, are refused."""
    dynamics, moment, theta = still(mode=mode)
    for _ in range(2):
        act = (lambda: dynamics.efforts(command, moment, theta)) if mode == "dynamic" else (
            lambda: dynamics.move(command, moment, theta))
        if isinstance(numbers, str):
            before = moment.block.copy()
            with pytest.raises(BadCommand, match=numbers):
                act()
            np.testing.assert_array_equal(moment.block, before)
        else:
            found = act() if mode == "dynamic" else (act(), moment.x[-2:])[1]
            assert found.tolist() == numbers


@pytest.mark.parametrize("command, words", [
    (JointTorque({LEFT: 1.0}), "efforts mean nothing in kinematic mode; command velocities or pos"),
    (JointVelocity({"lift": 1.0}), f"unknown joint 'lift'; there are .*{LEFT}"),
    (JointPosition({"yaw_rate": 1.0}), f"unknown joint 'yaw_rate'; there are {LEFT}")], ids=str)
def test_what_cannot_be_commanded_in_a_kinematic_run_is_refused(command, words):
    dynamics, moment, theta = still(mode="kinematic")
    with pytest.raises(BadCommand, match=words):
        dynamics.move(command, moment, theta)


def test_a_kinematic_moment_keeps_what_no_command_sets():
    """Its time, its inputs and its twist, whatever has been written there in between."""
    dynamics, moment, theta = still(mode="kinematic")
    moment.clock[:], moment.u[:] = (0.5, 7.0, 0.25), 3.0
    for rates in ((1.0, 2.0), (-3.0, 0.5)):
        dynamics.move(JointVelocity(dict(zip((LEFT, RIGHT), rates))), moment, theta)
        moment.clock[0] += 0.125
        names = shipped("carriage").algebroid.v_names
        np.testing.assert_allclose(moment.v[[names.index(LEFT), names.index(RIGHT)]], rates,
                                   rtol=1e-14)
    assert moment.clock.tolist() == [0.75, 7.0, 0.25] and (moment.u == 3.0).all()


@pytest.mark.parametrize("command, speeds", [
    ({"y'": 2.0}, (1 / 3, 2.0)), ({"y'": -0.5}, (-0.5, -0.5)), ({"x'": 2.0}, (2.0, 7.0)),
    ({"x'": -1 / 3}, (-1 / 3, 0.0))], ids=str)
def test_speeds_are_commanded_beside_what_moves_by_itself(command, speeds):
    """y' = 3 x' + 1 of a point on a belt."""
    belt = constrain(lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 + s.v.y ** 2),
                     rows={"belt": lambda s: s.v.y - 3 * s.v.x - 1})
    simulator = Simulator(belt, mode="kinematic")
    simulator.reset(q=[0.0, 0.0])
    simulator.atlas.chart.inverse_dynamics.move(JointVelocity(command), simulator.moment,
                                                np.zeros(0))
    np.testing.assert_allclose(simulator.moment.v, speeds, rtol=1e-13, atol=1e-15)


def test_efforts_are_those_of_wheels_that_slide_where_they_have_some():
    """They are given the efforts that are commanded, and the accelerations that are wanted; the
    limits hold for their answer as well."""
    dynamics, moment, theta = still()
    command, asked = [JointVelocity({RIGHT: 2.0}), JointTorque({LEFT: 0.3})], []

    def sliding(answer):
        return lambda *of: (asked.append(of), answer)[1]

    rolling = dynamics.efforts(command, moment, theta).copy()
    assert dynamics.efforts(command, moment, theta, sliding(None)).tolist() == rolling.tolist()
    assert dynamics.efforts(command, moment, theta, sliding(np.array([0.7]))).tolist() == [0.3, 0.7]
    assert dynamics.efforts(command, moment, theta).tolist() == rolling.tolist()
    names = shipped("carriage").algebroid.v_names
    assert asked == [([0.3, 0.0], (names.index(RIGHT),), (1,), [2.0 / 0.05])] * 2
    assert rolling[0] == 0.3 and abs(rolling[1] - 0.7) > 0.1
    asked.clear()      # nobody is asked where efforts alone are commanded
    torques = dynamics.efforts(command[1], moment, theta, sliding(np.array([0.7])))
    assert torques.tolist() == [0.3, 0.0] and not asked
    assert dynamics.efforts(None, moment, theta, sliding(np.array([0.7]))).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("limit, share", [(20.0, 1 / 6), (119.0, 119 / 120), (121.0, 1.0),
                                          (None, 1.0)])
def test_a_limit_of_acceleration_scales_all_joints_of_its_command(limit, share):
    """By one factor, by the largest of them; rates from rest are reached with 0.05 s."""
    dynamics, moment, theta = still()
    told = []
    for right, beside in ((-3.0, []), (None, [JointVelocity({RIGHT: 9.0})])):
        rates = {LEFT: 6.0} if right is None else {LEFT: 6.0, RIGHT: right}
        dynamics.efforts([JointVelocity(rates, limit), *beside], moment, theta,
                         lambda u, rows, columns, wanted: told.append(wanted))
    np.testing.assert_allclose(told, [[120 * share, -60 * share], [120 * share, 180.0]],
                               rtol=1e-14)
    assert JointVelocity({}, limit).hold_back([-120.0, 60.0]) == pytest.approx(
        share, rel=1e-15, abs=0)
    for few in ([], [0.0], [limit or 1.0], [-(limit or 1.0), 0.0]):
        assert JointVelocity({}, limit).hold_back(few) == 1.0


@pytest.mark.parametrize("pull, found", [(0.3, 0.3), (-0.3, -0.3), (99.0, 2.0), (-99.0, -2.0)])
def test_efforts_are_cut_at_the_limits_of_their_joints(pull, found):
    """Of one joint with a limit beside one without."""
    vehicle = shipped("carriage")
    limits = {RIGHT: JointLimits(-np.inf, np.inf, np.inf, 2.0)}
    dynamics = InverseDynamics(vehicle.equations, limits, 2)
    moment = still()[1]
    u = dynamics.efforts(JointTorque({RIGHT: pull, LEFT: pull}), moment, vehicle.theta)
    assert u.tolist() == [pull, found]
    u = dynamics.efforts(JointVelocity({RIGHT: pull * 1e3}), moment, vehicle.theta)
    assert u[0] == 0.0 and u[1] == 2.0 * np.sign(pull)


@pytest.mark.parametrize("twist, is_one", [
    ((1, 2, 3), True), ([0.5, np.nan, 0.1], False), ([np.nan] * 3, True), ([1.0, 2.0], False),
    ([np.inf, 0, 0], False), ([[1.0, 2.0, 3.0]], False), ("on", False), (None, None)], ids=str)
def test_a_twist_is_three_numbers_or_none_of_them(twist, is_one):
    controller = SimpleNamespace(commanded_twist=twist)
    if is_one is False:
        with pytest.raises(SimulationError, match=r"commanded_twist is .*; expected forward \[m/s"):
            commanded_twist(controller)
    elif is_one:
        np.testing.assert_array_equal(commanded_twist(controller), twist)
    else:
        assert commanded_twist(controller) is commanded_twist(object()) is None


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_what_wanted_speeds_leave_free_is_relative_to_their_size(size):
    """Two that are wanted go together up to rounding: in the directions that they leave, the slip
    is least."""
    simulated = Simulated.of(ball_on_turntable.example())
    q, theta = simulated.constrained.configurations[0], simulated.theta
    rng, made = np.random.default_rng(3), InverseDynamics(simulated.equations, {}, 0)
    E, e0 = size * rng.normal(size=(5, 3)), rng.normal(size=5)
    E[1] = E[0] / 3 * 0.7
    S, offset = rng.normal(size=(4, 5)) / size, rng.normal(size=4)
    vars(made)["_frame"] = lambda t, q, theta: (ca.DM(E), ca.DM(e0))
    slip = ca.Function("slip", [ca.SX.sym("t"), ca.SX.sym("q", len(q)),
                                ca.SX.sym("theta", len(theta))], [ca.SX(S), ca.SX(offset)])
    wanted = e0[:2] + 0.4 * np.array([1.0, 0.7 / 3])
    xi, error = made.fit_speeds(0.3, q, theta, [0, 1], wanted, slip)
    assert error < 1e-9
    np.testing.assert_allclose((E @ xi + e0)[:2], wanted, rtol=0, atol=1e-9)
    free = np.linalg.svd(E[:1])[2][1:].T
    left = (S @ E @ free).T @ (S @ (E @ xi + e0) + offset)
    np.testing.assert_allclose(left, 0, atol=1e-9 * np.abs(S).max())
