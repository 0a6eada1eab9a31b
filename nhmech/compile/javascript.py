"""CasADi functions written as JavaScript, instruction by instruction: the same operations in the
same order, so that a browser gives the same results as CasADi's virtual machine."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import casadi as ca

from ..errors import CompileError

# instructions of one JavaScript function: engines leave those with thousands unoptimised
PART = 1200

# operation -> JavaScript of its operands, with the meaning that it has in CasADi's C
OPERATIONS = {
    ca.OP_ASSIGN: "{x}", ca.OP_ADD: "{x}+{y}", ca.OP_SUB: "{x}-{y}", ca.OP_MUL: "{x}*{y}",
    ca.OP_DIV: "{x}/{y}", ca.OP_NEG: "-{x}", ca.OP_INV: "1/{x}", ca.OP_SQ: "{x}*{x}",
    ca.OP_TWICE: "2*{x}", ca.OP_SQRT: "Math.sqrt({x})", ca.OP_FABS: "Math.abs({x})",
    ca.OP_SIGN: "Math.sign({x})", ca.OP_FLOOR: "Math.floor({x})", ca.OP_CEIL: "Math.ceil({x})",
    ca.OP_EXP: "Math.exp({x})", ca.OP_LOG: "Math.log({x})", ca.OP_EXPM1: "Math.expm1({x})",
    ca.OP_LOG1P: "Math.log1p({x})", ca.OP_HYPOT: "Math.hypot({x},{y})",
    ca.OP_SIN: "Math.sin({x})", ca.OP_COS: "Math.cos({x})", ca.OP_TAN: "Math.tan({x})",
    ca.OP_ASIN: "Math.asin({x})", ca.OP_ACOS: "Math.acos({x})", ca.OP_ATAN: "Math.atan({x})",
    ca.OP_ATAN2: "Math.atan2({x},{y})", ca.OP_SINH: "Math.sinh({x})",
    ca.OP_COSH: "Math.cosh({x})", ca.OP_TANH: "Math.tanh({x})", ca.OP_ASINH: "Math.asinh({x})",
    ca.OP_ACOSH: "Math.acosh({x})", ca.OP_ATANH: "Math.atanh({x})",
    ca.OP_LT: "{x}<{y}?1:0", ca.OP_LE: "{x}<={y}?1:0", ca.OP_EQ: "{x}==={y}?1:0",
    ca.OP_NE: "{x}!=={y}?1:0", ca.OP_IF_ELSE_ZERO: "{x}===0?0:{y}",
    # 1 to the power of NaN or infinity is 1 in C
    ca.OP_POW: "{x}===1?1:Math.pow({x},{y})", ca.OP_CONSTPOW: "{x}===1?1:Math.pow({x},{y})",
    # NaN is true in C, and false here
    ca.OP_NOT: "{x}===0?1:0", ca.OP_AND: "{x}!==0&&{y}!==0?1:0",
    ca.OP_OR: "{x}!==0||{y}!==0?1:0",
    # the other one where one is NaN, as in C
    ca.OP_FMIN: "{x}<{y}||{y}!=={y}?{x}:{y}", ca.OP_FMAX: "{x}>{y}||{y}!=={y}?{x}:{y}",
    ca.OP_FMOD: "{x}%{y}",
    # IEEE: the nearest multiple is taken away, the even one of two
    ca.OP_REMAINDER: "((x,y)=>{{const n=x/y,m=Math.abs(n%1)===.5?2*Math.round(n/2):Math.round(n);"
                     "return m===0?x:x-m*y;}})({x},{y})",
    ca.OP_COPYSIGN: "{y}<0||Object.is({y},-0)?-Math.abs({x}):Math.abs({x})",
}


def write_javascript(function: ca.Function) -> str:
    """A JavaScript expression: a function (inputs, outputs) of two arrays of `Float64Array`s,
    matrices column by column, from a function of dense `SX` expressions.

    Examples
    --------
    >>> x = casadi.SX.sym("x")
    >>> write_javascript(casadi.Function("double", [x], [2 * x]))
    '(a,r)=>{const a0=a[0],r0=r[0];let w0;w0=a0[0];w0=2*w0;r0[0]=w0;}'
    """
    if not function.is_a("SXFunction"):
        raise CompileError(f"{function.name()} is not written in scalar expressions; "
                           "function.expand() is")
    steps = [_Statement(function, k) for k in range(function.n_instructions())]
    parts = [steps[i:i + PART] for i in range(0, len(steps), PART)] or [[]]
    arrays = [f"{name}{i}={name}[{i}]" for name, count in (("a", function.n_in()),
                                                           ("r", function.n_out()))
              for i in range(count)]
    head = f"const {','.join(arrays)};" if arrays else ""
    if len(parts) == 1:
        return f"(a,r)=>{{{head}{_body(parts[0], (), ())}}}"
    wanted = _find_needed(parts)
    codes = [f"(a,r,k)=>{{{head}{_body(part, before, after)}}}"
             for part, before, after in zip(parts, wanted, [*wanted[1:], ()])]
    return (f"(()=>{{const k=new Float64Array({function.sz_w()}),p=[{','.join(codes)}];"
            "return (a,r)=>{for(const f of p)f(a,r,k);};})()")


class _Statement:
    """One instruction: its statement, the variables that it reads, and the one that it sets."""

    def __init__(self, function: ca.Function, k: int):
        kind = function.instruction_id(k)
        given, made = function.instruction_input(k), function.instruction_output(k)
        self.reads: tuple[int, ...] = ()
        self.sets: tuple[int, ...] = tuple(made)
        if kind == ca.OP_CONST:
            self.text = f"w{made[0]}={_number(function.instruction_constant(k))};"
        elif kind == ca.OP_INPUT:
            self.text = f"w{made[0]}=a{given[0]}[{given[1]}];"
        elif kind == ca.OP_OUTPUT:
            self.text = f"r{made[0]}[{made[1]}]=w{given[0]};"
            self.reads, self.sets = (given[0],), ()
        elif kind in OPERATIONS:
            operands = {name: f"w{i}" for name, i in zip("xy", given)}
            self.text = f"w{made[0]}={OPERATIONS[kind].format(**operands)};"
            self.reads = tuple(given)
        else:
            raise CompileError(f"instruction {k} of {function.name()} (operation {kind}) has no "
                               "counterpart in JavaScript")


def _find_needed(parts: Sequence[Sequence[_Statement]]) -> list[tuple[int, ...]]:
    """The variables that each part needs from those before it."""
    result: list[tuple[int, ...]] = []
    alive: set[int] = set()
    for part in reversed(parts):
        for step in reversed(part):
            alive = (alive - set(step.sets)) | set(step.reads)
        result.append(tuple(sorted(alive)))
    return result[::-1]


def _body(part: Sequence[_Statement], before: Sequence[int], after: Sequence[int]) -> str:
    """The statements of a part, with the variables that it takes from other parts and leaves to
    them."""
    used = sorted({i for step in part for i in (*step.reads, *step.sets)} | {*before, *after})
    names = f"let {','.join(f'w{i}' for i in used)};" if used else ""
    return (names + "".join(f"w{i}=k[{i}];" for i in before)
            + "".join(step.text for step in part) + "".join(f"k[{i}]=w{i};" for i in after))


def _number(value: float) -> str:
    """The shortest text that is read as this number."""
    if isnan(value):
        return "NaN"
    text = repr(float(value)).replace("inf", "Infinity")
    return text.removesuffix(".0")
