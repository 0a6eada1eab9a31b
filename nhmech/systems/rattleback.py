"""Rattleback: an ellipsoid with skewed inertia that spins one way and refuses the other."""

from __future__ import annotations

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

from ..mechanics.algebroid import special_euclidean
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._ball import body_rotation
from ._checks import imbalance
from .example import Check, Example, solve
from .shapes import ORANGE, Shape, matrix_of, placed

# semi-axes, depth of the centre of mass below the ellipsoid's centre, mass, moments and product of
# inertia about it
NUMBERS = dict(a=0.2, b=0.03, c=0.02, h=0.01, m=1.0, Ixx=2e-4, Iyy=1.6e-3, Izz=1.7e-3, Ixy=-2e-5,
               gravity=9.81)
TILT = np.deg2rad(1.0)
SPIN = -5.0     # [rad/s], the sense that does not last
SOURCE = "Kane and Levinson, Int. J. Non-Linear Mechanics 17 (1982) 175"


def example(**parameters: float) -> Example:
    """L = (m |v|^2 + omega . J omega) / 2 - m g z of the centre of mass, v and omega in the body:
    SE(3), trivialised.

    n = R^T e_z is the vertical seen from the body, D = diag(a, b, c).
    The ellipsoid touches at r from the centre of mass::

        r = h e_z - D^2 n / sqrt(n . D^2 n),    v + omega x r = 0,    z + n . r = 0,

    of which the vertical part is the rate of the height. The product of inertia Ixy turns the axes
    of inertia against those of curvature: spin of one sense feeds rocking fast and turns round, the
    other sense lasts for long. Energy is conserved.
    """
    numbers = {**NUMBERS, **parameters}
    stone = lagrangian_system(special_euclidean(), _lagrangian, parameters=tuple(NUMBERS))
    constrained = constrain(stone, numbers, samples=_samples(numbers),
                            holonomic={"height": _height}, rows={
        "slip_x": lambda s: body_rotation(s)[0, :] @ _contact_velocity(s),
        "slip_y": lambda s: body_rotation(s)[1, :] @ _contact_velocity(s)})

    tilted, vertical = place(0.0, TILT, 0.0, numbers), np.array([-np.sin(TILT), 0, np.cos(TILT)])

    def spin_after(spin: float) -> np.ndarray:
        """Yaw rate [rad/s] over 4 s from a spin about the vertical, pitched by one degree."""
        start = {"q": tilted, "xi": spin * vertical}
        return solve(made, np.linspace(0, 4, 81), start=start, rtol=1e-9)[1][:, 2]

    def turns_round() -> float:
        """0 if the spin turns round one way, to 0.5 rad/s at least, and lasts the other way."""
        return 0.0 if spin_after(SPIN).max() > 0.5 and spin_after(-SPIN).min() > 0 else 1.0

    checks = [Check("energy is conserved", "d'Alembert", 1e-11,
                    lambda: imbalance(made, _energy, lambda s: ca.SX(0)))]
    # how long a spin takes to turn round depends on the numbers
    if numbers == NUMBERS:
        checks.append(Check("reverses one spin, keeps the other", SOURCE, 1e-12, turns_round))
    made = Example("rattleback", "Rattleback", SOURCE, constrained,
                   {"q": tilted, "xi": SPIN * vertical}, tuple(checks),
                   speeds=("roll_rate", "pitch_rate", "yaw_rate"), shapes=_shapes(numbers))
    return made


def place(roll: float, pitch: float, yaw: float, p: dict) -> np.ndarray:
    """q (7,) on the plane, R = Rz(yaw) Rx(roll) Ry(pitch), centre of mass above the origin."""
    attitude = Rotation.from_euler("ZXY", (yaw, roll, pitch))
    n = attitude.as_matrix()[2]
    axes = np.array([p["a"], p["b"], p["c"]])
    return np.r_[0, 0, np.linalg.norm(axes * n) - p["h"] * n[2], attitude.as_quat()]


def _samples(p: dict) -> np.ndarray:
    rng = np.random.default_rng(0)
    tilts = [(*rng.uniform(-0.6, 0.6, 2), rng.uniform(-3, 3)) for _ in range(8)]
    return np.array([place(roll, pitch, yaw, p) for roll, pitch, yaw in tilts])


def _velocity(s: Symbols) -> tuple[ca.SX, ca.SX]:
    """v and omega in the body."""
    return (ca.vertcat(s.v.forward_speed, s.v.lateral_speed, s.v.vertical_speed),
            ca.vertcat(s.v.roll_rate, s.v.pitch_rate, s.v.yaw_rate))


def _inertia(p) -> ca.SX:
    return ca.blockcat([[p.Ixx, p.Ixy, 0], [p.Ixy, p.Iyy, 0], [0, 0, p.Izz]])


def _energy(s: Symbols) -> ca.SX:
    v, omega = _velocity(s)
    return (s.p.m * ca.sumsqr(v) / 2 + ca.dot(omega, _inertia(s.p) @ omega) / 2
            + s.p.m * s.p.gravity * s.q.z)


def _lagrangian(s: Symbols) -> ca.SX:
    return _energy(s) - 2 * s.p.m * s.p.gravity * s.q.z


def _lever(s: Symbols) -> ca.SX:
    """r (3,) from the centre of mass to the contact, in the body [m]."""
    n, squares = body_rotation(s)[2, :].T, ca.vertcat(s.p.a, s.p.b, s.p.c) ** 2
    return ca.vertcat(0, 0, s.p.h) - squares * n / ca.sqrt(ca.dot(n, squares * n))


def _height(s: Symbols) -> ca.SX:
    return s.q.z + body_rotation(s)[2, :] @ _lever(s)


def _contact_velocity(s: Symbols) -> ca.SX:
    v, omega = _velocity(s)
    return v + ca.cross(omega, _lever(s))


def _shapes(p: dict) -> tuple:
    """Two bars, along and across, whose lower edges stay above the plane."""
    def body_at(q: np.ndarray) -> np.ndarray:
        R = matrix_of(q[3:])
        return placed(R, q[:3] + R @ np.array([0, 0, p["h"]]))

    along, across = (1.8 * p["a"], 0.4 * p["b"],
                     0.3 * p["c"]), (0.4 * p["a"], 1.6 * p["b"], 0.3 * p["c"])
    return (Shape("box", along, body_at), Shape("box", across, body_at, ORANGE),
            Shape("sphere", (0.3 * p["c"],), body_at, ORANGE, trail=True))
