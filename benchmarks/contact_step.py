"""Steps in which wheels slide: what one costs, and a run whose wheels might slide and roll; solvers
of the contact problem beside each other: ours, and Pinocchio's PGS and ADMM."""

from __future__ import annotations

import os
from functools import partial
from statistics import median

# threads of BLAS that wait for work take processor time
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pinocchio as pin
from common.report import machine, measured
from common.timing import Spent, interleaved, seconds, window

import nhmech
from nhmech.simulation.contact.contact_problem import ContactProblem
from nhmech.simulation.contact.nonsmooth import NonsmoothStep
from nhmech.simulation.contact.nonsmooth_terms import NonsmoothTerms

VEHICLES = ("ball", "differential_drive", "ackermann_car", "mecanum", "swerve")
DT, STEPS, STARTS = 1e-3, 50, 20
ROLLING = 2000                   # steps of a run that rolls
EACH = 1e-3                      # [s] for which one step of many is taken again and again
MOST = 100_000                   # iterations of Pinocchio's solvers


def runs(name: str, take: bool):
    """Steps of a vehicle from random sliding starts; yields (step, motion, inputs)."""
    vehicle, rng = nhmech.load(nhmech.urdf_path(name)), np.random.default_rng(3)
    terms = NonsmoothTerms.of(vehicle, 0.3)
    step = NonsmoothStep(terms, np.zeros(len(terms.contacts)))
    u = np.zeros(vehicle.constrained.system.u.numel())
    q = vehicle.configuration()
    x = np.array([*q[:7], *vehicle.joint_positions(q).values()])
    for _ in range(STARTS):
        w = rng.normal(size=terms.nv) / vehicle.constrained.scales
        w[2:5] = 0
        motion = step.start(0.0, x, w)
        for _ in range(STEPS):
            yield step, motion, u
            if take:
                motion = step.advance(motion, u, DT)


def in_a_run(name: str) -> float:
    """Processor time of a step of a run in which wheels slide throughout, in the median of runs."""
    vehicle, rng = nhmech.load(nhmech.urdf_path(name)), np.random.default_rng(3)
    simulator = nhmech.Simulator(vehicle, dt=DT, contact="coulomb", mu=0.3, on_fall="ignore")
    names, times = vehicle.algebroid.v_names, []
    for _ in range(STARTS):
        w = rng.normal(size=len(names)) / vehicle.constrained.scales
        w[2:5] = 0
        taken, run = sliding_run(simulator, dict(zip(names, w)))
        if not run.rolled[1:].any():
            times.append(taken)
    return 1e6 * median(times)


def sliding_run(simulator: nhmech.Simulator, v: dict) -> tuple[float, nhmech.Trajectory]:
    """Processor time of a step [s], and the run."""
    runs: list[nhmech.Trajectory] = []

    def again() -> Spent:
        simulator.reset(v=v)
        with Spent(STEPS) as took:
            runs.append(simulator.run(STEPS * DT))
        return took

    again()                                                   # builds the code
    taken = window(again)
    return taken, runs[-1]


def cost(name: str) -> tuple:
    """Processor time of a step in a run; of steps that Python asks for one by one median, mean and
    99 % in C, and the median in NumPy."""
    compiled, plain = [], []
    for i, (step, motion, u) in enumerate(runs(name, take=True)):
        if i == 0:
            step.advance(motion, u, DT)                       # builds the code
        compiled.append(seconds(partial(step.advance, motion, u, DT), EACH))
        if i % 50 == 10:
            in_python = partial(step.implicit.take_in_python, motion, u, DT,
                                np.flatnonzero(motion.closed), False)
            plain.append(seconds(in_python, EACH))
    return (name, in_a_run(name), *(1e6 * part(compiled) for part in (median, np.mean)),
            1e6 * np.percentile(compiled, 99), 1e6 * median(plain))


def rolling(name: str, period: float | None) -> tuple:
    """Processor time of a step of a run that rolls, ideally and by Coulomb's law, in turn;
    controllers are asked every so many seconds."""
    vehicle = nhmech.load(nhmech.urdf_path(name))
    inputs = 0.01 * np.ones(len(vehicle.driven))
    controller = None if period is None else lambda t, state: inputs

    def run_of(simulator: nhmech.Simulator) -> Spent:
        simulator.reset(xi={vehicle.speeds[0]: 0.3})
        with Spent(ROLLING) as took:
            simulator.run(ROLLING * DT, every=100)
        return took

    measures = {}
    for how in ({}, {"contact": "coulomb", "mu": 0.9}):
        simulator = nhmech.Simulator(vehicle, controller, dt=DT, control_period=period or DT,
                                     integrator="rk4", **how)
        simulator.compile()
        again = partial(run_of, simulator)
        again()
        measures["coulomb" if how else "ideal"] = partial(window, again)
    ideal, coulomb = (1e6 * cost for cost in interleaved(measures).values())
    asked = "" if period is None else f", asked every {1e3 * period:g} ms"
    return name + asked, ideal, coulomb, f"{100 * (coulomb / ideal - 1):+.1f}"


