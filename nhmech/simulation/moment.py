"""The present moment of a run, in memory that compiled code knows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .state import State, StateLayout

CLOCK = -3      # where t stands in the block, followed by k and t0
EXTRA = 6       # numbers after q, v, x, u, twist, contact: health and the clock


class Moment:
    """All numbers of the present moment, side by side in one block.

    A copy of all is one copy, and all change in one stroke, so that Ctrl-C finds the moment before
    a step or the one after it.

    Parameters
    ----------
    layout
        Where the names of its states stand.
    ntwist
        How many numbers of a commanded twist are held beside u; zero where none is commanded.
    ncontact
        How many numbers of the contacts are held beside them; zero where wheels only roll.

    Attributes
    ----------
    block
        The memory; the others are views of it, in this order.
    q, v, x, u
        Configuration (nq,), fibre coordinates (nv,), state vector of the present chart (nx,),
        inputs (nu,).
    twist
        The twist that was commanded with u, (ntwist,) [m/s, m/s, rad/s].
    contact
        What the wheels do, (ncontact,): `coulomb.ContactColumns`.
    health
        |phi| before the last projection [m], the frame's margin, the least guard.
    clock
        t, k, t0, with t = t0 + k dt [s].
    inputs_address
        Where u stands in memory, and what is held beside it: an empty view does not say it.
    """

    def __init__(self, layout: StateLayout, ntwist: int = 0, ncontact: int = 0):
        sizes = (layout.nq, layout.nv, layout.nx, layout.u.stop - layout.u.start, ntwist, ncontact,
                 3, 3)
        ends = np.cumsum(sizes)
        self.layout = layout
        self.block = np.zeros(ends[-1])
        (self.q, self.v, self.x, self.u, self.twist, self.contact, self.health,
         self.clock) = np.split(self.block, ends[:-1])
        self._held = self.block[ends[2]:ends[4]]      # u and twist
        self.inputs_address = int(self.block.ctypes.data + self.block.itemsize * ends[2])

    def __repr__(self) -> str:
        return f"<Moment {self.state!r}>"

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.block.item(CLOCK)

    @property
    def k(self) -> int:
        """Steps since the start."""
        return int(self.block.item(CLOCK + 1))

    @property
    def t0(self) -> float:
        """t - k dt [s]: zero, until a run ends within a step."""
        return self.block.item(CLOCK + 2)

    @property
    def beside(self) -> int:
        """How many numbers are held beside u."""
        return self.twist.size + self.contact.size

    @property
    def guard(self) -> float:
        """The least guard, which vanishes where a wheel lies flat."""
        return self.health.item(2)

    @property
    def state(self) -> State:
        """A copy for users."""
        block = self.block
        return State(block.item(CLOCK), block, self.layout)

    def state_of(self, block: np.ndarray) -> State:
        """What another block of such numbers says."""
        return State(block.item(CLOCK), block, self.layout)

    def clear(self) -> None:
        """Everything zero, and no twist commanded yet."""
        self.block[...] = 0
        self.twist[...] = np.nan

    def take(self, x: np.ndarray, q: np.ndarray, v: np.ndarray, health: np.ndarray,
             clock: Sequence[float] | np.ndarray, contact: np.ndarray | None = None) -> None:
        """Another state and time; u and twist stay, and contact if None."""
        # in one call, which no interrupt breaks; what stays is copied onto itself
        np.concatenate((q, v, x, self._held, self.contact if contact is None else contact, health,
                        clock), out=self.block)
