"""Linear-quadratic regulator about any steady motion of any vehicle, from its exact
linearisation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..analysis.equilibria import Equilibrium, SteadyMotions
from ..analysis.linearise import Linearisation, linearise
from ..analysis.variations import Variations
from ..checks import check_arguments, read_array, read_positive, read_word
from ..errors import MechanicsError, ModelError
from ..simulation.state import State, base_pose
from ..vehicle.couplings import PLANAR, level_twists
from ..vehicle.vehicle import Vehicle
from .riccati import read_weights, regulator
from .steady_reference import SteadyReference
from .unicycle import unicycle

ANGLE = 0.3                                   # [rad] that costs one unit
BASE = ("forward", "lateral", "vertical")     # displacements of the base's origin
TURNS = 8                                     # members of the family from straight ahead to a turn
# of a twist: by so much the part that follows from the others may be off, as that of a base which
# leans in a turn
FOLLOWS = 1e-3
COUPLED = 1e-9                                # entries of A below this part of the largest are none


@check_arguments
class LQR:
    """Linear-quadratic regulator about a steady motion, from the exact linearisation.

    u = u* - K z with z = (eta, xi - xi*), the displacement from the steady motion (q*, xi*, u*) and
    the difference of speeds. d/dt z = A z + B (u - u*) is the exact linearisation (`linearise`); K
    solves the algebraic Riccati equation (`regulator`) for the cost sum g_i (z_i / s_i)^2 + sum g_j
    (u_j / s_j)^2. The scales s are the vehicle's: its length L for displacements, 0.3 rad for
    angles, both per sqrt(L / gravity) for speeds; a wheel's angle counts as the distance it rolls;
    the scale of an input is the least that changes some speed by that speed's scale in this time.

    `K`, `P` (cost to go), `names`, `units`, `inputs`, `closed_loop` (A - B K).

    Parameters
    ----------
    vehicle
        A vehicle with driven joints.
    twist
        (forward [m/s], lateral [m/s], yaw rate [rad/s]) of the base in a steady motion near the
        upright pose, found with the efforts as unknowns; or an `Equilibrium`. None means at rest.
    keep
        Names of ignorable displacements to control as well ("forward", "lateral", "yaw", a wheel's
        joint): the position of the steady motion at time t then belongs to the reference.
        Displacements on which they depend are included.
    drop
        Names of states to leave out, whose influence on the others is neglected; a sequence, or one
        string with commas or spaces.
    inputs
        Names of the driven joints to use; all if empty.
    weights
        Weights g by name of a state; 1 each.
    effort
        Weight of all inputs; or weights by name.
    period
        Control period [s] for which u is held; continuous if None.

    Raises
    ------
    InputError
        For unknown names.
    ModelError
        If there is no such steady motion, or if it cannot be stabilised; the error names the mode.
    """

    def __init__(self, vehicle: Vehicle, twist: Equilibrium | Sequence[float] | None = None, *,
                 keep: str | Iterable[str] = "", drop: str | Iterable[str] = "",
                 inputs: str | Iterable[str] = "", weights: Mapping[str, float] | None = None,
                 effort: float | Mapping[str, float] = 1.0, period: float | None = None):
        keep, drop = _read_words(keep), _read_words(drop)
        self.vehicle, variations = vehicle, Variations(vehicle)
        self.commanded_twist: np.ndarray | None = None
        if isinstance(twist, Equilibrium):
            m = self.motion = twist
        else:
            still = (0.0, 0.0, 0.0)
            m = self.motion = steady_motion(vehicle, still if twist is None else twist, variations)
            self.commanded_twist = None if twist is None else np.array(twist, dtype=float)
        point = variations.at(m.q, m.xi, m.u, ignorable=bool(keep))
        linear = linearise(variations, m.q, m.xi, m.u, ignorable=bool(keep))
        self.inputs = _read_words(inputs) or vehicle.driven
        _check_names("drop: state", drop, linear.names)
        _check_names("keep: displacement", keep, linear.names)
        _check_names("inputs: joint", self.inputs, vehicle.driven)
        states = _select_states(linear, keep, drop)
        self.names = tuple(linear.names[i] for i in states)
        self.units = tuple(linear.units[i] for i in states)
        efforts = effort if isinstance(effort, Mapping) else dict.fromkeys(self.inputs, effort)
        _check_names("effort: joint", efforts, self.inputs)
        efforts = {name: read_positive("effort", weight) for name, weight in efforts.items()}
        weights = read_weights(weights, self.names)
        columns = [linear.inputs.index(name) for name in self.inputs]
        self.A, self.B = linear.A[np.ix_(states, states)], linear.B[np.ix_(states, columns)]
        self.scales = state_scales(vehicle, self.names, self.units)
        self.input_scales = input_scales(vehicle, self.B, self.scales)
        self.Q = np.diag([weights.get(name, 1.0) / scale ** 2
                          for name, scale in zip(self.names, self.scales)])
        self.R = np.diag([efforts.get(name, 1.0) / scale ** 2
                          for name, scale in zip(self.inputs, self.input_scales)])
        self.K, self.P = regulator(
            self.A, self.B, self.Q, self.R, names=self.names, inputs=self.inputs,
            of=repr(vehicle.name), period=period)
        self._kept = set(keep)
        self._read = point.reduce[states]
        held = set(self.names) & {*BASE, "yaw"} if keep else set()
        self.reference_input = m.u[:len(vehicle.driven)].copy()
        self._columns = [vehicle.driven.index(name) for name in self.inputs]
        self.reference = SteadyReference(vehicle, m.q, point.v, heading="yaw" in held,
                                         place=bool(held & set(BASE)))

    def __repr__(self) -> str:
        return f"LQR({self.vehicle.name!r}, states={self.names}, inputs={self.inputs})"

    @property
    def closed_loop(self) -> np.ndarray:
        """A - B K, (n, n)."""
        return self.A - self.B @ self.K

    @property
    def start(self) -> dict:
        """Arguments for `Simulator.reset`: on the steady motion."""
        return {"q": self.motion.q,
                "xi": dict(zip(self.vehicle.speeds, map(float, self.motion.xi)))}

    def error(self, t: float, state: State) -> np.ndarray:
        """z (n,)."""
        eta = self.reference.displacement(t, state, self._kept.__contains__)
        speeds = np.array([state.xi[name] for name in self.vehicle.speeds])
        return self._read @ np.concatenate([eta, speeds - self.motion.xi])

    def __call__(self, t: float, state: State) -> np.ndarray:
        u = self.reference_input.copy()
        u[self._columns] -= self.K @ self.error(t, state)
        return u


def steady_motion(vehicle: Vehicle, twist: Sequence[float] | np.ndarray,
                  variations: Variations | None = None) -> Equilibrium:
    """The steady motion nearest to the upright pose with a base twist, and the efforts it takes.
    `twist`: (forward [m/s], lateral [m/s], yaw rate [rad/s]) along the ground."""
    variations = Variations(vehicle) if variations is None else variations
    motions, q = SteadyMotions(variations, vehicle.driven), vehicle.configuration()
    point = variations.at(q, np.zeros(variations.xi.numel()))
    values = read_array("twist", twist, (3,), "forward [m/s], lateral [m/s] and yaw rate [rad/s]")
    # in the frame of a base that may lean
    level = level_twists(base_pose(q)[:3, :3].T @ vehicle.placer.normal)[[*PLANAR]]
    names = "forward_speed", "lateral_speed", "yaw_rate"
    wanted = dict(zip(names, map(float, level @ values)))
    rows = [variations.space.v_names.index(name) for name in names]
    straight, kept = _straight(vehicle, values)
    guess = np.linalg.lstsq(point.E[rows], level @ straight - point.v[rows], rcond=1e-9)[0]
    try:
        if not straight.any():
            return motions.find(q, guess, conditions=wanted)
        start = motions.find(q, guess, conditions=dict(zip(names, level @ straight)))
        # gradually, as it leans into the turn
        turns = np.linspace(0.0, wanted["yaw_rate"], TURNS + 1)[1 if values[2] else TURNS + 1:]
        conditions = {names[i]: wanted[names[i]] for i in kept}
        last = [start, *motions.family(start, "yaw_rate", turns, conditions)][-1]
        missed = np.abs(last.v[rows] - level @ values).max()
        return last if missed <= FOLLOWS * np.linalg.norm(values) else motions.find(
            last.q, last.xi, last.u, conditions=wanted)
    except MechanicsError as error:
        given = ", ".join(f"{name} {value:g}" for name, value in zip(names, values))
        raise ModelError(f"{vehicle.name!r} has no steady motion with {given} near its upright "
                         f"pose: {error}. Ask for a twist that its wheels allow (a car turns only "
                         "while it rolls), or give the steady motion itself, from "
                         "SteadyMotions(vehicle).find(...)") from error


def _straight(vehicle: Vehicle, twist: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """The twist (3,) straight ahead from which one that turns is reached, and the parts that it
    has in common with it: of a base that its wheels bar, one part of the speed follows from the
    other and the turn, wherever its origin is."""
    try:
        point = unicycle(vehicle)
    except ModelError:
        point = None
    if point is None or point.free:
        return twist * (1, 1, 0), (0, 1)
    ahead = point.twist(1.0, 0.0)
    part = int(abs(ahead[1]) > abs(ahead[0]))
    return twist[part] / ahead[part] * ahead, (part,)


def state_scales(vehicle: Vehicle, names: Sequence[str], units: Sequence[str]) -> np.ndarray:
    """The size of each state that costs one unit, from the vehicle's length and gravity, (n,)."""
    length, g = vehicle.steering.length, vehicle.parameters.values["gravity"]
    rolled = rolling_radii(vehicle)
    scales = []
    for name, unit in zip(names, units):
        joint = name.removesuffix("'")
        if joint in rolled:
            size = length / rolled[joint]
        else:
            size = length if unit.startswith("m") else ANGLE
        scales.append(size * np.sqrt(g / length) if unit.endswith("/s") else size)
    return np.array(scales)


