"""Lagrangian systems on a Lie algebroid, and constrained systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import casadi as ca
import numpy as np

from ..checks import of_a_file
from ..errors import REPR, InputError, MechanicsError, listed
from ..once import cached_property
from ..symbolic.document import Section, to_latex, to_notebook, to_text
from .algebroid import LieAlgebroid
from .distribution import Distribution, assemble
from .newton import distances, nearest_zero
from .printing import Display, constraint_sections, system_sections

RANDOM = 8      # configurations at which ranks are determined if the user gives none
MULTIPLE = 1e-6    # slope of a function where it vanishes, of that elsewhere: less is none


@dataclass(frozen=True)
class AuxiliaryVariables:
    """Symbols for functions of (t, q), with rates that need no derivative of those functions."""

    symbols: ca.SX  # (k,)
    meanings: ca.SX  # (k,), the functions
    rates: ca.SX  # (k,), functions of symbols and v


@dataclass(frozen=True)
class LagrangianSystem:
    """A Lagrangian (or a Gibbs function) on a Lie algebroid, with forces.

    Equations of the free system, with tau = `force` (paper 002, eq. (13))::

        d/dt(dL/dv^a) = rho^i_a dL/dq^i - c^g_ab v^b dL/dv^g + tau_a

    Attributes
    ----------
    algebroid
        Configuration, fibre, anchor, structure functions.
    t, v, a
        Symbols of time, of the fibre coordinates and of their rates, (), (nv,), (nv,).
    gibbs
        S(t, q, v, a, theta) with dS/da the left-hand side of the equations of motion.
    energy
        E(t, q, v, theta) [J].
    force
        tau(t, q, v, u, theta), (nv,).
    lagrangian
        L(t, q, v, theta), or None; `from_lagrangian` derives gibbs and energy.
    u, theta
        Symbols of inputs and parameters, (nu,), (ntheta,).
    u_names, theta_names
        Names of inputs and parameters.
    auxiliaries
        Further symbols in the expressions; only without a Lagrangian.
    """

    algebroid: LieAlgebroid
    v: ca.SX
    a: ca.SX
    gibbs: ca.SX
    energy: ca.SX
    force: ca.SX
    lagrangian: ca.SX | None = None
    t: ca.SX = field(default_factory=lambda: ca.SX.sym("t"))
    u: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    theta: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    u_names: tuple[str, ...] = ()
    theta_names: tuple[str, ...] = ()
    auxiliaries: AuxiliaryVariables | None = None

    def __repr__(self) -> str:
        return (f"<LagrangianSystem with v = {listed(self.algebroid.v_names, REPR)}; "
                f"inputs {listed(self.u_names, REPR)}>")

    def __post_init__(self) -> None:
        nv = self.algebroid.nv
        for name, symbol in (("v", self.v), ("a", self.a), ("force", self.force)):
            if symbol.shape != (nv, 1):
                raise MechanicsError(f"{name} has shape {symbol.shape}, the algebroid's fibre has "
                                     f"dimension {nv}")

    @classmethod
    def from_lagrangian(cls, algebroid: LieAlgebroid, v: ca.SX, a: ca.SX, lagrangian: ca.SX, *,
                        force: ca.SX | None = None, t: ca.SX | None = None,
                        **symbols: Any) -> LagrangianSystem:
        """The system of L(t, q, v, theta): its energy is v dL/dv - L, and its Gibbs function

            S = 1/2 a^T G a + a^T (d/dt(dL/dv) with v held - rho^T dL/dq + c^g_ab v^b dL/dv^g)

        with G the Hessian of L. No inverse of G is formed, so singular Lagrangians have one too.
        """
        t = ca.SX.sym("t") if t is None else t
        force = ca.SX(algebroid.nv, 1) if force is None else force
        momentum = ca.gradient(lagrangian, v)
        hessian, c = ca.jacobian(momentum, v), algebroid.structure
        drift = ca.jtimes(momentum, ca.vertcat(algebroid.q, t),
                          ca.densify(ca.vertcat(algebroid.anchor @ v, 1)))
        twist = ca.vertcat(*[sum((momentum[g] * (c[g][i, :] @ v) for g in range(len(c))), ca.SX(0))
                             for i in range(len(c))])
        bias = drift - algebroid.anchor.T @ ca.gradient(lagrangian, algebroid.q) + twist
        return cls(algebroid, v, a, gibbs=ca.dot(a, hessian @ a) / 2 + ca.dot(a, bias),
                   energy=ca.dot(v, momentum) - lagrangian, force=force, lagrangian=lagrangian,
                   t=t, **symbols)

    def transfer(self, algebroid: LieAlgebroid, v: ca.SX, a: ca.SX, lagrangian: ca.SX,
                 force: ca.SX) -> LagrangianSystem:
        """A system with another Lagrangian and algebroid, and the same time, inputs, parameters."""
        return self.from_lagrangian(algebroid, v, a, lagrangian, force=force, t=self.t, u=self.u,
                                    theta=self.theta, u_names=self.u_names,
                                    theta_names=self.theta_names)

    @cached_property
    def constrained(self) -> ConstrainedSystem:
        """The system without constraints. Raises `MechanicsError` where its parameters have no
        numbers yet, and for an algebroid that fails its structure equations."""
        if self.theta_names:
            raise MechanicsError(f"the parameters {listed(self.theta_names)} have no numbers: "
                                 f"constrain(system, {{{self.theta_names[0]!r}: 1.0, ...}})")
        self.algebroid.check()
        return ConstrainedSystem(self, assemble((), self.algebroid.nv))

    @property
    def q(self) -> ca.SX:
        return self.algebroid.q

    @property
    def q_rate(self) -> ca.SX:
        """dq/dt = rho(q) v, (nq,)."""
        return self.algebroid.anchor @ self.v

    def rate(self, f: ca.SX) -> ca.SX:
        """df/dt of f(t, q, theta) or, with v held, of f(t, q, v, theta)."""
        variables, rates = [self.q, self.t], [self.q_rate, ca.SX(1)]
        if self.auxiliaries is not None:
            variables.append(self.auxiliaries.symbols)
            rates.append(self.auxiliaries.rates)
        return ca.jtimes(f, ca.vertcat(*variables), ca.densify(ca.vertcat(*rates)))

    def expand(self, *expressions: ca.SX) -> list[ca.SX]:
        """Expressions in (t, q, v, u, theta) alone: auxiliary variables are substituted."""
        if self.auxiliaries is None:
            return list(expressions)
        symbols, meanings = self.auxiliaries.symbols, self.auxiliaries.meanings
        return ca.substitute(list(expressions), [symbols], [meanings])

    def mass_and_bias(self) -> tuple[ca.SX, ca.SX]:
        """M (nv, nv) and h (nv,) with dS/da = M a + h."""
        gradient = ca.gradient(self.gibbs, self.a)
        return ca.jacobian(gradient, self.a), ca.substitute(gradient, self.a,
                                                            ca.SX.zeros(self.a.shape))

    @cached_property
    def energy_function(self) -> ca.Function:
        """(t, q, v, theta) -> kinetic plus potential energy [J]."""
        return ca.Function("energy", [self.t, self.q, self.v, self.theta], [self.energy])

    @property
    def momentum(self) -> ca.SX:
        """p = dL/dv, (nv,), from the energy T + V where there is no Lagrangian."""
        return ca.gradient(self.energy if self.lagrangian is None else self.lagrangian, self.v)

    def require_lagrangian(self, method: str) -> ca.SX:
        """L. Raises `MechanicsError` where only a Gibbs function was given."""
        if self.lagrangian is None:
            raise MechanicsError(f"{method} needs a Lagrangian; this system has a Gibbs function "
                                 "only: use gibbs_appell or lagrange_multipliers")
        return self.lagrangian


class HasConstrained(Protocol):
    """Anything with a constrained system: a vehicle, a textbook system, the system itself, a
    Lagrangian system without constraints."""

    @property
    def constrained(self) -> ConstrainedSystem: ...


def require_constrained(value: object) -> ConstrainedSystem:
    """The constrained system of anything that has one. Raises `InputError` for anything else."""
    found = getattr(value, "constrained", None)
    if not isinstance(found, ConstrainedSystem):
        raise InputError(f"expected a vehicle or a ConstrainedSystem, not {value!r:.80}"
                         f"{of_a_file(value)}")
    return found


@dataclass(frozen=True)
class ConstrainedSystem:
    """A Lagrangian system with a distribution, the input of equation formers and of the simulator.

    Attributes
    ----------
    system
        The Lagrangian system, without constraints.
    distribution
        The constraints.
    parameters
        Numbers for `system.theta`, (ntheta,).
    samples
        Configurations on the holonomic manifold at which rank and pivots are decided, (k, nq).
    preferred
        Groups of names of fibre coordinates that should become independent speeds, best group
        first.
    scales
        Size of each fibre coordinate in one common unit (1 rad/s of a wheel of radius r counts r),
        (nv,).
    guards
        (t, q) functions that must stay above zero for the constraints to exist, e.g. |axle x
        normal|.
    guard_names
        Descriptions of the failures when a guard is not positive.
    moment
        Time [s] at which `samples` are on the manifold.
    invariant
        chi(t, q, v) (k,), whose zeros are the manifold on which the motion takes place and which it
        does not leave: nonlinear constraints, and those that the constraint algorithm found. A run
        starts on it, and is projected back to it after each step.
    friction
        Generalised force per unit of the force of each row, beside the row itself, (nv, m), a
        function of (t, q, v, u, theta) and of `loads`: the force f of the rows exerts (A^T +
        friction(f)) f. None of ideal constraints.
    loads
        Symbols for f (m,); None where friction is proportional to it.

    Examples
    --------
    >>> vehicle.constrained.distribution.names[:3]
    ('left_wheel_joint/normal', 'left_wheel_joint/longitudinal', 'left_wheel_joint/lateral')
    """

    system: LagrangianSystem
    distribution: Distribution
    parameters: np.ndarray = field(default_factory=lambda: np.zeros(0))
    samples: np.ndarray | None = None
    preferred: Sequence[Sequence[str]] = ()
    scales: np.ndarray | None = None
    guards: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    guard_names: tuple[str, ...] = ()
    moment: float = 0.0
    invariant: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    friction: ca.SX | None = None
    loads: ca.SX | None = None

    def __repr__(self) -> str:
        return (f"<ConstrainedSystem with v = {listed(self.system.algebroid.v_names, REPR)}; "
                f"rows {listed(self.distribution.names, REPR)}>")

    def __str__(self) -> str:
        return to_text(self._sections(False))

    def _repr_latex_(self) -> str:
        return to_notebook(self._sections(True))

    def latex(self) -> str:
        """Lagrangian, forces and constraints as a complete LaTeX document."""
        return to_latex("Constrained system", self._sections(True))

    def _sections(self, as_latex: bool) -> list[Section]:
        display = Display(self.system, as_latex)
        return [*system_sections(self.system, display),
                *constraint_sections(self.distribution, self.parameters, display, self.invariant)]

    @property
    def constrained(self) -> ConstrainedSystem:
        """The system itself, so that functions accept vehicles and constrained systems alike."""
        return self

    def require_distribution(self, method: str) -> None:
        """Raises `MechanicsError` if the motion is on a manifold in the velocities that is not a
        distribution."""
        if self.invariant.numel():
            raise MechanicsError(f"{method} needs constraints that are linear in the velocities; "
                                 "this system is singular or has nonlinear constraints")

    @property
    def rubbing(self) -> tuple[int, ...]:
        """Rows whose force causes `friction`."""
        if self.friction is None:
            return ()
        return tuple(sorted(set(ca.sparsify(self.friction).sparsity().get_col())))

    def require_linear(self, method: str) -> None:
        """Raises `MechanicsError` where some row is not linear."""
        d = self.distribution
        if d.flow is not None:
            names = [d.names[row] for row in d.followers]
            raise MechanicsError(f"{method} needs constraints that are linear in the velocities, "
                                 f"unlike {listed(names)}: use gibbs_appell or "
                                 "lagrange_multipliers")

    def require_ideal(self, method: str) -> None:
        """Raises `MechanicsError` where some force is proportional to a reaction, or some row is
        not linear."""
        self.require_linear(method)
        if self.rubbing:
            names = [self.distribution.names[row] for row in self.rubbing]
            raise MechanicsError(f"{method} needs ideal constraints; here forces depend on the "
                                 f"reactions of {listed(names)}: use gibbs_appell or "
                                 "lagrange_multipliers")

    @cached_property
    def configurations(self) -> np.ndarray:
        """`samples`, or else random configurations on the holonomic manifold, (k, nq). Raises
        `MechanicsError` if none is found."""
        if self.samples is not None:
            return self.samples
        algebroid, rng = self.system.algebroid, np.random.default_rng(0)
        starts = [algebroid.normalise(rng.normal(size=algebroid.nq)) for _ in range(RANDOM)]
        found = [q for start in starts if (q := self.nearest(start, self.moment)) is not None]
        if not found:
            names = [self.distribution.names[row] for row in self.distribution.phi_rows]
            raise MechanicsError(f"no configuration was found that satisfies {listed(names)}, from "
                                 f"{RANDOM} random ones; if any exist, give some as `samples`")
        self.require_simple_zeros(found, starts)
        return np.array(found)

    def require_simple_zeros(self, on: Sequence[np.ndarray], off: Sequence[np.ndarray]) -> None:
        """Raises `MechanicsError` for a holonomic function whose derivatives all vanish with it, as
        those of a square do: its row is zero wherever it holds. Compares configurations on the
        holonomic manifold with others."""
        there, elsewhere = (np.array([np.linalg.norm(
            self._holonomic(self.moment, q, self.parameters)[1].full(), axis=1) for q in points])
            for points in (on, off))
        for k, row in enumerate(self.distribution.phi_rows):
            if there[:, k].max() < MULTIPLE * elsewhere[:, k].min():
                raise MechanicsError(
                    f"the derivatives of {self.distribution.names[row]!r} vanish wherever it does, "
                    "as those of a square do, so that it constrains no velocity: give a function "
                    "with simple zeros instead, such as x in place of x**2")

    def holonomic_distances(self, q: np.ndarray, t: float = 0.0) -> np.ndarray:
        """How far q (nq,) is from the zeros of each holonomic function, by its slope, (k,)."""
        count = len(self.distribution.phi_rows)
        value, slope = self._holonomic(t, q, self.parameters)
        return distances(value.full()[:count], slope.full()[:count])

    def nearest(self, q: np.ndarray, t: float = 0.0) -> np.ndarray | None:
        """The configuration (nq,) on the holonomic manifold that Newton's method reaches from q by
        the shortest steps; None if it does not converge."""
        return nearest_zero(lambda q: self._holonomic(t, q, self.parameters), q)

    def nearest_state(self, q: np.ndarray, v: np.ndarray,
                      t: float = 0.0) -> tuple[np.ndarray, np.ndarray] | None:
        """The state (q, v) with `invariant` = 0 that Newton's method reaches from another by the
        shortest steps; None if it does not converge."""
        nq = self.system.algebroid.nq
        z = nearest_zero(lambda z: self.invariant_function(t, z[:nq], z[nq:], self.parameters),
                         np.concatenate([q, v]))
        return None if z is None else (z[:nq], z[nq:])

    @cached_property
    def invariant_function(self) -> ca.Function:
        """(t, q, v, theta) -> `invariant` and the functions that vanish on the embedded manifold,
        and their derivatives by (q, v)."""
        s = self.system
        functions = ca.vertcat(self.invariant, s.algebroid.embedding(s.q))
        slope = ca.jacobian(functions, ca.vertcat(s.q, s.v))
        return ca.Function("invariant", [s.t, s.q, s.v, s.theta], [ca.densify(functions), slope])

    @cached_property
    def _holonomic(self) -> ca.Function:
        """(t, q, theta) -> phi and the functions that vanish on the embedded manifold, (k,), and
        their derivatives (k, nq)."""
        s = self.system
        functions = ca.vertcat(self.distribution.phi, s.algebroid.embedding(s.q))
        slope = ca.jacobian(functions, s.q)
        return ca.Function("holonomic", [s.t, s.q, s.theta], s.expand(functions, slope))

    @property
    def fibre_scales(self) -> np.ndarray:
        """`scales`, or ones if there are none, (nv,)."""
        return np.ones(self.system.algebroid.nv) if self.scales is None else self.scales

    def flow_function(self) -> ca.Function:
        """(t, q, v, theta) -> `Distribution.flow` (m,), the nonlinear part of the rows."""
        s, d = self.system, self.distribution
        flow = ca.SX(d.m, 1) if d.flow is None else d.flow
        return ca.Function("flow", [s.t, s.q, s.v, s.theta],
                           [ca.densify(part) for part in s.expand(flow)])

    def constraint_function(self) -> ca.Function:
        """(t, q, theta) -> A (m, nv), b (m,), phi (k,)."""
        s, d = self.system, self.distribution
        return ca.Function("constraints", [s.t, s.q, s.theta],
                           [ca.densify(part) for part in s.expand(d.A, d.b, d.phi)],
                           ["t", "q", "theta"], ["A", "b", "phi"])
