"""JavaScript in several functions, which leave numbers to each other: read as Python, whose
assignments are the same."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
import pytest

from nhmech.compile import javascript
from nhmech.compile.javascript import write_javascript
from nhmech.errors import CompileError


def run(text: str, inputs: list, sizes: list[int], rounds: int = 2) -> list[list[float]]:
    """The outputs of sums and products; numbers kept from a round before must not matter."""
    kept = [np.nan] * int(found[1]) if (found := re.search(r"Float64Array\((\d+)\)", text)) else []
    results = [[np.nan] * size for size in sizes]
    for _ in range(rounds):
        for body in re.findall(r"\(a,r(?:,k)?\)=>\{(?!for)(.*?)\}", text):
            names = {"a": inputs, "r": results, "k": kept}
            for statement in body.split(";"):
                kind, _, rest = statement.rpartition(" ")
                if kind != "let":      # else names alone: what is read must have been set
                    exec(rest.replace("],", "];") if kind else rest, {}, names)
    return results


@pytest.mark.parametrize("part", [1, 2, 3, 7, 10_000])
def test_functions_that_follow_each_other_compute_the_same(part, monkeypatch):
    monkeypatch.setattr(javascript, "PART", part)
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y", 3)
    terms = [*ca.vertsplit(x), *ca.vertsplit(y)]
    random = np.random.default_rng(0)
    for _ in range(25):
        i, j, k = random.integers(0, len(terms), 3)
        terms.append(terms[i] * terms[j] - 0.5 * terms[k] + 3)
    function = ca.Function("f", [x, y], [ca.vertcat(*terms[-4:]), terms[8] / 7])
    values = [random.normal(size=2), random.normal(size=3)]
    text = write_javascript(function)
    assert text.count("=>{") == 1 if part > 1000 else (
        text.count("(a,r,k)=>{") == -(-function.n_instructions() // part))
    found = run(text, [value.tolist() for value in values], [4, 1])
    for one, wanted in zip(found, function(*values)):
        np.testing.assert_allclose(one, wanted.full().ravel(), rtol=1e-15)


def test_what_there_is_not_to_compute():
    nothing = ca.Function("f", [], [])
    assert write_javascript(nothing) == "(a,r)=>{}"
    x = ca.SX.sym("x")
    inner = ca.Function("inner", [x], [x])
    symbol = ca.MX.sym("x")
    with pytest.raises(CompileError, match="outer is not written in scalar expressions"):
        write_javascript(ca.Function("outer", [symbol], [inner(symbol)]))
    with pytest.raises(CompileError, match=r"instruction 1 of f \(operation \d+\) has no counterp"):
        write_javascript(ca.Function("f", [x], [ca.erf(x)]))
    for value, word in ((np.nan, "NaN"), (np.inf, "Infinity"), (-np.inf, "-Infinity"), (2.0, "2"),
                        (0.1, "0.1"), (-3e100, "-3e+100")):
        assert write_javascript(ca.Function("f", [], [ca.SX(value)])) == (
            f"(a,r)=>{{const r0=r[0];let w0;w0={word};r0[0]=w0;}}")
