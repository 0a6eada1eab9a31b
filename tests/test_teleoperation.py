"""A vehicle that follows twists by somebody else's clock: time, commands and what is said of
them."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech.control import teleoperation
from nhmech.control.demo import DemoDrive, easy_speed
from nhmech.control.speed_limits import SpeedLimits
from nhmech.control.teleoperation import OWN, Teleoperation
from nhmech.control.twist_limits import TwistLimits

DT, PERIOD = 1e-3, 0.01
SLOPE = nhmech.Ground(normal=(-0.4, 0.3, 1.0))


def made(vehicle, **words) -> tuple[Teleoperation, list[tuple[str, str]]]:
    said: list[tuple[str, str]] = []
    return Teleoperation(vehicle, say=lambda what, line: said.append((what, line)), **words), said


@pytest.fixture(scope="module")
def one():
    return made(shipped("differential_drive"), timeout=0.3)


@pytest.fixture
def driven(one):
    """At rest where it began."""
    drive, said = one
    drive.restart()
    drive.steps, drive.is_paused = 0, False
    drive._late, drive.speed_factor, drive.limits = 0.25, 1.0, teleoperation.NO_LIMITS
    drive._on_twist = None
    said.clear()
    return drive, said


def test_equations_of_the_whole_range_are_formed_before_the_clock_starts():
    """Those of a steered wheel across the vehicle too, which a run from straight ahead forms only
    once it needs them."""
    atlas = made(shipped("tricycle"))[0].simulator.atlas
    charts = list(atlas.charts)
    atlas.cover_range()
    assert atlas.charts == charts and len(charts) == 2


def test_it_is_tried_at_rest_and_on_its_way_before_the_clock_starts(monkeypatch):
    """What either needs is built by then, however soon a twist ends."""
    asked, follow = [], Teleoperation._follow
    monkeypatch.setattr(Teleoperation, "_follow", lambda self, t, state: (
        asked.append(follow(self, t, state)) or asked[-1]))
    vehicle = shipped("differential_drive")
    drive, said = made(vehicle, timeout=1e-9)
    assert asked == [(0.0, 0.0, 0.0), (easy_speed(vehicle), 0.0, 0.0)]
    assert (drive.simulator.t, drive.steps, said) == (0.0, 0, [])


# -- time ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dt, every", [(1e-3, 10), (3e-3, 3), (4e-3, 2), (0.015, 1), (0.05, 1)])
def test_the_controller_is_asked_once_in_ten_milliseconds_of_whole_steps(dt, every):
    drive, _ = made(shipped("carriage"), dt=dt)
    assert (drive.simulator.dt, drive.simulator.inputs.every) == (dt, every)


@pytest.mark.parametrize("passed, factor, steps", [
    (0.0034, 1.0, 3), (0.0036, 1.0, 4), (0.0017, 2.0, 3), (0.1, 0.5, 50), (0.0004, 1.0, 0),
    (0.003502, 1.0, 4)])
def test_time_goes_on_in_whole_steps_and_what_is_left_stays(driven, passed, factor, steps):
    """The nearest number of them: half a step is the most that it is behind, or ahead."""
    drive, said = driven
    drive.speed_factor = factor
    state = drive.advance(passed)
    assert drive.steps == steps and state.t == pytest.approx(steps * DT, abs=1e-12)
    assert drive.behind == pytest.approx(passed * factor - steps * DT, abs=1e-12)
    drive.advance(passed)
    assert drive.steps == round(2 * passed * factor / DT) and not said


@pytest.mark.parametrize("late, passed", [(0.25, 0.3), (0.1, 0.1004)])
def test_time_that_was_missed_is_left_out_and_told(driven, late, passed):
    drive, said = driven
    drive._late = late
    assert drive.leave_out(late) == late and not said
    assert drive.leave_out(passed) == late
    assert said == [("late", f"the computer was late, by {passed:.3g} s: simulated time skips "
                             f"{passed - late:.3g} s")]


def test_nobody_says_how_late_it_may_be():
    drive, said = made(shipped("carriage"))
    assert drive.leave_out(0.25) == 0.25 and not said and drive.leave_out(0.26) == 0.25 and said
    assert drive.timeout == 0.5 and drive.simulator.dt == DT and drive.speed_factor == 1.0


def test_what_is_paused_stands_still(driven):
    drive, _ = driven
    drive.take(0.5, 0.0, 0.0)
    drive.is_paused = True
    assert drive.advance(0.1).t == 0.0 and (drive.steps, drive.behind) == (0, 0.0)
    drive.is_paused = False
    assert drive.advance(0.1).t == pytest.approx(0.1, abs=1e-12)


def test_a_failure_stands_still_until_the_restart(driven, monkeypatch):
    drive, said = driven
    with monkeypatch.context() as patch:
        patch.setattr(drive.simulator, "step", lambda: (_ for _ in ()).throw(
            nhmech.SimulationError("it broke")))
        drive.advance(0.1)
    assert (drive.failure, drive.behind, drive.steps) == ("it broke", 0.0, 0)
    assert said == [("failure", "the simulation has stopped; reset it to go on: it broke")]
    assert drive.advance(0.1).t == 0.0 and len(said) == 1
    drive.restart()
    assert not drive.failure and drive.advance(0.1).t == pytest.approx(0.1, abs=1e-12)


# -- commands --------------------------------------------------------------------------------------
@pytest.mark.parametrize("lateral, refused", [(0.0, False), (0.9e-9, False), (-0.9e-9, False),
                                              (1.1e-9, True), (-0.2, True)])
def test_a_lateral_speed_is_left_out_where_there_is_none(driven, lateral, refused):
    drive, said = driven
    assert drive.take(0.3, lateral, 0.2)
    line = (f"lateral speed {lateral:g} m/s is refused: differential_drive cannot move sideways"
            if refused else "")
    assert drive.refused == line and said == ([("lateral", line)] if refused else [])
    drive.advance(PERIOD)
    assert drive.twist == (0.3, 0.0 if refused else lateral, 0.2)
    assert drive.take(0.3, 0.0, 0.0) and drive.refused == ""


@pytest.mark.parametrize("twist", [(math.nan, 0.0, 0.0), (0.0, math.inf, 0.0),
                                   (0.0, 0.0, -math.inf)])
def test_what_is_not_finite_is_ignored(driven, twist):
    drive, said = driven
    assert drive.take(0.3, 0.0, 0.0) and not drive.take(*twist)
    drive.advance(PERIOD)
    assert drive.twist == (0.3, 0.0, 0.0) and drive.refused == ""
    assert said == [("twist", f"twist {twist} is ignored because it is not finite")]


@pytest.mark.parametrize("push", [False, True])
def test_what_can_only_coast_is_pushed_or_refuses(push):
    """Whatever its speed, no twist is taken over from it."""
    drive, said = made(shipped("sled"), push=push, called="command",
                       start={"xi": {"forward_speed": 0.4, "yaw_rate": 0.0}})
    assert drive.coasts and drive.take(0.5, 0.0, 0.0) == push
    line = ("command is refused: sled can only coast, because it has no driven wheel or would fall "
            "over")
    assert said == ([] if push else [("coasts", line)])
    assert drive.refused == ("" if push else line)
    state = drive.advance(0.1)
    assert (state.xi["forward_speed"] > 0.41) == push and drive._present_twist() == (0.0, 0.0, 0.0)
    assert state.xi["forward_speed"] >= 0.4 - 1e-12


@pytest.mark.parametrize("age", [0.0, 0.1])
def test_a_twist_ends_after_the_timeout(driven, age):
    """At the control period after it, and is told to once; one that is nothing ends in silence."""
    drive, said = driven
    drive.take(0.2, 0.0, 0.1, age)
    told: list[tuple[float, tuple]] = []
    drive._on_twist = lambda t, twist: told.append((t, twist))
    for _ in range(50):
        drive.advance(PERIOD)
    assert [twist for _, twist in told] == [(0.2, 0.0, 0.1), (0.0, 0.0, 0.0)]
    assert [t for t, _ in told] == pytest.approx([0.0, 0.31 - age], abs=1e-9)
    line = "no twist for 0.3 s: the vehicle brakes"
    assert said == [("timeout", line)]
    drive.take(0.0, 0.0, 0.0)
    for _ in range(50):
        drive.advance(PERIOD)
    assert len(said) == 1 and len(told) == 2


def test_without_a_timeout_a_twist_goes_on(driven):
    drive, said = driven
    drive.timeout = 0.0
    drive.take(0.2, 0.0, 0.0, age=1e3)
    drive.advance(0.1)
    drive.timeout = 0.3
    assert drive.twist == (0.2, 0.0, 0.0) and not said


def test_limits_go_on_from_the_twists_before(driven):
    """By the time between two calls; the first one after a restart counts a control period."""
    drive, _ = driven
    drive.limits = TwistLimits(SpeedLimits(max_acceleration=2.0, max_velocity=5.0, max_jerk=100.0))
    drive.take(1.0, 0.0, 0.0)
    seen = []
    drive._on_twist = lambda t, twist: seen.append(twist[0])
    drive.advance(5 * PERIOD)
    # changes of 0.01, 0.02 m/s by the jerk, then of 0.02 by the acceleration
    assert seen == pytest.approx([0.01, 0.03, 0.05, 0.07, 0.09], rel=1e-12)


def test_what_the_joints_do_not_allow_is_told_once_it_does_not_change(driven):
    drive, said = driven
    drive.take(50.0, 0.0, 0.0)
    for _ in range(5):
        drive.advance(PERIOD)
    line = drive.refused
    assert line.startswith("twist (50 m/s, 0 m/s, 0 rad/s) is beyond the limits of the joints")
    assert said == [("shortfall", line)]
    drive.is_paused = True
    assert drive.refused == ""
    drive.is_paused = False
    drive.take(0.3, 0.0, 0.0)
    drive.advance(PERIOD)
    assert drive.refused == "" and len(said) == 1
    drive.take(50.0, 0.0, 0.0)
    drive.advance(PERIOD)
    assert len(said) == 1                              # it has just changed
    drive.advance(PERIOD)
    assert said == [("shortfall", line)] * 2
    drive.take(60.0, 0.0, 0.0)                         # still beyond: nothing new
    drive.advance(3 * PERIOD)
    assert len(said) == 2


# -- controllers -----------------------------------------------------------------------------------
def test_controllers_are_chosen_by_name():
    vehicle = shipped("differential_drive")
    drive, said = made(vehicle, others={"demo": DemoDrive(vehicle)}, timeout=0.0)
    assert (drive.controllers, drive.chosen, drive.steps) == ((OWN, "demo"), OWN, 0)
    assert drive.simulator.t == 0.0 and drive.twist == (0.0, 0.0, 0.0)
    with pytest.raises(nhmech.InputError, match="controller 'nobody' does not exist"):
        drive.choose("nobody")
    drive.choose("demo")
    for _ in range(10):
        state = drive.advance(0.1)
    assert drive.chosen == "demo" and state.xi["forward_speed"] > 0.2
    drive.choose(OWN)
    assert drive.twist == pytest.approx(
        [state.xi[name] for name in ("forward_speed", "lateral_speed", "yaw_rate")], abs=1e-12)
    assert abs(drive.twist[2]) > 0.01
    drive.take(0.3, 0.0, 0.0)
    for _ in range(10):
        state = drive.advance(0.1)
    assert state.xi["forward_speed"] == pytest.approx(0.3, abs=0.01)
    drive.twist = (1.0, 2.0, 3.0)
    drive.choose(OWN)                                  # it commands already
    assert drive.twist == (1.0, 2.0, 3.0) and not said


def test_who_takes_over_without_a_twist_brakes_and_says_so():
    vehicle = shipped("differential_drive")
    drive, said = made(vehicle, others={"demo": DemoDrive(vehicle)}, timeout=0.3)
    for begin in (lambda: None, drive.restart):
        begin()
        drive.choose("demo")
        assert drive.advance(0.25).xi["forward_speed"] > 0.03 and not said
        drive.choose(OWN)
        for _ in range(3):
            state = drive.advance(0.25)
        assert abs(state.xi["forward_speed"]) < 1e-3
        assert said == [("timeout", "no twist for 0.3 s: the vehicle brakes")]
        said.clear()


def test_what_coasts_can_hand_over_too():
    vehicle, pushed = shipped("sled"), []
    drive, _ = made(vehicle, others={"other": lambda t, state: pushed.append(t)})
    speed = drive.advance(0.05).xi["forward_speed"]
    drive.choose("other")
    drive.advance(0.05)
    assert speed > 1.0 and pushed and drive.chosen == "other"


def test_one_controller_is_one_name(driven):
    drive, _ = driven
    assert drive.controllers == (OWN,) and drive.chosen == OWN
    drive.choose(OWN)
    with pytest.raises(nhmech.InputError, match="controller = 'demo': there is only 'twists'"):
        drive.choose("demo")
    own = made(shipped("carriage"), controller=lambda t, state: np.array([0.1, 0.1]))[0]
    assert own.controllers == (OWN,)
    assert own.advance(0.1).xi["forward_speed"] > 0 and own.twist == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("start", [None, {"xi": {"forward_speed": 0.7}}])
def test_it_begins_as_it_is_told_or_as_its_demo_does(start):
    """What coasts is pushed off."""
    drive, _ = made(shipped("bicycle"), start=start)
    wanted = DemoDrive(shipped("bicycle")).start | (start or {})
    found = drive.simulator.state.xi
    assert {name: found[name] for name in wanted["xi"]} == pytest.approx(wanted["xi"], rel=1e-9)


def test_a_restart_forgets_what_it_was_told(driven):
    drive, said = driven
    drive.take(50.0, 0.3, 0.2)
    drive.advance(0.1234)
    drive.restart()
    assert (drive.behind, drive.twist, drive.refused, drive.failure) == (0.0, (0.0,) * 3, "", "")
    assert drive.simulator.t == 0.0 and drive.slips is None
    drive.advance(0.05)
    assert drive.twist == (0.0, 0.0, 0.0) and [what for what, _ in said] == ["lateral", "shortfall"]


# -- places ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name, start", [
    ("carriage", None), ("disc", {"pose": (0.0, 0.0, 0.0, 0.1, 0.0, 0.3)})])
def test_a_pose_on_a_slope_is_met_as_seen_from_above(name, start):
    """By what leans too, whose heading changes with it."""
    drive, _ = made(shipped(name, SLOPE), start=start)
    for pose in ((1.0, -2.0, 0.7), (0.3, 0.2, -3.1)):
        drive.restart(pose)
        assert drive.simulator.state.pose == pytest.approx(pose, abs=1e-9)


@pytest.mark.parametrize("begin, roll", [((0.0, 0.0, 0.0, 0.1, 0.0, 0.3), 0.1),
                                         ((0.3, 0.1, 0.4), 0.0)])
def test_a_lean_that_it_began_with_is_kept(begin, roll):
    drive, _ = made(shipped("bicycle"), start={"pose": begin})
    for pose in (None, (1.0, 2.0, 0.5)):
        drive.restart(pose)
        state = drive.simulator.state
        assert state.pose == pytest.approx(pose or (*begin[:2], begin[-1]), abs=1e-9)
        assert state.T_WB[2, 1] == pytest.approx(np.sin(roll), abs=1e-9)


@pytest.mark.parametrize("off, is_met", [(0.9e-9, True), (1.1e-9, False)])
def test_a_pose_that_is_not_met_is_said(driven, monkeypatch, off, is_met):
    """After 20 times, each from where the last one led; then it is where it began."""
    drive, _ = driven
    real, asked = drive.simulator.reset, []

    def reset(**words):
        state = real(**words)
        if "pose" not in words:
            return state
        asked.append(words["pose"])
        return SimpleNamespace(pose=(1.0 + off, 2.0, 0.5))

    monkeypatch.setattr(drive.simulator, "reset", reset)
    if is_met:
        drive.restart((1.0, 2.0, 0.5))
        assert asked == [(1.0, 2.0, 0, 0, 0, 0.5)]
        return
    with pytest.raises(nhmech.NhmechError, match=r"no pose near \(1.0, 2.0, 0.5\) exists"):
        drive.restart((1.0, 2.0, 0.5))
    assert len(asked) == 20 and asked[-1][0] == pytest.approx(1 - 19 * off, abs=1e-13)
    assert drive.simulator.state.pose == pytest.approx((0, 0, 0), abs=1e-12)


# -- rolling ---------------------------------------------------------------------------------------
def test_it_is_looked_at_now_and_then_whether_the_wheels_roll(driven, monkeypatch):
    """Every 0.1 s, and once a second where they do not: then the reason is kept from the first."""
    drive, _ = driven
    looks, room, rolls = [], [1.0, 1.0], [False]
    monkeypatch.setattr(teleoperation, "force_reader", lambda vehicle: SimpleNamespace(
        room=lambda t, q, v, u, grip: looks.append(t) or room))
    monkeypatch.setattr(teleoperation, "contact_load", lambda vehicle, t, q, v, u: t)
    monkeypatch.setattr(teleoperation, "can_roll", lambda load, known: rolls[0])
    monkeypatch.setattr(teleoperation, "why_not", lambda vehicle, load, known: f"at {load:g}")

    def judge(t):
        count = len(looks)
        drive._judge(SimpleNamespace(t=t, q=None, v=None, u=None))
        return len(looks) > count

    assert [judge(t) for t in (0.0, 0.0999, 0.1, 0.1999, 0.21)] == [True, False, True, False, True]
    room[0] = 0.0                                      # just enough
    assert judge(0.35) and drive.slips is None
    room[0] = -1e-12
    assert judge(0.5) and drive.slips == (0.5, "at 0.5")
    assert [judge(t) for t in (0.7, 1.4999, 1.5)] == [False, False, True]
    assert drive.slips == (0.5, "at 0.5")
    rolls[0] = True                                    # another split of the forces
    assert judge(2.5) and drive.slips is None
    rolls[0] = False
    assert judge(2.75) and drive.slips == (2.75, "at 2.75")
    room[0] = 1.0
    assert judge(4.0) and drive.slips is None and judge(4.25)


@pytest.mark.parametrize("mu, rolls", [(0.9, True), (1e-3, False)])
def test_it_is_told_since_when_wheels_cannot_roll_as_they_do(mu, rolls):
    drive, _ = made(shipped("differential_drive"), mu=mu)
    drive.take(0.3, 0.0, 0.0)
    drive.advance(0.2)
    assert rolls == (drive.slips is None)
    if not rolls:
        since, why = drive.slips
        assert 0 < since <= 0.2 and "0.001" in why


def test_grip_is_that_of_each_wheel():
    """1 / mu, wheel by wheel: room is the normal force less the tangential one over mu."""
    vehicle, known = shipped("carriage"), {"left_wheel_joint": 0.3, "right_wheel_joint": 1.0}
    grip = made(vehicle, mu=known)[0]._grip
    bearing = [row.contact for row in vehicle.contact_rows if row.is_normal]
    assert set(known) <= set(bearing) and len(grip) == len(bearing)
    for name, found in zip(bearing, grip):
        assert name not in known or found == 1 / known[name]
