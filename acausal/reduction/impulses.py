"""Jump of the states and impulses of all variables at an instant.

Every equation integrated over the instant reads ``E (z+ - z-) + A J1 = 0``; consistency of the
impulses demands ``E J1 + A J2 = 0``, and so on to ``E Jp = 0``. For linear passive networks p = 1
suffices (Camlibel, Heemels, van der Schaft, Schumacher, "Switched networks and complementarity",
2003); constraints on positions need p = 2.

What moves by a defect is the difference of what it was and what takes it where it is going. Where the one is a small part that
a large one takes along, the difference has no digits: what goes on is then read from what is conserved, a sum over left limits.
"""

from __future__ import annotations

from collections.abc import Callable

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
    rows, own = model.rows(data.mode), data.constraints[np.arange(len(data.dependent)), data.dependent]
    # A residual was normalised; the coefficient of the dependent variable gives its defect.
    return _solve(model, data, rows, -rows.E[:, data.dependent] / own)


def limit_maps(model: AffineModel, data: ModeData) -> tuple[np.ndarray, np.ndarray]:
    """The selected states and impulse J1 after a jump over left limits of all variables and sources.

    Parameters
    ----------
    model : AffineModel
    data : ModeData
        The mode that is entered.

    Returns
    -------
    jump : (n_states, n + q) array
    impulse : (n, n + q) array

    Notes
    -----
    The same as the selected states with what `impulse_maps` make of the residuals, where an impulse removes these. Nothing is
    subtracted here, so every coefficient has its own digits; but what is continuous is so to rounding only.
    """
    rows, x = model.rows(data.mode), np.flatnonzero(model.differentiated)
    sources = product(rows.E[:, data.dependent], data.T[data.dependent, len(data.states) :])
    jump, impulse, _ = _solve(model, data, rows, np.hstack([-rows.E[:, x], sources]))
    which = np.concatenate([x, model.n + np.arange(model.q)])
    found = np.zeros((len(jump) + len(impulse), model.n + model.q))
    found[:, which] = np.vstack([jump, impulse])
    return found[: len(jump)], found[len(jump) :]


def states_after(data: ModeData, z_minus: np.ndarray, xi: np.ndarray, removed: np.ndarray) -> np.ndarray:
    """The selected states once an impulse has removed defects (k,) of the constraints, each of them whole or not at all."""
    before = z_minus[data.states]
    return displaced(
        before, data.jump, removed, lambda: data.of_limits[0] @ _meeting(data, z_minus, xi, removed)
    )


def impulse_after(data: ModeData, z_minus: np.ndarray, xi: np.ndarray, removed: np.ndarray) -> np.ndarray:
    """The impulse J1 that has removed them."""
    none = np.zeros(len(data.impulse))
    return displaced(
        none, data.impulse, removed, lambda: data.of_limits[1] @ _meeting(data, z_minus, xi, removed)
    )


def displaced(
    before: np.ndarray, over: np.ndarray, by: np.ndarray, in_whole: Callable[[], np.ndarray]
) -> np.ndarray:
    """``before + over @ by``, and where its terms cancel what it is ``in_whole``."""
    found, size = before + over @ by, np.abs(before) + np.abs(over) @ np.abs(by)
    lost = SUMMED * np.abs(found) < UNIT * size
    return np.where(lost, in_whole(), found) if lost.any() else found


def _meeting(data: ModeData, z_minus: np.ndarray, xi: np.ndarray, removed: np.ndarray) -> np.ndarray:
    """Left limits and sources (n + q,) with all defects met but those that are ``removed``, with the selected states as they are."""
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
    model: AffineModel, data: ModeData, rows: Rows, given: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Movement and impulse per unit of what stands in the equations integrated over the instant, (m, c).

    The third array holds the combinations of the given quantities that have to vanish: as few as in any order, with the
    lowest order in which they are so few.
    """
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for order in range(1, max(data.index, 1) + 1):
        system, unknown, known = _chain(data, rows, order, given)
        system.reduce(unknown)
        left = system.entries((system.pivot < 0).nonzero()[0], known)
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
