"""Forces of the ground on the wheels at many states, while all wheels roll; used by runs, batches,
events, validity checks and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...compile.pointwise import Pointwise
from ...errors import REPR, listed
from ...mechanics.distribution import Component
from ...once import cached_property
from ...vehicle.least_norm import impose_signs, orthonormal
from ...vehicle.reactions import Reactions, name_forces
from ...vehicle.vehicle import Vehicle

# Below this margin of the vehicle's frame, multipliers are computed in another frame: their
# relative error is about the machine's precision divided by the margin.
BLIND = 1e-3


@dataclass(frozen=True, eq=False)
class ContactForces:
    """Forces of the ground on the wheels [N] at N states: n components, with d degrees of freedom
    in the distribution of the load.

    Attributes
    ----------
    components
        Wheel and direction of each entry of the forces.
    shortest
        (N, n), the distribution of least norm, whatever the signs of the normal forces.
    kernel
        (N, n, d); its columns span the changes of the forces that do not affect the motion.
    room
        (N, 2) of `shortest`: the least normal force, and the least of normal - |tangential| / mu,
        with the given friction coefficients.
    """

    components: tuple[Component, ...]
    shortest: np.ndarray
    kernel: np.ndarray
    room: np.ndarray

    def __repr__(self) -> str:
        return (f"<ContactForces at {len(self.shortest)} states: "
                f"{listed(map(str, self.components), REPR)}>")

    @cached_property
    def normal(self) -> np.ndarray:
        """Whether each component is a normal force, (n,)."""
        return np.array([c.is_normal for c in self.components], dtype=bool)

    def component(self, wheel: str, direction: str) -> np.ndarray:
        """Force on a wheel in one direction of `split` [N], (N,)."""
        return self.split[0][:, self.components.index((wheel, direction))]

    def at(self, k: int, vehicle: Vehicle, t: float, q: np.ndarray) -> Reactions:
        """The forces at state k, by wheel and direction; t and q belong to that state."""
        forces, supported = self.split
        return name_forces(vehicle, t, q, forces[k], bool(supported[k]), self.basis[k])

    def only(self, k: int) -> ContactForces:
        """The forces at state k alone."""
        part = slice(k, k + 1)
        return ContactForces(self.components, self.shortest[part], self.kernel[part],
                             self.room[part])

    def room_of(self, forces: np.ndarray, grip: np.ndarray) -> np.ndarray:
        """`room` (N, 2) of another distribution (N, n)."""
        normal = forces[:, self.normal]
        contacts = [c.contact for c in self.components if c.is_normal]
        squares = np.zeros_like(normal)
        for i, c in enumerate(self.components):
            if not c.is_normal and c.contact in contacts:
                squares[:, contacts.index(c.contact)] += forces[:, i] ** 2
        return np.column_stack([part.min(axis=1, initial=np.inf)
                                for part in (normal, normal - grip * np.sqrt(squares))])

    def with_known(self, rows: np.ndarray, forces: np.ndarray) -> ContactForces:
        """The same with other, determined forces (k, n) at some states, whose `room` is that
        without friction coefficients."""
        shortest, kernel, room = self.shortest.copy(), self.kernel.copy(), self.room.copy()
        shortest[rows], kernel[rows] = forces, 0.0
        room[rows] = self.room_of(forces, np.zeros(1))
        return ContactForces(self.components, shortest, kernel, room)

    @cached_property
    def basis(self) -> np.ndarray:
        """The kernel with orthonormal columns, (N, n, d); superfluous columns are zero."""
        return orthonormal(self.kernel)

    @cached_property
    def split(self) -> tuple[np.ndarray, np.ndarray]:
        """The distribution of least norm with normal forces >= 0 (N, n), or `shortest` where there
        is none; and whether there is one (N,)."""
        least, _ = self.room.T
        pulled = least < 0
        forces, supported = self.shortest.copy(), np.ones(len(pulled), dtype=bool)
        if pulled.any():
            forces[pulled], supported[pulled] = impose_signs(
                self.shortest[pulled], orthonormal(self.kernel[pulled]), self.normal)
        return forces, supported


class ForceReader:
    """Evaluates the contact forces of one vehicle, in compiled code once that pays (`Pointwise`).
    Threads must not share one: `force_reader` keeps one per thread."""

    def __init__(self, vehicle: Vehicle):
        self.vehicle = vehicle
        self.components = tuple(vehicle.contact_rows)
        self.function = Pointwise(vehicle.contact_forces)
        self.freedom = vehicle.contact_forces.size2_out("kernel")
        self._no_grip = np.zeros(vehicle.contact_forces.numel_in("grip"))
        self._theta = vehicle.theta

    def __repr__(self) -> str:
        return f"<ForceReader of {self.vehicle.name!r}>"

    def read(self, t: np.ndarray, q: np.ndarray, v: np.ndarray, u: np.ndarray,
             theta: np.ndarray | None = None, grip: np.ndarray | None = None) -> ContactForces:
        """The forces at the states t (N,), q (N, nq), v (N, nv), u (N, nu). `theta`: (N, ntheta) or
        (ntheta,); that of the vehicle if None. `grip`: 1 / mu of each contact, zero if it cannot
        slip; all zero if None."""
        theta = self._theta if theta is None else theta
        grip = self._no_grip if grip is None else grip
        states = np.asarray(t)[:, None], q, v, u
        forces, kernel, room, margin = self.function(*states, theta, grip)
        kernel = kernel.reshape(*forces.shape, self.freedom)
        blind = ~(np.abs(margin[:, 0]) >= BLIND)
        if blind.any():
            kernel = self._see(np.flatnonzero(blind), states, theta, grip, (forces, kernel, room))
        return ContactForces(self.components, forces, kernel, room)

    def room(self, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray,
             grip: np.ndarray) -> tuple[float, float]:
        """`ContactForces.room` at one state, in a microsecond or two."""
        _, _, room, margin = self.function.one(t, q, v, u, self._theta, grip)
        if not abs(margin.item()) >= BLIND:
            (room,) = self.read(np.array([t]), q[None], v[None], u[None], grip=grip).room
        return room.item(0), room.item(1)

    def look(self, t: float, q: np.ndarray, v: np.ndarray,
             u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distribution of least norm (n,) and the kernel (n, d) at one state."""
        forces, kernel, _, margin = self.function.one(t, q, v, u, self._theta, self._no_grip)
        if abs(margin.item()) >= BLIND:
            return forces.ravel(), kernel.reshape(len(self.components), self.freedom)
        found = self.read(np.array([t]), q[None], v[None], u[None])
        return found.shortest[0], found.kernel[0]

    def _see(self, states: np.ndarray, arguments: Sequence[np.ndarray], theta: np.ndarray,
             grip: np.ndarray, outputs: Sequence[np.ndarray]) -> np.ndarray:
        """Computes the forces at states near a singularity of this frame in other frames: those
        that runs have chosen, or one chosen at the first remaining state. Overwrites forces and
        room; returns the kernels, which may have more columns. Raises `ModelError` if the
        constraints lose rank."""
        forces, kernel, room = outputs
        known = list(self.vehicle.rechosen.values())
        while len(states):
            is_new = not known
            chosen = self.vehicle.rechoose(arguments[1][states[0]]) if is_new else known.pop()
            other = force_reader(chosen)
            own = theta[states] if theta.ndim == 2 else theta
            found, changes, left, margin = other.function(
                *(part[states] for part in arguments), own, grip)
            sees = np.abs(margin[:, 0]) >= BLIND
            sees[0] |= is_new
            seen = states[sees]
            forces[seen], room[seen] = found[sees], left[sees]
            width = other.freedom - kernel.shape[2]
            kernel = np.pad(kernel, ((0, 0), (0, 0), (0, max(width, 0))))
            kernel[seen] = 0.0
            kernel[seen, :, :other.freedom] = changes.reshape(len(states), len(self.components),
                                                              other.freedom)[sees]
            states = states[~sees]
        return kernel


