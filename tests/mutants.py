"""How many small wrong changes of the core the tests notice.

`python tests/mutants.py [-n COUNT] [-j JOBS] [--seed SEED] [MODULE ...]` changes each module of
`COVERED` in so many places drawn by lot, one after the other, in a copy of the project; runs the
tests that cover it; and prints a table of what was noticed, and each change that was not. What
takes longer than `LIMIT` counts as noticed, for it hangs.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

PROJECT = Path(__file__).resolve().parents[1]
LIMIT = 300.0      # [s] for the tests of one module; without a change they take 2 to 30

# core module -> tests that cover it, the likeliest to notice first
COVERED = {
    "mechanics/algebroid": "algebroid algebroid_makers methods",
    "mechanics/chetaev": "chetaev",
    "mechanics/connection": "connection curvature",
    "mechanics/constraint_manifold": "constraint_algorithm",
    "mechanics/distribution": "refused_systems selection elimination methods systems_papers",
    "mechanics/frame": "methods refused_systems rheonomic selection elimination",
    "mechanics/gibbs_appell": "methods systems_papers",
    "mechanics/lagrange_dalembert": "systems_papers algebroid_makers",
    "mechanics/momentum": "momentum",
    "mechanics/reduction": "reduction",
    "mechanics/selection": "selection couplings refused_systems",
    "vehicle/axles": "couplings mobility",
    "vehicle/contact": "contact free_wheel",
    "vehicle/couplings": "couplings mobility",
    "vehicle/inertia": "methods parameters",
    "vehicle/placement": "ground couplings validate proportions",
    "vehicle/reactions": "validity wrench",
    "vehicle/rows": "contact methods skid couplings ground",
    "simulation/atlas": "rheonomic couplings simulator",
    "simulation/bounds": "bounds",
    "simulation/events": "simulator validity",
    "simulation/inputs": "simulator wrench",
    "simulation/integration/integrators": "status rheonomic simulator adaptive",
    "simulation/inverse_dynamics": "simulator tracker_laws",
    "simulation/integration/schemes": "simulator rheonomic",
    "urdf/wheels/heights": "evidence inference repair validate",
    "urdf/joint_properties": "evidence roles elements inference",
    "urdf/wheels/stance": "evidence inference",
    "control/path": "paths",
    "control/twist": "twist commanded_twist",
    "control/wheel_servo": "wheel_servo",
    "analysis/axles": "mobility",
    "analysis/contact_load": "validity",
    "analysis/friction": "validity",
    "analysis/limits": "limits",
    "analysis/mobility": "mobility couplings",
}

COMPARISONS = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
               ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
               ast.In: ast.NotIn, ast.NotIn: ast.In}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "argmax": "argmin",
         "argmin": "argmax", "sin": "cos", "cos": "sin"}
# functions on which no result depends: what they say is for people
UNTOUCHED = ("__repr__", "__str__")
# keywords and options on which only words and times depend
OPTIONS = ("repr", "simplified", "cse", "strict", "hermitian")


# -- changes: node -> the nodes that may stand in its place ----------------------------------------
def _compare(node: ast.Compare) -> Iterator[ast.AST]:
    for i, operator in enumerate(node.ops):
        new = copy.deepcopy(node)
        new.ops[i] = COMPARISONS[type(operator)]()
        yield new


def _operate(node: ast.BinOp) -> Iterator[ast.AST]:
    if type(node.op) in OPERATORS:
        yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)


def _augment(node: ast.AugAssign) -> Iterator[ast.AST]:
    if type(node.op) in OPERATORS:
        yield ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value)


def _drop_sign(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if isinstance(node.op, (ast.USub, ast.Not)):
        yield node.operand


def _combine(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def _number(node: ast.Constant) -> Iterator[ast.AST]:
    """A hundredth more, of a tolerance a million times as much or as little; of a whole number one
    more."""
    if type(node.value) is float and node.value:
        size = abs(node.value)
        yield ast.Constant(node.value * (1e6 if size <= 1e-4 else 1e-6 if size >= 1e4 else 1.01))
    elif type(node.value) is int:
        yield ast.Constant(node.value + 1)
    elif type(node.value) is bool:
        yield ast.Constant(not node.value)


def _call(node: ast.Call) -> Iterator[ast.AST]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in CALLS:
        new = copy.deepcopy(node)
        setattr(new.func, "attr" if isinstance(new.func, ast.Attribute) else "id", CALLS[name])
        yield new


def _drop(node: ast.stmt) -> Iterator[ast.AST]:
    yield ast.Pass()


CHANGES: dict[type, Callable[..., Iterator[ast.AST]]] = {
    ast.Compare: _compare, ast.BinOp: _operate, ast.AugAssign: _augment, ast.UnaryOp: _drop_sign,
    ast.BoolOp: _combine, ast.Constant: _number, ast.Call: _call, ast.Raise: _drop, ast.Expr: _drop}


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: str
    line: int
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        return f"nhmech/{self.module}.py:{self.line}: {self.before}  ->  {self.after}"


def mutants(module: str, text: str) -> list[Mutant]:
    """All of a module's text."""
    tree, found = ast.parse(text), []
    for node, parent, field, index in _places(tree):
        for new in CHANGES[type(node)](node):
            _put(parent, field, index, ast.copy_location(new, node))
            found.append(Mutant(module, node.lineno, _short(node), _short(new),
                                ast.unparse(ast.fix_missing_locations(tree))))
            _put(parent, field, index, node)
    return found


