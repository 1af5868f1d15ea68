"""What an instant does to elements that transmit impulses: contacts that touch, and lost energy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..values import frozen
from .affine import AffineModel, Element, Kind, ModeData, Restart
from .constraints import common_constraints
from .impact_law import sharing_masses
from .impulses import response_maps
from .rounding import ROUNDING, TINY

_REST = 1e-6
_TOO_SLOW = float(np.sqrt(np.finfo(float).tiny)) / ROUNDING
"""Speeds whose squares, and so the distances that they fly, are no numbers with all digits."""
FREE, CONTACT = 0, 1


@frozen
class Contacts:
    """Contacts that touch at an instant, or chains of some through places without mass, seen from a mode with all of them open.

    Attributes
    ----------
    which : (k,) array of int
        Elements.
    weights : (c, k) array
        Impulses in them by a unit impulse in each contact or chain: a unit matrix where nothing is chained.
    jump : (n_states, c) array
        Movement of the selected states by a unit impulse in each contact.
    impulse : (n, c) array
        The impulses J1 of all variables with it.
    distances, rates : (c, ny) array
        Gaps and their speeds over the state vector.
    """

    data: ModeData
    which: np.ndarray
    weights: np.ndarray
    jump: np.ndarray
    impulse: np.ndarray
    distances: np.ndarray
    rates: np.ndarray

    @property
    def inverse_masses(self) -> np.ndarray:
        """Change of the speed of gap i by a unit impulse in contact j."""
        return self.rates[:, : len(self.data.states)] @ self.jump

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Of values of all elements, those of the contacts (c,): a chain has the sum of its members."""
        parts = np.zeros(self.weights.shape)
        np.multiply(self.weights, values[self.which], out=parts, where=self.weights > 0.0)
        return parts.sum(axis=1)

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Of values of all elements, none below zero, the largest of the members of each contact (c,)."""
        return np.max(np.where(self.weights > 0.0, values[self.which], 0.0), axis=1, initial=0.0)

    def members(self, mask: np.ndarray) -> list[int]:
        """The elements of some of the contacts (c,)."""
        return self.which[(self.weights[mask] > 0.0).any(axis=0)].tolist()

    def chained(self, weights: np.ndarray) -> Contacts:
        """Chains of these with some weights (., c)."""
        return replace(
            self,
            weights=weights @ self.weights,
            jump=self.jump @ weights.T,
            impulse=self.impulse @ weights.T,
            distances=weights @ self.distances,
            rates=weights @ self.rates,
        )

    def gaps(self, y: np.ndarray) -> np.ndarray:
        """Distances of the contacts."""
        return self.distances @ y

    def speeds(self, y: np.ndarray) -> np.ndarray:
        """Speeds of the gaps."""
        return self.rates @ y

    def terms(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Magnitudes (n,) of what impulses ``p`` (c,) of the contacts move, and of the impulses J1, however they cancel."""
        size, over = np.abs(p), np.abs(self.data.T[:, : len(self.data.states)])
        return over @ (np.abs(self.jump) @ size), np.abs(self.impulse) @ size


MEETS = 2.0**-26
"""Defect of a row, relative to its terms, that is no contradiction: half of the digits."""


def touching_contacts(model: AffineModel, data: ModeData, which: Sequence[int]) -> Contacts:
    """The response of a mode to impulses in open contacts.

    Raises
    ------
    Inadmissible
        "singular" if nothing that a contact touches has inertia.
    """
    elements = [model.elements[k] for k in which]
    jump, impulse = response_maps(model, data, _force_rows(model, data, which))
    # An open contact says that its force is zero, in a row of any factor.
    factor = np.array([(e.blocked[CONTACT].A @ impulse[:, i])[0] for i, e in enumerate(elements)])
    distances = np.array([_gap_row(e, data)[0] for e in elements]).reshape(len(elements), -1)
    return Contacts(
        data,
        np.array(which, dtype=int),
        np.eye(len(elements)),
        jump / factor,
        impulse / factor,
        distances,
        distances @ data.Ay,
    )


def _force_rows(model: AffineModel, data: ModeData, which: Sequence[int]) -> np.ndarray:
    """The rows of a mode in which open contacts say that their forces are zero."""
    lengths = [len(e.branches[b].equations) for e, b in zip(model.elements, data.mode, strict=True)]
    return len(model.base) + np.cumsum([0, *lengths])[list(which)]


def sums_told_by_states(model: AffineModel, contacts: Contacts) -> np.ndarray:
    """Weights (k, c) of sums of gaps that follow from the states whatever forces the contacts take: many are one gap alone.

    A place without mass stands where forces balance. Its contact moves it at once: where it stands with the contact open is not
    where it is, and bodies need not make room for it. But what is in contact with both of its sides must not overlap through it.
    """
    data, scale = contacts.data, np.concatenate([model.scale, model.xi_scale])
    rows = model.rows(data.mode)
    algebraic = np.setdiff1d(
        np.flatnonzero(~rows.E.any(axis=1)), _force_rows(model, data, contacts.which.tolist())
    )
    known = np.vstack([np.hstack([rows.A, rows.B])[algebraic], common_constraints(model)]) * scale
    known /= np.maximum(np.abs(known).max(axis=1, initial=0.0), np.finfo(float).tiny)[:, None]
    free = [model.elements[k].blocked[FREE] for k in contacts.which.tolist()]
    gaps = np.vstack([np.hstack([gap.A, gap.B]) for gap in free]) * scale
    seen = np.zeros_like(gaps)
    seen[:, [*data.states, *range(model.n, len(scale))]] = contacts.distances
    seen *= scale
    missing = gaps - seen
    left = missing - np.linalg.lstsq(known.T, missing.T, rcond=None)[0].T @ known
    return _cancelling(left, np.maximum(np.abs(gaps).max(axis=1), np.abs(seen).max(axis=1)))


