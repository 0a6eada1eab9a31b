"""Lie algebroids: configuration, fibre coordinates, anchor and structure functions.

A configuration is embedded in R^nq. Where the embedding has more entries than the manifold has
dimensions, `circles` lists the pairs (cos, sin) of angles, and `quaternions` the unit quaternions
(x, y, z, w).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import casadi as ca
import numpy as np

from ..checks import check_arguments, read_array, show
from ..errors import REPR, InputError, MechanicsError, listed
from ..symbolic.foreign import foreign_symbols


@dataclass(frozen=True)
class LieAlgebroid:
    """A Lie algebroid: dq/dt = rho(q) v and [e_a, e_b] = c^g_ab e_g.

    Source: 'Quasi-coordinates from the point of view of Lie algebroid structures', section 3.

    Attributes
    ----------
    q
        (nq,) symbols of the configuration.
    q_names
        Names of q.
    v_names, v_units
        Names and units of v.
    anchor
        (nq, nv) rho(q).
    structure
        nv matrices (nv, nv): structure[g][a, b] = c^g_ab.
    circles
        (i, a): q[i], q[i+1] are cos and sin of an angle whose rate is v[a].
    quaternions
        i: q[i:i+4] is a unit quaternion x, y, z, w.
    """

    q: ca.SX
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    v_units: tuple[str, ...]
    anchor: ca.SX
    structure: tuple[ca.SX, ...]
    circles: tuple[tuple[int, int], ...] = ()
    quaternions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        nq, nv = len(self.q_names), len(self.v_names)
        for name, value, shape in (("q", self.q, (nq, 1)), ("anchor", self.anchor, (nq, nv)),
                                   *(("a matrix of structure", c, (nv, nv))
                                     for c in self.structure)):
            found = getattr(value, "shape", None)
            if found != shape:
                raise InputError(f"{name} has shape {found}; {nq} coordinates and {nv} fibre "
                                 f"coordinates need {shape}")
        for name, values in (("structure", self.structure), ("v_units", self.v_units)):
            if len(values) != nv:
                raise InputError(f"{name} has {len(values)} entries; {nv} fibre coordinates need "
                                 "one each")

    def __repr__(self) -> str:
        return (f"<LieAlgebroid with q = {listed(self.q_names, REPR)}; "
                f"v = {listed(self.v_names, REPR)}>")

    @property
    def nq(self) -> int:
        return self.q.numel()

    @property
    def nv(self) -> int:
        return len(self.v_names)

    def embedding(self, q: ca.SX) -> ca.SX:
        """The functions that vanish on the manifold inside R^nq: `|quaternion|^2 - 1` and
        cos^2 + sin^2 - 1."""
        parts = [ca.sumsqr(q[i:i + 4]) - 1 for i in self.quaternions]
        parts += [ca.sumsqr(q[i:i + 2]) - 1 for i, _ in self.circles]
        return ca.vertcat(*parts) if parts else ca.SX(0, 1)

    def normalise(self, q):
        """q projected onto the manifold: unit quaternions and unit (cos, sin) pairs.
        Works on numbers and on symbols."""
        q = q + 0
        for i, n in [(i, 4) for i in self.quaternions] + [(i, 2) for i, _ in self.circles]:
            part = q[i:i + n]
            q[i:i + n] = part / (ca.norm_2(part) if isinstance(q, ca.SX) else np.linalg.norm(part))
        return q

    def check(self, points: np.ndarray | int | None = None, seed: int = 0,
              rtol: float = 1e-9) -> None:
        """Checks the structure equations at some points: the anchor is a morphism, c is
        antisymmetric, and Jacobi's identity holds.

        Parameters
        ----------
        points
            Configurations (k, nq), or the number of random ones; three if None.
        rtol
            Relative to the terms, and to those of fields that change by as much as they are within
            the points: no unit decides.

        Raises
        ------
        MechanicsError
            The message names the first failing component.
        """
        rng = np.random.default_rng(seed)
        evaluate = self._structure_function()
        if points is None or isinstance(points, int):
            points = rng.normal(size=(3 if points is None else points, self.nq))
        points = read_array("points", points, (len(np.atleast_1d(points)), self.nq),
                            f"rows of {self.nq} finite numbers: {listed(self.q_names)}")
        places = np.array([self.normalise(q) for q in points]).reshape(len(points), self.nq)
        extents = np.abs(places).max(axis=0, initial=0.0)
        extents[extents == 0] = 1.0
        for q in places:
            values = evaluate(q, rng.uniform(0.5, 1.5, evaluate.numel_in(1)))
            for name, (defect, size) in self._defects(extents,
                                                      *(part.full() for part in values)):
                if not np.all(np.abs(defect) <= rtol * size):
                    raise MechanicsError(f"the structure equations do not hold: {name} is "
                                         f"{np.abs(defect).max():.3g} at q = {q}")

    def _structure_function(self) -> ca.Function:
        """(q, t and parameters) -> anchor, structure as a column in the order [gamma, a, b], and
        the derivatives of both with respect to q."""
        columns = ca.vec(self.anchor), ca.vertcat(*[ca.vec(part.T) for part in self.structure])
        held = foreign_symbols(ca.vertcat(*columns), self.q)
        return ca.Function("structure", [self.q, ca.vertcat(*held)],
                           [self.anchor, columns[1],
                            *(ca.jacobian(column, self.q) for column in columns)])

    def _defects(self, extents: np.ndarray, rho: np.ndarray, c: np.ndarray, d_rho: np.ndarray,
                 d_c: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """(structure equation, its residual and the size of its terms (2, n)), the simplest first.

        Besides, fields count as if they changed by themselves within `extents` (nq,) of q; so
        another unit of anything changes residual and size alike. Where nothing moves q, all terms
        count as the largest.
        """
        nq, nv, names = self.nq, self.nv, self.v_names
        c, d_rho = c.reshape(nv, nv, nv), d_rho.reshape(nv, nq, nq).swapaxes(0, 1)
        d_c = d_c.reshape(nv, nv, nv, nq)
        pace = np.abs(rho / extents[:, None]).max(axis=0, initial=0.0)
        through = np.divide(1.0, pace, out=np.zeros(nv), where=pace > 0)
        usual = (np.einsum("g,a,b->gab", through, pace, pace),
                 np.einsum("i,a,b->iab", extents, pace, pace),
                 np.einsum("g,a,b,d->gabd", through, pace, pace, pace))
        defects = _structure_equations(rho, c, d_rho, d_c, -1)
        terms = _structure_equations(abs(rho), abs(c), abs(d_rho), abs(d_c), 1)
        antisymmetry, anchor, jacobi = (
            np.stack([defect, term + np.where(more > 0, more, term.max(initial=0.0))])
            for defect, term, more in zip(defects, terms, usual))
        pairs = list(combinations_with_replacement(range(nv), 2))
        for a, b in pairs:
            yield f"antisymmetry c[:, {a}, {b}]", antisymmetry[..., a, b]
        for a, b in pairs:
            yield f"anchor morphism [{names[a]}, {names[b]}]", anchor[..., a, b]
        for a, b, d in combinations_with_replacement(range(nv), 3):
            yield f"Jacobi ({names[a]}, {names[b]}, {names[d]})", jacobi[..., a, b, d]


def _structure_equations(rho: np.ndarray, c: np.ndarray, d_rho: np.ndarray, d_c: np.ndarray,
                         minus: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The left-hand sides of the structure equations; of magnitudes and with `minus` = 1, the sizes
    of their terms."""
    # [:, a, b]: the derivative of the field b along the field a
    along = np.einsum("ibj,ja->iab", d_rho, rho)
    term = np.einsum("gjkx,xi->gijk", d_c, rho) + np.einsum("ejk,gie->gijk", c, c)
    return (c + c.swapaxes(1, 2),
            along + minus * along.swapaxes(1, 2) + minus * np.einsum("ig,gab->iab", rho, c),
            term + np.einsum("gbda->gabd", term) + np.einsum("gdab->gabd", term))


