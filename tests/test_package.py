"""The package as a thing to install: its manifest, its version, its ranks of imports, what an
import costs."""

import ast
import contextlib
import importlib
import os
import re
import subprocess
import sys
import types
from configparser import ConfigParser
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

import nhmech

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "nhmech"

# A module imports only lower ranks, or siblings of its own package. CONTRIBUTING.md has the same
# table in words.
RANK = {
    "ctrl_c": 0,
    "errors": 0,
    "lazy": 0,
    "once": 0,
    "version": 0,
    "paths": 1,
    "private_folder": 1,
    "checks": 1,
    "attitude": 1,
    "symbolic": 1,
    "urdf": 2,
    "mechanics": 2,
    "systems": 3,
    "vehicle": 3,
    "compile": 4,
    "simulation": 5,
    "analysis": 6,
    "odometry": 7,
    "control": 7,
    "sweeps": 7,
    "view": 8,
    "logs": 8,
    "cli": 10,
    "ros": 9,
    "gym": 9,
    "autodiff": 9,
    "": 11,
    "__main__": 11,  # the package's own __init__, which is lazy, and `python -m nhmech`
}
RIM_ONLY = {"rclpy", "rospy", "launch", "gymnasium", "stable_baselines3", "torch", "jax"}
NOT_IN_MECHANICS = {"pinocchio", "meshcat", "lxml", "xacro", "click", "rich"}


