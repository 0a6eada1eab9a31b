"""The motions that the constraints leave, as sections of a Lie algebroid, and the variables they
move."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ..checks import read_vector
from ..errors import MechanicsError
from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.frame import adapted_frame
from ..mechanics.system import ConstrainedSystem, HasConstrained
from ..simulation.simulated import Simulated
from ..vehicle.vehicle import Vehicle

POSE = {"forward_speed": "x", "lateral_speed": "y", "vertical_speed": "height",
        "roll_rate": "roll", "pitch_rate": "pitch", "yaw_rate": "yaw"}
ZERO = 1e-9        # a singular value below this, relative to the largest, counts as zero


@dataclass(frozen=True)
class Motions:
    """A frame E of the constraints, and their affine part e0, at time t held."""

    # of the configuration and, for small graphs, of what the root sees of the world (the ground's
    # normal)
    algebroid: LieAlgebroid
    sections: ca.SX  # E (nv, n); rows of what is left out are zero
    drift: ca.SX  # e0 (nv, 1), likewise
    # sample configurations, (k, nq), without those where the holonomic rows have less than their
    # usual rank
    points: np.ndarray
    # (k, nv, d) bases of the kernel of the holonomic one-forms there, with what is left out at rest
    tangent: np.ndarray
    variables: tuple[str, ...]  # d names of independent variables on the holonomic manifold
    # what is no variable: wheel angles (on which nothing in E depends), and followers of other
    # joints
    left_out: tuple[str, ...]

    @property
    def dimension(self) -> int:
        return len(self.variables)

    def at_points(self, part: ca.SX | None = None) -> np.ndarray:
        """E, (k, nv, n), or another expression in q."""
        part = self.sections if part is None else part
        evaluate = ca.Function("part", [self.algebroid.q], [ca.densify(part)])
        return np.array([evaluate(q).full() for q in self.points])


def motions(constrained: HasConstrained, *, wheel_angles: bool = False, q: np.ndarray | None = None,
            t: float = 0.0) -> Motions:
    """The motions of a vehicle or of a `ConstrainedSystem`.

    Parameters
    ----------
    wheel_angles
        Keep the angles of wheels, and the joints that a coupling or a mimic makes functions of
        others.
    q
        Only this configuration as sample, with rows and speeds that are well conditioned there.

    Raises
    ------
    MechanicsError
        Where q is not on the holonomic manifold, and where rows are not linear.
    """
    simulated = Simulated.of(constrained)
    vehicle = simulated.vehicle
    system_of = simulated.constrained if vehicle is None else vehicle.reduced
    system_of.require_linear("motions")
    if q is not None:
        # rows and speeds that serve here
        q = read_vector("q", q, system_of.system.algebroid.q_names)
        system_of = replace(system_of, samples=q[None, :])
    frame = vehicle.frame if vehicle is not None and q is None else adapted_frame(system_of)
    e0 = frame.velocity(ca.SX.zeros(frame.nxi))
    space, sections, points = extend(system_of, ca.horzcat(frame.E, e0), t)
    holonomic = _holonomic_forms(system_of, t, on_manifold=q is not None)
    names = [POSE.get(name, name.removesuffix("'")) for name in space.v_names]
    followers = _followers(vehicle) if vehicle is not None else ()
    out = []
    if vehicle is not None and not wheel_angles:
        out = _wheels(vehicle, space, sections) + [space.v_names.index(name) for name in followers]
    if out:
        keep = np.ones(space.nv)
        keep[out] = 0.0
        sections = ca.sparsify(ca.diag(ca.sparsify(ca.DM(keep))) @ sections)
    usual, tangent = _tangent(holonomic, out)
    order = _order(space.v_names, followers) if vehicle is not None else range(space.nv)
    variables = tuple(names[i] for i in _independent(tangent, order))
    return Motions(space, sections[:, :-1], sections[:, -1], points[usual], tangent, variables,
                   tuple(names[i] for i in out))


def extend(system_of: ConstrainedSystem, E: ca.SX,
             t: float) -> tuple[LieAlgebroid, ca.SX, np.ndarray]:
    """E on the configurations and the symbols of the auxiliary variables, whose rates complete the
    anchor."""
    system, points = system_of.system, system_of.configurations
    space, short = system.algebroid, system.auxiliaries
    held, values = ca.vertcat(system.t, system.theta), ca.vertcat(t, ca.DM(system_of.parameters))
    if short is not None:
        meanings = ca.Function("meanings", [system.t, space.q, system.theta], [short.meanings])
        points = np.array([np.r_[q, meanings(t, q,
                                             system_of.parameters).full().ravel()] for q in points])
        rates = ca.jacobian(short.rates, system.v)
        names = tuple(symbol.name() for symbol in ca.vertsplit(short.symbols))
        space = replace(space, q=ca.vertcat(space.q, short.symbols), q_names=space.q_names + names,
                        anchor=ca.vertcat(space.anchor, rates))
    used = [E, space.anchor, *space.structure]
    if ca.depends_on(ca.veccat(*used), held):
        E, anchor, *structure = ca.substitute(used, [held], [ca.densify(ca.SX(values))])
        space = replace(space, anchor=anchor, structure=tuple(structure))
    return space, ca.sparsify(E), points


def _holonomic_forms(system_of: ConstrainedSystem, t: float, on_manifold: bool) -> np.ndarray:
    """(k, m, nv) at the samples."""
    system, d = system_of.system, system_of.distribution
    forms = d.A[list(d.phi_rows), :]
    evaluate = ca.Function("holonomic", [system.t, system.q, system.theta],
                           system.expand(ca.densify(forms), ca.densify(d.phi)))
    found = [[value.full() for value in evaluate(t, q, system_of.parameters)]
             for q in system_of.configurations]
    if on_manifold and not all(system_of.holonomic_distances(q, t).max(initial=0.0) <= 1e-6
                               for q in system_of.configurations):
        worst = max(np.abs(phi).max() for _, phi in found)
        raise MechanicsError(f"q is not on the holonomic manifold: |phi| = {worst:.3g}; place the "
                             "vehicle with configuration(...)")
    return np.array([forms for forms, _ in found]).reshape(len(found), len(d.phi_rows),
                                                           system.algebroid.nv)


def kernel(forms: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the vectors on which all rows of forms (m, nv) vanish, (nv, d)."""
    if not np.isfinite(forms).all():
        raise MechanicsError("the allowed motions are not finite here because the constraints lose "
                             "rank, as when axles coincide; choose another configuration")
    _, s, vt = np.linalg.svd(forms)
    return vt[int(np.sum(s > ZERO * s.max(initial=0.0))):].T


