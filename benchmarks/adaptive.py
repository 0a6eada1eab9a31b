"""Adaptive methods against Runge-Kutta with a fixed step: processor time at equal error.

CVODES runs on CasADi's virtual machine (which needs the rate's derivatives; compiled together with
them it is two to six times faster and stays behind DOP853), the others on the compiled rate; RK4 in
C is `Simulator.run` as a user calls it. Each case is a free motion; the error is the largest
difference of the state vector at its end from DOP853 at rtol 1e-13. The adaptive methods integrate
the whole span at once, which is their best case: a controller would stop them at every period. What
that costs is in the last lines: `Simulator.run` with each 10 ms recorded, in one go and with a
controller that is asked each time.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from common.report import machine, measured
from common.timing import Spent, median, window
from scipy.integrate import solve_ivp

import nhmech
from nhmech.compile.adaptive import compile_adaptive
from nhmech.compile.compiled_function import compile_function
from nhmech.simulation.integration.integrators import rate_function

REPEATS = 3
CASES = {
    "disc": (
        dict(pose=(0, 0, 0, 0.35, 0, 0.2),
             xi={"spin_joint": 8.0, "yaw_rate": 0.5, "roll_rate": 0.3}),
        10.0,
    ),
    "bicycle": (dict(pose=(0, 0, 0, 0.1, 0, 0.3), xi={"rear_wheel_joint": 17.0, "roll_rate": 0.2}),
                5.0),
}
TARGETS = (1e-4, 1e-6, 1e-8)
STEPS = [0.05 / 2 ** (k / 2) for k in range(16)]
TOLERANCES = [10.0 ** (-k / 2) for k in range(6, 25)]


class Case:
    """One motion, with its methods: (setting) -> x at the end, and what it took."""

    def __init__(self, name: str):
        start, self.duration = CASES[name]
        self.vehicle, self.start = nhmech.load(nhmech.urdf_path(name)), start
        self.simulator = nhmech.Simulator(self.vehicle)
        self.simulator.reset(**start)
        self.x0, self.u, self.theta = (self.simulator.moment.x.copy(),
                                       self.simulator.moment.u.copy(), self.vehicle.theta)
        symbolic = rate_function(self.vehicle.equations)
        self.rate = compile_function(symbolic)
        self.adaptive = compile_adaptive(symbolic)
        # CVODES wants derivatives even where it iterates without them
        t, x = ca.SX.sym("t"), ca.SX.sym("x", len(self.x0))
        self.ode = {"t": t, "x": x, "ode": symbolic(t, x, self.u, self.theta)}
        self.cvodes = {}

    def rk4(self, dt: float) -> tuple[np.ndarray, Spent]:
        steps = round(self.duration / dt)
        simulator = nhmech.Simulator(self.vehicle, dt=self.duration / steps)
        simulator.reset(**self.start)
        simulator.atlas.primary.loop(build=True)
        with Spent() as took:
            simulator.run(self.duration, every=10 ** 9)
        return simulator.moment.x, took

    def scipy(self, tolerance: float) -> tuple[np.ndarray, Spent]:
        with Spent() as took:
            solution = solve_ivp(lambda t, x: self.rate(t, x, self.u, self.theta)[0].copy(),
                                 (0, self.duration), self.x0,
                                 method="DOP853", rtol=tolerance, atol=tolerance)
        return solution.y[:, -1], took

    def dop853(self, tolerance: float) -> tuple[np.ndarray, Spent]:
        with Spent() as took:
            x, status, _ = self.adaptive.run(0.0, self.x0, self.u, self.theta, self.duration,
                                             tolerance, tolerance)
        if status:
            raise RuntimeError(f"DOP853: {status.sentence}")
        return x, took

    def run(self, asked: bool) -> float:
        """Processor time [s] of `Simulator.run` with each 10 ms recorded."""
        nothing = np.zeros(len(self.vehicle.driven))
        simulator = nhmech.Simulator(self.vehicle, (lambda t, state: nothing) if asked else None,
                                     dt=1e-2, integrator="dop853")

        def again() -> Spent:
            simulator.reset(**self.start)
            with Spent() as took:
                simulator.run(self.duration)
            return took

        again()                                                 # compiles
        return median(lambda: window(again), REPEATS)

    def sundials(self, tolerance: float) -> tuple[np.ndarray, Spent]:
        if tolerance not in self.cvodes:
            options = {"reltol": tolerance, "abstol": tolerance, "max_num_steps": 100_000,
                       "linear_multistep_method": "adams",
                       "nonlinear_solver_iteration": "functional"}
            self.cvodes[tolerance] = ca.integrator("cvodes", "cvodes", self.ode, 0.0, self.duration,
                                                   options)
        with Spent() as took:
            end = self.cvodes[tolerance](x0=self.x0)["xf"].full().ravel()
        return end, took


def cost(method, setting: float) -> float:
    """Processor time [s] of a method with a setting."""
    return median(lambda: window(lambda: method(setting)[1]), REPEATS)


def at_target(method, settings, reference: np.ndarray, target: float) -> tuple[float, float] | None:
    """Median processor time and error of the coarsest setting that reaches the target."""
    for setting in settings:
        try:
            end, _ = method(setting)
        # CVODES gives up where it cannot reach a tolerance
        except RuntimeError:
            continue
        error = np.abs(end - reference).max()
        if error <= target:
            return cost(method, setting), error
    return None


def main() -> None:
    print(machine())
    columns = "RK4 in C", "DOP853 in C", "DOP853 of SciPy", "CVODES (Adams)"
    head = ("", *(word for name in columns for word in (f"{name} [ms]", "error")))
    for name in CASES:
        case = Case(name)
        reference, _ = case.scipy(1e-13)
        rows = []
        for target in TARGETS:
            cells = [at_target(case.rk4, STEPS, reference, target)]
            cells += [at_target(method, TOLERANCES, reference, target)
                      for method in (case.dop853, case.scipy, case.sundials)]
            rows.append((f"within {target:.0e}", *(word for cell in cells for word in (
                ("-", "-") if cell is None else (1e3 * cell[0], f"{cell[1]:.1e}")))))
        print(measured(head, rows, f"\n{name}, {case.duration:g} s: medians of {REPEATS}"))
        print(measured(("", "in one go [ms]", "a controller each time [ms]"),
                       [("DOP853 at 1e-13, each 10 ms recorded",
                         1e3 * case.run(False), 1e3 * case.run(True))], name))


if __name__ == "__main__":
    main()
