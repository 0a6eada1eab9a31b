"""Rigid bodies and knife edges of the literature: their symmetries, and what is left of them."""

import numpy as np
import pytest

from nhmech.errors import MechanicsError
from nhmech.mechanics import chaplygin, find_symmetry, quotient, symmetry
from nhmech.systems import heavy_top, knife_edge_on_incline, load_system, suslov


def test_suslov_reduces_to_so3():
    """Its symmetry is all of SO(3); what is left has no configuration, and the same accelerations
    at every attitude."""
    example = load_system("suslov")
    found = find_symmetry(example.constrained)
    assert len(found.names) == 3 and found.kind == "general"
    reduced = quotient(found).equations(("wx", "wy"))
    assert reduced.frame.constrained.system.algebroid.nq == 0
    full, rng = example.equations(), np.random.default_rng(2)
    for q in example.constrained.configurations[:4]:
        w, theta = rng.normal(size=2), example.constrained.parameters
        np.testing.assert_allclose(reduced.acceleration(0, [], w, [], theta).full(),
                                   full.acceleration(0, q, w, [], theta).full(), atol=1e-14)


def test_a_body_without_products_of_inertia_turns_on_and_on():
    """Suslov's omega is then constant."""
    made = suslov.example(I13=0.0, I23=0.0)
    theta, q = made.constrained.parameters, made.constrained.configurations[0]
    assert np.abs(made.equations().drift(0, q, [0.7, -1.1], [], theta)[1].full()).max() < 1e-15


def test_the_top_has_the_symmetries_of_lagrange_and_of_euler():
    assert len(find_symmetry(heavy_top.example().constrained).names) == 2
    asymmetric = find_symmetry(heavy_top.example(I2=1.1).constrained)
    assert asymmetric.names == ("turn of qx.. about z",) and asymmetric.kind == "horizontal"
    free = find_symmetry(heavy_top.example(I2=1.1, g=0.0).constrained)
    assert len(free.names) == 3
    with pytest.raises(MechanicsError, match="depend|quaternion|coordinate"):
        quotient(asymmetric)          # the invariants are gamma, no entries of q


def test_the_knife_edge_reduces_across_the_slope():
    example = knife_edge_on_incline.example()
    reduction = chaplygin(symmetry(example.constrained, example.generators))
    assert reduction.base.system.algebroid.q_names == ("x", "phi")
    full, base, rng = example.equations(), reduction.equations(), np.random.default_rng(5)
    for x, y, phi in example.constrained.configurations[:5]:
        speeds, theta = rng.normal(size=2), example.constrained.parameters
        np.testing.assert_allclose(
            base.drift(0, [x, phi], speeds, [], theta)[1].full(),
            full.drift(0, [x, y, phi], speeds, [], theta)[1].full(), rtol=1e-11, atol=1e-12)
