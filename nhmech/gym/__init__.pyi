from .balance import BalanceTask as BalanceTask
from .environments import (
    BalancingEnv as BalancingEnv,
    BalancingVectorEnv as BalancingVectorEnv,
    GoalReachingEnv as GoalReachingEnv,
    GoalReachingVectorEnv as GoalReachingVectorEnv,
    PathFollowingEnv as PathFollowingEnv,
    PathFollowingVectorEnv as PathFollowingVectorEnv,
    TaskEnv as TaskEnv,
    TaskVectorEnv as TaskVectorEnv,
    TrailerBackingEnv as TrailerBackingEnv,
    TrailerBackingVectorEnv as TrailerBackingVectorEnv,
)
from .goal import GoalTask as GoalTask
from .path_following import PathTask as PathTask
from .stable_baselines import stable_baselines as stable_baselines
from .task import Seen as Seen, Task as Task
from .trailer import TrailerTask as TrailerTask
