"""The adapted frame: v = E xi + e0 solves A v + b = 0 for independent speeds xi = W v."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from ..errors import REPR, MechanicsError, listed
from ..once import cached_property
from ..symbolic.elimination import Factors, entry_costs, factorise, pivot_order
from .samples import sample_points
from .selection import independent_rows, independent_speeds
from .system import ConstrainedSystem, HasConstrained, require_constrained

_DEPENDENT = 1e-9        # a smaller difference of rows is rounding
# iterations of Newton's method for loads: near lift-off, four leave an error of 1e-7, five none
ROUNDS = 5


@dataclass(frozen=True)
class AdaptedFrame:
    """Coordinates adapted to the constraints: the columns of the inverse of Phi = [W; A].

    A has only the rows `kept`.

    A E = 0 and A e0 = -b. W selects fibre coordinates, so that no derivative of E is needed: rates
    follow from Phi dv/dt = [dxi/dt; -gamma].

    Attributes
    ----------
    constrained
        The system.
    kept
        Rows of the distribution that are used; the others depend on them.
    speeds
        Indices of the fibre coordinates that are xi.
    forms, offsets, rotation
        The kept rows in their sparse basis, see `Distribution.sparse_basis`.
    factors
        Factorisation of [W; forms].
    pivot_scale
        Size of each pivot at the samples, to which `margin` is relative.
    """

    constrained: ConstrainedSystem
    kept: tuple[int, ...]
    speeds: tuple[int, ...]
    forms: ca.SX = field(repr=False)
    offsets: ca.SX = field(repr=False)
    rotation: ca.SX = field(repr=False)
    factors: Factors = field(repr=False)
    pivot_scale: np.ndarray = field(repr=False)

    def __repr__(self) -> str:
        return f"<AdaptedFrame of {len(self.kept)} rows with the speeds {listed(self.names, REPR)}>"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.constrained.system.algebroid.v_names[i] for i in self.speeds)

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(self.constrained.system.algebroid.v_units[i] for i in self.speeds)

    @property
    def nxi(self) -> int:
        return len(self.speeds)

    def solve(self, top: ca.SX, bottom: ca.SX) -> ca.SX:
        """Phi^-1 [top; bottom], (nv, k)."""
        return self.factors.solve(ca.vertcat(top, self.rotation.T @ bottom))

    def velocity(self, xi: ca.SX) -> ca.SX:
        """v = E xi + e0, (nv,), with the rates of followers."""
        v = ca.densify(self.factors.solve(ca.vertcat(xi, -self.offsets)))
        if self.flow is None:
            return v
        flow = ca.substitute(self.flow, self.constrained.system.v, v)
        return ca.densify(self.factors.solve(ca.vertcat(xi, -self.offsets - flow)))

    @cached_property
    def flow(self) -> ca.SX | None:
        """`Distribution.flow` of the kept rows, in their sparse basis; None without followers."""
        d = self.constrained.distribution
        return None if d.flow is None else self.rotation.T @ d.flow[list(self.kept)]

    def acceleration(self, xi_rate: ca.SX) -> ca.SX:
        """dv/dt = Phi^-1 [dxi/dt; -gamma], a function of (t, q, v, dxi/dt), (nv,)."""
        system = self.constrained.system
        speeds = self.forms @ system.v + self.offsets
        if self.flow is None:
            return self.factors.solve(ca.vertcat(xi_rate, -system.rate(speeds)))
        drift = system.rate(speeds + self.flow)
        a = self.factors.solve(ca.vertcat(xi_rate, -drift))
        # no flow contains the rate of a follower
        turn = ca.jtimes(self.flow, system.v, ca.densify(a))
        return self.factors.solve(ca.vertcat(xi_rate, -drift - turn))

    @cached_property
    def inverse(self) -> ca.SX:
        """Phi^-1, (nv, nv): E, then for each kept row the direction that changes only this row."""
        r = len(self.kept)
        return ca.horzcat(self.E, self.solve(ca.SX(self.nxi, r), ca.SX.eye(r)))

    @cached_property
    def E(self) -> ca.SX:
        """(nv, nxi)."""
        return self.solve(ca.SX.eye(self.nxi), ca.SX(len(self.kept), self.nxi))

    @cached_property
    def gamma(self) -> ca.SX:
        """(dA/dt) v + db/dt of the kept rows, a function of (t, q, v): A dv/dt = -gamma."""
        d = self.constrained.distribution
        speeds = d.A @ self.constrained.system.v + d.b
        return self.constrained.system.rate(
            (speeds if d.flow is None else speeds + d.flow)[list(self.kept)])

    def multipliers(self, acceleration: ca.SX) -> ca.SX:
        """lambda of the kept rows from (A^T + friction) lambda = dS/da - tau at the given dv/dt."""
        system, friction = self.constrained.system, self.friction
        residual = ca.substitute(ca.gradient(system.gibbs, system.a), system.a,
                                 acceleration) - system.force
        lam = self.inverse[:, self.nxi:].T @ residual
        if friction is None:
            return lam
        return lam - self.inverse[:, self.nxi:].T @ (friction.forms @ (friction.loads @ residual))

    @cached_property
    def drag(self) -> ca.SX:
        """`ConstrainedSystem.friction` (nv, m) at the actual forces of the rows."""
        constrained = self.constrained
        friction, loads = ca.SX(constrained.friction), constrained.loads
        if loads is None or not ca.depends_on(friction, loads):
            return friction
        rows = list(constrained.rubbing)
        f = loads[rows]
        return ca.substitute(friction, f, solve_loads(self, friction[:, rows], f, rows))

    @cached_property
    def friction(self) -> Friction | None:
        """Forces that are proportional to reactions; None for ideal constraints."""
        rows = list(self.constrained.rubbing)
        if not rows:
            return None
        X = self.inverse[:, self.nxi:]
        shares, forms = self.spread()[rows, :], self.drag[:, rows]           # (k, r), (nv, k)
        k = len(rows)
        balance = ca.SX.eye(k) + shares @ (X.T @ forms)
        loads = factorise(balance, [(i, i) for i in range(k)]).solve(shares @ X.T)
        return Friction(forms, loads)

    def spread(self) -> ca.SX:
        """Forces of all rows (m, r) for unit multipliers of the kept rows. If rows depend on each
        other, the forces have least norm, over the contacts if there are any."""
        d = self.constrained.distribution
        kept = list(self.kept)
        dropped = [row for row in range(d.m) if row not in kept]
        forces, kernel = ca.SX(d.m, len(kept)), ca.SX(d.m, len(dropped))
        forces[kept, :] = ca.SX.eye(len(kept))
        if not dropped:
            return forces
        kernel[kept, :] = -self.shares(dropped).T
        kernel[dropped, :] = ca.SX.eye(len(dropped))
        rows = [i for i, held in enumerate(d.components) if held is not None] or list(range(d.m))
        felt, given = kernel[rows, :], forces[rows, :]
        order = [(i, i) for i in range(len(dropped))]
        return forces - kernel @ factorise(felt.T @ felt, order).solve(felt.T @ given)

    def shares(self, rows: Sequence[int]) -> ca.SX:
        """C with A[rows] = C A[kept], for rows that depend on the kept ones."""
        A = self.constrained.distribution.A[list(rows), :]
        return A @ self.inverse[:, self.nxi:]

    def correction(self) -> ca.SX:
        """The first-order step in v that makes phi vanish and changes neither xi nor the other
        rows, (nv,)."""
        d = self.constrained.distribution
        defect = ca.SX(len(self.kept), 1)
        for i, row in enumerate(d.phi_rows):
            if row in self.kept:
                defect[self.kept.index(row)] = -d.phi[i]
        return self.constrained.system.expand(self.solve(ca.SX(self.nxi, 1), defect))[0]

    @cached_property
    def margin(self) -> ca.SX:
        """Least pivot relative to its size at the samples, with the sign of det Phi:
        near zero where the choice of speeds or rows becomes singular, with opposite signs on the
        two sides.
        """
        relative, determinant = self.factors.pivots / self.pivot_scale, ca.SX(1)
        for pivot in ca.vertsplit(relative):
            determinant = determinant * pivot
        return self.constrained.system.expand(ca.mmin(ca.fabs(relative)) * ca.sign(determinant))[0]


@dataclass(frozen=True, eq=False)
class Friction:
    """Forces that are proportional to reactions."""

    forms: ca.SX  # generalised force per unit of each such reaction, (nv, k)
    # (k, nv): the reactions are loads @ (dS/da - tau), solved for the effect of friction on them
    loads: ca.SX


def solve_loads(frame: AdaptedFrame, friction: ca.SX, f: ca.SX, rows: list[int]) -> ca.SX:
    """The forces f (k,) of some rows as functions of (t, q, v, u, theta), where their friction
    (nv, k) is a function of the symbols f.

    Accelerations are linear in the generalised force phi of friction, and so are these forces, f =
    Z (h - phi(f)). Newton's method for f begins without friction. With K = d(dv/dt)/d(dxi/dt) and
    the force h that is missing at dxi/dt = 0::

        Z = S X^T (1 - M K (E^T M K)^-1 E^T)

    where X^T gives the multipliers of a force, and S distributes them over all rows.
    """
    system, k = frame.constrained.system, len(rows)
    M, bias = system.mass_and_bias()
    xi_rate = ca.SX.sym("xi_rate", frame.nxi)
    a = frame.acceleration(xi_rate)
    moved = M @ ca.jacobian(a, xi_rate)
    missing = bias - system.force + M @ ca.substitute(a, xi_rate, ca.SX.zeros(frame.nxi))
    shares = frame.spread()[rows, :] @ frame.inverse[:, frame.nxi:].T
    mass = factorise(frame.E.T @ moved, [(i, i) for i in range(frame.nxi)])
    Z = shares - mass.solve((shares @ moved).T).T @ frame.E.T
    free = Z @ missing
    value = f + Z @ (friction @ f) - free
    slope = ca.jacobian(value, f)
    found = free
    for _ in range(ROUNDS):
        there, steep = ca.substitute([value, slope], [f], [found])
        found -= factorise(steep, [(i, i) for i in range(k)]).solve(there)
    return found


def at_samples(constrained: ConstrainedSystem, expression: ca.SX) -> np.ndarray:
    """Values (k, rows, columns) of an expression in (t, q, v, theta) at the `sample_points` and
    random velocities."""
    system = constrained.system
    symbols = [system.t, system.q, system.v, system.theta]
    evaluate = ca.Function("sampled", symbols, system.expand(expression))
    (times, samples), (rows, columns) = sample_points(constrained), expression.shape
    velocities = np.random.default_rng(0).normal(size=(system.v.numel(), len(samples)))
    found = evaluate.map(len(samples))(times[None, :], samples.T, velocities,
                                       constrained.parameters)
    return found.full().reshape(rows, len(samples), columns).swapaxes(0, 1)


def sample_forms(constrained: ConstrainedSystem) -> np.ndarray:
    """A at the samples, (k, m, nv). Raises `MechanicsError` where a value is not finite."""
    forms = at_samples(constrained, constrained.distribution.A)
    if not np.all(np.isfinite(forms)):
        row = constrained.distribution.names[int(np.argwhere(~np.isfinite(forms))[0][1])]
        raise MechanicsError(f"constraint {row!r} is not finite at a sample configuration")
    return forms


@check_arguments
@hear_ctrl_c()
def adapted_frame(constrained: HasConstrained,
                  speeds: Sequence[str] | None = None) -> AdaptedFrame:
    """Chooses rows of full rank and independent speeds, and factorises [W; A].

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    speeds
        Names of the independent speeds; chosen by conditioning if None.

    Raises
    ------
    MechanicsError
        For dependent or nearly dependent rows that cannot be sorted out, and for rows that
        contradict each other.
    InputError
        For speeds that do not determine the motion.
    """
    constrained = require_constrained(constrained)
    system, d = constrained.system, constrained.distribution
    nv = system.algebroid.nv
    scales = np.ones(nv) if constrained.scales is None else np.asarray(constrained.scales)
    forms = sample_forms(constrained)
    kept = tuple(sorted(independent_rows(forms, scales, d.priority, d.names)))
    _check_agreement(constrained, list(kept))
    # a row with a follower does not constrain the other coordinates
    left = [i for i in range(nv) if i not in d.followers.values()]
    rows = [row for row in kept if row not in d.followers]
    first = slice(_first_of_full_rank(constrained, forms[:, rows, :] / scales))
    found = independent_speeds(forms[first, rows, :][:, :, left], scales[left],
                               tuple(system.algebroid.v_names[i] for i in left),
                               tuple(constrained.preferred), speeds)
    chosen = tuple(left[i] for i in found)
    top = np.zeros((len(chosen), nv))
    top[range(len(chosen)), chosen] = 1
    written, offsets, rotation = d.sparse_basis(kept)
    matrix = ca.vertcat(ca.SX(ca.sparsify(ca.DM(top))) if len(chosen) else ca.SX(0, nv), written)
    phi = at_samples(constrained, matrix)[first]
    size = np.linalg.norm(phi / scales, axis=2, keepdims=True)
    size = np.where(np.isfinite(size), size, 0.0).max(axis=0)            # each row in its own unit
    regular = [sample for sample in phi if np.linalg.cond(sample / scales / size) < 1e8]
    if not regular:
        raise MechanicsError(f"the speeds {', '.join(system.algebroid.v_names[i] for i in chosen)} "
                             "do not determine the motion at any sample")
    factors = factorise(matrix, pivot_order(np.array(regular), entry_costs(matrix)))
    # np.median would import numpy.ma first
    pivots = np.abs(at_samples(constrained, factors.pivots)[first, :, 0])
    scale = np.quantile(pivots, 0.5, axis=0)
    return AdaptedFrame(constrained, kept, chosen, written, offsets, rotation, factors,
                        np.where(scale > 0, scale, 1.0))


def _first_of_full_rank(constrained: ConstrainedSystem, forms: np.ndarray) -> int:
    """Number of samples, the first ones, at which speeds and pivots are chosen: those at the first
    moment, or all if rows that are independent later coincide there. `forms`: (k, r, nv)."""
    count, size = len(constrained.configurations), np.linalg.norm(forms, axis=2, keepdims=True)
    unit = forms[:count] / size.max(axis=0, initial=0.0)
    ranks = np.linalg.matrix_rank(unit, tol=1e-6) if forms.size else np.zeros(count)
    return count if ranks.max() == forms.shape[1] else len(forms)


def _check_agreement(constrained: ConstrainedSystem, kept: list[int]) -> None:
    """Raises `MechanicsError` if a row that depends on the kept ones contradicts them: [A | b] then
    has a higher rank than A, and no motion satisfies all rows."""
    d = constrained.distribution
    dropped = [row for row in range(d.m) if row not in kept]
    if not dropped or ca.sparsify(d.b).nnz() == 0:
        return
    rows = constrained.constraint_function()
    for t, q in zip(*sample_points(constrained)):
        A, b, _ = (part.full() for part in rows(t, q, constrained.parameters))
        shares = np.linalg.lstsq(A[kept].T, A[dropped].T, rcond=1e-9)[0]
        depends = np.abs(A[dropped] - shares.T @ A[kept]).max(axis=1) < _DEPENDENT
        gap = np.where(depends, np.abs(b[dropped] - shares.T @ b[kept])[:, 0], 0.0)
        worst = int(gap.argmax())
        if not gap[worst] <= _DEPENDENT * max(1.0, np.abs(b).max()):
            others = [d.names[row] for row, share in zip(kept, shares[:, worst])
                      if abs(share) > _DEPENDENT]
            raise MechanicsError(
                f"constraint {d.names[dropped[worst]]!r} contradicts {listed(others)}: the forms "
                f"are dependent, but the required speeds differ by {gap[worst]:.3g} at t = {t:g} "
                f"s, q = {listed(f'{x:.4g}' for x in q)}")
