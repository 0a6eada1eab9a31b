"""One implicit step in Python: the scheme that it solves, what it costs in energy, and when it
refuses."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech import Ground
from nhmech.compile.contact_step import DONE, FAILED, OPEN
from nhmech.simulation.contact import implicit_step
from nhmech.simulation.contact.contact_problem import ContactProblem
from nhmech.simulation.contact.contact_rows import ContactRows
from nhmech.simulation.contact.energy_terms import NUDGE, EnergyTerms
from nhmech.simulation.contact.implicit_step import LEAP, ImplicitStep, Unsolved
from nhmech.simulation.contact.impulses import StepEnds
from nhmech.simulation.contact.motion import Motion
from nhmech.simulation.contact.nonsmooth_terms import NonsmoothTerms
from nhmech.simulation.contact.phases import Phase

MOVING = Ground(normal=(0.1, 0.2, 1), velocity=(0.1, 0.2, 0.3), angular_velocity=(0.03, 0.06, 0.3))


@cache
def step_of(name, mu=0.3):
    robot, _, what = name.partition(" on ")
    tyres = what if "rubber" in what else None
    vehicle = (nhmech.load(nhmech.urdf_path(robot), tyres=tyres) if tyres else
               shipped(robot, MOVING if what else Ground()))
    terms = NonsmoothTerms.of(vehicle, None if tyres else mu)
    return ImplicitStep(terms, np.linspace(0.5, 1.5, len(terms.contacts)))


def start(step, seed, size=1.0):
    """A motion on the ground that need not roll."""
    terms, rng = step.terms, np.random.default_rng(seed)
    vehicle, n = terms.vehicle, len(terms.contacts)
    q = vehicle.configuration((0.0, 0.0, rng.uniform(-3, 3)), t=0.7)
    x = np.array([*q[:7], *vehicle.joint_positions(q).values()])
    w = size * rng.normal(size=terms.nv) * terms.per_metre
    w[2:5] *= 0.03
    A, b, _ = terms.read_rows(0.7, x, w, np.ones(n))
    held = list(terms.bilateral)
    w -= np.linalg.pinv(A[held]) @ (A @ w + b)[held]
    return Motion(0.7, x, w, np.full(n, Phase.SLIDING), np.zeros(terms.m), np.ones(n),
                  2 * np.ones(n))


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("name", ["ball", "differential_drive", "ackermann_car", "omni",
                                  "differential_drive on robot_rubber",
                                  "tricycle on moving ground"])
def test_a_step_solves_the_scheme_and_balances_its_energy(name, dt):
    """M (w1 - w0) = dt F + J^T P + B^T Lambda + c dt M w with everything at the middle, and w the
    mean velocity; E changes by the work of the forces and of friction alone. At its end nothing is
    off the ground, and what rolls does not slip."""
    step = step_of(name)
    terms, closed = step.terms, np.arange(len(step.terms.contacts))
    ones, rng = np.ones(len(closed)), np.random.default_rng(3)
    bilateral = list(terms.bilateral)
    for seed in range(3):
        now = start(step, seed)
        u = rng.normal(size=terms.vehicle.constrained.system.u.numel())
        end = step.take_in_python(now, u, dt, closed, False)
        P, mean = end.impulses, (now.w + end.w) / 2
        there = terms.mover(now.x, dt / 2, mean)[0].copy()
        M, F, _, G, power = terms.momentum(now.t + dt / 2, there, mean, u, P / dt, ones, dt / 2)
        left = M @ (end.w - now.w) - dt * F - G.T @ P
        basis = np.column_stack([M @ mean, G[bilateral].T])
        parts = np.linalg.lstsq(basis, left, rcond=None)[0]
        # forces of tyres are linearised near the loads before the last iteration
        size = np.abs(M @ now.w).max() * (100 if step.energy.pulls.any() else 1)
        np.testing.assert_allclose(basis @ parts, left, atol=1e-9 * size)
        assert abs(parts[0]) <= NUDGE
        energies = [step.energy.at(now.t, one.x, one.w) for one in (now, end)]
        work = dt * (mean @ F - power.item())
        lost = (end.lost - now.lost).sum()
        # of moving ground
        work -= P @ sum(terms.read_rows(one.t, one.x, one.w, ones)[1] for one in (now, end)) / 2
        if not step.energy.pulls.any():         # what tyres take is none of friction's
            assert energies[1] - energies[0] == pytest.approx(
                work - lost, abs=2e-11 * (1 + abs(energies[0])))
        assert (end.lost >= now.lost).all() and end.t == now.t + dt
        # moved by the mean velocity, onto the ground
        moved = terms.mover(now.x, dt, mean)[0]
        assert np.abs(end.x - moved).max() <= 10 * (dt * np.abs(now.w).max()) ** 2
        A, b, phi = terms.read_rows(end.t, end.x, end.w, ones)
        slips, tiny = A @ end.w + b, 1e-12 * np.abs(now.w).max()
        # those of deflections are linearised near the velocities before the last iteration
        assert np.abs(slips[bilateral]).max(initial=0.0) <= (
            1e-9 if step.energy.pulls.any() else tiny)
        assert end.heights == pytest.approx(phi[terms.heights], abs=1e-15)
        for c, phase in zip(terms.contacts, end.phases):
            assert phase == Phase.AIRBORNE or abs(phi[c.height]) < 1e-14
            assert phase == Phase.AIRBORNE or abs(slips[c.normal]) <= tiny
            assert phase != Phase.ROLLING or np.abs(slips[list(c.rows)]).max() <= tiny
        again = step.take_in_python(now, u, dt, closed, False)
        assert np.array_equal(again.w, end.w)


@pytest.mark.parametrize("name", ["differential_drive", "tricycle"])
def test_a_step_that_keeps_its_contact_points_has_the_rows_of_its_beginning(name):
    """What rolls at its end does so by the rows that it began with."""
    step = step_of(name, 50.0)
    terms, closed = step.terms, np.arange(len(step.terms.contacts))
    now, dt = start(step, 1, 0.3), 1e-3
    u = np.zeros(terms.vehicle.constrained.system.u.numel())
    end = step.take_in_python(now, u, dt, closed, stays=True)
    own = [row for c, phase in zip(terms.contacts, end.phases) if phase == Phase.ROLLING
           for row in c.rows]
    assert len(own) >= 4
    rows = [terms.read_rows(one.t, one.x, one.w, np.ones(len(closed))) for one in (now, end)]
    slips = [np.abs((A @ end.w + b)[own]).max() for A, b, _ in rows]
    assert slips[0] <= 1e-12 and slips[1] > 1e-6


@pytest.mark.parametrize("name", ["ball", "differential_drive"])
def test_a_usual_step_takes_few_iterations(name, monkeypatch):
    """Three to five, each of which looks at the forces once; onto the ground a ball comes in
    one."""
    step, seen, momentum = step_of(name), [], NonsmoothTerms.momentum
    monkeypatch.setattr(NonsmoothTerms, "momentum", lambda *at: seen.append(at) or momentum(*at))
    u = np.zeros(step.terms.vehicle.constrained.system.u.numel())
    for seed in range(3):
        seen.clear()
        step.take_in_python(start(step, seed), u, 1e-3, np.arange(len(step.terms.contacts)),
                            False)
        assert 3 <= len(seen) <= 5
        assert [at[1] for at in seen] == pytest.approx([0.7 + 5e-4] * len(seen), rel=1e-13, abs=0)
    ball, reads, rows = step_of("ball").terms, [], NonsmoothTerms.read_rows
    monkeypatch.setattr(NonsmoothTerms, "read_rows", lambda *at: reads.append(at) or rows(*at))
    x = ball.vehicle.configuration()
    for off, many in ((1e-3, 2), (-1e-3, 2), (0.0, 1)):
        reads.clear()
        at, (_, _, phi) = step_of("ball")._onto_ground(
            0.0, x + off * np.eye(7)[2], np.zeros(6), np.array([0]), np.array([True]), np.ones(1),
            0.0)
        assert abs(phi[0]) <= 1e-15 and len(reads) == many
        np.testing.assert_allclose(at, x, rtol=1e-12, atol=1e-15)


def test_compiled_code_has_tolerances_of_the_vehicle(monkeypatch):
    """Heights relative to its size, speeds to that after a fall from it; redundant couplings are
    left out."""
    told = []
    monkeypatch.setattr(implicit_step, "compile_contact_step", lambda *of: told.append(of))
    terms = NonsmoothTerms.of(shipped("rover"), 0.5)
    assert ImplicitStep(terms, np.ones(len(terms.contacts))).code is None
    (_, layout, words, constants), = told
    numbers = {name: float(text) for name, text in words.items() if name != "STIFFEN"}
    assert numbers == pytest.approx(numbers | {
        "LEVEL": 1e-15 * terms.size, "HIGH": 1e-9 * terms.size, "FLOOR": 1e-9 * terms.speed,
        "SPEED": terms.speed, "TINY": 1e-14, "FAINT": 1e-11, "NEAR": 1e-9, "CLOSE": 1e-11,
        "UNSOLVED": 1e-7, "STILL": 1e-7, "COMPLIANCE": 1e-6, "SOLVED": 1e-13, "GOOD": 1e-10,
        "SOFTEST": 1e-10, "UNSEEN": 1e-14, "ROLLING": 0, "SLIDING": 1, "AIRBORNE": 2, "LYING": 3},
        rel=1e-12)
    assert layout.bilateral == terms.bilateral and len(terms.bilateral) == 3
    assert constants["mu"].tolist() == [0.5] * 6


def test_what_stands_still_stays_so():
    """Without a velocity there is no energy to correct."""
    step = step_of("differential_drive")
    terms = step.terms
    now = start(step, 0, 0.0)
    end = step.take_in_python(now, np.zeros(2), 1e-3, np.arange(len(terms.contacts)), False)
    assert np.abs(end.w).max() < 1e-12 and np.abs(end.x - now.x).max() < 1e-14
    assert (end.phases == Phase.ROLLING).all()
    weight = sum(end.impulses[c.normal] for c in terms.contacts) / 1e-3
    assert weight == pytest.approx(9.81 * sum(i.mass for i in terms.vehicle.model.inertias),
                                   rel=1e-9)


@pytest.mark.parametrize("part, is_there", [(0.9, True), (1.1, False)])
def test_a_wheel_that_no_step_moves_is_off_the_ground(part, is_there):
    """By more than 1e-9 of the size of the vehicle."""
    terms = NonsmoothTerms.of(shipped("ball"), 0.3)
    terms.__dict__["mover"] = lambda x, factor, w: [x]
    x, off = terms.vehicle.configuration(), part * 1e-9 * terms.size

    def work():
        return ImplicitStep(terms, np.ones(1))._onto_ground(
            0.0, x + off * np.eye(7)[2], np.zeros(6), np.array([0]), np.array([True]), np.ones(1),
            0.0)

    if is_there:
        assert work()[1][2][0] == pytest.approx(off, rel=1e-6)
        return
    with pytest.raises(Unsolved, match="m off it at t = 0 s"):
        work()


@pytest.mark.parametrize("part, is_there", [(0.9, True), (1.1, False)])
def test_a_wheel_comes_onto_the_ground_in_six_iterations(part, is_there):
    """At most: a height of x^2, of which Newton's method leaves a quarter each time, until it is
    1e-9 of the size of the vehicle."""
    terms = SimpleNamespace(
        heights=np.array([0]), bilateral_heights=(), forms=(0,), size=0.5, per_metre=np.ones(1),
        read_rows=lambda t, x, w, touch, h: (2 * x[None], np.zeros(1), x ** 2),
        mover=lambda x, factor, w: [x + factor * w])
    start = np.sqrt([part * 4 ** 6 * 1e-9 * terms.size])

    def work():
        return ImplicitStep(terms, np.ones(1))._onto_ground(
            0.0, start, np.zeros(1), np.array([0]), np.array([True]), np.ones(1), 0.0)

    if is_there:
        x, (A, _, phi) = work()
        assert x == pytest.approx(start / 2 ** 6, rel=1e-12,
                                  abs=0) and A[0] == 2 * x and phi == x ** 2
        return
    with pytest.raises(Unsolved, match="m off it at t = 0 s"):
        work()


def test_functions_that_are_nearly_dependent_all_become_zero():
    """Two whose gradients differ by a millionth, and a third that is their mean, so that rounding
    alone tells it from them; and nothing moves along the direction that all leave free."""
    rng = np.random.default_rng(7)
    basis, target = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
    one, other = basis[0], basis[0] + 1e-6 * basis[1]
    rows = np.array([one, other, (one + other) / 2])
    terms = SimpleNamespace(
        heights=np.array([], dtype=int), bilateral_heights=(0, 1, 2), forms=(0, 1, 2), size=0.5,
        per_metre=np.ones(3),
        read_rows=lambda t, x, w, touch, h: (rows, np.zeros(3), rows @ (x - target)),
        mover=lambda x, factor, w: [x + factor * w])
    none = np.array([], dtype=int)
    x, _ = ImplicitStep(terms, np.ones(0))._onto_ground(
        0.0, target + basis.T @ np.array([0.1, 0.2, 0.3]), np.zeros(3), none,
        np.zeros(0, dtype=bool), np.ones(0), 0.0)
    np.testing.assert_allclose(basis @ (x - target), [0, 0, 0.3], rtol=0, atol=2e-9)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("gap, left", [(0.9 * 8e-14, 0.0), (3 * 8e-14, 2 * 8e-14), (0.06, 0.06),
                                       (0.4, 0.3), (1e9, 0.3)])
def test_energy_is_corrected_beyond_rounding_and_by_little(gap, left, sign, monkeypatch):
    """Rounding is 1e-14 of both energies, 1 J each, and of w M w = 6 J; the velocities change by a
    twentieth at most. Here all that is missing is a change of the potential energy: what tyres do,
    and impulses along the rows at the end, is no friction's."""
    contacts = ContactRows("tyre", 0, (), 0, 0.0), ContactRows("leaps", 1, (), 1, 0.5)
    energy, w = EnergyTerms(SimpleNamespace(contacts=contacts)), np.array([1.0, 1.0])
    energy.__dict__["pulls"] = np.array([True, False])
    energies = {"x0": -1.0, "x1": -1.0 - sign * gap}
    monkeypatch.setattr(EnergyTerms, "at", lambda self, t, x, w: energies[x])
    rows = np.ones((2, 2)), np.zeros(2), None
    impulses = SimpleNamespace(closed=[0, 1], impulses=np.array([-7.0, -9.0]),
                               bilateral=([], np.zeros(0)))
    found = energy.nudge(StepEnds(SimpleNamespace(t=0.3, x="x0", w=w), rows, 0.5, "x1", w, rows),
                         impulses, 3 * np.eye(2), 0.0, 0 * rows[0], {1})
    assert found == pytest.approx(sign * left / 6, rel=1e-2, abs=0)


