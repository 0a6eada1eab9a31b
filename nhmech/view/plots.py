"""Pictures of a run, for papers: one function a picture, each returns (figure, axes).

A wheel has one colour in all of them, that of its trail in the viewer. Time is in seconds, every
axis has its unit, and figures are written as vectors (`write`). Where `vehicle` is asked for,
functions that need no wheels take a `Simulated` too (`trajectory.simulated`, of a textbook system
for example). Needs matplotlib, the extra `plot`.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from ..analysis.energy_balance import energy_balance
from ..analysis.rolling_limits import FRICTION, LIFT_OFF
from ..control.path_reference import PathError, path_error
from ..control.twist import driven_twist
from ..errors import ModelError
from ..simulation.simulated import Simulated
from ..simulation.trajectory import Trajectory
from ..vehicle.reactions import reactions
from ..vehicle.vehicle import Vehicle
from .drawing import (
    COLOURS,
    DASHED,
    DOTTED,
    GREY,
    OTHERS,
    axes_of,
    colour,
    drawing,
    legend,
    line_colours,
    moments,
    new_figure,
    settle,
    words,
    write,
)
from .eigenvalue_plot import eigenvalues

__all__ = ["colour", "coordinates", "efforts", "eigenvalues", "energy", "forces", "friction",
           "joint_rates", "path", "run", "speeds", "tracking", "twist", "write"]

MOMENTS = 400       # ground forces are worked out at this many moments at most
QUIET = 1e-9        # a relative change of energy below this is rounding, and is drawn as none
REFERENCE = {"color": "#F0C000", "lw": 3.2, "alpha": 0.55, "solid_capstyle": "round"}
SHORT = {"rad/s": "rate", "m/s": "speed"}       # where the whole word would not fit beside the axis
NO_FORCES = "speeds were commanded: no forces"
Friction = float | Mapping[str, float] | None


def _simulated(given) -> Simulated:
    return given if isinstance(given, Simulated) else Simulated.of(given)


def path(vehicle: Vehicle, trajectory: Trajectory, axes=None, *, error: PathError | None = None):
    """From above: tracks of the base's origin (grey) and of the wheels' contact points, and the
    path to follow (broad, yellow) [m].

    Parameters
    ----------
    error
        Says which path; None takes what the controller followed, where the run knows.
    """
    error = path_error(vehicle, trajectory) if error is None else error
    with drawing():
        some = moments(trajectory, 2 * MOMENTS)
        points = np.array([vehicle.contact_points(trajectory.q[i], trajectory.t[i]) for i in some])
        x, y = trajectory.q[:, 0], trajectory.q[:, 1]
        spans = np.ptp(np.concatenate([points[:, :, :2].reshape(-1, 2), trajectory.q[:, :2]]),
                       axis=0)
        # as high as it is long
        figure, axes = axes_of(axes,
                               height=float(np.clip(0.9 + 2.7 * spans[1] / max(*spans, 1e-9), 1.7,
                                                    3.2)))
        if error is not None:
            ends = (0.0, error.path.length)
            if not error.path.closed:
                ends = [error.path.nearest(p) for p in error.point[[0, -1]]]
            line = error.path.point(np.linspace(*ends, 600))
            axes.plot(line[:, 0], line[:, 1], label="reference", zorder=1.5, **REFERENCE)
        for k, name in enumerate(vehicle.contact_names):
            axes.plot(points[:, k, 0], points[:, k, 1], color=colour(vehicle, name), lw=0.8,
                      label=words(name))
        axes.plot(x, y, color=GREY, lw=0.8, ls=DASHED, label="base origin")
        axes.plot(x[0], y[0], "o", color=GREY, ms=3.5, label="start")
        axes.set(xlabel="x [m]", ylabel="y [m]")
        axes.set_aspect("equal", adjustable="datalim")
        return figure, axes


class _Forces:
    """Ground forces along a run: t (n,), normal and tangential by wheel (n,) [N], and each wheel's
    mu or None."""

    def __init__(self, vehicle: Vehicle, trajectory: Trajectory, mu: Friction):
        some = moments(trajectory, MOMENTS)
        self.t = trajectory.t[some]
        found = [reactions(vehicle, trajectory.t[i], trajectory.q[i], trajectory.v[i],
                           trajectory.u[i]).components
                 for i in some]
        self.normal, self.tangential, self.mu = {}, {}, {}
        for wheel, name in zip(vehicle.description.wheels, vehicle.contact_names):
            self.normal[name] = np.array([f[name].get("normal", np.nan) for f in found])
            sides = [[value for direction,
                      value in f[name].items() if direction != "normal"] or [np.nan]
                     for f in found]
            self.tangential[name] = np.linalg.norm(np.array(sides), axis=1)
            self.mu[name] = (mu.get(name, wheel.mu) if isinstance(mu, Mapping) else wheel.mu
                             if mu is None else mu)


def _mark_limits(trajectory: Trajectory, axes, named) -> None:
    """Lines at the moments when ideal rolling stopped being valid; their names in `named`."""
    for t, name in trajectory.events:
        if name in (FRICTION, LIFT_OFF):
            for ax in axes:
                ax.axvline(t, color="black", lw=0.6)
            named.text(t, 0.04, f" {name}", transform=named.get_xaxis_transform(), va="bottom",
                       fontsize=6)


def forces(vehicle: Vehicle, trajectory: Trajectory, mu: Friction = None, axes=None):
    """Normal force of each wheel [N] above; below its tangential force (solid) and what friction
    holds (dotted).

    Friction holds mu times the normal force.

    Parameters
    ----------
    mu
        Friction coefficient of all wheels or by wheel; where None those of the description, and no
        limit without one.
    """
    with drawing():
        figure, axes = axes_of(axes, 3.4, 3.4, rows=2)
        above, below = axes
        above.set_ylabel("normal [N]")
        below.set(xlabel="time [s]", ylabel="tangential [N]")
        if trajectory.kinematic:
            below.text(0.5, 0.5, NO_FORCES, transform=below.transAxes, ha="center", fontsize=7)
            return figure, axes
        found = _Forces(vehicle, trajectory, mu)
        for name in vehicle.contact_names:
            kind = {"color": colour(vehicle, name), "label": words(name)}
            above.plot(found.t, found.normal[name], **kind)
            below.plot(found.t, found.tangential[name], **kind)
            if found.mu[name] is not None:
                below.plot(found.t, found.mu[name] * found.normal[name], color=kind["color"],
                           ls=DOTTED, lw=1.0)
        _mark_limits(trajectory, axes, above)
        # below zero a wheel would pull at the ground: shown, not cut off
        above.set_ylim(bottom=min(0.0, above.get_ylim()[0]))
        below.set_ylim(bottom=0.0)
        return figure, axes


def friction(vehicle: Vehicle, trajectory: Trajectory, mu: Friction = None):
    """Small multiples, one for each wheel held along the ground: tangential force [N], what
    friction can hold (shaded).

    Parameters
    ----------
    mu
        As in `forces`; without one no limit is drawn, but mu = 1 (dotted line) for comparison.
    """
    with drawing():
        if trajectory.kinematic:
            figure, axes = axes_of(None, 3.4, 1.2)
            axes.text(0.5, 0.5, NO_FORCES, transform=axes.transAxes, ha="center", fontsize=7)
            axes.set(xlabel="time [s]", ylabel="force [N]")
            return figure, np.array([axes])
        found = _Forces(vehicle, trajectory, mu)
        held = [name for name in vehicle.contact_names if np.isfinite(found.tangential[name]).any()]
        held = held or list(vehicle.contact_names)
        columns = 1 if len(held) < 4 else 2
        rows = -(-len(held) // columns)
        figure = new_figure(3.4, 0.6 + 0.85 * rows)
        axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for ax, name in zip(axes.flat, held):
            known = found.mu[name] is not None and np.isfinite(found.mu[name])
            room = (found.mu[name] if known else 1.0) * found.normal[name]
            if known:
                ax.fill_between(found.t, 0, np.maximum(room, 0), color=colour(vehicle, name),
                                alpha=0.13, lw=0)
            ax.plot(found.t, room, color=colour(vehicle, name), lw=0.7,
                    ls="solid" if known else DOTTED)
            ax.plot(found.t, found.tangential[name], color=colour(vehicle, name))
            limit = f", {found.mu[name]:g} × normal" if known else ", dotted: normal force"
            ax.set_title(words(name) + (limit if columns == 1 else ""), color=colour(vehicle, name),
                         pad=2, fontsize=7)
        for ax in axes.flat[len(held):]:
            ax.set_visible(False)
        _mark_limits(trajectory, axes.flat[:len(held)], axes.flat[0])
        axes.flat[0].set_ylim(bottom=0.0)
        for ax in axes.flat:
            ax.label_outer()
        figure.supylabel("force along the ground [N]", fontsize=8)
        for ax in axes[-1]:
            ax.set_xlabel("time [s]")
        return figure, axes.ravel()[:len(held)]


def energy(vehicle, trajectory: Trajectory, axes=None):
    """Energy balance [J]: change of kinetic and potential energy, work of inputs, damping and so
    on; dashed the rest.

    Where the energy is constant, its size and its error are written.
    """
    with drawing():
        figure, axes = axes_of(axes)
        found, total = energy_balance(trajectory, _simulated(vehicle)), None
        total, change = found.total, found.total - found.total[0]
        size = max(abs(total).max(), np.ptp(found.kinetic), np.ptp(found.potential), 1e-300)
        for values, label, line in ((found.kinetic, "kinetic", COLOURS[1]),
                                    (found.potential, "potential", COLOURS[2])):
            if np.ptp(values) > QUIET * size:
                # others run along it
                axes.plot(found.t, values - values[0], color=line, label=label, lw=2.4, alpha=0.5)
        for values, label, line in ((found.inputs, "work of inputs", COLOURS[0]),
                                    (found.passive, "damping", COLOURS[3])):
            if found.known and np.abs(values).max() > QUIET * size:
                axes.plot(found.t, values, color=line, label=label)
        left = "not accounted for" if not found.ground else "work of the ground"
        if not found.known:
            axes.plot(found.t, change, color="black", ls=DASHED, lw=0.8, label="total")
        elif np.abs(change).max() <= QUIET * size:
            text = f"total {total[0]:.6g} J, constant to {np.abs(change).max():.1g} J"
            axes.plot(found.t, np.zeros_like(change), color="black", ls=DASHED, lw=0.8, label=text)
        else:
            axes.plot(found.t, found.rest, color="black", ls=DASHED, lw=0.8, label=left)
        if not any(np.abs(line.get_ydata()).max() > 0 for line in axes.lines):
            axes.set_ylim(-1, 1)
        legend(axes)
        axes.set(xlabel="time [s]", ylabel="change of energy [J]")
        return figure, axes


def speeds(vehicle, trajectory: Trajectory, axes=None):
    """Quasi-velocities, a panel for each unit: rates [rad/s] (of wheels, then of the rest), speeds
    [m/s], others."""
    simulated = _simulated(vehicle)
    units = _speed_units(simulated)
    return _by_unit(simulated, trajectory, "xi", units, "quasi-velocity", axes)


def _speed_units(simulated: Simulated) -> dict[str, str]:
    return dict(zip(simulated.equations.names, simulated.equations.units))


def joint_rates(vehicle, trajectory: Trajectory, axes=None):
    """Rates of all moving joints, one panel for each unit [rad/s, m/s]; wheels in their colours."""
    simulated = _simulated(vehicle)
    algebroid = simulated.constrained.system.algebroid
    units = {name: unit for name,
             unit in zip(algebroid.v_names, algebroid.v_units) if name in simulated.joint_names}
    if not units:
        raise ModelError("there are no moving joints to draw")
    return _by_unit(simulated, trajectory, "v", units,
                    "joint rate" if simulated.vehicle is not None else "velocity", axes)


def _panels(simulated: Simulated, units: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """(unit, names) of each panel: wheels apart from the rest, for they turn much faster."""
    wheels = set() if simulated.vehicle is None else set(simulated.vehicle.description.rolling)
    kinds: dict[tuple[str, bool], list[str]] = {}
    for name, unit in units.items():
        kinds.setdefault((unit, name not in wheels), []).append(name)
    order = ("rad/s", "m/s", "N m")
    rank = {unit: i for i, unit in enumerate(order)}
    return [
        (kind[0], kinds[kind])
        for kind in sorted(kinds, key=lambda kind: (rank.get(kind[0], len(order)), kind[1]))
    ]


def _by_unit(simulated: Simulated, trajectory: Trajectory, part: str, units: Mapping[str, str],
             what: str, axes):
    panels, lines = _panels(simulated, units), line_colours(simulated.vehicle, list(units))
    with drawing():
        figure, axes = axes_of(axes, 3.4, 1.3 + 1.1 * len(panels), rows=len(panels))
        shown = np.atleast_1d(axes)
        if len(shown) != len(panels):
            raise ModelError(f"axes: {len(shown)} given, {len(panels)} are needed: "
                             f"{'; '.join(', '.join(names) for _, names in panels)}")
        for ax, (unit, names) in zip(shown, panels):
            for name in names:
                values = getattr(trajectory, part)[:, trajectory.names[part].index(name)]
                ax.plot(trajectory.t, values, color=lines[name], label=words(name))
            ax.set_ylabel(f"{SHORT.get(unit, what) if len(panels) > 1 else what} [{unit or '-'}]")
            settle(ax, np.concatenate([line.get_ydata() for line in ax.lines]))
            legend(ax)
        shown[-1].set_xlabel("time [s]")
        return figure, axes


def efforts(vehicle: Vehicle, trajectory: Trajectory, axes=None):
    """Inputs u: efforts of the driven joints and external wrenches, one panel for each unit [N m,
    N].

    Raises
    ------
    ModelError
        Where there are none.
    """
    rates, units = dict(zip(vehicle.algebroid.v_names, vehicle.algebroid.v_units)), {}
    for name in trajectory.names["u"]:
        turns = rates[name] == "rad/s" if name in rates else name.rpartition(".")[2].startswith("t")
        units[name] = "N m" if turns else "N"
    if trajectory.kinematic or not units:
        raise ModelError(NO_FORCES if trajectory.kinematic else "nothing drives this vehicle")
    return _by_unit(_simulated(vehicle), trajectory, "u", units, "effort", axes)


def tracking(vehicle: Vehicle, trajectory: Trajectory, axes=None, *,
             error: PathError | None = None):
    """Controller error: distance from the path [mm], positive to its left; below, heading against
    its tangent [deg].

    Parameters
    ----------
    error
        Of `control.path_reference.path_error`; None takes the path that the controller followed.

    Raises
    ------
    ModelError
        For a run that knows of no path.
    """
    error = path_error(vehicle, trajectory) if error is None else error
    if error is None:
        raise ModelError("this run's controller followed no path; give error=path_error(vehicle, "
                         "trajectory, path)")
    with drawing():
        figure, axes = axes_of(axes, 3.4, 2.6, rows=2)
        for ax, values, label in zip(axes, (1e3 * error.lateral, np.degrees(error.heading)),
                                     ("lateral error [mm]", "heading error [deg]")):
            ax.axhline(0, color=GREY, lw=0.5)
            ax.plot(error.t, values, color=OTHERS[0])
            ax.set_ylabel(label)
            settle(ax, values, 1e-6)
        axes[-1].set_xlabel("time [s]")
        return figure, axes


def twist(vehicle: Vehicle, trajectory: Trajectory, axes=None):
    """What the controller commanded (broad, yellow), and what was driven: forward [m/s], yaw rate
    [rad/s].

    Lateral [m/s] between them where there is any.

    Raises
    ------
    ModelError
        For a run whose controller commanded no twist.
    """
    wanted = trajectory.commanded_twist
    if wanted is None or not np.isfinite(wanted).any():
        raise ModelError("this run's controller commanded no twist (forward speed and yaw rate of "
                         "the base)")
    found = driven_twist(vehicle, trajectory)
    sideways = max(np.nanmax(np.abs(wanted[:, 1])),
                   np.abs(found[:, 1]).max()) > 1e-6 * np.abs(found[:, 0]).max()
    shown = [("forward [m/s]", 0), *([("lateral [m/s]", 1)] if sideways else []),
             ("yaw rate [rad/s]", 2)]
    with drawing():
        figure, axes = axes_of(axes, 3.4, 0.4 + 1.1 * len(shown), rows=len(shown))
        if len(np.atleast_1d(axes)) != len(shown):
            raise ModelError(f"axes: {len(np.atleast_1d(axes))} given, {len(shown)} are needed: "
                             f"{', '.join(label for label, _ in shown)}")
        for ax, (label, k) in zip(axes, shown):
            ax.plot(trajectory.t, wanted[:, k], drawstyle="steps-post", label="commanded",
                    **REFERENCE)
            ax.plot(trajectory.t, found[:, k], color=OTHERS[0], label="driven")
            ax.set_ylabel(label)
            both = np.concatenate([wanted[:, k], found[:, k]])
            settle(ax, both[np.isfinite(both)])
        legend(axes[0])
        axes[-1].set_xlabel("time [s]")
        return figure, axes


def coordinates(vehicle, trajectory: Trajectory):
    """Small multiples: every coordinate q over time, with its unit where the anchor tells it."""
    algebroid = _simulated(vehicle).constrained.system.algebroid
    columns = min(3, algebroid.nq)
    rows = -(-algebroid.nq // columns)
    with drawing():
        figure = new_figure(7.0, 0.5 + 1.15 * rows)
        axes = figure.subplots(rows, columns, sharex=True, squeeze=False)
        for i, (ax, name) in enumerate(zip(axes.flat, algebroid.q_names)):
            ax.plot(trajectory.t, trajectory.q[:, i], color=OTHERS[0])
            ax.set_ylabel(f"{name} [{_coordinate_unit(algebroid, i)}]")
            settle(ax, trajectory.q[:, i])
        for ax in axes.flat[algebroid.nq:]:
            ax.set_visible(False)
        for column in range(columns):
            last = [row for row in range(rows) if row * columns + column < algebroid.nq][-1]
            axes[last, column].set_xlabel("time [s]")
            axes[last, column].tick_params(labelbottom=True)
        return figure, axes.ravel()[:algebroid.nq]


def _coordinate_unit(algebroid, i: int) -> str:
    """That of the velocities in its rate, times second; "-" for parts of a quaternion, and where
    they differ."""
    row = ca.sparsify(algebroid.anchor[i, :])
    units = {algebroid.v_units[j] for j in row.sparsity().get_col()}
    unit = units.pop() if len(units) == 1 and not algebroid.q_names[i].startswith("q") else ""
    return unit.removesuffix("/s") if unit.endswith("/s") else "-"


def run(vehicle: Vehicle, trajectory: Trajectory, mu: Friction = None, *,
        error: PathError | None = None):
    """Path, ground forces, energy and quasi-velocities on one page, and the controller's error
    where there is one; the axes by name."""
    error = path_error(vehicle, trajectory) if error is None else error
    with drawing():
        simulated = _simulated(vehicle)
        kinds = len(_panels(simulated, _speed_units(simulated)))
        rows = range(kinds) if kinds > 1 else (0, 0)
        layout = [["path", "normal"], ["path", "tangential"],
                  *(["energy", f"speeds{k}"] for k in rows)]
        layout += [["lateral", "heading"]] * 2 if error is not None else []
        figure = new_figure(7.0, 3.0 + 1.4 * max(kinds, 2) + (0 if error is None else 1.8))
        by = figure.subplot_mosaic(layout)
        path(vehicle, trajectory, by["path"], error=error)
        forces(vehicle, trajectory, mu, (by["normal"], by["tangential"]))
        energy(vehicle, trajectory, by["energy"])
        speeds(vehicle, trajectory,
               by["speeds0"] if kinds == 1 else [by[f"speeds{k}"] for k in range(kinds)])
        if error is not None:
            tracking(vehicle, trajectory, (by["lateral"], by["heading"]), error=error)
            by["lateral"].set_xlabel("time [s]")
        handles, labels = by["path"].get_legend_handles_labels()
        if by["tangential"].lines and len(by["tangential"].lines) > len(vehicle.contacts):
            from matplotlib.lines import Line2D

            handles, labels = [*handles, Line2D([], [], color=GREY, ls=DOTTED,
                                                lw=1.0)], [*labels, "friction limit"]
        figure.legend(handles, labels, loc="outside upper center", ncols=min(7, len(labels)))
        return figure, by
