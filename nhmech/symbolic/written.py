"""Expressions as a person writes them: terms collected by speeds, in plain text or in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import casadi as ca

from .evaluation import Evaluation
from .rational import Field, Ratio

LARGEST = 10 ** 6       # a numerator or denominator above which a number is written as a decimal
TERMS = 150             # of an expanded expression that somebody may still read
SWAPPED = 40            # terms above which cos^2 is left as it is
DIGITS = 6              # of such a decimal

GREEK = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
         "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi",
         "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi",
         "Omega")
_NAME = re.compile(rf"({'|'.join(GREEK)}|[A-Za-z])_?(\d+|[xyzw]{{1,3}})?")


def latex_name(name: str) -> str:
    r"""A name in LaTeX: phi' is \dot{\phi}, psi1'' is \ddot{\psi}_{1}, lean is \mathrm{lean}."""
    prefix = re.fullmatch(r"(e|E|tau|u)_(.+)", name)
    if prefix and not _NAME.fullmatch(name):
        return f"{latex_name(prefix[1])}_{{{latex_name(prefix[2])}}}"
    stem, primes = name.rstrip("'"), len(name) - len(name.rstrip("'"))
    found = re.fullmatch(r"(.+)\.(cos|sin)", stem)
    if found and not primes:
        return rf"\{found[2]} {latex_name(found[1])}"
    whole = _NAME.fullmatch(stem)
    base, index = (whole[1], whole[2]) if whole else (stem, None)
    if whole and len(base) > 1:
        base = f"\\{base}"
    elif not whole:
        base = r"\mathrm{" + re.sub(r"([_#$%& ])", r"\\\1", base) + "}"
    if primes:
        base = rf"\{'d' * min(primes, 3)}ot{{{base}}}"
    return base + (f"_{{{index}}}" if index else "")


@dataclass(frozen=True)
class Product:
    """number * product of over^power / product of under^power, each already written.

    `over` and `under` are (text, power, whether it is a sum).
    """

    number: Fraction
    over: tuple[tuple[str, int, bool], ...]
    under: tuple[tuple[str, int, bool], ...]

    @property
    def key(self) -> tuple:
        return abs(self.number), self.over, self.under


