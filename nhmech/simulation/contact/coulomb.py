"""Coulomb friction beside ideal rolling: when a run leaves the equations of rolling, and when it
comes back to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...checks import is_finite, read_mapping, read_word
from ...errors import InputError, Remedy, SimulationError
from ...vehicle.vehicle import Vehicle
from ..diagnosis import explain_fall
from ..moment import EXTRA, Moment
from ..simulated import Simulated
from ..state import State
from .contact_forces import force_reader
from .contact_rates import accelerate
from .contact_rows import sliding_wheels
from .contact_servo import ContactServo
from .impulses import STILL
from .motion import Motion, Phase
from .nonsmooth import TOUCHING, NonsmoothStep
from .nonsmooth_terms import NonsmoothTerms, to_body, to_world

CONTACTS = ("ideal", "coulomb")       # values of `contact`, beside None
SLIP, ROLL = "rolling ends", "rolling begins"      # names of events
PATIENCE = 3         # steps without slip after which a run goes back to the equations of rolling
GRIP = 0.98          # and the part of the friction that must be enough there
ROLLS = 1e-9         # [m/s] of contact points, below which it may


@dataclass(frozen=True)
class ContactColumns:
    """What a recorded row says of the contacts, (forces, phases, slid, lost).

    Attributes
    ----------
    forces
        "wheel/direction" of each component; NaN at moments at which the wheels rolled ideally.
    wheels
        Names of the contacts.
    """

    forces: tuple[str, ...]
    wheels: tuple[str, ...]

    @classmethod
    def of(cls, vehicle: Vehicle) -> ContactColumns:
        """Of a vehicle."""
        return cls(tuple(map(str, vehicle.contact_rows)), tuple(vehicle.contact_names))

    @property
    def names(self) -> tuple[str, ...]:
        """Of all numbers."""
        return (*(f"force.{name}" for name in self.forces),
                *(f"{what}.{wheel}" for what in ("phase", "slid", "lost") for wheel in self.wheels))

    def split(self, numbers: np.ndarray) -> list[np.ndarray]:
        """Forces (..., n), phases, slid and lost (..., k): views of the numbers (..., n + 3 k)."""
        n, k = len(self.forces), len(self.wheels)
        return np.split(numbers, [n, n + k, n + 2 * k], axis=-1)


class CoulombContact:
    """Takes the steps in which wheels slide, fly or land, and says when they begin and end.

    Parameters
    ----------
    contact
        "coulomb" where all wheels may slide that have no tyres, None where those that have this
        law.
    mu
        Friction coefficient, of all wheels or by name; where None, those of the vehicle.
    restitution
        e of Newton's law, of all wheels or by name.
    stiffness
        Wheel -> vertical stiffness [N/m]; only their ratios count, and wheels that are not named
        are as stiff as the mean of the others. All are alike where None.

    Raises
    ------
    InputError
        For a vehicle that it cannot be used for, and numbers that no friction has.

    Attributes
    ----------
    grip
        1 / mu of each contact, zero where it holds nothing along the ground.
    """

    def __init__(self, simulated: Simulated, mu: float | Mapping[str, float] | None,
                 restitution: float | Mapping[str, float],
                 stiffness: Mapping[str, float] | None = None, contact: str | None = "coulomb"):
        if simulated.vehicle is None:
            raise InputError("contact=\"coulomb\" is for vehicles: this system has no wheels")
        self._simulated = simulated
        self.vehicle = simulated.vehicle
        self.terms = NonsmoothTerms.of(self.vehicle, mu, contact)
        self.columns = ContactColumns.of(self.vehicle)
        names = [c.name for c in self.terms.contacts]
        self.nonsmooth = NonsmoothStep(self.terms, _read_restitution(restitution, names),
                                       _read_stiffness(stiffness, names))
        self.still = 0            # steps in which all wheels have rolled
        self.grip = np.array([1 / c.mu if c.mu else 0.0 for c in self.terms.contacts])

    def __repr__(self) -> str:
        return f"<CoulombContact of {self.vehicle.name!r}>"

    @cached_property
    def _servo(self) -> ContactServo:
        return ContactServo(self.terms, self.nonsmooth.glide.share)

    @cached_property
    def settings(self) -> dict[str, object]:
        """For run files (JSON values)."""
        return {"mu": {c.name: c.mu for c in self.terms.contacts if 0 < c.mu < np.inf},
                "restitution": dict(zip(self.columns.wheels, self.nonsmooth.restitution.tolist())),
                **({} if (k := self.nonsmooth.stiffness) is None else
                   {"stiffness": dict(zip(self.columns.wheels, k.tolist()))})}

    @cached_property
    def _rows(self) -> list[int]:
        return list(self.vehicle.contact_rows.values())

    # -- when --------------------------------------------------------------------------------------
    def room(self, state: State, part: float = 1.0) -> float:
        """The least of the normal forces, and of normal - |tangential| / (mu part), in the shortest
        split of the load [N]: while it is positive, rolling holds."""
        return min(force_reader(self.vehicle).room(state.t, state.q, state.v, state.u,
                                                   self.grip / part))

    def may_roll(self, moment: Moment) -> bool:
        """Whether the wheels have rolled for some steps, and would go on with friction to spare."""
        _, phases, _, _ = self.columns.split(moment.contact)
        self.still = 0 if phases.any() else self.still + 1
        if self.still < PATIENCE:
            return False
        rates, _ = self.vehicle.constraint_error(moment.t, moment.q, moment.v)
        return bool(np.abs(rates).max(initial=0.0) <= ROLLS and self.room(moment.state, GRIP) > 0)

    def begin(self, moment: Moment) -> None:
        """The wheels stand or roll on the ground, and need not go on with it. Contacts with speed
        against it meet it."""
        self.still = 0
        self._check_slip(moment)
        motion = self.nonsmooth.start(moment.t, moment.x[:self.terms.nconf],
                                      to_world(moment.q, moment.v))
        _, _, forces = accelerate(self.terms, motion, moment.u)
        _, _, slid, lost = self.columns.split(moment.contact)
        moment.v[...] = to_body(moment.q, motion.w)
        moment.contact[...] = np.concatenate([forces[self._rows], motion.phases,
                                              motion.slid + slid, motion.lost + lost])

    def _check_slip(self, moment: Moment) -> None:
        """Raises `InputError` where wheels slip that cannot."""
        rates, phi = self.vehicle.constraint_error(moment.t, moment.q, moment.v)
        size = STILL * max(1.0, np.abs(moment.v).max())
        slips = {c.name: slip for c in self.terms.contacts if c.mu == np.inf
                 and phi[c.height] <= TOUCHING and rates[c.normal] <= size
                 and (slip := float(np.linalg.norm(rates[list(c.along)]))) > size}
        if slips:
            name, slip = next(iter(slips.items()))
            raise InputError(f"wheel {name!r} slips with {slip:.3g} m/s and has law='rolling': "
                             "give speeds at which it rolls, or law='coulomb'")

    def end(self, moment: Moment) -> None:
        """From here on the wheels roll ideally."""
        forces, phases, _, _ = self.columns.split(moment.contact)
        forces[...] = np.nan
        phases[...] = Phase.ROLLING

    # -- steps -------------------------------------------------------------------------------------
    def advance(self, moment: Moment, dt: float) -> tuple[np.ndarray, ...]:
        """x (nconf,), q, v and the contact's numbers after a step of dt [s]. Raises
        `SimulationError` where there is none."""
        try:
            motion = self._motion(moment.t, moment.x, moment.q, moment.v, moment.contact, dt)
            motion = self.nonsmooth.advance(motion, moment.u, dt)
            good = np.isfinite(motion.x).all() and np.isfinite(motion.w).all()
        except np.linalg.LinAlgError:
            good = False
        if not good:
            raise SimulationError(explain_fall(self._simulated, moment)
                                  if self._simulated.constrained.guard_names else
                                  f"stopped at t = {moment.t:.6g} s: the step of {dt:g} s gave "
                                  "numbers that are not finite")
        q = self.terms.configuration(motion.x)
        numbers = (motion.impulses[self._rows] / dt, motion.phases, motion.slid, motion.lost)
        return motion.x, q, to_body(q, motion.w), np.concatenate(numbers)

    def efforts(self, moment: Moment, u: np.ndarray, rows: Sequence[int], columns: Sequence[int],
                wanted: Sequence[float], h: float) -> np.ndarray | None:
        """As `ContactServo.efforts`; None where all wheels roll and can do so, which is for the
        equations of rolling."""
        rolls = not is_sliding(moment)
        numbers = np.zeros_like(moment.contact) if rolls else moment.contact
        motion = self._motion(moment.t, moment.x, moment.q, moment.v, numbers)
        found, goes_on = self._servo.efforts(motion, u, rows, columns, wanted, h)
        return None if rolls and goes_on else found

    def numbers(self, state: State) -> np.ndarray:
        """What the contacts did at a state of a run of this simulator."""
        n = len(self.columns.names)
        return state.values[-EXTRA - n:-EXTRA]

    def acceleration(self, state: State, numbers: np.ndarray) -> np.ndarray:
        """dv/dt (nv,) at a state in which wheels slide, with what its contacts do."""
        x = state.values[state.layout.nq + state.layout.nv:]
        motion = self._motion(state.t, x, state.q, state.v, numbers)
        return accelerate(self.terms, motion, state.u)[0]

    def _motion(self, t: float, x: np.ndarray, q: np.ndarray, v: np.ndarray,
                numbers: np.ndarray, dt: float = 0.0) -> Motion:
        """The motion at a moment, after a step of dt [s]."""
        forces, phases, slid, lost = self.columns.split(numbers)
        x, impulses = x[:self.terms.nconf].copy(), np.zeros(self.vehicle.constrained.distribution.m)
        impulses[self._rows] = dt * forces
        w, phases = to_world(q, v), phases.astype(int)
        _, _, phi = self.terms.read_rows(t, x, w, phases != Phase.AIRBORNE)
        return Motion(t, x, w, phases, impulses, slid.copy(), lost.copy(),
                      phi[list(self.terms.heights)])


def is_sliding(moment: Moment) -> bool:
    """Whether full velocities are stepped: the contact forces of ideal rolling are not recorded."""
    return bool(moment.contact.size) and not np.isnan(moment.contact.item(0))


def _read_restitution(value: float | Mapping[str, float], wheels: Sequence[str]) -> np.ndarray:
    given = dict(value) if isinstance(value, Mapping) else dict.fromkeys(wheels, value)
    for wheel, e in given.items():
        read_word("restitution: wheel", wheel, wheels)
        if not (is_finite(e) and 0 <= e <= 1):
            raise InputError(f"restitution of {wheel!r} is {e!r}; it is a number from 0, for a "
                             "wheel that stays down, to 1")
    return np.array([float(given.get(wheel, 0.0)) for wheel in wheels])


def _read_stiffness(value: Mapping[str, float] | None, wheels: Sequence[str]) -> np.ndarray | None:
    if value is None:
        return None
    given = dict(read_mapping("stiffness", value, "wheel -> [N/m]"))
    for wheel, k in given.items():
        read_word("stiffness: wheel", wheel, wheels)
        if not (is_finite(k) and k > 0):
            raise InputError(f"stiffness of {wheel!r} is {k!r}; it is a positive number [N/m]")
    mean = float(np.mean(list(given.values()))) if given else 1.0
    return np.array([float(given.get(wheel, mean)) for wheel in wheels])


def choose_contact(simulated: Simulated, contact: str | None, mu: object, restitution: object,
                   stiffness: object, *, kinematic: bool) -> CoulombContact | None:
    """What takes steps with friction; None where wheels only roll. Raises `InputError` for
    arguments that contradict each other."""
    described = None if simulated.vehicle is None else simulated.vehicle.description
    if contact != "coulomb" and not sliding_wheels(described, contact):
        for name, value in (("mu", mu), ("restitution", restitution), ("stiffness", stiffness)):
            if value is not None and value != 0.0:
                raise InputError(f"{name} = {value!r} has no effect on ideal rolling: give "
                                 "contact=\"coulomb\" too")
        return None
    if kinematic:
        raise InputError("wheels that slide by Coulomb friction need forces, and a kinematic "
                         "run has none: its speeds are commanded",
                         Remedy("Leave mode=\"kinematic\" out", "Leave --mode kinematic out"))
    return CoulombContact(simulated, mu, restitution, stiffness, contact)   # type: ignore[arg-type]
