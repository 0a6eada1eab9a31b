"""Landings and impacts within a step, of points that fall freely, against closed forms."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from nhmech import SimulationError
from nhmech.simulation.contact import nonsmooth
from nhmech.simulation.contact.contact_problem import ContactProblem
from nhmech.simulation.contact.contact_rows import ContactRows
from nhmech.simulation.contact.implicit_step import Unsolved
from nhmech.simulation.contact.motion import Motion
from nhmech.simulation.contact.nonsmooth import HALVES, NonsmoothStep
from nhmech.simulation.contact.phases import Phase

G, MASS = 9.81, 2.0
STILL, SLOW = 1e-7, 1e-3      # slower contacts rest, relative to the fastest or to a fall
NONE = np.zeros(0)


class Points:
    """The terms of n points that fall one beside the other onto ground that rises at a constant
    speed: x their heights, w their velocities. There is one row more, which nothing uses."""

    size, speed = 0.25, 3.0

    def __init__(self, n, drag=0.0, lift=0.0, mass=MASS):
        self.n, self.m, self.bilateral, self.drag = n, n + 1, (), drag
        self.lift, self.mass = lift, mass
        self.nv = n + bool(drag)
        self.contacts = tuple(ContactRows(f"point {i}", i, (), i, 0.0) for i in range(n))
        self.heights = self.normals = np.arange(n)
        self.per_metre = np.ones(self.nv)
        self.vehicle = SimpleNamespace(constrained=SimpleNamespace(
            system=SimpleNamespace(u=ca.SX(0, 1))))

    def read_rows(self, t, x, w, closed, h=0.0):
        A, b = np.eye(self.m, self.nv), np.full(self.m, -self.lift)
        A[self.n:] = 0
        return A, b, x[:self.n] - self.lift * (t - 1)

    def momentum(self, t, x, w, u, lam, closed, h=0.0):
        """Gravity, and of the first contact a drag along the ground that grows with its load."""
        pulls, force = self.read_rows(t, x, w, closed)[0], np.zeros(self.nv)
        force[:self.n] = -self.mass * G
        slope = np.zeros((self.nv, self.nv))
        if self.drag:
            pulls[0, -1] = -self.drag * w[-1]
            slope[-1, -1] = -self.drag * lam[0]
        return self.mass * np.eye(self.nv), force, slope, pulls, None

    def find_phases(self, rows, w):
        return np.where(rows[2] > 1e-9, Phase.AIRBORNE, Phase.ROLLING)

    def change(self, before, w):
        return np.abs(w - before).max() / self.speed


class Flight:
    """The implicit step of the points: what is on the ground stays there."""

    def __init__(self, longest=np.inf, lift=0.0):
        self.longest, self.lift, self.calls = longest, lift, []

    def take(self, now, u, dt, closed, guess, stays=False):
        assert dt > 0
        self.calls.append((now.t, dt, guess.copy(), stays))
        if dt > self.longest and not stays:
            raise Unsolved("too long")
        ground = self.lift * (now.t + dt - 1)
        x = np.where(closed, ground, now.x + now.w * dt - G * dt ** 2 / 2)
        w = np.where(closed, self.lift, now.w - G * dt)
        return Motion(now.t + dt, x, w, np.where(closed, Phase.ROLLING, Phase.AIRBORNE),
                      now.impulses, now.slid, now.lost, x - ground)

    def solve_in_c(self, *given):
        return None


def points(heights, e=0.0, speeds=0.0, flight=None, lift=0.0):
    """Their step, and the motion that begins at these heights."""
    x = np.atleast_1d(np.asarray(heights, dtype=float))
    terms = Points(len(x), lift=lift)
    step = NonsmoothStep(terms, e * np.ones(len(x)))
    step.__dict__["implicit"] = Flight(lift=lift) if flight is None else flight
    return step, step.start(1.0, x, np.zeros(terms.nv) + speeds)


def bounce(height, e, t):
    """Height and velocity of a point that was dropped and bounces, after t seconds."""
    v, wait = 0.0, np.sqrt(2 * height / G)
    while t > wait:
        t, height, v = t - wait, 0.0, e * (G * wait - v)
        wait = 2 * v / G
    return height + v * t - G * t ** 2 / 2, v - G * t


# -- landings --------------------------------------------------------------------------------------
@pytest.mark.parametrize("height", [1e-3, 0.3, 20.0])
@pytest.mark.parametrize("e", [0.5, 1.0])
@pytest.mark.parametrize("flights", [0.5, 0.999, 1.001, 1.5])
@pytest.mark.parametrize("lift", [0.0, 0.7])
def test_a_point_bounces_within_a_step(height, e, flights, lift):
    """At the moment at which it comes down, with e of its speed, whatever the size of the step; on
    rising ground as seen from there."""
    dt = flights * np.sqrt(2 * height / G)
    step, motion = points(height, e, lift, lift=lift)
    end = step.advance(motion, NONE, dt)
    end = replace(end, x=end.x - lift * dt, w=end.w - lift)
    assert end.t == pytest.approx(1.0 + dt, rel=1e-13, abs=0)
    x, v = bounce(height, e, dt)
    assert end.x[0] == pytest.approx(x, abs=1e-11) and end.w[0] == pytest.approx(v, abs=1e-11)
    assert end.phases[0] == Phase.AIRBORNE
    assert end.impulses[0] == pytest.approx((flights > 1) * (1 + e) * MASS * np.sqrt(
        2 * G * height), rel=1e-10)


@pytest.mark.parametrize("part, lands", [(0.9, False), (-0.9, False), (-1.1, True)])
def test_what_ends_at_the_ground_up_to_rounding_has_not_landed(part, lands):
    """By 1e-12 of the vehicle's size: there it is left to the next step."""
    step, motion = points(0.3)
    dt = np.sqrt(2 * (0.3 - part * 1e-12 * 0.25) / G)
    end = step.advance(motion, NONE, dt)
    assert (end.phases[0] == Phase.ROLLING) == lands
    assert end.w[0] == pytest.approx(0.0 if lands else -G * dt, rel=1e-12)