class Writer:
    """Writes expressions, as `latex` or else as plain text, m r^2 u1'. Terms are collected by
    `speeds`, rates and speeds, in their order, first those with which terms should begin; `unit` is
    as in `Evaluation`."""

    def __init__(self, as_latex: bool = False, speeds: Sequence[str] = (),
                 unit: Sequence[Sequence[str]] = ()):
        self.as_latex, self.unit = as_latex, tuple(unit)
        self.speeds = tuple(dict.fromkeys(speeds))

    def write(self, *expressions: ca.SX) -> list[str]:
        """Each scalar expression; nothing ("") for one of more than `TERMS` terms, those of its
        denominator included. Raises `TooLongError` where they take too long to be simplified."""
        if not expressions:
            return []
        found = Evaluation(expressions, self.unit)
        return [self._sum(found.field, value)
                if sum(map(len, (value.numerator, *value.denominator))) <= TERMS else ""
                for value in found.values]

    def name(self, name: str) -> str:
        return latex_name(name) if self.as_latex else name

    # -- sums ----------------------------------------------------------------------------------

    def _sum(self, field: Field, value: Ratio) -> str:
        places = [field.place[name] for name in self.speeds if name in field.place]
        collected: dict[tuple[int, ...], Any] = {}
        for monomial, coefficient in value.numerator.terms():
            speeds = tuple(monomial[i] for i in places)
            rest = list(monomial)
            for i in places:
                rest[i] = 0
            part = collected.setdefault(speeds, field.ring.zero)
            collected[speeds] = part + field.ring({tuple(rest): coefficient})
        groups: dict[tuple, list[tuple[Product, str]]] = {}
        for speeds in sorted(collected, key=_order):
            product = self._pretty(field, field.ratio(collected[speeds], value.denominator))
            groups.setdefault(product.key, []).append((product, self._monomial(places, speeds,
                                                                               field)))
        terms = [term for members in groups.values() for term in self._group(members)]
        return _join(terms)

    def _group(self, members: list[tuple[Product, str]]) -> Iterator[tuple[bool, str]]:
        """(whether it is subtracted, term) of monomials that share a coefficient."""
        first = members[0][0]
        minus = first.number < 0
        if len(members) == 1:
            monomial = members[0][1]
            if not monomial and len(first.over) == 1 and first.over[0][1:] == (1, True) \
                    and not first.under and abs(first.number) == 1:
                text = first.over[0][0]
                yield minus, f"({text})" if minus else text
            else:
                yield minus, self._product(first, monomial, False)
            return
        if not first.over and not first.under and abs(first.number) == 1:
            yield from ((product.number == -1, monomial or "1") for product, monomial in members)
            return
        inner = _join([((product.number < 0) != minus, monomial or "1")
                       for product, monomial in members])
        yield minus, self._product(first, inner, True)

    def _monomial(self, places: Sequence[int], powers: Sequence[int], field: Field) -> str:
        named = ((field.generators[i].meaning.name, power) for i, power in zip(places, powers))
        parts = [self._write_power(self.name(name), power, False) for name, power in named if power]
        return _beside(parts) if self.as_latex else " ".join(parts)

    # -- products ------------------------------------------------------------------------------

    def _product(self, product: Product, monomial: str, is_sum: bool) -> str:
        p, q = abs(product.number.numerator), product.number.denominator
        if max(p, q) > LARGEST:
            over, under = [f"{p / q:.{DIGITS}g}"], []
        else:
            over, under = [str(p)] if p != 1 else [], [str(q)] if q != 1 else []
        over += [self._write_power(*factor) for factor in product.over]
        under += [self._write_power(*factor) for factor in product.under]
        if self.as_latex:
            head = (rf"\frac{{{_bare(over, product.over) or 1}}}{{{_bare(under, product.under)}}}"
                    if under else _beside(over))
            tail = rf"\left({monomial}\right)" if is_sum else monomial
            return _beside([part for part in (head, tail) if part]) or "1"
        words = over + ([f"({monomial})" if is_sum else monomial] if monomial else [])
        head = " ".join(words) or "1"
        if not under:
            return head
        return f"{head}/{under[0]}" if len(under) == 1 else f"{head}/({' '.join(under)})"

    def _write_power(self, text: str, power: int, is_sum: bool) -> str:
        if is_sum:
            text = rf"\left({text}\right)" if self.as_latex else f"({text})"
        if power == 1:
            return text
        if self.as_latex:
            return re.sub(r"^(\\(?:sin|cos|tan)\b)?(.*)$",
                          lambda m: f"{m[1]}^{{{power}}}{m[2]}" if m[1] else f"{text}^{{{power}}}",
                          text)
        function = re.match(r"(sin|cos|tan)(?=\()", text)
        return (f"{function[0]}^{power}{text[function.end():]}" if function
                else f"{text}^{power}")

    def _pretty(self, field: Field, a: Ratio) -> Product:
        """The shortest of the ways in which cos^2 may be 1 - sin^2 and the other way about."""
        fewer = Ratio(field.with_fewer_terms(a.numerator), a.denominator)
        best = min(self._factor(field, a), self._factor(field, fewer), key=_length)
        for i in field.sines:
            parts = (a.numerator, *a.denominator)
            if sum(map(len, parts)) <= SWAPPED and any(m[i - 1] > 1 for p in parts for m in p):
                swapped = field.with_sines(a, i)
                found = self._factor(field, swapped)
                if _length(found) < _length(best):
                    a, best = swapped, found
        return best

    def _factor(self, field: Field, a: Ratio) -> Product:
        leading, over = field.factor(a.numerator)
        number, top = _whole(field, Fraction(str(leading)), dict(over), 1)
        number, bottom = _whole(field, number, a.denominator, -1)
        _turn_roots(field, top, bottom)
        number *= _square_sines(field, top) * _square_sines(field, bottom)
        for factor in top:
            power = min(top[factor], bottom.get(factor, 0))
            top[factor] -= power
            if power:
                bottom[factor] -= power
        tangents = self._tangents(field, top, bottom)
        return Product(number, tuple(sorted(self._parts(field, top) + tangents, key=_rank)),
                       tuple(self._parts(field, bottom)))

    def _tangents(self, field: Field, top: dict, bottom: dict) -> list[tuple[str, int, bool]]:
        """sin / cos of an angle, taken out of both."""
        found = []
        for i in field.sines:
            cosine, sine = field.ring.gens[i - 1], field.ring.gens[i]
            power = min(top.get(sine, 0), bottom.get(cosine, 0))
            if power:
                for factors, key in ((top, sine), (bottom, cosine)):
                    factors[key] -= power
                argument = field.generators[i].meaning.args[0]
                found.append((self._circular("tan", argument), power, False))
        return found

    def _parts(self, field: Field, factors: dict) -> list[tuple[str, int, bool]]:
        """Factors in words, single ones first, by name."""
        written = ((self._polynomial(field, factor), power)
                   for factor, power in factors.items() if power)
        return sorted(((text, power, is_sum) for (text, is_sum), power in written), key=_rank)

    def _polynomial(self, field: Field, p: Any) -> tuple[str, bool]:
        """Its terms, and whether they are several."""
        terms = []
        for monomial, coefficient, function in _fold(field, field.with_fewer_terms(p)):
            parts = [(self._variable(field.generators[i].meaning), power, False)
                     for i, power in enumerate(monomial) if power]
            if function is not None:
                parts.append((self._circular(*function), 1, False))
            product = Product(Fraction(str(coefficient)), tuple(sorted(parts, key=_rank)), ())
            terms.append((product.number < 0, product.over, self._product(product, "", False)))
        text = _join([(minus, text) for minus, _, text in sorted(terms)])
        return text, len(terms) > 1

    def _variable(self, meaning: Any) -> str:
        if meaning.is_Symbol:
            return self.name(meaning.name)
        if len(meaning.args) == 1 and meaning.func.__name__ in ("cos", "sin"):
            return self._circular(meaning.func.__name__, meaning.args[0])
        import sympy

        if self.as_latex:
            return sympy.latex(meaning, symbol_names={
                symbol: latex_name(symbol.name) for symbol in meaning.free_symbols})
        return sympy.sstr(meaning).replace("**", "^").replace("*", " ")

    def _circular(self, name: str, argument: Any) -> str:
        if not self.as_latex:
            return f"{name}({self._variable(argument)})"
        text = self._variable(argument)
        short = argument.is_Symbol and "mathrm" not in text
        return rf"\{name} {text}" if short else rf"\{name}\left({text}\right)"


