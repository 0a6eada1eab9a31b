"""The state in which a run begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from ..checks import read_mapping
from ..errors import InputError
from .arguments import read_speeds
from .propagator import Propagator
from .simulated import Simulated


def begin(propagator: Propagator, q: np.ndarray,
          xi: Mapping[str, float] | Sequence[float] | None, v: Mapping[str, float] | None) -> None:
    """Puts the motion at q, at t = 0, at rest or with speeds; as `Simulator.reset` takes them.

    Raises
    ------
    InputError
        For speeds that do not exist or contradict each other, and for a state off the manifold of
        the motion.
    ModelError
        Where the constraints lose rank at q.
    """
    full = _read_velocities(propagator, v, xi)
    atlas, simulated = propagator.atlas, propagator.simulated
    v_names = simulated.constrained.system.algebroid.v_names
    speeds = read_speeds(xi, atlas.primary.equations.names, v_names)
    propagator.start(q)
    if speeds:
        _set_speeds(propagator, speeds, [v_names.index(name) for name in speeds])
    if full is None:
        _check_manifold(propagator)
        propagator.settle()
    else:
        propagator.moment.v[...] = full
        propagator.slip()


def _read_velocities(propagator: Propagator, v: Mapping[str, float] | None,
                     xi: object) -> np.ndarray | None:
    """v (nv,); None where none are given. Raises `InputError` for what cannot be a start."""
    if v is None:
        return None
    if propagator.coulomb is None:
        raise InputError("reset(v=...) gives velocities that need not roll: it is for "
                         "Simulator(..., contact=\"coulomb\", mu=0.6); reset(xi=...) gives the "
                         "speeds of ideal rolling")
    if xi is not None:
        raise InputError("reset takes xi= or v=, not both")
    names = propagator.simulated.constrained.system.algebroid.v_names
    given = read_speeds(read_mapping("v", v, "speed -> number"), names, names)
    return np.array([given.get(name, 0.0) for name in names])


def _set_speeds(propagator: Propagator, speeds: Mapping[str, float], places: list[int]) -> None:
    """The independent speeds of the present chart, from fibre coordinates that determine them."""
    chart, moment, simulated = propagator.atlas.chart, propagator.moment, propagator.simulated
    wanted = np.array(list(speeds.values()))
    found, error = chart.inverse_dynamics.fit_speeds(
        0.0, moment.q, simulated.theta, places, wanted, _tyre_slip(simulated))
    if error > 1e-9 * max(1.0, np.abs(wanted).max()):
        raise InputError(f"the speeds {speeds} contradict the constraints by {error:.3g}; "
                         f"independent here are {', '.join(chart.equations.names)}")
    moment.x[chart.state_vector.nconf:] = found


def _tyre_slip(simulated: Simulated) -> ca.Function | None:
    """Speeds with which tyres slip; None where no wheel has one."""
    vehicle = simulated.vehicle
    found = None if vehicle is None else vehicle.functions.slip
    return found if found is not None and found.numel_out(0) else None


def _check_manifold(propagator: Propagator) -> None:
    chart, moment, simulated = propagator.atlas.chart, propagator.moment, propagator.simulated
    xi = moment.x[chart.state_vector.nconf:]
    v = chart.equations.velocity(0.0, moment.q, xi, simulated.theta).full().ravel()
    simulated.check_invariant(moment.q, v)
