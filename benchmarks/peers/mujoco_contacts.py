"""MuJoCo: rolling by stiff contacts, all steps in one call of `mj_step`."""

from __future__ import annotations

from time import perf_counter

import mujoco
import numpy as np

CHOSEN = {"differential_drive": "sphere wheels, elliptic cone, implicitfast, solref 2 dt, Newton",
          "disc": "ellipsoid of half-width 0.1 mm, elliptic cone, RK4, solref 2 dt, Newton"}

SPHERES = """
<mujoco><option timestep="{dt}" cone="elliptic" impratio="{impratio}" integrator="{integrator}" solver="Newton"/>
<default><geom solref="{time} 1" solimp="{imp} {imp} 0.0001" friction="2 0 0"/></default>
<worldbody><geom name="ground" type="plane" size="50 50 1" condim="3"/>
<body pos="0 0 0.1"><freejoint/><inertial pos="0.06 0 0.05" mass="8" diaginertia="0.12 0.15 0.2"/>
<geom name="caster" type="sphere" size="0.03" pos="0.25 0 -0.07" condim="1" friction="0 0 0" priority="1"/>
<body pos="0 0.22 0"><joint name="left" type="hinge" axis="0 1 0"/><inertial pos="0 0 0" mass="0.7" diaginertia="0.002 0.0035 0.002"/>
<geom type="sphere" size="0.1"/></body>
<body pos="0 -0.22 0"><joint name="right" type="hinge" axis="0 1 0"/><inertial pos="0 0 0" mass="0.7" diaginertia="0.002 0.0035 0.002"/>
<geom type="sphere" size="0.1"/></body></body></worldbody></mujoco>"""

EDGE = """
<mujoco><option timestep="{dt}" cone="elliptic" impratio="{impratio}" integrator="{integrator}" solver="Newton"/>
<default><geom solref="{time} 1" solimp="{imp} {imp} 0.0001" friction="2 0 0"/></default>
<worldbody><geom name="ground" type="plane" size="50 50 1" condim="3"/>
<body><freejoint/><inertial pos="0 0 0" mass="2" diaginertia="0.045 0.09 0.045"/>
<geom type="ellipsoid" size="0.3 0.0001 0.3"/></body></worldbody></mujoco>"""

BEST = {"differential_drive": dict(impratio=1, imp=0.99, integrator="implicitfast"), "disc": dict(impratio=1, imp=0.99, integrator="RK4")}


def run(motion, dt: float, duration: float, **settings) -> tuple[np.ndarray, float]:
    text = {"differential_drive": SPHERES, "disc": EDGE}[motion.name]
    model = mujoco.MjModel.from_xml_string(text.format(**{**BEST[motion.name], "dt": dt, "time": 2 * dt, **settings}))
    data = mujoco.MjData(model)
    if motion.name == "differential_drive":
        data.qfrc_applied[6:] = motion.torques
    else:
        velocity, omega = motion.twist_W
        data.qpos[:3] = motion.place(motion.start)
        mujoco.mju_mat2Quat(data.qpos[3:7], motion.attitude.ravel())
        data.qvel[:3], data.qvel[3:] = velocity, motion.attitude.T @ omega
    begin = perf_counter()
    mujoco.mj_step(model, data, nstep=round(duration / dt))
    seconds = perf_counter() - begin
    return data.qpos[:3].copy(), seconds
