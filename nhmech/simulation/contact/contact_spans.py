"""What each wheel did along a run: rolled, slid, or was in the air."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import listed
from .motion import Phase


@dataclass(frozen=True)
class ContactSpan:
    """An interval of a run in which no wheel changed what it did.

    Attributes
    ----------
    start, end
        [s].
    wheels
        Wheel -> `Phase.ROLLING`, `SLIDING` or `AIRBORNE`; where bodies can meet the ground, these
        too -> `LYING`, `SLIDING` or `AIRBORNE`.
    bodies
        Which of them are bodies.

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
        """The wheels and bodies that did this."""
        return tuple(name for name, one in self.wheels.items() if one is phase)

    def __str__(self) -> str:
        # that a body is not on the ground goes without saying
        told = {phase: [name for name in self.names(phase)
                        if phase is not Phase.AIRBORNE or name not in self.bodies]
                for phase in Phase}
        parts = [f"{listed(names)} {verb if len(names) > 1 else single}"
                 for phase, single, verb in ((Phase.SLIDING, "slides", "slide"),
                                             (Phase.LYING, "lies", "lie"),
                                             (Phase.AIRBORNE, "is in the air", "are in the air"))
                 if (names := told[phase])]
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
        (N, k): of row k, what the wheels and bodies did in the step that ended there.
    """
    found, begin = [], 0
    # what a row says holds for the time before it
    for k in range(1, len(t)):
        if k + 1 == len(t) or (phases[k + 1] != phases[k]).any():
            now = dict(zip((*wheels, *bodies), (Phase(int(one)) for one in phases[k])))
            found.append(ContactSpan(float(t[begin]), float(t[k]), now, tuple(bodies)))
            begin = k
    if len(t) == 1:
        now = dict(zip((*wheels, *bodies), (Phase(int(one)) for one in phases[0])))
        found.append(ContactSpan(float(t[0]), float(t[0]), now, tuple(bodies)))
    return tuple(found)
