"""What a written page is given: the robot's motion as JavaScript, where things are, and what its
instruments and sliders show."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..compile.javascript import write_javascript
from ..control.demo import DemoDrive
from ..control.drive_function import follows_twists
from ..control.twist_limits import easy_limits, moves_sideways, turning_radius
from ..control.twist_rule import planar_twist_of
from ..errors import InputError, listed
from ..simulation.simulator import Simulator
from ..simulation.state import State
from ..vehicle.friction import as_commanded
from ..vehicle.parameters import gravity_vector
from ..vehicle.placements import placement_function
from ..vehicle.posing import Pose
from ..vehicle.tyres import DIRECTIONS
from ..vehicle.vehicle import Vehicle
from .camera import View, frame
from .floor import floor_pose, grid_cell, is_moving
from .overlays.forces import Forces
from .scene import FOCUS, Scene
from .step_parts import StepParts, step_parts
from .trails import trail_looks
from .written_forces import FRICTION, describe_arrows, describe_wheels, force_functions
from .written_motion import write_motion

PERIOD = 0.005      # [s] between two looks at the reader's hands
# what a parameter may be made, by the last word of its name: unit, and the least and the most, in
# units of its value where that is not zero, else of the vehicle's mass and length; of angles and
# of a tyre's shape and curvature, which have ends of their own, as they are
RANGES = {"mass": ("kg", 0.0, 3.0), "radius": ("m", 0.5, 2.0), "gravity": ("m/s\u00b2", 0.0, 3.0),
          "x": ("m", -1.0, 1.0), "y": ("m", -1.0, 1.0), "z": ("m", 0.0, 2.0),
          "load": ("N", 0.2, 3.0), "low_speed": ("m/s", 0.2, 3.0),
          **{f"{d}_{what}": (unit, 0.2, 3.0) for d in DIRECTIONS
             for what, unit in (("friction", ""), ("relaxation", "m"))},
          "longitudinal_stiffness": ("N", 0.2, 3.0), "lateral_stiffness": ("N/rad", 0.2, 3.0)}
FIXED = {f"{d}_{what}": ("", *ends) for d in DIRECTIONS
         for what, ends in (("shape", (1.0, 2.0)), ("curvature", (-3.0, 1.0)))}
FIXED |= {"slope": ("rad", -0.35, 0.35), "slope_direction": ("rad", -math.pi, math.pi)}
OTHERS = ("", 0.0, 3.0)


class Content(NamedTuple):
    """The data that a page is written from."""

    fields: Mapping[str, Any]  # of the argument of `openWritten`, what is JSON
    motion: str  # the argument of `openMotion`, in JavaScript
    # (t, q, v, theta) -> poses of the bodies (16, n), points of the trails (3, k), the point that
    # the camera goes along with, planar twist, directions of the ground's forces (3, m), and upward
    # (3,)
    place: ca.Function
    messages: list[dict]  # draw the scene

    def write(self) -> str:
        """The argument of `openWritten`, an expression in JavaScript."""
        codes = {name: json.dumps(value) for name, value in self.fields.items()}
        codes |= {"motion": self.motion, "place": write_javascript(self.place)}
        return "{" + ",\n".join(f'"{name}":{code}' for name, code in codes.items()) + "}"


def vehicle_content(vehicle: Vehicle, joints: Mapping[str, float] | None, pose: Pose | None,
                    xi: Mapping[str, float] | None, dt: float,
                    mu: float | Mapping[str, float] | None, title: str | None) -> Content:
    """The content for a vehicle; arguments as in `save_page`. Raises `InputError` for ground that
    moves."""
    if is_moving(vehicle.ground):
        raise InputError("a page in which a robot runs draws ground at rest; save_html writes a "
                         "run on ground that moves")
    remarks = _remarks(vehicle)
    vehicle = as_commanded(vehicle)
    parts = step_parts(vehicle)
    begin: dict[str, Any] = {"pose": pose, "joints": joints, "xi": xi}
    pushed = DemoDrive(vehicle).start
    if all(value is None for value in begin.values()):
        begin = pushed
    elif xi is None:
        begin["xi"] = pushed.get("xi")
    state = Simulator(vehicle, dt=dt).reset(**begin)
    also = [{"forces": function} for function in
            force_functions(vehicle, [chart.equations for chart in parts.charts])]
    scene, arrows = Scene(vehicle), Forces(vehicle, mu)
    view = frame(scene.extent(state.q), scene.middle(state.q), vehicle.ground.normal,
                 scene.forward(state.q), True)
    wheels = describe_wheels(vehicle, mu)
    known = [wheel["mu"] for wheel in wheels if wheel["mu"] is not None]
    fields = {
        "picture": picture_fields(scene, view), "wheels": wheels,
        "mu": known[0] if known else FRICTION, "start": start_state(parts, state),
        "period": max(1, round(PERIOD / dt)), "parameters": parameter_sliders(vehicle),
        "driving": _driving(vehicle), "speeds": [] if follows_twists(vehicle) else _speeds(vehicle),
        "arrows": describe_arrows(arrows, view), "note": _note(vehicle),
        "remarks": remarks,
        "sizes": {"parts": len(vehicle.contact_rows), "kernel": also[0]["forces"].numel_out(1)}}
    return Content(fields, write_motion(parts, dt, also), _place_function(vehicle),
                   scene.messages(view, [arrows], title))


def _remarks(vehicle: Vehicle) -> str:
    """The effects of the contacts that the page does not simulate."""
    found = []
    if as_commanded(vehicle) is not vehicle:
        found.append("its wheels turn it by sliding: here it turns by the mid-axle model, without "
                     "the friction of that")
    laws = {wheel.law for wheel in vehicle.description.wheels}
    if "tyre" in laws:
        found.append("its tyres slip by themselves; an arrow shows what a wheel carries")
    if "coulomb" in laws:
        found.append("where friction no longer suffices, it stops: sliding is not simulated here")
    return "; ".join(found)


def start_state(parts: StepParts, state: State) -> list[float]:
    """x of the first chart."""
    speeds = list(parts.charts[0].speeds)
    return parts.state_vector.assemble(state.q, state.v[speeds]).tolist()


def picture_fields(scene: Scene, view: View) -> dict[str, Any]:
    """Paths of the bodies, and what ground and trails need."""
    ground = scene.vehicle.ground
    period = 20 * grid_cell(view.size)
    pose = floor_pose(ground, view.ground, period)
    return {"paths": list(scene.paths.values()), "focus": FOCUS, "unseen": view.unseen,
            "trails": trail_looks(scene.vehicle, view.size), "normal": list(ground.normal),
            "ground": {"pose": pose.T.ravel().tolist(), "period": period}}


def parameter_sliders(vehicle: Vehicle) -> list[dict[str, Any]]:
    """The data of the slider of each symbolic parameter."""
    mass = sum(inertia.mass for inertia in vehicle.model.inertias)
    sizes = {"mass": mass / 3, "x": vehicle.steering.length, "y": vehicle.steering.length,
             "z": vehicle.steering.length}
    found = []
    values = vehicle.theta.tolist()
    for index, (name, value) in enumerate(zip(vehicle.parameters.symbolic, values)):
        word = name.rpartition(".")[2]
        unit, low, high = FIXED.get(word) or RANGES.get(word, OTHERS)
        size = 1.0 if word in FIXED else value or sizes.get(word, 1.0)
        ends = sorted((low * size, high * size))
        found.append({"index": index, "name": name, "unit": unit, "value": value,
                      "low": min(ends[0], value), "high": max(ends[1], value)})
    return found


def _drawn_radii(vehicle: Vehicle) -> dict[str, tuple[int, np.ndarray]]:
    """Radius that is symbolic -> the body that is drawn larger with it, as Pinocchio's joint, and
    the wheel's centre (3,) in its frame."""
    found = {}
    for mount in (contact.mount for contact in vehicle.contacts):
        name, joint = f"{mount.wheel.name}.radius", mount.wheel.joint
        if name not in vehicle.parameters.symbolic or mount.spin is None:
            continue
        body = vehicle.model.getJointId(joint)
        fixed = vehicle.model.jointPlacements[body]
        found[name] = body, fixed.inverse().act(np.array(mount.centre))
    return found


