"""The constraint algorithm: singular Lagrangians, constraints that fail compatibility,
and systems it must leave alone."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from runs import by_scipy
from scipy.integrate import solve_ivp

from nhmech.errors import MechanicsError
from nhmech.mechanics.algebroid import LieAlgebroid, circle, euclidean, line, product
from nhmech.mechanics.algebroid_makers import lie_algebra
from nhmech.mechanics.constraint_algorithm import constraint_algorithm
from nhmech.mechanics.constraint_manifold import Ambient, ConstraintManifold
from nhmech.mechanics.frame import adapted_frame
from nhmech.mechanics.gibbs_appell import gibbs_appell
from nhmech.mechanics.lagrange_multipliers import lagrange_multipliers
from nhmech.mechanics.momentum_side import momentum_side
from nhmech.mechanics.quasi_velocities import change_of_basis
from nhmech.mechanics.regularity import regularity
from nhmech.mechanics.system import LagrangianSystem
from nhmech.mechanics.writing import constrain, lagrangian_system
from nhmech.systems import load_system
from nhmech.systems.capri_kobayashi import singular_system


def system(names, lagrangian, numbers=None, **constraints):
    space = euclidean(*names.split()) if isinstance(names, str) else names
    numbers = numbers or {}
    return constrain(lagrangian_system(space, lagrangian, parameters=tuple(numbers)), numbers,
                     **constraints)


def run(found, q, v, times):
    """q (N, nq), v (N, nv), and the largest constraint residual along the run."""
    theta = found.original.parameters
    q, v = by_scipy(found, theta, q, v, times, u=np.zeros(found.original.system.u.numel()))
    residual = max(np.abs(found.residual(t, at, speeds, theta).full()).max(initial=0.0)
                   for t, at, speeds in zip(times, q, v))
    return q, v, residual


def zero_set(found, names):
    """Largest of the named coordinates and rates at the algorithm's own points on the final
    manifold, and at points of a hundred starts."""
    space = found.original.system.algebroid
    index = [(space.q_names + space.v_names).index(name) for name in names]
    rng = np.random.default_rng(5)
    points = [found.manifold.project(0.0, rng.normal(size=space.nq + space.nv)) for _ in range(100)]
    return max(np.abs(z[index]).max() for z in [*found.manifold.states,
                                                *(p for p in points if p is not None)])


def capri_kobayashi(m2, m3):
    return constrain(singular_system(), {"m2": m2, "m3": m3})


@pytest.mark.paper("004 II.A", "004 VII.A")
def test_capri_kobayashi_algorithm():
    """Secondary constraints -2 x1, -2 y1 as Dirac's; on the velocity side their rates too;
    all four second class on the momentum side."""
    found = constraint_algorithm(capri_kobayashi(0.7, 1.6))
    assert (found.hessian_rank, found.gauge, found.undetermined_reactions) == (4, 0, 0)
    assert (found.first_class, found.second_class, found.dimension) == (0, 4, 8)
    assert [(step.rank, step.constraints.numel(), step.dimension) for step in found.steps] == [
        (4, 2, 10), (4, 2, 8), (6, 0, 8)]
    s = found.original.system
    value = ca.Function("chi", [s.q, s.v], [found.steps[0].constraints])
    q, v = np.random.default_rng(0).normal(size=(2, 6))
    np.testing.assert_allclose(sorted(value(q, v).full().ravel()), sorted(-2 * q[:2]), rtol=1e-15)
    assert zero_set(found, ("x1", "y1", "x1'", "y1'")) <= 1e-14
    words = found.describe()
    assert ("Hessian of rank 4 of 6: singular" in words and "-2 x1 = 0, -2 y1 = 0" in words
            and "4 of second class" in words)


@pytest.mark.paper("004 VII.A")
def test_capri_kobayashi_runs_as_published(case):
    data = case("capri_kobayashi")
    m2, m3 = data["parameters"]["m2"], data["parameters"]["m3"]
    start, expected = data["initial_state"], data["expected"]
    assert (expected["algorithm"]["hessian_rank"] == 4
            and expected["algorithm"]["secondary"] == "['-2*x1', '-2*y1']")
    found = constraint_algorithm(capri_kobayashi(m2, m3))
    q0 = [0, 0] + [start[name] for name in ("x2", "y2", "x3", "y3")]
    v0 = [0, 0] + [start[name] for name in ("vx2", "vy2", "vx3", "vy3")]
    samples = expected["samples"]
    q, v, residual = run(found, q0, v0, [float(sample["t"]) for sample in samples])
    assert residual <= 1e-15
    for sample, (x1, y1, x2, y2, x3, y3), (_, _, u2, w2, u3, w3) in zip(samples, q, v):
        values = {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "x3": x3, "y3": y3,
                  "px2": 2 * m2 * u2 - y2, "py2": 2 * m2 * w2 + x2, "px3": 2 * m3 * u3 - y3,
                  "py3": 2 * m3 * w3 + x3}
        for name, value in values.items():
            assert value == pytest.approx(sample[name], abs=data["tolerance"]["state"])


@pytest.mark.paper("004 II.A")
def test_gauge_freedom():
    """L = (x' - y)^2 / 2: x' = y, and nothing says how y moves; on the momentum side p_y and p_x
    are of first class."""
    constrained = system("x y", lambda s: (s.v.x - s.q.y) ** 2 / 2)
    found = constraint_algorithm(constrained)
    assert (found.gauge, found.first_class, found.second_class, found.dimension) == (1, 2, 0, 3)
    assert "Undetermined accelerations (gauge): 1." in found.describe()
    times = np.linspace(0, 3, 7)
    t = constrained.system.t
    uniform = 0.3 - 0.2 * times
    for gauge, y in ((None, uniform), ({"y": ca.cos(t)}, uniform + 1 - np.cos(times)),
                     ({"y'": 2.0}, uniform + times ** 2)):
        fixed = constraint_algorithm(constrained, gauge=gauge)
        q, v, residual = run(fixed, [0.1, 0.3], [0.3, -0.2], times)
        assert residual <= 1e-12
        np.testing.assert_allclose(q[:, 1], y, rtol=0, atol=1e-12)
        np.testing.assert_allclose(v[:, 0], q[:, 1], rtol=0, atol=1e-12)
    a = constraint_algorithm(constrained).drift(0.0, [0.1, 0.3], [0.3, -0.2], [],
                                                [])[1].full().ravel()
    # x'' = y', and the least norm takes y'' = 0
    np.testing.assert_allclose(a, [-0.2, 0.0], rtol=1e-12, atol=1e-15)
    with pytest.raises(MechanicsError, match="cannot be chosen: 1 of 2"):
        constraint_algorithm(constrained, gauge={"x": 0.0})
    with pytest.raises(MechanicsError, match="cannot be chosen: 1 of 2"):
        constraint_algorithm(constrained, gauge={"x": 0.0, "y": 0.0})
    with pytest.raises(MechanicsError, match="no fibre coordinate 'z'"):
        constraint_algorithm(constrained, gauge={"z": 0.0})


def test_least_norm_shares_the_freedom():
    """L = (x' - y')^2 / 2 - (x - y)^2 / 2: only x - y moves; the least norm gives x'' = -y''."""
    found = constraint_algorithm(system("x y", lambda s: (s.v.x - s.v.y) ** 2 / 2
                                        - (s.q.x - s.q.y) ** 2 / 2))
    assert (found.gauge, found.first_class, found.second_class, found.dimension,
            len(found.steps)) == (1, 1, 0, 4, 1)
    a = found.drift(0.0, [0.7, 0.2], [0.0, 0.0], [], [])[1].full().ravel()
    np.testing.assert_allclose(a, [-0.25, 0.25], rtol=1e-12, atol=1e-15)


@pytest.mark.paper("004 II.A")
def test_cawley():
    """L = x' z' + y z^2 / 2 (Cawley 1979): z^2 = 0 is not regular, z takes its place;
    z, p_x, p_y are of first class, y is gauge."""
    found = constraint_algorithm(system("x y z", lambda s: s.v.x * s.v.z + s.q.y * s.q.z ** 2 / 2))
    assert (found.hessian_rank, found.gauge, found.first_class, found.second_class,
            found.dimension) == (2, 1, 3, 0, 4)
    assert zero_set(found, ("z", "z'")) <= 1e-13
    q, _, residual = run(found, [0.4, 1.0, 0.0], [0.5, -2.0, 0.0], [0.0, 2.0])
    assert residual <= 1e-14
    np.testing.assert_allclose(q[1], [1.4, -3.0, 0.0], rtol=1e-12, atol=1e-13)


def test_relativistic_particle():
    """L = -m sqrt(t'^2 - x'^2): no constraint on velocities, one primary of first class;
    x(t) does not depend on the gauge."""
    constrained = system("t x", lambda s: -s.p.m * ca.sqrt(s.v.t ** 2 - s.v.x ** 2), {"m": 1.3})
    near = ((0.0, 0.0), (2.0, 0.3))
    assert (one := constraint_algorithm(constrained, near=near)).hessian_rank == 1
    assert (one.gauge, one.first_class, one.second_class, one.dimension,
            len(one.steps)) == (1, 1, 0, 4, 1)
    for gauge in (None, {"t": 0.5}, {"t": -constrained.system.v[0] ** 2}):
        found = constraint_algorithm(constrained, near=near, gauge=gauge)
        q, v, _ = run(found, [0.0, 1.0], [2.0, 0.3], np.linspace(0, 2, 5))
        np.testing.assert_allclose(q[:, 1] - 1.0, 0.15 * q[:, 0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(v[:, 1] / v[:, 0], 0.15, rtol=1e-12)
    assert q[-1, 0] == pytest.approx(np.log(1 + 2 * 2.0), rel=1e-12)             # t'' = -t'^2


def test_first_order_lagrangian():
    """L = x y' - (x^2 + y^2) / 2: no masses at all; the constraints are Hamilton's equations x' =
    -y, y' = x of second class."""
    found = constraint_algorithm(system("x y",
                                        lambda s: s.q.x * s.v.y - (s.q.x ** 2 + s.q.y ** 2) / 2))
    assert (found.hessian_rank, found.gauge, found.first_class, found.second_class,
            found.dimension) == (0, 0, 0, 2, 2)
    times = np.linspace(0, 6, 13)
    q, _, residual = run(found, [0.8, 0.0], [0.0, 0.8], times)
    np.testing.assert_allclose(q, 0.8 * np.column_stack([np.cos(times), np.sin(times)]), rtol=0,
                               atol=1e-12)
    assert residual <= 1e-12


@pytest.mark.parametrize("rows", [False, True])
def test_massless_particle_on_springs(rows):
    """y has no mass and hangs between springs: k (x - y) = y.
    With the row z' = y x' the reduced equation is derived here by hand."""
    k = 2.5

    def lagrangian(s):
        return (s.v.x ** 2 + s.v.z ** 2) / 2 - s.p.k * (s.q.x - s.q.y) ** 2 / 2 - s.q.y ** 2 / 2

    constrained = system("x y z", lagrangian, {"k": k},
                         rows={"slope": lambda s: s.v.z - s.q.y * s.v.x} if rows else None)
    found = constraint_algorithm(constrained)
    assert (found.hessian_rank, found.gauge, found.dimension) == (2, 0, 3 if rows else 4)
    assert (found.first_class, found.second_class) == ((None, None) if rows else (0, 2))
    share, x0, v0 = k / (1 + k), 0.6, -0.3
    times = np.linspace(0, 8, 9)
    q, v, residual = run(found, [x0, share * x0, 0.0],
                         [v0, share * v0, share * x0 * v0 if rows else 0.0], times)
    assert residual <= 1e-12
    if rows:
        # (1 + y^2) x'' + y y' x' + k (x - y) = 0 with y = share x
        def reduced(_, z):
            return [z[1], -(share ** 2 * z[0] * z[1] ** 2
                            + share * z[0]) / (1 + (share * z[0]) ** 2)]

        reference = solve_ivp(reduced, (0, 8), [x0, v0], method="DOP853", t_eval=times, rtol=3e-14,
                              atol=1e-15).y[0]
    else:
        omega = np.sqrt(share)
        reference = x0 * np.cos(omega * times) + v0 / omega * np.sin(omega * times)
    np.testing.assert_allclose(q[:, 0], reference, rtol=0, atol=1e-11)
    np.testing.assert_allclose(q[:, 1], share * reference, rtol=0, atol=1e-11)


def incompatible(potential):
    """Kinetic energy (x'^2 - y'^2 + z'^2) / 2 with x' = y': M is regular, but A M^-1 A^T = 1 - 1 =
    0."""
    return system("x y z", lambda s: (s.v.x ** 2 - s.v.y ** 2 + s.v.z ** 2) / 2 - potential(s.q),
                  rows={"drag": lambda s: s.v.x - s.v.y})


@pytest.mark.paper("004 III.3", "004 III.1")
def test_incompatible_constraint_with_dynamics_left():
    """V = x^2/2 + x z + 5 z^2/2 asks for x + z = 0, hence z'' = -x - 5 z = -4 z and lambda = x'' =
    4 z."""
    constrained = incompatible(lambda q: q.x ** 2 / 2 + q.x * q.z + 2.5 * q.z ** 2)
    ranks = regularity(constrained)
    assert (ranks.regular and not ranks.compatible
            and (ranks.row_rank, ranks.compatibility_rank) == (1, 0))
    assert "not compatible" in ranks.describe()
    with pytest.raises(MechanicsError, match="singular"):
        lagrange_multipliers(constrained)
    found = constraint_algorithm(constrained)
    assert (found.gauge, found.dimension, found.undetermined_reactions) == (0, 3, 0)
    assert [step.constraints.numel() for step in found.steps] == [1, 1, 0]
    times = np.linspace(0, 4, 9)
    q, v, residual = run(found, [-0.3, 2.0, 0.3], [0.4, 0.4, -0.4], times)
    z = 0.3 * np.cos(2 * times) - 0.2 * np.sin(2 * times)
    np.testing.assert_allclose(q, np.column_stack([-z, 2.3 - z, z]), rtol=0, atol=1e-12)
    assert residual <= 1e-12
    lam = [float(found.multipliers(t, p, w, [], [])) for t, p, w in zip(times, q, v)]
    np.testing.assert_allclose(lam, 4 * z, rtol=0, atol=1e-11)


def test_incompatible_constraint_down_to_rest():
    """V = x z asks for z = 0, then z' = 0, x = 0, x' = 0: one dimension is left, the place y."""
    found = constraint_algorithm(incompatible(lambda q: q.x * q.z))
    assert [step.constraints.numel() for step in found.steps] == [1, 1, 1, 1, 0]
    assert (found.dimension, found.gauge) == (1, 0)
    assert zero_set(found, ("x", "z", "x'", "y'", "z'")) <= 1e-13


def test_incompatible_constraint_with_gauge():
    """V(x - y, z) asks for nothing: acceleration along (1, 1, 0) and the reaction that
    drives it remain undetermined together."""
    constrained = incompatible(lambda q: (q.x - q.y) ** 2 / 2 + 2.5 * q.z ** 2)
    found = constraint_algorithm(constrained, gauge={"x": 0.7})
    assert (found.gauge, found.undetermined_reactions, found.dimension,
            len(found.steps)) == (1, 0, 5, 1)
    q, v = np.array([0.5, 0.2, -0.4]), np.array([0.3, 0.3, 0.1])
    a = found.drift(0.0, q, v, [], [])[1].full().ravel()
    np.testing.assert_allclose(a, [0.7, 0.7, 2.0], rtol=1e-12, atol=1e-14)
    # x'' = lambda - (x - y)
    assert float(found.multipliers(0.0, q, v, [], [])) == pytest.approx(0.7 + 0.3, rel=1e-13, abs=0)


@pytest.mark.parametrize("name", ["nonholonomic_particle", "sled", "bead_parabola", "bead_rod"])
def test_compatible_systems_end_at_once(name):
    """No new constraint, and the accelerations and multipliers of Gibbs-Appell;
    the bead on the rod has a singular M and still ends."""
    example = load_system(name)
    constrained, theta = example.constrained, example.constrained.parameters
    found = constraint_algorithm(constrained)
    assert len(found.steps) == 1 and found.steps[0].constraints.numel() == 0
    assert found.gauge == found.undetermined_reactions == 0 and regularity(constrained).compatible
    equations = gibbs_appell(constrained, frame=adapted_frame(constrained, example.speeds))
    rng = np.random.default_rng(1)
    u = rng.normal(size=constrained.system.u.numel())
    for t, z in zip(found.manifold.times, found.manifold.states):
        q, v = z[:constrained.system.algebroid.nq], z[constrained.system.algebroid.nq:]
        xi = v[list(equations.frame.speeds)]
        a, lam = (equations.acceleration(t, q, xi, u, theta).full(),
                  equations.multipliers(t, q, xi, u, theta).full())
        rates = found.drift(t, q, v, u, theta)
        np.testing.assert_allclose(rates[1].full(), a, rtol=1e-10, atol=1e-10 * np.abs(a).max())
        mine = found.multipliers(t, q, v, u, theta).full()[list(equations.frame.kept)]
        np.testing.assert_allclose(mine, lam, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(lam).max()))


