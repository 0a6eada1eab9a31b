from . import (
    analysis as analysis,
    autodiff as autodiff,
    control as control,
    errors as errors,
    logs as logs,
    mechanics as mechanics,
    odometry as odometry,
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
    OutputError as OutputError,
    SimulationError as SimulationError,
)
from .mechanics.gibbs_appell import gibbs_appell as gibbs_appell
from .mechanics.system import ConstrainedSystem as ConstrainedSystem
from .paths import urdf_names as urdf_names, urdf_path as urdf_path
from .simulation.batch import simulate_batch as simulate_batch
from .simulation.batch_input import start_states as start_states
from .simulation.command import (
    JointPosition as JointPosition,
    JointTorque as JointTorque,
    JointVelocity as JointVelocity,
)
from .simulation.dynamics import Dynamics as Dynamics, dynamics as dynamics
from .simulation.events import Event as Event
from .simulation.runs.batch import Batch as Batch
from .simulation.runs.trajectory import Trajectory as Trajectory
from .simulation.simulator import Simulator as Simulator
from .simulation.state import State as State
from .sweeps import sweep as sweep
from .urdf.wheel import Wheel as Wheel
from .vehicle.ground import Ground as Ground
from .vehicle.load import load as load
from .vehicle.vehicle import Vehicle as Vehicle
from .version import __version__ as __version__
from .view.recording import save_html as save_html
from .view.viewer import Viewer as Viewer
from .view.written_page import save_page as save_page
