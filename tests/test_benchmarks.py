"""The benchmarks can be imported and give every program the same motion; what they measure is no matter for a test."""

import ast
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import nhmech

ROOT = Path(__file__).resolve().parent.parent / "benchmarks"
PEERS = sorted(path.stem for path in (ROOT / "peers").glob("*.py") if path.stem != "__init__")
pytestmark = pytest.mark.skipif(not ROOT.is_dir(), reason="the benchmarks are in the repository only")


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] in ("support", "peers")]:
        del sys.modules[name]


@pytest.mark.parametrize("file", sorted(ROOT.rglob("*.py")), ids=lambda file: str(file.relative_to(ROOT)))
def test_every_file_parses_and_says_what_it_is(file):
    assert ast.get_docstring(ast.parse(file.read_text()))


def test_every_program_is_in_the_table():
    assert set(importlib.import_module("work_precision").PROGRAMS.values()) == set(PEERS)


@pytest.mark.parametrize("motion", ["differential_drive", "disc"])
@pytest.mark.parametrize("peer", PEERS)
def test_programs_end_where_ideal_rolling_ends(peer, motion):
    """Exact ones to 1e-6 m, and simulators of contacts, which are coarse here, to half a metre, after one second of the same motion."""
    try:
        program = importlib.import_module(f"peers.{peer}")
    except ImportError as error:
        pytest.skip(f"{peer}: {error}")
    given = importlib.import_module("support.motions").MOTIONS[motion]
    place, seconds = program.run(given, 2e-3, 1.0)
    assert seconds > 0 and set(program.CHOSEN) == {"differential_drive", "disc"}
    contacts = peer.endswith(("contacts", "joints"))
    assert np.linalg.norm(place - given.end(1.0)) < (0.5 if contacts else 1e-6)


@pytest.mark.parametrize("series, n, nv, operations", [("trailers", 2, 14, 600), ("wheels", 6, 12, 90), ("dead_joints", 5, 8, 70)])
def test_generated_vehicles_load(series, n, nv, operations):
    """Locked joints leave the model, and wheels side by side nearly leave the equations."""
    text, options = getattr(importlib.import_module("support.generated"), series)(n)
    vehicle = nhmech.load(text, **options)
    assert vehicle.constrained.system.algebroid.nv == nv and len(vehicle.speeds) == 2
    assert importlib.import_module("scaling").operations(vehicle) <= operations


def test_a_goal_needs_two_steps():
    """One step that hits the end by chance is not taken for accuracy."""
    coarsest = importlib.import_module("work_precision").coarsest
    assert coarsest([(0.1, 0.5), (0.05, 0.001), (0.02, 0.3), (0.01, 0.009), (0.005, 0.004)], 0.01) == (0.01, 0.009)
    assert coarsest([(0.1, 0.5), (0.05, 0.001)], 0.01) is None
