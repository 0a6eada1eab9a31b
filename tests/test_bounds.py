"""What a run must not pass: limits of joints, and the ground."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from lxml import etree
from support import SHIPPED, joint, link, shipped
from trains import train

import nhmech
from nhmech import InputError, SimulationError, Simulator
from nhmech.compile.compiler import find_compiler
from nhmech.compile.status import Status
from nhmech.control import WheelServo
from nhmech.simulation import bounds
from nhmech.simulation.bounds import Bound, Bounds
from nhmech.simulation.simulated import Simulated
from nhmech.simulation.state_vector import StateVector
from nhmech.systems import load_system
from nhmech.urdf.notice import NoticeKind
from nhmech.vehicle.clearance import clearance, on_ground

LIMIT = 1.2
BACKWARDS = {"forward_speed": -1.0}


@cache
def limited_train() -> nhmech.Vehicle:
    """A car with one trailer whose hitch turns so far to each side."""
    root = etree.fromstring(train(1).description.xml)
    hitch = root.find("joint[@name='hitch_1_joint']")
    hitch.set("type", "revolute")
    for limit in hitch.findall("limit"):
        hitch.remove(limit)
    etree.SubElement(hitch, "limit", lower=str(-LIMIT), upper=str(LIMIT), effort="1", velocity="9")
    wheels = train(1).description.wheels
    return nhmech.load(etree.tostring(root).decode(), wheels=wheels)


def backing(**options) -> Simulator:
    """It backs up, in kinematic mode unless told otherwise, the trailer a little askew."""
    simulator = Simulator(limited_train(), **{"mode": "kinematic", **options})
    simulator.reset(joints={"hitch_1_joint": 0.1}, xi=BACKWARDS)
    return simulator


def jack_knife_time() -> float:
    """Where the car backs straight at speed V, its hitch does too, and a trailer of drawbar l turns
    by phi' = V sin(phi) / l: t = l / V ln(tan(phi_1 / 2) / tan(phi_0 / 2))."""
    return 1.4 * np.log(np.tan(LIMIT / 2) / np.tan(0.1 / 2))


@pytest.mark.parametrize("options", [
    {}, {"integrator": "dop853"}, {"mode": "dynamic"}, {"dt": 0.02},
    {"events": [nhmech.Event("never", lambda t, state: 1.0)]},
], ids=str)
def test_a_hitch_stops_a_run_at_its_limit(options):
    run = backing(**options).run(10.0, every=7)
    assert run.stop == "event: jack-knife: hitch_1_joint at its upper limit"
    assert run.events == ((run.t[-1], run.stop.removeprefix("event: ")),)
    assert run.column("hitch_1_joint.position")[-1] == pytest.approx(LIMIT, abs=2e-9)
    if options.get("mode") != "dynamic":
        assert run.t[-1] == pytest.approx(jack_knife_time(), rel=1e-8)


def test_what_is_warned_of_is_noted_and_what_is_ignored_is_not():
    noted, silent = (backing(on_limit=word).run(5.0) for word in ("warn", "ignore"))
    (t, name), = noted.events
    assert name == "jack-knife: hitch_1_joint at its upper limit" and noted.stop == "duration"
    assert t == pytest.approx(jack_knife_time(), rel=1e-8)
    assert silent.events == () and np.array_equal(silent.q, noted.q)


def test_a_run_begins_on_a_limit_and_leaves_it_but_not_outwards():
    """It also comes away from the limit that ended a run."""
    simulator = backing()
    simulator.run(10.0)
    assert simulator.run(1.0).stop.startswith("event: jack-knife")
    simulator.reset(q=simulator.state.q, xi={"forward_speed": 1.0})
    assert simulator.run(1.0).stop == "duration"


