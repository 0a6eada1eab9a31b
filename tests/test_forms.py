"""Differential forms on the evolution space and on the constraint manifold (paper 003):
the motion in the kernel, in every fibration."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest

from nhmech import InputError, MechanicsError, gibbs_appell
from nhmech.mechanics.algebroid import euclidean, product, rotation
from nhmech.mechanics.algebroid_makers import (
    atiyah,
    lie_algebra,
    special_euclidean_2,
    special_orthogonal,
)
from nhmech.mechanics.forms import (
    EvolutionSpace,
    cartan_form,
    constraint_forms,
    poincare_cartan,
    reaction_fields,
    transition,
    wedge,
)
from nhmech.mechanics.hamel import hamel
from nhmech.mechanics.writing import constrain, lagrangian_system


def generic():
    """Rheonomic, affine, with a parameter, an input, and a Lagrangian linear in time; nothing
    symmetric."""
    system = lagrangian_system(
        euclidean("x", "y", "z", "w"),
        lambda s: (s.v.x ** 2 + 2 * s.v.y ** 2
                   + s.v.z ** 2 * (2 + ca.sin(s.q.x)) + s.p.m * s.v.w ** 2) / 2
        + s.v.x * s.v.z * ca.cos(s.q.w) / 3 + s.t * s.q.x * s.v.y - s.q.x * s.q.w ** 2,
        parameters=("m",), inputs=("f",), force=lambda s: {"x": s.u.f, "w": -s.v.w * s.q.y})
    return constrain(system, {"m": 1.7}, rows={
        "one": lambda s: s.v.z - (s.q.y + s.t) * s.v.x + ca.sin(s.q.w) * s.v.y + s.q.z * s.t,
        "two": lambda s: 2 * s.v.w + s.q.x * s.v.z + s.v.y + ca.cos(s.t)})


def sled():
    return constrain(lagrangian_system(euclidean("x", "y", "phi"),
                                       lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.phi ** 2) / 2),
                     rows={"blade": lambda s: s.v.y - s.v.x * ca.tan(s.q.phi)})


def bead():
    """On a rod turning at the rate w, r a coordinate without mass: L is singular."""
    system = lagrangian_system(euclidean("x", "y", "r"),
                               lambda s: s.p.m * (s.v.x ** 2 + s.v.y ** 2) / 2,
                               parameters=("m", "w"))
    return constrain(system, {"m": 0.8, "w": 1.5}, rows={
        "x": lambda s: s.v.x - s.v.r * ca.cos(s.p.w * s.t) + s.q.r * s.p.w * ca.sin(s.p.w * s.t),
        "y": lambda s: s.v.y - s.v.r * ca.sin(s.p.w * s.t) - s.q.r * s.p.w * ca.cos(s.p.w * s.t)})


def ball():
    """Unbalanced inertia, on a turning table, on R^2 x SO(3)."""
    def spin(s):
        return rotation(ca.vertcat(s.q.qx, s.q.qy, s.q.qz, s.q.qw)) @ ca.vertcat(
            s.v.wx, s.v.wy, s.v.wz
        )

    system = lagrangian_system(product(euclidean("x", "y"), special_orthogonal()),
                               lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.wx ** 2 + 2 * s.v.wy ** 2
                                          + 3 * s.v.wz ** 2
                                          + s.v.wx * s.v.wz) / 2 - s.q.x * s.q.qz)
    return constrain(system, rows={"x": lambda s: s.v.x - spin(s)[1] + 0.8 * s.q.y,
                                   "y": lambda s: s.v.y + spin(s)[0] - 0.8 * s.q.x})


def suslov():
    body = lagrangian_system(lie_algebra("so(3)"), lambda s: (
        s.v.wx ** 2 + 2 * s.v.wy ** 2 + 3 * s.v.wz ** 2 + s.v.wx * s.v.wz) / 2)
    return constrain(body, rows={"axis": lambda s: s.v.wz + 0.3 * s.v.wx + 0.2 * s.v.wy})


def sleigh():
    system = lagrangian_system(
        special_euclidean_2(embedded=True),
        lambda s: (s.v.forward_speed ** 2 + (s.v.lateral_speed + s.v.yaw_rate / 4) ** 2
                   + s.v.yaw_rate ** 2) / 2 - s.q.x,
        inputs=("f",), force=lambda s: {"lateral_speed": s.u.f, "yaw_rate": -s.v.yaw_rate})
    return constrain(system, rows={
        "blade": lambda s: s.v.lateral_speed + 0.2 * s.v.forward_speed + 0.3 * s.v.yaw_rate})


def gauge():
    space = atiyah(("x", "y"), "so(3)", lambda q: ca.blockcat([[q[1], ca.sin(q[0])],
                                                               [q[0] * q[1], 1],
                                                               [ca.cos(q[1]), q[0]]]))
    system = lagrangian_system(space, lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.wx ** 2 + 2 * s.v.wy ** 2 + 3 * s.v.wz ** 2) / 2
                               - s.q.x * s.q.y)
    return constrain(system, rows={"bound": lambda s: s.v.wx - s.q.x * s.v.wy
                                   + (1 + s.q.y ** 2) * s.v.x / 2})


# name -> how to make the system, two fibrations by their base velocities
SYSTEMS = {"sled": (sled, ("x", "phi"), ("y", "phi")), "generic": (generic, ("x", "y"), ("z", "y")),
           "bead on a rod": (bead, ("r",), ("x",)),
           "ball": (ball, ("wx", "wy", "wz"), ("x", "y", "wz")),
           "suslov": (suslov, ("wx", "wy"), ("wy", "wz")),
           "sleigh": (sleigh, ("forward_speed", "yaw_rate"), ("lateral_speed", "yaw_rate")),
           "gauge": (gauge, ("x", "y", "wy", "wz"), ("y", "wx", "wy", "wz"))}


@cache
def system_of(name: str):
    return SYSTEMS[name][0]()


@cache
def forms_of(name: str):
    """In both fibrations."""
    return tuple(constraint_forms(system_of(name), base=base) for base in SYSTEMS[name][1:])


def states(name: str, count: int = 4):
    """(t, q, xi, u, theta) of the first fibration, at random."""
    constrained, rng = system_of(name), np.random.default_rng(len(name))
    system, nxi = constrained.system, forms_of(name)[0].connection.frame.nxi
    for _ in range(count):
        q = system.algebroid.normalise(rng.normal(size=system.algebroid.nq))
        yield (rng.uniform(0.2, 0.9), q, rng.normal(size=nxi), rng.normal(size=system.u.numel()),
               constrained.parameters)


def values(functions, at):
    return [function(*at).full() for function in functions]


@pytest.mark.paper("003 1")
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_motion_is_in_the_kernel(name):
    """Gamma _| Omega_bar = 0 and Gamma _| Omega_M = 0, in both fibrations; i* d theta_L alone does
    not do it."""
    one, other = forms_of(name)
    change = transition(one, other)
    for at in states(name):
        t, q, xi, u, theta = at
        xi_other = change(t, q, xi, theta)[1].full().ravel()
        for forms, speeds in ((one, xi), (other, xi_other)):
            motion, bar, fibred, cartan = values((forms.sode, forms.omega_bar, forms.omega_M,
                                                  forms.cartan),
                                                 (t, q, speeds, u, theta))
            size = np.abs(motion).max()
            for form in (bar, fibred, cartan):
                assert np.array_equal(form, -form.T)
            for form in (bar, fibred):
                assert np.abs(motion.T @ form).max() <= 1e-11 * size * max(1, np.abs(form).max())
            assert np.abs(motion.T @ cartan).max() > 1e-4 * size


@pytest.mark.paper("003 2")
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_motion_and_omega_bar_do_not_depend_on_the_fibration(name):
    """T Gamma = Gamma' and Omega_bar = T^T Omega_bar' T; Omega_M does depend on it."""
    one, other = forms_of(name)
    change, differences = transition(one, other), []
    for t, q, xi, u, theta in states(name):
        T, xi_other = (value.full() for value in change(t, q, xi, theta))
        here = values((one.sode, one.omega_bar, one.omega_M, one.reaction), (t, q, xi, u, theta))
        there = values((other.sode, other.omega_bar, other.omega_M, other.reaction),
                       (t, q, xi_other.ravel(), u, theta))
        size = max(1, *(np.abs(value).max() for value in (*here, *there, T))) ** 2
        assert np.abs(T @ here[0] - there[0]).max() <= 1e-12 * size
        assert np.abs(T.T @ there[1] @ T - here[1]).max() <= 1e-12 * size
        assert np.abs(T.T @ there[3] - here[3]).max() <= 1e-12 * size
        differences.append(np.abs(T.T @ there[2] @ T - here[2]).max())
    assert min(differences) > 1e-4


@pytest.mark.paper("003 1")
@pytest.mark.parametrize("name", SYSTEMS)
def test_theorem_1_one_motion_and_one_constraint_form(name):
    """From i* d theta_L alone: Gamma _| (i* d theta_L - dt ^ (tau + eta)) = 0 has one solution F,
    eta, and it is the formers'."""
    constrained, forms = system_of(name), forms_of(name)[0]
    frame, system = forms.connection.frame, constrained.system
    V = ca.densify(frame.velocity(xi := ca.SX.sym("xi", frame.nxi)))
    d = constrained.distribution
    force = ca.densify(ca.substitute(system.force, system.v, V))
    parts = ca.Function("parts", [system.t, system.q, xi, system.u, system.theta],
                        [V, d.A, d.b, force])
    for at in states(name):
        v, A, b, tau = (value.full() for value in parts(*at))
        motion, cartan, reaction = values((forms.sode, forms.cartan, forms.reaction), at)
        n, size = frame.nxi, len(cartan)
        head = np.concatenate([[[1.0]], v, np.zeros((n, 1))])
        # columns: the constraint forms
        eta = np.concatenate([b.T, A.T, np.zeros((n, len(b)))])
        force = np.concatenate([-tau.T @ v, tau, np.zeros((n, 1))])
        matrix = np.column_stack([cartan.T[:, size - n:], -eta])
        assert np.linalg.matrix_rank(matrix, tol=1e-8) == n + len(b)
        solution, *_ = np.linalg.lstsq(matrix, force - cartan.T @ head, rcond=None)
        assert np.abs(matrix @ solution - force
                      + cartan.T @ head).max() <= 1e-11 * max(1, np.abs(cartan).max())
        assert solution[:n] == pytest.approx(motion[size - n:], rel=1e-10, abs=1e-11)
        assert eta @ solution[n:] == pytest.approx(reaction, rel=1e-10, abs=1e-11)


