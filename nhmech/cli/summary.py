"""The lines that `nhmech run` prints: notices about a vehicle, and the summary of its run."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees
from typing import TYPE_CHECKING, Any

import click
import numpy as np

if TYPE_CHECKING:
    from ..simulation.runs.trajectory import Trajectory
    from ..urdf.notice import Notice

SPANS = 6    # times at limits that are printed after it
NOTICES = 5  # that are printed before a run: more would push the run off the screen


def print_notices(notices: Sequence[Notice]) -> None:
    """Prints the notices about a vehicle before a run, a line each, to standard error."""
    from ..urdf.notice import NoticeKind

    notices = [notice for notice in notices if notice.kind is not NoticeKind.DRIVEN_FROM]
    for notice in notices[:NOTICES]:
        click.echo(f"notice   {notice.command_line}", err=True)
    if len(notices) > NOTICES:
        click.echo(f"notice   and {len(notices) - NOTICES} more: nhmech inspect", err=True)


def print_summary(trajectory: Trajectory, wall: float, failed: bool = False) -> dict[str, Any]:
    """Print duration, end pose, constraint residuals, energy and speed of a run; return its
    `analysis.run_summary`. `wall`: how long it took [s]. `failed`: whether it stopped by a failure,
    which has been reported already."""
    from ..analysis.run_summary import run_summary

    found = run_summary(trajectory)
    start, end, residuals = found["start"], found["end"], found["residuals"]
    duration = found["t"][1] - found["t"][0]
    factor = duration / max(wall, 1e-9)
    rows = [("time", f"{duration:.4g} s simulated in {wall:.3g} s, {factor:.3g} x real time"),
            ("end",
             f"x {end['x']:+.4f} m  y {end['y']:+.4f} m  yaw {degrees(end['yaw']):+.2f} deg"),
            ("rolling", f"max |A v + b| / max(1, |v|) {residuals['rows']:.1e}   "
             f"max |phi| {residuals['heights']:.1e} m"),
            ("energy", f"{start['energy']:.6g} J at the start, {end['energy']:.6g} J at the end"),
            ("stopped", "by a failure" if failed else describe_stop(trajectory))]
    if trajectory.contact is not None:
        rows += [("contact", text) for text in contact_lines(trajectory)]
    rows += [("limit", text) for text in limit_lines(trajectory)]
    # first what makes the rest doubtful
    rows = [("notice", notice.command_line) for notice in trajectory.notices] + rows
    for name, text in rows:
        click.echo(f"{name:<8} {text}")
    return found | {"wall_time": wall}


def contact_lines(trajectory: Trajectory) -> list[str]:
    """The phases of the wheels, the first intervals; and the energy lost by sliding."""
    spans = trajectory.phases
    more = len(spans) - SPANS
    lost = trajectory.friction_loss
    return [*map(str, spans[:SPANS]),
            *([f"and {more} more: Trajectory.phases"] if more > 0 else []),
            *(f"{wheel} slid {way[-1]:.4g} m and lost {lost[wheel][-1]:.4g} J"
              for wheel, way in trajectory.slid.items() if way[-1] > 0),
            *share_line(trajectory)]


def share_line(trajectory: Trajectory) -> list[str]:
    """The sharing of a load that is undetermined for rigid bodies among sliding wheels."""
    vehicle = trajectory.simulated.vehicle
    if vehicle is None or trajectory.rolled.all():
        return []
    rows = [row for held, row in vehicle.contact_rows.items() if held.is_normal]
    normals = vehicle.constraint_matrix(trajectory.q[0])[rows]
    if np.linalg.matrix_rank(normals, tol=1e-9) == len(rows):
        return []
    springs = "given" if "stiffness" in trajectory.settings else "equal"
    return [f"rigid bodies do not determine how {len(rows)} wheels share the load: shared as "
            f"by springs of {springs} stiffness"]


def limit_lines(trajectory: Trajectory) -> list[str]:
    """Joints at their limits, with times; the first few."""
    spans = trajectory.limits
    more = len(spans) - SPANS
    return [*map(str, spans[:SPANS]),
            *([f"and {more} more: Trajectory.limits"] if more > 0 else [])]


def describe_stop(trajectory: Trajectory) -> str:
    """The reason why the run ended; for an event also the time."""
    is_event = trajectory.stop.startswith("event: ")
    return trajectory.stop + (f" at t = {trajectory.t[-1]:.6g} s" if is_event else "")
