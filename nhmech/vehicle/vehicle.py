"""`Vehicle`: a constrained system built from a description, with functions to place it and to
evaluate it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
import pinocchio as pin

from ..checks import check_arguments, read_mapping, read_names, read_number, read_vector
from ..ctrl_c import hear_ctrl_c
from ..errors import REPR, InputError, MechanicsError, ModelError, listed
from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.distribution import Component
from ..mechanics.equations import Equations
from ..mechanics.frame import AdaptedFrame, adapted_frame
from ..mechanics.gibbs_appell import gibbs_appell
from ..mechanics.system import ConstrainedSystem
from ..once import cached_property
from ..urdf.description import Description, JointLimits
from ..urdf.notice import Notice
from .contact import Contact
from .contact_forces import contact_force_function
from .couplings import Steering, narrow_limits, rank_error
from .functions import VehicleFunctions
from .ground import Ground
from .model import read_joint
from .parameters import Parameters
from .placement import Placer, Support
from .posing import Gauge, Pose, Posing
from .tyres import tyre_function

if TYPE_CHECKING:
    from .geometry import Geometry


@dataclass(frozen=True, eq=False)
class Vehicle:
    """A robot with ideal rolling attached, as `load` returns it.

    It is immutable; `with_parameters` makes a changed copy.

    Attributes
    ----------
    description
        The contents of the file, with the wheels and roles of its joints.
    ground
        The plane.
    model
        Pinocchio's model with held joints locked.
    parameters
        Named numbers (radii, inertias, payload, ...).
    constrained
        The constrained system: Gibbs function, forces, rows, samples.
    reduced
        The same with the frozen parts of the attitude replaced by constants: equal on the manifold,
        and far smaller.
    contacts
        Symbolic contacts, in the order of `description.wheels`.
    posing
        The data that determine its configurations.
    wrench_bodies
        Links on which an external wrench is an input.
    rebuild
        Callable (parameters, near, wrench_bodies) that builds the vehicle again.
    notices
        Notices about the file and the vehicle.

    Examples
    --------
    >>> vehicle.name, vehicle.speeds
    ('differential_drive', ('left_wheel_joint', 'right_wheel_joint'))
    """

    description: Description
    ground: Ground
    model: pin.Model
    parameters: Parameters
    constrained: ConstrainedSystem
    reduced: ConstrainedSystem
    contacts: tuple[Contact, ...]
    posing: Posing
    wrench_bodies: tuple[str, ...]
    rebuild: Callable[..., Vehicle]
    notices: tuple[Notice, ...] = ()

    def __repr__(self) -> str:
        return (f"<Vehicle {self.name!r}: {len(self.contacts)} contacts, "
                f"speeds {listed(self.speeds, REPR)}>")

    # -- names -------------------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """Name of the robot in its file."""
        return self.description.name

    @property
    def algebroid(self) -> LieAlgebroid:
        """SE(3) x the joints' groups, with the symbols and names of q and v."""
        return self.constrained.system.algebroid

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Moving joints in the order of v, where they follow the six coordinates of the base."""
        return self.algebroid.v_names[6:]

    @property
    def driven(self) -> tuple[str, ...]:
        """Joints that take an effort, in the order of u."""
        return self.description.driven

    @property
    def steering(self) -> Steering:
        """The steered axles, which must meet in one point."""
        return self.posing.steering

    @property
    def support(self) -> Support:
        """The support of the base by its contacts."""
        return self.posing.support

    @property
    def placer(self) -> Placer:
        """Places the vehicle on the ground."""
        return self.posing.placer

    @property
    def gauge(self) -> Gauge | None:
        """The gauge of a massless root."""
        return self.posing.gauge

    @cached_property
    def limits(self) -> dict[str, JointLimits]:
        """Limits of the moving joints; a steering leader stops where the first of its followers
        would reach a limit."""
        return narrow_limits(self.description.limits, self.steering)

    @property
    def contact_names(self) -> list[str]:
        """Names of the contacts, in the order of `contacts`."""
        return [contact.name for contact in self.contacts]

    @cached_property
    def contact_rows(self) -> dict[Component, int]:
        """Component of the contact forces -> its row of the distribution, in the order of the
        contacts."""
        rows = {held: i for i, held in enumerate(self.constrained.distribution.components)}
        held = [Component(c.name, direction) for c in self.contacts for direction in c.held]
        return {component: rows[component] for component in held if component in rows}

    # -- mechanics ---------------------------------------------------------------------------------
    @cached_property
    @hear_ctrl_c()
    def frame(self) -> AdaptedFrame:
        """Kept rows and independent speeds with the best conditioning over all samples."""
        return adapted_frame(self.reduced, self.description.speeds)

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of xi."""
        return self.frame.names

    @cached_property
    @hear_ctrl_c()
    def equations(self) -> Equations:
        """The Gibbs-Appell equations in the quasi-velocities `speeds`, as CasADi functions.

        q (nq,) in Pinocchio's order and representation, xi (nxi,) named `speeds`, u (nu,) efforts
        of `driven` [N m, N], then external wrenches, theta (ntheta,) the parameters made symbolic
        by `with_parameters`. For optimal control there is `nhmech.dynamics`: the same on one
        state vector x of angles and speeds, without (cos, sin) pairs.

        Examples
        --------
        >>> vehicle.equations.drift.name_in()
        ['t', 'q', 'xi', 'u', 'theta']
        """
        return gibbs_appell(self.reduced, frame=self.frame)

    @check_arguments
    @hear_ctrl_c()
    def rechoose(self, q: np.ndarray) -> Vehicle:
        """The same vehicle with rows, speeds and coupling pair chosen at q alone, cached for each
        q.

        Raises
        ------
        ModelError
            If the constraints lose rank at q; names the joints.
        """
        q = self._read_q(q)
        key = q.tobytes()
        if key not in self.rechosen:
            self.rechosen[key] = self._rechoose(q)
        return self.rechosen[key]

    @cached_property
    def rechosen(self) -> dict[bytes, Vehicle]:
        """Results of `rechoose` so far, by the bytes of q."""
        return {}

    def _rechoose(self, q: np.ndarray) -> Vehicle:
        other = self.rebuild(self.parameters, q, self.wrench_bodies)
        try:
            found = f"{other.frame.nxi} independent speeds instead of {self.frame.nxi}"
            if other.frame.nxi == self.frame.nxi:
                return other
        # near a loss of rank: the rows are nearly dependent
        except (MechanicsError, InputError) as error:
            raise self.rank_error(q, f"here ({error})") from error
        raise self.rank_error(q, f"here ({found})")

    def rank_error(self, q: np.ndarray, where: str) -> ModelError:
        """The error that the constraints lose rank at or near q, with joints that may be the
        cause."""
        return rank_error(self.steering, self.description.steering, self.joint_positions(q), where)

    # -- numbers -----------------------------------------------------------------------------------
    @cached_property
    @hear_ctrl_c()
    def functions(self) -> VehicleFunctions:
        """Constraints, gamma, force, balance and contacts as CasADi functions."""
        return VehicleFunctions(self.constrained, self.contacts)

    @cached_property
    def tyre_function(self) -> ca.Function:
        """`tyres.tyre_function` of the vehicle."""
        return tyre_function(self, self.constrained.system, self.contacts)

    @cached_property
    def contact_forces(self) -> ca.Function:
        """`contact_forces.contact_force_function` of the vehicle."""
        return contact_force_function(self.equations, self.contact_rows)

    @property
    def theta(self) -> np.ndarray:
        """Values of the symbolic parameters, (ntheta,)."""
        return self.parameters.numbers

    @check_arguments
    def constraint_matrix(self, q: np.ndarray, t: float = 0.0) -> np.ndarray:
        """A (m, nv) of all rows, dropped ones included."""
        return self.functions.rows(t, self._read_q(q), self.theta)[0]

    @check_arguments
    def constraint_error(self, t: float, q: np.ndarray,
                         v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A v + b of all rows, dropped ones included [m/s], with `Distribution.flow`; and phi
        [m]."""
        q = self._read_q(q)
        A, b, phi = self.functions.rows(t, q, self.theta)
        v = read_vector("v", v, self.algebroid.v_names)
        flow = self.functions.flow(t, q, v, self.theta)
        return A @ v + b + flow.full().ravel(), phi

    @check_arguments
    def energy(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        """Kinetic plus potential energy [J]."""
        v = read_vector("v", v, self.algebroid.v_names)
        energy = self.constrained.system.energy_function
        return float(energy(t, self._read_q(q), v, self.theta))

    def _read_q(self, q: np.ndarray) -> np.ndarray:
        return read_vector("q", q, self.algebroid.q_names)

    @cached_property
    def workspace(self) -> threading.local:
        """Working memory of the calling thread."""
        return threading.local()

    @property
    def data(self) -> pin.Data:
        """Pinocchio's data of the calling thread: a viewer may draw while a controller runs."""
        workspace = self.workspace
        if not hasattr(workspace, "data"):
            workspace.data = self.model.createData()
        return workspace.data

    @check_arguments
    def contact_points(self, q: np.ndarray, t: float = 0.0) -> np.ndarray:
        """p_WK of every contact, (k, 3) [m]."""
        q = self._read_q(q)
        points, _, _ = self.functions.places(t, q, self.theta)
        pin.forwardKinematics(self.model, self.data, q)
        found = [self.data.oMi[c.mount.body].act(point)
                 for c, point in zip(self.contacts, points.T)]
        return np.array(found).reshape(-1, 3)

    @check_arguments
    def contact_directions(self, q: np.ndarray, t: float = 0.0) -> list[dict[str, np.ndarray]]:
        """For each contact, unit vectors of its directions without slip in W."""
        q = self._read_q(q)
        _, columns, _ = self.functions.places(t, q, self.theta)
        pin.forwardKinematics(self.model, self.data, q)
        result: list[dict[str, np.ndarray]] = []
        i = 0
        for c in self.contacts:
            R = self.data.oMi[c.mount.body].rotation
            result.append({name: R @ columns[:, i + k] for k, name in enumerate(c.held)})
            i += len(c.held)
        return result

    @check_arguments
    def joint_positions(self, q: np.ndarray) -> dict[str, float]:
        """Position of every moving joint [rad, m]; angles of continuous joints in (-pi, pi]."""
        q = self._read_q(q)
        return {name: read_joint(self.model, q, name) for name in list(self.model.names)[2:]}

    # -- placing -----------------------------------------------------------------------------------
    def configuration(self, pose: Pose | None = None, joints: Mapping[str, float] | None = None,
                      t: float = 0.0) -> np.ndarray:
        """q with all contacts on the ground and all couplings closed.

        Parameters
        ----------
        pose
            None; (x, y, yaw); (x, y, z, roll, pitch, yaw) with R = Rz(yaw) Rx(roll) Ry(pitch); or a
            4x4 matrix or `pin.SE3` T_WB [m, rad]. The height is corrected along the normal; pitch
            and roll only if necessary.
        joints
            Positions of joints [rad, m], otherwise zero, or the limit nearest to it; followers of
            a steering coupling are computed.

        Raises
        ------
        InputError
            For unknown joints, numbers that are not finite, or steering angles whose axles do not
            meet.
        ModelError
            For a pose that cannot be placed.
        """
        return self.posing.configuration(pose, joints, read_number("t", t, "a time [s]"))

    # -- variants ----------------------------------------------------------------------------------
    @hear_ctrl_c()
    def with_parameters(self, changes: Mapping[str, float] | None = None, *,
                        symbolic: Sequence[str] | None = None, **more: float) -> Vehicle:
        """A copy of the vehicle with other parameter values, or with some of them symbolic (entries
        of theta).

        Names: `<link>.mass`, `.com_x` ..., `.Ixx` ...; `<joint>.radius`, `.rotor_inertia`,
        `.gear_ratio`, `.rolling_resistance`, `.damping`; of a tyre `<joint>.load`, `.low_speed`,
        `.lateral_stiffness`, `.longitudinal_friction` and so on; `payload.mass`, `.x`, `.y`, `.z`
        (a point mass in the base's frame); `gravity` [m/s^2], and `slope`, `slope_direction` [rad],
        which turn gravity as if the ground rose while the ground stays where it is.

        Raises
        ------
        InputError
            For unknown names, and for values that no vehicle can have.
        """
        given = read_mapping("changes", changes, "name of a parameter -> number", keys=object)
        parameters = self.parameters.replace({**given, **more})
        if symbolic is not None:
            parameters = Parameters(parameters.values, symbolic)
        return self.rebuild(parameters, None, self.wrench_bodies)

    @hear_ctrl_c()
    def with_wrench(self, *bodies: str) -> Vehicle:
        """A copy of the vehicle with an external wrench on each named link as further inputs.

        Force [N] and torque [N m] in W, at the link's origin.

        Raises
        ------
        InputError
            For a link that does not exist.
        """
        return self.rebuild(self.parameters, None, read_names("bodies", bodies))

    # -- shapes ------------------------------------------------------------------------------------
    @cached_property
    def _geometry(self) -> Geometry:
        from .geometry import moving_geometry  # imported here, because only pictures need it

        return moving_geometry(self.description)

    @property
    def visual_model(self) -> pin.GeometryModel:
        """Shapes to draw."""
        return self._geometry.visual

    @property
    def collision_model(self) -> pin.GeometryModel:
        """Shapes to measure distances with."""
        return self._geometry.collision

    @property
    def stand_ins(self) -> frozenset[str]:
        """Names of the shapes of `visual_model` that replace missing meshes."""
        return self._geometry.stand_ins
