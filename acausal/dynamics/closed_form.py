"""Closed forms of affine modes: their functions, the flow of a mode, its trajectories and integrals along them.

The functions are ``exp(sigma h) h^k / k!``, alone or times ``cos(omega h)`` and ``sin(omega h)``. The flow of ``y' = Ay y`` with
``y = [x; xi]`` is a sum of products with them, which `assembly` finds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from ..errors import warn
from ..kernels.functions import LARGEST_EXPONENT, TURNS_EXACT, Functions
from ..kernels.loading import Packed, Pool
from ..reduction.double_double import SPLITTER, split
from ..reduction.rounding import SUMMED, UNIT
from ..values import frozen
from .flow_room import FlowRoom
from .kronrod import NODES, RULES, WEIGHTS
from .power_series import PowerSeries
from .products import Departure, Parts, independent

TURN = 2.0 * math.pi / 16.0
"""Angle that resolves a turning function."""
FAST = 4.0
"""Time constants or radians of one panel above which the first panels are made shorter."""
LAYERS = (2.0, 6.0, 16.0, 40.0)
"""Ends of the first panels of a decaying function, in time constants."""
MOST_PANELS = 256
"""First panels for turning functions; halving does the rest."""
PANEL = 10.0
"""Longest panel of a turning function in its time units: what a rule of 21 points integrates to rounding."""
DECAYED = 37.0
"""Time constants after which a function is below the rounding of its start."""
PRECISION = 1e-13
"""Relative error that integrals along a closed form may have."""
DEAD = UNIT
"""Part of the largest magnitude seen of a state below which a decaying group no longer counts."""
INTEGRAL = "an integral over time"
LEVELS = 45
"""Halvings after which a panel is taken as it is."""
STALE = 5
"""Halvings that leave most of the error, spread over both halves, after which it is rounding of the integrand."""
SPREAD = 1.0 / 32.0
"""Part of the larger of two errors above which the smaller one is of its kind."""
MOST_EVALUATED = 2**18
"""Panels of one integral; what turns more often is not resolved."""
CHUNK = 4_000_000
"""Numbers in one intermediate array."""


class Basis:
    """A list of scalar functions of the time ``h`` since the start of a segment.

    Parameters
    ----------
    keys : list of (sigma, omega, omega_low, k)
        One per function, in the order of the columns, ``omega >= 0``. A function
        with ``omega > 0`` stands for the cosine; the sines of all such functions
        follow at the end in the same order. Functions with ``omega == 0`` come
        first. With ``k`` every lower power is present too.

    Attributes
    ----------
    size : int
        Number of functions, sines included.
    speed : (size,)
        ``abs(sigma + i omega)``.
    time_unit : (size,)
        Time in which a function changes: a time constant, or 1/16 of a period; inf for a polynomial.
    frame : (size, 2)
        Values and slopes at ``h = 0``.
    derivative : (size, size)
        ``d phi / dh = derivative @ phi``.
    """

    _latest = math.nan, np.zeros(0)  # Files do not have it.

    def __init__(self, keys: list[tuple[float, float, float, int]]) -> None:
        table = np.array(keys, float).reshape(-1, 4)
        self.n_real = n = int((table[:, 1] == 0).sum())
        self.n_turning = m = len(table) - n
        full = np.vstack([table, table[n:]])
        self.size = len(full)
        self.sigma = full[:, 0].copy()
        self.omega, self.omega_low = table[n:, 1].copy(), table[n:, 2].copy()
        self.speed = np.hypot(full[:, 0], full[:, 1])
        self.fastest = float(self.speed.max(initial=0.0))
        with np.errstate(divide="ignore"):
            self.time_unit = np.where(np.arange(self.size) < n, 1.0, TURN) / self.speed
        self.power = full[:, 3].copy()
        # Integers divide whatever their size: from 171 on factorials are no floats.
        self.inverse_factorial = np.array([1 / math.factorial(int(k)) for k in self.power])
        self.derivative = self._derivative_matrix(table.tolist())
        self.frame = np.zeros((self.size, 2))
        self.frame[:, 0] = self.power == 0
        self.frame[n + m :, 0] = 0.0
        self.frame[:, 1] = self.derivative.dot(self.frame[:, 0])
        self.ones = np.ones(self.size)
        self._decay = np.minimum(self.sigma, 0.0)
        self._decays = bool(self.sigma.any())
        self._grows = bool((self.sigma > 0).any())
        self._powers = bool(self.power.any())
        self._omega_max = float(self.omega.max()) if m else 0.0
        self._omega_high, tail = split(self.omega)
        self._omega_tail = tail + self.omega_low
        # Where a function with a power has its largest magnitude.
        with np.errstate(divide="ignore", invalid="ignore"):
            self._peak = np.where(self.sigma < 0, self.power / -self.sigma, np.inf)

    @cached_property
    def packed(self) -> Packed:
        """The functions as kernels read them."""
        return Packed(self._functions())

    def _functions(self) -> Functions:
        table = [self.sigma, self.inverse_factorial, self._peak, self.speed, self.time_unit]
        turning = [self.omega, self._omega_high, self._omega_tail]
        coupled = self.derivative.copy()
        coupled[np.diag_indices(self.size)] = 0.0
        first = self.n_real + np.arange(self.n_turning)
        coupled[first, first + self.n_turning] = coupled[first + self.n_turning, first] = 0.0
        lower = np.where(coupled.any(1), coupled.argmax(1), -1)
        return Functions(
            np.array([self.n_real, self.n_turning]), np.array([self.fastest, self._omega_max]), np.array(table),
            np.array(turning), self.power.astype(np.int64), lower,
        )  # fmt: skip

    @property
    def functions(self) -> Functions:
        """The same for kernels."""
        return self.packed.record

    def growing(self) -> list[tuple[float, np.ndarray]]:
        """Return (time within which they stay in the range of doubles, their columns) for every growth rate."""
        rates = np.unique(self.sigma[self.sigma > 0.0]).tolist()
        return [(LARGEST_EXPONENT / rate, np.flatnonzero(self.sigma == rate)) for rate in rates]

    def _derivative_matrix(self, table: list[list[float]]) -> np.ndarray:
        n, m = self.n_real, self.n_turning
        D = np.diag(self.sigma)
        turning = np.arange(n, n + m)
        D[turning, turning + m] = -self.omega
        D[turning + m, turning] = self.omega
        if not self.power.any():
            return D
        rates = [(-1, *row[:3]) for row in table[:n]]
        rates += [(side, *row[:3]) for side in (0, 1) for row in table[n:]]
        place = {(rate, k): j for j, (rate, k) in enumerate(zip(rates, self.power.tolist(), strict=True))}
        for (rate, k), j in place.items():
            if k > 0:
                D[j, place[rate, k - 1]] = 1.0
        return D

    def at(self, h: float) -> np.ndarray:
        """Values at one time, shape (size,); not to be written to."""
        # The end of a segment is asked for by the scan and by the flow.
        latest, phi = self._latest
        if latest != h:
            phi = self._at(h)
            self._latest = h, phi
        return phi

    def _at(self, h: float) -> np.ndarray:
        if self._decays:
            exponent = self.sigma * h
            if self._grows:
                exponent = np.minimum(exponent, LARGEST_EXPONENT)
            phi = np.exp(exponent)
        else:
            phi = self.ones.copy()
        if self._powers:
            phi *= self.inverse_factorial * h**self.power
        if self.n_turning:
            n, m = self.n_real, self.n_turning
            cos, sin = self._turn(h)
            phi[n : n + m] *= cos
            phi[n + m :] *= sin
        return phi

    def sample(self, hs: np.ndarray) -> np.ndarray:
        """Values at several times, shape (k, size)."""
        column = hs[:, None]
        exponent = column * self.sigma
        if self._grows:
            exponent = np.minimum(exponent, LARGEST_EXPONENT)
        phi = np.exp(exponent)
        if self._powers:
            phi *= self.inverse_factorial * column**self.power
        if self.n_turning:
            n, m = self.n_real, self.n_turning
            cos, sin = self._turn(column)
            phi[:, n : n + m] *= cos
            phi[:, n + m :] *= sin
        return phi

    def exponentials(self, hs: np.ndarray) -> np.ndarray:
        """Values ``exp((sigma + i omega) h)`` at several times without powers, (k, functions without the sines)."""
        n, column = self.n_real, hs[:, None]
        rates = self.sigma[: n + self.n_turning]
        found = np.exp(np.minimum(column * rates, LARGEST_EXPONENT)).astype(complex)
        if self.n_turning:
            cos, sin = self._turn(column)
            found[:, n:] *= cos + 1j * sin
        return found

    def _turn(self, h: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cosine and sine of ``omega h``; the angle is kept in twice the precision, so that no phase drifts."""
        angle = self.omega * h
        cos, sin = np.cos(angle), np.sin(angle)
        last = float(h.max(initial=0.0)) if isinstance(h, np.ndarray) else h
        if last * self._omega_max <= TURNS_EXACT:
            return cos, sin
        t = SPLITTER * h
        high = t - (t - h)
        low = (self._omega_high * high - angle) + self._omega_high * (h - high) + self._omega_tail * h
        return cos - sin * low, sin + cos * low

    def weights(self, length: float) -> np.ndarray:
        """Bounds (size,) of the magnitudes on ``[0, length]``; growing exponentials count as at the start."""
        if not self._powers:
            return self.ones
        top = np.minimum(self._peak, length)
        return np.exp(np.minimum(self.sigma * top, 0.0)) * (self.inverse_factorial * top**self.power)

    def remembered(self, length: float) -> np.ndarray:
        """Bounds (size,) of the integrals of the magnitudes over ``[0, length]``; growing exponentials count as at the start."""
        times = 1.0 / np.maximum(-self.sigma, 1.0 / length)
        if not self._powers:
            return times
        # No more than without the decay, nor than over all times.
        of_power = length ** (self.power + 1.0) * (self.inverse_factorial / (self.power + 1.0))
        return np.minimum(of_power, np.where(self.sigma < 0, times ** (self.power + 1.0), np.inf))

    def magnitudes(self, h: float) -> np.ndarray:
        """Magnitudes (size,) at a time; growing exponentials count as at the start."""
        decayed = np.exp(self._decay * h)
        return decayed * (self.inverse_factorial * h**self.power) if self._powers else decayed

    def slow(self, length: np.ndarray) -> np.ndarray:
        """Within which lengths (k,) nothing changes much: one panel will do."""
        return self.fastest * length <= FAST

    def envelope(self, a: float | np.ndarray, b: float | np.ndarray) -> np.ndarray:
        """Bounds of the magnitude of every function on ``[a, b]``, shape (size,) or (k, size) for (k, 1) ends."""
        if not (self._grows or self._powers):
            return self.ones if isinstance(a, float) and a == 0.0 else np.exp(self.sigma * a)
        top = np.minimum(np.maximum(self._peak, a), b)
        bound = np.exp(np.minimum(self.sigma * top, LARGEST_EXPONENT))
        if self._powers:
            bound = bound * (self.inverse_factorial * top**self.power)
        return bound


