"""Rows, heights and forces of vehicles whose wheels may slide, with bodies that touch and tyres
that deflect, against differences of each other."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import Ground, SimulationError
from nhmech.simulation.contact.accelerations import accelerate
from nhmech.simulation.contact.force_reader import force_reader
from nhmech.simulation.contact.motion import Motion, to_body
from nhmech.simulation.contact.nonsmooth_terms import NonsmoothTerms
from nhmech.simulation.contact.phases import Phase
from nhmech.simulation.runs.forces_along import TyresAlong
from nhmech.vehicle.bodies import BodyContacts

MOVING = Ground(normal=(0.1, 0.2, 1), velocity=(0.1, 0.2, 0.3), angular_velocity=(0.03, 0.06, 0.3))
LEFT, RIGHT, CASTER = "left_wheel_joint", "right_wheel_joint", "caster_link"
AT_ONCE = "longitudinal.relaxation=0 lateral.relaxation=0"
LINEAR = "longitudinal.stiffness=90 lateral.stiffness=60"      # at any load
T, H = 0.3, 1e-6


@cache
def with_bodies(name, ground=Ground()):
    vehicle = shipped(name, ground)
    return NonsmoothTerms.of(vehicle, 0.4, bodies=BodyContacts.of(vehicle))


@cache
def with_tyres(left, right, ground=Ground()):
    vehicle = nhmech.load(nhmech.urdf_path("differential_drive"), ground=ground,
                          tyres={wheel: tyre for wheel, tyre in ((LEFT, left), (RIGHT, right))
                                 if tyre})
    return NonsmoothTerms.of(vehicle, 0.4)


@cache
def on_one_ball():
    """A ball without friction bears all: one row and no input."""
    return NonsmoothTerms.of(nhmech.load(robot(link("base", body=(
        '<collision><origin xyz="0.1 0.2 0.7"/><geometry><sphere radius="0.1"/></geometry>'
        '</collision>'))), wheels=[nhmech.Wheel(None, "caster_ball", 0.05, link="base")]), 0.4)


@cache
def with_one_drive():
    """One input; a point of a body that alone can touch the ground."""
    vehicle = nhmech.load(robot(
        link("base"), link("wheel"), joint("axle", "base", "wheel"), link("mast", body=(
            '<collision><geometry><sphere radius="0.1"/></geometry></collision>')),
        joint("hinge", "base", "mast", (0.1, 0.2, 0.7), axis=(1, 0, 0))),
        wheels=[nhmech.Wheel("axle", "disc", 0.1, driven=True)], free=("hinge",))
    bodies = BodyContacts.of(vehicle)
    at = bodies.links.index("mast")
    own = bodies.owners[at]
    return NonsmoothTerms.of(vehicle, 0.4, bodies=replace(
        bodies, links=("mast",), owners=(0,), points=bodies.points[:, at],
        poses=bodies.poses[:, own], jacobian=bodies.jacobian[6 * own:6 * own + 6, :],
        heights=bodies.heights[at]))


# wheels and bodies; a deflecting tyre that knows its load beside one of constant stiffness
TERMS = {"disc": lambda: with_bodies("disc", MOVING), "rover": lambda: with_bodies("rover"),
         "tyres": lambda: with_tyres("passenger_car@2500", LINEAR, MOVING),
         "a tyre": lambda: with_tyres("passenger_car@2500", None), "one ball": on_one_ball,
         "one drive": with_one_drive}


@pytest.fixture(params=TERMS)
def terms(request):
    return TERMS[request.param]()


def anywhere(terms, seed=0):
    """x, w, inputs, loads and which wheels are on the ground."""
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=terms.nconf), rng.normal(size=terms.nv)
    x[3:7] = np.array([0.05, -0.03, 0.4, 1.0]) + 0.01 * x[3:7]      # no wheel lies flat
    x[3:7] /= np.linalg.norm(x[3:7])
    deflections = deflected(terms)
    x[7:][deflections] *= 0.01
    w[6:][deflections] *= 0.01
    return (x, w, rng.normal(size=terms.vehicle.constrained.system.u.numel()),
            rng.uniform(900, 7000, terms.own), np.array(
                [k != 1 for k in range(len(terms.contacts))], dtype=float))


def deflected(terms) -> np.ndarray:
    """Which of the joints are deflections of tyres."""
    return np.array([name.endswith("_deflection") for name in terms.vehicle.algebroid.v_names[6:]],
                    dtype=bool)


def still(terms, x, w, phase, t=T):
    """A motion in which all contacts have one phase."""
    n = len(terms.contacts)
    return Motion(t, x, w, np.full(n, phase), np.full(terms.m, 7.0), np.zeros(n), np.zeros(n))


def standing(vehicle):
    """x of the default configuration."""
    q = vehicle.configuration()
    return np.array([*q[:7], *vehicle.joint_positions(q).values()])


def moved(terms, x, w, size):
    return terms.mover(x, size, w)[0].copy()


# -- rows and heights ------------------------------------------------------------------------------
def test_each_row_and_each_height_has_one_owner(terms):
    """Rows of bodies come after those of wheels and couplings, and so do their heights."""
    rows = [*terms.bilateral, *(row for c in terms.contacts for row in c.rows)]
    followers = terms.vehicle.constrained.distribution.followers
    assert sorted(rows) == list(range(terms.m)) and followers.keys() <= {*terms.bilateral}
    assert sorted([*terms.bilateral_heights, *terms.heights]) == list(range(len(terms.forms)))
    assert [terms.forms[height] for height in terms.heights] == terms.normals.tolist()
    assert {terms.forms[height] for height in terms.bilateral_heights} <= {*terms.bilateral}
    wheels = len(terms.vehicle.contacts)
    assert [c.name for c in terms.contacts] == [*terms.vehicle.contact_names, *terms.bodies.links]
    assert all(len(c.along) == 2 and min(c.rows) >= terms.own for c in terms.contacts[wheels:])
    A, b, phi = terms.read_rows(T, *anywhere(terms)[:2], np.ones(len(terms.contacts)))
    assert A.shape == (terms.m, terms.nv) and len(b) == terms.m and len(phi) == len(terms.forms)


def test_rows_are_the_rates_of_heights(terms):
    x, w, *_ = anywhere(terms)
    closed = np.ones(len(terms.contacts))
    A, b, phi = terms.read_rows(T, x, w, closed)
    later, before = (terms.read_rows(T + side * H, moved(terms, x, w, side * H), w, closed)[2]
                     for side in (1, -1))
    seen = np.isfinite(phi)
    assert seen[:len(terms.vehicle.contacts)].all()
    np.testing.assert_allclose((A @ w + b)[list(terms.forms)][seen],
                               (later[seen] - before[seen]) / (2 * H), rtol=1e-7, atol=1e-7)
    at_rest = terms.read_rows(0.0, x, 0 * w, closed)[2]
    np.testing.assert_array_equal(terms.read_heights(x), at_rest[terms.heights])


def test_gamma_is_the_rate_of_rows_at_constant_velocities(terms):
    """Also of deflections of tyres, of which one is in the air."""
    x, w, _, _, closed = anywhere(terms, 1)
    values = []
    for side in (1, -1):
        A, b, _ = terms.read_rows(T + side * H, moved(terms, x, w, side * H), w, closed)
        values.append(A @ w + b)
    found = terms.gamma(T, x, to_body(terms.configuration(x), w), closed)
    seen = np.isfinite(values[0])
    assert seen[:terms.own].all()
    np.testing.assert_allclose(found[seen], (values[0][seen] - values[1][seen]) / (2 * H),
                               rtol=1e-6, atol=1e-6)


# -- slopes ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("h", [0.0, 0.02])
def test_slopes_follow_deflections_that_grow_for_a_while(terms, h):
    """dx = h w of the deflections alone: of the rows, and of all forces F + G^T lam."""
    x, w, u, lam, closed = anywhere(terms, 2)
    lam = np.r_[lam, np.zeros(terms.m - terms.own)]
    _, _, D, _, _ = terms.momentum(T, x, w, u, lam, closed, h)
    A, b, _ = terms.read_rows(T, x, w, closed, h)
    before = terms.read_rows(T, x, w, closed)
    np.testing.assert_allclose(A @ w + b, before[0] @ w + before[1], rtol=1e-12, atol=1e-12)
    for way in np.random.default_rng(3).normal(size=(2, terms.nv)):
        ends = []
        for side in (1, -1):
            there, velocity = x.copy(), w + side * H * way
            there[7:] += side * H * h * way[6:] * deflected(terms)
            _, F, _, G, _ = terms.momentum(T, there, velocity, u, lam, closed)
            rows = terms.read_rows(T, there, velocity, closed)
            ends.append((F + G.T @ lam, rows[0] @ velocity + rows[1]))
        for found, (later, earlier) in zip((D @ way, A @ way), zip(*ends)):
            seen = np.isfinite(later)
            assert seen[:terms.own].all()
            np.testing.assert_allclose(found[seen], (later[seen] - earlier[seen]) / (2 * H),
                                       rtol=1e-6, atol=1e-7 * np.abs(lam).max())


def test_forces_of_tyres_are_linear_near_their_loads():
    """Exactly so for one whose coefficients are constant: F + G^T lam is that of any other
    linearisation."""
    for tyre, follows in ((f"passenger_car@2500 {AT_ONCE}", True), (LINEAR, False)):
        terms = with_tyres(tyre, None)
        assert terms.follow_loads == follows
        x, w, u, lam, closed = anywhere(terms, 4)
        way = np.eye(terms.m)[terms.contacts[0].normal]
        (_, F, _, G, _), (_, F1, _, G1, _), (_, F2, _, G2, _) = (
            terms.momentum(T, x, w, u, one, closed) for one in (
                lam, lam + 1e-3 * way, lam - 1e-3 * way))
        slope = (F1 + G1.T @ (lam + 1e-3 * way) - F2 - G2.T @ (lam - 1e-3 * way)) / 2e-3
        np.testing.assert_allclose(G.T @ way, slope, rtol=1e-6, atol=1e-6)
        assert np.allclose(F1, F, rtol=1e-12, atol=1e-9) != follows
    assert with_tyres(LINEAR, f"passenger_car@2500 {AT_ONCE}").follow_loads
    assert not with_tyres(None, None).follow_loads


# -- in the air ------------------------------------------------------------------------------------
@pytest.mark.parametrize("tyres", [(f"passenger_car@2500 {AT_ONCE}", LINEAR), (LINEAR, None)])
def test_tyres_in_the_air_pull_nothing(tyres):
    """The vehicle moves as one without tyres."""
    rates = []
    for terms in (with_tyres(*tyres), with_tyres(None, None)):
        x, w, u, _, _ = anywhere(terms, 5)
        found, slope, forces = accelerate(terms, still(terms, x, w, Phase.AIRBORNE), u)
        rates.append(found)
        assert slope.shape == (terms.nv, len(u)) and not forces.any()
    np.testing.assert_allclose(rates[0], rates[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("closed", [0.0, 1.0])
def test_a_tyre_in_the_air_is_not_deflected_by_the_ground(closed):
    """dz/dt = -V_s on the ground, 0 in the air, for z = 0: by the speed of another wheel that has
    rigid rows in the same place."""
    terms, plain = with_tyres("passenger_car@2500", None), with_tyres(None, None)
    x, w, *_ = anywhere(terms, 6)
    joints = ~deflected(terms)
    x[7:][~joints] = 0.0
    on = np.full(len(terms.contacts), closed)
    A, b, _ = terms.read_rows(T, x, w, on)
    rigid = plain.read_rows(T, np.r_[x[:7], x[7:][joints]], np.r_[w[:6], w[6:][joints]],
                            np.ones(3))
    slips = (rigid[0] @ np.r_[w[:6], w[6:][joints]] + rigid[1])[list(plain.contacts[0].along)]
    followers = terms.vehicle.constrained.distribution.followers
    assert len(followers) == 2
    rates = {terms.vehicle.algebroid.v_names[own]: (A @ w + b)[row] - w[own]
             for row, own in followers.items()}
    for name, slip in zip((f"{LEFT}/longitudinal_deflection", f"{LEFT}/lateral_deflection"), slips):
        assert abs(rates[name]) == pytest.approx(closed * abs(slip), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("flies", [None, [False, False, False], [True, False, True]])
def test_what_slip_takes_is_the_force_times_the_slip_over_the_ground(flies):
    """Of a ground that moves; nothing in the air. The slip is that of another vehicle, whose wheels
    have rigid rows in the same place."""
    terms, plain = (with_tyres(*tyres, MOVING) for tyres in ((LINEAR, LINEAR), (None, None)))
    x, w, u, *_ = anywhere(terms, 8)
    q, vehicle = terms.configuration(x), terms.vehicle
    v, t = to_body(q, w), np.array([0.3, 0.7])
    both = np.array([q, q]), np.array([v, v])
    forces = force_reader(vehicle).read(t, *both, np.array([u, u]))
    found = TyresAlong.of(vehicle, t, *both, forces, flies and np.array([flies] * 2))
    assert found.wheels == (LEFT, RIGHT)
    up = np.array([not (flies or [False] * 3)[i] for i in range(2)])
    for k in range(2):
        rates, _ = plain.vehicle.constraint_error(t[k], q, v)
        slips = np.array([rates[list(c.along)] for c in plain.contacts[:2]])
        forces = -np.array([90.0, 60.0]) * found.slip[k]
        np.testing.assert_allclose(found.force[k], up[:, None] * forces, rtol=1e-9)
        np.testing.assert_allclose(found.touching_power[k], -(forces * slips).sum(1), rtol=1e-9)
        np.testing.assert_allclose(found.power[k], up * found.touching_power[k], rtol=1e-12)


# -- accelerations ---------------------------------------------------------------------------------
@pytest.mark.parametrize("phase", [Phase.AIRBORNE, Phase.ROLLING])
def test_accelerations_are_linear_in_the_inputs(terms, phase):
    x, w, u, *_ = anywhere(terms, 7)
    x[3:7] = np.array([0.03, 0.02, 0.4, 1.0]) / np.linalg.norm([0.03, 0.02, 0.4, 1.0])
    if terms.bodies.links or terms.follow_loads:
        phase = Phase.AIRBORNE      # points of bodies are not on the ground; some tyres are bent
    rates, slope, _ = accelerate(terms, still(terms, x, w, phase), u)
    assert slope.shape == (terms.nv, len(u))
    way = np.linspace(1.0, 2.0, len(u))
    more = accelerate(terms, still(terms, x, w, phase), u + way)[0]
    np.testing.assert_allclose(slope @ way, more - rates, rtol=1e-7,
                               atol=1e-7 * max(1.0, np.abs(more).max()))


def test_a_contact_is_moved_by_a_unit_impulse():
    """Of the vehicle at rest; also a light wheel on a robot that is a million times heavier."""
    vehicle = shipped("differential_drive").with_parameters({"payload.mass": 1e6})
    terms, x = NonsmoothTerms.of(vehicle, 0.4), standing(vehicle)
    ones, w = np.ones(len(terms.contacts)), np.zeros(terms.nv)
    M, _, _, G, _ = terms.momentum(0.0, x, w, np.zeros(2), np.zeros(terms.m), ones)
    A, _, _ = terms.read_rows(0.0, x, w, ones)
    moved = [A[row] @ np.linalg.solve(M, G[row]) for row in range(terms.m)]
    assert terms.mobility == pytest.approx(max(moved), rel=1e-11)
    assert min(moved) > 0


@pytest.mark.parametrize("mass", [1e-3, 30.0])
def test_a_load_of_any_size_stands_on_ground_that_gives_way_by_nothing(mass):
    vehicle = shipped("differential_drive").with_parameters({"payload.mass": mass})
    terms = NonsmoothTerms.of(vehicle, 0.4)
    rates, _, forces = accelerate(terms, still(terms, standing(vehicle), np.zeros(terms.nv),
                                               Phase.ROLLING), np.zeros(len(vehicle.driven)))
    assert np.abs(rates).max() < 1e-9
    weight = sum(inertia.mass for inertia in vehicle.model.inertias) * 9.81
    assert forces[terms.normals].sum() == pytest.approx(weight, rel=1e-9)


@pytest.mark.parametrize("mu, contact, speed", [(0.4, "coulomb", 0.0), (None, "ideal", 0.1)])
def test_a_wheel_that_is_said_to_slide_holds_without_slip_or_with_any_friction(mu, contact, speed):
    vehicle = shipped("differential_drive")
    terms, x = NonsmoothTerms.of(vehicle, mu, contact), standing(vehicle)
    w = np.full(terms.nv, speed)
    found, wanted = (accelerate(terms, still(terms, x, w, phase), np.array([0.3, -0.1]))
                     for phase in (Phase.SLIDING, Phase.ROLLING))
    for one, other in zip(found, wanted):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_what_has_no_mass_is_told(monkeypatch):
    terms, momentum = with_tyres(None, None), NonsmoothTerms.momentum
    x, w, u, *_ = anywhere(terms)
    monkeypatch.setattr(NonsmoothTerms, "momentum", lambda *at: (
        found := momentum(*at)) and [0 * found[0], *found[1:]])
    with pytest.raises(SimulationError, match="at t = 0.3 s are not determined: a part that can"):
        accelerate(terms, still(terms, x, w, Phase.AIRBORNE), u)
