"""Whether a run went on where the ground would have had to pull."""

from __future__ import annotations

import numpy as np

from ..urdf.notice import Notice, NoticeKind
from .contact_forces import ContactForces

ROUNDING = 1e-6      # of the largest normal force of a state: a wheel that pulls less just touches


def lift_notice(t: np.ndarray, forces: ContactForces) -> Notice | None:
    """A notice of the first moment at which no split has all normal forces >= 0: the vehicle tips
    there, and what the run shows from then on is not what it does. None where there is no such
    moment.

    Parameters
    ----------
    t
        (N,) [s].
    forces
        At these moments.
    """
    shares, supported = forces.split
    normal = shares[:, forces.normal]
    if supported.all() or not normal.size:
        return None
    pulls = ~supported & (normal.min(axis=1) < -ROUNDING * np.abs(normal).max(axis=1))
    if not pulls.any():
        return None
    wheels = [c.contact for c in forces.components if c.direction == "normal"]
    first = int(pulls.argmax())
    worst = int(np.where(pulls, normal.min(axis=1), np.inf).argmin())
    return Notice(NoticeKind.LIFTED,
                  "ideal rolling is not valid where the ground would have to pull, in whatever way "
                  f"the wheels share the load: from t = {t[first]:.6g} s "
                  f"({wheels[int(normal[first].argmin())]}), in {pulls.mean():.2g} of the recorded "
                  f"moments; most at t = {t[worst]:.6g} s, {wheels[int(normal[worst].argmin())]} "
                  f"with {-normal[worst].min():.3g} N")