@pytest.mark.parametrize("error, is_solved", [(0.9e-7, True), (1.1e-7, False)])
def test_a_contact_problem_that_is_not_solved_refuses_the_step(error, is_solved, monkeypatch):
    step = step_of("ball")
    solve = ContactProblem.solve
    monkeypatch.setattr(ContactProblem, "solve", lambda self, *given: (solve(self, *given)[0],
                                                                       error))
    def take():
        return step.take_in_python(start(step, 0), np.zeros(0), 1e-3, np.arange(1), False)

    if is_solved:
        assert take().t == pytest.approx(0.701, rel=1e-12, abs=0)
        return
    with pytest.raises(Unsolved, match="contact problem at t = 0.7 s is not solved"):
        take()


@pytest.mark.parametrize("change, is_near", [(0.9e-9, True), (1.1e-9, False)])
def test_iterations_that_do_not_converge_refuse_the_step(change, is_near, monkeypatch):
    """Their last change is still to be seen."""
    step = step_of("ball")
    monkeypatch.setattr(NonsmoothTerms, "change", lambda self, before, w: change)

    def take():
        return step.take_in_python(start(step, 0), np.zeros(0), 1e-3, np.arange(1), False)

    if is_near:
        assert take().t == pytest.approx(0.701, rel=1e-12, abs=0)
        return
    with pytest.raises(Unsolved, match="iterations .* do not converge at t = 0.7 s"):
        take()


