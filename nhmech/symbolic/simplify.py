"""Fewer operations for the same function: linear forms, common factors, shared pairs.

CasADi's `cse` finds subexpressions that are the same tree. Equations of motion hold more than that:
a x + a y, sums that differ by a factor, terms that cancel after the elimination, constants that
meet in one product.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import casadi as ca

from .factoring import Factors, Scales, Terms, rewrite, share_factors, share_terms
from .linear_forms import ONE, Graph, Value, read, round_off

FREE = (ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT)
REWRITES = 3
LARGE = 10_000          # operations, above which one rewrite has to do: the first wins nearly all
ENOUGH = 0.995           # of the operations: a smaller gain is not worth another round


def operations(function: ca.Function) -> int:
    """Arithmetic instructions of an SX function: all but constants, inputs and outputs."""
    return sum(function.instruction_id(i) not in FREE for i in range(function.n_instructions()))


def simplify(function: ca.Function) -> ca.Function:
    """The same function of the same inputs in fewer operations, equal up to rounding;
    itself where there is little to win."""
    large = operations(function) > LARGE
    while True:
        try:
            shorter = _round(function, (1,) if large else range(1 + REWRITES))
        # a call, or a constant that is not finite: left as it is
        except (ValueError, ArithmeticError):
            return function
        if large or operations(shorter) >= ENOUGH * operations(function):
            return min(shorter, function, key=operations)
        function = shorter


def _round(function: ca.Function, rewrites: Collection[int]) -> ca.Function:
    """The shortest of what as many rewrites lead to."""
    graph, outputs = read(function)
    tried = []
    for k in range(1 + max(rewrites)):
        if k:
            graph, outputs = rewrite(graph, outputs)
        if k in rewrites:
            tried.append(_Rewriter(graph, outputs))
    return min(tried, key=lambda writer: writer.operations).function(function)


class _Rewriter:
    """Expressions of a graph's values.

    Sums become lists of (whether it is subtracted, atom), where an atom may be a product with a
    constant factor; those products get names of their own, and so does what is shared.
    """

    def __init__(self, graph: Graph, outputs: list[list[Value]]):
        self.graph = graph
        self._named = len(graph.nodes)
        order, _ = graph.count_uses(value for part in outputs for value in part)
        sums: dict[int, Terms] = {a: dict(graph.nodes[a].parts) for a in order
                                  if graph.nodes[a].kind == "sum"}
        functions = {a: graph.nodes[a].parts for a in order if graph.nodes[a].kind == "function"}
        share_terms(sums, self._name)
        loose = [value for parts in (*outputs, *functions.values()) for value in parts]
        scales = Scales(sums, loose, self._factors)
        sums = {s: {a: scales.apply(Value(c, a), s).number for a, c in terms.items()}
                for s, terms in sums.items()}
        self._group(sums)

        self.constants: dict[int, float] = {}
        self.products: dict[int, Factors] = {}
        self._known: dict[float | tuple, int] = {}
        self.sums = {s: [self._term(Value(c, a)) for a, c in terms.items()]
                     for s, terms in sums.items()}
        self.functions = {f: [self._term(scales.apply(value)) for value in parts]
                          for f, parts in functions.items()}
        self.outputs = [[self._term(scales.apply(value)) for value in part] for part in outputs]
        for atom in {a for factors in self.products.values() for a, _ in factors}:
            # a product too long to be sorted into another one
            self._product_of(atom)
        share_factors(self.products, self._name)

    @property
    def operations(self) -> int:
        """Arithmetic instructions, nearly: some signs are counted twice."""
        signs = sum(minus for part in [*self.outputs, *self.functions.values()]
                    for minus, _ in part)
        sums = sum(len(terms) - (not all(minus for minus, _ in terms))
                   for terms in self.sums.values())
        products = sum(len(factors) - any(power > 0 for _,
                                          power in factors) for factors in self.products.values())
        return signs + sums + products + len(self.functions)

    def function(self, like: ca.Function) -> ca.Function:
        """A function with the inputs, names and sparsities of `like`."""
        self._inputs: list[ca.SX] = like.sx_in()
        self._made: dict[int, ca.SX] = {}
        entries = [[self._with_sign(*term) for term in part] for part in self.outputs]
        written = [ca.SX(like.sparsity_out(k), ca.vertcat(ca.SX(0, 1), *part))
                   for k, part in enumerate(entries)]
        return ca.Function(like.name(), self._inputs, written, like.name_in(), like.name_out(),
                           {"cse": True})

    def _name(self) -> int:
        self._named += 1
        return self._named - 1

    def _factors(self, atom: int) -> tuple[tuple[int, int], ...]:
        return self.graph.factors(atom) if atom < len(self.graph.nodes) else ((atom, 1),)

    def _group(self, sums: dict[int, Terms]) -> None:
        """c a + c b becomes c (a + b)."""
        made: dict[tuple, int] = {}
        for terms in list(sums.values()):
            groups = defaultdict(list)
            for a, c in sorted(terms.items()):
                if a != ONE and abs(c) != 1:
                    groups[round_off(abs(c))].append(a)
            for members in groups.values():
                if len(members) > 1:
                    lead = terms[members[0]]
                    inner = tuple((a, 1.0 if terms.pop(a) * lead > 0 else -1.0) for a in members)
                    if inner not in made:
                        made[inner] = self._name()
                        sums[made[inner]] = dict(inner)
                    terms[made[inner]] = lead

    def _term(self, value: Value) -> tuple[bool, int]:
        """(whether it is subtracted, atom) of a value; the atom is a product where there is a
        constant factor."""
        minus, size, atom = value.number < 0, abs(value.number), value.atom
        if size == 1 and atom != ONE:
            return minus, self._product_of(atom)
        if size not in self._known:
            self._known[size] = self._name()
            self.constants[self._known[size]] = size
        constant = self._known[size]
        return minus, constant if atom == ONE else self._product([*self._factors(atom),
                                                                  (constant, 1)])

    def _product_of(self, atom: int) -> int:
        factors = self._factors(atom)
        return atom if factors == ((atom, 1),) else self._product(factors)

    def _product(self, factors: Sequence[tuple[int, int]]) -> int:
        single = tuple(sorted((a, 1 if power > 0 else -1)
                              for a, power in factors for _ in range(abs(power))))
        if single not in self._known:
            self._known[single] = self._name()
            self.products[self._known[single]] = list(single)
        return self._known[single]

    def _needs(self, atom: int) -> list[int]:
        """Atoms whose expressions an atom's expression is made of."""
        if atom in self.sums or atom in self.functions:
            return [a for _, a in (self.sums.get(atom) or self.functions[atom])]
        if atom in self.products:
            return [a for a, _ in self.products[atom]]
        long = atom not in self.constants and self.graph.nodes[atom].kind == "product"
        return [self._product_of(atom)] if long else []

    def _expression(self, atom: int) -> ca.SX:
        stack = [atom]
        while stack:  # deeper than Python's recursion goes
            missing = ([a for a in self._needs(stack[-1]) if a not in self._made]
                       if stack[-1] not in self._made else [])
            if missing:
                stack += missing
            else:
                a = stack.pop()
                if a not in self._made:
                    self._made[a] = self._write(a)
        return self._made[atom]

    def _write(self, atom: int) -> ca.SX:
        """The expression of an atom whose parts are there."""
        if atom in self.constants:
            return ca.SX(self.constants[atom])
        if atom in self.sums:
            return self._sum(self.sums[atom])
        if atom in self.products:
            return self._quotient(self.products[atom])
        if atom in self.functions:
            arguments = [self._with_sign(*term) for term in self.functions[atom]]
            operation = self.graph.nodes[atom].operation
            return (ca.SX.unary(operation, *arguments) if len(arguments) == 1
                    else ca.SX.binary(operation, *arguments))
        node = self.graph.nodes[atom]
        return (self._made[self._product_of(atom)] if node.kind == "product"
                else self._inputs[node.place[0]].nz[node.place[1]])

    def _with_sign(self, minus: bool, atom: int) -> ca.SX:
        made = self._expression(atom)
        if minus and any(other for other, _ in self.sums.get(atom, ())):
            return self._sum([(not other, a) for other, a in self.sums[atom]])
        return -made if minus else made

    def _sum(self, terms: list[tuple[bool, int]]) -> ca.SX:
        (minus, first), *others = sorted(terms)
        total = -self._made[first] if minus else self._made[first]
        for minus, atom in others:
            total = total - self._made[atom] if minus else total + self._made[atom]
        return total

    def _quotient(self, factors: Factors) -> ca.SX:
        above, below = ([a for a, power in sorted(factors) if power == side] for side in (1, -1))
        if len(above) == 2 and above[0] == above[1]:
            total = self._made[above[0]] ** 2
        else:
            total = self._made[above[0]] if above else ca.SX(1)
            for a in above[1:]:
                total = total * self._made[a]
        for a in below:
            total = total / self._made[a]
        return total
