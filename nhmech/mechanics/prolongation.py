"""The prolongation of a Lie algebroid, which generalises the tangent bundle of TQ."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..checks import check_arguments
from ..once import cached_property
from .algebroid import LieAlgebroid, bracket, product, tangent_bundle
from .equations import solve_definite
from .exterior import exterior_derivative, one_form, two_form_matrix
from .natural import require_regular
from .system import ConstrainedSystem, HasConstrained, LagrangianSystem, require_constrained


@dataclass(frozen=True)
class Prolongation:
    """T^E E of an algebroid E, with the objects that mechanics lives on.

    Its basis is X_a, V_a with rho(X_a) = rho^i_a d/dq^i, rho(V_a) = d/dv^a, [X_a, X_b] = c^g_ab X_g
    and all other brackets zero; on a tangent bundle d/dq^a and d/dv^a. Sections are columns
    (2 nv,), endomorphisms matrices (2 nv, 2 nv). Source: paper 002, sections 4 and 6; for Gamma,
    its connection and the Jacobi endomorphism Martinez, Carinena and Sarlet, Differential Geometry
    and its Applications 3 (1993) 1; paper 003, section 6, names them.

    Attributes
    ----------
    system
        The Lagrangian system on E.
    algebroid
        T^E E over (q, v).
    """

    system: LagrangianSystem
    algebroid: LieAlgebroid

    def __repr__(self) -> str:
        return f"<Prolongation of {self.system.algebroid!r}>"

    @property
    def vertical_endomorphism(self) -> ca.SX:
        """S_v X_a = V_a, S_v V_a = 0."""
        none = ca.SX(self._nv, self._nv)
        return ca.blockcat([[none, none], [ca.SX.eye(self._nv), none]])

    @property
    def liouville(self) -> ca.SX:
        """Delta = v^a V_a."""
        return ca.vertcat(ca.SX(self.system.v.numel(), 1), self.system.v)

    @cached_property
    def cartan(self) -> tuple[ca.SX, ca.SX]:
        """theta_L = dL o S_v, (2 nv,), and omega_L = -d theta_L, (2 nv, 2 nv)."""
        lagrangian = self.system.require_lagrangian("the Cartan form")
        theta = self.vertical_endomorphism.T @ self.differential(lagrangian)
        omega = exterior_derivative(self.algebroid, one_form(theta), 1)
        return theta, -two_form_matrix(self.algebroid, omega)

    def differential(self, f: ca.SX) -> ca.SX:
        """df (2 nv,) of a function of (q, v)."""
        return self.algebroid.anchor.T @ ca.gradient(f, self.algebroid.q)

    @cached_property
    def sode(self) -> ca.SX:
        """Gamma = v^a X_a + F^a V_a, the motion without constraints: S_v Gamma = Delta, and without
        forces i_Gamma omega_L = dE. Paper 004, eq. (1)."""
        M, h = self.system.mass_and_bias()
        return ca.vertcat(self.system.v, solve_definite(M, self.system.force - h))

    @cached_property
    def horizontal(self) -> ca.SX:
        """(2 nv, nv) columns X_a^H = (X_a - (L_Gamma S_v) X_a) / 2, the connection of Gamma."""
        return (ca.SX.eye(2 * self._nv)[:, :self._nv] - ca.horzcat(*[
            self._along(self.vertical_endomorphism @ unit)
            - self.vertical_endomorphism @ self._along(unit) for unit in self._basis])) / 2

    @cached_property
    def covariant_derivative(self) -> ca.SX:
        """nabla (nv, nv), columns nabla e_a: [Gamma, X_a^H] = (nabla e_a)^H + (R e_a)^V, R the
        Jacobi endomorphism."""
        return self._split[:self._nv, :]

    @cached_property
    def jacobi_endomorphism(self) -> ca.SX:
        """R (nv, nv): along a geodesic the curvature R(., v) v. Neighbouring motions, a field Y
        apart, obey nabla nabla Y + R Y = 0."""
        return (self._split - self.horizontal @ self._split[:self._nv, :])[self._nv:, :]

    @property
    def _nv(self) -> int:
        return self.system.algebroid.nv

    @property
    def _basis(self) -> list[ca.SX]:
        return ca.horzsplit(ca.SX.eye(2 * self._nv)[:, :self._nv])

    @cached_property
    def _split(self) -> ca.SX:
        """[Gamma, X_a^H] in the basis X, V."""
        return ca.horzcat(*[self._along(column) for column in ca.horzsplit(self.horizontal)])

    def _along(self, section: ca.SX) -> ca.SX:
        return bracket(self.algebroid, self.sode, ca.densify(section))


@check_arguments
def prolongation(constrained: HasConstrained) -> Prolongation:
    """The prolongation of a system's algebroid, and its canonical objects.

    That is its vertical endomorphism, its Liouville section, its Cartan forms and, of the motion
    without constraints, the dynamical covariant derivative and the Jacobi endomorphism.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`; its rows play no part.

    Raises
    ------
    MechanicsError
        Where the Hessian of L is singular: there is no Gamma.

    Examples
    --------
    >>> from nhmech.mechanics import prolongation
    >>> from nhmech.systems import load_system
    >>> made = prolongation(load_system("rigid_body"))
    >>> made.vertical_endomorphism.shape
    (6, 6)
    """
    found: ConstrainedSystem = require_constrained(constrained)
    require_regular("prolongation", found)
    return Prolongation(found.system, prolong(found.system.algebroid, found.system.v,
                                              found.system.algebroid.v_names))


def prolong(algebroid: LieAlgebroid, fibre: ca.SX, names: tuple[str, ...]) -> LieAlgebroid:
    """The prolongation over E, or over its dual E*, with symbols `fibre` (nv,) for the fibre
    coordinates and their names."""
    return product(algebroid, tangent_bundle(fibre, [f"({name})" for name in names]))
