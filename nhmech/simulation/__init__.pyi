from ..compile.status import Status as Status
from .command import Controller as Controller
from .contact.phases import (
    ContactMoment as ContactMoment,
    ContactSpan as ContactSpan,
    Phase as Phase,
)
from .integration.schemes import Scheme as Scheme
from .inverse_dynamics import InverseDynamics as InverseDynamics
from .runs.limit_spans import LimitKind as LimitKind, LimitSpan as LimitSpan
from .sensors import ImuReadings as ImuReadings, imu_along as imu_along
from .state import planar_pose as planar_pose
from .state_vector import StateVector as StateVector
