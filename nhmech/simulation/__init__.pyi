from ..compile.status import Status as Status
from .command import Controller as Controller
from .contact.contact_moment import ContactMoment as ContactMoment
from .contact.contact_spans import ContactSpan as ContactSpan
from .contact.motion import Phase as Phase
from .imu import ImuReadings as ImuReadings, imu_along as imu_along
from .integration.schemes import Scheme as Scheme
from .inverse_dynamics import InverseDynamics as InverseDynamics
from .runs.limit_spans import LimitKind as LimitKind, LimitSpan as LimitSpan
from .state import planar_pose as planar_pose
from .state_vector import StateVector as StateVector
