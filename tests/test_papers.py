"""The table of the papers is made from the marks of the tests; nothing is missing without a
reason."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
if not (ROOT / "docs" / "papers.py").exists():
    pytest.skip("the documentation is not here", allow_module_level=True)
SPEC = importlib.util.spec_from_file_location("papers", ROOT / "docs" / "papers.py")
papers = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(papers)


def test_every_item_has_a_test_or_a_reason():
    tests, keys = papers.marked_tests(), [item.key for item in papers.ITEMS]
    assert len(set(keys)) == len(keys)
    assert set(tests) <= set(keys), "a mark that names no item"
    for item in papers.ITEMS:
        assert (item.key in tests) != bool(item.missing), item.key
        assert bool(item.code) != bool(item.missing), item.key
        assert item.key.split()[0] in papers.PAPERS


def test_the_code_that_is_named_exists():
    import nhmech
    from nhmech import mechanics
    from nhmech.systems import system_names

    for item in papers.ITEMS:
        kind, _, names = item.code.rpartition(": ")
        for name in names.replace(";", ",").split(","):
            word = name.split()[0].split(".")[0] if name.split() else ""
            assert not word or (word in system_names() if kind == "systems" else
                                hasattr(mechanics, word) or hasattr(nhmech, word)), item


def test_the_page_is_up_to_date():
    assert papers.PAGE.read_text() == papers.page(), "run python docs/papers.py"
