"""Compiles the loop over steps in which wheels slide or fly."""

from __future__ import annotations

import casadi as ca

from ...compile.loop import Loop
from ...compile.sliding_loop import SlidingLayout, sliding_loop
from ..state_vector import StateVector
from .motion import FLIES, ROLLS
from .nonsmooth import NonsmoothStep
from .world_axes import base_axes


def loop_of_sliding(step: NonsmoothStep, watch: ca.Function, speeds: int,
                    rests_end: bool) -> Loop | None:
    """The compiled loop. None if only Python can take such steps: without a compiler, and if bodies
    can touch the ground, because a record does not contain their points.

    Parameters
    ----------
    watch
        (t, q) -> margins (n,), whose signs no step of the loop changes.
    speeds
        Number of independent speeds, which follow the configuration in x.
    rests_end
        Whether the loop stops before a step after which all wheels roll.
    """
    terms = step.terms
    if terms.bodies.links or step.implicit.code is None:
        return None
    vector = StateVector(terms.vehicle.algebroid, 0)
    x, v = ca.SX.sym("x", vector.nconf), ca.SX.sym("v", terms.nv)
    q = vector.configuration(x)
    T = base_axes(q, terms.nv)
    enter = ca.Function("enter_world", [x, v], [ca.densify(T.T @ v)], {"cse": True})
    leave = ca.Function("leave_world", [x, v], [ca.densify(q), ca.densify(T @ v)], {"cse": True})
    layout = SlidingLayout(tuple(terms.vehicle.contact_rows.values()), len(terms.contacts),
                           speeds, ROLLS, FLIES, step.landed, rests_end)
    return sliding_loop(step.implicit.code, enter, leave, watch, layout)
