"""What symmetries are sought among, and where numbers decide that something vanishes."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nhmech.errors import MechanicsError
from nhmech.mechanics import (
    HamiltonJacobi,
    constrain,
    euclidean,
    find_symmetry,
    gibbs_appell,
    lagrangian_system,
    lie_algebra,
    product,
    special_euclidean_2,
    special_orthogonal,
    symmetry,
)
from nhmech.mechanics.first_integrals import usual_speeds
from nhmech.mechanics.invariance import evaluate, invariances, random_states
from nhmech.mechanics.symmetry_search import (
    candidates,
    echelon,
    name_combination,
    null_combinations,
)


def kinetic(s):
    return sum((i + 1) * v ** 2 for i, v in enumerate(vars(s.v).values())) / 2


# -- candidates ------------------------------------------------------------------------------------
def turned(q, axis, of_space, angle):
    """A quaternion after a turn about an axis of space or of the body."""
    turn = Rotation.from_rotvec(angle * np.eye(3)[axis])
    return (turn * Rotation.from_quat(q) if of_space else Rotation.from_quat(q) * turn).as_quat()


def test_candidates_are_the_fields_that_they_are_called():
    """Of a ball beside a body in the plane and a height: rho s = the field, by the turn itself."""
    space = product(special_orthogonal(), special_euclidean_2(embedded=True), euclidean("h"))
    system = lagrangian_system(space, kinetic)
    names, sections = candidates(system)
    assert names[:7] == ["d/dwx", "d/dwy", "d/dwz", "d/dforward_speed", "d/dlateral_speed",
                         "d/dyaw_rate", "d/dh"]
    flat = ("x", "y", "h")
    assert names[7:] == [name for j in flat for name in (f"d/d{j} ", *(
        f"{i} d/d{j}" for i in flat))] + [f"turn of qx.. about {axis}{prime}" for prime in ("", "'")
                                          for axis in "xyz"]
    evaluate = ca.Function("fields", [space.q], [sections, space.anchor @ sections])
    for q in np.random.default_rng(0).normal(size=(3, 9)):
        q = space.normalise(q)
        section, field = (part.full() for part in evaluate(q))
        np.testing.assert_array_equal(section[:, :7], np.eye(7))
        place = dict(zip(space.q_names, q))
        for k, name in enumerate(names[7:19]):
            size, of = (1.0, name) if name.startswith("d/d") else (place[name[0]], name[2:])
            expected = size * np.eye(9)[space.q_names.index(of.strip().removeprefix("d/d"))]
            np.testing.assert_allclose(field[:, 7 + k], expected, atol=1e-14)
        for k in range(6):
            ends = [turned(q[:4], k % 3, k < 3, angle) for angle in (1e-6, -1e-6)]
            ends = [end * np.sign(end @ q[:4]) for end in ends]
            np.testing.assert_allclose(field[:4, 19 + k], (ends[0] - ends[1]) / 2e-6, atol=1e-9)
            np.testing.assert_allclose(field[4:, 19 + k], 0, atol=1e-15)


def test_where_the_anchor_is_none_only_the_fibre_is_tried():
    names, sections = candidates(lagrangian_system(lie_algebra("so(3)"), kinetic))
    assert names == ["d/dwx", "d/dwy", "d/dwz"] and sections.is_constant()


# -- echelon forms and null spaces -----------------------------------------------------------------
@pytest.mark.parametrize("entry, found", [
    (0.9e-9, 0.0), (1.1e-9, 1.1e-9), (2 + 1.9e-9, 2.0), (2 + 2.1e-9, 2 + 2.1e-9),
    (-3 - 2.9e-9, -3.0), (0.3, 0.3), (0.0, 0.0)])
def test_entries_of_an_echelon_form_are_rounded_at_a_billionth(entry, found):
    for scale in (1.0, np.array([4.0, 4.0])):
        assert echelon(np.array([[1.0, entry]]), scale).tolist() == [[1.0, found]]


@pytest.mark.parametrize("first, found", [(0.9e-8, [0.0, 1.0]), (1.25e-8, [1.0, 8e7])])
def test_a_pivot_is_a_hundred_millionth_of_what_is_left(first, found):
    for unit in (1e-3, 1.0, 1e3):
        np.testing.assert_allclose(echelon(unit * np.array([[first, 1.0]])), [found], rtol=1e-12)
        both = echelon(unit * np.array([[1.0, 0, 0], [0.0, first, 1.0]]))
        np.testing.assert_allclose(both, [[1, 0, 0], [0, *found]], rtol=1e-12)


def test_the_largest_pivot_is_taken_and_every_row_has_its_one():
    rng = np.random.default_rng(1)
    for m, n in ((1, 4), (2, 2), (3, 5), (4, 4)):
        basis = rng.normal(size=(m, n))
        before, found = basis.copy(), echelon(basis)
        assert np.array_equal(basis, before)
        np.testing.assert_allclose(found, np.linalg.solve(basis[:, :m], basis), rtol=1e-9,
                                   atol=1e-9)


@pytest.mark.parametrize("rate, count", [(0.9e-9, 1), (1.1e-9, 0)])
def test_a_rate_vanishes_at_a_billionth_of_its_terms(rate, count):
    for unit in (1e-9, 1.0, 1e9):
        rates, sizes = np.array([[rate * unit], [0.0]]), np.array([[0.6 * unit], [0.8 * unit]])
        assert len(null_combinations(rates, sizes)) == count
    assert len(null_combinations(np.zeros((2, 3)), np.zeros((2, 3)))) == 3


@pytest.mark.parametrize("share, extent, nothing, count", [
    (0.9e-12, 1.0, 1e-12, 1), (1.1e-12, 1.0, 1e-12, 0), (0.9e-12, 0.5, 1e-12, 0),
    (1.9e-12, 2.0, 1e-12, 1), (1e-20, 1.0, 0.0, 0), (0.995e-12, 0.0, 1e-12, 1),
    (1.005e-12, 0.0, 1e-12, 0)])
def test_terms_that_are_rounding_beside_others_count_as_none(share, extent, nothing, count):
    """Each relative to the extent of its candidate, of which zero is none."""
    for unit in (1e-9, 1.0, 1e9):
        rates = unit * np.diag([1.0, share])
        found = null_combinations(rates, np.abs(rates), nothing, np.array([1.0, extent]))
        assert len(found) == count and (not count or found.tolist() == [[0.0, 1.0]])


def test_names_of_combinations_have_signs_and_sizes():
    names = ["E", "d/dx ", "d/dy"]
    for row, name in (([1, -1, 0], "E - d/dx"), ([0, 0, 2], "2 d/dy"), ([0, -0.5, 1 / 3],
                      "- 0.5 d/dx + 0.333333 d/dy"), ([0, 0, 0], "")):
        assert name_combination(np.array(row, dtype=float), names) == name


# -- what is invariant, and at which states --------------------------------------------------------
@pytest.mark.parametrize("slope, kept", [(1e-14, True), (1e-11, False), (1e-3, False)])
@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_a_lagrangian_changes_above_its_last_digits(unit, slope, kept):
    """By a part of 1e-13 where a coordinate changes by as much as it is."""
    plane = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        kinetic(s) - ca.cos(s.q.y / unit) - slope * ca.sin(s.q.x / unit))))
    plane = replace(plane, samples=unit * plane.configurations)
    if kept:
        assert symmetry(plane, {"x": lambda s: {"x": 1}}).kind == "horizontal"
        assert find_symmetry(plane).names == ("d/dx",)
    else:
        with pytest.raises(MechanicsError, match="the Lagrangian changes along it at a rate of"):
            symmetry(plane, {"x": lambda s: {"x": 1}})
        with pytest.raises(MechanicsError, match="none of the candidates is a symmetry"):
            find_symmetry(plane)


def test_places_where_speeds_do_not_determine_the_motion_are_left_out():
    """z x' + (1 - z) y' = 0 at z = 0 and 1, where y' and x' vanish: no pair of speeds serves
    both."""
    tied = constrain(lagrangian_system(euclidean("w", "x", "y", "z"), kinetic), rows={
        "row": lambda s: s.q.z * s.v.x + (1 - s.q.z) * s.v.y})
    tied = replace(tied, samples=np.array([[0.3, 0.4, 0.5, 0.0], [0.1, 0.2, 0.7, 1.0]]))
    assert [q[3] for _, q, _, _ in random_states(tied, 4)] == [0.0, 0.0]
    assert symmetry(tied, {"w": lambda s: {"w": 1}}).kind == "horizontal"


def test_no_rate_exceeds_the_size_of_its_terms():
    """Along sections that are no symmetries, of a body in its own speeds with a constant force and
    a row: constant sections, and one that varies."""
    body = constrain(lagrangian_system(special_orthogonal(), lambda s: (
        kinetic(s) - s.q.qx * s.q.qw), force=lambda s: {"wx": 1.0, "wy": s.q.qz, "wz": -s.v.wx}),
        rows={"row": lambda s: s.v.wx - s.v.wy})
    x = body.system.q[0]
    sections = ca.horzcat(ca.SX.eye(3), ca.vertcat(x, -2 * x ** 2, 0.3))
    found = invariances(body, sections)
    assert [one.what for one in found] == ["the Lagrangian", "the force", "the distribution",
                                           "the holonomic constraint"]
    for rate, size in evaluate(body, found, 5):
        assert (np.abs(rate) <= size * (1 + 1e-13)).all()
        assert not rate.size or (np.abs(rate) > 0.5 * size).any()


@pytest.mark.parametrize("length, mass, time", [
    (1.0, 1.0, 1.0), (1e-9, 1e3, 1e6), (1e9, 1e-6, 1.0)])
def test_random_states_have_the_energy_of_the_potential(length, mass, time):
    """Their kinetic energy has the mean of so many squares of normal numbers, times half of what
    the potential changes between the samples; they satisfy the rows."""
    unit = mass * length ** 2 / time ** 2
    samples = length * np.arange(1.0, 9.0)[:, None] * [1, 0.5, -0.3]
    made = constrain(lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        mass * (s.v.x ** 2 + 2 * s.v.y ** 2 + 3 * s.v.z ** 2) / 2 - 5 * unit / length * s.q.x),
        inputs=("f", "g")), rows={"row": lambda s: s.v.z - s.v.x - 0.1 * s.v.y})
    made = type(made)(made.system, made.distribution, made.parameters, samples)
    states = random_states(made, 200)
    assert len(states) == 200 and all(0 <= t <= 1 and u.shape == (2,) for t, _, _, u in states)
    for k, (_, q, v, _) in enumerate(states):
        np.testing.assert_array_equal(q, samples[-1 - k % 8])
        assert abs(v[2] - v[0] - 0.1 * v[1]) <= 1e-12 * np.abs(v).max()
    energies = [mass * (v @ np.diag([1, 2, 3]) @ v) / 2 for _, _, v, _ in states]
    # 2 / 2 times 35 units, of a distribution whose mean over 200 states is known to 7 %
    assert np.mean(energies) == pytest.approx(35 * unit, rel=0.25)


def test_random_states_of_what_moves_are_where_it_is_by_then():
    moving = constrain(lagrangian_system(euclidean("x", "y"), kinetic),
                       holonomic={"wall": lambda s: s.q.x - s.t})
    states = random_states(moving, 60)
    assert len({t for t, *_ in states}) > 3 and {t for t, *_ in states} >= {0.0}
    for t, q, v, _ in states:
        assert q[0] == pytest.approx(t, rel=1e-12, abs=1e-12)
        assert v[0] == pytest.approx(1, rel=1e-12)
    free = constrain(lagrangian_system(euclidean("x", "y"), kinetic))
    energies = [kinetic_of for _, _, v, _ in random_states(free, 400)
                for kinetic_of in [(v[0] ** 2 + 2 * v[1] ** 2) / 2]]
    assert np.mean(energies) == pytest.approx(1, rel=0.2)      # one, where no potential differs


@pytest.mark.parametrize("potential, size", [
    (lambda x: 1e6 * ca.exp(x) * ca.exp(-x), 1.0), (lambda x: 1e6 + 1e-3 * x, 7e-3),
    (lambda x: 5.0 * x + 1e-6 * ca.log((x - 4) ** 2), 35.0), (lambda x: 1e6 + 1e-7 * x, 1.0)])
def test_potentials_that_differ_by_rounding_do_not(potential, size):
    """Below a millionth of a millionth of them; places where one is infinite do not count."""
    free = lagrangian_system(euclidean("x", "y"), lambda s: kinetic(s) - potential(s.q.x))
    made = constrain(free)
    made = type(made)(free, made.distribution, samples=np.arange(1.0, 9.0)[:, None] * [1, 0])
    energies = [(v[0] ** 2 + 2 * v[1] ** 2) / 2 for _, _, v, _ in random_states(made, 400)]
    assert np.mean(energies) == pytest.approx(size, rel=0.2)


def test_rows_are_invariant_where_they_hold_and_lagrangians_everywhere():
    """(1 + x^2) (z' - y x') changes along x by a multiple of itself; x (z' - y x') in L is zero on
    the row, and changes off it."""
    def row(s):
        return s.v.z - s.q.y * s.v.x

    for bend, kept in ((0.0, True), (1.0, False)):
        free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
            kinetic(s) + bend * s.q.x * row(s)))
        tied = constrain(free, rows={"row": lambda s: (1 + s.q.x ** 2) * row(s)})
        if kept:
            assert symmetry(tied, {"x": lambda s: {"x": 1}}).kind == "purely kinematic"
        else:
            with pytest.raises(MechanicsError, match="the Lagrangian changes along it"):
                symmetry(tied, {"x": lambda s: {"x": 1}})


@pytest.mark.parametrize("values, solves", [
    ((0.9e-9, 0.9e-9, 1.0), True), ((1.1e-9, 0.0, 0.0), False), ((0.0, 1.1e-9, 0.0), False)])
def test_a_solution_of_hamilton_and_jacobi_is_one_to_a_billionth(values, solves):
    assert HamiltonJacobi(*values).is_solution is solves


# -- speeds of random states -----------------------------------------------------------------------
def speeds_at(lagrangian, samples):
    """At which the forces of a motion change it as its inertia does."""
    made = replace(constrain(lagrangian_system(euclidean("x", "y"), lagrangian)),
                   samples=np.array(samples))
    return usual_speeds(gibbs_appell(made, ("x'", "y'")))


@pytest.mark.parametrize("mass, metre, second", [
    (1.0, 1.0, 1.0), (1e6, 1e-3, 1e3), (1e-6, 1e3, 1e-3)])
def test_a_body_falls_from_sample_to_sample(mass, metre, second):
    """v^2 = g h, h the spread of the samples or, if there is one alone, 1; along y, where the body
    has four times the inertia, at the same kinetic energy."""
    g, places = 8 * metre / second ** 2, metre * np.array([[3.0, 40.0], [5.0, 20.0], [7.0, 60.0]])
    for samples, h in ((places, metre * np.sqrt(8 / 3)), (places[:1], 1.0)):
        found = speeds_at(lambda s: mass * (s.v.x ** 2 / 2 + 2 * s.v.y ** 2 - g * s.q.x), samples)
        np.testing.assert_allclose(found, np.sqrt(g * h) * np.array([1, 1 / 2]), rtol=1e-12)


@pytest.mark.parametrize("r, pull", [(2.0, 8.0), (0.5, 24.0)])
def test_a_body_is_pulled_as_fast_as_it_circles(r, pull):
    """In polar coordinates at a sample of the radius r: 2 v^2 / r by the turn, and v^2 by the way
    or v^2 / r by the angle, are the pull."""
    found = speeds_at(lambda s: (s.v.x ** 2 + s.q.x ** 2 * s.v.y ** 2) / 2 - pull * s.q.x,
                      [[r, 0.3]])
    np.testing.assert_allclose(found, [2, 2 / r], rtol=1e-12)


def test_speeds_are_any_where_nothing_pulls():
    """But have the same kinetic energy."""
    found = speeds_at(lambda s: 3 * s.v.x ** 2 + 12 * s.v.y ** 2, [[1.0, 2.0]])
    np.testing.assert_allclose(found, [6 ** -0.5, 24 ** -0.5], rtol=1e-12)
