"""The numbers, tables and lists of a report."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from ..analysis.energy_balance import energy_balance
from ..analysis.mobility import mobility
from ..analysis.residuals import residuals
from ..analysis.rolling_limits import RunValidity
from ..analysis.summary import mechanics_summary
from ..control.path_reference import PathError, write_lateral
from ..errors import MechanicsError
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated
from ..vehicle.friction import own_friction
from ..vehicle.vehicle import Vehicle
from . import report_page as html
from .drawing import as_words, colour
from .judgement import Judgement


def report_title(simulated: Simulated) -> tuple[str, str]:
    """The title of the page, and what stands below it."""
    vehicle = simulated.vehicle
    if vehicle is not None:
        kinds = sorted({str(wheel.kind).replace("_", " ")
                        for wheel in vehicle.description.wheels})
        count = len(vehicle.contacts)
        return (vehicle.name.replace("_", " "),
                f"{count} {' and '.join(kinds)} contact{'s' if count > 1 else ''}")
    if simulated.example is not None:
        example = simulated.example
        return example.title, f"textbook system {example.name}, {example.source}"
    return "A system written by hand", ""


def main_numbers(trajectory: Trajectory, simulated: Simulated, judged: Judgement,
                 error: PathError | None) -> list[tuple[str, str]]:
    """(number, what it is) in large type."""
    found = []
    balance = energy_balance(trajectory, simulated)
    slip, height = residuals(trajectory, simulated)
    if simulated.vehicle is not None:
        distance = np.linalg.norm(np.diff(trajectory.q[:, :2], axis=0), axis=1).sum()
        found.append((f"{distance:.3g} m", "travelled by the base's origin"))
    if judged.along is not None:
        use = judged.along.hardest.use[0]
        if not np.isfinite(use):
            found.append(("lift-off", "some wheel leaves the ground"))
        elif np.isfinite(judged.along.states[0].worst.mu):
            found.append((f"{100 * use:.0f} %", "of the friction used at most"))
        else:
            found.append((f"{use:.2g}", "friction coefficient needed"))
    if error is not None:
        rms, most = write_lateral(error.lateral)
        found.append((rms, f"RMS from the path, {most} at most"))
    if balance.known and not balance.ground:
        size = max(np.abs(balance.total).max(), np.ptp(balance.inputs))
        rest = _format_error(np.abs(balance.rest).max())
        found.append((f"{rest} J", f"of {size:.3g} J unaccounted for"))
    found.append((_format_error(max(slip, height)), "largest constraint residual"))
    return found


def _format_error(value: float) -> str:
    return f"{value:.1e}" if value else "0"


def contact_table(vehicle: Vehicle, judged: Judgement, slid: Mapping[str, float]) -> str:
    """The contacts, their held directions and their loads; `slid`, the friction coefficients of a
    run in which wheels may slide."""
    components, kept = vehicle.contact_rows, set(vehicle.frame.kept)
    columns, rows = ["contact", "kind", "radius [mm]", "held directions"], []
    for wheel, contact in zip(vehicle.description.wheels, vehicle.contacts):
        held = [held.direction if row in kept else f"({held.direction})"
                for held, row in components.items() if held.contact == contact.name]
        driven = " (driven)" if wheel.joint in vehicle.driven else ""
        rows.append([as_words(contact.name) + driven, str(wheel.kind).replace("_", " "),
                     f"{1e3 * wheel.radius:.4g}" if wheel.radius else "–", ", ".join(held)])
    heading = "Contacts"
    if any("(" in row[3] for row in rows):
        heading += " (directions in parentheses follow from the others)"
    if judged.along is None:
        columns.append("mu")
        for row, (name, own) in zip(rows, own_friction(vehicle).items()):
            mu = slid.get(name, own)
            row.append("–" if mu is None else f"{mu:g}")
    else:
        columns += ["mu", "normal force [N]", "needs mu", "at t [s]"]
        for row, contact in zip(rows, vehicle.contacts):
            row += _load_cells(judged.along, contact.name)
    for row, wheel in zip(rows, vehicle.description.wheels):
        if not wheel.traits.held:      # a ball without friction, whatever the ground's is
            row[columns.index("mu")] = "–"
    numbers = [i for i, column in enumerate(columns)
               if column.endswith("]") or column.startswith(("mu", "needs"))]
    swatches = [colour(vehicle, name) for name in vehicle.contact_names]
    return html.section(heading, html.table(columns, rows, swatches, numbers))


def _load_cells(along: RunValidity, contact: str) -> list[str]:
    """Friction coefficient, range of the normal force, friction needed, and when."""
    loads = [state[contact] for state in along.states]
    normal = np.array([load.normal for load in loads])
    needed = np.array([load.kindest for load in loads])
    most = int(np.argmax(needed))
    is_needed = needed[most] > 0
    return [f"{loads[0].mu:g}" if np.isfinite(loads[0].mu) else "–",
            f"{normal.min():.4g} … {normal.max():.4g}",
            f"{needed[most]:.2g}" if is_needed else "–",
            f"{along[most].t:.4g}" if is_needed else "–"]


def describe_constraints(trajectory: Trajectory, simulated: Simulated) -> dict[str, str]:
    """Coordinates, speeds and constraints, and how well they were kept."""
    system, distribution = simulated.constrained.system, simulated.constrained.distribution
    slip, height = residuals(trajectory, simulated)
    names, units = simulated.equations.names, simulated.equations.units
    speeds = ", ".join(f"{as_words(name)} [{unit or '-'}]" for name, unit in zip(names, units))
    found = {
        "configuration": f"{system.algebroid.nq} coordinates, {system.algebroid.nv} velocities",
        "independent": f"{len(names)}: {speeds}",
    }
    if simulated.vehicle is not None:
        summary = mechanics_summary(simulated.vehicle)
        found["rows"] = (f"{len(summary['rows'])}, of which {len(summary['kept_rows'])} are "
                         f"independent; {distribution.phi.numel()} are holonomic")
        if summary["followers"]:
            followers = ", ".join(map(as_words, summary["followers"]))
            leaders = " and ".join(map(as_words, summary["leaders"]))
            found["coupled steering"] = f"{followers} follow {leaders}"
        with suppress(MechanicsError):  # some vehicles have none that is defined
            found["mobility"] = mobility(simulated.vehicle).type_in_words
        found["symmetry"] = summary["symmetry"].replace("_joint", "").replace("_", " ")
    else:
        found["constraints"] = ", ".join(distribution.names) or "none"
    found["residuals"] = f"|A v + b| / max(1, |v|) ≤ {_format_error(slip)}"
    if distribution.phi.numel():
        found["residuals"] += f", |phi| ≤ {_format_error(height)}"
    return found


def settings_table(trajectory: Trajectory) -> dict[str, str]:
    """The settings of the run."""
    known = trajectory.settings
    found = {"mode": "kinematic: speeds are commanded" if trajectory.kinematic else "dynamic"}
    if "import" in known:
        found["log"] = str(known["import"].get("file"))
        found["mended"] = "; ".join(known["import"].get("notes", ())) or "nothing"
    elif known:
        found["integrator"] = f"{known['integrator']}, dt = {known['dt']:g} s"
        found["controller"] = "none"
        if known["controller"] is not None:
            found["controller"] = f"{known['controller']}, every {known['control_period']:g} s"
    else:
        found["integrator"] = "not noted in this file, which is older than that"
    if len(trajectory) > 1:
        found["recorded"] = (f"every {np.median(np.diff(trajectory.t)):.4g} s, "
                             f"from {trajectory.t[0]:g} to {trajectory.t[-1]:.6g} s")
    events = [f"{name} at {t:.6g} s" for t, name in trajectory.events[:6]]
    found["events"] = "; ".join(events) or "none"
    if trajectory.is_system_known and trajectory.limits:
        spans = trajectory.limits
        more = f"; and {len(spans) - 6} more" if len(spans) > 6 else ""
        found["limits"] = "; ".join(map(str, spans[:6])) + more
    cut_off = ": what the file holds so far" if trajectory.stop == "cut off" else ""
    found["ended by"] = f"{trajectory.stop}{cut_off}"
    if "versions" in known:
        found["versions"] = ", ".join(f"{package} {version}"
                                      for package, version in known["versions"].items())
    return found
