"""A run ends where the ground would have to pull, and says so; without a friction coefficient."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from lxml import etree
from support import SHIPPED, command_line, joint, link, robot, shipped

import nhmech
from nhmech import Ground, InputError, JointTorque, SimulationError, Simulator, Wheel
from nhmech.analysis import lift_off, run_validity
from nhmech.compile.compiler import find_compiler
from nhmech.control.demo import DemoDrive
from nhmech.simulation.contact.force_reader import ForceReader
from nhmech.urdf.notice import NoticeKind
from nhmech.view.report import report_html

WHEELS = "left_wheel_joint", "right_wheel_joint"


def push(efforts):
    """Controller that puts an effort of time on both wheels of the cart."""
    return lambda t, state: JointTorque(dict.fromkeys(WHEELS, efforts(t)))


def jump(t: float) -> float:
    return 6.0 if t > 0.1 - 1e-9 else 0.0


def pushed(efforts=jump, **options) -> nhmech.Trajectory:
    return Simulator(shipped("differential_drive"), push(efforts), **options).run(0.3)


@cache
def shifted(x: float) -> nhmech.Vehicle:
    """The cart with the centre of mass of its base moved to x, where its caster is
    ahead of the axle."""
    root = etree.fromstring(shipped("differential_drive").description.xml)
    root.find("link[@name='base_link']/inertial/origin").set("xyz", f"{x} 0 0.1")
    return nhmech.load(etree.tostring(root).decode(),
                       wheels=shipped("differential_drive").description.wheels)


# -- a run ends there ------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [
    {}, {"dt": 0.01}, {"integrator": "dop853"}, {"control_period": 0.02},
    {"events": [nhmech.Event("never", lambda t, state: 1.0)]},
], ids=str)
def test_a_command_that_lifts_the_caster_ends_the_run(options):
    run = pushed(**options)
    assert run.stop == "event: lift-off: caster_link" and run.t[-1] == pytest.approx(0.1, abs=1e-12)
    assert (run.t[-1], "lift-off: caster_link") in run.events
    notice, = run.notices
    assert notice.kind is NoticeKind.LIFTED and "from t = 0.1 s (caster_link)" in notice.text
    assert f"caster_link with {-run.force('caster_link', 'normal').min():.3g} N" in notice.text
    assert "at rest" not in notice.text and "slowly" in str(notice)
    assert run.validity.until == run.t[-1] and "caster_link" in run.validity.describe()


def test_what_is_warned_of_is_noted_and_what_is_ignored_is_told_afterwards():
    def twice(t):
        return 6.0 * (0.05 <= t < 0.1 or t > 0.2 - 1e-9)

    noted, silent = (pushed(twice, on_lift=word) for word in ("warn", "ignore"))
    assert [t for t, name in noted.events if name == "lift-off: caster_link"] == pytest.approx(
        [0.05, 0.2])
    assert noted.stop == silent.stop == "duration" and np.array_equal(noted.q, silent.q)
    assert not any(name.startswith("lift-off") for _, name in silent.events)
    for run in (noted, silent):
        assert [notice.kind for notice in run.notices] == [NoticeKind.LIFTED]
    assert pushed(lambda t: 0.1).notices == ()
    with pytest.raises(InputError, match="on_lift"):
        Simulator(shipped("differential_drive"), on_lift="halt")


@pytest.mark.parametrize("name, effort, start, integrator", [
    ("skid_steer", 3.0, {"xi": {"forward_speed": 2.0, "yaw_rate": 2.0}}, "rk4"),
    ("tricycle", 10.0, {"joints": {"steering_joint": 0.4}, "xi": {"forward_speed": 1.0}}, "rk4"),
    ("tricycle", 10.0, {"joints": {"steering_joint": 0.4}, "xi": {"forward_speed": 1.0}}, "dop853"),
])
def test_it_is_located_in_whatever_way_wheels_share_the_load(name, effort, start, integrator):
    """Ever faster round a bend. The moment is that of the event of exact splits; inputs are held,
    so that compiled code takes the steps, and goes back."""
    vehicle, found = shipped(name), []
    turn = JointTorque({joint: effort for joint in vehicle.driven if joint != "steering_joint"})
    for options in ({}, {"on_lift": "ignore", "events": [lift_off(vehicle)]}):
        simulator = Simulator(vehicle, lambda t, state: turn, integrator=integrator,
                              control_period=100.0, **options)
        simulator.reset(**start)
        found.append(simulator.run(4.0, every=50))
    first, second = found
    assert first.stop.startswith("event: lift-off: ") and second.stop == "event: lift-off"
    assert first.t[-1] == pytest.approx(second.t[-1], abs=2e-8) and len(first) == len(second)
    np.testing.assert_allclose(first.q[:-1], second.q[:-1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("options", [{"dt": 1e-3}, {"dt": 1e-4}, {"integrator": "dop853"}], ids=str)
def test_a_disc_that_falls_like_a_board_leaves_the_ground_for_a_moment(options):
    """Its lean a grows by 5/4 r a'' = g sin(a), and so the normal force, m (g + z'') with z = r
    cos(a), is 1/5 - 8/5 c c0 + 12/5 c^2 of its weight, c = cos(a). From a start below a lean of 30
    degrees that is negative for a while, some 20 ms here: less than lies between two looks."""
    simulator = Simulator(shipped("disc"), **options)
    simulator.reset((0, 0, 0, 0.5, 0, 0))
    run = simulator.run(3.0)
    c0 = np.cos(0.5)
    c = max(np.roots([12 / 5, -8 / 5 * c0, 1 / 5]))
    assert run.stop.startswith("event: lift-off: ")
    height = run.q[-1, 2] / 0.3        # of the centre, over the radius
    assert height == pytest.approx(c, abs=1e-6)
    simulator.reset((0, 0, 0, 0.6, 0, 0))
    with pytest.raises(SimulationError, match="parallel to the ground's normal"):
        simulator.run(3.0)


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler here (or CC=none)")
def test_code_finds_what_python_does_and_asks_python_seldom(monkeypatch):
    asked = []
    look = ForceReader.look
    monkeypatch.setattr(ForceReader, "look", lambda self, *at: asked.append(at) or look(self, *at))
    vehicle = shipped("rover")      # its six wheels share the load in many ways

    def run():
        simulator = Simulator(vehicle, DemoDrive(vehicle), control_period=0.01)
        assert simulator.atlas.primary.loop(build=True) is not None
        simulator.reset(**DemoDrive(vehicle).start)
        asked.clear()
        return simulator.run(1.0)

    quick = run()
    assert len(asked) < 20 and quick.stop == "duration"
    simulator = Simulator(shipped("differential_drive"), push(lambda t: 10 * t), dt=1e-3,
                          control_period=0.05)
    assert simulator.atlas.primary.loop(build=True) is not None
    quick = simulator.run(1.0)
    slow = Simulator(shipped("differential_drive"), push(lambda t: 10 * t), control_period=0.05)
    monkeypatch.setattr(type(slow.atlas.primary), "loop", lambda self, build: None)
    found = slow.run(1.0)
    assert quick.stop == found.stop == "event: lift-off: caster_link"
    assert quick.t[-1] == pytest.approx(found.t[-1], abs=1e-9) and len(quick) == len(found)


def test_steps_by_hand_end_where_a_run_does():
    simulator = Simulator(shipped("differential_drive"), push(jump))
    with pytest.raises(SimulationError, match='t = 0.1 s: lift-off: caster_link.*on_lift="warn"'):
        for _ in range(200):
            simulator.step()
    assert simulator.t == pytest.approx(0.1, abs=1e-12)


def test_a_wheel_out_of_balance_is_seen_to_lift():
    """Its load falls below zero for a tenth of a turn only, and is as it was a turn later; with
    steps of a sixteenth of a turn, code that looks now and then comes by at the same angles."""
    parts = [link("base", 4.0, (0.2, 0.2, 0.2), (-0.1, 0, 0))]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(side, 1.0, (1e-3, 2e-3, 1e-3), (0.026, 0, 0)),
                  joint(f"{side}_wheel", "base", side, (0, y, 0))]
    parts += [link("ball", 0.1), joint("to_ball", "base", "ball", (-0.3, 0, -0.05), kind="fixed")]
    wheels = [*(Wheel(f"{side}_wheel", "disc", 0.1, driven=True) for side in ("left", "right")),
              Wheel(None, "caster_ball", 0.05, link="ball")]
    torque = JointTorque({"left_wheel": 0.02, "right_wheel": 0.02})
    simulator = Simulator(nhmech.load(robot(*parts), wheels=wheels), lambda t, state: torque,
                          dt=2 * np.pi / (16 * 37.0), control_period=200 * np.pi / 37.0,
                          on_fall="ignore")
    simulator.reset(xi={"forward_speed": 2.9})
    simulator.compile()
    run = simulator.run(8.0)
    simulator.reset(xi={"forward_speed": 2.9})
    with pytest.raises(SimulationError, match="lift-off"):
        for _ in range(len(run) + 1):
            simulator.step()
    assert run.t[-1] == pytest.approx(simulator.t, abs=1e-9)


# -- where it begins -------------------------------------------------------------------------------
def test_a_ceiling_holds_nothing():
    run = Simulator(shipped("differential_drive", Ground((0.0, 0.0, -1.0)))).run(1.0)
    assert run.stop.startswith("event: lift-off: ") and run.t.tolist() == [0.0]
    assert len(run.events) == 3
    notice, = run.notices
    assert "from t = 0 s" in notice.text and "in 100 % of the recorded moments" in notice.text


def test_what_does_not_stand_on_a_slope_stops_at_once():
    """The centre of mass is above a point beyond the wheels."""
    steep = Ground((0.0, -np.sin(1.2), np.cos(1.2)))
    vehicle = shipped("differential_drive", steep)
    run = Simulator(vehicle).run(1.0)
    flat = Simulator(shipped("differential_drive", Ground((0.1, 0.0, 1.0)))).run(0.1)
    assert run.stop.startswith("event: lift-off: ") and run.t[-1] == 0 and flat.stop == "duration"


@pytest.mark.parametrize("x", [-0.05, 0.0])
def test_wheels_that_the_file_does_not_load_are_told_and_not_watched(x):
    """The centre of mass is behind the axle, or above it, and the caster ahead: so the file says,
    and a run goes on; what the others do is watched."""
    vehicle = shifted(x)
    simulator = Simulator(vehicle, push(lambda t: 0.1))
    run = simulator.run(0.5)
    watched = [bound.name for bound in simulator.bounds.found if bound.name.startswith("lift-off")]
    assert watched == [f"lift-off: {wheel}" for wheel in WHEELS] and run.stop == "duration"
    notice = next(n for n in run.notices if n.kind is NoticeKind.NOT_PRESSED)
    load = Simulator(vehicle).run(1e-3).force("caster_link", "normal")[0]
    assert f"caster_link {round(load, 9) + 0.0:.3g} N" in notice.text and load <= 1e-9
    simulator.reset(xi={"forward_speed": 5.0, "yaw_rate": 9.0})
    assert simulator.run(0.1).stop == "event: lift-off: left_wheel_joint"


def test_a_level_start_is_what_counts_on_a_slope_too():
    root = shifted(-0.05).description
    tilted = nhmech.load(root.xml, wheels=root.wheels, ground=Ground((0.05, 0.0, 1.0)))
    assert [wheel for wheel in Simulator(tilted).bounds.support.wheels] == list(WHEELS)


@pytest.mark.parametrize("changes", [
    {"payload.mass": 40.0, "payload.x": -1.0, "payload.z": 0.3}, {"base_link.com_x": -0.05},
], ids=lambda changes: ", ".join(changes))
def test_a_load_that_tips_the_robot_ends_the_run(changes):
    """Its file loads the caster ahead of the axle, so that lift-off stays watched."""
    run = Simulator(shipped("differential_drive").with_parameters(changes)).run(0.1)
    assert run.stop == "event: lift-off: caster_link" and run.t[-1] == 0
    notice, = run.notices
    assert notice.text.endswith("; the vehicle tips at rest too")
    assert "slowly" not in str(notice) + notice.command_line
    moved = dict(changes) | {key: 0.1 for key in changes if key in ("payload.x", "base_link.com_x")}
    assert Simulator(shipped("differential_drive").with_parameters(moved)).run(0.1).notices == ()


@pytest.mark.parametrize("name", SHIPPED)
def test_no_demo_is_told_so(name):
    """Four wheels share a load that is not determined; a part that only touches is not pulled."""
    vehicle = shipped(name)
    controller = DemoDrive(vehicle)
    simulator = Simulator(vehicle, controller, control_period=0.01)
    simulator.reset(**controller.start)
    run = simulator.run(1.0, every=10)
    assert run.notices == () and run.events == () and run.stop == "duration"


def test_validity_is_that_of_the_run():
    run = pushed(on_lift="ignore")
    found, judged = run.validity, run_validity(run, every=1)
    assert found.until == judged.until == pytest.approx(0.099)
    assert np.isclose(found.first(found.states[-1].verdict).t, 0.1)
    kinematic = Simulator(shipped("differential_drive"), mode="kinematic").run(0.01)
    assert kinematic.notices == ()
    with pytest.raises(InputError, match="kinematic"):
        kinematic.validity    # noqa: B018 (a property that raises)


def test_what_falls_over_at_rest_is_told_so_once():
    """Before the run, with where its centre of mass is; the summary says why it ended."""
    told = command_line("run", "differential_drive", "--duration", 0.1, "--payload", "40@-1,0,0.3")
    assert told.output.count("notice   ") == 1
    assert told.stdout.startswith("stopped  event: lift-off")
    assert "outside the contacts on the rear side: the vehicle falls over at rest" in told.stderr
    page = report_html(Simulator(shipped("differential_drive").with_parameters(
        {"payload.mass": 40.0, "payload.x": -1.0})).run(0.1))
    assert page.count("falls over at rest") == 1 and "tips at rest" not in page


def test_the_summary_leads_with_it(tmp_path):
    control = tmp_path / "hard.py"
    control.write_text("from nhmech import JointTorque\n\n\ndef push(t, state):\n    return "
                       f"JointTorque(dict.fromkeys({WHEELS!r}, 6.0))\n")
    command = ("run", "differential_drive", "--duration", 0.1, "--controller", f"{control}:push")
    found = command_line(*command)
    assert found.stdout.startswith("notice   ideal rolling is not valid where normal")
    assert "stopped  event: lift-off: caster_link at t = 0 s" in found.stdout
    assert "stopped  duration" in command_line(*command, "--on-lift", "ignore").stdout
