"""What a simulator makes of its arguments, and which of its calls begin a run by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech import Event, Simulator
from nhmech.control import Feedback
from nhmech.errors import InputError, SimulationError
from nhmech.simulation.arguments import read_period
from nhmech.simulation.contact.coulomb import ROLL
from nhmech.simulation.inputs import Inputs
from nhmech.simulation.simulator import BUSY, RECORDS

FAST = {"left_wheel_joint": 3.0, "right_wheel_joint": 2.0}


def drive(controller=None, **options) -> Simulator:
    return Simulator(shipped("differential_drive"), controller, **options)


def law() -> Feedback:
    return Feedback(shipped("differential_drive"), lambda t, state, references: [0.1, 0.2])


@pytest.mark.parametrize("integrator, scheme, spare", [
    (None, "rk4", None), ("auto", "rk4", "dop853"), ("dop853", "dop853", None),
    ("gauss4", "gauss4", None)])
def test_an_integrator_is_a_scheme_and_perhaps_a_spare_one(integrator, scheme, spare):
    simulator = drive(**({} if integrator is None else {"integrator": integrator}))
    assert simulator.atlas.primary.scheme.name == scheme and simulator.dt == 1e-3
    found = simulator.propagator.spare
    assert (found and found.name) == spare
    assert simulator.info.settings["integrator"] == (integrator or "rk4")


@pytest.mark.parametrize("options, inside", [
    ({}, True), ({"mode": "kinematic"}, False), ({"wrench": {"base_link": np.zeros(6)}}, False),
    ({"contact": "coulomb", "mu": 0.6}, False), ({"integrator": "dop853"}, False)])
def test_a_law_is_evaluated_in_c_where_only_efforts_act(options, inside):
    assert drive(law(), **options).propagator.runs_feedback is inside
    assert not drive(lambda t, state: None, **options).propagator.runs_feedback


@pytest.mark.parametrize("options, reason", [
    ({}, None), ({"controller": lambda t, state: None}, "inputs act"),
    ({"wrench": {"base_link": np.zeros(6)}}, "inputs act"),
    ({"mode": "kinematic", "controller": lambda t, state: [0.0, 0.0]}, "speeds are commanded")])
def test_an_integrator_of_conserved_energy_says_what_changes_it(options, reason):
    run = drive(**options, integrator="gauss4").run(0.002)
    said = [str(one) for one in run.notices if "meant for motions that conserve energy" in str(one)]
    assert [reason in one for one in said] == [True] * (reason is not None)


@pytest.mark.parametrize("options, lifts", [
    ({}, True), ({"on_lift": "ignore"}, False), ({"mode": "kinematic"}, False)])
def test_wheels_are_watched_for_lifting_off_where_forces_are_known(options, lifts):
    names = drive(**options).info.events
    assert any("lift" in name for name in names) is lifts
    assert not any("lift" in name for name in drive(
        contact="coulomb", mu=0.6, **{"on_lift": "stop"}).info.events if name != ROLL)


def test_a_file_of_a_run_knows_its_periods_and_events():
    far = Event("far", lambda t, state: state.pose[0] - 1)
    info = drive(lambda t, state: None, dt=2e-3, control_period=0.01, events=[far],
                 on_fall="ignore", on_lift="ignore").info
    assert (info.settings["dt"], info.settings["control_period"]) == (2e-3, 0.01)
    assert info.events == ("far",) and "contact" not in info.settings
    sliding = drive(contact="coulomb", mu=0.6, events=[far], on_fall="go-on").info
    assert sliding.settings["contact"] == "coulomb"
    assert sliding.events[0] == "far" and sliding.events[-1] == ROLL


@pytest.mark.parametrize("options, message", [
    ({"on_fall": "jump"}, "on_fall"), ({"on_lift": "go-on"}, "on_lift"),
    ({"on_limit": "go-on"}, "on_limit"), ({"contact": "glue"}, "contact")])
def test_words_that_are_none(options, message):
    with pytest.raises(InputError, match=f"^{message} .* does not exist; there are"):
        drive(**options)


@pytest.mark.parametrize("arguments, message", [
    ({"every": 0}, "every = 0 must be"), ({"save": 3}, "save = 3 must be the path"),
    ({"save": ""}, "save = '' must be the path")])
def test_a_record_that_cannot_be(arguments, message):
    simulator = drive()
    with pytest.raises(InputError, match=message):
        simulator.record(**arguments)
    assert simulator.step().t == 1e-3


# -- calls -----------------------------------------------------------------------------------------
def record_at_pose(run):
    assert np.linalg.norm(run.q[0, 3:7]) == pytest.approx(1.0, rel=1e-15)


CALLS = {"state": lambda simulator: simulator.state, "step": Simulator.step,
         "record": lambda simulator: (simulator.record(), record_at_pose(simulator.end_record())),
         "compile": lambda simulator: simulator.compile(wait=False),
         "run": lambda simulator: simulator.run(0.0)}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_begins_at_the_origin_unless_a_run_has_begun(name):
    """And does not begin again."""
    simulator = drive()
    CALLS[name](simulator)
    assert simulator.state.q[6] == 1.0 and simulator.state.xi["left_wheel_joint"] == 0
    simulator.reset((1.0, 2.0, 0.5), xi=FAST)
    CALLS[name](simulator)
    assert simulator.state.xi["left_wheel_joint"] == pytest.approx(3.0, abs=0.1)
    assert simulator.state.pose == pytest.approx((1.0, 2.0, 0.5), abs=1e-3)


def test_what_compile_prepares():
    simulator, asked = drive(), []
    simulator.reset()
    atlas, propagator = simulator.atlas, simulator.propagator
    atlas.cover_range = lambda: asked.append("range")
    atlas.cover = lambda places: asked.append(places)
    propagator.compile = lambda wait: asked.append(wait)
    places = [simulator.state.q]
    simulator.compile(places)
    simulator.compile(wait=False)
    assert asked == ["range", places, True, "range", (), False]


@pytest.mark.parametrize("call", [
    lambda simulator: simulator.step(), lambda simulator: simulator.reset(),
    lambda simulator: simulator.run(0.1)])
def test_nobody_else_advances_it_meanwhile(call):
    """The controller, say; afterwards they may."""
    said = []

    def controller(t, state):
        if not said:
            with pytest.raises(SimulationError) as error:
                call(simulator)
            said.append(str(error.value))

    simulator = drive(controller)
    simulator.reset()
    simulator.step()
    assert said == [BUSY]
    call(simulator)


def test_a_record_is_one_of_steps_from_its_beginning_on():
    simulator = drive()
    simulator.reset(xi=FAST)
    simulator.step()
    simulator.record(every=3)
    for call, message in ((lambda: simulator.record(), "already recording; call end_record"),
                          (lambda: simulator.reset(), "would go back in time: call end_record"),
                          (lambda: simulator.run(0.1), RECORDS)):
        with pytest.raises(SimulationError) as error:
            call()
        assert message in str(error.value)
    for _ in range(7):
        simulator.step()
    run = simulator.end_record()
    # those of each third step since the start, and the last
    assert run.stop == "ended" and np.round(run.t * 1e3).tolist() == [3, 6, 8]
    with pytest.raises(SimulationError, match="nothing is recorded"):
        simulator.end_record()
    assert simulator.run(0.002).t[0] == pytest.approx(0.008)


def test_steps_take_their_bounds_from_the_start(monkeypatch):
    """The first step since a start looks at it, those after a run do not."""
    simulator, first = drive(), []
    watch = simulator._by_hand._watch
    begin = watch.begin
    watch.begin = lambda: first.append(simulator.t) or begin()
    for call, expected in ((simulator.step, 1), (simulator.step, 1), (simulator.reset, 1),
                           (simulator.step, 2), (simulator.reset, 2),
                           (lambda: simulator.run(0.002), 2), (simulator.step, 2)):
        call()
        assert len(first) == expected


def test_a_start_tells_its_controller():
    told = []

    class Controller:
        def reset(self):
            told.append("reset")

        def __call__(self, t, state):
            return None

    simulator = drive(Controller())
    simulator.reset()
    assert told == ["reset"]
    with pytest.raises(nhmech.InputError):
        simulator.reset(xi={"no such speed": 1.0})
    simulator.reset()
    assert told == ["reset"] * 2


@pytest.mark.parametrize("period, every", [
    (None, 1), (1e-3, 1), (0.01, 10), (0.01 * (1 + 5e-10), 10), (0.01 * (1 - 5e-10), 10),
    (0.01 * (1 + 2e-9), None), (0.01 * (1 - 2e-9), None), (100.0 * (1 + 2e-9), None),
    (4e-4, None), (1.5e-3, None), (0.0, None), (-1e-3, None), (float("nan"), None),
    (float("inf"), None)])
def test_a_control_period_is_a_number_of_steps_to_nine_digits(period, every):
    if every is None:
        with pytest.raises(InputError, match="must be a multiple of dt = 0.001 s"):
            read_period(1e-3, period)
    else:
        assert read_period(1e-3, period) == (1e-3, every)


def test_inputs_say_where_a_period_begins():
    simulator = drive(lambda t, state: None, control_period=3e-3)
    simulator.reset()
    assert isinstance(simulator.inputs, Inputs)
    begins = []
    for _ in range(7):
        begins.append(simulator.inputs.update())
        simulator.propagator.advance(1e-3)
    assert begins == [True, False, False, True, False, False, True]
