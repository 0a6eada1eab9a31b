"""What a controller in Python costs, asked at each step: processor time of a step of the
differential drive, here and, interleaved, in another checkout of the project:

    python benchmarks/controllers.py [CHECKOUT]
"""

from __future__ import annotations

from common.checkouts import ROUNDS, checkouts, medians, printed_number
from common.report import machine, measured

CODE = """
import numpy as np
from common.timing import median, seconds
import nhmech
from nhmech import JointTorque, JointVelocity, Simulator
vehicle = nhmech.load(nhmech.urdf_path("differential_drive"))
left, right = vehicle.driven
efforts = np.zeros(2)
simulator = Simulator(vehicle, {controller}, mode={mode!r})
simulator.reset()
simulator.atlas.primary.loop(build=True)
simulator.step()
print(median(lambda: seconds(lambda: {call})) / {steps} * 1e6)
"""
CONTROLLERS = {
    "none": ("None", "dynamic"),
    "an array": ("lambda t, state: efforts", "dynamic"),
    "JointTorque": ("lambda t, state: JointTorque({left: 0.0, right: 0.0})", "dynamic"),
    "JointVelocity": ("lambda t, state: JointVelocity({left: 0.0, right: 0.0})", "dynamic"),
    "JointVelocity, kinematic": ("lambda t, state: JointVelocity({left: 0.0, right: 0.0})",
                                 "kinematic"),
    "a law in the loop": (
        "nhmech.control.Feedback(vehicle, lambda t, state, r: [0.1 * (3 - state.xi[left]), 0.0])",
        "dynamic"),
}
AIMS = {f"{name}, {call} [us]": aim for call in ("step()", "run()") for name, aim in (
    ("an array", 2.5), ("JointTorque", 4.0), ("JointVelocity", 6.0),
    ("JointVelocity, kinematic", 6.0))}
# with the steps that they take
CALLS = {"step()": ("simulator.step()", 1), "run()": ("simulator.run(5000 * simulator.dt)", 5000)}


def main() -> None:
    print(machine())
    codes = {f"{name}, {what}": CODE.format(controller=controller, mode=mode, steps=steps,
                                            call=call)
             for name, (controller, mode) in CONTROLLERS.items()
             for what, (call, steps) in CALLS.items()}
    rows = medians(printed_number, codes, "us")
    print(measured((f"processor time of a step, median of {ROUNDS}", *checkouts()), rows,
                   aims=AIMS))


if __name__ == "__main__":
    main()
