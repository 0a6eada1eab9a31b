"""The step for PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import check_arguments
from ..mechanics.system import HasConstrained
from .steps import Steps


@check_arguments
def torch_step(constrained: HasConstrained, dt: float) -> Callable[..., Any]:
    """The simulator's step as a function of PyTorch's tensors, with its exact gradient.

    The function (x, u, theta=None, t=0.0) -> x' takes tensors (..., nx), (..., nu), (..., ntheta)
    whose cases (the axes before the last) broadcast, and times (...); theta are the system's own
    values where None. Gradients are the step's adjoint (`step_adjoint`), in doubles whatever the
    tensors are; a second derivative is refused. Tensors stay on the processor.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`; symbolic parameters are theta
        (`vehicle.with_parameters(symbolic=...)`).
    dt
        Step [s].

    Raises
    ------
    ImportError
        If PyTorch is not installed.
    InputError
        For a dt that is not a positive time; when called, for shapes, and for numbers that
        are not of a floating type.
    SimulationError
        When called, where a step leads nowhere.
    """
    import torch
    from torch.autograd.function import once_differentiable

    steps = Steps(constrained, dt)

    class TorchStep(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, u: Any, theta: Any, t: Any) -> Any:
            ctx.save_for_backward(x, u, theta, t)
            return x.new_tensor(steps.advance(*_numbers(t, x, u, theta)))

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, w: Any) -> tuple:
            x, u, theta, t = ctx.saved_tensors
            found = steps.pull_back(*_numbers(t, x, u, theta, w))
            return *(part.new_tensor(g) for part, g in zip((x, u, theta), found)), None

    def step(x: Any, u: Any, theta: Any = None, t: Any = 0.0) -> Any:
        if theta is None:
            theta = x.new_tensor(steps.dynamics.theta)
        steps.check(torch.is_floating_point, x, u, theta)
        t = torch.as_tensor(t, dtype=torch.float64)
        cases = torch.broadcast_shapes(x.shape[:-1], u.shape[:-1], theta.shape[:-1], t.shape)
        parts = (part.expand(*cases, part.shape[-1]) for part in (x, u, theta))
        return TorchStep.apply(*parts, t.expand(cases))

    return step


def _numbers(*tensors: Any) -> list[np.ndarray]:
    return [tensor.detach().double().numpy() for tensor in tensors]
