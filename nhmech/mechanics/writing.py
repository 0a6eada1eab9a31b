"""Writing a system by hand: a Lagrangian and constraints as functions of named quantities."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import SimpleNamespace

import casadi as ca
import numpy as np

from ..checks import check_arguments, show
from ..errors import InputError, MechanicsError, listed
from ..symbolic.foreign import foreign_symbols, wrong_numbers
from .algebroid import LieAlgebroid
from .distribution import Row, assemble
from .samples import samples_beside
from .system import ConstrainedSystem, LagrangianSystem

Scalar = Callable[["Symbols"], ca.SX]

TRUTH_VALUES = (ca.OP_EQ, ca.OP_NE, ca.OP_LT, ca.OP_LE, ca.OP_AND, ca.OP_OR, ca.OP_NOT)


class UnknownNameError(MechanicsError, AttributeError):
    """A name that the system does not have."""


class NamedSymbols(SimpleNamespace):
    """Symbols by name."""

    __slots__ = ("_declared",)      # the argument of `lagrangian_system` that adds a name, if any

    def __init__(self, entries: Mapping[str, ca.SX], declared: str = ""):
        super().__init__(**entries)
        self._declared = declared

    def __getattr__(self, name: str) -> ca.SX:
        if name.startswith("__"):
            raise AttributeError(name)
        advice = f"; add it by {self._declared}=({name!r},)" if self._declared else ""
        raise UnknownNameError(f"no {name!r} here{_near(name, vars(self))} There are "
                               f"{listed(vars(self)) or 'none'}{advice}")


@dataclass(frozen=True)
class Symbols:
    """The named symbols of a system: `s.q.x`, `s.v.x`, `s.p.m`, `s.u.f`, and time `s.t`.

    A fibre coordinate x' that is the rate of x is called `s.v.x`. `s.rate(f)` is df/dt of a
    function of (t, q).
    """

    q: NamedSymbols
    v: NamedSymbols
    p: NamedSymbols
    u: NamedSymbols
    t: ca.SX
    rate: Callable[[ca.SX], ca.SX]

    def __getattr__(self, name: str) -> ca.SX:
        raise UnknownNameError(f"no s.{name}; a coordinate is s.q.{name}, its velocity s.v.{name}, "
                               f"a parameter s.p.{name}, an input s.u.{name}, and time s.t")


def symbols(system: LagrangianSystem) -> Symbols:
    """The named symbols of a system."""
    return _symbols(system.algebroid, system.v, system.t, system.theta, system.theta_names,
                    system.u, system.u_names)


@check_arguments
def lagrangian_system(space: LieAlgebroid, lagrangian: Scalar, *, parameters: Sequence[str] = (),
                      inputs: Sequence[str] = (),
                      force: Callable[[Symbols],
                                      Mapping[str, ca.SX]] | None = None) -> LagrangianSystem:
    """A Lagrangian system from a function of its named quantities.

    Parameters
    ----------
    space
        The Lie algebroid it lives on, e.g. `euclidean("x", "y")`.
    lagrangian
        s -> L.
    parameters
        Names of s.p, entries of theta.
    inputs
        Names of s.u.
    force
        s -> {name of a fibre coordinate: generalised force}.

    Raises
    ------
    MechanicsError
        For a force on an unknown coordinate, for symbols that were not declared, and for a
        Lagrangian that contains an input.
    InputError
        For repeated names, and names of parameters and inputs that are not Python identifiers.

    Examples
    --------
    >>> from nhmech.mechanics import euclidean, lagrangian_system
    >>> free = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2)
    """
    for kind, names in (("coordinates", space.q_names), ("fibre coordinates", space.v_names),
                        ("parameters", parameters), ("inputs", inputs)):
        check_names(kind, names)
    for kind, names in (("parameter", parameters), ("input", inputs)):
        for name in names:
            if not _is_attribute(name):
                raise InputError(f"the {kind} {name!r} is not a Python attribute name; call it "
                                 f"{_other_name(name)!r}, for example")
    moving = foreign_symbols(ca.vertcat(*map(ca.vec, (space.anchor, *space.structure))), space.q)
    if moving:
        raise MechanicsError(f"the algebroid contains {listed(x.name() for x in moving)}; its "
                             f"anchor and structure are functions of "
                             f"{listed(space.q_names) or 'nothing'} here")
    rates = [f"{name}'" for name in space.v_names]
    v, a, theta, u = (ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in names])
                      for names in (space.v_names, rates, parameters, inputs))
    t = ca.SX.sym("t")
    s = _symbols(space, v, t, theta, parameters, u, inputs)
    known = ca.vertcat(space.q, v, t, theta, u)
    tau = ca.SX(space.nv, 1)
    forces = force(s) if force is not None else {}
    if not isinstance(forces, Mapping):
        raise MechanicsError("the force must be a mapping of names to generalised forces, not "
                             f"{show(forces)}")
    for name, value in forces.items():
        tau[fibre_index(space, name)] = _read_scalar(f"the force on {name!r}", value, known)
    energy = _read_scalar("the Lagrangian", lagrangian(s), known)
    for name in [symbol.name() for symbol in ca.symvar(energy) if ca.depends_on(symbol, u)]:
        raise MechanicsError(f"the Lagrangian contains the input {name!r}, whose rate is unknown; "
                             f"an input acts by force=lambda s: {{coordinate: s.u.{name}}}")
    return LagrangianSystem.from_lagrangian(space, v, a, energy, force=tau, t=t, u=u, theta=theta,
                                            u_names=tuple(inputs), theta_names=tuple(parameters))


@check_arguments
def constrain(system: LagrangianSystem, parameters: Mapping[str, float] | None = None, *,
              rows: Mapping[str, Scalar] | None = None,
              holonomic: Mapping[str, Scalar] | None = None,
              samples: np.ndarray | None = None) -> ConstrainedSystem:
    """A system with constraints.

    Parameters
    ----------
    system
        From `lagrangian_system`.
    parameters
        Numbers for s.p by name.
    rows
        Name -> s -> expression that must vanish, affine in s.v.
    holonomic
        Name -> s -> function of q and t that must vanish.
    samples
        Configurations at which rank is decided, (k, nq), on the manifold of `holonomic`; random
        ones if None. Random ones near them are added to fewer than eight. A property of all of
        them, such as a symmetry, counts as one of the system: give them in general position.

    Raises
    ------
    MechanicsError
        For a row that is not affine in the velocities or has none, a holonomic function that
        contains them, symbols that are not the system's, parameters without a number, samples off
        the holonomic manifold, and an algebroid that fails its structure equations.

    Examples
    --------
    >>> from nhmech.mechanics import constrain, euclidean, gibbs_appell, lagrangian_system
    >>> kinetic = lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2
    >>> free = lagrangian_system(euclidean("x", "y", "z"), kinetic)
    >>> particle = constrain(free, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x})
    >>> gibbs_appell(particle, speeds=("x'", "y'")).names
    ("x'", "y'")
    """
    s, v, space = symbols(system), system.v, system.algebroid
    space.check(samples)
    made = []
    for name, row in (rows or {}).items():
        speed = read_constraint(name, row(s), system)
        form = ca.jacobian(speed, v)
        if ca.depends_on(ca.densify(form), v):
            raise MechanicsError(f"constraint {name!r} is not affine in the velocities; pass it to "
                                 "chetaev() as a nonlinear constraint")
        if not ca.depends_on(speed, v):
            raise MechanicsError(f"constraint {name!r} of rows contains no velocity; pass a "
                                 "function of coordinates and time in holonomic=")
        made.append(Row(name, form, ca.substitute(speed, v, ca.SX.zeros(v.shape))))
    for name, function in (holonomic or {}).items():
        phi = read_constraint(name, function(s), system)
        if ca.depends_on(phi, v):
            raise MechanicsError(f"constraint {name!r} of holonomic contains a velocity; pass it "
                                 "in rows=")
        made.append(Row(name, ca.jacobian(phi, space.q) @ space.anchor,
                        ca.jtimes(phi, system.t, ca.SX(1)), phi))
    given = dict(parameters or {})
    missing = [name for name in system.theta_names if name not in given]
    unknown = [name for name in given if name not in system.theta_names]
    if missing or unknown:
        raise MechanicsError(f"parameters are {', '.join(system.theta_names) or 'none'}: "
                             + (f"no number for {', '.join(missing)}" if missing
                                else f"unknown {', '.join(unknown)}"))
    constrained = ConstrainedSystem(
        system, assemble(made, space.nv),
        np.array([float(given[name]) for name in system.theta_names]))
    if samples is None or not len(samples):
        return constrained
    return replace(constrained, samples=samples_beside(constrained, samples))


def read_constraint(name: str, value: object, system: LagrangianSystem) -> ca.SX:
    """The value of a constraint's function. Raises `MechanicsError` where it is no expression in
    (t, q, v, theta)."""
    found = read_expression(f"constraint {name!r}", value, system)
    for symbol, known in zip(ca.vertsplit(system.u), system.u_names):
        if ca.depends_on(found, symbol):
            raise MechanicsError(f"constraint {name!r} contains the input {known!r}; a constraint "
                                 "may contain coordinates, velocities, parameters and time")
    return found


def read_expression(what: str, value: object, system: LagrangianSystem) -> ca.SX:
    """The value of a caller's function of the system's symbols. Raises `MechanicsError` where it is
    no expression in them."""
    return _read_scalar(what, value,
                        ca.vertcat(system.q, system.v, system.t, system.theta, system.u))


def _read_scalar(what: str, value: object, known: ca.SX) -> ca.SX:
    """The value of a caller's function as one expression in the symbols `known`. Raises
    `MechanicsError` otherwise."""
    try:
        found = ca.SX(value)
    except NotImplementedError:      # CasADi's error for a wrong type
        found = ca.SX(0, 0)
    if found.shape != (1, 1):
        raise MechanicsError(f"{what} must be a CasADi expression or a number, not {show(value)}")
    if any(map(found.is_op, TRUTH_VALUES)):
        raise MechanicsError(f"{what} is the condition {show(value)}, which is a truth value; "
                             "write left - right for left == right")
    for name in [symbol.name() for symbol in foreign_symbols(found, known)]:
        raise MechanicsError(
            f"{what} contains {name!r}, which is none of its symbols; a constant is a number, or "
            f"declared by parameters=({name!r},) of lagrangian_system and written s.p.{name}")
    for number in wrong_numbers(found):
        raise MechanicsError(f"{what} contains {number}: a constant is a finite number; look for a "
                             "division by zero")
    return found


def check_names(kind: str, names: Sequence[str]) -> None:
    """Raises `InputError` if a name occurs twice."""
    twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    if twice:
        raise InputError(f"{kind} {listed(names)}: {twice[0]!r} is given twice")


def _other_name(name: str) -> str:
    if keyword.iskeyword(name):
        return f"{name}_"
    plain = re.sub(r"\W+", "_", name)
    return plain if plain.isidentifier() else f"p_{plain}"


def _symbols(space: LieAlgebroid, v: ca.SX, t: ca.SX, theta: ca.SX, theta_names: Sequence[str],
             u: ca.SX, u_names: Sequence[str]) -> Symbols:
    return Symbols(_name_entries(space.q_names, space.q),
                   _name_entries([name.removesuffix("'") for name in space.v_names], v),
                   _name_entries(theta_names, theta, "parameters"),
                   _name_entries(u_names, u, "inputs"), t,
                   lambda f: ca.jtimes(ca.SX(f), ca.vertcat(space.q, t),
                                       ca.densify(ca.vertcat(space.anchor @ v, 1))))


def _name_entries(names: Sequence[str], values: ca.SX, declared: str = "") -> NamedSymbols:
    return NamedSymbols({name if _is_attribute(name) else f"_{i}": values[i]
                         for i, name in enumerate(names)}, declared)


def _is_attribute(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def fibre_index(space: LieAlgebroid, name: str) -> int:
    """Index of a fibre coordinate by its name; "x" stands for x'. Raises `MechanicsError` for an
    unknown name."""
    for candidate in (name, f"{name}'"):
        if candidate in space.v_names:
            return space.v_names.index(candidate)
    names = [known.removesuffix("'") for known in space.v_names]
    raise MechanicsError(f"no fibre coordinate {name!r}{_near(name, names)} There are "
                         f"{', '.join(space.v_names)}")


def _near(name: str, names: Iterable[str]) -> str:
    """The name that may have been meant, as the end of a sentence."""
    near = get_close_matches(name, names, 1)
    return f"; did you mean {near[0]!r}?" if near else "."