def _fold(field: Field, p: Any) -> list[tuple[tuple[int, ...], Any, Any]]:
    """(monomial, coefficient, ("sin" or "cos", sum or difference of two angles) or None): terms,
    pairs of them by the addition theorems."""
    left, found = dict(p.terms()), []
    for monomial in list(left):
        partner = _partner(field, left, monomial) if monomial in left else None
        if partner is not None:
            other, rest, (name, argument) = partner
            coefficient = left.pop(monomial)
            del left[other]
            if argument.could_extract_minus_sign():
                argument, coefficient = -argument, -coefficient if name == "sin" else coefficient
            found.append((rest, coefficient, (name, argument)))
    return found + [(monomial, coefficient, None) for monomial, coefficient in left.items()]


def _partner(field: Field, terms: Mapping, monomial: tuple[int, ...]) -> tuple | None:
    """A term that makes one function of this one with the same coefficient, the rest of both, and
    the function."""
    for j in field.sines:
        for i in field.sines:
            if i >= j or monomial[i - 1:i + 1] != (1, 0) \
                    or sorted(monomial[j - 1:j + 1]) != [0, 1]:
                continue
            other, rest = list(monomial), list(monomial)
            other[i - 1:i + 1] = 0, 1
            other[j - 1:j + 1] = monomial[j], monomial[j - 1]
            rest[i - 1] = rest[i] = rest[j - 1] = rest[j] = 0
            a, b = terms[monomial], terms.get(tuple(other), 0)
            if b not in (a, -a):
                continue
            one, two = (field.generators[k].meaning.args[0] for k in (i, j))
            if monomial[j - 1]:         # cos cos + sin sin
                function = "cos", one - two if b == a else one + two
            else:                       # cos one sin two + sin one cos two
                function = "sin", one + two if b == a else two - one
            return tuple(other), tuple(rest), function
    return None


