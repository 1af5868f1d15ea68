"""The next mode of one part by principal pivoting.

The choice of branches is a complementarity problem over the ordered field of Laurent series of a vanishing time
(Heemels, Schumacher, Weiland, "The rational complementarity problem", 1999): a mode is a basis, its restart the basic
solution, and the lexicographic signs of its guards say which of them are negative. A step puts elements with negative
guards into their targets. All of them at once end after a few steps as a rule, one by one certainly (Judice and Pires,
"A block principal pivoting algorithm for large-scale strictly monotone linear complementarity problems", Computers and
Operations Research 21, 1994). A mode without solution shows a row in which all unknowns cancel: the elements in it can
give way, one after the other as in the criss-cross method (Fukuda and Terlaky, "Linear complementarity and oriented
matroids", Journal of the Operations Research Society of Japan 35, 1992), which is finite wherever the elements and
what is between them are monotone. If none can, no mode at all satisfies that row.

Friction that takes more to break away than to slide is monotone at one level: contacts at rest have that of breaking
away until a solution moves them. Those slide at their lower level from then on, and pivoting goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, islice, product
from math import prod
from typing import Protocol

import numpy as np

from ...reduction.affine import CONTRADICTING, AffineModel, Element, Kind, Mode, Rows
from ...reduction.index_reduction import Dependencies
from ...values import frozen
from .transition import Instant

Move = tuple[int, int]
"""An element, and the branch it is put into."""
Settle = Callable[[Mode, Collection[int]], Mode | None]
"""Mode, elements released before -> the mode that is consistent at the present levels, None where that is not known."""

_ONE_LEVEL = {Kind.COMPLEMENTARITY: (0, 1), Kind.FRICTION: (0, 1, 2)}
_PATIENCE = 8
"""Steps of whole blocks without fewer negative guards, after which elements move one by one until there are fewer."""
PIVOTS = 8
"""Modes examined per element: pivoting that ends takes a small multiple of their number."""
ENUMERATED = 1024
"""Modes that are tried one after the other where there are no more."""
_PARALLEL = 1e-9


class NoMove(Exception):
    """No mode was found; ``certain`` if none exists, ``elements`` are those that contradict each other or never settle."""

    def __init__(self, elements: tuple[int, ...], certain: bool) -> None:
        super().__init__(elements)
        self.elements, self.certain = elements, certain


def most_pivots(model: AffineModel) -> int:
    """Modes after which pivoting ends: each branch of an element may have to be tried."""
    return sum(max(PIVOTS, len(element.branches)) for element in model.elements)


def most_modes(model: AffineModel) -> int:
    """Modes after which a search ends whose failure refuses a model: few elements may be in any of their branches together."""
    together = prod(len(element.branches) for element in model.elements)
    return max(most_pivots(model), min(together, ENUMERATED))


def free_branches(element: Element) -> Sequence[int]:
    """Branches a search may choose; others are only ever forced, or never left for."""
    limits = tuple(b for b in element.branches[0].targets if element.branches[b].releases)
    return (*_ONE_LEVEL.get(element.kind, range(len(element.branches))), *limits)


def is_free(element: Element, forced: int) -> bool:
    """Whether a search may move the element."""
    return forced < 0 and element.kind is not Kind.CONTROLLED


@frozen
class Row:
    """What a mode without solution demands of elements: the moves that can satisfy it, and all elements that take part."""

    moves: tuple[Move, ...]
    elements: tuple[int, ...]
    contradicts: bool


class Judgement(Protocol):
    """What is known of a mode: of the exact test, or of the tableau."""

    @property
    def mode(self) -> Mode:
        """What was judged."""
        ...

    @property
    def violations(self) -> tuple[tuple[int, int, int], ...]:
        """(level, element, target), one per element with a violated guard."""
        ...

    @property
    def possible(self) -> bool:
        """Whether the mode has a solution at all."""
        ...

    @property
    def consistent(self) -> bool:
        """Whether it has one and violates nothing."""
        ...


class Pivoting:
    """Principal pivoting in one model.

    Parameters
    ----------
    model : AffineModel
    forced : sequence of int
        Per element the branch that is prescribed, or -1.
    examine : callable
        ``examine(mode) -> Judgement``.
    blocking : callable
        ``blocking(mode) -> list[Row]``, for a mode without solution.
    budget : int
        Modes examined at most.
    """

    def __init__(
        self,
        model: AffineModel,
        forced: Sequence[int],
        examine: Callable[[Mode], Judgement],
        blocking: Callable[[Mode], list[Row]],
        budget: int,
    ) -> None:
        self._model, self._test, self._blocking, self._left = model, examine, blocking, budget
        self._free = [is_free(e, forced) for e, forced in zip(model.elements, forced, strict=True)]
        self._verdicts: dict[Mode, Judgement] = {}

    def run(self, start: Mode) -> Mode:
        """A consistent mode; raises `NoMove`."""
        return self.pivot(start) or self._beside(start)

    def _examine(self, mode: Mode) -> Judgement:
        found = self._verdicts.get(mode)
        if found is None:
            if not self._left:
                raise NoMove(self._moved(), False)
            self._left -= 1
            found = self._verdicts[mode] = self._test(mode)
        return found

    def _moved(self) -> tuple[int, ...]:
        """Elements that had to move in the modes that were examined."""
        return tuple(sorted({k for v in self._verdicts.values() for _, k, _ in v.violations}))

    def pivot(self, mode: Mode, held: Sequence[int] = (), settle: Settle | None = None) -> Mode | None:
        """Pivot from a mode until it is consistent, without the elements ``held``; None where it comes back to a mode.

        Each round settles at the present levels, and releases what that moves; ``settle`` may do so instead of `settled`.
        """
        released: set[int] = set()
        while True:
            found = settle(mode, released) if settle else self.settled(mode, released, held)
            if found is None:
                return None
            verdict = self._examine(found)
            if verdict.consistent:
                return found
            moves = self._moves(verdict, held)
            released.update(k for k, _ in moves)
            mode = _moved_to(found, moves)

    def settled(self, mode: Mode, released: Collection[int], held: Sequence[int] = ()) -> Mode | None:
        """Pivot from a mode until it is consistent, or only elements ask to be released that are not yet; None as in `pivot`."""
        seen: set[tuple[Mode, bool, int]] = set()
        dead: set[Mode] = set()
        before: Mode | None = None
        fewest, waited, single = np.inf, 0, False
        while (mode, single, len(dead)) not in seen:
            seen.add((mode, single, len(dead)))
            verdict = self._examine(mode)
            if self.is_settled(verdict, held):
                return mode
            moves = [
                (k, self._beyond(k, target) if k in released else target)
                for k, target in self._moves(verdict, held)
            ]
            if verdict.possible:
                waited += 1
                if len(verdict.violations) < fewest:
                    fewest, waited, single = len(verdict.violations), 0, False
            if not moves and not verdict.possible and before is not None:
                # Nothing tells what is wrong here but the step that led here.
                dead.add(mode)
                mode, before, single = before, None, True
                continue
            following = _moved_to(mode, moves)
            if single or waited > _PATIENCE or (following, False, len(dead)) in seen or following in dead:
                single = True
                steps = (_moved_to(mode, [move]) for move in sorted(moves))
                following = next((step for step in steps if step not in dead), mode)
            mode, before = following, mode
        return None

    def is_settled(self, verdict: Judgement, held: Sequence[int] = ()) -> bool:
        """Whether a mode is consistent at its levels: what asks to move is released by it."""
        if not verdict.possible:
            return False
        asked = [(k, target) for _, k, target in verdict.violations if k not in held]
        return verdict.consistent or (
            bool(asked) and all(b in self._releases(verdict.mode, k) for k, b in asked)
        )

    def _moves(self, verdict: Judgement, held: Sequence[int]) -> list[Move]:
        """Moves that a mode asks for: of the elements with negative guards at the most singular level, or in cancelling rows."""
        if not verdict.possible:
            return [(k, target) for k, target in self._way_out(verdict.mode) if k not in held]
        asked = [(level, k, target) for level, k, target in verdict.violations if k not in held]
        # Only a solution at the present levels tells who is released: what already moves before what begins to.
        asked = [a for a in asked if a[2] not in self._releases(verdict.mode, a[1])] or asked
        first = min((level for level, _, _ in asked), default=0)
        return [(k, target) for level, k, target in asked if level == first]

    def _releases(self, mode: Mode, k: int) -> tuple[int, ...]:
        return self._model.elements[k].branches[mode[k]].releases

    def _beyond(self, k: int, target: int) -> int:
        """What an element that a solution has released moves to where others would move to a limit."""
        return next(iter(self._model.elements[k].branches[target].releases), target)

    def _way_out(self, mode: Mode) -> list[Move]:
        """Moves that satisfy the rows of a mode without solution; raises `NoMove` where none can."""
        rows = self._blocking(mode)
        for row in rows:
            if row.contradicts and not row.moves:
                raise NoMove(row.elements, True)
        if rows and not any(row.elements for row in rows):
            raise NoMove((), True)
        chosen = [row for row in rows if row.contradicts]
        if chosen:
            return list({k: (k, target) for row in chosen for k, target in row.moves}.values())
        return min(([min(row.moves)] for row in rows if row.moves), default=[])

    def _beside(self, start: Mode) -> Mode:
        """Search over the branches of the elements that never settled; the others are pivoted for each choice.

        What couples to them and does not settle beside them joins. Only elements that are not monotone in their
        surroundings come here.
        """
        moved: tuple[int, ...] = ()
        while True:
            more = tuple(k for k in self._moved() if k not in moved) or self._untried(moved)
            if not more:
                raise NoMove(moved, True)
            moved = tuple(sorted({*moved, *more}))
            for moves in _choices(self._model, start, moved):
                found = self.pivot(_moved_to(start, moves), moved)
                if found is not None:
                    return found

    def _untried(self, moved: Sequence[int]) -> tuple[int, ...]:
        """All elements, where none of those that are free had anything to move for."""
        return tuple(k for k, free in enumerate(self._free) if free and k not in moved)


def modes_around(model: AffineModel, forced: Sequence[int], start: Mode) -> Iterator[Mode]:
    """A mode and those that a search may choose in its place, the ones with the fewest changes first."""
    free = [k for k, element in enumerate(model.elements) if is_free(element, forced[k])]
    return islice((_moved_to(start, moves) for moves in _choices(model, start, free)), most_pivots(model))


def _choices(model: AffineModel, start: Mode, moved: Sequence[int]) -> Iterator[list[Move]]:
    """All choices of branches of some elements, those with the fewest changes first."""
    for changes in range(len(moved) + 1):
        for which in combinations(moved, changes):
            others = [[b for b in free_branches(model.elements[k]) if b != start[k]] for k in which]
            for branches in product(*others):
                yield list(zip(which, branches, strict=True))


def _moved_to(mode: Mode, moves: Sequence[Move]) -> Mode:
    following = list(mode)
    for k, target in moves:
        following[k] = target
    return tuple(following)


def cancelling_rows(model: AffineModel, mode: Mode, found: Dependencies, instant: Instant) -> list[Row]:
    """The rows of a mode in which all unknowns cancel, as ``found``, and which elements can satisfy them.

    With ``u_k`` for what the equation of the branch of element k leaves, such a row reads ``sum_k w_k(s) u_k = d xi``.
    Every other branch of k allows an interval of ``u_k``. Where the right side is not in the sum of these intervals
    there is no solution in any mode (Farkas). No row is to blame where a mode lacks impulses that lead into it.
    """
    if not found.sources.any() and not (found.free & model.differentiated).any():
        return []
    owner = [k for k, b in enumerate(mode) for _ in range(len(model.elements[k].branches[b].equations))]
    return [
        blocking_row(
            model, mode, instant, zip(owner, weights.T, strict=True), _leading_sign(sources, model, instant.xi),
            abs(float(sources @ instant.xi)) * (1.0 - _PARALLEL),
        )
        for weights, sources in zip(found.weights, found.sources, strict=True)
    ]  # fmt: skip


def blocking_row(
    model: AffineModel,
    mode: Mode,
    instant: Instant,
    weights: Iterable[tuple[int, np.ndarray]],
    sign: int,
    missing: float,
) -> Row:
    """What a row ``sum_k w_k u_k = d`` demands of elements.

    Parameters
    ----------
    weights : iterable of (int, array)
        Elements, and the factors of what their equations leave, differentiated so many times.
    sign : int
        That of ``d``, 0 where it vanishes.
    missing : float
        Its size if it is a value, with which no derivative stands; negative where nobody asks whether ``d`` can be reached.
    """
    moves: dict[int, int] = {}
    elements: dict[int, None] = {}
    for k, weight in weights:
        orders = np.flatnonzero(weight)
        if not len(orders):
            continue
        elements[k] = None
        element, branch = model.elements[k], mode[k]
        wanted = sign * float(np.sign(weight[orders[-1]]))
        farthest = 0.0
        for target in free_branches(element) if is_free(element, instant.forced[k]) else ():
            if _barred(model, k, target, instant):
                continue
            low, high = _interval(element, branch, target, instant.xi)
            reach = max(high * wanted, low * wanted) if wanted else 0.0
            if target != branch and (reach > 0.0 or not wanted):
                farthest = max(farthest, reach)
                if target in _targets(element, branch) and target not in element.branches[branch].releases:
                    moves.setdefault(k, target)
        missing -= farthest * abs(float(weight[0])) if orders[-1] == 0 else farthest and np.inf
    if sign and missing > 0.0:
        moves = {}
    return Row(tuple(moves.items()), tuple(elements), sign != 0)


def _leading_sign(row: np.ndarray, model: AffineModel, xi: np.ndarray) -> int:
    """Sign of the first derivative of ``row @ xi`` that is not zero; 0 where all are."""
    for _ in range(model.q + 1):
        size = np.max(np.abs(row) * model.xi_scale, initial=0.0)
        if size == 0.0:
            break
        value = float(row @ xi)
        if abs(value) > CONTRADICTING * size:
            return 1 if value > 0.0 else -1
        row = row @ model.S
    return 0


def _barred(model: AffineModel, k: int, branch: int, instant: Instant) -> bool:
    """Whether no unknowns let an element be in a branch: sources alone violate a guard of it."""
    guards = model.elements[k].branches[branch].guards
    alone = np.flatnonzero(~_linear(guards).any(axis=1)).tolist()
    return any(
        (k, branch, g) not in instant.disabled_guards and _leading_sign(guards.B[g], model, instant.xi) < 0
        for g in alone
    )


def _targets(element: Element, branch: int) -> Sequence[int]:
    """Branches that may follow one."""
    return element.branches[branch].targets or free_branches(element)


def _interval(element: Element, branch: int, other: int, xi: np.ndarray) -> tuple[float, float]:
    """What the equation of a branch may leave while another one is in force: as far as the guards of that one bound it."""
    present, there = element.branches[branch], element.branches[other]
    if len(present.equations) != 1 or len(there.equations) != 1:
        return -np.inf, np.inf
    pair = _linear(present.equations), _linear(there.equations)
    size = np.array([np.abs(row).max() for row in pair])
    if not size.all():
        return -np.inf, np.inf  # Without unknowns there is no plane in which the branches lie.
    basis = np.concatenate(pair) / size[:, None]
    constant = np.concatenate([(present.equations.B @ xi), (there.equations.B @ xi)]) / size
    along = float(basis[0] @ basis[1] / (basis[1] @ basis[1]))
    if np.abs(basis[0] - along * basis[1]).max() <= _PARALLEL:
        value = float(constant[0] - along * constant[1]) * size[0]
        return value, value
    low, high = -np.inf, np.inf
    for k, (guard, level) in enumerate(zip(_linear(there.guards), there.guards.B @ xi, strict=True)):
        if there.releases and there.targets[k] in there.releases:
            continue  # What lies beyond is reached from there, at another level.
        parts = np.linalg.lstsq(basis.T, guard, rcond=None)[0]
        if (
            np.abs(parts @ basis - guard).max() <= _PARALLEL * np.abs(guard).max()
            and abs(parts[0]) > _PARALLEL * np.abs(parts).max()
        ):
            bound = float((parts @ constant - level) / parts[0]) * size[0]
            low, high = (max(low, bound), high) if parts[0] > 0.0 else (low, min(high, bound))
    return low, high


def _linear(rows: Rows) -> np.ndarray:
    return np.hstack([rows.A, rows.E])
