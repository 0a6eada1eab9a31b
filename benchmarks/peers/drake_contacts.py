"""Drake: rolling by point contacts, of its discrete solvers or integrated continuously,
all steps in one call of `AdvanceTo`; with a controller, one step in each."""

from __future__ import annotations

import numpy as np
from common.timing import Spent
from pydrake.all import (
    AddContactMaterial,
    AddMultibodyPlantSceneGraph,
    CoulombFriction,
    DiagramBuilder,
    DiscreteContactApproximation,
    Ellipsoid,
    FixedOffsetFrame,
    HalfSpace,
    ProximityProperties,
    ResetIntegratorFromFlags,
    RevoluteJoint,
    RigidTransform,
    RotationalInertia,
    RotationMatrix,
    Simulator,
    SpatialInertia,
    SpatialVelocity,
    Sphere,
)

GRIP, SMOOTH = CoulombFriction(2.0, 2.0), CoulombFriction(0.0, 0.0)


ABOUT = {"differential_drive": "sphere wheels, point contact, friction 2",
         "disc": "ellipsoid of half-width 0.1 mm, point contact, friction 2"}
USUAL = dict(solver="kTamsi", stiffness=1e7, stiction=1e-3, dissipation=10.0)
COARSEST = 0.01      # [s] its solvers take minutes to fail with steps that are much longer
HARD = dict(stiffness=1e8, stiction=1e-4)
TRIED = {"differential_drive": [{}, dict(stiction=1e-4), dict(stiffness=1e8), dict(solver="kSap"),
                                dict(solver="kLagged"), dict(solver="radau3") | HARD],
         "disc": [{}, dict(solver="kSap"), dict(solver="kLagged"),
                  dict(solver="radau3", stiction=1e-4)]}


def run(motion, dt: float, duration: float, control=None,
        **settings) -> tuple[np.ndarray, Spent]:
    """solver  of the discrete plant, or an integrator of the continuous one with fixed steps"""
    given = {**USUAL, **settings}
    discrete, stiffness = given["solver"].startswith("k"), given["stiffness"]
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, dt if discrete else 0.0)
    if discrete:
        plant.set_discrete_contact_approximation(
            getattr(DiscreteContactApproximation, given["solver"])
        )
    plant.set_stiction_tolerance(given["stiction"])
    _touch(plant, plant.world_body(), HalfSpace(), GRIP, stiffness, "ground")
    body = {"differential_drive": _drive, "disc": _disc}[motion.robot](motion, plant, stiffness)
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    if motion.robot == "differential_drive":
        plant.SetFreeBodyPose(context, body, RigidTransform([0, 0, motion.radius]))
        torques = plant.get_actuation_input_port().FixValue(context, np.array(motion.torques))
    else:
        velocity, omega = motion.twist_W
        plant.SetFreeBodyPose(context, body, RigidTransform(RotationMatrix(motion.attitude),
                                                            motion.place(motion.start)))
        plant.SetFreeBodySpatialVelocity(context, body, SpatialVelocity(omega, velocity))
    if not discrete:
        ResetIntegratorFromFlags(simulator, given["solver"], dt)
        simulator.get_mutable_integrator().set_fixed_step_mode(True)
    simulator.Initialize()
    with Spent() as took:
        if control is None:
            simulator.AdvanceTo(duration)
        else:
            for k in range(round(duration / dt)):
                torques.GetMutableData().get_mutable_value().SetFromVector(control(k * dt))
                simulator.AdvanceTo((k + 1) * dt)
    return plant.EvalBodyPoseInWorld(context, body).translation().copy(), took


def _touch(plant, body, shape, friction, stiffness, name, place=(0, 0, 0)) -> None:
    properties = ProximityProperties()
    AddContactMaterial(dissipation=10.0, point_stiffness=stiffness, friction=friction,
                       properties=properties)
    plant.RegisterCollisionGeometry(body, RigidTransform(place), shape, name, properties)


def _inertia(mass: float, centre, moments) -> SpatialInertia:
    return SpatialInertia.MakeFromCentralInertia(mass, np.array(centre, dtype=float),
                                                 RotationalInertia(*moments))


def _drive(motion, plant, stiffness):
    base = plant.AddRigidBody("base", _inertia(motion.mass, (motion.ahead, 0, motion.above),
                                               motion.inertia))
    _touch(plant, base, Sphere(motion.caster_radius), SMOOTH, stiffness, "caster",
           (motion.caster, 0, motion.caster_radius - motion.radius))
    for name, side in (("left", 1), ("right", -1)):
        wheel = plant.AddRigidBody(name, _inertia(motion.wheel_mass, (0, 0, 0),
                                                  (motion.wheel_inertia, motion.spin_inertia,
                                                   motion.wheel_inertia)))
        _touch(plant, wheel, Sphere(motion.radius), GRIP, stiffness, name)
        hub = plant.AddFrame(FixedOffsetFrame(f"{name}_hub", base,
                                              RigidTransform([0, side * motion.half_track, 0])))
        joint = plant.AddJoint(RevoluteJoint(name, hub, wheel.body_frame(), [0, 1, 0]))
        plant.AddJointActuator(name, joint)
    return base


def _disc(motion, plant, stiffness):
    disc = plant.AddRigidBody("disc", _inertia(motion.mass, (0, 0, 0),
                                               (motion.across, motion.along, motion.across)))
    _touch(plant, disc, Ellipsoid(motion.radius, 1e-4, motion.radius), GRIP, stiffness, "rim")
    return disc
