"""What analysis refuses, and what it says then."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import InputError, MechanicsError, SimulationError
from nhmech.analysis.contact_load import ContactLoad, contact_load
from nhmech.analysis.demand import Demand, steady_turn
from nhmech.analysis.equilibria import SteadyMotions
from nhmech.analysis.linearise import linearise
from nhmech.analysis.motions import kernel, motions
from nhmech.analysis.rolling_limits import friction_limit, lift_off, run_validity
from nhmech.analysis.sensitivity import eigenvalue_sensitivities
from nhmech.analysis.stability import speed_sweep
from nhmech.analysis.summary import mobility_summary
from nhmech.analysis.validity import JudgedStates, _wheels, judge_load, why_not
from nhmech.control.twist import TwistDrive
from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.mechanics.distribution import Component
from nhmech.systems import load_system

DIFF = "differential_drive"


@pytest.mark.parametrize("find", [linearise, lambda vehicle, q, xi: motions(vehicle, q=q)],
                         ids=["linearise", "motions"])
def test_a_place_off_the_ground_by_more_than_a_micrometre_is_refused(find):
    vehicle = shipped(DIFF)
    for height, lies in ((0.99e-6, True), (-0.99e-6, True), (1.01e-6, False), (-1.01e-6, False)):
        q = vehicle.configuration()
        q[2] += height
        if lies:
            find(vehicle, q, np.zeros(2))
        else:
            with pytest.raises(MechanicsError, match=r"not on the holonomic manifold: \|phi\| = "
                                                     "1.01e-06"):
                find(vehicle, q, np.zeros(2))


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_a_holonomic_function_decides_no_place(unit):
    """A millionth is that of a coordinate."""
    hung = constrain(lagrangian_system(euclidean("x", "z"), lambda s: (
        s.v.x ** 2 + s.v.z ** 2) / 2 - 9.81 * s.q.z), holonomic={
            "rod": lambda s: unit * (s.q.x ** 2 + s.q.z ** 2 - 1) / 2})
    for off, lies in ((0.9e-6, True), (1.1e-6, False)):
        for find in (linearise, lambda system, q, xi: motions(system, q=q)):
            if lies:
                find(hung, [0.6, -0.8 - off], [0.0])
            else:
                with pytest.raises(MechanicsError, match="not on the holonomic manifold"):
                    find(hung, [0.6, -0.8 - off], [0.0])


def test_only_vehicles_run_straight():
    sled = load_system("sled").constrained
    for ask in (lambda: SteadyMotions(sled).straight(1.0), lambda: SteadyMotions(sled).standing(),
                lambda: speed_sweep(sled, [1.0])):
        with pytest.raises(InputError, match="only a vehicle can stand or run straight; give "
                                             "`find` a guess"):
            ask()


def test_sensitivities_are_those_by_symbols():
    found = SteadyMotions(shipped("disc"))
    with pytest.raises(MechanicsError, match="no parameter is symbolic: name some in"):
        eigenvalue_sensitivities(found, found.straight(1.0))


def test_a_state_space_without_its_package(monkeypatch):
    linear = linearise(shipped(DIFF), shipped(DIFF).configuration(), np.zeros(2))
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(MechanicsError, match="needs the package control: pip install control"):
        linear.state_space()


def test_runs_without_wheels_or_forces_are_not_judged():
    simulator = nhmech.Simulator(load_system("sled").constrained, dt=0.01)
    simulator.reset(q=np.zeros(3))
    with pytest.raises(InputError, match="only the run of a vehicle has wheels to judge"):
        run_validity(simulator.run(0.02))
    vehicle = shipped(DIFF)
    drive = TwistDrive(vehicle, lambda t, state: (0.1, 0.0, 0.0))
    kinematic = nhmech.Simulator(vehicle, drive, dt=0.01, mode="kinematic").run(0.02)
    with pytest.raises(InputError, match="a kinematic run has no forces: its speeds"):
        run_validity(kinematic, 0.5)
    run = nhmech.Simulator(vehicle, dt=0.01).run(0.05)
    judged = run_validity(run, 0.5, every=2)
    assert judged.states.t == pytest.approx([0.0, 0.02, 0.04, 0.05]) and judged.states.rolls
    on_tyres = nhmech.load(nhmech.urdf_path(DIFF), tyres="robot_rubber")
    assert not JudgedStates(on_tyres, [], {}).rolls      # its wheels are held up and not along
    assert len(run_validity(run, 0.5)) == len(run) == 6
    assert repr(judged.states) == "<Judged 4 states>"
    assert [one.t for one in judged.states[1:3]] == judged.states.t[1:3]
    assert judged.states[-1] is judged.states[3]
    with pytest.raises(IndexError):
        judged.states[4]
    for every in (0, -1, 1.5):
        with pytest.raises(InputError, match="every"):
            run_validity(run, 0.5, every=every)


def test_events_of_another_vehicle_are_refused():
    event, other = friction_limit(shipped(DIFF), 0.5), shipped("ackermann_car")
    simulator = nhmech.Simulator(other, dt=0.01, events=[event])
    with pytest.raises(SimulationError, match="the state has 3 inputs, 'differential_drive' has 2: "
                                         "create the event with the vehicle that runs"):
        simulator.run(0.02)


@pytest.mark.parametrize("name", ["q", "xi", "u"])
def test_a_point_has_a_finite_number_for_each_coordinate(name):
    vehicle = shipped(DIFF)
    right = {"q": vehicle.configuration(), "xi": np.zeros(2), "u": np.zeros(2)}
    size = len(right[name])
    says = rf"{name} has shape \({size + 1},\), expected \({size},\)"
    with pytest.raises(InputError, match=says):
        linearise(vehicle, **right | {name: np.zeros(size + 1)})
    with pytest.raises(InputError, match=f"{name} = .*nan.* must be finite"):
        linearise(vehicle, **right | {name: np.r_[np.zeros(size - 1), np.nan]})


# -- steady turns ----------------------------------------------------------------------------------
def tractor(limit: float = np.pi):
    """Two driven wheels at the base's origin, and behind them, on a hitch, an axle on a drawbar of
    one metre."""
    bound = f'<limit lower="{-limit}" upper="{limit}" effort="1" velocity="1"/>'
    text = robot(
        link("base", 5.0), link("left"), link("right"), link("bar", 2.0), link("one"), link("two"),
        joint("l", "base", "left", (0, 0.3, 0)), joint("r", "base", "right", (0, -0.3, 0)),
        joint("hitch", "base", "bar", (-0.5, 0, 0), axis=(0, 0, 1), more=bound if limit < 3 else "",
              kind="revolute" if limit < 3 else "continuous"),
        *(joint(side, "bar", child, (-1.0, y, 0)) for side, child, y in (
            ("a", "one", 0.3), ("b", "two", -0.3))))
    return nhmech.load(text, wheels=[
        *(nhmech.Wheel(name, "disc", 0.1, driven=True) for name in "lr"),
        *(nhmech.Wheel(name, "disc", 0.1, driven=False) for name in "ab")])


def test_a_circle_that_a_trailer_cannot_follow_is_refused():
    """About a point nearer to the hitch than its drawbar is long nothing settles."""
    vehicle = tractor()
    nearest = np.sqrt(1.0 ** 2 - 0.5 ** 2)        # of the middle of the axle to the centre
    hitch = vehicle.joint_positions(steady_turn(vehicle, 0.999 / nearest).q)["hitch"]
    assert abs(hitch) < np.pi
    with pytest.raises(MechanicsError, match="hitch does not settle: the circle is too tight for "
                                             "the trailing bodies"):
        steady_turn(vehicle, 1.001 / nearest)


def test_a_trailer_comes_to_rest_behind_its_hitch_as_far_as_that_turns():
    """Its axle and the tractor's meet in the centre: triangles with right angles there."""
    free, held = tractor(), tractor(0.5)
    for radius, reaches in ((1.5, False), (-1.5, False), (4.0, True), (-4.0, True)):
        angle = -np.sign(radius) * (np.arctan2(0.5, abs(radius))
                                    + np.arctan2(1.0, np.sqrt(radius ** 2 + 0.5 ** 2 - 1)))
        found = free.joint_positions(steady_turn(free, 1 / radius).q)["hitch"]
        assert found == pytest.approx(angle, rel=1e-9) and (abs(angle) < 0.5) == reaches
        if reaches:
            assert held.joint_positions(steady_turn(held, 1 / radius).q)["hitch"] == (
                pytest.approx(angle, rel=1e-9))
            continue
        with pytest.raises(MechanicsError, match=f"hitch would have to be at {angle:.3f} rad, its "
                                                 f"limit is {np.copysign(0.5, angle):.3f} rad"):
            steady_turn(held, 1 / radius)


