"""Snake with three wheels: three links on an axle each, driven by its two joints."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import imbalance
from ._planar import PlanarMotion, base, deck, wheels, with_joints
from .example import Check, Example, apart, largest
from .shapes import ORANGE

# half the length of a link, mass and moment of inertia of each; its mass sits on its axle
NUMBERS = dict(l=0.2, m=0.8, J=0.012)
SOURCE = "Shammas, Choset and Rizzi, Int. J. Robotics Research 26 (2007) 1043"


def example(**parameters: float) -> Example:
    """T of three equal links, each with an axle in its middle that does not move sideways.
    u = torques of the joints [N m].

    Joint angles back, front from the middle link on, l half a link's length::

        forward_speed sin(front) - l yaw_rate (1 + cos(front)) = l front',
        -forward_speed sin(back) - l yaw_rate (1 + cos(back)) = l back',

    so that the shape determines the motion: SE(2) is a purely kinematic symmetry, except where
    sin(back) + sin(front) + sin(back + front) = 0, as in a straight line, where the joints lock.
    """
    numbers = {**NUMBERS, **parameters}
    snake = lagrangian_system(with_joints("back", "front"), _energy, parameters=tuple(NUMBERS),
                              inputs=("back", "front"), force=lambda s: vars(s.u))
    rng = np.random.default_rng(0)
    samples = np.column_stack([rng.normal(size=(8, 3)), rng.uniform(0.3, 1.3, (8, 2))])
    constrained = constrain(snake, numbers, samples=samples, rows={
        "rear": lambda s: _links(s)[0].lateral, "middle": lambda s: _links(s)[1].lateral,
        "front": lambda s: _links(s)[2].lateral})

    def absolute() -> float:
        """Each link by itself in the world, (x, y, heading), with pins and axles: dv/dt and the
        wheels' forces from one linear system of 17."""
        return largest(*(_compare(made, numbers, state) for state in _states(made)))

    made = Example(
        "wheeled_snake", "Snake with three wheels", SOURCE, constrained,
        {"q": (0.0, 0.0, 0.0, 0.7, 0.5), "xi": (0.3, -0.2)},
        (Check("joints and wheels by Newton in the world", "in this file", 1e-10, absolute),
         Check("power of the joints is the rate of energy", "d'Alembert", 1e-10,
               lambda: imbalance(made, _energy, lambda s: s.u.back * s.v.back
                                 + s.u.front * s.v.front))),
        ("back", "front"), shapes=_shapes(numbers["l"]))
    return made


def _links(s: Symbols) -> tuple[PlanarMotion, PlanarMotion, PlanarMotion]:
    """Of the middles of the links."""
    middle, l = base(s), s.p.l
    return (middle.at(-l).hinge(s.q.back, s.v.back).at(-l), middle,
            middle.at(l).hinge(s.q.front, s.v.front).at(l))


def _energy(s: Symbols) -> ca.SX:
    return sum(link.energy(s.p.m, s.p.J) for link in _links(s))


def _states(example: Example) -> list[tuple]:
    """(q, xi, u) at random."""
    rng = np.random.default_rng(1)
    return [(q, rng.normal(size=2), rng.normal(size=2))
            for q in example.constrained.configurations[:5]]


def _compare(example: Example, p: dict[str, float], state: tuple) -> float:
    """Difference of headings' accelerations and of the wheels' forces, relative."""
    (_, _, heading, back, front), xi, (torque_back, torque_front) = state
    equations, theta = example.equations(), example.constrained.parameters
    rate = equations.acceleration(0, *state, theta).full().ravel()
    order = np.argsort(equations.frame.kept)
    lam = equations.multipliers(0, *state, theta).full().ravel()[order]
    v = equations.velocity(0, *state[:2], theta).full().ravel()

    l = p["l"]
    angles = heading + np.array([back, 0.0, front])
    turns = v[2] + np.array([v[3], 0.0, v[4]])
    along = np.stack([np.cos(angles), np.sin(angles)], 1)       # of each link
    left = np.stack([-along[:, 1], along[:, 0]], 1)
    middle = along[1] * v[0] + left[1] * v[1]
    speeds = [middle - l * turns[1] * left[1] - l * turns[0] * left[0], middle,
              middle + l * turns[1] * left[1] + l * turns[2] * left[2]]
    rows, right = [], []
    for behind, ahead in ((0, 1), (1, 2)):        # the front end of one is the back end of the next
        for axis in range(2):
            row = np.zeros(9)
            row[3 * behind + axis], row[3 * ahead + axis] = 1, -1
            row[3 * behind + 2] = l * left[behind, axis]
            row[3 * ahead + 2] = l * left[ahead, axis]
            rows.append(row)
            right.append(l * (turns[behind] ** 2 * along[behind, axis]
                              + turns[ahead] ** 2 * along[ahead, axis]))
    for i in range(3):
        row = np.zeros(9)
        row[3 * i:3 * i + 2] = left[i]
        rows.append(row)
        right.append(turns[i] * along[i] @ speeds[i])
    force = np.zeros(9)
    force[[2, 5, 8]] = torque_back, -torque_back - torque_front, torque_front
    A = np.array(rows)
    mass = np.diag(np.tile([p["m"], p["m"], p["J"]], 3))
    found = np.linalg.solve(np.block([[mass, -A.T], [A, np.zeros((7, 7))]]),
                            np.concatenate([force, right]))
    expected = rate[2] + np.array([rate[3], 0.0, rate[4]])
    return largest(apart(found[[2, 5, 8]], expected), apart(found[13:], lam))


def _shapes(l: float) -> tuple:
    def rear(q: np.ndarray) -> tuple[float, float, float]:
        a, b = q[2], q[2] + q[3]
        return (q[0] - l * np.cos(a) - l * np.cos(b), q[1] - l * np.sin(a) - l * np.sin(b), b)

    def front(q: np.ndarray) -> tuple[float, float, float]:
        a, b = q[2], q[2] + q[4]
        return (q[0] + l * np.cos(a) + l * np.cos(b), q[1] + l * np.sin(a) + l * np.sin(b), b)

    def middle(q: np.ndarray) -> np.ndarray:
        return q[:3]

    return tuple(shape for place in (rear, middle, front)
                 for shape in (*wheels(place, 0.0, 0.08, 0.04),
                               deck(place, -0.9 * l, 0.9 * l, 0.05, 0.05, ORANGE)))
