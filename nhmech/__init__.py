"""Exact nonholonomic simulation of wheeled robots from their URDF.

    import nhmech
    vehicle = nhmech.load("robot.urdf")
    trajectory = nhmech.Simulator(vehicle, controller).run(10.0)
    nhmech.save_html(vehicle, trajectory, "run.html")

The names below are imported when they are first used, so `import nhmech` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .version import __version__

if TYPE_CHECKING:
    from . import errors
    from .errors import (
        CompileError,
        InputError,
        MechanicsError,
        ModelError,
        NhmechError,
        SimulationError,
    )
    from .mechanics.gibbs_appell import gibbs_appell
    from .mechanics.system import ConstrainedSystem
    from .paths import urdf_names, urdf_path
    from .simulation.batch import Batch, simulate_batch
    from .simulation.batch_input import start_states
    from .simulation.command import JointPosition, JointTorque, JointVelocity
    from .simulation.dynamics import Dynamics, dynamics
    from .simulation.events import Event
    from .simulation.simulator import Simulator
    from .simulation.state import State
    from .simulation.trajectory import Trajectory
    from .sweeps import sweep
    from .urdf.wheel import Wheel
    from .vehicle.ground import Ground
    from .vehicle.load import load
    from .view.recording import save_html
    from .view.viewer import Viewer

# public name -> module that defines it
_HOME = {
    "load": "vehicle.load",
    "Wheel": "urdf.wheel",
    "Ground": "vehicle.ground",
    "urdf_path": "paths",
    "urdf_names": "paths",
    "Simulator": "simulation.simulator",
    "State": "simulation.state",
    "Trajectory": "simulation.trajectory",
    "JointTorque": "simulation.command",
    "JointVelocity": "simulation.command",
    "JointPosition": "simulation.command",
    "Event": "simulation.events",
    "dynamics": "simulation.dynamics",
    "Dynamics": "simulation.dynamics",
    "simulate_batch": "simulation.batch",
    "start_states": "simulation.batch_input",
    "Batch": "simulation.batch",
    "sweep": "sweeps",
    "gibbs_appell": "mechanics.gibbs_appell",
    "ConstrainedSystem": "mechanics.system",
    "Viewer": "view.viewer",
    "save_html": "view.recording",
    "NhmechError": "errors",
    "InputError": "errors",
    "ModelError": "errors",
    "MechanicsError": "errors",
    "CompileError": "errors",
    "SimulationError": "errors",
}

__all__ = [
    "Batch",
    "CompileError",
    "ConstrainedSystem",
    "Dynamics",
    "Event",
    "Ground",
    "InputError",
    "JointPosition",
    "JointTorque",
    "JointVelocity",
    "MechanicsError",
    "ModelError",
    "NhmechError",
    "SimulationError",
    "Simulator",
    "State",
    "Trajectory",
    "Viewer",
    "Wheel",
    "__version__",
    "dynamics",
    "errors",
    "gibbs_appell",
    "load",
    "save_html",
    "simulate_batch",
    "start_states",
    "sweep",
    "urdf_names",
    "urdf_path",
]


def __getattr__(name: str):
    if name == "errors":
        return import_module(".errors", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has "
                             f"{', '.join(__all__)}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
