"""Snakeboard: a board on two trucks that steer, driven by a rotor and the steering alone."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._balance import imbalance
from ._planar import Motion, base, deck, wheels, with_joints
from .example import Check, Example
from .shapes import GREY, ORANGE, Shape, pose

# total mass, inertias of board, rotor and each truck, distance of the trucks from the middle; J + J0 + 2 J1 = m r^2 as in the paper
NUMBERS = dict(m=4.0, J=0.09, J0=0.06, J1=0.005, r=0.2)
SOURCE = "Bloch, Krishnaprasad, Marsden, Murray, Arch. Rational Mech. Anal. 136 (1996) 21, section 8.4"


def example(trucks: str = "coupled", **parameters: float) -> Example:
    """L = m (x'^2 + y'^2) / 2 + J theta'^2 / 2 + J0 (theta' + psi')^2 / 2 + J1 ((theta' + back')^2 + (theta' + front')^2) / 2.

    Neither truck moves sideways: -sin(theta + back) x' + cos(theta + back) y' - r cos(back) theta' = 0, and with +r for `front`.
    u = torques of the rotor and of the steering [N m]. The motion along the constraints that is a rigid one,

        xi_Q = a d/dx + b d/dy + c d/dtheta,    c = sin(back - front),
        (a, b) = -r (cos(back) (cos, sin)(theta + front) + cos(front) (cos, sin)(theta + back)),

    has the momentum p = dL/dq' . xi_Q, and p' = dL/dq' . (d xi/dt)_Q. With front = -back and J + J0 + 2 J1 = m r^2 that is
    p' = 2 J0 cos^2(back) back' psi' - tan(back) back' p.

    trucks  "coupled": front = -back, one steering torque; "independent": each truck has its own

    Raises `MechanicsError` for other trucks.
    """
    if trucks not in ("coupled", "independent"):
        raise MechanicsError(f"trucks are 'coupled' or 'independent', not {trucks!r}")
    numbers, coupled = {**NUMBERS, **parameters}, trucks == "coupled"
    inputs = ("rotor", "back") if coupled else ("rotor", "back", "front")
    board = lagrangian_system(with_joints("rotor", "back", "front"), _energy, parameters=tuple(NUMBERS), inputs=inputs,
                              force=lambda s: vars(s.u))
    rng = np.random.default_rng(0)
    back = rng.uniform(0.1, 1.2, 8) * np.tile([1, -1], 4)
    front = -back if coupled else rng.uniform(-1.2, 1.2, 8)
    samples = np.column_stack([rng.normal(size=(8, 4)), back, front])
    constrained = constrain(board, numbers, samples=samples, holonomic={"steering": lambda s: s.q.back + s.q.front} if coupled else {}, rows={
        "back": lambda s: _truck(s, -1).lateral, "front": lambda s: _truck(s, 1).lateral})
    checks = [Check("power of the torques is the rate of energy", "d'Alembert", 1e-10, lambda: imbalance(made, _energy, _power)),
              Check("momentum equation", SOURCE, 1e-10, lambda: imbalance(made, _momentum, _momentum_rate))]
    if coupled and abs(numbers["J"] + numbers["J0"] + 2 * numbers["J1"] - numbers["m"] * numbers["r"] ** 2) < 1e-12:
        checks.append(Check("momentum equation of the coupled board", SOURCE, 1e-10, lambda: imbalance(made, _momentum, _coupled_rate)))
    made = Example("snakeboard", f"Snakeboard, {trucks} trucks", SOURCE, constrained,
                   {"q": (0.0, 0.0, 0.0, 0.0, 0.4, -0.4), "xi": (0.3, 2.0, 0.2) if coupled else (0.3, 2.0, 0.2, -0.2)}, tuple(checks),
                   speeds=("forward_speed", "rotor", "back") if coupled else ("forward_speed", "rotor", "back", "front"), shapes=_shapes(numbers))
    return made
