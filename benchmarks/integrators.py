"""What each integrator keeps, and at what cost, for six systems.

    python benchmarks/integrators.py                          tables, 10^5 steps of each system
    python benchmarks/integrators.py --only bicycle carriage  of some
    python benchmarks/integrators.py --plots docs/images      pictures

Of each system and scheme: the error of configuration and speeds after 5 s against Dormand and
Prince's method, the order that the last halvings of the step show after 1 s (of the rattleback
0.3 s), the largest error of the energy over many steps, relative to the energy at the start, and of
other integrals relative to their size, and nanoseconds of the processor a step.

`DLA` is the discrete Lagrange-d'Alembert method of Cortes and Martinez (Nonlinearity 14 (2001)
1365) in its midpoint form, written here in coordinates and run in CasADi's virtual machine: its
steps are not timed.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from common.discrete_lagrange_dalembert import DiscreteLagrangeDAlembert
from common.report import machine, measured
from common.timing import Spent, window
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import nhmech
from nhmech.simulation.integration.schemes import FIXED, SCHEMES
from nhmech.systems import load_system

TIME = 5.0                # [s] of the runs whose error is shown
HALVINGS = range(-3, 5)   # of a case's step, of the runs whose error is shown
SHORT_HALVINGS = range(-3, 7)     # of those that show the order
KEPT = 400                # states of a long run
PEERS = ("chaplygin_sleigh", "falling_disc")      # with coordinates that DLA takes
PEER_STEPS = 20_000
COLOURS = {"rk4": "#888888", "gauss": "#1f5fa8", "gauss4": "#5aa7e0", "kahan": "#e08a1e",
           "discrete_gradient": "#2e9e5b", "DLA": "#b03060"}


@dataclass(frozen=True)
class Case:
    """A system with its step [s] and, where it has them, integrals (run) -> (K, n) beside the
    energy. `short` [s] is the time after which the order is looked at: of a motion that loses the
    memory of its start fast, errors follow the order in short runs only."""

    name: str
    dt: float
    integrals: Callable[[nhmech.Trajectory], np.ndarray] | None = None
    short: float = 1.0

    def start(self, integrator: str, dt: float) -> nhmech.Simulator:
        if self.name == "bicycle":
            made = nhmech.Simulator(nhmech.load(nhmech.urdf_path("bicycle")), dt=dt,
                                    integrator=integrator)
            # self-stable: it wobbles and comes upright
            made.reset(pose=(0, 0, 0, 0.05, 0, 0), xi={"rear_wheel_joint": 5.0 / 0.3})
            return made
        example = system(self.name)
        made = nhmech.Simulator(example, dt=dt, integrator=integrator)
        names = example.speeds or made.atlas.primary.equations.names
        q, xi = (np.asarray(example.start[part], dtype=float) for part in ("q", "xi"))
        made.reset(q=q, xi=dict(zip(names, xi)))
        return made


@cache
def system(name: str):
    return load_system(name)


def ball_momentum(run: nhmech.Trajectory) -> np.ndarray:
    """K in the world, see nhmech/systems/chaplygin_ball.py."""
    made = system("chaplygin_ball").constrained
    numbers = dict(zip(made.system.theta_names, made.parameters))
    quaternion = [run.names["q"].index(name) for name in ("qx", "qy", "qz", "qw")]
    R = Rotation.from_quat(run.q[:, quaternion])
    omega = run.v[:, [run.names["v"].index(name) for name in ("wx", "wy", "wz")]]
    gamma, size = R.as_matrix()[:, 2, :], numbers["m"] * numbers["r"] ** 2
    inertia = [numbers[name] for name in ("I1", "I2", "I3")]
    along = np.sum(omega * gamma, axis=1)[:, None] * gamma
    return R.apply(inertia * omega + size * (omega - along))


def disc_constants(run: nhmech.Trajectory) -> np.ndarray:
    """u2 and u3 as they would be upright: d(u2, u3)/d(lean) is linear in them (Appell, Korteweg),
    see nhmech/systems/falling_disc.py."""
    made = system("falling_disc").constrained
    p = dict(zip(made.system.theta_names, made.parameters))
    size = p["m"] * p["r"] ** 2

    def slope(lean, y):
        u2, u3 = y.reshape(2, 2)
        return np.concatenate([-size / (p["C"] + size) * u3, u3 * np.tan(lean) - p["C"] / p["A"]
                               * u2])

    lean = run.q[:, run.names["q"].index("lean")]
    reach = np.abs(lean).max() * 1.001
    sides = {sign: solve_ivp(slope, (0, sign * reach), np.eye(2).ravel(), method="DOP853",
                             rtol=1e-13, atol=1e-14, dense_output=True).sol for sign in (1, -1)}
    speeds = run.v[:, [run.names["v"].index(name) for name in ("u2", "u3")]]
    return np.array([np.linalg.solve(sides[1 if at >= 0 else -1](at).reshape(2, 2), y)
                     for at, y in zip(lean, speeds)])


CASES = (Case("chaplygin_sleigh", 0.02), Case("falling_disc", 0.02, disc_constants),
         Case("chaplygin_ball", 0.02, ball_momentum), Case("rattleback", 0.002, short=0.3),
         Case("bicycle", 0.02), Case("carriage", 0.02))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--plots", type=Path)
    parser.add_argument("--only", nargs="*", default=[case.name for case in CASES])
    chosen = parser.parse_args()
    logging.disable(logging.WARNING)
    print(machine())
    cases = [case for case in CASES if case.name in chosen.only]
    if chosen.plots:
        draw(cases, chosen.steps, chosen.plots)
        return
    for case in cases:
        print(measured(("", "error at 5 s", "order", "energy", "integrals", "step [ns]"),
                       rows(case, chosen.steps),
                       f"\n{case.name}: dt = {case.dt:g} s, {chosen.steps} steps"))


def rows(case: Case, steps: int) -> list[tuple]:
    found = []
    for name in FIXED:
        try:
            run, cost = long_run(case, name, steps)
            found.append((name, error(case, name, case.dt, TIME), order(case, name),
                          *drift(case, run), 1e9 * cost / steps))
        except nhmech.NhmechError:
            found.append((name, "fails", order(case, name), *["-"] * 3))
    if case.name in PEERS:
        found.append(peer_row(case))
    return found


# -- error and order -------------------------------------------------------------------------------
def end(case: Case, integrator: str, dt: float, seconds: float) -> np.ndarray:
    """q and v at the end of a run."""
    run = case.start(integrator, dt).run(seconds, every=10 ** 9)
    return np.r_[run.q[-1], run.v[-1]]


@cache
def reference(case: Case, seconds: float) -> tuple[np.ndarray, float]:
    """The exact end, and by how much it is uncertain."""
    one, other = (end(case, "dop853", dt, seconds) for dt in (case.dt, case.dt / 3))
    return one, 2e-14 + float(np.abs(one - other).max())


def error(case: Case, integrator: str, dt: float, seconds: float) -> float:
    return float(np.abs(end(case, integrator, dt, seconds) - reference(case, seconds)[0]).max())


def order(case: Case, integrator: str) -> float:
    """By least squares over the three finest steps whose errors are seen."""
    found = []
    for k in SHORT_HALVINGS:
        dt = case.dt * 0.5 ** k
        try:
            found.append((dt, error(case, integrator, dt, case.short)))
        except nhmech.SimulationError:
            continue
    seen = [pair for pair in found if pair[1] > 30 * reference(case, case.short)[1]][-3:]
    return float(np.polyfit(*np.log(np.array(seen)).T, 1)[0]) if len(seen) > 1 else np.nan


# -- drift -----------------------------------------------------------------------------------------
def long_run(case: Case, integrator: str, steps: int) -> tuple[nhmech.Trajectory, float]:
    """With what it costs [s]."""
    runs: list[nhmech.Trajectory] = []

    def again() -> Spent:
        simulator = case.start(integrator, case.dt)
        simulator.compile()
        with Spent() as took:
            runs.append(simulator.run(steps * case.dt, every=max(1, steps // KEPT)))
        return took

    cost = window(again)
    return runs[-1], cost


def drift(case: Case, run: nhmech.Trajectory) -> tuple:
    return (float(np.abs(run.energy / run.energy[0] - 1).max()),
            "-" if case.integrals is None else wander(case.integrals(run)))


def wander(values: np.ndarray) -> float:
    return float(np.abs(values - values[0]).max() / np.abs(values[0]).max())


# -- the peer --------------------------------------------------------------------------------------
def peer_end(case: Case, dt: float) -> float:
    """Error of the configuration after `TIME`."""
    method = DiscreteLagrangeDAlembert(system(case.name), dt)
    q = method.run(round(TIME / dt))[-1]
    exact = case.start("dop853", case.dt).run(TIME).q[-1]
    return float(np.abs(q - exact).max())


def peer_row(case: Case) -> tuple:
    steps = (case.dt, case.dt / 2, case.dt / 4)
    errors = [peer_end(case, dt) for dt in steps]
    slope = float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
    method = DiscreteLagrangeDAlembert(system(case.name), case.dt)
    energy = method.energy(method.run(PEER_STEPS))
    return ("DLA", errors[0], slope, float(np.abs(energy / energy[0] - 1).max()), "-", "-")


# -- pictures --------------------------------------------------------------------------------------
def draw(cases: list[Case], steps: int, folder: Path) -> None:
    """Error against cost, and drift against time."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "nhmech", "font.size": 8, "axes.grid": True,
                            "grid.alpha": 0.3, "lines.linewidth": 1.2}
    from matplotlib import pyplot as plt

    for name, one, label in (("work", _work, ("processor time [s]", "error at 5 s")),
                             ("drift", _drift, ("t [s]", "energy error / energy"))):
        columns = 2 if len(cases) <= 4 else 3
        rows = -(-len(cases) // columns)
        figure, axes = plt.subplots(rows, columns, figsize=(3 * columns, 2.6 * rows),
                                    layout="constrained", squeeze=False)
        for ax, case in zip(axes.flat, cases):
            one(ax, case, steps)
            ax.set_xscale("log"), ax.set_yscale("log")
            ax.set_title(case.name.replace("_", " "), fontsize=9)
        for ax in axes[-1]:
            ax.set_xlabel(label[0])
        for ax in axes[:, 0]:
            ax.set_ylabel(label[1])
        handles = [plt.Line2D([], [], color=COLOURS[scheme], label=scheme) for scheme in FIXED]
        figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        path = folder / f"integrators_{name}.svg"
        figure.savefig(path, metadata={"Date": None})
        print(path)


def _work(ax, case: Case, steps: int) -> None:
    for name in FIXED:
        # of a step in the loop: so short a run is mostly its own beginning and end
        cost, points = long_run(case, name, steps)[1] / steps, []
        for dt in case.dt * 0.5 ** np.array(HALVINGS):
            try:
                points.append((TIME / dt * cost, error(case, name, dt, TIME)))
            except nhmech.NhmechError:
                continue
        if points:
            ax.plot(*np.array(points).T, ".-", color=COLOURS[name], markersize=4)


def _drift(ax, case: Case, steps: int) -> None:
    for name in FIXED:
        try:
            run, _ = long_run(case, name, steps)
        except nhmech.NhmechError:
            continue
        error = np.maximum.accumulate(np.abs(run.energy / run.energy[0] - 1))
        ax.plot(run.t[1:], np.maximum(error[1:], 1e-17), color=COLOURS[name])


if __name__ == "__main__":
    assert set(COLOURS) - {"DLA"} == set(FIXED) <= set(SCHEMES)
    main()
