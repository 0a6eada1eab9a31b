"""The integrable part of a distribution: closed one-forms with constant coefficients that vanish on
it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pinocchio as pin

from ..mechanics.samples import sample_points
from ..mechanics.symmetry_search import echelon
from ..mechanics.system import ConstrainedSystem, HasConstrained
from ..simulation.simulated import Simulated
from ..vehicle.vehicle import Vehicle
from .motions import POSE, ZERO, Motions, kernel, motions


@dataclass(frozen=True)
class Combination:
    """sum_i coefficients[name_i] name_i is constant along every motion; angles are unwrapped
    [rad]."""

    coefficients: dict[str, float]

    def __str__(self) -> str:
        """The combination as a sentence, such as "0.1 (right_wheel - left_wheel) - 0.5 yaw is
        constant"."""
        groups: dict[float, list[tuple[str, float]]] = {}
        for name, value in self.coefficients.items():
            size = next((known for known in groups if abs(known - abs(value)) <= 1e-9 * known),
                        abs(value))
            groups.setdefault(size, []).append((name, value))
        parts = []
        for size, terms in groups.items():
            sign = 1 if any(value > 0 for _, value in terms) else -1
            # coefficients of a group differ by rounding only, so names break the tie
            terms = sorted(terms, key=lambda term: (sign * term[1] < 0, term[0]))
            inner = "".join(f" {'+' if sign * value > 0 else '-'} {name}"
                            for name, value in terms).removeprefix(" + ")
            factor = "" if abs(size - 1) <= 1e-9 else f"{size:.6g} "
            enclosed = len(terms) > 1 and (factor or sign < 0)
            parts.append(("+" if sign > 0 else "-",
                          f"{factor}({inner})" if enclosed else factor + inner))
        return " ".join(f"{sign} {part}"
                        for sign, part in parts).removeprefix("+ ") + " is constant"


@dataclass(frozen=True)
class Candidates:
    """One-forms among which the search looks for combinations with constant coefficients."""

    # of the coordinates whose differentials they are; the one that keeps a plain coefficient comes
    # first
    names: tuple[str, ...]
    scales: tuple[float, ...]  # metres per unit
    forms: np.ndarray  # (k, c, nv) at each sample
    # (k, c, nv, nv) d f(e_a, e_b), their exterior derivatives; of differentials zero on the
    # holonomic manifold
    twists: np.ndarray


def integrable_combinations(constrained: HasConstrained,
                            found: Motions | None = None) -> tuple[Combination, ...]:
    """All independent combinations of coordinates that are constant along every motion, except
    those that the holonomic rows hold.

    w with w f E = 0, w f e0 = 0 and w df = 0 on the holonomic manifold at every sample, w constant
    and f the candidates: the joint rates and the yaw rate n . omega of a vehicle, the fibre
    coordinates of another system. Such a form also vanishes on all brackets of the distribution: no
    steering changes the combination. `found` has the motions with wheel angles, if they are known.
    """
    found = found or motions(constrained, wheel_angles=True)
    simulated = Simulated.of(constrained)
    vehicle = simulated.vehicle
    vanishing, fixed = [], []
    for there in (found, *(() if vehicle is not None else _later(simulated.constrained))):
        candidates = (_constant(there, simulated.constrained) if vehicle is None
                      else _of_vehicle(there, vehicle))
        for forms, twists, E, e0, basis in zip(
                candidates.forms, candidates.twists, there.at_points(),
                there.at_points(there.drift), there.tangent):
            closed = np.einsum("cab,ai,bj->cij", twists, basis, basis).reshape(len(forms), -1)
            vanishing += [forms @ E, forms @ e0, closed]
            fixed.append(forms @ basis)
    rows = _beyond(kernel(np.hstack(vanishing).T).T, kernel(np.hstack(fixed).T).T)
    made = []
    for row in rows:
        used = np.flatnonzero(np.abs(row) > ZERO)
        row = row * candidates.scales[used[0]]
        row = -row if row[used[-1]] > 0 else row
        made.append(Combination({candidates.names[i]: float(row[i]) for i in used}))
    return tuple(made)


def _later(constrained: ConstrainedSystem) -> Iterator[Motions]:
    """Motions at later times, of a system that depends on time."""
    times, points = sample_points(constrained)
    for t in np.unique(times[times > constrained.moment]):
        there = replace(constrained, samples=points[times == t], moment=float(t))
        yield motions(there, wheel_angles=True, t=float(t))


def _constant(found: Motions, system_of: ConstrainedSystem) -> Candidates:
    """The fibre's basis; de^g(e_a, e_b) = -c^g_ab."""
    space = found.algebroid
    structure = ca.Function("structure", [space.q], [ca.densify(c) for c in space.structure])
    twists = np.array([[-value.full() for value in structure.call([ca.DM(q)])]
                       for q in found.points])
    names = tuple(POSE.get(name, name.removesuffix("'")) for name in space.v_names)
    return Candidates(names, tuple(system_of.fibre_scales),
                      np.broadcast_to(np.eye(space.nv), (len(twists), space.nv, space.nv)), twists)


def _of_vehicle(found: Motions, vehicle: Vehicle) -> Candidates:
    """Wheels, other joints, and yaw: d(n . omega)(X, Y) = n . (omega_X x omega_Y).

    It is zero where the base can tilt about one axis only.
    """
    names, nv = found.algebroid.v_names, found.algebroid.nv
    spins = {c.mount.spin for c in vehicle.contacts if c.mount.spin is not None}
    joints = sorted(range(6, nv), key=lambda i: (i not in spins, i))
    points, count = len(found.points), len(joints) + 1
    forms, twists = np.zeros((points, count, nv)), np.zeros((points, count, nv, nv))
    forms[:, range(len(joints)), joints] = 1.0
    for k, q in enumerate(found.points):
        n = pin.Quaternion(q[3:7]).toRotationMatrix().T @ vehicle.placer.normal
        forms[k, -1, 3:6] = n
        twists[k, -1, 3:6, 3:6] = -pin.skew(n)
    return Candidates((*(names[i] for i in joints), "yaw"),
                      (*vehicle.reduced.fibre_scales[joints], 1.0), forms, twists)


def _beyond(rows: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """Echelon form of the span of `rows` modulo that of `fixed`."""
    fixed = echelon(fixed)
    pivots = [int(np.flatnonzero(row)[0]) for row in fixed]
    _, s, vt = np.linalg.svd(rows - rows[:, pivots] @ fixed)
    return echelon(vt[:int(np.sum(s > 1e-8))])
