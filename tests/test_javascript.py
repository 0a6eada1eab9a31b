"""Functions written as JavaScript: Node's numbers are those of CasADi's virtual machine."""

import json

import casadi as ca
import numpy as np
import pytest
from support import VARIED, run_in_node, shipped

from nhmech.compile import javascript
from nhmech.compile.javascript import OPERATIONS, write_javascript
from nhmech.errors import CompileError
from nhmech.simulation.integration.integrators import projection_function, rate_function

# sines and the like of V8 and of the C library differ in the last digit
ROUNDING = 1e-14


def in_node(function: ca.Function, points: list) -> np.ndarray:
    """The outputs of a function one after the other, (N, n), at points that are lists of inputs;
    NaN and infinities too."""
    sizes = [function.numel_out(i) for i in range(function.n_out())]
    texts = [[[repr(float(x)) for x in np.ravel(value, order="F")] for value in point]
             for point in points]
    found = run_in_node(f"""
        const read = x => Number(x.replace("inf", "Infinity").replace("nan", "NaN"));
        const f = {write_javascript(function)}, out = [];
        for (const point of {json.dumps(texts)}) {{
          const r = {sizes}.map(n => new Float64Array(n));
          f(point.map(a => Float64Array.from(a, read)), r);
          out.push(r.flatMap(a => Array.from(a, x => Number.isFinite(x) ? x : String(x))));
        }}
        console.log(JSON.stringify(out));""")
    return np.array([[float(x) for x in row] for row in found])


def by_casadi(function: ca.Function, points: list) -> np.ndarray:
    rows = [function.call([ca.DM(value) for value in point]) for point in points]
    return np.array([np.concatenate([part.full().ravel(order="F") for part in row])
                     for row in rows])


def agree(function: ca.Function, points: list) -> None:
    found, expected = in_node(function, points), by_casadi(function, points)
    assert np.array_equal(np.isfinite(found), np.isfinite(expected))
    is_finite = np.isfinite(expected)
    assert np.array_equal(found[~is_finite], expected[~is_finite], equal_nan=True)
    found, expected = found[is_finite], expected[is_finite]
    assert (np.abs(found - expected) <= ROUNDING * np.maximum(1, np.abs(expected))).all()


def test_every_operation_means_what_it_does_in_casadi():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    unary = [ca.sqrt, ca.fabs, ca.sign, ca.floor, ca.ceil, ca.exp, ca.log, ca.expm1, ca.log1p,
             ca.sin, ca.cos, ca.tan, ca.asin, ca.acos, ca.atan, ca.sinh, ca.cosh, ca.tanh,
             ca.asinh, ca.acosh, ca.atanh, ca.logic_not, lambda a: a * a, lambda a: 2 * a,
             lambda a: 1 / a, lambda a: -a, lambda a: a ** 2.5]
    binary = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b,
              ca.atan2, ca.fmin, ca.fmax, ca.fmod, ca.remainder, ca.copysign, ca.hypot,
              lambda a, b: a ** b, lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a == b,
              lambda a, b: a != b, ca.logic_and, ca.logic_or,
              lambda a, b: ca.if_else(a, b, 0)]
    values = [f(x) for f in unary] + [f(x, y) for f in binary]
    function = ca.Function("all", [x, y], values)
    used = {function.instruction_id(k) for k in range(function.n_instructions())}
    assert set(OPERATIONS) - used <= {ca.OP_ASSIGN}
    numbers = [0.0, -0.0, 0.3, -0.7, 1.0, 2.5, -3.5, 40.0, np.inf, -np.inf, np.nan]
    points = [[a, b] for a in numbers for b in numbers]
    agree(function, points)


@pytest.mark.parametrize("name", VARIED)
@pytest.mark.parametrize("part", [50, javascript.PART])
def test_a_vehicle_in_parts_of_any_length(name, part, monkeypatch):
    """Rate and projection at random states, in one piece and in many."""
    monkeypatch.setattr(javascript, "PART", part)
    equations, rng = shipped(name).equations, np.random.default_rng(5)
    for function in (rate_function(equations), projection_function(equations)):
        points = [[rng.normal(size=function.size_in(i)) for i in range(function.n_in())]
                  for _ in range(5)]
        found, expected = in_node(function, points), by_casadi(function, points)
        # relative to the largest number in play: differences of large terms keep their rounding
        scale = np.abs(expected).max(axis=1, keepdims=True) + 1
        assert (np.abs(found - expected) / scale).max() <= 1e-12


def test_matrices_and_empty_arguments():
    A, none = ca.SX.sym("A", 2, 3), ca.SX.sym("none", 0)
    function = ca.Function("f", [A, none], [A.T @ A, none, ca.densify(A[0, :])])
    agree(function, [[np.arange(6.0).reshape(2, 3), np.zeros(0)]])


def test_a_function_of_calls_is_refused():
    x = ca.MX.sym("x")
    inner = ca.Function("inner", [x], [x * x])
    with pytest.raises(CompileError, match="expand"):
        write_javascript(ca.Function("outer", [x], [inner(x) + 1]))
