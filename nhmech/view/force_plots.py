"""Pictures of the ground's forces on the wheels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..analysis.rolling_limits import is_rolling_event
from ..simulation.contact.contact_columns import ContactColumns
from ..simulation.contact.phases import Phase
from ..simulation.runs.trajectory import Trajectory
from ..vehicle.friction import own_friction
from ..vehicle.vehicle import Vehicle
from .drawing import (
    DOTTED,
    Plot,
    as_label,
    as_words,
    axes_of,
    clip_start,
    colour,
    legend,
    new_figure,
    picture_of_run,
    plot_style,
    spread_states,
    wheel_line,
)

STATES = 400  # at which ground forces are computed at most: as many as a column has dots
NO_FORCES = "no forces, because speeds were commanded"
# An impact's force is its impulse over a step: hundreds of times the weight. Axes end above the
# forces of all other moments where it is so many times these.
SPIKE = 4.0
Friction = float | Mapping[str, float] | None


class WheelForces:
    """Ground forces along a run, at `STATES` recorded states at most: t (n,) [s], whether a body
    landed in the step that ended there, `impacts` (n,), wheel -> `normal` and `tangential` (n,)
    [N], and wheel -> friction coefficient `mu` or None."""

    def __init__(self, vehicle: Vehicle, trajectory: Trajectory, mu: Friction):
        states = spread_states(trajectory, STATES)
        self.t = trajectory.t[states]
        self.impacts = _find_impacts(trajectory)[states]
        found = trajectory.contact_forces(states)
        self.normal: dict[str, np.ndarray] = {}
        self.tangential: dict[str, np.ndarray] = {}
        self.mu: dict[str, float | None] = {}
        missing, run = np.full(len(self.t), np.nan), trajectory.settings.get("mu", {})
        for name, own in own_friction(vehicle).items():
            held = {c.direction: found.component(*c) for c in found.components if c.contact == name}
            self.normal[name] = held.pop("normal", missing)
            self.tangential[name] = np.linalg.norm(list(held.values()) or [missing], axis=0)
            given = mu.get(name) if isinstance(mu, Mapping) else mu
            # of a run in which it may slide, the friction that it slid by
            self.mu[name] = run.get(name, own) if given is None else given


def _mark_limits(trajectory: Trajectory, axes: Iterable[Any], text_axes: Any) -> None:
    """Lines at the moments when ideal rolling stopped being valid; in `text_axes` the first one of
    each name is labelled, each name at a height of its own."""
    moments = [(t, name) for t, name in trajectory.events if is_rolling_event(name)]
    for t, _ in moments:
        for ax in axes:
            ax.axvline(t, color="black", lw=0.6)
    for i, (name, t) in enumerate({name: t for t, name in reversed(moments)}.items()):
        text_axes.text(t, 0.04 + 0.12 * i, f" {as_label(name)}", va="bottom", fontsize=6,
                       transform=text_axes.get_xaxis_transform())


@picture_of_run
def forces(vehicle: Vehicle, trajectory: Trajectory, mu: Friction = None,
           axes: Any = None) -> Plot:
    """Normal force of each wheel [N] above; below, its tangential force (solid) and the most that
    friction can hold (dotted), mu times the normal force.

    Parameters
    ----------
    mu
        Friction coefficient of all wheels, or by wheel; None takes those of the description. A
        wheel without a coefficient has no limit, nor has one that no friction holds.
    """
    with plot_style():
        alone = axes is None
        figure, axes = axes_of(axes, 3.4, 3.4, rows=2)
        above, below = axes
        above.set_ylabel("normal [N]")
        below.set(xlabel="time [s]", ylabel="tangential [N]")
        if trajectory.kinematic:
            _write_no_forces(below)
            return figure, axes
        found = WheelForces(vehicle, trajectory, mu)
        for name in vehicle.contact_names:
            kind = wheel_line(vehicle, name, len(found.t))
            above.plot(found.t, found.normal[name], **kind)
            below.plot(found.t, found.tangential[name], **kind)
            mu_of_wheel = found.mu[name]
            if mu_of_wheel is not None and np.isfinite(found.tangential[name]).any():
                below.plot(found.t, mu_of_wheel * found.normal[name], color=kind["color"],
                           ls=DOTTED, lw=1.0)
        _mark_limits(trajectory, axes, above)
        for ax in axes:
            clip_start(ax)
        _leave_out_impacts(above, found, found.normal.values())
        _leave_out_impacts(below, found, found.tangential.values())
        if alone:
            legend(above)
        # below zero a wheel would pull at the ground: shown, not cut off
        above.set_ylim(bottom=min(0.0, above.get_ylim()[0]))
        below.set_ylim(bottom=0.0)
        return figure, axes


@picture_of_run
def friction(vehicle: Vehicle, trajectory: Trajectory, mu: Friction = None) -> Plot:
    """Small multiples, one for each wheel that is held along the ground: tangential force [N], and
    what friction can hold (shaded).

    Parameters
    ----------
    mu
        As in `forces`; without a coefficient no limit is drawn, but the normal force, mu = 1, as a
        dotted line for comparison.
    """
    with plot_style():
        if trajectory.kinematic:
            figure, axes = axes_of(None, 3.4, 1.2)
            _write_no_forces(axes)
            axes.set(xlabel="time [s]", ylabel="force [N]")
            return figure, np.array([axes])
        found = WheelForces(vehicle, trajectory, mu)
        held = [name for name in vehicle.contact_names if np.isfinite(found.tangential[name]).any()]
        held = held or list(vehicle.contact_names)
        columns = 1 if len(held) < 4 else 2
        rows = -(-len(held) // columns)
        figure = new_figure(3.4, 0.6 + 0.85 * rows)
        axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for ax, name in zip(axes.flat, held):
            _draw_friction(ax, found, name, colour(vehicle, name), with_limit=columns == 1)
        for ax in axes.flat[len(held):]:
            ax.set_visible(False)
        _mark_limits(trajectory, axes.flat[:len(held)], axes.flat[0])
        axes.flat[0].set_ylim(bottom=0.0)
        _leave_out_impacts(axes.flat[0], found, [found.tangential[name] for name in held])
        for ax in axes.flat:
            ax.label_outer()
        figure.supylabel("force along the ground [N]", fontsize=8)
        for ax in axes[-1]:
            ax.set_xlabel("time [s]")
        return figure, axes.ravel()[:len(held)]


def _draw_friction(ax: Any, found: WheelForces, name: str, line: str, with_limit: bool) -> None:
    """One wheel's panel; the title names the limit where there is room."""
    mu = found.mu[name]
    is_known = mu is not None and bool(np.isfinite(mu))
    room = (mu if is_known and mu is not None else 1.0) * found.normal[name]
    if is_known:
        ax.fill_between(found.t, 0, np.maximum(room, 0), color=line, alpha=0.13, lw=0)
    ax.plot(found.t, room, color=line, lw=0.7, ls="solid" if is_known else DOTTED)
    ax.plot(found.t, found.tangential[name], color=line)
    limit = f", {mu:g} × normal" if is_known else ", dotted: normal force"
    ax.set_title(as_label(as_words(name)) + (limit if with_limit else ""), color=line, pad=2,
                 fontsize=7)


