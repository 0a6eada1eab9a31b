"""Margins of rolling at many states: their signs are those of the programmes, of which few are
solved; and the events that are made of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import shipped
from test_findings import BALL, WHEEL, F, H, judged, run_of
from test_validity import G, cart, state

import nhmech
from nhmech import InputError
from nhmech.analysis import rolling_limits
from nhmech.analysis.contact_load import contact_loads
from nhmech.analysis.friction import known_coefficients, slack
from nhmech.analysis.rolling_limits import RunValidity, friction_limit, lift_off, rolling_events
from nhmech.simulation.contact.force_reader import ForceReader

MASSES = ("mass", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def braked(unit: float):
    """A car of so many times its mass in a bend, braked harder and harder: until wheels slip by
    the shortest split of the load, and then by any."""
    plain = shipped("ackermann_car")
    car = plain if unit == 1 else plain.with_parameters({
        name: unit * value for name, value in plain.parameters.values.items()
        if name.rpartition(".")[2] in MASSES})
    start = nhmech.Simulator(car).reset(joints={"front_left_steering_joint": 0.1},
                                        xi={"forward_speed": 4.0})
    u = np.zeros((60, len(car.driven)))
    u[:, ["wheel" in name for name in car.driven]] = unit * np.linspace(-400, -520, 60)[:, None]
    return car, np.zeros(60), np.tile(start.q, (60, 1)), np.tile(start.v, (60, 1)), u


@pytest.mark.parametrize("unit", [1.0, 1e-6])
def test_few_programmes_tell_the_signs_of_many_states(unit, monkeypatch):
    """What held at one state holds at the next, and where nothing holds each tenth is judged."""
    car, *states = braked(unit)
    mu, solved, programme = known_coefficients(car, 0.5), [], rolling_limits.widest_split
    least = [slack(load, mu) for load in contact_loads(car, *states)]
    monkeypatch.setattr(rolling_limits, "widest_split",
                        lambda *given, **more: solved.append(1) or programme(*given, **more))
    found = friction_limit(car, 0.5).along(*states)
    assert np.sign(found).tolist() == np.sign(least).tolist()
    holds = int(np.sum(found > 0))
    assert 20 < holds < 30 and len(solved) <= 2 + -(-(60 - holds) // 10)
    event = friction_limit(car, 0.5)
    alone = [event.along(*(part[k:k + 1] for part in states))[0] for k in range(60)]
    assert np.sign(alone).tolist() == np.sign(least).tolist()


@pytest.mark.parametrize("speed, turn", [(0.5, 0.8), (0.9, -1.1), (2.0, 1.5), (9.0, 3.0)])
def test_certainty_is_what_is_left_of_friction_in_the_hardest_split(speed, turn):
    """1 - V w / (mu g) of a coasting cart, and not below -1."""
    vehicle = cart(mu=0.4)
    now = state(vehicle, speed, turn)
    certain = friction_limit(vehicle, doubt=True).function(0.0, now)
    assert certain == pytest.approx(max(1 - abs(speed * turn) / (0.4 * G), -1.0), rel=1e-9)


def test_events_of_rolling_end_a_run_where_something_falls_below_its_limit():
    vehicle = cart(mu=0.4)
    slip, lift = (f"{name!r}, terminal, falling, limit" for name in ("friction limit", "lift-off"))
    assert [*map(repr, rolling_events(vehicle))] == [f"Event({slip})", f"Event({lift})"]
    assert repr(friction_limit(vehicle)) == repr(friction_limit(vehicle, doubt=True)) == (
        f"Event({slip})")
    assert repr(lift_off(vehicle)) == f"Event({lift})"
    for events in (rolling_events(vehicle, terminal=False), (
            friction_limit(vehicle, terminal=False), lift_off(vehicle, terminal=False))):
        assert [*map(repr, events)] == [f"Event({slip})".replace("terminal", "noted"),
                                        f"Event({lift})".replace("terminal", "noted")]
    assert all(event.along is not None for event in rolling_events(vehicle))


def test_an_event_after_the_last_judged_state_is_told_by_that_state():
    """As where all wheels slide from there on."""
    states = run_of(H, H, F).states
    for k, one in enumerate(states):
        states[k] = replace(one, wheels=(replace(WHEEL, wheel=f"wheel {k}"), BALL))
    run = RunValidity(states, ((5.0, "lift-off"),))
    assert run.failure() == ("ideal rolling stopped being valid at t = 5 s (lift-off), "
                             f"{judged(wheels=(replace(WHEEL, wheel='wheel 2'), BALL)).reason()}")
    assert "wheel 1" in RunValidity(states, ((1.0, "lift-off"),)).failure()
    assert "wheel 0" in RunValidity(states, ((0.0, "lift-off"),)).failure()


def test_an_event_looks_at_one_state_as_at_many(monkeypatch):
    """Both events of rolling share one look at a state, and one at many."""
    vehicle, looks = cart(mu=0.4, com=-0.08), []
    events = rolling_events(vehicle)
    coasting = [state(vehicle, *motion) for motion in ((0.5, 0.8), (1.8, 2.2), (4.0, 3.0))]
    for name in ("read", "room"):
        look = getattr(ForceReader, name)
        monkeypatch.setattr(ForceReader, name, lambda *given, look=look, name=name, **more: (
            looks.append(name) or look(*given, **more)))
    rows = [np.array([getattr(now, part) for now in coasting]) for part in "qvu"]
    slips, lifts = (event.along(np.zeros(3), *rows) for event in events)
    assert looks == ["read"] and np.sign(slips).tolist() == [1, -1, -1]
    assert np.sign(lifts).tolist() == [1, 1, -1]
    for k in (0, 1, 0, 2):
        looks.clear()
        found = [event.function(0.0, coasting[k]) for event in events]
        assert np.sign(found).tolist() == [np.sign(slips[k]), np.sign(lifts[k])]
        assert looks.count("room") == 1


def test_states_of_another_vehicle_are_refused():
    events = rolling_events(cart(mu=0.4))
    now = nhmech.Simulator(shipped("ackermann_car")).reset()
    rows = [np.array([getattr(now, part)]) for part in "qvu"]
    for event in events:
        for look in (lambda: event.function(0.0, now), lambda: event.along(np.zeros(1), *rows)):
            with pytest.raises(InputError, match="the state has 3 inputs, 'rig' has 2: create the "
                                                 "event with the vehicle that runs"):
                look()
