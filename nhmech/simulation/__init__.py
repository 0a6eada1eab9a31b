"""The step loop, and what it reads and writes: states, commands, events, trajectories, batches."""

from .. import lazy

lazy.attach_stub(__name__, __file__)
