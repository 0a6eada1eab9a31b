"""Every error that nhmech raises on purpose.

Messages carry what is wrong, where (file, element, line, joint), the value found, and what would
be right.
"""

from collections.abc import Iterable


class NhmechError(Exception):
    """Root of all errors of this package.

    Examples
    --------
    >>> try:
    ...     nhmech.load("no such file.urdf")
    ... except nhmech.NhmechError as error:
    ...     print(type(error).__name__)
    ModelError
    """


class InputError(NhmechError, ValueError):
    """An argument cannot be used as given, wherever it is given: wrong type, shape, sign or name.

    Examples
    --------
    >>> nhmech.Wheel("left_wheel_joint", "disk", 0.1)
    Traceback (most recent call last):
        ...
    nhmech.errors.InputError: ...
    """


class ModelError(NhmechError):
    """The robot description, its wheels or the ground do not make a vehicle.

    Examples
    --------
    >>> nhmech.load("<robot name='empty'/>")
    Traceback (most recent call last):
        ...
    nhmech.errors.ModelError: ...
    """


class MechanicsError(NhmechError):
    """A system, a distribution or a frame is inconsistent.

    For example, its rank or a shape is wrong, or it is singular where it must be regular.

    Examples
    --------
    >>> nhmech.gibbs_appell(vehicle, speeds=("yaw_rate",))
    Traceback (most recent call last):
        ...
    nhmech.errors.MechanicsError: ...
    """


class CompileError(NhmechError):
    """Generated code could not be compiled or loaded.

    Examples
    --------
    >>> issubclass(CompileError, NhmechError)
    True
    """


class SimulationError(NhmechError):
    """A run stopped by a failure; `trajectory` holds what was computed until then.

    Examples
    --------
    >>> def broken(t, state):
    ...     if t > 0.01:
    ...         raise RuntimeError("cable loose")
    >>> try:
    ...     Simulator(vehicle, broken).run(1.0)
    ... except SimulationError as error:
    ...     print(len(error.trajectory) > 5)
    True
    """

    def __init__(self, message: str, trajectory=None):
        super().__init__(message)
        self.trajectory = trajectory


def listed(names: Iterable[object], most: int = 30) -> str:
    """The names with commas between them, at most so many of them; "none" where there are none."""
    shown = [str(name) for name in names]
    text = ", ".join(shown[:most]) or "none"
    return f"{text} and {len(shown) - most} more" if len(shown) > most else text