@pytest.mark.paper("003 lambda")
@pytest.mark.parametrize("name", ["sled", "generic"])
def test_multipliers_and_the_relation_of_section_5(name):
    """lambda_a = Gamma(p_a) - i* dL/dq^a - tau_a (section 3, corrected), and
    Omega_bar = Omega_M + (dp_a - Gamma(p_a) dt) ^ eta^a - p_a (dB^a_alpha - Gamma(B^a_alpha) dt) ^
    theta^alpha, p_a = i* dL/dq'^a.
    """
    forms = forms_of(name)[0]
    connection, system = forms.connection, system_of(name).system
    frame, fibre = connection.frame, list(connection.fibre)
    xi = ca.SX.sym("xi", frame.nxi)
    V = ca.densify(frame.velocity(xi))
    space = EvolutionSpace(system.algebroid, system.t, xi, frame.names)
    at = (system.t, system.q, xi, system.u, system.theta)
    motion, dt = forms.sode(*at), space.one_form(1)

    def on(f):
        return ca.substitute(f, system.v, V)

    def vertical(f):
        """(df - Gamma(f) dt) of a scalar."""
        df = space.differential(f).T
        return df - ca.dot(df, motion) * dt

    p = on(ca.gradient(system.lagrangian, system.v))[fibre]
    rows, affine = connection.forms
    eta = [space.one_form(affine[a], rows[a, :].T) for a in range(len(fibre))]
    contact = [space.one_form(-xi[i], ca.SX.eye(V.numel())[:, b])
               for i, b in enumerate(connection.base)]
    B = -connection.coefficients
    right = forms.omega_M(*at)
    for a in range(len(fibre)):
        right += wedge(vertical(p[a]), eta[a])
        for i, form in enumerate(contact):
            right -= p[a] * wedge(vertical(B[a, i]), form)
    lam = (
        space.differential(p) @ motion
        - on(ca.gradient(system.lagrangian, system.q))[fibre]
        - on(system.force)[fibre]
    )
    f = ca.Function("relation", list(at), [right, lam])
    for state in states(name):
        relation, multipliers = (value.full() for value in f(*state))
        bar, reaction = values((forms.omega_bar, forms.reaction), state)
        assert np.abs(relation - bar).max() <= 1e-11 * max(1, np.abs(bar).max())
        assert multipliers.ravel() == pytest.approx(reaction.ravel()[[1 + b for b in fibre]],
                                                    rel=1e-10, abs=1e-11)


