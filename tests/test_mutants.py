"""`make mutants`: what it explains is there, and what it changes and measures is what it says."""

import ast

from mutants import Trial, mutants
from mutants_reach import blocks
from mutants_table import ASIDE, EQUIVALENT, MODULES, TESTS


def test_the_core_is_changed_and_its_tests_run():
    """The core is all that a run rests on: mechanics, robot files, vehicles, simulation, analysis
    and control laws."""
    assert {"mechanics/frame", "urdf/wheels/roles", "vehicle/rows", "simulation/contact/glide",
            "analysis/limits", "control/polar"} < {*MODULES}
    assert {"contact", "simulator", "mobility"} < {*TESTS} and not {*TESTS} & {*ASIDE}


def test_what_is_explained_exists():
    for module in {module for module, _, _ in EQUIVALENT}:
        known = {(mutant.says, mutant.change) for mutant in mutants(module)}
        for where, says, change in EQUIVALENT:
            assert where != module or (says, change) in known, (module, says, change)


def test_a_mutant_is_the_module_with_one_change():
    """And changed nothing else: as many syntax nodes, compiled from the same file."""
    some = mutants("control/taylor")
    assert len({mutant.compile() for mutant in some}) == len(some) > 20
    assert all(code.co_filename.endswith("control/taylor.py")
               for code in (some[0].compile(), some[-1].compile()))


def test_a_place_belongs_to_the_innermost_block():
    found = blocks(ast.parse("""
LIMIT = 1
class Drive:
    def speed(self, twist=0):
        if twist:
            return twist
        else:
            def inner():
                return LIMIT
        return inner()
"""))
    def name(line, column):
        return next((block.name for block in reversed(found) if block.has(line, column)), "")

    assert [name(*place) for place in ((2, 8), (4, 26), (5, 11), (6, 19), (9, 23), (10, 15))] == [
        "", "Drive.speed+1", "Drive.speed+1", "Drive.speed+2", "Drive.speed.inner+1",
        "Drive.speed+1"]


def test_quick_tests_of_few_files_go_first():
    """And those that fail without a change are left out."""
    tests = [f"tests/test_{name}.py::test" for name in "abcdefgh"]
    seconds = dict(zip(tests, (0.1, 0.1, 0.1, 0.1, 0.1, 20.0, 8.0, 9.0)))
    trial = Trial(None, tests)
    assert trial.take(seconds, {tests[1]}) == [tests[0], *tests[2:5]]
    assert trial.take(seconds, set()) == tests[5:7]          # the next would exceed 30 s
    assert trial.take(seconds, set()) == []
