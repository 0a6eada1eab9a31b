"""Fixtures of all tests: the reference cases, and the shipped robots."""

from __future__ import annotations

import json
import math
import signal
from pathlib import Path

import pytest
from support import shipped

from nhmech.simulation import interrupts

# beside the project; not part of it
CASES = Path(__file__).resolve().parents[2] / "shared" / "cases"

# So a shell starts what it puts in the background; some tests send Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def nobody_pressed_ctrl_c(monkeypatch):
    """A test that sends Ctrl-C soon after another is not a second press."""
    monkeypatch.setattr(interrupts, "_last_press", -math.inf)


@pytest.fixture(scope="session")
def case():
    """Name -> contents of a reference case; skips where the cases are not at hand."""
    def read(name: str) -> dict:
        path = CASES / f"{name}.json"
        if not path.is_file():
            pytest.skip(f"no reference case {path}")
        return json.loads(path.read_text())

    return read


@pytest.fixture(scope="session")
def vehicle():
    """(name, ground, speeds) -> a shipped robot, loaded once."""
    return shipped