@cache
def modules():
    """Dotted name -> path, of every module of the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def parsed(path):
    return ast.parse(path.read_text(), str(path))


@cache
def imports(name):
    """(dotted name, line) of all that a module imports, at its top, inside a function or for type
    checkers only, and of what a lazy package imports by its stub."""
    path = modules()[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = []
    files = [file for file in (path, path.with_suffix(".pyi")) if file.is_file()]
    for node in (node for file in files for node in ast.walk(parsed(file))):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.append((inner if inner in modules() else base, node.lineno))
    return found


def own(dotted):
    return dotted == "nhmech" or dotted.startswith("nhmech.")


def area(dotted):
    """nhmech.urdf.wheel -> vehicle; nhmech -> ''."""
    return dotted.partition(".")[2].partition(".")[0]


@pytest.mark.parametrize("name", modules())
def test_a_module_imports_only_lower_ranks(name):
    assert area(name) in RANK, (
        f"{name}: give {area(name)!r} a rank in this test and in CONTRIBUTING.md"
    )
    for target, line in imports(name):
        if not own(target) or (area(target) == area(name) and area(name)):
            continue
        assert area(target) in RANK, f"{name}:{line} imports {target}, which has no rank"
        assert RANK[area(target)] < RANK[area(name)], (
            f"{modules()[name]}:{line}: rank {RANK[area(name)]} ({area(name)}) imports {target} "
            f"of rank {RANK[area(target)]}"
        )


def test_there_is_no_import_cycle():
    """Imports for type checkers only included."""
    graph = {
        name: sorted({target for target, _ in imports(name)
                      if target in modules() and target != name}) for name in modules()
    }
    done = set()

    def visit(name, trail):
        assert name not in trail, "import cycle: " + " -> ".join([*trail[trail.index(name):], name])
        if name not in done:
            for target in graph[name]:
                visit(target, [*trail, name])
            done.add(name)

    for name in graph:
        visit(name, [])


# (module, attribute) -> why; everything else with an underscore is its owner's alone
REACHED = {
    ("nhmech.urdf.text.fault", "_Element"): "lxml has no other name for the type of its elements",
    ("nhmech.compile.status", "_value_"): "so an enumeration's member is given its value",
}


def functions(tree):
    return [node for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_nobody_reaches_into_another_object():
    """Names with an underscore belong to the object itself: `self._x`, never `other._x`."""
    found = {}
    for name, path in modules().items():
        for node in ast.walk(parsed(path)):
            if (isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr)
                    and ast.unparse(node.value) not in ("self", "cls")):
                found[name, node.attr] = f"{path}:{node.lineno}: {ast.unparse(node)}"
    assert not [where for key, where in found.items() if key not in REACHED]
    assert REACHED.keys() <= found.keys(), "what is no longer reached leaves the table"


LONGEST = 90        # lines of a function without its docstring: an example that is written out


def test_no_function_is_long():
    for path in modules().values():
        for node in functions(parsed(path)):
            told = node.body[0] if ast.get_docstring(node) else None
            inside = 0 if told is None else told.end_lineno - told.lineno + 1
            length = node.end_lineno - node.lineno + 1 - inside
            assert length <= LONGEST, f"{path}:{node.lineno}: {node.name} has {length} lines"


def test_outside_packages_stay_where_they_belong():
    for name in modules():
        for target, line in imports(name):
            top = target.partition(".")[0]
            if top in RIM_ONLY:
                assert RANK[area(name)] >= 9, (
                    f"{name}:{line} imports {top}; only ros/, gym/ and autodiff/ do"
                )
            if area(name) in ("mechanics", "systems"):
                assert top not in NOT_IN_MECHANICS, (
                    f"{name}:{line} imports {top}; mechanics knows no robot description"
                )


def test_every_dependency_is_declared_and_explained():
    """What the package imports is what setup.cfg asks for, and CONTRIBUTING.md says why."""
    distribution = {"pinocchio": "pin", "coal": "pin", "cuda": "cuda-bindings",
                    "umsgpack": "u-msgpack-python", "zmq": "pyzmq", "PIL": "pillow",
                    "foxglove": "foxglove-sdk"}
    used = {target.partition(".")[0] for name in modules()
            for target, _ in imports(name)}
    used = {distribution.get(top, top) for top in used
            - set(sys.stdlib_module_names) - {"nhmech"} - RIM_ONLY}
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    declared = set(re.findall(r"^[\w-]+", config["options"]["install_requires"], re.M))
    optional = set(re.findall(r"^[\w-]+", "\n".join(config["options.extras_require"].values()),
                              re.M))
    assert used <= declared | optional, f"not in setup.cfg: {sorted(used - declared - optional)}"
    unseen = {"scipy", "meshcat"}  # integrators by name; the page's JavaScript
    assert declared <= used | unseen, f"nothing imports {sorted(declared - used)}"
    explained = set(
        re.findall(r"`([\w-]+)`",
                   (ROOT / "CONTRIBUTING.md").read_text().partition("## Dependencies")[2])
    )
    unexplained = sorted((declared | optional) - explained)
    assert not unexplained, f"CONTRIBUTING.md does not say why: {unexplained}"


@pytest.mark.parametrize("statement",
                         ["import nhmech", "import nhmech.cli", "from nhmech import ModelError",
                          "from nhmech import analysis, control, logs, mechanics, systems, view"])
def test_a_bare_import_costs_nothing(statement):
    heavy = ["pinocchio", "meshcat", "scipy.optimize", "matplotlib", "casadi", "numpy"]
    code = f"{statement}\nimport sys\nprint([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
                          check=True)
    assert done.stdout.strip() == "[]"


def test_a_drawn_run_needs_no_scipy(tmp_path):
    """Its import takes longer than the drawing; only solvers, meshes and splines need it."""
    run = tmp_path / "run.npz"
    code = f"""if True:
        import sys, nhmech
        from nhmech.view import plots
        vehicle = nhmech.load(nhmech.urdf_path("differential_drive"))
        nhmech.Simulator(vehicle).run(0.01).save({str(run)!r})
        trajectory = nhmech.Trajectory.load({str(run)!r})
        plots.write(plots.run(trajectory.simulated.vehicle, trajectory)[0], {str(run)!r} + ".pdf")
        print([name for name in sys.modules if name.startswith("scipy")])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
                          check=True)
    assert done.stdout.strip() == "[]"