def rolling_radii(vehicle: Vehicle) -> dict[str, float]:
    """Joint of each wheel -> its radius [m]."""
    wheels = [contact.mount.wheel for contact in vehicle.contacts]
    return {wheel.joint: wheel.radius for wheel in wheels if wheel.joint is not None}


def input_scales(vehicle: Vehicle, B: np.ndarray, scales: np.ndarray,
                 time: float | None = None) -> np.ndarray:
    """The least of each input that changes some state by its scale in a time [s], (nu,).

    If the time is None, it is the vehicle's sqrt(L / gravity).
    """
    if time is None:
        time = np.sqrt(vehicle.steering.length / vehicle.parameters.values["gravity"])
    effect = (np.abs(B) / scales[:, None]).max(axis=0, initial=0.0) * time
    return 1 / np.where(effect > 0, effect, 1.0)


def _select_states(linear: Linearisation, keep: tuple[str, ...],
                   drop: tuple[str, ...]) -> list[int]:
    """Indices of all states, without what is dropped; where displacements are kept, of those and
    the speeds, and of all that their rates depend on."""
    dropped = [i for i, name in enumerate(linear.names) if name in drop]
    if not keep:
        return [i for i in range(len(linear.names)) if i not in dropped]
    first_speed = len(linear.names) - len(linear.drift)
    start = [i for i, name in enumerate(linear.names) if name in keep or i >= first_speed]
    return depends_on(linear.A, start, dropped)


def depends_on(A: np.ndarray, start: Iterable[int], without: Iterable[int] = ()) -> list[int]:
    """The least set of states with `start` whose rates depend on the set alone, apart from those in
    `without`."""
    linked, out = np.abs(A) > COUPLED * np.abs(A).max(initial=0.0), set(without)
    found: set[int] = set()
    pending = [i for i in start if i not in out]
    while pending:
        i = pending.pop()
        if i not in found:
            found.add(i)
            pending += [int(j) for j in np.flatnonzero(linked[i]) if j not in out]
    return sorted(found)


def _check_names(what: str, given: Iterable[str], names: Sequence[str]) -> None:
    for name in given:
        read_word(what, name, names)


def _read_words(given: str | Iterable[str]) -> tuple[str, ...]:
    return tuple(given.replace(",", " ").split()) if isinstance(given, str) else tuple(given)
