from ..simulation.feedback import Feedback as Feedback, SymbolicState as SymbolicState
from .balance import Balance as Balance
from .bicycle import BicycleBalance as BicycleBalance
from .collocation import Collocation as Collocation, Plan as Plan
from .combinators import (
    Combinator as Combinator,
    Delay as Delay,
    Hold as Hold,
    Saturation as Saturation,
    Sum as Sum,
    Switch as Switch,
)
from .demo import DemoDrive as DemoDrive
from .dubins import dubins as dubins
from .feedback_linearisation import FeedbackLinearisation as FeedbackLinearisation
from .kanayama import Kanayama as Kanayama
from .lqr import LQR as LQR
from .measurement import MeasurementNoise as MeasurementNoise, Quantise as Quantise
from .mpc import MPC as MPC
from .path import Path as Path
from .path_choice import read_path as read_path
from .path_library import (
    circle as circle,
    lane_change as lane_change,
    line as line,
    make_path as make_path,
    spline as spline,
)
from .path_reference import PathError as PathError, path_error as path_error
from .polar import Polar as Polar
from .pure_pursuit import PurePursuit as PurePursuit
from .registry import controller_class as controller_class, controller_names as controller_names
from .stanley import Stanley as Stanley
from .tracking import Tracker as Tracker
from .tracking_lqr import TrackingLQR as TrackingLQR
from .trailer_backing import TrailerBacking as TrailerBacking
from .trailer_flatness import TrailerFlatness as TrailerFlatness
from .twist import TwistDrive as TwistDrive
from .wheel_servo import WheelServo as WheelServo