def _note(vehicle: Vehicle) -> str:
    """Sliders that move the contact points but not the shapes that are drawn there."""
    system = vehicle.constrained.system
    _, points, _ = placement_function(vehicle)(system.t, system.q, system.theta)
    kept = [name for name, moves in zip(vehicle.parameters.symbolic,
                                        ca.which_depends(points, system.theta))
            if moves and name not in _drawn_radii(vehicle)]
    return f"the picture keeps {listed(kept)} as it was" if kept else ""


def _driving(vehicle: Vehicle) -> dict[str, Any] | None:
    """How the reader drives: limits of the twist and of its changes, and the turning radius; None
    for a vehicle without driven wheels."""
    if not follows_twists(vehicle):
        return None
    limits = easy_limits(vehicle)
    axes = [limits.forward, limits.lateral, limits.yaw]
    return {"limits": [float(axis.max_velocity) for axis in axes],
            "growth": [float(axis.max_acceleration) for axis in axes],
            "decay": [float(abs(axis.max_deceleration)) for axis in axes],
            "radius": float(turning_radius(vehicle)),
            "lateral": moves_sideways(vehicle)}


def _speeds(vehicle: Vehicle) -> list[dict[str, Any]]:
    """Independent speeds that can be pushed, and their sizes."""
    length = vehicle.steering.length
    pace = math.sqrt(abs(vehicle.parameters.values["gravity"]) * length)
    v_names, units = vehicle.algebroid.v_names, vehicle.algebroid.v_units
    found = []
    for name in vehicle.speeds:
        unit = units[v_names.index(name)]
        size = 0.2 * pace if unit == "m/s" else 0.2 * pace / length
        found.append({"name": name, "rate": v_names.index(name), "unit": unit, "push": size,
                      "moves": []})
    return found


def _place_function(vehicle: Vehicle) -> ca.Function:
    """`Content.place`; wheels grow with their radius."""
    system = vehicle.constrained.system
    t, q, v, theta = system.t, system.q, system.v, system.theta
    poses, points, directions = placement_function(vehicle)(t, q, theta)
    for name, (body, centre) in _drawn_radii(vehicle).items():
        size = vehicle.parameters[name] / vehicle.parameters.values[name]
        grown = ca.diag(ca.vertcat(size, size, size, 1))
        grown[:3, 3] = (1 - size) * ca.DM(centre)
        poses[:, body - 1] = ca.vec(ca.reshape(poses[:, body - 1], 4, 4) @ grown)
    focus = ca.sum2(points) / points.size2()
    return ca.Function("nhmech_place", [t, q, v, theta],
                       [ca.densify(poses), points, ca.densify(focus),
                        ca.densify(planar_twist_of(vehicle, q, v)), directions,
                        ca.densify(-gravity_vector(vehicle.parameters))], {"cse": True})
