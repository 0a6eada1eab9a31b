"""CasADi's C before it is compiled: iterations become loops, long functions are cut in pieces."""

import ctypes
import re
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from support import shipped

from nhmech import Simulator
from nhmech.compile import loop as loops, pieces
from nhmech.compile.cache import default_cache
from nhmech.compile.compiled_function import Source, workspace
from nhmech.compile.compiler import LARGE, find_compiler
from nhmech.compile.loop_bounds import HAS_MOVED, has_moved_words
from nhmech.compile.pieces import in_pieces
from nhmech.compile.repeated import repeated, with_loops

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def c_of(*functions: ca.Function) -> str:
    generator = ca.CodeGenerator("code.c")
    for function in functions:
        generator.add(function)
    return generator.dump()


def compiled(code: str, name: str) -> ca.Function:
    library = default_cache().load(code, find_compiler(), LARGE + 1)      # fast to compile
    return ca.external(name, str(library.path))


def root(times: int, tolerance: float) -> ca.Function:
    """(z, a) -> z, a number that is 0 in the middle of it, and whether z is still moving: Heron's
    steps towards the square root of a."""
    y, a = ca.MX.sym("y", 3), ca.MX.sym("a", 2, 2)
    z = (y[0] + a[1, 0] / y[0]) / 2
    once = ca.Function("heron", [y, a], [ca.vertcat(z, y[1] + 1, ca.fabs(z - y[0]) > tolerance)])
    start = ca.MX.sym("start")
    return ca.Function("root", [start, a], [repeated(once, times)(ca.vertcat(start, -2, 1), a)])


@pytest.mark.parametrize("times, tolerance", [(20, 1e-3), (20, 0.0), (5, 0.0), (5, -1.0)])
def test_an_iteration_is_a_loop_in_c(times, tolerance):
    """It ends where the graph's calls end, by itself or after so many times; a second one begins
    anew."""
    graph = root(times, tolerance)
    code = with_loops(c_of(graph))
    assert "unrolled" not in code and len(re.findall(r"\bfor \(i = 0; i < \d+ &&", code)) == 1
    in_c = compiled(code, "root")
    for start in (1.0, 30.0, 1.0):
        a = np.array([[0.0, 0.0], [2.0, 0.0]])
        assert (in_c(start, a).full() == graph(start, a).full()).all()
    z, count, is_moving = in_c(30.0, a).full().ravel()
    assert is_moving == (times == 5) and (count == 3 if times == 5 else 3 < count < 18)
    assert (abs(z - 2 ** 0.5) < 1e-6) == (times == 20)


def long_function(name: str, seed: int) -> ca.Function:
    """Of 700 products and sums of what went before, each fifth of which is a result."""
    random = np.random.default_rng(seed)
    x = ca.SX.sym("x", 4)
    terms = ca.vertsplit(x)
    for _ in range(700):
        i, j, k = random.integers(max(0, len(terms) - 40), len(terms), 3)
        terms.append(terms[i] * terms[j] * random.normal() + ca.sin(terms[k]))
    return ca.Function(name, [x, ca.SX.sym("unused", 0)],
                       [ca.vertcat(*terms[4::5]), ca.vertcat(*terms[5::50])])


def test_a_workspace_has_room_for_each_of_some_functions():
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y", 3)
    small, large = ca.Function("small", [x], [x]), ca.Function("large", [x, y], [
        ca.sin(x * y[0]) + ca.cos(y), x, y])
    for functions in ((small, large), (large, small)):
        assert workspace(*functions) == workspace(large)
    assert workspace(large) == {"sz_arg": large.sz_arg(), "sz_res": large.sz_res(),
                                "sz_iw": large.sz_iw(), "sz_w": large.sz_w()}
    assert workspace(small)["sz_w"] < workspace(large)["sz_w"]


def test_a_long_function_in_pieces_computes_the_same():
    """To the last bit."""
    function = long_function("lengthy", 0)
    whole = c_of(function, long_function("other", 1))
    cut = in_pieces(whole, "other")
    lengths = [len(body.splitlines()) for body in re.findall(
        r"^static __attribute__\(\(noinline\)\) void.*?^}$", cut, re.MULTILINE | re.DOTALL)]
    assert len(lengths) > 3 and max(lengths) < 1.2 * pieces.LONG
    x = np.random.default_rng(2).uniform(-1, 1, 4)
    for name in ("lengthy", "other"):
        plain, pieced = (compiled(code, name)(x, []) for code in (whole, cut))
        for one, other in zip(plain, pieced):
            assert np.isfinite(one.full()).all() and (one.full() == other.full()).all()


def test_what_a_whole_function_calls_stays_whole():
    inner = long_function("inner", 3)
    x = ca.MX.sym("x", 4)
    outer = ca.Function("outer", [x], [2 * inner(x, ca.MX(0, 1))[0]])
    code = c_of(outer)
    assert in_pieces(code, "outer") == code
    assert in_pieces(c_of(outer, long_function("other", 1)), "other").count("noinline") > 3


# -- when a loop looks ahead -----------------------------------------------------------------------
NCONF, NX = 4, 7


