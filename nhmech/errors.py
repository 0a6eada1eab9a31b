"""Every error that nhmech raises on purpose.

Messages carry what is wrong, where (file, element, line, joint), the value found, and what would be
right.
"""


class NhmechError(Exception):
    """Root of all errors of this package."""


class ModelError(NhmechError):
    """The robot description, its wheels or the ground cannot be used as given."""


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
