"""From groups and sources to the rank-one terms of a flow: ``y(h) = sum_t left_t (right_t y0) phi_t(h)``."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .basis import Basis
from .exosystem import Block, Member, blocks
from .spectrum import Group, decouple

Rate = tuple[float, float, float]
"""sigma, omega, omega_low with omega >= 0."""

JOIN = 0.01
"""Distance, times T0, within which an eigenvalue is joined with a constant, sinusoid or exponential."""
SERIES_RADIUS = 0.5
"""Largest spread of exponents times the length of a piece."""
SERIES_SPAN = 16384.0
"""Longest piece in units of T0: shorter series for tiny spreads."""
SERIES_LAST = 2.0**-62
"""Size of the first neglected term of a series."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Flow as rank-one terms sorted by basis function.

    Attributes
    ----------
    left, right : (ny, nt), (nt, ny)
    starts : (basis.size,)
        First term of every basis function.
    limited : list of (reach, columns, decays)
        Basis functions that belong to a truncated series, exact over `reach`.
    """

    basis: Basis
    left: np.ndarray
    right: np.ndarray
    starts: np.ndarray
    reach: float
    limited: list[tuple[float, np.ndarray, bool]]


@dataclass(eq=False)
class Terms:
    """Real rank-one terms collected per basis function ``(rate, side, k)``; side 0: cosine or none, 1: sine."""

    columns: dict[tuple[Rate, int, int], list[tuple[np.ndarray, np.ndarray]]] = field(default_factory=dict)

    def add(self, rate: Rate, side: int, k: int, left: np.ndarray, right: np.ndarray) -> None:
        """Add the real term ``left (right y0)``."""
        self.columns.setdefault((rate, side, k), []).append((left, right))

    def add_complex(self, centre: complex, low: complex, k: int, left: np.ndarray, right: np.ndarray) -> Rate:
        """Add ``Re(left (right y0) exp(centre h) h^k / k!)``."""
        if centre.imag < 0:
            centre, low, left, right = centre.conjugate(), low.conjugate(), left.conj(), right.conj()
        rate = (centre.real, centre.imag, low.imag if centre.imag else 0.0)
        lr, li, rr, ri = left.real, left.imag, right.real, right.imag
        imaginary_left, imaginary_right = li.any(), ri.any()
        sides = (0, 1) if centre.imag else (0,)
        for side in sides:
            # exp(i a) = cos a + i sin a: the sine takes minus the imaginary part of the coefficient.
            first, second = ((lr, rr), (-li, ri)) if side == 0 else ((-li, rr), (-lr, ri))
            if side == 0 or imaginary_left:
                self.add(rate, side, k, *first)
            if imaginary_right and (side == 1 or imaginary_left):
                self.add(rate, side, k, *second)
        return rate

    def order(self) -> list[tuple[Rate, int, int]]:
        """Columns in the order of `Basis`, with every lower power and every sine present."""
        known = dict.fromkeys((rate, k) for rate, _, k in self.columns)
        powers: dict[Rate, int] = {}
        for rate, k in known:
            powers[rate] = max(k, powers.get(rate, 0))
        flat = [(rate, k) for rate, top in powers.items() for k in range(top + 1)]
        still = [(rate, 0, k) for rate, k in flat if not rate[1]]
        turning = [(rate, k) for rate, k in flat if rate[1]]
        return still + [(rate, side, k) for side in (0, 1) for rate, k in turning]


def assemble(Ay: np.ndarray, nx: int, T0: float) -> Parts:
    """Terms, basis and reach of the flow of ``y' = Ay y`` with `nx` physical states."""
    ny = len(Ay)
    sources = blocks(Ay[nx:, nx:])
    members = [member for block in sources for member in block.members]
    groups = decouple(Ay[:nx, :nx], T0) if nx else []
    B = Ay[:nx, nx:]
    terms = Terms()
    limits: list[tuple[float, set[Rate], bool]] = []
    for block in sources:
        _add_source(terms, block, nx, ny)
    particular = [np.zeros((nx, member.N.shape[0]), complex) for member in members]
    driven = [B @ member.P for member in members]
    for group in groups:
        _add_group(terms, limits, group, members, driven, particular, nx, T0)
    for member, X in zip(members, particular, strict=True):
        _add_particular(terms, member, X, nx, ny)
    return _pack(terms, limits, ny)


def _add_source(terms: Terms, block: Block, nx: int, ny: int) -> None:
    """The exosystem states themselves."""
    states = nx + block.states
    unit = np.eye(ny)
    member = block.members[0]
    rate = (member.centre.real, member.centre.imag, member.centre_low.imag)
    for i in states:
        terms.add(rate, 0, 0, unit[i], unit[i])
    if block.is_sinusoid:
        for i, row in zip(states, block.S / member.centre.imag, strict=True):
            right = np.zeros(ny)
            right[states] = row
            terms.add(rate, 1, 0, unit[i], right)
        return
    power, k = block.S, 1
    while len(block.S) > 1 and power.any():
        for i, row in zip(states, power, strict=True):
            if row.any():
                right = np.zeros(ny)
                right[states] = row
                terms.add(rate, 0, k, unit[i], right)
        power, k = power @ block.S, k + 1


