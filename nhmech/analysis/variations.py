"""First variations of the equations of motion along the fibre, written once and evaluated at many
points."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import InputError, MechanicsError, listed
from ..mechanics.system import HasConstrained
from ..once import cached_property
from ..simulation.simulated import Simulated
from .ignorable_fields import IgnorableFields, ignorable_fields
from .motions import ZERO, kernel

RECENT = 4      # points that are kept: who finds a steady motion linearises there next


class NotFiniteError(MechanicsError):
    """A state at which the variational equation has no finite value."""


@dataclass(frozen=True)
class Point:
    """The variational equation at one state, modulo the symmetries of the system."""

    names: tuple[int, ...]  # of the coordinates eta, fibre coordinates (k,)
    basis: np.ndarray  # (nv, k) the displacement that belongs to each of them
    # (k, nv) coordinates of a displacement: project @ basis = 1, zero on ignorable directions
    project: np.ndarray
    # (nxi, nv) what a symmetry makes of xi while it moves q by a displacement: zero for vehicles,
    # whose speeds are the same wherever they stand; a turn of their axes for a ball
    shift: np.ndarray
    # (nv + nxi, nv + nxi) rate at which a displacement and dxi are carried along by the symmetry
    # that a steady motion follows: again zero for vehicles
    drag: np.ndarray
    # v, rate: (nv,), (nxi,) velocity and dxi/dt
    v: np.ndarray
    rate: np.ndarray
    slope: np.ndarray  # (nv, nv) dv/dq rho
    transport: np.ndarray  # (nv, nv) slope - [v, .]
    E: np.ndarray  # (nv, nxi) dv/dxi
    # f_eta, f_xi, f_u: (nxi, nv), (nxi, nxi), (nxi, nu) derivatives of dxi/dt
    f_eta: np.ndarray
    f_xi: np.ndarray
    f_u: np.ndarray
    holonomic: np.ndarray  # (k', nv) one-forms of phi
    phi: np.ndarray  # (k',) what is left of the holonomic constraints

    @property
    def whole(self) -> np.ndarray:
        """The matrix of d/dt (eta, dxi), ignorable directions included, (nv + nxi, nv + nxi)."""
        return np.block([[self.transport, self.E], [self.f_eta, self.f_xi]])

    @property
    def reduce(self) -> np.ndarray:
        """Coordinates of (eta, dxi) modulo the symmetries, (k + nxi, nv + nxi)."""
        n = len(self.rate)
        return np.block([[self.project, np.zeros((len(self.names), n))], [-self.shift, np.eye(n)]])

    @property
    def lift(self) -> np.ndarray:
        """The (eta, dxi) of coordinates, (nv + nxi, k + nxi): reduce @ lift = 1."""
        n = len(self.rate)
        return np.block([[self.basis, np.zeros((len(self.v), n))],
                         [np.zeros((n, len(self.names))), np.eye(n)]])

    @property
    def A(self) -> np.ndarray:
        """The matrix of d/dt of the coordinates, (k + nxi, k + nxi), in the moving frame."""
        return self.reduce @ (self.whole - self.drag) @ self.lift

    @property
    def B(self) -> np.ndarray:
        """(k + nxi, nu)."""
        return np.vstack([np.zeros((len(self.names), self.f_u.shape[1])), self.f_u])

    @property
    def defect(self) -> np.ndarray:
        """Rates of the coordinates and of the speeds; zero at a steady motion, (k + nxi,)."""
        return self.reduce @ np.r_[self.v, self.rate]


class Variations:
    """On a Lie algebroid a displacement eta of the fibre, along which q is moved, obeys eta' = dv -
    [v, eta], with dv = (dv/dq rho) eta + E dxi (paper 002, section 3). Displacements are kept in
    the kernel of the holonomic one-forms. `constrained`: a vehicle or a `ConstrainedSystem`."""

    def __init__(self, constrained: HasConstrained):
        self.simulated = Simulated.of(constrained)
        self.simulated.constrained.require_distribution("linearisation")
        self.equations, self.theta = self.simulated.equations, self.simulated.theta
        self.system = self.simulated.constrained.system
        self.distribution = self.simulated.constrained.distribution
        self.space = self.system.algebroid
        self.xi = ca.SX.sym("xi", self.equations.frame.nxi)
        self.inputs = [self.system.t, self.system.q, self.xi, self.system.u, self.system.theta]
        self._recent: dict[tuple, Point] = {}

    @classmethod
    def of(cls, given: HasConstrained | Variations) -> Variations:
        """`given` itself where it is `Variations` already."""
        return given if isinstance(given, Variations) else cls(given)

    @cached_property
    def rate(self) -> ca.SX:
        """dxi/dt (nxi,)."""
        return self.equations.drift(*self.inputs)[1]

    @cached_property
    def velocity(self) -> ca.SX:
        """v (nv,)."""
        return self.equations.velocity(self.system.t, self.system.q, self.xi, self.system.theta)

    @cached_property
    def holonomic(self) -> ca.SX:
        """One-forms of phi, (k, nv)."""
        return self.distribution.A[list(self.distribution.phi_rows), :]

    @cached_property
    def _evaluate(self) -> ca.Function:
        s, rho = self.system, self.space.anchor
        return ca.Function("variations", self.inputs, [
            self.velocity, self.rate, ca.jacobian(self.velocity, s.q) @ rho,
            ca.jacobian(self.velocity, self.xi),
            ca.jacobian(self.rate, s.q) @ rho, ca.jacobian(self.rate, self.xi),
            ca.jacobian(self.rate, s.u),
            self.holonomic, self.distribution.phi, rho, *self.space.structure])

    @cached_property
    def fields(self) -> IgnorableFields:
        """The symmetries, directions in which the equations of motion are the same."""
        def variation(t: float, q: np.ndarray, xi: np.ndarray,
                      u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            v, _, _, transport, E, f_eta, f_xi, _, forms, *_ = self._values(t, q, xi, u)
            return v, np.block([[transport, E], [f_eta, f_xi]]), forms

        return ignorable_fields(self.simulated.constrained, self.equations, variation)

    def _values(self, t: float, q: np.ndarray, xi: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
        values = [value.full() for value in self._evaluate(t, q, xi, u, self.theta)]
        v, structure = values[0][:, 0], np.array(values[10:])
        return [v, values[1][:, 0], values[2], values[2] - _bracket(structure, v), *values[3:8],
                values[8].ravel(), values[9], structure]

    def _require_finite(self, q: np.ndarray, motion: list[np.ndarray],
                        derivatives: list[np.ndarray]) -> None:
        place = f"q = {listed(f'{x:.4g}' for x in q)}"
        if not all(np.isfinite(value).all() for value in motion):
            raise NotFiniteError(f"the speeds {listed(self.equations.names)} do not determine the "
                                 f"motion at {place}; those that constrain(..., samples=[q]) or "
                                 "nhmech.load(..., speeds=...) chooses do")
        if not all(np.isfinite(value).all() for value in derivatives):
            raise NotFiniteError("the accelerations, or their derivatives, are not finite at "
                                 f"{place}")

    def at(self, q: np.ndarray, xi: np.ndarray, u: np.ndarray | None = None, t: float = 0.0, *,
           ignorable: bool = False) -> Point:
        """The variational equation at a state, without the directions in which the system is
        symmetric, unless `ignorable` is set.
        """
        nu = self.system.u.numel()
        q, xi, u = (np.asarray(x, dtype=float) for x in (q, xi, np.zeros(nu) if u is None else u))
        for name, value, size in (("q", q, self.space.nq), ("xi", xi, self.xi.numel()),
                                  ("u", u, nu)):
            if value.shape != (size,):
                raise InputError(f"{name} has shape {value.shape}, expected ({size},)")
            if not np.isfinite(value).all():
                raise InputError(f"{name} = {value} must be finite")
        key = (t, ignorable, *(array.tobytes() for array in (q, xi, u, self.theta)))
        found = self._recent.get(key) or self._work_out(t, q, xi, u, ignorable)
        others = [item for item in self._recent.items() if item[0] != key]
        self._recent = dict([*others[1 - RECENT:], (key, found)])
        return found

    def _work_out(self, t: float, q: np.ndarray, xi: np.ndarray, u: np.ndarray,
                  ignorable: bool) -> Point:
        (v, rate, slope, transport, E, f_eta, f_xi, f_u, H, phi, rho,
         structure) = self._values(t, q, xi, u)
        self._require_finite(q, [v, slope, E], [rate, f_eta, f_xi, f_u])
        tangent, n = kernel(H), self.space.nv + len(xi)
        Z, drag = np.zeros((n, 0)), np.zeros((n, n))
        if not ignorable:
            Z, by_q, by_v = self._symmetric(t, q, v, rho, structure)
            drag = np.hstack([(by_q + by_v @ slope) @ tangent @ tangent.T, by_v @ E])
        names, basis, project, shift = _modulo(Z, tangent)
        return Point(names, basis, project, shift, drag, v, rate, slope, transport, E, f_eta, f_xi,
                     f_u, H, phi)

    def _symmetric(self, t: float, q: np.ndarray, v: np.ndarray, rho: np.ndarray,
                   structure: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Symmetric directions (nv + nxi, k), independent ones; and the derivatives by q, along the
        fibre, and by v of the field among them that follows the motion."""
        fields = self.fields.values(t, q, v, self.theta).full()
        # moving along the kernel of the anchor moves nothing
        idle = kernel(rho)
        Z = np.hstack([np.vstack([idle, np.zeros((len(fields) - len(v), idle.shape[1]))]), fields])
        # where two fields move q alike, as a ball's turn about its contact in space and in the ball
        # do, the first one serves
        chosen = _independent(Z[:len(v)])
        along = np.zeros(Z.shape[1])
        along[chosen] = np.linalg.lstsq(Z[:len(v), chosen], v, rcond=None)[0]
        by_q, by_v = (x.full() for x in self.fields.slopes(t, q, v, self.theta,
                                                           along[idle.shape[1]:]))
        by_q[:len(v)] -= _bracket(structure, fields[:len(v)] @ along[idle.shape[1]:])
        return Z[:, chosen], by_q, by_v


