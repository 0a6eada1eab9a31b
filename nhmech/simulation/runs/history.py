"""The interface that a run and a batch of runs share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

import casadi as ca
import numpy as np

from ...checks import check_arguments, read_word
from ...compile.pointwise import Pointwise
from ...errors import InputError, SimulationError, listed
from ...once import cached_property
from ..command import TWIST_UNITS
from ..simulated import Simulated
from ..state import base_pose
from .archive import TWIST
from .forces_along import multiplier_along

if TYPE_CHECKING:
    import pandas

# parts of a table in the order of its columns, with the prefixes of their names
# part -> kind of its columns; the unwrapped angles take precedence over q
KINDS = {"q": "position", "angles": "position", "v": "velocity", "u": "effort", TWIST: "command"}
PREFIXES = {"q": "q.", "v": "v.", "angles": "angle.", "u": "u.", TWIST: ""}


def lock(array: np.ndarray) -> np.ndarray:
    """A read-only view; the array that was passed in stays writable."""
    view = array.view()
    view.setflags(write=False)
    return view


class Column(NamedTuple):
    """One column of a table; the unit is "" for a plain number, None if a file keeps no
    units."""

    values: np.ndarray
    unit: str | None


class RecordedForces(Protocol):
    """Ground forces at each recorded moment."""

    def component(self, wheel: str, direction: str) -> np.ndarray:
        """Force on a wheel in one direction [N], (..., K)."""


class History:
    """Recorded states of one case or of many cases. The last index but one of `q` and the others is
    the moment; with many cases, the index before it is the case.

    Attributes
    ----------
    t
        Time (K,) [s].
    q, v, xi, u, angles
        (..., K, n), as in `Trajectory`.
    theta
        Values of the symbolic parameters, (..., ntheta).
    names
        Names of the columns of each part.
    simulated
        The simulated system.
    reactions
        Forces of the ground on the wheels.
    """

    t: np.ndarray
    u: np.ndarray

    if TYPE_CHECKING:       # fields of a run, computed by a batch: read-only here
        @property
        def q(self) -> np.ndarray: ...
        @property
        def v(self) -> np.ndarray: ...
        @property
        def xi(self) -> np.ndarray: ...
        @property
        def angles(self) -> np.ndarray: ...
        @property
        def theta(self) -> np.ndarray: ...
        @property
        def names(self) -> dict[str, tuple[str, ...]]: ...
        @property
        def simulated(self) -> Simulated: ...
        @property
        def reactions(self) -> RecordedForces: ...

    @property
    def is_system_known(self) -> bool:
        """Whether `simulated` is available."""
        return True

    @check_arguments
    def column(self, name: str) -> np.ndarray:
        """One named column of q, v, u, angles or commanded_twist: (N,) of a run, (N, K) of a
        batch.

        A joint has several: "hitch.position" [rad, m] (unwrapped), "hitch.velocity" [rad/s, m/s]
        and, where it is driven, "hitch.effort" [N m, N]. `roll_rate`, `pitch_rate` and `yaw_rate`
        are components of the base's twist along its own axes, not rates of Euler angles.

        Raises
        ------
        InputError
            With the names that there are, and for a joint's name alone.
        """
        found = self._parts_with(name)
        if not found:
            joint, _, kind = name.rpartition(".")
            found = {k: part for k, part in self._parts_with(joint).items() if k == kind}
            name = joint if found else name
        if len(found) > 1:
            raise InputError(f"{name!r} has several columns: "
                             + ", ".join(f"'{name}.{kind}'" for kind in found))
        if not found:
            known = sorted({name for part in KINDS for name in self.names.get(part, ())})
            raise InputError(f"no column {name!r}; there are {listed(known, len(known))}")
        (part,) = found.values()
        return getattr(self, part)[..., self.names[part].index(name)]

    def _parts_with(self, name: str) -> dict[str, str]:
        """Kind of column -> the part that has one of this name."""
        return {kind: part for part, kind in KINDS.items() if name in self.names.get(part, ())}

    @cached_property
    def T_WB(self) -> np.ndarray:
        """Pose of the base in the world, (N, 4, 4) of a run, (N, K, 4, 4) of a batch, lengths in
        [m]. Raises `SimulationError` for a system that has no base."""
        self.simulated.require_pose()
        return lock(base_pose(self.q))

    @check_arguments
    def attitude(self, prefix: str = "") -> np.ndarray:
        """Rotation from a body to the world, (N, 3, 3) of a run, (N, K, 3, 3) of a batch, of any
        system that has a unit quaternion among its coordinates.

        Parameters
        ----------
        prefix
            Prefix of the quaternion's names if there are several: ``left_`` for ``left_qx``.

        Raises
        ------
        InputError
            If there is no such quaternion.
        """
        space = self.simulated.constrained.system.algebroid
        starts = {space.q_names[i]: i for i in space.quaternions}
        if f"{prefix}qx" not in starts:
            raise InputError(f"no quaternion begins with {prefix + 'qx'!r}; there are "
                             f"{listed(starts) or 'none'}")
        from scipy.spatial.transform import Rotation

        i = starts[f"{prefix}qx"]
        turns = Rotation.from_quat(self.q[..., i:i + 4].reshape(-1, 4)).as_matrix()
        return turns.reshape(*self.q.shape[:-1], 3, 3)

    @check_arguments
    def multiplier(self, row: str) -> np.ndarray:
        """lambda of one row of a system written by hand, (N,) of a run, (N, K) of a batch.

        A^T lambda is the generalised force of the constraints: of a row in [m/s], lambda is in [N].

        Parameters
        ----------
        row
            Its name, as in `constrain(rows=...)` or `constrain(holonomic=...)`.

        Raises
        ------
        InputError
            For a row that does not exist, or that depends on others.
        SimulationError
            For a vehicle; `force` has the forces on its wheels.
        """
        return multiplier_along(self.simulated, row,
                                lambda of: self.evaluate(of, self.q, self.v, self.u))

    @cached_property
    def energy(self) -> np.ndarray:
        """Kinetic plus potential energy [J], (N,) of a run, (N, K) of a batch."""
        system = self.simulated.constrained.system
        return lock(self.evaluate(system.energy_function, self.q, self.v)[..., 0])

    def evaluate(self, function: ca.Function, *parts: np.ndarray) -> np.ndarray:
        """First output of a function of (t, parts, theta) at each moment of each case, flattened by
        columns, (..., K, n).

        Parameters
        ----------
        parts
            (..., K, n) each.
        """
        shape = parts[0].shape[:-1]
        columns = [self.t[:, None], *parts, self.theta[..., None, :]]
        arguments = [np.broadcast_to(column, (*shape, column.shape[-1])).reshape(
            math.prod(shape), column.shape[-1]) for column in columns]
        found = Pointwise(function)(*arguments)[0].reshape(*shape, *function.size_out(0))
        return found.swapaxes(-1, -2).reshape(*shape, function.numel_out(0))

    def force(self, wheel: str, direction: str = "normal") -> np.ndarray:
        """Force of the ground on a wheel in one direction [N], (N,) of a run, (N, K) of a batch.

        Parameters
        ----------
        wheel
            Name of the wheel's joint (of a link that touches the ground by itself, the link's).
        direction
            "normal", "longitudinal", "lateral" or "roller", as far as the wheel holds it.

        Raises
        ------
        InputError
            For an unknown wheel, and for a direction in which it takes no force.
        SimulationError
            As `reactions` does.

        Examples
        --------
        >>> run = Simulator(vehicle).run(0.01)
        >>> run.force("left_wheel_joint", "normal").shape
        (11,)
        """
        found, vehicle = self.reactions, self.simulated.vehicle
        assert vehicle is not None, "reactions are a vehicle's"
        read_word("wheel", wheel, vehicle.contact_names)
        held = [part for name, part in vehicle.contact_rows if name == wheel]
        read_word(f"direction of {wheel!r}", direction, held)
        return found.component(wheel, direction)

    def columns(self) -> dict[str, Column]:
        """Columns by name, as `nhmech export` writes them: t, q.*, v.*, angle.*, u.*, the commanded
        twist and the energy, as far as there are any."""
        found = {"t": Column(self.t, "s")}
        for part, prefix in PREFIXES.items():
            units = self._units(part)
            for i, name in enumerate(self.names.get(part, ())):
                found[prefix + name] = Column(getattr(self, part)[..., i], units.get(name, ""))
        return found | ({"energy": Column(self.energy, "J")} if self.is_system_known else {})

    def table(self) -> pandas.DataFrame:
        """One table: the case of a batch, t, of a vehicle x, y and yaw of the base (continuous),
        then all columns as `nhmech export` names them.

        Units are in `table.attrs["units"]`, column by column; "" if there is none.

        Raises
        ------
        SimulationError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise SimulationError("a table needs pandas: pip install 'nhmech[sweep]'") from error
        shape, columns = self.q.shape[:-1], self.columns()
        first = {"t": columns.pop("t")}
        if len(shape) > 1:
            first = {"case": Column(np.arange(shape[0])[:, None], "")} | first
        if self.is_system_known and self.simulated.vehicle is not None:
            T = self.T_WB
            yaw = np.unwrap(np.arctan2(T[..., 1, 0], T[..., 0, 0]))
            first |= {"x": Column(T[..., 0, 3], "m"), "y": Column(T[..., 1, 3], "m"),
                      "yaw": Column(yaw, "rad")}
        columns = first | columns
        found = pandas.DataFrame({name: np.broadcast_to(column.values, shape).ravel()
                                  for name, column in columns.items()})
        found.attrs["units"] = {name: column.unit for name, column in columns.items()}
        return found

    def _units(self, part: str) -> dict[str, str]:
        """Name -> unit for the columns of one part; empty for an unknown system."""
        if part == TWIST:
            return dict(zip(self.names.get(part, ()), TWIST_UNITS))
        if part == "angles":
            return dict.fromkeys(self.names[part], "rad")
        return self.simulated.units(part) if self.is_system_known else {}
