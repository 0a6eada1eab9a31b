"""The step loop, and what it reads and writes: states, commands, events, trajectories, batches.

A run
    `simulator` (`Simulator`), `step_loop` (the loop, and single steps), `watch` (takes each step in
    the equations that hold, and locates events), `propagator` (advances the present `moment`, in C
    by its `compiled_steps`), `atlas` (the charts of a run: equations in one frame), `start` (the
    initial state), `settings`, `arguments`.
One step, contact, recording
    `integration`, `contact` and `runs`; each describes its files.
Inputs
    `inputs` (controller and wrenches), `command` (what a controller may return), `command_reader`
    and `command_function` (how it is read), `inverse_dynamics` (from commands to efforts),
    `least_squares`, `feedback` (controllers inside the compiled loop), `callbacks`.
What ends or marks a run
    `events`, `bounds` (joint limits, ground, lift-off), `step_error` (estimated error), `diagnosis`
    (why a run cannot go on), `pacing` (Ctrl-C, and loops in real time).
State
    `state` (what controllers see), `state_vector` (x, what is integrated), `sensors` (gyro and
    accelerometer).
Many cases, other users
    `batch` (runs them) and `batch_input`; `dynamics` (the explicit ODE for optimal control and
    learning); `simulated` (a vehicle or a hand-written system).
"""

from .. import lazy

lazy.attach_stub(__name__, __file__)
