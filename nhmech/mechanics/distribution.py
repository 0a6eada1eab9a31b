"""Constraints: one-forms with an affine part, and the holonomic functions among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..errors import MechanicsError


@dataclass(frozen=True)
class Distribution:
    """A(t, q) v + b(t, q) = 0, and phi(t, q) = 0 for the rows that are integrable.

    A         (m, nv) one-forms
    b         (m,) affine part
    phi       (k,) holonomic functions; d phi_i/dt is row `phi_rows[i]`, up to a factor of one sign
    names     of the rows
    priority  a row of a lower number is kept before one of a higher number where rows depend on each other
    """

    A: ca.SX
    b: ca.SX
    phi: ca.SX
    phi_rows: tuple[int, ...]
    names: tuple[str, ...]
    priority: tuple[int, ...]

    @property
    def m(self) -> int:
        return self.A.shape[0]


@dataclass(frozen=True)
class Row:
    """One constraint, as contributors hand it over.

    form      (1, nv) one-form; `offset` its affine part; `phi` the holonomic function whose rate it is, or None
    """

    name: str
    form: ca.SX
    offset: ca.SX
    phi: ca.SX | None = None
    priority: int = 0


def assemble(rows: Sequence[Row], nv: int) -> Distribution:
    """Stacks the rows into a `Distribution`.

    Raises `MechanicsError` where two rows have the same name or a form has the wrong length.
    """
    names = tuple(row.name for row in rows)
    for row in rows:
        if row.form.shape != (1, nv):
            raise MechanicsError(f"constraint {row.name!r} has shape {row.form.shape}, expected (1, {nv})")
        if names.count(row.name) > 1:
            raise MechanicsError(f"two constraints are called {row.name!r}")
    holonomic = [i for i, row in enumerate(rows) if row.phi is not None]
    return Distribution(ca.vertcat(ca.SX(0, nv), *[row.form for row in rows]), ca.vertcat(ca.SX(0, 1), *[row.offset for row in rows]),
                        ca.vertcat(ca.SX(0, 1), *[rows[i].phi for i in holonomic]), tuple(holonomic), names,
                        tuple(row.priority for row in rows))
