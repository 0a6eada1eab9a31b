"""Newton's method for steady motions: where it ends, what it accepts, and how it keeps to where the
equations are defined."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support import shipped

from nhmech import MechanicsError
from nhmech.analysis import SteadyMotions, linearise
from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.systems import load_system

SAMPLES = [[0.3], [0.5], [0.8], [1.3], [1.7], [2.1], [2.6], [3.0]]


def particle(force, *names, **options):
    """Of unit mass under a force: function of q -> {name: force}."""
    names = names or ("x",)
    return constrain(lagrangian_system(
        euclidean(*names), lambda s: sum(getattr(s.v, name) ** 2 for name in names) / 2,
        force=lambda s: force(s.q)), **options)


# -- steps that lead to where nothing is defined ---------------------------------------------------
def test_a_step_beyond_what_is_defined_is_halved():
    """Newton's method for log(x) = 0 goes from 5 to 5 - 5 log(5) = -3.05."""
    motions = SteadyMotions(particle(lambda q: {"x": ca.log(q.x)}, samples=SAMPLES))
    assert motions.find([5.0], [0.0]).q == pytest.approx(1.0, rel=1e-14, abs=0)


def test_a_step_off_the_end_of_a_curve_is_halved():
    """A bead on y = sqrt(x) at x = 0.2, from 3."""
    places = [[x, np.sqrt(x)] for x, in SAMPLES]
    bead = particle(lambda q: {"x": -ca.log(5 * q.x)}, "x", "y", samples=places,
                    holonomic={"curve": lambda s: s.q.y - ca.sqrt(s.q.x)})
    found = SteadyMotions(bead).find([3.0, np.sqrt(3.0)], [0.0])
    np.testing.assert_allclose(found.q, [0.2, np.sqrt(0.2)], rtol=1e-13)


def test_where_every_step_leads_out_nothing_is_found():
    """sqrt(x) + 1 has no zero, and falls towards 0, beyond which it is none."""
    motions = SteadyMotions(particle(lambda q: {"x": ca.sqrt(q.x) + 1}, samples=SAMPLES))
    with pytest.raises(MechanicsError, match="no steady motion found near the guess: x' keeps "
                                             "changing, every second by 1;"):
        motions.find([1e-12], [0.0])


@pytest.mark.parametrize("force, x", [(ca.log, -2.0), (ca.sqrt, 0.0)])
def test_accelerations_without_a_finite_value_or_slope_are_said(force, x):
    made = particle(lambda q: {"x": force(q.x)}, samples=SAMPLES)
    for ask in (linearise, lambda *at: SteadyMotions(at[0]).find(*at[1:])):
        with pytest.raises(MechanicsError, match="the accelerations, or their derivatives, are not "
                                                 f"finite at q = {x:.4g}$"):
            ask(made, [x], [0.0])


@pytest.mark.parametrize("slope", [lambda x: 1 / x, ca.sqrt])
def test_speeds_that_do_not_determine_the_motion_are_said(slope):
    """y' = slope(x) x' / 10 has no value at x = 0, or no derivative."""
    made = particle(lambda q: {}, "x", "y", samples=[[x, 1.0] for x, in SAMPLES],
                    rows={"row": lambda s: s.v.y - slope(s.q.x) * s.v.x / 10})
    with pytest.raises(MechanicsError, match="the speeds x' do not determine the motion at q = 0,"):
        linearise(made, [0.0, 0.7], [0.3])


# -- what conditions can name ----------------------------------------------------------------------
def test_roll_and_pitch_are_those_of_the_attitude():
    """R = Rz(yaw) Rx(roll) Ry(pitch)."""
    equations, rng = SteadyMotions(shipped("sled")).equations, np.random.default_rng(0)
    q = equations.variations.system.q
    angles = ca.Function("angles", [q], [equations.quantities[name] for name in ("roll", "pitch")])
    for roll, pitch, yaw in rng.uniform(-1.5, 1.5, (5, 3)):
        turn = Rotation.from_euler("ZXY", [yaw, roll, pitch]).as_quat()
        found = [float(angle) for angle in angles(np.r_[rng.normal(size=3), turn])]
        np.testing.assert_allclose(found, [roll, pitch], rtol=1e-10)


# -- where it ends ---------------------------------------------------------------------------------
@pytest.mark.parametrize("off", [1e-2, 1e-5, -1e-6, 1e-9, 0.0])
def test_a_guess_near_by_is_followed_to_rounding(off):
    motions, root = SteadyMotions(particle(lambda q: {"x": 2 - q.x ** 3})), 2 ** (1 / 3)
    assert motions.find([root + off], [0.0]).q == pytest.approx(root, rel=4e-16, abs=0)


