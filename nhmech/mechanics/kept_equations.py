"""A cache of equations of motion in a private folder of the user: reading them takes a hundredth of
the time of deriving them."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np

from ..private_folder import EQUATIONS, private_folder
from ..version import __version__
from .equations import Equations
from .frame import AdaptedFrame

# instructions of the original expressions; equations of smaller ones are derived within 0.1 s
WORTH_KEEPING = 500
FUNCTIONS = ("drift", "multipliers", "velocity", "acceleration")


def keep_equations(frame: AdaptedFrame, rate: ca.SX, xi_rate: ca.SX,
                   form: Callable[[], Equations]) -> Equations:
    """The Gibbs-Appell equations that `form` derives in the frame, or the copy in the cache.

    The key is a hash of everything they depend on: the expressions in the adapted frame
    (description, ground and parameters), the acceleration `rate` dv/dt (nv,) in (t, q, v, xi_rate,
    theta), the sample configurations, and the source of this package. A damaged entry is replaced.
    """
    origin = _origin(frame, rate, xi_rate)
    if origin.n_instructions() < WORTH_KEEPING or (folder := private_folder()).temporary:
        return form()
    path = folder.path / f"{_key(frame, origin)}{EQUATIONS}"
    found = _read(path)
    if found is not None:
        return Equations(frame, **dict(zip(FUNCTIONS, found)), names=frame.names,
                         units=frame.units, method="gibbs_appell")
    made = form()
    # with a full disk, only time is lost
    with suppress(OSError):
        _write(path, [getattr(made, name) for name in FUNCTIONS])
    return made


def _origin(frame: AdaptedFrame, rate: ca.SX, xi_rate: ca.SX) -> ca.Function:
    """All expressions from which the equations are derived."""
    system, short = frame.constrained.system, frame.constrained.system.auxiliaries
    symbols = [system.t, system.q, system.v, system.a, system.u, system.theta, xi_rate]
    expressions = [system.gibbs, system.force, rate, frame.inverse, frame.offsets, system.q_rate]
    if short is not None:
        symbols.append(short.symbols)
        expressions.append(short.meanings)
    if frame.flow is not None:
        expressions.append(frame.flow)
    if frame.friction is not None:
        expressions += [frame.friction.forms, frame.friction.loads]
    # `form` will report symbols without a meaning
    return ca.Function("origin", symbols, expressions, {"allow_free": True})


def _key(frame: AdaptedFrame, origin: ca.Function) -> str:
    constrained = frame.constrained
    numbers = [constrained.configurations, constrained.parameters, [constrained.moment],
               frame.speeds, frame.kept]
    found = hashlib.sha256(f"{__version__} {ca.__version__} {_source()} {frame.names}".encode())
    found.update(origin.serialize().encode())
    for array in numbers:
        found.update(np.asarray(array, dtype=float).tobytes())
    return found.hexdigest()[:32]


@cache
def _source() -> str:
    """Hash of the code that derives equations, because equations derived by other code must not be
    used."""
    root, found = Path(__file__).parent.parent, hashlib.sha256()
    for path in sorted(path for part in ("mechanics", "symbolic")
                       for path in (root / part).rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def _read(path: Path) -> list[ca.Function] | None:
    """Functions of a file; None if it does not exist or is damaged."""
    try:
        seal, _, data = path.read_text().partition("\n")
        if hashlib.sha256(data.encode()).hexdigest() != seal:
            return None
        stored = ca.StringDeserializer(data)
        return [stored.unpack() for _ in FUNCTIONS]
    # missing, damaged, or from another version of CasADi
    except (OSError, ValueError, RuntimeError):
        return None


def _write(path: Path, functions: list[ca.Function]) -> None:
    """Writes to a temporary name, then moves the file, so that other processes never see a part of
    it."""
    store = ca.StringSerializer()
    for function in functions:
        store.pack(function)
    data = store.encode()
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="build-") as work:
        made = Path(work) / "equations"
        made.write_text(f"{hashlib.sha256(data.encode()).hexdigest()}\n{data}")
        made.chmod(0o600)
        os.replace(made, path)
