"""Closed-form flow of an affine mode ``y' = Ay y`` with ``y = [x; xi]``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from .assembly import assemble, joined
from .basis import PRECISION, first_edges

DEAD = 2.0**-52
"""Part of the largest magnitude seen of a state below which a decaying group no longer counts."""


class AffineFlow:
    """Everything about the flow of one mode that does not depend on the start value.

    Parameters
    ----------
    Ay : (ny, ny)
        Generator. The last ``ny - nx`` states are the exosystem: their rows are zero in
        the first ``nx`` columns, and their block is block diagonal (see `exosystem.blocks`).
    nx : int
        Number of physical states.
    T0 : float
        Time unit in seconds (shortest declared period, else the span of the run). States
        slow against it are integrated together with the sources that drive them instead
        of being split off.

    Attributes
    ----------
    basis : Basis
        The scalar functions of which every trajectory is a combination.
    reach : float
        Length in seconds over which one combination is exact; longer trajectories continue in pieces.
    left, right : (ny, nt), (nt, ny) arrays
        The state is the sum of ``left[:, k] * (right[k] @ y0)`` times function ``function[k]``.
    function : (nt,) array

    Raises
    ------
    ValueError
        The exosystem has a block that is no constant, polynomial, sinusoid or exponential.

    Notes
    -----
    Sources are split off by the particular solution ``x = X xi + w`` (Sylvester equation),
    eigenvalues close to those of a source stay joined with it as a power series, and ``w``
    is a sum of modes, or of small groups where the eigenvectors are ill conditioned.
    """

    def __init__(self, Ay: np.ndarray, nx: int, T0: float) -> None:
        self.ny, self.nx = len(Ay), nx
        parts = assemble(np.asarray(Ay, float), nx, T0)
        self.basis = parts.basis
        self.reach = parts.reach
        self.left = np.ascontiguousarray(parts.left)
        self.right = np.ascontiguousarray(parts.right)
        self._starts = parts.starts
        self._single = len(parts.starts) == parts.left.shape[1]
        self._sizes = np.abs(self.left), np.abs(self.right)
        self._size = self._sizes[0] @ self._sizes[1]
        self.function = np.searchsorted(parts.starts, np.arange(parts.left.shape[1]), side="right") - 1
        self._powers = bool(parts.basis.power.any())
        self.limited = [*parts.limited, *((reach, columns, False) for reach, columns in self.basis.growing())]

    @cached_property
    def independent(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``left``, ``right`` and ``function`` of the same sum, in which terms of a function do not all but cancel."""
        ends = np.append(self._starts[1:], self.left.shape[1])
        pairs = [
            joined(self.left[:, a:b], self.right[a:b], self.nx)
            for a, b in zip(self._starts, ends, strict=True)
        ]
        function = np.repeat(np.arange(len(pairs)), [len(right) for _, right in pairs])
        left = np.hstack([self.left[:, :0], *(left for left, _ in pairs)])
        return left, np.vstack([self.right[:0], *(right for _, right in pairs)]), function

    def start(self, y0: np.ndarray, shift: np.ndarray | None = None) -> Trajectory:
        """The trajectory through `y0` (ny,) at the start of the segment, off by up to ``shift``, all of it together."""
        return Trajectory(self, y0, self.coefficients(y0), shift=shift)

    def coefficients(self, y0: np.ndarray) -> np.ndarray:
        """Coefficients (ny, basis.size) of the trajectory through `y0`."""
        terms = self.left * self.right.dot(y0)
        return terms if self._single else np.add.reduceat(terms, self._starts, axis=1)

    def magnitude(self, y0: np.ndarray, length: float) -> np.ndarray:
        """Sum (ny,) of the magnitudes of all products within `length` seconds, by which the states are rounded.

        Products cancel in the coefficients too. At rest away from the origin the coefficients of all decaying terms
        are nothing but rounding, and so is the value of a state that should stay at zero.
        """
        if not self._powers:
            return self._size.dot(np.abs(y0))
        left, right = self._sizes
        return left.dot(right.dot(np.abs(y0)) * self.basis.weights(length)[self.function])

    def drift(self, rates: np.ndarray, y: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray]:
        """How far (ny,) rounding of the generator takes the states within `length` seconds, and magnitudes of their terms.

        Parameters
        ----------
        rates : (ny,) array
            ``abs(Ay) @ abs(y)``: sums of the terms of the rates, which may cancel.
        y : (ny,) array
            Magnitudes of the states.

        Notes
        -----
        A part eps of the terms drives every function as long as it remembers: a fast one for its time constant, a slow one
        all the time. Where fast rates cancel in a slow motion, as those of a loss too small do, that is eps times the ratio of
        their rates (first-order perturbation of eigenvalues: Golub and Van Loan, Matrix Computations, section 7.2).
        """
        left, right = self._sizes
        remembered = 1.0 / np.maximum(-self.basis.sigma[self.function], 1.0 / length)
        return left.dot(remembered * right.dot(DEAD * rates)), left.dot(right.dot(y))