def test_a_start_beyond_a_limit_says_so_at_once():
    simulator = Simulator(limited_train(), mode="kinematic")
    simulator.reset(joints={"hitch_1_joint": LIMIT + 0.01})
    run = simulator.run(1.0)
    assert run.t[-1] == 0 and run.stop == "event: jack-knife: hitch_1_joint at its upper limit"
    simulator.reset(joints={"hitch_1_joint": LIMIT})
    assert simulator.run(0.1).stop == "duration"
    with pytest.raises(SimulationError, match="jack-knife"):
        simulator.reset(joints={"hitch_1_joint": -LIMIT - 0.01})
        simulator.step()


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_steps_by_hand_end_where_a_run_does(integrator, caplog):
    simulator, run = backing(integrator=integrator), backing(integrator=integrator).run(10.0)
    with pytest.raises(SimulationError, match='jack-knife.*on_limit="warn"'):
        for _ in range(10_000):
            simulator.step()
    assert simulator.t == pytest.approx(run.t[-1], abs=1e-12)
    warned = backing(integrator=integrator, on_limit="warn")
    while warned.t < run.t[-1] + 0.1:
        warned.step()
    assert [record.message for record in caplog.records] == [
        f"t = {run.t[-1]:.6g} s: jack-knife: hitch_1_joint at its upper limit"]


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler here (or CC=none)")
def test_code_finds_what_python_does_and_is_as_fast_as_without(monkeypatch):
    """Margins are read in Python at the start and where the limit is located, not at each step."""
    fast, asked = backing(mode="dynamic"), []
    assert fast.atlas.primary.loop(build=True) is not None
    read = type(fast.bounds).read
    monkeypatch.setattr(type(fast.bounds), "read",
                        lambda self, *at: asked.append(at) or read(self, *at))
    run = fast.run(10.0)
    assert len(run) > 1000 and len(asked) < 60
    slow = backing(mode="dynamic")
    monkeypatch.setattr(type(slow.atlas.primary), "loop", lambda self, build: None)
    found = slow.run(10.0)
    assert run.t[-1] == pytest.approx(found.t[-1], abs=1e-12) and len(run) == len(found)


# -- driven joints --------------------------------------------------------------------------------
STEERING = "front_left_steering_joint"


@pytest.mark.parametrize("mode, wrap", [("dynamic", "plain"), ("kinematic", "plain"),
                                        ("dynamic", "servo")])
@pytest.mark.parametrize("command", [nhmech.JointVelocity, nhmech.JointPosition])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_commands_bring_a_joint_to_its_limit_and_not_beyond(mode, command, side, wrap):
    """Critically damped, from inside: no overshoot. The servo of encoders has some."""
    car = shipped("ackermann_car")
    limit = car.limits[STEERING]

    def turn(t, state):
        return command({STEERING: 0.8 * side if command is nhmech.JointVelocity else 2.0 * side})
    controller = turn if wrap == "plain" else WheelServo(car, commands=turn)
    run = Simulator(car, controller, mode=mode, on_lift="ignore").run(2.5)
    angle, end = run.column(f"{STEERING}.position"), limit.upper if side > 0 else limit.lower
    assert run.stop == "duration" and angle[-1] == pytest.approx(end, abs=5e-3)
    over = (side * (angle - end)).max()
    assert over <= (1e-12 if wrap == "plain" else 0.003 * (limit.upper - limit.lower))


@pytest.mark.parametrize("mode", ["dynamic", "kinematic"])
def test_commands_to_leader_and_follower_do_not_pull_either_beyond(mode):
    """The follower is asked for more than goes with the leader's limit."""
    car = shipped("ackermann_car")
    both = [wheel.steering for wheel in car.steering.steered]
    wheels = [replace(w, driven=True if "rear" in w.name else None)
              for w in car.description.wheels]
    xml = car.description.xml.replace("</nhmech>", f'<drive joint="{both[1]}"/></nhmech>')
    car = nhmech.load(xml, wheels=wheels)
    assert set(both) <= set(car.driven)
    turn = nhmech.JointPosition(dict.fromkeys(both, 2.0))
    run = Simulator(car, lambda t, state: turn, mode=mode).run(3.0)
    assert run.stop == "duration"
    for name in both:
        assert run.column(f"{name}.position").max() <= car.limits[name].upper + 1e-6


