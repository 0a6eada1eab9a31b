"""A homogeneous ball on a plane, by Gibbs-Appell on TR^2 x R^3."""

from __future__ import annotations

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

from ..mechanics.algebroid import euclidean, product
from ..mechanics.algebroid_makers import lie_algebra, structure_constants
from ..mechanics.frame import adapted_frame
from ..mechanics.writing import constrain, lagrangian_system
from ._ball import RATES, ball_shapes, ball_space, rolling
from ._checks import along
from .example import Check, Example, largest, solve
from .shapes import BLUE, Shape, pose

NAMES = ("r", "k2", "fx", "fy")
SPEEDS = ("x'", "y'", "wz")
START = (0.5, 0.1, 0.9)                     # x', y' [m/s], wz [rad/s]
# attitude at t = 2 s from the identity with the parameters below, by integration with 36 digits
ATTITUDE = ((-0.3792783386745164, -0.08505357649623069, 0.9213651995476596),
            (0.005324075100730534, 0.9955491444850808, 0.09409333206633427),
            (-0.9252673105846876, 0.04059298018406018, -0.37713739396028584))


def _lagrangian(s) -> ca.SX:
    return (s.v.x ** 2 + s.v.y ** 2 + s.p.k2 * (s.v.wx ** 2 + s.v.wy ** 2 + s.v.wz ** 2)) / 2


def _force(s) -> dict[str, ca.SX]:
    return {"x": s.p.fx, "y": s.p.fy}


def example(r: float = 0.1, k2: float = 0.004, fx: float = 0.3, fy: float = -0.2) -> Example:
    """L = (x'^2 + y'^2) / 2 + k^2 (wx^2 + wy^2 + wz^2) / 2, unit mass, x' = r wy and y' = -r wx;
    a force (fx, fy) [N] acts at the centre.

    w are world components: right-invariant fields, [e_3, e_4] = -e_5 and cyclic, which is minus
    so(3) (paper 002, example 7.2). Gibbs function (1 + k^2/r^2) (x''^2 + y''^2) / 2 + k^2 wz'^2 /
    2, so (x'', y'') = f r^2 / (r^2 + k^2), wz constant; the plane holds with (x'', y'') - f [N].
    The attitude is not among the coordinates of TR^2 x R^3; `with_attitude` adds it.
    """
    turning = lie_algebra(-structure_constants("so(3)"), ("wx", "wy", "wz"), ("rad/s",) * 3)
    space = product(euclidean("x", "y", units=("m/s", "m/s")), turning)
    ball = lagrangian_system(space, _lagrangian, parameters=NAMES, force=_force)
    parameters = dict(zip(NAMES, (r, k2, fx, fy)))
    constrained = constrain(ball, parameters, rows={
        "rolling_x": lambda s: s.v.x - s.p.r * s.v.wy,
        "rolling_y": lambda s: s.v.y + s.p.r * s.v.wx})
    times, force, v0 = np.linspace(0, 2, 9), np.array([fx, fy]), np.array(START[:2])
    pull = force * r ** 2 / (r ** 2 + k2)

    def gibbs() -> float:
        """Gibbs function on the constraints less its closed form, at random accelerations."""
        frame, rate = adapted_frame(constrained, SPEEDS), ca.SX.sym("rate", 3)
        on = ca.substitute(ball.gibbs, ca.vertcat(ball.a, ball.v),
                           ca.vertcat(frame.solve(rate, -frame.gamma),
                                      frame.velocity(ca.SX(START))))
        r, k2, *_ = ca.vertsplit(ball.theta)
        expected = ((1 + k2 / r ** 2) * ca.sumsqr(rate[:2]) + k2 * rate[2] ** 2) / 2
        difference = ca.Function("difference", [rate, ball.theta], [on - expected])
        return largest(*(difference(a, constrained.parameters)
                         for a in np.random.default_rng(0).normal(size=(5, 3))))

    def motion() -> float:
        q, xi = solve(made, times)
        v = v0 + np.outer(times, pull)
        exact = np.c_[np.outer(times, v0) + np.outer(times ** 2 / 2, pull), v,
                      np.full_like(times, START[2])]
        contact = np.tile(pull - force, (len(times), 1))
        return largest(np.c_[q, xi] - exact, along(made, "multipliers", times, q, xi) - contact)

    def attitude() -> float:
        q, _ = solve(with_attitude(), (0, 2), rtol=1e-13)
        return largest(Rotation.from_quat(q[1, 2:]).as_matrix() - ATTITUDE)

    def reconstructed() -> float:
        """x, y of the motion with attitude against those without."""
        return largest(solve(with_attitude(r, k2, fx, fy), times, rtol=1e-13)[0][:, :2]
                       - solve(made, times, rtol=1e-13)[0])

    made = Example(
        "rolling_ball", "Homogeneous ball on a plane under a constant force",
        "paper 002, example 7.2, eq. (17)", constrained, {"q": (0.0, 0.0), "xi": START},
        (Check("Gibbs function on the constraints", "paper 002, example 7.2", 1e-12, gibbs),
         Check("motion and force of the plane", "closed form of this file", 1e-11, motion),
         Check("the same with the attitude as a coordinate", "R^2 x SO(3), body components", 1e-11,
               reconstructed),
         Check("attitude after 2 s", "integration with 36 digits", 1e-11, attitude)),
        SPEEDS,
        shapes=(Shape("sphere", (r,), lambda q: pose((q[0], q[1], r)), BLUE, trail=True),))
    return made


def with_attitude(r: float = 0.1, k2: float = 0.004, fx: float = 0.3, fy: float = -0.2) -> Example:
    """The same ball on R^2 x SO(3), with a quaternion and the angular velocity in the body;
    it starts at the identity."""
    ball = lagrangian_system(ball_space(), _lagrangian, parameters=NAMES, force=_force)
    start = {"q": (0.0, 0.0, 0.0, 0.0, 0.0, 1.0), "xi": (-START[1] / r, START[0] / r, START[2])}
    return Example("rolling_ball", "Homogeneous ball with attitude", "paper 002, example 7.2",
                   constrain(ball, dict(zip(NAMES, (r, k2, fx, fy))), rows=rolling()), start, (),
                   RATES, shapes=ball_shapes(r))
