"""What the checks of `nhmech.systems` measure, when they are made, and that they can fail."""

from importlib import import_module
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from nhmech.systems import load_system, sled
from nhmech.systems._checks import imbalance, random_motions, wander
from nhmech.systems.example import AGREEMENT, METHODS, apart, disagreement

# name, what a check is about, numbers for which it does not hold
SPECIAL = [
    ("areal_velocity", "Kepler's equation", [{"c": 0.3}, {"c": 1.0}]),
    ("ball_on_turntable", "T - Omega L_z over", [{"tilt": 0.02}, {"tilt": 1.0}]),
    ("heavy_top", "steady precession", [{"I2": 1.1}]),
    ("unbalanced_ball", "dJ/dt = dD/dt = 0", [{"I": (0.0031, 0.0027, 0.0024)}]),
    ("unbalanced_ball", "Jellett's and Routh's", [{"I": (0.0031, 0.0027, 0.0024)}]),
    ("rattleback", "reverses one spin", [{"Ixy": -5e-5}]),
    ("roller_racer", "power of the joint", [{"driven": True}]),
    ("roller_racer", "momentum equation", [{"m2": 0.4}, {"m2": 1.0}]),
    ("snakeboard", "of the coupled board", [{"J": 0.09 + 1e-9}, {"trucks": "independent"}]),
    ("two_wheeled_pendulum", "momentum equations", [{"rotor_inertia": 1e-5}]),
    ("sled", "independent of the fibration", [{"fibration": "body"}])]


@pytest.mark.parametrize("name, what, others", SPECIAL)
def test_what_holds_in_a_special_case_is_checked_there_alone(name, what, others):
    make = import_module(f"nhmech.systems.{name}").example
    check, = (check for check in make().checks if what in check.what)
    assert 0 <= check.error() <= check.tolerance
    for other in others:
        assert not any(what in check.what for check in make(**other).checks)


def test_what_checks_measure():
    """A departure from the first value relative to the largest size, at the worst of all moments; a
    rate that is wrong, relative to rates above one; accelerations and multipliers that differ."""
    made = load_system("nonholonomic_particle")
    system = made.constrained.system
    t = system.t
    assert wander(made, system.energy, ca.SX(7), duration=1.0) < 1e-11
    assert wander(made, t, duration=10.0) == pytest.approx(1, rel=1e-12)
    assert wander(made, ca.SX(7), 100 + ca.vertcat(3 * t, 4 * t), duration=10.0) == pytest.approx(
        40 / np.hypot(130, 140), rel=1e-12)
    assert wander(made, 5 - t * (1 - t), duration=1.0) == pytest.approx(0.05, rel=1e-12)
    assert apart(np.array([3.0, 5.0]), np.array([4.0, 4.5])) == pytest.approx(1 / 4.5, rel=1e-14)
    assert apart(0.7, -0.1) == pytest.approx(0.8, rel=1e-14)
    assert imbalance(made, lambda s: s.q.x + 0.3 * s.t, lambda s: s.v.x + 0.3) < 1e-13
    assert imbalance(made, lambda s: 0.7 * s.t, lambda s: 0.2) == pytest.approx(0.5, rel=1e-12)
    assert imbalance(made, lambda s: 5 * s.t, lambda s: -3) == pytest.approx(8 / 3, rel=1e-12)
    assert imbalance(made, lambda s: ca.vertcat(s.t, s.t), lambda s: ca.vertcat(1, 3)) == (
        pytest.approx(2 / 3, rel=1e-12))


def test_random_motions_are_as_many_as_asked_for_and_obey_the_constraint():
    """z' = y x', x'' = -y lambda and lambda = x' y' / (1 + y^2)."""
    motions = [*random_motions(load_system("nonholonomic_particle"), 3)]
    assert len(motions) == 3
    for q, v, a, (lam,) in motions:
        assert v[2] == pytest.approx(q[1] * v[0], rel=1e-12)
        assert lam == pytest.approx(v[0] * v[1] / (1 + q[1] ** 2), rel=1e-12)
        np.testing.assert_allclose(a, lam * np.array([-q[1], 0, 1]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("part", ["acceleration", "multipliers"])
@pytest.mark.parametrize("method", METHODS)
def test_methods_that_disagree_are_seen(monkeypatch, method, part):
    """By as much as one of them is wrong, relative to values above one."""
    made, right = load_system("nonholonomic_particle"), METHODS[method]
    for size in (1e-6, 1.0):
        def wrong(constrained, frame, size=size):
            found = right(constrained, frame=frame)
            values = {name: lambda *at, name=name: getattr(found, name)(*at) + size * (name == part)
                      for name in ("acceleration", "multipliers")}
            return SimpleNamespace(**values)

        monkeypatch.setitem(METHODS, method, wrong)
        assert AGREEMENT < size / 20 < disagreement(made) <= size * (1 + 1e-9)


@pytest.mark.parametrize("fibration, other", [("x", "y"), ("y", "x")])
def test_a_sled_is_held_against_its_other_fibration(monkeypatch, fibration, other):
    """The check measures by how much accelerations differ there."""
    right, made = sled.example, sled.example(1.3, 0.4, fibration)
    check, = (check for check in made.checks if "fibration" in check.what)
    assert check.error() < 1e-12

    def wrong(m, J, named):
        assert (m, J, named) == (1.3, 0.4, other)
        form = right(m, J, named).equations()
        found = SimpleNamespace(frame=form.frame, acceleration=lambda *at: (
            form.acceleration(*at) + np.array([0.0, -1e-6, 0.0])))
        return SimpleNamespace(equations=lambda: found)

    monkeypatch.setattr(sled, "example", wrong)
    assert check.error() == pytest.approx(1e-6, rel=1e-5)