def _zeros(nv: int) -> list[np.ndarray]:
    return [np.zeros((nv, nv)) for _ in range(nv)]


@check_arguments
def euclidean(*names: str, units: Sequence[str] | None = None) -> LieAlgebroid:
    """The tangent bundle of R^n: rho = 1, c = 0.

    Parameters
    ----------
    names
        Names of the coordinates.
    units
        Units of their rates; empty if None.

    Raises
    ------
    InputError
        For a name with blanks, which stands for several.
    """
    for name in names:
        if len(words := name.split()) != 1:
            raise InputError(f"{name!r} is no name of one coordinate; give each its own: "
                             f"euclidean({', '.join(map(repr, words)) or repr('x')})")
    return tangent_bundle(ca.vertcat(*[ca.SX.sym(name) for name in names]), names, units)


def tangent_bundle(q: ca.SX, names: Sequence[str],
                   units: Sequence[str] | None = None) -> LieAlgebroid:
    """The tangent bundle of R^n, with given symbols q (n,)."""
    n = len(names)
    return LieAlgebroid(q, tuple(names), tuple(f"{name}'" for name in names),
                        tuple(units or ("",) * n), ca.SX.eye(n),
                        tuple(ca.SX(n, n) for _ in range(n)))


@check_arguments
def line(name: str, unit: str = "m/s") -> LieAlgebroid:
    """A coordinate on R whose rate has the same name.

    Parameters
    ----------
    name
        Name of the coordinate.
    unit
        Unit of its rate.
    """
    return LieAlgebroid(ca.SX.sym(name), (name,), (name,), (unit,), ca.SX(1), (ca.SX(1, 1),))


