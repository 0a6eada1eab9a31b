"""The textbook systems by name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ..checks import check_arguments
from ..errors import MechanicsError
from .example import Example

# modules of this folder that hold no system
_OTHERS = ("catalogue", "example", "shapes", "written")


def system_names() -> tuple[str, ...]:
    """Names of the textbook systems.

    Examples
    --------
    >>> from nhmech.systems import system_names
    >>> "sled" in system_names()
    True
    """
    names = (file.stem for file in Path(__file__).parent.glob("[a-z]*.py"))
    return tuple(sorted(name for name in names if name not in _OTHERS))


@check_arguments
def load_system(name: str) -> Example:
    """A textbook system by name.

    Parameters
    ----------
    name
        One of `system_names`.

    Raises
    ------
    MechanicsError
        Where there is none of that name; the message lists them.

    Examples
    --------
    >>> from nhmech.systems import load_system
    >>> sled = load_system("sled")
    >>> sled.constrained.system.algebroid.q_names
    ('x', 'y', 'phi')
    """
    if name not in system_names():
        raise MechanicsError(f"no system {name!r}; there are {', '.join(system_names())}")
    return import_module(f"{__package__}.{name}").example()
