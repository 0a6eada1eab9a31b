"""The summary of a run as plain values, which `nhmech run` prints and `--json` writes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..checks import check_arguments
from ..simulation.runs.trajectory import Trajectory
from ..simulation.state import planar_pose
from .residuals import residuals


@check_arguments
def run_summary(trajectory: Trajectory) -> dict[str, Any]:
    """The summary of a run: JSON values in SI units.

    Parameters
    ----------
    trajectory
        The run, of one recorded state or more.

    Returns
    -------
    dict
        "name"; "t", first and last time [s]; "states", how many were recorded; "stop"; "start" and
        "end", of a vehicle x, y [m] and yaw [rad] of the base, then the columns of
        `Trajectory.columns`, at the first and the last state; "residuals", the largest
        |A v + b| / max(1, |v|) and |phi| [m], as `residuals` has them; "limits", when a joint was
        at one; "events", pairs of time [s] and name; "notices"; of a run with Coulomb friction
        "phases", "slid" [m] and "friction_loss" [J] by wheel.

    Examples
    --------
    >>> from nhmech.analysis import run_summary
    >>> found = run_summary(Simulator(vehicle).run(0.1))
    >>> found["name"], found["stop"], found["end"]["x"]
    ('differential_drive', 'duration', 0.0)
    """
    rows, heights = residuals(trajectory)
    named = trajectory.simulated.vehicle or trajectory.simulated.example
    found: dict[str, Any] = {
        "name": None if named is None else named.name,
        "t": [float(trajectory.t[0]), float(trajectory.t[-1])],
        "states": len(trajectory),
        "stop": trajectory.stop,
        "start": _state(trajectory, 0),
        "end": _state(trajectory, -1),
        "residuals": {"rows": rows, "heights": heights},
        "limits": [asdict(span) for span in trajectory.limits],
        "events": [[t, name] for t, name in trajectory.events],
        "notices": [notice.text for notice in trajectory.notices],
    }
    if trajectory.contact is not None:
        found["phases"] = [{"start": span.start, "end": span.end,
                            "wheels": {name: phase.name.lower()
                                       for name, phase in span.wheels.items()}}
                           for span in trajectory.phases]
        for name in ("slid", "friction_loss"):
            found[name] = {wheel: float(way[-1])
                           for wheel, way in getattr(trajectory, name).items()}
    return found


def _state(trajectory: Trajectory, k: int) -> dict[str, float]:
    """The recorded state k by column."""
    columns = {name: float(column.values[k]) for name, column in trajectory.columns().items()}
    if trajectory.simulated.vehicle is None:
        return columns
    return dict(zip(("x", "y", "yaw"), planar_pose(trajectory.q[k]))) | columns