def test_bead_on_a_turning_rod(case):
    """Singular M (the rod coordinate has no mass) with holonomic, moving constraints:
    the run is r0 cosh + (v0 / w) sinh."""
    data = case("bead_rod")
    m, omega = data["parameters"]["m"], data["parameters"]["omega"]
    found = constraint_algorithm(system(
        "x y r", lambda s: s.p.m * (s.v.x ** 2 + s.v.y ** 2) / 2, {"m": m, "w": omega},
        holonomic={"x": lambda s: s.q.x - s.q.r * ca.cos(s.p.w * s.t),
                   "y": lambda s: s.q.y - s.q.r * ca.sin(s.p.w * s.t)}))
    assert (found.hessian_rank, found.first_class, found.second_class, found.dimension,
            len(found.steps)) == (
        2, 0, 4, 2, 1)
    samples = data["expected"]["samples"]
    r, rate = samples[0]["r"], samples[0]["r_rate"]
    q, v, residual = run(found, [r, 0.0, r], [rate, omega * r, rate],
                         [float(sample["t"]) for sample in samples])
    assert residual <= 1e-12
    for sample, position, velocity in zip(samples, q, v):
        np.testing.assert_allclose(position, [sample["x"], sample["y"], sample["r"]], rtol=0,
                                   atol=data["tolerance"]["state"])
        lam = found.multipliers(sample["t"], position, velocity, [], [m, omega]).full().ravel()
        np.testing.assert_allclose(lam, [sample["lambda1"], sample["lambda2"]], rtol=0,
                                   atol=data["tolerance"]["multiplier"])


