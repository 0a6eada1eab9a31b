"""Sine and cosine of lanes, which are our own: within 2 ulp of those in extended precision."""

import re
import subprocess

import casadi as ca
import numpy as np
import pytest

from nhmech.compile.compiler import find_compiler
from nhmech.compile.lane_function import compile_lane_function
from nhmech.compile.lane_type import LANE_TYPE
from nhmech.compile.lanes import find_vector_compiler

pytestmark = [
    pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler here"),
    pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no extended precision here")]
COUNT = 80_000


def arguments():
    """By size, beyond the reach of the reduction too, and around the multiples of pi/2, where a
    careless one loses all digits."""
    rng = np.random.default_rng(0)
    near = rng.integers(-600_000, 600_000, COUNT) * (np.pi / 2)
    yield "around multiples of pi/2", near + rng.normal(size=COUNT) * np.spacing(np.abs(near))
    for size in (1e-8, 1.0, 10.0, 1e3, 1e6, 1e12):
        yield f"up to {size:g}", rng.uniform(-size, size, COUNT)


@pytest.mark.parametrize("x", [x for _, x in arguments()], ids=[name for name, _ in arguments()])
def test_sine_and_cosine_are_within_2_ulp(x):
    symbol = ca.SX.sym("x")
    columns = compile_lane_function(ca.Function("nhmech_both", [symbol], [ca.sin(symbol),
                                                                    ca.cos(symbol)]), [x[None]])
    columns.run()
    for found, function in zip(columns.outputs, (np.sin, np.cos)):
        wanted = function(x.astype(np.longdouble))
        ulp = np.spacing(np.abs(wanted.astype(float)))
        assert (np.abs(found[0].astype(np.longdouble) - wanted) / ulp).max() <= 2


def test_sine_and_cosine_of_one_angle_share_their_work(tmp_path):
    """Both polynomials are evaluated for either, so that the second one costs a choice of sign."""
    compiler, source = find_vector_compiler(), tmp_path / "f.cpp"

    def instructions(result: str) -> int:
        source.write_text(f"{LANE_TYPE}\nlane f(lane a, lane b) {{ return {result}; }}\n")
        flags = [flag for flag in compiler.flags(0) if flag != "-shared"]
        made = subprocess.run([compiler.path, *compiler.words, *flags, "-S", "-o", "-", source],
                              check=True, capture_output=True, text=True).stdout
        return len(re.findall(r"^\t\w", made, re.M))

    one, two, apart = map(instructions, ("sin(a)", "sin(a) + cos(a)", "sin(a) + cos(b)"))
    assert two - one < 0.75 * (apart - one)
