"""One implicit step of wheels that may slide or fly, in C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from .compiled_function import Source, generate, library_in_c, library_of, workspace
from .contact_problem_code import PROBLEM
from .contact_rows_code import NO_POINTS, POINTS, ROWS, STEP
from .contact_step_code import TEXT
from .loop import HIDDEN

# What the code returns: DONE; REFUSED where Python must take the step; OPEN where the iterations do
# not converge; FAILED where the contact problem is not solved.
DONE, REFUSED, OPEN, FAILED = range(4)
# At most so many rows belong to contacts that are on the ground at the same time. The contact
# problem is dense: all corners of a robot with many bodies would take gigabytes.
AT_ONCE = 192
FUNCTIONS = "look", "momentum", "energy", "move_bodies"      # each compiled to its own library


@dataclass(frozen=True)
class ContactLayout:
    """Indices into the rows of a vehicle and into phi."""

    contacts: tuple[tuple[int, ...], ...]  # rows of each contact, the normal first; at most three
    heights: tuple[int, ...]  # index in phi of the height of each contact
    bilateral: tuple[int, ...]  # independent rows whose forces no friction limits
    bilateral_heights: tuple[int, ...]  # indices in phi of bilateral constraints
    forms: tuple[int, ...]  # row of each entry of phi
    pulls: tuple[int, ...]  # 1 for each contact with a tyre, else 0
    owners: tuple[int, ...] = ()  # body of each contact that is a point of a body; these come last


class ContactFunctions(NamedTuple):
    """The functions that a step calls."""

    look: ca.Function  # (t, x, w, theta, closed, h) -> A^T, b, phi
    momentum: ca.Function  # (t, x, w, u, theta, lam, closed, h) -> M, F, D, G^T, power
    energy: ca.Function  # (t, x, w, theta) -> E
    move: ca.Function  # (x, factor, w) -> x
    # (y (3,), mu) -> the projection of y onto Coulomb's cone (Alart and Curnier), its derivative
    project: ca.Function
    # of the bodies that can touch the ground: x -> poses, twists; (t, pose, point) -> J, b, height;
    # (t, pose, point) -> height; empty if no body can
    bodies: Sequence[ca.Function]


class _ContactSetup(ctypes.Structure):
    """`nhmech_step` in C."""

    _fields_ = [("t", ctypes.c_double), ("dt", ctypes.c_double), ("stays", ctypes.c_longlong),
                *((name, ctypes.c_void_p) for name in (
                    "theta", "mu", "give", "per_metre", "points", "x", "w", "u", "guess", "touch",
                    "x1", "w1", "impulses", "slid", "lost", "heights", "closed", "phases",
                    "room", *FUNCTIONS))]


@dataclass(eq=False)
class CompiledContactStep:
    """A compiled step with its memory."""

    take: Any  # (pointer) -> int, a function of ctypes
    solve: Callable[..., float]
    # memory by name: `x`, `w`, `u` and others before a step, `x1`, `w1`, `impulses`, `slid`,
    # `lost`, `heights` and `phases` after it; `room` is working memory
    arrays: dict[str, np.ndarray]
    functions: dict[str, int]  # addresses of `FUNCTIONS`
    pointer: object = field(init=False)  # to the C struct `nhmech_step`
    _setup: _ContactSetup = field(init=False)

    def __post_init__(self) -> None:
        self._setup = _ContactSetup(**{name: a.ctypes.data for name, a in self.arrays.items()},
                                    **self.functions)
        self.pointer = ctypes.byref(self._setup)

    def __repr__(self) -> str:
        return f"<CompiledContactStep of {len(self.arrays['closed'])} contacts>"

    def __call__(self, t: float, dt: float, stays: bool) -> int:
        """Takes a step of dt [s] from the state in the memory; returns DONE, REFUSED, OPEN or
        FAILED. If `stays` is set, the contact rows are those at the beginning of the step."""
        self._setup.t, self._setup.dt, self._setup.stays = t, dt, stays
        return self.take(self.pointer)

    def solve_problem(self, closed: np.ndarray, W: np.ndarray, g: np.ndarray, least: float,
                      P: np.ndarray) -> float:
        """Solves the contact problem of the closed contacts for their impulses P (n,), in place
        from a first guess. Returns the residual, relative to the largest of |g| and `least`
        [m/s]."""
        self.arrays["closed"][...] = closed
        W, g = np.ascontiguousarray(W), np.ascontiguousarray(g)
        return self.solve(self.pointer, W.ctypes.data, g.ctypes.data, least, P.ctypes.data)


def compile_contact_step(functions: ContactFunctions, layout: ContactLayout,
                         words: dict[str, str],
                         constants: dict[str, np.ndarray]) -> CompiledContactStep | None:
    """Compiles a step; None and errors as `library_of`. `words`: tolerances and phases by their
    names in the C text. `constants`: the arrays theta, mu, give, per_metre and points."""
    look, momentum, energy, move, _, bodies = functions
    large = dict(zip(FUNCTIONS, (look, momentum, energy, *bodies[:1])))
    libraries = {name: library_in_c(function) for name, function in large.items()}
    library = library_of(contact_source(functions, layout, words))
    if library is None or None in libraries.values():
        return None
    nx, nv, nu = move.nnz_out(0), momentum.nnz_out(1), momentum.nnz_in(3)
    n, m = len(layout.contacts), look.nnz_out(1) + 3 * len(layout.owners)
    arrays = {name: np.array(array, dtype=float) for name, array in constants.items()}
    arrays |= {name: np.zeros(size) for name, size in (
        ("x", nx), ("w", nv), ("u", nu), ("guess", m), ("touch", n), ("x1", nx), ("w1", nv),
        ("impulses", m), ("slid", n), ("lost", n), ("heights", n))}
    arrays |= {name: np.zeros(n, dtype=np.int64) for name in ("closed", "phases")}
    code = ctypes.PyDLL(str(library.path))
    code.nhmech_contact_room.restype = ctypes.c_longlong
    arrays["room"] = np.zeros(code.nhmech_contact_room())
    addresses = {name: ctypes.cast(made.function(large[name].name()), ctypes.c_void_p).value or 0
                 for name, made in libraries.items() if made is not None}
    solve = code.nhmech_contact_problem
    solve.restype = ctypes.c_double
    solve.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_double, ctypes.c_void_p]
    return CompiledContactStep(code.nhmech_contact_step, solve, arrays, addresses)


def contact_source(functions: ContactFunctions, layout: ContactLayout,
                   words: dict[str, str]) -> Source:
    """C of a step: the small ones of its functions, and the code around all of them."""
    look, momentum, energy, move, project, bodies = functions
    small = move, project, *bodies[1:]
    lists = {"size": [len(rows) for rows in layout.contacts],
             "along": [row for rows in layout.contacts for row in rows],
             "height": layout.heights, "held": layout.bilateral, "phi": layout.bilateral_heights,
             "form": [layout.forms[k] for k in layout.bilateral_heights],
             "contact_form": [layout.forms[k] for k in layout.heights], "owners": layout.owners,
             "pulls": layout.pulls}
    known = dict(
        nx=move.nnz_out(0), nv=momentum.nnz_out(1), own=look.nnz_out(1),
        heights=look.nnz_out(2) + len(layout.owners), contacts=len(layout.contacts),
        bilateral=len(layout.bilateral), bilateral_heights=len(layout.bilateral_heights),
        bodies=len(set(layout.owners)), points=len(layout.owners),
        at_once=min(len(lists["along"]), AT_ONCE),
        move=move.name(), project=project.name(), DONE=DONE, REFUSED=REFUSED, OPEN=OPEN,
        FAILED=FAILED,
        **workspace(look, momentum, energy, move, project, *bodies),
        **dict(zip(("touch", "rise"), (function.name() for function in bodies[1:]))),
        **words,
        **{name: ", ".join(map(str, [*values, 0])) for name, values in lists.items()})
    points = (POINTS if bodies else NO_POINTS).format(**known)
    text = (STEP + ROWS + PROBLEM + TEXT).format(points_code=points, **known)
    code = HIDDEN.format(generate("contact_step.c", small)) + text
    return Source(code, sum(function.n_instructions() for function in small))
