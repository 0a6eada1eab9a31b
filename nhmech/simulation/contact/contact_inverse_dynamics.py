"""Inverse dynamics with sliding wheels: the efforts of commanded joints."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ..least_squares import LeastSquares
from .accelerations import accelerate
from .impulses import Impulses
from .motion import Motion, to_body, to_world
from .nonsmooth_terms import NonsmoothTerms

MET = 1e-9      # relative error to which the wanted accelerations must be met

_least_squares = cache(LeastSquares)


class ContactInverseDynamics:
    """Finds the efforts that give joints wanted accelerations.

    If each contact can keep its phase, these follow from inverse dynamics. If not, for instance
    because the wanted speeds of sticking wheels contradict each other, they follow from a step of
    length h with Coulomb friction in which the rates of the joints are prescribed as bilateral
    rows, whose impulses are h times the efforts.

    Parameters
    ----------
    share
        As in `ImplicitStep`.
    """

    def __init__(self, terms: NonsmoothTerms, share: np.ndarray):
        self._terms = terms
        self._share = share

    def efforts(self, motion: Motion, u: np.ndarray, rows: Sequence[int], columns: Sequence[int],
                wanted: Sequence[float], h: float) -> tuple[np.ndarray, bool]:
        """Efforts (k,), and whether each contact keeps its phase.

        Parameters
        ----------
        u
            Inputs without these efforts (nu,).
        rows, columns
            Indices of the joints in v, and of their efforts in u.
        wanted
            Accelerations of the joints (k,).
        """
        free, effect, _ = accelerate(self._terms, motion, u)
        rows, columns, aims = list(rows), list(columns), np.asarray(wanted)
        needed, part = aims - free[rows], effect[np.ix_(rows, columns)]
        found = _least_squares(len(rows), len(columns))(part, needed)
        if np.abs(part @ found - needed).max() <= MET * max(np.abs(aims).max(),
                                                            np.abs(free[rows]).max()):
            return found, True
        return self._against_friction(motion, u, rows, columns, aims, h), False

    def _against_friction(self, motion: Motion, u: np.ndarray, rows: list[int],
                          columns: list[int], wanted: np.ndarray, h: float) -> np.ndarray:
        terms, theta = self._terms, self._terms.vehicle.theta
        q = terms.configuration(motion.x)
        M, F, _, G, _ = terms.momentum(motion.t, motion.x, motion.w, u, motion.impulses / h,
                                    motion.closed)
        at = terms.read_rows(motion.t, motion.x, motion.w, motion.closed)
        pull = terms.effect(motion.t, q, to_body(q, motion.w), u, theta)[0][:, columns]
        pull = to_world(q, pull).T
        hold = np.eye(terms.nv)[rows]
        impulses = Impulses(terms, np.flatnonzero(motion.closed), self._share)
        impulses.solve(M, M @ motion.w + h * F, G, at,
                       driven=(hold, motion.w[rows] + h * wanted, pull))
        impulses.finish()
        return impulses.driven / h
