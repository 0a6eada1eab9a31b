"""What `tests/mutants.py` changes, and which changes change nothing."""

import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "nhmech"

# all that a run rests on
CORE = ("mechanics", "urdf", "vehicle", "simulation", "analysis", "control", "compile", "symbolic",
        "systems")
MODULES = [str(file.relative_to(PACKAGE).with_suffix("")) for room in CORE
           for file in sorted((PACKAGE / room).rglob("*.py")) if file.name != "__init__.py"]

# tests of what is built around the core, and those whose work is done by other programs
ASIDE = [
    "benchmarks", "colcon", "colours", "ctrl_c", "dds", "docs", "examples", "foxglove", "fuzz",
    "fuzz_commands", "javascript", "layers", "long_runs", "movie", "mutants", "notebook", "package",
    "packaging", "page_plots", "page_style", "papers", "progress", "robot_table", "ros1", "ros2",
    "ros2_real", "ros_node", "server_guard", "viewer", "written_page"]
TESTS = sorted(file.stem.removeprefix("test_") for file in Path(__file__).parent.glob("test_*.py")
               if file.stem.removeprefix("test_") not in ASIDE)

# patterns of (module, what the line says, change): why no test can notice
RULES = [
    ("symbolic/rational", r"^self\._work (= 0|\+= (20|len\(numerator))|^LIMIT = ", r"^(?!self)",
     "an estimate of work, and how much of it is too much"),
    ("systems/", r'"(q|xi)": ', r"^-?(?!1(\.0)? )[\d.]+ -> ", "a start is any"),
    ("systems/", r'Check\(|", 1e-\d+, |^1e-\d+,$', r"^1e-\d+ -> ",
     "what holds within a tolerance holds in a wider one"),
    ("systems/", r"^def example\(|^[A-Z]\w+ = dict\(|^\w+=\d|^velocity=\(|^I: Sequence.*0\.0024"
     r"|^(fall, direction|turn, speeds|lean, rate|rate, pull|x0, v0, wz) = ",
     r"^-?(?!0\.[68]|0\.0031)[\d.]+(e-\d+)? -> ",
     "the numbers of an example are any"),
    ("systems/(?!example)", r": float = -?\d|^[A-Z]\w+(, [A-Z]+)* = .*\d|^np\.array\(\[-?\d",
     r"^-?\d+\.\d+ -> ", "the numbers of an example are any, and so are colours"),
    ("systems/connection_curvature", r"s\.[qv]\.|ca\.(sin|cos)\(", r"",
     "any Lagrangian and any connection show what the checks compare"),
    ("systems/", r"\b(Shape|deck|wheels|wide|long|thick|bar|disc_shapes)\b|\* p\[.[abc].\]",
     r"^-?\d*\.\d+ -> ", "how large a body is drawn"),
    ("systems/sled", r'^"(x|y|body)": \(\(|^FIBRATIONS = ', r"^-?[\d.]+ -> ",
     "samples and a start are any"),
    ("systems/", r"(acceleration|multipliers|velocity|drift)\(0, |^at: tuple = \(0, ", r"^0 -> 1$",
     "nothing there depends on time"),
    ("systems/", r'\{"y": 1\}|^EUCLIDEAN_GROUP = ', r"^1 -> 2$", "any multiple of a generator"),
    ("systems/example", r"^OTHER = |^changed = ", r"", "another number, whichever"),
    ("systems/", r"linspace\(|duration=|random_motions\(|^for (_|k) in range\([56]\)"
     r"|configurations\[:5\]|arange\(5\)|^n, rng = 5|\(0\.0, 150\.0\)|^for q in \(\(",
     r"^-?[\d.]+ -> -?[\d.]+$",
     "a check may look at any moments and states"),
    ("systems/example", r"^atol=rtol", r"^0\.01 -> ", "how much less counts as nothing"),
    ("systems/rattleback", r"rtol=1e-9|\.max\(\) > 0\.5", r"^(1e-09|0\.5) -> ",
     "a check that turns on a sign"),
    ("systems/falling_disc", r"for u[23] in \(3", r"^(3|4|6|10) -> ", "a speed is any"),
    ("systems/sled", r"np\.sin\(q\[2\]\), -0\.8\]\)$", r"^-?0\.8 -> ", "a speed is any"),
    ("systems/(?!_checks|example)", r"\.max\(", r"\.max\(.* -> .*\.min\(|^max\(.* -> min\(",
     "a check that holds at its worst holds at its best"),
    ("systems/(?!_checks|example)", r"\.max\(", r"\.max\(\) / .* -> .*\.max\(\) \* ",
     "a check may measure a departure by any size"),
    ("simulation/integration/gauss", r"rate = flow\.rate\(t \+ dt / 2, place", r"",
     "a first guess, and the slopes of a Newton iteration, which ends at the same point"),
    ("symbolic/factoring", r"^return len\(sizes\) \+ len", r" -> len\(sizes\) - |^1\.0 -> ",
     "an estimate of which form is shorter; operation counts gate what it decides"),
    ("symbolic/factoring", r"^best = max\(count, key", r"^-factor|^0 -> 1$",
     "any of the factors that are most frequent"),
    ("analysis/cone_programme",
     r"^(GROWTH|ROUGHLY) = |^decrement, part = |^if lower < value - 0\.1", r"^[\d.]+ -> ",
     "how Newton's method goes, not where it ends"),
    ("analysis/friction", r"^(ROUGH, EXACT|ENOUGH, NEAR|LIGHT) = ", r"^(0\.001|0\.2|10\.0) -> ",
     "how far programmes on the way are solved"),
    ("analysis/friction", r"^left = 1\.0|^\* \(mu\[wheel\] if along|^part=part, weight="
     r"|^scale: float = 1\.0|^z = minimise\(np\.eye",
     r"^(1\.0|2\.0|max\(NEAR|along and|change is|NEAR /)",
     "where a programme on the way begins, and in which units"),
    ("analysis/friction", r"^is_last = ", r"^(left <= EXACT or|use \* \(|1 - EXACT|1 -> 2)",
     "only ends later"),
    ("analysis/friction", r"any\(_relieve\(load, corner\)\[0\] is None", r"^any|^0 -> 1",
     "spares the programmes of other corners"),
    ("control/measurement", r"\+= size", r" -> .* -= ", "noise has no sign"),
    ("", r"rng(\(\d\))?\.(uniform|normal)\(", r"^-?[\d.]+ -> | \* 5 -> .* / 5$", "a sample is any"),
    ("", r"\* \(1(\.0)? if .* else -1(\.0)?\)", r"^.* \* \(1.*-1(\.0)?\)( \* .*)? -> .* / \(1",
     "divides by 1 or -1"),
    ("", r"\(-1\) \*\* \(", r"^(\w) \+ (\w) -> \1 - \2$", "of one parity"),
    ("", r"\bseed: int = 0\b", r"^0 -> 1$", "a seed is any"),
    ("", r"^_?(BISECTIONS|HALVES|ROUNDS|STEPS|SWEEPS|TRIES|STATES|SPARE|GRID|STRIDE|NODES|PIECES"
     r"|PLACES|HALVINGS|RECENT|RANDOM|ITERATIONS|REWRITES|PLACED|FIRST|MOMENTS|WINDOW"
     r"|FEW, AHEAD|KEPT|OUTER|ONTO|IMPACT|LANDINGS|QUARTERS)\b", r"^\d+ -> \d+$",
     "how many points, rounds or trials: one more does as well"),
    ("simulation/runs/", r"^(ROWS|HEAD|LOOKED_AT|JUDGED|BLOCK|LARGEST|LONGEST) = ", r"^\d+ -> \d+$",
     "how many are read or written at once, or looked at, about"),
    ("simulation/contact/", r"StateVector\(.*algebroid, 0\)$", r"^0 -> 1$",
     "its configuration alone is read"),
    ("compile/|simulation/(integration/)?[a-z_]+$", r"^(BLOCK|LAUNCH|RECORD|SLICE|SHARE|WIDTHS"
     r"|LOOK, BUILD|LONG"
     r"|FLAT, SHORT|LARGE|COMPILERS|PROGRESS|TURNS|CHUNK|self\.steps = CHUNK"
     r"|TRIALS|ESTIMATE_EVERY|AT_ONCE|GROUP|PART)\b",
     r"^\d+ -> \d+$", "how much work is done at once, and from how much on code is written or "
     "compiled in another way: how fast, not what"),
    ("compile/", r"^(SECONDS|ANSWER_SECONDS|PATIENCE) = ", r"",
     "how long one waits for a compiler"),
    ("compile/", r"hexdigest\(\)\[:", r"^(16 -> 17|32 -> 33)$", "how many digits of a hash"),
    ("compile/loop$", r"^flat = |^lines = |functions\[0\]\.n", r"^(0 -> 1|2 -> 3)$| < .* >= "
     r"|^functions.* \+ .* - ", "how hard the compiler tries; its code does the same"),
    ("compile/(lanes|gpu|mapped_lanes)$", r"^steps: int, hold: int = 1|^spread: Callable = map",
     r"^1 -> 2$", "counts where u has periods or where there is a record: who has says both; and "
     "in how many parts the work is done"),
    ("simulation/batch$", r"^(stretch|parts|spread|cores|threads) = |^return min\(threads",
     r"", "how many threads"),
    ("analysis/variations", r"^others = |^self\._recent = ", r"",
     "which points are kept, and which are worked out again"),
    ("analysis/derivatives", r"^inline = |^INLINE = ", r"",
     "whether a step is written as one expression or as calls"),
    ("simulation/integration/", r"^USUAL = |^return (10|2|USUAL \* self\.stages)$", r"",
     "whether a step is written as one expression or as calls"),
    ("urdf/text/", r"^_(MOST|MOST_INCLUDES|PATIENCE|SHOWN|LARGEST)\b", r"^\d+ -> \d+$",
     "how much is searched for what a message proposes, and how much of it is shown"),
    ("urdf/", r"to_triple\(.*, \d+\)", r"^(6 -> 7|12 -> 13|15 -> 16)$", "how many digits are kept"),
    ("urdf/mesh_files", r"^_MIX = ", r"^\d+ -> \d+$", "any numbers without a pattern"),
    ("urdf/mesh_files", r"^if len\(content\) != _STL_HEAD", r"^(?!len\(content\))",
     "Assimp reads the same, only slower"),
    ("urdf/tyre$", r"Grip\(", r"^(1\.3|0\.1) -> ", "nobody measured it: any of usual size"),
    ("mechanics/invariance", r"_DIGITS \* np\.cos", r"^(?!1 -> 2)", "any change of last digits"),
    ("mechanics/energy_momentum", r"^change = 1 \+ DIGITS \* np\.cos", r"^(1 \+|DIGITS \*) ",
     "any change of last digits"),
    ("mechanics/energy_momentum", r"^beside = at\(", r"^(q|xi) \* ", "any change of last digits"),
    ("mechanics/first_integrals", r"^(AROUND|wanted, unit|t = constrained|q = space|spread\[|unit\["
     r"|return unit)", r"^(0\.5|0\.4|1\.0|2) -> |moment \+ .* -> .*moment - ",
     "random states are any of usual size, and so is how many there are"),
    ("mechanics/(brackets|symmetry_search|invariants)", r"for (_|k) in range\((48|8|12)\)|"
     r"argsort\(size\)\[:24\]|2 \* len\(names\) \+ 8", r"^\d+ -> \d+$",
     "how many points: one more does as well"),
    ("mechanics/(brackets|invariants)", r"^for _ in range\(2\):", r"^2 -> 3$",
     "one round more towards rounding"),
    ("mechanics/invariants", r"^units = ", r"^n \+ 1 -> |^(2|3) -> \d$", "any of the units"),
    ("mechanics/invariants", r"^circles = ", r"^(3|4) -> \d$", "how many points"),
    ("mechanics/invariants", r"EXACT \* \(1 \+", r"^EXACT \* |^1 \+ |^1 -> 2$",
     "a scale of a tolerance"),
    ("mechanics/invariants", r"^LARGEST = ", r"", "how large denominators are tried"),
    ("mechanics/constraint_algorithm", r"^return 1000\.0 \*\* round", r"^1(000)?(\.0)? -> ",
     "a unit of mass in which no inertia is far from one"),
    ("mechanics/newton", r"^if np\.linalg\.norm\(step\) <= 1e-14", r"^1e-14 \* |^1 \+ |^1 -> 2$",
     "only ends later, or within rounding"),
    ("mechanics/brackets", r"depth: int = 8\b", r"^8 -> 9$", "how many levels are tried"),
    ("mechanics/brackets", r" \+ 0\.5 \* rng\.normal", r"^0\.5 \* rng.* -> 0\.5 / rng",
     "any points around the given ones"),
    ("mechanics/", r" \+ [\w.]+ \* rng\.normal", r" \+ [\w.]+ \* rng\..* -> .* - [\w.]+ \* rng\.",
     "noise has no sign"),
    ("mechanics/invariants", r"^q\[moved\] = rng\.integers", r"^-?\d -> \d$|\) / 2 -> ",
     "any simple fractions"),
    ("mechanics/invariants", r"^q\[i:i \+ 4\] = units\[", r"^k \+ n ", "any of the units"),
    ("mechanics/", r"\.sparsity\(\), 1\)", r"^1 -> 2$", "any number but zero"),
    ("mechanics/selection", r" = -1$|, -1\)\)\)?$", r"^1 -> 2$", "any number below zero"),
    ("control/", r"^(WEIGHTS|SPEED, EFFORT|PREVIEW) = ", r"^[\d.]+ -> [\d.]+$",
     "a weight, and how far one looks ahead, is a choice"),
    ("control/", r"^(TURNS|WIDEST|FINE|HALVINGS|GAUSS) = ", r"^[\d.]+ -> [\d.]+$",
     "how finely a search or a quadrature goes: one more does as well"),
    ("control/trailer_flatness", r"^DEGREE, POINTS = |POINTS \+ 1\)$",
     r"^1200 -> |^1 -> 2$| -> POINTS - ", "one point more or less"),
    ("control/path_choice", r'^SIZES = |^"slalom": ', r"^[\d.]+ -> [\d.]+$",
     "how large a path is for which nobody said it is a choice"),
    ("control/path_reference", r"^(SAMPLES|DIGITS) = |SAMPLES \+ 1\)",
     r"^\d+ -> \d+$| -> SAMPLES - ", "how finely a path is kept: one more does as well"),
    ("control/path_library", r"^at = s\[:-1\] \+ np\.diff", r"^4 -> 5$|/ 4 -> ",
     "where pieces are judged, or that they are halved more often"),
    ("control/path_library", r"^speed = np\.linalg\.norm\(derivatives\(u\(at\)\)\[1\]|"
     r"^return float\(np\.abs\(speed \* u\.", r"^-?1 -> |^speed \* ",
     "that pieces are halved more often; of points in a row the second axis is the last"),
    ("control/path_regulator", r"self\._half_turn", r"[+-] self\._half_turn -> ",
     "half a turn either way"),
]


