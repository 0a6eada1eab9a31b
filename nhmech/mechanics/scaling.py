"""By what constant each sum is multiplied, so that few multiplications by constants
are left in it and where it is used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

from .linear_forms import ONE, Value, rounded, unit

SWEEPS = 2


class Scales:
    """`of[s]` is what the sum s is multiplied by, chosen by coordinate descent on the number of
    different products with a constant.

    sums     atom -> its terms, atom -> coefficient
    loose    values that stand in no sum
    factors  atom -> (atom, power) of a product
    """

    def __init__(self, sums: Mapping[int, Mapping[int, float]], loose: Iterable[Value],
                 factors: Callable[[int], Iterable[tuple[int, int]]]):
        self.factors = factors
        self.of = dict.fromkeys(sums, 1.0)
        places = {(s, abs(c), a) for s, terms in sums.items() for a, c in terms.items() if a != ONE}
        places |= {(-1, abs(value.number), value.atom) for value in loose if value.atom != ONE}
        touching = defaultdict(list)                     # sum -> (place, power of the sum's scale in its coefficient)
        sizes, atoms = [], []
        for k, (within, size, atom) in enumerate(sorted(places)):
            sizes.append(rounded(size))
            atoms.append(atom)
            for s, power in self._powers(within, atom).items():
                touching[s].append((k, power))
        written = Counter(zip(sizes, atoms))
        for s in [s for _ in range(SWEEPS) for s in sums]:
            trials = {sizes[k] ** -power for k, power in touching[s] if sizes[k] != 1 and abs(power) == 1}
            if not trials:
                continue
            written.subtract((sizes[k], atoms[k]) for k, _ in touching[s])

            def products(scale: float) -> int:
                found = {(rounded(sizes[k] * scale ** power), atoms[k]) for k, power in touching[s]}
                return sum(new[0] != 1 and not written[new] for new in found)

            best = min([1.0, *sorted(trials)], key=products)
            self.of[s] *= best
            for k, power in touching[s]:
                sizes[k] = rounded(sizes[k] * best ** power)
                written[sizes[k], atoms[k]] += 1

    def applied(self, value: Value, within: int = -1) -> Value:
        """The value (a term of the sum `within`) written with the scaled sums."""
        number = value.number
        for s, power in self._powers(within, value.atom).items():
            number *= self.of[s] ** power
        return Value(unit(number), value.atom)

    def _powers(self, within: int, atom: int) -> Counter[int]:
        """With which powers scales of sums stand in the coefficient of an atom."""
        powers = Counter({within: 1})
        for a, power in self.factors(atom):
            powers[a] -= power
        return Counter({s: power for s, power in powers.items() if s in self.of})