def test_points_land_one_after_the_other_and_together():
    """Three at two moments; one is up all the time, one stays down."""
    heights = np.array([0.3, 0.2, 0.3, 5.0, 0.0])
    step, motion = points(heights, 0.7)
    assert motion.phases[-1] == Phase.ROLLING
    end = step.advance(motion, NONE, 0.4)
    for i in range(4):
        x, v = bounce(heights[i], 0.7, 0.4)
        assert end.x[i] == pytest.approx(x, abs=1e-11) and end.w[i] == pytest.approx(v, abs=1e-11)
    assert end.x[4] == 0 and end.w[4] == 0 and end.phases[4] == Phase.ROLLING
    assert not end.phases[:4].tolist().count(Phase.ROLLING)


def test_what_is_thrown_down_lands_and_stays():
    step, motion = points([0.1, 2.0], 0.0, -3.0)
    end = step.advance(motion, NONE, 0.1)
    assert end.x[0] == 0 and end.w[0] == 0 and end.phases.tolist() == [Phase.ROLLING,
                                                                       Phase.AIRBORNE]
    landing = (-3 + np.sqrt(9 + 2 * G * 0.1)) / G
    assert end.impulses[0] == pytest.approx(MASS * (3 + G * landing), rel=1e-11)
    assert end.x[1] == pytest.approx(2 - 0.3 - G * 0.1 ** 2 / 2, rel=1e-12)


def test_what_bounces_often_stays_down_until_the_end_of_the_step():
    """After its third landing; then it starts afresh."""
    step, motion = points([0.1, 0.5], 0.5)
    third = np.sqrt(0.2 / G) * (1 + 2 * (0.5 + 0.25))
    before, after = (step.advance(motion, NONE, third + late) for late in (-1e-3, 1e-3))
    assert before.x[0] == pytest.approx(bounce(0.1, 0.5, third - 1e-3)[0], abs=1e-11)
    assert before.phases[0] == Phase.AIRBORNE and before.x[0] > 0
    assert after.x[0] == 0 and after.w[0] == 0 and after.phases[0] == Phase.ROLLING
    assert after.x[1] == pytest.approx(bounce(0.5, 0.5, third + 1e-3)[0], abs=1e-11)


@pytest.mark.parametrize("most, ends", [(3, True), (2, False)])
def test_landings_in_one_step_are_counted(most, ends, monkeypatch):
    monkeypatch.setattr(nonsmooth, "LANDINGS", most)
    step, motion = points([0.1, 0.2], 0.9)
    if ends:
        step.advance(motion, NONE, 0.21)
        return
    with pytest.raises(SimulationError, match=f"t = 1.20193 s the wheels land {most} times within "
                                              "one step of 0.21 s"):
        step.advance(motion, NONE, 0.21)


