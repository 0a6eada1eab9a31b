"""First variations of the equations of motion along the fibre, written once and evaluated at many
points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import InputError
from ..mechanics.selection import COMFORT
from ..mechanics.system import HasConstrained
from ..simulation.simulated import Simulated
from .motions import kernel


@dataclass(frozen=True)
class Point:
    """The variational equation at one state, on coordinates that the dynamics sees.

    Attributes
    ----------
    names
        Of the coordinates eta, fibre coordinates (k,).
    basis
        (nv, k) the displacement that belongs to each of them.
    project
        (k, nv) coordinates of a displacement: project @ basis = 1, zero on ignorable directions.
    v, rate
        (nv,), (nxi,) velocity and dxi/dt.
    slope
        (nv, nv) dv/dq rho.
    transport
        (nv, nv) slope - [v, .].
    E
        (nv, nxi) dv/dxi.
    f_eta, f_xi, f_u
        (nxi, nv), (nxi, nxi), (nxi, nu) derivatives of dxi/dt.
    holonomic
        (k', nv) one-forms of phi.
    phi
        (k',) what is left of the holonomic constraints.
    """

    names: tuple[int, ...]
    basis: np.ndarray
    project: np.ndarray
    v: np.ndarray
    rate: np.ndarray
    slope: np.ndarray
    transport: np.ndarray
    E: np.ndarray
    f_eta: np.ndarray
    f_xi: np.ndarray
    f_u: np.ndarray
    holonomic: np.ndarray
    phi: np.ndarray

    @property
    def A(self) -> np.ndarray:
        """Of d/dt (eta, dxi), (k + nxi, k + nxi)."""
        return np.block([[self.project @ self.transport @ self.basis, self.project @ self.E],
                         [self.f_eta @ self.basis, self.f_xi]])

    @property
    def B(self) -> np.ndarray:
        """(k + nxi, nu)."""
        return np.vstack([np.zeros((len(self.names), self.f_u.shape[1])), self.f_u])

    @property
    def defect(self) -> np.ndarray:
        """Rates of the coordinates and of the speeds; zero at a steady motion, (k + nxi,)."""
        return np.r_[self.project @ self.v, self.rate]


class Variations:
    """On a Lie algebroid a displacement eta of the fibre, along which q is moved, obeys eta' = dv -
    [v, eta], with dv = (dv/dq rho) eta + E dxi (paper 002, section 3). Displacements are kept in
    the kernel of the holonomic one-forms.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`.
    """

    def __init__(self, constrained: HasConstrained):
        self.simulated = Simulated.of(constrained)
        self.equations, self.theta = self.simulated.equations, self.simulated.theta
        self.system = self.simulated.constrained.system
        self.distribution = self.simulated.constrained.distribution
        self.space = self.system.algebroid
        self.xi = ca.SX.sym("xi", self.equations.frame.nxi)
        self.inputs = [self.system.t, self.system.q, self.xi, self.system.u, self.system.theta]

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
        rows = self.distribution.phi_rows
        return self.distribution.A[list(rows), :] if rows else ca.SX(0, self.space.nv)

    @cached_property
    def _evaluate(self) -> ca.Function:
        s, rho = self.system, self.space.anchor
        return ca.Function("variations", self.inputs, [
            self.velocity, self.rate, ca.jacobian(self.velocity, s.q) @ rho,
            ca.jacobian(self.velocity, self.xi),
            ca.jacobian(self.rate, s.q) @ rho, ca.jacobian(self.rate, self.xi),
            ca.jacobian(self.rate, s.u),
            self.holonomic, self.distribution.phi, *self.space.structure])

    def _values(self, t: float, q: np.ndarray, xi: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
        values = [value.full() for value in self._evaluate(t, q, xi, u, self.theta)]
        v = values[0][:, 0]
        # [v, eta]^g = c^g_ab v^a eta^b
        bracket = np.array([v @ c for c in values[9:]])
        return [v, values[1][:, 0], values[2], values[2] - bracket, *values[3:8], values[8].ravel()]

    def at(self, q: np.ndarray, xi: np.ndarray, u: np.ndarray | None = None, t: float = 0.0, *,
           ignorable: bool = False) -> Point:
        """The variational equation at a state, without directions on which nothing depends, unless
        `ignorable` is set.

        Raises
        ------
        InputError
            Where q, xi or u has another shape than the system's.
        """
        nu = self.system.u.numel()
        q, xi, u = (np.asarray(x, dtype=float) for x in (q, xi, np.zeros(nu) if u is None else u))
        for name, value, size in (("q", q, self.space.nq), ("xi", xi, self.xi.numel()),
                                  ("u", u, nu)):
            if value.shape != (size,):
                raise InputError(f"{name} has shape {value.shape}, expected ({size},)")
        v, rate, slope, transport, E, f_eta, f_xi, f_u, H, phi = self._values(t, q, xi, u)
        tangent = kernel(H)
        if ignorable:
            basis, quotient = tangent, np.zeros((0, tangent.shape[1]))
        else:
            beside = [self._values(t, q, speeds, u)[5] for speeds in _beside(xi)]
            quotient = _quotient(tangent, np.vstack([f_eta, *beside]), transport)
            basis = tangent @ np.linalg.pinv(quotient)
        names = _named_coordinates(basis)
        # eta of the chosen names is the coordinate itself
        basis = basis @ np.linalg.inv(basis[names])
        project = np.linalg.pinv(basis) if ignorable else _projection(tangent, quotient, basis)
        return Point(tuple(names), basis, project, v, rate, slope, transport, E, f_eta, f_xi, f_u,
                     H, phi)


def _beside(xi: np.ndarray) -> list[np.ndarray]:
    """Other speeds.

    A direction that carries no force at xi by chance, as a bicycle's lean does at its capsize
    speed, is not ignorable.
    """
    rng = np.random.default_rng(0)
    return [xi + (1 + np.abs(xi)) * rng.uniform(-0.5, 0.5, len(xi)) for _ in range(2)]


def _quotient(tangent: np.ndarray, f_eta: np.ndarray, transport: np.ndarray) -> np.ndarray:
    """Functionals (k, d) on the tangent space that the dynamics sees, closed under the transport.
    Their kernel is ignorable.

    Orthonormal at each step: powers of the transport would lift rounding noise above any
    threshold."""
    motion = np.linalg.pinv(tangent) @ transport @ tangent
    motion = motion / max(np.linalg.norm(motion, 2), 1.0)
    rows = f_eta @ tangent
    size = np.abs(rows).max(axis=1, initial=0.0)
    seen = size > 1e-11 * max(size.max(initial=0.0), 1.0)
    rows = rows[seen] / size[seen, None]
    basis = np.zeros((0, tangent.shape[1]))
    while len(rows) and len(basis) < basis.shape[1]:
        rest = rows - rows @ basis.T @ basis
        # twice is enough: what is left is orthogonal to rounding
        _, s, vt = np.linalg.svd(rest - rest @ basis.T @ basis)
        new = vt[:int(np.sum(s > 1e-8))]
        basis = np.vstack([basis, new])
        rows = new @ motion
    return basis


def _projection(tangent: np.ndarray, quotient: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Coordinates, along `basis`, of what the dynamics sees of a vector."""
    see = quotient @ np.linalg.pinv(tangent)
    return np.linalg.solve(see @ basis, see)


def _named_coordinates(basis: np.ndarray) -> list[int]:
    """Fibre coordinates that parametrise the basis, by pivoting."""
    chosen: list[int] = []
    rest = basis.copy()
    for _ in range(basis.shape[1]):
        size = np.linalg.norm(rest, axis=1)
        good = np.flatnonzero(size > max(COMFORT, 0.5 * size.max()))
        # joints come after the base: prefer them
        choice = int(good[-1]) if len(good) else int(np.argmax(size))
        chosen.append(choice)
        direction = rest[choice] / np.linalg.norm(rest[choice])
        rest = rest - np.outer(rest @ direction, direction)
    return sorted(chosen)
