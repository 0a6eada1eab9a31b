from .jax_step import jax_step as jax_step
from .torch_step import torch_step as torch_step
