"""What the wheels of a vehicle do at one moment, as controllers and pictures see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...vehicle.reactions import Reactions
from .motion import Phase


@dataclass(frozen=True)
class ContactMoment:
    """What the contacts do at one moment of a run with Coulomb friction.

    Attributes
    ----------
    phases
        Wheel -> `Phase.ROLLING`, `SLIDING` or `AIRBORNE`; of bodies that can meet the ground, by
        the name of the link, `LYING`, `SLIDING` or `AIRBORNE`.
    reactions
        Forces of friction and support on the wheels, means over the step that ended; None where
        all of them roll ideally, whose forces `vehicle.reactions.reactions` has.
    mu
        Friction coefficients of those that may slide, bodies too.
    """

    phases: dict[str, Phase]
    reactions: Reactions | None
    mu: Mapping[str, float]
