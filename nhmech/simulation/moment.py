"""The present moment of a run, in memory that compiled code shares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .state import State, StateLayout

CLOCK = -3      # index of t in the block; k and t0 follow
EXTRA = 6       # numbers after q, v, x, u, twist, contact: health and the clock


class Moment:
    """All numbers of the present moment, in one block of memory.

    The block is copied and replaced as a whole, so that Ctrl-C finds the moment before a step or
    the one after it.

    Parameters
    ----------
    layout
        Layout of its states.
    ntwist
        Size of the commanded twist that is stored beside u; zero if none is commanded.
    ncontact
        Size of the contact data that are stored beside it; zero if wheels only roll.

    Attributes
    ----------
    block
        The memory; the following are views of it, in this order.
    q, v, x, u
        Configuration (nq,), fibre coordinates (nv,), state vector of the present chart (nx,),
        inputs (nu,).
    twist
        The twist that was commanded with u, (ntwist,) [m/s, m/s, rad/s].
    contact
        Contact data, (ncontact,): see `ContactColumns`.
    health
        |phi| before the last projection [m], the frame's margin, the least guard.
    clock
        t, k, t0, with t = t0 + k dt [s].
    inputs_address
        Address of u and of what is stored beside it; an empty view does not know its address.
    next
        q, v, x and health of the next moment, between `begin` and `adopt`.
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
        """t - k dt [s]; zero until a run ends within a step."""
        return self.block.item(CLOCK + 2)

    @property
    def beside(self) -> int:
        """Number of values stored beside u."""
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
        """The state in another block of such numbers."""
        return State(block.item(CLOCK), block, self.layout)

    def clear(self) -> None:
        """Sets everything to zero, and the twist to "not commanded yet"."""
        self.block[...] = 0
        self.twist[...] = np.nan

    def take(self, x: np.ndarray, q: np.ndarray, v: np.ndarray, health: np.ndarray,
             clock: Sequence[float] | np.ndarray, contact: np.ndarray | None = None) -> None:
        """Sets another state and time; u and twist stay, and so does contact if None."""
        self.begin()
        for memory, part in zip(self.next, (q, v, x, health)):
            memory[...] = part
        self._clock[...] = clock
        if contact is not None:
            self._contact[...] = contact
        self.adopt()

    def begin(self) -> None:
        """Copies the present moment to `next`."""
        self._draft[:] = self._memory

    def adopt(self) -> None:
        """Makes `next` the present moment, in one call that no interrupt can break."""
        self._memory[:] = self._draft
