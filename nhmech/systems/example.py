"""What a textbook system is in this folder: a derivation, and what it is held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..checks import read_vector
from ..mechanics.equations import Equations
from ..mechanics.frame import adapted_frame
from ..mechanics.gibbs_appell import gibbs_appell
from ..mechanics.hamel import hamel
from ..mechanics.lagrange_dalembert import lagrange_dalembert
from ..mechanics.lagrange_multipliers import lagrange_multipliers
from ..mechanics.projection import projection
from ..mechanics.system import ConstrainedSystem
from ..symbolic.buffered import Buffered
from .shapes import Shape

METHODS: dict[str, Callable[..., Equations]] = {
    former.__name__: former for former in (gibbs_appell, lagrange_multipliers, hamel,
                                           lagrange_dalembert, projection)}

# those of a motion with nonlinear constraints, and why the others are not among them
CHETAEV_METHODS = ("gibbs_appell", "lagrange_multipliers", "projection")
BY_CHETAEV = ("the constraint is not linear in the velocities: Chetaev's rule gives the motion, "
              "no Lagrangian on a distribution")

# how far accelerations and multipliers of two methods may lie apart, relative
AGREEMENT = 1e-10

# what a parameter is multiplied by to see whether the shapes change
OTHER = 1.01


@dataclass(frozen=True)
class Check:
    """One comparison with a closed form, a published number or a conservation law.

    Attributes
    ----------
    what
        Is compared, in a few words.
    source
        Paper and equation, or the derivation that stands in the same file.
    tolerance
        Of `error`, relative to quantities of order one.
    error
        () -> largest error.
    """

    what: str
    source: str
    tolerance: float
    error: Callable[[], float]


@dataclass(frozen=True)
class Example:
    """A system of the literature.

    Attributes
    ----------
    name, title, source
        For the table; `source` names paper and equation.
    constrained
        The system with numbers for its parameters.
    start
        {"q": ..., "xi": ...} of an instructive motion.
    checks
        What it is held against; the agreement of the methods where there is nothing else.
    speeds
        Independent speeds, by name; chosen by conditioning where None.
    methods
        The equation formers that apply; `why_not` says why the others do not.
    why_not
        Why the other equation formers do not apply.
    shapes
        Each a `Shape`, for the viewer; none where there is nothing to see.
    generators
        Of a purely kinematic symmetry, as `mechanics.symmetry.symmetry` takes them: the system can
        be reduced by it.
    make
        The function whose result this is, where that is known: with another number for one of its
        arguments it gives the system again, and its shapes (`drawn_parameters`).
    """

    name: str
    title: str
    source: str
    constrained: ConstrainedSystem
    start: Mapping[str, Sequence[float] | np.ndarray]
    checks: Sequence[Check] = ()
    speeds: tuple[str, ...] | None = None
    methods: tuple[str, ...] = tuple(METHODS)
    why_not: str = ""
    shapes: Sequence[Shape] = ()
    generators: Mapping | None = None
    make: Callable[..., Example] | None = None

    def __repr__(self) -> str:
        return f"<Example {self.name!r}: {self.title}, {len(self.checks)} checks>"

    def reset_arguments(self) -> dict[str, Any]:
        """`start` as q= and xi= of `Simulator.reset`.

        Raises
        ------
        InputError
            Where it has not one number for each of the `speeds`.
        """
        q, xi = (self.start[part] for part in ("q", "xi"))
        if self.speeds is not None:
            values = read_vector(f"start of {self.name!r}: xi", xi, self.speeds)
            return {"q": q, "xi": dict(zip(self.speeds, values.tolist()))}
        return {"q": q, "xi": np.asarray(xi, dtype=float).tolist()}

    def equations(self, method: str = "gibbs_appell") -> Equations:
        return METHODS[method](self.constrained, frame=adapted_frame(self.constrained, self.speeds))


def drawn_parameters(example: Example) -> tuple[str, ...]:
    """Names of the parameters on which the sizes or the poses of the shapes depend.

    They are found by making the system again with another number for the parameter. What is no
    argument of `Example.make` changes nothing that is drawn; what it refuses counts as drawn.
    """
    if example.make is None or not example.shapes:
        return ()
    arguments, found = signature(example.make), []
    for name, value in zip(example.constrained.system.theta_names,
                           example.constrained.parameters.tolist()):
        changed = {name: OTHER * value or OTHER - 1}
        try:
            arguments.bind(**changed)
        except TypeError:
            continue
        try:
            alike = _drawn_alike(example, example.make(**changed))
        except Exception:       # a function of one's own raises what it likes
            alike = False
        if not alike:
            found.append(name)
    return tuple(found)


def _drawn_alike(one: Example, other: Example) -> bool:
    if [shape.size for shape in one.shapes] != [shape.size for shape in other.shapes]:
        return False
    return all(np.array_equal(a.pose(q), b.pose(q)) for a, b in zip(one.shapes, other.shapes)
               for q in one.constrained.configurations)


def largest(*values: ArrayLike) -> float:
    """The largest size of an entry; NaN where one is, which `max` may pass over."""
    return float(np.max([np.abs(np.asarray(value)).max(initial=0.0) for value in values]))


def apart(found: ArrayLike, expected: ArrayLike) -> float:
    """Largest difference of entries, relative to expected ones above one."""
    return largest(np.subtract(found, expected)) / max(1.0, largest(expected))


def disagreement(example: Example) -> float:
    """Largest relative difference of accelerations and multipliers between the methods that
    apply, at random states on the manifold."""
    frame = adapted_frame(example.constrained, example.speeds)
    formed = [METHODS[name](example.constrained, frame=frame) for name in example.methods]
    theta, rng = example.constrained.parameters, np.random.default_rng(0)
    configurations = example.constrained.configurations
    worst = 0.0
    for k in range(5):
        q = configurations[k % len(configurations)]
        t, xi = rng.uniform(0, 1), rng.normal(size=frame.nxi)
        u = rng.normal(size=example.constrained.system.u.numel())
        for part in ("acceleration", "multipliers"):
            values = [getattr(equations, part)(t, q, xi, u, theta).full() for equations in formed]
            worst = largest(worst, *(apart(value, values[0]) for value in values[1:]))
    return worst


def solve(example: Example, times: ArrayLike, *, method: str = "gibbs_appell",
          start: Mapping | None = None, u: Callable[[float], ArrayLike] | None = None,
          rtol: float = 1e-12) -> tuple[np.ndarray, np.ndarray]:
    """q (N, nq) and xi (N, nxi) at the given times [s], by SciPy's DOP853."""
    from scipy.integrate import solve_ivp

    equations, system = example.equations(method), example.constrained.system
    nq = system.algebroid.nq
    begin = example.start if start is None else start
    y0 = np.concatenate([np.asarray(begin["q"], dtype=float), np.asarray(begin["xi"], dtype=float)])
    y = ca.SX.sym("y", len(y0))
    evaluate = Buffered(ca.Function("rate", [system.t, y, system.u], [ca.densify(ca.vertcat(
        *equations.drift(system.t, y[:nq], y[nq:], system.u, example.constrained.parameters)))],
                                    {"cse": True}))
    resting = np.zeros(system.u.numel())

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return evaluate(t, y, resting if u is None else u(t))[0].copy()

    times = np.asarray(times, dtype=float)
    solution = solve_ivp(rate, (times[0], times[-1]), y0, method="DOP853", t_eval=times, rtol=rtol,
                         atol=rtol * 1e-2)
    return solution.y[:nq].T, solution.y[nq:].T
