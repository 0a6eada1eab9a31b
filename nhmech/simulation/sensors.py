"""Readings of an inertial measurement unit on a link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

from ..checks import check_arguments
from ..errors import InputError, SimulationError, listed
from ..symbolic.buffered import Buffered
from ..vehicle.parameters import gravity_vector
from ..vehicle.tree import kinematics, see_from_root
from ..vehicle.vehicle import Vehicle
from .atlas import Atlas, Chart
from .bounds import Bounds
from .contact.coulomb import CoulombContact
from .contact.phases import ContactMoment
from .integration.integrators import POOR
from .integration.schemes import SCHEMES
from .runs.layouts import state_layout
from .runs.trajectory import Trajectory
from .simulated import Simulated
from .state import State


class Sensors:
    """Gyros and accelerometers of one simulated system. The functions of a link are made when they
    are first needed.

    With omega the angular velocity of a link L and p_WL the position of its origin, components
    along the axes of L::

        gyro = omega                    [rad/s]
        accelerometer = R_LW (d2p_WL/dt2 - g)   [m/s^2]

    At rest on level ground the accelerometer of a level link reads (0, 0, +9.81). d2p_WL/dt2
    follows from dv/dt of the equations of motion with the present inputs. In a kinematic run xi
    counts as constant, so that the jump between two commands is not measured.

    Parameters
    ----------
    charts
        The charts of the run so far, a list that may grow.
    coulomb
        Takes the steps in which wheels slide; None if they only roll.
    """

    def __init__(self, simulated: Simulated, charts: Sequence[Chart],
                 coulomb: CoulombContact | None = None):
        self.simulated = simulated
        self.charts = charts
        self.coulomb = coulomb
        self._felt_at: dict[str, Buffered] = {}
        self._gyros: dict[str, Buffered] = {}
        self._accelerometers: dict[tuple[str, int], Buffered] = {}

    def gyro(self, state: State, link: str | None = None) -> np.ndarray:
        """Angular velocity (3,) [rad/s] of a link (None: the root), along its axes. Raises
        `InputError` for an unknown link, `SimulationError` for a system without links."""
        link = self._link(link)
        if link not in self._gyros:
            q, v = self.simulated.constrained.system.q, self.simulated.constrained.system.v
            omega, _ = self._motion(link, v, ca.SX.zeros(v.shape))
            self._gyros[link] = Buffered(ca.Function("gyro", [q, v], [ca.densify(omega)],
                                                     {"cse": True}))
        return self._gyros[link](state.q, state.v)[0].copy()

    def accelerometer(self, state: State, link: str | None = None) -> np.ndarray:
        """Specific force (3,) [m/s^2] at a link's origin (None: the root's), along its axes. Raises
        as `gyro` does."""
        link, known = self._link(link), self._slide(state)
        if known is not None:
            return self.specific_force(link, state, known)
        chart = self._serving_chart(state)
        if (link, chart) not in self._accelerometers:
            s = self.simulated.constrained.system
            inputs = [s.t, s.q, s.v, s.u, s.theta]
            _, force = self._motion(link, s.v, self._acceleration(self.charts[chart], *inputs))
            function = ca.Function("accelerometer", inputs, [ca.densify(force)], {"cse": True})
            self._accelerometers[link, chart] = Buffered(function)
        return self._accelerometers[link, chart](state.t, state.q, state.v, state.u,
                                                 self.simulated.theta)[0].copy()

    def contacts(self, state: State) -> ContactMoment | None:
        """The contacts; None if wheels only roll."""
        return None if self.coulomb is None else self.coulomb.contacts(state)

    def _slide(self, state: State) -> np.ndarray | None:
        """dv/dt (nv,) if wheels slide or fly; None if they roll."""
        if self.coulomb is None:
            return None
        numbers = self.coulomb.numbers(state)
        return None if np.isnan(numbers[0]) else self.coulomb.acceleration(state, numbers)

    def specific_force(self, link: str | None, state: State, rate: np.ndarray) -> np.ndarray:
        """Specific force (3,) [m/s^2] at a link's origin, along its axes, with a known dv/dt (nv,).
        Raises as `gyro` does."""
        link = self._link(link)
        if link not in self._felt_at:
            s, a = self.simulated.constrained.system, ca.SX.sym("a", len(rate))
            _, force = self._motion(link, s.v, a)
            self._felt_at[link] = Buffered(ca.Function("felt", [s.q, s.v, a],
                                                       [ca.densify(force)], {"cse": True}))
        return self._felt_at[link](state.q, state.v, rate)[0].copy()

    def _vehicle(self) -> Vehicle:
        if self.simulated.vehicle is None:
            raise SimulationError("only a vehicle has links with a gyro or an accelerometer; a "
                                  "system written by hand has its coordinates and speeds")
        return self.simulated.vehicle

    def _link(self, name: str | None) -> str:
        vehicle = self._vehicle()
        if name is None:
            return vehicle.description.root
        if not isinstance(name, str) or not vehicle.model.existFrame(name, pin.FrameType.BODY):
            links = [frame.name for frame in vehicle.model.frames
                     if frame.type == pin.FrameType.BODY and frame.parentJoint > 0]
            raise InputError(f"no link {name!r} for a sensor; there are {listed(links)}")
        return name

    def _serving_chart(self, state: State) -> int:
        """Index of a chart that is regular at this state."""
        def margin(chart: Chart) -> float:
            return abs(chart.margin(state.t, chart.at_rest(state.q), self.simulated.theta))

        return 0 if margin(self.charts[0]) > POOR else int(np.argmax([*map(margin, self.charts)]))

    def _acceleration(self, chart: Chart, t: ca.SX, q: ca.SX, v: ca.SX, u: ca.SX,
                      theta: ca.SX) -> ca.SX:
        equations, xi = chart.equations, v[chart.speeds]
        if not chart.kinematic:
            return equations.acceleration(t, q, xi, u, theta)
        held = ca.SX.sym("xi", chart.state_vector.nxi)
        rate = self.simulated.constrained.system.algebroid.anchor @ v
        along = ca.jtimes(equations.velocity(t, q, held, theta), ca.vertcat(q, t),
                          ca.densify(ca.vertcat(rate, 1)))
        return ca.substitute(along, held, xi)

    def _motion(self, link: str, v: ca.SX, a: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Angular velocity, and specific force at the origin of the link, along its axes."""
        vehicle = self._vehicle()
        gravity = {"g": gravity_vector(vehicle.parameters)}
        bodies = kinematics(vehicle.model, vehicle.algebroid, v, a,
                            see_from_root(vehicle.algebroid, gravity))
        frame = vehicle.model.frames[vehicle.model.getFrameId(link, pin.FrameType.BODY)]
        body, placement = bodies[frame.parentJoint - 1], frame.placement
        R_LJ, r = ca.DM(placement.rotation.T), ca.DM(placement.translation)
        force = body.a + ca.cross(body.alpha, r) + ca.cross(body.omega, ca.cross(body.omega, r))
        return R_LJ @ body.omega, R_LJ @ force


