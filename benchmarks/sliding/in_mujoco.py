"""MuJoCo: wheels that slide, as soft contacts with friction."""

from __future__ import annotations

import mujoco
import numpy as np
from common.timing import Spent

from .motion import Sliding

USUAL = dict(cone="elliptic", integrator="implicitfast", imp=0.99, time=None, impratio=1,
             noslip=0, slow=0, shape="sphere", condim=3, solver="Newton")


def _inertial(inertia) -> str:
    I = inertia.inertia
    parts = I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]
    return (f'<inertial pos="{" ".join(map(repr, map(float, inertia.lever)))}" '
            f'mass="{float(inertia.mass)!r}" '
            f'fullinertia="{" ".join(map(repr, map(float, parts)))}"/>')


def _at(place) -> str:
    return " ".join(repr(float(part)) for part in place)


def text(motion: Sliding, dt: float, given: dict) -> str:
    """The model; bodies that do not turn are part of the base."""
    R, half = motion.radius, given.get("half_width", 0.055)
    geom = {"sphere": f'type="sphere" size="{R}"',
            "cylinder": f'type="cylinder" size="{R} {half}" euler="90 0 0"',
            "ellipsoid": f'type="ellipsoid" size="{R} 1e-3 {R}"'}[given["shape"]]
    bodies = []
    for joint, place, inertia in motion.bodies[1:]:
        wheel = joint in motion.wheels
        hinge = ('<joint axis="0 1 0"/>' if wheel and not motion.locked else "")
        touch = f'<geom name="{joint}" {geom}/>' if wheel else ""
        bodies.append(f'<body pos="{_at(place)}">{hinge}{_inertial(inertia)}{touch}</body>')
    imp, time = given["imp"], given["time"] or 2 * dt
    slow = given["slow"] * time if given["slow"] else None
    pairs = "".join(f'<pair geom1="ground" geom2="{name}" condim="{given["condim"]}" '
                    f'friction="{motion.mu} {motion.mu} 0 0 0" solref="{time} 1" '
                    f'solimp="{imp} {imp} 0.0001" solreffriction="{slow} 1"/>'
                    for name in motion.wheels) if slow else ""
    return f"""<mujoco><compiler angle="degree" autolimits="false"/>
<option timestep="{dt}" cone="{given["cone"]}" impratio="{given["impratio"]}"
 integrator="{given["integrator"]}" solver="{given["solver"]}" iterations="200" tolerance="1e-12"
 noslip_iterations="{given["noslip"]}" gravity="0 0 -9.81"/>
<default><geom solref="{time} 1" solimp="{imp} {imp} 0.0001" friction="{motion.mu} 0.005 0.0001"
 condim="{given["condim"]}"/></default>
<worldbody><geom name="ground" type="plane" size="50 50 1"/>
<body pos="0 0 {motion.height!r}"><freejoint/>{_inertial(motion.bodies[0][2])}
{"".join(bodies)}</body></worldbody><contact>{pairs}</contact></mujoco>"""


def prepare(motion: Sliding, dt: float, **settings) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The model at its start."""
    made = mujoco.MjModel.from_xml_string(text(motion, dt, {**USUAL, **settings}))
    data = mujoco.MjData(made)
    vx, vy, yaw = motion.twist
    data.qvel[:6] = vx, vy, 0, 0, 0, yaw
    if not motion.locked:
        data.qvel[6:], data.qfrc_applied[6:] = motion.rates, motion.torques
    return made, data


def run(motion: Sliding, dt: float, **settings) -> tuple[np.ndarray, Spent]:
    """x, y, yaw at the end, and what the motion took."""
    made, data = prepare(motion, dt, **settings)
    with Spent() as took:
        mujoco.mj_step(made, data, nstep=round(motion.duration / dt))
    x, y, _, qw, _, _, qz = data.qpos[:7]
    return np.array([x, y, 2 * np.arctan2(qz, qw)]), took


def flights(motion: Sliding, dt: float, **settings) -> tuple[float, float]:
    """For which part of the motion no wheel touches the ground [%], and how high it rises [mm]."""
    made, data = prepare(motion, dt, **settings)
    count, flown, highest = round(motion.duration / dt), 0, 0.0
    for _ in range(count):
        mujoco.mj_step(made, data)
        flown += data.ncon == 0
        highest = max(highest, data.qpos[2] - motion.height)
    return 100 * flown / count, 1e3 * highest
