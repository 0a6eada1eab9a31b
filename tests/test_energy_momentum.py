"""Stability of steady motions by what they keep, against the classical answers."""

import numpy as np
import pytest
from support import at_length

from nhmech.errors import MechanicsError
from nhmech.mechanics import EnergyMomentum, energy_momentum
from nhmech.systems import chaplygin_sleigh, falling_disc, heavy_top, load_system, vertical_disk

WORLD = ("wx", "wy", "wz")
HALF = np.sqrt(0.5)


@pytest.mark.parametrize("share, stable", [(0.99, False), (1.01, True)])
@pytest.mark.paper("beyond stability")
def test_the_sleeping_top(share, stable):
    """Upright it is stable above w^2 = 4 I1 m g l / I3^2 (Lagrange; Arnold, section 30). The
    differentials of both momenta agree there, and c must be chosen."""
    I1, I3, m, l, g = 0.8, 0.5, 1.5, 0.4, 9.81
    spin = share * np.sqrt(4 * I1 * m * g * l) / I3
    found = energy_momentum(heavy_top.example(I1, I1, I3, m, l, g), [0, 0, 0, 1], [0, 0, spin],
                            WORLD)
    assert found.is_stable is stable and len(found.eigenvalues) == 4 and found.neutral == 1


def test_a_hanging_top_is_stable_at_any_spin():
    for spin in (0.0, 0.1, 3.0):
        assert energy_momentum(heavy_top.example(), [1, 0, 0, 0], [0, 0, spin], WORLD).is_stable


def test_steady_precession():
    top = load_system("heavy_top")
    assert energy_momentum(top, top.start["q"], top.start["xi"], WORLD).is_stable


@pytest.mark.parametrize("axis, stable", [(0, True), (1, False), (2, True)])
def test_a_free_body_about_its_axes(axis, stable):
    """Stable about the longest and the shortest, not about the middle one (Euler)."""
    spin = 2.0 * np.eye(3)[axis]
    found = energy_momentum(load_system("rigid_body"), [0, 0, 0, 1], spin, WORLD)
    assert found.is_stable is stable and len(found.eigenvalues) == 2
    assert bool(np.prod(found.eigenvalues) > 0) is stable


@pytest.mark.parametrize("axis, q, stable", [
    (0, [0, -HALF, 0, HALF], True), (1, [HALF, 0, 0, HALF], False), (2, [0, 0, 0, 1], True)])
@pytest.mark.paper("beyond stability")
def test_chaplygins_ball_spins_like_a_body(axis, q, stable):
    """On the spot about a principal axis that is upright; nonholonomic, with the three gauge
    momenta of the contact (Borisov and Mamaev 2001)."""
    found = energy_momentum(load_system("chaplygin_ball"), [0, 0, *q], 2.0 * np.eye(3)[axis], WORLD)
    assert found.is_stable is stable and "turn of qx.. about z" in found.coefficients


def test_what_is_not_steady_is_refused():
    with pytest.raises(MechanicsError, match="no relative equilibrium .* fails by 0"):
        energy_momentum(load_system("rigid_body"), [0, 0, 0, 1], [1.0, 2.0, 0.5], WORLD)
    with pytest.raises(MechanicsError, match="without holonomic constraints"):
        energy_momentum(load_system("rattleback"), np.zeros(7), np.zeros(3))
    with pytest.raises(MechanicsError, match="this motion has no constant energy"):
        energy_momentum(load_system("knife_edge_on_turning_incline"), [0, 0, 0], [0, 0])


def test_the_unit_of_mass_decides_nothing():
    """A light sleigh that rolls on was steady, and small eigenvalues were none."""
    with pytest.raises(MechanicsError, match="no relative equilibrium"):
        energy_momentum(chaplygin_sleigh.example(m=2e-9, I=0.3e-9), [0, 0, 0], [0.7, 0.4])
    at_rest = energy_momentum(chaplygin_sleigh.example(m=2e-9, I=0.3e-9), [0, 0, 0], [0, 0])
    assert at_rest.is_stable and at_rest.neutral == 3
    assert EnergyMomentum({}, np.array([1e-10, 3e-10]), 0).is_stable
    assert not EnergyMomentum({}, np.array([1e-12, 3e-2]), 0).is_stable


def test_where_every_direction_is_a_symmetry():
    """A disk at rest: nothing is left whose sign could be wrong."""
    found = energy_momentum(vertical_disk.example(), [0.1, 0.2, 0.3, 0.4], [0, 0])
    assert found.is_stable and not len(found.eigenvalues) and found.neutral == 4


def steady_disc(lean, u2):
    """u3 with which a disc that leans so much rolls in a circle, u1' = 0; one of two."""
    p = disc_numbers()
    size = p["m"] * p["r"] ** 2
    return np.roots([-p["A"] * np.tan(lean), (p["C"] + size) * u2,
                     p["m"] * p["g"] * p["r"] * np.sin(lean)]).min().real


def disc_numbers():
    made = load_system("falling_disc").constrained
    return dict(zip(made.system.theta_names, made.parameters))


@pytest.mark.paper("beyond transport")
@pytest.mark.parametrize("lean, u2, u3", [
    (0.0, 3.5, 0.0), (0.0, 0.0, 3.0), (0.4, 2.0, None),
    *at_length((0.0, 0.0, 6.5), (-0.3, 1.0, None))])
def test_momenta_that_a_disc_carries_along(lean, u2, u3):
    """The second variation over the metric is minus the squared growth rate of the linearised
    motion, rolling, spinning, and in circles."""
    disc = load_system("falling_disc")
    u3 = steady_disc(lean, u2) if u3 is None else u3
    rate = falling_disc.growth(disc, lean, 0, u2, u3)
    found = energy_momentum(disc, [0, 0, 0.7, lean, 0.2], [0, u2, u3], ("u1", "u2", "u3"))
    p = disc_numbers()
    metric = p["A"] + p["m"] * p["r"] ** 2
    expected = sorted([metric, -rate * metric])
    np.testing.assert_allclose(found.eigenvalues, expected, rtol=1e-9, atol=1e-9)
    assert found.is_stable is (rate < 0) and found.neutral == 4


def test_momenta_that_grow_by_themselves_are_not_transported():
    with pytest.raises(MechanicsError, match="not merely transported"):
        energy_momentum(load_system("chaplygin_sleigh"), [0, 0, 0], [0.7, 0.0])


@pytest.mark.parametrize("speeds, message", [
    ((0.0, 2.0, 0.5), "the force on the shape is "), ((0.3, 2.0, None), "its shape moves")])
def test_a_disc_that_falls_is_not_steady(speeds, message):
    """It turns too slowly for its lean, or its lean changes."""
    u1, u2, u3 = speeds
    u3 = steady_disc(0.4, u2) if u3 is None else u3
    with pytest.raises(MechanicsError, match=f"nor of momenta .* carries along: .*{message}"):
        energy_momentum(load_system("falling_disc"), [0, 0, 0.7, 0.4, 0.2], [u1, u2, u3],
                        ("u1", "u2", "u3"))
