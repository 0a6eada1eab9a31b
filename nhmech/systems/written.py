"""A system written out: Lagrangian, forms, frame, Hamel symbols, Gibbs function, equations of
motion, and what a reduction leaves."""

from __future__ import annotations

from itertools import combinations

import casadi as ca

from ..errors import MechanicsError
from ..mechanics.algebroid import bracket
from ..mechanics.frame import AdaptedFrame, adapted_frame
from ..mechanics.motion_printing import motion_sections, reduced_equations
from ..mechanics.printing import Display, bracket_section, constraint_sections, system_sections
from ..mechanics.reduction import Reduction, chaplygin
from ..mechanics.symmetry import Symmetry, symmetry
from ..symbolic.document import Section
from .example import Example


def sections(example: Example, as_latex: bool = False) -> list[Section]:
    """Everything there is to say about a system."""
    constrained = example.constrained
    system, d = constrained.system, constrained.distribution
    frame = adapted_frame(constrained, example.speeds)
    display = Display(system, as_latex)
    made = [*system_sections(system, display), 
            *constraint_sections(d, constrained.parameters, display, constrained.invariant)]
    if d.m:
        names = (*(display.v_names[i] for i in frame.speeds), *(d.names[i] for i in frame.kept))
        brackets = bracket_section("Hamel symbols of the adapted frame", names,
                                   _hamel_symbols(frame), display)
        made.append(brackets if brackets.formulas else Section(
            brackets.heading, (("all zero", ""),)))
    speeds = [display.v_names[i] for i in frame.speeds]
    xi = ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in speeds])
    rates = display.rates(speeds)
    mass, right = reduced_equations(frame, xi, rates)
    inputs = ca.substitute(right, system.u, ca.SX.zeros(system.u.shape)) \
        if system.u.numel() else right
    gibbs = ca.dot(rates, mass) / 2 - ca.dot(rates, inputs)
    made.append(display.section("Gibbs function, without terms that hold no acceleration", ["S"],
                                gibbs, [rates, xi]))
    made += motion_sections(frame, display)
    if example.generators is not None:
        made += _reduction(symmetry(constrained, example.generators), as_latex)
    return [section for section in made if section.formulas]


def _hamel_symbols(frame: AdaptedFrame) -> list[ca.SX]:
    """C^g_ab of [X_a, X_b] = C^g_ab X_g, X the columns of the frame's inverse: the rows that it is
    the inverse of give the components."""
    system, n = frame.constrained.system, frame.inverse.shape[0]
    chosen = ca.DM.zeros(frame.nxi, n)
    for row, speed in enumerate(frame.speeds):
        chosen[row, speed] = 1
    rows = ca.vertcat(chosen, frame.constrained.distribution.A[list(frame.kept), :])
    symbols, X = [ca.SX.zeros(n, n) for _ in range(n)], frame.inverse
    for a, b in combinations(range(n), 2):
        components, = system.expand(rows @ bracket(system.algebroid, X[:, a], X[:, b]))
        for g in range(n):
            symbols[g][a, b] = components[g]
    return symbols


def _reduction(found: Symmetry, as_latex: bool) -> list[Section]:
    """What Chaplygin's reduction leaves: L*, the gyroscopic form, and what the reduced 2-form has
    beyond dL*'s own."""
    try:
        reduction: Reduction = chaplygin(found)
    except MechanicsError as error:
        return [Section("reduction by its symmetry", ((str(error), ""),))]
    base = reduction.base.system
    display = Display(base, as_latex)
    forms = [f"d{display.name(name.removesuffix(chr(39)))}" for name in display.v_names]
    n, wedge = len(forms), r" \wedge " if as_latex else " ^ "
    one = {form: reduction.alpha[i] for i, form in enumerate(forms)}
    two = {f"{forms[i]}{wedge}{forms[j]}": reduction.gyroscopic[i, j]
           for i, j in combinations(range(n), 2)}
    alpha, rest = _write_form(one, display), _write_form(two, display)
    star = r"\omega_{L^*}" if as_latex else "omega_L*"
    omega = star if rest == "0" else f"{star} + {rest}".replace("+ -", "- ")
    lagrangian = base.require_lagrangian("the reduction")
    return [display.section("reduced by its symmetry, Lagrangian on the base", ["L*"], lagrangian),
            Section("gyroscopic 1-form", ((display.name("alpha"), alpha),)),
            Section("reduced 2-form", ((display.name("omega"), omega),))]


def _write_form(components: dict[str, ca.SX], display: Display) -> str:
    """sum of component times form, for forms that are written already."""
    places = [ca.SX.sym(f"form_{i}_") for i in range(len(components))]
    total = sum((value * place for value, place in zip(components.values(), places)), ca.SX(0))
    speeds = ca.vertcat(*[ca.SX.sym(name) for name in display.v_names])
    text, = display.write(total, also=[speeds, *places])
    for form, place in zip(components, places):
        text = text.replace(display.name(place.name()), form)
    return text
