"""The constraints among the states of a mode, with the equations they follow from: the elimination once more, labelled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .affine import AffineModel, Mode
from .elimination import Elimination, column_weights
from .reduction import Columns, derivative


@dataclass(frozen=True, eq=False)
class FoundConstraint:
    """One row ``states @ x + sources @ xi = 0`` without unknowns.

    Attributes
    ----------
    round : int
        Differentiations after which it appeared.
    states : ndarray, shape (nx,)
        Factors of the differentiated variables.
    sources : ndarray, shape (q,)
        Factors of the sources.
    weights : ndarray, shape (k, m)
        Equations it combines, differentiated 0 to ``k - 1`` times.
    dependent : int
        Core unknown it was solved for.
    """

    round: int
    states: np.ndarray
    sources: np.ndarray
    weights: np.ndarray
    dependent: int


def traced_constraints(
    model: AffineModel, mode: Mode, rounds: int, curved: np.ndarray, settled: np.ndarray, read: np.ndarray
) -> list[FoundConstraint]:
    """Find the constraints that affine equations of a mode impose on its states, in the order of their appearance.

    Parameters
    ----------
    rounds : int
        Differentiations that the mode needs.
    curved : (m,) array of bool
        Equations in force that are not affine; they are left out.
    settled : (k, ...) array
        Further rows, which give undetermined variables their values.
    read : (n,) array of bool
        Core unknowns that are solved for last.

    Notes
    -----
    The steps are those of the reduction itself, so that the same variables come out as dependent ones.
    """
    rows, columns = model.rows(mode), Columns.of(model)
    m, plain = len(rows), columns.table(rows)[~curved]
    label = np.zeros((len(plain) + len(settled), m * (rounds + 1)))
    label[np.arange(len(plain)), np.flatnonzero(~curved)] = 1.0
    table = np.vstack([plain, settled])
    width = table.shape[1]
    weight = np.ones(width + label.shape[1])
    weight[columns.unknown] = column_weights(table[:, columns.unknown])
    weight[columns.state] = model.pivot_scale[columns.x]
    system = Elimination(np.hstack([table, label]), weight)
    labels, found = np.arange(width, width + label.shape[1]), []

    def solve() -> None:
        system.reduce(columns.unknown[~read])
        system.reduce(columns.unknown)

    solve()
    for k in range(rounds):
        new = system.reduce(columns.state, ordered=True)
        states, sources = system.entries(new, columns.state), system.entries(new, columns.source)
        weights = system.entries(new, labels).reshape(len(new), rounds + 1, m)
        dependent = columns.x[system.pivot[new] - columns.state[0]] if len(new) else new
        found += [
            FoundConstraint(k, *parts, dependent=int(j))
            for *parts, j in zip(states, sources, weights, dependent, strict=True)
        ]
        value, variance = system.value[new], system.variance[new]
        value, variance = derivative(columns, value, model.S), derivative(columns, variance, model.S**2)
        for part in (value, variance):
            part[:, width:] = np.roll(part[:, width:], m, axis=1)
        system.append(value, variance)
        solve()
    return found
