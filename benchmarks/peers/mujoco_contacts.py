"""MuJoCo: rolling by stiff contacts, all steps in one call of `mj_step`; with a controller, one
step in each."""

from __future__ import annotations

import mujoco
import numpy as np
from common.timing import Spent

SPHERES = """
<mujoco><option timestep="{dt}" cone="{cone}" impratio="{impratio}" integrator="{integrator}"
solver="{solver}" iterations="{iterations}" noslip_iterations="{noslip}">
<flag island="{island}"/></option>
<default><geom solref="{time} 1" solimp="{imp} {imp} 0.0001" friction="2 0 0"/></default>
<worldbody><geom name="ground" type="plane" size="50 50 1" condim="3"/>
<body pos="0 0 0.1"><freejoint/><inertial pos="0.06 0 0.05" mass="8" diaginertia="0.12 0.15 0.2"/>
<geom name="caster" type="sphere" size="0.03" pos="0.25 0 -0.07" condim="1" friction="0 0 0"
priority="1"/>
<body pos="0 0.22 0"><joint name="left" type="hinge" axis="0 1 0"/>
<inertial pos="0 0 0" mass="0.7" diaginertia="0.002 0.0035 0.002"/>
<geom type="sphere" size="0.1"/></body>
<body pos="0 -0.22 0"><joint name="right" type="hinge" axis="0 1 0"/>
<inertial pos="0 0 0" mass="0.7" diaginertia="0.002 0.0035 0.002"/>
<geom type="sphere" size="0.1"/></body></body></worldbody></mujoco>"""

EDGE = """
<mujoco><option timestep="{dt}" cone="{cone}" impratio="{impratio}" integrator="{integrator}"
solver="{solver}" iterations="{iterations}" noslip_iterations="{noslip}">
<flag island="{island}"/></option>
<default><geom solref="{time} 1" solimp="{imp} {imp} 0.0001" friction="2 0 0"/></default>
<worldbody><geom name="ground" type="plane" size="50 50 1" condim="3"/>
<body><freejoint/><inertial pos="0 0 0" mass="2" diaginertia="0.045 0.09 0.045"/>
<geom type="ellipsoid" size="0.3 0.0001 0.3"/></body></worldbody></mujoco>"""

ABOUT = {"differential_drive": "sphere wheels, sphere caster without friction",
         "disc": "ellipsoid of half-width 0.1 mm"}
USUAL = dict(cone="elliptic", integrator="implicitfast", imp=0.99, stiff=2, impratio=1,
             solver="Newton", iterations=100, noslip=0, island="disable")
PYRAMID = dict(cone="pyramidal", integrator="Euler", imp=0.9999)
TRIED = {"differential_drive": [PYRAMID, {}, PYRAMID | dict(iterations=3), PYRAMID | dict(noslip=3),
                                PYRAMID | dict(imp=0.9, impratio=100),
                                PYRAMID | dict(island="enable"),
                                dict(integrator="Euler", imp=0.9, impratio=1000),
                                dict(integrator="RK4")],
         "disc": [dict(integrator="RK4"), dict(integrator="RK4", imp=0.9, impratio=100),
                  PYRAMID | dict(integrator="RK4"),
                  PYRAMID | dict(integrator="RK4", imp=0.9, impratio=100), {}]}


def model(motion, dt: float, **settings) -> mujoco.MjModel:
    """stiff  the time constant of contacts in steps"""
    given = {**USUAL, **settings}
    text = {"differential_drive": SPHERES, "disc": EDGE}[motion.robot]
    return mujoco.MjModel.from_xml_string(text.format(dt=dt, time=given["stiff"] * dt, **given))


def run(motion, dt: float, duration: float, control=None,
        **settings) -> tuple[np.ndarray, Spent]:
    made = model(motion, dt, **settings)
    data = mujoco.MjData(made)
    if motion.robot == "differential_drive":
        data.qfrc_applied[6:] = motion.torques
    else:
        velocity, omega = motion.twist_W
        data.qpos[:3] = motion.place(motion.start)
        mujoco.mju_mat2Quat(data.qpos[3:7], motion.attitude.ravel())
        data.qvel[:3], data.qvel[3:] = velocity, motion.attitude.T @ omega
    steps, push, step = round(duration / dt), data.qfrc_applied[6:], mujoco.mj_step
    with Spent() as took:
        if control is None:
            step(made, data, nstep=steps)
        else:
            for _ in range(steps):
                push[:] = control(data.time)
                step(made, data)
    return data.qpos[:3].copy(), took