def transmitting_chains(model: AffineModel, contacts: Contacts) -> Contacts:
    """The contacts that transmit impulses, by themselves or in chains through places without mass.

    A place without mass gives way to an impulse at once: on a spring it leaps there and back, on a damper it is elsewhere then.
    So its contact takes none by itself, and its speed, which forces decide, is that of what it touches. What is squeezed between
    two bodies hands on the impulse of the one to the other, whatever holds it.
    """
    gaps = np.array([model.elements[k].blocked[FREE].A[0] for k in contacts.which.tolist()])
    gaps = gaps.reshape(len(contacts.which), model.n)
    seen = contacts.distances[:, : len(contacts.data.states)]
    leaps = []
    for over, moved, scale in (
        (gaps, contacts.impulse, model.scale),
        (seen, contacts.jump, model.scale[contacts.data.states]),
    ):
        leap = over @ moved
        # Beside the terms of the sum, which may all be rounding, what the impulse moves most.
        most = np.max(np.abs(moved) / scale[:, None], axis=0, initial=0.0)
        size = np.abs(over) @ np.abs(moved) + (np.abs(over) @ scale)[:, None] * most
        leap[np.abs(leap) <= ROUNDING * size] = 0.0
        leaps.append(leap / np.maximum(np.abs(leap).max(axis=1, keepdims=True, initial=0.0), TINY))
    rows = np.hstack([leap.T for leap in leaps])
    return contacts.chained(_cancelling(rows, np.ones(len(rows)))) if rows.any() else contacts


