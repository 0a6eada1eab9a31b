"""Elementary Lie algebroids: Lie algebras, rotation groups with their attitude, and TP/G of a
principal bundle.

All groups are trivialised on the left: fibre coordinates of SO(3), SE(2), SE(3) are components in
the moving body, and the structure functions are those of left-invariant vector fields, [e_a, e_b] =
c^g_ab e_g.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import casadi as ca
import numpy as np

from ..checks import check_arguments, show
from ..errors import MechanicsError
from .algebroid import TWIST, LieAlgebroid, euclidean, special_euclidean

PLANAR_TWIST = ("forward_speed", "lateral_speed", "yaw_rate")
ANGULAR_VELOCITY = ("wx", "wy", "wz")

_CYCLIC = ((0, 1, 2), (1, 2, 0), (2, 0, 1))

# name -> (nonzero brackets (a, b, g): [e_a, e_b] = e_g, names, units); [e_b, e_a] follows
_ALGEBRAS = {
    "so(3)": (_CYCLIC, ANGULAR_VELOCITY, ("rad/s",) * 3),
    "se(2)": (((2, 0, 1), (1, 2, 0)), PLANAR_TWIST, ("m/s", "m/s", "rad/s")),
    "se(3)": (tuple((i + x, j + y, k + z) for i, j, k in _CYCLIC
                    for x, y, z in ((3, 3, 3), (3, 0, 0), (0, 3, 0))),
              TWIST, ("m/s",) * 3 + ("rad/s",) * 3),
    "heisenberg": (((0, 1, 2),), ("e1", "e2", "e3"), ("",) * 3),
    "u(1)": ((), ("charge",), ("",)),
}


def structure_constants(name: str) -> np.ndarray:
    """c (k, k, k), c[g, a, b] = c^g_ab, of a Lie algebra by name, in the order of `lie_algebra`;
    left-invariant signs.
    """
    if name not in _ALGEBRAS:
        raise MechanicsError(f"no Lie algebra {name!r}; there are {', '.join(_ALGEBRAS)}, or give "
                             "constants c[g, a, b]")
    brackets, names, _ = _ALGEBRAS[name]
    c = np.zeros((len(names),) * 3)
    for a, b, g in brackets:
        c[g, a, b], c[g, b, a] = 1, -1
    return c


@check_arguments
def lie_algebra(constants: str | np.ndarray, names: Sequence[str] | None = None,
                units: Sequence[str] | None = None) -> LieAlgebroid:
    """A Lie algebra as an algebroid without a configuration: nq = 0, rho = 0, constant c.

    Its equations of motion are those of Euler and Poincare, d/dt(dL/dv^a) = -c^g_ab v^b dL/dv^g +
    tau_a (paper 002, example 5.2 and eq. (9)).

    The algebras that have a name, by their left-invariant (body) components; right-invariant
    (world) ones have -c:

    - "so(3)": angular velocity, [e_x, e_y] = e_z and cyclic
    - "se(2)": (forward, lateral, yaw), [e_w, e_x] = e_y, [e_w, e_y] = -e_x, [e_x, e_y] = 0
    - "se(3)": (linear, angular), Pinocchio's `Motion.cross`
    - "heisenberg": [e_1, e_2] = e_3
    - "u(1)": one commuting direction

    Parameters
    ----------
    constants
        A name, or c (k, k, k) with c[g, a, b] = c^g_ab.
    names, units
        Names and units of the fibre coordinates; those of the named algebra, or v1, v2, ..., if
        None.

    Raises
    ------
    MechanicsError
        For an unknown name, a wrong shape, constants that are not antisymmetric or violate Jacobi's
        identity.
    """
    if isinstance(constants, str):
        c, (_, default, default_units) = structure_constants(constants), _ALGEBRAS[constants]
    else:
        c = np.atleast_1d(np.asarray(constants, dtype=float))
        default, default_units = tuple(f"v{a + 1}" for a in range(len(c))), ("",) * len(c)
    names, units = tuple(names or default), tuple(units or default_units)
    k = len(names)
    if c.shape != (k, k, k) or len(units) != k:
        raise MechanicsError(f"{k} names ({', '.join(names)}) need constants ({k}, {k}, {k}) and "
                             f"{k} units; given are {c.shape} and {len(units)}")
    _check_constants(c, names)
    return LieAlgebroid(ca.SX(0, 1), (), names, units, ca.SX(0, k), _sparse(c))


@check_arguments
def special_orthogonal(prefix: str = "", v_names: Sequence[str] = ANGULAR_VELOCITY) -> LieAlgebroid:
    """SO(3), trivialised on the left.

    q is the unit quaternion (qx, qy, qz, qw) from body to world, v the body's angular velocity
    [rad/s]: dR/dt = R hat(v), and dq/dt = 1/2 q * (v, 0). Source: paper 002, example 5.2.

    Parameters
    ----------
    prefix
        Prefix of all names, so that several bodies fit into one product.
    v_names
        Names of v.
    """
    whole = special_euclidean()                       # only its attitude is used
    return LieAlgebroid(whole.q[3:], _prefix(prefix, whole.q_names[3:]),
                        _prefix(prefix, v_names), ("rad/s",) * 3,
                        whole.anchor[3:, 3:], _sparse(structure_constants("so(3)")), (), (0,))


@check_arguments
def special_euclidean_2(prefix: str = "", v_names: Sequence[str] = PLANAR_TWIST, *,
                        embedded: bool = False) -> LieAlgebroid:
    """SE(2), trivialised on the left.

    q = (x [m], y [m], yaw [rad]) and v = (forward [m/s], lateral [m/s], yaw rate [rad/s]) in the
    body: x' = c v0 - s v1, y' = s v0 + c v1, yaw' = v2, with c, s the cosine and sine of the yaw.

    Parameters
    ----------
    prefix
        Prefix of all names, so that several bodies fit into one product.
    v_names
        Names of v.
    embedded
        Write the yaw as the pair (yaw.cos, yaw.sin), as Pinocchio's planar joint has it.
    """
    place = ca.vertcat(ca.SX.sym(prefix + "x"), ca.SX.sym(prefix + "y"))
    if embedded:
        names: tuple[str, ...] = ("x", "y", "yaw.cos", "yaw.sin")
        c, s = ca.SX.sym(prefix + "yaw.cos"), ca.SX.sym(prefix + "yaw.sin")
        q, turning = ca.vertcat(place, c, s), ca.vertcat(-s, c)
        circles: tuple[tuple[int, int], ...] = ((2, 2),)
    else:
        names = ("x", "y", "yaw")
        yaw = ca.SX.sym(prefix + "yaw")
        q, c, s, turning, circles = ca.vertcat(place, yaw), ca.cos(yaw), ca.sin(yaw), ca.SX(1), ()
    anchor = ca.diagcat(ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c)), turning)
    return LieAlgebroid(q, _prefix(prefix, names), _prefix(prefix, v_names),
                        ("m/s", "m/s", "rad/s"), anchor,
                        _sparse(structure_constants("se(2)")), circles)


def curvature(base: LieAlgebroid, constants: np.ndarray, connection: ca.SX) -> tuple[ca.SX, ...]:
    """B^K_ij = rho_i(A^K_j) - rho_j(A^K_i) - A^K_k c^k_ij - c^K_IJ A^I_i A^J_j,
    one antisymmetric (n, n) matrix for each K.

    On a tangent bundle that is d_i A_j - d_j A_i - [A_i, A_j]: the coefficients C^K_ij of paper
    002, example 6.1.
    """
    n, rho = base.nv, base.anchor
    along = [ca.jtimes(connection, base.q, rho[:, i]) for i in range(n)]     # (k, n): rho_i(A)
    B = [ca.SX(n, n) for _ in range(connection.shape[0])]
    for K, form in enumerate(B):
        for i, j in combinations(range(n), 2):
            own = sum((connection[K, k] * base.structure[k][i, j] for k in range(n)), ca.SX(0))
            twist = ca.bilin(ca.DM(constants[K]), connection[:, i], connection[:, j])
            value = along[i][K, j] - along[j][K, i] - own - twist
            form[i, j], form[j, i] = value, -value
    return tuple(ca.sparsify(form) for form in B)


@check_arguments
def atiyah(base: LieAlgebroid | Sequence[str], group: str | np.ndarray,
           connection: ca.SX | Callable[[ca.SX], ca.SX],
           names: Sequence[str] | None = None, units: Sequence[str] | None = None) -> LieAlgebroid:
    """The gauge algebroid TP/G of a principal bundle, in a basis adapted to a connection.

    The e_i are horizontal lifts, the e_K are vertical:

    e_i = f_i - A^K_i e_K where the f_i lift the base without the connection, so that the fibre
    coordinates are (w, zeta) with w the base's own and zeta = eta + A w, eta the group velocity.
    rho(e_i) = rho_i of the base, rho(e_K) = 0 and::

        [e_i, e_j] = c^k_ij e_k - B^K_ij e_K
        [e_i, e_I] = c^K_IJ A^J_i e_K
        [e_I, e_J] = c^K_IJ e_K

    with B the `curvature`. Source: paper 002, example 6.1. A Lagrangian l(q, w, zeta) gives Wong's
    equations here.

    Parameters
    ----------
    base
        The algebroid of the base; names give a Euclidean one.
    group
        Name or constants of the group's Lie algebra, as for `lie_algebra`.
    connection
        A (k, n), a function of the base's q (and of parameters); or q -> A.
    names, units
        Names and units of zeta; those of the Lie algebra if None.

    Raises
    ------
    MechanicsError
        For a connection of the wrong shape, and what `lie_algebra` raises.
    """
    base = base if isinstance(base, LieAlgebroid) else euclidean(*base)
    algebra = lie_algebra(group, names, units)
    n, k = base.nv, algebra.nv
    given = connection(base.q) if callable(connection) else connection
    try:
        A = ca.densify(ca.SX(given))
    except NotImplementedError:      # CasADi's error for a wrong type
        raise MechanicsError(f"the connection is {show(given)}, not a CasADi matrix") from None
    if A.shape != (k, n):
        raise MechanicsError(f"the connection has shape {A.shape}; a group of dimension {k} over a "
                             f"base of dimension {n} needs ({k}, {n})")
    constants = np.array([ca.DM(c).full() for c in algebra.structure])
    structure = [ca.diagcat(c, ca.SX(k, k)) for c in base.structure]
    for c, B in zip(constants, curvature(base, constants, A)):
        mixed = (ca.DM(c) @ A).T                                     # (n, k): [i, I] = c_IJ A^J_i
        structure.append(ca.sparsify(ca.blockcat([[-B, mixed], [-mixed.T, ca.SX(ca.DM(c))]])))
    return LieAlgebroid(base.q, base.q_names, base.v_names + algebra.v_names,
                        base.v_units + algebra.v_units,
                        ca.horzcat(base.anchor, ca.SX(base.nq, k)), tuple(structure), base.circles,
                        base.quaternions)


def _check_constants(c: np.ndarray, names: Sequence[str]) -> None:
    """Checks antisymmetry and Jacobi's identity numerically, because `LieAlgebroid.check`, which is
    symbolic, takes a second for se(3)."""
    nested = np.einsum("eab,gde->gabd", c, c)                         # [e_d, [e_a, e_b]]
    jacobi = nested + nested.transpose(0, 2, 3, 1) + nested.transpose(0, 3, 1, 2)
    size = np.abs(c).max(initial=0.0)
    for what, defect, largest in (("antisymmetry", c + c.transpose(0, 2, 1), size),
                                  ("Jacobi", jacobi, size ** 2)):
        worst = np.unravel_index(np.argmax(np.abs(defect)), defect.shape)
        if not abs(defect[worst]) <= 1e-12 * largest:
            component, *vectors = (names[int(i)] for i in worst)
            raise MechanicsError(f"this is not a Lie algebra: {what} ({', '.join(vectors)}) fails "
                                 f"in component {component} by {defect[worst]:.3g}")


def _prefix(prefix: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(prefix + name for name in names)


def _sparse(constants: np.ndarray) -> tuple[ca.SX, ...]:
    return tuple(ca.SX(ca.sparsify(ca.DM(c))) for c in constants)