def _turn_roots(field: Field, top: dict, bottom: dict) -> None:
    """sqrt(f) / f becomes 1 / sqrt(f)."""
    for root, generator in zip(field.ring.gens, field.generators):
        if top.get(root) == 1 and bottom.get(generator.square):
            bottom[generator.square] -= 1
            top[root], bottom[root] = 0, 1


def _square_sines(field: Field, factors: dict) -> int:
    """(1 + cos)(cos - 1) becomes -sin^2 of each angle; the sign that this leaves."""
    sign = 1
    for i in field.sines:
        cosine, sine = field.ring.gens[i - 1], field.ring.gens[i]
        power = min(factors.get(cosine + 1, 0), factors.get(cosine - 1, 0))
        if power:
            factors[cosine + 1] -= power
            factors[cosine - 1] -= power
            factors[sine] = factors.get(sine, 0) + 2 * power
            sign *= (-1) ** power
    return sign


def _rank(factor: tuple[str, int, bool]) -> tuple:
    """Names before functions, functions before sums."""
    text, power, is_sum = factor
    return is_sum, re.match(r"\\?(sin|cos|tan)\b", text) is not None, text, power


def _bare(parts: list[str], factors: Sequence[tuple[str, int, bool]]) -> str:
    """Parts of a fraction's line: a sum that stands alone needs no parentheses."""
    if len(parts) == 1 and len(factors) == 1 and factors[0][1:] == (1, True):
        return factors[0][0]
    return _beside(parts)


def _beside(parts: Sequence[str]) -> str:
    """Factors in LaTeX, with a little space after a function and between words."""
    text = ""
    for part in parts:
        apart = re.search(r"\\(sin|cos|tan)(\^\{\d+\})? \\?\w+(_\{\w+\})?$", text) or (
            text.endswith("}") and "mathrm" in text and part.startswith(r"\mathrm"))
        text += (r" \, " if apart else " ") * bool(text) + part
    return text


def _whole(field: Field, number: Fraction, factors: Mapping,
           side: int) -> tuple[Fraction, dict]:
    """Factors with whole coefficients without a common divisor, and the number that this leaves."""
    made: dict = {}
    for factor, power in factors.items():
        content, primitive = factor.primitive()
        signs = sum(1 if c > 0 else -1 for c in primitive.values())
        folded = _fold(field, primitive) if len(primitive) == 2 else ()
        if (folded[0][1] < 0 if len(folded) == 1
                else signs < 0 or (not signs and primitive.LC < 0)):
            content, primitive = -content, -primitive
        made[primitive] = made.get(primitive, 0) + power
        number *= Fraction(str(content)) ** (power * side)
    return number, made


def _length(product: Product) -> int:
    return sum(len(text) + 4 * is_sum for text, _, is_sum in (*product.over, *product.under))


def _order(powers: tuple[int, ...]) -> tuple:
    """Terms of the first speeds first, plain terms last."""
    return (not any(powers), tuple(-power for power in powers))


def _join(terms: Sequence[tuple[bool, str]]) -> str:
    if not terms:
        return "0"
    text = ("-" if terms[0][0] else "") + terms[0][1]
    for minus, term in terms[1:]:
        text += f" {'-' if minus else '+'} {term}"
    return text