def test_a_fixed_axle_that_points_forward_lets_the_base_go_nowhere():
    sideways = robot(
        link("base", 6.0, com=(0.0, 0.1, 0.1)), link("a"), link("b"), link("ball", 0.1),
        joint("ja", "base", "a", (0.2, 0, 0.1), axis=(1, 0, 0)),
        joint("jb", "base", "b", (-0.2, 0, 0.1), axis=(1, 0, 0)),
        joint("fixed", "base", "ball", (0, 0.3, 0.05), kind="fixed"))
    vehicle = nhmech.load(sideways, wheels=[
        *(nhmech.Wheel(name, "disc", 0.1) for name in ("ja", "jb")),
        nhmech.Wheel(None, "caster_ball", 0.05, link="ball", point=(0, 0, 0))])
    for curvature in (0.0, 0.3):
        with pytest.raises(MechanicsError, match="its fixed axle points forward"):
            steady_turn(vehicle, curvature)


def test_a_steering_angle_beyond_its_limit_names_the_nearer_one():
    for curvature, angle, limit in ((1 / 3, "0.844", "0.750"), (-1 / 3, "-0.614", "-0.557")):
        with pytest.raises(MechanicsError, match="front_left_steering_joint would have to be at "
                                                 f"{angle} rad, its limit is {limit} rad"):
            steady_turn(shipped("ackermann_car"), curvature)