def rank(matrix: np.ndarray) -> int:
    """The number of independent rows."""
    return matrix.shape[1] - kernel(matrix).shape[1]


def _tangent(forms: np.ndarray, out: list[int]) -> tuple[list[int], np.ndarray]:
    """Kernels of the holonomic forms without what is left out, and the samples where their rank is
    the usual one."""
    bases = []
    for form in forms:
        basis = kernel(form)
        basis[out] = 0.0
        u, s, _ = np.linalg.svd(basis, full_matrices=False)
        bases.append(u[:, s > ZERO])
    least = min(basis.shape[1] for basis in bases)
    usual = [k for k, basis in enumerate(bases) if basis.shape[1] == least]
    return usual, np.array([bases[k] for k in usual])


def _wheels(vehicle: Vehicle, space: LieAlgebroid, sections: ca.SX) -> list[int]:
    """Rates of wheels on whose angles the sections do not depend."""
    rates = [c.mount.spin for c in vehicle.contacts if c.mount.spin is not None]
    return sorted({a for a in rates
                   if not ca.depends_on(sections, space.q[space.anchor[:, a].sparsity().row()])})


def _followers(vehicle: Vehicle) -> tuple[str, ...]:
    """Joints whose position is a function of others: coupled steering behind its leaders, and mimic
    joints."""
    pair = vehicle.steering.pair() if vehicle.steering.coupled else ()
    coupled = [axle.steering for axle in vehicle.steering.steered if pair and axle not in pair]
    return tuple(name for name in coupled + [m.joint for m in vehicle.description.mimic]
                 if name in vehicle.algebroid.v_names)


def _order(names: tuple[str, ...], followers: tuple[str, ...]) -> list[int]:
    """x, y, yaw, leading joints, lean, and last what usually depends on these."""
    base = ["forward_speed", "lateral_speed", "yaw_rate"]
    rest = ["roll_rate", "pitch_rate", *followers, "vertical_speed"]
    joints = [name for name in names if name not in base + rest]
    return [names.index(name) for name in dict.fromkeys(base + joints + rest) if name in names]


def _independent(tangent: np.ndarray, order: Iterable[int]) -> list[int]:
    """Fibre coordinates that parametrise the tangent space at the last sample (a random one),
    chosen by `order`."""
    rest, chosen = tangent[-1].copy(), []
    for i in order:
        size = np.linalg.norm(rest[i])
        if size > 1e-6:
            chosen.append(i)
            rest = rest - np.outer(rest @ rest[i], rest[i]) / size ** 2
    return chosen
