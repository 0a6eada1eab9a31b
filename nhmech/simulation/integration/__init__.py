"""One time step: which schemes there are, and the step functions that compiled code runs.

`schemes` lists the integration schemes (`SCHEMES`). `integrators` builds the step of a scheme as a
CasADi function, with the projection onto the constraints and the step's own status;
`acceptance_function` there is the rule by which a step is accepted. Implicit schemes: `gauss`
(collocation), `discrete_gradient`, `kahan`; `flow` describes a motion to them. `conservation`
checks what a scheme assumes about a motion.
"""
