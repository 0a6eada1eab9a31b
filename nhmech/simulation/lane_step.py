"""The step of a batch, and who runs it."""

from __future__ import annotations

import logging
import weakref
from dataclasses import dataclass

import casadi as ca

from ..compile.gpu import Kernel, compiled_kernel
from ..compile.lanes import Lanes, compiled_lanes
from ..compile.mapped import Mapped
from ..errors import CompileError
from ..mechanics.equations import Equations
from .flat import FlatState
from .integrators import rk4_function
from .subject import Subject


@dataclass(frozen=True)
class Stepper:
    """A system with its step ready to run on many cases; `cost` in instructions of one step."""

    subject: Subject
    equations: Equations
    flat: FlatState
    step: ca.Function
    cost: int
    runner: Lanes | Mapped | Kernel

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Of the columns of x ("q", then "xi"), of u and of theta."""
        system = self.subject.constrained.system
        return {"q": self.flat.names(()), "xi": self.equations.names, "u": system.u_names, "theta": system.theta_names}


def _cost(step: ca.Function) -> int:
    """Operations of one step; where it is made of calls, the rate is called four times and the projection once."""
    if step.is_a("SXFunction"):
        return step.n_instructions()
    return sum((1 if part.name() == "nhmech_project" else 4) * part.n_instructions() for part in step.find_functions(0))


def stepper(constrained, device: str = "cpu") -> Stepper:
    """Made once for each system and device ("cpu" or "gpu"); the last `KEPT` of them are kept, with their systems."""
    key = id(constrained), device
    made = _kept.get(key)
    if made is None:
        subject = Subject.of(constrained)
        flat = FlatState(subject.constrained.system.algebroid, subject.equations.frame.nxi)
        step = rk4_function(subject.equations, flat)
        runner = compiled_kernel(step, _cost(step)) if device == "gpu" else _runner(step)
        made = _kept[key] = Stepper(subject, subject.equations, flat, step, _cost(step), runner)
        weakref.finalize(constrained, _kept.pop, key, None)      # of a wrapper that the subject does not hold
        while len(_kept) > KEPT:
            _kept.pop(next(iter(_kept)), None)
    return made


KEPT = 64       # a sweep over vehicles must not fill the memory
_kept: dict[tuple[int, str], Stepper] = {}


def _runner(step: ca.Function) -> Lanes | Mapped:
    log = logging.getLogger("nhmech")
    try:
        lanes = compiled_lanes(step)
        if lanes is not None:
            return lanes
        log.warning("no C compiler found: batches run in CasADi's virtual machine, a hundred times slower or more")
    except CompileError as error:
        log.warning("no C++ on vectors: batches run in CasADi's virtual machine, a hundred times slower or more. %s",
                    str(error)[:300])
    return Mapped(step)
