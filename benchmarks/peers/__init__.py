"""One file a program: `run(motion, dt, duration) -> (end place [m] (3,), wall seconds of the loop)`.

`CHOSEN` says which of its settings were taken: those that needed least time for an end within 1 cm, of those that were tried. MuJoCo was
tried with many settings, Exudyn and Drake with a handful, PyBullet with one.
"""
