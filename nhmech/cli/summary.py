"""What is said of a run: what to know before it, and what it came to, on one screen."""

from __future__ import annotations

from math import degrees

import click
import numpy as np

from ..simulation.state import planar_pose

NOTICES = 5      # that are told before a run


def print_notices(vehicle) -> None:
    """Prints what a user should know of the vehicle before it runs, a line each; to standard
    error."""
    from ..urdf.notice import NoticeKind

    notices = [notice for notice in vehicle.notices if notice.kind is not NoticeKind.DRIVEN_FROM]
    for notice in notices[:NOTICES]:
        click.echo(f"notice   {notice.command_line}", err=True)
    if len(notices) > NOTICES:
        click.echo(f"notice   and {len(notices) - NOTICES} more: nhmech inspect", err=True)


def print_summary(vehicle, trajectory, wall: float, failed: bool = False) -> None:
    """Prints duration, end pose, residue of the constraints, energy and speed of a run that took
    `wall` seconds.

    Parameters
    ----------
    failed
        Whether it stopped by a failure, which has been told already.
    """
    from ..analysis.residuals import residuals
    from ..simulation.simulated import Simulated

    t, energy = np.asarray(trajectory.t), np.asarray(trajectory.energy)
    x, y, yaw = planar_pose(trajectory.q[-1])
    slip, height = residuals(trajectory, Simulated.of(vehicle))
    duration = t[-1] - t[0]
    rows = [
        (
            "time",
            f"{duration:.4g} s simulated in {wall:.3g} s, {duration / max(wall, 1e-9):.3g} x real time",
        ),
        ("end", f"x {x:+.4f} m  y {y:+.4f} m  yaw {degrees(yaw):+.2f} deg"),
        ("rolling", f"max |A v + b| / max(1, |v|) {slip:.1e}   max |phi| {height:.1e} m"),
        ("energy", f"{energy[0]:.6g} J at the start, {energy[-1]:.6g} J at the end"),
        ("stopped", "by a failure" if failed else str(trajectory.stop)),
    ]
    for name, text in rows:
        click.echo(f"{name:<8} {text}")