# -- contact points that leap ----------------------------------------------------------------------
@pytest.mark.parametrize("apart, stays, leaps", [
    (0.9 * LEAP, False, False), (1.1 * LEAP, False, True), (0.0, True, True)])
def test_a_contact_whose_normal_row_turns_far_has_leapt(apart, stays, leaps):
    """By three tenths of itself, in velocities of one unit; its forces then act along the rows at
    the end. What has a tyre does not leap, since its load is not along its row."""
    per_metre = np.array([1.0, 100.0, 0.1])
    contacts = (ContactRows("tyre", 0, (), 0, 0.0), ContactRows("rim", 3, (1, 2), 1, 0.5))
    A = np.arange(12.0).reshape(4, 3)
    A[3] = np.array([3.0, 0, 4.0]) / per_metre
    G = A + 7.0
    G[3] = A[3] + apart * np.array([0, 5.0, 0]) / per_metre
    before = G.copy()
    step = ImplicitStep(SimpleNamespace(contacts=contacts, per_metre=per_metre), np.ones(2))
    assert step._leap(G, A, np.array([0, 1]), stays) == ({1} if leaps else set())
    np.testing.assert_array_equal(G[1:], A[1:] if leaps else before[1:])
    np.testing.assert_array_equal(G[0], before[0])