def _bracket(structure: np.ndarray, v: np.ndarray) -> np.ndarray:
    """eta -> [v, eta], [v, eta]^g = c^g_ab v^a eta^b."""
    return np.einsum("gab,a->gb", structure, v)


def _independent(columns: np.ndarray) -> list[int]:
    """Those that do not depend on earlier ones; a column that vanishes is rounding next to what it
    is elsewhere."""
    chosen, rest = [], columns.copy()
    for i in range(columns.shape[1]):
        size = float(np.linalg.norm(rest[:, i]))
        if size > ZERO * max(1.0, float(np.linalg.norm(columns[:, i]))):
            chosen.append(i)
            direction = rest[:, i] / size
            rest -= np.outer(direction, direction @ rest)
    return chosen


def _modulo(Z: np.ndarray, tangent: np.ndarray) -> tuple:
    """`names`, `basis`, `project`, `shift` of a `Point` whose symmetries are Z (nv + nxi, k)."""
    nv = len(tangent)
    seen = kernel(Z[:nv].T @ tangent)
    basis = tangent @ seen
    names = _named_coordinates(basis)
    # eta of the chosen names is the coordinate itself
    basis = basis @ np.linalg.inv(basis[names])
    see = seen.T @ tangent.T
    project = np.linalg.solve(see @ basis, see)
    shift = Z[nv:] @ np.linalg.pinv(Z[:nv]) @ (np.eye(nv) - basis @ project)
    return tuple(names), basis, project, shift


def _named_coordinates(basis: np.ndarray) -> list[int]:
    """Fibre coordinates that parametrise the basis, by pivoting."""
    chosen: list[int] = []
    rest = basis.copy()
    for _ in range(basis.shape[1]):
        size = np.linalg.norm(rest, axis=1)
        # joints come after the base: prefer them
        choice = int(np.flatnonzero(size > 0.5 * size.max())[-1])
        chosen.append(choice)
        direction = rest[choice] / np.linalg.norm(rest[choice])
        rest = rest - np.outer(rest @ direction, direction)
    return sorted(chosen)
