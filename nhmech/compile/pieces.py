"""Long functions in C cut into pieces, because a compiler needs more than twice the time for a
function of twice the length: it orders instructions and assigns registers function by function."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONG = 1000        # lines of one piece

# a function of scalar expressions as CasADi writes it: declarations, assignments, results
_FUNCTION = re.compile(r"(?P<head>static int (?P<name>\w+)\(.*\) {\n)(?P<declared>(?:  casadi_real "
                       r"a.*;\n)+)(?P<body>(?:  (?:a\d+=|if \(res\[).*;\n)+)  return 0;\n}\n")
_BODY = re.compile(r"^(?:static|CASADI_SYMBOL_EXPORT) int (\w+)\(.*\) ?{\n((?:(?!}\n).*\n)*)",
                   re.MULTILINE)
_CALL = re.compile(r"\b(casadi_f\d+)\(arg")
_VARIABLE = re.compile(r"\ba\d+\b")
_PIECE = """\
static __attribute__((noinline)) void {name}_{k}(const casadi_real** arg, casadi_real** res,
                                             casadi_real* kept) {{
  casadi_real {variables};
{load}{body}{store}}}

"""


def in_pieces(code: str, whole: str) -> str:
    """CasADi's C with calls of short functions in place of the body of each long one (`LONG`). The
    operations and their order stay.

    The function named `whole` and all that it calls remain, because numbers that pass from piece to
    piece go through memory.
    """
    bodies, remain, calls = dict(_BODY.findall(code)), set(), [whole]
    while calls:
        function = calls.pop()
        if function not in remain:
            remain.add(function)
            calls += _CALL.findall(bodies[function])
    return _FUNCTION.sub(lambda found: found[0] if found["name"] in remain else _cut(found), code)


def _cut(found: re.Match) -> str:
    lines = found["body"].splitlines(keepends=True)
    if len(lines) <= LONG:
        return found[0]
    count = -(-len(lines) // LONG)
    pieces = [lines[len(lines) * k // count:len(lines) * (k + 1) // count] for k in range(count)]
    room = {name: i for i, name in enumerate(sorted(set(_VARIABLE.findall(found["declared"]))))}
    text = "".join(_PIECE.format(name=found["name"], k=k, **words)
                   for k, words in enumerate(reversed([*_written(pieces, room)])))
    calls = "".join(f"  {found['name']}_{k}(arg, res, kept);\n" for k in range(count))
    return f"{text}{found['head']}  casadi_real kept[{len(room)}];\n{calls}  return 0;\n}}\n"


def _written(pieces: list[list[str]], room: dict[str, int]) -> Iterator[dict[str, str]]:
    """The words of each piece, from the last one to the first, so that it is known which numbers
    are needed later."""
    later: set[str] = set()
    for lines in reversed(pieces):
        assigned: set[str] = set()
        needed: set[str] = set()
        for line in lines:
            left, is_assignment, right = line.partition("=")
            target = left.strip() if is_assignment and _VARIABLE.fullmatch(left.strip()) else ""
            needed |= set(_VARIABLE.findall(right if target else line)) - assigned
            assigned |= {target} - {""}
        yield {"variables": ", ".join(sorted(assigned | needed)), "body": "".join(lines),
               "load": "".join(f"  {a} = kept[{room[a]}];\n" for a in sorted(needed)),
               "store": "".join(f"  kept[{room[a]}] = {a};\n" for a in sorted(assigned & later))}
        later = (later - assigned) | needed
