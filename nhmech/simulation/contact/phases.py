"""The phases of contacts: which wheels roll, slide or fly, at one moment and along a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ...errors import listed
from ...vehicle.reactions import Reactions


class Phase(IntEnum):
    """The contact phase of a wheel, or of a body that can touch the ground.

    Members
    -------
    ROLLING
        It rolls (or stands) without slip.
    SLIDING
        It slides along the ground.
    AIRBORNE
        It does not touch the ground.
    LYING
        Of a body: it is on the ground, and does not slide.
    """

    ROLLING = 0
    SLIDING = 1
    AIRBORNE = 2
    LYING = 3


# as plain integers, because NumPy takes microseconds to convert an enum
ROLLS, SLIDES, FLIES, LIES = map(int, Phase)


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


@dataclass(frozen=True)
class ContactSpan:
    """An interval of a run in which no contact changed its phase.

    Attributes
    ----------
    start, end
        [s].
    wheels
        Wheel -> `Phase.ROLLING`, `SLIDING` or `AIRBORNE`; body that can touch the ground ->
        `LYING`, `SLIDING` or `AIRBORNE`.
    bodies
        The names that are bodies.

    Examples
    --------
    >>> run = Simulator(vehicle, contact="coulomb", mu=0.6).run(0.1)
    >>> str(run.phases[0])
    'from t = 0 to 0.1 s all wheels roll'
    """

    start: float
    end: float
    wheels: dict[str, Phase]
    bodies: tuple[str, ...] = ()

    def names(self, phase: Phase) -> tuple[str, ...]:
        """The wheels and bodies in this phase."""
        return tuple(name for name, one in self.wheels.items() if one is phase)

    def __str__(self) -> str:
        # bodies that do not touch the ground are not mentioned
        shown = {phase: [name for name in self.names(phase)
                        if phase is not Phase.AIRBORNE or name not in self.bodies]
                for phase in Phase}
        parts = [f"{listed(names)} {verb if len(names) > 1 else single}"
                 for phase, single, verb in ((Phase.SLIDING, "slides", "slide"),
                                             (Phase.LYING, "lies", "lie"),
                                             (Phase.AIRBORNE, "is in the air", "are in the air"))
                 if (names := shown[phase])]
        text = ", ".join(parts) or "all wheels roll"
        return f"from t = {self.start:.6g} to {self.end:.6g} s {text}"


def contact_spans(t: np.ndarray, phases: np.ndarray, wheels: Sequence[str],
                  bodies: Sequence[str] = ()) -> tuple[ContactSpan, ...]:
    """The intervals of a run.

    Parameters
    ----------
    t
        (N,) [s].
    phases
        (N, k): in row n, the phases of the k contacts in the step that ended there.
    """
    names, found, begin = (*wheels, *bodies), [], 0
    # row 0 is the initial state, and describes no step
    for k in range(min(1, len(t) - 1), len(t)):
        if k + 1 == len(t) or (phases[k + 1] != phases[k]).any():
            now = dict(zip(names, map(Phase, phases[k].astype(int))))
            found.append(ContactSpan(float(t[begin]), float(t[k]), now, tuple(bodies)))
            begin = k
    return tuple(found)