def _find_impacts(trajectory: Trajectory) -> np.ndarray:
    """At which recorded moments (N,) a step ended in which something came to the ground."""
    found = np.zeros(len(trajectory), dtype=bool)
    if trajectory.contact is not None:
        columns = ContactColumns.read(trajectory.names["contact"])
        forces, phases, _, _ = columns.split(trajectory.contact)
        presses = forces[:, [columns.forces.index(f"{one}/normal") for one in columns.names]] > 0
        found[1:] = ((phases[:-1] == Phase.AIRBORNE) & presses[1:]).any(axis=1)
    return found


def _leave_out_impacts(ax: Any, found: WheelForces, forces: Iterable[np.ndarray]) -> None:
    """Lets an axis end below the spikes of impacts, and writes their height."""
    values = np.fmax.reduce([np.zeros(len(found.t)), *forces])
    most = values.max(where=found.impacts, initial=0.0)
    usual = values.max(where=~found.impacts, initial=0.0)
    if most > SPIKE * usual > 0:
        ax.set_ylim(top=1.1 * usual)
        ax.text(0.99, 0.97, f"impacts up to {most:.3g} N", transform=ax.transAxes, ha="right",
                va="top", fontsize=6)


def _write_no_forces(ax: Any) -> None:
    ax.text(0.5, 0.5, NO_FORCES, transform=ax.transAxes, ha="center", fontsize=7)