def test_a_joint_that_starts_beyond_its_limit_is_left_there_by_commanded_speeds():
    car = shipped("ackermann_car")
    simulator = Simulator(car, lambda t, state: nhmech.JointVelocity({STEERING: 0.3}),
                          mode="kinematic", on_limit="ignore")
    simulator.reset(joints={STEERING: 0.76})
    angle = simulator.run(0.5).column(f"{STEERING}.position")
    np.testing.assert_allclose(angle, 0.76, rtol=0, atol=1e-12)


# -- the ground ------------------------------------------------------------------------------------
def fallen(name: str, **options) -> tuple[nhmech.Trajectory, Simulator]:
    simulator = Simulator(shipped(name), on_lift="ignore", **options)
    simulator.reset(pose=(0.0, 0.0, 0.3, 0.05, 0.1, 0.0))
    return simulator.run(3.0), simulator


@pytest.mark.parametrize("name, body", [("bicycle", "rear_frame"), ("pendulum", "base_link")])
@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_what_falls_stops_on_the_ground(name, body, integrator):
    run, simulator = fallen(name, integrator=integrator)
    vehicle = shipped(name)
    assert run.stop == f"event: fallen: {body}" and run.events[-1][0] == run.t[-1] < 3.0
    heights = clearance(vehicle).heights(run.t[-1], run.q[-1]).full().ravel()
    assert abs(heights.min()) < 1e-7
    ignored, _ = fallen(name, integrator=integrator, on_fall="warn") if name == "pendulum" else (
        run, None)
    assert ignored.events[0][1] == run.events[-1][1]


def test_a_box_touches_where_its_corner_does():
    """The pendulum's box, 40 mm wide and 144 mm high, its bottom at the height of the axle, 40 mm:
    the lower of its front corners is 40 mm + 144 mm cos(a) - 20 mm sin(a) high, or 40 mm - 20 mm
    sin(a)."""
    vehicle = shipped("pendulum")
    for pitch in np.linspace(-3.0, 3.0, 13):
        q = vehicle.configuration((0.0, 0.0, 0.3, 0.0, pitch, 0.7))
        corners = [0.04 + z * np.cos(pitch) - x * np.sin(pitch)
                   for x in (-0.02, 0.02) for z in (0.0, 0.144)]
        assert clearance(vehicle).heights(0.0, q) == pytest.approx(min(corners), abs=1e-12)


def with_arm(shape: str, **turns) -> nhmech.Vehicle:
    """A cart with an arm on a free joint 0.4 m above its base."""
    root = etree.fromstring(shipped("differential_drive").description.xml)
    for element in (link("arm", com=(0.3, 0, 0), body=f"<collision>{shape}</collision>"),
                    joint("arm_joint", "base_link", "arm", (0, 0, 0.4), **turns)):
        root.append(etree.fromstring(element))
    return nhmech.load(etree.tostring(root).decode(), free=["arm_joint"],
                       wheels=shipped("differential_drive").description.wheels)


@pytest.mark.parametrize("shape, below", [
    ('<sphere radius="0.2"/>', lambda n: 0.2),
    ('<cylinder radius="0.2" length="0.5"/>', lambda n: 0.2 * np.hypot(n[0], n[1])
     + 0.25 * abs(n[2])),
    ('<box size="0.2 0.3 0.4"/>', lambda n: np.abs(n) @ [0.1, 0.15, 0.2]),
])
def test_shapes_reach_as_far_down_as_theirs(shape, below):
    """On a body that hangs from a free joint, at random poses."""
    vehicle = with_arm(f'<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><geometry>{shape}</geometry>',
                       axis=(1, 1, 0))
    assert clearance(vehicle).links == ("arm",)
    place = pin.SE3(pin.rpy.rpyToMatrix(0.4, 0.5, 0.6), np.array([0.1, 0.2, 0.3]))
    for angle in (0.3, 1.5, 3.0, -2.0):
        q = vehicle.configuration((0.3, 0.2, 0.1), {"arm_joint": angle})
        data = vehicle.model.createData()
        pin.forwardKinematics(vehicle.model, data, q)
        at = data.oMi[vehicle.model.getJointId("arm_joint")] * place
        height = at.translation[2] - below(at.rotation.T[:, 2])
        assert clearance(vehicle).heights(0.0, q) == pytest.approx(height, abs=1e-12)