# -- compiled steps --------------------------------------------------------------------------------
class Code:
    """Compiled code that says what it is told to."""

    def __init__(self, status, n=2, m=3):
        self.status, rng = status, np.random.default_rng(0)
        self.arrays = {name: rng.normal(size=size) for name, size in {
            "x": 8, "w": 6, "u": 1, "closed": n, "touch": n, "guess": m, "x1": 8, "w1": 6,
            "impulses": m, "slid": n, "lost": n, "heights": n}.items()}
        self.arrays["phases"] = np.array([1, 0])

    def __call__(self, t, dt, stays):
        self.called = t, dt, stays
        return self.status


def in_c(status):
    step, code = ImplicitStep(SimpleNamespace(contacts=(None, None)), np.ones(2)), Code(status)
    step.__dict__["code"] = code
    rng = np.random.default_rng(1)
    now = Motion(0.7, rng.normal(size=8), rng.normal(size=6), np.zeros(2, int),
                 *(rng.normal(size=size) for size in (3, 2, 2)))
    closed, guess = np.array([True, False]), rng.normal(size=3)
    return code, now, closed, guess, lambda: step.take_in_c(now, np.array([4.0]), 0.25, closed,
                                                            guess, True)


def test_a_compiled_step_is_given_the_motion_and_adds_to_its_record():
    code, now, closed, guess, take = in_c(DONE)
    kept = {name: values.copy() for name, values in code.arrays.items()}
    end = take()
    assert code.called == (0.7, 0.25, True) and end.t == 0.95
    for name, value in (("x", now.x), ("w", now.w), ("u", [4.0]), ("closed", closed),
                        ("touch", closed), ("guess", guess)):
        np.testing.assert_array_equal(code.arrays[name], value)
    for name, value in (("x1", end.x), ("w1", end.w), ("phases", end.phases),
                        ("heights", end.heights)):
        np.testing.assert_array_equal(value, kept[name])
        code.arrays[name][...] = 0                 # the motion has copies
        np.testing.assert_array_equal(value, kept[name])
    for name in ("impulses", "slid", "lost"):
        np.testing.assert_allclose(getattr(end, name) - getattr(now, name), kept[name], rtol=1e-12)


