"""The contact solver, against single contacts in closed form, its laws in any unit, and its ways to
go on where Newton's method fails."""

from __future__ import annotations

import numpy as np
import pytest

from nhmech.simulation.contact.contact_problem import (
    GOOD,
    Cone,
    ContactProblem,
    projection_to_cone,
)

INF = np.inf


# -- the cone --------------------------------------------------------------------------------------
@pytest.mark.parametrize("mu", [0.0, 0.3, 2.0, INF])
def test_the_projection_keeps_within_the_cone(mu):
    """p_n = max(y_n, 0), and of y_t what fits into the disc of radius mu p_n; with its slope."""
    project, rng, h = projection_to_cone(), np.random.default_rng(0), 1e-6
    for y in rng.normal(size=(20, 3)):
        found, slope = (part.full() for part in project(y, mu))
        n, t = max(y[0], 0.0), y[1:]
        radius = mu * n if n else 0.0
        size = np.linalg.norm(t)
        wanted = np.r_[n, t if size <= radius else t * radius / size]
        np.testing.assert_allclose(found.ravel(), wanted, rtol=1e-12, atol=1e-14)
        for way in np.eye(3):
            ends = [project(y + side * h * way, mu)[0].full().ravel() for side in (1, -1)]
            np.testing.assert_allclose(slope @ way, (ends[0] - ends[1]) / (2 * h), rtol=0,
                                       atol=1e-8)


# -- one contact -----------------------------------------------------------------------------------
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("g, mu, wanted", [
    ((1.0, 0.4, 0.0), 0.5, (0, 0, 0)),                     # it moves away
    ((-2.0, 0.4, 0.0), 0.5, (2, -0.4 / 4, 0)),             # sticks
    ((-2.0, 6.0, -8.0), 0.5, (2, -0.6, 0.8)),              # slides
    ((-2.0, 6.0, -8.0), 0.0, (2, 0, 0)),
    ((-2.0, 60.0, -80.0), INF, (2, -15, 20)),              # never slides
    ((0.0, 3.0, 0.0), 0.5, (0, 0, 0)),                     # grazes
])
def test_one_contact_sticks_slides_or_opens(g, mu, wanted, unit):
    """W = diag(1, 4, 4); in any unit of impulse and of velocity, from any guess."""
    for mass in (1e-4, 1.0, 1e5):
        problem = ContactProblem(np.diag([1.0, 4, 4]) / mass, unit * np.array(g),
                                 [Cone(0, (1, 2), mu)])
        for guess in ((0, 0, 0), (5, 1, 1), (-3, 0, 2)):
            P, error = problem.solve(unit * mass * np.array(guess, float))
            np.testing.assert_allclose(P / unit / mass, wanted, rtol=1e-9, atol=1e-11)
            assert error <= 1e-12


def test_contacts_of_one_two_and_three_directions_stand_side_by_side():
    """Without coupling each is as if it were alone: a ball without friction, a wheel with rollers,
    a wheel."""
    cones = [Cone(0, (), 0.0), Cone(1, (2,), 0.5), Cone(3, (4, 5), 0.3)]
    W = np.diag([2.0, 1, 5, 4, 1, 1])
    g = np.array([-3.0, -2, 30, -4, 0.1, 0.1])
    P, _ = ContactProblem(W, g, cones).solve(np.zeros(6))
    np.testing.assert_allclose(P, [1.5, 2, -1, 1, -0.1, -0.1], rtol=1e-10)


@pytest.mark.parametrize("floor, error", [(0.0, 1.0), (2.0, 0.5), (0.5, 1.0)])
def test_the_residual_is_relative_to_the_velocities(floor, error, monkeypatch):
    """To the largest of |g|, and at least to the floor: here an impulse of 0 leaves a contact that
    approaches by 1 m/s. Where all are zero it is absolute."""
    nothing = ContactProblem(np.eye(1), np.zeros(1), [Cone(0, (), 0.0)])
    assert nothing.solve(np.array([0.7]))[1] <= 1e-13
    scales = []
    monkeypatch.setattr(ContactProblem, "newton", lambda self, P, scale: (
        P, scales.append(scale) or 0.0))
    nothing.solve(np.array([0.7]))
    assert scales == [1.0]
    monkeypatch.setattr(ContactProblem, "newton", lambda self, P, scale: (
        0 * P, self._size(self._residual(0 * P)[0]) / scale))
    problem = ContactProblem(np.eye(1), np.array([-1.0]), [Cone(0, (), 0.0)])
    assert problem.solve(np.zeros(1), floor)[1] == pytest.approx(error, rel=1e-12, abs=0)


