"""One time step: which schemes there are, and the step functions that compiled code runs.

`schemes` lists the integration schemes (`SCHEMES`), `integrators` builds the step of one as a
CasADi function, with the projection onto the constraints and the step's own status. Implicit
schemes: `gauss` (collocation), `discrete_gradient`, `kahan`; `flow` describes a motion to them.
`step_parts` takes a step apart for other languages.
"""