class ImuReadings(NamedTuple):
    """Angular velocities and specific forces of a link, along its axes.

    Attributes
    ----------
    gyro
        (N, 3) [rad/s].
    accelerometer
        (N, 3) [m/s^2].
    """

    gyro: np.ndarray
    accelerometer: np.ndarray


@check_arguments
def imu_along(trajectory: Trajectory, link: str | None = None,
              states: Sequence[int] | np.ndarray | None = None) -> ImuReadings:
    """Reads the gyro and the accelerometer of a link at recorded states.

    The readings are those of `State.gyro` and `State.accelerometer` in the loop. dv/dt follows from
    the equations of rolling with the inputs of the run; where wheels slid, it is a difference of
    recorded velocities.

    Parameters
    ----------
    trajectory
        The run of a vehicle.
    link
        The link that carries it; the root if None.
    states
        Indices of recorded states; all if None.

    Raises
    ------
    InputError
        For a link that does not exist.
    SimulationError
        For a system that has no links.

    Examples
    --------
    >>> from nhmech.simulation import imu_along
    >>> run = Simulator(vehicle).run(0.1)
    >>> imu_along(run).accelerometer[-1].round(6).tolist()     # at rest
    [0.0, 0.0, 9.81]
    """
    simulated, t = trajectory.simulated, trajectory.t
    atlas = Atlas(simulated, SCHEMES["rk4"], trajectory.kinematic,
                  Bounds.of(simulated, "ignore", "ignore", "ignore"))
    sensors = Sensors(simulated, atlas.charts)
    layout, chart = state_layout(simulated, atlas.primary, sensors), atlas.primary
    last, rolled = len(t) - 1, trajectory.rolled
    rows = range(len(t)) if states is None else [int(k) for k in states]
    gyro, accelerometer = np.zeros((len(rows), 3)), np.zeros((len(rows), 3))
    for i, k in enumerate(rows):
        q, v = trajectory.q[k], trajectory.v[k]
        x = chart.state_vector.assemble(q, v[chart.speeds])
        state = State(t[k], np.concatenate([q, v, x, trajectory.u[k]]), layout)
        gyro[i] = sensors.gyro(state, link)
        if rolled[k]:
            if max(abs(one.margin(t[k], one.at_rest(q), simulated.theta))
                   for one in atlas.charts) < POOR:
                atlas.cover([q])
            accelerometer[i] = sensors.accelerometer(state, link)
            continue
        before, after = max(k - 1, 0), min(k + 1, last)
        span = t[after] - t[before]
        change = trajectory.v[after] - trajectory.v[before]      # zero where there is no other
        accelerometer[i] = sensors.specific_force(link, state, change / (span or 1.0))
    return ImuReadings(gyro, accelerometer)
