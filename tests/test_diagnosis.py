"""Why a run could not go on, in words: how it ended, which wheel, which speeds, and what helps."""

from __future__ import annotations

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from nhmech.compile.status import Status
from nhmech.mechanics import euclidean, lagrangian_system
from nhmech.simulation import diagnosis
from nhmech.simulation.diagnosis import explain_failure, explain_fall
from nhmech.simulation.integration.integrators import FLAT

DT = 0.125


def made(names=(), vehicle=None):
    """A system with two guards, 1 + t - x and 2.9 + a x with a = 0.5, and a vehicle or none."""
    system = lagrangian_system(euclidean("x"), lambda s: s.p.a * s.v.x ** 2, parameters=("a",))
    guards = ca.vertcat(1 + system.t - system.q[0], 2.9 + system.theta[0] * system.q[0])
    return SimpleNamespace(vehicle=vehicle, theta=np.array([0.5]), constrained=SimpleNamespace(
        system=system, guards=guards, guard_names=names))


def at(x=0.0, guard=1.0, v=(1.0, -2.0)):
    return SimpleNamespace(t=2.0, q=np.array([x]), v=np.array(v), guard=guard)


def atlas(name="rk4", limit=2.8, kinematic=False, count=1):
    """Whose speeds are all of v but the first number, called a, b, ..."""
    return SimpleNamespace(primary=SimpleNamespace(
        scheme=SimpleNamespace(name=name, real_limit=limit), kinematic=kinematic,
        equations=SimpleNamespace(names=tuple("abcdefgh"[:count])),
        speeds=list(range(1, 1 + count))))


def step(status, t=2.0 + DT):
    return SimpleNamespace(status=status, t=t)


@pytest.mark.parametrize("status, why", [
    (Status.TOO_SMALL, "its step became too small"),
    (Status.NOT_FINITE, "the rate is not finite there")])
def test_an_adaptive_method_says_where_it_stopped(status, why, monkeypatch):
    """Within the step; and what helps, where something does."""
    words = made(), atlas("dop853", np.inf), at(), DT, step(status, 2.03125)
    assert explain_failure(*words) == f"DOP853 stopped at t = 2.03125 s: {why}"
    monkeypatch.setattr(diagnosis, "describe_massless", lambda vehicle, q: f"Load {vehicle}")
    assert explain_failure(made(vehicle="it"), *words[1:]) == (
        f"DOP853 stopped at t = 2.03125 s: {why}. Load it")


@pytest.mark.parametrize("status, words", [
    (Status.COARSE, "was so long that its result has no correct digit"),
    (Status.UNSOLVED, "the equations of the implicit method were not solved"),
    (Status.NOT_FINITE, "gave numbers that are not finite, beyond 1e+10 or off the constraints"),
    (Status.OFF, "gave numbers that are not finite, beyond 1e+10 or off the constraints")])
def test_a_whole_step_that_failed_says_how(status, words):
    told = explain_failure(made(), atlas(), at(), DT, step(status))
    assert told.startswith(f"stopped at t = 2 s: the step of {DT} s ") and words in told
    assert told.endswith("; speeds before it were {a: -2}. Try a smaller dt, and check masses and "
                         "efforts")


def test_a_step_that_conserves_energy_where_forces_work_says_what_to_take():
    told = explain_failure(made(), atlas(), at(), DT, step(Status.WORKED))
    assert "began where forces do work" in told and told.endswith(
        "; speeds before it were {a: -2}. Take integrator='gauss' (--integrator gauss)")


@pytest.mark.parametrize("count, which, shown", [
    (2, "; speeds", "{b: -3, a: 2}"), (6, "; speeds", "{f: 7, e: 6, d: 5, c: 4, b: -3, a: 2}"),
    (7, "; the largest of the speeds", "{g: -8, f: 7, e: 6, d: 5, c: 4, b: -3}")])
def test_the_largest_speeds_are_shown(count, which, shown):
    """Whatever their signs, six at most."""
    v = (99.0, 2.0, -3.0, 4.0, 5.0, 6.0, 7.0, -8.0)
    told = explain_failure(made(), atlas(count=count), at(v=v), DT, step(Status.NOT_FINITE))
    assert f"{which} before it were {shown}." in told


@pytest.mark.parametrize("status, guard, names, falls", [
    (Status.FALLEN, 1.0, ("one", "two"), True), (Status.NOT_FINITE, 0.99 * FLAT, ("one", "two"),
                                                 True),
    (Status.NOT_FINITE, 1.01 * FLAT, ("one", "two"), False),
    (Status.NOT_FINITE, -1.0, (), False), (Status.FALLEN, 1.0, (), True)])
def test_a_step_that_fails_beside_a_guard_is_a_fall(status, guard, names, falls):
    told = explain_failure(made(names), atlas(), at(guard=guard), DT, step(status))
    assert (told == "stopped at t = 2 s: " + (names[1] if names else "guard 1 vanishes")) == falls
    assert ("the step of" in told) is not falls


@pytest.mark.parametrize("x, name", [(0.06, "two"), (0.07, "one")])
def test_the_least_guard_is_named(x, name):
    """At the moment, with the parameters: 3 - x and 2.9 + x / 2 are equal at x = 1/15."""
    assert explain_fall(made(("one", "two")), at(x)) == f"stopped at t = 2 s: {name}"


@pytest.mark.parametrize("kinematic, limit, remedy", [
    (False, 2.8, "Stiff it, 0.125, rk4, 2.8"), (False, np.inf, "Load it"), (True, 2.8, None),
    (True, np.inf, None)])
def test_what_helps_depends_on_the_scheme(kinematic, limit, remedy, monkeypatch):
    """A shorter step, of a scheme that has a limit; nothing, where speeds are commanded."""
    monkeypatch.setattr(diagnosis, "describe_massless", lambda vehicle, q: f"Load {vehicle}")
    monkeypatch.setattr(diagnosis, "describe_stiffness", lambda vehicle, dt, q, name, limit: (
        f"Stiff {vehicle}, {dt}, {name}, {limit}"))
    told = explain_failure(made(vehicle="it"), atlas("rk4", limit, kinematic), at(), DT,
                           step(Status.NOT_FINITE))
    assert told.endswith(f". {remedy or 'Try a smaller dt, and check masses and efforts'}")
