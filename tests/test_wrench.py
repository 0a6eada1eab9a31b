"""External wrenches: generalised forces are J^T f, with J of the link's origin from Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from runs import rotation
from support import joint, link, random_states, robot, shipped, velocity

import nhmech
from nhmech.vehicle.reactions import reactions

# a wheel that carries a massless tag off its axle, on a base with two balls
TAGGED = robot(link("base", 7.0, (0.3, 0.4, 0.5)), link("wheel", 1.5, (0.02, 0.04, 0.02)),
               joint("wheel_joint", "base", "wheel"),
               *(f'<link name="{name}"/>' for name in ("left_ball", "right_ball", "tag")),
               joint("tag_mount", "wheel", "tag", xyz=(0.1, 0.02, 0.05), kind="fixed"),
               joint("left_mount", "base", "left_ball", xyz=(0.4, 0.3, -0.2), kind="fixed"),
               joint("right_mount", "base", "right_ball", xyz=(0.4, -0.3, -0.2), kind="fixed"))
WHEELS = [nhmech.Wheel("wheel_joint", "disc", 0.25),
          *(nhmech.Wheel(None, "caster_ball", 0.05, link=name, point=(0, 0, 0))
            for name in ("left_ball", "right_ball"))]


def vehicles():
    yield nhmech.load(TAGGED, wheels=WHEELS), ("base", "wheel", "tag", "left_ball")
    yield shipped("bicycle"), ("rear_frame", "front_frame", "rear_wheel", "front_wheel")
    yield shipped("trailers"), ("base_link", "trailer_1", "trailer_2", "trailer_2_left_wheel",
                                "front_left_knuckle")
    yield shipped("ball"), ("ball",)
    yield shipped("disc"), ("lean_frame", "disc")


@pytest.mark.parametrize("index", range(5))
def test_generalised_force_and_energy_of_a_wrench(index):
    vehicle, links = list(vehicles())[index]
    nu = len(vehicle.driven)
    for name in links:
        pushed = vehicle.with_wrench(name)
        parts = tuple(f"{name}.{part}" for part in ("fx", "fy", "fz", "tx", "ty", "tz"))
        assert pushed.constrained.system.u_names[nu:] == parts
        for serving, q, xi, u in random_states(pushed, 3, seed=6):
            f = u[nu:]
            data = serving.model.createData()
            J = pin.computeFrameJacobian(serving.model, data, q, serving.model.getFrameId(name),
                                         pin.LOCAL_WORLD_ALIGNED)
            v = velocity(serving, 0.0, q, xi)
            with_it, without = (
                serving.functions.force(0, q, v, np.r_[u[:nu], s * f], []).full().ravel()
                for s in (1, 0)
            )
            np.testing.assert_allclose(with_it - without, J.T @ f, rtol=0,
                                       atol=1e-12 * np.abs(f).max(), err_msg=name)


def test_a_push_through_the_step_loop_does_the_work_it_should():
    """A constant force at the end of a drawbar of the tractor, in W:
    the energy gained is force times the way of that point."""
    vehicle = shipped("trailers")
    force = np.array([40.0, 15.0, 0.0])
    simulator = nhmech.Simulator(vehicle, dt=2e-3,
                                 wrench={"trailer_1": lambda t, state: np.r_[force, 0, 0, 0]})
    simulator.reset((0, 0, 0.3), {"hitch_1_joint": 0.1},
                    {"rear_left_wheel_joint": 2.0, "front_left_steering_joint": 0.0})
    run = simulator.run(3.0, every=10)
    # the first hitch is at the base's origin
    way = run.q[:, :3] - run.q[0, :3]
    np.testing.assert_allclose(run.energy - run.energy[0], way @ force, rtol=0,
                               atol=1e-10 * np.abs(run.energy).max())
    assert np.abs(way @ force).max() > 10


def test_a_wrench_takes_its_share_of_the_weight():
    """A ball of which a quarter of the weight is held presses with the rest."""
    vehicle = shipped("ball").with_wrench("ball")
    q = vehicle.configuration()
    forces = reactions(vehicle, 0.0, q, np.zeros(6), np.array([0.0, 0, 0.25 * 0.5 * 9.81, 0, 0, 0]))
    np.testing.assert_allclose(rotation(q) @ forces.world["ball"], [0, 0, 0.75 * 0.5 * 9.81],
                               rtol=0, atol=1e-12)


def test_what_of_the_forces_is_undetermined_is_named_and_shared_out_evenly():
    """Two wheels on one axle hold sideways together; a caster ball and the other forces stand."""
    vehicle = shipped("differential_drive").with_wrench("base_link")
    sideways = np.array([0.0, 0.0, 0.0, 3.0, 0.0, 0, 0, 0])
    found = reactions(vehicle, 0.0, vehicle.configuration(), np.zeros(vehicle.model.nv), sideways)
    left, right = "left_wheel_joint", "right_wheel_joint"
    assert found.undetermined == (f"{left}/lateral", f"{right}/lateral")
    laterals = [found.components[wheel]["lateral"] for wheel in (left, right)]
    assert laterals == pytest.approx([-1.5, -1.5], rel=1e-9)
