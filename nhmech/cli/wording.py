"""Messages that tell a Python user what to write, in the words of the command line."""

from __future__ import annotations

import ast
import re

_CALL = re.compile(r"wheels=\[(Wheel\(.*?\)(?:, Wheel\(.*?\))*)\]")
_ORDER = ("joint", "kind", "radius")      # of the positional arguments of Wheel
# what messages say to a Python user -> the same as an option
_OPTIONS = (
    ("run with friction_limit and lift_off", "run with --on-slip warn"),
    (r"load\(wheels=\.\.\.\)", "--wheel"),
    (r"wheels=\[\.\.\.\]", "--wheel ..."),
    (r"skid=\[names?\]", "--skid WHEEL,WHEEL"),
    (r"skid='([^']*)'", r"--skid \1"),
    (r'skid="([^"]*)"', r"--skid \1"),
    (r"skid=(\d[\d.]*)", r"--skid \1"),
    (r"locked=\{'([^']*)': ([^}]*)\}", r"--lock \1=\2"),
    (r"packages=\{'([^']*)': '([^']*)'\}", r"--package \1=\2"),
    (r"arguments=\{'([^']*)': '([^']*)'\}", r"--arg \1:=\2"),
    (r"free=\['([^']*)'\]", r"--free \1"),
    (r"\bwheels=(?=[:,; ]|$)", "--wheel"),
    (r"\bskid=(?=[:,; ]|$)", "--skid"),
)


def in_options(text: str) -> str:
    """The text with `wheels=[Wheel(...)]`, `skid=...`, `locked={...}`, `packages={...}` and the
    like as options.

    What cannot be read as such stays as it is.
    """
    text = _CALL.sub(lambda found: _wheels(found[1]) or found[0], text)
    for pattern, replacement in _OPTIONS:
        text = re.sub(pattern, replacement, text)
    return text


def _wheels(calls: str) -> str | None:
    """"Wheel('a', 'disc', 0.1), ..." as options; None where it is not that."""
    try:
        found = ast.parse(f"[{calls}]", mode="eval").body.elts
    except SyntaxError:
        return None
    return " ".join(f"--wheel '{_option(call)}'" for call in found)


def _option(call: ast.Call) -> str:
    pairs = [*zip(_ORDER, call.args), *((word.arg, word.value) for word in call.keywords)]
    return ",".join(f"{key}={_word(value)}" for key, value in pairs
                    if not (isinstance(value, ast.Constant) and value.value is None))


def _word(value: ast.expr) -> str:
    if isinstance(value, (ast.Tuple, ast.List)):
        return " ".join(map(_word, value.elts))
    return str(value.value) if isinstance(value, ast.Constant) else ast.unparse(value)
