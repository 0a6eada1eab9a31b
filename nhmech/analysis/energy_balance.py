"""The energy balance of a run: work of each force, and the change of energy."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..compile.pointwise import Pointwise
from ..mechanics.system import ConstrainedSystem
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated
from ..vehicle.friction import wheels_with_tyres
from ..vehicle.tyres import tyre_of


@dataclass(frozen=True, eq=False)
class EnergyBalance:
    """Energies and works along a run, all (N,) [J].

    Attributes
    ----------
    t
        The recorded moments (N,) [s].
    kinetic, potential
        Energies.
    inputs
        Work done since the start by efforts and external wrenches.
    passive
        Work done by damping, rolling resistance, tyres and other forces without an input; negative
        if they dissipate.
    contacts
        Work done by friction and impacts at wheels that slid or landed, and at bodies on the
        ground.
    ground
        Whether something does work by moving: constraints that are affine (b is not zero, as on a
        ground that moves) or not linear in the velocities, or a Lagrangian that depends on time.
    known
        Whether the inputs are known: a kinematic run has commanded speeds and no efforts.
    """

    t: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    inputs: np.ndarray
    passive: np.ndarray
    contacts: np.ndarray
    ground: bool
    known: bool

    def __repr__(self) -> str:
        return (f"EnergyBalance({len(self.t)} moments, {self.total[0]:.6g} to {self.total[-1]:.6g} "
                f"J, work {self.work[-1]:.6g} J)")

    @property
    def total(self) -> np.ndarray:
        """Kinetic plus potential energy."""
        return self.kinetic + self.potential

    @property
    def work(self) -> np.ndarray:
        """The sum of all work."""
        return self.inputs + self.passive + self.contacts

    @property
    def rest(self) -> np.ndarray:
        """The part of the energy that no force accounts for: E(t) - E(0) minus all work.

        It is the work of a moving ground and the like, or else the errors of integrator and
        quadrature.
        """
        return self.total - self.total[0] - self.work


@check_arguments
def energy_balance(trajectory: Trajectory, simulated: Simulated | None = None) -> EnergyBalance:
    """dE/dt = tau.v - lambda.b - dL/dt with q, v held, integrated along a run.

    The potential energy is E(t, q, 0). Work is the trapezoidal rule over the recorded states, of
    second order in their distance h. The mean input between two of them is u_k + w (u_k+1 - u_k), w
    = (1 - T / h) / 2: that of a smooth command held over the control period T. If T is unknown, or
    h is not longer than T, u is held from each state on.

    Parameters
    ----------
    trajectory
        The run.
    simulated
        What moved; that of the trajectory if None.

    Examples
    --------
    >>> from nhmech.analysis import energy_balance
    >>> push = JointTorque({"left_wheel_joint": 0.2, "right_wheel_joint": 0.2})
    >>> balance = energy_balance(Simulator(vehicle, lambda t, state: push).run(0.1))
    >>> bool(abs(balance.rest).max() < 1e-6)
    True
    """
    simulated = trajectory.simulated if simulated is None else simulated
    s, n = simulated.constrained.system, len(trajectory)
    free = ca.substitute(s.force, s.u, ca.SX.zeros(*s.u.shape)) if s.u.numel() else s.force
    power = ca.Function("power", [s.t, s.q, s.v, s.u, s.theta], [ca.densify(ca.vertcat(
        ca.dot(s.force - free, s.v), ca.dot(free, s.v)))])
    potential = ca.substitute(s.energy, s.v, ca.SX.zeros(*s.v.shape))
    energies = ca.Function("energies", [s.t, s.q, s.v, s.theta], [ca.densify(ca.vertcat(
        s.energy - potential, potential))])
    states, theta = (trajectory.t[:, None], trajectory.q, trajectory.v), simulated.theta
    work = np.zeros((2, n))
    if n > 1:
        steps = np.diff(trajectory.t)
        weight = np.maximum(1 - trajectory.settings.get("control_period", np.inf) / steps, 0) / 2
        u = trajectory.u[:-1] + weight[:, None] * np.diff(trajectory.u, axis=0)
        many = Pointwise(power)
        ends = [many(*(part[where] for part in states), u, theta)[0]
                for where in (slice(None, -1), slice(1, None))]
        work[:, 1:] = np.cumsum((ends[0] + ends[1]).T / 2 * steps, axis=1)
        taken = _taken_by_tyres(trajectory)
        work[1, 1:] -= np.cumsum((taken[:-1] + taken[1:]) / 2 * steps)
    (found,) = Pointwise(energies)(*states, theta)
    lost = np.zeros(n) if trajectory.contact is None else trajectory.contact_loss.sum(axis=1)
    return EnergyBalance(trajectory.t, found[:, 0], found[:, 1], work[0], work[1], -lost,
                         _is_moved(simulated.constrained), not trajectory.kinematic)


def _is_moved(constrained: ConstrainedSystem) -> bool:
    s, d = constrained.system, constrained.distribution
    own = s.energy if s.lagrangian is None else s.lagrangian
    return (not ca.SX(d.b).is_zero() or d.flow is not None or constrained.invariant.numel() > 0
            or ca.depends_on(ca.densify(own), s.t))


def _taken_by_tyres(trajectory: Trajectory) -> np.ndarray:
    """Power (N,) [W] that slip takes of tyres beside what the system's forces say: of those whose
    forces depend on their loads all of it; of others, in the air, nothing in place of that."""
    vehicle = trajectory.simulated.vehicle
    if vehicle is None or trajectory.kinematic or not wheels_with_tyres(vehicle):
        return np.zeros(len(trajectory))
    tyres = trajectory.tyres
    loads = {c.name: tyre.load for c in vehicle.contacts if (tyre := tyre_of(c)) is not None}
    said = np.where([loads[name] is None for name in tyres.wheels], tyres.touching_power, 0.0)
    return (tyres.power - said).sum(axis=1)
