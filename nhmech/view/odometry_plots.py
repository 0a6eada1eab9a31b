"""Pictures of logged odometry beside the motion of its wheels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .drawing import COLOURS, DASHED, GREY, Plot, legend, new_figure, plot_style

if TYPE_CHECKING:
    from ..odometry.referee import OdometryReport


def odometry(report: OdometryReport, axes: Any = None) -> Plot:
    """Tracks of the poses, of the vehicle's own wheels, and of the fit; beside them the residuals
    in windows of time [m], [rad], with thresholds, and times of slip shaded.

    Parameters
    ----------
    report
        Of `nhmech.odometry.judge_odometry`.
    axes
        Three to draw in; None makes a figure.
    """
    with plot_style():
        figure = None
        if axes is None:
            figure = new_figure(7.0, 3.2)
            grid = figure.add_gridspec(2, 2, width_ratios=(1.1, 1))
            axes = [figure.add_subplot(grid[:, 0]), figure.add_subplot(grid[0, 1]),
                    figure.add_subplot(grid[1, 1])]
        above, move, turned = axes
        for track, label, style in (
                (report.poses, "poses", {"color": "black", "lw": 2.2, "alpha": 0.35}),
                (report.rolled, "wheels, vehicle as it is", {"color": COLOURS[1], "ls": DASHED}),
                (report.fitted, "wheels, best fit", {"color": COLOURS[0]})):
            above.plot(track[:, 0], track[:, 1], label=label, **style)
        above.set(xlabel="x [m]", ylabel="y [m]")
        above.set_aspect("equal", adjustable="datalim")
        legend(above)
        found, middle = report.windows, (report.windows.start + report.windows.end) / 2
        for panel, columns, names, unit in ((move, (0, 1), ("forward", "sideways"), "m"),
                                            (turned, (2,), ("turning",), "rad")):
            for i, name in zip(columns, names):
                panel.plot(middle, found.left[:, i], color=COLOURS[i], label=name)
            i = columns[0]
            panel.fill_between(middle, found.usual[i] - found.threshold[:, i],
                               found.usual[i] + found.threshold[:, i], color=GREY, alpha=0.3, lw=0,
                               label="threshold")
            for first, last in found.spans():
                panel.axvspan(found.start[first], found.end[last], color=COLOURS[3], alpha=0.15,
                              lw=0)
            panel.set(xlabel="time [s]", ylabel=f"residual [{unit}]")
            legend(panel)
        return figure or above.figure, axes
