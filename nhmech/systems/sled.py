"""The knife-edge sled: its velocity points where it is headed."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from ..mechanics.algebroid import euclidean
from ..mechanics.algebroid_makers import special_euclidean_2
from ..mechanics.writing import constrain, lagrangian_system
from ._checks import random_motions
from .example import Check, Example, largest, solve
from .shapes import ORANGE, Shape, pose

# fibration -> independent speeds, sample headings [rad] where it serves, an instructive start
FIBRATIONS = {"x": (("x'", "phi'"), (-1.3, 1.3), (1.5 * np.cos(0.2), 0.7)),
              "y": (("y'", "phi'"), (0.2, 2.9), (1.5 * np.sin(0.2), 0.7)),
              "body": (("forward_speed", "yaw_rate"), (-3.0, 3.0), (1.5, 0.7))}


def example(m: float = 1.0, J: float = 1.0, fibration: str = "x") -> Example:
    """L = m (x'^2 + y'^2) / 2 + J phi'^2 / 2 [kg, kg m^2], constrained to move along its heading
    phi.

    Dynamics x'' = -x' phi' tan(phi), phi'' = 0: circles of radius speed / phi'. Multipliers m x'
    phi', -m y' phi' and m forward_speed yaw_rate, each of its own normalisation of one and the same
    force (paper 003, section 4).

    Parameters
    ----------
    fibration
        "x": y' = x' tan(phi) with speeds (x', phi'), over (t, x, phi); breaks down at phi = pi/2,
        though the motion does not. "y": x' = y' cot(phi) with speeds (y', phi'), over (t, y, phi);
        breaks down at phi = 0. "body": lateral_speed = 0 with speeds (forward_speed, yaw_rate) of
        the body frame; holds everywhere.

    Raises
    ------
    MechanicsError
        For another fibration.
    """
    if fibration not in FIBRATIONS:
        raise MechanicsError(f"no fibration {fibration!r}; there are {', '.join(FIBRATIONS)}")
    speeds, (low, high), xi = FIBRATIONS[fibration]
    if fibration == "body":
        space, row = special_euclidean_2(), lambda s: s.v.lateral_speed
    else:
        space = euclidean("x", "y", "phi", units=("m/s", "m/s", "rad/s"))
        rows = {"x": lambda s: s.v.y - ca.tan(s.q.phi) * s.v.x,
                "y": lambda s: s.v.x - s.v.y / ca.tan(s.q.phi)}
        row = rows[fibration]

    def lagrangian(s):
        names = ("forward_speed", "lateral_speed",
                 "yaw_rate") if fibration == "body" else ("x", "y", "phi")
        along, across, turn = (getattr(s.v, name) for name in names)
        return s.p.m * (along ** 2 + across ** 2) / 2 + s.p.J * turn ** 2 / 2

    samples = np.array([(0.3, -0.2, phi) for phi in np.linspace(low, high, 8)])
    constrained = constrain(lagrangian_system(space, lagrangian, parameters=("m", "J")),
                            {"m": m, "J": J}, rows={"blade": row}, samples=samples)

    def accelerations() -> float:
        """On the constraint (x', y') turns rigidly with phi; the body's own speeds stay."""
        worst = 0.0
        for _, v, a, lam in random_motions(made):
            turning = (0, 0, 0) if fibration == "body" else (-v[1] * v[2], v[0] * v[2], 0)
            multiplier = m * v[2] * {"x": v[0], "y": -v[1], "body": v[0]}[fibration]
            worst = largest(worst, a - turning, lam[0] - multiplier)
        return worst

    def same_dynamics() -> float:
        """dv/dt at the same states in the fibrations over (x, phi) and (y, phi)."""
        other = example(m, J, "y" if fibration == "x" else "x")
        here, there, worst = made.equations(), other.equations(), 0.0
        for q in ((0.1, 0.2, 0.5), (-0.3, 0.6, 1.1), (0.4, -0.7, 0.9)):
            v = np.array([1.3 * np.cos(q[2]), 1.3 * np.sin(q[2]), -0.8])
            a = [form.acceleration(0, q, v[list(form.frame.speeds)], [],
                                   (m, J)).full() for form in (here, there)]
            worst = largest(worst, a[0] - a[1])
        return worst

    def circle() -> float:
        """In the body fibration, three times round, through phi = pi/2."""
        body = made if fibration == "body" else example(m, J, "body")
        speed, turn, t = 1.5, 0.7, np.linspace(0, 27, 28)
        q, _ = solve(body, t, start={"q": (0.0, 0.0, 0.2), "xi": (speed, turn)})
        phi = 0.2 + turn * t
        exact = np.stack([speed / turn * (np.sin(phi) - np.sin(0.2)),
                          speed / turn * (np.cos(0.2) - np.cos(phi)), phi],
                         axis=1)
        return largest(q - exact)

    checks = [Check("accelerations and multiplier in closed form", "paper 003, section 4", 1e-12,
                    accelerations),
              Check("circle through phi = pi/2", "closed form", 1e-10, circle)]
    if fibration != "body":
        checks.append(Check("dynamics independent of the fibration",
                            "paper 003, corollary of section 2", 1e-12, same_dynamics))
    made = Example("sled", "Knife-edge sled", "paper 003, section 4",
                   constrained, {"q": (0.0, 0.0, 0.2), "xi": xi}, tuple(checks), speeds,
                   shapes=(Shape("box", (0.6, 0.2, 0.05),
                                 lambda q: pose((q[0], q[1], 0.1), yaw=q[2])),
                           Shape("box", (0.4, 0.01, 0.1),
                                 lambda q: pose((q[0], q[1], 0.05), yaw=q[2]), ORANGE, trail=True)))
    return made