PACKAGES = [importlib.import_module(name) for name, path in modules().items()
            if path.name == "__init__.py" and path.with_suffix(".pyi").is_file()]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_a_package_shows_its_public_names_and_no_others(package):
    assert dir(package) == sorted(set(package.__all__))
    for name in package.__all__:
        value = getattr(package, name)
        if isinstance(value, (type, types.FunctionType)):
            assert value.__module__ == package.homes[name]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_a_stub_exports_what_it_imports(package):
    path = Path(package.__file__).with_suffix(".pyi")
    lines = ast.parse(path.read_text()).body
    assert all(isinstance(line, ast.ImportFrom) and line.level for line in lines)
    names = [alias for line in lines for alias in line.names]
    assert all(alias.asname == alias.name for alias in names), "`X as X` exports X"
    assert sorted(alias.name for alias in names) == dir(package), "each once"


@pytest.mark.parametrize("name, message", [
    ("Simulater", r"'nhmech' has no attribute 'Simulater'; did you mean Simulator\?"),
    ("nothing_like_it", r"it has .*, urdf_path"),
])
def test_an_unknown_name_is_an_attribute_error(name, message):
    with pytest.raises(AttributeError, match=message):
        getattr(nhmech, name)


def test_a_name_stands_for_the_function_also_where_a_module_has_it():
    module = importlib.import_module("nhmech.mechanics.hamel")
    assert nhmech.mechanics.hamel is module.hamel


def test_type_checkers_may_read_the_installed_package():
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert (PACKAGE / "py.typed").is_file()
    assert "py.typed" in config["options.package_data"]["nhmech"].split()
    assert "*.pyi" in config["options.package_data"]["*"].split()


def test_package_xml_is_valid():
    """An invalid one makes colcon build a plain Python package without a word."""
    catkin = pytest.importorskip("catkin_pkg.package")
    notes = []
    package = catkin.parse_package(str(ROOT / "package.xml"), warnings=notes)
    package.validate(warnings=notes)
    assert notes == []
    assert package.name == "nhmech"
    assert package.get_build_type() == "ament_python"


# those of ROS packages are their names; the others stand in rosdistro's rosdep/python.yaml
ROSDEP_KEYS = {
    "python3-catkin-pkg-modules", "python3-click", "python3-lxml", "python3-numpy", "python3-pil",
    "python3-pytest", "python3-rich", "python3-scipy", "python3-sympy", "python3-tornado",
    "python3-zmq",
    "casadi-pip",
    "coal", "diagnostic_msgs", "geometry_msgs", "launch", "launch_ros", "nav_msgs", "pinocchio",
    "rcl_interfaces", "rclpy", "robot_state_publisher", "rosgraph_msgs", "rviz2", "sensor_msgs",
    "std_msgs", "std_srvs", "tf2_msgs", "xacro"}


def test_every_key_of_the_manifest_is_known():
    catkin = pytest.importorskip("catkin_pkg.package")
    package = catkin.parse_package(str(ROOT / "package.xml"))
    keys = {one.name for one in (*package.exec_depends, *package.test_depends)}
    assert keys == ROSDEP_KEYS


def test_the_manifest_names_the_messages_that_are_used():
    from nhmech.logs import messages

    used = {value.partition("/")[0] for name, value in vars(messages).items()
            if name.isupper() and isinstance(value, str) and "/msg/" in value}
    assert used - {"builtin_interfaces"} <= ROSDEP_KEYS


def test_one_version():
    catkin = pytest.importorskip("catkin_pkg.package")
    version = nhmech.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert catkin.parse_package(str(ROOT / "package.xml")).version == version
    assert "version = attr: nhmech.version.__version__" in (ROOT / "setup.cfg").read_text()
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M).group(1) == version
    with contextlib.suppress(metadata.PackageNotFoundError):      # run from the source tree
        assert metadata.version("nhmech") == version


def test_what_is_installed_beside_the_package(monkeypatch):
    told = {}
    monkeypatch.setitem(sys.modules, "setuptools",
                        types.SimpleNamespace(setup=lambda **words: told.update(words)))
    exec(compile((ROOT / "setup.py").read_text(), "setup.py", "exec"),
         {"__file__": str(ROOT / "setup.py")})
    assert told["python_requires"] == ">=3.10"
    installed = {f"{target}/{Path(file).name}"
                 for target, files in told["data_files"] for file in files}
    assert "share/ament_index/resource_index/packages/nhmech" in installed
    assert {"share/nhmech/package.xml", "share/nhmech/launch/simulate.launch.py"} <= installed
    folders = ("urdf", "launch", "config", "rviz")
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            assert f"share/nhmech/{path.relative_to(ROOT).as_posix()}" in installed


