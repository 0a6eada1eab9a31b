"""Joint damping that is too stiff for a time step: found, said before the run and after it
failed."""

from __future__ import annotations

import numpy as np
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import SimulationError
from nhmech.analysis.linearise import linearise
from nhmech.compile.status import Status
from nhmech.simulation.diagnosis import explain_failure
from nhmech.simulation.integration.integrators import Step
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind
from nhmech.vehicle.build import build
from nhmech.vehicle.stiffness import RK4_LIMIT, describe_stiffness, fastest_decay

JOINTS = ("left_wheel_joint", "right_wheel_joint")


def test_rk4_is_stable_up_to_its_limit():
    """|1 + z + z^2 / 2 + z^3 / 6 + z^4 / 24| is 1 at z = -2.7853."""
    def factor(z):
        return 1 + z + z ** 2 / 2 + z ** 3 / 6 + z ** 4 / 24

    assert 0.999 < factor(-RK4_LIMIT) <= 1 < factor(-1.001 * RK4_LIMIT)


@pytest.fixture(scope="module")
def damped():
    """Wheels in thick oil."""
    return shipped("differential_drive").with_parameters(
        {f"{name}.damping": 60.0 for name in JOINTS}
    )


def test_the_rate_is_an_eigenvalue_of_the_linearisation(damped):
    """Pinocchio's mass matrix against the derivative of the Gibbs-Appell equations."""
    rate, joints = fastest_decay(damped)
    found = linearise(damped, damped.configuration(), np.zeros(2)).eigenvalues
    assert rate == pytest.approx(-found.real.min(), rel=1e-9) and set(joints) == set(JOINTS)
    assert fastest_decay(shipped("mecanum").with_parameters(
        {f"{j}.damping": 0.0 for j in shipped("mecanum").description.rolling})) == (0.0, ())


def test_the_step_that_it_allows(damped):
    """A little below the limit the motion dies out, a little above it grows. That ends the run,
    and the message says why."""
    rate, _ = fastest_decay(damped)
    below, above = (nhmech.Simulator(damped, dt=factor * RK4_LIMIT / rate, on_lift="ignore")
                    for factor in (0.97, 1.03))
    for simulator in (below, above):
        simulator.reset(xi={JOINTS[0]: 1.0, JOINTS[1]: -1.0})
    assert np.abs(below.run(30 * below.dt).xi[-1]).max() < 0.2
    with pytest.raises(SimulationError, match="its result has no correct digit") as caught:
        above.run(30 * above.dt)
    assert 1 <= np.abs(caught.value.trajectory.xi[-1]).max() < 5
    simulator = nhmech.Simulator(damped, dt=20 * RK4_LIMIT / rate, on_lift="ignore")
    simulator.reset(xi={JOINTS[0]: 1.0, JOINTS[1]: -1.0})
    with pytest.raises(SimulationError, match="die out at .* for which rk4 needs dt below .*take "
                                              "a smaller dt, lock these joints"):
        simulator.run(500 * simulator.dt)


def test_it_is_said_when_the_usual_step_is_too_long(damped):
    texts = [notice.text for notice in damped.notices if notice.kind is NoticeKind.STIFFNESS]
    assert (describe_stiffness(damped, 1e-3) in texts) == (
        fastest_decay(damped)[0] * 1e-3 > 0.9 * RK4_LIMIT
    )
    stiff = damped.with_parameters({f"{name}.damping": 4000.0 for name in JOINTS})
    assert any("for which rk4 needs dt below" in notice.text for notice in stiff.notices)
    assert not any("rk4" in notice.text for notice in shipped("differential_drive").notices)


@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_a_joint_that_moves_no_mass_is_named(damping):
    """Free, with nothing on it: no acceleration can be told, whatever its damping."""
    body = link("base", 8.0) + link("l") + link("r") + '<link name="flap"/>'
    joints = (joint("left", "base", "l", (0, 0.2, 0)) + joint("right", "base", "r", (0, -0.2, 0))
              + joint("flap_joint", "base", "flap", (0, 0, 0.3),
                      more=f'<dynamics damping="{damping}"/>'))
    wheels = [nhmech.Wheel("left", "disc", 0.1, driven=True),
              nhmech.Wheel("right", "disc", 0.1, driven=True),
              nhmech.Wheel(None, "caster_ball", 0.05, link="base", point=(-0.25, 0.0, -0.05))]
    with pytest.raises(nhmech.ModelError, match="flap_joint can move without moving any mass"):
        nhmech.load(robot(body, joints), wheels=wheels, free=["flap_joint"])
    # what `load` refuses can still be built, or come up on the way
    vehicle = build(describe(robot(body, joints), wheels=wheels, free=["flap_joint"]),
                    nhmech.Ground())
    with pytest.raises(nhmech.ModelError,
                       match="flap_joint can move without moving any mass.*<inertial>"):
        fastest_decay(vehicle)
    assert any(notice.text.startswith("flap_joint can move") for notice in vehicle.notices)
    for integrator in ("rk4", "dop853"):
        with pytest.raises(nhmech.ModelError,
                           match="flap_joint can move without moving any mass"):
            nhmech.Simulator(vehicle, integrator=integrator)


@pytest.mark.parametrize("mode, integrator, told",
                         [("dynamic", "rk4", True), ("dynamic", "dop853", False),
                                                    ("kinematic", "rk4", False)])
def test_the_limit_of_a_step_is_told_where_it_is_one(damped, mode, integrator, told):
    """It is rk4's alone, and none where speeds are commanded."""
    simulator = nhmech.Simulator(damped, integrator=integrator, mode=mode)
    simulator.reset()
    long = 20 * RK4_LIMIT / fastest_decay(damped)[0]
    moment = simulator.moment
    step = Step(moment.x, moment.q, moment.v, moment.health, Status.NOT_FINITE, long)
    why = explain_failure(simulator.simulated, simulator.atlas, moment, long, step)
    assert ("for which rk4 needs dt below" in why) is told
    assert ("Try a smaller dt" in why) is not told


def test_only_that_is_made_a_remedy(damped, monkeypatch):
    """What goes wrong on the way there is no advice on damping."""
    def nowhere(*_):
        raise nhmech.ModelError("the zero pose cannot be placed")

    monkeypatch.setattr(type(damped), "configuration", nowhere)
    with pytest.raises(nhmech.ModelError, match="zero pose cannot be placed"):
        describe_stiffness(damped, 1e-3)
