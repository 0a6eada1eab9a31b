"""Points and frames of bodies, for systems written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..errors import InputError
from .writing import Symbols

_AXES = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}


@dataclass(frozen=True)
class MovingFrame:
    """A frame fixed to a body: the position of its origin, and its rotation.

    Attributes
    ----------
    p_W
        (3,) position of its origin in the world [m], a function of (t, q).
    R_W
        (3, 3) rotation from its components to those of the world.

    Examples
    --------
    A chain of three links, each turned by its joint and with a wheel in its middle that does not
    slip sideways:

    >>> from nhmech.mechanics import MovingFrame
    >>> def links(s):
    ...     head = MovingFrame.planar(s.q.x, s.q.y, s.q.yaw)
    ...     middle = head.shifted(-0.1).turned("z", s.q.first).shifted(-0.1)
    ...     return head, middle, middle.shifted(-0.1).turned("z", s.q.second).shifted(-0.1)
    >>> rows = {f"wheel {i}": lambda s, i=i: links(s)[i].velocity(s)[1] for i in range(3)}
    """

    p_W: ca.SX
    R_W: ca.SX

    @classmethod
    def planar(cls, x: ca.SX | float, y: ca.SX | float, yaw: ca.SX | float) -> MovingFrame:
        """A frame at (x, y) [m] in the plane z = 0, rotated by `yaw` [rad] about z."""
        return cls(ca.vertcat(x, y, 0), ca.SX.eye(3)).turned("z", yaw)

    @check_arguments
    def shifted(self, x: ca.SX | float = 0.0, y: ca.SX | float = 0.0,
                z: ca.SX | float = 0.0) -> MovingFrame:
        """A frame at the point (x, y, z) [m] of this one, with the same rotation."""
        return MovingFrame(self.point(x, y, z), self.R_W)

    def turned(self, axis: str, angle: ca.SX | float) -> MovingFrame:
        """A frame at the same point, rotated by an angle [rad] about the axis "x", "y" or "z" of
        this one. Raises `InputError` for another axis."""
        if axis not in _AXES:
            raise InputError(f"axis = {axis!r} must be 'x', 'y' or 'z'")
        i, j = _AXES[axis]
        turn = ca.SX.eye(3)
        turn[i, i], turn[j, j] = ca.cos(angle), ca.cos(angle)
        turn[i, j], turn[j, i] = -ca.sin(angle), ca.sin(angle)
        return MovingFrame(self.p_W, self.R_W @ turn)

    def point(self, x: ca.SX | float = 0.0, y: ca.SX | float = 0.0,
              z: ca.SX | float = 0.0) -> ca.SX:
        """Position in the world of the point (x, y, z) [m] of this frame, (3,)."""
        return self.p_W + self.R_W @ ca.vertcat(x, y, z)

    def velocity(self, s: Symbols, point: Sequence[ca.SX | float] = (0.0, 0.0, 0.0)) -> ca.SX:
        """Velocity [m/s] of a point of this frame relative to the world, (3,), in the components of
        this frame."""
        place = ca.vertcat(*point, *np.zeros(3 - len(point)))
        return self.R_W.T @ s.rate(self.p_W) + ca.cross(self.angular_velocity(s), place)

    def angular_velocity(self, s: Symbols) -> ca.SX:
        """[rad/s] relative to the world, (3,), in the components of this frame."""
        R = self.R_W
        rates = [s.rate(R[:, i]) for i in range(3)]
        return ca.vertcat(ca.dot(R[:, 2], rates[1]), ca.dot(R[:, 0], rates[2]),
                          ca.dot(R[:, 1], rates[0]))

    def energy(self, s: Symbols, mass: ca.SX | float, inertia: Sequence[ca.SX | float],
               point: Sequence[ca.SX | float] = (0.0, 0.0, 0.0)) -> ca.SX:
        """Kinetic energy [J] of a body with its centre of mass at a point of this frame, and
        moments of inertia [kg m^2] about the axes of this frame through that point."""
        omega = self.angular_velocity(s)
        turning = ca.dot(omega, ca.vertcat(*inertia) * omega)
        return mass * ca.sumsqr(self.velocity(s, point)) / 2 + turning / 2
