"""A run on one page: the vehicle, the verdict on ideal rolling, pictures, and the settings."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path as File
from typing import Any

from ..checks import check_arguments
from ..control.path import Path
from ..control.path_reference import path_error
from ..ctrl_c import hear_ctrl_c
from ..paths import replace_file
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated
from ..urdf.notice import unsaid
from ..vehicle.vehicle import Vehicle
from ..version import __version__
from . import report_page as html
from .judgement import Judgement, judgement
from .report_figures import report_figures
from .report_tables import (
    contact_table,
    describe_constraints,
    main_numbers,
    report_title,
    settings_table,
)


def report_html(trajectory: Trajectory, *, name: str = "",
                mu: float | Mapping[str, float] | None = None,
                path: Path | None = None, vehicle: Vehicle | None = None) -> str:
    """A report as one self-contained HTML page without scripts; its figures are vectors.

    The page says what a run lacks: forces of a kinematic run, wheels of a textbook system. `name`
    of the run stands below the title. By default `mu` is that of the wheels, `path` the one that
    the run's controller followed, and `vehicle` the recorded one. Raises `SimulationError` if the
    run does not contain what was simulated and no vehicle is given.
    """
    simulated = trajectory.simulated if vehicle is None else Simulated.of(vehicle)
    vehicle = simulated.vehicle
    judged = judgement(trajectory, vehicle, mu)
    error = None if vehicle is None else path_error(vehicle, trajectory, path)
    title, below = report_title(simulated)
    length = f"{trajectory.t[-1] - trajectory.t[0]:.4g} s in {len(trajectory)} recorded states"
    under = " · ".join(filter(None, [below, length, f"stopped by {trajectory.stop}", name]))
    notices = [] if vehicle is None else [*vehicle.notices]
    if trajectory.is_system_known:
        notices += unsaid(trajectory.notices, notices)
    slid = trajectory.settings.get("mu", {})
    constraints = html.pairs(describe_constraints(trajectory, simulated))
    body = [html.verdict_box(judged.kind, judged.headline, judged.details),
            html.facts(main_numbers(trajectory, simulated, judged, error)),
            "" if vehicle is None else contact_table(vehicle, judged, slid),
            html.columns([
                *report_figures(trajectory, simulated, judged, error, mu),
                html.section("Constraints", constraints,
                             html.notes([*map(str, notices)]) if notices else ""),
                html.section("How it was run", html.pairs(settings_table(trajectory)))])]
    return html.page(title, under, body, _footer(trajectory, judged))


@check_arguments
@hear_ctrl_c()
def save_report(trajectory: Trajectory, file: str | PathLike[str], **options: Any) -> File:
    """Write a report of a run as one HTML file; returns its path.

    Parameters
    ----------
    trajectory
        The run.
    file
        The file to write, `.html`; it is written as a whole or not at all.
    options
        Of `report.report_html`, such as mu and path.

    Examples
    --------
    >>> run = Simulator(vehicle).run(0.1)
    >>> nhmech.view.save_report(run, tmp_path / "report.html", mu=0.8).name
    'report.html'
    """
    text = report_html(trajectory, **options)
    with replace_file(file) as new:
        new.write_text(text, encoding="utf-8")
    return File(file)


def _footer(trajectory: Trajectory, judged: Judgement) -> str:
    text = f"Made by nhmech {__version__}. SI units."
    if trajectory.limits:
        text += " Spans are shaded in which a joint is at one of its limits."
    if judged.along is not None and len(judged.along[0].wheels) > 1:
        text += (" Rigid bodies leave open how several wheels share a load: forces are drawn in "
                 "the split of least norm with normals ≥ 0; the friction that a wheel needs is "
                 "that of the kindest split.")
    return text
