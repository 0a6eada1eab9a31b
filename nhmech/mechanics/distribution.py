"""Constraints: one-forms with an affine part, and the holonomic functions among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import casadi as ca

from ..errors import REPR, MechanicsError, listed


class Component(NamedTuple):
    """One component of a contact's force or speed; `str()` gives "contact/direction"."""

    contact: str
    direction: str

    @property
    def is_normal(self) -> bool:
        """Whether it is a normal component."""
        return self.direction == "normal"

    def __str__(self) -> str:
        return f"{self.contact}/{self.direction}"


@dataclass(frozen=True)
class Distribution:
    """A(t, q) v + b(t, q) = 0, and phi(t, q) = 0 for the rows that are integrable.

    Attributes
    ----------
    A
        (m, nv) one-forms.
    b
        (m,) affine part.
    phi
        (k,) holonomic functions.
    phi_rows
        Row of each phi_i: d phi_i/dt is row `phi_rows[i]`, up to a factor of constant sign.
    names
        Names of the rows.
    priority
        If rows depend on each other, rows with lower numbers are kept first.
    spans
        Other bases of the span of some rows.
    components
        Contact and direction of each row; None for rows of no contact.
    flow
        Nonlinear part of the rows beside A v + b, a function of (t, q, v), (m,); only rows with a
        follower have one.
    followers
        Row -> the fibre coordinate that it determines from the others. That coordinate occurs in no
        other row and in no inertia, so that the row exerts no force, and may be nonlinear.
    """

    A: ca.SX
    b: ca.SX
    phi: ca.SX
    phi_rows: tuple[int, ...]
    names: tuple[str, ...]
    priority: tuple[int, ...]
    spans: tuple[Span, ...] = ()
    components: tuple[Component | None, ...] = ()
    flow: ca.SX | None = None
    followers: Mapping[int, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Distribution of {self.m} rows: {listed(self.names, REPR)}>"

    @property
    def m(self) -> int:
        return self.A.shape[0]

    def sparse_basis(self, kept: Sequence[int]) -> tuple[ca.SX, ca.SX, ca.SX]:
        """B, c, R with A = R B and b = R c for the rows `kept`, R orthogonal: spans whose rows are
        all kept use their own basis."""
        rows = list(kept)
        forms, offsets = ca.SX(self.A[rows, :]), ca.SX(self.b[rows])
        rotation = ca.SX.eye(len(rows))
        for span in self.spans:
            if set(span.rows) <= set(kept):
                at = [rows.index(row) for row in span.rows]
                forms[at, :], offsets[at] = span.forms, span.offsets
                rotation[at, at] = span.rotation
        return ca.sparsify(forms), ca.sparsify(offsets), ca.sparsify(rotation)


@dataclass(frozen=True)
class Span:
    """A sparser basis of the span of some rows: A[rows] = rotation @ forms, b[rows] = rotation @
    offsets."""

    rows: tuple  # indices, or names before they are assembled
    forms: ca.SX  # (k, nv)
    offsets: ca.SX  # (k,)
    rotation: ca.SX  # (k, k), orthogonal, a function of (t, q)

    def parts(self) -> list[Span]:
        """The smallest spans in this one: the blocks of `rotation` with more than one row."""
        left = set(range(len(self.rows)))
        found: list[Span] = []
        while left:
            rows = {min(left)}
            columns: set[int] = set()
            while True:
                wider = {j for i in rows
                         for j in range(len(self.rows)) if self.rotation.sparsity().has_nz(i, j)}
                reached = rows | {i for i in left
                                  for j in wider if self.rotation.sparsity().has_nz(i, j)}
                if reached == rows and wider == columns:
                    break
                rows, columns = reached, wider
            left -= rows
            i, j = sorted(rows), sorted(columns)
            if len(i) == len(j) > 1:
                found.append(Span(tuple(self.rows[k] for k in i), self.forms[j, :], self.offsets[j],
                                  self.rotation[i, j]))
        return found


@dataclass(frozen=True)
class Row:
    """One constraint row, before rows are assembled."""

    name: str
    # (1, nv) one-form; `offset`: its affine part; `phi`: the holonomic function whose rate it is,
    # or None
    form: ca.SX
    offset: ca.SX
    phi: ca.SX | None = None
    priority: int = 0
    # contact and direction; None for rows of no contact
    component: Component | None = None
    # the fibre coordinate that only this row determines (`Distribution.followers`), if any; then
    # `flow`, a function of (t, q, v), may be added to the row
    follower: int | None = None
    flow: ca.SX | None = None


def assemble(rows: Sequence[Row], nv: int, spans: Sequence[Span] = ()) -> Distribution:
    """Stacks the rows into a `Distribution`, without spans of rows that are missing.
    """
    names = tuple(row.name for row in rows)
    for row in rows:
        if row.form.shape != (1, nv):
            raise MechanicsError(f"constraint {row.name!r} has shape {row.form.shape}, expected "
                                 f"(1, {nv})")
        if names.count(row.name) > 1:
            raise MechanicsError(f"two constraints are called {row.name!r}")
    holonomic = [i for i, row in enumerate(rows) if row.phi is not None]
    return Distribution(ca.vertcat(ca.SX(0, nv), *[row.form for row in rows]),
                        ca.vertcat(ca.SX(0, 1), *[row.offset for row in rows]),
                        ca.vertcat(ca.SX(0, 1), *[row.phi for row in rows if row.phi is not None]),
                        tuple(holonomic), names, tuple(row.priority for row in rows),
                        tuple(replace(part, rows=tuple(names.index(name) for name in part.rows))
                              for span in spans
                              for part in span.parts() if set(part.rows) <= set(names)),
                        tuple(row.component for row in rows),
                        *_flow(rows))


def _flow(rows: Sequence[Row]) -> tuple[ca.SX | None, dict[int, int]]:
    """`flow` and `followers` of a distribution."""
    followers = {i: row.follower for i, row in enumerate(rows) if row.follower is not None}
    if not followers:
        return None, {}
    return ca.vertcat(*[ca.SX(1, 1) if row.flow is None else row.flow for row in rows]), followers
