"""Differential drive: two driven wheels on one axle, centre of mass ahead of it."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import imbalance
from ._planar import base, deck, wheels, with_joints
from .example import Check, Example, largest, solve

# chassis: mass, centre of mass ahead of the axle, inertia about the vertical through it; wheels:
# radius, half of the track, mass, inertia about the axle (spin) and about a diameter [kg, m, kg
# m^2]
NUMBERS = dict(mass=8.0, ahead=0.06, inertia=0.2, radius=0.1, half_track=0.22, wheel_mass=0.7,
               spin_inertia=0.0035, wheel_inertia=0.002)


def example(**parameters: float) -> Example:
    """T = chassis and two wheels; rows: no lateral motion of the axle, both wheels roll.
    u = torques on the wheels [N m].

    With V = forward_speed and W = yaw_rate of the middle of the axle (Newton and Euler of the whole
    robot)::

        M V' = m d W^2 + (tau_l + tau_r) / R
        J W' = -m d V W + b (tau_r - tau_l) / R
        M = m + 2 m_w + 2 I_w / R^2
        J = I + m d^2 + 2 m_w b^2 + 2 I_d + 2 I_w b^2 / R^2

    so that it coasts as V = F tanh(k t + c), W = W0 sech(k t + c) / sech(c), F^2 = V0^2 + J W0^2 /
    M, k = m d F / J.
    """
    robot = lagrangian_system(with_joints("left", "right"), _kinetic_energy,
                              parameters=tuple(NUMBERS),
                              inputs=("left", "right"), force=lambda s: vars(s.u))
    numbers = {**NUMBERS, **parameters}
    constrained = constrain(robot, numbers, rows={
        "lateral": lambda s: s.v.lateral_speed,
        "left": lambda s: base(s).at(0, s.p.half_track).forward - s.p.radius * s.v.left,
        "right": lambda s: base(s).at(0, -s.p.half_track).forward - s.p.radius * s.v.right})
    start = {"q": (0.0, 0.0, 0.0, 0.0, 0.0), "xi": (0.6, 1.8)}

    def coasting() -> float:
        p, t = robot_numbers(numbers), np.linspace(0, 4, 17)
        V, W = start["xi"]
        final = np.sqrt(V ** 2 + p["J"] / p["M"] * W ** 2)
        phase = numbers["mass"] * numbers["ahead"] * final / p["J"] * t + np.arctanh(V / final)
        closed = np.column_stack([final * np.tanh(phase), W * np.cosh(phase[0]) / np.cosh(phase)])
        return largest(solve(made, t)[1] - closed)

    checks = (Check("accelerations in closed form", "in the docstring", 1e-11,
                    lambda: imbalance(made, _speeds, _accelerations)),
              Check("coasting in closed form", "in the docstring", 1e-10, coasting))
    made = Example(
        "differential_drive", "Differential drive with offset mass",
        "Newton and Euler, in the docstring", constrained,
        start, checks, speeds=("forward_speed", "yaw_rate"), shapes=_shapes(numbers))
    return made


def robot_numbers(p) -> dict:
    """M [kg] and J [kg m^2] of the two closed-form equations, from a mapping of the parameters."""
    rolling = 2 * p["spin_inertia"] / p["radius"] ** 2
    wheels_turning = 2 * p["wheel_inertia"] + (2 * p["wheel_mass"] + rolling) * p["half_track"] ** 2
    return {"M": p["mass"] + 2 * p["wheel_mass"] + rolling,
            "J": p["inertia"] + p["mass"] * p["ahead"] ** 2 + wheels_turning}


def _kinetic_energy(s: Symbols) -> ca.SX:
    p, axle = s.p, base(s)
    wheels = sum(axle.at(0, side * p.half_track).energy(p.wheel_mass, p.wheel_inertia)
                 for side in (1, -1))
    return (axle.at(p.ahead).energy(p.mass, p.inertia) + wheels
            + p.spin_inertia * (s.v.left**2 + s.v.right**2) / 2)


def _speeds(s: Symbols) -> ca.SX:
    return ca.vertcat(s.v.forward_speed, s.v.yaw_rate)


def _accelerations(s: Symbols) -> ca.SX:
    p, total = s.p, robot_numbers(vars(s.p))
    V, W = s.v.forward_speed, s.v.yaw_rate
    return ca.vertcat((p.mass * p.ahead * W ** 2 + (s.u.left + s.u.right) / p.radius) / total["M"],
                      (-p.mass * p.ahead * V * W
                       + p.half_track * (s.u.right - s.u.left) / p.radius) / total["J"])


def _shapes(p: dict) -> tuple:
    def place(q):
        return q[:3]

    return (*wheels(place, 0.0, p["half_track"], p["radius"]),
            deck(place, -0.15, 0.28, 1.6 * p["half_track"], p["radius"]))
