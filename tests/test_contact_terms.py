"""Mass, forces and rows of vehicles whose wheels may slide, against Pinocchio and ideal rolling;
tolerances on both sides."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import shipped

import nhmech
from nhmech import Ground, InputError
from nhmech.simulation.contact import contact_inverse_dynamics
from nhmech.simulation.contact.accelerations import accelerate
from nhmech.simulation.contact.contact_inverse_dynamics import ContactInverseDynamics
from nhmech.simulation.contact.contact_rows import read_coefficients, sliding_wheels
from nhmech.simulation.contact.implicit_step import ImplicitStep
from nhmech.simulation.contact.motion import Motion, to_body, to_world
from nhmech.simulation.contact.nonsmooth_terms import NonsmoothTerms
from nhmech.simulation.contact.phases import Phase
from nhmech.urdf import Grip, Tyre

MOVING = Ground(normal=(0.1, 0.2, 1), velocity=(0.1, 0.2, 0.3), angular_velocity=(0.03, 0.06, 0.3))
STILL, TOUCHING = 1e-7, 1e-9      # of the speed after a fall from its size, and of that
NAMES = ["differential_drive", "tricycle", "omni"]
ROLLS, SLIDES, FLIES = Phase.ROLLING, Phase.SLIDING, Phase.AIRBORNE


@cache
def terms_of(name, ground=Ground()):
    return NonsmoothTerms.of(shipped(name, ground), 0.4)


def force_of(vehicle):
    """(q, v, u) -> tau (nv,), without tyres."""
    s = vehicle.constrained.system
    function = ca.Function("tau", [s.t, s.q, s.v, s.u, s.theta], [ca.densify(s.force)])
    return lambda q, v, u: function(0.0, q, v, u, vehicle.theta).full().ravel()


def at(terms, x, w, phases):
    n = len(terms.contacts)
    return Motion(0.3, x, w, np.asarray(phases) * np.ones(n, int),
                  np.zeros(terms.m), np.zeros(n), np.zeros(n))


def anywhere(terms, rng):
    x, w = rng.normal(size=terms.nconf), rng.normal(size=terms.nv)
    x[3:7] /= np.linalg.norm(x[3:7])
    return x, w


# -- mass and forces -------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_in_the_air_a_vehicle_moves_as_pinocchio_has_it(name):
    """dv/dt of the articulated-body algorithm, and its derivative by the inputs; no contact bears
    anything."""
    terms, rng = terms_of(name), np.random.default_rng(0)
    vehicle, model = terms.vehicle, terms.vehicle.model
    data, tau = model.createData(), force_of(vehicle)
    for _ in range(3):
        x, w = anywhere(terms, rng)
        q, u = terms.configuration(x), rng.normal(size=vehicle.constrained.system.u.numel())
        v = to_body(q, w)
        np.testing.assert_allclose(to_world(q, v), w, rtol=1e-11, atol=1e-14)
        rates, slope, forces = accelerate(terms, at(terms, x, w, FLIES), u)
        wanted = pin.aba(model, data, q, v, tau(q, v, u))
        np.testing.assert_allclose(rates, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
        more = pin.aba(model, data, q, v, tau(q, v, u + np.eye(len(u))[0]))
        np.testing.assert_allclose(slope[:, 0], more - wanted, rtol=0,
                                   atol=1e-9 * np.abs(more).max())
        assert not forces.any()


@pytest.mark.parametrize("name", NAMES)
def test_forces_have_their_slope_and_their_power(name):
    """D = dF/dw, and `power` = (F - T^T tau) w: that of gravity and inertia, which of all inertial
    forces is the rate of the energy at constant w."""
    terms, rng, h = terms_of(name), np.random.default_rng(1), 1e-6
    vehicle, closed = terms.vehicle, np.ones(len(terms.contacts))
    tau, u = force_of(vehicle), np.zeros(vehicle.constrained.system.u.numel())
    x, w = anywhere(terms, rng)
    q = terms.configuration(x)
    given = u, np.zeros(terms.m), closed
    _, F, D, _, power = terms.momentum(0.3, x, w, *given)
    assert power.item() == pytest.approx((F - to_world(q, tau(q, to_body(q, w), u))) @ w, rel=1e-12)
    for way in rng.normal(size=(2, terms.nv)):
        later, before = (terms.momentum(0.3, x, w + side * h * way, *given)[1] for side in (1, -1))
        np.testing.assert_allclose(D @ way, (later - before) / (2 * h), rtol=1e-6,
                                   atol=1e-7 * np.abs(F).max())


@pytest.mark.parametrize("ground", [Ground(), MOVING], ids=["level", "moving"])
@pytest.mark.parametrize("name", ["tricycle", "omni"])
def test_rows_are_those_of_the_vehicle(name, ground):
    terms, rng = terms_of(name, ground), np.random.default_rng(2)
    for _ in range(3):
        x, w = anywhere(terms, rng)
        q = terms.configuration(x)
        A, b, phi = terms.read_rows(0.3, x, w, np.ones(len(terms.contacts)))
        rates, heights = terms.vehicle.constraint_error(0.3, q, to_body(q, w))
        np.testing.assert_allclose(A @ w + b, rates, rtol=0, atol=1e-12)
        np.testing.assert_allclose(phi, heights, rtol=1e-12, atol=1e-13)


def test_gamma_is_the_rate_of_the_rows_of_a_vehicle_whose_tyre_relaxes():
    """At constant velocities in the world, by central differences, with what a rolling tyre loses
    of its deflection."""
    tyre = Tyre(Grip(90.0, relaxation=0.2), Grip(60.0, relaxation=0.3))
    vehicle = nhmech.load(nhmech.urdf_path("differential_drive"), ground=MOVING,
                          tyres={"left_wheel_joint": tyre})
    terms, rng, h = NonsmoothTerms.of(vehicle, 0.4), np.random.default_rng(5), 1e-6
    space = vehicle.algebroid
    x, w = anywhere(terms, rng)
    q = terms.configuration(x)
    v = to_body(q, w)
    rate = ca.Function("anchor", [space.q], [space.anchor])(q).full() @ v
    later, before = (vehicle.constraint_error(0.3 + move, q + move * rate,
                                              to_body(q + move * rate, w))[0] for move in (h, -h))
    np.testing.assert_allclose(terms.gamma(0.3, x, v, np.ones(len(terms.contacts))),
                               (later - before) / (2 * h), rtol=1e-7, atol=1e-8)


# -- accelerations ---------------------------------------------------------------------------------
@pytest.mark.parametrize("name, ground", [("differential_drive", Ground()), ("tricycle", MOVING)])
def test_where_all_wheels_roll_accelerations_are_those_of_ideal_rolling(name, ground):
    terms, rng = terms_of(name, ground), np.random.default_rng(3)
    vehicle = terms.vehicle
    for q in vehicle.constrained.configurations[:2]:
        xi = rng.normal(size=len(vehicle.speeds))
        u = rng.normal(size=vehicle.constrained.system.u.numel())
        v = vehicle.equations.velocity(0.3, q, xi, vehicle.theta).full().ravel()
        wanted = vehicle.equations.acceleration(0.3, q, xi, u, vehicle.theta).full().ravel()
        x = np.array([*q[:7], *vehicle.joint_positions(q).values()])
        rates, _, _ = accelerate(terms, at(terms, x, to_world(q, v), ROLLS), u)
        np.testing.assert_allclose(rates, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("phases, ground", [
    ((SLIDES, SLIDES, SLIDES), Ground()), ((ROLLS, SLIDES, FLIES), MOVING),
    ((FLIES, ROLLS, SLIDES), Ground())])
def test_what_keeps_its_phase_obeys_its_law(phases, ground):
    """Newton's law by Pinocchio's inverse dynamics; friction of what slides is mu N against its
    slip; rows that hold have no acceleration."""
    terms, rng = terms_of("tricycle", ground), np.random.default_rng(4)
    vehicle, model = terms.vehicle, terms.vehicle.model
    data, tau = model.createData(), force_of(vehicle)
    q = vehicle.configuration()
    x = np.array([*q[:7], *vehicle.joint_positions(q).values()])
    for _ in range(3):
        w, u = rng.normal(size=terms.nv), rng.normal(size=vehicle.constrained.system.u.numel())
        motion, v = at(terms, x, w, phases), to_body(q, w)
        rates, _, forces = accelerate(terms, motion, u)
        A, b, _ = terms.read_rows(0.3, x, w, motion.closed)
        left = pin.rnea(model, data, q, v, rates) - tau(q, v, u)
        np.testing.assert_allclose(left, to_body(q, A.T @ forces), rtol=0,
                                   atol=1e-9 * np.abs(left).max())
        turning = np.r_[-np.cross(v[3:6], v[:3]), np.zeros(terms.nv - 3)]
        speeding = A @ to_world(q, rates - turning) + terms.gamma(0.3, x, v, motion.closed)
        slip = A @ w + b
        for c, phase in zip(terms.contacts, phases):
            along = list(c.along)
            if phase == FLIES:
                assert not forces[list(c.rows)].any()
                continue
            assert abs(speeding[c.normal]) < 1e-9 * np.abs(rates).max()
            if phase == ROLLS:
                assert np.abs(speeding[along]).max() < 1e-9 * np.abs(rates).max()
            else:
                np.testing.assert_allclose(forces[along], -0.4 * forces[c.normal] * slip[along]
                                           / np.linalg.norm(slip[along]), rtol=1e-12)


@pytest.mark.parametrize("speed", [0.0, 0.7])
@pytest.mark.parametrize("phase, keeps", [(FLIES, True), (ROLLS, False)])
def test_efforts_give_joints_the_accelerations_that_are_wanted(phase, keeps, speed):
    """In the air any; where two wheels of one side stick, other ones make them slide: the efforts
    are then those of a step at whose end the joints are as fast as was wanted. At rest, or rolling
    straight ahead."""
    terms, h = terms_of("skid_steer"), 1e-3
    vehicle, q = terms.vehicle, terms.vehicle.configuration()
    x, names = np.array([*q[:7], *vehicle.joint_positions(q).values()]), vehicle.algebroid.v_names
    driven = [name for name in vehicle.driven if "left" in name]
    rows = [names.index(name) for name in driven]
    columns = [list(vehicle.driven).index(name) for name in driven]
    u, wanted = np.zeros(vehicle.constrained.system.u.numel()), np.array([300.0, -400.0])
    share = np.ones(len(terms.contacts))
    w = np.zeros(terms.nv)
    w[0] = speed
    for wheel in vehicle.description.wheels:
        w[names.index(wheel.joint)] = speed / wheel.radius
    motion = at(terms, x, w, phase)
    efforts, kept = ContactInverseDynamics(terms, share).efforts(motion, u, rows, columns, wanted,
                                                                 h)
    assert kept == keeps and len(driven) == 2
    u[columns] = efforts
    if keeps:
        np.testing.assert_allclose(accelerate(terms, motion, u)[0][rows], wanted, rtol=1e-9)
        return
    end = ImplicitStep(terms, share).take_in_python(motion, u, h, np.arange(len(share)), False)
    np.testing.assert_allclose(end.w[rows] - w[rows], h * wanted, rtol=1e-4)
    assert (end.phases == SLIDES).sum() >= 2


@pytest.mark.parametrize("free, aim", [((0, 0), 6.0), ((8.0, 3.0), 0.5), ((-6, 2), -3.0),
                                       ((0, 7e3), 2e-3), ((-9, 1), -2.0), ((1, -5), 8.0)])
@pytest.mark.parametrize("part, keeps", [(0.9e-9, True), (1.1e-9, False)])
def test_accelerations_are_met_up_to_rounding(free, aim, part, keeps, monkeypatch):
    """Relative to the largest of those that are wanted and of those without efforts. One effort
    gives two joints accelerations of 2 to 1, and leaves what is perpendicular to these."""
    free = np.array(free, float)
    aims = free + (aim - free[0]) / 2 * np.array([2.0, 1.0])
    size = max(np.abs(free).max(), np.abs(aims).max())
    aims += part * size * np.array([-0.5, 1.0])
    monkeypatch.setattr(contact_inverse_dynamics, "accelerate", lambda terms, motion, u: (
        np.r_[9.0, free], np.array([[5.0, 0], [3.0, 2.0], [4.0, 1.0]]), None))
    monkeypatch.setattr(ContactInverseDynamics, "_against_friction", lambda *of: of[-2:])
    found, kept = ContactInverseDynamics(None, None).efforts(None, None, [1, 2], [1], aims, 0.1)
    assert kept == keeps
    if keeps:
        np.testing.assert_allclose(found, [(aim - free[0]) / 2], rtol=1e-9, atol=1e-12 * size)
    else:
        assert found[1] == 0.1 and (found[0] == aims).all()


# -- scales and tolerances -------------------------------------------------------------------------
def test_a_ball_is_moved_most_along_the_ground():
    """1/m + r^2/J = 3.5 / m of a solid ball."""
    assert terms_of("ball").mobility == pytest.approx(3.5 / 0.5, rel=1e-9)


def test_velocities_have_one_unit():
    """Turns count by a length of the vehicle, wheels by their radius; a change is relative to the
    fastest, or to a fall from that length."""
    terms = terms_of("tricycle")
    scales = terms.vehicle.constrained.scales
    assert terms.size == scales[3] and terms.speed == pytest.approx(np.sqrt(9.81 * scales[3]),
                                                                    rel=1e-12)
    w = np.zeros(terms.nv)
    for i in range(terms.nv):
        w[i] = 2.0 / scales[i]
        assert terms.fastest(w) == pytest.approx(2.0, rel=1e-12)
        assert terms.change(w, 0 * w) == pytest.approx(2.0 / terms.speed, rel=1e-12)
        assert terms.change(0.75 * 20 * w, 20 * w) == pytest.approx(10.0 / max(40.0, terms.speed),
                                                                    rel=1e-12, abs=0)
        w[i] = 0.0
    floating = NonsmoothTerms.of(shipped("ball").with_parameters(gravity=0.0), 0.4)
    assert floating.speed == 0 and floating.change(np.zeros(6), np.zeros(6)) == 0


@pytest.mark.parametrize("height, slip, phase", [
    (0.9, 0.9, ROLLS), (0.9, 1.1, SLIDES), (1.1, 0.9, FLIES), (1.1, 1.1, FLIES),
    (-1e6, 0.9, ROLLS), (-1e6, -1.1, SLIDES)])
def test_what_hardly_moves_rolls_and_what_hardly_flies_is_down(height, slip, phase):
    """Relative to the vehicle's size, and to its speed after a fall from it."""
    terms = terms_of("tricycle")
    c, b, phi = terms.contacts[1], np.zeros(terms.m), np.full(terms.m, 5.0)
    A, w = np.ones((terms.m, terms.nv)), np.eye(terms.nv)[0]
    phi[c.height] = height * TOUCHING * terms.size
    for row in c.along:
        b[:], b[row] = 7.0, 0.0
        for other in c.along:
            b[other] = 0.0
        b[row] = slip * STILL * terms.speed
        found = terms.find_phases((A, b - A @ w, phi), w)
        assert found[1] == phase and set(found[[0, 2]]) == {FLIES}


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-9, 1e-4, 1.0, 3.0, 7.0])
def test_a_displacement_turns_the_base_about_axes_of_the_world(angle):
    terms, rng = terms_of("tricycle"), np.random.default_rng(5)
    x, w = anywhere(terms, rng)
    w[3:6] *= angle / np.linalg.norm(w[3:6]) / 0.5
    moved = terms.mover(x, 0.5, w)[0].copy()
    drifted = terms.mover(np.r_[x[:3], 1.001 * x[3:7], x[7:]], 0.5, w)[0]
    np.testing.assert_allclose(drifted, moved, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(moved[:3], x[:3] + 0.5 * w[:3], rtol=1e-14)
    np.testing.assert_allclose(moved[7:], x[7:] + 0.5 * w[6:], rtol=1e-14)
    R = pin.exp3(0.5 * w[3:6]) @ pin.Quaternion(x[3:7]).toRotationMatrix()
    found = pin.Quaternion(moved[3:7])
    np.testing.assert_allclose(found.toRotationMatrix(), R, rtol=1e-11, atol=1e-14)
    assert found.norm() == pytest.approx(1.0, abs=1e-15)
    if angle < 1:
        assert moved[3:7] @ x[3:7] == pytest.approx(np.cos(angle / 2), abs=1e-15)


# -- coefficients ----------------------------------------------------------------------------------
def test_coefficients_are_given_by_law_and_name():
    """A wheel that may not slide has any friction, one that holds nothing has none, and a body the
    mean of the wheels that may."""
    vehicle = shipped("differential_drive")
    left, right, caster = vehicle.contact_names
    find = lambda mu, sliding=vehicle.contact_names, bodies=("body",): read_coefficients(  # noqa: E731
        vehicle, mu, sliding, bodies)
    assert find({left: 0.2, right: 0.6}) == {left: 0.2, right: 0.6, caster: 0.0,
                                             "body": pytest.approx(0.4, rel=1e-12, abs=0)}
    assert find(0.5) == {left: 0.5, right: 0.5, caster: 0.0, "body": 0.5}
    assert find({left: 0.2}, {left}) == {left: 0.2, right: np.inf, caster: 0.0, "body": 0.2}
    assert find(None, ()) == {left: np.inf, right: np.inf, caster: 0.0, "body": 0.0}
    assert find({left: 0.2, right: 0.6, "body": 0.9})["body"] == 0.9
    assert find({left: 0.2})[right] == 0.7              # the file's own
    with pytest.raises(InputError, match="coefficient of ball of 'ball'"):
        read_coefficients(shipped("ball"), None, ("ball",), ())
    for mu, words in (({left: np.inf, right: 0.1}, f"mu of {left} is inf"),
                      ({left: 0.2, right: 0.1, "body": np.inf}, "mu of body is inf")):
        with pytest.raises(InputError, match=words):
            find(mu)


@pytest.mark.parametrize("contact, laws, skid, sliding", [
    ("coulomb", ("rolling", "tyre"), None, {"left_wheel_joint", "caster_link"}),
    ("ideal", ("coulomb", "coulomb"), None, set()),
    (None, ("rolling", "coulomb"), None, {"right_wheel_joint"}),
    (None, ("rolling", "rolling"), None, set())])
def test_which_wheels_slide_is_a_matter_of_their_law(contact, laws, skid, sliding):
    """With tyres none do."""
    described = shipped("differential_drive").description
    wheels = []
    for wheel, law in zip(described.wheels, (*laws, "rolling")):
        how = {"law": law} | ({"tyre": "robot_rubber"} if law == "tyre" else {}) | (
            {"mu": 0.5} if law == "coulomb" else {})
        wheels.append(nhmech.Wheel(wheel.joint, wheel.kind, wheel.radius, link=wheel.link,
                                   **(how if wheel.joint else {})))
    described = nhmech.load(nhmech.urdf_path("differential_drive"), wheels=wheels).description
    assert sliding_wheels(described, contact) == sliding
    assert sliding_wheels(None, contact) == set()