@pytest.mark.parametrize("above", [np.inf, 0.5])
@pytest.mark.parametrize("jump", [0.123, 0.2])
def test_a_rim_whose_lowest_point_appears_below_the_ground_lands_there(above, jump):
    """Its height jumps through zero: the moment is found to the last digit, from below, also where
    it is the end of the step."""
    class Jumps(Flight):
        def take(self, now, u, dt, closed, guess, stays=False):
            found = super().take(now, u, dt, closed, guess, stays)
            flat = ~closed & (found.t < 1 + jump)
            return replace(found, heights=np.where(flat, above, np.where(closed, 0, -0.01)))

    step, motion = points(5.0, 0.0, flight=Jumps())
    end = step.advance(motion, NONE, 0.2)
    assert end.phases[0] == Phase.ROLLING and end.t == pytest.approx(1.2, rel=1e-13, abs=0)
    assert end.impulses[0] == pytest.approx(MASS * G * jump, rel=1e-12)


# -- steps that are not solved ---------------------------------------------------------------------
@pytest.mark.parametrize("parts", [1, 2, 8])
def test_a_step_that_is_not_solved_is_halved(parts):
    """As often as it takes; the guess of its impulses with it."""
    flight = Flight(longest=1.01 * 0.16 / parts)
    step, motion = points([50.0], flight=flight)
    motion = replace(motion, impulses=np.array([24.0, 0.0]))
    end = step.advance(motion, NONE, 0.16)
    x, v = bounce(50.0, 0, 0.16)
    assert end.t == pytest.approx(1.16, rel=1e-12)
    assert (end.x[0], end.w[0]) == pytest.approx((x, v), rel=1e-12)
    taken = [(t, dt, guess) for t, dt, guess, _ in flight.calls if dt <= flight.longest]
    assert [t for t, *_ in taken] == pytest.approx(list(1 + 0.16 / parts * np.arange(parts)),
                                                   rel=1e-12)
    assert [guess[0] for *_, guess in taken] == pytest.approx([24 / parts] * parts, rel=1e-12)


def test_a_step_that_is_never_solved_keeps_its_contact_points():
    """After so many halvings; each of its parts does."""
    flight = Flight(longest=0.0)
    step, motion = points([50.0], flight=flight)
    end = step.advance(motion, NONE, 0.16)
    taken = [dt for _, dt, _, stays in flight.calls if stays]
    assert taken == [pytest.approx(0.16 / 2 ** HALVES, rel=1e-9, abs=0)] * 2 ** HALVES
    assert end.t == pytest.approx(1.16, rel=1e-10)
    assert end.x[0] == pytest.approx(bounce(50.0, 0, 0.16)[0], rel=1e-10)

    def refuse(*given):
        raise Unsolved("never")
    flight.take = refuse
    with pytest.raises(Unsolved, match="never"):
        step.advance(motion, NONE, 0.16)


# -- impacts ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("speed, after, phase", [
    (-1.1 * STILL * SLOW * 3.0, 0.5, Phase.AIRBORNE), (-0.9 * STILL * SLOW * 3.0, None,
                                                       Phase.ROLLING),
    (0.9 * STILL * SLOW * 3.0, None, Phase.ROLLING), (1.1 * STILL * SLOW * 3.0, None,
                                                      Phase.AIRBORNE)])
def test_slow_points_neither_strike_nor_leave(speed, after, phase):
    """A thousandth of the speed of the vehicle is the least that tolerances refer to."""
    _, motion = points([0.0], 0.5, speed)
    assert motion.phases[0] == phase
    assert motion.w[0] == pytest.approx(speed if after is None else -after * speed, rel=1e-9)


def test_beside_a_hard_impact_a_slow_one_is_none():
    """What is slow is so relative to the fastest contact."""
    _, motion = points([0.0, 0.0, 1.0], 0.5, np.array([-40.0, -0.9 * 40 * STILL, 7.0]))
    assert motion.w == pytest.approx([20.0, 0.0, 7.0], abs=1e-11)
    assert motion.impulses == pytest.approx([60 * MASS, 0, 0, 0], abs=1e-5)
    assert motion.phases.tolist() == [Phase.AIRBORNE, Phase.ROLLING, Phase.AIRBORNE]


