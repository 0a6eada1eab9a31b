"""What begins, ends and takes the steps in which wheels may slide: its margins, its record, and
what it refuses."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support import shipped

from nhmech import InputError, SimulationError, Simulator
from nhmech.simulation.contact.accelerations import accelerate
from nhmech.simulation.contact.coulomb import SLIP, CoulombContact, choose_contact
from nhmech.simulation.contact.force_reader import force_reader
from nhmech.simulation.contact.motion import Motion, to_world
from nhmech.simulation.contact.phases import Phase
from nhmech.simulation.simulated import Simulated
from nhmech.systems import load_system

NAME = "differential_drive"
R, S, F = Phase.ROLLING, Phase.SLIDING, Phase.AIRBORNE


def choose(contact="coulomb", mu=0.5, restitution=0.0, stiffness=None, kinematic=False, **more):
    return choose_contact(Simulated.of(shipped(NAME)), contact, mu, restitution, stiffness,
                          kinematic=kinematic, **more)


def sliding(**how):
    """A simulator in the middle of a slide, and its contact."""
    simulator = Simulator(shipped(NAME), lambda t, state: [0.05, -0.02], dt=1e-3,
                          contact="coulomb", mu=0.3, **how)
    simulator.reset(v={"forward_speed": 1.0, "lateral_speed": 0.4, "yaw_rate": 2.0})
    for _ in range(3):
        simulator.step()
    return simulator, simulator.propagator.coulomb


# -- the margin of rolling -------------------------------------------------------------------------
@pytest.mark.parametrize("part", [None, 0.98, 0.1])
def test_the_margin_is_the_least_normal_force_or_what_friction_leaves(part):
    contact = choose(mu={"left_wheel_joint": 0.4, "right_wheel_joint": 0.7})
    simulator = Simulator(shipped(NAME), lambda t, state: [1.0, 1.5])
    state = simulator.reset(xi={"forward_speed": 1.0, "yaw_rate": 3.0})
    found = force_reader(contact.vehicle).read(*(np.array([one]) for one in (
        state.t, state.q, state.v, state.u)))
    forces = dict(zip(found.components, found.shortest[0]))
    left = [forces[wheel, "normal"] for wheel in contact.vehicle.contact_names]
    for wheel, mu in contact.mu.items():
        slip = np.hypot(forces[wheel, "longitudinal"], forces[wheel, "lateral"])
        left.append(forces[wheel, "normal"] - slip / ((part or 1.0) * mu))
    assert contact.room(state, *[part] * (part is not None)) == pytest.approx(min(left), rel=1e-12)
    assert min(left) < min(left[:3])


@pytest.mark.parametrize("height", [-0.1, 1e-6, 1e6])
def test_the_height_of_the_lowest_body_is_a_margin_too(height):
    contact = choose(bodies=True)
    assert contact.terms.bodies.links and contact.watch.lowest_body is not None
    state = Simulator(shipped(NAME)).reset()
    plain = choose(bodies=False).room(state)
    asked = []
    vars(contact)["_lowest_body"] = lambda *at: asked.append(at) or [np.array([[height]])]
    assert contact.room(state) == min(plain, height)
    (t, q, theta), = asked
    assert t == state.t and (q == state.q).all() and (theta == contact.vehicle.theta).all()


@pytest.mark.parametrize("bodies", [False, True])
def test_compiled_code_has_the_margin_of_python(bodies):
    contact, simulator = choose(bodies=bodies), Simulator(shipped(NAME))
    state = simulator.reset(xi={"forward_speed": 0.3, "yaw_rate": 0.5})
    watch, vehicle = contact.watch, contact.vehicle
    found = watch.along(vehicle.equations)(state.t, simulator.moment.x, state.u, vehicle.theta,
                                           watch.split)
    assert float(found) == pytest.approx(contact.room(state), rel=1e-12, abs=0)
    assert not bodies or contact.room(state) < choose().room(state)


def test_a_bound_is_watched_until_rolling_ends():
    contact = choose()
    watch, state = contact.watch, Simulator(shipped(NAME)).reset()
    assert watch.names == (SLIP,) == ("rolling ends",) and watch.lowest_body is None
    assert not contact.terms.bodies.links and watch.notices == ()
    contact.slides = lambda state: False
    assert watch.margins(state) == [contact.room(state)] and contact.room(state) > 0
    contact.slides = lambda state: True
    assert watch.margins(state) == [np.inf]
    assert (watch.split == contact.grip).all()


# -- the record ------------------------------------------------------------------------------------
def test_states_show_what_is_recorded_of_their_contacts():
    simulator, contact = sliding()
    state, numbers = simulator.state, simulator.moment.contact
    np.testing.assert_array_equal(contact.numbers(state), numbers)
    assert contact.slides(state) and set(contact.contacts(state).phases.values()) >= {S}
    assert contact.contacts(state).mu == dict.fromkeys(("left_wheel_joint", "right_wheel_joint"),
                                                       0.3)
    assert contact.contacts(state).reactions.feasible
    motion = contact._motion(state.t, simulator.moment.x, state.q, state.v, numbers)
    rates, _, forces = accelerate(contact.terms, motion, state.u)
    np.testing.assert_allclose(contact.acceleration(state, numbers), rates, rtol=1e-12)
    rolls = Simulator(shipped(NAME), contact="coulomb", mu=0.3)
    assert not rolls.propagator.coulomb.slides(rolls.reset())


def test_a_phase_that_begins_goes_on_with_what_was_slid_and_lost():
    """What approaches the ground stops; the record has the forces of the accelerations there."""
    simulator, contact = sliding()
    moment, columns = simulator.moment, contact.columns
    forces, phases, slid, lost = columns.split(moment.contact)
    before = slid.copy(), lost.copy()
    assert before[0].max() > 0 and before[1].max() > 0
    moment.v[2] = -0.1                                # the base comes down
    w = to_world(moment.q, moment.v)
    landed = contact.nonsmooth.start(moment.t, moment.x[:contact.terms.nconf], w)
    contact.begin(moment)
    np.testing.assert_allclose(to_world(moment.q, moment.v), landed.w, rtol=1e-12, atol=1e-14)
    assert abs(moment.v[2]) < 1e-12
    np.testing.assert_allclose(slid, before[0] + landed.slid, rtol=1e-12)
    np.testing.assert_allclose(lost, before[1] + landed.lost, rtol=1e-12)
    assert landed.lost.max() > 0 and phases.tolist() == landed.phases.tolist()
    wanted = accelerate(contact.terms, landed, moment.u)[2]
    rows = list(contact.vehicle.contact_rows.values())
    np.testing.assert_allclose(forces, wanted[rows], rtol=1e-12)


def test_a_start_with_a_forbidden_slip_is_refused_before_anything_changes(monkeypatch):
    simulator, contact = sliding()

    def refuse(self, moment):
        raise InputError("slips")

    monkeypatch.setattr(CoulombContact, "_check_slip", refuse)
    block = simulator.moment.block.copy()
    with pytest.raises(InputError, match="slips"):
        contact.begin(simulator.moment)
    np.testing.assert_array_equal(simulator.moment.block, block)


def test_a_step_records_its_mean_forces():
    simulator, contact = sliding()
    x, q, v, numbers = contact.advance(simulator.moment, 2e-3)
    motion = contact._motion(simulator.moment.t, simulator.moment.x, simulator.moment.q,
                             simulator.moment.v, simulator.moment.contact, 2e-3)
    end = contact.nonsmooth.advance(motion, simulator.moment.u, 2e-3)
    np.testing.assert_allclose(x, end.x, rtol=1e-12)
    np.testing.assert_allclose(to_world(q, v), end.w, rtol=1e-12, atol=1e-14)
    rows = list(contact.vehicle.contact_rows.values())
    np.testing.assert_allclose(numbers[:len(rows)], end.impulses[rows] / 2e-3, rtol=1e-12)
    weight = sum(inertia.mass for inertia in contact.vehicle.model.inertias) * 9.81
    normals = [i for i, c in enumerate(contact.vehicle.contact_rows) if c.is_normal]
    assert numbers[normals].sum() == pytest.approx(weight, rel=0.2)


@pytest.mark.parametrize("what", ["x", "w", "singular"])
@pytest.mark.parametrize("guarded", [False, True])
def test_a_step_without_finite_numbers_is_told(what, guarded, monkeypatch):
    """One of them suffices; by the guard that vanishes, where there is one."""
    simulator, contact = sliding()
    advance = contact.nonsmooth.advance

    def fails(motion, u, dt):
        if what == "singular":
            raise np.linalg.LinAlgError
        end = advance(motion, u, dt)
        part = getattr(end, what).copy()
        part[-1] = np.nan
        return replace(end, **{what: part})

    monkeypatch.setattr(type(contact.nonsmooth), "advance", lambda self, *of: fails(*of))
    contact._simulated = SimpleNamespace(constrained=SimpleNamespace(guard_names=("g",) * guarded))
    monkeypatch.setattr("nhmech.simulation.contact.coulomb.explain_fall", lambda *of: "it fell")
    with pytest.raises(SimulationError, match="it fell" if guarded else (
            "stopped at t = 0.003 s: the step of 0.001 s gave numbers that are not finite")):
        contact.advance(simulator.moment, 1e-3)


@pytest.mark.parametrize("slides", [True, False])
@pytest.mark.parametrize("goes_on", [True, False])
def test_efforts_are_those_of_rolling_where_that_goes_on(slides, goes_on):
    simulator, contact = sliding()
    asked = []
    vars(contact)["_inverse_dynamics"] = SimpleNamespace(
        efforts=lambda motion, *rest: asked.append((motion, rest)) or ("efforts", goes_on))
    moment = simulator.moment
    if not slides:
        contact.end(moment)
    found = contact.efforts(moment, moment.u, [0], [1], [2.0], 1e-3)
    assert found == (None if goes_on and not slides else "efforts")
    (motion, rest), = asked
    assert isinstance(motion, Motion) and rest == (moment.u, [0], [1], [2.0], 1e-3)
    assert np.isfinite(motion.impulses).all() and motion.phases.any() == slides


# -- what is given ---------------------------------------------------------------------------------
def test_a_wheel_stays_down_or_bounces_as_is_said():
    for e in (0, 1, 0.25):
        assert choose(restitution=e).nonsmooth.restitution.tolist() == [e] * 3
    assert choose(restitution={}).nonsmooth.restitution.tolist() == [0.0] * 3
    names = shipped(NAME).contact_names
    half = choose(stiffness={names[0]: 0.5}).nonsmooth.stiffness
    assert half.tolist() == [0.5] * 3


@pytest.mark.parametrize("options, words", [
    ({"restitution": np.nan}, "restitution of '.*' is nan"),
    ({"restitution": "0.5"}, "restitution of '.*' is '0.5'"),
    ({"stiffness": {"caster_link": -1.0}}, "stiffness of 'caster_link' is -1.0"),
    ({"stiffness": {"caster_link": np.inf}}, "stiffness of 'caster_link' is inf"),
    ({"stiffness": 3.0}, "stiffness"),
    ({"kinematic": True}, "a kinematic run has none"),
    ({"contact": None, "bodies": True, "mu": None}, "on_fall=\"go-on\" needs contact"),
    ({"contact": None, "mu": 0.0, "restitution": 0.5}, "restitution = 0.5 has no effect"),
    ({"contact": "ideal", "mu": 0.5}, "mu = 0.5 has no effect"),
    ({"contact": None, "mu": None, "stiffness": {}}, "stiffness = {} has no effect")])
def test_what_does_not_go_together_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        choose(**options)


def test_wheels_that_only_roll_need_no_friction():
    for contact in (None, "ideal"):
        assert choose(contact, mu=None) is None and choose(contact, mu=0.0) is None
    assert choose(contact=None, mu=None, kinematic=True) is None
    disc = Simulated.of(load_system("falling_disc"))
    assert choose_contact(disc, None, None, 0.0, None, kinematic=False) is None
    for bodies in (False, True):
        with pytest.raises(InputError, match="this system has no wheels"):
            choose_contact(disc, "coulomb", 0.5, 0.0, None, kinematic=False, bodies=bodies)
