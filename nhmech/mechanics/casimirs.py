"""Casimirs of the nonholonomic bracket: functions that are constant whatever the energy is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import casadi as ca
import numpy as np

from ..checks import check_arguments, read_number
from .nonholonomic_bracket import NonholonomicBracket
from .symmetry_search import (
    TRIES,
    finite_points,
    name_combination,
    null_combinations,
)

SPARE = 10      # random points beyond as many as there are monomials


@dataclass(frozen=True)
class Casimir:
    """A polynomial C(q, p) with Pi dC = 0.

    Attributes
    ----------
    name
        Such as "z_x^2 + z_y^2 + z_z^2".
    value
        (q, p) -> C.
    """

    name: str
    value: ca.Function

    def __repr__(self) -> str:
        return f"<Casimir {self.name}>"


@check_arguments
def casimirs(bracket: NonholonomicBracket, degree: int = 2) -> tuple[Casimir, ...]:
    """The Casimirs among the polynomials in q and p, in echelon form.

    Pi dC = 0 is linear in the coefficients and solved at random points. Those that vanish at the
    centre of the algebra alone have no polynomial; the kernel of Pi says how many there are
    locally: nq + nxi - rank. Source: van der Schaft and Maschke 1994; Marsden and Ratiu,
    Introduction to Mechanics and Symmetry, section 10.5.

    Parameters
    ----------
    bracket
        From `nonholonomic_bracket`, with numbers for its parameters: the coefficients hold for
        these.
    degree
        Of the polynomials, 1 or more.

    Raises
    ------
    MechanicsError
        For a bracket that is finite at too few random points.

    Examples
    --------
    >>> from nhmech.mechanics import casimirs, nonholonomic_bracket
    >>> from nhmech.systems import load_system
    >>> casimirs(nonholonomic_bracket(load_system("veselova_sphere")))
    (<Casimir gamma_x^2 + gamma_y^2 + gamma_z^2>,)
    """
    read_number("degree", degree, "a whole number, 1 or more", least=1)
    names = (*bracket.q_names, *(f"p_{name}" for name in bracket.names))
    n = len(names)
    z = ca.SX.sym("z", n)
    exponents = [terms for d in range(1, int(degree) + 1)
                 for terms in combinations_with_replacement(range(n), d)]
    monomials = ca.vertcat(*[_product(z, terms) for terms in exponents])
    q, theta = z[:len(bracket.q_names)], bracket.parameters
    tensor = bracket.tensor(q, z[q.numel():], theta)
    condition = ca.Function("condition", [z], [tensor @ ca.jacobian(monomials, z).T,
                                               ca.fabs(tensor) @ ca.fabs(
                                                   ca.jacobian(monomials, z)).T])
    rng, wanted = np.random.default_rng(8), len(exponents) + SPARE
    tried = ([part.full() for part in condition(rng.normal(size=n))]
             for _ in range(TRIES * wanted))
    values, sizes = np.concatenate(finite_points(
        tried, wanted, "write the system in units in which it is for q of size 1"), axis=1)
    basis = null_combinations(values, sizes)
    words = [_word(names, terms) for terms in exponents]
    symbols = [z[:q.numel()], z[q.numel():]]
    return tuple(Casimir(name_combination(row, words), ca.Function(
        "casimir", symbols, [ca.dot(ca.DM(row), monomials)]))
        for row in basis)


def _product(z: ca.SX, terms: tuple[int, ...]) -> ca.SX:
    value = ca.SX(1)
    for i in terms:
        value = value * z[i]
    return value


def _word(names: tuple[str, ...], terms: tuple[int, ...]) -> str:
    powers = {names[i]: terms.count(i) for i in terms}
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in powers.items())
