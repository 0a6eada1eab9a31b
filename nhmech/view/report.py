"""A run on one page: what moved, whether ideal rolling held, pictures, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as File

import numpy as np

from ..analysis.energy_balance import energy_balance
from ..analysis.mobility import mobility
from ..analysis.residuals import residuals
from ..analysis.rolling_limits import RunValidity, run_validity
from ..analysis.summary import mechanics_summary
from ..analysis.validity import Verdict
from ..control.path import Path
from ..control.path_reference import PathError, path_error
from ..errors import MechanicsError
from ..paths import replace_file
from ..simulation.simulated import Simulated
from ..simulation.trajectory import Trajectory
from ..vehicle.vehicle import Vehicle
from ..version import __version__
from . import plots, report_page as html
from .drawing import colour, svg, words
from .system_tracks import tracks

JUDGED = 200        # recorded states at which friction is judged at most, besides those of events
OPEN = (
    "whether it holds depends on how the wheels share the load, which rigid bodies do not determine"
)


@dataclass(frozen=True)
class Judgement:
    """kind ("good", "doubt", "bad" or "none"), a headline, what else there is to say, and what it
    rests on."""

    kind: str
    headline: str
    details: str
    along: RunValidity | None = None


def report_html(trajectory: Trajectory, *, name: str = "",
                mu: float | Mapping[str, float] | None = None,
                path: Path | None = None, vehicle: Vehicle | None = None) -> str:
    """One self-contained HTML page, without scripts; its pictures are vectors.

    What a run does not have (forces of a kinematic one, wheels of a textbook system) is said to be
    missing.

    Parameters
    ----------
    name
        Of the run, for the line below the title.
    mu
        Friction coefficient of all wheels, or by wheel; else those of the wheels.
    path
        What the base's origin was to follow; else what the run's controller followed, where the
        file knows.
    vehicle
        In the place of the one that the run was made with.

    Raises
    ------
    SimulationError
        Where the run does not say what was simulated, and no vehicle is given.
    """
    simulated = trajectory.simulated if vehicle is None else Simulated.of(vehicle)
    vehicle = simulated.vehicle
    judged = judgement(trajectory, vehicle, mu)
    error = None if vehicle is None else path_error(vehicle, trajectory, path)
    title, below = _title(simulated)
    length = f"{trajectory.t[-1] - trajectory.t[0]:.4g} s in {len(trajectory)} recorded states"
    under = " · ".join(filter(None, [below, length, f"stopped by {trajectory.stop}", name]))
    body = [html.verdict_box(judged.kind, judged.headline, judged.details),
            html.facts(_facts(trajectory, simulated, judged, error)),
            _wheels(vehicle, judged),
            html.columns([*_figures(trajectory, simulated, judged, error, mu),
                          html.section("Constraints",
                                       html.pairs(_constraints(trajectory, simulated)),
                                       _remarks(vehicle)),
                          html.section("How it was run", html.pairs(_settings(trajectory)))])]
    return html.page(title, under, body, _footer(judged))


def save_report(trajectory: Trajectory, file, **options) -> File:
    """Writes a report of a run as one HTML file; returns its path.

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


