"""The free rigid body: Euler-Poincare equations, with the attitude reconstructed."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from ..mechanics.algebroid import rotation
from ..mechanics.algebroid_makers import lie_algebra, special_orthogonal
from ..mechanics.writing import constrain, lagrangian_system
from ._checks import along
from .example import Check, Example, largest, solve
from .shapes import BLUE, Shape, attitude_pose

I = np.array([1.0, 2.0, 3.5])               # principal moments of inertia [kg m^2]
# angular velocity in the body [rad/s], about the axes 1 and 3
START = (1.2, 0.0, 0.6)
# attitude at t = 5 s from the identity, by integration with 36 digits
ATTITUDE = ((-0.13313468209499577, 0.9564679212350862, 0.2597003505421152),
            (-0.8682039263109484, 0.013829180422888046, -0.4960148144028406),
            (-0.4780137014372262, -0.2915096386349246, 0.8285680610675372))


def _lagrangian(s):
    return (I[0] * s.v.wx ** 2 + I[1] * s.v.wy ** 2 + I[2] * s.v.wz ** 2) / 2


def example() -> Example:
    """L = (I1 w1^2 + I2 w2^2 + I3 w3^2) / 2 on SO(3), w the angular velocity in the body
    (paper 002, example 5.2, eq. (9)).

    d/dt(dL/dw^a) = -c^g_ab w^b dL/dw^g on so(3) are Euler's equations. With I1 < I2 < I3 and |I
    w|^2 > 2 T I2 they have the solution w = (w1 cn, w2 sn, w3 dn) in Jacobi's elliptic functions.
    The attitude goes along as a unit quaternion, and R I w is constant.
    """
    body = lagrangian_system(special_orthogonal(), _lagrangian)
    times = np.linspace(0, 10, 11)

    def elliptic() -> float:
        from scipy.special import ellipj, ellipk

        twice_energy, square = I @ np.square(START), np.square(I * START).sum()
        rate = np.sqrt((I[2] - I[1]) * (square - twice_energy * I[0]) / I.prod())
        parameter = ((I[1] - I[0]) * (twice_energy * I[2]
                                      - square) / ((I[2] - I[1]) * (square - twice_energy * I[0])))
        # the last one is the period
        t = np.append(times, 4 * ellipk(parameter) / rate)
        sn, cn, dn, _ = ellipj(rate * t, parameter)
        middle = np.sqrt((twice_energy * I[2] - square) / (I[1] * (I[2] - I[1])))
        _, w = solve(made, t, rtol=1e-13)
        return largest(w - np.c_[START[0] * cn, middle * sn, START[2] * dn], w[-1] - START)

    def momentum() -> float:
        in_space = rotation(body.q) @ body.momentum
        return largest(along(made, in_space, times, *solve(made, times, rtol=1e-13)) - I * START)

    def attitude() -> float:
        q, _ = solve(made, (0, 5), rtol=1e-13)
        return largest(Rotation.from_quat(q[1]).as_matrix() - ATTITUDE)

    def reduced() -> float:
        """Acceleration on so(3), where there is no attitude, against the one on SO(3) at a random
        attitude, and against Euler's."""
        other = Example("reduced", "", "",
                        constrain(lagrangian_system(lie_algebra("so(3)"), _lagrangian)), {}, ())
        full, alone, rng = made.equations(), other.equations(), np.random.default_rng(1)
        worst = 0.0
        for w in rng.normal(size=(5, 3)):
            q = body.algebroid.normalise(rng.normal(size=4))
            euler = -np.cross(w, I * w) / I
            worst = largest(worst, *(value.full().ravel() - euler for value in (
                full.acceleration(0, q, w, [], []), alone.acceleration(0, [], w, [], []))))
        return worst

    made = Example(
        "rigid_body", "Free rigid body (Euler-Poincare) with attitude",
        "paper 002, example 5.2, eq. (9)", constrain(body),
        {"q": (0.0, 0.0, 0.0, 1.0), "xi": START},
        (Check("on so(3) and on SO(3): Euler's equations", "paper 002, eq. (9)", 1e-13, reduced),
         Check("angular velocity in elliptic functions, period", "closed form of this file", 1e-11,
               elliptic),
         Check("angular momentum in space", "conservation", 1e-11, momentum),
         Check("attitude after 5 s", "integration with 36 digits", 1e-11, attitude)),
        shapes=(Shape("box", (1.2, 0.8, 0.3), attitude_pose, BLUE),))
    return made
