"""Guards and relations along steps of integration: their errors, and whether they certainly stay away from zero."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .dialect import kernel
from .rounding import ROUNDING
from .signs import product

LEAST = 2.0**-1022
CLEAR = 8.0
"""Distance from zero, in units of what counts as zero, from which on a form is clear of it."""
CERTAIN = 16.0
"""The same in errors of a cubic through values and slopes at both ends of a step, which one point inside shows."""
BEGIN, END = 0, 1
RELATIVE, ABSOLUTE, LASTS, PER_SECOND = 0, 1, 2, 3


class StepForms(NamedTuple):
    """Forms (f,) that are positive where they are in force, over points [X; H] and sources."""

    layout = "f2 f2 f2 f2 f1 f1 f2 f2 f2 f1 f1 f2"
    over_points: np.ndarray
    over_sources: np.ndarray
    sizes: np.ndarray
    """Magnitudes (f, ny) of what was summed in these coefficients."""
    sizes_of_sources: np.ndarray
    numbers: np.ndarray
    """Relative and absolute tolerance; the time in which a step's motion moves by its own size, in steps; one over the length of
    the step with the floor."""
    floor: np.ndarray
    """What counts as zero after a step of that length."""
    values: np.ndarray
    """At both ends of a step (2, f)."""
    slopes: np.ndarray
    terms: np.ndarray
    """Sums of the magnitudes of their terms."""
    absolute: np.ndarray
    """How far they may be off whatever their values are."""
    error: np.ndarray
    """Estimated errors over the last step."""
    errors: np.ndarray
    """The same over all steps that were written down (steps, f)."""


@kernel
def read_forms(
    f: StepForms, which: int, point: np.ndarray, slopes: np.ndarray, sources: np.ndarray, moved: np.ndarray
) -> None:
    """Values, slopes and terms at an end of a step, where sources have the derivatives ``moved``."""
    for i in range(f.floor.shape[0]):
        value, slope, terms = 0.0, 0.0, 0.0
        for j in range(point.shape[0]):
            value += f.over_points[i, j] * point[j]
            slope += f.over_points[i, j] * slopes[j]
            terms += f.sizes[i, j] * abs(point[j])
        for j in range(sources.shape[0]):
            value += f.over_sources[i, j] * sources[j]
            slope += f.over_sources[i, j] * moved[j]
            terms += f.sizes_of_sources[i, j] * abs(sources[j])
        f.values[which, i], f.slopes[which, i], f.terms[which, i] = value, slope, terms


@kernel
def allow_forms(f: StepForms, h: float) -> None:
    """How far forms may be off after a step of ``h`` seconds whatever their values are.

    What a form has been, or will be, in the time in which it moves by its own size; what it was long ago says nothing.
    """
    for i in range(f.floor.shape[0]):
        size = max(abs(f.values[BEGIN, i]), h * f.numbers[LASTS] * abs(f.slopes[BEGIN, i]))
        f.absolute[i] = max(f.numbers[ABSOLUTE] * size, ROUNDING * f.terms[BEGIN, i] + LEAST)


@kernel
def error_of_forms(f: StepForms, changes: np.ndarray) -> float:
    """Largest error over a step, in units of what may be, with what both estimates make of the point (ny, 2)."""
    found = 0.0
    for i in range(f.floor.shape[0]):
        first, second = 0.0, 0.0
        for j in range(changes.shape[0]):
            first += f.over_points[i, j] * changes[j, 0]
            second += f.over_points[i, j] * changes[j, 1]
        f.error[i] = max(abs(first), abs(second))
        size = max(abs(f.values[BEGIN, i]), abs(f.values[END, i]))
        error = f.error[i] / (f.absolute[i] + f.numbers[RELATIVE] * size)
        if not error <= found:
            found = error if error < np.inf else np.inf
    return found


@kernel
def stay_clear(f: StepForms, h: float, inside: np.ndarray, sources: np.ndarray) -> bool:
    """Whether all forms are certainly positive along a step, with the point in the middle of it."""
    longer = max(1.0, h * f.numbers[PER_SECOND])
    for i in range(f.floor.shape[0]):
        first, last = f.values[BEGIN, i], f.values[END, i]
        up, down = h * f.slopes[BEGIN, i], h * f.slopes[END, i]
        # Bernstein coefficients bound the cubic.
        least = min(min(first, last), min(first + up / 3.0, last - down / 3.0))
        middle = product(f.over_points[i], inside) + product(f.over_sources[i], sources)
        wrong = abs(middle - (0.5 * (first + last) + 0.125 * (up - down)))
        zero = longer * f.floor[i] + ROUNDING * max(f.terms[BEGIN, i], f.terms[END, i]) + f.error[i]
        if not least > CLEAR * zero + CERTAIN * wrong:
            return False
    return True


@kernel
def carry_forms(f: StepForms, step: int) -> None:
    """Take the end of a step as the begin of the next one, and write down the errors."""
    for i in range(f.floor.shape[0]):
        f.values[BEGIN, i], f.slopes[BEGIN, i] = f.values[END, i], f.slopes[END, i]
        f.terms[BEGIN, i], f.errors[step, i] = f.terms[END, i], f.error[i]
