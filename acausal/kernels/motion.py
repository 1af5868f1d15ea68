"""The motion of one mode in closed form: its functions, what rounds in it, and the point that it leads to."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .crossing import TWICE, Guards, Noise, SearchRoom
from .dialect import kernel
from .functions import OMEGA, REAL, SIGMA, TURNING, Functions, differentiate, largest, values, weight
from .rounding import UNIT
from .signs import product

SHORTEST, POWERS = 0, 1
UNSURE = -1.0
"""In the place of a lateness that a closer look has to find."""


class FlowTerms(NamedTuple):
    """The sum of ``left[:, k] (right[k] y) function[k]``, and room for one trajectory."""

    layout = "f2 f2 i1 f1 i1 i2 f1 f1 f2 f1 f1 f1"
    left: np.ndarray
    right: np.ndarray
    function: np.ndarray
    reaches: np.ndarray
    """Lengths over which groups of functions are exact."""
    decays: np.ndarray
    """Whether a group may have died away."""
    grouped: np.ndarray
    """Which functions (groups, functions) are in a group."""
    weights: np.ndarray
    """Room for the products ``right y``."""
    begin: np.ndarray
    C: np.ndarray
    """Coefficients (ny, functions) of the trajectory from the state vector ``begin`` (ny,)."""
    time: np.ndarray
    """Seconds after it, one number."""
    phi: np.ndarray
    """Functions at a time."""
    end: np.ndarray
    """State vector (ny,) at that time."""


class MatrixProduct(NamedTuple):
    """A matrix, and room for its product with a vector."""

    layout = "f2 f1 f1"
    A: np.ndarray
    x: np.ndarray
    y: np.ndarray


class FlowOfMode(NamedTuple):
    """What a mode makes of its flow, and room for what is needed for a moment."""

    layout = "f1 f2 f2 f2 f2 i1 f2 f1 f1"
    numbers: np.ndarray
    """Shortest length that suits the flow, and whether its functions have powers."""
    sizes: np.ndarray
    """Magnitudes (ny, ny) of all products of the flow together."""
    rates: np.ndarray
    """Derivatives (ny, ny) of the state vector."""
    unknowns: np.ndarray
    """Core unknowns (n, ny) over the state vector."""
    magnitudes: np.ndarray
    """Magnitudes of these."""
    states: np.ndarray
    """Which core unknowns are states."""
    spare: np.ndarray
    """Coefficients (ny, functions) of another trajectory."""
    slopes: np.ndarray
    """Derivatives (functions,) of the functions at a time."""
    shift: np.ndarray
    """How far the state vector (ny,) may be off at the begin, all of it together."""


class WatchedForms(NamedTuple):
    """Forms that end a segment, positive where they are in force: arrays (m, ny) and (m,)."""

    layout = "f2 f2 f2 f2 f1 i1"
    forms: np.ndarray
    slopes: np.ndarray
    """Bounds of how far they move, per unit in the last place of time."""
    known: np.ndarray
    """What errors of states (m, states) leave of them: where they are zero, up to what lies below."""
    coefficients: np.ndarray
    """What rounds in them over magnitudes of the state vector."""
    orientation: np.ndarray
    which: np.ndarray
    """Their numbers among all forms of the mode."""


class NoiseForms(NamedTuple):
    """What counts as zero for the forms along a trajectory, see `dynamics.noise.FlowNoise`."""

    layout = "f2 f2 f2 f2 f1"
    over: np.ndarray
    """Rows over magnitudes: of the start (m), of missed rates (m), of what follows, and of all products."""
    left: np.ndarray
    """Forms (m, terms) of the terms that do not all but cancel."""
    right: np.ndarray
    """Those terms over the state vector."""
    staying: np.ndarray
    """What rounds in the terms of each form (m, products)."""
    found: np.ndarray
    """Room for the values of ``over``."""


class FlowRecords(NamedTuple):
    """All that events read of one flow in one situation."""

    layout = "r r r r r r r r"
    of = Functions, FlowTerms, FlowOfMode, WatchedForms, NoiseForms, Guards, Noise, SearchRoom
    functions: Functions
    terms: FlowTerms
    mode: FlowOfMode
    watched: WatchedForms
    noisy: NoiseForms
    guards: Guards
    noise: Noise
    search: SearchRoom


@kernel
def careful_product(row: np.ndarray, x: np.ndarray) -> float:
    """Scalar product whose sum is rounded about once: Neumaier's summation."""
    found, lost = 0.0, 0.0
    for j in range(row.shape[0]):
        term = row[j] * x[j]
        total = found + term
        lost += (found - total) + term if abs(found) >= abs(term) else (term - total) + found
        found = total
    return found + lost


