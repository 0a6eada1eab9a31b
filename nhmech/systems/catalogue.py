"""The textbook systems by name, and a system of one's own from its file."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from ..checks import check_arguments
from ..errors import InputError, MechanicsError, NhmechError, did_you_mean, listed
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
def load_system(name: str | Path) -> Example:
    """A textbook system by name, or one's own from the file that it is typed in.

    Parameters
    ----------
    name
        One of `system_names`; or the path of a Python file with a function `example()` that needs
        no argument and returns an `Example`. The file is executed.

    Raises
    ------
    MechanicsError
        Where there is none of that name; the message lists them.
    InputError
        Where the file is not there, stops with an error, or returns no `Example`.

    Examples
    --------
    >>> from nhmech.systems import load_system
    >>> sled = load_system("sled")
    >>> sled.constrained.system.algebroid.q_names
    ('x', 'y', 'phi')
    """
    if str(name).endswith(".py"):
        return _load_file(Path(name))
    if name not in system_names():
        own = f"{name}.py" if Path(f"{name}.py").is_file() else ""
        raise MechanicsError(
            f"no system {str(name)!r}"
            f"; there are {listed(system_names(), 50)}; a system of your own is named by its file, "
            "such as my_system.py"
            + (f"; did you mean the file {own}?" if own else did_you_mean(name, system_names())))
    make = import_module(f"{__package__}.{name}").example
    return replace(make(), make=make)


def _load_file(file: Path) -> Example:
    if not file.is_file():
        raise InputError(f"{file} does not exist; a system of one's own is a Python file with a "
                         "function example() that returns an nhmech.systems.Example")
    loader = SourceFileLoader(f"system_{file.stem}", str(file))
    module = ModuleType(loader.name)
    module.__file__ = loader.path
    sys.modules[loader.name] = module        # where a dataclass looks for its annotations
    sys.path.insert(0, str(file.resolve().parent))      # what the file imports lies beside it
    try:
        loader.exec_module(module)
        make = getattr(module, "example", None)
        if not callable(make):
            raise InputError(f"{file} has no function example(); it has to return an "
                             "nhmech.systems.Example")
        made = make()
    except NhmechError:
        raise
    except SyntaxError as error:
        raise InputError(f"{error.filename}, line {error.lineno}: {error.msg}") from error
    except Exception as error:
        lines = [entry.lineno for entry in extract_tb(error.__traceback__)
                 if Path(entry.filename).name == file.name]
        where = f", line {lines[-1]}" if lines else ""
        raise InputError(f"{file}{where}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(file.resolve().parent))
    if not isinstance(made, Example):
        raise InputError(f"{file}: example() returns {made!r:.80}, not an nhmech.systems.Example")
    return replace(made, make=make)