def test_joints_that_do_not_fit_the_circle_are_said():
    vehicle = shipped("ackermann_car")
    straight = Demand(vehicle, vehicle.configuration(), 0.3, np.array([1.0, 0.0, 0.3]))
    with pytest.raises(MechanicsError, match="no position of its joints was found at which its "
                                             "axles allow this motion"):
        straight.load(speed=1.0)


@pytest.mark.parametrize("part, holds", [(0.99, True), (1.01, False)])
def test_a_motion_satisfies_the_constraints_to_eight_digits_of_its_fastest_part(part, holds):
    """A differential drive that would also slide sideways; its wheels turn ten times as fast as it
    goes."""
    vehicle = shipped(DIFF)
    sliding = Demand(vehicle, vehicle.configuration(), 0.0, np.array([1.0, part * 1e-7, 0.0]))
    if holds:
        assert np.abs(sliding.velocity).max() == pytest.approx(10.0, rel=1e-12)
        return
    with pytest.raises(MechanicsError, match="no position of its joints was found"):
        sliding.load()


def leaning(angle: float) -> Demand:
    vehicle = shipped("pendulum")
    return Demand(vehicle, vehicle.configuration(pose=(0, 0, 0, 0, angle, 0)), 0.0,
                  np.array([1.0, 0.0, 0.0]))


@pytest.mark.parametrize("angle", [0.1, -0.1, 1e-5])
def test_a_pose_that_no_drive_holds_names_what_would_move(angle):
    """A two-wheeled pendulum that leans falls over: no wheel holds it upright and still. Its
    wheels, which turn fastest, run away from under it."""
    found = leaning(angle)
    with pytest.raises(MechanicsError, match=r"no driven joint holds it in this pose: (left|right)_"
                                             r"wheel_joint would change by -?[\d.e-]+ in a "
                                             "second") as caught:
        found.load()
    change = float(str(caught.value).split(" change by ")[1].split()[0])
    moves = shipped("pendulum").equations.acceleration(
        0.0, found.q, np.zeros(3), np.zeros(2), shipped("pendulum").theta).full().ravel()
    wheel = shipped("pendulum").algebroid.v_names.index("left_wheel_joint")
    assert change == pytest.approx(moves[wheel], rel=1e-2) and np.sign(change) == -np.sign(angle)


