"""Stability of steady motions by what they keep, against the classical answers."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from support import at_length

from nhmech.errors import MechanicsError
from nhmech.mechanics import (
    EnergyMomentum,
    constrain,
    energy_momentum,
    euclidean,
    lagrangian_system,
    lie_algebra,
    symmetry,
)
from nhmech.mechanics.transported_momenta import paces, shape_stability
from nhmech.systems import chaplygin_sleigh, falling_disc, heavy_top, load_system, vertical_disk

WORLD = ("wx", "wy", "wz")
HALF = np.sqrt(0.5)


@pytest.mark.parametrize("share, stable", [
    (0.99, False), (1 - 1e-5, False), (1 + 1e-5, True), (1.01, True)])
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
    with pytest.raises(MechanicsError, match="no relative equilibrium .* fails by [0-9.]+;"
                                             ".* there is no shape that could carry them"):
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


def test_a_free_point_at_rest_is_everywhere_alike():
    """Its three momenta have two differentials, and what they leave are its places."""
    point = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2))
    found = energy_momentum(point, [0.3, 0.2], [0, 0])
    assert len(found.coefficients) == 3
    assert found.is_stable and not len(found.eigenvalues) and found.neutral == 2


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("ratio", [1e-3, 2.0, 1e3])
def test_a_coordinate_without_inertia(sign, ratio):
    """z has no mass and moves by z' = ratio x'; a spring pulls it back, or (-1) pushes it away: an
    oscillator of mass 1 / ratio^2 in z. The speed that is kept is the larger of x' and z'."""
    point = constrain(lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 - sign * (s.q.z / ratio) ** 2) / 2),
        rows={"tie": lambda s: s.v.z - ratio * s.v.x})
    found = energy_momentum(point, [0, 0, 0], [0, 0])
    np.testing.assert_allclose(found.eigenvalues, sorted([
        sign / ratio ** 2, 1 / max(ratio, 1) ** 2]), rtol=1e-9)
    assert found.is_stable is (sign > 0) and found.neutral == 2


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


@pytest.mark.parametrize("tilt, steady", [(1e-11, True), (1e-6, False), (1e-3, False)])
def test_a_top_that_hardly_leans_is_not_sleeping(tilt, steady):
    q = np.array([tilt, 0, 0, 1]) / np.hypot(1, tilt)
    if steady:
        assert energy_momentum(heavy_top.example(), q, [0, 0, 30.0], WORLD).neutral == 1
    else:
        with pytest.raises(MechanicsError, match="no relative equilibrium"):
            energy_momentum(heavy_top.example(), q, [0, 0, 30.0], WORLD)


@pytest.mark.parametrize("off, message", [
    ((0.0, 1e-6), "the force on the shape is "), ((1e-7, 0.0), "its shape moves")])
def test_a_disc_that_hardly_falls_is_not_steady(off, message):
    u3, disc = steady_disc(0.4, 2.0), load_system("falling_disc")
    with pytest.raises(MechanicsError, match=message):
        energy_momentum(disc, [0, 0, 0.7, 0.4, 0.2], [off[0], 2.0, u3 * (1 + off[1])],
                        ("u1", "u2", "u3"))
    rounded = u3 * (1 + 1e-11 * np.sign(off[1] + 1e-3))
    assert energy_momentum(disc, [0, 0, 0.7, 0.4, 0.2], [1e-2 * off[0], 2.0, rounded],
                           ("u1", "u2", "u3")).neutral == 4


@pytest.mark.parametrize("values, stable", [
    ([1.0, 1e-12], True), ([1.0, 0.0], False), ([-1.0, -1e-12], True), ([-1.0, 0.0], False),
    ([-1.0, 1.0], False), ([2e-9, -1.0, 1.0], False), ([], True)])
def test_a_form_is_definite_where_all_eigenvalues_have_one_sign(values, stable):
    found = EnergyMomentum({}, np.sort(values), 0)
    assert found.is_stable is stable and f"{len(values)} directions" in repr(found)


@pytest.mark.parametrize("metre, second, kilogram", [
    (1.0, 1.0, 1.0), (1e-3, 1.0, 1e6), (1e3, 1e-3, 1.0), (1.0, 1e3, 1e-6), (1.0, 1e-4, 1.0)])
@pytest.mark.parametrize("share, stable", [(1.1, True), (0.9, False), (-1e3, False)])
def test_definite_is_what_is_a_billionth_from_zero_in_any_unit(
        metre, second, kilogram, share, stable):
    """Two beads on springs whose potential x^2 + y^2 + 2 (1 - d) x y has the eigenvalues d and 2 -
    d of x'^2 + y'^2, beside a heavy wheel on another spring. Cubes keep all from being alike."""
    d = 2e-9 * share

    def lagrangian(s):
        x, y, a = s.q.x / metre, s.q.y / metre, s.q.a
        V = x ** 2 + y ** 2 + 2 * (1 - d) * x * y + x ** 3 + 2 * y ** 3 + 1e3 * (a ** 2 + a ** 3)
        return kilogram * ((s.v.x ** 2 + s.v.y ** 2) / metre ** 2 * second ** 2
                           + 1e3 * (s.v.a * second) ** 2 - V)

    places = np.random.default_rng(0).normal(size=(8, 3)) * (metre, metre, 1.0)
    beads = constrain(lagrangian_system(euclidean("x", "y", "a"), lagrangian), samples=places)
    found = energy_momentum(beads, np.zeros(3), np.zeros(3))
    assert found.is_stable is stable and len(found.eigenvalues) == 6
    assert (found.eigenvalues == 0).sum() == (1 if share == 0.9 else 0)
    assert (found.eigenvalues < 0).sum() == (1 if share < 0 else 0)


def test_a_row_that_gives_every_speed_leaves_no_constant_energy():
    wheel = lagrangian_system(lie_algebra("u(1)"), lambda s: s.v.charge ** 2 / 2)
    with pytest.raises(MechanicsError, match="this motion has no constant energy"):
        energy_momentum(constrain(wheel, rows={"row": lambda s: s.v.charge - 3.0}), [], [])


def test_rest_at_a_place_that_is_rounded():
    """The slope of cos x at pi is 1e-16."""
    for sign, stable in ((1, True), (-1, False)):
        found = energy_momentum(constrain(lagrangian_system(euclidean("x"), lambda s: (
            s.v.x ** 2 / 2 - sign * ca.cos(s.q.x)))), [np.pi], [0.0])
        assert found.is_stable is stable
        assert found.eigenvalues == pytest.approx(sorted([1, sign]), rel=1e-12)


@pytest.mark.parametrize("power, finite", [(1.5, False), (2.5, True)])
def test_second_derivatives_have_to_be_finite(power, finite):
    """|x|^1.5 has a minimum at x = 0 without a curvature."""
    bowl = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 - s.q.y ** 2) / 2 - ca.fabs(s.q.x) ** power))
    if finite:
        assert not energy_momentum(bowl, [0.0, 0.0], [0.0, 0.0]).is_stable
    else:
        with pytest.raises(MechanicsError, match="a conserved quantity is not finite there"):
            energy_momentum(bowl, [0.0, 0.0], [0.0, 0.0])


def test_integrals_that_are_not_finite():
    """A point in the logarithmic well of a line, on the line."""
    well = lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2 - ca.log(s.q.x ** 2))
    with pytest.raises(MechanicsError, match="a conserved quantity is not finite there"):
        energy_momentum(constrain(well), [0.0, 0.3], [0.0, 0.0])


def test_the_energy_of_a_saddle_decides_nothing_and_the_coefficient_is_the_speed():
    """Of a bead that slides along x at 0.7 m/s over z = (y^2 - z^2): dE = 0.7 dp_x."""
    for sign, stable in ((1, True), (-1, False)):
        bowl = constrain(lagrangian_system(euclidean("x", "y", "z"), lambda s: (
            2 * s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2 - s.q.y ** 2 - sign * 3 * s.q.z ** 2 / 2))
        found = energy_momentum(bowl, [0.4, 0, 0], [0.7, 0, 0], ("x'", "y'", "z'"))
        assert found.coefficients == pytest.approx({"d/dx": 0.7}, rel=1e-12, abs=0)
        assert found.is_stable is stable and found.neutral == 1
        np.testing.assert_allclose(found.eigenvalues, sorted([1, 1, 2, 3 * sign]), rtol=1e-12)


def test_rest_where_nothing_is_symmetric():
    """The energy alone decides: its eigenvalues are those of its Hessian."""
    bowl = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        2 * s.v.x ** 2 + s.v.y ** 2) / 2 - s.q.x ** 2 - 2 * s.q.y ** 2 - s.q.x ** 3 * (1 + s.q.y)))
    found = energy_momentum(bowl, [0, 0], [0, 0], ("x'", "y'"))
    assert found.is_stable and found.neutral == 0 and found.coefficients == {}
    np.testing.assert_allclose(found.eigenvalues, [1, 2, 2, 4], rtol=1e-12)


@pytest.mark.parametrize("unit, bend, pull, why", [
    (1.0, 0.0, 0.0, ""), (1.0, 1e-12, 1e-12, ""), (1e-3, 1e-13, 0.0, ""),
    (1.0, 1e-7, 0.0, "depend on the path of the shape, by "),
    (1.0, 1.0, 0.0, "depend on the path"), (1e-3, 1e-7, 0.0, "depend on the path"),
    (1e-3, 0.0, 1e-12, ""), (1e3, 0.0, 1e-12, ""), (1e3, 0.0, 1e-7, "not merely transported"),
    (1.0, 0.0, 1e-7, "not merely transported: .* other than xi p"),
    (1.0, 0.0, 0.3, "not merely transported")])
def test_momenta_that_a_shape_carries_along_or_does_not(unit, bend, pull, why):
    """z' = y x' has d ln p = y dy / (m + y^2), which is closed unless m depends on w; a momentum
    of w' beside x' has a rate y' w'. What moves along a by itself has nothing to do with it."""
    free = lagrangian_system(euclidean("x", "z", "y", "w", "a"), lambda s: (
        (1 + bend * (s.q.w / unit) ** 2) * s.v.x ** 2 + s.v.z ** 2 + s.v.y ** 2 + s.v.w ** 2
        + s.v.a ** 2 + 2 * pull * s.v.x * s.v.w - 2 * s.q.w ** 2 - 2 * s.q.y ** 2) / 2 / unit ** 2)
    made = constrain(free, rows={"slope": lambda s: s.v.z - s.q.y / unit * s.v.x},
                     samples=unit * np.random.default_rng(0).normal(size=(8, 5)))
    tied = symmetry(made, {name: lambda s, name=name: {name: 1} for name in "xza"})
    at = unit * np.array([0, 0, 1e-9, 0, 0]), unit * np.array([0.7, 0.7e-9, 0, 0, 0])
    if not why:
        # U = p^2 / (2 (1 + y^2)) + w^2 + y^2 with p = c sqrt(1 + y^2) is flat in y but for y^2
        second = shape_stability(tied, *at)
        np.testing.assert_allclose(np.linalg.eigvalsh(second) * unit ** 2, [1, 1, 2, 2],
                                   rtol=1e-12)
    else:
        with pytest.raises(MechanicsError, match=why):
            shape_stability(tied, *at)


def test_a_pace_is_a_part_of_how_far_the_coordinates_go():
    """Of the largest known value of each, or of 1 where none but 0 is known."""
    free = constrain(lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2)))
    made = replace(free, samples=np.array([[0, 0.02, 0], [0, -0.04, 5]]))
    sections = ca.SX(np.array([[3.0, 0, 0, 3], [0, 2, 0, 0.01], [0, 0, 2, -2]]))
    np.testing.assert_allclose(paces(made, np.zeros(3), sections), [3, 50, 0.4, 3], rtol=1e-12)
    np.testing.assert_allclose(paces(made, np.array([-4, 0.1, -8.0]), sections),
                               [0.75, 20, 0.25, 0.75], rtol=1e-12)


def hollow(mass):
    """A bead that runs along x in a hollow whose depth does not depend on it, with its shift."""
    free = lagrangian_system(euclidean("x", "y"), lambda s: mass * (
        (1 + s.q.y ** 2) * s.v.x ** 2 + 3 * s.v.y ** 2 - s.q.y ** 2) / 2)
    return symmetry(constrain(free), {"x": lambda s: {"x": 1}})


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("speed", [0.7, 1.3, 20.0])
def test_momenta_that_are_constant_are_carried_along_too(mass, speed):
    """Routh: with the momentum p, U = p^2 / (2 (1 + y^2)) + y^2 / 2 has U'' = 1 - p^2 at y = 0."""
    np.testing.assert_allclose(
        shape_stability(hollow(mass), np.zeros(2), np.array([speed, 0.0])),
        mass * np.diag([3, 1 - speed ** 2]), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("mass, speed", [(1e-3, 0.7), (1e3, 0.7), (1.0, 20.0)])
@pytest.mark.parametrize("share, steady", [(0.99, True), (-0.99, True), (1.01, False),
                                           (-1.01, False)])
def test_a_motion_is_steady_to_a_hundred_millionth(mass, speed, share, steady):
    """Of its speed, each in the unit of its energy, and of what the force on the shape grows to
    over a length of one."""
    for y, w, message in ((share * 1e-8, 0.0, "the force on the shape"),
                          (0.0, share * 1e-8 * speed / np.sqrt(3), "its shape moves")):
        at = np.array([0.3, y]), np.array([speed, w])
        if steady:
            assert shape_stability(hollow(mass), *at).shape == (2, 2)
        else:
            with pytest.raises(MechanicsError, match=f"relative equilibrium: {message}"):
                shape_stability(hollow(mass), *at)


@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_a_circular_orbit_in_coordinates_that_the_turn_moves(angle):
    """V = r^4 / 4 at r = 1 with the speed 1: of (x, y, x', y') ker dJ has the turn (0, 1, -1, 0),
    where E - J does not change, and (1, 0, 0, -1) and (0, 1, 1, 0), with 6 / 2 and 4 / 2."""
    point = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2 - (s.q.x ** 2 + s.q.y ** 2) ** 2 / 4))
    c, s = np.cos(angle), np.sin(angle)
    found = energy_momentum(point, [c, s], [-s, c], ("x'", "y'"))
    np.testing.assert_allclose(found.eigenvalues, [2, 3], rtol=1e-12)
    assert found.neutral == 1 and found.is_stable
    assert np.abs(list(found.coefficients.values())) == pytest.approx([1], rel=1e-12)


def test_rest_in_the_middle_of_a_round_bowl():
    """Where the slope of the angular momentum is zero: the energy is least by itself. To
    half of the digits, because the least eigenvalue has a smooth maximum there."""
    bowl = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 - 3 * (s.q.x ** 2 + s.q.y ** 2)) / 2))
    found = energy_momentum(bowl, [0, 0], [0, 0], ("x'", "y'"))
    assert found.is_stable and found.neutral == 0 and len(found.coefficients) == 1
    np.testing.assert_allclose(found.eigenvalues, [1, 1, 3, 3], rtol=1e-6)


@pytest.mark.parametrize("lean", [1e-4, 0.3])
def test_the_coefficients_of_a_top_that_precesses_are_its_two_rates(lean):
    """Of the vertical and of its own axis: I1 W^2 cos - I3 w W + m g l = 0 (Goldstein, section
    5.7)."""
    I1, I3, m, l, g, w = 0.8, 0.5, 1.5, 0.4, 9.81, 14.0
    rate = np.roots([I1 * np.cos(lean), -I3 * w, m * g * l]).min()
    found = energy_momentum(heavy_top.example(I1, I1, I3, m, l, g),
                            [np.sin(lean / 2), 0, 0, np.cos(lean / 2)],
                            [0, rate * np.sin(lean), w], WORLD)
    assert found.is_stable
    assert found.coefficients == pytest.approx(
        {"d/dwz": w - rate * np.cos(lean), "turn of qx.. about z": rate}, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_best_coefficients_do_not_depend_on_the_unit_of_mass(unit):
    """To half of the digits, because the least eigenvalue has a smooth maximum there."""
    I1, I3, m, l, g = 0.8, 0.5, 1.5, 0.4, 9.81
    found = [energy_momentum(heavy_top.example(I1 * size, I1 * size, I3 * size, m * size, l, g),
                             [0, 0, 0, 1], [0, 0, 9.0], WORLD) for size in (1.0, unit)]
    assert found[1].coefficients == pytest.approx(found[0].coefficients, rel=1e-7)
    np.testing.assert_allclose(found[1].eigenvalues, unit * found[0].eigenvalues, rtol=1e-6)
