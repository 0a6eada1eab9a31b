"""A normal form for expressions of mechanics: a polynomial over a product of polynomials.

Sines and cosines of angles that are independent over the rationals are generators, with
sin^2 = 1 - cos^2; those of other angles follow from the addition theorems. Square roots are
generators too, and so is whatever else is no rational function. Every denominator is made free of
generators of which a square is known (a/sin is a sin/((1 - cos)(1 + cos))), so that an expression
is zero where its numerator is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import MechanicsError

# products of terms: one or two seconds of a computer of 2020. A count and not a clock, so that the
# same system reads the same everywhere.
LIMIT = 400_000
PRIME = 2 ** 61 - 1
FACTORED = 16           # terms above which a polynomial is not searched for factors


class TooLongError(MechanicsError):
    """An expression takes more work to simplify than anybody would read."""


@dataclass(frozen=True)
class Ratio:
    """numerator / product of denominator^power, in the generators of a `Field`."""

    numerator: Any
    denominator: Mapping[Any, int] = field(default_factory=dict)


@dataclass
class Generator:
    """What a variable of the polynomials stands for."""

    meaning: Any  # in SymPy's symbols and functions
    # of this generator, as a polynomial in earlier ones; None if nothing is known of it
    square: Any = None


class Field:
    """The rational functions of some generators, more of which may be added, over a `ring` of
    polynomials with rational coefficients that has enough variables.

    `place` maps a symbol to its variable; `sines` are the variables that are sines, each after its
    cosine.
    """

    def __init__(self, ring: Any, generators: list[Generator], place: Mapping[str, int],
                 sines: Sequence[int]):
        self.ring = ring
        self.generators = generators
        self.place = place
        self.sines = sines
        self._work = 0
        self._point = np.random.default_rng(0).integers(PRIME, size=ring.ngens).tolist()

    # -- arithmetic ----------------------------------------------------------------------------

    def times(self, a: Any, b: Any) -> Any:
        """The product of two polynomials. Raises `TooLongError` if there was too much work."""
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
                p = p + (self.times(part, square ** power) if power else part)
        return p

    def ratio(self, numerator: Any, denominator: Mapping[Any, int]) -> Ratio:
        """In normal form, and in lowest terms as far as factors of the denominator go."""
        return self.cancel(self.reduce(numerator), denominator)

    def cancel(self, numerator: Any, denominator: Mapping[Any, int]) -> Ratio:
        """The numerator without factors of the denominator."""
        kept = {}
        for factor, power in denominator.items():
            while power and numerator and may_divide(factor, numerator, self._point):
                self._work += len(numerator) * len(factor)
                quotient, rest = numerator.div(factor)
                if rest:
                    break
                # a copy: SymPy's quotient has the hash that it had while it was made
                numerator, power = quotient.copy(), power - 1
            if power and numerator:
                kept[factor] = power
        return Ratio(numerator, kept)

    def add(self, a: Ratio, b: Ratio, sign: int = 1) -> Ratio:
        common = Counter(a.denominator) | Counter(b.denominator)
        wide = [self._widen(x, common) for x in (a, b)]
        return self.ratio(wide[0] + sign * wide[1], common)

    def _widen(self, a: Ratio, common: Mapping[Any, int]) -> Any:
        numerator = a.numerator
        for factor, power in common.items():
            for _ in range(power - a.denominator.get(factor, 0)):
                numerator = self.times(numerator, factor)
        return numerator

    def multiply(self, a: Ratio, b: Ratio) -> Ratio:
        return self.ratio(self.times(a.numerator, b.numerator),
                          Counter(a.denominator) + Counter(b.denominator))

    def invert(self, a: Ratio) -> Ratio:
        if not a.numerator:
            raise MechanicsError("an expression divides by zero")
        numerator, norm = self.ring.one, a.numerator
        for factor, power in a.denominator.items():
            for _ in range(power):
                numerator = self.times(numerator, factor)
        for i in range(len(self.generators) - 1, -1, -1):
            while self.generators[i].square is not None and any(m[i] for m in norm):
                other = self.ring({m: -c if m[i] else c for m, c in norm.terms()})
                numerator = self.reduce(self.times(numerator, other))
                norm = self.reduce(self.times(norm, other))
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

    def with_sines(self, a: Ratio, sine: int) -> Ratio:
        """The same with 1 - sin^2 for cos^2 of one angle, in lowest terms."""
        numerator, denominator = self._swap(a.numerator, sine), Counter[Any]()
        for factor, power in a.denominator.items():
            number, parts = self.factor(self._swap(factor, sine))
            numerator = numerator.mul_ground(1 / number ** power)
            for part, times in parts:
                denominator[part] += power * times
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


def may_divide(factor: Any, p: Any, point: Sequence[int]) -> bool:
    """Whether the factor divides the polynomial where all variables but one are those of a `point`,
    modulo a prime; where it does not, it does not divide it at all."""
    main = next(i for i in range(len(point)) if any(monomial[i] for monomial in factor))
    divisor, rest = _along(main, factor, point), _along(main, p, point)
    inverse = pow(divisor[-1], -1, PRIME)
    while len(rest) >= len(divisor):
        share = rest.pop() * inverse % PRIME
        for k, value in enumerate(divisor[:-1], len(rest) - len(divisor) + 1):
            rest[k] = (rest[k] - share * value) % PRIME
    return not any(rest)


def _along(main: int, p: Any, point: Sequence[int]) -> list[int]:
    """Coefficients of a polynomial in one variable, in units of the point's, modulo a prime."""
    made = [0] * (1 + max(monomial[main] for monomial in p))
    for monomial, coefficient in p.terms():
        value = int(coefficient.numerator) * pow(int(coefficient.denominator), -1, PRIME)
        for i, power in enumerate(monomial):
            if power:
                value = value * pow(point[i], power, PRIME) % PRIME
        made[monomial[main]] = (made[monomial[main]] + value) % PRIME
    return made