def test_a_lean_by_rounding_is_held():
    _, efforts = leaning(1e-8).load()
    np.testing.assert_allclose(efforts, 0.0, atol=1e-6)


def test_what_a_skid_steered_robot_would_be_locked_by_is_said():
    assert mobility_summary(shipped("skid_steer"))["why_locked"].startswith("none, straight only")
    assert mobility_summary(shipped(DIFF))["why_locked"] is None


@pytest.mark.parametrize("event", [
    lambda vehicle: friction_limit(vehicle, 0.5),
    lambda vehicle: friction_limit(vehicle, 0.5, doubt=True)], ids=["slip", "doubt"])
def test_what_is_so_at_the_start_ends_a_run_there(event):
    """A robot whose wheels are driven, or brake, far too hard."""
    vehicle = shipped(DIFF)
    simulator = nhmech.Simulator(vehicle, lambda t, state: np.full(2, -40.0), dt=1e-3,
                                 events=[event(vehicle)], on_lift="ignore")
    simulator.reset(xi=[30.0, 30.0])
    run = simulator.run(0.01)
    assert run.stop.startswith("event: ") and run.t[-1] == 0.0


@pytest.mark.parametrize("torque, stop", [(6.0, "event: lift-off"), (-6.0, "duration")])
def test_a_wheel_that_lifts_at_the_start_ends_a_run_there(torque, stop):
    """The caster, which is ahead of them, where the robot drives ahead as hard as it can."""
    vehicle = shipped(DIFF)
    load = contact_load(vehicle, 0.0, vehicle.configuration(), np.zeros(8), np.full(2, torque))
    assert load.supported == (stop == "duration")
    run = nhmech.Simulator(vehicle, lambda t, state: np.full(2, torque), dt=1e-3,
                           events=[lift_off(vehicle)], on_lift="ignore").run(0.01)
    assert run.stop == stop and (run.t[-1] == 0.0) == (stop != "duration")


@pytest.mark.parametrize("angle", [0.3, -1.1])
def test_the_force_of_a_roller_is_told_along_and_across_its_wheel(angle):
    """A roller's axis is turned from its wheel's axle by the angle."""
    names = (Component("a", "normal"), Component("a", "roller"))
    load = ContactLoad(names, None, 0.0, np.zeros(0), np.array([10.0, 3.0]), np.zeros((2, 0)), True)
    contact = SimpleNamespace(name="a", mount=SimpleNamespace(wheel=SimpleNamespace(
        roller_angle=angle)))
    wheel, = _wheels(SimpleNamespace(contacts=[contact]), load, load.split, {"a": 0.5})
    assert (wheel.normal, wheel.longitudinal, wheel.lateral) == pytest.approx(
        (10, 3 * np.sin(angle), 3 * np.cos(angle)), rel=1e-14)
    assert wheel.needed == wheel.kindest == pytest.approx(0.3, rel=1e-14)


@pytest.mark.parametrize("torque, says", [(-3.0, "needs mu = "), (30.0, "caster_link lifts off")])
def test_why_rolling_fails_is_told_by_the_kindest_split(torque, says):
    vehicle = shipped(DIFF)
    load = contact_load(vehicle, 0.0, vehicle.configuration(), np.zeros(8), np.full(2, torque))
    mu = dict.fromkeys(vehicle.contact_names, 0.5)
    reason = why_not(vehicle, load, mu)
    assert reason == judge_load(vehicle, load, 0.0, mu).reason() and says in reason


def test_forms_of_axles_that_coincide_have_no_kernel():
    with pytest.raises(MechanicsError, match="the allowed motions are not finite here because the "
                                             "constraints lose rank"):
        kernel(np.array([[1.0, np.nan]]))
    assert kernel(np.zeros((0, 3))).tolist() == np.eye(3).tolist()
    for size, left in ((2.1e-9, 1), (1.9e-9, 2)):
        assert kernel(np.array([[2.0, 0, 0], [0, size, 0]])).shape == (3, left)
