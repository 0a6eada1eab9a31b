"""Ehresmann connection of a distribution: one-forms, curvature with its sign, affine part, and
integrability."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from nhmech import InputError, MechanicsError
from nhmech.mechanics.algebroid import euclidean, product
from nhmech.mechanics.algebroid_makers import (
    atiyah,
    curvature,
    special_orthogonal,
    structure_constants,
)
from nhmech.mechanics.connection import ehresmann_connection
from nhmech.mechanics.writing import constrain, lagrangian_system

THETA = [0.3]


def generic():
    """Constraints on base (r1, r2, r3), fibre (s1, s2), with A and A0:
    no symmetry, dependent on r, s, t and a parameter."""
    space = euclidean("r1", "r2", "r3", "s1", "s2")
    system = lagrangian_system(space, lambda s: sum(rate ** 2 for rate in vars(s.v).values()) / 2,
                               parameters=("k",))

    def A(s):
        q = s.q
        return ca.blockcat([[q.s1 * q.r2, ca.sin(q.r1) + s.p.k * q.s2, q.r3 ** 2],
                            [ca.cos(q.s1 * q.r2), q.r1 * q.r3, q.s2 * q.r1 + s.t * q.r2]])

    def A0(s):
        return ca.vertcat(s.t * s.q.r1 + s.q.s2, ca.sin(s.t) * s.q.r3)

    def row(a):
        def expression(s):
            rates = ca.vertcat(s.v.r1, s.v.r2, s.v.r3)
            return (s.v.s1, s.v.s2)[a] + (A(s) @ rates)[a] + A0(s)[a]
        return expression

    # a combination of the rows, so that the connection must solve for the fibre
    rows = {"first": lambda s: 2 * row(0)(s) + s.q.r1 * row(1)(s),
            "second": lambda s: row(1)(s) - 0.3 * row(0)(s)}
    return constrain(system, {"k": THETA[0]}, rows=rows), A, A0


def numeric(constrained, *expressions):
    """(t, q) -> values."""
    s = constrained.system
    f = ca.Function("f", [s.t, s.q, s.theta], [ca.densify(ca.SX(e)) for e in expressions])
    return lambda t, q: [value.full() for value in f.call([t, q, constrained.parameters])]


def largest_curvature(connection):
    """Largest component of both curvatures over the sample configurations."""
    values = numeric(connection.frame.constrained, *connection.curvature(),
                     connection.drift_curvature())
    return max(np.abs(value).max(initial=0.0) for t in (0.0, 0.7)
               for q in connection.frame.constrained.configurations for value in values(t, q))


def test_forms_and_curvature_against_partial_derivatives():
    """The rows are solved for s'; B by its definition in partial derivatives (Bloch,
    Krishnaprasad, Marsden, Murray; paper 000)."""
    from nhmech.mechanics.writing import symbols

    constrained, A, A0 = generic()
    system, s = constrained.system, symbols(constrained.system)
    connection = ehresmann_connection(constrained, base=("r1", "r2", "r3"))
    assert connection.fibre == (3, 4) and ehresmann_connection(
        constrained, fibre=("s1", "s2'")
    ).base == (0, 1, 2)
    a, a0, q = A(s), A0(s), system.q
    d = [ca.jacobian(ca.vec(a), q)[:, k] for k in range(5)]
    d = [ca.reshape(part, 2, 3) for part in d]
    d0 = ca.jacobian(a0, q)
    B = [
        [
            [
                d[j][b, i]
                - d[i][b, j]
                + sum(a[c, i] * d[3 + c][b, j] - a[c, j] * d[3 + c][b, i] for c in range(2))
                for j in range(3)
            ]
            for i in range(3)
        ]
        for b in range(2)
    ]
    at = ca.jtimes(a, system.t, ca.SX(1))
    B0 = [
        [
            d0[b, j]
            - at[b, j]
            + sum(a0[c] * d[3 + c][b, j] - a[c, j] * d0[b, 3 + c] for c in range(2))
            for j in range(3)
        ]
        for b in range(2)
    ]
    values = numeric(constrained, connection.coefficients, a, connection.affine, a0,
                     ca.vertcat(*connection.curvature()),
                     ca.vertcat(*[ca.blockcat(part) for part in B]),
                     connection.drift_curvature(), ca.blockcat(B0))
    rng = np.random.default_rng(0)
    for q in rng.normal(size=(5, 5)):
        v = values(rng.uniform(), q)
        for mine, by_hand in zip(v[::2], v[1::2]):
            assert np.abs(mine - by_hand).max() <= 1e-12 * max(1, np.abs(by_hand).max())
            assert np.abs(by_hand).max() > 1e-3


@pytest.mark.paper("000 (3.5)")
def test_sign_against_the_exterior_derivative(case):
    """d omega^b(X_i, X_j) = -B^b_ij (the page's line has the other sign) and omega(X) = 0."""
    assert case("marsden_curvature")["expected"]["dw^b(X_1, X_2) / B^b_12"] == [-1.0, -1.0]
    constrained, _, _ = generic()
    connection = ehresmann_connection(constrained, base=("r1", "r2", "r3"))
    rows, _ = connection.forms
    q, X = constrained.system.q, connection.lift
    # d omega(e_i, e_j) = d_i omega_j - d_j omega_i
    exterior = [(J := ca.jacobian(rows[b, :].T, q)).T - J for b in range(2)]
    values = numeric(constrained, ca.vertcat(*[X.T @ d @ X for d in exterior]),
                     ca.vertcat(*connection.curvature()), rows @ X)
    for q in np.random.default_rng(1).normal(size=(5, 5)):
        d, B, zero = values(0.4, q)
        assert np.abs(d + B).max() <= 1e-12 * np.abs(B).max() and np.abs(zero).max() <= 1e-14


@pytest.mark.paper("000 (3.1)", "000 (3.4)")
def test_constrained_lagrangian_with_curvature_term(case):
    """(3.4) of paper 000 plus (dL/ds') B r' is (3.2), at states and accelerations that are no
    motion; autonomous linear part only."""
    tolerance = case("marsden_curvature")["tolerance"]["identity"]
    space = euclidean("r1", "r2", "s1", "s2")
    q, v, a = space.q, ca.SX.sym("v", 4), ca.SX.sym("a", 2)
    L = (
        ca.sumsqr(v) * (1 + q[0] ** 2 * q[3] ** 2) / 2
        + v[0] * v[3] * ca.sin(q[2])
        + q[1] * v[2] * v[1]
        - q[0] * q[2]
    )
    A = ca.blockcat([[q[2] * q[1], ca.sin(q[0])], [ca.cos(q[2] * q[1]), q[0] * q[3]]])
    system = lagrangian_system(space, lambda s: sum(x ** 2 for x in vars(s.v).values()) / 2)
    mine = {f"row {b}": lambda s,
            b=b: (s.v.s1, s.v.s2)[b] + A[b, :] @ ca.vertcat(s.v.r1, s.v.r2) for b in range(2)}
    connection = ehresmann_connection(constrain(system, rows=mine), base=("r1", "r2"))
    B = connection.curvature()

    rates = v[:2]
    on = ca.vertcat(rates, -A @ rates)
    on_rate = ca.vertcat(a, -A @ a - ca.jtimes(A, q, on) @ rates)

    def total(f):
        """df/dt of f(q, v) on the constraint, with the given r''."""
        return ca.substitute(ca.jtimes(f, q, v) + ca.jtimes(f, v, on_rate), v, on)

    p, dLdq = ca.gradient(L, v), ca.substitute(ca.gradient(L, q), v, on)
    euler = total(p) - dLdq
    form = euler[:2] - A.T @ euler[2:]                                                   # (3.2)
    r_rate = ca.SX.sym("r_rate", 2)
    Lc = ca.substitute(ca.substitute(L, v, on), v, ca.vertcat(r_rate, ca.SX.zeros(2)))
    pc, dLc = ca.gradient(Lc, r_rate), ca.gradient(Lc, q)
    pc_rate = ca.jtimes(
        pc, q, ca.substitute(on, v, ca.vertcat(r_rate, ca.SX.zeros(2)))
    ) + ca.jtimes(pc, r_rate, a)
    # left-hand side of (3.4)
    left = pc_rate - dLc[:2] + A.T @ dLc[2:]
    force = sum((ca.substitute(p[2 + b], v, on) * (B[b] @ rates) for b in range(2)), ca.SX.zeros(2))
    force, form = (ca.substitute(part, rates, r_rate) for part in (force, form))
    both = ca.Function("both", [q, r_rate, a], [left + force, form, force])
    for state in np.random.default_rng(2).normal(size=(5, 8)):
        one, two, curved = (value.full() for value in both(state[:4], state[4:6], state[6:]))
        assert (np.abs(one - two).max() <= tolerance * max(1, np.abs(two).max())
                and np.abs(curved).max() > 1e-3)


def test_derivative_along_the_motion_is_that_of_paper_003():
    """C^a_alpha = dB^a_alpha/dt - X_alpha(B^a_beta q'^beta + B^a) with B = -A."""
    constrained, _, _ = generic()
    system = constrained.system
    connection = ehresmann_connection(constrained, base=("r1", "r2", "r3"))
    xi = ca.SX.sym("xi", 3)
    B, velocity = -connection.coefficients, connection.lift @ xi + connection.drift
    B_rate = ca.jtimes(B, system.q, velocity) + ca.jtimes(B, system.t, ca.SX(1))
    C = B_rate - ca.jacobian(velocity[3:], system.q) @ connection.lift
    f = ca.Function("C", [system.t, system.q, xi, system.theta], [C, connection.along_motion(xi)])
    for state in np.random.default_rng(3).normal(size=(5, 8)):
        one, two = (value.full() for value in f(0.2, state[:5], state[5:], THETA))
        assert np.abs(one - two).max() <= 1e-12 * np.abs(one).max()


FREE = lagrangian_system(euclidean("x", "y", "z"),
                         lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)


@pytest.mark.parametrize("rows, holonomic, flat", [
    ({}, {"sphere": lambda s: s.q.x ** 2 + s.q.y ** 2 + s.q.z ** 2 - 1}, True),
    ({}, {"moving": lambda s: s.q.z * ca.cosh(s.t) - ca.sin(s.q.x * s.q.y) * ca.cos(s.t)}, True),
    ({"with a factor": lambda s: ca.exp(s.q.x * s.q.z) * (s.v.z + s.q.y * s.v.x + s.q.x * s.v.y)},
     {}, True),
    ({"slope": lambda s: s.v.z - s.q.y * s.v.x}, {}, False),
    # curved in time only: X_0 = d/dt + x d/dz, [X_0, d/dx] = -d/dz
    ({"sliding plane": lambda s: s.v.z - s.q.x}, {}, False),
    ({"pushed": lambda s: s.v.z - ca.sin(s.t)}, {}, True),
    # together they are integrable
    ({"two": lambda s: s.v.z - s.q.y * s.v.x, "other": lambda s: s.v.y}, {}, True),
], ids=["sphere", "rheonomic", "factor", "slope", "affine", "pushed", "two"])
def test_curvature_vanishes_exactly_where_the_constraints_are_integrable(rows, holonomic, flat):
    constrained = constrain(FREE, rows=rows, holonomic=holonomic)
    connection = ehresmann_connection(constrained, fibre=("z",) if len(rows) < 2 else ("z", "y"))
    largest = largest_curvature(connection)
    assert largest <= 1e-11 if flat else largest > 0.1


def test_bead_on_a_turning_rod_is_flat_with_an_affine_part():
    bead = lagrangian_system(euclidean("x", "y", "r"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2,
                             parameters=("w",))
    constrained = constrain(bead, {"w": 1.5}, holonomic={
        "along": lambda s: s.q.x - s.q.r * ca.cos(s.p.w * s.t),
        "across": lambda s: s.q.y - s.q.r * ca.sin(s.p.w * s.t)})
    connection = ehresmann_connection(constrained, base=("r",))
    values = numeric(constrained, connection.coefficients, connection.affine)
    A, A0 = values(0.6, [0.1, 0.2, 0.3])
    angle = 1.5 * 0.6
    assert A.ravel() == pytest.approx([-np.cos(angle), -np.sin(angle)], rel=1e-13, abs=0)
    assert A0.ravel() == pytest.approx([0.3 * 1.5 * np.sin(angle), -0.3 * 1.5 * np.cos(angle)],
                                       rel=1e-13, abs=0)
    assert largest_curvature(connection) <= 1e-13


def ball(rate: float = 0.0):
    """Ball of radius 1/2 on R^2 x SO(3) in body angular velocity, rolling on a table that turns at
    `rate`."""
    from nhmech.mechanics.algebroid import rotation

    space = product(euclidean("x", "y"), special_orthogonal())
    system = lagrangian_system(space, lambda s: sum(x ** 2 for x in vars(s.v).values()) / 2)

    def spin(s):
        return rotation(ca.vertcat(s.q.qx, s.q.qy, s.q.qz, s.q.qw)) @ ca.vertcat(
            s.v.wx, s.v.wy, s.v.wz
        )

    return constrain(system, rows={
        "x": lambda s: s.v.x - spin(s)[1] / 2 + rate * s.q.y,
        "y": lambda s: s.v.y + spin(s)[0] / 2 - rate * s.q.x})


def test_ball_in_the_world_frame():
    """The centre moves by U x z / 2 for a spin U, so B(u, w) = (U x W) x z / 2 with U, W the spins
    in the world; the turning table adds -rate z x (U x z / 2).
    """
    from nhmech.mechanics.algebroid import rotation

    rate = 0.8
    constrained = ball(rate)
    system, connection = (constrained.system,
                          ehresmann_connection(constrained, base=("wx", "wy", "wz")))
    R = rotation(system.q[2:])
    values = numeric(constrained, ca.vertcat(*connection.curvature()), connection.drift_curvature(),
                     R)
    rng = np.random.default_rng(4)
    for _ in range(5):
        q = system.algebroid.normalise(rng.normal(size=6))
        B, B0, R_WB = values(0.0, q)
        for _ in range(3):
            u, w = rng.normal(size=(2, 3))
            U, W = R_WB @ u, R_WB @ w
            expected = np.cross(np.cross(U, W), [0, 0, 0.5])[:2]
            assert np.array([u @ B[:3] @ w, u @ B[3:] @ w]) == pytest.approx(
                expected, rel=0, abs=1e-14
            )
            expected = -rate * np.cross([0, 0, 1], np.cross(U, [0, 0, 0.5]))[:2]
            assert B0 @ u == pytest.approx(expected, rel=0, abs=1e-14)


def test_curvature_is_a_tensor():
    """Another fibration, omega' = G omega, has B'(u, w) = G B(u, w) for horizontal u, w, however
    the base is named."""
    constrained = ball()
    one = ehresmann_connection(constrained, base=("wx", "wy", "wz"))
    two = ehresmann_connection(constrained, base=("x", "y", "wz"))
    values = numeric(constrained, *(part for c in (one, two)
                                    for part in (c.lift, ca.vertcat(*c.curvature()), c.forms[0])))
    rng = np.random.default_rng(5)
    for _ in range(5):
        E, B, forms, E2, B2, forms2 = values(
            0.0, constrained.system.algebroid.normalise(rng.normal(size=6))
        )
        # omega'^a(e_b) on the first fibre
        G = forms2[:, list(one.fibre)]
        T = E2[list(one.base)]
        first = np.array([T.T @ B[:3] @ T, T.T @ B[3:] @ T])
        second = np.array([B2[:3], B2[3:]])
        assert np.abs(np.einsum("ab,bij->aij", G,
                                first) - second).max() <= 1e-11 * np.abs(second).max()


def test_distribution_of_a_principal_connection():
    """zeta = 0 on TP/G: the Ehresmann curvature is minus the curvature B of the principal
    connection."""
    def A(q):
        return ca.blockcat([[q[0] * q[1], ca.sin(q[1])], [q[0] ** 2, q[1]],
                            [ca.cos(q[0]), q[0] * q[1]]])

    space = atiyah(("x", "y"), "so(3)", A)
    system = lagrangian_system(space, lambda s: sum(x ** 2 for x in vars(s.v).values()) / 2)
    constrained = constrain(system,
                            rows={name: lambda s,
                                  name=name: getattr(s.v, name) for name in ("wx", "wy", "wz")})
    base = euclidean("x", "y")
    B = ca.vertcat(*curvature(base, structure_constants("so(3)"), A(base.q)))
    connection = ehresmann_connection(constrained, base=("x", "y"))
    values = numeric(constrained, ca.vertcat(*connection.curvature()),
                     ca.substitute(B, base.q, space.q))
    for q in np.random.default_rng(6).normal(size=(5, 2)):
        mine, principal = values(0.0, q)
        assert np.abs(mine + principal).max() <= 1e-14 and np.abs(principal).max() > 1e-3


@pytest.mark.parametrize("choice, error, message", [
    ({"base": ("x", "y"), "fibre": ("z",)}, MechanicsError, "not both"),
    ({}, MechanicsError, "not both"),
    ({"base": ("x", "w")}, MechanicsError, "no fibre coordinate 'w'"),
    ({"base": ("x",)}, InputError, "1 independent speeds were named"),
    ({"fibre": ("y",)}, InputError, r"\(x', z'\) do not determine|x', z' do not determine"),
])
def test_wrong_fibration_is_named(choice, error, message):
    with pytest.raises(error, match=message):
        ehresmann_connection(constrain(FREE, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x}),
                             **choice)
