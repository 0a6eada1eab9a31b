"""What the dynamics of a vehicle need not know: frozen parts of the attitude.

The equations see the attitude only through the ground's normal in the root's frame. A component of
it that the contacts hold is a constant: pitch and roll of an ordinary mobile base, a pendulum's
level axle, a disc's gauge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ..errors import ModelError
from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.frame import at_samples
from ..mechanics.system import AuxiliaryVariables, ConstrainedSystem
from .ground import Ground
from .parameters import Parameters

# how well a frozen component keeps its value, and the reduced rows agree with the full ones
SAME = 1e-12


@dataclass(frozen=True)
class Frozen:
    """Values of the components of n in the root's frame; NaN for those that move."""

    values: np.ndarray

    @property
    def any(self) -> bool:
        return bool(np.isfinite(self.values).any())


def frozen_normal(constrained: ConstrainedSystem, n_B: ca.SX) -> Frozen:
    """Components with the same value and a gradient in the span of the holonomic one-forms at every
    sample."""
    d = constrained.distribution
    normals = at_samples(constrained, ca.densify(n_B))[:, :, 0]
    forms = np.zeros((len(normals), 0, constrained.system.algebroid.nv))
    if d.phi_rows:
        forms = at_samples(constrained, ca.densify(d.A[list(d.phi_rows), :]))
    values = np.full(3, np.nan)
    for k in range(3):
        # dn_k/dt = (n x omega)_k
        held = all(_held(form, np.cross(np.eye(3)[k], n)) for form, n in zip(forms, normals))
        if held and np.ptp(normals[:, k]) <= SAME:
            values[k] = _plain(normals[:, k].mean())
    return Frozen(values)


def changes_attitude(parameters: Parameters) -> bool:
    """Whether a derivative by a radius is asked for: the attitude at which all wheels touch is then
    no constant."""
    return any(name.endswith((".radius", ".crown")) for name in parameters.symbolic)


def _held(form: np.ndarray, rates: np.ndarray) -> bool:
    """Whether the row that `rates` is of omega depends on the holonomic forms."""
    if not len(form):
        return False
    row = np.zeros(form.shape[1])
    row[3:6] = rates
    rest = row - form.T @ np.linalg.lstsq(form.T, row, rcond=1e-10)[0]
    return bool(np.linalg.norm(rest) <= 1e-9)


def _plain(value: float) -> float:
    """0, 1 and -1 without their rounding."""
    return float(round(value)) if abs(value - round(value)) <= SAME else float(value)


def root_auxiliaries(seen: dict[str, ca.SX], position: ca.SX, frozen: Frozen, ground: Ground, gravity,
                   v: ca.SX) -> tuple[dict[str, ca.SX], ca.SX, AuxiliaryVariables]:
    """Symbols for what the root sees of the world, frozen components of n put in, and the auxiliaries
    that explains them.

    In the root's frame a vector fixed in W changes by w' = w x omega, the root's own position by
    r' = v - omega x r - ground velocity.
    """
    omega = v[3:6]
    level = ground.normal == (0.0, 0.0, 1.0)
    short, entries = {}, []
    for name in seen:
        if name in ("g", "turning") or (name == "z" and level):
            continue
        vector = ca.SX(3, 1)
        for k in range(3):
            if name == "n" and np.isfinite(frozen.values[k]):
                if frozen.values[k]:
                    vector[k] = frozen.values[k]
            elif seen[name].sparsity().has_nz(k, 0):
                vector[k] = ca.SX.sym(f"{name}_{'xyz'[k]}")
        short[name] = vector
        rate = ca.cross(vector, omega)
        entries += [(vector[k], seen[name][k], rate[k]) for k in range(3)
                    if vector[k].nnz() and vector[k].is_symbolic()]
    short["z"] = short["n"] if level else short["z"]
    short |= {"g": -gravity * short["z"],
              "turning": float(np.dot(ground.angular_velocity, ground.normal)) * short["n"]}
    r = ca.SX.sym("r", 3)
    rate = v[:3] - ca.cross(omega, r) - short["velocity"]
    entries += [(r[k], position[k], rate[k]) for k in range(3)]
    return short, r, AuxiliaryVariables(*(ca.densify(ca.vertcat(*part)) for part in zip(*entries)))


def with_vertical(algebroid: LieAlgebroid, z: ca.SX) -> LieAlgebroid:
    """The algebroid with the row of dz/dt = z . v_B written by what the root sees of the vertical,
    z (3,)."""
    anchor = ca.SX(algebroid.anchor)
    for k in range(3):
        anchor[2, k] = z[k]
    return replace(algebroid, anchor=ca.sparsify(anchor))


def check_reduction(full: ConstrainedSystem, reduced: ConstrainedSystem) -> None:
    """Both have the same rows at the samples, relative to each row's size there, reduced ones in
    another basis too.

    Raises
    ------
    ModelError
        Naming the row where they do not.
    """
    rows, d = at_samples(full, ca.densify(full.distribution.A)), reduced.distribution
    forms, _, rotation = d.sparse_basis(range(d.m))
    for others in (d.A, rotation @ forms):
        apart = np.abs(rows - at_samples(reduced, ca.densify(others)))
        difference = apart.max(axis=2) / np.abs(rows).max(axis=2).clip(1.0)
        worst = int(np.argmax(difference.max(axis=0)))
        if difference[:, worst].max() > SAME:
            raise ModelError(f"freezing part of the attitude changes the row {d.names[worst]!r} by "
                             f"{difference[:, worst].max():.2g}")
