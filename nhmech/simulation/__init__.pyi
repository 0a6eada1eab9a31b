from .inverse_dynamics import InverseDynamics as InverseDynamics
from .state import planar_pose as planar_pose
from .state_vector import StateVector as StateVector
