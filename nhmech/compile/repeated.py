"""A function that is applied repeatedly: calls in a CasADi graph, a loop in C.

CasADi's graphs have no loops. A row of calls, of which those after the last needed one are skipped,
gives the same result, but compiles slowly and takes time to skip.
"""

from __future__ import annotations

import re

import casadi as ca

REPEATED, UNROLLED = "nhmech_repeated", "nhmech_unrolled"      # how names of functions begin
GROUP = 5          # calls that are skipped together

# a function of one vector in CasADi's C
_FUNCTION = re.compile(r"/\* (?P<name>\w+):\((?P<inputs>.*)\)->\(o0\[(?P<size>\d+)\]\) \*/\n"
                       r"(?P<head>static int (?P<function>\w+)\(.*\) {\n)(?:(?!}\n).*\n)*}\n\n?")
_LOOP = """\
{head}\
  const casadi_real** given = arg + {count};
  casadi_real **found = res + 1, room[2][{size}];
  int i, now = 0;
  for (i = 1; i < {count}; ++i) given[i] = arg[i];
  casadi_copy(arg[0], {size}, room[0]);
  for (i = 0; i < {times} && room[now][{size} - 1]; ++i) {{
    given[0] = room[now];
    found[0] = room[now = !now];
    if ({once}(given, found, iw, w, 0)) return 1;
  }}
  casadi_copy(room[now], {size}, res[0]);
  return 0;
}}

"""


def repeated(once: ca.Function, times: int) -> ca.Function:
    """(y, ...) -> y: `once` (y, ...) -> y applied until the last entry of y is 0, but at most so
    many `times`, a multiple of `GROUP`."""
    group = _unrolled(f"{UNROLLED}_group", once, GROUP)
    return _unrolled(f"{REPEATED}_{times}_{once.name()}", group, times // GROUP)


def _unrolled(name: str, once: ca.Function, times: int) -> ca.Function:
    symbols = once.mx_in()
    y, keep = symbols[0], ca.Function(f"{UNROLLED}_keep", symbols, [symbols[0]])
    running = ca.Function.if_else(f"{UNROLLED}_running", once, keep)
    for _ in range(times):
        y = running(y[-1], y, *symbols[1:])
    return ca.Function(name, symbols, [y])


def with_loops(code: str) -> str:
    """CasADi's C with a loop in place of the calls of each function that is `repeated`."""
    in_c: dict[str, str] = {}

    def written(found: re.Match) -> str:
        name = found["name"]
        in_c[name] = found["function"]
        loop = re.fullmatch(rf"{REPEATED}_(\d+)_(\w+)", name)
        if loop is not None:
            return _LOOP.format(**found.groupdict() | {"times": loop[1], "once": in_c[loop[2]],
                                                       "count": len(re.findall(r"\bi\d+",
                                                                               found["inputs"]))})
        return "" if name.startswith(UNROLLED) else found[0]

    return _FUNCTION.sub(written, code)