class Trajectory:
    """One solution ``y(h)``, a function of the time ``h`` in seconds since the start of the segment.

    Attributes
    ----------
    flow : AffineFlow
    y0 : (ny,)
    C : (ny, basis.size)
        ``y(h) = C phi(h)`` as long as ``h <= reach``.
    reach : float
    shift : (ny,) or None
        By how much ``y0`` may be off, all of it together.
    """

    __slots__ = ("C", "_largest", "_next", "flow", "reach", "shift", "y0")

    precision = PRECISION
    """Relative error that integrals along the trajectory may have."""
    halvings = 64
    """Halvings of a panel of `edges` beyond which integrals gain nothing: as many as it takes."""

    def __init__(
        self, flow: AffineFlow, y0: np.ndarray, C: np.ndarray, largest: np.ndarray | None = None,
        shift: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.flow, self.y0, self.C, self.shift = flow, y0, C, shift
        self.reach = flow.reach
        self._next: Trajectory | None = None
        self._largest = largest
        if flow.limited:
            self._limit()

    def _limit(self) -> None:
        """Drop decayed groups, and take the reach from those that are left."""
        size = np.abs(self.y0)
        self._largest = size if self._largest is None else np.maximum(size, self._largest)
        self.reach = np.inf
        if not np.isfinite(size).all():
            return  # nothing is known from here on
        for reach, columns, decays in self.flow.limited:
            part = self.C[:, columns]
            if not part.any():
                continue
            if decays:
                bound = np.abs(part) @ self.flow.basis.envelope(0.0, reach)[columns]
                if (bound <= DEAD * self._largest).all():
                    self.C[:, columns] = 0.0
                    continue
            self.reach = min(self.reach, reach)

    def edges(self, h0: float, h1: float) -> np.ndarray:
        """Ends of the panels with which a quadrature over ``[h0, h1]`` begins."""
        return first_edges(self.flow.basis, self.C, h0, h1)

    def magnitude(self, length: float) -> np.ndarray:
        """Magnitudes (ny,) by which the states are rounded within the first `length` seconds."""
        return self.flow.magnitude(self.y0, min(length, self.reach))

    def at(self, h: float) -> np.ndarray:
        """State (ny,) at time `h`."""
        if h > self.reach:
            start, piece = self.piece(h)
            return piece.C.dot(piece.flow.basis.at(h - start))
        return self.C.dot(self.flow.basis.at(h))

    def slope(self, h: float) -> np.ndarray:
        """Time derivative (ny,) at time `h`, of every function by itself."""
        start, piece = self.piece(h)
        basis = piece.flow.basis
        return piece.C.dot(basis.derivative.dot(basis.at(h - start)))

    def sample(self, hs: np.ndarray) -> np.ndarray:
        """States (k, ny) at the times `hs` (k,)."""
        hs = np.asarray(hs, float)
        if hs.max(initial=0.0) <= self.reach:
            return self.flow.basis.sample(hs) @ self.C.T
        y = np.empty((len(hs), self.flow.ny))
        for start, piece in self.pieces(float(hs.max())):
            inside = (hs > start) & (hs <= start + piece.reach)
            if start == 0.0:
                inside |= hs <= 0.0
            y[inside] = self.flow.basis.sample(hs[inside] - start) @ piece.C.T
        return y

    def pieces(self, h_end: float) -> Iterator[tuple[float, Trajectory]]:
        """Starts and trajectories of the pieces that cover ``[0, h_end]``, each exact over its own reach."""
        start, piece = 0.0, self
        yield start, piece
        while start + piece.reach < h_end:
            start, piece = start + piece.reach, piece._continue()
            yield start, piece

    def piece(self, h: float) -> tuple[float, Trajectory]:
        """Start of the piece that holds a time, and its trajectory."""
        start, piece = 0.0, self
        while h > start + piece.reach:
            start, piece = start + piece.reach, piece._continue()
        return start, piece

    def _continue(self) -> Trajectory:
        if self._next is None:
            y = self.at(self.reach)
            shift = None if self.shift is None else self.flow.start(self.shift).at(self.reach)
            self._next = Trajectory(self.flow, y, self.flow.coefficients(y), self._largest, shift)
        return self._next