@pytest.mark.parametrize("e", [0.0, 0.4])
@pytest.mark.parametrize("failing, parts", [(0, 1), (1, 4), (5, 16)])
def test_an_impact_is_divided_until_it_is_solved(e, failing, parts, monkeypatch):
    """Each part takes an equal share of the change of the speed, to e of it in the end."""
    seen, strike = [], NonsmoothStep._strike

    def note(step, now, before, back):
        w, problem, wrong, rows = strike(step, now, before, back)
        seen.append(w[0])
        return w, problem, 1.0 if len(seen) <= failing else wrong, rows

    monkeypatch.setattr(NonsmoothStep, "_strike", note)
    _, motion = points([0.0], e, -3.0)
    wanted = -3 + 3 * (1 + e) * np.arange(1, parts + 1) / parts
    np.testing.assert_allclose(seen[-parts:], wanted, rtol=0, atol=1e-12)
    assert motion.w[0] == pytest.approx(3 * e, abs=1e-11)
    assert motion.impulses[0] == pytest.approx(3 * (1 + e) * MASS, rel=1e-9)


def test_an_impact_that_is_not_solved_is_told(monkeypatch):
    def fail(step, now, before, back):
        return before, SimpleNamespace(impulses=np.zeros(1)), 0.25, None

    monkeypatch.setattr(NonsmoothStep, "_strike", fail)
    with pytest.raises(SimulationError, match="impact at t = 1 s is not solved .residual 0.25"):
        points([0.0], 0.5, -3.0)


@pytest.mark.parametrize("error, change, residual", [(0.25, 0.0, 0.25), (0.0, 0.5, 0.5)])
def test_an_impact_must_be_solved_and_converge(error, change, residual, monkeypatch):
    solve = ContactProblem.solve
    monkeypatch.setattr(nonsmooth, "QUARTERS", 2)
    monkeypatch.setattr(ContactProblem, "solve", lambda self, *given: (solve(self, *given)[0],
                                                                       error))
    monkeypatch.setattr(Points, "change", lambda self, before, w: change)
    with pytest.raises(SimulationError, match=f"is not solved .residual {residual}"):
        points([0.0], 0.5, -3.0)


@pytest.mark.parametrize("part", [0.3, 0.95])
@pytest.mark.parametrize("mass", [2e-3, 2.0])
def test_a_tyre_drags_in_an_impact(part, mass):
    """m (u1 - u0) = -c P (u0 + u1)/2 along the ground, with P = m v_n; gravity does nothing."""
    step = NonsmoothStep(Points(1, 2 * part / 4.0, mass=mass), np.zeros(1))
    step.__dict__["implicit"] = Flight()
    motion = step.start(0.0, np.zeros(1), np.array([-4.0, 5.0]))
    assert motion.w == pytest.approx([0.0, 5 * (1 - part) / (1 + part)], abs=1e-10)


def test_tyres_in_an_impact_are_linearised_at_large_loads():
    """A meganewton, and as much again for each newton second of the impulse."""
    terms, loads = Points(1, 0.3), []
    step, momentum = NonsmoothStep(terms, np.zeros(1)), terms.momentum
    step.__dict__["implicit"] = Flight()
    terms.momentum = lambda t, x, w, u, lam, *rest: loads.append(lam[0]) or momentum(
        t, x, w, u, lam, *rest)
    step.start(0.0, np.zeros(1), np.array([-4.0, 5.0]))
    assert loads[::2] == [1e6] * (len(loads) // 2) and len(loads) >= 4
    assert loads[1] == 1e6 and loads[3:][::2] == pytest.approx([1e6 + 1e6 * 8.0] * (
        len(loads) // 2 - 1), rel=1e-6)


# -- the ground ------------------------------------------------------------------------------------
def test_the_compliance_of_the_ground_is_inverse_to_the_stiffness():
    """With mean 1; equal where no stiffness is known."""
    terms = Points(3)
    share = NonsmoothStep(terms, np.zeros(3), np.array([1e4, 2e4, 4e4]))._share
    np.testing.assert_allclose(share, np.array([4, 2, 1]) * 3 / 7, rtol=1e-12)
    np.testing.assert_array_equal(NonsmoothStep(terms, np.zeros(3))._share, np.ones(3))
