"""One file a program: `run(motion, dt, duration) -> (end place [m] (3,), processor seconds of the
loop)`.

That of a simulator also takes `control`, t -> torques, which Python is asked before each step.

`ABOUT` says how a simulator rolls; `USUAL` are its settings, and `TRIED` the changes to them that
`work_precision.py` chooses among: those that came out near the best in wider trials of cones,
integrators, softness, solvers, iterations, tolerances and substeps.
"""