@kernel
def find_coefficients(f: FlowTerms, y: np.ndarray, C: np.ndarray) -> None:
    """Coefficients (ny, functions) of the trajectory through ``y``, in whose products sources and states may all but cancel."""
    for t in range(f.right.shape[0]):
        f.weights[t] = careful_product(f.right[t], y)
    for i in range(f.left.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] = 0.0
        for t in range(f.left.shape[1]):
            C[i, f.function[t]] += f.left[i, t] * f.weights[t]


@kernel
def limit_reach(b: Functions, f: FlowTerms, y: np.ndarray) -> float:
    """Length over which a trajectory from ``y`` is exact; what has died away in it is dropped."""
    found = math.inf
    for group in range(f.reaches.shape[0]):
        present, matters = False, f.decays[group] == 0
        for i in range(f.C.shape[0]):
            bound = 0.0
            for j in range(f.C.shape[1]):
                if f.grouped[group, j] > 0 and f.C[i, j] != 0.0:
                    present = True
                    bound += abs(f.C[i, j]) * largest(b, j, 0.0, f.reaches[group])
            matters = matters or not bound <= UNIT * abs(y[i])
        if present and matters:
            found = min(found, f.reaches[group])
        elif present:
            for i in range(f.C.shape[0]):
                for j in range(f.C.shape[1]):
                    if f.grouped[group, j] > 0:
                        f.C[i, j] = 0.0
    return found


@kernel
def start_flow(f: FlowTerms) -> int:
    """The trajectory from its begin."""
    find_coefficients(f, f.begin, f.C)
    return 0


@kernel
def follow_flow(b: Functions, f: FlowTerms) -> int:
    """The state vector at a time."""
    values(b, f.time[0], f.phi)
    for i in range(f.C.shape[0]):
        f.end[i] = product(f.C[i], f.phi)
    return 0


@kernel
def multiply(p: MatrixProduct) -> int:
    """The product of a matrix and a vector."""
    for i in range(p.A.shape[0]):
        p.y[i] = product(p.A[i], p.x)
    return 0


@kernel
def find_slopes(b: Functions, phi: np.ndarray, out: np.ndarray) -> None:
    """Derivatives (functions,) of the functions from their values at a time."""
    n, m = b.counts[REAL], b.counts[TURNING]
    for j in range(n + 2 * m):
        out[j] = b.table[SIGMA, j] * phi[j]
        if b.lower[j] >= 0:
            out[j] += phi[b.lower[j]]
    for i in range(m):
        omega = b.turning[OMEGA, i]
        out[n + i] -= omega * phi[n + m + i]
        out[n + m + i] += omega * phi[n + i]


