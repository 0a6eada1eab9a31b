"""Two-wheeled inverted pendulum in three dimensions: it drives, turns and balances."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import imbalance
from ._planar import base, wheels, with_joints
from .example import Check, Example
from .shapes import ORANGE, Shape, pose

# Y. Yamamoto's NXTway-GS without its motors: body mass, height of its centre of mass above the
# axle, inertias about it
# (roll, pitch, yaw); wheels: radius, half of the track, mass, inertias about the axle and a
# diameter, of the motor's
# rotor seen at the wheel [kg, m, kg m^2]
NUMBERS = dict(mass=0.6, above=0.072, roll_inertia=0.001, pitch_inertia=0.0010368,
               yaw_inertia=0.00106,
               radius=0.04, half_track=0.07, wheel_mass=0.03, spin_inertia=2.4e-5,
               wheel_inertia=1.2e-5, rotor_inertia=0.0, gravity=9.81)


def example(**parameters: float) -> Example:
    """Body pitched by `pitch` (forward positive), wheels turned by `left`, `right` relative to it.
    u = torques on the wheels [N m].

    With b the pitch, V = forward_speed and W = yaw_rate of the axle's middle, v and o velocity of
    the centre of mass and rate of the body::

        v = (V + l b' cos b, lateral + l W sin b, -l b' sin b)
        o = (-W sin b, b', W cos b) in the body
        rows: lateral = 0,   V - d W = R (left' + b'),   V + d W = R (right' + b')

    On them, by momenta along the track, about the vertical and about the axle,
    with the cart's mass c = 2 m_w + 2 I_w / R^2::

        d/dt((m + c) V + m l b' cos b) = m l W^2 sin b + (tau_l + tau_r) / R,
        d/dt((J_w + (m l^2 + I_roll) sin^2 b + I_yaw cos^2 b) W)
            = -m l V W sin b + d (tau_r - tau_l) / R,   J_w = 2 I_d + c d^2,
        d/dt(m l V cos b + (I_pitch + m l^2) b') = m g l sin b - m l V b' sin b
            + (m l^2 + I_roll - I_yaw) W^2 sin b cos b - tau_l - tau_r.
    """
    numbers = {**NUMBERS, **parameters}
    robot = lagrangian_system(with_joints("pitch", "left", "right"),
                              lambda s: _kinetic(s) - s.p.mass * s.p.gravity * _height(s),
                              parameters=tuple(NUMBERS), inputs=("left", "right"),
                              force=lambda s: vars(s.u))
    rng = np.random.default_rng(0)
    samples = np.column_stack([rng.normal(size=(8, 3)), rng.uniform(-1, 1, 8),
                               rng.normal(size=(8, 2))])
    constrained = constrain(robot, numbers, samples=samples, rows={
        "lateral": lambda s: s.v.lateral_speed,
        "left": lambda s: base(s).at(0, s.p.half_track).forward
        - s.p.radius * (s.v.left + s.v.pitch),
        "right": lambda s: base(s).at(0, -s.p.half_track).forward
        - s.p.radius * (s.v.right + s.v.pitch)})
    checks = [Check("power of the motors is the rate of energy", "d'Alembert", 1e-10,
                    lambda: imbalance(made, _energy, _power))]
    if not numbers["rotor_inertia"]:
        checks.append(Check("momentum equations", "in the docstring", 1e-10,
                            lambda: imbalance(made, _momenta, _forces)))
    made = Example("two_wheeled_pendulum", "Two-wheeled inverted pendulum",
                   "Y. Yamamoto, NXTway-GS (2008); Pathak, Franch, Agrawal 2005",
                   constrained, {"q": (0.0, 0.0, 0.3, 0.05, 0.0, 0.0), "xi": (0.2, 0.8, -0.1)},
                   tuple(checks),
                   speeds=("forward_speed", "yaw_rate", "pitch"), shapes=_shapes(numbers))
    return made


def _height(s: Symbols) -> ca.SX:
    """Of the body's centre of mass above the axle [m]."""
    return s.p.above * ca.cos(s.q.pitch)


def _kinetic(s: Symbols) -> ca.SX:
    p, v, axle, c, sn = s.p, s.v, base(s), ca.cos(s.q.pitch), ca.sin(s.q.pitch)
    com = axle.at(p.above * sn)
    translation = (com.forward
                   + p.above * v.pitch * c) ** 2 + com.lateral ** 2 + (p.above * v.pitch * sn) ** 2
    rotation = (p.roll_inertia * (v.yaw_rate * sn) ** 2 + p.pitch_inertia * v.pitch ** 2
                + p.yaw_inertia * (v.yaw_rate * c) ** 2)
    turning = sum(axle.at(0, side * p.half_track).energy(p.wheel_mass, p.wheel_inertia)
                  for side in (1, -1))
    spinning = sum(p.spin_inertia * (rate + v.pitch) ** 2 / 2 + p.rotor_inertia * rate ** 2 / 2
                   for rate in (v.left, v.right))
    return (p.mass * translation + rotation) / 2 + turning + spinning


def _energy(s: Symbols) -> ca.SX:
    return _kinetic(s) + s.p.mass * s.p.gravity * _height(s)


def _power(s: Symbols) -> ca.SX:
    return s.u.left * s.v.left + s.u.right * s.v.right


def _momenta(s: Symbols) -> ca.SX:
    """Along the track, about the vertical, about the axle."""
    p, v, c, sn = s.p, s.v, ca.cos(s.q.pitch), ca.sin(s.q.pitch)
    cart, arm = 2 * p.wheel_mass + 2 * p.spin_inertia / p.radius ** 2, p.mass * p.above
    upright = (2 * p.wheel_inertia + cart * p.half_track ** 2
               + (arm * p.above + p.roll_inertia) * sn ** 2
               + p.yaw_inertia * c ** 2)
    return ca.vertcat((p.mass + cart) * v.forward_speed + arm * c * v.pitch, upright * v.yaw_rate,
                      arm * c * v.forward_speed + (p.pitch_inertia + arm * p.above) * v.pitch)


def _forces(s: Symbols) -> ca.SX:
    """Torques, gravity, and the inertia of a body that leans in a turning frame."""
    p, v, c, sn = s.p, s.v, ca.cos(s.q.pitch), ca.sin(s.q.pitch)
    arm, torque = p.mass * p.above * sn, s.u.left + s.u.right
    gyration = p.mass * p.above ** 2 + p.roll_inertia - p.yaw_inertia
    return ca.vertcat(arm * v.yaw_rate ** 2 + torque / p.radius,
                      p.half_track * (s.u.right - s.u.left) / p.radius
                      - arm * v.forward_speed * v.yaw_rate, arm * (p.gravity
                             - v.forward_speed * v.pitch) + gyration * v.yaw_rate ** 2 * sn * c
                      - torque)


def _shapes(p: dict) -> tuple:
    def leaning(q):
        return pose((q[0], q[1], p["radius"]), q[2], pitch=q[3]) @ pose((0, 0, p["above"]))

    body = Shape("box", (0.5 * p["above"], 1.4 * p["half_track"], 2 * p["above"]), leaning, ORANGE)
    return (*wheels(lambda q: q[:3], 0.0, p["half_track"], p["radius"]), body)