@pytest.mark.parametrize("name, dimension, open_reactions",
                         [("carriage", 7, 1), ("disc", 8, 0), ("differential_drive", 7, 1)])
def test_vehicles_end_at_once(vehicle, name, dimension, open_reactions):
    """Redundant lateral rows and samples that lie on the holonomic manifold: dimension = nv - #phi
    + nxi; accelerations of Gibbs-Appell."""
    robot = vehicle(name)
    found = constraint_algorithm(robot)
    assert len(found.steps) == 1 and found.gauge == 0
    assert (found.dimension, found.undetermined_reactions) == (dimension, open_reactions)
    equations, nq = robot.equations, robot.constrained.system.algebroid.nq
    u = np.random.default_rng(2).normal(size=robot.constrained.system.u.numel())
    for t, z in zip(found.manifold.times, found.manifold.states):
        q, v = z[:nq], z[nq:]
        a = equations.acceleration(t, q, v[list(equations.frame.speeds)], u, robot.theta).full()
        np.testing.assert_allclose(found.drift(t, q, v, u, robot.theta)[1].full(), a, rtol=0,
                                   atol=1e-9 * np.abs(a).max())


def test_redundant_rows_leave_the_split_of_the_reaction_open():
    slope = {"slope": lambda s: s.v.z - s.q.y * s.v.x}
    twice = {**slope, "again": lambda s: 2 * s.v.z - 2 * s.q.y * s.v.x}
    free = dict(names="x y z", lagrangian=lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    one, two = (constraint_algorithm(system(**free, rows=slope)),
                constraint_algorithm(system(**free, rows=twice)))
    assert (two.gauge, two.undetermined_reactions, two.constraints.numel()) == (0, 1, 1)
    assert "Undetermined reactions: 1." in two.describe()
    q, v = [0.1, 0.5, 0.0], [1.0, -0.4, 0.5]
    np.testing.assert_allclose(two.drift(0, q, v, [], [])[1].full(),
                               one.drift(0, q, v, [], [])[1].full(), rtol=1e-12, atol=1e-14)
    lam = float(one.multipliers(0, q, v, [], []))
    np.testing.assert_allclose(two.multipliers(0, q, v, [], []).full().ravel(),
                               [lam / 5, 2 * lam / 5], rtol=1e-13)


def test_on_a_circle():
    """The embedding (cos, sin) of an angle counts as no constraint:
    a massless r is held at cos(theta), theta turns freely."""
    space = product(circle("angle"), line("r"))
    made = lagrangian_system(space, lambda s: s.v.angle ** 2 / 2 - (s.q.r - space.q[0]) ** 2 / 2)
    found = constraint_algorithm(constrain(made))
    assert (found.hessian_rank, found.dimension, found.gauge, found.first_class,
            found.second_class) == (1, 2, 0, 0, 2)
    times = np.linspace(0, 3, 4)
    q, _, residual = run(found, [1.0, 0.0, 1.0], [2.0, 0.0], times)
    np.testing.assert_allclose(q,
                               np.column_stack([np.cos(2 * times), np.sin(2 * times),
                                                np.cos(2 * times)]),
                               rtol=0, atol=1e-12)
    assert residual <= 1e-12


LAGRANGIANS = {  # of q, v (3,): Lagrangian, gauge, first class, second class
    "gauge": (lambda q, v: (v[0] - q[1]) ** 2 / 2 + v[2] ** 2 / 2, (1, 2, 0)),
    "Cawley": (lambda q, v: v[0] * v[2] + q[1] * q[2] ** 2 / 2, (1, 3, 0)),
    "springs": (lambda q, v: (v[0] ** 2 + v[2] ** 2) / 2 - (q[0] - q[1]) ** 2 - q[1] ** 2 / 2,
                (0, 0, 2)),
    "first order": (lambda q, v: q[0] * v[1] - (q[0] ** 2 + q[1] ** 2 + q[2] ** 2) / 2, (0, 0, 4)),
}


@pytest.mark.parametrize("name", LAGRANGIANS)
def test_classes_do_not_depend_on_the_basis_of_the_fibre(name):
    """In quasi-velocities v = X(q) w the brackets {p_a, p_b} = -c^g_ab p_g are not zero;
    all counts are those of coordinates."""
    lagrangian, expected = LAGRANGIANS[name]
    plain = euclidean("x", "y", "z")
    q = plain.q
    X = ca.vertcat(ca.horzcat(1, ca.sin(q[1]), 0), ca.horzcat(-q[2] / 3, 1, 0),
                   ca.horzcat(q[0] / 2, 0, 1))
    for space, basis in ((plain, ca.SX.eye(3)), (change_of_basis(plain, X, ("w1", "w2", "w3")), X)):
        v, a = ca.SX.sym("v", 3), ca.SX.sym("a", 3)
        found = constraint_algorithm(
            constrain(LagrangianSystem.from_lagrangian(space, v, a, lagrangian(q, basis @ v)))
        )
        assert (found.gauge, found.first_class, found.second_class) == expected


def test_rod_without_spin_inertia():
    """so(3) with I3 = 0: w3 is gauge where I1 = I2; else w1 w2 = 0, and {p3, p1} = +-p2 makes the
    pair second class."""
    structure = [np.zeros((3, 3)) for _ in range(3)]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        structure[k][i, j], structure[k][j, i] = 1, -1
    space = LieAlgebroid(ca.SX(0, 1), (), ("w1", "w2", "w3"), ("rad/s",) * 3, ca.SX(0, 3),
                         tuple(ca.SX(ca.DM(c)) for c in structure))

    def rod(I1, I2, near=None):
        return constraint_algorithm(constrain(
            lagrangian_system(space, lambda s: (I1 * s.v.w1 ** 2 + I2 * s.v.w2 ** 2) / 2)),
                                    near=near)

    round_rod = rod(1.5, 1.5)
    assert (round_rod.gauge, round_rod.first_class, round_rod.second_class,
            round_rod.dimension) == (1, 1, 0, 3)
    flat = rod(1.5, 0.7, near=((), (0.0, 1.0, 0.0)))
    assert (flat.gauge, flat.first_class, flat.second_class, flat.dimension) == (0, 0, 2, 1)
    # w1 = 0, and w1' = 0 asks for w3 = 0
    assert np.abs(flat.manifold.states[:, [0, 2]]).max() <= 1e-13
    with pytest.raises(MechanicsError, match="near"):
        # w1 = 0 or w2 = 0: two pieces
        rod(1.5, 0.7)


@pytest.mark.parametrize("speed", [1.0, 1e9])
def test_a_thin_rod_has_one_gauge_at_any_speed(speed):
    """On so(3), its axis n in no special direction: n . p = 0 is of first class."""
    axis = np.array([0.48, 0.6, 0.64])
    across = ca.DM(np.eye(3) - np.outer(axis, axis))

    def lagrangian(s):
        spin = ca.vertcat(s.v.wx, s.v.wy, s.v.wz)
        return 1.5 * ca.dot(spin, across @ spin) / 2

    found = constraint_algorithm(system(lie_algebra("so(3)"), lagrangian),
                                 near=((), speed * np.array([0.3, 0.7, -0.4])))
    assert (found.gauge, found.first_class, found.second_class, found.dimension) == (1, 1, 0, 3)


def test_nonlinear_constraint_of_a_singular_lagrangian():
    """y has no mass, and x' y' = 1 binds it by Chetaev's rule:
    R = (y', x'), so lambda = 0 where x' is not 0, and x' is constant."""
    constrained = system("x y", lambda s: s.v.x ** 2 / 2)
    v = constrained.system.v
    found = constraint_algorithm(constrained, nonlinear=v[0] * v[1] - 1)
    assert found.gauge == 0 and found.dimension == 3
    q, rates, residual = run(found, [0.0, 0.0], [2.0, 0.5], [0.0, 3.0])
    np.testing.assert_allclose(q[1], [6.0, 1.5], rtol=1e-13)
    assert residual <= 1e-14


def test_pieces_of_a_manifold():
    """y x z = 0 in the potential asks for x = 0 or z = 0; a state near one piece picks it."""
    constrained = system("x y z", lambda s: (s.v.x ** 2 + s.v.z ** 2) / 2 + s.q.y * s.q.x * s.q.z)
    for near, still in ((((0, 0, 1), (0, 0, 0.5)), ("x", "x'", "y", "y'")),
                        (((1, 0, 0), (0.5, 0, 0)), ("z", "z'", "y", "y'"))):
        found = constraint_algorithm(constrained, near=near)
        names = (found.original.system.algebroid.q_names + found.original.system.algebroid.v_names)
        assert np.abs(found.manifold.states[:,
                                            [names.index(name) for name in still]]).max() <= 1e-12
        assert (found.dimension, found.gauge) == (2, 0)


@pytest.mark.parametrize("lagrangian, message", [
    (lambda s: s.v.x ** 2 / 2 + s.q.y, "they ask for 1 = 0"),
    (lambda s: s.v.x ** 2 / 2 + s.q.y * (1 + s.q.x ** 2),
     r"manifold is empty.*1 \+ x\^2 = 0 was reached from 0 of"),
])
def test_inconsistent_systems_are_refused(lagrangian, message):
    with pytest.raises(MechanicsError, match=message):
        constraint_algorithm(system("x y", lagrangian))


def test_rows_that_contradict_each_other_are_refused():
    rows = {"one": lambda s: s.v.x - 1.0, "other": lambda s: s.v.x - 2.0}
    with pytest.raises(MechanicsError, match="manifold is empty"):
        constraint_algorithm(system("x", lambda s: s.v.x ** 2 / 2, rows=rows))


def test_an_input_in_a_constraint_is_refused():
    made = lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 / 2 - s.q.y ** 2 / 2,
                             inputs=("f",), force=lambda s: {"y": s.u.f})
    with pytest.raises(MechanicsError, match="input 'f' enters the constraint"):
        constraint_algorithm(constrain(made))


