"""Exact linearisation on the constraint manifold, about an equilibrium or a steady motion."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from ..mechanics.selection import COMFORT
from ..simulation.subject import Subject


@dataclass(frozen=True)
class Linearisation:
    """d/dt (eta, dxi) = A (eta, dxi) + B du.

    A, B    (n, n), (n, nu)
    names   of the state: displacements along fibre coordinates ("roll" along roll_rate), then independent speeds (a joint's with ')
    drift   dxi/dt at the point; zero at an equilibrium or a steady motion
    """

    A: np.ndarray
    B: np.ndarray
    names: tuple[str, ...]
    inputs: tuple[str, ...]
    drift: np.ndarray

    @property
    def eigenvalues(self) -> np.ndarray:
        """Of A, by real part, largest first."""
        values = np.linalg.eigvals(self.A)
        return values[np.argsort(-values.real)]


def linearise(constrained, q: np.ndarray, xi: np.ndarray, u: np.ndarray | None = None, t: float = 0.0, *, ignorable: bool = False) -> Linearisation:
    """Linearises the equations of motion at (q, xi, u), by automatic differentiation.

    A displacement is a vector eta of the fibre along which q is moved. On a Lie algebroid eta' = dv - [v, eta], with
    dv = (dv/dq rho) eta + E dxi; displacements are kept in the kernel of the holonomic one-forms. Directions on which nothing
    depends (position, heading and wheel angles on level ground) are left out unless `ignorable` is set.

    constrained  a vehicle or a `ConstrainedSystem`
    q, xi, u     (nq,), (nxi,), (nu,); u is zero where None

    Raises `MechanicsError` where the point is not on the holonomic manifold.
    """
    subject = Subject.of(constrained)
    equations, theta = subject.equations, subject.theta
    frame = equations.frame
    system, d = subject.constrained.system, subject.constrained.distribution
    u = np.zeros(system.u.numel()) if u is None else np.asarray(u, dtype=float)
    s_xi = ca.SX.sym("xi", frame.nxi)
    rate = equations.drift(system.t, system.q, s_xi, system.u, theta)[1]
    v = equations.velocity(system.t, system.q, s_xi, theta)
    anchor = system.algebroid.anchor
    holonomic = d.A[list(d.phi_rows), :] if d.phi_rows else ca.SX(0, system.algebroid.nv)
    evaluate = ca.Function("linearise", [system.t, system.q, s_xi, system.u, system.theta], [
        rate, v, ca.jacobian(rate, system.q) @ anchor, ca.jacobian(rate, s_xi), ca.jacobian(rate, system.u),
        ca.jacobian(v, system.q) @ anchor, ca.jacobian(v, s_xi), holonomic, d.phi, *system.algebroid.structure])

    def at(speeds: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """Values there, and the transport dv/dq rho - [v, .]."""
        values = [value.full() for value in evaluate(t, q, speeds, u, theta)]
        bracket = np.array([values[1][:, 0] @ c for c in values[9:]])     # [v, eta]^g = c^g_ab v^a eta^b
        return values, values[5] - bracket

    values, transport = at(np.asarray(xi, dtype=float))
    drift, v, f_eta, f_xi, f_u, _, E, H, phi = values[:9]
    if np.abs(phi).max(initial=0.0) > 1e-6:
        raise MechanicsError(f"q is not on the holonomic manifold: |phi| = {np.abs(phi).max():.3g}")
    kernel = _kernel(H, H.shape[1])
    quotient = np.zeros((0, kernel.shape[1])) if ignorable else _seen(kernel, np.vstack([f_eta, *_beside(at, xi)]), transport)
    basis = kernel if ignorable else kernel @ np.linalg.pinv(quotient)
    names = system.algebroid.v_names
    chosen = _named_coordinates(basis)
    basis = basis @ np.linalg.inv(basis[chosen])                          # eta of the chosen names is the coordinate itself
    project = np.linalg.pinv(basis) if ignorable else _projection(kernel, quotient, basis)
    A = np.block([[project @ transport @ basis, project @ E], [f_eta @ basis, f_xi]])
    B = np.vstack([np.zeros((len(chosen), u.size)), f_u])
    displacements = tuple(names[i].removesuffix("_rate").removesuffix("_speed") for i in chosen)
    speeds = tuple(name if name not in displacements else f"{name}'" for name in equations.names)
    return Linearisation(A, B, displacements + speeds, system.u_names, drift[:, 0])


def _kernel(H: np.ndarray, nv: int) -> np.ndarray:
    """Orthonormal basis of the kernel of H, (nv, d)."""
    if not H.size:
        return np.eye(nv)
    _, s, vt = np.linalg.svd(H)
    rank = int(np.sum(s > 1e-9 * s[0]))
    return vt[rank:].T


def _beside(at, xi: np.ndarray) -> list[np.ndarray]:
    """f_eta at other speeds: a direction that carries no force at xi by chance, as a bicycle's lean does at its capsize speed, is not ignorable."""
    rng = np.random.default_rng(0)
    return [at(xi + (1 + np.abs(xi)) * rng.uniform(-0.5, 0.5, len(xi)))[0][2] for _ in range(2)]


def _seen(kernel: np.ndarray, f_eta: np.ndarray, transport: np.ndarray) -> np.ndarray:
    """Functionals on the kernel that the dynamics sees, closed under the transport; their common kernel is ignorable, (k, d).

    Orthonormal at each step: powers of the transport would lift rounding noise above any threshold."""
    motion = np.linalg.pinv(kernel) @ transport @ kernel
    motion = motion / max(np.linalg.norm(motion, 2), 1.0)
    rows = f_eta @ kernel
    size = np.abs(rows).max(axis=1, initial=0.0)
    seen = size > 1e-11 * max(size.max(initial=0.0), 1.0)
    rows = rows[seen] / size[seen, None]
    basis = np.zeros((0, kernel.shape[1]))
    while len(rows):
        _, s, vt = np.linalg.svd(rows - rows @ basis.T @ basis)
        new = vt[:int(np.sum(s > 1e-8))]
        basis = np.vstack([basis, new])
        rows = new @ motion
    return basis


def _projection(kernel: np.ndarray, quotient: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Coordinates, along `basis`, of what the dynamics sees of a vector."""
    see = quotient @ np.linalg.pinv(kernel)
    return np.linalg.solve(see @ basis, see)


def _named_coordinates(basis: np.ndarray) -> list[int]:
    """Fibre coordinates that parametrise the basis, by pivoting."""
    chosen: list[int] = []
    rest = basis.copy()
    for _ in range(basis.shape[1]):
        size = np.linalg.norm(rest, axis=1)
        good = np.flatnonzero(size > max(COMFORT, 0.5 * size.max()))
        choice = int(good[-1]) if len(good) else int(np.argmax(size))     # joints stand after the base: prefer them
        chosen.append(choice)
        direction = rest[choice] / np.linalg.norm(rest[choice])
        rest = rest - np.outer(rest @ direction, direction)
    return sorted(chosen)
