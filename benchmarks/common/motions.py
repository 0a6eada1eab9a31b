"""The motions that every program is given, and where ideal rolling ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy.integrate import solve_ivp

GRAVITY = 9.81


@dataclass(frozen=True)
class DifferentialDrive:
    """`urdf/differential_drive.urdf`, from rest, with constant torques on its wheels.

    state: x, y, yaw, V, W of the middle of the axle, then the wheel angles;
    equations in `nhmech/systems/differential_drive.py`
    """

    name: str
    torques: tuple[float, float]
    robot: str = "differential_drive"
    mass: float = 8.0
    ahead: float = 0.06
    above: float = 0.05
    inertia: tuple[float, float, float] = (0.12, 0.15, 0.2)
    radius: float = 0.1
    half_track: float = 0.22
    wheel_mass: float = 0.7
    spin_inertia: float = 0.0035
    wheel_inertia: float = 0.002
    caster: float = 0.25
    caster_radius: float = 0.03

    @property
    def start(self) -> np.ndarray:
        return np.zeros(7)

    @property
    def constants(self) -> tuple[float, ...]:
        """1 / M, 1 / J, m d, b, R: what the reduced equations have left of the numbers above."""
        R, b = self.radius, self.half_track
        M = self.mass + 2 * self.wheel_mass + 2 * self.spin_inertia / R ** 2
        J = (self.inertia[2] + self.mass * self.ahead ** 2 + 2 * self.wheel_mass * b ** 2
             + 2 * self.wheel_inertia
             + 2 * self.spin_inertia * (b / R) ** 2)
        return 1 / M, 1 / J, self.mass * self.ahead, b, R

    def rate(self, t: float, s: np.ndarray) -> list[float]:
        over_M, over_J, md, b, R = self.constants
        (left, right), V, W = self.torques, s[3], s[4]
        return [V * np.cos(s[2]), V * np.sin(s[2]), W, (md * W * W + (left + right) / R) * over_M,
                (b * (right - left) / R - md * V * W) * over_J, (V - b * W) / R, (V + b * W) / R]

    def place(self, s: np.ndarray) -> np.ndarray:
        """Middle of the axle [m], (3,)."""
        return np.array([s[0], s[1], self.radius])

    def end(self, duration: float) -> np.ndarray:
        """The exact end, by DOP853 at 1e-13 on the reduced equations."""
        return self.place(_solved(self, duration))


@dataclass(frozen=True)
class Disc:
    """`urdf/disc.urdf`, rolling, leaning and turning; nothing drives it.

    state: x, y of the contact, yaw, lean, spin, then u1, u2, u3: angular velocity along the leaning
    frame's x, y (the axle) and z; equations in `nhmech/systems/falling_disc.py`
    """

    name: str = "disc"
    robot: str = "disc"
    mass: float = 2.0
    radius: float = 0.3
    across: float = 0.045
    along: float = 0.09
    lean: float = 0.3
    speeds: tuple[float, float, float] = (0.2, 6.0, 0.5)

    @property
    def start(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, self.lean, 0.0, *self.speeds])

    @property
    def constants(self) -> tuple[float, ...]:
        """m g r / (A + m r^2), A / (A + m r^2), (C + m r^2) / (A + m r^2), m r^2 / (C + m r^2), C /
        A, r."""
        size = self.mass * self.radius ** 2
        edge = self.across + size
        return (self.mass * GRAVITY * self.radius / edge, self.across / edge,
                (self.along + size) / edge,
                size / (self.along + size), self.along / self.across, self.radius)

    def rate(self, t: float, s: np.ndarray) -> list[float]:
        weight, a, c, k, ratio, r = self.constants
        u1, u2, u3 = s[5:]
        tan, cos = np.tan(s[3]), np.cos(s[3])
        spin = u2 - u3 * tan
        return [r * spin * np.cos(s[2]), r * spin * np.sin(s[2]), u3 / cos, u1, spin,
                weight * np.sin(s[3]) - a * u3 * u3 * tan + c * u2 * u3, -k * u1 * u3,
                u1 * u3 * tan - ratio * u1 * u2]

    def place(self, s: np.ndarray) -> np.ndarray:
        """Centre of the disc [m], (3,)."""
        sine = self.radius * np.sin(s[3])
        return np.array([s[0] + sine * np.sin(s[2]), s[1] - sine * np.cos(s[2]),
                         self.radius * np.cos(s[3])])

    def end(self, duration: float) -> np.ndarray:
        """The exact end, by DOP853 at 1e-13 on the reduced equations."""
        return self.place(_solved(self, duration))

    @cached_property
    def attitude(self) -> np.ndarray:
        """Rx(lean), (3, 3), at the start."""
        c, s = np.cos(self.lean), np.sin(self.lean)
        return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])

    @cached_property
    def twist_W(self) -> tuple[np.ndarray, np.ndarray]:
        """Velocity of the centre and angular velocity in the world at the start, as rolling wants
        them."""
        omega = self.attitude @ np.array(self.speeds)
        return np.cross(omega, self.radius * self.attitude[:, 2]), omega


@cache
def _solved(motion, duration: float) -> np.ndarray:
    return solve_ivp(motion.rate, (0, duration), motion.start, method="DOP853", rtol=1e-13,
                     atol=1e-13).y[:, -1]


# The gentle drive is up to 1 m/s fast after 10 s and has turned by 50 degrees; the lively one 3
# m/s, by 210.
_ALL = (DifferentialDrive("drive, gentle", (0.05, 0.06)),
        DifferentialDrive("drive, lively", (0.1, 0.2)), Disc())
MOTIONS = {motion.name: motion for motion in _ALL}
