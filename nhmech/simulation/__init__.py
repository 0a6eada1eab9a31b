"""The step loop, and what it reads and writes: states, commands, events, trajectories, batches."""

from typing import TYPE_CHECKING

from .. import lazy

if TYPE_CHECKING:
    from .inverse_dynamics import InverseDynamics as InverseDynamics
    from .state import planar_pose as planar_pose
    from .state_vector import StateVector as StateVector

lazy.attach(__name__, {
    "inverse_dynamics": "InverseDynamics",
    "state": "planar_pose",
    "state_vector": "StateVector",
})
