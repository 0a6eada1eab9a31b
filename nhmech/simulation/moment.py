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
    next
        q, v, x and health between `begin` and `adopt`, which makes them those of this moment.
    """

    def __init__(self, layout: StateLayout, ntwist: int = 0, ncontact: int = 0):
        sizes = (layout.nq, layout.nv, layout.nx, layout.u.stop - layout.u.start, ntwist, ncontact,
                 3, 3)
        ends = np.cumsum(sizes)
        self.layout = layout
        self.block, draft = np.zeros((2, ends[-1]))
        (self.q, self.v, self.x, self.u, self.twist, self.contact, self.health,
         self.clock) = np.split(self.block, ends[:-1])
        self.inputs_address = int(self.block.ctypes.data + self.block.itemsize * ends[2])
        *drafts, _ = np.split(draft, ends[:-1])
        self.next = (*drafts[:3], drafts[6])
        self._contact, self._clock = drafts[5], draft[CLOCK:]
        self._memory, self._draft = self.block.data, draft.data
        self._bytes, self._shown = b"", State(0.0, self.block, layout)

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
        """A copy for users; the same one as long as nothing changes."""
        memory = self._memory
        found = memory.tobytes()
        if found != self._bytes:
            self._bytes, self._shown = found, State(memory[CLOCK], found, self.layout)
        return self._shown

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
        self.begin()
        for memory, part in zip(self.next, (q, v, x, health)):
            memory[...] = part
        self._clock[...] = clock
        if contact is not None:
            self._contact[...] = contact
        self.adopt()

    def begin(self) -> None:
        """Makes `next` what is."""
        self._draft[:] = self._memory

    def adopt(self) -> None:
        """Makes what is `next`, in one call, which no interrupt breaks."""
        self._memory[:] = self._draft