def world_forces(vehicle: Vehicle, t: np.ndarray, q: np.ndarray,
                 found: ContactForces) -> np.ndarray:
    """Force of the ground on each contact in W, (N, contacts, 3) [N], for `ContactForces.split`."""
    _, directions, _ = Pointwise(vehicle.functions.contacts)(t[:, None], q, vehicle.theta)
    forces, _ = found.split
    directions = directions.reshape(len(t), 3, -1)
    held = [(i, direction) for i, c in enumerate(vehicle.contacts) for direction in c.held]
    along = np.zeros((len(t), len(vehicle.contacts), 3))
    for column, (i, direction) in enumerate(held):
        component = Component(vehicle.contacts[i].name, direction)
        if component in found.components:
            force = forces[:, found.components.index(component), None]
            along[:, i] += force * directions[:, :, column]
    for k, poses in enumerate(_poses_of_bodies(vehicle, q)):
        for i, pose in enumerate(poses):
            along[k, i] = pose.rotation @ along[k, i]
    return along


def world_points(vehicle: Vehicle, t: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Contact points p_WK (N, contacts, 3) [m] at the states t (N,), q (N, nq)."""
    points, _, _ = Pointwise(vehicle.functions.contacts)(t[:, None], q, vehicle.theta)
    found = points.reshape(len(t), 3, -1).swapaxes(1, 2).copy()
    for k, poses in enumerate(_poses_of_bodies(vehicle, q)):
        for i, pose in enumerate(poses):
            found[k, i] = pose.act(found[k, i])
    return found


def _poses_of_bodies(vehicle: Vehicle, q: np.ndarray) -> Iterator[list[pin.SE3]]:
    """For each state, the poses of the bodies that carry the contacts."""
    bodies, data = [c.mount.body for c in vehicle.contacts], vehicle.data
    for state in q:
        pin.forwardKinematics(vehicle.model, data, state)
        yield [data.oMi[body] for body in bodies]


def force_reader(vehicle: Vehicle) -> ForceReader:
    """The reader of the vehicle for the calling thread, since a viewer may draw during a run."""
    workspace = vehicle.workspace
    if not hasattr(workspace, "force_reader"):
        workspace.force_reader = ForceReader(vehicle)
    return workspace.force_reader


def reactions_at(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray,
                 u: np.ndarray) -> Reactions:
    """The forces at one state."""
    rows = (np.array([part], dtype=float) for part in (t, q, v, u))
    return force_reader(vehicle).read(*rows).at(0, vehicle, t, q)
