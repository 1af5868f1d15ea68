"""From groups and sources to the rank-one terms of a flow: ``y(h) = sum_t left_t (right_t y0) phi_t(h)``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..reduction.double_double import Complex, product
from .closed_form import AffineFlow, Basis
from .decoupling import decouple, undivided
from .exosystem import Member, SourceBlock, blocks
from .exponential import Exponential, matrices_of, sizes_reached
from .power_series import PowerSeries, as_series, powers
from .products import Parts
from .spectrum import EigenvalueGroup, equal_sizes, spread, state_scales

Rate = tuple[float, float, float]
"""sigma, omega, omega_low with omega >= 0."""
Function = tuple[Rate, int, int]
"""Rate, side (0: cosine or none, 1: sine) and power of a function."""


def rate_of(centre: complex, low: complex) -> Rate:
    """Rate of a complex exponent or of its conjugate."""
    if centre.imag == 0:
        return centre.real, 0.0, 0.0
    return centre.real, abs(centre.imag), low.imag if centre.imag > 0 else -low.imag


JOIN = 0.01
"""Distance, times T0, within which an eigenvalue is joined with a constant, sinusoid or exponential."""
UNDIVIDED = 4.0
"""Fastest exponent, times the span of a run, up to which a matrix may stay undivided."""
SERIES_RADIUS = 0.5
"""Largest spread of exponents times the length of a piece."""
SERIES_SPAN = 16384.0
"""Longest piece in units of T0: shorter series for tiny spreads."""
SERIES_LAST = 2.0**-62
"""Size of the first neglected term of a series."""


@dataclass(eq=False)
class Terms:
    """Real rank-one terms collected per basis function."""

    columns: dict[Function, list[tuple[np.ndarray, np.ndarray]]] = field(default_factory=dict)

    def add(self, rate: Rate, side: int, k: int, left: np.ndarray, right: np.ndarray) -> None:
        """Add the real term ``left (right y0)``."""
        self.columns.setdefault((rate, side, k), []).append((left, right))

    def add_complex(self, centre: complex, low: complex, k: int, left: Complex, right: Complex) -> None:
        """Add ``Re(left (right y0) exp(centre h) h^k / k!)``."""
        if centre.imag < 0:
            left, right = left.conj(), right.conj()
        rate = rate_of(centre, low)
        lr, li, rr, ri = left.real, left.imag, right.real, right.imag
        self.add(rate, 0, k, lr, rr)
        if centre.imag:
            # exp(i a) = cos a + i sin a: the sine takes minus the imaginary part of the coefficient.
            self.add(rate, 0, k, -li, ri)
            self.add(rate, 1, k, -li, rr)
            self.add(rate, 1, k, -lr, ri)
        elif li.any() and ri.any():
            self.add(rate, 0, k, -li, ri)


def in_order(functions: Iterable[Function]) -> list[Function]:
    """Functions in the order of `Basis`, with every lower power and every sine present."""
    powers: dict[Rate, int] = {}
    for rate, _, k in functions:
        powers[rate] = max(k, powers.get(rate, 0))
    flat = [(rate, k) for rate, top in powers.items() for k in range(top + 1)]
    still = [(rate, 0, k) for rate, k in flat if not rate[1]]
    turning = [(rate, k) for rate, k in flat if rate[1]]
    return still + [(rate, side, k) for side in (0, 1) for rate, k in turning]


def _basis(order: list[Function]) -> Basis:
    return Basis([(*rate, k) for rate, side, k in order if side == 0])


def _turns_and_powers(block: SourceBlock) -> Iterator[tuple[int, int, np.ndarray]]:
    """How the states of a source move: (side, k, matrix) of every function of its rate."""
    yield 0, 0, np.eye(len(block.S))
    if block.is_sinusoid:
        yield 1, 0, block.S / block.members[0].centre.imag
        return
    power, k = block.S, 1
    while len(block.S) > 1 and power.any():
        yield 0, k, power
        power, k = power @ block.S, k + 1


def _add_source(terms: Terms, block: SourceBlock, nx: int, ny: int) -> None:
    """The exosystem states themselves."""
    at = nx + block.states
    unit = np.zeros((len(at), ny))
    unit[np.arange(len(at)), at] = 1.0
    for side, k, matrix in _turns_and_powers(block):
        for left, row in zip(unit, matrix, strict=True):
            if row.any():
                right = np.zeros(ny)
                right[at] = row
                terms.add(block.rate, side, k, left, right)


def flow_of_sources(S: Any) -> AffineFlow:
    """The flow of sources alone, from their generator, dense or sparse; its products are sparse, one for each entry."""
    from scipy.sparse import csc_array, csr_array

    found: dict[Function, list[np.ndarray]] = {}
    for block in blocks(S):
        for side, k, matrix in _turns_and_powers(block):
            i, j = np.nonzero(matrix)
            entries = np.array([block.states[i], block.states[j], matrix[i, j]])
            found.setdefault((block.rate, side, k), []).append(entries)
    order = in_order(found)
    parts = [np.hstack([np.zeros((3, 0)), *found.get(key, [])]) for key in order]
    i, j, values = np.hstack(parts)
    nt = len(values)
    left = csc_array((np.ones(nt), (i.astype(int), np.arange(nt))), shape=(S.shape[0], nt))
    right = csr_array((values, (np.arange(nt), j.astype(int))), shape=(nt, S.shape[0]))
    starts = np.cumsum([0, *(part.shape[1] for part in parts[:-1])])
    return AffineFlow(Parts(_basis(order), left, right, starts, np.inf, [], [], 0.0), 0)


class _Assembler:
    """Collects the terms of one flow, group by group and source by source."""

    def __init__(self, Ay: np.ndarray, nx: int, T0: float) -> None:
        self.nx, self.ny, self.T0 = nx, len(Ay), T0
        self.terms = Terms()
        self.limits: list[tuple[float, Rate]] = []
        self.series: list[tuple[Rate, int, Any]] = []
        self.sources = blocks(Ay[nx:, nx:])
        self.members = [member for block in self.sources for member in block.members]
        self.driven = [Ay[:nx, nx + member.states] @ member.P for member in self.members]
        self.particular = [np.zeros((nx, len(member.N)), complex) for member in self.members]
        self.shortest = 0.0

    def add_sources(self) -> None:
        """The exosystem states themselves, and the quasi-steady response of the physical states to them."""
        start = 0
        for block in self.sources:
            _add_source(self.terms, block, self.nx, self.ny)
            X = self.particular[start]
            if block.is_sinusoid:
                # The second member is conjugate to the first, and only real parts count.
                X = X + self.particular[start + 1].conj()
            if self.nx and X.any():
                self._add_particular(block.members[0], X)
            start += len(block.members)

    def _add_particular(self, member: Member, X: np.ndarray) -> None:
        left = np.zeros((self.ny, X.shape[1]), complex)
        left[: self.nx] = X
        rows, k = self._over_all(member), 0
        while rows.any():
            for i in np.flatnonzero(rows.any(1) & X.any(0)):
                self.terms.add_complex(member.centre, member.centre_low, k, left[:, i], rows[i])
            rows, k = member.N @ rows, k + 1

    def _over_all(self, member: Member) -> np.ndarray:
        """The dual of a basis, over all states."""
        rows = np.zeros((len(member.N), self.ny), complex)
        rows[:, self.nx + member.states] = member.Q
        return rows

    def add_modes(self, modes: list[EigenvalueGroup]) -> None:
        """Simple modes: free response, and the forced responses, all modes at once."""
        nx = self.nx
        exponent = np.array([mode.centre for mode in modes])
        low = np.array([mode.centre_low for mode in modes])
        left = np.zeros((self.ny, len(modes)), complex)
        left[:nx] = np.hstack([mode.P for mode in modes]) * np.array([mode.weight for mode in modes])
        right = np.zeros((len(modes), self.ny), complex)
        right[:, :nx] = U = np.vstack([mode.U for mode in modes])
        for member, drive, X in zip(self.members, self.driven, self.particular, strict=True):
            beta = U @ drive
            delta = (exponent - member.centre) + (low - member.centre_low)
            joined = np.abs(delta) < self._join_within(exponent, member, 1)
            if joined.any():
                beta[joined] = product(U[joined], drive)
                for i in np.flatnonzero(joined & beta.any(1)):
                    self._add_joined(member, left[:, i : i + 1], delta[i : i + 1, None], beta[i : i + 1])
                beta[joined], delta[joined] = 0.0, 1.0
            self._split(member, 1, np.abs(delta[beta.any(1)]))
            x = _sylvester_column_by_column(lambda columns, d=delta: (columns.T / d).T, member.N, beta)
            X += left[:nx] @ x
            right[:, nx + member.states] -= x @ member.Q
        for i, mode in enumerate(modes):
            self.terms.add_complex(mode.centre, mode.centre_low, 0, left[:, i], right[i])

    def add_cluster(self, group: EigenvalueGroup) -> None:
        """A group of several modes with one common exponent: free response and forced responses."""
        nx, m = self.nx, len(group.N)
        left = np.zeros((self.ny, m), complex)
        left[:nx] = group.weight * group.P
        right = np.zeros((m, self.ny), complex)
        right[:, :nx] = group.U
        for member, drive, X in zip(self.members, self.driven, self.particular, strict=True):
            delta = group.N + (
                (group.centre - member.centre) + (group.centre_low - member.centre_low)
            ) * np.eye(m)
            distance = np.abs(np.linalg.eigvals(delta)).min()
            if distance < self._join_within(np.array(group.centre), member, m):
                beta = product(group.U, drive)
                if beta.any():
                    self._add_joined(member, left, delta, beta)
                continue
            beta = group.U @ drive
            self._split(member, m, distance[None] if beta.any() else np.zeros(0))
            x = _sylvester_column_by_column(np.linalg.inv(delta).dot, member.N, beta)
            X += left[:nx] @ x
            right[:, nx + member.states] -= x @ member.Q
        self._add_series(group.centre, group.centre_low, left, group.N, [right])

    def _join_within(self, exponent: np.ndarray, member: Member, m: int) -> np.ndarray:
        """Distance of exponents within which ``m`` modes are joined with a source.

        Split apart, both parts of what they respond with exceed it over the time unit; or, where both die away, over what both
        remember, however long a run is.
        """
        forgets = np.minimum(np.maximum(-np.real(exponent), 0.0), max(-member.centre.real, 0.0))
        order = _order(member, m)
        return np.maximum(join_distance(order) / self.T0, forgets * JOIN ** (1.0 / order))

    def _split(self, member: Member, m: int, distances: np.ndarray) -> None:
        """Note that groups of ``m`` modes are split off from a source at these distances of their exponents."""
        if len(distances):
            self.shortest = max(self.shortest, join_distance(_order(member, m)) / float(distances.min()))

    def _add_joined(self, member: Member, left: np.ndarray, delta: np.ndarray, beta: np.ndarray) -> None:
        """Forced response of modes that are close to the exponent of the source.

        What `beta` keeps of forces that cancel, as those between bodies do in their common motion, lasts: it is rounded once.
        """
        drive, power = [], self._over_all(member)
        for _ in range(member.length):
            drive.append(beta @ power)
            power = member.N @ power
        self._add_series(member.centre, member.centre_low, left, delta, [np.zeros_like(drive[0]), *drive])

    def _add_series(
        self, centre: complex, low: complex, left: np.ndarray, N: np.ndarray, start: list[np.ndarray]
    ) -> None:
        """Power series of ``z' = N z + d(h)``: start value ``start[0]``, derivatives of the drive ``start[1:]`` at 0."""
        reach, degree = _series(spread(N), self.T0, len(N) + len(start))
        large = as_series(centre, left, N, start)
        if large is not None:
            count, limited = powers(*large[:2], degree)
            self.series.append((rate_of(centre, low), count, large))
            if limited:
                self.limits.append((reach, rate_of(centre, low)))
            return
        c = start[0]
        for k in range(degree + 1):
            for i in np.flatnonzero(c.any(1)):
                self.terms.add_complex(centre, low, k, left[:, i], c[i])
            c = N @ c
            if k + 1 < len(start):
                c = c + start[k + 1]
            elif not c.any():
                return
        self.limits.append((reach, rate_of(centre, low)))


