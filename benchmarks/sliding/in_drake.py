"""Drake: wheels that slide, as points of compliant contact with regularised friction."""

from __future__ import annotations

import numpy as np
from common.timing import Spent
from pydrake.all import (
    AddContactMaterial,
    AddMultibodyPlantSceneGraph,
    CoulombFriction,
    DiagramBuilder,
    DiscreteContactApproximation,
    FixedOffsetFrame,
    HalfSpace,
    ProximityProperties,
    RevoluteJoint,
    RigidTransform,
    RollPitchYaw,
    Simulator,
    SpatialInertia,
    SpatialVelocity,
    Sphere,
    UnitInertia,
    WeldJoint,
)

from .motion import Sliding

USUAL = dict(solver="kSap", stiffness=1e7, stiction=1e-4, dissipation=10.0)


def _spatial(inertia) -> SpatialInertia:
    I, m = inertia.inertia / inertia.mass, inertia.mass
    unit = UnitInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    return SpatialInertia(m, np.array(inertia.lever), unit.ShiftFromCenterOfMass(
        -np.array(inertia.lever)))


def run(motion: Sliding, dt: float, **settings) -> tuple[np.ndarray, Spent]:
    """x, y, yaw at the end, and what the motion took."""
    given = {**USUAL, **settings}
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, dt)
    plant.set_discrete_contact_approximation(
        getattr(DiscreteContactApproximation, given["solver"]))
    plant.set_stiction_tolerance(given["stiction"])

    def touch(body, shape, name):
        properties = ProximityProperties()
        AddContactMaterial(dissipation=given["dissipation"], point_stiffness=given["stiffness"],
                           friction=CoulombFriction(motion.mu, motion.mu), properties=properties)
        plant.RegisterCollisionGeometry(body, RigidTransform(), shape, name, properties)

    touch(plant.world_body(), HalfSpace(), "ground")
    base = plant.AddRigidBody("base", _spatial(motion.bodies[0][2]))
    joints = {}
    for joint, place, inertia in motion.bodies[1:]:
        body = plant.AddRigidBody(joint, _spatial(inertia))
        hub = plant.AddFrame(FixedOffsetFrame(f"{joint}_hub", base, RigidTransform(place)))
        if joint in motion.wheels:
            touch(body, Sphere(motion.radius), joint)
        if joint in motion.wheels and not motion.locked:
            joints[joint] = plant.AddJoint(RevoluteJoint(joint, hub, body.body_frame(), [0, 1, 0]))
            plant.AddJointActuator(joint, joints[joint])
        else:
            plant.AddJoint(WeldJoint(joint, hub, body.body_frame(), RigidTransform()))
    plant.Finalize()
    simulator = Simulator(builder.Build())
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    # it starts as deep as its weight presses it
    depth = motion.mass * 9.81 / 4 / (given["stiffness"] / 2)
    plant.SetFreeBodyPose(context, base, RigidTransform([0, 0, motion.height - depth]))
    vx, vy, yaw = motion.twist
    plant.SetFreeBodySpatialVelocity(context, base, SpatialVelocity([0, 0, yaw], [vx, vy, 0]))
    for joint, rate in zip(motion.wheels, motion.rates):
        if joint in joints:
            joints[joint].set_angular_rate(context, rate)
    if joints:
        torques = dict(zip(motion.wheels, motion.torques))
        plant.get_actuation_input_port().FixValue(context, np.array(
            [torques[name] for name in joints]))
    simulator.Initialize()
    with Spent() as took:
        simulator.AdvanceTo(motion.duration)
    pose = plant.EvalBodyPoseInWorld(context, base)
    yaw = RollPitchYaw(pose.rotation()).yaw_angle()
    return np.array([*pose.translation()[:2], yaw]), took