def explain(module: str, says: str, change: str) -> str:
    """Why nothing can notice a change, if that is known."""
    return EQUIVALENT.get((module, says, change)) or next(
        (reason for *patterns, reason in RULES
         if all(map(re.search, patterns, (module, says, change)))), "")


# (module, what the line says, change): why no test can notice. What only takes longer has no effect
# either.
EQUIVALENT = {
    ("mechanics/action_algebroid", "anchor = ca.SX(0, 0)", "0 -> 1"):
        "any shape that is not the one wanted is refused in the next line",
    ("mechanics/base_space", "moves = any(np.linalg.matrix_rank(np.vstack([A, unit]),",
     "any((np.linalg.matrix_rank(np.vstack([A, unit]), tol=ZERO... -> "
     "all((np.linalg.matrix_rank(np.vstack([A, unit]), tol=ZERO..."):
        "at random configurations a coordinate moves everywhere or nowhere",
    ("mechanics/distribution", "rows = {min(left)}", "min(left) -> max(left)"):
        "a block is found from each of its rows",
    ("mechanics/invariants", "units = [np.array(u) / n for n in (1, 2, 3) for u in "
     "product(range(-n, n + 1), repeat=4)", "1 -> 2"):
        "the same points: those of norm 1 are halves of some of norm 2",
    ("mechanics/frame", "raise MechanicsError(f\"the speeds {', '.join("
     "system.algebroid.v_names[i] for i in chosen)} \"",
     "raise MechanicsError(...) -> pass"):
        "rows and speeds that are chosen are regular at the first sample",
    ("systems/differential_drive", "\"left\": lambda s: base(s).at(0, s.p.half_track).forward - "
     "s.p.radius * s.v.left,", "0 -> 1"):
        "the forward speed of a point does not depend on how far ahead it is",
    ("systems/differential_drive", "\"right\": lambda s: base(s).at(0, -s.p.half_track).forward - "
     "s.p.radius * s.v.right})", "0 -> 1"):
        "the forward speed of a point does not depend on how far ahead it is",
    ("systems/car_with_trailers", "\"front\": lambda s: base(s).at(s.p.wheelbase)"
     ".hinge(s.q.steering, 0).lateral, **rows})", "0 -> 1"):
        "the velocity of a hinge does not depend on how fast it turns",
    ("systems/falling_disc", "J = jacobian((0, 0, 0, lean, 0), (u1, u2, u3), "
     "example.constrained.parameters).full()", "0 -> 1"):
        "its motion depends on no place, heading or spin",
    ("systems/connection_curvature", "if np.abs(term).max() < 1e-3:", "0.001 -> 0.00101"):
        "how small a term counts as missing",
    ("systems/areal_velocity", "for _ in range(20):", "20 -> 21"): "one more does as well",
    ("control/teleoperation", "force_reader(vehicle).function.compile()",
     "force_reader(vehicle).function.compile() -> pass"):
        "compiled at the first use all the same",
    ("analysis/curvature", "len(below)), max(1.0, float(np.abs(lift).max(initial=0.0)))",
     "np.abs(lift).max(initial=0.0) -> np.abs(lift).min(initial=0.0)"):
        "a scale of a tolerance, which the 1 beside it bounds below",
    ("urdf/wheels/kinds", "left = axle_R(layout, wheels[0])", "0 -> 1"): "their axles are parallel",
    ("urdf/wheels/kinds", "tread, is_own = None, False", "False -> True"):
        "is set where there is a tread, and not read where there is none",
    ("urdf/wheels/skid", "above = [j for j in layout.path(layout.carrier(group[0]))[:-1] if "
     "j.turns]", "0 -> 1"): "wheels of one body hang on the same joints",
    ("urdf/text/capsules", "moved = np.array(at) + along * pin.rpy.rpyToMatrix(*rpy)[:, 2]",
     "np.array(at) + along * pin.rpy.rpyToMatrix(*rpy)[:, 2] -> "
     "np.array(at) - along * pin.rpy.rpyToMatrix(*rpy)[:, 2]"): "a capsule's ends are alike",
    ("urdf/validate_inertia", "moved = float(np.linalg.norm(nearest - second) / "
     "max(float(np.linalg.norm(second)), 1e-300))", "1e-300 -> 1e-294"): "no inertia is so small",
    ("urdf/wheels/rims", "angles = np.arange(0.0, 2 * np.pi, np.pi / 32)", "2 -> 3"):
        "the same points and more",
    ("urdf/wheels/rims", "angles = np.arange(0.0, 2 * np.pi, np.pi / 32)", "32 -> 33"):
        "how finely the end of a cylinder is followed",
    ("urdf/wheels/revolution", "for k in np.flatnonzero(stops - starts >= 2 * np.pi / _GAP):",
     "2 * np.pi -> 2 / np.pi"): "fewer points leave a larger gap all the same",
    ("urdf/wheels/revolution", "edges = distance[0] * (1 - window / 4) ** np.arange(steps)",
     "4 -> 5"): "how finely a circle is searched for",
    ("urdf/wheels/bearing", "axle, radius = centre_R(layout, wheels[0]), usual_radius(wheels)",
     "0 -> 1"): "all are on one axle",
    ("urdf/wheels/skid", "carried = [joint in layout.path(layout.carrier(w)) for w in wheels]",
     "joint in layout.path(layout.carrier(w)) -> joint not in layout.path(layout.carrier(w))"):
        "some are carried and some are not, or the other way round",
    ("urdf/text/source", 'if re.search("[\\0-\\b\\x0e-\\x1a]", text[:1000]):', "1000 -> 1001"):
        "how much of a text is looked at",
    ("urdf/text/source", "parser = etree.XMLParser(resolve_entities=False)", "False -> True"):
        "a DOCTYPE is refused, whatever entities it declares",
    ("urdf/wheels/refusals", 'wheel = Wheel(axle.joint.name, "disc", radius or 1.0, '
     "axis=to_triple(axle.joint.axis),", "1.0 -> 1.01"): "stands for a radius that nobody knows",
    ("simulation/contact/impulses", "COMPLIANCE, NEARER = 1e-6, 2", "2 -> 3"):
        "one round more of six digits, where two have all",
    ("simulation/runs/driven_twist", "part = np.where(judged, np.linalg.norm(error, axis=1) / "
     "np.where(judged, size, 1.0), 0.0)", "1.0 -> 1.01"): "divides what is not used",
    ("simulation/integration/integrators", "ca.mmin(guards) if guards.numel() else 1)", "1 -> 2"):
        "no guard: any positive number",
    ("compile/gpu", "check(driver.cuLaunchKernel(kernel, -(-threads // BLOCK), 1, 1, BLOCK, 1, 1, "
     "0, 0,", "1 -> 2"): "needs a GPU: the tests launch a loop in its place",
    ("simulation/runs/limit_spans", "values = values * signs if part in (\"q\", \"angles\") else "
     "np.abs(values)", "values * signs -> values / signs"): "signs are 1 and -1",
    ("simulation/runs/limit_spans", "apart = (moments[1:] - moments[:-1] > 1) & "
     "(t[moments[1:]] - t[after[:-1]] > APART)",
     "t[moments[1:]] - t[after[:-1]] -> t[moments[1:]] + t[after[:-1]]"):
        "`_join` joins what this leaves apart: fewer spans to join",
    ("simulation/runs/limit_spans", "apart = (moments[1:] - moments[:-1] > 1) & "
     "(t[moments[1:]] - t[after[:-1]] > APART)", "-1 -> 1"):
        "`_join` joins what this leaves apart: fewer spans to join",
    ("simulation/runs/limit_spans", "most = values[moments[first]:moments[last] + 1].max()",
     "1 -> 2"): "the value behind a span is below the limit",
    ("simulation/command_function", "quality = ca.if_else(symbols.are_finite, quality, -1)",
     "1 -> 2"): "any negative number",
    ("simulation/integration/discrete_gradient", "size = ca.sqrt(ca.sumsqr(dt * correction / "
     "(1 + ca.fabs(x))) / nx)", "dt * correction / (1 + ca.fabs(x)) -> "
     "dt * correction * (1 + ca.fabs(x))"): "a scale of a tolerance far below the error of a step",
    ("simulation/integration/discrete_gradient", "size = ca.sqrt(ca.sumsqr(dt * correction / "
     "(1 + ca.fabs(x))) / nx)", "1 -> 2"): "a scale of a tolerance far below the error of a step",
    ("simulation/integration/discrete_gradient", "size = ca.sqrt(ca.sumsqr(dt * correction / "
     "(1 + ca.fabs(x))) / nx)", "ca.sumsqr(dt * correction / (1 + ca.fabs(x))) / nx -> "
     "ca.sumsqr(dt * correction / (1 + ca.fabs(x))) * nx"):
        "a scale of a tolerance far below the error of a step",
    ("simulation/integration/gauss", "moved = ca.vertcat(ca.vec(dt * correction / "
     "ca.repmat(1 + ca.fabs(x), 1, s)), phi)", "1 -> 2"):
        "a scale of a tolerance far below the error of a step",
    ("simulation/integration/gauss", "[z + ca.vertcat(ca.vec(correction), -phi / 2), size], "
     "{\"cse\": True})", "2 -> 3"):
        "another slope of Newton's iteration, which ends at the same point, phi = 0, only later",
    ("simulation/integration/gauss", "size = block.shape[0] * damping.shape[0]", "0 -> 1"):
        "both matrices are square",
    ("simulation/integration/gauss", "elif value.imag > 0:", "value.imag > 0 -> value.imag <= 0"):
        "either one of a conjugate pair",
    ("simulation/integration/flow", "found = repeated(once, CORRECTIONS)(ca.vertcat(z, nan, 1), "
     "*held)", "1 -> 2"): "any number but zero",
    ("compile/mapped_lanes", "how = (\"thread\", threads) if threads > 1 else ()",
     "threads > 1 -> threads <= 1"): "how many threads",
    ("compile/pointwise", "self._cost = max(function.n_instructions(), 1)", "1 -> 2"):
        "of a function without instructions",
    ("compile/pointwise", "self._work = 0", "0 -> 1"):
        "one instruction of millions",
    ("compile/pointwise", "memory[count:] = memory[count - 1]", "1 -> 2"):
        "any point that the function has: its values are not read",
    ("compile/pieces", "lines = found[\"body\"].splitlines(keepends=True)", "True -> False"):
        "C on longer lines",
    ("simulation/runs/run_file", "room = np.empty((max(1, BLOCK // each), self.width + 1))",
     "1 -> 2"): "how many rows are read at once",
    ("simulation/runs/run_file", "self.path.unlink(missing_ok=True)", "True -> False"):
        "it was there a moment before",
    ("simulation/inverse_dynamics", "is_direct = all(part.kind is JointTorque for part in parts)",
     "all((part.kind is JointTorque for part in parts)) -> "
     "any((part.kind is JointTorque for part in parts))"):
        "symbols that are expanded or called: how fast, not what",
    ("simulation/inverse_dynamics", "is_short = all(isinstance(symbols_of(function)[0], ca.SX) "
     "for function in functions)", "0 -> 1"): "all symbols of a function are of one type",
    ("simulation/inverse_dynamics", "is_short = all(isinstance(symbols_of(function)[0], ca.SX) "
     "for function in functions)", "all((isinstance(symbols_of(function)[0], ca.SX) for funct... "
     "-> any((isinstance(symbols_of(function)[0], ca.SX) for funct..."):
        "symbols that are expanded or called: how fast, not what",
    ("simulation/inverse_dynamics", "if quality < 0:", "0 -> 1"):
        "the same numbers, checked once more",
    ("simulation/watch", "self.n = 0", "0 -> 1"): "set again before each use",
    ("simulation/watch", "while high - low > LOCATED * max(1.0, abs(t)):", "1.0 -> 1.01"):
        "a scale of a tolerance",
    ("simulation/watch", "self.rows = np.empty((AHEAD + 1, width))", "1 -> 2"): "memory to spare",
    ("simulation/step_error", "found = np.empty((1 + steps, len(self.x)))", "1 -> 2"):
        "memory to spare",
    ("simulation/step_error", "DIVISORS = tuple(n * 10 ** k for k in range(5) for n in "
     "(2, 4, 5, 10))", "5 -> 6"): "steps shorter than a hundred-thousandth of the given one",
    ("simulation/integration/conservation",
     "values = [equations.drift(t, q, xi + k * step, u, simulated.theta)[1].full()",
     "k * step -> k / step"): "states at equal distances all the same",
    ("simulation/integration/conservation",
     "values = [equations.drift(t, q, xi + k * step, u, simulated.theta)[1].full()",
     "xi + k * step -> xi - k * step"): "states at equal distances all the same",
    ("systems/areal_velocity", 'return largest(xi[:, 1] - start["xi"][1], energy - energy[0])',
     "0 -> 1"): "what is constant may be compared with any moment",
    ("compile/lanes", "u.strides[1] // 8, 1, theta.strides[0] // 8, theta.strides[1] // 8, 1)]",
     "1 -> 2"): "count where u has periods or where there is a record: here is neither",
    ("simulation/bounds", 'return cls((), ca.Function("nhmech_margins", [system.t, system.q], '
     '[ca.DM(0, 1)]))', "1 -> 2"): "the width of a matrix without rows",
    ("simulation/integration/conservation", "SPEED = 3.0", "3.0 -> 3.0300000000000002"):
        "random states of any usual speed",
    ("simulation/integration/conservation",
     "states = ((t, vector.assemble(q, SPEED * random.normal(size=vector.nxi)))",
     "SPEED * random.normal(size=vector.nxi) -> SPEED / random.normal(size=vector.nxi)"):
        "random states of any usual speed",
    ("simulation/command_reader", "if len(joints) > 1:", "1 -> 2"):
        "two joints are read one by one: how fast, not what",
    ("simulation/command_function", "return -1.0", "1.0 -> 1.01"): "any negative number",
    ("simulation/command_function", "self._given[...], self._is_given[...] = y, 1.0",
     "1.0 -> 1.01"): "any number but zero",
    ("simulation/command_function", "self._evaluate.bind((moment.clock[:1], moment.q, moment.v, "
     "moment.x, theta), results)", "1 -> 2"): "the memory is the same, and the function reads one",
    ("analysis/secants", "middle = min(max(secant, low + near / 2), high - near / 2)",
     "high - near / 2 -> high + near / 2"): "how near to an end is looked, not where the zero is",
    ("analysis/secants", "middle = min(max(secant, low + near / 2), high - near / 2)", "2 -> 3"):
        "how near to an end is looked, not where the zero is",
    ("analysis/limits", "FIRST, LAST = 0.125, 1e6", "0.125 -> 0.12625"): "where a search begins",
    ("analysis/limits", "low, left, high = high, over, 2 * high", "2 -> 3"):
        "how fast trial values grow: the zero is found between the last two",
    ("analysis/limits", "return Limit(found, cause, self._names(*state(found * (1 + BEYOND)), "
     "cause))", "found * (1 + BEYOND) -> found / (1 + BEYOND)"):
        "who gives way a millionth beyond a limit is nearest to it a millionth before",
    ("analysis/limits", "return Limit(found, cause, self._names(*state(found * (1 + BEYOND)), "
     "cause))", "1 + BEYOND -> 1 - BEYOND"):
        "who gives way a millionth beyond a limit is nearest to it a millionth before",
    ("analysis/rolling_limits", "left, split = widest_split(load, self._mu, sign=True)",
     "True -> False"): "only takes longer: the same sign, and a split that holds where one does",
    ("analysis/mobility", "undetermined, splits = ((), 0) if vehicle is None else "
     "_undetermined_forces(vehicle, forms[-1])", "-1 -> 1"):
        "any sample: where rows lose rank at one, as where axles coincide, `motions` refuses",
    ("analysis/mobility", "undetermined, splits = ((), 0) if vehicle is None else "
     "_undetermined_forces(vehicle, forms[-1])", "1 -> 2"):
        "the last samples are random ones",
    ("analysis/equilibria", "wanted = np.r_[speed, np.zeros(5), -slip.ravel()]",
     "-slip.ravel() -> slip.ravel()"): "a first guess of Newton's method",
    ("analysis/equilibria", "xi = np.linalg.lstsq(rows @ point.E, wanted - rows @ point.v, "
     "rcond=SINGULAR)[0]", "wanted - rows @ point.v -> wanted + rows @ point.v"):
        "a first guess of Newton's method",
    ("analysis/demand", "TRIALS = np.array([0.0, 2.0, 4.0])", "2.0 -> 2.02"): "any three angles",
    ("analysis/demand", "TRIALS = np.array([0.0, 2.0, 4.0])", "4.0 -> 4.04"): "any three angles",
    ("analysis/cone_programme", "part: float = 0.0, weight: float = 1.0) -> np.ndarray:",
     "1.0 -> 1.01"): "where the search begins",
    ("analysis/cone_programme", "if lower < value - 0.1 * part * decrement:",
     "value - 0.1 * part * decrement -> value + 0.1 * part * decrement"):
        "how Newton's method goes, not where it ends",
    ("analysis/rolling_limits", "doubtful = np.flatnonzero(~(values > 0))", "0 -> 1"):
        "more states are judged by a programme, which finds the same sign",
    ("analysis/demand", "return vt[int(np.sum(s > CLOSED * s.max(initial=1e-300))):].T",
     "1e-300 -> 1e-294"): "no matrix is so small",
    ("analysis/cone_programme", "scale = 1 / np.sqrt(hessian.diagonal())",
     "1 / np.sqrt(hessian.diagonal()) -> 1 * np.sqrt(hessian.diagonal())"):
        "a unit of the unknowns, which leaves the step as it is",
    ("analysis/cone_programme", "short, value = 4 * len(cones.s) / weight, float(c @ y)", "4 -> 5"):
        "a bound of twice the distance from the optimum",
    ("analysis/cone_programme", "if part < 1e-9:", "1e-09 -> 0.001"):
        "steps so short lead nowhere",
    ("analysis/contact_load", "return max(float(np.abs(self.split).max(initial=0.0)), 1e-300)",
     "1e-300 -> 1e-294"): "no force is so small",
    ("symbolic/elimination", "share = block / np.maximum(np.abs(block).max(axis=2, keepdims=True), "
     "1e-300)", "1e-300 -> 1e-294"): "no entry is so small",
    ("symbolic/elimination", "n = matrix.shape[0]", "0 -> 1"): "the matrix is square",
    ("symbolic/elimination", "CONSTANT = 0.05", "0.05 -> 0.0505"):
        "any cost between none and that of an expression",
    ("analysis/demand", "if np.abs(left).max(initial=0.0) > CLOSED * "
     "np.abs(needed).max(initial=1e-300):", "1e-300 -> 1e-294"): "no force is so small",
    ("compile/compiled_function",
     "return Source(code, code.count(\"\\n\") // 2)", "2 -> 3"):
        "how hard the compiler tries; its code does the same",
    ("simulation/bounds", "NEVER = 1e-300",
     "1e-300 -> 1e-294"):
        "no margin shrinks so slowly",
    ("symbolic/rational", "rest = monomial[:i - 1] + (0, 0) + monomial[i + 1:]", "0 -> 1"):
        "a key: any two numbers stand for the sine and the cosine that it leaves out",
    ("compile/loop", "NEWTON = 5", "5 -> 6"): "a step more onto the constraints",
    ("compile/loop", "work: int = 0", "0 -> 1"): "memory to spare",
    ("compile/loop", "def loop_of(library: Library, path: Callable[..., int] | None = None, work: "
     "int = 0) -> Loop:", "0 -> 1"): "memory to spare",
    ("compile/gpu", "max((part.nbytes for part in rows), default=0))", "0 -> 1"): "memory to spare",
    ("compile/adaptive", "angles: int = 0, bounds: Bounding = (None, None)) -> Adaptive | None:",
     "0 -> 1"): "counts where there is a projection: who has one says it",
    ("compile/adaptive", "ATTEMPTS = 2000", "2000 -> 2001"): "a step more before Ctrl-C is heard",
    ("compile/sliding_loop", 'rows=", ".join(map(str, (*layout.rows, 0))), enter=enter.name(), '
     'leave=leave.name(),', "0 -> 1"): "ends a list and is not read",
    ("compile/lane_function", "pointers = [(ctypes.c_void_p * max(len(arrays), 1))"
     "(*(array.ctypes.data for array in arrays))", "1 -> 2"): "memory to spare",
    ("compile/contact_step", 'at_once=min(len(lists["along"]), AT_ONCE),',
     "min(len(lists['along']), AT_ONCE) -> max(len(lists['along']), AT_ONCE)"): "memory to spare",
    ("compile/contact_step", '**{name: ", ".join(map(str, [*values, 0])) for name, values in '
     'lists.items()})', "0 -> 1"): "ends a list and is not read",
    ("simulation/batch_input", "made.runner.run(state, u, theta, dt=0.0, k0=0, steps=1, mended=1)",
     "0 -> 1"): "a step of no length is at time zero, whatever its number",
    ("simulation/sensors",
     "if max(abs(one.margin(t[k], one.at_rest(q), simulated.theta))",
     "max((abs(one.margin(t[k], one.at_rest(q), simulated.theta... -> "
     "min((abs(one.margin(t[k], one.at_rest(q), simulated.theta..."):
        "where one chart serves already, another one reads the same",
    ("simulation/sensors", "return None if np.isnan(numbers[0]) else "
     "self.coulomb.acceleration(state, numbers)", "0 -> 1"): "all are NaN where wheels roll",
    ("simulation/sensors", "accelerometer[i] = sensors.specific_force(link, state, change / "
     "(span or 1.0))", "1.0 -> 1.01"): "divides zeros",
    ("compile/pointwise", "self._count(BUILD // self._cost + 1)", "1 -> 2"):
        "any work that is enough",
    ("simulation/integration/integrators", "raw = RK4.advance(lambda t, x, u=u: rate(t, x, u, "
     "theta), t, x, 0.3)", "0.3 -> 0.303"): "a step of any length",
    ("simulation/integration/gauss", "moved = ca.vertcat(ca.vec(dt * correction / "
     "ca.repmat(1 + ca.fabs(x), 1, s)), phi)", "dt * correction / ca.repmat(1 + ca.fabs(x), 1, s) "
     "-> dt * correction * ca.repmat(1 + ca.fabs(x), 1, s)"):
        "a scale of a tolerance far below the error of a step",
    ("simulation/bounds", "self.signs[...] = [1.0 if margin > 0 else -1.0 for margin in margins]",
     "1.0 -> 1.01"): "the sign alone counts",
    ("simulation/batch", "self._commanded = 0", "0 -> 1"): "before the first command there is none",
    ("simulation/simulator", "self._by_hand.recorder = self._open_record(1, every, save)",
     "1 -> 2"): "how many rows are expected",
    ("simulation/simulator", "recorder = self._open_record(steps // every + 3, every, save)",
     "3 -> 4"): "how many rows are expected",
    ("urdf/text/slips", "def drop_declaration(text: str, indented: bool = False) -> tuple[str, "
     "list[Slip]]:", "False -> True"): "who leaves it out takes the text alone",
    ("analysis/integrable", "twists[k, -1, 3:6, 3:6] = -pin.skew(n)",
     "-pin.skew(n) -> pin.skew(n)"):
        "yaw is the only form that is not closed: the sign of its differential meets no other",
    ("symbolic/factoring", "made, ratio = name(), sums[holders[0]][b] / sums[holders[0]][a]",
     "0 -> 1"): "all holders have the pair in this ratio",
    ("compile/loop", "MENDED = 64", "64 -> 65"):
        "one step more between two projections of what drifts by rounding",
    ("simulation/contact/accelerations", "for _ in range(ROUNDS if terms.follow_loads else 0):",
     "0 -> 1"): "finds the same once more: nothing follows the loads",
    ("simulation/contact/accelerations", "for _ in range(1 + NEARER):", "1 -> 2"):
        "one round more of six digits, where two have all",
    ("simulation/contact/accelerations", "give = COMPLIANCE * terms.mobility",
     "COMPLIANCE * terms.mobility -> COMPLIANCE / terms.mobility"):
        "a scale of what the rounds after it remove",
    ("simulation/contact/step_functions", "half = ca.sqrt(ca.fmax(ca.sumsqr(step[3:6]), 1e-300)) "
     "/ 2", "1e-300 -> 1e-294"): "sin(half) / half is 1 on both sides",
    ("simulation/contact/contact_problem", "length = ca.sqrt(ca.if_else(slides, square, 1.0))",
     "1.0 -> 1.01"): "divides what is not used",
    ("simulation/contact/contact_problem", "if np.abs(P - before).max(initial=0.0) <= 1e-15 * "
     "np.abs(P).max(initial=0.0):", "P - before -> P + before"): "only ends later",
    ("simulation/contact/contact_problem", "if np.abs(P - before).max(initial=0.0) <= 1e-15 * "
     "np.abs(P).max(initial=0.0):", "np.abs(P).max(initial=0.0) -> np.abs(P).min(initial=0.0)"):
        "only ends later",
    ("simulation/contact/force_reader", "pulled = least < 0", "0 -> 1"):
        "signs that hold are imposed in vain",
    ("simulation/contact/lift_off", "forces, kernel, _, _ = function(system.t, q, v, system.u, "
     "system.theta, 0)", "0 -> 1"): "friction changes no force",
    ("simulation/contact/nonsmooth_terms", "return float(1 / self.per_metre[3])", "3 -> 4"):
        "turns have one scale",
    ("simulation/runs/trajectory", "ideal = np.flatnonzero(~known) if (~known).any() else "
     "np.zeros(1, dtype=int)", "1 -> 2"): "any states: their forces are overwritten",
    ("simulation/runs/trajectory", "return np.isnan(self._contact_parts[0]).any(axis=1)",
     "np.isnan(self._contact_parts[0]).any(axis=1) -> "
     "np.isnan(self._contact_parts[0]).all(axis=1)"): "all forces of a state are known, or none is",
    ("simulation/contact/impulses", "for _ in range(2):", "2 -> 3"):
        "one round more towards rounding",
    ("simulation/contact/impulses", "self._give = COMPLIANCE * np.diag(W).max() * self._softness",
     "np.diag(W).max() -> np.diag(W).min()"):
        "a scale of what the rounds after it remove",
    ("simulation/contact/impulses", "self.presses[k] = self._P[n] * W[n, n] > u[n] or u[n] <= "
     "STILL * size", "self._P[n] * W[n, n] -> self._P[n] / W[n, n]"):
        "a scale: tells impulses from rounding errors",
    ("simulation/contact/impulses", "ONWARD = 0.5", "0.5 -> 0.505"):
        "any part between none and all",
    ("simulation/contact/impulses", "step = np.linalg.lstsq(A[rows] * self._per_metre, aims - "
     "A[rows] @ w, rcond=1e-10)[0]", "1e-10 -> 0.0001"):
        "a tolerance, between rounding and dependent rows",
    ("simulation/contact/impulses", "units = {i: A[i] / (np.linalg.norm(A[i]) or 1.0) for i in "
     "rows}", "1.0 -> 1.01"): "divides zeros",
    ("simulation/contact/implicit_step", "x[3:7] /= np.linalg.norm(x[3:7])", "3 -> 4"):
        "any configuration that is generic",
    ("simulation/contact/implicit_step", "x[3:7] /= np.linalg.norm(x[3:7])", "7 -> 8"):
        "any configuration that is generic",
    ("simulation/contact/implicit_step", "x[3:7] /= np.linalg.norm(x[3:7])",
     "x[3:7] /= np.linalg.norm(x[3:7]) -> x[3:7] *= np.linalg.norm(x[3:7])"):
        "any configuration that is generic",
    ("simulation/contact/implicit_step", "is_rounding = before / 2 < worst < HIGH * terms.size",
     "before / 2 -> before * 2"): "only ends later",
    ("simulation/contact/implicit_step", "is_rounding = before / 2 < worst < HIGH * terms.size",
     "2 -> 3"): "any part: how little progress is none",
    ("simulation/contact/implicit_step", "for k in range(ONTO + 1):", "1 -> 2"):
        "the last is left in any case",
    ("simulation/contact/contact_columns", "known, rows = not np.isnan(forces).any(), "
     "len(vehicle.contact_rows)", "np.isnan(forces).any() -> np.isnan(forces).all()"):
        "all forces of a state are known, or none is",
    ("simulation/contact/contact_columns", "impulses *= np.append(share, 1.0)[self._bearer]",
     "1.0 -> 1.01"): "rows of no contact have no impulse",
    ("simulation/contact/implicit_step", "SLOWER = 0.03", "0.03 -> 0.0303"):
        "from which progress on factors are made anew",
    ("simulation/contact/implicit_step", "LEAP = 0.3", "0.3 -> 0.303"):
        "between what a rim turns in a step and a jump to its other side",
    ("simulation/contact/energy_terms", "NUDGE = 0.05", "0.05 -> 0.0505"):
        "a bound on what is a hundredth",
    ("simulation/contact/nonsmooth", "for _ in range(200):", "200 -> 201"):
        "how many rounds: one more does as well",
    ("simulation/contact/nonsmooth", "if high - low <= 1e-15 * dt:", "high - low -> high + low"):
        "only ends later, with the same moment",
    ("simulation/contact/nonsmooth", "if high - low <= 1e-15 * dt:", "1e-15 * dt -> 1e-15 / dt"):
        "a scale of rounding",
    ("simulation/contact/nonsmooth", "newton = tau - heights[i] / speed if speed < 0 else low",
     "0 -> 1"): "what rises leads out of the interval, which is halved then",
    ("simulation/contact/nonsmooth", "BOUNCES = 2", "2 -> 3"):
        "any small number: how finely bounces are followed",
    ("mechanics/newton", "return z if np.abs(value / unit).max() <= 1e-12 * "
     "(1 + np.abs(z).max()) else None", "np.abs(z).max() -> np.abs(z).min()"):
        "a scale of a tolerance, which the 1 beside it bounds below",
    ("analysis/integrable", "twists = np.array([[-value.full() for value in "
     "structure.call([ca.DM(q)])]", "-value.full() -> value.full()"):
        "vanishes with its negative",
    ("analysis/integrable", "return echelon(vt[:int(np.sum(s > 1e-8))])", "1e-08 -> 0.01"):
        "the rows span the fixed ones: without them, singular values are 0 or 1 at least",
    ("analysis/ignorable", "return lambda q: np.concatenate([q[:3] + SHIFT * direction, q[3:]])",
     "q[:3] + SHIFT * direction -> q[:3] - SHIFT * direction"): "a shift either way",
    ("analysis/ignorable", "SHIFT, TURN, SPIN = 0.7, 0.9, 0.8", "0.7 -> 0.707"): "any shift",
    ("analysis/ignorable", "SHIFT, TURN, SPIN = 0.7, 0.9, 0.8", "0.9 -> 0.909"): "any angle",
    ("analysis/ignorable", "SHIFT, TURN, SPIN = 0.7, 0.9, 0.8", "0.8 -> 0.808"): "any angle",
    ("analysis/ignorable", "for q in vehicle.constrained.configurations[1:4]:", "1 -> 2"):
        "how many samples: two are enough",
    ("analysis/ignorable", "for q in vehicle.constrained.configurations[1:4]:", "4 -> 5"):
        "how many samples: one more does as well",
    ("analysis/ignorable", "if all(_is_held(vehicle, name, q) for q in "
     "vehicle.constrained.configurations[:4])]", "4 -> 5"):
        "how many samples: one more does as well",
    ("analysis/ignorable", "size = max(1.0, np.abs(before).max(initial=0.0))", "1.0 -> 1.01"):
        "a scale of a tolerance",
    ("analysis/steady_equations", "while fraction > 1e-3:", "0.001 -> 0.00101"):
        "between two powers of 1 / 2",
    ("analysis/steady_equations", "fraction /= 2", "2 -> 3"):
        "how fast a step that is too long shrinks",
    ("analysis/steady_equations", "for _ in range(8):", "8 -> 9"): "one step more does as well",
    ("analysis/stability", "return float(brentq(function, low, high, xtol=1e-13, rtol=4 * "
     "np.finfo(float).eps))", "4 -> 5"): "a few units of rounding",
    ("analysis/structure", "MANY = 100_000", "100000 -> 100001"): "how long a search goes on",
    ("analysis/structure", "wheel_angles: bool = False, depth: int = 8, operations: float = MANY) "
     "-> Structure:", "8 -> 9"): "how many levels are tried",
    ("analysis/structure", "column[vehicle.algebroid.v_names.index(name)] = 1.0", "1.0 -> 1.01"):
        "any multiple of a generator",
    ("analysis/steady_equations", "jacobian, defect, fraction = here.jacobian, here.defect, 1.0",
     "1.0 -> 1.01"): "how far Newton's method goes at first, not where it ends",
    ("analysis/variations", "Z, drag = np.zeros((n, 0)), np.zeros((n, n))", "0 -> 1"):
        "a symmetry that moves nothing",
    ("analysis/variations", "if size > ZERO * max(1.0, float(np.linalg.norm(columns[:, i]))):",
     "1.0 -> 1.01"): "a scale of a tolerance",
    ("analysis/ignorable_fields", "count = max(STATES, ceil(2 * unknowns / (system.algebroid.nv + "
     "len(unit))))", "2 -> 3"): "how many states: more do as well",
    ("analysis/ignorable_fields", "count = max(STATES, ceil(2 * unknowns / (system.algebroid.nv + "
     "len(unit))))", "2 * unknowns / (system.algebroid.nv + len(unit)) -> "
     "2 * unknowns * (system.algebroid.nv + len(unit))"): "how many states: more do as well",
    ("analysis/curvature", "parts = ca.vertcat(ca.SX(0, len(above)),", "0 -> 1"):
        "a row of zeros more",
    ("mechanics/morphism", "if any((side != sides[0]).any() for side in sides):",
     "(side != sides[0]).any() -> (side != sides[0]).all()"):
        "at random configurations rows have one rank",
    ("simulation/contact/coulomb", "self._still = 0, 0", "0 -> 1"):
        "one step more or less of patience, once in a run",
    ("simulation/integration/flow",
     "ca.vertsplit(ca.vertcat(after, size)), ca.vertsplit(y[:nz + 1]))]", "1 -> 2"):
        "zip ends with the shorter one",
    ("simulation/integration/flow", "small = ca.logic_and(size <= SURE, size ** 2 <= ROUNDED / 10 "
     "* before)", "size <= SURE -> size > SURE"):
        "an iteration more: no larger step shrinks so fast",
    ("urdf/wheels/revolution", "steps = int(np.log(_SMALLEST) / np.log1p(-window / 4))", "4 -> 5"):
        "how far in the search for a circle ends",
    ("simulation/runs/run_file", "weights = np.array([pow(_FACTOR, j + 1, 1 << 64) for j in "
     "range(rows.shape[1])], dtype=\"<u8\")", "j + 1 -> j - 1"):
        "other odd weights: who writes and who reads have the same",
    ("simulation/contact/contact_problem", "STIFFEN, SOFTEST = (10.0, 3.0, 1.5), 1e-10",
     "3.0 -> 3.0300000000000002"): "any factors that fall towards 1",
    ("vehicle/model", "model.addBodyFrame(name, joint, pin.SE3.Identity(), 0)", "0 -> 1"):
        "the frame from which it was measured: nobody asks",
    ("vehicle/least_norm", "for _ in range(3 * k):", "3 -> 4"): "a bound that no problem comes to",
    ("mechanics/symmetry_search", "rest = np.where(vanish, 0.0, values / np.where(vanish, 1.0, "
     "norms))", "1.0 -> 1.01"): "divides what is put to zero",
    ("mechanics/symmetry_search", "extents: np.ndarray | float = 1.0) -> np.ndarray:",
     "1.0 -> 1.01"): "a common scale, which cancels",
    ("mechanics/symmetry_search", "def echelon(basis: np.ndarray, scale: np.ndarray | float = 1.0)"
     " -> np.ndarray:", "1.0 -> 1.01"): "a common scale, which cancels",
    ("mechanics/symmetry_search", "largest = norms.max(initial=0.0) or 1.0", "1.0 -> 1.01"):
        "divides zeros",
    ("mechanics/invariance", "+ (ca.mmax(whole) if f.numel() else 0) * ca.repmat(reach, f.numel(), "
     "1))", "0 -> 1"): "of no entry",
    ("mechanics/samples", "while len(found) < RANDOM and len(starts) < 2 * RANDOM:", "2 -> 3"):
        "how many are tried",
    ("mechanics/quasi_velocities", "held = ca.vertcat(ca.SX(0, 1), *foreign_symbols(basis, "
     "algebroid.q))", "0 -> 1"): "one more input, from which nothing is read",
    ("mechanics/quasi_velocities", "POINTS = 3", "3 -> 4"): "one point more",
    ("mechanics/momentum", "rows = ([binding[i] for i in independent_rows(forms[:, binding], ones, "
     "[0] * len(binding),", "0 -> 1"): "all rows have one priority, whichever",
    ("mechanics/morphism", "return np.linalg.matrix_rank(samples / np.where(largest > 0, largest, "
     "1.0), tol=DEFECT)", "1.0 -> 1.01"): "divides zeros",
    ("mechanics/momentum_side", "momenta = at_samples(given, ca.densify(hessian @ "
     "rng.normal(size=nv) + rest))", "hessian @ rng.normal(size=nv) + rest -> "
     "hessian @ rng.normal(size=nv) - rest"): "a start is any: points of the manifold are near it",
    ("mechanics/invariant_measure", "units[units == 0] = 1.0", "1.0 -> 1.01"):
        "a unit of coordinates that nothing moves",
    ("mechanics/printing", "flow = ca.SX(d.m, 1) if d.flow is None else d.flow", "1 -> 2"):
        "a second column, of which no entry is read",
    ("mechanics/writing", "near = get_close_matches(name, names, 1)", "1 -> 2"):
        "the nearest is the first, and the only one that is read",
    ("mechanics/writing", "found = ca.SX(0, 0)", "0 -> 1"):
        "any shape that is not one number's is refused in the next line",
    ("mechanics/symmetry_search", "NOTHING = 1e-12", "1e-12 -> 1e-06"):
        "a tolerance, between rounding and what a symmetry leaves",
    ("symbolic/simplify", "return signs + sums + products + len(self.functions)",
     "signs + sums + products + len(self.functions) -> "
     "signs + sums + products - len(self.functions)"):
        "an estimate of which form is shorter; operation counts gate what it decides",
    ("simulation/least_squares", "WELL = 1e-2", "0.01 -> 0.0101"):
        "from where on the other way is taken, which leads to the same efforts",
    ("control/combinators", "there = [twist for twist in twists if np.isfinite(twist).all()]",
     "np.isfinite(twist).all() -> np.isfinite(twist).any()"):
        "a twist is finite in all its parts or in none: another one is refused",
    ("control/measurement", "base, turn, rates = normal(3), normal(3), normal(6)", "6 -> 7"):
        "other numbers of the same distribution",
    ("control/unicycle", "return np.where(np.abs(vector) < 1e-12 * scale, 0.0, vector)",
     "1e-12 -> 1e-06"): "a tolerance, between rounding and a millionth of the vehicle's length",
    ("control/riccati", "x, u = 1 / np.sqrt(np.where(q > 0, q, 1.0)), 1 / np.sqrt(r)",
     "1.0 -> 1.01"): "the unit of what costs nothing",
    ("control/path_library", "lambda size: dubins((0.0, 0.0, 0.0), (3 * size, 3 * size, "
     "math.pi / 2), size)),", "2 -> 3"): "where a path of the list ends is any",
    ("vehicle/placement", "ASKEW = 0.1, 0.07", "0.1 -> 0.101"): "any attitude that is generic",
    ("vehicle/placement", "ASKEW = 0.1, 0.07", "0.07 -> 0.07070000000000001"):
        "any attitude that is generic",
    ("vehicle/placement", "turned = np.r_[np.zeros(6), np.linspace(-1.0, 0.9, self.model.nv - 6)]",
     "-1.0 -> 1.0"): "any angles of the joints",
    ("vehicle/placement", "turned = np.r_[np.zeros(6), np.linspace(-1.0, 0.9, self.model.nv - 6)]",
     "1.0 -> 1.01"): "any angles of the joints",
    ("vehicle/placement", "turned = np.r_[np.zeros(6), np.linspace(-1.0, 0.9, self.model.nv - 6)]",
     "0.9 -> 0.909"): "any angles of the joints",
    ("vehicle/reactions", "if np.abs(f - before).max() <= _SETTLED * np.abs(f).max():",
     "np.abs(f).max() -> np.abs(f).min()"): "only ends later",
    ("vehicle/placement", "if before <= CLOSED * np.linalg.norm([*q[:3], *forms.ravel()]):",
     "3 -> 4"): "a scale of a tolerance: a part of a unit quaternion beside a norm of 1 or more",
    ("vehicle/ground", "normal: Vector = (0.0, 0.0, 1.0)", "1.0 -> 1.01"):
        "normals are made unit below",
    ("vehicle/axles", "row = (other.straight - mimic.multiplier * one.straight) / 2",
     "(other.straight - mimic.multiplier * one.straight) / 2 -> "
     "(other.straight - mimic.multiplier * one.straight) * 2"): "any multiple of a row",
    ("vehicle/axles", "row = (other.straight - mimic.multiplier * one.straight) / 2", "2 -> 3"):
        "any multiple of a row",
    ("vehicle/placement", "LARGEST = 0.5", "0.5 -> 0.505"): "how far one step of a search may go",
    ("urdf/layout", "x_axis = (1.0, 0.0, 0.0)", "1.0 -> 1.01"): "axes are made unit below",
    ("vehicle/tyres", "rho = ca.sqrt(sum((part ** 2 for part in sigma.values()), "
     "ca.SX(NO_SLIP ** 2)))", "2 -> 3"): "any number that no slip sees",
    ("vehicle/symmetry", "held = all(_is_held(form, rate) for form, rate in zip(forms, rates))",
     "all((_is_held(form, rate) for form, rate in zip(forms, ra... -> "
     "any((_is_held(form, rate) for form, rate in zip(forms, ra..."):
        "at random configurations a component is held everywhere or nowhere",
    ("vehicle/bodies", "return [_LowestPoint(centre + radius * ca.DM(spoke), axle, 0.0, crown, "
     "steepest=LEANS)", "centre + radius * ca.DM(spoke) -> centre - radius * ca.DM(spoke)"):
        "of each spoke there is the opposite one",
    ("vehicle/bodies", "LEANS = 0.1", "0.1 -> 0.101"): "from which lean a rim has one point alone",
    ("vehicle/bodies", "CORNERS = 32", "32 -> 33"):
        "in how many directions the outermost points of a mesh are kept",
    ("vehicle/bodies", "sine = ca.sqrt(ca.fmax(ca.sumsqr(across), UPRIGHT ** 2))", "2 -> 3"):
        "acts where there is no lowest point",
    ("vehicle/clearance", "DIRECTIONS = 64", "64 -> 65"):
        "in how many directions the outermost points of a mesh are kept",
    ("simulation/integration/conservation", "if np.abs(third).max(initial=0.0) > CUBIC * (1 + "
     "np.abs(values).max(initial=0.0)):", "1 -> 2"): "a scale of a tolerance",
    ("analysis/ignorable", "rest = form - A.T @ np.linalg.lstsq(A.T, form, rcond=1e-10)[0]",
     "1e-10 -> 0.0001"): "a tolerance, between rounding and dependent rows",
    ("control/path", "if abs(s - before) <= CLOSE * self.length:", "s - before -> s + before"):
        "only ends later",
    ("control/collocation", "self.opti.set_initial(self.inner, np.array([np.interp(parts, "
     "np.arange(self.n + 1), column)", "self.opti.set_initial(self.inner, "
     "np.array([np.interp(par... -> pass"): "where a search begins",
    ("symbolic/simplify", "self._named += 1", "1 -> 2"): "any names that are not taken",
    ("symbolic/reciprocals", "SEVERAL = 3", "3 -> 4"):
        "from how many quotients a reciprocal pays: the test has the number from here",
    ("symbolic/linear_forms", "place: tuple[int, int] = (0, 0)",
     "0 -> 1"): "of a node that is no input: it is not read",
    ("control/twist_rule", "free = ways[int(np.sum(sizes > PARALLEL * sizes[0])):] / size",
     "0 -> 1"): "a scale of a tolerance",
    ("control/twist_rule", "starts = ca.logic_and(starts, both(*ca.vertsplit(side * before)) >= "
     "-ROUNDING)", "side * before -> side / before"): "of one sign",
    ("analysis/cone_programme", "scale = 1 / np.sqrt(hessian.diagonal())", "1 -> 2"):
        "a unit of the unknowns, which leaves the step as it is",
    ("symbolic/written", "SWAPPED = 40", "40 -> 41"): "up to how many terms a form is looked for",
    ("symbolic/written", "number *= _square_sines(field, top) * _square_sines(field, bottom)",
     "number *= _square_sines(field, top) * _square_sines(field... -> "
     "number /= _square_sines(field, top) * _square_sines(field..."): "signs are 1 and -1",
    ("symbolic/written", "number *= _square_sines(field, top) * _square_sines(field, bottom)",
     "_square_sines(field, top) * _square_sines(field, bottom) -> "
     "_square_sines(field, top) / _square_sines(field, bottom)"): "signs are 1 and -1",
    ("symbolic/written", "terms.append((product.number < 0, product.over, "
     "self._product(product, \"\", False)))", "0 -> 1"): "a whole number other than 0",
    ("symbolic/rational", "made[monomial[main]] = (made[monomial[main]] + value) % PRIME",
     "made[monomial[main]] + value -> made[monomial[main]] - value"):
        "what divides a polynomial divides its negative",
    ("symbolic/elimination", "choice = np.where(allowed & (sub > 0), cost - 1e-3 * relative, "
     "np.inf)", "0.001 -> 0.00101"): "any small number decides between equal costs",
    ("systems/written", "system, n = frame.constrained.system, frame.inverse.shape[0]", "0 -> 1"):
        "the matrix is square",
    ("mechanics/invariant_measure", "length = float(np.linalg.norm(way)) or 1.0", "1.0 -> 1.01"):
        "divides a way of no length",
    ("mechanics/invariant_measure", "spread[spread == 0] = 1.0", "1.0 -> 1.01"):
        "a scale of a tolerance, of coordinates that no sample moves",
    ("mechanics/selection", "level = 2 * np.asarray(priority) + changes", "2 -> 3"):
        "any number above one",
    ("mechanics/selection", "for _ in range(6):", "6 -> 7"): "one round more does as well",
    ("mechanics/samples", "_LATER = tuple(1.37 * 10.0 ** k for k in range(-3, 3))",
     "1.37 -> 1.3837000000000002"): "any times",
    ("mechanics/samples", "_LATER = tuple(1.37 * 10.0 ** k for k in range(-3, 3))",
     "10.0 -> 10.1"): "any times",
    ("mechanics/samples", "_LATER = tuple(1.37 * 10.0 ** k for k in range(-3, 3))",
     "3 -> 4"): "one time more",
    ("mechanics/invariance", "states, others = ([np.concatenate([q, v]) for _, q, v, _ in "
     "random_states(one, 8)]", "8 -> 9"): "how many states",
    ("mechanics/invariance", "system.v.numel()), theta)) for q in constrained.configurations[:8]])",
     "8 -> 9"): "how many places",
    ("mechanics/invariance", "return float(np.sqrt(height)) if height > 1e-12 * "
     "np.abs(found).max(initial=0.0) else 1.0", "1.0 -> 1.01"): "a scale of random speeds",
    ("mechanics/invariance", "return np.where(found > 100 * moved, found, np.inf)", "100 -> 101"):
        "a scale of a tolerance",
    ("mechanics/printing", "READABLE = 3000", "3000 -> 3001"): "how much a page holds",
    ("mechanics/lagrange_multipliers", "units = np.repeat([mass, 1 / mass] if mass > 0 else "
     "[1.0, 1.0], [nv, r]) ** 0.5", "1.0 -> 1.01"): "units where there is no inertia",
    ("mechanics/frame", "determinant = determinant * pivot",
     "determinant * pivot -> determinant / pivot"): "its sign alone is read",
    ("mechanics/brackets", "new, final = first, False", "False -> True"):
        "read where a level sets it, or where nothing is new, which is final as well",
    ("mechanics/brackets", "and (rank == generic[-1] or not pointwise))", "1 -> 2"):
        "the last two are equal there",
    ("mechanics/brackets", "self.values = np.zeros((len(self.points), algebroid.nv, 0))", "0 -> 1"):
        "a column of zeros spans nothing",
    ("mechanics/brackets", "self.basis = np.zeros((len(self.points) * algebroid.nv, 0))",
     "0 -> 1"): "a column of zeros spans nothing",
    ("mechanics/constraint_manifold", "value = self.at_points(chi).flat[0]", "0 -> 1"):
        "it is the same at all points",
    ("mechanics/base_space", "return q if np.abs(phi).max(initial=0.0) <= ZERO else "
     "constrained.configurations[0]", "0 -> 1"): "any configuration",
    ("mechanics/base_space", "anchor, *structure = onto_base(symmetry, coordinates, named, "
     "ca.SX(0, 1))", "0 -> 1"): "a speed on which nothing depends",
    ("mechanics/base_space", "return sizes / np.where(largest > 0, largest, 1.0)", "1.0 -> 1.01"):
        "divides zeros",
    ("mechanics/constraint_manifold", "def __init__(self, ambient: Ambient, count: int = 6):",
     "6 -> 7"): "how many points: one more does as well",
    ("mechanics/constraint_manifold",
     "size = np.where(np.isfinite(size) & (size > 0), size, 1.0)", "1.0 -> 1.01"):
        "a unit where there is no slope",
    ("mechanics/constraint_manifold",
     "matrices = unit_rows(matrices) if scale is None else matrices / (scale or 1.0)",
     "1.0 -> 1.01"): "divides where all terms are zero",
    ("mechanics/energy_momentum", "units = np.where(inertia > 0, inertia, 1.0) ** -0.5",
     "1.0 -> 1.01"): "any unit where there is no inertia: no sign depends on it",
    ("mechanics/energy_momentum", "return np.zeros((n, 0))", "0 -> 1"):
        "a direction of no length spans nothing",
    ("mechanics/herglotz", "moved = replace(moved, gibbs=ca.substitute(moved.gibbs, system.a[i], "
     "0))", "0 -> 1"): "S is linear in that acceleration: a constant is left",
    ("mechanics/herglotz", "names=(*d.names, action), priority=(*d.priority, 0),", "0 -> 1"):
        "no other row depends on it",
    ("mechanics/gauss_principle", "gibbs=ca.sumsqr(system.a - F) / 2, energy=energy,",
     "ca.sumsqr(system.a - F) / 2 -> ca.sumsqr(system.a - F) * 2"):
        "any multiple of S is least for the same motion",
    ("mechanics/gauss_principle", "gibbs=ca.sumsqr(system.a - F) / 2, energy=energy,", "2 -> 3"):
        "any multiple of S is least for the same motion",
    ("mechanics/equations", "n = matrix.shape[0]", "0 -> 1"): "the matrix is square",
    ("mechanics/frame", "relative, determinant = self.factors.pivots / self.pivot_scale, ca.SX(1)",
     "1 -> 2"): "its sign alone is read",
    ("mechanics/hamel", "w, w_rate = ca.SX.sym(\"w\", X.shape[0]), "
     "ca.SX.sym(\"w_rate\", X.shape[0])", "0 -> 1"): "the matrix is square",
    ("mechanics/invariant_measure", "LENGTH = 36.0", "36.0 -> 36.36"):
        "how long the way to an end is followed: by then it is left by rounding",
    ("mechanics/invariant_measure", "return ca.DM(np.median(at_samples(constrained, "
     "ca.densify(ca.diag(metric))), axis=0) ** -0.5)", "0.5 -> 0.505"): "a scale of speeds",
    ("mechanics/base_space", "outside = [[ca.SX(space.nv, 1) for _ in range(n)] for _ in range(n)]",
     "1 -> 2"): "what is not above the diagonal is not read",
    ("mechanics/nonholonomic_connection", "l = ca.substitute(lagrangian, system.v, "
     "ca.densify(X @ one[0] + Y @ one[1]))", "X @ one[0] + Y @ one[1] -> X @ one[0] - Y @ one[1]"):
        "both parts are orthogonal by the kinetic energy, which has no sign",
    ("mechanics/samples", "_NEAR = 0.1", "0.1 -> 0.101"): "any distance",
    ("mechanics/kept_equations", "return found.hexdigest()[:32]", "32 -> 33"): "how long a name is",
    ("mechanics/forms", "pulled = ca.substitute(theta[:1 + V.numel()], system.v, V)", "1 -> 2"):
        "a zero more, which is read as the zero behind it: theta_L has no part in dv",
    ("mechanics/constrained_hamiltonian",
     "theta: ca.SX = field(default_factory=lambda: ca.SX(0, 1))", "0 -> 1"):
        "an input that is zero",
    ("mechanics/constrained_hamiltonian", "return Ambient(ca.SX.sym(\"t\"), space.q, ca.SX(0, 1), "
     "self.theta, space.embedding(space.q),", "0 -> 1"): "an input that is zero",
    ("mechanics/constrained_hamiltonian",
     "reduced = row_reduce(chi, ca.SX(chi.shape[0], 1), samples, rank)", "1 -> 2"):
        "nothing but zeros, one for each row at least",
    ("mechanics/constrained_hamiltonian", "LARGEST = 20_000", "20000 -> 20001"):
        "how long a search goes on",
    ("mechanics/hamiltonisation", "base, Divergence(xi, unit, columns, terms, ca.SX(0, 1))), "
     "simple / (size or 1.0))", "1.0 -> 1.01"): "divides zero",
    ("mechanics/hamiltonisation", "base, Divergence(xi, unit, columns, terms, ca.SX(0, 1))), "
     "simple / (size or 1.0))", "0 -> 1"): "a bracket of no size",
    ("mechanics/symplectic_reduction", "V = V / np.where(V.any(axis=0), np.abs(V).max(axis=0), "
     "1.0)", "1.0 -> 1.01"): "divides zeros",
    ("mechanics/symplectic_reduction", "basis = U @ null_space(vertical.T @ U, 1.0)",
     "1.0 -> 1.01"): "a scale of a tolerance",
    ("mechanics/reconstruction", "rtol=rtol, atol=1e-2 * rtol, dense_output=True)",
     "0.01 -> 0.0101"): "a scale of a tolerance",
    ("mechanics/morphism", "if any((side != sides[0]).any() for side in sides):", "0 -> 1"):
        "all three are equal if all are equal to any one of them",
    ("mechanics/kept_equations", "WORTH_KEEPING = 500", "500 -> 501"):
        "how long derivations are that are kept",
    ("mechanics/algebroid", "q = q + 0", "q + 0 -> q - 0"): "a copy",
    ("mechanics/invariants", "held = ca.vertcat(ca.SX(0, 1), *ca.symvar(ca.veccat(*terms)))",
     "0 -> 1"): "an input that no output reads",
    ("mechanics/invariants", "if len(kept) == V.shape[0]:", "0 -> 1"):
        "only ends later: as many columns as there are rows span them all",
    ("urdf/text/slips", 'return token[0] == "<" and len(token) > 1 and token[1] not in "!?"',
     "1 -> 2"): "a tag has three characters at least",
    ("urdf/text/slips", "for at, stray in ((0, head), (end, tail)) if stray.strip()]", "0 -> 1"):
        "what is found there begins with a letter that ends no line",
    ("urdf/text/validate_joint", "meant = get_close_matches(kind.strip().lower(), _TYPES, 1, "
     "_ALIKE)", "1 -> 2"): "the best of them goes first",
    ("urdf/wheels/rollers", "_CELLS = 1 << 20", "1 -> 2"): "a key: any larger number",
    ("urdf/wheels/rollers", "_CELLS = 1 << 20", "20 -> 21"): "a key: any larger number",
    ("urdf/wheels/rollers", "outline = np.unique(cells @ (_CELLS, 1))", "1 -> 2"):
        "a key: the other number is larger by far",
    ("urdf/wheels/rollers", "seen.add(shape.mesh)", "seen.add(shape.mesh) -> pass"):
        "is looked into once more",
    ("urdf/mesh_files", "_DIGITS = 9", "9 -> 10"): "is looked for once more",
    ("urdf/mesh_files", "key = (path, *np.round(np.concatenate([placed.ravel(), X[:3, 3], axis]), "
     "_DIGITS))", "3 -> 4"): "a key: one more number, which is 1",
    ("urdf/mesh_files", "/ (_WELD * np.ptp(self.vertices, axis=0).max() or 1.0)).astype(np.int64)",
     "1.0 -> 1.01"): "divides zeros",
    ("urdf/mesh_files", "side = int(cells.max()) + 1", "1 -> 2"): "a key: any larger number",
    ("urdf/mesh_files", "same = np.unique(cells @ (side * side, side, 1), "
     "return_inverse=True)[1].ravel()", "1 -> 2"): "a key: 2 z differs from an odd side as well",
    ("urdf/mesh_files", "corners, count = same[self.faces], int(same.max()) + 1", "1 -> 2"):
        "a place that no triangle has",
    ("urdf/wheels/revolution", "for k in np.flatnonzero(stops - starts >= 2 * np.pi / _GAP):",
     "2 * np.pi / _GAP -> 2 * np.pi * _GAP"): "fewer points leave a larger gap all the same",
    ("urdf/wheels/revolution", "for _ in range(3):", "3 -> 4"):
        "how many fits: one more does as well",
    ("urdf/tyre", "near = difflib.get_close_matches(name, names, 1, 0.5)", "1 -> 2"):
        "the best of them goes first",
    ("urdf/wheels/unrolled", "lateral = X[:3, :3].T @ standing.axle * "
     "(np.sign(standing.axle[1]) or 1.0)", "X[:3, :3].T @ standing.axle * "
     "(np.sign(standing.axle[1]) ... -> X[:3, :3].T @ standing.axle / "
     "(np.sign(standing.axle[1]) ..."): "signs are 1 and -1",
    ("urdf/wheels/stance", "if all(abs(axle @ other) < 1 - PARALLEL ** 2 for other in axles):",
     "1 - PARALLEL ** 2 -> 1 + PARALLEL ** 2"): "each direction is tried once more",
    ("urdf/wheels/axle_lines", "size = float(np.linalg.norm(arms, axis=1).max()) or 1.0",
     "1.0 -> 1.01"): "divides zeros",
    ("urdf/wheels/axle_lines", "across /= np.linalg.norm(across) or 1.0", "1.0 -> 1.01"):
        "divides zeros",
    ("urdf/wheels/axle_lines", "return axle / (np.linalg.norm(axle) or 1.0)", "1.0 -> 1.01"):
        "divides zeros",
    ("urdf/straighten", "along /= np.linalg.norm(along) or 1.0", "1.0 -> 1.01"): "divides zeros",
    ("control/trailer_flatness", "for k in range(len(self.links) + 3)]", "3 -> 4"):
        "a derivative more than are used",
    ("control/trailer_flatness", "return np.linalg.lstsq(rows, wanted, rcond=1e-9)[0]",
     "1e-09 -> 0.001"): "a tolerance, between rounding and dependent rows",
    ("control/bicycle", "self.path = line(1.0) if path is None else path", "1.0 -> 1.01"):
        "a line is followed straight on beyond its end",
    ("control/balance", "point=to_triple(point, 6))", "6 -> 7"): "how many digits are kept",
    ("control/mpc", "def __init__(self, vehicle: Vehicle, path: Path, *, speed: float = 0.5, "
     "stages: int = 20,", "20 -> 21"): "into how many parts a horizon goes is a choice",
    ("control/unicycle", "if across[1] < -1e-9 or (abs(across[1]) <= 1e-9 and across[0] > 0):",
     "1e-09 -> 0.001"): "a tolerance, between rounding and the axles that loading straightens",
    ("control/unicycle", "yaw = float(np.arctan2(*_clean(along[::-1], 1.0)))", "1.0 -> 1.01"):
        "a scale of a tolerance",
    ("control/unicycle", "SAME = 1e-9",
     "1e-09 -> 0.001"): "a tolerance, between rounding and poses that lean",
    ("control/pure_pursuit", "slope = (dx * math.cos(heading) + dy * math.sin(heading)) / far "
     "if far else 1.0", "1.0 -> 1.01"): "a slope where there is none",
    ("control/pure_pursuit", "for _ in range(20):", "20 -> 21"):
        "how many rounds: one more does as well",
    ("control/pure_pursuit", "if high > s + 4 * lookahead:", "4 -> 5"):
        "how far the way ahead is searched",
    ("control/pure_pursuit", "low, high = high, high + lookahead / 4", "4 -> 5"):
        "how finely the way ahead is searched",
    ("control/pure_pursuit", "if abs(following - at) <= 1e-12 * lookahead:",
     "following - at -> following + at"): "only ends later",
    ("control/lqr", "guess = np.linalg.lstsq(point.E[rows], level @ straight - point.v[rows], "
     "rcond=1e-9)[0]", "1e-09 -> 0.001"): "where a search begins",
    ("control/lqr", "guess = np.linalg.lstsq(point.E[rows], level @ straight - point.v[rows], "
     "rcond=1e-9)[0]", "level @ straight - point.v[rows] -> "
     "level @ straight + point.v[rows]"): "where a search begins",
    ("control/path_library", "middle = np.linspace(before, before + length, 5)", "5 -> 6"):
        "between how many points of a smooth curve arc length is interpolated",
    ("control/teleoperation", "self.choose(name)", "self.choose(name) -> pass"):
        "warms up what is built at the first use all the same",
    ("control/teleoperation", "why_not(self.vehicle, contact_load(self.vehicle, state.t, state.q, "
     "state.v, state.u),", "why_not(self.vehicle, contact_load(self.vehicle, state.t,... -> pass"):
        "warms up what is built at the first use all the same",
    ("control/teleoperation",
     "if self.timeout and t - self._heard > self.timeout + 0.5 * self.simulator.dt:",
     "0.5 -> 0.505"): "a part of a step, between none and all",
    ("control/twist_limits", "SLOW = 1e-3", "0.001 -> 0.00101"): "rates grow with the speed",
    ("urdf/elements", 'return str(element.tag).rsplit("}", 1)[-1]', "1 -> 2"):
        "what is behind the last one is the same",
    ("urdf/wheels/rims", "points = np.zeros((1, 3))", "1 -> 2"): "the same point once more",
    ("urdf/mesh_scene", "_JOIN, _TRIANGULATE, _SORT = 0x2, 0x8, 0x8000", "2 -> 3"):
        "one more of Assimp's steps adds tangents, which nobody reads",
    ("urdf/mesh_scene", "_JOIN, _TRIANGULATE, _SORT = 0x2, 0x8, 0x8000", "8 -> 9"):
        "one more of Assimp's steps adds tangents, which nobody reads",
    ("urdf/mesh_scene", "_JOIN, _TRIANGULATE, _SORT = 0x2, 0x8, 0x8000", "32768 -> 32769"):
        "one more of Assimp's steps adds tangents, which nobody reads",
    ("urdf/mesh_scene", 'blob = assimp.aiExportSceneToBlob(scene, b"glb2", 0)', "0 -> 1"):
        "one more of Assimp's steps adds tangents, which nobody reads",
    ("urdf/mesh_scene", 'pending = [(index, np.eye(4), True) for index in scene.get("nodes", ())]',
     "4 -> 5"): "the placement of a root is not applied",
    ("urdf/wheels/revolution", "centre = np.zeros(2)", "2 -> 3"): "the first fit replaces it",
    ("urdf/wheels/heights", "joint = max(path, key=lambda joint: "
     "float(np.linalg.norm(joint.X_PC[:3, 3])))", "3 -> 4"): "adds 1 to each square",
    ("urdf/mesh_files", 'if path.suffix.lower() == ".stl" and (corners := _read_stl(path)) is not '
     'None:', "path.suffix.lower() == '.stl' -> path.suffix.lower() != '.stl'"):
        "Assimp reads the same, only slower",
    ("urdf/wheels/rims", "placed = points @ shape.X_LS[:3, :3].T + shape.centre",
     "points @ shape.X_LS[:3, :3].T + shape.centre -> points @ shape.X_LS[:3, :3].T - "
     "shape.centre"): "a primitive is alike on both sides of its centre",
    ("control/path", "some = np.unique(np.r_[0:len(points):STRIDE, len(points) - 1])", "1 -> 2"):
        "where the search of the last points begins",
    ("control/path", "if np.max(np.abs(s - before)) <= SAME * self.length:",
     "s - before -> s + before"): "only ends later",
    ("control/path", "if np.max(np.abs(s - before)) <= SAME * self.length:",
     "SAME * self.length -> SAME / self.length"): "a scale of a tolerance",
    ("control/path", "if np.max(np.abs(s - before), initial=0.0) <= CLOSE * self.length:",
     "s - before -> s + before"): "only ends later",
    ("control/path", "if np.max(np.abs(s - before), initial=0.0) <= CLOSE * self.length:",
     "CLOSE * self.length -> CLOSE / self.length"): "a scale of a tolerance",
    ("control/path", "if abs(s - before) <= CLOSE * self.length:",
     "CLOSE * self.length -> CLOSE / self.length"): "a scale of a tolerance",
    ("control/path", "return s, np.stack([x, y], axis=-1), np.broadcast_to(heading, s.shape)",
     "-1 -> 1"): "of points in a row the second axis is the last",
    ("control/path_choice", "(speed or 0.0) ** 2 / SIDEWAYS)",
     "(speed or 0.0) ** 2 / SIDEWAYS -> (speed or 0.0) ** 2 * SIDEWAYS"): "divides by 1",
    ("control/path_reference", "self._point = CubicHermiteSpline(self._s, np.stack([x, y], "
     "axis=-1),", "-1 -> 1"): "of points in a row the second axis is the last",
    ("control/path_reference", "np.stack([np.cos(heading), np.sin(heading)], axis=-1))", "-1 -> 1"):
        "of points in a row the second axis is the last",
    ("control/path_reference", "points, looks = np.array([p for p, _ in found]), "
     "np.array([h for _, h in found]) + turn",
     "np.array([h for _, h in found]) + turn -> np.array([h for _, h in found]) - turn"):
        "half a turn either way",
    ("control/trailer_flatness", "times = t + self.period * np.array([-1.0, 0.0, 1.0]).reshape(3, "
     "*[1] * t.ndim)", "t + self.period * np.array([-1.0, 0.0, 1.0]).reshape(3, *... -> t - "
     "self.period * np.array([-1.0, 0.0, 1.0]).reshape(3, *..."):
        "the moment before and the one after count alike",
    ("control/trailer_backing", "self.drive, self.hitches = TwistDrive(vehicle, (0, 0, 0)), chain",
     "0 -> 1"): "each call says which twist it follows",
    ("control/path", "SAME = 1e-10", "1e-10 -> 0.0001"):
        "searches that begin so near each other end at the same point",
    ("control/riccati", "pace = float(np.linalg.norm(np.hstack([A, B]))) or 1.0", "1.0 -> 1.01"):
        "divides zeros",
    ("control/trailer_flatness", "parts = (1 + nodes) / 2", "1 + nodes -> 1 - nodes"):
        "Gauss's points lie alike before and after the middle",
    ("control/tracking_lqr", "x[3:7] *= -1", "x[3:7] *= -1 -> x[3:7] /= -1"): "divides by -1",
    ("control/path_library", "speeds = np.linalg.norm(derivatives((u[:-1] + half)[:, None] + "
     "half[:, None] * nodes)[1],", "(u[:-1] + half)[:, None] + half[:, None] * nodes -> "
     "(u[:-1] + half)[:, None] - half[:, None] * nodes"):
        "Gauss's points lie alike before and after the middle",
    ("urdf/wheels/stance", "if all(abs(axle @ other) < 1 - PARALLEL ** 2 for other in axles):",
     "1 -> 2"): "each direction is tried once more",
    ("urdf/wheels/stance", "if all(abs(axle @ other) < 1 - PARALLEL ** 2 for other in axles):",
     "2 -> 3"): "directions that nearly are one are tried once more",
    ("urdf/wheels/opposed", "out = {bool(layout.axis_R(layout.joints[w.name]) @ "
     "(centre_R(layout, w) - middle) > 0)",
     "layout.axis_R(layout.joints[w.name]) @ (centre_R(layout, ... -> "
     "layout.axis_R(layout.joints[w.name]) @ (centre_R(layout, ..."):
        "whether all point out, or all point in",
    ("vehicle/joint_ranges", "twist = about_wheel + 10 ** rng.uniform(*NEAR) * "
     "np.array([cos(angle), sin(angle), 0])",
     "about_wheel + 10 ** rng.uniform(*NEAR) * np.array([cos(an... -> "
     "about_wheel - 10 ** rng.uniform(*NEAR) * np.array([cos(an..."):
        "the opposite point on a circle on which each is as likely",
    ("control/path_library", "speed = np.linalg.norm(first, axis=-1)", "-1 -> 1"):
        "of points in a row the second axis is the last",
    ("control/path_library", "h, slope, bend = np.diff(s), 1 / speed, -np.sum(first * second, "
     "axis=-1) / speed ** 4", "-1 -> 1"): "of points in a row the second axis is the last",
    ("control/pure_pursuit", "if abs(following - at) <= 1e-12 * lookahead:", "1e-12 -> 1e-06"):
        "a tolerance: Newton's method doubles the digits",
    ("control/pure_pursuit", "if abs(following - at) <= 1e-12 * lookahead:",
     "1e-12 * lookahead -> 1e-12 / lookahead"): "a scale of a tolerance",
    ("control/path_regulator", "found = np.linalg.lstsq(np.hstack([self.A[:, free], self.B]), "
     "-self.bend, rcond=1e-12)[0]", "1e-12 -> 1e-06"):
        "a tolerance, between rounding and dependent columns",
    ("analysis/residuals", "SAMPLES = 500", "500 -> 501"):
        "a state more or less of those that are spread over a run",
    ("control/collocation", "def solve(self, iterations: int = 500, tolerance: float = 1e-8, "
     "quiet: bool = True) -> Plan:", "500 -> 501"): "how many rounds a search may take",
    ("control/collocation", "self.opti.solver(\"ipopt\", {\"print_time\": not quiet, "
     "\"expand\": True},", "True -> False"): "how fast the same functions are evaluated",
}
