"""Efforts of commanded joints where the wheels cannot all roll."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ..least_squares import LeastSquares
from .contact_rates import accelerate
from .impulses import Impulses
from .motion import Motion
from .nonsmooth_terms import NonsmoothTerms
from .world_axes import to_body, to_world

MET = 1e-9      # of the accelerations at hand, to which they are those that are wanted

_least_squares = cache(LeastSquares)


class ContactServo:
    """Finds efforts that give joints the accelerations that are wanted.

    While each wheel can go on with what it does, they are those of inverse dynamics. Where it
    cannot, as where wheels that stick are to turn at speeds that contradict each other, they are
    those of a step of time h in which the joints have these rates and the wheels obey Coulomb's
    law: bilateral rows, the impulses of which are h times the efforts.

    Parameters
    ----------
    share
        As in `Glide`.
    """

    def __init__(self, terms: NonsmoothTerms, share: np.ndarray):
        self._terms = terms
        self._share = share

    def efforts(self, motion: Motion, u: np.ndarray, rows: Sequence[int], columns: Sequence[int],
                wanted: Sequence[float], h: float) -> tuple[np.ndarray, bool]:
        """Efforts (k,), and whether each wheel goes on with what it does.

        Parameters
        ----------
        u
            Inputs without these efforts (nu,).
        rows, columns
            Of the joints, their fibre coordinates, and where their efforts stand in u.
        wanted
            Their accelerations (k,).
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
