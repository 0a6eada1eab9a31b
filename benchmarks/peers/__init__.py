"""One file a program: `run(motion, dt, duration) -> (end place [m] (3,), wall seconds of the loop)`.

`CHOSEN` says which of its settings were taken: those that need least time for an end within 1 cm, of all that were tried.
"""
