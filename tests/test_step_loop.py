"""The step loop on a clock in place of a motion: what is called in which order, and how a run
ends."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import pytest

from nhmech.compile.loop_error import steps_to_estimate
from nhmech.errors import CompileError, Remedy, SimulationError
from nhmech.simulation import step_loop
from nhmech.simulation.contact.coulomb import ROLL, SLIP
from nhmech.simulation.step_loop import PROGRESS, TURNS, StepLoop, StepsByHand

DT = 0.01


class World:
    """Propagator, inputs, watch and recorder in one: each notes what it is asked for."""

    spare = runs_feedback = None
    slides, coarse, failing, event, begins = False, False, None, None, None
    refused: tuple[int, ...] = ()      # steps that C does not take

    def __init__(self, in_c: bool = False, every: int = 1, twist: int = 0, free: int = 10 ** 9,
                 **settings):
        self.in_c, self.every, self.free, self.dt, self.said = in_c, every, free, DT, []
        vars(self).update(settings)
        self.moment = SimpleNamespace(t=2.0, k=40, twist=np.zeros(twist), state="state")
        self.gauge = SimpleNamespace(is_coarse=lambda moment: self.coarse)
        self.atlas, self.simulated = None, SimpleNamespace(theta=None)
        self.events, self.notices, self.taken = [], [], []

    def note_step(self, kind, length):
        if self.failing and self.moment.k == self.failing[0]:
            raise self.failing[1]
        self.taken.append((kind, self.moment.k - 40, length))
        self.moment.k += 1
        self.moment.t += length

    # -- propagator
    def loop(self):
        return "loop" if self.in_c else None

    def choose_scheme(self, steps):
        self.said.append(("choose", steps))

    def advance_many(self, loop, free, recorder, k):
        assert loop == "loop" and recorder is self
        for i in range(free):
            if k + i in self.refused:
                return i, True
            self.note_step("many", DT)
        return free, False

    def take_turns(self, loop, most, update, recorder, k):
        assert loop == "loop" and recorder is self
        self.said.append(("turns", most))
        for i in range(most):
            if i:
                update()
            if k + i in self.refused:
                return i, True
            self.note_step("turn", DT)
        return most, False

    # -- inputs
    def hold(self, steps):
        return min(steps, self.every - self.moment.k % self.every)

    def update(self):
        due = self.moment.k % self.every == 0
        self.said.append(("update", self.moment.k - 40, due))
        return due

    def note_twist(self):
        self.said.append(("twist", self.moment.k - 40))

    # -- watch
    def begin(self):
        self.said.append(("begin", self.moment.k - 40))
        return self.begins

    def free_steps(self, loop, steps):
        return min(self.free, steps)

    def step(self, length, record):
        self.note_step("step", length)
        return self.event if self.event and self.moment.k == 40 + self.event_after else None

    # -- recorder
    def note(self, k):
        self.said.append(("note", k))

    def add(self):
        self.said.append(("add", self.moment.k - 40))

    def trajectory(self, stop):
        return stop, self.moment.k - 40

    # -- all
    def run(self, monkeypatch, duration, steps, progress=None, events=()):
        monkeypatch.setattr(step_loop, "Watch", lambda *words: self)
        return StepLoop(self, self, events, None).run(duration, steps, self, progress)

    def all(self, kind):
        return [said for said in self.said if said[0] == kind]


def kinds(world):
    return [(kind, k) for kind, k, _ in world.taken]


@pytest.mark.parametrize("in_c", [False, True])
@pytest.mark.parametrize("part", [0.0, 1e-13, 0.3, 0.9996, 1.0 - 5e-6, 1.0 - 1e-12])
def test_all_steps_are_whole_but_the_last(part, in_c, monkeypatch):
    """Which Python takes; what rounding leaves of it counts as nothing."""
    steps = 5 + (part > 1e-9)
    world = World(in_c)
    assert world.run(monkeypatch, (5 + part) * DT, steps) == ("duration", steps)
    lengths = [length for *_, length in world.taken]
    assert world.moment.t == pytest.approx(2 + (5 + part) * DT, abs=1e-13)
    np.testing.assert_allclose(lengths[:5], DT, rtol=1e-12)
    is_whole = steps == 5 or part > 0.999999
    assert [kind for kind, *_ in world.taken] == (["turn" if in_c else "step"] * 5
                                                  + ["turn" if in_c and is_whole else "step"]
                                                  * (steps - 5))
    assert world.all("add") == [("add", steps)]
    assert world.all("note") == [("note", k) for k, (kind, *_) in enumerate(world.taken)
                                 if kind == "step"]


def test_steps_with_constant_inputs_are_one_call(monkeypatch):
    """From where the run begins within a period; the twist is noted there as well."""
    world = World(True, every=8, twist=3)
    world.moment.k = 43
    assert world.run(monkeypatch, 20 * DT, 20) == ("duration", 23)
    assert kinds(world) == [("many", 3 + k) for k in range(20)]
    assert world.all("update") == [("update", 3, False), ("update", 8, True), ("update", 16, True)]
    assert world.all("twist") == [("twist", 3), ("twist", 8), ("twist", 16)]
    assert world.all("begin") == [("begin", 3)] and not world.all("turns")


@pytest.mark.parametrize("settings, takes_turns", [
    ({}, True), ({"twist": 3}, True), ({"every": 2}, False), ({"spare": "dop853"}, False),
    ({"free": 0}, False), ({"events": ["event"]}, False)])
def test_a_controller_of_each_step_is_called_from_within_one_call(settings, takes_turns,
                                                                  monkeypatch):
    """Unless something else happens between steps. At most so many at a time."""
    events = settings.pop("events", ()) if "events" in settings else ()
    world = World(True, **settings)
    steps = TURNS + 7
    assert world.run(monkeypatch, steps * DT, steps, events=events) == ("duration", steps)
    assert world.all("turns") == ([("turns", TURNS), ("turns", 7)] if takes_turns else [])
    expected = range(0, steps, world.every)
    due = [k for _, k, is_due in world.all("update") if is_due]
    assert due == [*expected] and [k for _, k in world.all("twist")] == (
        [*expected] if not takes_turns or world.moment.twist.size else [0, TURNS])
    if world.free == 0:
        assert {kind for kind, *_ in world.taken} == {"step"}


@pytest.mark.parametrize("runs_feedback", [False, True])
@pytest.mark.parametrize("refused", [(0,), (3,), (3, 4), (9,)])
def test_a_step_that_c_refuses_is_taken_by_python(refused, runs_feedback, monkeypatch):
    """The row before it is noted. A controller in C may have left it the first of a period."""
    world = World(True, every=5, refused=refused, runs_feedback=runs_feedback)
    assert world.run(monkeypatch, 10 * DT, 10) == ("duration", 10)
    assert kinds(world) == [("step" if k in refused else "many", k) for k in range(10)]
    assert world.all("note") == [("note", k) for k in refused]
    after_c = [k for k in refused if k not in (0, 5) and k - 1 not in refused]
    asked = [k for _, k, _ in world.all("update")]
    again = {k: asked.count(k) for k in after_c}
    assert set(again.values()) <= {1 if runs_feedback else 0}
    assert len(asked) == len({*asked})


def test_a_spare_scheme_is_asked_before_each_call(monkeypatch):
    """With the steps that are left; no call goes beyond the next step whose error is estimated."""
    world = World(True, every=10 ** 6, spare="dop853")
    world.moment.k = 3
    assert world.run(monkeypatch, 10 * DT, 10)[0] == "duration"
    ends, k = [], 3
    while k < 13:
        ends.append(13 - k)
        k += min(13 - k, steps_to_estimate(k))
    assert [steps for _, steps in world.all("choose")] == ends and len(ends) > 2


@pytest.mark.parametrize("event_after, stop", [(1, 1), (4, 4), (6, 6)])
def test_an_event_ends_a_run(event_after, stop, monkeypatch):
    world = World(event="over", event_after=event_after)
    assert world.run(monkeypatch, 6 * DT, 6) == ("event: over", stop)
    begun = World(begins="at once")
    assert begun.run(monkeypatch, 6 * DT, 6) == ("event: at once", 0) and not begun.taken
    assert begun.all("add") == [("add", 0)]


@pytest.mark.parametrize("steps", [0, 1, PROGRESS - 1, PROGRESS, 2 * PROGRESS + 3])
def test_progress_is_told_now_and_then_and_at_the_end(steps, monkeypatch):
    """But not of no step at all."""
    for in_c in (False, True):
        told, world = [], World(in_c)
        world.run(monkeypatch, steps * DT, steps, lambda t, state: told.append((t, state)))
        assert {state for _, state in told} <= {"state"}
        times = [round((t - 2) / DT) for t, _ in told]
        passed = [k for k in range(PROGRESS, steps + 1, PROGRESS)]
        assert len(times) == len(passed) + bool(steps)
        assert all(0 <= time - k < TURNS for time, k in zip(times, passed))
        assert times[-1:] == [steps][:steps]


# -- failures --------------------------------------------------------------------------------------
def test_what_goes_wrong_in_a_run_carries_it(monkeypatch):
    remedy = Remedy("in Python", "on the command line")
    world = World(failing=(43, SimulationError("a wheel came off", remedy=remedy)))
    with pytest.raises(SimulationError, match="a wheel came off") as found:
        world.run(monkeypatch, 6 * DT, 6)
    stop, k = found.value.trajectory
    assert k == 3 and "a wheel came off" in stop and found.value.remedy is remedy
    assert world.all("add") == [("add", 3)]
    full = World(failing=(44, MemoryError()))
    why = r"out of memory at t = 2.04 s: .*every=100.*save="
    with pytest.raises(SimulationError, match=why) as found:
        full.run(monkeypatch, 6 * DT, 6)
    assert found.value.trajectory[1] == 4
    machine = World(failing=(42, CompileError("no compiler")))
    with pytest.raises(CompileError, match="^no compiler$"):
        machine.run(monkeypatch, 6 * DT, 6)
    assert not machine.all("add")


@pytest.mark.parametrize("is_second", [False, True])
def test_ctrl_c_ends_a_run_and_the_second_one_a_program(is_second, monkeypatch):
    forgotten, told = [], []
    monkeypatch.setattr(step_loop, "forget_ctrl_c", lambda: forgotten.append(True))
    monkeypatch.setattr(step_loop, "is_second_press", lambda: is_second)
    world = World(failing=(43, KeyboardInterrupt()))
    if is_second:
        with pytest.raises(KeyboardInterrupt):
            world.run(monkeypatch, 6 * DT, 6, lambda *words: told.append(words))
    else:
        assert world.run(monkeypatch, 6 * DT, 6,
                         lambda *words: told.append(words)) == ("interrupted", 3)
    assert forgotten == [True] and not told and world.all("add") == [("add", 3)]
    monkeypatch.setattr(step_loop, "is_second_press", lambda: pytest.fail("nobody pressed"))
    assert World().run(monkeypatch, DT, 1)[0] == "duration"


@pytest.mark.parametrize("coarse, notice, said", [(False, "too long", []), (True, None, []),
                                                 (True, "too long", ["too long"])])
@pytest.mark.parametrize("fails", [False, True])
def test_steps_that_are_too_long_are_noted(fails, coarse, notice, said, monkeypatch, caplog):
    monkeypatch.setattr(step_loop, "step_notice", lambda *words: notice)
    world = World(coarse=coarse, **({"failing": (42, SimulationError("off"))} if fails else {}))
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        if fails:
            with pytest.raises(SimulationError):
                world.run(monkeypatch, 3 * DT, 3)
        else:
            world.run(monkeypatch, 3 * DT, 3)
    assert world.notices == said == caplog.messages


# -- steps by hand ---------------------------------------------------------------------------------
class Noting:
    """A watch that has something to say of each step, and of the start."""

    def __init__(self, said):
        self.noted, self.asked, self.said = [], [], iter(said)

    def begin(self):
        return self.answer("begin")

    def step(self, length):
        return self.answer(length)

    def answer(self, what):
        self.asked.append(what)
        notes, terminal = next(self.said)
        self.noted += [(2.5, name) for name in notes]
        return terminal


def by_hand(monkeypatch, *said):
    watch = Noting(said)
    monkeypatch.setattr(step_loop, "Watch", lambda events, bounds, propagator, noted: watch)
    return watch, StepsByHand(World(), None)


def test_steps_by_hand_say_what_they_come_to_once(monkeypatch, caplog):
    """Where wheels begin and end to slide is no warning."""
    watch, steps = by_hand(monkeypatch, (["low"], None), ([SLIP], None), (["fast", ROLL], None),
                           ([], None))
    assert steps.is_first
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        for _ in range(3):
            steps.step()
            assert not steps.is_first and not watch.noted
    assert watch.asked == ["begin", DT, DT, DT]
    assert caplog.messages == ["t = 2.5 s: low", "t = 2.5 s: fast"]


@pytest.mark.parametrize("said, asked", [
    ([(["low", "over"], "over")], ["begin"]),
    ([(["low"], None), (["over"], "over")], ["begin", DT])])
def test_steps_by_hand_end_with_an_error(said, asked, monkeypatch, caplog):
    """That says how to go on; at a bound that is passed at the start no step is taken."""
    watch, steps = by_hand(monkeypatch, *said)
    with pytest.raises(SimulationError, match=r"^stopped at t = 2 s: over") as error, (
            caplog.at_level(logging.WARNING, logger="nhmech")):
        steps.step()
    assert 'on_fall="warn"' in str(error.value.remedy) and watch.asked == asked
    assert caplog.messages == ["t = 2.5 s: low"] and not watch.noted


def test_a_record_of_steps_ends_once(monkeypatch):
    _, steps = by_hand(monkeypatch)
    with pytest.raises(SimulationError, match=r"nothing is recorded: call record\(\) first"):
        steps.end_record("ended")
    steps.recorder = recorder = World()
    assert steps.end_record("mine") == ("mine", 0) and recorder.all("add") == [("add", 0)]
    assert steps.recorder is None