@kernel
def find_magnitudes(r: FlowRecords, y: np.ndarray, length: float, out: np.ndarray) -> None:
    """Magnitudes (ny,) of all products within a length, by which the state vector is rounded."""
    b, f, m = r.functions, r.terms, r.mode
    ny = m.sizes.shape[0]
    if m.numbers[POWERS] == 0.0:
        for i in range(ny):
            found = 0.0
            for j in range(ny):
                found += m.sizes[i, j] * abs(y[j])
            out[i] = found
        return
    for t in range(f.right.shape[0]):
        found = 0.0
        for j in range(ny):
            found += abs(f.right[t, j]) * abs(y[j])
        f.weights[t] = found * weight(b, f.function[t], length)
    for i in range(ny):
        found = 0.0
        for t in range(f.left.shape[1]):
            found += abs(f.left[i, t]) * f.weights[t]
        out[i] = found


@kernel
def hear_noise(
    r: FlowRecords, y: np.ndarray, error: np.ndarray, tick: float, known: bool, shifted: bool
) -> None:
    """What counts as zero along the trajectory through ``y`` (ny,), with the ``error`` (n,) of the unknowns there.

    A late begin moves forms by what they do in one ``tick``.
    """
    m, w, o, n = r.mode, r.watched, r.noisy, r.noise
    count, first = w.forms.shape[0], 2 * w.forms.shape[0]
    for i in range(o.over.shape[0]):
        found = 0.0
        for j in range(o.over.shape[1]):
            found += o.over[i, j] * abs(y[j])
        o.found[i] = found
    behind = first + o.left.shape[1]
    for k in range(count):
        found = 0.0
        for j in range(w.coefficients.shape[1]):
            found += w.coefficients[k, j] * abs(y[j])
        if known:
            off = 0.0
            for j in range(w.known.shape[1]):
                off += w.known[k, j] * error[m.states[j]]
            if r.guards.armed[k] <= 0:
                off = min(off, TWICE * max(-product(w.forms[k], y), 0.0))
            found += off
        n.rounding[k], n.late[k], n.missed[k] = found, tick * abs(product(w.slopes[k], y)), 0.0
        n.start[k], n.rates[k] = o.found[k], o.found[count + k]
        for t in range(o.left.shape[1]):
            n.moving[k, t] = abs(o.left[k, t]) * o.found[first + t]
        for t in range(o.staying.shape[1]):
            n.staying[k, t] = o.staying[k, t] * o.found[behind + t]
    if shifted:
        hear_shift(r, r.search.over)


@kernel
def hear_shift(r: FlowRecords, spare: np.ndarray) -> None:
    """The same of the shift of a trajectory."""
    m, w, o, n = r.mode, r.watched, r.noisy, r.noise
    find_coefficients(r.terms, m.shift, m.spare)
    for t in range(o.left.shape[1]):
        o.found[t] = product(o.right[t], m.shift)
    for k in range(w.forms.shape[0]):
        n.shift_start[k] = abs(product(w.forms[k], m.shift))
        for t in range(o.left.shape[1]):
            n.shift[k, t] = abs(o.left[k, t] * o.found[t])
        for j in range(m.spare.shape[1]):
            found = 0.0
            for i in range(m.spare.shape[0]):
                found += w.forms[k, i] * m.spare[i, j]
            n.shift_rates[k, j] = found
    differentiate(r.functions, n.shift_rates, spare)
    for k in range(w.forms.shape[0]):
        for j in range(spare.shape[1]):
            n.shift_rates[k, j] = abs(spare[k, j])


@kernel
def lateness(r: FlowRecords, k: int, h: float) -> float:
    """By how many seconds the crossing of form ``k`` at ``h`` may be off, see `dynamics.scan.FlowWatch.lateness`."""
    f, m, w, n = r.terms, r.mode, r.watched, r.noise
    rounding, slope = 0.0, 0.0
    for t in range(n.staying.shape[1]):
        rounding += n.staying[k, t] * weight(r.functions, n.stays[t], h)
    for i in range(f.C.shape[0]):
        slope += w.forms[k, i] * product(f.C[i], m.slopes)
    slope = abs(slope)
    if slope * h > rounding:
        return rounding / slope
    return UNSURE if r.guards.armed[k] > 0 else 0.0
