"""`make mutants`: what it explains is there, and what it changes and measures is what it says."""

import ast
import builtins
import subprocess
import sys
from pathlib import Path

import mutants_places
import numpy as np
import pytest
from mutants import Choice
from mutants_places import Mutant, blocks, mutants, places, with_marks, with_switches, without_text
from mutants_reach import Kept, Seen
from mutants_table import ASIDE, EQUIVALENT, MODULES, TESTS


def test_the_core_is_changed_and_its_tests_run():
    """The core is all that a run rests on, and the textbook systems."""
    assert {"mechanics/frame", "urdf/wheels/roles", "vehicle/rows",
            "simulation/contact/implicit_step", "analysis/limits", "control/polar", "compile/loop",
            "symbolic/simplify"} < {*MODULES}
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
    code = with_switches("control/taylor", some)
    assert code.co_filename.endswith("control/taylor.py") and len(some) > 20

    def series(active):
        monkeypatch.setattr(builtins, "_mutants_changed", lambda k: k == active, raising=False)
        names = {"__name__": "nhmech.control.taylor", "__package__": "nhmech.control"}
        exec(code, names)
        return names["power"](np.array([2.0, 1.0, 0.0, 0.0]), -1.0)

    np.testing.assert_allclose(series(None), [1 / 2, -1 / 4, 1 / 8, -1 / 16], rtol=1e-14)
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


def test_a_default_is_tried_by_those_who_come_to_its_function(monkeypatch):
    monkeypatch.setattr(mutants_places, "text_of", lambda module: """
def speed(twist=3):
    "Of a drive."
    if twist:
        return 1
    return 2
def drive():
    return speed()
def other():
    return 4
""")
    assert mutants_places.blocks_with("", frozenset({"speed"})) == {0, 2, 3}
    assert mutants_places.blocks_with("", frozenset({"other"})) == {4}
    assert mutants_places.blocks_with("", frozenset({"nobody"})) == set()


def test_blocks_begin_where_a_way_through_a_function_may_end():
    found = blocks(ast.parse('''
LIMIT = 1
def drive(speed):
    """Says it."""
    speed = 2
    if speed:
        return 3
    return speed
'''))
    assert [[ast.unparse(one).partition("\n")[0] for one in block.statements]
            for block in found] == [["speed = 2", "if speed:"], ["return 3"], ["return speed"]]


def test_comments_and_docstrings_change_no_hash():
    plain = without_text("def f(x):\n    return 2 * x")
    assert without_text('def f(x):   # twice\n    """Twice."""\n\n    return 2*x') == plain
    assert without_text("def f(x):\n    return 3 * x") != plain


def test_marks_tell_which_blocks_run(monkeypatch):
    """`power` of control/taylor.py has a loop; what the module computes is not changed."""
    monkeypatch.setattr(builtins, "_mutants_seen", bytearray(100), raising=False)
    names = {"__name__": "nhmech.control.taylor", "__package__": "nhmech.control"}
    exec(with_marks("control/taylor", 3), names)
    assert not any(builtins._mutants_seen)
    series = names["power"](np.array([2.0, 1.0, 0.0, 0.0]), -1.0)
    np.testing.assert_allclose(series, [1 / 2, -1 / 4, 1 / 8, -1 / 16], rtol=1e-14)
    place = next(one for one in mutants("control/taylor")
                 if one.change.startswith("exponent * k - (n - k) -> "))
    assert builtins._mutants_seen[3 + place.block] and 0 < sum(builtins._mutants_seen) < 100


TRIAL = """
import os, sys
from pathlib import Path
sys.path[:0] = [{tests!r}, {folder!r}]
import pytest
from mutants import Choice, Trial, read
from mutants_places import Mutant
from mutants_reach import Kept, Seen
folder = Path({folder!r})
os.chdir(folder)
mutant = Mutant("a", 0, 1, "", "", None, 0)
seen = {{test: Seen(0.1, {{"a": 1}}) for test in ("test_it.py::test", "test_it.py::test_more")}}
choice = Choice(mutant, {{"test_it.py": Kept({{}}, seen, {{}})}})
code = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "test_it.py"],
                   plugins=[Trial(folder, 1, {{0: mutant}}, {{0: choice}})])
said = read(folder / "tried")
print("SAID", said.noticed, sorted(said.failing), choice.tried)
"""