@pytest.mark.parametrize("way, watched", [(0.45e-9, ()), (1e-8, ("arm",)), (1e-4, ("arm",))])
def test_what_moves_by_rounding_cannot_fall(way, watched):
    """A slide up and down, whose whole way is below a nanometre."""
    vehicle = with_arm('<geometry><sphere radius="0.2"/></geometry>', axis=(0, 0, 1),
                       kind="prismatic", more=f'<limit lower="{-way}" upper="{way}" effort="1" '
                                              'velocity="1"/>')
    assert clearance(vehicle).links == watched


@pytest.mark.parametrize("radii, height", [((0.2, 3.0, 0.0), 0.01), ((3.0, 4.0), 0.15),
                                           ((0.0, 0.0), 0.005)])
def test_what_is_low_at_the_start_stands_on_the_ground(radii, height):
    """A twentieth of the smallest radius, or of a tenth of a metre for blades."""
    contacts = [SimpleNamespace(mount=SimpleNamespace(wheel=SimpleNamespace(radius=radius)))
                for radius in radii]
    assert on_ground(SimpleNamespace(contacts=contacts)) == pytest.approx(height, rel=1e-12, abs=0)


def test_a_shape_below_the_ground_already_is_told_and_stops_nothing():
    root = etree.fromstring(shipped("pendulum").description.xml)
    root.find("link[@name='base_link']").append(etree.fromstring(
        '<collision><origin xyz="0 0 -0.05"/><geometry><sphere radius="0.02"/></geometry>'
        "</collision>"))
    vehicle = nhmech.load(etree.tostring(root).decode(),
                          wheels=shipped("pendulum").description.wheels)
    notice, = clearance(vehicle).notices
    assert notice.kind is NoticeKind.BELOW_GROUND and "30 mm below" in notice.text
    simulator = Simulator(vehicle)
    assert simulator.run(0.01).stop == "duration"
    assert Simulator(vehicle, on_fall="ignore").bounds.notices == ()


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_robots_watch_what_can_fall_and_no_more(name):
    vehicle = shipped(name)
    falls = {"bicycle": ("rear_frame", "front_frame"), "pendulum": ("base_link",)}
    assert clearance(vehicle).links == falls.get(name, ())
    assert not clearance(vehicle).notices
    simulator = Simulator(vehicle)
    assert simulator.run(0.01).stop == "duration"


@pytest.mark.parametrize("options", [{"on_limit": "halt"}, {"on_fall": None}], ids=str)
def test_a_word_that_is_none_is_refused(options):
    with pytest.raises(InputError, match="stop"):
        Simulator(shipped("differential_drive"), **options)


@pytest.mark.parametrize("name", ["on_limit", "on_fall", "on_lift"])
def test_bounds_know_three_words(name):
    """Going on after a fall is none of them: it is a run without that bound."""
    simulated = Simulated.of(shipped("differential_drive"))
    for word in ("stop", "warn", "ignore"):
        assert len(Bounds.of(simulated, **{name: word})) == 3 * (name == "on_lift"
                                                                 and word != "ignore")
    for word in ("halt", "go-on", None):
        with pytest.raises(InputError, match="stop"):
            Bounds.of(simulated, **{name: word})


@pytest.mark.parametrize("names", [(), ("lift-off: left", "lift-off: right")])
def test_a_bound_on_forces_is_there_where_a_wheel_is_watched(names, monkeypatch):
    """What is said of the others is told in any case."""
    told, split = SimpleNamespace(), np.ones(5)
    support = SimpleNamespace(names=names, notices=(told,), split=split)
    monkeypatch.setattr(bounds.LiftOffBound, "of", lambda vehicle: support)
    found = Bounds.of(Simulated.of(shipped("differential_drive")), on_lift="warn")
    assert found.support is (support if names else None) and found.notices[-1] is told
    assert found.split is split if names else found.split.shape == (0,)
    assert [(one.name, one.terminal, one.status) for one in found.found] == [
        (name, False, Status.LIFTED) for name in names]
    sliding = Bounds.of(Simulated.of(shipped("differential_drive")), grip=support)
    assert [one.terminal for one in sliding.found] == [True] * len(names)