@pytest.mark.paper("003 4")
def test_sled_as_printed(case):
    """Omega_bar, Omega_M and the motion of section 4 in both charts; lambda = x' phi' along the
    reference motion."""
    reference = case("sled")
    one, other = forms_of("sled")
    assert one.names == ("dt", "dx", "dy", "dphi", "dx'", "dphi'")
    assert other.names == ("dt", "dx", "dy", "dphi", "dy'", "dphi'")
    dt, dx, dy, dphi, first, turn = np.eye(6)

    def w(a, b):
        return np.outer(a, b) - np.outer(b, a)

    for sample in reference["expected"]["samples"]:
        phi, xd, yd, phid = (sample["phi"], sample["xd"], sample["yd"],
                             reference["initial_state"]["phid"])
        q = [sample["x"], sample["y"], phi]
        tan, sec2, cot, csc2 = (np.tan(phi), 1 / np.cos(phi) ** 2, 1 / np.tan(phi),
                                1 / np.sin(phi) ** 2)
        theta_phi = dphi - phid * dt
        motion, bar, fibred, reaction = values((one.sode, one.omega_bar, one.omega_M, one.reaction),
                                               (0, q, [xd, phid], [], []))
        theta_x, eta_y, omega_x = dx - xd * dt, dy - tan * dx, first + xd * phid * tan * dt
        assert motion.ravel() == pytest.approx([1, xd, xd * tan, phid, -xd * phid * tan, 0],
                                               rel=1e-12, abs=1e-12)
        assert reaction.ravel() == pytest.approx(sample["lambda_paper"] * eta_y, rel=0,
                                                 abs=1e-11 * sec2)
        printed = (sec2 * w(omega_x, theta_x) + tan * w(omega_x, eta_y) + w(turn, theta_phi)
                   + xd * sec2 * w(theta_phi, eta_y) + xd * sec2 * tan * w(theta_phi, theta_x))
        assert bar == pytest.approx(printed, rel=1e-12, abs=1e-12 * sec2)
        printed = (sec2 * w(first, theta_x) + w(turn, theta_phi)
                   + xd * tan * sec2 * (w(theta_phi, theta_x) + w(dphi, theta_x)))
        assert fibred == pytest.approx(printed, rel=1e-12, abs=1e-12 * sec2)

        motion, bar, fibred = values((other.sode, other.omega_bar, other.omega_M),
                                     (0, q, [yd, phid], [], []))
        theta_y, eta_x, omega_y = dy - yd * dt, dx - cot * dy, first - yd * phid * cot * dt
        assert motion.ravel() == pytest.approx([1, yd * cot, yd, phid, yd * phid * cot, 0],
                                               rel=1e-12, abs=1e-12)
        printed = (
            -yd * csc2 * w(theta_phi, eta_x)
            - yd * cot * csc2 * w(theta_phi, theta_y)
            + cot * w(omega_y, eta_x)
            + csc2 * w(omega_y, theta_y)
            + w(turn, theta_phi)
        )
        assert bar == pytest.approx(printed, rel=1e-12, abs=1e-12 * csc2)
        printed = (
            csc2 * w(omega_y, theta_y)
            - 2 * yd * csc2 * cot * w(theta_phi, theta_y)
            + w(turn, theta_phi)
        )
        assert fibred == pytest.approx(printed, rel=1e-12, abs=1e-12 * csc2)


