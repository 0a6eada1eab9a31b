"""The simulated system: a vehicle, or a constrained system written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..checks import read_array
from ..errors import InputError, MechanicsError, NhmechError, SimulationError, listed
from ..mechanics.constraint_manifold import write_out
from ..mechanics.equations import Equations
from ..mechanics.gibbs_appell import gibbs_appell
from ..mechanics.newton import distances
from ..mechanics.system import ConstrainedSystem, HasConstrained, require_constrained
from ..once import cached_property
from ..systems import load_system, system_names
from ..systems.example import Example
from ..urdf.description import JointLimits
from ..vehicle.posing import Pose
from ..vehicle.stiffness import check_massless
from ..vehicle.vehicle import Vehicle

# how far a given start may be from the constraints: rounding of typed numbers is corrected silently
OFF = 1e-6
BESIDE = 0.1      # how far from a start slopes are compared with those at it


@dataclass(frozen=True, eq=False)
class Simulated:
    """A constrained system, with the properties that a run needs."""

    constrained: ConstrainedSystem
    vehicle: Vehicle | None  # None for a system written by hand
    # of the moving joints of a vehicle
    limits: Mapping[str, JointLimits] = field(default_factory=dict)
    example: Example | None = None

    def __repr__(self) -> str:
        return f"<Simulated: {self.name}>"

    @classmethod
    def of(cls, given: HasConstrained, wrench_links: tuple[str, ...] = ()) -> Simulated:
        """From a vehicle, with external wrenches on the named links, or anything with
        `.constrained`; a `Simulated` itself. Raises `InputError` for anything else."""
        if isinstance(given, Simulated):
            if not wrench_links:
                return given
            given = given.vehicle or given
        if isinstance(given, Vehicle):
            vehicle = given.with_wrench(*wrench_links) if wrench_links else given
            return cls(vehicle.constrained, vehicle, vehicle.limits)
        if wrench_links:
            raise InputError("an external wrench acts on a link of a vehicle; write it into the "
                             "force of this system instead")
        return cls(require_constrained(given), None,
                   example=given if isinstance(given, Example) else None)

    @classmethod
    def restore(cls, source: dict) -> Simulated:
        """The system that `source` describes. Raises `NhmechError` if it describes none."""
        from ..vehicle.record import restore

        if "system" not in source and "description" not in source:
            raise SimulationError("this file does not contain the simulated system; pass it to "
                                  "Trajectory.load")
        try:
            if "description" in source:
                found = cls.of(restore(source))
                if not np.isfinite(found.theta).all():
                    raise ValueError("parameters that are not finite")
                return found
            example = _load_shipped(source["system"])
            constrained = example.constrained
            theta = read_array("parameters", source["parameters"], constrained.parameters.shape,
                               "the numbers of its parameters")
            return cls(replace(constrained, parameters=theta), None, example=example)
        except NhmechError:
            raise
        except Exception as error:       # a file may contain anything
            raise SimulationError("the simulated system in this file cannot be read "
                                  f"({type(error).__name__}: {error}); pass it to "
                                  "Trajectory.load") from error

    @cached_property
    def equations(self) -> Equations:
        """The Gibbs-Appell equations. Raises `NhmechError`, which names the joints, if they do not
        determine the motion."""
        if self.vehicle is None:
            return gibbs_appell(self.constrained)
        try:
            return self.vehicle.equations
        except MechanicsError:
            check_massless(self.vehicle)
            raise

    def rechoose(self, t: float, q: np.ndarray) -> Equations:
        """Equations with rows and independent speeds chosen at q and t [s]. Raises `NhmechError` if
        the constraints lose rank there."""
        if self.vehicle is not None:
            return self.vehicle.rechoose(q).equations
        try:
            equations = gibbs_appell(replace(self.constrained, samples=q[None, :], moment=t))
        except MechanicsError as error:
            raise self.rank_error(t, q, "here") from error
        if len(equations.names) != len(self.equations.names):
            raise self.rank_error(t, q, "here")
        return equations

    def rank_error(self, t: float, q: np.ndarray, where: str) -> NhmechError:
        """The error that the constraints lose rank at q or near it."""
        if self.vehicle is not None:
            return self.vehicle.rank_error(q, where)
        d, rank = self.constrained.distribution, len(self.equations.frame.kept)
        A = self.constrained.constraint_function()(t, q, self.theta)[0].full()
        place = listed(f"{name} = {value:.6g}" for name, value
                       in zip(self.constrained.system.algebroid.q_names, q))
        return SimulationError(f"the constraints lose rank {where}: the rows {listed(d.names)} "
                               f"have rank {np.linalg.matrix_rank(A, tol=1e-6)} at {place}, "
                               f"elsewhere {rank}")

    @cached_property
    def theta(self) -> np.ndarray:
        """Values of the parameters, (ntheta,)."""
        return np.asarray(self.constrained.parameters, dtype=float)

    @cached_property
    def nu(self) -> int:
        """Number of inputs that a controller sets; external wrenches follow them."""
        if self.vehicle is not None:
            return len(self.vehicle.driven)
        return self.constrained.system.u.numel()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Moving joints of a vehicle; all fibre coordinates of another system."""
        if self.vehicle is not None:
            return self.vehicle.joint_names
        return self.constrained.system.algebroid.v_names

    @property
    def has_pose(self) -> bool:
        """Whether q begins with the pose of a body: position, then its quaternion."""
        space = self.constrained.system.algebroid
        return self.vehicle is not None or (
            3 in space.quaternions and [name[-1:] for name in space.q_names[:3]] == [*"xyz"])

    def require_pose(self) -> None:
        """Raises `SimulationError` if q does not begin with such a pose."""
        if not self.has_pose:
            space = self.constrained.system.algebroid
            other = "; its attitude is run.attitude()" if space.quaternions else ""
            raise SimulationError("only a vehicle, or a system whose coordinates begin with x, y, "
                                  "z and a quaternion, has a pose; this one has the coordinates "
                                  f"{listed(space.q_names)}{other}")

    @property
    def encoder_names(self) -> tuple[str, ...]:
        """Joints that carry an encoder: the rolling ones and the driven ones, in the order of
        `joint_names`."""
        if self.vehicle is None:
            return ()
        measured = {*self.vehicle.description.rolling, *self.vehicle.driven}
        return tuple(name for name in self.joint_names if name in measured)

    def configuration(self, pose: Pose | None, joints: Mapping[str, float] | None,
                      q: np.ndarray | None, flies: bool) -> np.ndarray:
        """The configuration of a start: on the ground for a vehicle, else q as given. `flies`:
        whether wheels may be above the ground."""
        if q is not None:
            nq = self.constrained.system.algebroid.nq
            return self._check_holonomic(read_array("q", q, (nq,), f"{nq} finite numbers"), flies)
        if self.vehicle is None:
            raise InputError("this system has no pose: reset(q=...) with all its coordinates")
        return self.vehicle.configuration(pose, joints)

    def _check_holonomic(self, q: np.ndarray, flies: bool) -> np.ndarray:
        """q with normalised quaternions and circles. Raises `InputError` if a holonomic constraint
        is violated."""
        d = self.constrained.distribution
        q = self.constrained.system.algebroid.normalise(q)
        phi = self.constrained.constraint_function()(0.0, q, self.theta)[2].full().ravel()
        # of the contacts, those that are holonomic are heights
        heights = [d.components[row] for row in d.phi_rows]
        is_height = np.array([one is not None for one in heights], dtype=bool)
        away = self.constrained.holonomic_distances(q)
        off = np.flatnonzero(~(away <= OFF) & ~(flies & is_height & (phi > 0)))
        if len(off):
            worst = off[away[off].argmax()]
            nearest = self.constrained.nearest(q)
            cure = ("no configuration near it does" if nearest is None else
                    f"the nearest that does is q = {(np.round(nearest, 12) + 0.0).tolist()}")
            if (one := heights[worst]) is not None:
                what = (f"{one.contact!r} is {abs(phi[worst]):.6g} m "
                        f"{'below' if phi[worst] < 0 else 'above'} the ground at this q")
            else:
                what = (f"q does not satisfy {d.names[d.phi_rows[worst]]!r}, which is "
                        f"{phi[worst]:.6g} there")
            raise InputError(f"{what}; {cure}")
        return q

    def check_invariant(self, q: np.ndarray, v: np.ndarray) -> None:
        """Raises `InputError` if a start does not lie on the manifold of the motion, or if that has
        no tangent space there."""
        constrained = self.constrained
        count = constrained.invariant.numel()
        if not count:
            return
        value, away, rank = self._invariant_at(q, v)
        where = f"q = {np.round(q, 12).tolist()}, v = {np.round(v, 12).tolist()}"
        if rank < count:
            raise InputError(f"the motion has no direction at {where}: its manifold is singular "
                             f"there, the derivatives of its functions have rank {rank} of {count};"
                             " start elsewhere, or with other speeds")
        worst = int(away.argmax())
        if not away[worst] <= OFF:
            nearest = constrained.nearest_state(q, v)
            if nearest is not None and self._invariant_at(*nearest)[2] < count:
                nearest = None
            cure = ("no state near it does" if nearest is None else
                    f"the nearest that does is q = {(np.round(nearest[0], 12) + 0.0).tolist()}, "
                    f"v = {np.round(nearest[1], 12).tolist()}")
            raise InputError(f"{where} does not lie on the manifold of the motion: "
                             f"{write_out(constrained.invariant[worst])} is {value[worst]:.6g} "
                             f"there; {cure}")

    def _invariant_at(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """Values (k,) of the functions that stay zero, how far their zeros are, and the rank of
        their derivatives, in units in which these are 1 near by."""
        count, rng = self.constrained.invariant.numel(), np.random.default_rng(0)

        def at(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value, slope = self.constrained.invariant_function(0.0, q, v, self.theta)
            return value.full()[:count].ravel(), slope.full()[:count]

        (value, slope), (_, beside) = at(q, v), at(*(
            part + BESIDE * (1 + np.abs(part)) * rng.normal(size=part.size) for part in (q, v)))
        unit = np.maximum(np.linalg.norm(slope, axis=1), np.linalg.norm(beside, axis=1))
        return value, distances(value, slope), int(np.linalg.matrix_rank(
            slope / np.where(unit > 0, unit, 1.0)[:, None], tol=1e-9))

    def units(self, part: str) -> dict[str, str]:
        """Name -> unit of the columns of "q", "v" or "u"; "" if there is none."""
        algebroid = self.constrained.system.algebroid
        rates = dict(zip(algebroid.v_names, algebroid.v_units))
        if part == "v":
            return rates
        if part == "q":
            lengths = {} if self.vehicle is None else dict.fromkeys("xyz", "m")
            positions = {name.removesuffix("'"): unit.removesuffix("/s")
                         for name, unit in rates.items()}
            return {name: (lengths | positions).get(name, "") for name in algebroid.q_names}
        inputs = self.constrained.system.u_names
        if self.vehicle is None:
            return dict.fromkeys(inputs, "")
        # a joint, or of an external wrench "<link>.fx" ... "<link>.tz"
        return {name: "N" if rates.get(name, name[-2:-1]) in ("m/s", "f") else "N m"
                for name in inputs}

    @property
    def name(self) -> str:
        """The name of the vehicle or the textbook system in messages."""
        named = self.vehicle or self.example
        return "a system" if named is None else repr(named.name)

    @cached_property
    def source(self) -> dict:
        """What a run file needs to rebuild this system: the vehicle, or the name of a textbook
        system; empty for a system written by hand."""
        if self.vehicle is None:
            return {} if self.example is None else {"system": self.example.name,
                                                    "parameters": self.theta.tolist()}
        from ..vehicle.record import record

        return record(self.vehicle)


def _load_shipped(name: str) -> Example:
    """A textbook system of this package; a run never names a file of code that would be executed.
    Raises `SimulationError` for the name of another one."""
    if name not in system_names():
        raise SimulationError(
            f"this is a run of the system {name!r}, which is not in this package; name its file: "
            f"--robot {name}.py, or Trajectory.load(run, load_system('{name}.py'))")
    return load_system(name)
