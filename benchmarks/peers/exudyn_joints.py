"""Exudyn: rolling by its own rolling-disc joints, all steps in one call of its solver, which asks a
controller before each of them."""

from __future__ import annotations

import sys

sys.exudynFast = True      # its build without range checks; must be said before the import

import exudyn as exu
import exudyn.itemInterface as eii
import numpy as np
from common.motions import GRAVITY
from common.timing import Spent
from exudyn.rigidBodyUtilities import RigidBodyInertia

ABOUT = {
    "differential_drive": "kinematic tree x, y, yaw, 2 wheels; rolling-disc joints less one row; "
                          "generalised alpha",
    "disc": "one body with Euler parameters, rolling-disc joint; generalised alpha"}
USUAL = dict(spectral=1.0, index=2, modified=True, jacobian_each_step=False, tolerance=1e-8,
             linear="EXUdense")
COARSE = [dict(tolerance=1e-4), dict(tolerance=1e-4, jacobian_each_step=True),
          dict(tolerance=1e-4, modified=False),
          dict(tolerance=1e-4, spectral=0.9), dict(tolerance=1e-4, spectral=0.9, index=3),
          dict(tolerance=1e-4, spectral=0.9, index=3, modified=False)]
TRIED = dict.fromkeys(("differential_drive", "disc"),
                      [{}, *COARSE, dict(jacobian_each_step=True), dict(linear="EigenDense")])


def run(motion, dt: float, duration: float, control=None,
        **settings) -> tuple[np.ndarray, Spent]:
    given = {**USUAL, **settings}
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddMarker(eii.MarkerBodyRigid(bodyNumber=mbs.AddObject(eii.ObjectGround())))
    place, press = {"differential_drive": _drive, "disc": _disc}[motion.robot](motion, mbs, ground)
    if control is not None:
        mbs.SetPreStepUserFunction(lambda _, t: press(control(t)))
    mbs.Assemble()
    solver = exu.SimulationSettings()
    integration = solver.timeIntegration
    integration.numberOfSteps, integration.endTime = round(duration / dt), duration
    integration.generalizedAlpha.spectralRadius = given["spectral"]
    integration.generalizedAlpha.useIndex2Constraints = integration.generalizedAlpha.useNewmark = (
        given["index"] == 2
    )
    integration.newton.useModifiedNewton = given["modified"]
    integration.newton.modifiedNewtonJacUpdatePerStep = given["jacobian_each_step"]
    integration.newton.relativeTolerance = given["tolerance"]
    solver.linearSolverType = getattr(exu.LinearSolverType, given["linear"])
    integration.verboseMode = 0
    solver.solutionSettings.writeSolutionToFile = False
    solver.solutionSettings.sensorsWritePeriod = duration
    solver.displayStatistics = solver.displayComputationTime = False
    with Spent() as took:
        mbs.SolveDynamic(solver)
    return place(), took


def _drive(motion, mbs, ground):
    m, inertia = motion.mass, np.diag(motion.inertia)
    wheel = np.diag([motion.wheel_inertia, motion.spin_inertia, motion.wheel_inertia])
    node = mbs.AddNode(eii.NodeGenericODE2(referenceCoordinates=[0] * 5, initialCoordinates=[0] * 5,
                                           initialCoordinates_t=[0] * 5,
                                           numberOfODE2Coordinates=5))
    joint, b, none = exu.JointType, motion.half_track, np.zeros((3, 3))
    tree = mbs.AddObject(
        eii.ObjectKinematicTree(
            nodeNumber=node,
            gravity=[0, 0, -GRAVITY],
            jointTypes=[joint.PrismaticX, joint.PrismaticY, joint.RevoluteZ, joint.RevoluteY,
                        joint.RevoluteY],
            linkParents=[-1, 0, 1, 2, 2],
            jointTransformations=exu.Matrix3DList([np.eye(3)] * 5),
            jointOffsets=exu.Vector3DList(
                [[0, 0, motion.radius], [0, 0, 0], [0, 0, 0], [0, b, 0], [0, -b, 0]]
            ),
            linkInertiasCOM=exu.Matrix3DList([none, none, inertia, wheel, wheel]),
            linkCOMs=exu.Vector3DList(
                [[0, 0, 0], [0, 0, 0], [motion.ahead, 0, motion.above], [0, 0, 0], [0, 0, 0]]
            ),
            linkMasses=[0, 0, m, motion.wheel_mass, motion.wheel_mass],
            jointForceVector=[0, 0, 0, *motion.torques],
        )
    )
    for link, axes in ((3, [1, 1, 0]), (4, [0, 1, 0])):      # the lateral row is there already
        marker = mbs.AddMarker(eii.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=link,
                                                            localPosition=[0, 0, 0]))
        mbs.AddObject(eii.ObjectJointRollingDisc(markerNumbers=[ground, marker],
                                                 constrainedAxes=axes,
                                                 discRadius=motion.radius, discAxis=[0, 1, 0]))

    def place():
        x, y = mbs.GetNodeOutput(node, exu.OutputVariableType.Coordinates)[:2]
        return np.array([x, y, motion.radius])

    def press(torques) -> bool:
        mbs.SetObjectParameter(tree, "jointForceVector", [0, 0, 0, *torques])
        return True

    return place, press


def _disc(motion, mbs, ground):
    velocity, omega = motion.twist_W
    inertia = RigidBodyInertia(mass=motion.mass,
                               inertiaTensor=np.diag([motion.across, motion.along, motion.across]))
    body = mbs.CreateRigidBody(referencePosition=motion.place(motion.start),
                               referenceRotationMatrix=motion.attitude, initialVelocity=velocity,
                               initialAngularVelocity=omega, inertia=inertia,
                               gravity=[0, 0, -GRAVITY],
                               nodeType=exu.NodeType.RotationEulerParameters)
    marker = mbs.AddMarker(eii.MarkerBodyRigid(bodyNumber=body, localPosition=[0, 0, 0]))
    mbs.AddObject(eii.ObjectJointRollingDisc(markerNumbers=[ground, marker],
                                             constrainedAxes=[1, 1, 1],
                                             discRadius=motion.radius, discAxis=[0, 1, 0]))
    return lambda: np.array(
        mbs.GetObjectOutputBody(body, exu.OutputVariableType.Position, [0, 0, 0])
    ), None
