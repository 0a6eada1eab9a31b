"""One normal form for expressions of mechanics: a polynomial over a product of polynomials.

Sines and cosines of angles that are independent over the rationals are generators, with
sin^2 = 1 - cos^2; those of other angles follow from the addition theorems. Square roots are
generators too, and so is whatever else is no rational function. Every denominator is made free of
generators of which a square is known (a/sin is a sin/((1 - cos)(1 + cos))), so that an expression
is zero where its numerator is.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import casadi as ca

from ..errors import MechanicsError
from .angles import NONLINEAR, Angles, Linear, linear_forms
from .numerals import exact, irrational

# products of terms: one or two seconds of a computer of 2020. A count and not a clock, so that the
# same system reads the same everywhere.
LIMIT = 400_000
PRIME = 2 ** 61 - 1
INSIDE = 40             # terms of the argument of a function
FACTORED = 16           # terms above which a polynomial is not searched for factors

FUNCTIONS = {ca.OP_ASIN: "asin", ca.OP_ACOS: "acos", ca.OP_ATAN: "atan", ca.OP_ATAN2: "atan2",
             ca.OP_EXP: "exp", ca.OP_LOG: "log", ca.OP_TANH: "tanh", ca.OP_SINH: "sinh",
             ca.OP_COSH: "cosh", ca.OP_FABS: "Abs", ca.OP_SIGN: "sign"}


class TooLongError(MechanicsError):
    """An expression takes more work to simplify than anybody would read."""


@dataclass(frozen=True)
class Ratio:
    """numerator / product of denominator^power, in the generators of a `Field`."""

    numerator: Any
    denominator: Mapping[Any, int] = field(default_factory=dict)


@dataclass
class Generator:
    """What a variable of the polynomials stands for.

    Attributes
    ----------
    meaning
        In SymPy's symbols and functions.
    square
        Of this generator, as a polynomial in earlier ones; None where nothing is known of it.
    """

    meaning: Any
    square: Any = None


class Field:
    """The rational functions of what some expressions are made of, and the expressions in it.

    Parameters
    ----------
    expressions
        Scalars or matrices.
    unit
        Pairs (cos, sin) and longer tuples of names whose squares add up to one.
    """

    def __init__(self, expressions: Sequence[ca.SX], unit: Sequence[Sequence[str]] = ()):
        import sympy

        self._work = 0
        column = ca.vertcat(ca.SX(0, 1), *[ca.vec(ca.densify(ca.SX(e))) for e in expressions])
        symbols = ca.symvar(column)
        self.function = ca.Function("written", symbols, [column], {"cse": True})
        self.steps = [_Step(self.function, k) for k in range(self.function.n_instructions())]
        names = [symbol.name() for symbol in symbols]
        forms = linear_forms(self.steps, names)
        angles = [forms[k] for k, step in enumerate(self.steps)
                  if step.op in (ca.OP_SIN, ca.OP_COS, ca.OP_TAN)]
        others = sum(step.op in (ca.OP_SQRT, ca.OP_POW, ca.OP_CONSTPOW, ca.OP_CONST, *FUNCTIONS)
                     for step in self.steps)
        self.angles = Angles(angles)
        made = [f"x{i}" for i in range(len(names))]
        made += [f"{part}{i}" for i in range(len(self.angles.basis)) for part in "cs"]
        made += [f"f{i}" for i in range(others)]
        self.ring = sympy.polys.rings.PolyRing(made or ["none"], sympy.QQ,
                                               sympy.polys.orderings.lex)
        rng = random.Random(0)
        self._point = [rng.randrange(1, PRIME) for _ in self.ring.gens]
        self.one, self.zero = self.ring.one, self.ring.zero
        self.generators: list[Generator] = [Generator(sympy.Symbol(name)) for name in names]
        self.place = {name: i for i, name in enumerate(names)}
        for angle in self.angles.basis:
            argument = _argument(angle)
            cosine = self.ring.gens[len(self.generators)]
            self.generators.append(Generator(sympy.cos(argument, evaluate=False)))
            self.generators.append(Generator(sympy.sin(argument, evaluate=False),
                                             1 - cosine ** 2))
        self.first_angle = len(names)
        for tuple_ in unit:
            self._know_unit(tuple_)
        self._functions: dict[Any, Ratio] = {}
        self.values = self._evaluate(forms)

    def _know_unit(self, names: Sequence[str]) -> None:
        if all(name in self.place for name in names):
            *rest, last = (self.ring.gens[self.place[name]] for name in names)
            self.generators[self.place[names[-1]]].square = 1 - sum(g ** 2 for g in rest)

    # -- arithmetic ----------------------------------------------------------------------------

    def _times(self, a: Any, b: Any) -> Any:
        self._work += len(a) * len(b)
        if self._work > LIMIT:
            raise TooLongError("the expression takes too long to be simplified")
        return a * b

    def reduce(self, p: Any) -> Any:
        """The polynomial without squares of generators whose square is known."""
        for i in range(len(self.generators) - 1, -1, -1):
            square = self.generators[i].square
            if square is None or not any(monomial[i] > 1 for monomial in p):
                continue
            parts: dict[int, Any] = {}
            for monomial, coefficient in p.terms():
                power = monomial[i]
                rest = monomial[:i] + (power % 2,) + monomial[i + 1:]
                part = parts.setdefault(power // 2, self.ring.zero)
                parts[power // 2] = part + self.ring({rest: coefficient})
            p = self.ring.zero
            for power, part in parts.items():
                p = p + (self._times(part, square ** power) if power else part)
        return p

    def ratio(self, numerator: Any, denominator: Mapping[Any, int]) -> Ratio:
        """In normal form, and in lowest terms as far as factors of the denominator go."""
        return self.cancel(self.reduce(numerator), denominator)

    def cancel(self, numerator: Any, denominator: Mapping[Any, int]) -> Ratio:
        """The numerator without factors that stand in the denominator."""
        kept = {}
        for factor, power in denominator.items():
            while power and numerator and self._may_divide(factor, numerator):
                self._work += len(numerator) * len(factor)
                quotient, rest = numerator.div(factor)
                if rest:
                    break
                numerator, power = quotient, power - 1
            if power and numerator:
                kept[factor] = power
        return Ratio(numerator, kept)

    def _may_divide(self, factor: Any, p: Any) -> bool:
        """Whether the factor divides the polynomial where all variables but one have some value,
        modulo a prime; where it does not, it does not divide it at all."""
        main = next(i for i in range(self.ring.ngens) if any(monomial[i] for monomial in factor))
        divisor, rest = self._along(main, factor), self._along(main, p)
        if not divisor[-1]:
            return True
        inverse = pow(divisor[-1], -1, PRIME)
        while len(rest) >= len(divisor):
            share = rest.pop() * inverse % PRIME
            for k, value in enumerate(divisor[:-1], len(rest) - len(divisor) + 1):
                rest[k] = (rest[k] - share * value) % PRIME
        return not any(rest)

    def _along(self, main: int, p: Any) -> list[int]:
        """Coefficients of a polynomial in one variable, modulo a prime."""
        self._work += len(p)
        made = [0] * (1 + max(monomial[main] for monomial in p))
        for monomial, coefficient in p.terms():
            value = int(coefficient.numerator) * pow(int(coefficient.denominator), -1, PRIME)
            for i, power in enumerate(monomial):
                if power and i != main:
                    value = value * pow(self._point[i], power, PRIME) % PRIME
            made[monomial[main]] = (made[monomial[main]] + value) % PRIME
        return made

    def add(self, a: Ratio, b: Ratio, sign: int = 1) -> Ratio:
        common = {f: max(a.denominator.get(f, 0), b.denominator.get(f, 0))
                  for f in (*a.denominator, *b.denominator)}
        wide = [self._widen(x, common) for x in (a, b)]
        return self.ratio(wide[0] + sign * wide[1], common)

    def _widen(self, a: Ratio, common: Mapping[Any, int]) -> Any:
        numerator = a.numerator
        for factor, power in common.items():
            for _ in range(power - a.denominator.get(factor, 0)):
                numerator = self._times(numerator, factor)
        return numerator

    def multiply(self, a: Ratio, b: Ratio) -> Ratio:
        denominator = dict(a.denominator)
        for factor, power in b.denominator.items():
            denominator[factor] = denominator.get(factor, 0) + power
        return self.ratio(self._times(a.numerator, b.numerator), denominator)

    def invert(self, a: Ratio) -> Ratio:
        if not a.numerator:
            raise MechanicsError("an expression divides by zero")
        numerator, norm = self.one, a.numerator
        for factor, power in a.denominator.items():
            for _ in range(power):
                numerator = self._times(numerator, factor)
        for i in range(len(self.generators) - 1, -1, -1):
            while self.generators[i].square is not None and any(m[i] for m in norm):
                other = self.ring({m: -c if m[i] % 2 else c for m, c in norm.terms()})
                numerator = self.reduce(self._times(numerator, other))
                norm = self.reduce(self._times(norm, other))
        number, factors = self.factor(norm)
        return self.ratio(numerator.mul_ground(1 / number), dict(factors))

    def factor(self, p: Any) -> tuple[Any, list[tuple[Any, int]]]:
        """Number, and (monic factor, power); of a long polynomial, common variables alone."""
        if len(p) <= FACTORED:
            self._work += 20 * len(p)
            number, factors = p.factor_list()
            for f, power in factors:
                number *= f.LC ** power
            return number, [(f.monic(), power) for f, power in factors]
        powers = [min(powers) for powers in zip(*p)]
        rest = self.ring({tuple(k - least for k, least in zip(monomial, powers)): c
                          for monomial, c in p.terms()})
        factors = [(g, power) for g, power in zip(self.ring.gens, powers) if power]
        return p.LC, [*factors, (rest.monic(), 1)]

    @property
    def sines(self) -> list[int]:
        """Places of the generators that are sines; the cosine stands before each."""
        return [self.first_angle + 2 * i + 1 for i in range(len(self.angles.basis))]

    def with_sines(self, a: Ratio, sine: int) -> Ratio:
        """The same with 1 - sin^2 for cos^2 of one angle, in lowest terms."""
        numerator, denominator = self._swap(a.numerator, sine), dict[Any, int]()
        for factor, power in a.denominator.items():
            number, parts = self.factor(self._swap(factor, sine))
            numerator = numerator.mul_ground(1 / number ** power)
            for part, times in parts:
                denominator[part] = denominator.get(part, 0) + power * times
        return self.cancel(numerator, denominator)

    def _swap(self, p: Any, sine: int) -> Any:
        square, made = 1 - self.ring.gens[sine] ** 2, self.ring.zero
        for monomial, coefficient in p.terms():
            power = monomial[sine - 1]
            rest = monomial[:sine - 1] + (power % 2,) + monomial[sine:]
            made += self.ring({rest: coefficient}) * square ** (power // 2)
        return made

    def with_fewer_terms(self, p: Any) -> Any:
        """The polynomial with cos^2 or sin^2 of each angle, whichever is shorter, for each product
        of the other variables by itself."""
        for i in self.sines:
            groups: dict[tuple, Any] = {}
            for monomial, coefficient in p.terms():
                rest = monomial[:i - 1] + (0, 0) + monomial[i + 1:]
                groups[rest] = groups.get(rest, self.ring.zero) + self.ring({monomial: coefficient})
            p = self.ring.zero
            for group in groups.values():
                p = p + min(group, self.reduce(group), self._swap(group, i), key=len)
        return p

    # -- from CasADi ---------------------------------------------------------------------------

    def _evaluate(self, forms: Sequence[Linear | None]) -> list[Ratio]:
        work: dict[int, Ratio] = {}
        out = [Ratio(self.zero)] * self.function.nnz_out(0)
        for k, step in enumerate(self.steps):
            x = [work[i] for i in step.inputs] if step.op != ca.OP_INPUT else []
            if step.op == ca.OP_OUTPUT:
                out[step.place] = x[0]
            elif step.op == ca.OP_INPUT:
                work[step.output] = Ratio(self.ring.gens[step.place])
            elif step.op == ca.OP_CONST:
                work[step.output] = self._constant(step.number)
            elif step.op in (ca.OP_SIN, ca.OP_COS, ca.OP_TAN):
                work[step.output] = self._circular(step.op, forms[k], x[0])
            else:
                work[step.output] = self._apply(step.op, x)
        dense = [Ratio(self.zero)] * self.function.numel_out(0)
        sparsity = self.function.sparsity_out(0)
        for value, row in zip(out, sparsity.row()):
            dense[row] = value
        return dense

    def _number(self, value: Fraction) -> Ratio:
        return Ratio(self.ring.ground_new(self.ring.domain(value.numerator, value.denominator)))

    def _constant(self, number: float) -> Ratio:
        found = irrational(number)
        if found is None:
            return self._number(exact(number))
        share, what, radicand = found
        root = self._number(radicand)
        unit = self._opaque((what,)) if what == "pi" else self._opaque((what, root), root)
        return self.multiply(self._number(share), unit)

    def _apply(self, op: int, x: list[Ratio]) -> Ratio:
        if op in (ca.OP_ADD, ca.OP_SUB):
            return self.add(x[0], x[1], 1 if op == ca.OP_ADD else -1)
        if op == ca.OP_MUL:
            return self.multiply(x[0], x[1])
        if op == ca.OP_DIV:
            return self.multiply(x[0], self.invert(x[1]))
        unary = {ca.OP_NEG: lambda a: Ratio(-a.numerator, a.denominator),
                 ca.OP_TWICE: lambda a: Ratio(2 * a.numerator, a.denominator),
                 ca.OP_SQ: lambda a: self.multiply(a, a),
                 ca.OP_INV: self.invert}
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
        result = Ratio(self.one)
        for _ in range(abs(int(power))):
            result = self.multiply(result, base)
        return self.invert(result) if power < 0 else result

    def _opaque(self, what: tuple, square: Ratio | None = None) -> Ratio:
        """A generator of its own for a function, the same one for the same arguments."""
        import sympy

        name, *arguments = what
        key = (name, *((a.numerator, frozenset(a.denominator.items())) for a in arguments))
        if key not in self._functions:
            if sum(len(p) for a in arguments for p in (a.numerator, *a.denominator)) > INSIDE:
                raise TooLongError("a function's argument is too long to be written")
            function = getattr(sympy, name)
            meaning = function(*map(self.plain, arguments)) if arguments else function
            place = len(self.generators)
            known = square.numerator if square is not None and not square.denominator else None
            self.generators.append(Generator(meaning, known))
            self._functions[key] = Ratio(self.ring.gens[place])
        return self._functions[key]

    def _circular(self, op: int, form: Linear | None, argument: Ratio) -> Ratio:
        assert form is not None
        sign, combination = self.angles.combination(form)
        name = next(iter(form), "")
        if name.startswith(NONLINEAR):
            self._name_argument(name, argument)
        c, s = self.one, self.zero
        for i, times in combination.items():
            place = self.first_angle + 2 * i
            ci, si = self.ring.gens[place], self.ring.gens[place + 1]
            si = si if times > 0 else -si
            for _ in range(abs(times)):
                c, s = (self.reduce(self._times(c, ci) - self._times(s, si)),
                        self.reduce(self._times(s, ci) + self._times(c, si)))
        if op == ca.OP_COS:
            return Ratio(c)
        sine = Ratio(s if sign > 0 else -s)
        return sine if op == ca.OP_SIN else self.multiply(sine, self.invert(Ratio(c)))

    def _name_argument(self, name: str, argument: Ratio) -> None:
        import sympy

        meaning = self.plain(argument)
        for generator in self.generators:
            generator.meaning = generator.meaning.xreplace({sympy.Symbol(name): meaning})

    # -- to SymPy ------------------------------------------------------------------------------

    def meanings(self) -> list[Any]:
        """SymPy's expression of each generator of the ring; those not used are zero."""
        used = [generator.meaning for generator in self.generators]
        return used + [0] * (self.ring.ngens - len(used))

    def plain(self, a: Ratio) -> Any:
        """As it stands, in SymPy."""
        value = a.numerator.as_expr(*self.meanings())
        for factor, power in a.denominator.items():
            value = value / factor.as_expr(*self.meanings()) ** power
        return value


class _Step:
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
