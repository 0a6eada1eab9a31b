"""Expressions as linear forms of products: the form in which two ways of writing the same thing
look the same.

Every value is a number times an atom. An atom is an input, a sum of values, a product of powers of
other atoms, or a function of values. Equal atoms are one atom (sums also where they differ by a
factor), constants gather in one place, and what cancels is gone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import casadi as ca

ONE = 0                 # the atom of plain numbers
LONGEST = 8             # factors that are still sorted into one product
ROUNDING = 4e-15        # of the larger term: a difference below this is zero
DIGITS = 46             # binary ones in which constants must agree to count as one, 14 decimal ones
SPLIT = 2.0 ** (53 - DIGITS) + 1
HUGE = 1e300            # SPLIT times larger numbers might overflow


class Value(NamedTuple):
    """number times atom."""

    number: float
    atom: int

    def times(self, number: float) -> Value:
        return Value(number * self.number, self.atom)


class GraphNode(NamedTuple):
    """The definition of an atom."""

    kind: str  # "one", "input", "sum", "product" or "function"
    # (atom, coefficient) of a sum, (atom, power) of a product, arguments of a function
    parts: tuple = ()
    operation: int = 0  # CasADi's code of a function
    place: tuple[int, int] = (0, 0)  # of an input: (input, entry)


class Graph:
    """Atoms, each there once."""

    def __init__(self):
        self.nodes: list[GraphNode] = []
        self._atoms: dict[GraphNode, int] = {}
        self._sums: dict[tuple, int] = {}
        self.atom(GraphNode("one"))

    def atom(self, node: GraphNode) -> int:
        if node not in self._atoms:
            self._atoms[node] = len(self.nodes)
            self.nodes.append(node)
        return self._atoms[node]

    def sum(self, terms: Mapping[int, float]) -> Value:
        """The sum of coefficient times atom. A common size of all coefficients, and the sign of the
        first, are taken out."""
        terms = {a: c for a, c in sorted(terms.items()) if c}
        if len(terms) < 2:
            return next((Value(c, a) for a, c in terms.items()), Value(0.0, ONE))
        first = next(a for a in terms if a != ONE)
        shape = tuple((a, round_off(c / terms[first])) for a, c in terms.items())
        if shape not in self._sums:
            sizes = {round_off(abs(c)) for a, c in terms.items() if a != ONE}
            scale = (abs(terms[first]) if len(sizes) == 1
                     else 1.0) * (1 if terms[first] > 0 else -1)
            self._sums[shape] = self.atom(
                GraphNode("sum", tuple((a, round_unit(c / scale)) for a, c in terms.items()))
            )
        atom = self._sums[shape]
        return Value(round_unit(terms[first] / dict(self.nodes[atom].parts)[first]), atom)

    def product(self, factors: Iterable[tuple[Value, int]]) -> Value:
        """The product of values to integer powers."""
        factors, number = list(factors), 1.0
        powers: Counter[int] = Counter()
        for value, power in factors:
            number *= value.number ** power
            for a, p in self.factors(value.atom):
                powers[a] += p * power
        if sum(map(abs, powers.values())) > LONGEST:
            powers = Counter()
            for value, power in factors:
                powers[value.atom] += power
        parts = tuple((a, p) for a, p in sorted(powers.items()) if p and a != ONE)
        if not number or not parts:
            return Value(number, ONE)
        single = len(parts) == 1 and parts[0][1] == 1
        return Value(number, parts[0][0] if single else self.atom(GraphNode("product", parts)))

    def factors(self, atom: int) -> tuple[tuple[int, int], ...]:
        """(atom, power) of a product; anything else is its own one factor."""
        node = self.nodes[atom]
        return node.parts if node.kind == "product" else ((atom, 1),)

    def count_uses(self, values: Iterable[Value]) -> tuple[list[int], Counter[int]]:
        """Atoms under the values, those below first, and how many parts each is of."""
        order: list[int] = []
        uses: Counter[int] = Counter()
        seen: set[int] = set()
        for value in values:
            uses[value.atom] += 1
            stack = [(value.atom, False)]
            while stack:
                atom, below_done = stack.pop()
                if below_done:
                    order.append(atom)
                elif atom not in seen:
                    seen.add(atom)
                    stack.append((atom, True))
                    node = self.nodes[atom]
                    for part in node.parts:
                        below = part.atom if node.kind == "function" else part[0]
                        uses[below] += 1
                        stack.append((below, False))
        return order, uses


def round_off(number: float) -> float:
    """The same for numbers that differ by rounding only: the nearest one of DIGITS binary digits,
    by Veltkamp's splitting (Dekker 1971, A floating-point technique for extending the available
    precision)."""
    large = number * SPLIT
    return large - (large - number) if abs(number) < HUGE else number


def round_unit(number: float) -> float:
    """1 and -1 without their rounding."""
    return float(round(number)) if round_off(abs(number)) == 1 else number


def add_term(terms: dict[int, float], atom: int, number: float) -> None:
    """Adds number times atom to a linear form."""
    old = terms.get(atom, 0.0)
    terms[atom] = (0.0 if abs(old + number) <= ROUNDING * max(abs(old), abs(number))
                   else old + number)


def read(function: ca.Function) -> tuple[Graph, list[list[Value]]]:
    """The graph of an SX function, and the values of its outputs' entries."""
    graph, work = Graph(), {}
    outputs = [[Value(0.0, ONE)] * function.nnz_out(k) for k in range(function.n_out())]
    for i in range(function.n_instructions()):
        operation, to, of = (function.instruction_id(i), function.instruction_output(i),
                             function.instruction_input(i))
        if operation == ca.OP_INPUT:
            work[to[0]] = Value(1.0, graph.atom(GraphNode("input", place=(of[0], of[1]))))
        elif operation == ca.OP_CONST:
            constant = float(function.instruction_constant(i))
            if not math.isfinite(constant):
                raise ValueError(f"the constant {constant}")
            work[to[0]] = Value(constant, ONE)
        elif operation == ca.OP_OUTPUT:
            outputs[to[0]][to[1]] = work[of[0]]
        else:
            work[to[0]] = _operation(graph, operation, [work[k] for k in of])
    return graph, outputs


def _operation(graph: Graph, operation: int, x: list[Value]) -> Value:
    if operation in (ca.OP_ADD, ca.OP_SUB):
        terms: dict[int, float] = {}
        add_term(terms, x[0].atom, x[0].number)
        add_term(terms, x[1].atom, x[1].number if operation == ca.OP_ADD else -x[1].number)
        return graph.sum(terms)
    if operation in (ca.OP_NEG, ca.OP_TWICE):
        return x[0].times(-1 if operation == ca.OP_NEG else 2)
    if operation == ca.OP_CALL or not 1 <= len(x) <= 2:
        raise ValueError("a call of another function")
    powers = {ca.OP_MUL: (1, 1), ca.OP_SQ: (2,), ca.OP_DIV: (1, -1),
              ca.OP_INV: (-1,)}.get(operation)
    if powers is not None:
        return graph.product(zip(x, powers))
    return Value(1.0, graph.atom(GraphNode("function", tuple(x), operation)))
