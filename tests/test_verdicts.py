"""Where verdicts change: of loads whose least and largest use of friction are known."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support import shipped
from test_splits import friction_of, load_of
from test_validity import random_load

from nhmech.analysis import cone_programme
from nhmech.analysis.friction import slack
from nhmech.analysis.validity import JudgedStates, Verdict, can_roll, judge_load, validity

HOLDS, POSSIBLE, FAILS = Verdict.HOLDS, Verdict.POSSIBLE, Verdict.FAILS
# 10 N to share, and a side force of 2 N: all of it on the one wheel, or on the other
SHARED = load_of([("a", "normal"), ("a", "lateral"), ("b", "normal"), ("b", "lateral")],
                 [4, 1, 6, -3], [[1, 0, -1, 0], [0, 1, 0, -1]])
LEAST, MOST = 2 / (0.5 * 10), 2 / (0.25 * 10)
NOBODY = SimpleNamespace(contacts=(), contact_rows={})


def friction(factor: float) -> dict[str, float]:
    return {"a": 0.5 * factor, "b": 0.25 * factor}


@pytest.mark.parametrize("factor, verdict", [
    (2 * MOST, HOLDS), (MOST * (1 + 3e-9), HOLDS), (MOST * (1 - 0.3e-9), HOLDS),
    (MOST * (1 - 3e-9), POSSIBLE), (MOST / 1.9, POSSIBLE), (LEAST * (1 + 3e-9), POSSIBLE),
    (LEAST * (1 - 0.3e-9), POSSIBLE), (LEAST * (1 - 3e-9), FAILS), (LEAST / 1.9, FAILS),
    (LEAST / 5, FAILS)])
def test_verdicts_change_where_a_use_is_one_but_for_rounding(factor, verdict):
    """Whether they are worked out for one state or looked up for many."""
    mu = friction(factor)
    found = judge_load(NOBODY, SHARED, 0.0, mu)
    assert found.verdict is verdict and not found.lifted
    assert found.use == pytest.approx((LEAST / factor, MOST / factor), rel=1e-9)
    assert JudgedStates(NOBODY, [SHARED], mu).verdicts == [verdict]
    assert can_roll(SHARED, mu) == (verdict is not FAILS)


def test_a_verdict_without_coefficients_says_what_is_needed():
    free = dict.fromkeys("ab", np.inf)
    found = judge_load(NOBODY, SHARED, 0.0, free)
    assert found.verdict is HOLDS and found.use[0] == pytest.approx(0.2, rel=1e-9) == found.use[1]
    assert can_roll(SHARED, free) and JudgedStates(NOBODY, [SHARED], free).verdicts == [HOLDS]


@pytest.mark.parametrize("factor, verdict", [(0.9, FAILS), (1 / 1.5, FAILS), (1.1, HOLDS)])
def test_the_verdict_of_a_determined_load_takes_no_programme_where_it_holds(factor, verdict,
                                                                           monkeypatch):
    """Nothing is shared: the use is 0.4, and the least and the largest are one."""
    load = load_of([("a", "normal"), ("a", "lateral"), ("ball", "normal")], [5, 2, 3], [])
    mu = {"a": 0.4 * factor, "ball": np.inf}
    assert judge_load(NOBODY, load, 0.0, mu).verdict is verdict
    if verdict is HOLDS:
        for name in ("most_use", "least_use", "can_roll"):
            monkeypatch.setattr(sys.modules[JudgedStates.__module__], name, None)
    states = JudgedStates(NOBODY, [load], mu)
    assert states.verdicts == [verdict]


def test_one_state_is_the_hardest_of_itself():
    states = JudgedStates(NOBODY, [SHARED], friction(1.0))
    assert states.hardest is states[0]


def test_no_programme_says_whether_it_rolls_where_loads_alone_do(monkeypatch):
    monkeypatch.setattr(sys.modules[JudgedStates.__module__], "widest_split", None)
    assert can_roll(SHARED, dict.fromkeys("ab", np.inf))
    lifted = replace(SHARED, supported=False)
    assert not can_roll(lifted, friction(1.0)) and not can_roll(lifted, dict.fromkeys("ab", np.inf))


@pytest.mark.parametrize("seed", range(4))
def test_the_hardest_of_many_states_is_found_without_judging_all(seed, monkeypatch):
    """The first of those with the largest use, whatever their order and the rough numbers."""
    rng = np.random.default_rng(seed)
    loads = [random_load(int(k), 4, 3) for k in rng.permutation(12)]
    mu = friction_of(loads[0])
    uses = [judge_load(NOBODY, load, 0.0, mu).use[0] for load in loads]
    states, judged = JudgedStates(NOBODY, loads, mu), []
    monkeypatch.setattr(sys.modules[JudgedStates.__module__], "judge_load",
                        lambda *given: judged.append(1) or judge_load(*given))
    assert states.hardest is states[int(np.argmax(uses))] and len(judged) < 12
    hardest = loads[int(np.argmax(uses))]
    again = JudgedStates(NOBODY, [*loads, hardest, *loads], mu)
    assert again.hardest is again[int(np.argmax(uses))]
    lifted = JudgedStates(NOBODY, [*loads, replace(hardest, supported=False)], mu)
    assert lifted.hardest.lifted and lifted.hardest.use == (np.inf, np.inf)
    assert lifted.verdicts[-1] is FAILS


@pytest.mark.parametrize("factor", [0.3, 0.9, 1.1, 3.0])
def test_whether_it_can_roll_takes_fewer_steps_than_how_well(factor, monkeypatch):
    """One programme, which ends where the sign of the slack is known."""
    load, steps, solve = random_load(4, 6, 7), [], cone_programme._solve
    use = judge_load(NOBODY, load, 0.0, friction_of(load)).use[0]
    mu = {wheel: factor * use * value for wheel, value in friction_of(load).items()}
    monkeypatch.setattr(cone_programme, "_solve", lambda *given: steps.append(1) or solve(*given))
    whole = slack(load, mu)
    count = len(steps)
    assert can_roll(load, mu) == (factor > 1) == (whole > 0)
    assert len(steps) - count <= count / 2


@pytest.mark.parametrize("name, skid, free", [
    ("differential_drive", None, ()), ("mecanum", None, ()), ("sled", None, ()),
    ("skid_steer", None, ("front_left_wheel_joint", "front_right_wheel_joint",
                          "rear_left_wheel_joint", "rear_right_wheel_joint")),
    ("skid_steer", ("rear_left_wheel_joint", "rear_right_wheel_joint"),
     ("rear_left_wheel_joint", "rear_right_wheel_joint"))])
def test_wheels_that_may_slide_sideways_are_told(name, skid, free):
    """Those that would hold sideways and do not; not what slides by its kind."""
    vehicle = shipped(name, skid=skid) if skid else shipped(name)
    u = np.zeros(vehicle.constrained.system.u.numel())
    found = validity(vehicle, 0.0, vehicle.configuration(), np.zeros(vehicle.algebroid.nv), u)
    assert found.free == free and ("not judged" in found.describe()) == bool(free)
    wheels = {one.wheel: one for one in found.wheels}
    assert [*wheels] == [*vehicle.contact_names]
    weight = 9.81 * sum(inertia.mass for inertia in vehicle.model.inertias)
    assert sum(one.normal for one in found.wheels) == pytest.approx(weight, rel=1e-9)
