"""How exactly guards are known along a trajectory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .modal import AffineFlow, Trajectory

CANCELLATION = 8.0 * 2.0**-52
"""Rounding of a guard relative to the sum of the magnitudes of its terms, which may cancel."""


class Sizes(NamedTuple):
    """Noise along one trajectory."""

    start: np.ndarray
    """Of the values at the start (ng,)."""
    moving: np.ndarray
    """Coefficients (ng, nt) of the part that moves, for each function."""
    staying: np.ndarray
    """The same of the part that stays."""
    shifted: np.ndarray | None
    """Like ``moving``, what the shift of the start does; None without one."""


class GuardNoise:
    """Noise of the guards ``G y`` along the trajectories of one flow.

    Parameters
    ----------
    flow : AffineFlow
    G : (ng, ny) array
    error : float
        Error of the states at the start of a segment, relative to their magnitudes.

    Notes
    -----
    An error of the start moves as the states do: what a fast function makes of it is gone when that has decayed. The small flow
    through a loss is a difference of large states times the conductance; it is known as exactly as the slow functions give it,
    not as the states are known. A guard that reads few states, as the speed of a swing, is known better at its start than errors
    of all states at once would make it: the smaller of the two counts. What rounding of the last segment left in all states
    belongs to the floor, which the caller gives. Rounding of an evaluation stays as long as the terms do that cancel in it.
    """

    def __init__(self, flow: AffineFlow, G: np.ndarray, error: float) -> None:
        left, self._right, self._moves = flow.independent
        self._left, self._follows = G @ left, np.abs(self._right)
        self._moving = error * np.abs(self._left)
        self._start = error * np.abs(G)
        self._staying = CANCELLATION * (np.abs(G) @ np.abs(flow.left))
        self._basis, self._function = flow.basis, flow.function
        self._size = np.abs(flow.right)

    def sizes(self, trajectory: Trajectory) -> Sizes:
        """What noise a trajectory has."""
        y = np.abs(trajectory.y0)
        shift = trajectory.shift
        return Sizes(
            self._start @ y,
            self._moving * (self._follows @ y),
            self._staying * (self._size @ y),
            None if shift is None else self._shifted(shift),
        )

    def _shifted(self, shift: np.ndarray) -> np.ndarray:
        return np.abs(self._left * self._right.dot(shift))

    def rounding(self, trajectory: Trajectory, h: float) -> np.ndarray:
        """That of an evaluation (ng,) at one time."""
        start, piece = trajectory.piece(h)
        weights = self._basis.weights(h - start)[self._function]
        return self._staying @ (weights * (self._size @ np.abs(piece.y0)))

    def between(self, sizes: Sizes, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest noise (ng,) in the interval ``[a, b]``."""
        start, moving, staying, shifted = sizes
        basis, f = self._basis, self._function
        small, large = basis.magnitudes(a, b)
        grown = basis.weights(b)
        least = np.minimum(start, moving.dot(small[self._moves]))
        most = np.minimum(start, moving.dot(large[self._moves]))
        if shifted is not None:
            least, most = least + shifted.dot(small[self._moves]), most + shifted.dot(large[self._moves])
        rest = staying.dot(grown[f])
        return least + (rest if grown is basis.ones else staying.dot(basis.weights(a)[f])), most + rest
