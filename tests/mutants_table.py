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
    ("systems/", r'"(q|xi)": ', r"^(?!1(\.0)? )[\d.]+ -> ", "a start is any"),
    ("systems/", r"Check\(", r"^1e-\d+ -> ", "what holds within a tolerance holds in a wider one"),
    ("", r"rng\.(uniform|normal)\(", r"^\d+ -> ", "a sample is any"),
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
    ("urdf/text/macros", "_LARGEST = 1 << 20      # bytes of a xacro file that is searched for "
     "calls", "20 -> 21"): "how much is searched for what a message proposes",
    ("simulation/contact/impulses", "COMPLIANCE, NEARER = 1e-6, 2", "2 -> 3"):
        "one round more of six digits, where two have all",
    ("simulation/runs/driven_twist", "part = np.where(judged, np.linalg.norm(error, axis=1) / "
     "np.where(judged, size, 1.0), 0.0)", "1.0 -> 1.01"): "divides what is not used",
    ("simulation/integration/integrators", "ca.mmin(guards) if guards.numel() else 1)", "1 -> 2"):
        "no guard: any positive number",
    ("compile/gpu", "check(driver.cuLaunchKernel(kernel, -(-threads // BLOCK), 1, 1, BLOCK, 1, 1, "
     "0, 0,", "1 -> 2"): "needs a GPU: the tests launch a loop in its place",
    ("analysis/demand", "if np.abs(left).max(initial=0.0) > CLOSED * "
     "np.abs(needed).max(initial=1e-300):", "1e-300 -> 1e-294"): "no force is so small",
    ("compile/buffered", "return default_cache().load(code, compiler, code.count(\"\\n\") // 2, "
     "build)", "2 -> 3"): "how hard the compiler tries; its code does the same",
    ("control/path_library", "PIECES, DOUBLINGS = 64, 7", "64 -> 65"):
        "pieces double until they are even",
    ("control/path_library", "PIECES, DOUBLINGS = 64, 7", "7 -> 8"):
        "pieces double until they are even",
    ("simulation/bounds", "NEVER = 1e-300      # a margin shrinks no slower", "1e-300 -> 1e-294"):
        "no margin shrinks so slowly",
    ("symbolic/rational", "rest = monomial[:i - 1] + (0, 0) + monomial[i + 1:]", "0 -> 1"):
        "a key: any two numbers stand for the sine and the cosine that it leaves out",
    ("compile/lanes", "steps: int, hold: int = 1, every: int = 1, record: np.ndarray | None = "
     "None,", "1 -> 2"): "counts where u has periods or where there is a record: who has says both",
}
