from .estimate import Estimate as Estimate
from .findings import Finding as Finding, FindingKind as FindingKind
from .referee import OdometryReport as OdometryReport, judge_odometry as judge_odometry
from .samples import JointSamples as JointSamples, PoseSamples as PoseSamples
from .windows import Windows as Windows
