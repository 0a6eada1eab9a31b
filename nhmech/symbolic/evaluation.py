"""Expressions of CasADi in the normal form of `rational`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import casadi as ca

from .angles import NONLINEAR, Angles, Linear, linear_forms
from .numerals import exact, irrational
from .rational import Field, Generator, Ratio, TooLongError

INSIDE = 40             # terms of the argument of a function

FUNCTIONS = {ca.OP_ASIN: "asin", ca.OP_ACOS: "acos", ca.OP_ATAN: "atan", ca.OP_ATAN2: "atan2",
             ca.OP_EXP: "exp", ca.OP_LOG: "log", ca.OP_TANH: "tanh", ca.OP_SINH: "sinh",
             ca.OP_COSH: "cosh", ca.OP_FABS: "Abs", ca.OP_SIGN: "sign"}


class Evaluation:
    """The `values` of some expressions, entry by entry, as elements of the field that they
    generate. `unit` has pairs (cos, sin) and longer tuples of names whose squares add up to one."""

    def __init__(self, expressions: Sequence[ca.SX], unit: Sequence[Sequence[str]] = ()):
        import sympy

        column = ca.vertcat(ca.SX(0, 1), *[ca.vec(ca.densify(ca.SX(e))) for e in expressions])
        symbols = ca.symvar(column)
        self._function = ca.Function("written", symbols, [column], {"cse": True})
        self._steps = [_Instruction(self._function, k)
                       for k in range(self._function.n_instructions())]
        names = [symbol.name() for symbol in symbols]
        forms = linear_forms(self._steps, names)
        self._angles = Angles([forms[k] for k, step in enumerate(self._steps)
                               if step.op in (ca.OP_SIN, ca.OP_COS, ca.OP_TAN)])
        others = sum(step.op in (ca.OP_SQRT, ca.OP_POW, ca.OP_CONSTPOW, ca.OP_CONST, *FUNCTIONS)
                     for step in self._steps)
        made = [f"x{i}" for i in range(len(names))]
        made += [f"{part}{i}" for i in range(len(self._angles.basis)) for part in "cs"]
        made += [f"f{i}" for i in range(others)]
        ring = sympy.polys.rings.PolyRing(made or ["none"], sympy.QQ, sympy.polys.orderings.lex)
        generators = [Generator(sympy.Symbol(name)) for name in names]
        for angle in self._angles.basis:
            argument = _argument(angle)
            cosine = ring.gens[len(generators)]
            generators.append(Generator(sympy.cos(argument, evaluate=False)))
            generators.append(Generator(sympy.sin(argument, evaluate=False), 1 - cosine ** 2))
        sines = [len(names) + 2 * i + 1 for i in range(len(self._angles.basis))]
        self.field = Field(ring, generators, {name: i for i, name in enumerate(names)}, sines)
        for tuple_ in unit:
            self._know_unit(tuple_)
        self._functions: dict[Any, Ratio] = {}
        self.values = self._evaluate(forms)

    def _know_unit(self, names: Sequence[str]) -> None:
        field = self.field
        if all(name in field.place for name in names):
            *rest, last = (field.ring.gens[field.place[name]] for name in names)
            field.generators[field.place[names[-1]]].square = 1 - sum(g ** 2 for g in rest)

    def _evaluate(self, forms: Sequence[Linear | None]) -> list[Ratio]:
        work: dict[int, Ratio] = {}
        out = [Ratio(self.field.ring.zero)] * self._function.nnz_out(0)
        for k, step in enumerate(self._steps):
            x = [work[i] for i in step.inputs] if step.op != ca.OP_INPUT else []
            if step.op == ca.OP_OUTPUT:
                out[step.place] = x[0]
            elif step.op == ca.OP_INPUT:
                work[step.output] = Ratio(self.field.ring.gens[step.place])
            elif step.op == ca.OP_CONST:
                work[step.output] = self._constant(step.number)
            elif step.op in (ca.OP_SIN, ca.OP_COS, ca.OP_TAN):
                work[step.output] = self._circular(step.op, forms[k], x[0])
            else:
                work[step.output] = self._apply(step.op, x)
        dense = [Ratio(self.field.ring.zero)] * self._function.numel_out(0)
        sparsity = self._function.sparsity_out(0)
        for value, row in zip(out, sparsity.row()):
            dense[row] = value
        return dense

    def _number(self, value: Fraction) -> Ratio:
        ring = self.field.ring
        return Ratio(ring.ground_new(ring.domain(value.numerator, value.denominator)))

    def _constant(self, number: float) -> Ratio:
        found = irrational(number)
        if found is None:
            return self._number(exact(number))
        share, what, radicand = found
        root = self._number(radicand)
        unit = self._opaque((what,)) if what == "pi" else self._opaque((what, root), root)
        return self.field.multiply(self._number(share), unit)

    def _apply(self, op: int, x: list[Ratio]) -> Ratio:
        if op in (ca.OP_ADD, ca.OP_SUB):
            return self.field.add(x[0], x[1], 1 if op == ca.OP_ADD else -1)
        if op == ca.OP_MUL:
            return self.field.multiply(x[0], x[1])
        if op == ca.OP_DIV:
            return self.field.multiply(x[0], self.field.invert(x[1]))
        unary = {ca.OP_NEG: lambda a: Ratio(-a.numerator, a.denominator),
                 ca.OP_TWICE: lambda a: Ratio(2 * a.numerator, a.denominator),
                 ca.OP_SQ: lambda a: self.field.multiply(a, a),
                 ca.OP_INV: self.field.invert}
        if op in unary:
            return unary[op](x[0])
        if op == ca.OP_SQRT:
            return self._opaque(("sqrt", x[0]), x[0])
        if op in (ca.OP_POW, ca.OP_CONSTPOW):
            return self._power(x[0], x[1])
        if op in FUNCTIONS:
            return self._opaque((FUNCTIONS[op], *x))
        raise TooLongError(f"CasADi's operation {op} has no formula here")

    def _power(self, base: Ratio, exponent: Ratio) -> Ratio:
        number = exponent.numerator
        if exponent.denominator or not (not number or number.is_ground):
            return self._opaque(("Pow", base, exponent))
        power = Fraction(str(number.LC)) if number else Fraction(0)
        if power.denominator == 2:
            base, power = self._opaque(("sqrt", base), base), 2 * power
        if power.denominator != 1 or abs(power) > 12:
            return self._opaque(("Pow", base, exponent))
        result = Ratio(self.field.ring.one)
        for _ in range(abs(int(power))):
            result = self.field.multiply(result, base)
        return self.field.invert(result) if power < 0 else result

    def _opaque(self, what: tuple, square: Ratio | None = None) -> Ratio:
        """A generator of its own for a function, the same one for the same arguments."""
        import sympy

        name, *arguments = what
        key = (name, *((a.numerator, frozenset(a.denominator.items())) for a in arguments))
        if key not in self._functions:
            if sum(len(p) for a in arguments for p in (a.numerator, *a.denominator)) > INSIDE:
                raise TooLongError("a function's argument is too long to print")
            function = getattr(sympy, name)
            meaning = function(*map(self.field.plain, arguments)) if arguments else function
            place = len(self.field.generators)
            known = square.numerator if square is not None and not square.denominator else None
            self.field.generators.append(Generator(meaning, known))
            self._functions[key] = Ratio(self.field.ring.gens[place])
        return self._functions[key]

    def _circular(self, op: int, form: Linear | None, argument: Ratio) -> Ratio:
        assert form is not None
        sign, combination = self._angles.combination(form)
        name = next(iter(form), "")
        if name.startswith(NONLINEAR):
            self._name_argument(name, argument)
        ring = self.field.ring
        c, s = ring.one, ring.zero
        for i, times in combination.items():
            place = self.field.sines[i]
            ci, si = ring.gens[place - 1], ring.gens[place]
            si = si if times > 0 else -si
            for _ in range(abs(times)):
                c, s = (self.field.reduce(self.field.times(c, ci) - self.field.times(s, si)),
                        self.field.reduce(self.field.times(s, ci) + self.field.times(c, si)))
        if op == ca.OP_COS:
            return Ratio(c)
        sine = Ratio(s if sign > 0 else -s)
        return sine if op == ca.OP_SIN else self.field.multiply(sine, self.field.invert(Ratio(c)))

    def _name_argument(self, name: str, argument: Ratio) -> None:
        import sympy

        meaning = self.field.plain(argument)
        for generator in self.field.generators:
            generator.meaning = generator.meaning.xreplace({sympy.Symbol(name): meaning})


class _Instruction:
    """One instruction of a function of scalar inputs and one column."""

    def __init__(self, function: ca.Function, k: int):
        self.op = function.instruction_id(k)
        given, made = function.instruction_input(k), function.instruction_output(k)
        self.inputs: list[int] = list(given) if self.op != ca.OP_INPUT else []
        self.output = made[0] if made and self.op != ca.OP_OUTPUT else -1
        self.place = (given[0] if self.op == ca.OP_INPUT
                      else made[1] if self.op == ca.OP_OUTPUT else -1)
        self.number = function.instruction_constant(k) if self.op == ca.OP_CONST else 0.0


def _argument(angle: Linear) -> Any:
    import sympy

    return sum((sympy.Rational(share.numerator, share.denominator)
                * (sympy.Symbol(name) if name else 1) for name, share in sorted(angle.items())),
               sympy.Integer(0))
