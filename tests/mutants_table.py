"""What `tests/mutants.py` changes, which tests should notice, and which changes change nothing."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "nhmech"

# room -> modules of it -> tests that cover them, the likeliest to notice first; * is for those that
# are not named
GROUPS = {
    "mechanics": {
        "*": "refused_systems systems_papers methods",
        "action_algebroid": "systems_bodies invariants",
        "algebroid": "algebroid algebroid_makers connection methods",
        "algebroid_makers": "algebroid_makers invariants brackets systems_bodies",
        "base_space invariants reconstruction": "invariants reduction systems_bodies",
        "quotient": "invariants reduction prolongation systems_bodies",
        "reduction": "reduction invariants kept_quantities",
        "brackets": "what_methods_need brackets structure",
        "casimirs first_integrals hamilton_jacobi hamiltonisation":
            "kept_quantities what_methods_need",
        "nonholonomic_bracket": "nonholonomic_bracket kept_quantities",
        "nonholonomic_connection": "nonholonomic_connection",
        "chetaev": "chetaev gauss_principle",
        "gauss_principle": "gauss_principle chetaev",
        "closed_form_multipliers": "closed_form_multipliers",
        "connection": "connection curvature",
        "constraint_algorithm constraint_manifold regularity":
            "constraint_algorithm what_methods_need chetaev gauss_principle energy_momentum",
        "distribution": "refused_systems selection elimination methods systems_papers",
        "frame": "refused_systems units selection elimination rheonomic methods systems_papers",
        "selection": "selection refused_systems couplings",
        "energy_momentum transported_momenta": "energy_momentum",
        "constrained_hamiltonian momentum_side symplectic_reduction":
            "momentum_side what_methods_need",
        "exterior morphism prolongation": "prolongation forms",
        "vakonomic": "vakonomic",
        "equations": "printing refused_systems kept_equations methods operation_counts",
        "forms": "what_methods_need forms",
        "gibbs_appell": "generalised_speeds scrubbing systems_papers methods",
        "generalised_speeds moving_frame":
            "what_methods_need generalised_speeds refused_systems systems_papers",
        "quasi_velocities": "generalised_speeds algebroid_makers reduction systems_papers",
        "hamel": "what_methods_need generalised_speeds forms refused_systems systems_papers",
        "kept_equations": "kept_equations",
        "lagrange_dalembert": "what_methods_need refused_systems systems_papers algebroid_makers",
        "lagrange_multipliers projection":
            "what_methods_need units closed_form_multipliers refused_systems systems_papers",
        "momentum": "momentum what_methods_need",
        "printing motion_printing": "printing systems_shown",
        "symmetry invariance": "symmetry reduction momentum ignorable_fields",
        "symmetry_search": "symmetry ignorable_fields structure kept_quantities",
        "system": "refused_systems units algebroid simulator systems_papers methods",
        "writing": "refused_systems printing algebroid_makers systems",
    },
    "vehicle": {
        "*": "contact couplings placements methods",
        "axles": "mobility couplings overlays",
        "build": "refusals idle_casters urdf_files proportions couplings",
        "bodies": "bodies",
        "clearance": "bounds",
        "contact": "contact free_wheel disc",
        "contact_forces least_norm": "least_norm contact_forces validity",
        "context lagrangian tree": "free_wheel pendulum methods tyres",
        "formulation functions": "placements contact parameters ground methods",
        "symmetry": "operation_counts methods ground",
        "inertia": "pendulum methods parameters operation_counts",
        "couplings": "couplings mobility",
        "friction": "validity limits contact_invariants cli_conditions",
        "geometry": "geometry mesh_colours viewer",
        "ground": "ground contact disc",
        "load": "refusals skid tyres stiffness inference remedy cli",
        "model": "one_axle couplings ground idle_casters methods",
        "palette": "mesh_colours geometry",
        "parameters": "parameters tyres operation_counts",
        "placement": "ground couplings contact validate disc",
        "placements": "placements",
        "plausibility proportions": "proportions stiffness mobility",
        "remarks": "proportions parameters stiffness mobility",
        "posing": "ground couplings contact free_wheel refused_systems simulator",
        "reactions": "bicycle differential_drive validity wrench methods",
        "record": "export simulator trajectory tyres",
        "rows": "skid couplings ground contact methods",
        "samples": "couplings methods mobility",
        "stiffness": "stiffness",
        "tyres": "tyres",
        "vehicle": "contact free_wheel parameters geometry trajectory couplings",
    },
    "simulation": {
        "*": "simulator",
        "arguments start": "simulator ground refused_systems",
        "atlas far_configurations": "shared_charts rheonomic adaptive compile couplings simulator",
        "batch batch_input": "batch multipliers_along",
        "bounds": "bounds lifted",
        "callbacks inputs": "simulator wrench combinators commanded_twist",
        "command": "named_commands simulator commanded_twist",
        "conservation": "integrators",
        "diagnosis": "stiffness simulator",
        "dynamics": "optimal autodiff tyres",
        "events": "simulator bounds validity",
        "feedback": "feedback",
        "imu": "export_instruments sensors",
        "interrupts": "simulator adaptive ctrl_c",
        "inverse_dynamics": "simulator named_commands tracker_laws couplings",
        "least_squares named_commands": "named_commands feedback",
        "moment propagator": "simulator adaptive stiffness background",
        "once": "shared_charts",
        "real_time": "drive ros_bridge",
        "sensors": "sensors",
        "settings simulated": "trajectory simulator cli_conditions run_files",
        "simulator step_loop steps_by_hand":
            "simulator rheonomic refused_systems status step_error",
        "state state_vector": "simulator sensors trajectory pendulum",
        "step_error": "step_error",
    },
    "simulation/contact": {
        "*": "coulomb contact_invariants",
        "batch_reactions contact_forces": "contact_forces validity lifted batch",
        "contact_problem": "coulomb",
        "contact_columns contact_rates contact_rows contact_servo contact_spans coulomb glide "
        "grip impulses nonsmooth nonsmooth_terms rolling_end":
            "coulomb contact_invariants scrubbing",
        "lifted": "lifted bounds",
        "motion": "bodies coulomb contact_invariants",
    },
    "simulation/integration": {
        "*": "integrators",
        "discrete_gradient flow gauss kahan": "integrators written_motion",
        "integrators schemes": "status rheonomic integrators simulator adaptive",
        "step_parts": "written_motion",
    },
    "simulation/runs": {
        "*": "trajectory run_files",
        "archive run_file": "run_files foreign_runs",
        "recorder": "run_files simulator trajectory",
        "driven_twist": "commanded_twist",
        "history layouts multipliers reactions_along run_info":
            "trajectory multipliers_along batch",
        "limit_spans": "limit_spans",
        "trajectory": "trajectory simulator bounds run_files",
    },
    "urdf": {
        "*": "inference evidence",
        "description": "foreign_runs refusals inference repair roles evidence inspect",
        "describe": "refusals inference repair roles evidence inspect",
        "elements": "elements evidence",
        "imus": "export_instruments",
        "joint_properties": "evidence roles elements inference parameters",
        "layout": "wheel_meshes rollers repair one_axle evidence",
        "mesh_files": "wheel_meshes geometry",
        "notice remedy": "remedy refusals cli inspect",
        "packages": "source xacro geometry",
        "repair": "repair",
        "straighten": "one_axle ground evidence couplings",
        "tag": "inference tyres",
        "tyre tyre_loads": "tyres",
        "validate_inertia": "repair validate",
        "wheel": "contact inference kinds refusals",
    },
    "urdf/text": {
        "*": "validate source",
        "fault": "repair validate",
        "macros xacro_file": "xacro source",
        "slips": "source fuzz xacro",
        "source": "source validate xacro",
        "validate validate_joint validate_looks": "validate repair fuzz",
    },
    "urdf/wheels": {
        "*": "evidence inference",
        "axis_hints": "evidence refusals repair",
        "axle_lines": "one_axle kinds skid evidence",
        "casters": "idle_casters inference evidence wheel_meshes proportions",
        "evidence inference": "evidence inference kinds refusals metamorphic",
        "heights": "evidence inference repair validate",
        "kinds": "kinds evidence rollers inference metamorphic",
        "listed_wheels": "inference refusals evidence",
        "radii": "evidence elements wheel_meshes inference",
        "refusals": "refusals inference evidence",
        "revolution rims": "wheel_meshes evidence inference",
        "roles": "roles couplings idle_casters evidence inference",
        "rollers": "rollers kinds",
        "skid": "skid scrubbing kinds mobility refusals",
        "stance": "evidence inference one_axle",
        "swivels unrolled": "idle_casters roles inference evidence",
        "tyres": "tyres",
        "wheel_inertia": "repair inference proportions",
    },
    "control": {
        "*": "tracker_laws twist",
        "balance": "balance gym",
        "bicycle path_regulator": "bicycle_control trailer_control",
        "collocation mpc unit_effort": "optimal",
        "combinators exchange": "combinators drive",
        "demo": "cli_conditions robot_runs validity",
        "drive_function": "written_motion",
        "dubins path path_library": "paths",
        "feedback_linearisation kanayama polar pure_pursuit stanley tracking unicycle":
            "tracker_laws",
        "lqr riccati": "lqr",
        "measurement": "combinators wheel_servo",
        "path_choice": "controllers_cli gym",
        "path_reference": "tracker_laws report overlays",
        "push speed_limits teleoperation": "drive ros_bridge",
        "registry": "controllers_cli tracker_laws",
        "steady_reference": "lqr bicycle_control",
        "taylor trailer_backing trailer_chain trailer_flatness": "trailer_control",
        "tracking_lqr": "lqr",
        "twist twist_rule": "twist commanded_twist",
        "wheel_servo": "wheel_servo",
    },
    "analysis": {
        "*": "validity structure",
        "axles": "mobility overlays",
        "cone_programme contact_load friction validity": "validity limits",
        "rolling_limits": "validity lifted limits",
        "curvature": "curvature",
        "demand limits": "limits",
        "derivatives": "derivatives",
        "energy_balance": "energy_balance",
        "equilibria sensitivity stability": "equilibria ignorable_fields",
        "steady_equations variations":
            "what_methods_need ignorable_fields equilibria lqr bicycle_control",
        "ignorable mobility": "mobility couplings ignorable_fields structure",
        "ignorable_fields": "ignorable_fields",
        "integrable momentum_balance structure": "structure",
        "linearise": "bicycle pendulum disc equilibria ignorable_fields stiffness",
        "motions": "structure curvature",
        "residuals run_summary": "cli_conditions report simulator",
        "summary": "inspect mobility carriage parameters",
        "tyre_slip": "tyres",
    },
}

NAMED = {f"{room}/{module}": tests for room, groups in GROUPS.items()
         for modules, tests in groups.items() for module in modules.split()}

# core module -> its tests
COVERED = {module: NAMED.get(module, GROUPS[room]["*"]) + " messages" for room in GROUPS
           for file in sorted((PACKAGE / room).glob("*.py")) if file.name != "__init__.py"
           for module in [f"{room}/{file.stem}"]}

# (module, what the line says, change): why no test can notice. What only takes longer has no effect
# either.
EQUIVALENT = {
    ("mechanics/action_algebroid", "anchor = ca.SX(0, 0)", "0 -> 1"):
        "any shape that is not the one wanted is refused in the next line",
    ("mechanics/base_space", "anchor, *structure = onto_base(symmetry, coordinates, named, "
     "ca.SX(0, 1))", "1 -> 2"): "an empty matrix has no columns",
    ("mechanics/base_space", "moves = any(np.linalg.matrix_rank(np.vstack([A, unit]),",
     "any((np.linalg.matrix_rank(np.vstack([A, unit]), tol=ZERO... -> "
     "all((np.linalg.matrix_rank(np.vstack([A, unit]), tol=ZERO..."):
        "at random configurations a coordinate moves everywhere or nowhere",
    ("mechanics/constrained_hamiltonian", "theta: ca.SX = field(default_factory=lambda: "
     "ca.SX(0, 1))", "1 -> 2"): "an empty matrix has no columns",
    ("mechanics/distribution", "rows = {min(left)}", "min(left) -> max(left)"):
        "a block is found from each of its rows",
    ("mechanics/invariants", "units = [np.array(u) / n for n in (1, 2, 3) for u in "
     "product(range(-n, n + 1), repeat=4)", "1 -> 2"):
        "the same points: those of norm 1 are halves of some of norm 2",
    ("mechanics/frame", "raise MechanicsError(f\"the speeds {', '.join("
     "system.algebroid.v_names[i] for i in chosen)} \"",
     "raise MechanicsError(f\"the speeds {', '.join((system.alge... -> pass"):
        "rows and speeds that are chosen are regular at the first sample",
    ("mechanics/hamiltonisation", "NODES = 40      # of the quadrature along a straight line, "
     "exact to rounding for smooth densities", "40 -> 41"): "as exact with one node more",
    ("control/teleoperation", "force_reader(vehicle).function.compile()",
     "force_reader(vehicle).function.compile() -> pass"):
        "compiled at the first use all the same",
    ("control/teleoperation", "self.simulator.step()", "self.simulator.step() -> pass"):
        "warms up what is built at the first use all the same",
    ("analysis/curvature", "len(below)), max(1.0, float(np.abs(lift).max(initial=0.0)))",
     "np.abs(lift).max(initial=0.0) -> np.abs(lift).min(initial=0.0)"):
        "a scale of a tolerance, which the 1 beside it bounds below",
}
