"""Contact forces of the ground, and the motion after rolling ends: sliding, lift-off, landing.

Rolling
    `contact_forces` computes the forces of the ground while all wheels roll. `rolling_bound` and
    `lift_off` are the bounds on them at which rolling ends.
Between rolling and sliding
    `rolling_or_sliding` takes each step in whichever equations hold. `coulomb` (`CoulombContact`)
    begins and ends the phases in which wheels slide or fly, and takes their steps.
One step with sliding wheels
    `nonsmooth` is the time-stepping scheme of Moreau and Jean: steps, landings, impacts.
    `implicit_step` solves one step between landings, in C or in NumPy. `impulses` finds the
    impulses of the step, `contact_problem` is the contact solver (Signorini's condition and Coulomb
    friction), `energy_terms` corrects the energy. `sliding_loop` compiles many such steps.
What the steps are made of
    `nonsmooth_terms` has mass, forces and contact rows; `contact_rows` the place of each contact
    among the rows, and its friction; `body_rows` the same for points of bodies; `world_axes` the
    change of velocity coordinates; `motion` the state (`Motion`) and the contact phases (`Phase`).
Accelerations and efforts
    `accelerations` with the phases held; `contact_inverse_dynamics` the efforts of commanded
    joints.
What is recorded
    `contact_columns` reads and writes the contact part of a recorded row, `contact_moment` is what
    controllers see, `contact_spans` the intervals of a run, `batch_reactions` the forces of many
    cases.
"""