def test_the_residual_is_a_velocity_in_any_unit_of_impulses():
    """P - projection over rho: of a contact that falls onto the ground, its speed; and where it
    has too much impulse, the speed that this leaves."""
    for mass in (1e-3, 1.0, 1e3):
        problem = ContactProblem(np.eye(3) / mass, np.array([-2.0, 0, 0]), [Cone(0, (1, 2), 0.4)])
        for P, size in ((0.0, 2.0), (2.0, 0.0), (5.0, 3.0)):
            assert problem._size(problem._residual(mass * np.array([P, 0, 0]))[0]) == pytest.approx(
                size, abs=1e-12)


# -- several that depend on each other -------------------------------------------------------------
def random_problem(seed, contacts=4):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * contacts, 6))
    W = J @ J.T + 1e-3 * np.eye(3 * contacts)
    cones = [Cone(3 * i, (3 * i + 1, 3 * i + 2), float(rng.uniform(0, 0.8)))
             for i in range(contacts)]
    return ContactProblem(W, J @ rng.normal(size=6), cones)


def check(problem, P, error):
    u = problem.W @ P + problem.g
    size = np.abs(P).max(initial=1e-3)
    assert error <= 1e-10
    for cone in problem.cones:
        i, j = cone.normal, list(cone.along)
        assert P[i] >= 0 and u[i] >= -1e-8 and P[i] * u[i] <= 1e-8 * size
        assert np.linalg.norm(P[j]) <= cone.mu * P[i] + 1e-9 * size
        # friction opposes the slip
        assert np.linalg.norm(P[j] * np.linalg.norm(u[j]) + cone.mu * P[i] * u[j]) <= 1e-7 * size


@pytest.mark.parametrize("seed", range(6))
def test_what_newton_and_gauss_seidel_find_is_one_solution(seed):
    """The laws hold; the other method leaves the solution where it is; and so does continuation
    from soft ground, which is how it is found where Newton's method has failed at first."""
    problem = random_problem(seed)
    P, error = problem.solve(np.zeros(12))
    check(problem, P, error)
    np.testing.assert_allclose(problem.sweep(P), P, rtol=0, atol=1e-8 * np.abs(P).max(initial=1.0))
    scale = float(np.abs(problem.g).max())
    hard = problem._harden(np.zeros(12), 10.0, scale)
    again, error = problem.newton(hard, scale)
    check(problem, np.where(np.isin(np.arange(12), [0, 3, 6, 9]), again.clip(0), again), error)


@pytest.mark.parametrize("failing, wanted", [(0, []), (1, [10.0]), (2, [10.0, 3.0]),
                                             (3, [10.0, 3.0, 1.5])])
def test_slower_continuation_is_tried_until_one_succeeds(failing, wanted, monkeypatch):
    """Ever smaller factors; the best of all is kept where none does."""
    problem, tried, told = random_problem(1), [], iter(
        [0.3 - 0.1 * k for k in range(failing)] + [GOOD / 2])

    monkeypatch.setattr(ContactProblem, "_harden",
                        lambda self, P, factor, scale: tried.append(factor) or P + len(tried))
    monkeypatch.setattr(ContactProblem, "newton", lambda self, P, scale: (P, next(told)))
    P, error = problem.solve(np.zeros(12))
    assert tried == wanted and error == pytest.approx(GOOD / 2, rel=1e-12, abs=0)
    assert P.tolist() == [failing] * 12


def test_the_best_of_all_tries_is_kept(monkeypatch):
    """Without the negative impulses of normals."""
    problem, told = random_problem(1), iter([0.3, 0.2, 0.4, 0.25])
    monkeypatch.setattr(ContactProblem, "_harden", lambda self, P, factor, scale: P - factor)
    monkeypatch.setattr(ContactProblem, "newton", lambda self, P, scale: (P, next(told)))
    P, error = problem.solve(np.ones(12))
    assert error == 0.2 and P[[0, 3, 6, 9]].tolist() == [0] * 4
    assert (np.delete(P, [0, 3, 6, 9]) == -10).all()


def test_a_sweep_finds_the_impulses_of_one_contact():
    """Contact by contact, as Gauss and Seidel do: of a diagonal W in one step."""
    cones = [Cone(0, (), 0.0), Cone(1, (2, 3), 0.3), Cone(4, (5, 6), 0.3), Cone(7, (8, 9), 0.3)]
    W, g = np.diag([2.0, 4, 1, 1, 4, 1, 1, 4, 1, 1]), np.array(
        [-3.0, -4, 0.1, 0.1, -4, 6, -8, 4, 6, -8])
    P = ContactProblem(W, g, cones).sweep(np.full(10, 9.0))
    np.testing.assert_allclose(P, [1.5, 1, -0.1, -0.1, 1, -0.18, 0.24, 0, 0, 0], rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-7, 1e7])
