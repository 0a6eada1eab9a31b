"""When the equations of rolling are gone back to, and which starts are refused, on both sides of
each bound."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech import InputError, Simulator
from nhmech.simulation.contact.coulomb import CoulombContact, is_sliding
from nhmech.simulation.contact.phases import Phase
from nhmech.simulation.simulated import Simulated

# steps without slip, and relative speeds and heights below which contacts rest and touch
PATIENCE, RESTS, STILL, TOUCHING = 3, 1e-9, 1e-7, 1e-9


def contact_of(restitution=0.0, **options):
    return CoulombContact(Simulated.of(shipped("differential_drive")), 0.5, restitution, **options)


def moment(contact, k=0, phases=None, **more):
    numbers = np.zeros(len(contact.columns))
    n = len(contact.columns.forces)
    numbers[n:n + len(contact.columns.names)] = 0 if phases is None else phases
    return SimpleNamespace(k=k, t=0.0, q=None, v=None, state=None, contact=numbers, **more)


def judged(monkeypatch, slip=0.0, room=1.0):
    """A contact whose contact points have this slip, and rolling this room."""
    contact, asked = contact_of(), []
    monkeypatch.setattr(type(contact.vehicle), "constraint_error",
                        lambda self, t, q, v: (np.array([0.0, slip, 0.0]), np.zeros(3)))
    monkeypatch.setattr(CoulombContact, "room",
                        lambda self, state, part=1.0: asked.append(part) or room)
    return contact, asked


def test_wheels_roll_again_after_so_many_steps_in_a_row(monkeypatch):
    """A step that is missing, or in which one slides, begins the count anew."""
    contact, asked = judged(monkeypatch)
    steps = [*range(10, 10 + PATIENCE - 1), *range(20, 20 + PATIENCE)]
    assert [contact.may_roll(moment(contact, k)) for k in steps] == [False] * (len(steps) - 1) + [
        True]
    assert contact.may_roll(moment(contact, 20 + PATIENCE))
    assert not contact.may_roll(moment(contact, 21 + PATIENCE, [Phase.SLIDING, 0, 0]))
    assert not contact.may_roll(moment(contact, 22 + PATIENCE))
    # with a margin of friction
    assert asked == [0.98, 0.98]


@pytest.mark.parametrize("slip, room, rolls", [
    (0.9, 1.0, True), (-0.9, 1e-9, True), (1.1, 1.0, False), (-1.1, 1.0, False), (0.0, 0.0, False),
    (0.0, -1.0, False)])
def test_they_do_not_where_they_slip_or_would_at_once(monkeypatch, slip, room, rolls):
    speed = contact_of().terms.speed
    contact, _ = judged(monkeypatch, slip * RESTS * speed, room)
    found = [contact.may_roll(moment(contact, k)) for k in range(1, 6)]
    assert found == [False] * (PATIENCE - 1) + [rolls] * (6 - PATIENCE)


def test_a_phase_that_ends_is_recorded_as_rolling():
    contact = contact_of()
    now = moment(contact, phases=[Phase.SLIDING, Phase.AIRBORNE, 0])
    now.contact[-1] = 5.0
    assert is_sliding(now)
    contact.end(now)
    forces, phases, _, lost = contact.columns.split(now.contact)
    assert np.isnan(forces).all() and not phases.any() and lost[-1] == 5.0
    assert not is_sliding(now) and not is_sliding(SimpleNamespace(contact=np.zeros(0)))


def test_a_robot_with_one_force_slides_where_that_is_recorded():
    """Its first number: the others are never missing."""
    contact = contact_of()
    for force, slides in ((np.nan, False), (0.0, True)):
        numbers = np.array([force, 2.0, 0.0, 0.0])
        contact.numbers = lambda state, numbers=numbers: numbers
        assert contact.slides(None) == is_sliding(SimpleNamespace(contact=numbers)) == slides


@cache
def of_two_laws():
    """The left wheel rolls, the right one may slide."""
    left, right, ball = shipped("differential_drive").description.wheels
    return nhmech.load(nhmech.urdf_path("differential_drive"), wheels=[
        nhmech.Wheel(left.joint, "disc", left.radius, law="rolling"),
        nhmech.Wheel(right.joint, "disc", right.radius, law="coulomb", mu=0.5), ball])


@pytest.mark.parametrize("height, slip, falls, refused", [
    (0.9, 1.1, 0.0, True), (0.9, 0.9, 0.0, False), (1.1, 1.1, 0.0, False), (0.9, 1.1, 0.9, True),
    (0.9, 1.1, 1.1, False)])
@pytest.mark.parametrize("speed", [0.0, 50.0])
def test_a_wheel_that_must_roll_may_not_start_with_a_slip(monkeypatch, height, slip, falls, refused,
                                                          speed):
    """If it is on the ground and does not leave it, by more than rounding, relative to the fastest
    of the velocities."""
    mixed = of_two_laws()
    contact = CoulombContact(Simulated.of(mixed), None, 0.0, contact=None)
    c = contact.terms.contacts[0]
    assert c.mu == np.inf
    size = STILL * max(contact.terms.speed, speed)
    rates, phi = np.zeros(contact.terms.m), np.ones(len(contact.terms.contacts))
    rates[c.normal], rates[c.along[0]] = falls * size, 0.6 * slip * size
    rates[c.along[1]] = -0.8 * slip * size
    phi[c.height] = height * TOUCHING * contact.terms.size
    monkeypatch.setattr(type(mixed), "constraint_error", lambda self, t, q, v: (rates, phi))
    now = moment(contact)
    now.v = speed * contact.terms.per_metre * np.eye(contact.terms.nv)[0]
    if not refused:
        contact._check_slip(now)
        return
    with pytest.raises(InputError, match=f"'{c.name}' slips with .* law='rolling'"):
        contact._check_slip(now)


# -- coefficients ----------------------------------------------------------------------------------
def test_restitution_and_stiffness_are_given_by_name():
    """What is not named stays down, and has the mean stiffness of the others; None knows none."""
    names = shipped("differential_drive").contact_names
    contact = contact_of(restitution={names[1]: 0.25}, stiffness={names[0]: 1e4, names[2]: 4e4})
    assert contact.settings == {"mu": {names[0]: 0.5, names[1]: 0.5},
                                "restitution": {names[0]: 0.0, names[1]: 0.25, names[2]: 0.0},
                                "stiffness": {names[0]: 1e4, names[1]: 2.5e4, names[2]: 4e4}}
    assert contact_of(restitution=1.0).nonsmooth.restitution.tolist() == [1, 1, 1]
    assert "stiffness" not in contact_of().settings
    assert contact.grip.tolist() == [2.0, 2.0, 0.0]


@pytest.mark.parametrize("options, words", [
    ({"restitution": 1.01}, "restitution of '.*' is 1.01"),
    ({"restitution": -0.01}, "restitution of '.*' is -0.01"),
    ({"restitution": {"lef": 0.5}}, "restitution: wheel 'lef'"),
    ({"stiffness": {"caster_link": 0.0}}, "stiffness of 'caster_link' is 0.0"),
    ({"stiffness": {"lef": 1.0}}, "stiffness: wheel 'lef'")])
def test_impossible_coefficients_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        contact_of(**options)


@pytest.mark.parametrize("options, words", [
    ({"mu": 0.5}, "mu = 0.5 has no effect"), ({"restitution": 0.5}, "restitution = 0.5 has no eff"),
    ({"stiffness": {"a": 1.0}}, "stiffness = .* has no effect"),
    ({"on_fall": "go-on"}, "on_fall=\"go-on\" needs contact"),
    ({"contact": "coulomb", "mode": "kinematic"}, "a kinematic run has none")])
def test_arguments_without_effect_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        Simulator(shipped("differential_drive"), **options)