def test_bead_on_a_rod(case):
    """Omega_bar's reaction is the reference's lambda1 (dx - ...) + lambda2 (dy - ...),
    and r'' = w^2 r, with a singular L."""
    reference, forms = case("bead_rod"), forms_of("bead on a rod")[0]
    m, w = reference["parameters"]["m"], reference["parameters"]["omega"]
    assert [m, w] == list(system_of("bead on a rod").parameters)
    for sample in reference["expected"]["samples"]:
        t, r = sample["t"], sample["r"]
        at = (t, [sample["x"], sample["y"], r], [sample["r_rate"]], [], [m, w])
        motion, reaction, fibred = values((forms.sode, forms.reaction, forms.omega_M), at)
        assert motion[4, 0] == pytest.approx(w ** 2 * r, rel=1e-12)
        assert reaction[1:3].ravel() == pytest.approx([sample["lambda1"], sample["lambda2"]], rel=0,
                                                      abs=1e-11)
        # no force along the rod
        assert abs(reaction[3]) <= 1e-12
        # Lbar = m (r'^2 + w^2 r^2)/2 on the base (t, r): m dr' ^ (dr - r' dt) + m w^2 r dr ^ dt
        expected = np.array([[m * w ** 2 * r, 0, -m], [-m * sample["r_rate"], m, 0]])
        assert fibred[3:, [0, 3, 4]] == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.paper("003 3")