def affine_flow(Ay: np.ndarray, nx: int, T0: float, span: float = math.inf) -> AffineFlow:
    """The flow of ``y' = Ay y``.

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
    span : float
        Longest time for which it is asked.

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
    Ay = np.asarray(Ay, float)
    exact, A = Exponential(Ay, T0, span), Ay[:nx, :nx]

    def made(groups: list[EigenvalueGroup]) -> tuple[Parts, Callable[[np.ndarray], np.ndarray]]:
        parts = replace(_parts(Ay, nx, T0, groups), size=exact.size)
        return parts, partial(matrices_of, AffineFlow(parts, nx))

    parts, matrices = made(decouple(A, T0, state_scales) if nx else [])
    missed = exact.missed(matrices)
    if missed > 1.0:
        # The sizes of states are a guess, which may have been wrong.
        for sizes in (equal_sizes, sizes_reached):
            others, of_others = made(decouple(A, T0, sizes))
            found = exact.missed(of_others)
            if found < missed:
                parts, matrices, missed = others, of_others, found
    if nx > 1 and spread(A) * span <= UNDIVIDED:
        # In a run within its time constants, what one state hands on to another over many is lost between modes.
        lost = exact.lost(matrices)
        if lost > 1.0:
            others, of_others = made(undivided(A))
            found = exact.missed(of_others)
            if found <= max(1.0, missed) and exact.lost(of_others) < lost:
                parts, matrices, missed = others, of_others, found
    return AffineFlow(parts if missed <= 1.0 else replace(parts, departure=exact.departure(matrices)), nx)


def _parts(Ay: np.ndarray, nx: int, T0: float, groups: list[EigenvalueGroup]) -> Parts:
    """The parts of a flow, made of some groups."""
    work = _Assembler(Ay, nx, T0)
    modes = [group for group in groups if len(group.N) == 1]
    if modes:
        work.add_modes(modes)
    for group in groups:
        if len(group.N) > 1:
            work.add_cluster(group)
    work.add_sources()
    return _pack(work)


def _series(distance: float, T0: float, lead: int) -> tuple[float, int]:
    """Length over which a power series serves, and its degree; `lead` terms do not count for convergence."""
    if distance == 0.0:
        return np.inf, 2 * lead
    reach = 2.0 ** math.floor(math.log2(min(SERIES_RADIUS / distance, SERIES_SPAN * T0)))
    degree, size = 0, 1.0
    while size > SERIES_LAST:
        degree += 1
        size *= distance * reach / degree
    return reach, lead + degree


def _sylvester_column_by_column(
    solve: Callable[[np.ndarray], np.ndarray], N: np.ndarray, beta: np.ndarray
) -> np.ndarray:
    """Solution of ``delta X - X N = -beta`` with strictly upper triangular `N`; `solve` divides columns by delta."""
    if not N.any():
        return solve(-beta)
    X = np.empty_like(beta)
    X[:, 0] = solve(-beta[:, 0])
    for k in range(1, len(N)):
        X[:, k] = solve(X[:, :k] @ N[:k, k] - beta[:, k])
    return X


@lru_cache
def join_distance(m: int) -> float:
    """Distance of exponents, times T0, below which a source of chain length `m` is not split off.

    The particular solution exceeds the forced response over T0 by ``m! / distance^m``, which is
    the factor by which rounding grows; over shorter times it grows by more, see `AffineFlow.shortest`.
    """
    distance = JOIN
    while math.lgamma(m + 1) - m * math.log(distance) > -math.log(JOIN):
        distance *= 1.25
    return distance


def _order(member: Member, m: int) -> int:
    """How many stages a source and a group of ``m`` modes are that it drives."""
    return member.length + m - 1


def _pack(work: _Assembler) -> Parts:
    terms, limits, ny = work.terms, work.limits, work.ny
    order = in_order([*terms.columns, *((rate, 0, count - 1) for rate, count, _ in work.series)])
    place = {key: j for j, key in enumerate(order)}
    series = []
    for rate, count, (N, drive, sides) in work.series:
        columns = (np.array([place[rate, side, k] for k in range(count)]) for side in range(len(sides)))
        series.append(PowerSeries(N, drive, sides, tuple(columns)))
    nothing = [(np.zeros(ny), np.zeros(ny))]
    left: list[np.ndarray] = []
    right: list[np.ndarray] = []
    starts = []
    for key in order:
        starts.append(len(left))
        for column, row in terms.columns.get(key, nothing):
            left.append(column)
            right.append(row)
    limited = []
    for reach, rate in limits:
        columns = np.array([j for j, (other, _, _) in enumerate(order) if other == rate])
        limited.append((reach, columns, rate[0] < 0))
    reach = min((r for r, _, _ in limited), default=np.inf)
    return Parts(
        _basis(order),
        np.ascontiguousarray(np.array(left).T.reshape(ny, -1)),
        np.ascontiguousarray(np.array(right).reshape(-1, ny)),
        np.array(starts),
        reach,
        limited,
        series,
        work.shortest,
    )
