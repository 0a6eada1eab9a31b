"""Steps that are tried again with other lengths, in Python: the halves of a step, how far errors
add up, and which step would do."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

from nhmech.compile.loop_error import GAUGE
from nhmech.compile.status import Status
from nhmech.simulation import step_error
from nhmech.simulation.step_error import TOLERANCE, WINDOW, Trial, retake, step_notice

H, T0, DECAY = 0.01, 0.7, 3.0
THETA = np.array([1.5])


class Pushed:
    """A chart of two numbers: one that stays, and one that decays by e^(-3 dt) in a step of dt and
    is pushed by `push` dt^2 in steps that begin before `until`, which is their error: the pushes
    of two halves are half as far."""

    speeds, code = [1], None

    def __init__(self, push: float = 0.0, until: float = np.inf, margin: float = -0.5,
                 fails=lambda t, x, dt: False):
        self.push, self.until, self.fails, self.size, self.guards = push, until, fails, margin, []
        self.state_vector = SimpleNamespace(assemble=lambda q, v: np.concatenate([q, v]))

    def loop(self, build):
        assert not build
        return self.code

    def at_rest(self, q):
        return np.concatenate([q, [0.0]])

    def margin(self, t, x, theta):
        return self.size if t == T0 and x[0] == 2.0 and theta is THETA else np.nan

    def project(self, t, x, theta):
        return None, None, None, np.array([0.0, self.size, 5.0])

    def advance(self, t, x, u, theta, dt, side, guard):
        assert u.tolist() == [9.0] and theta is THETA and side == np.sign(self.size)
        self.guards.append(guard)
        push = self.push * dt ** 2 * (t < self.until - 1e-9)
        status = Status.OFF if self.fails(t, x, dt) else Status.DONE
        after = np.array([x[0], np.exp(-DECAY * dt) * x[1] + push])
        return SimpleNamespace(x=after, status=status,
                               health=np.array([0.0, self.size, guard + 1]))


def trial(*charts: Pushed, speed: float = 0.0) -> Trial:
    """From the state with the worst error, t = 0.7, x = (2, speed)."""
    row = [T0, 2.0, 8.0, speed, 9.0]
    gauge = SimpleNamespace(values=np.concatenate([np.full(len(GAUGE), np.nan), row, [np.nan] * 3]))
    moment = SimpleNamespace(q=np.zeros(1), v=np.zeros(2), u=np.zeros(1))
    return Trial(gauge, SimpleNamespace(charts=charts), moment, THETA)


def apart(dt: float, push: float) -> float:
    """By how much a step's push differs from that of its halves."""
    return push * dt ** 2 * (1 - (1 + np.exp(-DECAY * dt / 2)) / 4)


def test_a_trial_begins_in_the_chart_that_serves_best():
    """On its side, with the guard that the motion has there."""
    charts = [Pushed(margin=margin) for margin in (0.3, -0.9, 0.6)]
    made = trial(*charts, speed=4.0)
    assert made.chart is charts[1] and made.side == -1.0 and made.t == T0
    assert made.x.tolist() == [2.0, 4.0] and made.u.tolist() == [9.0]
    made.error(H)
    assert charts[1].guards == [5.0, 5.0, 6.0] and not charts[0].guards + charts[2].guards
    assert trial(*charts[::2]).side == 1.0


@pytest.mark.parametrize("speed", [0.0, -7.0])
def test_the_error_of_a_step_is_what_its_halves_differ_by(speed):
    """Relative to one and the state after it; only the number that is pushed has one."""
    end = np.exp(-DECAY * H) * speed + 30.0 * H ** 2
    assert trial(Pushed(30.0), speed=speed).error(H) == pytest.approx(
        apart(H, 30.0) / (1 + abs(end)), rel=1e-9)
    # a push that ends in the middle of a step is that of its first half alone
    ends = Pushed(30.0, until=T0 + H / 2)
    left = 30.0 * H ** 2 * (1 - np.exp(-DECAY * H / 2) / 4)
    assert trial(ends, speed=speed).error(H) == pytest.approx(left / (1 + abs(end)), rel=1e-9)


@pytest.mark.parametrize("fails, is_known", [
    (lambda t, x, dt: dt == H, False), (lambda t, x, dt: dt < H and t > T0, False),
    (lambda t, x, dt: dt < H and t == T0, False), (lambda t, x, dt: t > T0 + 0.9 * H, True)])
def test_a_step_that_cannot_be_taken_has_any_error(fails, is_known):
    assert np.isfinite(trial(Pushed(30.0, fails=fails)).error(H)) == is_known


