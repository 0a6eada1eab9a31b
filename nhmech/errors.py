"""Every error that nhmech raises on purpose.

Messages carry what is wrong, where (file, element, line, joint), the value found, and what would
be right.
"""

from collections.abc import Iterable


class NhmechError(Exception):
    """Root of all errors of this package."""


class InputError(NhmechError, ValueError):
    """An argument cannot be used as given, wherever it is given: wrong type, shape, sign or name."""


class ModelError(NhmechError):
    """The robot description, its wheels or the ground do not make a vehicle."""


class MechanicsError(NhmechError):
    """A system, distribution or frame is inconsistent: wrong rank, wrong shape, singular where it
    must be regular."""


class CompileError(NhmechError):
    """Generated code could not be compiled or loaded."""


class SimulationError(NhmechError):
    """A run stopped by a failure. What was computed until then is kept in `trajectory`."""

    def __init__(self, message: str, trajectory=None):
        super().__init__(message)
        self.trajectory = trajectory


def listed(names: Iterable[object], most: int = 30) -> str:
    """The names with commas between them, at most so many of them; "none" where there are none."""
    shown = [str(name) for name in names]
    text = ", ".join(shown[:most]) or "none"
    return f"{text} and {len(shown) - most} more" if len(shown) > most else text
