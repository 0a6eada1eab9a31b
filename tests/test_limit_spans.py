"""Which joint of a run was at which limit, and when: in trajectories, batches, summary, report and
plots."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from support import command_line, shipped

import nhmech
from nhmech import JointPosition, JointTorque, JointVelocity, Simulator, Trajectory
from nhmech.simulation import LimitKind
from nhmech.simulation.runs.limit_spans import LimitColumns
from nhmech.systems import load_system
from nhmech.urdf.description import JointLimits
from nhmech.view import plots
from nhmech.view.report import report_html

WHEELS = "left_wheel_joint", "right_wheel_joint"


def within(name: str, **limits: JointLimits) -> nhmech.Vehicle:
    """A shipped robot whose joints have these limits alone."""
    vehicle = shipped(name)
    return replace(vehicle, description=replace(vehicle.description, limits=limits))


def test_an_effort_is_at_its_limit_as_long_as_it_is_cut():
    """Commands of 3 N m up to 0.2 s and of 1 N m after, cut at 2 N m."""
    vehicle = within("differential_drive", left_wheel_joint=JointLimits(-inf, inf, inf, 2.0))
    strong, weak = (JointTorque(dict.fromkeys(WHEELS, -effort)) for effort in (3.0, 1.0))
    run = Simulator(vehicle, lambda t, state: strong if t < 0.2 - 1e-9 else weak,
                    control_period=0.01).run(0.5)
    span, = run.limits
    assert (span.joint, span.kind, span.limit) == ("left_wheel_joint", LimitKind.EFFORT, 2.0)
    assert (span.start, span.end, span.most) == pytest.approx((0.0, 0.2, 2.0))
    assert run.events == ((span.start, "left_wheel_joint at its effort limit"),
                          (span.end, "left_wheel_joint off its effort limit"))
    assert str(span) == "left_wheel_joint at its effort limit (2) from t = 0 to 0.2 s"


@pytest.mark.parametrize("mode", ["kinematic", "dynamic"])
def test_a_velocity_is_at_its_limit_where_a_command_asks_for_more(mode):
    vehicle = within("differential_drive", **{name: JointLimits(-inf, inf, 4.0, inf)
                                              for name in WHEELS})
    wanted = JointVelocity(dict.fromkeys(WHEELS, 9.0))
    run = Simulator(vehicle, lambda t, state: wanted, control_period=0.01, mode=mode,
                    on_lift="ignore").run(1.0)
    assert [(span.joint, span.kind, span.end) for span in run.limits] == [
        (name, LimitKind.VELOCITY, 1.0) for name in WHEELS]
    # in each period of 10 ms a servo closes 0.01 / 0.05 of the error, until one percent is left
    start = 0.0 if mode == "kinematic" else 0.01 * np.log(0.01) / np.log(0.8)
    assert run.limits[0].start == pytest.approx(start, abs=2e-3)


@pytest.mark.parametrize("side, kind", [(1, LimitKind.UPPER), (-1, LimitKind.LOWER)])
def test_steering_is_at_the_limit_that_its_command_passes(side, kind):
    vehicle = within("tricycle", steering_joint=JointLimits(-0.5, 0.5, inf, inf))
    wanted = JointPosition({"steering_joint": 0.8 * side})
    run = Simulator(vehicle, lambda t, state: wanted, control_period=0.01).run(3.0)
    span, = run.limits
    assert (span.joint, span.kind, span.end) == ("steering_joint", kind, run.t[-1])
    assert abs(span.most) <= 0.5 + 1e-9 and "at its" in str(span)


def test_a_joint_that_turns_on_may_have_limits_too():
    """As a continuous leader of one that has: they hold for its unwrapped angle."""
    vehicle = within("differential_drive", left_wheel_joint=JointLimits(-inf, 30.0, inf, inf))
    # plain speeds are not cut, and commanded ones come to rest
    run = Simulator(vehicle, lambda t, state: [20.0, 20.0], mode="kinematic").run(2.0)
    assert run.limits[0].start == pytest.approx(1.5, abs=2e-3)
    assert "beyond its upper position limit, by up to 10" in str(run.limits[0])
    roll = JointVelocity(dict.fromkeys(WHEELS, 20.0))
    run = Simulator(vehicle, lambda t, state: roll, mode="kinematic").run(3.0)
    assert 30.0 - 1e-5 < run.column("left_wheel_joint.position")[-1] <= 30.0


def test_what_nothing_holds_back_is_said_to_be_beyond():
    vehicle = within("tricycle", steering_joint=JointLimits(-0.5, 0.5, inf, inf))
    push = JointTorque({"steering_joint": 0.05})
    run = Simulator(vehicle, lambda t, state: push).run(2.0)
    assert run.column("steering_joint.position")[-1] > 0.6
    excess = run.limits[0].most - 0.5
    assert f"beyond its upper position limit, by up to {excess:.3g}" in str(run.limits[0])


def test_short_gaps_are_bridged_and_long_ones_are_not():
    """Torque that changes its sign each 10 ms is cut all the time; one that rests for 0.3 s is
    not."""
    vehicle = within("differential_drive", left_wheel_joint=JointLimits(-inf, inf, inf, 2.0))

    def bang(t, state):
        rest = 0.4 - 1e-9 < t < 0.7 - 1e-9
        return JointTorque({"left_wheel_joint": 0.0 if rest else 9.0 * (-1) ** round(t / 0.01)})

    run = Simulator(vehicle, bang, control_period=0.01).run(1.0)
    assert [(span.start, span.end) for span in run.limits] == [
        pytest.approx((0.0, 0.4)), pytest.approx((0.7, 1.0))]


@pytest.mark.parametrize("seed", range(4))
def test_spans_are_those_of_the_whole_run_however_it_is_cut_into_blocks(seed):
    """Steering that comes to its limits again and again, for one moment or for many."""
    vehicle, rng = within("tricycle", steering_joint=JointLimits(-0.5, 0.5, inf, 2.0)), \
        np.random.default_rng(seed)
    run = Simulator(vehicle).run(0.4)
    parts = {"t": np.cumsum(rng.exponential(0.05, len(run))), "q": run.q, "v": run.v,
             "angles": run.angles, "u": np.repeat(rng.normal(0, 2.0, (len(run) // 3 + 1,
                                                                      run.u.shape[1])),
                                                  3, axis=0)[:len(run)]}
    column = (run.names["q"] + run.names["angles"]).index("steering_joint")
    steered = np.column_stack([run.q, run.angles])
    steered[:, column] = np.clip(np.cumsum(rng.normal(0, 0.2, len(run))), -0.5, 0.5)
    parts["q"], parts["angles"] = np.split(steered, [run.q.shape[1]], axis=1)
    columns = LimitColumns.of(run.simulated, run.names)
    whole, end = columns.spans([parts])
    assert len(whole) > 10
    cuts = np.sort(rng.choice(np.arange(1, len(run)), 60, replace=False))
    blocks = [dict(zip(parts, some)) for some in zip(*(np.split(part, cuts)
                                                       for part in parts.values()))]
    assert columns.spans(blocks) == (whole, end)


def test_a_saved_run_and_a_batch_say_the_same(tmp_path):
    vehicle = shipped("differential_drive")
    most = vehicle.limits["left_wheel_joint"].effort
    run = Simulator(vehicle, lambda t, state: np.array([2 * most, 0.0]), on_lift="ignore").run(
        0.1, save=tmp_path / "run.npz")
    loaded = Trajectory.load(tmp_path / "run.npz")
    assert loaded.limits == run.limits and loaded.events == run.events and len(run.limits) == 1
    x0 = nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)] * 2)
    batch = nhmech.simulate_batch(vehicle, x0, [[most, 0.0], [0.0, 0.0]], dt=1e-3, duration=0.1)
    assert batch.limits == (run.limits, ())


def test_a_system_without_joints_has_none():
    simulator = Simulator(load_system("chaplygin_sleigh"))
    simulator.reset(q=simulator.simulated.constrained.configurations[0])
    assert simulator.run(0.01).limits == ()


def test_summary_report_and_plot_show_them(tmp_path):
    vehicle = shipped("differential_drive")
    found = command_line("run", "differential_drive", "--controller", "pure_pursuit", "--path",
                         "line", "--speed", 1e3, "--on-slip", "ignore", "--on-lift", "ignore",
                         "--duration", 0.5, "--save", tmp_path / "run.npz")
    assert "limit    left_wheel_joint beyond its velocity limit, " in found.stdout
    run = Trajectory.load(tmp_path / "run.npz")
    page = report_html(run)
    assert str(run.limits[0]) in page
    _, axes = plots.efforts(vehicle, run)
    shaded = [patch for ax in np.atleast_1d(axes) for patch in ax.patches]
    assert len(shaded) == len(run.limits)
