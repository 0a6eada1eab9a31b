"""From a description and a ground to a vehicle, a `ConstrainedSystem` that stands on the ground.

Building
    `load` (file to vehicle), `build` (description to vehicle), `context` (data that every step of
    it uses), `model` (Pinocchio's model), `tree` (kinematics in CasADi), `parameters`, `inertia`,
    `lagrangian` (Gibbs function, energy, forces), `formulation` and `symmetry` (short expressions
    where parts of the attitude are constant).
Contact and constraints
    `contact` (contact point, speeds and height of a wheel), `rows` (all constraint rows), `axles`
    and `couplings` (steered axles that must meet in one point), `bodies` (points of bodies that can
    touch the ground), `ground`, `friction`, `tyres`.
Forces of the ground
    `contact_forces` (one symbolic function), `reactions` (a second method, by Pinocchio),
    `least_norm` (distribution of undetermined loads).
Placing
    `placement` (onto the ground), `posing` (pose and joints to a configuration), `samples`
    (configurations at which ranks are determined), `joint_ranges` (configurations over the whole
    range), `placements` (poses of bodies and contacts), `clearance` (heights of links).
The vehicle
    `vehicle` (`Vehicle`), `functions` (its expressions as functions), `geometry` and `palette`
    (shapes and colours), `record` (as JSON). Notices: `remarks`, `plausibility`, `proportions`,
    `stiffness`.
"""
