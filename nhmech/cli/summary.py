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


def print_summary(trajectory: Trajectory, failed: bool = False) -> dict[str, Any]:
    """Print what became of a run: what makes it doubtful, why it ended and where, contacts, limits;
    return its `analysis.run_summary`. `failed`: whether it stopped by a failure, which has been
    reported already."""
    from ..analysis.run_summary import run_summary
    from ..urdf.notice import unsaid

    found = run_summary(trajectory)
    end = found["end"]
    vehicle = trajectory.simulated.vehicle
    said = () if vehicle is None else vehicle.notices
    print_rows("notice", *(one.command_line for one in unsaid(trajectory.notices, said)))
    print_rows("stopped", "by a failure" if failed else
               f"{trajectory.stop} at t = {trajectory.t[-1]:.6g} s")
    print_rows("end", f"x {end['x']:+.4f} m  y {end['y']:+.4f} m  "
                      f"yaw {degrees(end['yaw']):+.2f} deg")
    if trajectory.contact is not None:
        print_rows("contact", *contact_lines(trajectory))
    print_rows("limit", *first_spans(trajectory, "limits"))
    return found


def print_figures(found: dict[str, Any], wall: float) -> None:
    """Print energy, constraint residuals and speed of a run. `found`: its `analysis.run_summary`;
    `wall`: how long it took [s]."""
    residuals, duration = found["residuals"], found["t"][1] - found["t"][0]
    print_rows("energy", f"{found['start']['energy']:.6g} J at the start, "
                         f"{found['end']['energy']:.6g} J at the end")
    print_rows("rolling", f"max |A v + b| / max(1, |v|) {residuals['rows']:.1e}   "
                          f"max |phi| {residuals['heights']:.1e} m")
    print_rows("time", f"{duration:.4g} s simulated in {wall:.3g} s, "
                       f"{duration / max(wall, 1e-9):.3g} x real time")


def print_rows(name: str, *texts: str) -> None:
    """Print lines of the summary, which begin with their name."""
    for text in texts:
        click.echo(f"{name:<8} {text}")


def contact_lines(trajectory: Trajectory) -> list[str]:
    """The phases of the wheels, the first intervals; and the energy lost by sliding."""
    lost = trajectory.friction_loss
    return [*first_spans(trajectory, "phases"),
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


def first_spans(trajectory: Trajectory, name: str) -> list[str]:
    """The first few of `Trajectory.phases` or `.limits`, and how many more there are."""
    spans = getattr(trajectory, name)
    more = [f"and {len(spans) - SPANS} more: Trajectory.{name}"] if len(spans) > SPANS else []
    return [*map(str, spans[:SPANS]), *more]
