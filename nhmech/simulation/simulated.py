"""What is simulated: a vehicle, or a constrained system written by hand, behind one face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import NhmechError, SimulationError
from ..mechanics.equations import Equations
from ..mechanics.gibbs_appell import gibbs_appell
from ..mechanics.system import ConstrainedSystem
from ..systems import load_system
from ..systems.example import Example
from ..vehicle.vehicle import Vehicle


@dataclass(eq=False)
class Simulated:
    """`constrained` and its equations; `vehicle` where there is one."""

    constrained: ConstrainedSystem
    vehicle: Vehicle | None
    limits: dict = field(default_factory=dict)
    example: str | None = None                  # name of a textbook system

    @classmethod
    def of(cls, given, wrench_bodies: tuple[str, ...] = ()) -> Simulated:
        if isinstance(given, Vehicle):
            vehicle = given.with_wrench(*wrench_bodies) if wrench_bodies else given
            return cls(vehicle.constrained, vehicle, vehicle.limits)
        if wrench_bodies:
            raise SimulationError("an external wrench acts on a link of a vehicle; "
                                  "write it into the force of this system instead")
        if not hasattr(given, "constrained"):
            raise SimulationError(f"cannot simulate {type(given).__name__}: give a vehicle or a "
                                  "ConstrainedSystem")
        return cls(given.constrained, None,
                   example=given.name if isinstance(given, Example) else None)

    @classmethod
    def restored(cls, source: dict) -> Simulated:
        """What `source` describes. Raises `SimulationError` where it describes nothing."""
        if "system" in source:
            constrained = load_system(source["system"]).constrained
            return cls(replace(constrained, parameters=np.array(source["parameters"])), None,
                       example=source["system"])
        if "description" not in source:
            raise SimulationError("this file does not say what was simulated; give Trajectory.load "
                                  "the system")
        from ..vehicle.record import restore

        return cls.of(restore(source))

    @cached_property
    def equations(self) -> Equations:
        return (
            self.vehicle.equations if self.vehicle is not None else gibbs_appell(self.constrained)
        )

    def rechosen(self, q: np.ndarray) -> Equations | None:
        """Equations with rows and speeds chosen at q; None where there is nothing to choose."""
        if self.vehicle is not None:
            return self.vehicle.rechosen(q).equations
        other = ConstrainedSystem(**{**self.constrained.__dict__, "samples": q[None, :]})
        return gibbs_appell(other)

    def rank_lost(self, q: np.ndarray, where: str) -> NhmechError:
        """The error to raise where the constraints lose rank at q or next to it."""
        if self.vehicle is not None:
            return self.vehicle.rank_lost(q, where)
        return SimulationError(f"the constraints lose rank {where}, near q = {q}")

    @cached_property
    def theta(self) -> np.ndarray:
        return np.asarray(self.constrained.parameters, dtype=float)

    @cached_property
    def nu(self) -> int:
        """Inputs that a controller sets; external wrenches come after them."""
        return (
            len(self.vehicle.driven)
            if self.vehicle is not None
            else self.constrained.system.u.numel()
        )

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Moving joints of a vehicle; every fibre coordinate of a system without one."""
        names = self.constrained.system.algebroid.v_names
        return names[6:] if self.vehicle is not None else names

    @property
    def encoder_names(self) -> tuple[str, ...]:
        """Joints that carry an encoder: the rolling ones and the driven ones, in the order of
        `joint_names`."""
        if self.vehicle is None:
            return ()
        measured = {*self.vehicle.description.rolling, *self.vehicle.driven}
        return tuple(name for name in self.joint_names if name in measured)

    def configuration(self, pose, joints: Mapping[str, float], q) -> np.ndarray:
        """The start: placed on the ground for a vehicle, q as given otherwise."""
        if q is not None:
            nq = self.constrained.system.algebroid.nq
            try:
                value = np.asarray(q, dtype=float)
            except (TypeError, ValueError, OverflowError) as error:
                raise SimulationError(f"q = {q!r} must be {nq} finite numbers") from error
            if value.shape != (nq,) or not np.all(np.isfinite(value)):
                raise SimulationError(f"q has shape {value.shape}, expected ({nq},) finite numbers")
            return value
        if self.vehicle is None:
            raise SimulationError("this system has no pose: reset(q=...) with all its coordinates")
        return self.vehicle.configuration(pose, joints)

    @cached_property
    def _energy(self) -> ca.Function:
        s = self.constrained.system
        return ca.Function("energy", [s.t, s.q, s.v, s.theta], [s.energy])

    def energies(self, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Energy [J] at each moment, (N,)."""
        n = len(t)
        many = self._energy.map(n) if n > 1 else self._energy
        return many(t[None, :], q.T, v.T, np.tile(self.theta[:, None], (1, n))).full().ravel()

    @cached_property
    def source(self) -> dict:
        """What a saved run needs to make this again: vehicle, or textbook system's name; nothing if
        written by hand."""
        if self.vehicle is None:
            return {} if self.example is None else {"system": self.example,
                                                    "parameters": self.theta.tolist()}
        from ..vehicle.record import record

        return record(self.vehicle)