# -- the contact problem ---------------------------------------------------------------------------
def problems(name: str) -> list[tuple[np.ndarray, np.ndarray, list]]:
    """W, g and cones of steps, of contacts with two directions along the ground."""
    found, solve = [], ContactProblem.solve

    def keep(self, *given):
        if all(len(cone.along) == 2 for cone in self.cones):
            found.append((self.W.copy(), self.g.copy(), list(self.cones)))
        return solve(self, *given)

    ContactProblem.solve = keep
    try:
        for i, (step, motion, u) in enumerate(runs(name, take=True)):
            if i % 25 == 5:
                step.implicit.take_in_python(motion, u, DT, np.flatnonzero(motion.closed), False)
    finally:
        ContactProblem.solve = solve
    return found


def residual(W, g, cones, P) -> float:
    """The largest violation of Signorini's condition, the cone and friction against slip, as a part
    of the velocities without impulses."""
    u, worst = W @ P + g, 0.0
    for cone in cones:
        i, j = cone.normal, list(cone.along)
        z = P[i] - u[i] / W[i, i]
        rho = 1 / W[j, j].max()
        y = P[j] - rho * u[j]
        length, radius = np.linalg.norm(y), cone.mu * max(z, 0.0)
        if length > radius:
            y = y * radius / length
        worst = max(worst, abs(P[i] - max(z, 0.0)) * W[i, i], np.abs(P[j] - y).max() / rho)
    return worst / np.abs(g).max()


def by_pinocchio(kind: str, tolerance: float):
    """Takes (W, g, cones); returns P."""
    def solve(W, g, cones):
        order = [k for cone in cones for k in (*cone.along, cone.normal)]
        model = pin.Model()
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for cone in cones:
            contact = pin.PointContactConstraintModel(model)
            contact.setFriction(cone.mu)
            models.append(pin.ConstraintModel(contact))
            datas.append(models[-1].createData())
        solver = getattr(pin, f"{kind}ConstraintSolver")(len(g))
        settings = getattr(pin, f"{kind}SolverSettings")()
        result = getattr(pin, f"{kind}SolverResult")()
        settings.max_iterations = MOST
        for what in ("feasibility", "complementarity"):
            setattr(settings, f"absolute_{what}_tol", tolerance)
            setattr(settings, f"relative_{what}_tol", tolerance)
        operator, right = pin.DelassusOperatorDense(W[np.ix_(order, order)]), g[order]
        with Spent() as took:
            solver.solve(operator, right, models, datas, settings, result)
        P = np.zeros(len(g))
        P[order] = result.retrieveConstraintImpulses()
        return P, took.wall
    return solve


def by_newton(W, g, cones):
    problem = ContactProblem(W, g, cones)
    with Spent() as took:
        P, _ = problem.solve(np.zeros(len(g)))
    return P, took.wall


SOLVERS = {"ours (NumPy)": by_newton, "PGS to 1e-12": by_pinocchio("PGS", 1e-12),
           "ADMM to 1e-12": by_pinocchio("ADMM", 1e-12), "ADMM to 1e-6": by_pinocchio("ADMM", 1e-6)}


def compare(given: list[tuple[np.ndarray, np.ndarray, list]]) -> list[tuple]:
    """Solver by solver: time, residuals, and how many of the problems it solves."""
    rows = []
    for solver, solve in SOLVERS.items():
        errors, times = [], []
        for problem in given:
            P, taken = solve(*problem)
            errors.append(residual(*problem, P))
            times.append(taken)
        rows.append((solver, 1e6 * median(times), 1e6 * max(times), median(errors),
                     max(errors), f"{sum(error <= 1e-9 for error in errors)}/{len(errors)}"))
    return rows


def main() -> None:
    print(machine(("pin",)))
    print(measured(("a step, us", "in a run", "C, median", "C, mean", "C, 99 %", "NumPy"),
                [cost(name) for name in VEHICLES], "\nwheels that slide, dt = 1 ms"))
    print(measured(("a step, us", "ideal", "coulomb", "more, %"), [
        rolling(name, period) for name in VEHICLES[1:] for period in (None, 1e-2, 1e-3)],
        "\nwheels that roll"))
    for name in ("ball", "ackermann_car"):
        print(measured(("solver", "median us", "most us", "median residual", "most", "to 1e-9"),
                       compare(problems(name)), f"\ncontact problems of {name}"))


if __name__ == "__main__":
    main()
