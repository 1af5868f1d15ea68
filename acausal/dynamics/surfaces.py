"""Rows that decide the sign of a form along a flow: of its value and of its derivatives, each where those before it vanish."""

from __future__ import annotations

import numpy as np


def lexicographic(
    form: np.ndarray,
    bound: np.ndarray,
    flow: np.ndarray,
    weight: np.ndarray,
    evaluated: np.ndarray,
    order: int,
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Rows of the value and its derivatives, ``order`` in all, each where those before it vanish.

    So flows that agree where a form vanishes decide alike, as those of both sides of a characteristic with a kink: how far the
    value may be off, times what one of them makes of it, is in neither. It is the states, of magnitudes ``weight``, that may be
    off; the sources are known, but for rounding where they are ``evaluated``: it counts in every row that reads them, so that the
    modes on both sides of a guard, which read a source in derivatives of other orders, tell alike where it vanishes. With
    them the rates of these rows while those before them go on to vanish, and bounds of their rounding.
    """
    if not len(form):
        return [form] * order, [form] * order, [bound] * order
    states, sources = slice(len(weight)), slice(len(weight), None)
    bound[:, sources] += np.abs(form[:, sources]) @ evaluated
    forms, rates, bounds = [form], [], [bound]
    for _ in range(order):
        row, least = forms[-1] @ flow, bounds[-1] @ np.abs(flow)
        least[:, sources] += np.abs(row[:, sources]) @ evaluated
        for before, rounding in zip(forms, bounds, strict=True):
            if before is forms[-1]:
                rates.append(row)
            unit = before[:, states] * weight
            size = np.max(np.abs(unit), axis=1, initial=0.0, keepdims=True)
            unit = np.divide(unit, size, out=np.zeros_like(unit), where=size > 0.0)
            square = np.sum(unit * unit, axis=1, keepdims=True) * size
            part = np.sum(row[:, states] * weight * unit, axis=1, keepdims=True)
            share = np.divide(part, square, out=np.zeros_like(part), where=size > 0.0)
            row, least = row - share * before, least + np.abs(share) * rounding
        forms.append(np.where(np.abs(row) > least, row, 0.0))
        bounds.append(least)
    return forms[:order], rates, bounds[:order]
