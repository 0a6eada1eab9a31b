"""Impulses of one step, against the laws that they obey, for bodies of a few rows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from nhmech.simulation.contact.contact_problem import Cone, ContactProblem
from nhmech.simulation.contact.contact_rows import ContactRows
from nhmech.simulation.contact.impulses import Impulses, StepEnds, independent_rows
from nhmech.simulation.contact.motion import Motion
from nhmech.simulation.contact.phases import Phase

NV = 10
STILL = 1e-7      # relative to the fastest contact: a slower one is at rest


def contact(i, normal, along, mu):
    return ContactRows(f"wheel {i}", normal, along, i, mu)


def terms_of(contacts, bilateral, m, per_metre=None, speed=3.0):
    """What `Impulses` knows of a vehicle."""
    return SimpleNamespace(contacts=contacts, bilateral=bilateral, m=m, speed=speed,
                           per_metre=np.ones(NV) if per_metre is None else per_metre,
                           heights=np.arange(len(contacts)))


# rows 0 and 4 are bilateral, the contacts lie in between and behind, in any order
THREE = (contact(0, 6, (5, 7), 0.7), contact(1, 1, (2, 3), 0.4), contact(2, 8, (), 0.0))
TERMS = terms_of(THREE, (0, 4), 9, np.linspace(0.5, 2.0, NV))


def random_step(seed, affine=1.0):
    """Mass, momentum, rows of which some have a tilted direction of force, and what they ask."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(NV, NV))
    A, b = rng.normal(size=(9, NV)), affine * rng.normal(size=9)
    return root @ root.T + np.eye(NV), rng.normal(size=NV), A, b, rng


def check(terms, closed, found, w, mass, momentum, G, A, b, back=None, driven=None):
    """Momentum, bilateral rows, Signorini and Coulomb at what was found."""
    P, (held, forces) = found.impulses, found.bilateral
    total = G.T @ P + G[held].T @ forces
    if driven is not None:
        total = total + driven[2].T @ found.driven
        np.testing.assert_allclose(driven[0] @ w, driven[1], atol=1e-9)
    size = np.abs(momentum).max()
    np.testing.assert_allclose(mass @ w, momentum + total, rtol=0, atol=2e-5 * size)
    u = A @ w + b
    np.testing.assert_allclose(u[list(terms.bilateral)], 0, atol=1e-9)
    assert not P[[row for row in range(terms.m) if row not in
                  [row for i in closed for row in terms.contacts[i].rows]]].any()
    for k, i in enumerate(closed):
        c, slip = terms.contacts[i], u[list(terms.contacts[i].along)]
        normal, along = P[c.normal], P[list(c.along)]
        aim = u[c.normal] + (0.0 if back is None else back[k])
        assert normal >= 0 and aim >= -1e-9 and abs(normal * aim) < 1e-9
        assert np.linalg.norm(along) <= c.mu * normal * (1 + 1e-9) + 1e-12
        phase = Phase(found.phases[k])
        bounces = back is not None and back[k] < 0
        assert (phase is Phase.AIRBORNE) == (not found.presses[k] or bounces)
        assert found.presses[k] == (normal > 1e-9) == (aim < 1e-9)
        if phase is Phase.ROLLING:
            np.testing.assert_allclose(slip, 0, atol=1e-9)
        elif phase is Phase.SLIDING:
            np.testing.assert_allclose(along, -c.mu * normal * slip / np.linalg.norm(slip),
                                       rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("closed", [(0, 1, 2), (1,), (2, 0), ()])
@pytest.mark.parametrize("how", ["step", "driven", "impact"])
def test_the_laws_of_contact_hold_at_random_states(how, closed):
    seen = set()
    for seed in range(12):
        mass, momentum, A, b, rng = random_step(seed)
        G = A + 0.02 * rng.normal(size=A.shape)         # rows at the middle of the step
        driven = back = None
        if how == "driven":
            ways = rng.normal(size=(1, NV))
            driven = ways, rng.normal(size=1), ways + 0.02 * rng.normal(size=(1, NV))
        if how == "impact":
            b, G = 0 * b, A
            before = np.linalg.solve(mass, momentum)
            e = np.array([0.5, 0.0, 0.8])[list(closed)] * (seed % 2)
            back = e * np.minimum((A @ before)[[THREE[i].normal for i in closed]], 0.0)
        found = Impulses(TERMS, np.array(closed, dtype=int), np.array([0.5, 1.5, 1.0]))
        for _ in range(3):
            found.solve(mass, momentum, G, (A, b, None), back, driven)
        w = found.finish()
        assert found.error < 1e-10
        check(TERMS, closed, found, w, mass, momentum, G, A, b, back, driven)
        seen |= {Phase(phase) for phase in found.phases}
    assert len(seen) >= (2 if closed else 0)


def test_dependent_bilateral_rows_are_held_once():
    """In any unit of the velocities; rows of zeros hold nothing."""
    mass, momentum, A, b, _ = random_step(3)
    A[4], b[4] = 1e6 * A[0], 1e6 * b[0]
    found = Impulses(TERMS, np.arange(3), np.ones(3))
    found.solve(mass, momentum, A, (A, b, None))
    w = found.finish()
    assert found.bilateral[0] == [0]
    np.testing.assert_allclose(A[[0, 4]] @ w + b[[0, 4]], 0, atol=1e-3 * 1e-6)
    check(TERMS, (0, 1, 2), found, w, mass, momentum, A, A, b)


@pytest.mark.parametrize("size, count", [(1e-8, 3), (1e-10, 2)])
def test_rows_are_independent_up_to_rounding_whatever_their_norms(size, count):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2, 6))
    rows = np.vstack([1e9 * rows[0], np.zeros(6), 1e-9 * rows[1],
                      rows[0] - rows[1] + 10 * size * rng.normal(size=6)])
    assert independent_rows(rows, range(4)) == [0, 2, 3][:count]


