"""The data of the page of a textbook system, as `written_content` makes them for a vehicle."""

from __future__ import annotations

import warnings
from inspect import getdoc
from typing import Any

import casadi as ca
import numpy as np

from ..errors import InputError, listed
from ..simulation.simulator import Simulator
from ..systems.example import Example, drawn_parameters
from .camera import frame
from .scene import Scene
from .step_parts import step_parts
from .system_picture import SystemPicture
from .written_content import Content, picture_fields, start_state
from .written_motion import write_motion

PUSH = 0.15         # of the largest speed of the start
SAME = 1e-9         # [m] of poses by symbols and by numbers
ROOM = 96           # letters in a line of a function's docstring
RANGE = 0.25, 3.0   # what a parameter may be made, in units of its value; a zero one is within 1


def system_content(example: Example, dt: float, title: str | None) -> Content:
    """The content for a textbook system, which is pushed. Raises `InputError` if it has no shapes,
    or they cannot be evaluated with symbols."""
    picture, parts = SystemPicture(example), step_parts(example)
    place = _place_function(example, picture)
    equations = parts.charts[0].equations
    state = Simulator(example, dt=dt).reset(**example.reset_arguments())
    shown, scene = picture.configuration(state.q), Scene(picture)
    view = frame(scene.extent(shown), scene.middle(shown), picture.ground.normal,
                 scene.forward(shown), True)
    drawn = drawn_parameters(example)
    fields = {"picture": picture_fields(scene, view), "wheels": [], "mu": 1.0,
              "start": start_state(parts, state), "period": 1,
              "parameters": _parameters(example, drawn), "driving": None,
              "arrows": None, "sizes": {"parts": 0, "kernel": 0}, "note": _note(example, drawn),
              "remarks": "",
              "speeds": _speeds(example, equations.names)}
    return Content(fields, write_motion(parts, dt), place,
                   scene.messages(view, title=title or example.name))


def _parameters(example: Example, drawn: tuple[str, ...]) -> list[dict[str, Any]]:
    """Of each parameter, what its slider needs; the shapes are drawn once, so what they depend on
    has none."""
    system, found = example.constrained.system, []
    values = example.constrained.parameters.tolist()
    for index, (name, value) in enumerate(zip(system.theta_names, values)):
        if name in drawn:
            continue
        ends = sorted(part * value for part in RANGE) if value else [-1.0, 1.0]
        found.append({"index": index, "name": name, "unit": "", "value": value, "low": ends[0],
                      "high": ends[1]})
    return found


def _note(example: Example, drawn: tuple[str, ...]) -> str:
    """The description of the parameters, and which of them have no slider."""
    words = "" if example.make is None else getdoc(example.make) or ""
    sentences = [_unwrap(words.partition("\n\nParameters\n")[0])]
    if drawn:
        sentences.append(f"no slider for {listed(drawn)}: the picture is drawn with it")
    return "\n\n".join(filter(None, sentences))


def _unwrap(text: str) -> str:
    """A docstring without the breaks of lines in which there was no room for another word."""
    lines = text.replace("`", "").replace("::", ":").splitlines()
    kept = lines[:1]
    for before, line in zip(lines, lines[1:]):
        first = line.partition(" ")[0]
        if before and first and len(before) + 1 + len(first) > ROOM:
            kept[-1] += " " + line
        else:
            kept.append(line)
    return "\n".join(kept)


def _speeds(example: Example, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Independent speeds that can be pushed, by how much, and the coordinates that each moves."""
    algebroid = example.constrained.system.algebroid
    size = PUSH * (float(np.abs(example.start["xi"]).max(initial=0.0)) or 1.0)
    rates = [algebroid.v_names.index(name) for name in names]
    moves = ca.DM(ca.sparsify(algebroid.anchor).sparsity(), 1).full().astype(bool)
    return [{"name": name, "rate": rate, "unit": algebroid.v_units[rate], "push": size,
             "moves": [q for q, is_moved in zip(algebroid.q_names, moves[:, rate]) if is_moved]}
            for name, rate in zip(names, rates)]


def _place_function(example: Example, picture: SystemPicture) -> ca.Function:
    """`Content.place`, from the shapes' own poses."""
    system = example.constrained.system
    symbols = np.array(ca.vertsplit(system.q), dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)      # NumPy's cosine of a symbol
        try:
            poses = [ca.vertcat(*(ca.horzcat(*row) for row in shape.pose(symbols)))
                     for shape in picture.shapes]
        except (TypeError, ValueError) as error:
            raise InputError(f"the shapes of {example.name} cannot be placed by symbols ({error}); "
                             "write their pose with systems.shapes.pose, placed and matrix_of"
                             ) from error
    numbers = ca.Function("poses", [system.q], poses)
    for q in example.constrained.configurations[:2]:
        for found, shape in zip(numbers.call([q]), picture.shapes):
            # NumPy makes NaN of a symbol that is put into an array of numbers
            if not np.allclose(found.full(), shape.pose(q), rtol=0, atol=SAME):
                raise InputError(f"the shapes of {example.name} lose the symbols of their pose; "
                                 "write it with systems.shapes.pose, placed and matrix_of")
    ground = ca.DM([[1, 1, 0]]).T
    points = [poses[i][:3, 3] * ground for i, shape in enumerate(picture.shapes) if shape.trail]
    focus = sum(points, ca.SX.zeros(3)) / len(points) if points else poses[0][:3, 3] * ground
    return ca.Function("nhmech_place", [system.t, system.q, system.v, system.theta],
                       [ca.densify(ca.horzcat(*map(ca.vec, poses))),
                        ca.densify(ca.horzcat(ca.SX(3, 0), *points)), ca.densify(focus),
                        ca.SX.zeros(3), ca.SX(3, 0), ca.SX([0, 0, 1])], {"cse": True})
