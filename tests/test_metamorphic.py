"""The same robot, written another way, is the same robot; and made robots are found as they were
made (tests/metamorphic.py, tests/made_robots.py)."""

import random
from collections import Counter

import pytest
from made_robots import DESIGNS, verdicts
from metamorphic import TRANSFORMATIONS, robots, verdict
from robot_table import ABSENT, Verdict, published

from nhmech.urdf.describe import describe

# the bounds below only tighten
GOOD = (Verdict.RIGHT, Verdict.NOTICED)
BAD = (Verdict.WRONG, Verdict.MISLED, Verdict.STUCK)


def tell(found: dict[str, tuple[Verdict, str]]) -> tuple[int, int, str]:
    """How many are good, how many bad, and all that are not good in words."""
    count = Counter(result for result, _ in found.values())
    print({v.value: n for v, n in count.items()})
    return (sum(count[v] for v in GOOD), sum(count[v] for v in BAD),
            "\n".join(f"{name}: {v.value}: {why}" for name, (v, why) in found.items()
                      if v not in GOOD))


def transformed(cases, folder) -> dict[str, tuple[Verdict, str]]:
    return {f"{name}, {how}": verdict(name, how, folder) for name, how in cases}


def test_a_sample_of_robots_and_transformations(tmp_path):
    """Two shipped robots for each transformation, and two published ones where they are at hand."""
    rng = random.Random(13)
    ours = [name for name in robots() if name.endswith("(ours)")]
    cases = [(name, how) for how in TRANSFORMATIONS for name in rng.sample(ours, 2)]
    good, bad, words = tell(transformed(cases, tmp_path))
    assert good >= 40 and bad <= 2, words
    if not published():
        return
    others = sorted(set(robots()) - set(ours))
    cases = [(name, how) for how in TRANSFORMATIONS for name in rng.sample(others, 2)]
    good, bad, words = tell(transformed(cases, tmp_path))
    assert good >= 37 and bad <= 5, words


@pytest.mark.soak
@pytest.mark.skipif(not published(), reason=ABSENT)
def test_all_robots_and_transformations(tmp_path):
    cases = [(name, how) for name in robots() for how in TRANSFORMATIONS]
    good, bad, words = tell(transformed(cases, tmp_path))
    assert good >= 600 and bad <= 200, words


def made(seeds, folder, **arguments) -> dict[str, tuple[Verdict, str]]:
    return {f"{seed} {DESIGNS[seed % len(DESIGNS)].__name__}": (found.verdict, found.why)
            for seed, _, found in verdicts(seeds, folder, **arguments)}


def test_a_sample_of_made_robots(tmp_path):
    good, bad, words = tell(made(range(56), tmp_path, load=describe))
    assert good == 56 and bad == 0, words


@pytest.mark.soak
def test_many_made_robots(tmp_path):
    good, bad, words = tell(made(range(1000, 1280), tmp_path))
    assert good >= 50 and bad <= 120, words