class AffineFlow:
    """Everything about the flow of one mode that does not depend on the start value.

    Parameters
    ----------
    parts : Parts
        Made of the generator by `assembly.affine_flow`.
    nx : int
        Number of physical states.

    Attributes
    ----------
    basis : Basis
        The scalar functions of which every trajectory is a combination.
    reach : float
        Length in seconds over which one combination is exact; longer trajectories continue in pieces.
    left, right : (ny, nt), (nt, ny) arrays
        The state is the sum of ``left[:, k] * (right[k] @ y0)`` times function ``function[k]``, and of the `series`.
    function : (nt,) array
    series : list of PowerSeries
    shortest, size, departure
        As in `Parts`. A segment shorter than ``shortest`` loses fewer digits with a flow of a shorter time unit.
    """

    # Files of before have flows without these.
    series: list[PowerSeries] = []  # noqa: RUF012
    shortest = 0.0
    size: np.ndarray | None = None
    departure: Departure | None = None

    def __init__(self, parts: Parts, nx: int) -> None:
        self.ny, self.nx = parts.left.shape[0], nx
        self.basis = parts.basis
        self.reach, self.shortest = parts.reach, parts.shortest
        self.size, self.departure = parts.size, parts.departure
        self.left, self.right = parts.left, parts.right
        self._starts, self.series = parts.starts, parts.series
        self._sizes = abs(self.left), abs(self.right)
        self.function = np.searchsorted(parts.starts, np.arange(parts.left.shape[1]), side="right") - 1
        self._powers = bool(parts.basis.power.any())
        self.limited = [*parts.limited, *((reach, columns, False) for reach, columns in self.basis.growing())]

    @cached_property
    def _size(self) -> np.ndarray:
        return self._sizes[0] @ self._sizes[1]

    @cached_property
    def independent(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``left``, ``right`` and ``function`` of the same sum, in which terms of a function do not all but cancel."""
        return independent(self.left, self.right, self._starts, self.nx)

    @cached_property
    def missed(self) -> np.ndarray:
        """Defect (ny, ny) of the identity that the flow is at the start."""
        at = self.basis.frame[self.function, 0] != 0.0
        found = self.left[:, at] @ self.right[at] - np.eye(self.ny)
        for series in self.series:
            found += series.derivative(series.left, self.basis.frame[:, 0])
        return found

    def start(self, y0: np.ndarray, shift: np.ndarray | None = None) -> Trajectory:
        """The trajectory through `y0` (ny,) at the start of the segment, off by up to ``shift``, all of it together."""
        return Trajectory(self, y0, shift=shift)

    @cached_property
    def rooms(self) -> Pool:
        """Kernels that follow trajectories of this flow, where all of it are products."""
        return Pool(self._room)

    def _room(self) -> FlowRoom:
        return FlowRoom((self.left, self.right, self.function), self.basis.packed, self.limited)

    @property
    def plain(self) -> bool:
        """Whether all of it are products, of dense matrices."""
        return isinstance(self.left, np.ndarray) and not self.series

    def coefficients(self, y0: np.ndarray) -> np.ndarray:
        """Coefficients (ny, basis.size) of the trajectory through `y0`."""
        if self.plain:
            room = self.rooms.take()
            found = room.start(y0)
            self.rooms.give(room)
            return found
        weights = self.right.dot(y0)
        if not isinstance(self.left, np.ndarray):
            found = np.zeros((self.ny, self.basis.size))
            np.add.at(found, (self.left.indices, self.function), weights)
            return found
        found = np.add.reduceat(self.left * weights, self._starts, axis=1)
        for series in self.series:
            series.add(found, series.left, series.weights(y0))
        return found

    def coefficients_of(self, starts: np.ndarray) -> np.ndarray:
        """Those (k, ny, basis.size) of the trajectories through several states (k, ny), where all of the flow are products."""
        # State by state: a product of matrices has other bits for few starts than for many.
        weights = sum(starts[:, [j]] * self.right[:, j] for j in range(self.ny))
        return np.add.reduceat(self.left * np.asarray(weights)[:, None, :], self._starts, axis=2)

    def cancelling(self, rows: np.ndarray, weights: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Magnitudes of rows (k, ny) over all products, with those of one function and one start value summed before.

        Functions count by ``weights`` (size,), start values by ``y`` (ny,).
        """
        of_functions = np.add.reduceat(rows.dot(self.left)[:, :, None] * self.right, self._starts, axis=1)
        for series in self.series:
            series.add_over(of_functions, rows)
        return np.abs(of_functions) @ y @ weights

    def _sums(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Sums (ny,) of the magnitudes of all products with ``y`` (ny,), times ``weights`` (size,) of their functions."""
        left, right = self._sizes
        found = left.dot(right.dot(y) * weights[self.function])
        return found + sum(series.sums(y, weights) for series in self.series) if self.series else found

    def magnitude(self, y0: np.ndarray, length: float) -> np.ndarray:
        """Sum (ny,) of the magnitudes of all products within `length` seconds, by which the states are rounded.

        Products cancel in the coefficients too. At rest away from the origin the coefficients of all decaying terms
        are nothing but rounding, and so is the value of a state that should stay at zero.
        """
        if not self._powers:
            return self._size.dot(np.abs(y0))
        return self._sums(np.abs(y0), self.basis.weights(length))

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
        remembered, largest = self.basis.remembered(length), self.basis.weights(length)
        return self._sums(DEAD * rates, remembered), self._sums(y, largest)


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
        By how much ``y0`` may be off, all of it together, in one way.
    """

    __slots__ = ("_C", "_largest", "_next", "flow", "reach", "shift", "y0")

    precision = PRECISION
    """Relative error that integrals along the trajectory may have."""
    halvings = 64
    """Halvings of a panel of `edges` beyond which integrals gain nothing: as many as it takes."""

    def __init__(
        self, flow: AffineFlow, y0: np.ndarray, C: np.ndarray | None = None, largest: np.ndarray | None = None,
        shift: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.flow, self.y0, self._C, self.shift = flow, y0, C, shift
        self.reach = flow.reach
        self._next: Trajectory | None = None
        self._largest = largest
        if flow.limited:
            self._limit()

    @property
    def C(self) -> np.ndarray:
        """Coefficients of the functions, made when they are first asked for."""
        if self._C is None:
            self._C = self.flow.coefficients(self.y0)
        return self._C

    def _limit(self) -> None:
        """Drop decayed groups, and take the reach from those that are left."""
        size = np.abs(self.y0)
        dead = DEAD * size
        if self._largest is not None:  # The piece before has left rounding in every group.
            size = np.maximum(size, self._largest)
            dead = np.maximum(DEAD * size, SUMMED * self.flow.magnitude(self.y0, self.flow.reach))
        self._largest, self.reach = size, np.inf
        if not np.isfinite(size).all():
            return  # nothing is known from here on
        for reach, columns, decays in self.flow.limited:
            part = self.C[:, columns]
            if not part.any():
                continue
            if decays:
                bound = np.abs(part) @ self.flow.basis.envelope(0.0, reach)[columns]
                if (bound <= dead).all():
                    self.C[:, columns] = 0.0
                    continue
            self.reach = min(self.reach, reach)

    def edges(self, h0: float, h1: float) -> np.ndarray:
        """Ends of the panels with which a quadrature over ``[h0, h1]`` begins."""
        return first_edges(self.flow.basis, self.C, h0, h1)

    def magnitude(self, length: float) -> np.ndarray:
        """Magnitudes (ny,) by which the states are rounded within the first `length` seconds."""
        return self.flow.magnitude(self.y0, min(length, self.reach))

    def terms(self, hs: np.ndarray) -> np.ndarray:
        """Sums (k, ny) of the magnitudes of the terms of the states at the times `hs` (k,), by which each rounds there.

        A turning function rounds by its amplitude, near its zeros too: the last digit of its angle moves it.
        """
        return self._combined(hs, lambda h: self.flow.basis.envelope(h[:, None], h[:, None]), np.abs)

    def at(self, h: float) -> np.ndarray:
        """State (ny,) at time `h`."""
        start, piece = self.piece(h) if h > self.reach else (0.0, self)
        flow = piece.flow
        if not flow.plain:
            return piece.C.dot(flow.basis.at(h - start))
        room = flow.rooms.take()
        found = room.follow(piece.C, h - start)
        flow.rooms.give(room)
        return found

    def slope(self, h: float) -> np.ndarray:
        """Time derivative (ny,) at time `h`, of every function by itself."""
        start, piece = self.piece(h)
        basis = piece.flow.basis
        return piece.C.dot(basis.derivative.dot(basis.at(h - start)))

    def sample(self, hs: np.ndarray) -> np.ndarray:
        """States (k, ny) at the times `hs` (k,)."""
        return self._combined(np.asarray(hs, float), self.flow.basis.sample, np.asarray)

    def _combined(
        self,
        hs: np.ndarray,
        functions: Callable[[np.ndarray], np.ndarray],
        part: Callable[[np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """Sums (k, ny) of functions (k, size) of the basis times a part of their coefficients."""
        if hs.max(initial=0.0) <= self.reach:
            return functions(hs) @ part(self.C.T)
        y = np.empty((len(hs), self.flow.ny))
        for start, piece in self.pieces(float(hs.max())):
            inside = (hs > start) & (hs <= start + piece.reach)
            if start == 0.0:
                inside |= hs <= 0.0
            y[inside] = functions(hs[inside] - start) @ part(piece.C.T)
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


def longest_panel(basis: Basis, C: np.ndarray, length: float) -> float:
    """Longest panel that resolves the turning functions of a combination; inf where none turns within `length`."""
    present = C.any(0) & (basis.speed * length > FAST) & (np.arange(basis.size) >= basis.n_real)
    return PANEL * float(basis.time_unit[present].min(initial=np.inf))


def first_edges(basis: Basis, C: np.ndarray, h0: float, h1: float) -> np.ndarray:
    """Ends of panels over ``[h0, h1]``: graded where functions decay, no longer than what a turning one needs."""
    length = h1 - h0
    if basis.fastest * length <= FAST:
        return np.array([h0, h1])
    present = C.any(0) & (basis.speed * length > FAST)
    decay = -basis.sigma[present]
    edges = [h0 + layer / rate for rate in decay[decay > 0] for layer in LAYERS if layer < rate * length]
    # A turning function matters as long as it has not decayed; halving resolves what is shorter than that.
    panel = longest_panel(basis, C, length)
    if np.isfinite(panel):
        edges += np.linspace(h0, h1, min(MOST_PANELS, int(np.ceil(length / panel)) + 1)).tolist()
    return np.unique(np.array([h0, *edges, h1]))


def many_periods(basis: Basis, C: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Mask over combinations (k, m, basis.size): they turn too often within lengths (k,) for the first panels."""
    many = np.zeros(len(length), bool)
    shortest = MOST_PANELS * PANEL * float(basis.time_unit[basis.n_real :].min(initial=np.inf))
    for i in np.flatnonzero(length > shortest).tolist():
        many[i] = length[i] > MOST_PANELS * longest_panel(basis, C[i], float(length[i]))
    return many


def resolved_panels(basis: Basis, C: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Longest panels (k,) at times `left` (k,) that resolve what turns and has not decayed there."""
    turning = np.flatnonzero(C.any(0) & (np.arange(basis.size) >= basis.n_real))
    sigma = basis.sigma[turning]
    with np.errstate(divide="ignore"):
        until = np.where(sigma < 0.0, DECAYED / -sigma, np.inf)
    alive = left[:, None] < until
    return PANEL * np.where(alive, basis.time_unit[turning], np.inf).min(axis=1, initial=np.inf)


def integrate_forms(
    basis: Basis,
    C: np.ndarray,
    f: Callable[[np.ndarray], np.ndarray],
    h0: np.ndarray,
    h1: np.ndarray,
    noise: np.ndarray,
) -> np.ndarray:
    """Sum over i of the integrals of ``f(C[i] phi(h))`` over ``[h0[i], h1[i]]``; see `integrate`.

    Parameters
    ----------
    basis : Basis
    C : (k, m, basis.size)
        Combinations of the functions, ``h1 > h0`` within the reach of each.
    f : callable
        Vectorised over the last axis: (..., m) to (..., p).
    h0, h1 : (k,)
    noise : (k, p)

    Returns
    -------
    integral : (p,)
    """

    def values(of: np.ndarray, hs: np.ndarray) -> np.ndarray:
        phi = basis.sample(hs.ravel()).reshape(*hs.shape, -1)
        return f(phi @ (C[of] if len(C) > 1 else C).transpose(0, 2, 1))

    def longest(of: np.ndarray, left: np.ndarray) -> np.ndarray:
        return np.array([resolved_panels(basis, C[i], left[[k]])[0] for k, i in enumerate(of.tolist())])

    edges = [first_edges(basis, c, a, b) for c, a, b in zip(C, h0.tolist(), h1.tolist(), strict=True)]
    width = C.shape[1] + basis.size + C[0].size // len(NODES)
    return integrate_intervals(
        Intervals(edges, values, longest, width, LEVELS), PRECISION, noise, INTEGRAL
    ).total


@frozen
class Intervals:
    """Intervals of time over which a function is integrated, all panels of one generation together.

    Attributes
    ----------
    edges : list of arrays
        Ends of the first panels of every part.
    values : callable
        Intervals (k,) and times (k, nodes) to values (k, nodes, m).
    longest : callable
        Intervals (k,) and times (k,) to the longest panels (k,) there in which nothing turns too often.
    width : int
        Numbers that one time takes.
    halvings : int
        Most halvings of a panel.
    rounding : callable, optional
        Times (k,) to the rounding (k, m) of the values there, asked for at the ends of halved panels that disagree.
    """

    edges: list[np.ndarray]
    values: Callable[[np.ndarray, np.ndarray], np.ndarray]
    longest: Callable[[np.ndarray, np.ndarray], np.ndarray]
    width: int
    halvings: int
    rounding: Callable[[np.ndarray], np.ndarray] | None = None


@frozen
class PanelIntegrals:
    """Integrals over panels whose halves agree, those of each generation together.

    Attributes
    ----------
    parts : Intervals
    panels : list of (left, half, fine)
        Beginnings (k,), half lengths (k,) and integrals (k, m) of the panels.
    """

    parts: Intervals
    panels: list[tuple[np.ndarray, np.ndarray, np.ndarray]]

    @property
    def total(self) -> np.ndarray:
        """The integral over all parts."""
        return np.asarray(sum(fine.sum(0) for _, _, fine in self.panels))

    def until(self, hs: np.ndarray) -> np.ndarray:
        """Integrals (k, m) from the begin of the only part to times (k,) within it."""
        left, half, fine = (np.concatenate(x) for x in zip(*self.panels, strict=True))
        order = np.argsort(left)
        left = left[order]
        whole = np.vstack([np.zeros(fine.shape[1]), np.cumsum(fine[order], axis=0)])
        k = np.clip(np.searchsorted(left, hs, side="right") - 1, 0, None)
        part = 0.5 * (hs - left[k])
        return whole[k] + _evaluated(self.parts, np.zeros(len(hs), np.int64), left[k], part)[0]


def integrate_intervals(
    parts: Intervals, rtol: float, noise: np.ndarray | float, name: str
) -> PanelIntegrals:
    """Integrals over panels of all parts; those that disagree are halved."""
    counts, ends = np.array([len(e) for e in parts.edges]), np.concatenate(parts.edges)
    last = np.cumsum(counts) - 1
    begin = last - counts + 1
    of, length = np.repeat(np.arange(len(counts)), counts - 1), ends[last] - ends[begin]
    left = np.delete(ends, last)
    half = 0.5 * (np.delete(ends, begin) - left)
    panels: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    magnitude: np.ndarray | float = 0.0
    parent: np.ndarray | None = None
    stale: np.ndarray | int = 0
    deepest = min(LEVELS - 1, parts.halvings)
    for level in range(deepest + 1):
        fine, error, size = _evaluated(parts, of, left, half)
        whole = magnitude + _of_parts(size, of, len(length))
        allowed = np.maximum(rtol * (half / length[of])[:, None] * whole[of], SUMMED * size)
        allowed = np.maximum(allowed, 2.0 * half[:, None] * np.atleast_2d(noise)[of])
        if parent is not None:
            halves = error.reshape(len(parent), 2, -1)
            # Rounding is in both halves alike, a peak that is not resolved yet in one of them, or beside their common end.
            spread = halves.min(1) > SPREAD * halves.max(1)
            # Panels with many periods disagree at random, and halving them changes nothing either.
            long = 2.0 * half > parts.longest(of, left)
            left_over = (halves.sum(1) > 0.5 * parent) & spread
            stale = stale + (np.repeat(left_over, 2, axis=0) & ~long[:, None])
            rough = np.any(error > allowed, axis=1)
            if parts.rounding is not None and rough.any():
                rounded = _rounded(parts.rounding, left[rough], half[rough])
                allowed[rough] = np.maximum(allowed[rough], rounded)
        # What is not a number stays one however small the panels.
        good = np.all((error <= allowed) | (stale >= STALE) | np.isnan(error), axis=1)
        bad = ~good
        if level == deepest or _too_many(parts, of[bad], left[bad], half[bad], name):
            good[:] = True
        panels.append((left[good], half[good], fine[good]))
        if good.all():
            break
        magnitude = magnitude + _of_parts(size[good], of[good], len(length))
        parent = error[bad]
        stale = np.repeat(np.broadcast_to(stale, error.shape)[bad], 2, axis=0)
        of, left, half = np.repeat(of[bad], 2), left[bad], 0.5 * half[bad]
        left = np.stack([left, left + 2.0 * half], 1).ravel()
        half = np.repeat(half, 2)
    return PanelIntegrals(parts, panels)


def _rounded(rounding: Callable[[np.ndarray], np.ndarray], left: np.ndarray, half: np.ndarray) -> np.ndarray:
    """What the rounding of the values makes of the integrals (k, m) over panels.

    That at the end where it is smaller counts: what is large at a start does not hide what is left of it.
    """
    length = 2.0 * half
    ends = rounding(np.concatenate([left, left + length])).reshape(2, len(left), -1)
    return length[:, None] * ends.min(axis=0)


def _of_parts(values: np.ndarray, of: np.ndarray, parts: int) -> np.ndarray:
    """Sums (parts, m) of the values (k, m) of panels, sorted by parts."""
    found = np.zeros((parts, values.shape[1]))
    first = np.flatnonzero(np.diff(of, prepend=-1))
    found[of[first]] = np.add.reduceat(values, first, axis=0)
    return found


@np.errstate(all="ignore")  # what is not finite is an error of its own, where it is read
def _evaluated(
    parts: Intervals, of: np.ndarray, left: np.ndarray, half: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integrals, errors and integrals of the magnitude (k, m) of panels."""
    found = []
    step = max(1, CHUNK // (len(NODES) * max(1, parts.width)))
    for k in range(0, len(left), step):
        part = half[k : k + step]
        hs = (left[k : k + step] + part)[:, None] + part[:, None] * NODES
        found.append(panel_integrals(parts.values(of[k : k + step], hs), part))
    if len(found) == 1:
        return found[0]
    fine, error, size = (np.concatenate(x) for x in zip(*found, strict=True))
    return fine, error, size


def _too_many(parts: Intervals, of: np.ndarray, left: np.ndarray, half: np.ndarray, name: str) -> bool:
    """Whether panels would become too many before they resolve what turns; this is told."""
    if not len(left):
        return False
    needed = np.bincount(of, 2.0 * half / parts.longest(of, left))
    worst = int(needed.argmax())
    many = bool(needed[worst] > MOST_EVALUATED)
    if many:
        warn(unresolved(name, float(parts.edges[worst][-1] - parts.edges[worst][0])))
    return many


def panel_integrals(values: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integrals, errors and integrals of the magnitude (k, m) of panels from values (k, nodes, m)."""
    fine, difference = (RULES @ values).transpose(1, 0, 2) * half[:, None]
    size = WEIGHTS @ np.abs(values) * half[:, None]
    return fine, _error(difference, size), size


def _error(difference: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Error of the fine rule from its difference to the coarse one, which converges half as fast (QUADPACK)."""
    difference = np.abs(difference)
    relative = difference / np.where(size > 0.0, size, 1.0)
    return difference * np.minimum(1.0, 200.0 * np.sqrt(200.0 * relative))


def unresolved(name: str, length: float) -> str:
    """Text of the warning that a quantity has too many periods in a window of some length."""
    return (
        f"{name} is not resolved: it turns too often in {length:.3g} s without an event to be followed, and the value "
        "found is an estimate; give a shorter window, or take `at` for values at single times"
    )


def present(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``left @ right``, zero where rounding of terms that cancel is all there is: it would carry energy for a whole segment."""
    found = left @ right
    found[np.abs(found) <= SUMMED * (np.abs(left) @ np.abs(right))] = 0.0
    return found
