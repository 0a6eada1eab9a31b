"""Exact nonholonomic simulation of wheeled robots from their URDF. ::

    import nhmech
    vehicle = nhmech.load("robot.urdf")
    trajectory = nhmech.Simulator(vehicle, controller).run(10.0)
    nhmech.save_html(vehicle, trajectory, "run.html")

The names below are imported when they are first used, so `import nhmech` costs nothing.
"""

from typing import TYPE_CHECKING

from . import lazy
from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import (
        analysis as analysis,
        control as control,
        errors as errors,
        logs as logs,
        mechanics as mechanics,
        simulation as simulation,
        systems as systems,
        urdf as urdf,
        view as view,
    )
    from .errors import (
        CompileError as CompileError,
        InputError as InputError,
        MechanicsError as MechanicsError,
        ModelError as ModelError,
        NhmechError as NhmechError,
        SimulationError as SimulationError,
    )
    from .mechanics.gibbs_appell import gibbs_appell as gibbs_appell
    from .mechanics.system import ConstrainedSystem as ConstrainedSystem
    from .paths import urdf_names as urdf_names, urdf_path as urdf_path
    from .simulation.batch import Batch as Batch, simulate_batch as simulate_batch
    from .simulation.batch_input import start_states as start_states
    from .simulation.command import (
        JointPosition as JointPosition,
        JointTorque as JointTorque,
        JointVelocity as JointVelocity,
    )
    from .simulation.dynamics import Dynamics as Dynamics, dynamics as dynamics
    from .simulation.events import Event as Event
    from .simulation.simulator import Simulator as Simulator
    from .simulation.state import State as State
    from .simulation.trajectory import Trajectory as Trajectory
    from .sweeps import sweep as sweep
    from .urdf.wheel import Wheel as Wheel
    from .vehicle.ground import Ground as Ground
    from .vehicle.load import load as load
    from .vehicle.vehicle import Vehicle as Vehicle
    from .view.recording import save_html as save_html
    from .view.viewer import Viewer as Viewer

lazy.attach(__name__, {
    "": "analysis control errors logs mechanics simulation systems urdf view",
    "errors": "CompileError InputError MechanicsError ModelError NhmechError SimulationError",
    "mechanics.gibbs_appell": "gibbs_appell",
    "mechanics.system": "ConstrainedSystem",
    "paths": "urdf_names urdf_path",
    "simulation.batch": "Batch simulate_batch",
    "simulation.batch_input": "start_states",
    "simulation.command": "JointPosition JointTorque JointVelocity",
    "simulation.dynamics": "Dynamics dynamics",
    "simulation.events": "Event",
    "simulation.simulator": "Simulator",
    "simulation.state": "State",
    "simulation.trajectory": "Trajectory",
    "sweeps": "sweep",
    "urdf.wheel": "Wheel",
    "vehicle.ground": "Ground",
    "vehicle.load": "load",
    "vehicle.vehicle": "Vehicle",
    "view.recording": "save_html",
    "view.viewer": "Viewer",
}, also="__version__")