@pytest.mark.parametrize("most, is_known", [(0, False), (1, False), (2, True)])
def test_a_step_that_code_cannot_take_has_any_error_either(most, is_known):
    """Code says how many of its steps succeed; the rows behind them are none."""
    def path(setup, t, dt, steps, address):
        rows = (ctypes.c_double * (2 * (1 + steps))).from_address(address)
        rows[2:] = [7.0] * (2 * steps)
        return min(steps, most)

    chart = Pushed()
    chart.code = SimpleNamespace(path=path)
    assert trial(chart).error(H) == (0.0 if is_known else np.inf)


@pytest.mark.parametrize("pushes", [1, 10, 47])
def test_what_decays_does_not_persist(pushes):
    """The errors of so many steps, which each further step leaves e^(-3 dt) of, until a quarter of
    the window is left: relative to their sum."""
    push, r = 1e-9, np.exp(-DECAY * H)
    chart = Pushed(push, until=T0 + pushes * H)
    made = trial(chart)
    left = (1 - r ** pushes) / (1 - r) * r ** (3 * WINDOW // 4 + 1 - pushes)
    assert made.persistence(H) == pytest.approx(left / pushes, rel=1e-8)
    # each step of the window, all its halves in a row, and those of each step: none in vain
    assert len(chart.guards) == 5 * WINDOW


def test_without_errors_or_without_steps_they_are_said_to_persist():
    """Where a step of either length fails, or a half of one."""
    assert trial(Pushed()).persistence(H) == 1.0
    late, first = T0 + (WINDOW - 1.25) * H, 30.0 * H ** 2
    for fails in (lambda t, x, dt: dt == H and t > late, lambda t, x, dt: dt < H and t > late,
                  lambda t, x, dt: dt < H and abs(x[1] - first) < 1e-12):
        assert trial(Pushed(30.0, fails=fails)).persistence(H) == 1.0


BETTER = (2, 4, 5, 10, 20, 40, 50, 100, 200, 400)


@pytest.mark.parametrize("below, needed", [*zip(BETTER, BETTER[1:])])
def test_a_better_step_is_the_longest_with_a_quarter_of_what_is_allowed(below, needed):
    """Of order one, where n steps in place of one have an n-th of its error: dt over 2, 4, 5, 10,
    20 and so on."""
    made, dt = SimpleNamespace(error=lambda dt: dt ** 2), 0.3
    for part, divisor in ((0.997, below), (1.003, needed)):
        total = part * below * TOLERANCE / 4
        assert Trial.better_step(made, dt, total) == dt / divisor
    assert Trial.better_step(made, dt, TOLERANCE * 1e6) is None


def test_the_halves_of_a_step_follow_each_other():
    """The second has the guard, and the time, at which the first ends."""
    chart = Pushed(30.0, until=T0 + 0.4 * H)
    end = retake(chart, T0, np.array([2.0, 4.0]), np.array([9.0]), THETA, H, -1.0, 5.0)
    r = np.exp(-DECAY * H / 2)
    np.testing.assert_allclose(end.x, [2.0, 4 * r ** 2 + 30.0 * (H / 2) ** 2 * r],
                               rtol=1e-14)
    assert chart.guards == [5.0, 6.0] and end.health[2] == 7.0
    again = retake(Pushed(30.0, until=T0 + 0.6 * H), T0, np.array([2.0, 4.0]), np.array([9.0]),
                   THETA, H, -1.0, 5.0)
    assert again.x[1] - end.x[1] == pytest.approx(30.0 * (H / 2) ** 2, rel=1e-11)


@pytest.mark.parametrize("total, left, better, words", [
    (0.99 * TOLERANCE / 0.4, 0.4, 0.0025, None),
    (1.01 * TOLERANCE / 0.4, 0.4, 0.0025, ("up to 0.001 of", "Try --dt 0.0025, or")),
    (5.0, 0.1, None, ("up to 0.5 of", "Try --integrator dop853, which"))])
def test_a_notice_has_what_persists_and_a_step_that_does(total, left, better, words, monkeypatch):
    asked = []
    made = SimpleNamespace(persistence=lambda dt: left if dt == H else np.nan,
                           better_step=lambda *of: (asked.append(of), better)[1])
    monkeypatch.setattr(step_error, "Trial", lambda *of: made)
    gauge = SimpleNamespace(total=lambda k: total if k == 30 else np.nan)
    notice = step_notice(gauge, None, SimpleNamespace(k=30), None, H)
    if words is None:
        assert notice is None and not asked
        return
    assert words[0] in notice.text and words[1] in notice.remedy.command
    ((dt, told),) = asked
    assert dt == H and told == pytest.approx(total * left, rel=1e-12)