def test_reaction_field_makes_the_constrained_from_the_free_motion():
    """Theorem 3: dv/dt = F + lambda_a V^a, tangent to the constraint manifold."""
    constrained = generic()
    field, free = (
        reaction_fields(constrained),
        gibbs_appell(constrain(constrained.system, {"m": 1.7}), ("x'", "y'", "z'", "w'")),
    )
    bound = gibbs_appell(constrained, ("x'", "y'"))
    kept, theta = list(bound.frame.kept), constrained.parameters
    rng = np.random.default_rng(0)
    for _ in range(5):
        t, q, xi, u = rng.uniform(), rng.normal(size=4), rng.normal(size=2), rng.normal(size=1)
        v = bound.velocity(t, q, xi, theta)
        V = field(t, q, v, theta).full()[:, kept]
        made = free.acceleration(t, q, v, u,
                                 theta).full() + V @ bound.multipliers(t, q, xi, u, theta).full()
        assert made == pytest.approx(bound.acceleration(t, q, xi, u, theta).full(), rel=1e-11,
                                     abs=1e-11)
    with pytest.raises(MechanicsError, match="rank 2 of 3"):
        reaction_fields(bead())


@pytest.mark.paper("002 6")
@pytest.mark.parametrize("name", ["generic", "ball", "suslov", "gauge"])
def test_free_motion_spans_the_kernel_of_the_cartan_form(name):
    """d theta_L has rank 2 nv for a regular L; its kernel is the free motion without forces."""
    system = system_of(name).system
    bare = replace(system, force=ca.SX(system.algebroid.nv, 1))
    parameters = dict(zip(system.theta_names, system_of(name).parameters))
    motion = hamel(constrain(bare, parameters), system.algebroid.v_names)
    form, nv = cartan_form(system), system.algebroid.nv
    rng = np.random.default_rng(1)
    for _ in range(4):
        q, v, t = (system.algebroid.normalise(rng.normal(size=system.algebroid.nq)),
                   rng.normal(size=nv), rng.uniform())
        theta = list(parameters.values())
        omega = form(t, q, v, theta).full()
        field = np.r_[1, v, motion.acceleration(t, q, v, np.zeros(system.u.numel()),
                                                theta).full().ravel()]
        assert (
            np.abs(field @ omega).max() <= 1e-11 * max(1, np.abs(field).max()) * np.abs(omega).max()
        )
        assert np.linalg.matrix_rank(omega, tol=1e-9) == 2 * nv


@pytest.mark.parametrize("name", ["generic", "ball", "suslov", "gauge"])
def test_exterior_calculus(name):
    """d(df) = 0, d(f dg) = df ^ dg, and the exterior derivative commutes with the
    inclusion of the constraint manifold."""
    constrained, forms = system_of(name), forms_of(name)[0]
    system, frame = constrained.system, forms.connection.frame
    space, theta = poincare_cartan(system)
    q, v, t = system.q, system.v, system.t
    f = ca.sin(ca.sumsqr(q) * v[0] + t) + v[1] * t + (q[0] * q[-1] if q.numel() else 0)
    g = v[-1] ** 2 * t + (ca.exp(q[0] / 3) * v[0] if q.numel() else v[0] * v[1])
    df, dg = space.differential(f).T, space.differential(g).T
    d = space.exterior_derivative
    whole = ca.Function("calculus", [t, q, v, system.theta],
                        [d(df), d(f * dg) - wedge(df, dg), wedge(df, dg), d(theta)])
    xi = ca.SX.sym("xi", frame.nxi)
    V = ca.densify(frame.velocity(xi))
    below = EvolutionSpace(system.algebroid, t, xi, frame.names)
    top = below.size - frame.nxi
    inclusion = ca.Function("inclusion", [t, q, xi, system.theta], [
        V, ca.vertcat(ca.horzcat(ca.SX.eye(top), ca.SX.zeros(top, frame.nxi)),
                      below.differential(V))])
    for t_, q_, xi_, u_, theta_ in states(name):
        v_, T = inclusion(t_, q_, xi_, theta_)
        closed, leibniz, size, upstairs = (value.full() for value in whole(t_, q_, v_, theta_))
        assert (np.abs(closed).max() <= 1e-12 * max(1, np.abs(size).max())
                and np.abs(leibniz).max() <= 1e-12 * max(1, np.abs(size).max()))
        pulled, direct = (T.full().T @ upstairs @ T.full(),
                          forms.cartan(t_, q_, xi_, u_, theta_).full())
        assert np.abs(pulled - direct).max() <= 1e-12 * max(1, np.abs(direct).max())


def test_wrong_input_is_named():
    with pytest.raises(InputError, match="do not determine the motion"):
        constraint_forms(sled(), base=("x", "y"))
    plain = sled().system
    only_gibbs = replace(plain, lagrangian=None)
    with pytest.raises(MechanicsError, match="Cartan form needs a Lagrangian"):
        cartan_form(only_gibbs)