def test_colcon_finds_tests_to_run():
    """`colcon test` runs pytest only where the extra `test` names it."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert "pytest" in config["options.extras_require"]["test"]
    options = config["options"]
    assert "python_requires" not in options, (
        "colcon cannot read what setuptools makes of it; it is in setup.py"
    )
    assert (ROOT / "resource" / "nhmech").is_file()


def test_ci_script():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", str(script)], check=True)
    assert re.search(r"^make test$", script.read_text(), re.M)


def blocks(file, *languages):
    """Code blocks of a Markdown file in the given languages."""
    return [code for language,
            code in re.findall(r"^```(\w*)\n(.*?)^```$", file.read_text(), re.M | re.S)
            if language in languages]


def commands_in(file):
    """Every line `nhmech ...` in the code blocks of a Markdown file."""
    lines = "\n".join(blocks(file, "sh")).splitlines()
    return [line.split("#")[0].strip() for line in lines if line.startswith("nhmech ")]


@pytest.mark.parametrize("line", commands_in(ROOT / "README.md"))
def test_documented_commands_parse(line, tmp_path, monkeypatch):
    import shlex

    from nhmech.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_controllers.py").write_text("def circle(t, state): ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    _, name, *words = shlex.split(line)
    command = main.get_command(None, name)
    assert command is not None, f"no command {name!r}"
    command.make_context(name, words)


def test_readme_is_about_what_exists():
    text = (ROOT / "README.md").read_text()
    for target in re.findall(r"\]\((?!https?:|#)([^)]+)\)", text):
        assert (ROOT / target).exists(), f"README.md links to {target}, which is not there"
    for target in re.findall(r"(?:`|^)make (\w+)", text, re.M):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(),
                         re.M), f"no `make {target}`"


def shown_to_users():
    """Files with Python for users to copy."""
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "NOTATION.md"))
    yield from PACKAGE.rglob("README.md")
    for folder, kinds in (("docs", ["md", "rst"]), ("examples", ["py", "ipynb"])):
        for kind in kinds:
            yield from (ROOT / folder).rglob(f"*.{kind}")


@pytest.mark.parametrize("path", list(shown_to_users()),
                         ids=lambda path: str(path.relative_to(ROOT)))
def test_no_deep_import(path):
    """What a user needs, a package exports: `from nhmech.control import X`."""
    deep = re.findall(r"(?:from|import) (nhmech\.\w+\.[\w.]+)", path.read_text())
    assert not deep
    public = {package.__name__: package.__all__ for package in PACKAGES}
    for package, names in re.findall(r"from (nhmech(?:\.\w+)?) import ([\w, ]+|\([\w,\s]+\))",
                                     path.read_text()):
        unknown = set(re.findall(r"\w+", names)) - set(public.get(package, ()))
        assert package == "nhmech.gym" or not unknown, f"{package} does not export {unknown}"


def test_readme_python_runs(monkeypatch, tmp_path):
    """Each block as it stands there, in an empty folder: a page and a run are written, and read
    back."""
    monkeypatch.chdir(tmp_path)
    for code in blocks(ROOT / "README.md", "python"):
        names = {}
        exec(compile(code, "README.md", "exec"), names)
        if "circle" in names:
            nhmech.Simulator(nhmech.load(nhmech.urdf_path("differential_drive")),
                             names["circle"]).run(0.1)
        if "again" in names:
            assert names["again"].t[-1] == names["run"].t[-1] == pytest.approx(2.0)
    assert (tmp_path / "run.html").stat().st_size > 100_000 and (tmp_path / "run.npz").is_file()


def test_python_dash_m():
    done = subprocess.run([sys.executable, "-m", "nhmech", "--version"], capture_output=True,
                          text=True, cwd=ROOT, check=True)
    assert done.stdout.strip().endswith(nhmech.__version__)
    assert importlib.import_module("nhmech.cli").main.name == "main"