def _add_group(
    terms: Terms,
    limits: list[tuple[float, set[Rate], bool]],
    group: Group,
    members: list[Member],
    driven: list[np.ndarray],
    particular: list[np.ndarray],
    nx: int,
    T0: float,
) -> None:
    """Free response of one group, and its part of the forced response of every source."""
    right = np.zeros((len(group.N), nx + (members[0].P.shape[0] if members else 0)), complex)
    right[:, :nx] = group.U
    left = np.vstack([group.weight * group.P, np.zeros((right.shape[1] - nx, len(group.N)))])
    for member, drive, X in zip(members, driven, particular, strict=True):
        beta = group.U @ drive
        if not beta.any():
            continue
        distance = (group.centre - member.centre) + (group.centre_low - member.centre_low)
        delta = group.N + distance * np.eye(len(group.N))
        spread = _spread(delta)
        if spread[0] * T0 >= join_distance(len(member.N)):
            x = _particular(delta, member.N, beta)
            X += group.weight * (group.P @ x)
            right[:, nx:] -= x @ member.Q
            continue
        first = [beta @ np.linalg.matrix_power(member.N, k) @ member.Q for k in range(len(member.N))]
        source = [np.pad(f, ((0, 0), (nx, 0))) for f in first]
        reach = _add_series(terms, member.centre, member.centre_low, left, delta, spread[1], source, T0, len(member.N))
        _limit(limits, reach, member.centre, member.centre_low)
    spread = _spread(group.N)
    reach = _add_series(terms, group.centre, group.centre_low, left, group.N, spread[1], [right], T0, 0)
    _limit(limits, reach, group.centre, group.centre_low)


def join_distance(m: int) -> float:
    """Distance of exponents, times T0, below which a source of chain length `m` is not split off.

    The particular solution exceeds the forced response over T0 by ``m! / distance^m``, which is
    the factor by which rounding grows.
    """
    distance = JOIN
    while float(np.prod(np.arange(1, m + 1) / distance)) > 1.0 / JOIN:
        distance *= 1.25
    return distance


def _spread(N: np.ndarray) -> tuple[float, float]:
    """Smallest and largest magnitude of the eigenvalues."""
    if len(N) == 1:
        size = abs(N[0, 0])
        return size, size
    size = np.abs(np.linalg.eigvals(N) if np.tril(N, -1).any() else N.diagonal())
    return float(size.min()), float(size.max())


def _particular(delta: np.ndarray, N: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Solution of ``delta X - X N = -beta`` with strictly upper triangular `N`."""
    X = np.empty_like(beta)
    inverse = 1.0 / delta if len(delta) == 1 else np.linalg.inv(delta)
    for k in range(len(N)):
        X[:, k] = inverse @ (X[:, :k] @ N[:k, k] - beta[:, k])
    return X


def _add_series(
    terms: Terms,
    centre: complex,
    low: complex,
    left: np.ndarray,
    N: np.ndarray,
    spread: float,
    source: list[np.ndarray],
    T0: float,
    chain: int,
) -> float:
    """Power series of ``z' = N z`` (chain 0, start value `source[0]`) or of ``z' = N z + source`` from zero.

    Returns the length over which it is exact.
    """
    reach = np.inf
    degree = 2 * (len(N) + chain)
    if spread > 0.0 and (len(N) > 1 or chain):
        reach = 2.0 ** np.floor(np.log2(min(SERIES_RADIUS / spread, SERIES_SPAN * T0)))
        degree = len(N) + chain
        size = 1.0
        while size > SERIES_LAST:
            degree += 1
            size *= spread * reach / (degree - len(N) - chain)
    c, k = (source[0], 0) if chain == 0 else (np.zeros_like(source[0]), 0)
    while k <= degree:
        for i in range(len(N)):
            if c[i].any():
                terms.add_complex(centre, low, k, left[:, i], c[i])
        c = N @ c + (source[k] if k < chain else 0.0)
        k += 1
        if k >= chain and not c.any():
            return np.inf if spread == 0.0 or len(N) == 1 else reach
    return reach


def _limit(limits: list[tuple[float, set[Rate], bool]], reach: float, centre: complex, low: complex) -> None:
    if np.isfinite(reach):
        sign = 1.0 if centre.imag >= 0 else -1.0
        rate = (centre.real, abs(centre.imag), sign * low.imag if centre.imag else 0.0)
        limits.append((reach, {rate}, centre.real < 0))


def _add_particular(terms: Terms, member: Member, X: np.ndarray, nx: int, ny: int) -> None:
    """Quasi-steady response ``X xi`` of the physical states."""
    power = np.eye(len(member.N))
    left = np.zeros((ny, X.shape[1]), complex)
    left[:nx] = X
    for k in range(len(member.N)):
        rows = np.pad(power @ member.Q, ((0, 0), (nx, 0)))
        for i in range(len(member.N)):
            if left[:, i].any() and rows[i].any():
                terms.add_complex(member.centre, member.centre_low, k, left[:, i], rows[i])
        power = power @ member.N


def _pack(terms: Terms, limits: list[tuple[float, set[Rate], bool]], ny: int) -> Parts:
    order = terms.order()
    nothing = [(np.zeros(ny), np.zeros(ny))]
    left: list[np.ndarray] = []
    right: list[np.ndarray] = []
    starts = []
    for key in order:
        starts.append(len(left))
        for a, b in terms.columns.get(key, nothing):
            left.append(a)
            right.append(b)
    basis = Basis([(*rate, k) for rate, side, k in order if side == 0])
    limited = []
    for reach, rates, decays in limits:
        columns = np.array([j for j, (rate, _, _) in enumerate(order) if rate in rates])
        limited.append((float(reach), columns, decays))
    reach = min((r for r, _, _ in limited), default=np.inf)
    return Parts(basis, np.array(left).T.reshape(ny, -1), np.array(right).reshape(-1, ny), np.array(starts), reach, limited)
