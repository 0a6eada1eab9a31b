"""The reference numbers that the tests carry: where they are from, and that none was changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import REFERENCE, reference_case

NAMES = sorted(file.stem for file in REFERENCE.glob("*.json"))
ORIGINALS = Path(__file__).resolve().parents[2] / "shared" / "cases"


def test_every_case_has_a_source_and_a_reader():
    text = "".join(file.read_text() for file in Path(__file__).parent.glob("test_*.py"))
    assert len(NAMES) == 25
    for name in NAMES:
        case = reference_case(name)
        assert case["source"] and case["conventions"] and case["expected"]
        assert f'"{name}"' in text, f"no test reads {name}.json"


def is_part(carried, original) -> bool:
    """Whether all that is carried stands in the original, number for number."""
    if isinstance(carried, dict):
        return all(key in original and is_part(value, original[key])
                   for key, value in carried.items())
    if isinstance(carried, list):
        return len(carried) == len(original) and all(map(is_part, carried, original))
    return carried == original


def test_numbers_are_those_of_their_origin():
    if not ORIGINALS.is_dir():
        pytest.skip(f"{ORIGINALS} is absent; its numbers are carried here")
    for name in NAMES:
        original = json.loads((ORIGINALS / f"{name}.json").read_text())
        assert is_part(reference_case(name), original), name
