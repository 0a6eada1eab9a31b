"""Writes `theory/papers.md`: the papers item by item, with the code and the tests that hold it.

`python docs/papers.py` reads the marks `@pytest.mark.paper("004 (18)")` in the tests.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "theory" / "papers.md"


class Item(NamedTuple):
    """One thing that a paper has: code that does it, or why there is none."""

    key: str                # as the marks name it: number of the paper, then equation or section
    what: str
    code: str = ""
    missing: str = ""


PAPERS = {
    "000": "J. E. Marsden, *Mechanics, Dynamics, and Symmetry*",
    "001": "S. Bravy, *Lagrangian Multipliers and Superfluous Variables*",
    "002": "*Quasi-coordinates from the point of view of Lie algebroid structures*",
    "003": "D. J. Saunders, W. Sarlet, F. Cantrijn, *A geometrical framework for the study of "
           "non-holonomic Lagrangian systems: II*",
    "004": "F. Cantrijn, M. de Leon, J. C. Marrero, D. Martin de Diego, *Reduction of constrained "
           "systems with symmetries*",
    "beyond": "What the field has found since",
}
ITEMS = (
    Item("000 (3.1)", "Lagrange and d'Alembert with a connection, (3.1) to (3.3)",
         "lagrange_dalembert"),
    Item("000 (3.4)", "the constrained Lagrangian and its curvature term", "lagrange_dalembert"),
    Item("000 (3.5)", "curvature as a bracket of horizontal lifts; the sign of the line below it",
         "ehresmann_connection"),
    Item("001 4", "dependent coordinates as inverse functions, sections 4 and 5",
         "closed_form_multipliers"),
    Item("001 (4)", "multipliers in closed form, (4) and (5)", "closed_form_multipliers"),
    Item("001 10", "bead on a parabola", "systems: bead_parabola"),
    Item("001 11", "bead on a turning rod", "systems: bead_rod"),
    Item("001 12", "two constraints, the new way against the standard one",
         "systems: two_constraints_spring"),
    Item("002 (3)", "Lagrange's equations in quasi-velocities, (3) and (13)",
         "LagrangianSystem, hamel"),
    Item("002 4", "Lie algebroids and their structure equations", "LieAlgebroid.check"),
    Item("002 (9)", "Euler and Poincare", "lie_algebra"),
    Item("002 (14)", "Wong's equations on the gauge algebroid", "atiyah"),
    Item("002 change", "change of the fibre's basis", "change_of_basis"),
    Item("002 action", "action algebroids", "action_algebroid, quotient"),
    Item("002 7", "generalised speeds w = Phi v + phi_0", "generalised_speeds"),
    Item("002 (16)", "multipliers", "lagrange_multipliers"),
    Item("002 (17)", "Gibbs and Appell", "gibbs_appell"),
    Item("002 5.1", "areal velocity", "systems: areal_velocity"),
    Item("002 5.2", "a Lie group", "systems: rigid_body"),
    Item("002 6.1", "a principal bundle; a charge and Wong's particle",
         "systems: charged_particle, wong_particle"),
    Item("002 7.1", "free particle with z' = y x'", "systems: nonholonomic_particle"),
    Item("002 7.2", "rolling ball on TR^2 x R^3", "systems: rolling_ball"),
    Item("002 6", "Cartan 1-form and 2-form, section 6", "constraint_forms"),
    Item("002 prolongation", "prolongation, vertical endomorphism, Liouville section, d on forms",
         "prolongation"),
    Item("002 morphism", "morphisms of algebroids, reduction by TP -> TP/G",
         "Morphism, quotient"),
    Item("003 1", "theorem 1: one motion and one constraint form", "constraint_forms"),
    Item("003 2", "theorem 2 and its corollary: independence of the fibration",
         "constraint_forms"),
    Item("003 3", "theorem 3: the reaction field V^a", "constraint_forms"),
    Item("003 lambda", "lambda_a in section 3, and the relation of section 5",
         "constraint_forms, lagrange_multipliers"),
    Item("003 4", "the sled, in two fibrations", "systems: sled"),
    Item("003 jacobi", "dynamical covariant derivative and Jacobi endomorphism",
         "prolongation"),
    Item("004 II.A", "singular Lagrangians: the constraint algorithm, first and second class",
         "constraint_algorithm"),
    Item("004 (4)", "the same on the momentum side with h_1, (4) to (8); Gotay and Nester's "
         "algorithm, and that of Hinds", "momentum_side"),
    Item("004 II.1", "reactions S*((TM)^o), Chetaev: remark II.1", "chetaev"),
    Item("004 (12)", "Legendre transformation of constrained systems, (12) to (14)",
         "momentum_side"),
    Item("004 (15)", "the general model with any (P, omega, H, M, F)",
         "ConstrainedHamiltonian"),
    Item("004 III.1", "existence and uniqueness: proposition III.1, corollary III.2", "regularity"),
    Item("004 III.3", "the algorithm where no solution exists: remark III.3",
         "constraint_algorithm"),
    Item("004 run", "motions on the final manifold", "Simulator"),
    Item("004 (18)", "the projector", "projection, PhaseSpaceMotion.projector"),
    Item("004 IV.1", "the nonholonomic bracket: remark IV.1", "nonholonomic_bracket"),
    Item("004 dirac", "the Dirac bracket of the same remark", "PhaseSpaceMotion.bracket"),
    Item("004 V", "Poisson reduction", "quotient"),
    Item("004 (19)", "omega on U = F meet TM, for purely kinematic symmetries", "Reduction.omega"),
    Item("004 V.2", "proposition V.2 (Bates and Sniatycki) in general", "bates_sniatycki"),
    Item("004 VI", "the three classes of symmetry", "Symmetry.kind"),
    Item("004 VI.F", "classes by V meet F; what is none of the three: the disk with d/dx alone",
         "Symmetry.kind"),
    Item("004 (20)", "Chaplygin's reduction, (20) to (22)", "chaplygin"),
    Item("004 (23)", "reduction at a momentum value, theorem VI.3", "at_momentum"),
    Item("004 nonabelian", "the same for groups that do not commute",
         "on_level, bates_sniatycki"),
    Item("004 (24)", "the momentum equation, theorem VI.4", "nonholonomic_momentum"),
    Item("004 split", "reduced equations split by the nonholonomic connection",
         "nonholonomic_connection"),
    Item("004 affine", "affine and moving rows in reduction", "chaplygin, quotient"),
    Item("004 reconstruction", "the way back", "reconstruct"),
    Item("004 VII.A", "the singular Lagrangian of Capri and Kobayashi",
         "systems: capri_kobayashi"),
    Item("004 VII.1", "the vertical rolling disk", "systems: vertical_disk"),
    Item("004 VII.2", "the two-wheeled carriage", "systems: carriage"),
    Item("beyond bracket", "Jacobiator and rank (van der Schaft and Maschke 1994)",
         "nonholonomic_bracket"),
    Item("beyond casimirs", "Casimirs", "casimirs"),
    Item("beyond measure", "invariant measure, Chaplygin's multiplier (Cantrijn et al. 2002; "
         "Garcia-Naranjo and Marrero 2020)", "hamiltonise, invariant_measure"),
    Item("beyond gauge", "gauge momenta and moving energies (Fasso and Sansonetto 2016)",
         "first_integrals"),
    Item("beyond invariants", "quotients whose invariants are no coordinates", "quotient"),
    Item("beyond hj", "nonholonomic Hamilton-Jacobi equation (Iglesias et al. 2008; Ohsawa and "
         "Bloch 2009)", "hamilton_jacobi"),
    Item("beyond vakonomic", "vakonomic equations beside nonholonomic ones (Lewis and Murray "
         "1995; Cardin and Favretti 1996)", "vakonomic"),
    Item("beyond stability", "the energy-momentum method with conserved momenta, nonholonomic too "
         "(Zenkov, Bloch and Marsden 1998, theorem 3.2)", "energy_momentum"),
    Item("beyond transport", "the same with momenta that are only transported, such as the disc's "
         "(theorem 3.3)", "energy_momentum"),
)


@cache
def marked_tests() -> dict[str, list[str]]:
    """Item's key -> tests that bear its mark, "test_file::test_name"."""
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "tests").glob("test_*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                for key in _marks(node):
                    found.setdefault(key, []).append(f"{file.stem}::{node.name}")
    return found


def _marks(node: ast.FunctionDef) -> Iterator[str]:
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.paper":
            yield from (ast.literal_eval(argument) for argument in mark.args)


def page() -> str:
    """The text of the page."""
    tests = marked_tests()
    lines = ["# The papers, item by item", "",
             "What each paper has, the code that does it, and the tests that hold it: all of them "
             "pass. What is not", "there says why. `python docs/papers.py` makes this page from "
             "the marks of the tests.", ""]
    for number, title in PAPERS.items():
        heading = title if number == "beyond" else f"Paper {number}"
        lines += [f"## {heading}", ""] + ([] if number == "beyond" else [f"{title}.", ""])
        lines += ["| item | what | code | tests |", "|---|---|---|---|"]
        for item in ITEMS:
            paper, _, place = item.key.partition(" ")
            if paper == number:
                held = ", ".join(f"`{test}`" for test in tests.get(item.key, ()))
                words = f"**missing**: {item.missing}" if item.missing else held
                code = f"`{item.code}`" if item.code else ""
                lines.append(f"| {place} | {item.what} | {code} | {words} |")
        lines.append("")
    done = sum(not item.missing for item in ITEMS)
    lines += [f"{done} of {len(ITEMS)} items are there.", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.exit(0)
