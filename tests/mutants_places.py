"""Small wrong changes of a module, and the module that has them in it, each with a switch, or with
marks of the blocks that run.

`_mutants_changed(k)` says at each place whether the k-th change holds; `_mutants_seen[k]` is set
where the k-th block of the core begins. A block is a run of statements of a function that are
entered together.
"""

from __future__ import annotations

import ast
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from mutants_table import PACKAGE, explain

COMPARISONS = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
               ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
               ast.In: ast.NotIn, ast.NotIn: ast.In}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "argmax": "argmin",
         "argmin": "argmax", "sin": "cos", "cos": "sin"}
# functions on which no result depends: what they say is for people
UNTOUCHED = ("__repr__", "__str__")
# keywords and options on which only words and times depend
OPTIONS = ("repr", "simplified", "cse", "strict", "hermitian", "evaluate")


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


class Place(NamedTuple):
    """A node that may be changed, and the field of its parent in which it is."""

    node: ast.AST
    parent: ast.AST
    name: str
    index: int | None
    at_import: frozenset[str] | None      # what it defines, if it runs at import

    def put(self, make: Callable[[ast.AST], ast.AST]) -> None:
        """Puts `make(what is there)` there."""
        held = getattr(self.parent, self.name)
        if self.index is None:
            setattr(self.parent, self.name, make(held))
        else:
            held[self.index] = make(held[self.index])


@dataclass(frozen=True)
class Mutant:
    """A module with one change: the `number`-th of all."""

    module: str
    number: int
    line: int
    says: str          # the line of the source, without its comment
    change: str
    at_import: frozenset[str] | None
    block: int | None = None      # of the module; None for what runs at import

    def __str__(self) -> str:
        return f"nhmech/{self.module}.py:{self.line}: {self.change}"

    @property
    def room(self) -> str:
        return self.module.partition("/")[0]

    @property
    def reason(self) -> str:
        """Why nothing can notice it, if that is known."""
        return explain(self.module, self.says, self.change)


def path_of(module: str) -> Path:
    """The file of a module."""
    return PACKAGE / f"{module}.py"


@cache
def text_of(module: str) -> str:
    """Its source, as it was when the run began."""
    return path_of(module).read_text()


def mutants(module: str) -> list[Mutant]:
    """All of a module."""
    text = text_of(module)
    lines, tree = text.splitlines(), ast.parse(text)
    of = block_of_nodes(tree)
    return [Mutant(module, number, place.node.lineno,
                   lines[place.node.lineno - 1].partition("  # ")[0].strip(),
                   f"{_short(place.node)} -> {_short(new)}", place.at_import, of.get(place.node))
            for number, (place, new) in enumerate(_changes(tree))]


def _changes(tree: ast.AST) -> Iterator[tuple[Place, ast.AST]]:
    """A place, and what may stand there."""
    for place in places(tree):
        for new in CHANGES[type(place.node)](place.node):
            yield place, new


def places(tree: ast.AST, names: frozenset[str] | None = frozenset()) -> Iterator[Place]:
    """Nodes that may be changed; no annotation, docstring or text of a message is among them."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or _is_idle(tree, name, index, node):
                continue
            below = _defined(tree, name, node, names)
            if type(node) in CHANGES and not _is_text(node):
                yield Place(node, tree, name, index, below)
            if not isinstance(node, ast.Raise):
                yield from places(node, below)


def _defined(tree: ast.AST, name: str, node: ast.AST,
             names: frozenset[str] | None) -> frozenset[str] | None:
    """Names that the statement defines in which `node` runs at import; None below a function."""
    if names is None or isinstance(tree, (ast.FunctionDef, ast.Lambda)) and name == "body":
        return None
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return frozenset({node.name})
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return names.union(one.id for target in targets for one in ast.walk(target)
                           if isinstance(one, ast.Name))
    return names


def _is_idle(tree: ast.AST, name: str, index: int | None, node: ast.AST) -> bool:
    """Whether no result depends on a node, or on which of several it is."""
    if isinstance(node, ast.FunctionDef):
        return node.name in UNTOUCHED
    if isinstance(node, ast.keyword):
        return node.arg in OPTIONS
    if isinstance(node, ast.Dict):
        return any(isinstance(key, ast.Constant) and key.value in OPTIONS for key in node.keys)
    return (isinstance(node, (ast.JoinedStr, ast.pattern))
            or isinstance(tree, ast.Call) and name == "args" and _is_any(tree, index))


def _is_any(call: ast.Call, index: int | None) -> bool:
    """Whether another argument would do as well: the seed of a sample, whose points are any, the
    width of a matrix without rows, `SX(0, 1)`, and the -1 of `reshape`, any number below 0."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return (name == "default_rng" or name == "reshape" and ast.unparse(call.args[index]) == "-1"
            or name == "SX" and index == 1 and ast.unparse(call.args[0]) == "0")


