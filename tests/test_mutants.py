"""`make mutants`: what it explains is there, and what it changes and measures is what it says."""

import ast
import builtins
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mutants import Shown
from mutants_places import Mutant, mutants, places, with_switches
from mutants_table import ASIDE, EQUIVALENT, MODULES, TESTS


def test_the_core_is_changed_and_its_tests_run():
    """The core is all that a run rests on, and the textbook systems."""
    assert {"mechanics/frame", "urdf/wheels/roles", "vehicle/rows", "simulation/contact/glide",
            "analysis/limits", "control/polar", "compile/loop", "symbolic/simplify"} < {*MODULES}
    assert {"contact", "simulator", "mobility"} < {*TESTS} and not {*TESTS} & {*ASIDE}


def test_what_is_explained_exists():
    for module in {module for module, _, _ in EQUIVALENT}:
        known = {(mutant.says, mutant.change) for mutant in mutants(module)}
        for where, says, change in EQUIVALENT:
            assert where != module or (says, change) in known, (module, says, change)


def test_a_change_is_made_where_its_switch_says_so(monkeypatch):
    """Each on its own; without any the module computes what it does. 1 / (2 + x) has the series
    1/2, -1/4, 1/8, -1/16."""
    some = dict(enumerate(mutants("control/taylor")))
    code = with_switches("control/taylor", some, {"power": {"power"}})
    assert code.co_filename.endswith("control/taylor.py") and len(some) > 20
    entered = []
    monkeypatch.setattr(builtins, "_entered", entered.append, raising=False)

    def series(active):
        monkeypatch.setattr(builtins, "_changed", lambda k: k == active, raising=False)
        names = {"__name__": "nhmech.control.taylor", "__package__": "nhmech.control"}
        exec(code, names)
        return names["power"](np.array([2.0, 1.0, 0.0, 0.0]), -1.0)

    np.testing.assert_allclose(series(None), [1 / 2, -1 / 4, 1 / 8, -1 / 16], rtol=1e-14)
    assert entered == ["power"]
    sign = next(k for k, one in some.items() if one.change.startswith("exponent * k - (n - k) -> "))
    assert np.abs(series(sign) - [1 / 2, -1 / 4, 1 / 8, -1 / 16]).max() > 0.1


def test_what_runs_at_import_is_known_by_the_names_it_defines():
    found = {ast.unparse(place.node): place.at_import for place in places(ast.parse("""
LIMIT = 1
class Drive:
    gain: float = 2.0
    def speed(self, twist=3):
        return LIMIT + 4
match LIMIT:
    case 5: pass
"""))}
    assert found == {"1": {"LIMIT"}, "2.0": {"Drive", "gain"}, "3": {"speed"}, "4": None,
                     "LIMIT + 4": None}


@pytest.mark.parametrize("test, noticed", [("assert f(2) == 4", True), ("assert f(0) == 0", False)])
def test_a_child_goes_on_with_the_change(tmp_path, test, noticed):
    """2 * x becomes 2 / x in it; the test that runs without the change is none the wiser."""
    (tmp_path / "test_it.py").write_text(f"""
import _changed_here
def f(x): return 2 / x if _changed_here.run.changed(0) and x else 2 * x
def test(): {test}
""")
    script = """
import sys, types
sys.path[:0] = [{tests!r}, {folder!r}]
import pytest
from pathlib import Path
from mutants import Pace, Run
from mutants_places import Mutant
run = Run({{0: Mutant("a", 0, 1, "", "", None)}}, Path({folder!r}, "out"), Pace(), None)
sys.modules["_changed_here"] = types.SimpleNamespace(run=run)
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", {folder!r}], plugins=[run]))
""".format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == (2 if noticed else 0), done.stdout + done.stderr
    said = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert any("noticed" in one for one in said) == noticed and said[0]["tried"] == [0]


def test_quick_tests_judge_what_runs_at_import():
    """Of few files, and no longer than the budget; those that run what it defines, if any do."""
    shown, mutant = Shown(), Mutant("a", 0, 1, "", "", frozenset({"LIMIT"}))
    names = [f"tests/test_{name}.py::test" for name in "abcdefg"]
    shown.seconds = dict(zip(names, (0.2, 0.1, 0.1, 0.1, 0.1, 20.0, 3.9)))
    shown.breadth = dict.fromkeys(names, 1)
    shown.of["a"] += names
    assert shown.fitting(mutant) == [*names[1:5]]
    shown.of[str(mutant)] += names[5:]
    assert shown.fitting(mutant) == names[6:]                     # the other takes too long
