"""Jump of the states and impulses of all variables at an instant.

Every equation integrated over the instant reads ``E (z+ - z-) + A J1 = 0``; consistency of the
impulses demands ``E J1 + A J2 = 0``, and so on to ``E Jp = 0``. For linear passive networks p = 1
suffices (Camlibel, Heemels, van der Schaft, Schumacher, "Switched networks and complementarity",
2003); constraints on positions need p = 2.

What moves by a defect is the difference of what it was and what takes it where it is going. Where the one is a small part that
a large one takes along, the difference has no digits: what goes on is then read from what is conserved, a sum over left limits.
"""

from __future__ import annotations

import numpy as np

from .affine import AffineModel, Inadmissible, ModeData, Rows
from .dont_care import blocked_rows, settle, settle_by_size
from .elimination import Elimination, product
from .rounding import ROUNDING, SUMMED, UNIT
from .scales import column_weights


def impulse_maps(model: AffineModel, data: ModeData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Movement of the selected states and impulse J1 per unit of the constraint residuals.

    Parameters
    ----------
    model : AffineModel
    data : ModeData
        The mode that is entered.

    Returns
    -------
    jump : (n_states, n_constraints) array
    impulse : (n, n_constraints) array
        Undetermined parts are least norm in the blocked variables, as for z itself.
    unmet : (k, n_constraints) array
        Combinations of residuals that no impulse removes: loops of positions that the equations close by themselves.

    Notes
    -----
    The state is split into the part that satisfies the constraints with the selected states as
    they are, and the defect ``r`` of the dependent ones. Only ``r`` enters, so what is continuous
    is so by structure and not to rounding.
    """
    if not len(data.dependent):
        return np.zeros((len(data.states), 0)), np.zeros((model.n, 0)), np.zeros((0, 0))
    rows = model.rows(data.mode)
    return _solve(model, data, rows, _defects(data, rows))


def _defects(data: ModeData, rows: Rows) -> np.ndarray:
    """What defects of the constraints leave in the equations integrated over the instant, (m, n_constraints)."""
    # A residual was normalised; the coefficient of the dependent variable gives its defect.
    return -rows.E[:, data.dependent] / data.constraints[np.arange(len(data.dependent)), data.dependent]


def limit_map(model: AffineModel, data: ModeData) -> np.ndarray:
    """The selected states and impulse J1 after a jump over left limits of all variables and sources, (n_states + n, n + q).

    Notes
    -----
    The same as the selected states with what `impulse_maps` make of the residuals, where an impulse removes these. Nothing is
    subtracted here, so every coefficient has its own digits; but what is continuous is so to rounding only.
    """
    rows, x = model.rows(data.mode), np.flatnonzero(model.differentiated)
    sources = product(rows.E[:, data.dependent], data.T[data.dependent, len(data.states) :])
    # With the defects beside them, which say how many orders there are.
    defects = _defects(data, rows)
    jump, impulse, _ = _solve(
        model, data, rows, np.hstack([defects, -rows.E[:, x], sources]), defects.shape[1]
    )
    found = np.zeros((len(jump) + len(impulse), model.n + model.q))
    found[:, np.concatenate([x, model.n + np.arange(model.q)])] = np.vstack([jump, impulse])[
        :, defects.shape[1] :
    ]
    return found


def after_jump(
    data: ModeData, z_minus: np.ndarray, xi: np.ndarray, removed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The selected states once an impulse has removed defects (k,) of the constraints, and it; each goes whole or not at all.

    What is conserved may add up to nothing: what rounding leaves of that has no sign.
    """
    k, (over, terms) = len(data.states), data.movement
    before = z_minus[data.states]
    found, size = over.dot(removed), terms.dot(np.abs(removed))
    found[:k] += before
    size[:k] += np.abs(before)
    lost = _cancelled(found, size)
    if True in lost.tolist():
        kept, point = data.of_limits[lost], _meeting(data, z_minus, xi, removed)
        sums, terms = kept @ point, np.abs(kept) @ np.abs(point)
        found[lost] = np.where(np.abs(sums) <= ROUNDING * terms, 0.0, sums)
    return found[:k], found[k:]


def moved_by_limits(data: ModeData, which: np.ndarray) -> np.ndarray:
    """Movement of the selected states, all defects removed, by that of left limits of some variables, (n_states, c)."""
    own = (data.states[:, None] == which).astype(float)
    if not len(data.constraints):
        return own
    over = data.constraints[:, which]
    found, size = own + data.jump @ over, own + np.abs(data.jump) @ np.abs(over)
    lost = _cancelled(found, size)
    return np.where(lost, data.of_limits[: len(own), which], found) if lost.any() else found


def _cancelled(found: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Sums that are so much smaller than the magnitudes of their terms that digits are lost."""
    return SUMMED * np.abs(found) < UNIT * size


def _meeting(data: ModeData, z_minus: np.ndarray, xi: np.ndarray, removed: np.ndarray) -> np.ndarray:
    """Left limits and sources (n + q,) with no other defects than those: dependent variables give way to the selected states."""
    point = np.concatenate([z_minus, xi])
    own = data.constraints[np.arange(len(data.dependent)), data.dependent]
    point[data.dependent] -= (data.constraints.dot(point) - removed) / own
    return point


def response_maps(model: AffineModel, data: ModeData, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Movement of the selected states and impulse J1 per unit of an impulse in an equation.

    Parameters
    ----------
    model : AffineModel
    data : ModeData
    which : (c,) array of int
        Equations in force, ``f = 0`` say, which shall read ``f = delta(t)``.

    Returns
    -------
    jump : (n_states, c) array
    impulse : (n, c) array

    Raises
    ------
    Inadmissible
        "singular" if an impulse there moves nothing that has inertia.
    """
    rows = model.rows(data.mode)
    given = np.zeros((len(rows), len(which)))
    given[which, np.arange(len(which))] = -1.0
    jump, impulse, unmet = _solve(model, data, rows, given)
    if len(unmet):
        raise Inadmissible("singular", lambda: (model.names[j] for j in data.dependent.tolist()))
    return jump, impulse


def moves_at_once(model: AffineModel, data: ModeData, J1: np.ndarray, z: np.ndarray) -> bool:
    """Whether impulses J1 (n,) of rates move positions by more than the rounding of all that gaps may be summed from."""
    rows, moves = model.rows(data.mode), np.where(model.differentiated, np.abs(J1), 0.0)
    if not moves.any():
        return False
    beyond = np.abs(rows.A) @ moves > ROUNDING * (np.abs(rows.E) @ model.sum_of_unit(np.abs(z)))
    return bool(beyond[rows.E.any(axis=1)].any())


def next_order(model: AffineModel, data: ModeData, J1: np.ndarray) -> np.ndarray:
    """The impulses of second order J2 (n, c) behind impulses J1 (n, c): ``E J1 + A J2 = 0`` and ``E J2 = 0``."""
    rows = model.rows(data.mode)
    moved = rows.E @ J1
    chain, given = np.vstack([rows.A, rows.E]), np.vstack([-moved, np.zeros_like(moved)])
    # Rows and columns at their scales: equations of different units share a model.
    scaled = chain * data.balance.z
    size = np.abs(scaled).max(axis=1, keepdims=True)
    size[size == 0.0] = 1.0
    return data.balance.z[:, None] * np.linalg.lstsq(scaled / size, given / size, rcond=None)[0]


def _solve(
    model: AffineModel, data: ModeData, rows: Rows, given: np.ndarray, deciding: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Movement and impulse per unit of what stands in the equations integrated over the instant, (m, c).

    The third array holds the combinations of the given quantities, or of the first of them that are ``deciding``, that have to
    vanish: as few as in any order, with the lowest order in which they are so few.
    """
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for order in range(1, max(data.index, 1) + 1):
        system, unknown, known = _chain(data, rows, order, given)
        system.reduce(unknown)
        left = system.entries((system.pivot < 0).nonzero()[0], known[:deciding])
        found.append((*_read_off(model, data, system, unknown, known), left[left.any(axis=1)]))
        if not len(found[-1][2]):
            break
    return min(found, key=lambda maps: np.linalg.matrix_rank(maps[2]) if len(maps[2]) else 0)


def _chain(
    data: ModeData, rows: Rows, order: int, given: np.ndarray
) -> tuple[Elimination, np.ndarray, np.ndarray]:
    """Rows of the impulse chain over [moves of the states, J1 .. Jp, what is given]."""
    (m, n), k, c = rows.E.shape, len(data.states), given.shape[1]
    dynamic = rows.E.any(axis=1)
    blocks = np.zeros((order + 1, m, k + n * order + c))
    moves = data.T[data.dependent, :k]
    blocks[0, :, :k] = rows.E[:, data.states] + product(rows.E[:, data.dependent], moves)
    blocks[0, :, k + n * order :] = given
    for level in range(order):
        at = k + n * level
        blocks[level, :, at : at + n] = rows.A
        blocks[level + 1, :, at : at + n] = rows.E
    table = np.vstack([*blocks[:-1], blocks[-1][dynamic]])
    unknown = np.arange(k + n * order)
    weight = np.ones(table.shape[1])
    weight[unknown] = column_weights(table[:, unknown])
    return Elimination(table, weight), unknown, np.arange(len(unknown), table.shape[1])


def _read_off(
    model: AffineModel, data: ModeData, system: Elimination, unknown: np.ndarray, known: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    k = len(data.states)
    first = unknown[k : k + model.n]
    free = unknown[system.row[unknown] < 0]
    if len(free):
        blocked, magnitude = blocked_rows(model, data.mode, data.balance)
        forms = np.zeros((len(magnitude), len(system.row)))
        forms[:, first] = blocked.A / magnitude[:, None]
        settle_by_size(system, settle(system, free, forms)[0], first, data.balance.z)
    return system.solution(unknown[:k], known), system.solution(first, known)
