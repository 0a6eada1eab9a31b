from .balance import BalanceTask as BalanceTask
from .environments import (
    Balancing as Balancing,
    BalancingVector as BalancingVector,
    GoalReaching as GoalReaching,
    GoalReachingVector as GoalReachingVector,
    PathFollowing as PathFollowing,
    PathFollowingVector as PathFollowingVector,
    TaskEnv as TaskEnv,
    TaskVectorEnv as TaskVectorEnv,
    TrailerBacking as TrailerBacking,
    TrailerBackingVector as TrailerBackingVector,
)
from .goal import GoalTask as GoalTask
from .path_following import PathTask as PathTask
from .stable_baselines import stable_baselines as stable_baselines
from .task import Seen as Seen, Task as Task
from .trailer import TrailerTask as TrailerTask
