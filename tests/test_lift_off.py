"""When the ground would have to pull: how wheels share a load, which of them are watched, and what
is told after a run; on both sides of each bound."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from support import shipped

from nhmech import Ground, NhmechError, Simulator
from nhmech.mechanics.distribution import Component
from nhmech.simulation.contact import lift_off
from nhmech.simulation.contact.force_reader import force_reader
from nhmech.simulation.contact.lift_off import (
    BALANCE,
    REMEDY,
    LiftOffBound,
    _idle_wheels,
    _share,
    lift_notice,
)

# normal forces of four wheels, and two others; loads that cancel each other are not determined
PLACES = [0, 2, 3, 5]
KERNEL = np.array([[1.0], [0.5], [-1.0], [-1.0], [0.0], [1.0]])


def forces(*normals):
    found = np.full(6, -7.0)
    found[PLACES] = normals
    return found


# -- how a load is shared --------------------------------------------------------------------------
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("shortest, split, z", [
    ((5, 4, 9, 2), 3, 3), ((5, -2, 9, 4), -3, -3),        # as before, where that serves
    ((5, 1, 9, 2), 3, 0), ((5, 3, 9, 2), 3, 0),           # else by least norm
    ((5, -2, 9, 2), -3, -2), ((9, -2, 9, 4), 0, -3), ((-1, 3, 3, 5), 0, 2),      # else evenly
    ((9, -4, 9, 2), 0, 0)])                               # no distribution has none below zero
def test_a_load_is_shared_as_before_then_by_least_norm_then_evenly(shortest, split, z, scale):
    """Shortest forces + z kernel. Evenly: the least force is as large as can be."""
    before = scale * split * KERNEL[:, 0]
    before[4] = 8.0 * scale                      # moves no force that the kernel does
    found, after = _share(scale * forces(*shortest), 3.0 * KERNEL, PLACES, before)
    np.testing.assert_allclose(found, scale * (shortest + z * KERNEL[PLACES, 0]),
                               rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(after, before if z == split and z else scale * z * KERNEL[:, 0],
                               rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("kernel", [np.zeros((6, 0)), np.eye(6)[:, [1, 4]]])
@pytest.mark.parametrize("shortest", [(5, 1, 9, 2), (5, -1, 9, 2)])
def test_a_load_that_is_determined_is_no_matter_of_choice(kernel, shortest):
    found, after = _share(forces(*shortest), kernel, PLACES, np.ones(6))
    assert found.tolist() == list(shortest) and not after.any()


@pytest.mark.parametrize("pull, holds", [(0.9e-9, True), (1.1e-9, False)])
def test_a_wheel_that_just_touches_is_not_pulled(pull, holds):
    """Relative to the largest force: at z = -2 the others have 8, 12 and none."""
    shortest = forces(10, -2 - 24 * pull, 10, 2)
    found, after = _share(shortest, KERNEL, PLACES, np.zeros(6))
    np.testing.assert_allclose(found, [8, 0, 12, 0] if holds else shortest[PLACES], atol=1e-6)
    assert after.any() == holds


@pytest.mark.parametrize("part", [-0.3, 0.0, 0.2])
def test_compiled_code_has_the_margins_of_python(part):
    """Each with a thousand-millionth of the largest force for rounding; with a split that is kept
    because it serves."""
    vehicle = shipped("skid_steer")
    bound, simulator = LiftOffBound.of(vehicle), Simulator(vehicle)
    state = simulator.reset(xi={"forward_speed": 0.5, "yaw_rate": 0.3})
    at = state.t, state.q, state.v, state.u
    shortest, kernel = force_reader(vehicle).look(*at)
    assert kernel.shape[1] and (shortest[bound.places] > 0).all()
    rng = np.random.default_rng(0)
    split = kernel @ rng.normal(size=kernel.shape[1])
    split *= part * shortest[bound.places].min() / np.abs(split).max()
    bound.split[...] = split
    margins = bound.margins(state)
    normals = (shortest + split)[bound.places]
    np.testing.assert_allclose(margins, normals + 1e-9 * normals.max(), rtol=1e-13)
    np.testing.assert_allclose(bound.split, split, rtol=1e-12, atol=1e-12)
    slack = 1e-9 * shortest[bound.places].max()
    found = bound.along(vehicle.equations)(state.t, simulator.moment.x, state.u, vehicle.theta,
                                           split).full().ravel()
    np.testing.assert_allclose(found, normals + slack, rtol=1e-12)
    assert bound.names == tuple(f"lift-off: {wheel}" for wheel in vehicle.contact_names)


# -- which wheels are watched ----------------------------------------------------------------------
@pytest.mark.parametrize("loads, idle", [
    ((5.0, 3.0, 1e-5), {}), ((5.0, 3.0, 5.1e-6), {}), ((5.0, 4.9e-6, 0.0), {"b": 0.0, "c": 0.0}),
    ((5.0, -4.9e-6, 2.0), {"b": 0.0}), ((5.0, -5.1e-6, 2.0), {"b": -5.1e-6}),
    ((-5.0, 1.0, 2.0), {"a": -5.0}), ((0.0, 0.0, 0.0), {"a": 0.0, "b": 0.0, "c": 0.0})])
def test_a_wheel_without_a_load_is_idle(loads, idle, monkeypatch):
    """Up to a millionth of the largest; what the ground would have to pull is told with its
    force."""
    vehicle = SimpleNamespace(configuration=lambda: np.arange(3.0))
    monkeypatch.setattr(lift_off, "_loads_at_rest", lambda of, t, q, places: (
        np.array(loads) if (of, t, q.tolist(), places) == (vehicle, 0.0, [0, 1, 2], PLACES)
        else None))
    assert _idle_wheels(vehicle, ["a", "b", "c"], PLACES) == idle


LEFT, RIGHT, CASTER = "left_wheel_joint", "right_wheel_joint", "caster_link"


@pytest.mark.parametrize("changes, ground, watched, told", [
    ({}, None, [], f"{LEFT} -3 N, {RIGHT} 0 N, {CASTER} -0.5 N"),
    # of the file itself, on level ground, the caster is idle
    ({}, (0.1, 0.0, 1.0), [LEFT], f"{RIGHT} 0 N, {CASTER} -0.5 N"),
    ({"payload.mass": 2.0}, None, [LEFT], f"{RIGHT} 0 N, {CASTER} -0.5 N"),
    ({"payload.mass": 2.0}, (0.1, 0.0, 1.0), [LEFT], f"{RIGHT} 0 N, {CASTER} -0.5 N")])
def test_what_a_slope_or_a_load_lifts_is_watched(changes, ground, watched, told, monkeypatch):
    """It is no fault of the file; what carries nothing is not watched."""
    vehicle = shipped("differential_drive", *([Ground(ground)] if ground else []))
    vehicle = vehicle.with_parameters(changes) if changes else vehicle
    monkeypatch.setattr(lift_off, "_idle_wheels", lambda of, wheels, places: (
        {LEFT: -3.0, RIGHT: 0.0, CASTER: -0.5} if of is vehicle else {CASTER: 0.0}))
    found, places, (notice,) = lift_off._find_watched.__wrapped__(vehicle)
    assert [*found] == watched and f"no load at rest ({told}):" in notice.text
    components = [*vehicle.contact_rows]
    assert [components[i] for i in places] == [Component(wheel, "normal") for wheel in watched]
    monkeypatch.setattr(lift_off, "_idle_wheels", lambda *of: {})
    assert lift_off._find_watched.__wrapped__(vehicle)[0] == (LEFT, RIGHT, CASTER)


def test_what_cannot_stand_has_no_idle_wheels():
    def cannot():
        raise NhmechError("it cannot stand")

    assert _idle_wheels(SimpleNamespace(configuration=cannot), ["a"], [0]) == {}


# -- what is told after a run ----------------------------------------------------------------------
def told(normals, supported, at_rest=(1.0, 1.0), monkeypatch=None, components=("a", "b")):
    """The notice about normal forces (N, 2) of wheels a and b at t = 0, 0.5, 1 s, ..."""
    asked = []
    vehicle = SimpleNamespace(contact_rows={
        Component("a", "normal"): 0, Component("a", "lateral"): 1, Component("b", "normal"): 2})
    monkeypatch.setattr(lift_off, "_loads_at_rest", lambda of, t, q, places: (
        asked.append((t, q.tolist(), places.tolist())) or np.array(at_rest)))
    normals = np.array(normals, float)
    shares = np.column_stack([normals[:, 0], -99.0 * np.ones(len(normals)), normals[:, 1]])
    found = lift_notice(vehicle, 0.5 * np.arange(len(normals)), np.arange(len(normals))[:, None],
                        SimpleNamespace(split=(shares, np.array(supported)),
                                        normal=np.array([True, False, True]),
                                        components=tuple(vehicle.contact_rows)))
    return found, asked


def test_the_first_moment_and_the_worst_one_are_told(monkeypatch):
    found, asked = told([(4, 6), (4, -3.9e-6), (3, -2), (-5, 6), (-9, 6)],
                        [True, False, False, False, True], monkeypatch=monkeypatch)
    assert found.text == (
        "ideal rolling is not valid where normal forces are negative: from t = 1 s (b), in 40 % of "
        "the recorded moments; most at t = 1.5 s, a with 5 N")
    assert found.remedy is REMEDY and asked == [(1.0, [2], [0, 2])]


@pytest.mark.parametrize("pull, is_told", [(0.9e-6, False), (1.1e-6, True)])
def test_a_pull_is_relative_to_the_largest_force_of_its_moment(pull, is_told, monkeypatch):
    for largest in (1e-3, 50.0):
        found, _ = told([(1.0, 2.0), (largest, -pull * largest)], [True, False],
                        monkeypatch=monkeypatch)
        assert (found is not None) == is_told


@pytest.mark.parametrize("at_rest, tips", [
    ((5.0, 0.0), False), ((5.0, -4.9e-6), False), ((5.0, -5.1e-6), True), ((-5.0, 2.0), True)])
def test_what_tips_at_rest_is_told_what_balances_it(at_rest, tips, monkeypatch):
    found, _ = told([(5, -2)], [False], at_rest, monkeypatch)
    assert found.text.endswith("; the vehicle tips at rest too") == tips
    assert found.remedy is (BALANCE if tips else REMEDY)


def test_what_the_ground_supports_and_what_has_no_wheels_is_not_told(monkeypatch):
    assert told([(5, -2), (-1, 3)], [True, True], monkeypatch=monkeypatch)[0] is None
    none = SimpleNamespace(split=(np.zeros((2, 1)), np.array([False, True])),
                           normal=np.array([False]), components=(Component("a", "lateral"),))
    assert lift_notice(SimpleNamespace(), np.zeros(2), np.zeros((2, 1)), none) is None
