"""A page in which a vehicle runs by itself, with its own equations: one file, no network."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import umsgpack

from ..checks import check_arguments, read_number
from ..ctrl_c import hear_ctrl_c
from ..paths import replace_file
from ..systems.example import Example
from ..vehicle.vehicle import Vehicle
from .page import render
from .written_content import vehicle_content
from .written_system import system_content

DEFAULT = ("payload.mass", "payload.x", "payload.z", "gravity", "slope")

SCRIPT = """
const nhmech = openPage(software.found());
nhmech.viewer.handle_command_bytearray(Uint8Array.from(atob("$scene"), c => c.charCodeAt(0)));
nhmech.written = openWritten(nhmech, $content);
"""


@check_arguments
@hear_ctrl_c()
def save_page(vehicle: Vehicle | Example, path: str | PathLike[str], *,
              parameters: Sequence[str] | None = None, joints: Mapping[str, float] | None = None,
              pose: object = None, xi: Mapping[str, float] | None = None, dt: float = 1e-3,
              mu: float | Mapping[str, float] | None = None, title: str | None = None) -> Path:
    """Writes an HTML page in which the reader drives the simulated vehicle, and returns its path.

    The page contains the simulator's step, translated to JavaScript instruction by instruction: the
    same inputs give the same states up to rounding. It needs neither network nor installation.

    Parameters
    ----------
    vehicle
        The vehicle: with driven wheels it follows the arrow keys, as `TwistDrive` does; otherwise
        it is pushed. So is a textbook system from `nhmech.systems.load_system`, which starts as
        `nhmech systems run` does; its parameters have sliders, but those that are drawn.
    path
        The file to write, `.html`.
    parameters
        Names of `Vehicle.with_parameters` that get a slider; None takes payload, gravity and slope.
    joints, pose, xi
        Start pose and speeds, as in `Simulator.reset`. If xi is None, what a twist does
        not drive is pushed off.
    dt
        Step [s].
    mu
        Friction coefficients for the bars, as in `analysis.validity`; 0.8 if none is given.
    title
        In the page's corner; None takes the vehicle's name.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        For unknown parameters, for ground that moves, for starts and steps that cannot be, and for
        a textbook system without shapes.

    Examples
    --------
    >>> nhmech.save_page(vehicle, tmp_path / "robot.html").stat().st_size > 100_000
    True
    """
    dt = read_number("dt", dt, "a step in s", above=0.0)
    names = DEFAULT if parameters is None else tuple(parameters)
    if isinstance(vehicle, Example):
        found = system_content(vehicle, dt, title)
    else:
        found = vehicle_content(vehicle.with_parameters(symbolic=names), joints, pose, xi, dt, mu,
                                title)
    # a name must not end the script
    content = found.write().replace("</", "<\\/").replace("<!--", "<\\!--")
    scene = base64.b64encode(umsgpack.packb(found.messages)).decode()
    script = SCRIPT.replace("$scene", scene).replace("$content", content)
    page = render(script, title or vehicle.name,
                  ("motion.js", "controls.js", "instruments.js", "forces.js", "trails.js",
                   "ghost.js", "written.js"),
                  ("drive.css", "written.css"))
    with replace_file(path) as new:
        new.write_text(page, encoding="utf-8")
    return Path(path)