@pytest.mark.parametrize("mass", [2e-5, 2.0, 2e5])
def test_a_load_is_shared_by_the_compliance_of_the_ground(mass):
    """Four contacts under one point: the impulse of each is inverse to it, and their sum stops the
    fall; the ground gives way by nothing all the same."""
    contacts = tuple(contact(i, i, (), 0.0) for i in range(4))
    share = np.array([0.4, 0.8, 1.2, 1.6])
    A = np.zeros((4, NV))
    A[:, 2] = 1
    momentum = np.zeros(NV)
    momentum[2] = -3 * mass
    found = Impulses(terms_of(contacts, (), 4), np.arange(4), share)
    for _ in range(3):
        found.solve(mass * np.eye(NV), momentum, A, (A, np.zeros(4), None))
    w = found.finish()
    # to the digits that a compliance of 1e-6 leaves
    np.testing.assert_allclose(found.impulses, 3 * mass / share / (1 / share).sum(), rtol=1e-8)
    assert abs(w[2]) < 1e-14


def test_small_numbers_of_a_large_unit_are_no_rounding():
    """Two bilateral rows that differ in a velocity of which 1e10 make a metre per second."""
    A = np.zeros((9, NV))
    A[0, 0] = A[4, 0] = 1
    A[4, 1] = 1e-10
    per_metre = np.ones(NV)
    per_metre[1] = 1e10
    found = Impulses(terms_of((), (0, 4), 9, per_metre), np.zeros(0, int), np.zeros(0))
    found.solve(np.diag([1, 1e-20, *[1.0] * (NV - 2)]), np.array([3.0, 5e-10, *[0] * (NV - 2)]), A,
                (A, np.zeros(9), None))
    assert found.bilateral[0] == [0, 4]
    np.testing.assert_allclose(found.finish()[:2] / per_metre[:2], 0, atol=1e-12)


def test_rows_hold_to_rounding_where_a_solver_is_less_exact():
    """The velocities are moved onto the rows of what rolls, as little as possible in one unit."""
    mass, momentum, A, b, _ = random_step(2)
    momentum = momentum - 50 * mass @ A[1]

    def solver(closed, W, g, least, P):
        found, error = ContactProblem(W, g, [Cone(0, (1, 2), 9.0)]).solve(P, least)
        return found * (1 + 1e-9), error

    contacts = THREE[0], contact(1, 1, (2, 3), 9.0), THREE[2]
    found = Impulses(terms_of(contacts, (0, 4), 9, TERMS.per_metre), np.array([1]), np.ones(3),
                     solver)
    for _ in range(3):
        found.solve(mass, momentum, A, (A, b, None))
    w = found.finish()
    assert found.phases[0] == Phase.ROLLING
    np.testing.assert_allclose((A @ w + b)[[0, 1, 2, 3, 4]], 0, atol=1e-12)


@pytest.mark.parametrize("away, is_down", [(0.0, True), (0.9, True), (1.1, False), (-1.0, True)])
@pytest.mark.parametrize("size", [1e-3, 50.0])
def test_what_grazes_the_ground_without_a_load_is_on_it(away, is_down, size):
    """Relative to the fastest contact, which slides beside it."""
    contacts = contact(0, 0, (), 0.0), contact(1, 1, (2, 3), 0.0)
    A = np.eye(4, NV)
    free = np.array([away * STILL * size, 0.0, size, 0.0, *[0.0] * (NV - 4)])
    found = Impulses(terms_of(contacts, (), 4), np.arange(2), np.ones(2))
    found.solve(np.eye(NV), free, A, (A, np.zeros(4), None))
    found.finish()
    assert found.presses[0] == is_down and found.phases[1] == Phase.SLIDING


