"""Whether ideal rolling holds: the load of each wheel, and the friction that it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import overload

import numpy as np

from ..checks import check_arguments, read_vector, read_word
from ..once import cached_property
from ..vehicle.vehicle import Vehicle
from .contact_load import ContactLoad, contact_load
from .friction import coefficients, least_use, most_use, rough_use, shares, widest_split

TIGHT = 1e-9      # relative: a use of friction above 1 by less than this is rounding


class Verdict(Enum):
    """Whether ideal rolling is possible, over all ways of sharing the normal forces."""

    HOLDS = "ideal rolling holds, however the wheels share the load"
    POSSIBLE = ("ideal rolling is possible: it depends on how the wheels share the load, "
                "which rigid bodies do not determine")
    FAILS = (
        "ideal rolling fails: no way of sharing the load keeps every wheel down and without slip"
    )


@dataclass(frozen=True)
class WheelLoad:
    """Force of the ground on one wheel [N].

    That of the least-norm distribution with normal forces >= 0.

    Attributes
    ----------
    wheel
        Its name.
    normal, longitudinal, lateral
        Along the contact's directions (a mecanum wheel: the parts of its roller's force).
    needed
        |tangential| / normal: the friction coefficient it needs.
    kindest
        The same for the most favourable distribution.
    mu
        Its friction coefficient; inf if none is given.
    undetermined
        Direction -> (least, largest) value over all distributions with normal forces >= 0; infinite
        for wheels that press against each other.
    """

    wheel: str
    normal: float
    longitudinal: float
    lateral: float
    needed: float
    kindest: float
    mu: float
    undetermined: Mapping[str, tuple[float, float]]

    @property
    def margin(self) -> float:
        """mu - needed; negative if the wheel slips in this distribution."""
        return self.mu - self.needed

    def describe(self) -> str:
        """One line."""
        text = (f"{self.wheel}: normal {self.normal:.4g} N, longitudinal {self.longitudinal:.4g} "
                f"N, lateral {self.lateral:.4g} N")
        if self.needed:
            text += f", needs mu = {self.needed:.3g}" + (f" of {self.mu:.3g}"
                                                         if np.isfinite(self.mu) else "")
        return text


@dataclass(frozen=True, eq=False)
class Validity:
    """Ideal rolling at one state.

    Attributes
    ----------
    t
        [s].
    wheels
        In the vehicle's order.
    verdict
        HOLDS, POSSIBLE or FAILS.
    use
        Fraction of the available friction that the most demanding wheel needs, for the most and the
        least favourable distribution of the normal forces (tangential forces being distributed
        favourably); above 1 it slips. If no mu is known, the mu that is needed.
    lifted
        Whether no distribution has normal forces >= 0: a wheel lifts off, and the vehicle tips.
    sums
        (combination of undetermined forces, its determined value [N]).
    free
        Contacts that may slip sideways, released or in a mid-axle model; they are not judged.
    """

    t: float
    wheels: tuple[WheelLoad, ...]
    verdict: Verdict
    use: tuple[float, float]
    lifted: bool
    sums: tuple[tuple[str, float], ...]
    free: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Validity(t={self.t:.6g}, {self.verdict.name}: {self.reason()})"

    def __getitem__(self, wheel: str) -> WheelLoad:
        wheels = {one.wheel: one for one in self.wheels}
        return wheels[read_word("wheel", wheel, wheels)]

    @property
    def worst(self) -> WheelLoad:
        """The wheel that needs the largest fraction of its friction in the most favourable
        distribution; when one lifts off, the least loaded."""
        return _worst(self.wheels, self.lifted)

    def reason(self, call: Callable[[str], str] = str) -> str:
        """The wheel that fails, or would fail first; `call` maps a wheel's name to the printed
        one."""
        return _reason(self.worst, self.lifted, call)

    def describe(self) -> str:
        """The verdict, the wheels, and what is undetermined, in lines."""
        lines = [f"t = {self.t:.6g} s: {self.verdict.value} ({self.reason()})"]
        lines += [f"  {one.describe()}" for one in self.wheels]
        for one in self.wheels:
            for direction, (low, high) in one.undetermined.items():
                bounds = (f"between {low:.4g} and {high:.4g} N" if np.isfinite(low) else
                          "any force, because the wheels can press against each other")
                lines.append(f"  undetermined: {one.wheel}/{direction}, {bounds}")
        lines += [f"  determined: {text} = {value:.4g} N" for text, value in self.sums]
        if self.free:
            lines.append(f"  slides sideways by the model, not judged: {', '.join(self.free)}")
        return "\n".join(lines)


@check_arguments
def validity(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray,
             mu: float | Mapping[str, float] | None = None) -> Validity:
    """Whether the contact forces that ideal rolling needs are available at one state.

    A distribution of the normal forces is admissible if the tangential forces can then be
    distributed with |tangential| <= mu N at every wheel. One such distribution suffices: wheels
    that press against each other relax, and by the limit theorem (for given normal forces) no slip
    can start. As a function of the normal forces the use of friction is quasi-convex, so its
    largest value is attained at a vertex of the admissible set and is exact.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    t
        Time [s].
    q, v, u
        (nq,), (nv,), (nu,).
    mu
        One friction coefficient, one for each of some wheels, or None. Wheels without one use
        `Wheel.mu`, or else `<mu1>` and `<mu2>` of the file, and cannot slip if neither is given.

    Raises
    ------
    MechanicsError
        For a singular system.
    InputError
        For unknown wheels and numbers that are not positive.

    Examples
    --------
    >>> from nhmech.analysis import validity
    >>> state = Simulator(vehicle).step()
    >>> judged = validity(vehicle, state.t, state.q, state.v, state.u, mu=0.8)
    >>> judged.verdict.name, judged.wheels[0].wheel
    ('HOLDS', 'left_wheel_joint')
    """
    system = vehicle.constrained.system
    q = read_vector("q", q, system.algebroid.q_names)
    v = read_vector("v", v, system.algebroid.v_names)
    u = read_vector("u", u, system.u_names)
    return judge_load(vehicle, contact_load(vehicle, t, q, v, u), t, coefficients(vehicle, mu))


def judge_load(vehicle: Vehicle, load: ContactLoad, t: float, mu: Mapping[str, float]) -> Validity:
    """The same for a given contact load and the coefficient of each wheel."""
    known, weights = _weigh(mu)
    least, kindest = least_use(load, weights)
    most = max(least, most_use(load, weights))
    if not load.supported or (known and least > 1 + TIGHT):
        verdict = Verdict.FAILS
    else:
        verdict = Verdict.POSSIBLE if known and most > 1 + TIGHT else Verdict.HOLDS
    return Validity(t, _wheels(vehicle, load, kindest, mu), verdict, (least, most),
                    not load.supported, load.sums, _sliding(vehicle))


def can_roll(load: ContactLoad, mu: Mapping[str, float]) -> bool:
    """Whether the verdict is not FAILS, by one programme that ends when this is known."""
    if not load.supported or not _weigh(mu)[0]:
        return load.supported
    most = {wheel: value * (1 + TIGHT) for wheel, value in mu.items()}
    return widest_split(load, most, sign=True)[0] >= 0


def why_not(vehicle: Vehicle, load: ContactLoad, mu: Mapping[str, float]) -> str:
    """The reason for the verdict FAILS, without the harshest splits."""
    kindest = least_use(load, _weigh(mu)[1])[1]
    return _reason(_worst(_wheels(vehicle, load, kindest, mu), not load.supported),
                   not load.supported)


def _worst(wheels: Sequence[WheelLoad], lifted: bool) -> WheelLoad:
    if lifted:
        return min(wheels, key=lambda one: one.normal)
    return max(wheels, key=lambda one: (one.kindest / one.mu, one.kindest))


def _reason(one: WheelLoad, lifted: bool, call: Callable[[str], str] = str) -> str:
    wheel = call(one.wheel)
    if lifted:
        return f"{wheel} lifts off: the ground would have to pull it with {-one.normal:.3g} N"
    if not np.isfinite(one.mu):
        return f"{wheel}, needs mu = {one.kindest:.3g}"
    for digits in (3, 4, 6, 9):          # as many as show which of the two is larger
        needed, given = f"{one.kindest:.{digits}g}", f"{one.mu:.{digits}g}"
        if needed != given:
            relation = ">" if one.kindest > one.mu else "<="
            return f"{wheel}, needs mu = {needed} {relation} {given}"
    return f"{wheel}, needs all of mu = {one.mu:.3g}"


def _weigh(mu: Mapping[str, float]) -> tuple[bool, Mapping[str, float]]:
    """Whether a coefficient is known, and the divisor: 1 if none is."""
    known = any(np.isfinite(value) for value in mu.values())
    return known, mu if known else dict.fromkeys(mu, 1.0)


class JudgedStates(Sequence[Validity]):
    """`Validity` of many states, each computed on demand, with their verdicts and the hardest
    state."""

    def __init__(self, vehicle: Vehicle, loads: Sequence[ContactLoad], mu: Mapping[str, float]):
        self._vehicle = vehicle
        self.loads = loads
        self._mu = mu
        self._known, self._weights = _weigh(mu)
        self._rough = [rough_use(load, self._weights) for load in loads]
        self._judged: dict[int, Validity] = {}

    def __repr__(self) -> str:
        return f"<Judged {len(self)} states>"

    def __len__(self) -> int:
        return len(self.loads)

    @overload
    def __getitem__(self, k: int) -> Validity: ...

    @overload
    def __getitem__(self, k: slice) -> list[Validity]: ...

    def __getitem__(self, k: int | slice) -> Validity | list[Validity]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        k = range(len(self))[k]
        if k not in self._judged:
            load = self.loads[k]
            self._judged[k] = judge_load(self._vehicle, load, load.t, self._mu)
        return self._judged[k]

    @property
    def rolls(self) -> bool:
        """Whether any wheel is held along the ground; else all have tyres, or are free."""
        return any(not held.is_normal for held in self._vehicle.contact_rows)

    @cached_property
    def t(self) -> list[float]:
        """Their times [s]."""
        return [load.t for load in self.loads]

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """The verdict of each state, by the normal forces alone if no coefficient is known."""
        return [self._verdict(k) for k in range(len(self))]

    def _verdict(self, k: int) -> Verdict:
        """That of `judge_load`, without the kindest split, which takes a hundred times as long."""
        load, (shortest, most) = self.loads[k], self._rough[k]
        if most <= 1 or (load.supported and not self._known):
            return Verdict.HOLDS
        if shortest > 1 and not can_roll(load, self._mu):
            return Verdict.FAILS
        return Verdict.POSSIBLE if most_use(load, self._weights) > 1 + TIGHT else Verdict.HOLDS

    @cached_property
    def hardest(self) -> Validity:
        """The first of those that use most of their friction."""
        order = sorted(range(len(self)), key=lambda k: -self._rough[k][0])
        found = order[0]
        for k in order:
            if self._rough[k][0] < self[found].use[0]:
                break
            if (-self[k].use[0], k) < (-self[found].use[0], found):
                found = k
        return self[found]


def _wheels(vehicle: Vehicle, load: ContactLoad, kindest: np.ndarray,
            mu: Mapping[str, float]) -> tuple[WheelLoad, ...]:
    needed, kind, found = shares(load, load.split), shares(load, kindest), []
    for c in vehicle.contacts:
        force = {direction: float(f) for (wheel, direction),
                 f in zip(load.names, load.split) if wheel == c.name}
        angle = c.mount.wheel.roller_angle
        if angle is not None:
            force |= {"longitudinal": np.sin(angle) * force["roller"],
                      "lateral": np.cos(angle) * force["roller"]}
        loose = {component.direction: bounds for component, bounds in load.intervals.items()
                 if component.contact == c.name}
        found.append(WheelLoad(c.name, force["normal"], force.get("longitudinal", 0.0),
                               force.get("lateral", 0.0),
                               needed.get(c.name, 0.0), kind.get(c.name, 0.0), mu[c.name], loose))
    return tuple(found)


def _sliding(vehicle: Vehicle) -> tuple[str, ...]:
    return tuple(c.name for c in vehicle.contacts if "lateral" in c.held
                 and (c.name, "lateral") not in vehicle.contact_rows)
