"""Contact forces of the ground, and the motion after rolling ends: sliding, lift-off, landing.

Rolling
    `force_reader` computes the forces of the ground while all wheels roll. `rolling_bound` and
    `lift_off` are the bounds on them at which rolling ends.
From rolling to sliding and back
    `coulomb` (`CoulombContact`) begins and ends the phases in which wheels slide or fly, and takes
    their steps; `simulation.watch` calls it. `phases` names the phases of contacts.
One step with sliding wheels
    `nonsmooth` is the time-stepping scheme of Moreau and Jean: steps, landings, impacts.
    `implicit_step` solves one step between landings, in C or in NumPy. `impulses` finds the
    impulses of the step, `contact_problem` is the contact solver (Signorini's condition and Coulomb
    friction), `energy_terms` corrects the energy.
Parts of a step
    `step_functions` has mass, forces and contact rows as CasADi functions; `nonsmooth_terms`
    evaluates them, together with those of bodies; `contact_rows` has the place of each contact
    among the rows, and its friction; `body_rows` the same for points of bodies; `motion` the state
    in full velocities (`Motion`).
Accelerations and efforts
    `accelerations` while each contact keeps its phase; `contact_inverse_dynamics` the efforts of
    commanded joints.
The record
    `contact_columns` reads and writes the contact part of a recorded row.
"""
