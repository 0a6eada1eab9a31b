"""The motion of a system as JavaScript: what `motion.js` steps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isinf

import casadi as ca

from ..compile.javascript import write_javascript
from ..compile.loop import NEWTON
from ..compile.status import CODES, Status
from ..control.drive_function import commanded_joints, effort_function, follows_twists
from ..control.twist import TwistDrive
from ..simulation.integration.integrators import FLAT, LOOSE, POOR
from ..simulation.least_squares import SINGULAR, WELL
from ..urdf.description import NO_LIMITS
from .step_parts import ChartParts, StepParts

# [m] of phi at a start: steps towards the constraints go on until there is less, at most so many
CLOSED, MOST = 1e-12, 25
NO_CHART = "none of the page's choices of independent speeds determines the motion here"


def write_motion(parts: StepParts, dt: float, also: Sequence[dict[str, ca.Function]] = ()) -> str:
    """The argument of `openMotion`, an expression in JavaScript. `dt`: its length [s]. `also`:
    further functions of each chart, by name."""
    vector, simulated = parts.state_vector, parts.simulated
    algebroid, vehicle = vector.algebroid, simulated.vehicle
    sizes = {"nx": vector.nx, "nq": algebroid.nq, "nv": algebroid.nv, "nconf": vector.nconf,
             "nu": simulated.constrained.system.u.numel()}
    rules = {"newton": NEWTON, "poor": POOR, "loose": LOOSE, "flat": FLAT, "closed": CLOSED,
             "most": MOST, "well": WELL, "singular": SINGULAR}
    fields: dict[str, object] = {
        "dt": dt, "sizes": sizes, "rules": rules, "codes": CODES,
        "sentences": {int(status): status.sentence for status in Status} | {
            int(Status.SINGULAR): NO_CHART},
        "theta": simulated.theta.tolist(),
        "bounds": [{"name": bound.name, "status": int(bound.status)}
                   for bound in parts.bounds.found]}
    if vehicle is not None and follows_twists(vehicle):
        drive = TwistDrive(vehicle, (0.0, 0.0, 0.0))
        efforts = [vehicle.limits.get(name, NO_LIMITS).effort for name in vehicle.driven]
        fields["drive"] = {
            "size": len(vehicle.driven),
            "columns": [vehicle.driven.index(name) for name in commanded_joints(vehicle)],
            "limits": list(map(_finite, efforts)), "acceleration": _finite(drive.acceleration)}
    codes = {name: json.dumps(value) for name, value in fields.items()}
    codes["stages"] = f"[{','.join(map(write_javascript, parts.stages))}]"
    codes["accept"] = write_javascript(parts.accept)
    charts = [_write_chart(chart, parts, further) for chart, further
              in zip(parts.charts, also or [{}] * len(parts.charts))]
    codes["charts"] = f"[{','.join(charts)}]"
    return "{" + ",\n".join(f'"{name}":{code}' for name, code in codes.items()) + "}"


def _write_chart(chart: ChartParts, parts: StepParts, also: dict[str, ca.Function]) -> str:
    functions = {"rate": chart.rate, "project": chart.project, "margins": chart.margins, **also}
    vehicle = parts.simulated.vehicle
    if vehicle is not None and follows_twists(vehicle):
        functions["drive"] = effort_function(vehicle, chart.equations)
    codes = [f'"speeds":{json.dumps(chart.speeds)}']
    codes += [f'"{name}":{write_javascript(function)}' for name, function in functions.items()
              if function is not None]
    return "{" + ",\n".join(codes) + "}"


def _finite(number: float) -> float:
    """The value with a JSON substitute for infinity."""
    return 1e300 if isinf(number) else float(number)