@pytest.mark.parametrize("mass", [1e-20, 1.0, 1e20])
@pytest.mark.parametrize("slope", [0.1, 0.3, 0.7])
def test_ranks_do_not_depend_on_the_unit_of_mass(mass, slope):
    """M and the row ask for the same: E^T M E vanishes on (slope, 1, 0) up to rounding only."""
    given = system("x y z", lambda s: mass * ((s.v.x - slope * s.v.y) ** 2 + s.v.z ** 2) / 2,
                   rows={"row": lambda s: s.v.x - slope * s.v.y})
    found = regularity(given)
    assert (found.hessian_rank, found.row_rank, found.free_rank) == (2, 1, 1)
    assert not found.regular and not found.compatible and found.compatibility_rank == 0


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_constraints_in_any_unit(unit):
    """A further constraint is found, and what follows from others left out, whatever the unit that
    functions are written in; what cancels is no constraint."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")

    def start(rng):
        return 0.0, rng.normal(size=2)
    manifold = ConstraintManifold(Ambient(
        ca.SX.sym("t"), ca.vertcat(x, y), ca.SX(0, 1), ca.SX(0, 1), ca.SX(0, 1), np.zeros(0),
        start))
    assert not manifold.impose(unit * ca.sin(x) ** 2 + unit * ca.cos(x) ** 2 - unit)
    assert len(manifold.impose(unit * (x - y))) == 1
    assert not manifold.impose(unit * (ca.sin(x) - ca.sin(y)))
    assert len(manifold.impose(unit * (x + y - 2))) == 1
    np.testing.assert_allclose(manifold.states, np.ones((6, 2)), rtol=1e-12)


def test_an_image_in_momenta_without_one_dimension_is_refused():
    """x and y share an inertia that begins at z = 0: on the wall x = 0, p_x = max(z, 0) y' is free
    on one side alone, although y'' is undetermined on both."""
    with pytest.raises(MechanicsError, match="Legendre image .* has codimensions 2, 3 at"):
        constraint_algorithm(system(
            "x y z", lambda s: ca.fmax(s.q.z, 0) * s.v.x * s.v.y + s.v.z ** 2 / 2,
            holonomic={"wall": lambda s: s.q.x}))


def test_what_vanishes_to_rounding_is_no_constraint():
    """L_y = (1 + x^2) (cos 3x - 4 cos^3 x + 3 cos x - rest) beside L_w = x: y is free, unless the
    rest is no rounding; with momenta too."""
    def bare(rest):
        return system("y x w", lambda s: (s.v.x ** 2 - s.q.x ** 2) / 2 + s.q.w * s.q.x + s.q.y * (
            1 + s.q.x ** 2) * (ca.cos(3 * s.q.x) - 4 * ca.cos(s.q.x) ** 3 + 3 * ca.cos(s.q.x)
                               - rest))

    found, motion = constraint_algorithm(bare(0.0)), momentum_side(bare(0.0)).solve()
    assert (found.dimension, found.gauge) == (2, 1)
    assert (motion.manifold.dimension, motion.gauge) == (1, 1)
    with pytest.raises(MechanicsError, match="manifold is empty"):
        constraint_algorithm(bare(1e-6))
