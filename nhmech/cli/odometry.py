"""`nhmech odometry`: logged odometry, judged by the ideal rolling of its own wheels."""

from __future__ import annotations

import json
from math import degrees
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .logged import LogOptions, log_options
from .options import OutputFile, Positive, RobotOptions, load_robot, robot_options

if TYPE_CHECKING:
    from ..odometry.referee import OdometryReport

FOUND = 1     # exit code of --check where something is wrong
PICTURES = (".pdf", ".svg", ".png")


@click.command(short_help="Check logged odometry against ideal rolling of the wheels.")
@click.argument("bag", type=click.Path(path_type=Path))
@log_options
@click.option("--truth", metavar="TOPIC",
              help="Ground-truth poses (motion capture, a simulator), to tell slip from odometry "
                   "errors.")
@click.option("--window", type=Positive(), metavar="SECONDS", default=0.5, show_default=True,
              help="Length of the windows in which slip is detected.")
@click.option("--plot", type=OutputFile(*PICTURES), metavar="FILE",
              help="Plot tracks and residuals, with --truth those of the truth.")
@click.option("--check", is_flag=True, help="Exit with code 1 if something is wrong.")
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON, in SI units.")
@robot_options
def odometry(bag: Path, log: LogOptions, truth: str | None, window: float, plot: Path | None,
             check: bool, as_json: bool, robot: RobotOptions) -> None:
    """Replay the wheels and the steering of BAG through the ideal rolling of a vehicle, and say
    where the logged poses contradict them.

    BAG is a rosbag of ROS 1 (.bag), of ROS 2 (.mcap, .db3, or the folder), or a table (.csv).

    \b
    nhmech odometry drive.mcap --vehicle robot.urdf
    nhmech odometry drive.bag --vehicle robot.urdf --pose /odom --truth /mocap/pose
    nhmech odometry drive.csv --vehicle differential_drive --plot drive.svg --json

    What passes is slip. What lasts is a radius, a wheel separation, a wheelbase, a sign, swapped
    wheels, a sensor that stands elsewhere, a lateral velocity or a clock; the numbers that fit
    best are printed with their standard errors, as lines for diff_drive_controller where it can
    drive the vehicle.
    """
    from ..logs.recording import read_recording
    from ..odometry.referee import judge_odometry
    from ..odometry.verdicts import tell_apart

    vehicle = load_robot(log.vehicle, robot)
    recording = read_recording(bag)
    joints = recording.joints(log.joints).rename(dict(log.rename))
    reports = {"odometry" if truth else "poses":
               judge_odometry(vehicle, joints, recording.poses(log.pose), window=window)}
    if truth is not None:
        reports["truth"] = judge_odometry(vehicle, joints, recording.poses(truth), window=window)
    answer = "" if truth is None else tell_apart(*(one.findings for one in reports.values()))
    if as_json:
        found = {name: to_dict(report) for name, report in reports.items()}
        click.echo(json.dumps({**found, "answer": answer} if answer else found, indent=2))
    else:
        for name, report in reports.items():
            print_report(name, report)
        if answer:
            click.secho("answer   ", bold=True, nl=False)
            click.echo(answer)
    if plot is not None:
        from ..view import plots

        *_, last = reports.values()
        plots.write(plots.odometry(last)[0], plot)
        click.echo(f"wrote    {plot}", err=as_json)
    if check and any(report.findings for report in reports.values()):
        raise click.exceptions.Exit(FOUND)


def to_dict(report: OdometryReport) -> dict[str, Any]:
    """As JSON; None for a number that was not requested or is undetermined."""
    windows = report.windows
    return {
        "vehicle": report.vehicle.name,
        "joints": report.topics[0],
        "poses": report.topics[1],
        "start": float(report.t[0]),
        "end": float(report.t[-1]),
        "way": report.way,
        "findings": [finding.as_dict() for finding in report.findings],
        "estimate": {name: {"value": value, "error": error if error == error else None}
                     for name, (value, error) in
                     ((name, report.estimate[name]) for name in report.estimate.names)},
        "parameters": report.parameters,
        "windows": [{"start": start, "end": end, "forward": left[0], "lateral": left[1],
                     "turning": left[2], "threshold": threshold, "exceeds": exceeds}
                    for start, end, left, threshold, exceeds in
                    zip(windows.start.tolist(), windows.end.tolist(), windows.left.tolist(),
                        windows.threshold.tolist(), windows.exceeds.tolist())],
    }


def print_report(name: str, report: OdometryReport) -> None:
    """Print what was compared, what was found, and the numbers that fit best."""
    from ..odometry.findings import at

    windows = report.windows
    click.secho(f"{name:<8} {report.topics[1]}", bold=True, nl=False)
    click.echo(f" against {report.topics[0]} of {report.vehicle.name}: {len(report.t)} poses, "
               f"{at(report.t[0])} to {at(report.t[-1])} s, {report.way:.4g} m")
    noise = windows.noise
    click.echo(f"windows  {len(windows)} of {windows.end[0] - windows.start[0]:.3g} s, "
               f"{int(windows.exceeds.sum())} above threshold; noise {1e3 * noise[0]:.2g} mm "
               f"forward, {1e3 * noise[1]:.2g} mm sideways, {degrees(noise[2]):.2g} deg")
    for finding in report.findings or ():
        click.secho("found    ", fg="yellow", nl=False)
        click.echo(str(finding))
    if not report.findings:
        click.echo("found    nothing: the poses agree with ideal rolling")
    for line in report.lines():
        click.echo(f"fit      {line}")
    for key, (value, error) in report.parameters.items():
        click.echo(f"    {key}: {value:.5f}  # +- {error:.2g}")

