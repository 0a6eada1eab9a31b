"""Common factors taken out of sums, and sums dissolved where something cancels."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import combinations
from math import inf
from typing import Any

from .linear_forms import ONE, Graph, GraphNode, Value, add_term, round_off, round_unit


def rewrite(graph: Graph, outputs: list[list[Value]]) -> tuple[Graph, list[list[Value]]]:
    """The graph rewritten: a sum used once is merged into the sum that contains it, a shared one if
    that makes the sum shorter; a factor of several terms used once is taken out, the most frequent
    first.
    """
    order, uses = graph.count_uses(value for part in outputs for value in part)
    made = Graph()
    new: dict[int, Value] = {}
    for atom in order:
        node = graph.nodes[atom]
        if node.kind == "sum":
            new[atom] = _rewrite(graph, made, dict(node.parts), uses, new)
        elif node.kind == "product":
            new[atom] = made.product((new[a], power) for a, power in node.parts)
        elif node.kind == "function":
            parts = tuple(new[a].times(c) for c, a in node.parts)
            new[atom] = Value(1.0, made.atom(GraphNode("function", parts, node.operation)))
        else:
            new[atom] = Value(1.0, made.atom(node))
    return made, [[new[a].times(c) for c, a in part] for part in outputs]


def _rewrite(graph: Graph, made: Graph, terms: dict[int, float], uses: Mapping[int, int],
             new: Mapping[int, Value]) -> Value:
    summands = []
    while (factor := _common_factor(graph, terms, uses)) is not None:
        inner = []
        for a in [a for a in terms if factor in _factors(graph, a, uses)]:
            rest = [(b, p - factor[1] * (b == factor[0])) for b, p in graph.nodes[a].parts]
            rest = [(b, p) for b, p in rest if p]
            alone = len(rest) == 1 and rest[0][1] == 1 and uses[rest[0][0]] == 1
            inner.append((made.product((new[b], p) for b, p in rest).times(terms.pop(a)), alone))
        summands.append((made.product([(_sum(made, inner), 1), (new[factor[0]], factor[1])]),
                         False))
    return _sum(made, summands + [(new[a].times(c), uses[a] == 1) for a, c in terms.items()])


def _factors(graph: Graph, atom: int, uses: Mapping[int, int]) -> list[tuple[int, int]]:
    """Factors (atom, 1) and divisors (atom, -1) of a product that is used once."""
    node = graph.nodes[atom]
    alone = node.kind == "product" and uses[atom] == 1
    return [(a, 1 if power > 0 else -1) for a, power in node.parts] if alone else []


def _common_factor(graph: Graph, terms: Iterable[int],
                   uses: Mapping[int, int]) -> tuple[int, int] | None:
    count = Counter(factor for a in terms for factor in _factors(graph, a, uses))
    best = max(count, key=lambda factor: (count[factor], -factor[0], factor[1]), default=None)
    return best if best is not None and count[best] > 1 else None


def _sum(graph: Graph, summands: Iterable[tuple[Value, bool]]) -> Value:
    """Sum of values, those marked True dissolved if they are sums."""
    terms: dict[int, float] = {}
    shared = []
    for value, dissolves in summands:
        if graph.nodes[value.atom].kind != "sum":
            add_term(terms, value.atom, value.number)
        elif dissolves:
            _dissolve(graph, value, terms)
        else:
            shared.append(value)
    for value in shared:
        whole, dissolved = dict(terms), dict(terms)
        add_term(whole, value.atom, value.number)
        _dissolve(graph, value, dissolved)
        terms = dissolved if _length(dissolved) < _length(whole) else whole
    return graph.sum(terms)


def _dissolve(graph: Graph, value: Value, terms: dict[int, float]) -> None:
    for a, c in graph.nodes[value.atom].parts:
        add_term(terms, a, value.number * c)


def _length(terms: Mapping[int, float]) -> int:
    """Additions and multiplications that the sum takes, one too many."""
    sizes = [round_off(abs(c)) for c in terms.values() if c]
    return len(sizes) + len({*sizes} - {1.0})


SWEEPS = 2


class Scales:
    """`of[s]` is the factor of the sum s, chosen by coordinate descent on the number of different
    products with a constant.

    `sums` map an atom to its terms, atom -> coefficient; `loose` values are in no sum; `factors`
    map an atom to the (atom, power) pairs of a product.
    """

    def __init__(self, sums: Mapping[int, Mapping[int, float]], loose: Iterable[Value],
                 factors: Callable[[int], Iterable[tuple[int, int]]]):
        self.factors = factors
        self.of = dict.fromkeys(sums, 1.0)
        places = {(s, abs(c), a) for s, terms in sums.items() for a, c in terms.items() if a != ONE}
        places |= {(-1, abs(value.number), value.atom) for value in loose if value.atom != ONE}
        # sum -> (place, power of the sum's scale in its coefficient)
        touching = defaultdict(list)
        sizes, atoms = [], []
        for k, (within, size, atom) in enumerate(sorted(places)):
            sizes.append(round_off(size))
            atoms.append(atom)
            for s, power in self._powers(within, atom).items():
                touching[s].append((k, power))
        # (constant, atom) -> how often it is needed; with a constant of 1 it costs nothing, as if
        # it were always there
        written: dict[tuple[float, int], float] = dict(Counter(zip(sizes, atoms)))
        written |= {(1.0, atom): inf for atom in atoms}
        for s in [s for _ in range(SWEEPS) for s in sums]:
            trials = {sizes[k] ** -power for k, power in touching[s]
                      if sizes[k] != 1 and abs(power) == 1}
            if not trials:
                continue
            for k, _ in touching[s]:
                written[sizes[k], atoms[k]] -= 1
                if not written[sizes[k], atoms[k]]:
                    del written[sizes[k], atoms[k]]

            def products(scale: float, touched: list[tuple[int, int]] = touching[s]) -> int:
                found = {(round_off(sizes[k] * scale ** power), atoms[k]) for k, power in touched}
                return len(found.difference(written))

            best = min([1.0, *sorted(trials)], key=products)
            self.of[s] *= best
            for k, power in touching[s]:
                sizes[k] = round_off(sizes[k] * best ** power)
                written[sizes[k], atoms[k]] = written.get((sizes[k], atoms[k]), 0) + 1

    def apply(self, value: Value, within: int = -1) -> Value:
        """The value (a term of the sum `within`) written with the scaled sums."""
        number = value.number
        for s, power in self._powers(within, value.atom).items():
            number *= self.of[s] ** power
        return Value(round_unit(number), value.atom)

    def _powers(self, within: int, atom: int) -> dict[int, int]:
        """With which powers scales of sums stand in the coefficient of an atom."""
        powers = {within: 1} if within in self.of else {}
        for a, power in self.factors(atom):
            if a in self.of:
                powers[a] = powers.get(a, 0) - power
        return powers


Terms = dict[int, float]            # atom -> coefficient
Factors = list[tuple[int, int]]     # (atom, 1) or, a divisor, (atom, -1)


def share_terms(sums: dict[int, Terms], name: Callable[[], int]) -> None:
    """Replaces pairs c (a + k b) that several sums contain, whatever c, by c times a new sum called
    name()."""
    pairs = _Pairs(sums, _pairs_of_terms, lambda pair, n: (n - 1) * (1 if abs(pair[2]) == 1 else 2))
    while (found := pairs.best()) is not None:
        (a, b, _), holders = found
        made, ratio = name(), sums[holders[0]][b] / sums[holders[0]][a]
        for holder in holders:
            terms = dict(sums[holder])
            terms[made] = terms.pop(a)
            del terms[b]
            pairs.put(holder, terms)
        pairs.put(made, {a: 1.0, b: ratio})


def share_factors(products: dict[int, Factors], name: Callable[[], int]) -> None:
    """Replaces pairs of factors that several products contain by a new product called name()."""
    pairs = _Pairs(products, _pairs_of_factors, lambda pair, n: n)
    while (found := pairs.best()) is not None:
        pair, holders = found
        made = name()
        for holder in holders:
            factors = list(products[holder])
            factors.remove(pair[0])
            factors.remove(pair[1])
            pairs.put(holder, [*factors, (made, 1)])
        pairs.put(made, list(pair))


def _pairs_of_terms(terms: Terms) -> list[tuple[int, int, float]]:
    return [(a, b, round_off(d / c)) for (a, c), (b, d) in combinations(sorted(terms.items()), 2)]


def _pairs_of_factors(factors: Factors) -> set[tuple]:
    return {pair for pair in combinations(sorted(factors), 2) if pair[0][1] > 0 or pair[1][1] > 0}


class _Pairs:
    """Which of `families` hold a pair; `best` gives the one that saves most. The queue may hold old
    savings: they are looked up again."""

    def __init__(self, families: dict[int, Any], pairs_of: Callable[[Any], Iterable[Hashable]],
                 saving: Callable[[Any, int], int]):
        self.families, self.pairs_of, self.saving = families, pairs_of, saving
        self.holders: dict[Hashable, set[int]] = defaultdict(set)
        self.queue: list[tuple[int, Any]] = []
        for family, members in families.items():
            for pair in pairs_of(members):
                self.holders[pair].add(family)
        for pair in self.holders:
            self._queue(pair)

    def _queue(self, pair: Hashable) -> None:
        if len(self.holders[pair]) > 1:
            heapq.heappush(self.queue, (-self.saving(pair, len(self.holders[pair])), pair))

    def put(self, family: int, members: Any) -> None:
        """Replaces a family's members, or adds a family."""
        if family in self.families:
            for pair in self.pairs_of(self.families[family]):
                self.holders[pair].discard(family)
        self.families[family] = members
        for pair in self.pairs_of(members):
            self.holders[pair].add(family)
            self._queue(pair)

    def best(self) -> tuple[Any, list[int]] | None:
        while self.queue:
            saving, pair = heapq.heappop(self.queue)
            if len(self.holders[pair]) < 2:
                continue
            if self.saving(pair, len(self.holders[pair])) == -saving:
                return pair, sorted(self.holders[pair])
            self._queue(pair)
        return None
