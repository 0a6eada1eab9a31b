"""A finished batch: the record of many runs of one system."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...compile.status import Status
from ...errors import SimulationError
from ...once import cached_property
from ..batch_input import Stepper
from ..contact.force_reader import force_reader
from ..simulated import Simulated
from .forces_along import BatchReactions
from .history import History, lock
from .limit_spans import LimitColumns, LimitSpan


@dataclass(frozen=True, eq=False, repr=False)
class Batch(History):
    """The result of `simulate_batch`: K recorded moments of N cases.

    It has the attributes and methods of a `Trajectory`, with the case as first index; `table` has a
    row for each moment of each case.

    Attributes
    ----------
    t
        (K,) [s].
    x
        (N, K, nx) state vectors: configuration with unwrapped angles, then xi.
    u
        (N, K, nu) held from each t on.
    theta
        (N, ntheta).
    status
        (N,) `Status`: 0 where a case ran to the end; `stop` has it in words.
    stopped_at
        (N,) [s] time of the last good state, which fills the rest of the case's record.
    stepper
        What made the steps.

    Examples
    --------
    >>> x0 = nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)] * 2)
    >>> batch = nhmech.simulate_batch(vehicle, x0, u=[0.2, 0.3], dt=0.01, duration=0.1)
    >>> float(batch.t[-1]), batch.x.shape, batch.stop[0]
    (0.1, (2, 11, 11), 'ran to the end')
    >>> batch.column("forward_speed").shape
    (2, 11)
    """

    t: np.ndarray
    x: np.ndarray
    u: np.ndarray
    theta: np.ndarray
    status: np.ndarray
    stopped_at: np.ndarray
    stepper: Stepper = field(repr=False)

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        return (f"<Batch of {len(self)} cases of {self.simulated.name}: {len(self.t)} states each, "
                f"{self.t[0]:.6g} to {self.t[-1]:.6g} s, {self.ok.sum()} ran to the end>")

    def at(self, k: int) -> Batch:
        """The batch at one recorded moment alone (K = 1), for example to compute only its
        forces."""
        k = range(len(self.t))[k]
        return replace(self, t=self.t[k:k + 1], x=self.x[:, k:k + 1], u=self.u[:, k:k + 1])

    # -- how the cases ended -----------------------------------------------------------------------
    @property
    def ok(self) -> np.ndarray:
        """(N,) which cases ran to the end."""
        return self.status == Status.DONE

    @cached_property
    def stop(self) -> tuple[str, ...]:
        """Why each case ended; at a limit or a fall, which one."""
        sentences = {int(status): status.sentence for status in Status}
        found = [sentences[status] for status in self.status.tolist()]
        bounds = self.stepper.bounds
        for case in np.flatnonzero(np.isin(self.status, (Status.LIMIT, Status.GROUNDED))):
            found[case] = bounds.next_one(self.stepper.equations, self.stopped_at[case],
                                          self.x[case, -1], self.theta[case],
                                          Status(self.status[case])).name
        return tuple(found)

    # -- the states --------------------------------------------------------------------------------
    @cached_property
    def simulated(self) -> Simulated:
        """The simulated system."""
        return self.stepper.simulated

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Of the columns: "x", "q", "v", "xi", "u", "angles", "theta"."""
        system, x = self.simulated.constrained.system, self.stepper.names["x"]
        angles = tuple(x[i] for i in self.stepper.state_vector.angle_slots())
        return {**self.stepper.names, "q": system.algebroid.q_names, "v": system.algebroid.v_names,
                "angles": angles}

    @cached_property
    def xi(self) -> np.ndarray:
        """Independent speeds (N, K, nxi)."""
        return self.x[..., self.stepper.state_vector.nconf:]

    @cached_property
    def angles(self) -> np.ndarray:
        """Unwrapped angles of the continuous joints (N, K, na) [rad]."""
        return lock(self.x[..., list(self.stepper.state_vector.angle_slots())])

    @cached_property
    def q(self) -> np.ndarray:
        """Configurations (N, K, nq)."""
        columns = np.moveaxis(self.x, -1, 0)
        return lock(np.moveaxis(self.stepper.state_vector.configuration(columns), 0, -1))

    @cached_property
    def v(self) -> np.ndarray:
        """Fibre coordinates (N, K, nv)."""
        return lock(self.evaluate(self.stepper.equations.velocity, self.q, self.xi))

    @cached_property
    def limits(self) -> tuple[tuple[LimitSpan, ...], ...]:
        """When a joint was at one of its limits, case by case."""
        columns = LimitColumns.of(self.simulated, self.names)
        parts = {"q": self.q, "angles": self.angles, "v": self.v, "u": self.u}
        return tuple(
            columns.spans([{"t": self.t, **{name: part[case] for name, part in parts.items()}}])[0]
            for case in range(len(self)))

    # -- forces ----------------------------------------------------------------------------------
    @cached_property
    def multipliers(self) -> np.ndarray:
        """lambda of the kept rows, (N, K, len(frame.kept))."""
        return lock(self.evaluate(self.stepper.equations.multipliers, self.q, self.xi, self.u))

    @cached_property
    def reactions(self) -> BatchReactions:
        """Ground forces at each recorded moment, computed when they are first read.

        Raises
        ------
        SimulationError
            For a system without wheels.
        """
        vehicle = self.simulated.vehicle
        if vehicle is None:
            raise SimulationError("only a vehicle has wheels and ground forces; "
                                  "Batch.multipliers has the multipliers of any system")
        cases, moments = self.x.shape[:2]
        rows = [np.broadcast_to(part, (cases, moments, part.shape[-1])).reshape(cases * moments, -1)
                for part in (self.t[:, None], self.q, self.v, self.u, self.theta[:, None])]
        found = force_reader(vehicle).read(rows[0][:, 0], *rows[1:])
        forces, supported = found.split
        return BatchReactions(found.components, lock(forces.reshape(cases, moments, -1)),
                              tuple(vehicle.contact_names), lock(supported.reshape(cases, moments)))
