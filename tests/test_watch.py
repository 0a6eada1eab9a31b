"""Events and bounds within steps, on a clock in place of a motion: where they are found, in which
order, and what is asked how often."""

from __future__ import annotations

import ctypes
from itertools import permutations
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from nhmech import Event
from nhmech.compile.status import Status
from nhmech.simulation.bounds import Bound, Bounds
from nhmech.simulation.contact.coulomb import ROLL, SLIP
from nhmech.simulation.watch import AHEAD, FEW, LOCATED, Watch

DT = 0.01


class Moment:
    """t, k and t0, and one coordinate that nothing moves."""

    def __init__(self, t: float = 0.0):
        self.clock = np.array([t, 0.0, t])
        self.q, self.v, self.u, self.beside = np.zeros(1), np.ones(1), np.full(1, 7.0), 2
        self.layout = SimpleNamespace(angles=dict.fromkeys("abc", 0))

    t = property(lambda self: float(self.clock[0]))
    k = property(lambda self: int(self.clock[1]))
    t0 = property(lambda self: float(self.clock[2]))
    state = property(lambda self: self.state_of(self.clock))

    def state_of(self, clock):
        return SimpleNamespace(t=float(clock[0]), q=self.q)


class Clock:
    """What `Propagator` does, where time is all that passes."""

    def __init__(self, t: float = 0.0, in_c: bool = False, coulomb=None):
        self.moment, self.dt, self.in_c, self.coulomb = Moment(t), DT, in_c, coulomb
        self.slides, self.taken, self.rolls = False, [], False
        self.atlas = SimpleNamespace(chart=SimpleNamespace(scheme=SimpleNamespace(method="rk4")))

    def bookmark(self):
        return (self.moment.clock.copy(),)

    def restore(self, bookmark):
        self.moment.clock[...] = bookmark[0]

    def advance(self, dt):
        self.taken.append(dt)
        moment = self.moment
        k, t, t0 = moment.k + 1, moment.t + dt, moment.t0
        moment.clock[...] = (t0 + k * dt, k, t0) if dt == self.dt else (t, k, t - k * self.dt)

    def step_in_c(self):
        if self.in_c:
            self.advance(self.dt)
            self.taken[-1] = "in C"
        return self.in_c

    def slip(self):
        self.slides, self.moment.q[0] = True, 1.0

    def roll(self):
        return self.rolls

    def advance_many(self, loop, steps, rows, k):
        """As many as `loop` can; a row is (t, q, v, u), two numbers beside u, and three angles."""
        moment, done = self.moment, min(steps, loop)
        assert rows.every == 1 and k == 0
        for count in (done // 3, done - done // 3):      # as if Ctrl-C were asked for in between
            address, data = rows.room(count), []
            for _ in range(count):
                data += [moment.t, *moment.q, *moment.v, *moment.u, *[np.nan] * 5]
                self.advance(self.dt)
            ctypes.memmove(address, (ctypes.c_double * len(data))(*data), 8 * len(data))
            rows.extend(count)
        return done, False


def at(when: float, name: str = "e", terminal: bool = True, **options) -> Event:
    """An event at a time."""
    return Event(name, lambda t, state: t - when, terminal, **options)


def bounds(margin=None, terminal: bool = True, name: str = "limit") -> Bounds:
    """One with a margin of (t, q), or none."""
    t, q = ca.SX.sym("t"), ca.SX.sym("q")
    values = ca.SX(0, 1) if margin is None else margin(t, q)
    found = () if margin is None else (Bound(name, terminal, Status.LIMIT),)
    return Bounds(found, ca.Function("margins", [t, q], [values]))


def watch(events=(), bound: Bounds | None = None, clock: Clock | None = None):
    clock, noted = clock or Clock(), []
    made = Watch(events, bound or bounds(), clock, noted)
    assert made.begin() is None
    return made, clock, noted


def go(made: Watch, steps: int) -> str | None:
    return next((name for _ in range(steps) if (name := made.step(DT)) is not None), None)


@pytest.mark.parametrize("in_c", [False, True])
@pytest.mark.parametrize("when", [0.0437, 0.04, 1e-7, 0.0999999])
def test_an_event_is_found_just_behind_its_zero(when, in_c):
    made, clock, noted = watch([at(when, terminal=False)], clock=Clock(in_c=in_c))
    assert go(made, 12) is None and clock.moment.k == 12 and clock.moment.t == 12 * DT
    ((t, name),) = noted
    assert name == "e" and when <= t + 1e-15 and t <= when + 1e-10
    made, clock, noted = watch([at(when)], clock=Clock(in_c=in_c))
    assert go(made, 12) == "e" and clock.moment.t == noted[0][0] == t
    assert clock.moment.t0 + clock.moment.k * DT == pytest.approx(t, abs=1e-15)


def test_a_bound_is_not_passed():
    """The step ends before it; one of which a run only warns is passed, and met again."""
    made, clock, noted = watch(bound=bounds(lambda t, q: 0.0437 - t))
    assert go(made, 9) == "limit" and 0.0437 - LOCATED <= clock.moment.t < 0.0437
    assert noted == [(clock.moment.t, "limit")]
    made, clock, noted = watch(bound=bounds(lambda t, q: ca.cos(100 * t), terminal=False))
    assert go(made, 12) is None and clock.moment.t == 12 * DT
    assert [t for t, _ in noted] == pytest.approx([np.pi / 200, np.pi / 200 * 5], abs=LOCATED)


def test_times_are_found_relative_to_a_late_time():
    """To what a double has of it, so that the search ends."""
    late = 3e6
    made, clock, noted = watch([at(late + 0.0337)], clock=Clock(late))
    assert go(made, 9) == "e"
    assert 0 <= clock.moment.t - (late + 0.0337) <= LOCATED * late
    assert len(clock.taken) < 30


@pytest.mark.parametrize("order", [*permutations(range(4))])
def test_the_first_end_within_a_step_counts(order):
    """What is noted before it is kept, and what comes after it did not happen."""
    events = [at(0.042, "before", False), at(0.044, "first"), at(0.046, "after", False),
              at(0.048, "second")]
    made, clock, noted = watch([events[i] for i in order])
    assert go(made, 9) == "first" and clock.moment.t == pytest.approx(0.044, abs=LOCATED)
    assert sorted(name for _, name in noted) == ["before", "first"]
    # a bound is one of them
    made, clock, noted = watch([events[i] for i in order], bounds(lambda t, q: 0.043 - t))
    assert go(made, 9) == "limit" and clock.moment.t == pytest.approx(0.043, abs=LOCATED)
    assert sorted(name for _, name in noted) == ["before", "limit"]


@pytest.mark.parametrize("margin, is_limit, terminal, name", [
    (lambda t, q: t + 0.5, False, True, None), (lambda t, q: t - 0.5, False, True, "limit"),
    (lambda t, q: t + 0, False, True, "limit"), (lambda t, q: t - 0.5, False, False, None),
    (None, True, True, "e"), (None, False, True, None), (None, True, False, None)])
def test_what_is_passed_at_the_start_is_said_there(margin, is_limit, terminal, name):
    events = [at(0.5, terminal=terminal, limit=is_limit)]
    clock, noted = Clock(), []
    made = Watch(events, bounds(margin, terminal), clock, noted)
    assert made.begin() == name
    passed = ["limit"] * (margin is not None and float(margin(0.0, 0.0)) <= 0) + ["e"] * is_limit
    assert sorted(noted) == sorted((0.0, one) for one in passed)
    # a bound that has been passed is not met again on the way back
    noted.clear()
    made.step(DT)
    assert noted == []


def test_code_takes_whole_steps_and_nothing_else():
    made, clock, _ = watch(clock=Clock(in_c=True))
    assert go(made, 3) is None and made.step(DT / 2) is None
    assert clock.taken == ["in C"] * 3 + [DT / 2]
    made, clock, _ = watch(clock=Clock())
    assert go(made, 2) is None and clock.taken == [DT, DT]
    # with events, too; they are read once a step
    read = []
    event = Event("e", lambda t, state: read.append(t) or -1.0)
    made, clock, _ = watch([event], clock=Clock(in_c=True))
    assert go(made, 3) is None and clock.taken == ["in C"] * 3 and len(read) == 4
    assert made.step(DT / 2) is None and len(read) == 5


# -- steps on trial --------------------------------------------------------------------------------
def seen(when: float, **options) -> Event:
    """The same with a fast evaluation of the columns."""
    def along(t, q, v, u):
        assert q.shape == v.shape == u.shape == (len(t), 1) and (v == 1).all() and (u == 7).all()
        return t - when
    return at(when, along=along, **options)


@pytest.mark.parametrize("when, steps, most, free", [
    (0.1, 20, 99, 9), (0.0999, 20, 99, 9), (0.1001, 20, 99, 10), (0.005, 20, 99, 0),
    (9.0, 20, 99, 20), (9.0, 1000, 999, AHEAD), (9.0, 20, 6, 6), (0.05, 20, 5, 4), (0.5, 20, 0, 0),
    (9.0, FEW, 99, FEW), (9.0, FEW - 1, 99, 0)])
def test_steps_before_an_event_are_counted_and_undone(when, steps, most, free):
    made, clock, noted = watch([seen(9.5), seen(when)])
    for _ in range(2):
        assert made.free_steps(most, steps) == free
        assert clock.moment.t == clock.moment.k == 0 and not noted
    for _ in range(free):      # that many pass without one
        assert made.step(DT) is None
    assert not noted


def test_steps_are_free_where_nothing_is_watched_and_not_without_a_fast_look():
    assert watch()[0].free_steps(99, 1000) == 1000
    assert watch([seen(9.0), at(9.0)])[0].free_steps(99, 20) == 0
    made, clock, _ = watch([seen(9.0)])
    clock.atlas.chart.scheme.method = None           # it chooses its own steps
    assert made.free_steps(99, 20) == 0


def test_what_was_seen_ahead_is_not_read_again():
    read = []
    event = Event("e", lambda t, state: read.append(t) or t - 9.0, along=lambda t, *_: t - 9.0)
    made, clock, _ = watch([event])
    for _ in range(3):
        assert made.free_steps(99, 20) == 20
        for _ in range(20):
            clock.advance(DT)
    assert read == [0.0]


def test_the_side_of_an_event_is_that_of_the_last_step_ahead():
    """It falls within that step, which does not count, and rises in the next."""
    def dip(t, *_):
        return (t - 0.195) * (t - 0.205)
    made, clock, noted = watch([Event("e", dip, direction=1, along=dip)])
    assert made.free_steps(99, 20) == 20
    for _ in range(20):
        clock.advance(DT)
    assert made.step(DT) == "e" and noted == [(pytest.approx(0.205, abs=1e-10), "e")]


# -- the end of rolling ----------------------------------------------------------------------------
def test_where_rolling_ends_the_rest_of_the_step_slides():
    """The moment between is recorded, the clock goes on as if nothing had been, and rolling begins
    again at the end of a step."""
    coulomb = SimpleNamespace(room=lambda state: 1.0)
    made, clock, noted = watch(bound=bounds(lambda t, q: 0.0437 - t + q, name=SLIP),
                               clock=Clock(coulomb=coulomb))
    records = []
    for _ in range(6):
        assert made.step(DT, lambda: records.append((clock.moment.t, clock.slides))) is None
    ((t, slid),) = records
    assert noted == [(t, SLIP)] and not slid and clock.slides
    assert 0.0437 - LOCATED <= t < 0.0437 and clock.taken[-2] == pytest.approx(0.05 - t)
    assert clock.moment.clock.tolist() == [6 * DT, 6, 0]
    clock.rolls = True
    assert made.step(DT) is None and noted[1:] == [(7 * DT, ROLL)]
    # a shorter last step ends where it shall
    made, clock, noted = watch(bound=bounds(lambda t, q: 0.003 - t + q, name=SLIP),
                               clock=Clock(coulomb=coulomb))
    assert made.step(0.004) is None and clock.moment.t == pytest.approx(0.004, abs=1e-15)
    assert clock.moment.k == 1 and clock.moment.t0 == pytest.approx(0.004 - DT, abs=1e-15)
    # what happens in the rest of the step ends it there
    made, clock, noted = watch([at(0.0462)], bounds(lambda t, q: 0.0437 - t + q, name=SLIP),
                               Clock(coulomb=coulomb))
    assert go(made, 6) == "e" and clock.moment.t == pytest.approx(0.0462, abs=1e-10)
    assert [name for _, name in noted] == [SLIP, "e"]


@pytest.mark.parametrize("room, slides, begins", [
    (1.0, False, False), (0.0, False, True), (-1.0, False, True), (np.nan, False, True),
    (-1.0, True, False)])
def test_wheels_that_cannot_roll_at_the_start_slide(room, slides, begins):
    clock, noted = Clock(coulomb=SimpleNamespace(room=lambda state: room)), []
    clock.slides = slides
    assert Watch((), bounds(), clock, noted).begin() is None
    assert noted == [(0.0, SLIP)] * begins and bool(clock.moment.q[0]) == begins
