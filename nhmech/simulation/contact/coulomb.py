"""Coulomb friction: begins and ends the phases of a run in which wheels slide or fly, and takes
their steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

import casadi as ca
import numpy as np

from ...checks import is_finite, read_mapping, read_word
from ...errors import InputError, Remedy, SimulationError
from ...once import cached_property, once
from ...symbolic.buffered import Buffered
from ...vehicle.bodies import BodyContacts
from ...vehicle.vehicle import Vehicle
from ..diagnosis import explain_fall
from ..moment import EXTRA, Moment
from ..simulated import Simulated
from ..state import State
from .accelerations import accelerate
from .contact_columns import ContactRecord
from .contact_inverse_dynamics import ContactInverseDynamics
from .contact_rows import sliding_wheels
from .force_reader import force_reader
from .motion import STILL, TOUCHING, Motion, to_body, to_world
from .nonsmooth import NonsmoothStep
from .nonsmooth_terms import NonsmoothTerms
from .phases import ContactMoment
from .rolling_bound import RollingBound

CONTACTS = ("ideal", "coulomb")       # values of `contact` other than None
SLIP, ROLL = "rolling ends", "rolling begins"      # names of events
# A run returns to the equations of rolling after PATIENCE steps without slip, if the part GRIP of
# the friction suffices for rolling, and if the speeds of the contact points are below RESTS times
# the speed of the vehicle.
PATIENCE, GRIP, RESTS = 3, 0.98, 1e-9


class CoulombContact:
    """Takes the steps in which wheels slide, fly or land, and decides when these phases begin and
    end.

    Parameters
    ----------
    contact
        "coulomb" if all wheels without tyres may slide, None if those with this law may.
    mu
        Friction coefficient of all wheels, or by name; None takes those of the vehicle.
    bodies
        The points of bodies that can touch the ground; None if only wheels can.
    restitution
        Coefficient e of Newton's law for all wheels, or by name.
    stiffness
        Wheel -> vertical stiffness [N/m], in place of the vehicle's values. Only ratios matter;
        wheels of unknown stiffness have the mean of the others.

    Attributes
    ----------
    grip
        1 / mu of each wheel; zero for a wheel without rows along the ground.
    """

    def __init__(self, simulated: Simulated, mu: float | Mapping[str, float] | None,
                 restitution: float | Mapping[str, float],
                 stiffness: Mapping[str, float] | None = None, contact: str | None = "coulomb",
                 bodies: BodyContacts | None = None):
        if simulated.vehicle is None:
            raise InputError("contact=\"coulomb\" is for vehicles: this system has no wheels")
        self._simulated = simulated
        self.vehicle = simulated.vehicle
        self.terms = NonsmoothTerms.of(self.vehicle, mu, contact, bodies)
        self._record = ContactRecord(self.terms)
        self.columns = self._record.columns
        names = [c.name for c in self.terms.contacts]
        self.nonsmooth = NonsmoothStep(self.terms, _read_restitution(restitution, names),
                                       _read_stiffness(stiffness, self.vehicle, names))
        # number of the latest step after which all wheels rolled, and how many such steps in a row
        self._still = 0, 0
        self.grip = np.array([1 / c.mu if c.mu else 0.0
                              for c in self.terms.contacts[:len(self.vehicle.contacts)]])

    def __repr__(self) -> str:
        return f"<CoulombContact of {self.vehicle.name!r}>"

    @cached_property
    def _inverse_dynamics(self) -> ContactInverseDynamics:
        return ContactInverseDynamics(self.terms, self.nonsmooth.implicit.share)

    @cached_property
    def mu(self) -> dict[str, float]:
        """Friction coefficients of the wheels and bodies that may slide, by name."""
        return {c.name: c.mu for c in self.terms.contacts if 0 < c.mu < np.inf}

    @cached_property
    def settings(self) -> dict[str, object]:
        """The settings for a run file (JSON values)."""
        names = [c.name for c in self.terms.contacts]
        return {"mu": self.mu,
                "restitution": dict(zip(names, self.nonsmooth.restitution.tolist())),
                **({} if (k := self.nonsmooth.stiffness) is None else
                   {"stiffness": dict(zip(names, k.tolist()))})}

    # -- when --------------------------------------------------------------------------------------
    def room(self, state: State, part: float = 1.0) -> float:
        """The margin of rolling, which is positive while rolling holds: the least of the normal
        forces and of normal - |tangential| / (part * mu), with the load distributed by least norm
        [N], and of the heights of bodies [m]."""
        room = min(force_reader(self.vehicle).room(state.t, state.q, state.v, state.u,
                                                   self.grip / part))
        if self._lowest_body is None:
            return room
        return min(room, self._lowest_body(state.t, state.q, self.vehicle.theta)[0].item())

    @cached_property
    def _lowest_body(self) -> Buffered | None:
        return Buffered(lowest_body_function(self.vehicle)) if self.terms.bodies.links else None

    @property
    def watch(self) -> RollingBound:
        """The bound at which rolling ends, for compiled code."""
        lowest = None if self._lowest_body is None else self._lowest_body.function
        return RollingBound(self.vehicle, self.grip, lowest, (SLIP,),
                            lambda state: np.inf if self.slides(state) else self.room(state),
                            self.terms.bodies.notices)

    def may_roll(self, moment: Moment) -> bool:
        """Whether the equations of rolling hold again: the wheels have rolled for `PATIENCE` steps,
        and friction suffices with a margin."""
        _, phases, _, _ = self.columns.split(moment.contact)
        if (phases != self._record.resting).any():
            return False
        latest, many = self._still
        self._still = moment.k, many + 1 if moment.k == latest + 1 else 1
        if self._still[1] < PATIENCE:
            return False
        rates, _ = self.vehicle.constraint_error(moment.t, moment.q, moment.v)
        return bool(np.abs(rates).max(initial=0.0) <= RESTS * self.terms.speed
                    and self.room(moment.state, GRIP) > 0)

    def begin(self, moment: Moment) -> None:
        """Begins a phase in which wheels may slide or fly, from wheels that stand or roll on the
        ground. Contacts that approach the ground undergo an impact."""
        self._still = 0, 0
        self._check_slip(moment)
        motion = self.nonsmooth.start(moment.t, moment.x[:self.terms.nconf],
                                      to_world(moment.q, moment.v))
        _, _, forces = accelerate(self.terms, motion, moment.u)
        _, _, slid, lost = self.columns.split(moment.contact)
        moment.v[...] = to_body(moment.q, motion.w)
        before = np.concatenate((np.zeros(len(self.columns.forces) + len(slid)), slid, lost))
        moment.contact[...] = before + self._record.write(motion, forces)

    def _check_slip(self, moment: Moment) -> None:
        """Raises `InputError` if a wheel slips whose law is "rolling"."""
        rates, phi = self.vehicle.constraint_error(moment.t, moment.q, moment.v)
        size = STILL * max(self.terms.speed, self.terms.fastest(moment.v))
        slips = {c.name: slip for c in self.terms.contacts if c.mu == np.inf
                 and phi[c.height] <= TOUCHING * self.terms.size and rates[c.normal] <= size
                 and (slip := float(np.linalg.norm(rates[list(c.along)]))) > size}
        if slips:
            name, slip = next(iter(slips.items()))
            raise InputError(f"wheel {name!r} slips with {slip:.3g} m/s and has law='rolling': "
                             "give speeds at which it rolls, or law='coulomb'")

    def end(self, moment: Moment) -> None:
        """Ends the phase: from here on all wheels roll."""
        forces, phases, _, _ = self.columns.split(moment.contact)
        forces[...] = np.nan
        phases[...] = self._record.resting

    # -- steps -------------------------------------------------------------------------------------
    def advance(self, moment: Moment, dt: float) -> tuple[np.ndarray, ...]:
        """x (nconf,), q, v and the numbers of the contacts after a step of dt [s]. Raises
        `SimulationError` if the step has no solution."""
        try:
            motion = self._motion(moment.t, moment.x, moment.q, moment.v, moment.contact, dt)
            motion = self.nonsmooth.advance(motion, moment.u, dt)
            good = bool(np.isfinite(motion.x).all() and np.isfinite(motion.w).all())
        except np.linalg.LinAlgError:
            good = False
        if not good:
            raise SimulationError(explain_fall(self._simulated, moment)
                                  if self._simulated.constrained.guard_names else
                                  f"stopped at t = {moment.t:.6g} s: the step of {dt:g} s gave "
                                  "numbers that are not finite")
        q = self.terms.configuration(motion.x)
        return motion.x, q, to_body(q, motion.w), self._record.write(motion, motion.impulses / dt)

    def efforts(self, moment: Moment, u: np.ndarray, rows: Sequence[int], columns: Sequence[int],
                wanted: Sequence[float], h: float) -> np.ndarray | None:
        """As `ContactInverseDynamics.efforts`; None if all wheels roll and can go on rolling:
        the equations of rolling give the efforts then."""
        rolls = not is_sliding(moment)
        numbers = np.zeros_like(moment.contact) if rolls else moment.contact
        motion = self._motion(moment.t, moment.x, moment.q, moment.v, numbers)
        found, goes_on = self._inverse_dynamics.efforts(motion, u, rows, columns, wanted, h)
        return None if rolls and goes_on else found

    def numbers(self, state: State) -> np.ndarray:
        """The recorded numbers of the contacts (`ContactColumns`) at a state of a run."""
        return state.values[-EXTRA - len(self.columns):-EXTRA]

    def contacts(self, state: State) -> ContactMoment:
        """The phases and forces of the contacts at a state of a run."""
        return self.columns.moment(self.numbers(state), self.vehicle, state.t, state.q, self.mu)

    def slides(self, state: State) -> bool:
        """Whether wheels slide or fly at a state of a run."""
        return not isnan(self.numbers(state).item(0))

    def acceleration(self, state: State, numbers: np.ndarray) -> np.ndarray:
        """dv/dt (nv,) at a state in which wheels slide; `numbers`: those of its contacts."""
        x = state.values[state.layout.nq + state.layout.nv:]
        motion = self._motion(state.t, x, state.q, state.v, numbers)
        return accelerate(self.terms, motion, state.u)[0]

    def _motion(self, t: float, x: np.ndarray, q: np.ndarray, v: np.ndarray,
                numbers: np.ndarray, dt: float = 0.0) -> Motion:
        return self._record.read(numbers, t, x[:self.terms.nconf].copy(), q, v, dt)


@once
def _bodies(vehicle: Vehicle) -> BodyContacts:
    return BodyContacts.of(vehicle)


@once
def lowest_body_function(vehicle: Vehicle) -> ca.Function:
    """(t, q, theta) -> height of the lowest point of a body (1,)."""
    s = vehicle.constrained.system
    heights = _bodies(vehicle).heights
    return ca.Function("lowest_body", [s.t, s.q, s.theta], [ca.densify(ca.mmin(heights))])


def is_sliding(moment: Moment) -> bool:
    """Whether wheels may slide or fly: contact forces are recorded only then."""
    return bool(moment.contact.size) and not isnan(moment.contact.item(0))


def _read_restitution(value: float | Mapping[str, float], wheels: Sequence[str]) -> np.ndarray:
    given = dict(value) if isinstance(value, Mapping) else dict.fromkeys(wheels, value)
    for wheel, e in given.items():
        read_word("restitution: wheel", wheel, wheels)
        if not (is_finite(e) and 0 <= e <= 1):
            raise InputError(f"restitution of {wheel!r} is {e!r}; it is a number from 0, for a "
                             "wheel that stays down, to 1")
    return np.array([float(given.get(wheel, 0.0)) for wheel in wheels])


def _read_stiffness(value: Mapping[str, float] | None, vehicle: Vehicle,
                    contacts: Sequence[str]) -> np.ndarray | None:
    """Stiffness of each contact [N/m]: the given one, else `Wheel.stiffness`, else `<kp>` of the
    file, else the mean of the others. None if none is known."""
    described, wheels = vehicle.description, vehicle.contact_names
    own = {wheel.name: wheel.stiffness for wheel in described.wheels if wheel.stiffness}
    given = dict(read_mapping("stiffness", {} if value is None else value, "wheel -> [N/m]"))
    for wheel, k in given.items():
        read_word("stiffness: wheel", wheel, wheels)
        if not (is_finite(k) and k > 0):
            raise InputError(f"stiffness of {wheel!r} is {k!r}; it is a positive number [N/m]")
    known = {**described.stiffness, **own, **given}
    if not known:
        return None
    mean = float(np.mean(list(known.values())))
    return np.array([float(known.get(name, mean)) for name in contacts])


def choose_contact(simulated: Simulated, contact: str | None, mu: object, restitution: object,
                   stiffness: object, *, kinematic: bool,
                   bodies: bool = False) -> CoulombContact | None:
    """A `CoulombContact` for the wheels and, if `bodies` is set, for bodies; None if all wheels
    only roll. Raises `InputError` for arguments that contradict each other."""
    described = None if simulated.vehicle is None else simulated.vehicle.description
    if contact != "coulomb" and not sliding_wheels(described, contact):
        if bodies:
            raise InputError("a vehicle that falls goes on by Coulomb's law: on_fall=\"go-on\" "
                             "needs contact=\"coulomb\" too",
                             Remedy("Give contact=\"coulomb\", mu=0.6 too",
                                    "Give --on-slip go-on --mu 0.6 too"))
        for name, value in (("mu", mu), ("restitution", restitution), ("stiffness", stiffness)):
            if value is not None and value != 0.0:
                raise InputError(f"{name} = {value!r} has no effect on ideal rolling: give "
                                 "contact=\"coulomb\" too")
        return None
    if kinematic:
        raise InputError("wheels that slide by Coulomb friction need forces, and a kinematic "
                         "run has none: its speeds are commanded",
                         Remedy("Leave mode=\"kinematic\" out", "Leave --mode kinematic out"))
    points = (None if simulated.vehicle is None or not bodies
              else _bodies(simulated.vehicle))
    return CoulombContact(simulated, mu, restitution, stiffness,   # type: ignore[arg-type]
                          contact, points)
