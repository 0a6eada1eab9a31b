"""Simplifies the dynamics of a vehicle by components of its attitude that are constant.

The equations depend on the attitude only through the ground's normal in the root's frame. The
contacts may keep components of it constant: pitch and roll of an ordinary mobile base, the level
axle of a pendulum, the gauge of a disc.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ..errors import ModelError
from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.frame import at_samples
from ..mechanics.system import AuxiliaryVariables, ConstrainedSystem
from .context import BuildContext
from .parameters import Parameters, gravity_vector
from .tree import RootView

SAME = 1e-12      # tolerance of frozen components, and of reduced rows against full ones
HELD = 1e-9       # tolerance of a unit form outside the span of the holonomic ones
RANK = 1e-10      # relative: singular values of the holonomic forms below it are rounding


def find_frozen(constrained: ConstrainedSystem, n_B: ca.SX, parameters: Parameters) -> np.ndarray:
    """Values (3,) of the components of n in the root's frame that the contacts keep constant; NaN
    for the others.

    A constant component has the same value, and a gradient in the span of the holonomic one-forms,
    at every sample. None is constant if a radius is symbolic, because the attitude at which all
    wheels touch the ground then depends on it.
    """
    values = np.full(3, np.nan)
    if any(name.endswith((".radius", ".crown")) for name in parameters.symbolic):
        return values
    d = constrained.distribution
    normals = at_samples(constrained, ca.densify(n_B))[:, :, 0]
    forms = at_samples(constrained, ca.densify(d.A[list(d.phi_rows), :]))
    for k in range(3):
        # dn_k/dt = (n x omega)_k
        rates = np.cross(np.eye(3)[k], normals)
        held = all(_is_held(form, rate) for form, rate in zip(forms, rates))
        if held and np.ptp(normals[:, k]) <= SAME:
            values[k] = _round(normals[:, k].mean())
    return values


def _is_held(form: np.ndarray, rates: np.ndarray) -> bool:
    """Whether the row `rates` of omega depends linearly on the holonomic forms."""
    row = np.zeros(form.shape[1])
    row[3:6] = rates
    rest = row - form.T @ np.linalg.lstsq(form.T, row, rcond=RANK)[0]
    return bool(np.linalg.norm(rest) <= HELD)


def _round(value: float) -> float:
    """The value, with rounding errors of 0, 1 and -1 removed."""
    return float(round(value)) if abs(value - round(value)) <= SAME else float(value)


def shorten(context: BuildContext, view: RootView,
            frozen: np.ndarray) -> tuple[RootView, AuxiliaryVariables]:
    """Symbols for the vectors of W in the root's frame, with constant components of n inserted, and
    the expressions that the symbols replace.

    In the root's frame, a vector w fixed in W has the derivative w' = w x omega, and the position
    of the root r' = v - omega x r - ground velocity.
    """
    ground, v, omega = context.ground, context.v, context.v[3:6]
    level = ground.normal == (0.0, 0.0, 1.0)
    vectors: dict[str, ca.SX] = {}
    entries: list[tuple[ca.SX, ca.SX, ca.SX]] = []      # symbol, meaning, rate
    for name, seen in view.vectors.items():
        if name in ("g", "turning") or (name == "z" and level):
            continue      # multiples of z and n, below
        short = ca.SX(3, 1)
        for k in range(3):
            if name == "n" and np.isfinite(frozen[k]):
                if frozen[k]:
                    short[k] = frozen[k]
            elif seen.sparsity().has_nz(k, 0):
                short[k] = ca.SX.sym(f"{name}_{'xyz'[k]}")
        vectors[name] = short
        rate = ca.cross(short, omega)
        entries += [(short[k], seen[k], rate[k]) for k in range(3)
                    if short[k].nnz() and short[k].is_symbolic()]
    if level:
        vectors["z"] = vectors["n"]
    axes = ca.horzcat(vectors["x"], vectors["y"], vectors["z"])
    vectors["g"] = axes @ gravity_vector(context.parameters)
    vectors["turning"] = float(np.dot(ground.angular_velocity, ground.normal)) * vectors["n"]
    r = ca.SX.sym("r", 3)
    rate = v[:3] - ca.cross(omega, r) - vectors["velocity"]
    entries += [(r[k], view.position[k], rate[k]) for k in range(3)]
    symbols, meanings, rates = (ca.densify(ca.vertcat(*part)) for part in zip(*entries))
    return RootView(vectors, r), AuxiliaryVariables(symbols, meanings, rates)


def add_vertical(algebroid: LieAlgebroid, z: ca.SX) -> LieAlgebroid:
    """The algebroid with the row of dz/dt = z . v_B written by what the root sees of the vertical,
    z (3,)."""
    anchor = ca.SX(algebroid.anchor)
    for k in range(3):
        anchor[2, k] = z[k]
    return replace(algebroid, anchor=ca.sparsify(anchor))


def check_reduction(full: ConstrainedSystem, reduced: ConstrainedSystem) -> None:
    """Both have the same rows at the configurations of the vehicle, relative to each row's size
    there, reduced ones in another basis too. (Of those that are nearest to them later some may have
    a massless root upside down, which is another attitude with the same wheels.)
    """
    own, d = slice(len(full.configurations)), reduced.distribution
    rows = at_samples(full, ca.densify(full.distribution.A))[own]
    forms, _, rotation = d.sparse_basis(range(d.m))
    for others in (d.A, rotation @ forms):
        apart = np.abs(rows - at_samples(reduced, ca.densify(others))[own])
        difference = apart.max(axis=2) / np.abs(rows).max(axis=2).clip(1.0)
        worst = int(np.argmax(difference.max(axis=0)))
        if difference[:, worst].max() > SAME:
            raise ModelError(f"freezing part of the attitude changes the row {d.names[worst]!r} by "
                             f"{difference[:, worst].max():.2g}")
