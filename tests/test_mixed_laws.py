"""Wheels of one vehicle that roll ideally, slide by Coulomb friction, or have tyres."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support import at_length

import nhmech
from nhmech import InputError, JointTorque, Simulator
from nhmech.analysis import tyre_slip
from nhmech.simulation.contact.contact_problem import Cone, ContactProblem
from nhmech.simulation.contact.phases import Phase
from nhmech.urdf import Tyre, Wheel

FRONT = ("front_left_wheel_joint", "front_right_wheel_joint")
REAR = ("rear_left_wheel_joint", "rear_right_wheel_joint")
DRIVES = ("left_wheel_joint", "right_wheel_joint")
AT_ONCE = "longitudinal.relaxation=0 lateral.relaxation=0"
TYRES = ("passenger_car", f"passenger_car@2500 {AT_ONCE}",
         "longitudinal.stiffness=9000 lateral.stiffness=6000")


@cache
def with_tyres(name, wheels, tyre):
    return nhmech.load(nhmech.urdf_path(name), tyres=dict.fromkeys(wheels, tyre))


@cache
def with_laws(name, **laws):
    """A shipped robot; laws by wheel, mu = 0.3 of those that slide."""
    wheels = nhmech.load(nhmech.urdf_path(name)).description.wheels
    return nhmech.load(nhmech.urdf_path(name), wheels=[
        replace(w, law=laws.get(w.name, w.law), mu=0.3) for w in wheels])


def residuals(run):
    """|A v + b| of all rows (N, m), and heights (N, k)."""
    vehicle = run.simulated.vehicle
    found = [vehicle.constraint_error(*at) for at in zip(run.t, run.q, run.v)]
    return np.array([rates for rates, _ in found]), np.array([phi for _, phi in found])


# -- tyres with friction beside them ---------------------------------------------------------------
@pytest.mark.parametrize("wheels, tyre", [
    (FRONT, TYRES[0]), (FRONT + REAR, TYRES[1]), (FRONT, TYRES[2]),
    *at_length((FRONT + REAR, TYRES[0]), (FRONT, TYRES[1]), (FRONT + REAR, TYRES[2]))])
def test_steps_that_may_lift_a_tyre_tend_to_the_smooth_ones_with_order_two(tyre, wheels):
    """The smooth loop and the nonsmooth step know the same tyres, by derivations of their own."""
    vehicle = with_tyres("ackermann_car", wheels, tyre)
    rng, t = np.random.default_rng(5), 0.03
    effort, start = rng.normal(size=3) * [150, 150, 40], {"forward_speed": 5.0}
    ends = []
    for dt, contact in ((5e-5, "ideal"), (2e-3, "coulomb"), (1e-3, "coulomb")):
        simulator = Simulator(vehicle, lambda t, state: effort, dt=dt, contact=contact,
                              **({} if contact == "ideal" else {"mu": 20.0}))
        simulator.reset(joints={"front_left_steering_joint": 0.3}, xi=start)
        if contact == "coulomb":
            coulomb, moment = simulator.propagator.coulomb, simulator.moment
            simulator.inputs.update()
            coulomb.begin(moment)
            for _ in range(round(t / dt)):
                simulator.propagator.advance(dt)
            assert (moment.contact[-3 * len(vehicle.contacts):][:4] == Phase.ROLLING).all()
            ends.append(moment.q.copy())
        else:
            ends.append(simulator.run(t).q[-1])
    errors = [np.abs(end - ends[0])[:3].max() for end in ends[1:]]
    assert errors[1] < 1e-7 and 3.5 < errors[0] / errors[1] < 4.5


@pytest.mark.parametrize("tyre", [
    f"robot_rubber {AT_ONCE}", "longitudinal.stiffness=600 lateral.stiffness=500"])
def test_a_robot_with_tyres_rears_up_and_lands(tyre):
    """Once the motors are off the energy never grows; on its tyres alone it does not slide, and
    what is in the air and comes down never enters the ground."""
    vehicle = with_tyres("differential_drive", DRIVES, tyre)
    hard = JointTorque(dict.fromkeys(DRIVES, 3.0))
    run = Simulator(vehicle, lambda t, state: hard if t < 0.1 else np.zeros(2), dt=5e-4,
                    contact="coulomb", on_fall="ignore").run(0.6)
    caster = [span.wheels["caster_link"] for span in run.phases]
    assert caster[0] is Phase.AIRBORNE and caster[-1] is Phase.ROLLING and run.rolled[-1]
    after = run.energy[run.t >= 0.1]
    assert np.diff(after).max() <= 1e-8 * after[0]
    assert residuals(run)[1].min() >= -1e-8


@pytest.mark.parametrize("tyre", TYRES)
def test_a_tyre_in_the_air_pulls_nothing(tyre):
    vehicle = with_tyres("ackermann_car", FRONT + REAR, tyre)
    simulator = Simulator(vehicle, contact="coulomb", dt=1e-3)
    start = {"vertical_speed": 1.0, "forward_speed": 2.0, REAR[0]: 30.0, FRONT[1]: -5.0}
    simulator.reset(v=start)
    run = simulator.run(0.19)
    assert set(run.phases[0].wheels.values()) == {Phase.AIRBORNE} and len(run.phases) == 1
    for name in ("forward_speed", REAR[0], FRONT[1]):
        assert np.allclose(run.v[:, vehicle.algebroid.v_names.index(name)], start[name], atol=1e-12)
    slip = tyre_slip(run)
    assert not slip.longitudinal.any() and not slip.lateral.any() and not slip.load.any()
    assert not any(loss.any() for loss in run.friction_loss.values())
    simulator.run(0.1)          # it lands on wheels that slip
    assert np.isfinite(simulator.state.v).all()
    assert simulator.state.v[vehicle.algebroid.v_names.index(FRONT[1])] > 4.0


@pytest.mark.parametrize("tyre", TYRES[1:])
@pytest.mark.parametrize("rolls", [False, True])
def test_what_tyres_take_is_what_the_vehicle_loses(tyre, rolls):
    """By the smooth step, and where the start is thrown to slip, by the nonsmooth one at first."""
    vehicle = with_tyres("ackermann_car", FRONT + REAR, tyre)
    simulator = Simulator(vehicle, contact="coulomb", dt=5e-4, on_fall="ignore")
    if rolls:
        simulator.reset(joints={"front_left_steering_joint": 0.3}, xi={"forward_speed": 6.0})
    else:
        simulator.reset(v={"forward_speed": 3.0, "lateral_speed": 0.5, "yaw_rate": 1.0})
    run = simulator.run(0.3)
    lost = sum(run.friction_loss.values())
    assert run.rolled.all() == rolls and lost[-1] > 100.0
    assert np.allclose(lost, run.energy[0] - run.energy, rtol=0,
                       atol=(1e-5 if rolls else 1e-3) * lost[-1])
    assert np.array_equal(run.columns()[f"lost.{REAR[0]}"].values, run.friction_loss[REAR[0]])


def test_a_landing_on_stiff_tyres_is_solved():
    """The stiffer the tyres, the shorter the part of an impact in which they lose their slip."""
    tyre = replace(Tyre.read(f"passenger_car@8000 {AT_ONCE}"), follows=None)
    vehicle = with_tyres("ackermann_car", FRONT + REAR, tyre)
    simulator = Simulator(vehicle, contact="coulomb")
    start = {"vertical_speed": -1.0, "forward_speed": 2.0, REAR[0]: 30.0, FRONT[1]: -5.0}
    state = simulator.reset(v=start)
    assert state.v[2] == pytest.approx(0.0, abs=1e-12)
    assert vehicle.energy(0.0, state.q, state.v) < vehicle.energy(0.0, state.q, np.array(
        [start.get(name, 0.0) for name in vehicle.algebroid.v_names]))
    rates = [state.v[vehicle.algebroid.v_names.index(name)] for name in (REAR[0], FRONT[1])]
    assert 0 < rates[0] < 30 and rates[1] > -5


# -- laws by wheel ---------------------------------------------------------------------------------
def test_wheels_that_cannot_slip_beside_wheels_that_do():
    """A car that understeers: its rear wheels hold whatever the force."""
    vehicle = with_laws("ackermann_car", **dict.fromkeys(FRONT, "coulomb"))
    simulator = Simulator(vehicle, lambda t, state: np.array([300.0, 300.0, 0.0]), dt=1e-3)
    simulator.reset(joints={"front_left_steering_joint": 0.4}, xi={"forward_speed": 8.0})
    run = simulator.run(0.5)
    assert any(span.wheels[FRONT[0]] is Phase.SLIDING for span in run.phases)
    assert not any(span.wheels[name] is Phase.SLIDING for span in run.phases for name in REAR)
    held = [row for component, row in vehicle.contact_rows.items() if component.contact in REAR]
    assert np.abs(residuals(run)[0][:, held]).max() <= 1e-12 * max(1.0, np.abs(run.v).max())
    force = {name: np.hypot(run.force(name, "longitudinal"), run.force(name, "lateral"))
             / run.force(name, "normal") for name in (*FRONT, *REAR)}
    assert max(force[name][1:].max() for name in FRONT) <= 0.3 * (1 + 1e-9)
    assert max(force[name].max() for name in REAR) > 0.3


def test_the_law_of_all_wheels_is_that_of_the_run():
    names = FRONT + REAR
    laws = with_laws("ackermann_car", **dict.fromkeys(names, "coulomb"))
    plain = with_laws("ackermann_car")
    pull = {"controller": lambda t, state: np.array([700.0, 700.0, 0.0]), "dt": 1e-3}
    runs = [Simulator(laws, **pull).run(0.1), Simulator(plain, contact="coulomb", **pull).run(0.1),
            Simulator(laws, contact="ideal", **pull).run(0.1), Simulator(plain, **pull).run(0.1)]
    assert (runs[0].q == runs[1].q).all() and not runs[0].rolled[-1]
    assert (runs[2].q == runs[3].q).all()


def test_a_wheel_that_cannot_slip_lands():
    """An impact takes its slip with it."""
    vehicle = with_laws("ackermann_car", **dict.fromkeys(FRONT, "coulomb"))
    simulator = Simulator(vehicle, dt=1e-3, restitution=0.0)
    simulator.reset(v={"vertical_speed": 0.3, "forward_speed": 1.0})
    run = simulator.run(0.3)
    assert run.phases[0].wheels[REAR[0]] is Phase.AIRBORNE
    assert run.phases[-1].wheels[REAR[0]] is Phase.ROLLING
    assert np.diff(run.energy).max() <= 1e-8 * run.energy[0]


def test_an_unlimited_cone_is_a_wheel_that_sticks():
    rng = np.random.default_rng(3)
    J = np.eye(3) + 0.1 * rng.normal(size=(3, 3))
    W, g = J @ J.T, np.array([-1.0, 2.0, -1.5])
    P, error = ContactProblem(W, g, [Cone(0, (1, 2), np.inf)]).solve(np.zeros(3))
    assert error < 1e-12 and np.allclose(W @ P + g, 0, atol=1e-12)
    P, error = ContactProblem(W, np.abs(g), [Cone(0, (1, 2), np.inf)]).solve(np.zeros(3))
    assert (P == 0).all() and error == 0


# -- what is refused -------------------------------------------------------------------------------
def test_laws_that_contradict_a_kind():
    with pytest.raises(InputError, match="law='coulomb' has no meaning for kind 'caster_ball'"):
        Wheel(None, "caster_ball", 0.03, link="ball", law="coulomb")
    with pytest.raises(InputError, match="mu=inf contradicts law='coulomb'"):
        Wheel("a", "disc", 0.1, law="coulomb", mu=np.inf)
    with pytest.raises(InputError, match="law 'sliding' does not exist"):
        Wheel("a", "disc", 0.1, law="sliding")


def test_a_start_in_which_a_rolling_wheel_slips():
    simulator = Simulator(with_laws("ackermann_car", **dict.fromkeys(FRONT, "coulomb")))
    with pytest.raises(InputError, match=f"wheel '{REAR[0]}' slips with 1 m/s and has law="):
        simulator.reset(v={"forward_speed": 1.0})