@check_arguments
def circle(name: str) -> LieAlgebroid:
    """SO(2) embedded as (cos, sin), for an angle with any number of turns; v is its rate [rad/s].

    Parameters
    ----------
    name
        Name of the angle.
    """
    q = ca.vertcat(ca.SX.sym(f"{name}.cos"), ca.SX.sym(f"{name}.sin"))
    return LieAlgebroid(q, (f"{name}.cos", f"{name}.sin"), (name,), ("rad/s",),
                        ca.vertcat(-q[1], q[0]), (ca.SX(1, 1),), ((0, 0),))


TWIST = ("forward_speed", "lateral_speed", "vertical_speed", "roll_rate", "pitch_rate", "yaw_rate")


@check_arguments
def rotation(quaternion: ca.SX) -> ca.SX:
    """The rotation matrix (3, 3) of a unit quaternion.

    Parameters
    ----------
    quaternion
        (x, y, z, w), of unit length.
    """
    if quaternion.numel() != 4:
        raise InputError(f"quaternion = {show(quaternion)} must be (x, y, z, w)")
    x, y, z, w = (quaternion[i] for i in range(4))
    return ca.vertcat(ca.horzcat(1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
                      ca.horzcat(2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
                      ca.horzcat(2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)))


@check_arguments
def special_euclidean(v_names: Sequence[str] = TWIST) -> LieAlgebroid:
    """SE(3), trivialised on the left.

    q = (position [m], quaternion x y z w) and v = (linear [m/s], angular [rad/s]) in the body.

    [V, W] = (w_V x v_W - w_W x v_V, w_V x w_W), which is Pinocchio's `Motion.cross`.

    Parameters
    ----------
    v_names
        Names of v.
    """
    names = ("x", "y", "z", "qx", "qy", "qz", "qw")
    q = ca.vertcat(*[ca.SX.sym(name) for name in names])
    x, y, z, w = (q[i] for i in range(3, 7))
    spin = ca.vertcat(ca.horzcat(w, -z, y), ca.horzcat(z, w, -x), ca.horzcat(-y, x, w),
                      ca.horzcat(-x, -y, -z)) / 2
    c = _zeros(6)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        for first, second, result in ((3, 3, 3), (3, 0, 0), (0, 3, 0)):
            c[result + k][first + i, second + j] += 1
            c[result + k][first + j, second + i] -= 1
    return LieAlgebroid(q, names, tuple(v_names), ("m/s",) * 3 + ("rad/s",) * 3,
                        ca.diagcat(rotation(q[3:]), spin),
                        tuple(ca.SX(ca.sparsify(ca.DM(m))) for m in c), (), (3,))


@check_arguments
def product(*factors: LieAlgebroid) -> LieAlgebroid:
    """The direct product: block-diagonal anchor, structure functions side by side.

    Parameters
    ----------
    factors
        The algebroids.
    """
    nv = sum(f.nv for f in factors)
    structure, circles, quaternions, iq, iv = [], [], [], 0, 0
    for f in factors:
        for c in f.structure:
            before, after = iv, nv - iv - f.nv
            structure.append(ca.diagcat(ca.SX(before, before), c, ca.SX(after, after)))
        circles += [(iq + i, iv + a) for i, a in f.circles]
        quaternions += [iq + i for i in f.quaternions]
        iq, iv = iq + f.nq, iv + f.nv
    return LieAlgebroid(ca.vertcat(*[f.q for f in factors]), sum((f.q_names for f in factors), ()),
                        sum((f.v_names for f in factors), ()),
                        sum((f.v_units for f in factors), ()),
                        ca.diagcat(*[f.anchor for f in factors]), tuple(structure), tuple(circles),
                        tuple(quaternions))


def bracket(algebroid: LieAlgebroid, X: ca.SX, Y: ca.SX) -> ca.SX:
    """[X, Y]^g = rho(X) Y^g - rho(Y) X^g + c^g_ab X^a Y^b of two sections, (nv,)."""
    q, rho = algebroid.q, algebroid.anchor
    constant = ca.vertcat(*[ca.dot(X, c @ Y) for c in algebroid.structure])
    return ca.jtimes(Y, q, rho @ X) - ca.jtimes(X, q, rho @ Y) + constant
