"""The coefficients of a tyre as functions of its load."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..errors import InputError, listed

LOADS = 0.2, 2.0      # of the nominal load: beyond, polynomials of measured ones say nothing


@dataclass(frozen=True)
class LoadTerms:
    """Coefficients of the magic formula over the load F, with f = F/F_0 - 1::

        K_x = F (kx1 + kx2 f) exp(kx3 f),     K_y = ky1 F_0 sin(2 atan(x)), x = F / (ky2 F_0)
        mu_x = dx1 + dx2 f,                   mu_y = dy1 + dy2 f
        E_x = ex1 + ex2 f + ex3 f^2,          E_y = ey1 + ey2 f

    H. B. Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, section 4.3.2, eq. (4.E9) to (4.E30),
    of an upright wheel without plysteer and conicity.
    """

    load: float  # F_0 [N]
    kx1: float
    kx2: float
    kx3: float
    dx1: float
    dx2: float
    ex1: float
    ex2: float
    ex3: float
    ky1: float
    ky2: float
    dy1: float
    dy2: float
    ey1: float
    ey2: float

    def per_load(self, load: Any, calculus: Any = math) -> dict[str, Any]:
        """The coefficients by the names of `Tyre`, its stiffness over the load; sin(2 atan(x)) is 2
        x / (1 + x^2). `load`: F [N], or a symbol for it, of which `calculus` then has the
        exponential function."""
        f, x = load / self.load - 1, load / (self.ky2 * self.load)
        return {
            "longitudinal_stiffness": (self.kx1 + self.kx2 * f) * calculus.exp(self.kx3 * f),
            "longitudinal_friction": self.dx1 + self.dx2 * f,
            "longitudinal_curvature": self.ex1 + self.ex2 * f + self.ex3 * f ** 2,
            "lateral_stiffness": 2 * self.ky1 / self.ky2 / (1 + x ** 2),
            "lateral_friction": self.dy1 + self.dy2 * f,
            "lateral_curvature": self.ey1 + self.ey2 * f,
        }

    def at(self, load: float) -> dict[str, float]:
        """Numbers of a `Tyre` by name, for a load [N]."""
        low, high = (part * self.load for part in LOADS)
        if not low <= load <= high:
            raise InputError(f"tyre: the set does not cover a load of {load:g} N: it is for "
                             f"{low:g} to {high:g} N")
        found = {name.replace("_", "."): number for name, number in self.per_load(load).items()}
        for name in "longitudinal.stiffness", "lateral.stiffness":
            found[name] *= load
        return {"load": load, **found}


def find_load_terms(name: str) -> LoadTerms:
    """The load terms of a set. Raises `InputError` if it has none."""
    if not isinstance(name, str) or name not in LOAD_TERMS:
        raise InputError(f"tyre: the set {name!r} has no dependence on the load; sets with one are "
                         f"{listed(LOAD_TERMS)}")
    return LOAD_TERMS[name]


# 205/60R15 91V at 2.2 bar: Pacejka, 2nd ed. 2006, table A3.1
LOAD_TERMS = MappingProxyType({
    "passenger_car": LoadTerms(load=4000.0, kx1=21.51, kx2=-0.163, kx3=0.245, dx1=1.21, dx2=-0.037,
                               ex1=0.344, ex2=0.095, ex3=-0.02, ky1=14.95, ky2=2.13, dy1=0.99,
                               dy2=-0.145, ey1=-1.003, ey2=-0.537),
})
