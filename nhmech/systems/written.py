"""A system written out: Lagrangian, forms, frame, Hamel symbols, Gibbs function, reduced
equations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import casadi as ca

from ..mechanics.equations import speed_symbols
from ..mechanics.frame import adapted_frame
from ..mechanics.quasi_velocities import change_of_basis
from ..mechanics.reduction import Reduction, chaplygin
from ..mechanics.symmetry import symmetry
from ..symbolic.latex import latex, text, to_sympy
from .example import Example

Writer = Callable[[ca.SX], str]


def writer(as_latex: bool) -> Writer:
    """How an expression is written: LaTeX; or plain text, simplified where SymPy is installed."""
    if as_latex:
        return latex
    try:
        import sympy
    except ImportError:
        return text
    def write_simplified(e: ca.SX) -> str:
        plain = sympy.sstr(sympy.simplify(to_sympy(e))).replace("**", "^")
        return re.sub(r"\\(d{1,2})ot\{(\w+)\}", lambda dots: dots[2] + "'" * len(dots[1]), plain)

    return write_simplified


def paragraphs(example: Example, write: Writer) -> Iterator[tuple[str, list[str]]]:
    """(heading, lines) of everything there is to say about a system."""
    constrained = example.constrained
    system, d = constrained.system, constrained.distribution
    frame = adapted_frame(constrained, example.speeds)
    algebroid = system.algebroid

    if system.lagrangian is not None:
        yield "Lagrangian", [f"L = {write(system.lagrangian)}"]
    if any(entry.nnz() for entry in algebroid.structure):
        yield "structure functions", list(_structure(algebroid.v_names, algebroid.structure, write))
    if d.m:
        forms = [f"{_form(d.A[i, :], algebroid.v_names, write)}{_plus(d.b[i], write)}"
                 for i in range(d.m)]
        yield "constraints", [f"{name}:  {form} = 0" for name, form in zip(d.names, forms)]
    if d.phi_rows:
        yield "holonomic functions", [f"{d.names[row]}:  {write(d.phi[k])} = 0"
                                      for k, row in enumerate(d.phi_rows)]
    xi, n = speed_symbols(frame), frame.nxi
    V = frame.velocity(xi)
    yield "velocities on the distribution", [f"{name} = {write(V[i])}"
                                             for i, name in enumerate(algebroid.v_names)]
    names = tuple(f"E_{name}" for name in frame.names) + tuple(f"{d.names[i]}" for i in frame.kept)
    adapted = change_of_basis(algebroid, frame.inverse, names)
    yield (
        "Hamel symbols of the adapted frame",
        list(_structure(names, adapted.structure, write)) or ["all zero"],
    )
    xi_rate = ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(f"{name}'") for name in frame.names])
    gibbs = ca.substitute(system.gibbs, system.a, ca.densify(frame.solve(xi_rate, -frame.gamma)))
    gibbs = ca.substitute(gibbs, system.v, ca.densify(V))
    yield "Gibbs function", [f"S = {write(gibbs)}"]
    gradient = ca.gradient(gibbs, xi_rate)
    force = ca.substitute(ca.densify(frame.E.T @ system.force), system.v, ca.densify(V))
    yield "reduced equations", [f"{write(gradient[i])} = {write(force[i])}" for i in range(n)]
    if example.generators is not None:
        yield from _write_reduction(chaplygin(symmetry(constrained, example.generators)), write)


def _write_reduction(reduction: Reduction, write: Writer) -> Iterator[tuple[str, list[str]]]:
    """What Chaplygin's reduction leaves: L*, the gyroscopic form, and what the reduced 2-form has
    beyond dL*'s own."""
    base = reduction.base.system
    names = base.algebroid.v_names
    forms = [f"d{name.removesuffix(chr(39))}" for name in names]
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    lagrangian = base.require_lagrangian("the reduction")
    yield "reduced by its symmetry, L* on the base", [f"L* = {write(lagrangian)}"]
    yield "gyroscopic 1-form", [" + ".join(f"({write(reduction.alpha[i])}) {form}"
                                           for i, form in enumerate(forms))]
    wedges = (f"({write(reduction.gyroscopic[i, j])}) {forms[i]} ^ {forms[j]}" for i, j in pairs)
    yield "reduced 2-form", ["omega = omega_L* + " + " + ".join(wedges)]


def _form(row: ca.SX, names, write: Writer) -> str:
    terms = [(write(row[j]), name) for j, name in enumerate(names) if row.sparsity().has_nz(0, j)]
    return " + ".join(name if value == "1" else f"({value}) {name}" for value, name in terms) or "0"


def _plus(value: ca.SX, write: Writer) -> str:
    return "" if value.nnz() == 0 or value.is_zero() else f" + {write(value)}"


def _structure(names, structure, write: Writer) -> Iterator[str]:
    """[e_a, e_b] = sum, for the brackets that are not zero."""
    for a in range(len(names)):
        for b in range(a + 1, len(names)):
            terms = [(write(c[a, b]), names[g])
                     for g, c in enumerate(structure) if not ca.simplify(c[a, b]).is_zero()]
            terms = [(value, name) for value, name in terms if value != "0"]
            if terms:
                yield f"[{names[a]}, {names[b]}] = " + " + ".join(
                    f"({value}) {name}" for value, name in terms
                )
