"""Pairs of terms, and of factors, that occur in several places are formed once.

Source: Hosangadi, Fallah, Kastner, "Optimizing polynomial expressions by algebraic factorization and common
subexpression elimination", IEEE Trans. CAD 25 (2006): greedy extraction of two-term subexpressions.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from itertools import combinations
from typing import Any

from .linear_forms import rounded

Terms = dict[int, float]            # atom -> coefficient
Factors = list[tuple[int, int]]     # (atom, 1) or, a divisor, (atom, -1)


def share_terms(sums: dict[int, Terms], name: Callable[[], int]) -> None:
    """Replaces pairs c (a + k b) that several sums contain, whatever c, by c times a new sum called name()."""
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
    pairs = _Pairs(products, _pairs_of_factors, lambda pair, n: n - 1)
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
    return [(a, b, rounded(d / c)) for (a, c), (b, d) in combinations(sorted(terms.items()), 2)]


def _pairs_of_factors(factors: Factors) -> set[tuple]:
    return {pair for pair in combinations(sorted(factors), 2) if pair[0][1] > 0 or pair[1][1] > 0}


class _Pairs:
    """Which of `families` hold a pair; `best` gives the one that saves most. The queue may hold old savings:
    they are looked up again."""

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
