"""The layout of the package, read from its imports, as a picture and in figures.

    python docs/architecture.py                         writes docs/images/architecture.svg
    python docs/architecture.py PACKAGE_FOLDER OUT.svg  the same of another tree

It prints the figures that `docs/architecture.md` quotes. A room is a folder of the package, or a
module beside the folders. An arrow points from a room to one that it imports.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
COLUMNS = 100
INK, PAPER, ARROW = "#2b2f36", "#ffffff", "#3465a4"
# used by all: no arrows
COMMON = ("errors", "version", "lazy", "once", "paths", "checks", "attitude")
GROUPS = {                        # colour -> rooms of one department
    "#eceff3": COMMON,
    "#e3f1e3": ("symbolic", "mechanics", "systems"),
    "#fdf1dc": ("urdf", "vehicle"),
    "#f9e3e0": ("compile", "simulation"),
    "#efe6f6": ("analysis", "control", "odometry", "sweeps"),
    "#e0f1f1": ("view", "logs", "cli", "ros", "gym", "autodiff"),
}


@dataclass
class Room:
    """One folder or single module.

    Attributes
    ----------
    files, lines
        Their numbers.
    uses
        Room -> number of its modules imported from here.
    """

    files: int = 0
    lines: int = 0
    uses: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Figures:
    """What can be counted in a package."""

    files: int
    lines: int
    statements: int
    functions: int
    longest: tuple[int, str]
    reach_ins: int
    wide: int


def modules(package: Path) -> dict[str, Path]:
    """Dotted name below the package -> file; the package's own name is ""."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(tree: ast.AST, name: str, is_package: bool, known: dict[str, Path]) -> set[str]:
    """Modules of the package that one of them imports, for type checkers only included."""
    here = name.split(".") if is_package and name else name.split(".")[:-1]
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        above = here[:len(here) - node.level + 1]
        base = ".".join([*above, node.module] if node.module else above)
        for alias in node.names:
            inner = f"{base}.{alias.name}".strip(".")
            found.add(inner if inner in known else base)
    return found & set(known) - {name}


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Groups of modules that import each other in a loop."""
    def reachable(start: str) -> set[str]:
        seen, todo = set(), list(graph[start])
        while todo:
            if (name := todo.pop()) not in seen:
                seen.add(name)
                todo += graph[name]
        return seen

    reach = {name: reachable(name) for name in graph}
    groups = {frozenset(other for other in reach[name] if name in reach[other])
              for name in graph if name in reach[name]}
    return [set(group) for group in groups]


def read(package: Path) -> tuple[dict[str, Room], dict[str, set[str]], Figures]:
    """Rooms, the imports between modules, and the figures of a package."""
    known = modules(package)
    rooms: dict[str, Room] = {}
    graph: dict[str, set[str]] = {}
    statements = functions = reach_ins = wide = 0
    longest = (0, "")
    for name, path in known.items():
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        graph[name] = imported(tree, name, path.name == "__init__.py", known)
        lines = text.splitlines()
        wide += sum(len(line) > COLUMNS for line in lines)
        for node in ast.walk(tree):
            statements += isinstance(node, ast.stmt)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions += 1
                longest = max(longest, (node.end_lineno - node.lineno + 1, f"{name}.{node.name}"))
            if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                reach_ins += not (own or node.attr.startswith("__"))
        room = rooms.setdefault(name.split(".")[0], Room())
        room.files += 1
        room.lines += len(lines)
        for target in graph[name]:
            if target.split(".")[0] != name.split(".")[0]:
                room.uses[target.split(".")[0]] += 1
    lines = sum(room.lines for room in rooms.values())
    return rooms, graph, Figures(len(known), lines, statements, functions, longest, reach_ins, wide)


def floors(rooms: dict[str, Room]) -> dict[str, int]:
    """A room stands above all that it imports, and closely below the lowest that imports it; rooms
    in a circle stand side by side."""
    below = {name: [other for other in room.uses
                    if other in rooms and name not in rooms[other].uses]
             for name, room in rooms.items()}
    floor = dict.fromkeys(rooms, 0)
    for _ in rooms:
        for name in rooms:
            floor[name] = max([floor[name], *(floor[other] + 1 for other in below[name])])
    for _ in rooms:
        for name in rooms:
            users = [floor[other] - 1 for other in rooms if name in below[other]]
            floor[name] = min(users, default=floor[name])
    return floor


def needed_arrows(rooms: dict[str, Room]) -> set[tuple[str, str]]:
    """Arrows that no longer way round replaces."""
    def beyond(name: str) -> set[str]:
        seen, todo = set(), [name]
        while todo:
            for other in rooms[todo.pop()].uses:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    return {(a, b) for a in rooms for b in rooms[a].uses
            if not any(b in beyond(c) for c in rooms[a].uses if c != b)}


def draw(rooms: dict[str, Room], file: Path) -> None:
    """The picture: a floor a row, what all may use at the bottom, a room wider with more lines.

    An arrow is left out where a longer way round leads to the same room.
    """
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "nhmech", "font.size": 10})
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.patches import FancyBboxPatch

    shown = {name: room for name, room in rooms.items() if name not in ("", "__main__")}
    above = {name: Room(room.files, room.lines, Counter({other: n for other, n in room.uses.items()
                                                         if other not in COMMON}))
             for name, room in shown.items() if name not in COMMON}
    floor = {name: 0 for name in shown} | {name: n + 1 for name, n in floors(above).items()}
    colour = {name: shade for shade, names in GROUPS.items() for name in names}
    height, gap, room_height = 0.95, 0.4, 0.56
    box = {}
    for level in range(max(floor.values()) + 1):
        row = sorted((name for name in shown if floor[name] == level),
                     key=lambda name: (list(colour).index(name) if name in colour else 99))
        widths = [2.7 + shown[name].lines / 2600 for name in row]
        left = -(sum(widths) + gap * (len(row) - 1)) / 2
        for name, width in zip(row, widths):
            box[name] = (left, level * height, width)
            left += width + gap
    reach = max(abs(left) + width for left, _, width in box.values())
    figure, axes = plt.subplots(figsize=(1.1 * reach, 0.8 * (max(floor.values()) + 1)))
    for name, other in sorted(needed_arrows(above)):
        (a, b, c), (d, e, f) = box[name], box[other]
        at, to = np.array([a + c / 2, b]), np.array([d + f / 2, e + room_height])
        for level in range(floor[name] - 1, floor[other], -1):      # between rooms, not behind them
            y = level * height + room_height
            x = at[0] + (to[0] - at[0]) * (at[1] - y) / (at[1] - to[1])
            row = [place[::2] for place in box.values() if place[1] == level * height]
            x = min((x, *(edge for left, width in row
                          for edge in (left - gap / 2, left + width + gap / 2))),
                    key=lambda x: (any(left < x < left + width for left, width in row),
                                   abs(x - at[0]) + abs(x - to[0])))
            for point in ((x, y), (x, level * height)):
                axes.plot(*np.array([at, point]).T, lw=1.4, color=ARROW, zorder=1,
                          solid_capstyle="round")
                at = np.array(point)
        axes.annotate("", to, at, zorder=1,
                      arrowprops={"arrowstyle": "-|>", "lw": 1.4, "color": ARROW, "shrinkA": 0,
                                  "shrinkB": 0})
    for name, (left, bottom, width) in box.items():
        room = shown[name]
        axes.add_patch(FancyBboxPatch((left, bottom), width, room_height, zorder=3, lw=1.1,
                                      boxstyle="round,pad=0,rounding_size=0.08", ec=INK,
                                      fc=colour.get(name, PAPER)))
        middle = left + width / 2
        axes.text(middle, bottom + 0.36, name, ha="center", va="center", zorder=4, color=INK,
                  weight="bold")
        size = f"{room.lines / 1000:.1f} k lines" if room.lines >= 1000 else f"{room.lines} lines"
        files = f"{room.files} files, " if room.files > 1 else ""
        axes.text(middle, bottom + 0.14, files + size, ha="center", va="center", zorder=4,
                  color=INK, fontsize=7.5)
    axes.set(xlim=(-reach - 0.1, reach + 0.1), ylim=(-0.1, max(floor.values()) * height + 0.7))
    axes.axis("off")
    figure.savefig(file, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def architecture() -> None:
    """The picture of this package."""
    draw(read(HERE.parent / "nhmech")[0], HERE / "images" / "architecture.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("package", nargs="?", type=Path, default=HERE.parent / "nhmech")
    parser.add_argument("out", nargs="?", type=Path, default=HERE / "images" / "architecture.svg")
    given = parser.parse_args()
    if not any(given.package.glob("**/*.py")):
        parser.error(f"{given.package} has no Python files")
    rooms, graph, figures = read(given.package)
    draw(rooms, given.out)
    print(f"files {figures.files}, lines {figures.lines}, statements {figures.statements}, "
          f"functions {figures.functions}")
    print(f"longest function: {figures.longest[0]} lines, {figures.longest[1]}")
    print(f"attributes of others with an underscore: {figures.reach_ins}")
    print(f"lines of more than {COLUMNS} columns: {figures.wide}")
    found = circles(graph)
    print(f"circles of imports: {len(found)}")
    for group in found:
        print("  " + ", ".join(sorted(group)))
    print(f"picture: {given.out}")


if __name__ == "__main__":
    main()
