"""The phases and forces of all contacts at one moment, as controllers and pictures see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...vehicle.reactions import Reactions
from .motion import Phase


@dataclass(frozen=True)
class ContactMoment:
    """The contacts at one moment of a run with Coulomb friction.

    Attributes
    ----------
    phases
        Wheel -> `Phase.ROLLING`, `SLIDING` or `AIRBORNE`; link of a body that can touch the ground
        -> `LYING`, `SLIDING` or `AIRBORNE`.
    reactions
        Forces of the ground on the wheels, averaged over the last step; None while all wheels roll
        (`vehicle.reactions.reactions` then computes them).
    mu
        Friction coefficients of the wheels and bodies that may slide.
    """

    phases: dict[str, Phase]
    reactions: Reactions | None
    mu: Mapping[str, float]