def has_moved(before: list[float], after: list[float]) -> bool:
    """Of normal forces that the second and the fourth position and a speed affect."""
    t, x, u = ca.SX.sym("t"), ca.SX.sym("x", NX), ca.SX.sym("u")
    normals = ca.Function("normals", [t, x, u], [ca.vertcat(ca.sin(x[3]) * x[5], x[1] * u)])
    words = has_moved_words(normals, NCONF)
    assert words["felt"] == "1, 3, -1" and has_moved_words(None, NCONF)["felt"] == "-1"
    code = "#include <math.h>\n" + HAS_MOVED.format(nq=6, na=2, nx=NX, **words) + (
        "int moved(const double* from, const double* to) { return nhmech_has_moved(from, to); }\n")
    call = default_cache().load(code, find_compiler(), 1).function("moved")
    return bool(call(*((ctypes.c_double * NX)(*x) for x in (before, after))))


STILL = [1.0, 2.0, 3.0, 4.0, 10.0, -2.0, 1e-9]


@pytest.mark.parametrize("j, change, moved", [
    # a tenth of a radian of what is felt
    (1, 0.099, False), (1, 0.1005, True), (3, -0.1005, True), (3, -0.099, False),
    (0, 5.0, False), (2, -5.0, False),
    # a speed by half of the larger of its values
    (4, -4.99, False), (4, -5.02, True), (4, 9.9, False), (4, 10.1, True),
    (5, 0.99, False), (5, 1.01, True), (5, -2.01, True),
    # unless it is below a millionth of the sum of all
    (6, 1.1e-5, False), (6, 3e-5, True)])
def test_forces_are_evaluated_again_after_what_changes_them(j, change, moved):
    after = STILL.copy()
    after[j] += change
    assert has_moved(STILL, after) is moved


def test_code_that_is_nowhere_is_sought_once(monkeypatch):
    """And not again at each step, where there is no compiler to begin with either."""
    asked = []
    monkeypatch.setattr(loops, "library_of", lambda source, build: asked.append(build))
    monkeypatch.setattr(loops, "begin_library", lambda source: None)
    code = loops.LoopCode(Source("", 1))
    assert [code.loop(build=False) for _ in range(3)] == [None] * 3 and asked == [False]
    assert code.loop(build=True) is None and asked == [False, True]


def code_of(monkeypatch, kept: str | None) -> tuple[loops.LoopCode, list]:
    """The code of a loop whose library is kept from an earlier run or not, beside a compiler that
    builds one; and what is built in the background."""
    builds = []
    monkeypatch.setattr(loops, "library_of", lambda source, wait: "built" if wait else kept)
    monkeypatch.setattr(loops, "begin_library", lambda source: (
        builds.append(SimpleNamespace(source=source, library=None)), builds[-1])[1])
    monkeypatch.setattr(loops, "path_function", lambda library: f"path of {library}")
    monkeypatch.setattr(loops, "loop_of", lambda library, path: (library, path))
    return loops.LoopCode(Source("text", 1)), builds


def test_code_that_is_kept_is_not_built_again(monkeypatch):
    code, builds = code_of(monkeypatch, "kept")
    for build in (False, True):
        assert code.loop(build) == ("kept", "path of kept") and not builds


def test_code_that_is_not_kept_is_built_once_beside_the_run(monkeypatch):
    """Until it is there, there is no loop; who waits has it at once."""
    code, builds = code_of(monkeypatch, None)
    assert code.loop(build=False) is None and code.loop(build=False) is None
    (one,) = builds
    assert one.source == Source("text", 1)
    one.library = "ready"
    assert code.loop(build=False) == ("ready", "path of ready") == code.loop(build=True)
    code, builds = code_of(monkeypatch, None)
    assert code.loop(build=True) == ("built", "path of built") and not builds


@pytest.mark.parametrize("name", ["ackermann_car", "trailers"])
def test_a_loop_knows_which_positions_loads_depend_on(name):
    """Attitude and joints, found by trying each; not the place, nor any speed."""
    chart = Simulator(shipped(name)).atlas.primary
    support, equations = chart.bounds.support, chart.equations
    vector, normals = chart.state_vector, support.along(equations)
    felt = re.search(r"felt\[\] = \{ (.*?) \}", chart._code._source.code)[1].split(", ")
    rng = np.random.default_rng(0)
    u, theta = rng.normal(size=normals.size1_in(2)), shipped(name).theta
    moved = set()
    for q in equations.constrained.configurations[:3]:
        x = vector.assemble(q, rng.normal(size=vector.nxi))
        before = normals(0.0, x, u, theta, support.split).full()
        for j in range(vector.nconf):
            other = x.copy()
            other[j] += 0.1
            if np.abs(normals(0.0, other, u, theta, support.split).full() - before).max() > 1e-9:
                moved.add(j)
    assert felt[-1] == "-1" and moved <= {*map(int, felt[:-1])} <= {*range(vector.nconf)}
    assert max(moved) >= 7 and not moved & {0, 1}


@pytest.mark.parametrize("on_lift, watches", [("stop", 1), ("ignore", 0)])
def test_a_loop_looks_at_forces_where_lifting_off_is_watched(on_lift, watches):
    chart = Simulator(shipped("differential_drive"), on_lift=on_lift).atlas.primary
    (found,) = re.findall(r"if \((\d) && i - sure >= ", chart._code._source.code)
    assert int(found) == watches