def _cancelling(rows: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Weights, none below zero, with which rows (c, m) made of terms of some ``size`` (c,) sum up to zero, column by column."""
    sums = np.eye(len(rows))
    while True:
        rows = np.where(np.abs(rows) <= MEETS * size[:, None], 0.0, rows)
        if not rows.any():
            return sums
        at = rows[:, np.abs(rows).max(axis=0).argmax()]
        up, down = np.flatnonzero(at > 0.0), np.flatnonzero(at < 0.0)
        i, j = np.repeat(up, len(down)), np.tile(down, len(up))
        first, second = np.minimum(-at[j] / at[i], 1.0), np.minimum(-at[i] / at[j], 1.0)
        stay = at == 0.0
        sums, rows = (
            np.vstack([x[stay], first[:, None] * x[i] + second[:, None] * x[j]]) for x in (sums, rows)
        )
        size = np.concatenate([size[stay], first * size[i] + second * size[j]])


def fastest(contacts: Contacts, approach: np.ndarray) -> np.ndarray:
    """Of the approaches (c,) of contacts, for each the fastest of those that share masses with it; zero where all part."""
    found = np.zeros(len(approach))
    for group in sharing_masses(contacts.inverse_masses):
        found[group] = max(approach[group].max(), 0.0)
    return found


def rest_speeds(model: AffineModel, contacts: Contacts, approach: np.ndarray) -> np.ndarray:
    """Speeds up to which contact is kept: as declared, else 1e-6 of the `fastest` approach; what is far too slow never flies.

    A chain has the largest of those that its members declare.
    """
    declared = np.full(len(model.elements), -1.0)
    for k in contacts.which.tolist():
        speed = model.elements[k].rest_speed
        declared[k] = -1.0 if speed is None else speed
    largest = np.max(np.where(contacts.weights > 0.0, declared[contacts.which], -1.0), axis=1, initial=-1.0)
    return np.maximum(_TOO_SLOW, np.where(largest < 0.0, _REST * approach, largest))


def gap_speed(element: Element, after: Restart) -> float:
    """Speed of the gap of a contact after a restart."""
    return float((_gap_row(element, after.data) @ after.data.Ay @ after.y)[0])


def start_limits(model: AffineModel, z: np.ndarray, xi: np.ndarray) -> np.ndarray | None:
    """Left limits (n,) of a start, with algebraic unknowns that agree with the start values.

    Before the first instant no branch of any element is in force. What holds whatever the branches are, the rows of the base
    without derivatives, gives the algebraic unknowns of least change; the work of impulses is reckoned with them. None where
    the start values contradict these rows.
    """
    if not model.elements:
        return z
    rows = ~model.base.E.any(axis=1)
    free = ~model.differentiated
    A, B = model.base.A[rows], model.base.B[rows]
    defect = A @ z + B @ xi
    # Rows and columns at their scales: unknowns of different units share a row.
    over = A * model.scale
    size = np.maximum(np.abs(over).max(axis=1, initial=0.0), np.finfo(float).tiny)
    change = np.linalg.lstsq(over[:, free] / size[:, None], -defect / size, rcond=None)[0]
    # All rows are solved at once: what others move by rounds those that nothing moves.
    change[np.abs(change) <= ROUNDING * np.abs(change).max(initial=0.0)] = 0.0
    found = z.copy()
    found[free] += model.scale[free] * change
    # What a change takes to zero is known to the rounding of where it was.
    size = np.concatenate([np.maximum(np.abs(z), np.abs(found)), np.abs(xi)])
    return found if meets(np.hstack([A, B]), np.concatenate([found, xi]), size) else None


def meets(rows: np.ndarray, values: np.ndarray, size: np.ndarray | None = None) -> bool:
    """Whether values, made of terms of some ``size`` if that is not their own, satisfy rows that are to be zero."""
    terms = np.abs(rows) @ (np.abs(values) if size is None else size)
    return bool((np.abs(rows @ values) <= MEETS * terms).all())


def pushed(model: AffineModel, after: Restart, z_minus: np.ndarray, held: list[int]) -> bool:
    """Whether unknowns are ``held`` against the impulses of a restart, which then miss equations that differentiate them."""
    rows = model.rows(after.data.mode)
    of = np.flatnonzero((rows.E[:, held] != 0.0).any(axis=1))
    moved, ends = after.z - z_minus, np.abs(after.z) + np.abs(z_minus)
    values, size = np.concatenate([moved, after.J1]), np.concatenate([ends, np.abs(after.J1)])
    return not meets(np.hstack([rows.E[of], rows.A[of]]), values, size)


def lost_energy(
    model: AffineModel,
    before: ModeData,
    after: ModeData,
    z_minus: np.ndarray,
    z_plus: np.ndarray,
    J1: np.ndarray,
    xi: np.ndarray,
    mean: np.ndarray | None = None,
) -> np.ndarray:
    """Energy that every element absorbs in an instant, shape (K,).

    A pair (x, y) absorbs ``mean(x) J(y) + mean(y) J(x)``. During the instant the variables of a linear
    model move along straight lines as seen by the impulses, so the means are those of left and right
    limits. The sum over the elements is the loss of stored energy plus the work of ideal sources.

    Parameters
    ----------
    model : AffineModel
    before, after : ModeData
        Modes on both sides of the instant.
    z_minus, z_plus : (n,) array
        Limits on both sides.
    J1 : (n,) array
        Impulse of the instant, or of one part of it.
    xi : (q,) array
    mean : (2 n,) array, optional
        Means of the variables and of their slopes in a nonlinear model.

    Notes
    -----
    The pair are the blocked variables of two branches, as `absorbing` says, without constant parts: their
    product is the power absorbed by a controlled element, friction or modes, and the power delivered by
    a complementarity (both non-negative there). The pair of an impact is a length and a force;
    the power contains the rate of the length.
    """
    energy = np.zeros(len(model.elements))
    limits = 0.5 * (z_minus + z_plus) if mean is None else mean[: model.n]
    for k, element in enumerate(model.elements):
        sign, *pair = absorbing(element)
        if not sign:
            continue
        first, second = (element.blocked[k].A for k in pair)
        if element.kind is Kind.IMPACT:
            gap = element.blocked[FREE]
            speed = 0.5 * (_rate(element, before, z_minus, xi) + _rate(element, after, z_plus, xi))
            if mean is not None:
                speed = gap.A @ mean[model.n :] + gap.B @ (model.S @ xi)
            work = speed * (second @ J1)
        else:
            work = (first @ limits) * (second @ J1) + (second @ limits) * (first @ J1)
        energy[k] = sign * float(np.sum(work))
    return energy


def absorbing(element: Element) -> tuple[float, int, int]:
    """Sign with which a power is what an element absorbs, and the two branches whose blocked variables make it.

    The sign is 0 where they may have none. Modes may draw a characteristic between any two quantities: a curve names them. Where
    there is none, and one of the first two modes prescribes a flow and the other does not, they prescribe flow and potential.
    """
    if element.absorbing is not None:
        return 1.0, *element.absorbing
    if len(element.blocked) < 2:
        return 0.0, 0, 0
    if element.kind is Kind.MODES:
        return float(element.branches[0].cuts_flow != element.branches[1].cuts_flow), 0, 1
    return _ABSORBED.get(element.kind, 0.0), 0, 1


_ABSORBED = {Kind.CONTROLLED: 1.0, Kind.FRICTION: 1.0, Kind.COMPLEMENTARITY: -1.0, Kind.IMPACT: -1.0}


def _gap_row(element: Element, data: ModeData) -> np.ndarray:
    """The gap over y."""
    gap = element.blocked[FREE]
    over_y = gap.A @ data.T
    over_y[:, len(data.states) :] += gap.B
    return over_y


def _rate(element: Element, data: ModeData, z: np.ndarray, xi: np.ndarray) -> np.ndarray:
    return _gap_row(element, data) @ data.Ay @ np.concatenate((z[data.states], xi))
