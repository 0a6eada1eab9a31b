from ..compile.status import Status as Status
from .command import Controller as Controller
from .contact_spans import ContactSpan as ContactSpan
from .imu import ImuReadings as ImuReadings, imu_along as imu_along
from .inverse_dynamics import InverseDynamics as InverseDynamics
from .limit_spans import LimitKind as LimitKind, LimitSpan as LimitSpan
from .motion import Phase as Phase
from .schemes import Scheme as Scheme
from .state import planar_pose as planar_pose
from .state_vector import StateVector as StateVector
