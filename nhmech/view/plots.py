"""Pictures of a run and of a stability analysis, for papers: one function a picture, each returns (figure, axes).

A wheel has one colour in all of them. Needs matplotlib, the extra `plot`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..analysis.stability import Sweep
from ..errors import ModelError
from ..simulation.trajectory import Trajectory
from ..vehicle.multipliers import reactions
from ..vehicle.vehicle import Vehicle

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")   # Okabe, Ito
GREY = "0.45"
STYLE = {"font.size": 8, "axes.labelsize": 8, "axes.titlesize": 8, "legend.fontsize": 7, "xtick.labelsize": 7, "ytick.labelsize": 7,
         "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6, "lines.linewidth": 1.1, "legend.frameon": False,
         "axes.grid": True, "grid.linewidth": 0.3, "grid.color": "0.85", "pdf.fonttype": 42, "svg.fonttype": "none",
         "axes.formatter.useoffset": False, "figure.constrained_layout.use": True}
MOMENTS = 400       # ground forces are worked out at this many moments at most
QUIET = 1e-9        # a relative change of energy below this is rounding, and is drawn as none


@contextmanager
def _drawing():
    """matplotlib without a window, in the style of this file."""
    try:
        import matplotlib
    except ImportError as error:
        raise ModelError("pictures need matplotlib: pip install 'nhmech[plot]'") from error
    with matplotlib.rc_context(STYLE):
        yield


def _axes(axes, width: float = 3.4, height: float = 2.4, rows: int = 1):
    """The given axes, or those of a new figure [inches]."""
    if axes is not None:
        return (axes if rows == 1 else axes[0]).figure, axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, 1, sharex=rows > 1)


def colour(vehicle: Vehicle, wheel: str) -> str:
    """The wheel's colour, by its place among the contacts."""
    return COLOURS[vehicle.contact_names.index(wheel) % len(COLOURS)]


def _words(name: str) -> str:
    return name.removesuffix("_joint").replace("_", " ")


def _moments(trajectory: Trajectory, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, len(trajectory) - 1, min(most, len(trajectory))).astype(int))


def path(vehicle: Vehicle, trajectory: Trajectory, axes=None):
    """Tracks of the base's origin (grey) and of the wheels' contact points on the ground [m]."""
    with _drawing():
        figure, axes = _axes(axes)
        some = _moments(trajectory, 2 * MOMENTS)
        points = np.array([vehicle.contact_points(trajectory.q[i], trajectory.t[i]) for i in some])
        for k, name in enumerate(vehicle.contact_names):
            axes.plot(points[:, k, 0], points[:, k, 1], color=colour(vehicle, name), lw=0.8, label=_words(name))
        x, y = trajectory.q[:, 0], trajectory.q[:, 1]
        axes.plot(x, y, color=GREY, lw=0.8, ls=(0, (4, 2)), label="base origin")
        axes.plot(x[0], y[0], "o", color=GREY, ms=3.5, label="start")
        axes.set(xlabel="x [m]", ylabel="y [m]")
        axes.set_aspect("equal", adjustable="datalim")
        return figure, axes


def forces(vehicle: Vehicle, trajectory: Trajectory, mu: float | Mapping[str, float] | None = None, axes=None):
    """Normal force of each wheel [N] above; below its tangential force (solid) and what friction can hold, mu times normal (dotted).

    mu  friction coefficient of all wheels or by wheel; those of the description where None, and no limit where there is none
    """
    with _drawing():
        figure, axes = _axes(axes, 3.4, 3.4, rows=2)
        above, below = axes
        some, rolling = _moments(trajectory, MOMENTS), trajectory.t
        found = [reactions(vehicle, rolling[i], trajectory.q[i], trajectory.v[i], trajectory.u[i]).components for i in some]
        for wheel, name in zip(vehicle.description.wheels, vehicle.contact_names):
            normal = np.array([f[name].get("normal", np.nan) for f in found])
            sides = np.array([[value for direction, value in f[name].items() if direction != "normal"] or [np.nan] for f in found])
            kind = {"color": colour(vehicle, name), "label": _words(name)}
            above.plot(rolling[some], normal, **kind)
            below.plot(rolling[some], np.linalg.norm(sides, axis=1), **kind)
            limit = mu.get(name) if isinstance(mu, Mapping) else wheel.mu if mu is None else mu
            if limit is not None:
                below.plot(rolling[some], limit * normal, color=kind["color"], ls=(0, (1, 1.5)), lw=1.0)
        above.set_ylabel("normal [N]")
        below.set(xlabel="time [s]", ylabel="tangential [N]")
        above.set_ylim(bottom=min(0.0, above.get_ylim()[0]))             # below zero a wheel would pull at the ground: shown, not cut off
        below.set_ylim(bottom=0.0)
        return figure, axes


