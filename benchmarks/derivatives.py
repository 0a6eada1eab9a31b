"""Cost of the derivatives of one step, in multiples of the step itself, all compiled C called
through buffers.

python benchmarks/derivatives.py [robot ...]
"""

from __future__ import annotations

import sys

from common.report import aim, machine
from common.timing import ROUNDS, interleaved, seconds

import nhmech
from nhmech.analysis.derivatives import step_adjoint, step_jacobian
from nhmech.compile.compiled_function import compile_function
from nhmech.simulation.integration.integrators import advance_function
from nhmech.simulation.integration.schemes import RK4

DT = 1e-3
ROBOTS = ("differential_drive", "disc", "mecanum", "ackermann_car", "bicycle", "trailers")


def main(names) -> None:
    print(machine())
    print("\nA, B, C: Jacobians by state, input, parameters; in steps; two symbolic masses; "
          f"medians of {ROUNDS} interleaved rounds")
    print(f"{'':<20}{'nx':>4}{'nu':>4}{'ntheta':>8}{'step [us]':>12}{'A, B, C':>12}{'adjoint':>10}")
    worst = 0.0
    for name in names:
        vehicle = nhmech.load(nhmech.urdf_path(name))
        masses = [key for key in vehicle.parameters.values if key.endswith(".mass")][:2]
        vehicle = vehicle.with_parameters(symbolic=masses)
        simulator = nhmech.Simulator(vehicle, dt=DT)
        simulator.reset()
        equations = vehicle.equations
        step = compile_function(advance_function(equations, RK4))
        jacobian, adjoint = step_jacobian(vehicle, DT), step_adjoint(vehicle, DT)
        x, u, theta = simulator.moment.x, simulator.moment.u, vehicle.theta
        step(0.0, x, u, theta, DT), jacobian(0.0, x, u, theta), adjoint(0.0, x, u, theta, x)
        # compiled code, without Python's arrays around it
        cost = interleaved({what: lambda call=call: seconds(call.trigger) for what, call in
                            (("step", step), ("A, B, C", jacobian.evaluate),
                             ("adjoint", adjoint.evaluate))})
        plain, forward, reverse = cost.values()
        print(f"{name:<20}{len(x):4d}{len(u):4d}{len(theta):8d}{1e6 * plain:12.2f}"
              f"{forward / plain:12.1f}{reverse / plain:10.1f}")
        worst = max(worst, reverse / plain)
    aim("adjoint of a step, in steps, the worst of these", worst, 4, least=False)


if __name__ == "__main__":
    main(sys.argv[1:] or ROBOTS)