@pytest.mark.parametrize("part, turned", [(0.49, True), (0.51, False)])
def test_what_goes_on_sliding_rubs_against_its_mean_slip(part, turned):
    """A puck of mass 2 on a belt: friction opposes the sum of the slips at both ends, if at least
    half of it is left along its way; else that of the end."""
    c, belt = contact(0, 0, (1, 2), 0.3), np.array([0.0, -0.4, 0.1])
    A, speed = np.zeros((3, NV)), 4.0
    A[0, 2] = A[1, 0] = A[2, 1] = 1
    loss = 0.3 * 2.0 / 2                       # mu P_n / m
    before = np.array([0.0, speed, 0.0])
    # without friction it would slip so; friction leaves `part` of the slip along its way
    free = np.array([part * speed, 0.4, -1.0, *[0.0] * (NV - 3)])
    free[:2] *= 1 + loss / np.linalg.norm(free[:2])
    free[:2] -= belt[1:]
    found = Impulses(terms_of((c,), (), 3), np.arange(1), np.ones(1))
    for k in range(2):
        w = found.solve(2 * np.eye(NV), 2 * free, A, (A, belt, None))
        if k == 0:
            assert ((w + belt[1])[0] < 0.5 * speed) == turned
            found.follow(before)
    slip = found.finish()[:2] + belt[1:]
    assert found.impulses[0] == pytest.approx(2.0, rel=1e-9)
    way = slip + (0 if turned else before[1:])
    np.testing.assert_allclose(found.impulses[1:], -0.6 * way / np.linalg.norm(way), rtol=1e-9)


def test_where_a_solver_gives_up_the_other_goes_on():
    """The solver is given the closed contacts, and its answer is taken."""
    asked = []

    def solver(closed, W, g, least, P):
        asked.append((tuple(closed), least))
        return None if len(asked) == 2 else ContactProblem(W, g, [
            Cone(0, (1, 2), 0.4)]).solve(P, least)

    mass, momentum, A, b, _ = random_step(1)
    both = []
    for given in (solver, None):
        found = Impulses(TERMS, np.array([1]), np.ones(3), given)
        for _ in range(3):
            found.solve(mass, momentum, A, (A, b, None))
        both.append(found.finish())
    np.testing.assert_allclose(both[0], both[1], rtol=0, atol=1e-12)
    assert asked == [((1,), pytest.approx(3e-9, rel=1e-12, abs=0))] * 3


# -- what is recorded ------------------------------------------------------------------------------
@pytest.mark.parametrize("leaps", [None, set(), {0}])
@pytest.mark.parametrize("phase", [Phase.ROLLING, Phase.SLIDING, Phase.AIRBORNE])
def test_a_step_records_its_slip_and_its_loss(phase, leaps):
    """Distance: the mean slip times the duration, of what slides. Loss: -P (u0 + u1)/2, with u0 by
    the rows at the beginning, and never below zero; in an impact, and where a contact leaps, by
    those at the end."""
    rng = np.random.default_rng(5)
    c = contact(0, 1, (0, 2), 0.5)
    rows0, rows1 = ((rng.normal(size=(3, NV)), rng.normal(size=3), np.array([height]))
                    for height in (0.1, 0.2))
    now = Motion(1.0, np.zeros(8), rng.normal(size=NV), np.array([Phase.AIRBORNE]), np.ones(3),
                 np.array([2.0]), np.array([4.0]))
    w, P = rng.normal(size=NV), rng.normal(size=3)
    found = Impulses(terms_of((c,), (), 3), np.array([0]), np.ones(1))
    found.phases[0] = phase
    for sign in (1, -1):
        end = found.record(StepEnds(now, rows0, 1.5, np.ones(8), w, rows1), sign * P, leaps)
        before, after = rows0[0] @ now.w + rows0[1], rows1[0] @ w + rows1[1]
        leapt = leaps is None or 0 in leaps
        start = rows1[0] @ now.w + rows1[1] if leapt else before
        lost = -sign * P @ (start + after) / 2
        assert end.lost[0] - 4.0 == pytest.approx(lost if leapt else max(lost, 0.0), rel=1e-12)
        slid = 0.5 * np.linalg.norm((before + after)[[0, 2]] / 2) * (phase is Phase.SLIDING)
        assert end.slid[0] - 2.0 == pytest.approx(slid, rel=1e-12)
        np.testing.assert_array_equal(end.impulses, 1 + sign * P)
        assert end.phases[0] == phase and end.heights[0] == 0.2 and end.t == 1.5
    assert now.slid[0] == 2.0 and now.lost[0] == 4.0 and now.phases[0] == Phase.AIRBORNE
    lies = rows1[0], rows1[1], np.array([np.inf])
    assert found.record(StepEnds(now, rows0, 1.5, np.ones(8), w, lies), P, leaps).phases[0] == (
        Phase.AIRBORNE)


@pytest.mark.parametrize("slip, phase", [(0.9, Phase.ROLLING), (1.1, Phase.SLIDING)])
def test_a_slip_below_rounding_is_none(slip, phase):
    """Relative to the largest of the velocities without impulses, here those of the fall."""
    c = contact(0, 0, (1, 2), 0.0)
    A = np.zeros((3, NV))
    A[0, 2] = A[1, 0] = A[2, 1] = 1
    free = np.array([0.6 * slip * STILL, 0.8 * slip * STILL, -1.0, *[0.0] * (NV - 3)])
    for fall in (1.0, 50.0):
        found = Impulses(terms_of((c,), (), 3), np.arange(1), np.ones(1))
        found.solve(np.eye(NV), fall * free, A, (A, np.zeros(3), None))
        found.finish()
        assert found.phases[0] == phase and found.presses[0]