def energy(vehicle: Vehicle, trajectory: Trajectory, axes=None):
    """Kinetic plus potential energy less that at the start [J]; what is only rounding is drawn as zero and its size is written."""
    with _drawing():
        figure, axes = _axes(axes)
        values = np.array([vehicle.energy(t, q, v) for t, q, v in zip(trajectory.t, trajectory.q, trajectory.v)])
        change = values - values[0]
        kinetic = max(np.ptp(values), abs(values).max(), 1e-300)
        quiet = np.abs(change).max() <= QUIET * kinetic
        axes.plot(trajectory.t, np.zeros_like(change) if quiet else change, color=COLOURS[0])
        if quiet:
            axes.set_ylim(-1, 1)
            words = f"{values[0]:.6g} J, constant to {np.abs(change).max():.1g} J"
            axes.text(0.5, 0.62, words, transform=axes.transAxes, ha="center", fontsize=7)
        axes.set(xlabel="time [s]", ylabel="change of energy [J]")
        return figure, axes


def speeds(vehicle: Vehicle, trajectory: Trajectory, axes=None):
    """Quasi-velocities: rates of turning above [rad/s], speeds below [m/s]; only the kinds that occur."""
    units = dict(zip(vehicle.speeds, vehicle.equations().units))
    kinds = [unit for unit in ("rad/s", "m/s") if unit in units.values()] or ["rad/s"]
    with _drawing():
        figure, axes = _axes(axes, 3.4, 1.2 + 1.2 * len(kinds), rows=len(kinds)) if axes is None else (axes[0].figure, axes)
        shown = np.atleast_1d(axes)
        wheels = {wheel.joint: contact for wheel, contact in zip(vehicle.description.wheels, vehicle.contact_names)}
        others = iter((GREY, "#332288", "#882255", "#117733", "#661100", "#6699CC"))
        for name, unit in units.items():
            line = colour(vehicle, wheels[name]) if name in wheels else next(others, "black")
            shown[kinds.index(unit)].plot(trajectory.t, trajectory.column(name), color=line, label=_words(name))
        for ax, unit in zip(shown, kinds):
            ax.set_ylabel(f"quasi-velocity [{unit}]")
            ax.legend(loc="best")
        shown[-1].set_xlabel("time [s]")
        return figure, axes


def run(vehicle: Vehicle, trajectory: Trajectory, mu: float | Mapping[str, float] | None = None):
    """Path, ground forces, energy and quasi-velocities on one page; the axes by name."""
    with _drawing():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.0, 5.6))
        FigureCanvasAgg(figure)
        kinds = len(set(vehicle.equations().units) & {"rad/s", "m/s"}) or 1
        layout = [["path", "normal"], ["path", "tangential"], ["energy", "speeds0"], ["energy", f"speeds{kinds - 1}"]]
        by = figure.subplot_mosaic(layout)
        path(vehicle, trajectory, by["path"])
        forces(vehicle, trajectory, mu, (by["normal"], by["tangential"]))
        energy(vehicle, trajectory, by["energy"])
        speeds(vehicle, trajectory, [by[f"speeds{k}"] for k in range(kinds)])
        handles, labels = by["path"].get_legend_handles_labels()
        if by["tangential"].lines and len(by["tangential"].lines) > len(vehicle.contacts):
            from matplotlib.lines import Line2D

            handles, labels = [*handles, Line2D([], [], color=GREY, ls=(0, (1, 1.5)), lw=1.0)], [*labels, "friction limit"]
        figure.legend(handles, labels, loc="outside upper center", ncols=min(5, len(labels)))
        return figure, by


def eigenvalues(sweep: Sweep, axes=None):
    """Eigenvalues of a family over its parameter: real parts solid, imaginary parts dashed [1/s]; ranges that are stable are shaded."""
    with _drawing():
        figure, axes = _axes(axes, 3.4, 2.8)
        growth, low = sweep.growth, 0
        stable = np.isfinite(growth) & (growth < 0)
        for i in range(1, len(stable) + 1):                           # one band for each stretch of stable members
            if i == len(stable) or stable[i] != stable[low]:
                if stable[low]:
                    axes.axvspan(_edge(sweep, low, low - 1), _edge(sweep, i - 1, i), color="0.92", lw=0, zorder=0)
                low = i
        for k, branch in enumerate(sweep.eigenvalues.T):
            line = COLOURS[k % len(COLOURS)]
            axes.plot(sweep.values, branch.real, color=line)
            if np.abs(branch.imag).max() > 1e-6:
                axes.plot(sweep.values, np.where(branch.imag > 1e-6, branch.imag, np.nan), color=line, ls=(0, (4, 2)), lw=0.8)
        axes.axhline(0, color="black", lw=0.5)
        if stable.any():
            axes.fill_between([], [], color="0.92", label="stable")
        axes.plot([], [], color=GREY, label="real part")
        axes.plot([], [], color=GREY, ls=(0, (4, 2)), lw=0.8, label="imaginary part")
        axes.set(xlabel=f"{sweep.parameter} [{sweep.unit}]", ylabel="eigenvalue [1/s]", xlim=(sweep.values[0], sweep.values[-1]))
        axes.legend(loc="best")
        return figure, axes


def _edge(sweep: Sweep, inside: int, outside: int) -> float:
    """Where growth goes through zero between two members, by a straight line."""
    if not 0 <= outside < len(sweep.values):
        return sweep.values[inside]
    a, b = sweep.growth[[inside, outside]]
    return sweep.values[inside] + a / (a - b) * (sweep.values[outside] - sweep.values[inside])


def write(figure, file: Path) -> None:
    """Writes a figure as the file's name says: .pdf or .svg (vectors), .png (300 dots an inch)."""
    figure.savefig(file, dpi=300)
