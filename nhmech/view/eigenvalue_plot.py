"""Eigenvalues of a family of motions, as stability analyses of bicycles draw them."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from ..analysis.stability import ZERO, Sweep
from .drawing import COLOURS, DASHED, GREY, Plot, axes_of, plot_style


def eigenvalues(sweep: Sweep, axes: Any = None) -> Plot:
    """Eigenvalues of a family over its parameter: real parts solid, imaginary parts dashed [1/s];
    ranges that are stable are shaded."""
    with plot_style():
        figure, axes = axes_of(axes, 3.4, 2.8)
        growth, size = sweep.growth, np.abs(sweep.eigenvalues).max(initial=0.0)
        stable = np.isfinite(growth) & (growth < 0)
        for is_stable, stretch in groupby(range(len(stable)), stable.__getitem__):
            if is_stable:
                members = list(stretch)
                _shade(axes, sweep, _edge(sweep, members[0], members[0] - 1),
                       _edge(sweep, members[-1], members[-1] + 1))
        for k, branch in enumerate(sweep.eigenvalues.T):
            # moving along the family: always zero
            if np.abs(branch).max() <= ZERO * size and size > 0:
                continue
            line = COLOURS[k % len(COLOURS)]
            axes.plot(sweep.values, branch.real, color=line)
            if np.abs(branch.imag).max() > 1e-6:
                axes.plot(sweep.values, np.where(branch.imag > 1e-6, branch.imag, np.nan),
                          color=line, ls=DASHED, lw=0.8)
        axes.axhline(0, color="black", lw=0.5)
        if stable.any():
            axes.fill_between([], [], color="0.92", label="stable")
        axes.plot([], [], color=GREY, label="real part")
        axes.plot([], [], color=GREY, ls=DASHED, lw=0.8, label="imaginary part")
        axes.set(xlabel=f"{sweep.parameter} [{sweep.unit}]", ylabel="eigenvalue [1/s]",
                 xlim=(sweep.values[0], sweep.values[-1]))
        axes.legend(loc="best")
        return figure, axes


def _shade(axes: Any, sweep: Sweep, low: float, high: float) -> None:
    """A band where the members are stable, with its ends in numbers."""
    axes.axvspan(low, high, color="0.92", lw=0, zorder=0)
    for end, side in ((low, "left"), (high, "right")):
        if sweep.values[0] < end < sweep.values[-1]:
            axes.text(end, 0.99, f" {end:.3g} ", transform=axes.get_xaxis_transform(), va="top",
                      ha=side, fontsize=6)


def _edge(sweep: Sweep, inside: int, outside: int) -> float:
    """Where the first branch leaves stability between two members, by the polynomial through the
    two beside them as well."""
    from scipy.interpolate import BarycentricInterpolator
    from scipy.optimize import brentq

    if not 0 <= outside < len(sweep.values):
        return sweep.values[inside]
    low, high = sorted((inside, outside))
    near = slice(max(low - 1, 0), high + 2)
    branches = np.column_stack([sweep.eigenvalues.real, sweep.growth])
    leaving = (branches[inside] < 0) & (branches[outside] > 0)
    ends = sweep.values[low], sweep.values[high]
    edges = []
    for branch in branches[near].T[leaving]:
        known = np.isfinite(branch)
        edges.append(brentq(BarycentricInterpolator(sweep.values[near][known], branch[known]),
                            *ends))
    # if there is none, members end there
    last = sweep.values[inside]
    return min(edges, key=lambda edge: abs(edge - last), default=last)
