"""Forces of the ground for all cases of a batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import REPR, listed
from ...mechanics.distribution import Component


@dataclass(frozen=True)
class BatchReactions:
    """Forces of the ground on the wheels of N cases at K moments: m components at c contacts.

    Attributes
    ----------
    components
        Wheel and direction of each entry of the forces.
    forces
        (N, K, m) on the wheels [N].
    contacts
        Names of the contacts.
    feasible
        (N, K), whether some distribution of the load has all normal forces >= 0. If not, a wheel
        lifts off, and the forces are those of least norm without that condition.
    """

    components: tuple[Component, ...]
    forces: np.ndarray
    contacts: tuple[str, ...]
    feasible: np.ndarray

    def __repr__(self) -> str:
        cases, moments = self.feasible.shape
        return (f"<BatchReactions of {cases} cases at {moments} moments on "
                f"{listed(self.contacts, REPR)}>")

    def component(self, wheel: str, direction: str) -> np.ndarray:
        """Force on a wheel in one direction [N], (N, K)."""
        return self.forces[..., self.components.index((wheel, direction))]

    @property
    def normal(self) -> np.ndarray:
        """Normal forces, (N, K, c) [N]; NaN where a contact has no normal row."""
        missing = np.full(self.forces.shape[:-1], np.nan)
        columns = {component: self.forces[..., i] for i, component in enumerate(self.components)}
        return np.stack([columns.get(Component(contact, "normal"), missing)
                         for contact in self.contacts], axis=-1)

    @property
    def friction(self) -> np.ndarray:
        """Friction coefficient that each contact needs, |tangential| / normal, (N, K, c); infinite
        for tangential force without normal force."""
        squares = np.zeros((*self.forces.shape[:-1], len(self.contacts)))
        for i, (contact, direction) in enumerate(self.components):
            if direction != "normal":
                squares[..., self.contacts.index(contact)] += self.forces[..., i] ** 2
        tangential, normal = np.sqrt(squares), self.normal
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(normal > 0, tangential / normal, np.where(tangential > 0, np.inf, 0.0))
