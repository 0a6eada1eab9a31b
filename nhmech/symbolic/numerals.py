"""Floating-point numbers as the exact numbers that were meant."""

from __future__ import annotations

from fractions import Fraction
from math import pi

SIMPLE = 5040           # largest denominator of a fraction that was rounded, as in 1 / 3


def exact(number: float) -> Fraction:
    """The rational number that was typed: 1/3 for 0.333..., 981/100 for 9.81, and the binary number
    itself where nothing short is as near."""
    for candidate in (Fraction(number).limit_denominator(SIMPLE), Fraction(repr(number))):
        if float(candidate) == number and candidate.denominator < 10 ** 9:
            return candidate
    return Fraction(number)


def irrational(number: float) -> tuple[Fraction, str, Fraction] | None:
    """(share, "pi", 1) of share * pi, (share, "sqrt", radicand) of share * sqrt(radicand), or None
    if the number is neither."""
    if exact(number).denominator <= SIMPLE:
        return None
    share = Fraction(number / pi).limit_denominator(360)
    if share and abs(float(share) * pi - number) <= 4e-16 * abs(number):
        return share, "pi", Fraction(1)
    square = Fraction(number * number).limit_denominator(360)
    if square and abs(float(square) ** 0.5 - abs(number)) <= 4e-16 * abs(number):
        sign = 1 if number > 0 else -1
        return Fraction(sign, square.denominator), "sqrt", Fraction(square.numerator
                                                                    * square.denominator)
    return None
