"""Environments for reinforcement learning, on any vehicle, one at a time or many side by side.
Needs the extra `gym`."""

import gymnasium

from .. import lazy

lazy.attach_stub(__name__, __file__)

for _name in ("PathFollowing", "GoalReaching", "Balancing", "TrailerBacking"):
    gymnasium.register(f"nhmech/{_name}-v0", entry_point=f"nhmech.gym.environments:{_name}Env",
                       vector_entry_point=f"nhmech.gym.environments:{_name}VectorEnv")
