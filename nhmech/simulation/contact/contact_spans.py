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
        Wheel -> `Phase.ROLLING`, `SLIDING` or `AIRBORNE`.

    Examples
    --------
    >>> run = Simulator(vehicle, contact="coulomb", mu=0.6).run(0.1)
    >>> str(run.phases[0])
    'from t = 0 to 0.1 s all wheels roll'
    """

    start: float
    end: float
    wheels: dict[str, Phase]

    def names(self, phase: Phase) -> tuple[str, ...]:
        """The wheels that did this."""
        return tuple(name for name, one in self.wheels.items() if one is phase)

    def __str__(self) -> str:
        parts = [f"{listed(names)} {verb if len(names) > 1 else single}"
                 for phase, single, verb in ((Phase.SLIDING, "slides", "slide"),
                                             (Phase.AIRBORNE, "is in the air", "are in the air"))
                 if (names := self.names(phase))]
        text = ", ".join(parts) or "all wheels roll"
        return f"from t = {self.start:.6g} to {self.end:.6g} s {text}"


def contact_spans(t: np.ndarray, phases: np.ndarray, wheels: Sequence[str],
                  ) -> tuple[ContactSpan, ...]:
    """The intervals of a run.

    Parameters
    ----------
    t
        (N,) [s].
    phases
        (N, k): of row k, what the wheels did in the step that ended there.
    """
    found, begin = [], 0
    # what a row says holds for the time before it
    for k in range(1, len(t)):
        if k + 1 == len(t) or (phases[k + 1] != phases[k]).any():
            now = dict(zip(wheels, (Phase(int(one)) for one in phases[k])))
            found.append(ContactSpan(float(t[begin]), float(t[k]), now))
            begin = k
    if len(t) == 1:
        now = dict(zip(wheels, (Phase(int(one)) for one in phases[0])))
        found.append(ContactSpan(float(t[0]), float(t[0]), now))
    return tuple(found)