@pytest.mark.parametrize("status, words", [(OPEN, "iterations .* do not converge at t = 0.7"),
                                           (FAILED, "contact problem at t = 0.7 s is not solved")])
def test_what_compiled_code_cannot_solve_is_told(status, words):
    *_, take = in_c(status)
    with pytest.raises(Unsolved, match=words):
        take()


def test_what_compiled_code_has_no_room_for_is_left_to_python():
    assert in_c(max(DONE, OPEN, FAILED) + 1)[-1]() is None
    without = ImplicitStep(SimpleNamespace(contacts=()), np.ones(0))
    without.__dict__["code"] = None
    assert without.take_in_c(None, np.zeros(0), 1.0, np.zeros(0), np.zeros(0), False) is None
    assert without.solve_in_c(np.zeros(0, int), np.eye(1), np.ones(1), 1.0, np.zeros(1)) is None


def test_python_takes_the_step_that_compiled_code_leaves():
    """With the indices of the contacts on the ground, and with its contact points if they stay."""
    step, asked = ImplicitStep(SimpleNamespace(), np.ones(3)), []
    answers = [None, "compiled"]
    object.__setattr__(step, "take_in_c", lambda *given: answers.pop(0))
    object.__setattr__(step, "take_in_python", lambda *given: asked.append(given) or "python")
    given = "now", "u", 0.1, np.array([True, False, True]), "guess"
    assert step.take(*given, True) == "python" and step.take(*given, False) == "compiled"
    (*same, closed, stays), = asked
    assert same == ["now", "u", 0.1] and closed.tolist() == [0, 2] and stays is True
