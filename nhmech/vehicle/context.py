"""The data that every step of `build` uses."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin

from ..mechanics.algebroid import LieAlgebroid
from ..once import cached_property
from ..urdf.description import Description
from .ground import Ground
from .inertia import Inertia, Spin, lump_inertias
from .parameters import Parameters


@dataclass(frozen=True, eq=False)
class BuildContext:
    """A description, a ground and parameters, with Pinocchio's model and the symbols."""

    description: Description
    ground: Ground
    parameters: Parameters
    model: pin.Model  # moving joints only
    body_names: tuple[str, ...]  # the link that names each joint's body, index 0 for the universe
    algebroid: LieAlgebroid  # SE(3) x the joints' groups; it has the symbols of q
    # v, a, t: symbols of the fibre coordinates (nv,), of their rates (nv,), and of time
    v: ca.SX
    a: ca.SX
    t: ca.SX
    # joints whose body is described in a frame that does not spin with it: wheels whose inertia is
    # symmetric about the axle
    spinning: frozenset[int]
    wrench_bodies: tuple[str, ...]  # links on which an external wrench is an input

    @property
    def joint_names(self) -> list[str]:
        """The moving joints, without the universe and the root's."""
        return list(self.model.names)[2:]

    @cached_property
    def inertias(self) -> tuple[list[Inertia | None], list[Spin]]:
        """See `lump_inertias`."""
        return lump_inertias(self.model, self.parameters, self.body_names, self.spinning)

    @cached_property
    def normal(self) -> np.ndarray:
        """n (3,)."""
        return np.array(self.ground.normal)

    @cached_property
    def origin(self) -> ca.SX:
        """The ground's reference point in W, (3,) [m]: depends on time where the ground moves."""
        velocity = ca.SX(ca.sparsify(ca.DM(self.ground.velocity)))
        return ca.SX(ca.DM(self.ground.point)) + velocity * self.t

    def function(self, name: str, *outputs: ca.SX) -> ca.Function:
        """(t, q, theta) -> the outputs."""
        inputs = [self.t, self.algebroid.q, self.parameters.theta]
        return ca.Function(name, inputs, list(outputs))
