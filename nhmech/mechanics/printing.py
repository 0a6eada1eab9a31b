"""The text of a system and its equations, for `print`, for notebooks and for LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations
from typing import Protocol

import casadi as ca
import numpy as np

from ..symbolic.document import Section
from ..symbolic.plain_text import text
from ..symbolic.rational import TooLongError
from ..symbolic.written import Writer
from .algebroid import LieAlgebroid
from .distribution import Distribution

READABLE = 3000         # largest length of a formula that is shown without simplification


class NamedSystem(Protocol):
    """The interface of a Lagrangian system: symbols with names, and functions of them."""

    @property
    def algebroid(self) -> LieAlgebroid: ...

    @property
    def t(self) -> ca.SX: ...

    @property
    def v(self) -> ca.SX: ...

    @property
    def a(self) -> ca.SX: ...

    @property
    def u(self) -> ca.SX: ...

    @property
    def theta(self) -> ca.SX: ...

    @property
    def u_names(self) -> tuple[str, ...]: ...

    @property
    def theta_names(self) -> tuple[str, ...]: ...

    @property
    def energy(self) -> ca.SX: ...

    @property
    def lagrangian(self) -> ca.SX | None: ...

    @property
    def force(self) -> ca.SX: ...

    def expand(self, *expressions: ca.SX) -> list[ca.SX]: ...


class Display:
    """Distinct names for the symbols of a system, and expressions written in them.

    The rate of a coordinate x is written x', also if the fibre coordinate has the name of the
    coordinate; an input with the name of another quantity is called u_name.

    Attributes
    ----------
    v_names, u_names
        Displayed names of v and u.
    """

    def __init__(self, system: NamedSystem, as_latex: bool):
        self.system, self.as_latex = system, as_latex
        space = system.algebroid
        angles = {name.removesuffix(".cos") for name in space.q_names if name.endswith(".cos")}
        taken = {*space.q_names, *angles, *system.theta_names}
        self.v_names = tuple(f"{name}'" if name in taken else name for name in space.v_names)
        taken |= {*self.v_names, *space.v_names}
        self.u_names = tuple(f"u_{name}" if name in taken else name for name in system.u_names)
        self._unit = [space.q_names[i:i + 2] for i, _ in space.circles]
        self._unit += [space.q_names[i:i + 4] for i in space.quaternions]
        old = [system.t, space.q, system.v, system.a, system.u, system.theta]
        names = (("t",), space.q_names, self.v_names, [f"{name}'" for name in self.v_names],
                 self.u_names, system.theta_names)
        self._old = [part for part in old if part.numel()]
        self._new = [column(part) for part in names if len(part)]

    def name(self, name: str) -> str:
        return Writer(self.as_latex).name(name)

    def rates(self, names: Sequence[str]) -> ca.SX:
        """Symbols of the rates of fibre coordinates, with displayed names."""
        return column([f"{name}'" for name in names])

    def write(self, *expressions: ca.SX, also: Sequence[ca.SX] = ()) -> list[str]:
        """The text of each scalar expression in (t, q, v, a, u, theta). `also`: further symbols by
        which terms are collected."""
        speeds = [symbol.name() for part in also for symbol in ca.vertsplit(part)]
        rates = [f"{name}'" for name in self.v_names]
        writer = Writer(self.as_latex, (*speeds, *rates, *self.v_names, *self.u_names), self._unit)
        renamed = ca.substitute([ca.densify(ca.SX(e)) for e in expressions], self._old, self._new) \
            if expressions else []
        try:
            written = writer.write(*renamed)
        except TooLongError:
            written = [""] * len(renamed)
        return [words or self._long(e) for words, e in zip(written, renamed)]

    def _long(self, expression: ca.SX) -> str:
        """A placeholder for an expression that would take too long to simplify."""
        if not self.as_latex:
            with suppress(OverflowError):
                return text(expression, READABLE)
        count = ca.Function("long", ca.symvar(expression), [expression], {"cse": True}).n_nodes()
        words = f"an expression of {count} operations, too long to print"
        return rf"\text{{({words})}}" if self.as_latex else f"({words})"

    def section(self, heading: str, names: Sequence[str], expressions: ca.SX,
                also: Sequence[ca.SX] = ()) -> Section:
        """Equations name = expression, without those of the form x' = x'."""
        rights = self.write(*ca.vertsplit(ca.densify(expressions)), also=also)
        pairs = ((self.name(name), right) for name, right in zip(names, rights))
        return Section(heading, tuple(pair for pair in pairs if pair[0] != pair[1]))


def system_sections(system: NamedSystem, display: Display) -> list[Section]:
    """Lagrangian, brackets of the fibre's basis, forces."""
    space = system.algebroid
    function, force = system.expand(
        system.energy if system.lagrangian is None else system.lagrangian, system.force)
    made = [display.section("energy" if system.lagrangian is None else "Lagrangian",
                            ["E" if system.lagrangian is None else "L"], function)]
    made.append(bracket_section("structure functions", display.v_names, space.structure, display))
    acting = [i for i in range(space.nv) if not force[i].is_zero()]
    made.append(display.section("forces", [f"tau_{display.v_names[i]}" for i in acting],
                                force[acting]))
    return [section for section in made if section.formulas]


def constraint_sections(d: Distribution, parameters: np.ndarray, display: Display,
                        invariant: ca.SX) -> list[Section]:
    """Rows, holonomic functions, functions of the state that stay zero, numbers."""
    system = display.system
    rows = [row for row in range(d.m) if row not in d.phi_rows]
    flow = ca.SX(d.m, 1) if d.flow is None else d.flow
    speeds, phi = system.expand((d.A @ system.v + d.b + flow)[rows], d.phi)
    made = [Section("constraints", tuple((left, "0") for left in display.write(
                *ca.vertsplit(speeds)))),
            Section("holonomic constraints", tuple((left, "0") for left in display.write(
                *ca.vertsplit(phi)))),
            Section("on the manifold", tuple((left, "0") for left in display.write(
                *ca.vertsplit(invariant))))]
    numbers = zip(system.theta_names, np.atleast_1d(parameters))
    made.append(Section("parameters", tuple((display.name(name), f"{value:.9g}")
                                            for name, value in numbers)))
    return [section for section in made if section.formulas]


def bracket_section(heading: str, names: Sequence[str], structure: Sequence[ca.SX],
                    display: Display) -> Section:
    """[e_a, e_b] = sum of c^g_ab e_g, for the brackets that are not zero."""
    n, basis = len(names), [f"e_{name}" for name in names]
    symbols = column(basis)
    pairs = list(combinations(range(n), 2))
    brackets = [ca.vertcat(*[c[a, b] for c in structure]).T @ symbols for a, b in pairs]
    written = display.write(*brackets, also=[symbols])
    return Section(heading, tuple(
        (f"[{display.name(basis[a])}, {display.name(basis[b])}]", right)
        for (a, b), right in zip(pairs, written) if right != "0"))


def column(names: Sequence[str]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in names])