def judgement(trajectory: Trajectory, vehicle: Vehicle | None,
              mu: float | Mapping[str, float] | None = None) -> Judgement:
    """Whether ideal rolling held along a run, in words.

    E.g. "Ideal rolling held with mu = 0.8; most used 0.31 by left wheel at t = 2.1 s"."""
    if vehicle is None:
        return Judgement(
            "none", "No wheels, no verdict on friction",
            "A textbook system has constraints, but nothing that says what holds them.",
        )
    if trajectory.kinematic:
        return Judgement("none", "Speeds were commanded: no forces, no verdict on friction",
                         "A kinematic run says where the vehicle goes, not what the ground must "
                         "hold. Run it with efforts for a verdict.")
    try:
        found = run_validity(trajectory, mu, every=max(1, len(trajectory) // JUDGED))
    except MechanicsError as error:
        return Judgement("none", "No verdict on friction", str(error))
    first = found.describe().splitlines()[0]
    for contact in vehicle.contact_names:
        first = first.replace(contact, words(contact))
    where = f"judged at {len(found)} of {len(trajectory)} states"
    doubted, failed = found.first(Verdict.POSSIBLE), found.first(Verdict.FAILS)
    if found.events or failed is not None:
        headline, *more = first.split("; ", 1)
        details = "The exact moment is found by nhmech run --mu --on-slip warn; " if more else ""
        if doubted is not None and doubted.t < (found.until or 0.0):
            details += f"from t = {doubted.t:.4g} s on, {OPEN}; "
        return Judgement("bad", _sentence(headline), _sentence(details + where), found)
    hardest = max(found.states, key=lambda state: state.use[0])
    worst = hardest.worst
    if not np.isfinite(worst.mu):
        return Judgement("none",
                         f"Every wheel stays down; ideal rolling needs mu ≥ {worst.kindest:.2g}",
                         f"by {words(worst.wheel)} at t = {hardest.t:.4g} s. No friction "
                         f"coefficient is known, so nothing is judged; {where}",
                         found)
    known = sorted({one.mu for state in found.states[:1] for one in state.wheels
                    if np.isfinite(one.mu)})
    limits = " and ".join(f"{value:g}" for value in known)
    used = f"most used {worst.kindest:.2g} by {words(worst.wheel)} at t = {hardest.t:.4g} s"
    if doubted is not None:
        return Judgement("doubt", f"Ideal rolling possible with mu = {limits}; {used}",
                         f"First at t = {doubted.t:.4g} s, {OPEN}; {where}", found)
    return Judgement("good", f"Ideal rolling held with mu = {limits}; {used}",
                     f"However the wheels share the load, none lifts off and none slips; {where}",
                     found)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _title(simulated: Simulated) -> tuple[str, str]:
    if simulated.vehicle is not None:
        kinds = sorted({wheel.kind.replace("_",
                                           " ") for wheel in simulated.vehicle.description.wheels})
        n = len(simulated.vehicle.contacts)
        return simulated.vehicle.name.replace(
            "_", " "
        ), f"{n} {' and '.join(kinds)} contact{'s' if n > 1 else ''}"
    if simulated.example is not None:
        from ..systems import load_system

        example = load_system(simulated.example)
        return example.title, f"textbook system {simulated.example}, {example.source}"
    return "A system written by hand", ""


def _facts(trajectory: Trajectory, simulated: Simulated, judged: Judgement,
           error: PathError | None) -> list[tuple[str, str]]:
    """Numbers in large type."""
    found, balance, (slip, height) = (
        [],
        energy_balance(trajectory, simulated),
        residuals(trajectory, simulated),
    )
    if simulated.vehicle is not None:
        way = np.linalg.norm(np.diff(trajectory.q[:, :2], axis=0), axis=1).sum()
        found.append((f"{way:.3g} m", "way of the base's origin"))
    if judged.along is not None and np.isfinite(
        use := max(state.use[0] for state in judged.along.states)
    ):
        known = np.isfinite(judged.along.states[0].worst.mu)
        share = f"{100 * use:.0f} %", "of the friction used at most"
        found.append(share if known else (f"{use:.2g}", "friction coefficient needed"))
    elif judged.along is not None:
        found.append(("lift-off", "some wheel leaves the ground"))
    if error is not None:
        rms, most = np.sqrt(np.mean(error.lateral ** 2)), np.abs(error.lateral).max()
        found.append((f"{1e3 * rms:.3g} mm", f"RMS from the path, {1e3 * most:.3g} mm at most"))
    if balance.known and not balance.ground:
        size = max(np.abs(balance.total).max(), np.ptp(balance.inputs))
        found.append((f"{_tiny(np.abs(balance.rest).max())} J", f"of {size:.3g} J unaccounted for"))
    found.append((_tiny(max(slip, height)), "largest constraint residual"))
    return found


def _tiny(value: float) -> str:
    return f"{value:.1e}" if value else "0"


def _figures(trajectory: Trajectory, simulated: Simulated, judged: Judgement,
             error: PathError | None,mu) -> list[str]:
    vehicle, found = simulated.vehicle, []

    def add(drawn, heading: str, caption: str, wide: bool = False) -> None:
        found.append(html.figure(svg(drawn[0], f"f{len(found)}", heading), heading, caption, wide))

    if vehicle is not None:
        drawn = plots.path(vehicle, trajectory, error=error)
        if few := len(vehicle.contacts) <= 4:
            plots.legend(drawn[1])
        colours = "" if few else ", colours as in the table"
        follow = "" if error is None else "; broad: the path to follow"
        add(drawn, "Path",
            f"Tracks of the contact points{colours}; dashed: the base's origin{follow}")
        if not trajectory.kinematic:
            limited = (
                any(np.isfinite(one.mu) for one in judged.along[0].wheels)
                if judged.along is not None
                else False
            )
            add(plots.friction(vehicle, trajectory, mu), "Forces against friction",
                "What each wheel needs along the ground, and "
                + ("what friction can hold (shaded)" if limited else "its normal force"))
        if error is not None:
            add(plots.tracking(vehicle, trajectory, error=error), "Controller error",
                f"Of the point that is to stay on the path: {error.describe()}")
        if trajectory.commanded_twist is not None and np.isfinite(trajectory.commanded_twist).any():
            add(plots.twist(vehicle, trajectory), "Twist",
                "Of the base: what the controller commanded, and what was driven")
    else:
        drawn = tracks(simulated, trajectory)
        if drawn is not None:
            add(drawn, "Path", "Tracks of the system's bodies, seen from above")
    balance = energy_balance(trajectory, simulated)
    add(plots.energy(simulated, trajectory), "Energy balance", "Since the start" + (
        "; a kinematic run does not know the efforts" if not balance.known else ""))
    joints, independent = (
        set(simulated.joint_names) if vehicle is not None else set(),
        trajectory.names["xi"],
    )
    if joints - set(independent):
        add(plots.joint_rates(vehicle, trajectory), "Joint rates", "Of all moving joints" + (
            f"; independent: {', '.join(map(words, independent))}"
            if joints >= set(independent) else ""))
    if not joints >= set(independent) or joints == set(independent):
        add(plots.speeds(simulated, trajectory), "Quasi-velocities",
            f"The {len(independent)} independent speeds of the run")
    if (
        vehicle is not None
        and trajectory.names["u"]
        and not trajectory.kinematic
        and trajectory.u.any()
    ):
        add(plots.efforts(vehicle, trajectory), "Efforts", "Of the driven joints" + (
            ", and external wrenches" if vehicle.wrench_bodies else ""))
    if vehicle is None:
        add(plots.coordinates(simulated, trajectory), "Coordinates", "All of q", wide=True)
    return found


def _wheels(vehicle: Vehicle | None, judged: Judgement) -> str:
    if vehicle is None:
        return ""
    kept = {vehicle.constrained.distribution.names[i] for i in vehicle.frame.kept}
    columns, rows = ["contact", "kind", "radius [mm]", "held directions"], []
    for wheel, contact in zip(vehicle.description.wheels, vehicle.contacts):
        names = [d for d in contact.held
                 if f"{contact.name}/{d}" in vehicle.constrained.distribution.names]
        held = ", ".join(d if f"{contact.name}/{d}" in kept else f"({d})" for d in names)
        rows.append([words(contact.name) + (" (driven)" if wheel.joint in vehicle.driven else ""),
                     wheel.kind.replace("_", " "),
                     f"{1e3 * wheel.radius:.4g}" if wheel.radius else "–", held])
    if judged.along is not None:
        columns += ["mu", "normal force [N]", "needs mu", "at t [s]"]
        for row, contact in zip(rows, vehicle.contacts):
            loads = [state[contact.name] for state in judged.along.states]
            normal, needed = np.array([one.normal
                                       for one in loads]), np.array([one.kindest for one in loads])
            most = int(np.argmax(needed))
            row += [f"{loads[0].mu:g}" if np.isfinite(loads[0].mu) else "–",
                    f"{normal.min():.4g} … {normal.max():.4g}",
                    *((f"{needed[most]:.2g}", f"{judged.along[most].t:.4g}") if needed[most] > 0
                      else ("–", "–"))]
    else:
        columns.append("mu")
        for row, wheel in zip(rows, vehicle.description.wheels):
            row.append("–" if wheel.mu is None else f"{wheel.mu:g}")
    numbers = [
        i
        for i, column in enumerate(columns)
        if column.endswith("]") or column.startswith(("mu", "needs"))
    ]
    dropped = any("(" in row[3] for row in rows)
    heading = "Contacts" + (" (directions in parentheses follow from the others)" if dropped
                            else "")
    swatches = [colour(vehicle, name) for name in vehicle.contact_names]
    return html.section(heading, html.table(columns, rows, swatches, numbers))


def _constraints(trajectory: Trajectory, simulated: Simulated) -> dict[str, str]:
    system, distribution = simulated.constrained.system, simulated.constrained.distribution
    slip, height = residuals(trajectory, simulated)
    names, units = simulated.equations.names, simulated.equations.units
    speeds = ", ".join(f"{words(name)} [{unit or '-'}]" for name, unit in zip(names, units))
    found = {
        "configuration": f"{system.algebroid.nq} coordinates, {system.algebroid.nv} velocities",
        "independent": f"{len(names)}: {speeds}",
    }
    if simulated.vehicle is not None:
        summary = mechanics_summary(simulated.vehicle)
        found["rows"] = (f"{len(summary['rows'])}, of which {len(summary['kept_rows'])} are "
                         f"independent; {distribution.phi.numel()} are holonomic")
        if summary["couplings"]:
            followers = ", ".join(words(name.rpartition("/")[0]) for name in summary["couplings"])
            found["coupled steering"] = (
                f"{followers} follow {' and '.join(words(name) for name in summary['leaders'])}"
            )
        try:
            found["mobility"] = mobility(simulated.vehicle).type_in_words
        except MechanicsError:
            pass
        found["symmetry"] = summary["symmetry"].replace("_joint", "").replace("_", " ")
    else:
        found["constraints"] = ", ".join(distribution.names) or "none"
    found["left of them"] = f"|A v + b| / max(1, |v|) ≤ {_tiny(slip)}"
    if distribution.phi.numel():
        found["left of them"] += f", |phi| ≤ {_tiny(height)}"
    return found


def _settings(trajectory: Trajectory) -> dict[str, str]:
    known = trajectory.settings
    found = {"mode": "kinematic: speeds are commanded" if trajectory.kinematic else "dynamic"}
    if known:
        found["integrator"] = f"{known['integrator']}, dt = {known['dt']:g} s"
        found["controller"] = "none"
        if known["controller"] is not None:
            found["controller"] = f"{known['controller']}, each {known['control_period']:g} s"
    else:
        found["integrator"] = "not noted in this file: it is older than that"
    if len(trajectory) > 1:
        found["recorded"] = (f"each {np.median(np.diff(trajectory.t)):.4g} s, "
                             f"from {trajectory.t[0]:g} to {trajectory.t[-1]:.6g} s")
    found["events"] = "; ".join(f"{name} at {t:.6g} s" for t,
                                name in trajectory.events[:6]) or "none"
    found["ended by"] = trajectory.stop + (": what the file holds so far"
                                           if trajectory.stop == "cut off" else "")
    if known:
        found["versions"] = ", ".join(f"{package} {version}" for package,
                                      version in known["versions"].items())
    return found


def _remarks(vehicle: Vehicle | None) -> str:
    notices = () if vehicle is None else vehicle.notices
    return html.notes([str(notice) for notice in notices]) if notices else ""


def _footer(judged: Judgement) -> str:
    text = f"Made by nhmech {__version__}. SI units."
    if judged.along is not None and len(judged.along[0].wheels) > 1:
        text += (" What rigid bodies leave open of how wheels share the load: forces are drawn in "
                 "the split of least norm with normals ≥ 0, the friction that a wheel needs is "
                 "that of the kindest split.")
    return text
