"""What a run came to, on one screen."""

from __future__ import annotations

from math import degrees

import click
import numpy as np

from ..simulation.state import planar_pose


def print_summary(vehicle, trajectory, wall: float) -> None:
    """Prints duration, end pose, residue of the constraints, energy and speed of a run that took `wall` seconds."""
    from ..analysis.residuals import residuals
    from ..simulation.subject import Subject

    t, energy = np.asarray(trajectory.t), np.asarray(trajectory.energy)
    x, y, yaw = planar_pose(trajectory.q[-1])
    slip, height = residuals(trajectory, Subject.of(vehicle))
    duration = t[-1] - t[0]
    rows = [
        ("time", f"{duration:.4g} s simulated in {wall:.3g} s, {duration / max(wall, 1e-9):.3g} x real time"),
        ("end", f"x {x:+.4f} m  y {y:+.4f} m  yaw {degrees(yaw):+.2f} deg"),
        ("rolling", f"max |A v + b| / max(1, |v|) {slip:.1e}   max |phi| {height:.1e} m"),
        ("energy", f"{energy[0]:.6g} J at the start, {energy[-1]:.6g} J at the end"),
        ("stopped", str(trajectory.stop)),
    ]
    for name, text in rows:
        click.echo(f"{name:<8} {text}")