def _places(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST, str, int | None]]:
    """Nodes that may be changed, with parent, field and place in it; no annotation, docstring or
    text of a message is among them."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr):
                continue
            if isinstance(node, ast.FunctionDef) and node.name in UNTOUCHED:
                continue
            if isinstance(node, ast.keyword) and node.arg in OPTIONS:
                continue
            if isinstance(node, ast.Dict) and any(
                    isinstance(key, ast.Constant) and key.value in OPTIONS for key in node.keys):
                continue
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if type(node) in CHANGES and not is_text:
                yield node, tree, field, index
            if not isinstance(node, ast.Raise):
                yield from _places(node)


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _short(node: ast.AST) -> str:
    line = " ".join(ast.unparse(node).split())
    return line if len(line) <= 60 else f"{line[:57]}..."


# -- runs ------------------------------------------------------------------------------------------
def copy_project(folder: Path) -> None:
    """What the tests of the core need."""
    for name in ("nhmech", "tests", "urdf"):
        shutil.copytree(PROJECT / name, folder / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.cfg", "setup.py"):
        shutil.copy(PROJECT / name, folder)


def failure(tests: Iterable[str], folder: Path, limit: float | None = None, jobs: int = 0) -> str:
    """What pytest says of the first test that fails, or that they do not end in time; else ""."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", str(jobs), "-m",
               "not soak and not browser", *(f"tests/test_{name}.py" for name in tests)]
    try:
        ended = subprocess.run(command, cwd=folder, env=environment, timeout=limit,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except subprocess.TimeoutExpired:
        return f"no end after {limit} s"
    return ended.stdout[-2000:] if ended.returncode else ""


def is_noticed(mutant: Mutant, folder: Path) -> bool:
    """Whether the module's tests fail with the change."""
    file = folder / "nhmech" / f"{mutant.module}.py"
    original = file.read_text()
    file.write_text(mutant.text)
    try:
        return bool(failure(COVERED[mutant.module].split(), folder, LIMIT))
    finally:
        file.write_text(original)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", "--count", type=int, default=5, help="changes of each module")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("modules", nargs="*", default=list(COVERED), metavar="MODULE")
    given = parser.parse_args()
    drawn = []
    for module in given.modules:
        every = mutants(module, (PROJECT / "nhmech" / f"{module}.py").read_text())
        rng = random.Random(f"{given.seed} {module}")
        drawn += rng.sample(every, min(given.count, len(every)))
    survived: list[Mutant] = []
    with tempfile.TemporaryDirectory() as base, ThreadPoolExecutor(given.jobs) as pool:
        folders: SimpleQueue[Path] = SimpleQueue()
        for job in range(given.jobs):
            copy_project(Path(base, str(job)))
            folders.put(Path(base, str(job)))

        def judge(mutant: Mutant) -> bool:
            folder = folders.get()
            try:
                return is_noticed(mutant, folder)
            finally:
                folders.put(folder)

        tests = dict.fromkeys(" ".join(COVERED[module] for module in given.modules).split())
        if why := failure(tests, Path(base, "0"), jobs=given.jobs):
            sys.exit(f"{why}\nso they are without any change")
        for mutant, noticed in zip(drawn, pool.map(judge, drawn)):
            if not noticed:
                survived.append(mutant)
                print(f"not noticed  {mutant}", flush=True)
    made = Counter(mutant.module for mutant in drawn)
    left = Counter(mutant.module for mutant in survived)
    print(f"\n{'module':30} noticed of")
    for module in given.modules:
        print(f"{module:30} {made[module] - left[module]:7} {made[module]:2}")
    caught = len(drawn) - len(survived)
    print(f"{'all':30} {caught:7} {len(drawn)}  ({100 * caught / len(drawn):.1f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