def test_a_system_by_hand_has_no_bounds():
    found = Bounds.of(Simulated.of(load_system("chaplygin_sleigh")))
    assert len(found) == 0 and found.along(Simulated.of(
        load_system("chaplygin_sleigh")).equations) is None
    assert found.read(SimpleNamespace(t=0.0, q=np.zeros(3))) == []


# -- batches and environments ----------------------------------------------------------------------
def test_each_case_of_a_batch_says_what_it_came_to():
    """One backs to each side, one drives forward, one starts beyond."""
    vehicle, dt = limited_train(), 0.01
    states = [nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)], joints={"hitch_1_joint": angle},
                                  xi={"forward_speed": speed})[0]
              for angle, speed in ((0.1, -1.0), (-0.1, -1.0), (0.1, 1.0), (LIMIT + 0.1, 0.0))]
    batch = nhmech.simulate_batch(vehicle, np.array(states), dt=dt, duration=5.0, every=50)
    name = "jack-knife: hitch_1_joint at its"
    assert batch.stop == (f"{name} upper limit", f"{name} lower limit", "ran to the end",
                          f"{name} upper limit")
    single = backing(mode="dynamic", dt=dt).run(5.0)
    assert 0 <= single.t[-1] - batch.stopped_at[0] < dt and batch.stopped_at[3] == 0
    angle = batch.column("hitch_1_joint.position")
    assert np.abs(angle[:3]).max() <= LIMIT
    going = nhmech.simulate_batch(vehicle, np.array(states), dt=dt, duration=5.0, on_limit="ignore")
    assert going.ok.all()


@pytest.mark.parametrize("margins, first", [
    (lambda t, x, y: (1 - x, 0.2 - y, 0.3 + 2 * t), 0),      # the nearest are not moved towards
    (lambda t, x, y: (1 - x, 0.2 - y, 2.4 - 2 * t), 0),
    (lambda t, x, y: (1 - x, 0.2 - y, 1.6 - 2 * t), 2),
    (lambda t, x, y: (1 - x, -0.2 - y, 0.3 + 2 * t), 1),     # passed already
])
def test_the_bound_that_is_met_first_is_named(margins, first):
    """A drive that goes 1 m/s along x, between walls and gates that move."""
    vehicle = shipped("differential_drive")
    system, equations = vehicle.constrained.system, vehicle.equations
    state = Simulator(vehicle).reset(xi={"forward_speed": 1.0})
    x = StateVector.of(equations).assemble(state.q, np.array([*state.xi.values()]))
    bounds = Bounds(tuple(Bound(name, True, Status.LIMIT) for name in "012"), ca.Function(
        "margins", [system.t, system.q],
        [ca.vertcat(*margins(system.t, system.q[0], system.q[1]))]))
    found = bounds.next_one(equations, 0.0, x, vehicle.theta, Status.LIMIT)
    assert found.name == str(first)


def test_a_case_that_falls_says_on_what():
    """An arm of 0.6 m swings down from the level, and stays up a while where it begins upright."""
    vehicle = with_arm('<origin xyz="0.6 0 0"/><geometry><sphere radius="0.05"/></geometry>')
    down = nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)])[0]
    up = nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)], joints={"arm_joint": -1.57})[0]
    batch = nhmech.simulate_batch(vehicle, np.array([down, up]), dt=1e-3, duration=0.5)
    assert batch.stop == ("fallen: arm", "ran to the end")


def test_a_run_that_changes_its_speeds_says_so(caplog):
    """It costs seconds each time, as where a bicycle turns through the floor."""
    _, simulator = fallen("pendulum", on_fall="ignore")
    assert len(caplog.records) == len(simulator.atlas.charts) - 1 == 1
    assert "are becoming singular" in caplog.text and "chart 2" in caplog.text