RECORDER = """
import sys
sys.path.insert(0, {tests!r})
from mutants_reach import Recorder
recorder = Recorder.__new__(Recorder)
vars(recorder).update(marks=bytearray(4), known=0.0, made={{}}, added=set())
recorder.install()
from functools import cache
from nhmech.once import cached_property, once

class Wheel:
    @cached_property
    def radius(self):
        recorder.marks[1] = 1

@once
def turn(wheel):
    wheel.radius
    recorder.marks[2] = 1

@cache
def wheel():
    recorder.marks[3] = 1
    return Wheel()

for _ in range(2):
    for use in (lambda: wheel(), lambda: wheel().radius, lambda: turn(wheel()), lambda: 0):
        recorder.forget()
        use()
        print("SAID", *recorder.marks)
"""


def test_who_finds_a_thing_made_has_come_to_what_made_it():
    """The first time and every time after, of `functools` and of the package."""
    script = RECORDER.format(tests=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "SAID 0 0 0 1", "SAID 0 1 0 1", "SAID 0 1 1 1", "SAID 0 0 0 0"] * 2, done.stderr


def check_said(folder: Path, said: str):
    script = TRIAL.format(tests=str(Path(__file__).parent), folder=str(folder))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert said in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("holds, said", [
    # 2 * x becomes 2 / x in the child; the test that runs without is none the wiser
    ("f(2) == 4", "SAID {0: 'test_it.py::test'} [] 2"),
    ("f(0) == 0", "SAID {} [] 2"),
    # what fails without any change notices nothing
    ("f(2) == 5", "SAID {} ['test_it.py::test'] 2")])
def test_a_child_goes_on_with_the_change(tmp_path, holds, said):
    (tmp_path / "test_it.py").write_text(f"""
def f(x): return 2 / x if _mutants_changed(0) and x else 2 * x
def test(): assert {holds}
def test_more(): f(1)
""")
    check_said(tmp_path, said)


def test_what_a_child_writes_into_an_open_file_fails_no_test(tmp_path):
    """2 / 1 = 2 * 1: nothing to notice."""
    (tmp_path / "test_it.py").write_text("""
def test():
    with open("kept", "w") as kept:
        kept.write("a")
        kept.write(str(2 / 1 if _mutants_changed(0) else 2 * 1)[0])
    assert open("kept").read() == "a2"
""")
    check_said(tmp_path, "SAID {} [] 2")


def test_what_a_thread_comes_to_is_tried_from_the_start(tmp_path):
    """A process cannot fork there and go on."""
    (tmp_path / "test_it.py").write_text("""
from concurrent.futures import ThreadPoolExecutor
def test():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: 3 if _mutants_changed(0) else 2).result() == 2
""")
    check_said(tmp_path, "SAID {0: 'test_it.py::test'} [] 2")


def test_cheap_and_particular_tests_of_each_file_come_first():
    """Of those that come to the block of a change, within what a round may take."""
    mutant = Mutant("a", 0, 1, "", "", None, 2)
    names = ["a::wide", "a::narrow", "a::slow", "b::wide", "b::elsewhere"]
    bits = [0b1111, 0b100, 0b100, 0b1111, 0b1011]
    seen = {name: Seen(seconds, {"a": found}) for name, seconds, found in zip(
        names, (0.1, 0.1, 5.0, 0.1, 0.1), bits)}
    choice = Choice(mutant, {"": Kept({}, seen, {"a": 0b100})})
    assert choice.tests == ["a::narrow", "b::wide", "a::wide", "a::slow"] and not choice.at_start
    assert [choice.next(0.3), choice.next(0.3), choice.next(9.0), choice.next(9.0)] == [
        ["a::narrow", "b::wide"], ["a::wide"], ["a::slow"], []]
    # first of all those of the file about the module
    one, other = "tests/test_step_error.py::test", "tests/test_api.py::test"
    for module, first in ("compile/loop_error", one), ("simulation/step_error", one), (
            "compile/loop", other):
        at = {name: Seen(1.0 + (name == one), {module: 0b100}) for name in (one, other)}
        said = Choice(Mutant(module, 0, 1, "", "", None, 2), {"": Kept({}, at, {})})
        assert said.tests[0] == first
    # none comes there but while the file is collected: all of it, in a new process
    late = Choice(mutant, {"": Kept({}, {"b::elsewhere": seen["b::elsewhere"]}, {"a": 0b100})})
    assert late.at_start and late.tests == ["b::elsewhere"]
