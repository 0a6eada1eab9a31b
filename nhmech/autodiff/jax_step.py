"""The step for JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import check_arguments
from ..mechanics.system import HasConstrained
from .steps import Steps


@check_arguments
def jax_step(constrained: HasConstrained, dt: float) -> Callable[..., Any]:
    """The simulator's step as a function of JAX's arrays, with its exact gradient.

    The function (x, u, theta=None, t=0.0) -> x' is that of `torch_step`. `jit`, `vmap`, `grad` and
    `scan` take it; the step itself runs on the processor, outside of what JAX compiles, in
    doubles. JAX keeps 32 bits unless `jax.config.update("jax_enable_x64", True)`.

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
        If JAX is not installed.
    InputError
        For a dt that is not a positive time; when called, for shapes, and for numbers that
        are not of a floating type.
    """
    import jax
    import jax.numpy as jnp

    steps = Steps(constrained, dt)

    def outside(function: Callable, results: tuple, *arrays: Any) -> Any:
        def call(*given: Any) -> tuple:
            found = function(*(np.asarray(part, dtype=float) for part in given))
            found = found if isinstance(found, tuple) else (found,)
            return tuple(np.asarray(part, like.dtype) for part, like in zip(found, results))

        shapes = tuple(jax.ShapeDtypeStruct(part.shape, part.dtype) for part in results)
        return jax.pure_callback(call, shapes, *arrays, vmap_method="broadcast_all")

    @jax.custom_vjp
    def advance(x: Any, u: Any, theta: Any, t: Any) -> Any:
        return outside(steps.advance, (x,), t, x, u, theta)[0]

    def forward(x: Any, u: Any, theta: Any, t: Any) -> tuple:
        return advance(x, u, theta, t), (x, u, theta, t)

    def backward(kept: tuple, w: Any) -> tuple:
        x, u, theta, t = kept
        return *outside(steps.pull_back, (x, u, theta), t, x, u, theta, w), jnp.zeros_like(t)

    advance.defvjp(forward, backward)

    def step(x: Any, u: Any, theta: Any = None, t: Any = 0.0) -> Any:
        x, u, t = jnp.asarray(x), jnp.asarray(u), jnp.asarray(t, dtype=float)
        theta = jnp.asarray(steps.dynamics.theta if theta is None else theta)
        steps.check(lambda part: jnp.issubdtype(part.dtype, jnp.floating), x, u, theta)
        cases = jnp.broadcast_shapes(x.shape[:-1], u.shape[:-1], theta.shape[:-1], t.shape)
        parts = (jnp.broadcast_to(part, (*cases, part.shape[-1])) for part in (x, u, theta))
        return advance(*parts, jnp.broadcast_to(t, cases))

    return step
