"""The table of `make mutants`: all of the core is in it, and what it explains is there."""

from pathlib import Path

from mutants import mutants
from mutants_table import COVERED, EQUIVALENT, GROUPS, NAMED, PACKAGE

TESTS = Path(__file__).parent


def test_every_module_of_the_core_is_covered():
    """The core is all that a run rests on: mechanics, robot files, vehicles, simulation, analysis
    and control laws."""
    rooms = {room.partition("/")[0] for room in GROUPS}
    assert rooms == {"mechanics", "urdf", "vehicle", "simulation", "analysis", "control"}
    core = {str(file.relative_to(PACKAGE).with_suffix("")) for room in rooms
            for file in (PACKAGE / room).rglob("*.py") if file.name != "__init__.py"}
    assert {*COVERED} == core
    gone = {module for module in NAMED if not module.endswith("*")} - core
    assert gone == set(), "no such module"
    missing = {name for tests in NAMED.values() for name in tests.split()
               if not (TESTS / f"test_{name}.py").is_file()}
    assert missing == set()


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