@pytest.mark.parametrize("stiffness", [1.0, 1e4])
def test_what_is_left_counts_relative_to_the_largest_derivative(stiffness):
    """x^2 + c has its least value c at x = 0, where no step makes it smaller: a zero up to 1e-11 of
    the largest derivative."""
    least = 1e-11 * stiffness
    for c, is_zero in ((0.995 * least, True), (1.005 * least, False)):
        motions = SteadyMotions(particle(lambda q: {"x": q.x ** 2 + c, "y": -stiffness * q.y}, "x",
                                         "y"))
        if is_zero:
            found = motions.find([0.0, 0.0], [0.0, 0.0])
            assert found.residual == pytest.approx(c, rel=1e-9) and found.family == 1
        else:
            with pytest.raises(MechanicsError, match="x' keeps changing, every second by 1e-"):
                motions.find([0.0, 0.0], [0.0, 0.0])


@pytest.mark.parametrize("stiffness", [1.0, 1e4])
def test_directions_count_as_free_up_to_a_billionth_of_the_stiffest(stiffness):
    """x'' = -k x - x^3 at 0 beside y'' = -stiffness y: singular values 1, 1, stiffness and k."""
    for k, family in ((1.01e-9 * stiffness, 0), (0.99e-9 * stiffness, 1)):
        motions = SteadyMotions(particle(
            lambda q: {"x": -k * q.x - q.x ** 3, "y": -stiffness * q.y}, "x", "y"))
        assert motions.find([0.0, 0.0], [0.0, 0.0]).family == family


@pytest.mark.parametrize("off", [1e-1, 1e-5, 1e-7])
def test_all_constraints_hold_to_rounding_where_it_ends(off):
    """A point that hangs on a rod, in a plane that is set up oblique: from beyond the rod's end, or
    beside the plane."""
    point = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2 - 9.81 * s.q.y)
    motions = SteadyMotions(constrain(
        point, samples=[[0.0, -1.0, 0.0]],
        holonomic={"rod": lambda s: s.q.x ** 2 + s.q.y ** 2 + s.q.z ** 2 - 1,
                   "plane": lambda s: s.q.z - s.q.x ** 2}))
    for start in ([0.0, -1.0 - off, 0.0], [0.0, -np.sqrt(1 - off ** 2), off]):
        found = motions.find(start, [0.0])
        np.testing.assert_allclose(found.q, [0.0, -1.0, 0.0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("step", [0.3, 2.0, 6.0])
def test_a_branch_goes_on_along_itself_however_long_its_steps(step):
    """Of x'' = push - (x^3 - 3 x): from one member to the next it leads aside by less than half of
    the way ahead."""
    system = lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2, inputs=("push",),
                               force=lambda s: {"x": s.u.push - s.q.x ** 3 + 3 * s.q.x})
    motions = SteadyMotions(constrain(system), inputs=["push"])
    start = motions.find([-2.2], [0.0], [-4.0], {"q x": -2.2})
    members = [start, *motions.branch(start, "q x", step, 6)]
    x, push = (np.array([getattr(one, name)[0] for one in members]) for name in ("q", "u"))
    np.testing.assert_allclose(push, x ** 3 - 3 * x, rtol=0, atol=1e-11)
    tangent = np.array([np.ones_like(x), 3 * x ** 2 - 3])[:, :-1]
    ahead, aside = tangent / np.linalg.norm(tangent, axis=0), np.array([np.diff(x), np.diff(push)])
    along = (ahead * aside).sum(axis=0)
    assert np.all(along > 0) and np.all(along <= step * (1 + 1e-9)) and np.all(np.diff(x) > 0)
    assert np.all(np.linalg.norm(aside - along * ahead, axis=0) < along / 2)


@pytest.mark.parametrize("second, kilogram", [(1e-3, 1.0), (1e3, 1e6), (1e5, 1e-6)])
@pytest.mark.parametrize("conditions", [{}, {"u2": 2.0, "q lean": 0.2}], ids=["any", "one"])
def test_the_units_of_time_and_mass_decide_no_steady_motion(second, kilogram, conditions):
    """Of a disc, far from one: the same one is found, and the same coordinates are ignorable."""
    disc, power = load_system("falling_disc").constrained, {"g": -2}
    names = disc.system.theta_names
    other = replace(disc, parameters=disc.parameters * [
        second ** power[name] if name in power else kilogram if name in "mAC" else 1.0
        for name in names])
    rng, speeds = np.random.default_rng(3), ("u1", "u2", "u3")
    found = [SteadyMotions(system) for system in (disc, other)]
    for _ in range(3):
        q, xi = disc.configurations[0] + 0.1 * rng.normal(size=5), rng.normal(size=3)
        one, same = (motions.find(q, xi / size, conditions={
            name: value / (size if name in speeds else 1.0) for name, value in conditions.items()})
            for motions, size in zip(found, (1.0, second)))
        np.testing.assert_allclose(same.q, one.q, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(same.xi * second, one.xi, rtol=1e-9, atol=1e-9)
        assert same.family == one.family
        assert linearise(other, same.q, same.xi).names == linearise(disc, one.q, one.xi).names
