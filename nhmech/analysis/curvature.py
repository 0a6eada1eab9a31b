"""Curvature of the connection that the constraints define: where a small loop of the joints moves
the vehicle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ..checks import check_arguments, read_vector, read_word
from ..errors import REPR, listed
from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.connection import curvature
from ..mechanics.frame import adapted_frame
from ..mechanics.system import HasConstrained
from ..mechanics.writing import fibre_index
from ..simulation.simulated import Simulated
from .motions import extend

FLAT = 1e-9      # relative to the largest lift: a component below this is zero
# of the base, in its own frame
SEEN = {"forward_speed": "forward", "lateral_speed": "sideways", "yaw_rate": "turn"}


@dataclass(frozen=True)
class Curvature:
    """B^b(X_a, X_c) of the connection over `base`, at one configuration.

    Attributes
    ----------
    base, fibre
        Names of fibre coordinates; the fibre's are combinations of the base's on the constraints.
    units
        Of either, such as rad/s.
    values
        (m, n, n), antisymmetric. Moving by small alpha along a, then beta along c, then back by
        alpha and beta, displaces b by values[b, a, c] alpha beta.
    flat
        Whether it vanishes at all samples: the constraints are integrable.
    """

    base: tuple[str, ...]
    fibre: tuple[str, ...]
    units: dict[str, str]
    values: np.ndarray
    flat: bool

    def __repr__(self) -> str:
        return (f"<Curvature{', flat,' if self.flat else ''} of {listed(self.fibre, REPR)} over "
                f"{listed(self.base, REPR)}>")

    def component(self, fibre: str, first: str, second: str) -> float:
        """One value, by names. Raises `InputError` for unknown names."""
        for name, names in ((fibre, self.fibre), (first, self.base), (second, self.base)):
            read_word("fibre coordinate", name, names)
        return float(self.values[self.fibre.index(fibre), self.base.index(first),
                                 self.base.index(second)])

    @property
    def components(self) -> dict[tuple[str, str, str], float]:
        """(fibre, first, second) -> value of those that are not zero, `first` before `second` in
        the base."""
        size = max(1.0, float(np.abs(self.values).max(initial=0.0)))
        seen = np.argwhere(np.abs(self.values) > FLAT * size)
        return {(self.fibre[b], self.base[i], self.base[j]): float(self.values[b, i, j])
                for b, i, j in seen if i < j}


@check_arguments
def connection_curvature(constrained: HasConstrained, q: np.ndarray | None = None, *,
                         base: Sequence[str] | None = None) -> Curvature | None:
    """The curvature of a system's connection; None if there is no connection.

    A connection needs a fibration: the fibre coordinates that remain when those of the base are at
    rest must be closed under brackets. They are not if the base link can lean or pitch.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`.
    q
        A configuration; the first sample if None (a vehicle: the zero pose).
    base
        Names of the base velocities; the independent speeds if None.

    Raises
    ------
    MechanicsError
        For unknown names.
    InputError
        For names that do not determine the motion.
    """
    simulated = Simulated.of(constrained)
    vehicle = simulated.vehicle
    system_of = simulated.constrained if vehicle is None else vehicle.reduced
    system_of.require_linear("connection_curvature")
    algebroid = system_of.system.algebroid
    wanted = (None if base is None
              else [algebroid.v_names[fibre_index(algebroid, name)] for name in base])
    frame = (vehicle.frame if vehicle is not None and wanted is None
             else adapted_frame(system_of, wanted))
    below = list(frame.speeds)
    above = [i for i in range(algebroid.nv) if i not in below]
    space, E, points = extend(system_of, frame.E, 0.0)
    if not _is_fibration(space, below, above, points):
        return None
    B = ca.vertcat(ca.SX(0, len(below)), *curvature(space, ca.densify(E), below, above))
    evaluate = ca.Function("curvature", [space.q], [B, ca.densify(E)], {"cse": True})

    def at(point: np.ndarray) -> tuple[np.ndarray, float]:
        values, lift = (value.full() for value in evaluate(point))
        return values.reshape(len(above), len(below),
                              len(below)), max(1.0, float(np.abs(lift).max(initial=0.0)))

    largest = max((float(np.abs(values).max(initial=0.0)) / size ** 2
                   for values, size in map(at, points)), default=0.0)
    if q is not None:
        q = read_vector("q", q, algebroid.q_names)
        points = extend(replace(system_of, samples=q[None, :]), frame.E, 0.0)[2]
    units = dict(zip(algebroid.v_names, algebroid.v_units))
    return Curvature(frame.names, tuple(algebroid.v_names[i] for i in above), units,
                     at(points[0])[0], largest <= FLAT)


def _is_fibration(space: LieAlgebroid, below: list[int], above: list[int],
                  points: np.ndarray) -> bool:
    """Whether brackets of the fibre stay in it: c^alpha_ab = 0."""
    parts = ca.vertcat(ca.SX(0, len(above)),
                       *[ca.densify(space.structure[g])[above, above] for g in below])
    evaluate = ca.Function("parts", [space.q], [parts])
    return all(np.abs(evaluate(q).full()).max(initial=0.0) <= FLAT for q in points)


def describe_curvature(found: Curvature | None, *, most: int = 2) -> str:
    """The `most` curved pairs in words.

    E.g. "a small loop in left_wheel_joint and right_wheel_joint shifts the base: sideways -0.02
    m/rad^2". For a vehicle, only the motion of the base; `components` has the other joints too.
    """
    if found is None:
        return "not defined: the independent speeds are those of no fibration"
    if found.flat:
        return "zero: the constraints are integrable"
    base_only = "forward_speed" in found.fibre or "lateral_speed" in found.fibre
    pairs: dict[tuple[str, str], dict[str, float]] = {}
    for (name, first, second), value in found.components.items():
        if not base_only or name in SEEN:
            pairs.setdefault((first, second), {})[name] = value
    if not pairs:
        return "zero here, not elsewhere"
    # as they are printed, so that rounding does not decide between equal ones
    order = sorted(pairs, key=lambda pair: -max(abs(float(f"{value:.4g}"))
                                                for value in pairs[pair].values()))
    said = []
    for a, b in order[:most]:
        shifts = ", ".join(f"{SEEN.get(name, name)} {value:.4g} {_unit(found.units, name, a, b)}"
                           for name, value in pairs[a, b].items())
        said.append(f"a small loop in {a} and {b} shifts "
                    f"{'the base: ' if base_only else ''}{shifts}")
    return "; ".join(said) + (f"; {len(order) - most} more pairs (--json)" if len(order) > most
                              else "")


def _unit(units: dict[str, str], name: str, first: str, second: str) -> str:
    """The unit: m/rad^2 for metres of the fibre by two angles."""
    above, a, b = (units[key].removesuffix("/s") for key in (name, first, second))
    below = f"{a}^2" if a == b else f"({a} {b})" if a and b else a + b
    return f"{above}/{below}" if a or b else above
