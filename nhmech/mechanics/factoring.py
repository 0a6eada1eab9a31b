"""Common factors taken out of sums, and sums dissolved where something cancels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from .linear_forms import Graph, Node, Value, gather, rounded


def rewrite(graph: Graph, outputs: list[list[Value]]) -> tuple[Graph, list[list[Value]]]:
    """The graph made anew: a sum that is used once dissolves in the sum it is part of, a shared one where that makes
    the sum shorter; a factor of several terms that are used once is taken out of them, the most frequent first.
    """
    order, uses = graph.needed(value for part in outputs for value in part)
    made, new = Graph(), {}
    for atom in order:
        node = graph.nodes[atom]
        if node.kind == "sum":
            new[atom] = _rewritten(graph, made, dict(node.parts), uses, new)
        elif node.kind == "product":
            new[atom] = made.product((new[a], power) for a, power in node.parts)
        elif node.kind == "function":
            new[atom] = Value(1.0, made.atom(Node("function", tuple(new[a].times(c) for c, a in node.parts),
                                                  node.what)))
        else:
            new[atom] = Value(1.0, made.atom(node))
    return made, [[new[a].times(c) for c, a in part] for part in outputs]


def _rewritten(graph: Graph, made: Graph, terms: dict[int, float], uses: Mapping[int, int],
               new: Mapping[int, Value]) -> Value:
    summands = []
    while (factor := _common_factor(graph, terms, uses)) is not None:
        inner = []
        for a in [a for a in terms if factor in _factors(graph, a, uses)]:
            rest = [(b, p - factor[1] * (b == factor[0])) for b, p in graph.nodes[a].parts]
            rest = [(b, p) for b, p in rest if p]
            alone = len(rest) == 1 and rest[0][1] == 1 and uses[rest[0][0]] == 1
            inner.append((made.product((new[b], p) for b, p in rest).times(terms.pop(a)), alone))
        summands.append((made.product([(_sum(made, inner), 1), (new[factor[0]], factor[1])]), False))
    return _sum(made, summands + [(new[a].times(c), uses[a] == 1) for a, c in terms.items()])


def _factors(graph: Graph, atom: int, uses: Mapping[int, int]) -> list[tuple[int, int]]:
    """Factors (atom, 1) and divisors (atom, -1) of a product that is used once."""
    node = graph.nodes[atom]
    alone = node.kind == "product" and uses[atom] == 1
    return [(a, 1 if power > 0 else -1) for a, power in node.parts] if alone else []


def _common_factor(graph: Graph, terms: Iterable[int], uses: Mapping[int, int]) -> tuple[int, int] | None:
    count = Counter(factor for a in terms for factor in _factors(graph, a, uses))
    best = max(count, key=lambda factor: (count[factor], -factor[0], factor[1]), default=None)
    return best if best is not None and count[best] > 1 else None


def _sum(graph: Graph, summands: Iterable[tuple[Value, bool]]) -> Value:
    """Sum of values, those marked True dissolved if they are sums."""
    terms: dict[int, float] = {}
    shared = []
    for value, dissolves in summands:
        if graph.nodes[value.atom].kind != "sum":
            gather(terms, value.atom, value.number)
        elif dissolves:
            _dissolve(graph, value, terms)
        else:
            shared.append(value)
    for value in shared:
        whole, dissolved = dict(terms), dict(terms)
        gather(whole, value.atom, value.number)
        _dissolve(graph, value, dissolved)
        terms = dissolved if _length(dissolved) < _length(whole) else whole
    return graph.sum(terms)


def _dissolve(graph: Graph, value: Value, terms: dict[int, float]) -> None:
    for a, c in graph.nodes[value.atom].parts:
        gather(terms, a, value.number * c)


def _length(terms: Mapping[int, float]) -> int:
    """Additions and multiplications that the sum takes, one too many."""
    sizes = [rounded(abs(c)) for c in terms.values() if c]
    return len(sizes) + len({*sizes} - {1.0})
