"""The state in which a run begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..checks import read_mapping, read_number
from ..errors import InputError, Remedy
from ..vehicle.bodies import BodyContacts
from ..vehicle.friction import as_commanded
from ..vehicle.posing import Pose
from ..vehicle.vehicle import Vehicle
from .arguments import read_speeds
from .contact.motion import TOUCHING
from .contact.nonsmooth_terms import NonsmoothTerms
from .least_squares import LeastSquares
from .propagator import Propagator
from .simulated import Simulated


@dataclass(frozen=True)
class Start:
    """The arguments of `Simulator.reset`."""

    pose: Pose | None = None
    joints: Mapping[str, float] | None = None
    xi: Mapping[str, float] | Sequence[float] | None = None
    q: np.ndarray | None = None
    v: Mapping[str, float] | None = None
    drop: float | None = None


def begin(propagator: Propagator, start: Start) -> None:
    """Sets the initial state, at t = 0.

    Raises
    ------
    InputError
        For speeds that do not exist or contradict each other, and for a state off the manifold of
        the motion.
    ModelError
        If the constraints lose rank at q.
    """
    xi, full = start.xi, _read_velocities(propagator, start)
    atlas, simulated = propagator.atlas, propagator.simulated
    v_names = simulated.constrained.system.algebroid.v_names
    speeds = read_speeds(xi, atlas.primary.equations.names, v_names)
    standing = (None if start.drop is None else start.pose if _is_upright(start.pose) else None)
    q = simulated.configuration(start.pose if start.drop is None else standing, start.joints,
                                start.q, full is not None)
    propagator.start(q)
    if speeds:
        full = _set_speeds(propagator, speeds, [v_names.index(name) for name in speeds])
    if start.drop is None:
        _check_bodies(propagator)
    if full is None:
        _check_manifold(propagator)
        propagator.settle()
    else:
        if start.drop is not None:
            _hang(propagator, start)
        propagator.moment.v[...] = full
        propagator.slip()


def _check_bodies(propagator: Propagator) -> None:
    """Raises `InputError` if a body that can touch the ground is below it."""
    coulomb, moment = propagator.coulomb, propagator.moment
    if coulomb is None or not coulomb.terms.bodies.links:
        return
    terms, x = coulomb.terms, propagator.atlas.chart.at_rest(moment.q)[:coulomb.terms.nconf]
    heights = terms.read_heights(x)
    lowest = int(heights.argmin())
    name = terms.contacts[lowest].name
    if name in terms.bodies.links and heights[lowest] < -TOUCHING * terms.size:
        raise InputError(f"{name} is {-heights[lowest]:.6g} m below the ground at this start",
                         Remedy("reset(pose=..., joints=..., drop=0.0) lifts the vehicle until "
                                "nothing is", "--drop 0.01 lifts the vehicle above it"))


def _is_upright(pose: Pose | None) -> bool:
    """Whether a pose does not prescribe roll and pitch."""
    return pose is None or np.shape(pose) == (3,)


def _hang(propagator: Propagator, start: Start) -> None:
    """Raises the vehicle until its lowest point is at the height `drop` of the start."""
    moment, vehicle, coulomb = propagator.moment, propagator.simulated.vehicle, propagator.coulomb
    assert vehicle is not None, "only wheels"
    assert coulomb is not None, "only Coulomb's law lets wheels fly"
    high = read_number("drop", start.drop, "a height [m] above the ground", least=0.0)
    q = moment.q if _is_upright(start.pose) else vehicle.posing.in_the_air(start.pose, start.joints)
    terms = coulomb.terms
    if not terms.bodies.links:
        terms = NonsmoothTerms.of(vehicle, 1.0, bodies=BodyContacts.of(vehicle))
    x = propagator.atlas.chart.at_rest(q)[:terms.nconf]
    lift = (high - terms.read_heights(x).min()) * np.array(vehicle.ground.normal)
    x[:3] += lift
    moment.x[:terms.nconf], moment.q[...] = x, terms.configuration(x)


def _read_velocities(propagator: Propagator, start: Start) -> np.ndarray | None:
    """v (nv,) of a start with wheels that may slide or fly; None if the vehicle rolls. Raises
    `InputError` for an impossible start."""
    given = {"v": start.v, "drop": start.drop}
    named = [f"{name}=" for name, value in given.items() if value is not None]
    if not named:
        return None
    if propagator.simulated.vehicle is None:
        raise InputError(f"reset({named[-1]}...) is for vehicles, whose wheels may slide or fly; "
                         "reset(xi={...}) takes the speeds of a system, by name")
    if propagator.coulomb is None:
        what = ("velocities that need not roll" if start.drop is None else
                "a start in the air, from which the vehicle falls")
        raise InputError(f"reset({named[-1]}...) gives {what}: it is for "
                         "Simulator(..., contact=\"coulomb\", mu=0.6); reset(xi=...) gives the "
                         "speeds of ideal rolling",
                         Remedy("Give contact=\"coulomb\", mu=0.6 too",
                                "Give --on-slip go-on --mu 0.6 too"))
    for other in ("xi", *(("q",) if start.drop is not None else ())):
        if getattr(start, other) is not None:
            raise InputError(f"reset takes {other}= or {named[-1]}, not both")
    names = propagator.simulated.constrained.system.algebroid.v_names
    speeds = read_speeds(read_mapping("v", start.v, "speed -> number"), names, names)
    return np.array([speeds.get(name, 0.0) for name in names])


def _set_speeds(propagator: Propagator, speeds: Mapping[str, float],
                places: list[int]) -> np.ndarray | None:
    """Sets the independent speeds of the present chart from fibre coordinates that determine them.
    Returns all velocities v (nv,) instead if only sliding wheels can have them."""
    chart, moment, simulated = propagator.atlas.chart, propagator.moment, propagator.simulated
    wanted = np.array(list(speeds.values()))
    found, error = chart.inverse_dynamics.fit_speeds(
        0.0, moment.q, simulated.theta, places, wanted, _tyre_slip(simulated))
    largest = 1e-9 * max(1.0, np.abs(wanted).max())
    if error <= largest:
        moment.x[chart.state_vector.nconf:] = found
        return None
    if propagator.coulomb is not None and simulated.vehicle is not None:
        v, unfit = _fit_scrubbing(simulated.vehicle, moment.q, places, wanted)
        if unfit <= largest:
            return v
    raise InputError(f"the speeds {speeds} contradict the constraints by {error:.3g}; "
                     f"independent here are {', '.join(chart.equations.names)}")


def _fit_scrubbing(vehicle: Vehicle, q: np.ndarray, places: list[int],
                   wanted: np.ndarray) -> tuple[np.ndarray, float]:
    """v (nv,) of the commanded motion, and its distance from the wanted values. Wheels of a vehicle
    that scrubs slide in it; those of any other vehicle roll."""
    commanded = as_commanded(vehicle)
    A, b, _ = commanded.functions.rows(0.0, q, commanded.theta)
    rows = np.vstack((A, np.eye(A.shape[1])[places]))
    right = np.concatenate((-b, wanted))
    v = LeastSquares(*rows.shape)(rows, right)
    return v, float(np.abs(rows @ v - right).max())


def _tyre_slip(simulated: Simulated) -> ca.Function | None:
    """The function of the slip speeds of tyres; None if no wheel has a tyre."""
    vehicle = simulated.vehicle
    found = None if vehicle is None else vehicle.functions.slip
    return found if found is not None and found.numel_out(0) else None


def _check_manifold(propagator: Propagator) -> None:
    chart, moment, simulated = propagator.atlas.chart, propagator.moment, propagator.simulated
    xi = moment.x[chart.state_vector.nconf:]
    v = chart.equations.velocity(0.0, moment.q, xi, simulated.theta).full().ravel()
    simulated.check_invariant(moment.q, v)
