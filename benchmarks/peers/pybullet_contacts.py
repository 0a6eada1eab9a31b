"""PyBullet: rolling by contacts, Python calling `stepSimulation`.

A disc's edge on a plane is no strength of its cylinders, whatever their length (0.2 to 20 mm were
tried) and margin.
"""

from __future__ import annotations

import os
import tempfile

import numpy as np
import pybullet
from common.motions import GRAVITY
from common.timing import Spent

ABOUT = {"differential_drive": "sphere wheels, no damping, Featherstone multibody",
         "disc": "thin cylinder, no damping, rigid body"}
USUAL = dict(iterations=50, substeps=1, solver="default", erp=0.2, split=False, friction=2.0)
TRIED = {"differential_drive": [dict(substeps=10), {}, dict(substeps=10, iterations=10),
                                dict(substeps=10, solver="Dantzig"), dict(substeps=10, erp=0.8)],
         "disc": [dict(substeps=10), dict(substeps=10, solver="Dantzig"),
                  dict(substeps=10, friction=10.0)]}

WHEEL = """<link name="{name}"><inertial><mass value="0.7"/>
<inertia ixx="0.002" iyy="0.0035" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="{name}" type="continuous"><parent link="base"/><child link="{name}"/>
<origin xyz="0 {side} 0"/><axis xyz="0 1 0"/></joint>"""
DRIVE = """<robot name="drive"><link name="base">
<inertial><origin xyz="0.06 0 0.05"/><mass value="8"/>
<inertia ixx="0.12" iyy="0.15" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="caster"><inertial><mass value="1e-6"/>
<inertia ixx="1e-9" iyy="1e-9" izz="1e-9" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.03"/></geometry></collision></link>
<joint name="caster" type="fixed"><parent link="base"/><child link="caster"/>
<origin xyz="0.25 0 -0.07"/></joint>"""
DRIVE += WHEEL.format(name="left", side=0.22) + WHEEL.format(name="right", side=-0.22) + "</robot>"
DISC = """<robot name="disc"><link name="disc"><inertial><mass value="2"/>
<inertia ixx="0.045" iyy="0.09" izz="0.045" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin rpy="1.5707963267948966 0 0"/>
<geometry><cylinder radius="0.3" length="0.0002"/></geometry></collision></link></robot>"""


def run(motion, dt: float, duration: float, control=None,
        **settings) -> tuple[np.ndarray, Spent]:
    client = pybullet.connect(pybullet.DIRECT)
    try:
        given = USUAL | settings | ({} if control is None else {"substeps": 1})
        return _run(motion, dt, duration, control or (lambda t: motion.torques), given)
    finally:
        pybullet.disconnect(client)


def _run(motion, dt: float, duration: float, control, given: dict) -> tuple[np.ndarray, Spent]:
    """substeps  steps in one call of `stepSimulation`: PyBullet's own loop in C++"""
    p, drive, calls = (pybullet, motion.robot == "differential_drive",
                       max(1, round(duration / dt / given["substeps"])))
    p.setGravity(0, 0, -GRAVITY)
    p.setTimeStep(duration / calls)
    solvers = {"default": {}, "PGS": {"constraintSolverType": p.CONSTRAINT_SOLVER_LCP_PGS},
               "Dantzig": {"constraintSolverType": p.CONSTRAINT_SOLVER_LCP_DANTZIG}}
    p.setPhysicsEngineParameter(numSolverIterations=given["iterations"],
                                numSubSteps=given["substeps"] if given["substeps"] > 1 else 0,
                                contactERP=given["erp"],
                                useSplitImpulse=given["split"], deterministicOverlappingPairs=1,
                                **solvers[given["solver"]])
    plane = p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE))
    robot = _load(DRIVE if drive else DISC)
    for link in range(-1, p.getNumJoints(robot)):
        p.changeDynamics(robot, link, lateralFriction=given["friction"], linearDamping=0,
                         angularDamping=0,
                         jointDamping=0, rollingFriction=0, spinningFriction=0, restitution=0,
                         maxJointVelocity=1e4)
    p.changeDynamics(plane, -1, lateralFriction=1)
    if drive:
        joints = {p.getJointInfo(robot, j)[1].decode(): j for j in range(p.getNumJoints(robot))}
        wheels = [joints["left"], joints["right"]]
        p.changeDynamics(robot, joints["caster"], lateralFriction=0)
        p.changeDynamics(robot, -1, localInertiaDiagonal=motion.inertia)
        for joint in wheels:
            p.setJointMotorControl2(robot, joint, p.VELOCITY_CONTROL, force=0)
        offset = np.array([motion.ahead, 0, motion.above])
        p.resetBasePositionAndOrientation(robot, offset + [0, 0, motion.radius], [0, 0, 0, 1])
    else:
        velocity, omega = motion.twist_W
        p.resetBasePositionAndOrientation(robot, motion.place(motion.start),
                                          [np.sin(motion.lean / 2), 0, 0, np.cos(motion.lean / 2)])
        p.resetBaseVelocity(robot, velocity.tolist(), omega.tolist())
        offset = np.zeros(3)
    step, push, mode = p.stepSimulation, p.setJointMotorControlArray, p.TORQUE_CONTROL
    with Spent() as took:
        for k in range(calls):
            if drive:
                push(robot, wheels, mode, forces=control(k * dt))
            step()
    centre, attitude = p.getBasePositionAndOrientation(robot)
    return np.array(centre) - np.array(p.getMatrixFromQuaternion(attitude)).reshape(
        3, 3
    ) @ offset, took


def _load(text: str) -> int:
    with tempfile.NamedTemporaryFile("w", suffix=".urdf", delete=False) as file:
        file.write(text)
    try:
        return pybullet.loadURDF(file.name, flags=pybullet.URDF_USE_INERTIA_FROM_FILE)
    finally:
        os.unlink(file.name)