@pytest.mark.parametrize("seed", range(3))
def test_several_contacts_are_solved_in_any_unit(seed, unit):
    problem = random_problem(seed)
    wanted, _ = problem.solve(np.zeros(12))
    P, error = ContactProblem(problem.W, unit * problem.g, problem.cones).solve(np.zeros(12))
    assert error <= 1e-12
    np.testing.assert_allclose(P / unit, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())


def test_a_step_that_is_too_long_is_halved(monkeypatch):
    """Until the residual falls: of atan, from where Newton's method diverges."""
    seen = []

    def residual(self, P):
        seen.append(P[0])
        return np.arctan(P), np.array([[1 / (1 + P[0] ** 2)]])

    monkeypatch.setattr(ContactProblem, "_residual", residual)
    problem = ContactProblem(np.eye(1), np.zeros(1), [Cone(0, (), 0.0)])
    P, size = problem.newton(np.array([4.0]), 1.0)
    full = -17 * np.arctan(4.0)
    np.testing.assert_allclose(seen[:4], [4, 4 + full, 4 + full / 2, 4 + full / 4], rtol=1e-12)
    assert abs(P[0]) <= 1e-13 and size == abs(P[0])
    with monkeypatch.context() as patch:           # what does not fall is handed back
        patch.setattr(ContactProblem, "_residual", lambda self, P: (np.ones(1), np.eye(1)))
        P, size = problem.newton(np.array([4.0]), 2.0)
        assert P[0] == 4.0 and size == 0.5


@pytest.mark.parametrize("along", [(1.0, 4.0), (4.0, 1.0)])
def test_sweeps_find_what_sticks_on_ground_of_two_compliances(along):
    """Each step is as long as the softer direction allows."""
    W, g = np.diag([1.0, *along]), np.array([-5.0, 1.0, -1.0])
    P = ContactProblem(W, g, [Cone(0, (1, 2), 0.5)]).sweep(np.zeros(3))
    np.testing.assert_allclose(P, -g / np.diag(W), rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_sweeps_go_on_until_nothing_changes(unit):
    """Two contacts that push each other, of which one sticks on ground that gives way by different
    amounts along its directions: in any unit to the digits of the equations."""
    rng = np.random.default_rng(3)
    root = rng.normal(size=(5, 5))
    W = np.diag([2.0, 1, 4, 3, 2]) + 0.2 * root @ root.T
    g = np.array([-3.0, 0.2, -0.3, -4.0, 9.0])
    problem = ContactProblem(W, unit * g, [Cone(0, (1, 2), 0.8), Cone(3, (4,), 0.3)])
    P = problem.sweep(np.zeros(5)) / unit
    u = W @ P + g
    np.testing.assert_allclose(u[:4], 0, atol=1e-13)          # the second one slides
    assert P[4] == pytest.approx(-0.3 * P[3], rel=1e-13, abs=0) and u[4] > 0
    assert np.hypot(*P[1:3]) < 0.8 * P[0]


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_the_ground_gets_a_compliance_as_large_as_the_largest_and_loses_it(size, monkeypatch):
    """Factor by factor, to 1e-10 of it. Where Newton's method fails, here on every other ground, a
    sweep comes before another try."""
    W, grounds, swept = size * np.diag([1.0, 4.0, 2.0]), [], []

    def newton(self, P, scale):
        grounds.append((self.W - W) / (4 * size))
        fails = round(np.log2(grounds[-1][0, 0])) % 2
        return P + 1, (1.1e-10 if fails else 0.9e-10) * scale

    monkeypatch.setattr(ContactProblem, "newton", newton)
    monkeypatch.setattr(ContactProblem, "sweep", lambda self, P: swept.append(P[0]) or P + 10)
    problem = ContactProblem(W, np.ones(3), [Cone(0, (1, 2), 0.4)])
    P = problem._harden(np.zeros(3), 2.0, 1.0)
    wanted = np.repeat(0.5 ** np.arange(34), [1, 2] * 17)
    np.testing.assert_allclose(grounds, wanted[:, None, None] * np.eye(3), rtol=1e-5, atol=1e-16)
    assert len(swept) == 17 and P.tolist() == [34 + 17 + 170] * 3


def test_a_singular_slope_ends_the_iteration():
    """Two contacts with one impulse: W is singular, and the guess is handed back."""
    problem = ContactProblem(np.ones((2, 2)), np.array([-1.0, -1.0]),
                             [Cone(0, (), 0.0), Cone(1, (), 0.0)])
    P, size = problem.newton(np.array([0.2, 0.1]), 1.0)
    assert P.tolist() == [0.2, 0.1] and size == pytest.approx(np.hypot(0.7, 0.7), rel=1e-12, abs=0)
