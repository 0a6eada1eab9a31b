"""Arguments of sines and cosines as integer combinations of as few angles as do."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TypeAlias

import casadi as ca

from .numerals import exact, irrational

Linear: TypeAlias = "dict[str, Fraction]"      # name (or "" for 1) -> its share


NONLINEAR = "#"         # begins the name of an argument that is no linear form


def linear_forms(steps: Sequence, names: Sequence[str]) -> list[Linear | None]:
    """For each instruction, the linear form of its first argument if it is circular, with a new
    name for a nonlinear part; otherwise None."""
    known: dict[int, Linear | None] = {}
    found: list[Linear | None] = []
    maker: dict[int, int] = {}
    for k, step in enumerate(steps):
        found.append(None)
        if step.op == ca.OP_INPUT:
            known[step.output] = {names[step.place]: Fraction(1)}
        elif step.op == ca.OP_CONST:
            known[step.output] = _number(step.number)
        elif step.op != ca.OP_OUTPUT:
            x = [known[i] for i in step.inputs]
            if step.op in (ca.OP_SIN, ca.OP_COS, ca.OP_TAN):
                own = {f"{NONLINEAR}{maker[step.inputs[0]]}": Fraction(1)}
                found[-1] = own if x[0] is None else x[0]
            known[step.output] = _combine(step.op, x)
        maker[step.output] = k
    return found


def _number(number: float) -> Linear | None:
    """A number as a form; a root is none."""
    found = irrational(number)
    if found is None:
        return {"": value} if (value := exact(number)) else {}
    share, what, _ = found
    return {what: share} if what == "pi" else None


def _combine(op: int, x: list[Linear | None]) -> Linear | None:
    given = [part for part in x if part is not None]
    if len(given) < len(x):
        return None
    a, b = given[0], given[-1]
    if op in (ca.OP_ADD, ca.OP_SUB):
        return _sum(a, b, 1 if op == ca.OP_ADD else -1)
    if op in (ca.OP_NEG, ca.OP_TWICE):
        return {name: share * (-1 if op == ca.OP_NEG else 2) for name, share in a.items()}
    if op == ca.OP_MUL:
        number, form = (a, b) if set(a) <= {""} else (b, a)
        if set(number) <= {""}:
            return {name: share * number[""] for name, share in form.items() if number}
    if op == ca.OP_DIV and set(b) == {""}:
        return {name: share / b[""] for name, share in a.items()}
    return None


def _sum(a: Linear, b: Linear, sign: int) -> Linear:
    total = {name: a.get(name, Fraction(0)) + sign * b.get(name, Fraction(0)) for name in (*a, *b)}
    return {name: share for name, share in total.items() if share}


class Angles:
    """A `basis` over the rationals of some angles, simple ones first, in which each has integer
    components."""

    def __init__(self, angles: Sequence[Linear | None]):
        given = [_split_sign(angle)[1] for angle in angles if angle]
        distinct = {tuple(sorted(angle.items())): angle for angle in given}
        ordered = sorted(distinct.values(), key=lambda angle: (
            len(angle), sum(map(abs, angle.values())), sorted(angle)))
        self.basis: list[Linear] = []
        self._rows: list[tuple[Linear, dict[int, Fraction]]] = []
        shares = []
        for angle in ordered:
            rest, components = self._eliminate(angle)
            if rest:
                components = {i: -share for i, share in components.items()}
                components[len(self.basis)] = Fraction(1)
                self.basis.append(angle)
                self._rows.append((rest, components))
            else:
                shares.append(components)
        divisors = [lcm(1, *(c[i].denominator for c in shares if i in c))
                    for i in range(len(self.basis))]
        self.basis = [{name: share / n for name, share in angle.items()}
                      for angle, n in zip(self.basis, divisors)]
        self._divisors = divisors

    def _eliminate(self, angle: Linear) -> tuple[Linear, dict[int, Fraction]]:
        """What is left of an angle outside the basis, and its components in it."""
        rest, components = dict(angle), dict[int, Fraction]()
        for row, made in self._rows:
            pivot = next(iter(row))
            factor = rest.get(pivot, Fraction(0)) / row[pivot]
            if factor:
                rest = _sum(rest, {name: factor * share for name, share in row.items()}, -1)
                for i, share in made.items():
                    components[i] = components.get(i, Fraction(0)) + factor * share
        return rest, {i: share for i, share in components.items() if share}

    def combination(self, angle: Linear) -> tuple[int, dict[int, int]]:
        """Sign and integer components of an angle: angle = sign * sum."""
        sign, angle = _split_sign(angle)
        _, components = self._eliminate(angle)
        return sign, {i: int(share * self._divisors[i]) for i, share in components.items()}


def _split_sign(angle: Linear) -> tuple[int, Linear]:
    """Its sign, and the angle whose first share is positive."""
    if not angle or angle[min(angle, key=lambda name: (name == "", name))] > 0:
        return 1, angle
    return -1, {name: -share for name, share in angle.items()}