def _short(node: ast.AST) -> str:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        # versions of Python write texts apart
        return f"raise {ast.unparse(node.exc.func)}(...)"
    line = " ".join(ast.unparse(node).split())
    return line if len(line) <= 60 else f"{line[:57]}..."

# -- blocks ----------------------------------------------------------------------------------------
class Block(NamedTuple):
    """Statements of one list that follow each other, and where the first of them is in it."""

    held: list[ast.stmt]
    begins: int
    statements: list[ast.stmt]


def blocks(tree: ast.Module) -> list[Block]:
    """Those of all functions; what is in a block comes after it."""
    found: list[Block] = []

    def visit(held: list[ast.stmt], is_function: bool) -> None:
        current = None
        for i, statement in enumerate(held):
            inner = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
            if is_function and not _is_text(statement):
                if current is None:
                    found.append(current := Block(held, i, []))
                current.statements.append(statement)
            lists = [*_lists(statement)]
            for one in lists:
                visit(one, is_function or inner)
            current = None if lists else current

    visit(tree.body, False)
    return found


def _lists(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        if held := getattr(statement, name, []):
            yield held
    for one in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield one.body


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def block_of_nodes(tree: ast.Module) -> dict[ast.AST, int]:
    """The innermost block that a node is in."""
    return {node: k for k, block in enumerate(blocks(tree)) for statement in block.statements
            for node in ast.walk(statement)}


def without_text(text: str) -> str:
    """Python without comments, docstrings and layout."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [statement for statement in body if not _is_text(statement)]
    return ast.dump(tree)


def blocks_of(module: str) -> list[Block]:
    """Those of a module of the core."""
    return blocks(ast.parse(text_of(module)))


def blocks_with(module: str, names: frozenset[str]) -> set[int]:
    """Blocks of a module that have one of the names in them, or are those of a function that has
    it: a default counts for who calls it."""
    text = text_of(module)
    if not any(re.search(rf"\b{name}\b", text) for name in names):
        return set()
    found, tree = defaultdict(set), ast.parse(text)
    of = block_of_nodes(tree)
    for node, k in of.items():
        if isinstance(node, (ast.Name, ast.Attribute)):
            found[node.id if isinstance(node, ast.Name) else node.attr].add(k)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found[node.name].update(of[one] for one in node.body if one in of)
    return set().union(*(found[name] for name in names))


# -- a module with switches, or with marks ---------------------------------------------------------
def with_switches(module: str, drawn: dict[int, Mutant]) -> CodeType:
    """A module in which `_mutants_changed(k)` chooses the k-th change."""
    tree = ast.parse(text_of(module))
    wanted = {mutant.number: k for k, mutant in drawn.items() if mutant.module == module}
    for number, (place, new) in enumerate(list(_changes(tree))):
        if number in wanted:
            asks = ast.parse(f"_mutants_changed({wanted[number]})", mode="eval").body
            place.put(lambda old, new=new, asks=asks: ast.copy_location(
                ast.If(asks, [new], [old]) if isinstance(old, ast.stmt)
                else ast.IfExp(asks, new, old), old))
    return _compiled(module, tree)


def with_marks(module: str, first: int) -> CodeType:
    """A module in which `_mutants_seen[first + k]` is set where its k-th block begins."""
    tree = ast.parse(text_of(module))
    for k, block in reversed(list(enumerate(blocks(tree)))):
        mark = ast.parse(f"_mutants_seen[{first + k}] = 1").body[0]
        block.held.insert(block.begins, ast.copy_location(mark, block.statements[0]))
    return _compiled(module, tree)


def _compiled(module: str, tree: ast.Module) -> CodeType:
    return compile(ast.fix_missing_locations(tree), str(path_of(module)), "exec")


class Loader(importlib.machinery.SourceFileLoader):
    """Runs other code in place of a module's own."""

    def __init__(self, name: str, path: str, code: CodeType):
        super().__init__(name, path)
        self.code = code

    def get_code(self, name):
        return self.code


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules of the core, and loads what was made in their place."""

    def __init__(self, made: dict[str, CodeType]):
        self.made = {f"nhmech.{module}".replace("/", "."): (path_of(module), code)
                     for module, code in made.items()}

    def find_spec(self, name, path=None, target=None):
        if name not in self.made:
            return None
        file, code = self.made[name]
        return importlib.util.spec_from_file_location(name, str(file),
                                                      loader=Loader(name, str(file), code))


def with_all_switches(drawn: dict[int, Mutant]) -> Finder:
    """Finds the modules of all that is drawn."""
    return Finder({module: with_switches(module, drawn)
                   for module in {mutant.module for mutant in drawn.values()}})
