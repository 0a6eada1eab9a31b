"""Bodies and contacts of a vehicle in symbols: in full, or short where the attitude is partly
constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.system import AuxiliaryVariables
from .contact import Contact, Mount, contact
from .context import BuildContext
from .tree import Body, RootView, kinematics


@dataclass(frozen=True, eq=False)
class Formulation:
    """Bodies and contacts in symbols, in full or with short symbols for the vectors of W in the
    frame of the root."""

    space: LieAlgebroid  # the algebroid, with an anchor in the same symbols
    bodies: list[Body]  # that of Pinocchio's joint i has the index i - 1
    contacts: tuple[Contact, ...]
    # the expressions that the short symbols replace; None in full
    auxiliaries: AuxiliaryVariables | None = None

    @property
    def normal(self) -> ca.SX:
        """The ground's normal in the frame of the root, (3,)."""
        return self.bodies[0].world["n"]


def formulate(context: BuildContext, mounts: Sequence[Mount], view: RootView, space: LieAlgebroid,
              auxiliaries: AuxiliaryVariables | None = None) -> Formulation:
    """Bodies and contacts for one view of the root."""
    bodies = kinematics(context.model, context.algebroid, context.v, context.a, view,
                        context.spinning)
    contacts = tuple(contact(context, mount, bodies[mount.body - 1]) for mount in mounts)
    return Formulation(space, bodies, contacts, auxiliaries)
