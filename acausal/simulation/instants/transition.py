"""The transition to a mode: consistent restart, and the lexicographic test of all that the mode asks for.

A form that is affine in the variables is decided by the first entry of the sequence

    impulse (of second order, then of first), value, first derivative, second derivative

that rises above its noise floor. This is the sign of the leading Laurent coefficient of the
solution for a step ``h -> 0``, so a candidate that passes solves the rational complementarity
problem of Heemels, Schumacher, Weiland, "The rational complementarity problem" (1999).
Third derivatives are consulted of speeds alone at which friction holds with all it has: they
say what the second ones of its force say where it holds with less. Others are rounding noise.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from ...dynamics.closed_form import AffineFlow
from ...dynamics.flows import Flows
from ...dynamics.noise import Uncertainty, shifted
from ...dynamics.scan import FlowWatch
from ...dynamics.surfaces import lexicographic
from ...kernels.signs import SignForms
from ...kernels.situations import VariableLevels
from ...reduction.affine import (
    AT_BREAKAWAY,
    AffineModel,
    Element,
    Inadmissible,
    Kind,
    Mode,
    ModeData,
    Restart,
    Rows,
)
from ...reduction.double_double import over_state
from ...reduction.impacts import Contacts
from ...reduction.index_reduction import Dependencies, dependencies
from ...reduction.rounding import ROUNDING, SUMMED, amplitudes
from ..self_check import Held
from .restart import Carried, LeftLimits, restart, rounded_sizes, second_impulse

LEVELS = ("impulse", "value", "first derivative", "second derivative", "third derivative", "zero")
"""Names of the levels; the last one means that no entry is above its noise."""

IMPULSE, VALUE = 0, 1
"""The levels of impulses and of values."""
_ZERO = 5
MOST_SITUATIONS = 4096
"""Situations of one mode of which is kept what follows from them."""

Crossed = tuple[Mode, tuple[int, int, int]]


# -- signs --------------------------------------------------------------------------------------------------------------


class SignTable:
    """Lexicographic signs of forms over ``y`` along the flow of one mode.

    Parameters
    ----------
    over_y : (m, ny) array
        The forms over the state vector ``y = [z[states]; xi]``.
    data : ModeData
        The mode whose flow ``y' = Ay y`` gives the derivatives.
    T0 : float
        Time unit of the model.
    over_z : (m, n) array, optional
        The same forms over ``z``; needed for the impulse level.
    z_scale : (n,) array, optional
        Magnitudes of ``z``; needed for the impulse level.
    deep : (m,) sequence of bool, optional
        Forms of which the third derivative is consulted too.

    Attributes
    ----------
    noise : (m, ny) array
        Noise of the values is at least ``noise @ abs(y)``.
    coefficients : (m, ny) array
        The part of it that comes from the coefficients of the forms and from the sources.
    """

    __slots__ = (
        "coefficients", "noise", "_absolute_z", "_chosen", "_flow", "_forms", "_levels", "_over_z", "_rounding",
        "_seconds", "_size", "_states", "_tau", "_z_floor", "_z_scale",
    )  # fmt: skip

    def __init__(
        self,
        over_y: np.ndarray,
        data: ModeData,
        T0: float,
        over_z: np.ndarray | None = None,
        z_scale: np.ndarray | None = None,
        deep: Sequence[bool] = (),
    ) -> None:
        tau = min(T0, data.tau)
        flow, size = data.Ay * tau, np.abs(over_y)
        bound, self.coefficients = ROUNDING * size, np.zeros(over_y.shape)
        if over_z is not None:
            # Coefficients over y are sums over z in which the large terms may cancel.
            terms = np.abs(over_z) @ data.sizes[0]
            bound += ROUNDING * terms
            self.coefficients = ROUNDING * np.maximum(terms - size, 0.0)
        nx = len(data.states)
        evaluated = SUMMED * amplitudes(data.Ay[nx:, nx:])
        self.coefficients[:, nx:] += size[:, nx:] @ evaluated
        self._size, self._states, self._chosen = len(over_y), data.states, data.chosen
        self._tau, self._flow = tau, flow
        self._levels = [range(1, 4 + on) for on in deep or [False] * len(over_y)]
        order = max(map(len, self._levels), default=3)
        forms, moved, bounds = lexicographic(
            over_y, bound, flow, data.balance.z[data.states], evaluated, order
        )
        self.noise = bounds[0]
        self._forms, self._rounding = np.vstack([*forms, *moved]), np.vstack(bounds)
        self._seconds = tau ** np.arange(3.0)[:, None]
        self._over_z, self._z_scale = over_z, z_scale
        if over_z is not None and z_scale is not None:
            self._absolute_z = ROUNDING * np.abs(over_z)
            # Impulses are solved for at the scales of their unknowns: the largest rounds all of them.
            self._z_floor = SUMMED * np.max(np.abs(over_z) * z_scale, axis=1, initial=0.0)

    def signs(
        self,
        y: np.ndarray,
        known: Uncertainty,
        J1: np.ndarray | None = None,
        moved: Carried | None = None,
        J2: np.ndarray | None = None,
    ) -> tuple[list[int], list[int]]:
        """Signs (-1, 0, 1) of the forms at ``y`` and the levels that decided them (indices of `LEVELS`).

        ``known`` says how exactly: the rounding of the states as the last segment left them may exceed that of their values
        where terms cancel. ``J1`` is the impulse of the restart, None when nothing jumped, and ``moved`` what the jump has
        `carried`. ``J2`` is an impulse of second order with its rounding (n, 1 + k): what it violates is violated.
        """
        m = self._size
        if m == 0:
            return [], []
        # Plain floats: for the usual handful of forms, arithmetic on arrays would cost several times as much.
        noise = self._rounding.dot(rounded_sizes(y, self._error(known))).tolist()
        value = self._forms.dot(y).tolist()
        resolution, rates = known.late / self._tau if moved is None else 0.0, len(noise)
        # Left limits move as the mode before does. The motion of the mode that is tested says nothing of it: through a
        # small loss it takes anything to zero within that time.
        unmoved = None if J1 is not None or known.shift is None else self._chosen(known.shift)
        shift = unmoved if moved is None else moved.y
        moves = None if shift is None else shifted(self._forms[:rates], shift).tolist()
        signs, levels = [0] * m, [_ZERO] * m
        for i in range(m):
            k = i
            for level in self._levels[i]:
                depth = noise[k] + resolution * abs(value[k + rates])
                if abs(value[k]) > (depth if moves is None else depth + moves[k]):
                    signs[i], levels[i] = (1 if value[k] > 0.0 else -1), level
                    break
                k += m
        if J1 is not None and self._over_z is not None:
            doubt = 0.0 if moved is None else moved.impulse(self._over_z)
            for i, sign in self._impulsive(J1, doubt):
                signs[i], levels[i] = sign, 0
            if J2 is not None:
                for i, sign in self._impulsive(J2[:, 0], np.abs(self._over_z @ J2[:, 1:]).sum(axis=1)):
                    if sign < 0:
                        signs[i], levels[i] = sign, 0
        return signs, levels

    def levels(self, y: np.ndarray, known: Uncertainty) -> tuple[np.ndarray, np.ndarray]:
        """Values and first two time derivatives (3, m) of the forms at ``y``, and their noise floors; arguments as in `signs`."""
        forms, bounds = self.derivatives
        values = np.array([form @ y for form in forms])
        size = rounded_sizes(y, self._error(known))
        floors = np.array([bound @ size for bound in bounds])
        floors += known.late / self._tau * np.abs(values[1:])
        if known.shift is not None:
            moved = self._chosen(known.shift)
            floors += [shifted(form, moved) for form in forms[:3]]
        return values[:3] / self._seconds, floors / self._seconds

    @property
    def derivatives(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The forms and their first three derivatives, in units of time of the table, and what rounds all but the last."""
        forms, bounds = [self._forms[: self._size]], [self.noise]
        for _ in range(3):
            forms.append(forms[-1] @ self._flow)
            bounds.append(bounds[-1] @ np.abs(self._flow))
        return forms, bounds[:3]

    @property
    def levels_for_kernels(self) -> VariableLevels:
        """These as kernels read them."""
        forms, bounds = self.derivatives
        return VariableLevels(np.vstack(forms), np.vstack(bounds), np.array([self._tau]))

    @property
    def for_kernels(self) -> SignForms:
        """The forms as kernels read them."""
        orders = np.array([len(levels) for levels in self._levels], np.int64)
        forms, rounding = np.ascontiguousarray(self._forms), np.ascontiguousarray(self._rounding)
        return SignForms(forms, rounding, orders, np.array([self._tau]))

    def _error(self, known: Uncertainty) -> np.ndarray | None:
        return None if known.error is None else known.error[self._states]

    def _impulsive(self, J1: np.ndarray, doubt: np.ndarray | float) -> Iterator[tuple[int, int]]:
        """Forms that an impulse has beyond doubt, and their signs there."""
        impulse = self._over_z @ J1
        duration = np.max(np.abs(J1) / self._z_scale, initial=0.0)
        noise = self._absolute_z @ np.abs(J1) + self._z_floor * duration
        for i in np.flatnonzero(np.abs(impulse) > noise + doubt).tolist():
            yield i, 1 if impulse[i] > 0.0 else -1


def forms_over_state(rows: Rows, data: ModeData) -> np.ndarray:
    """The forms ``E z' + A z + B xi`` over ``y`` in one mode, shape (m, ny)."""
    return over_state(data, rows.A, rows.B, rows.E)


@dataclass(slots=True, eq=False)
class Instant:
    """What is constant during one search.

    ``known`` says how exactly the left limits ``z_minus`` are known, ``xi`` the sources at their right limit, ``forced`` the
    forced branch of every element or -1, ``disabled_guards`` triples (element, branch, guard)
    of the `leave` statements that are not enabled.
    """

    known: Uncertainty
    z_minus: np.ndarray
    xi: np.ndarray
    forced: tuple[int, ...]
    disabled_guards: frozenset[tuple[int, int, int]] | tuple[tuple[int, int, int], ...] = ()
    reinits: Sequence[tuple[int, float]] = ()
    crossed: Callable[[], Crossed | None] | None = None
    """Tells the mode before the instant and the guard that has crossed zero in it, if nothing but that has happened."""
    parted: np.ndarray | None = None
    """By how much elements (K,) had overlapped that were moved apart."""

    def limits(self, data: ModeData) -> LeftLimits:
        """Those at which a mode is entered."""
        return LeftLimits(data, self.z_minus, self.xi, self.known)


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a candidate, in the names of its model: printed, one line for the history of a search."""

    refused: Inadmissible | None = None
    """Why the mode cannot exist, None if it does."""
    violated: tuple[tuple[str, str], ...] = ()
    """Elements with a violated guard, and the level that decided it."""

    def __str__(self) -> str:
        if self.refused is not None:
            return str(self.refused)
        if not self.violated:
            return "consistent"
        return "violated: " + ", ".join(f"{name} ({level})" for name, level in self.violated)


@dataclass(slots=True, eq=False)
class Verdict:
    """Outcome of one test; ``restart`` is None for a mode that cannot exist, ``refused`` then says why."""

    mode: Mode
    restart: Restart | None
    violations: tuple[tuple[int, int, int], ...]
    """(level, element, target), the first violated guard of an element at its most singular level."""
    refused: Inadmissible | None = None
    signs: list[int] | None = None
    """Signs of the guards in force at the restart, with those of impulses; None for a mode that cannot exist."""

    @property
    def possible(self) -> bool:
        """Whether the mode exists."""
        return self.restart is not None

    @property
    def consistent(self) -> bool:
        """Whether the mode exists and nothing in it is violated."""
        return self.restart is not None and not self.violations

    def tried(self, elements: Sequence[Element]) -> Tried:
        """The verdict in the names of the elements."""
        violated = tuple((elements[k].path, LEVELS[level]) for level, k, _ in self.violations)
        return Tried(self.refused, violated)


class ModeTables:
    """What is read of one mode with one set of numbers; everything is made once, what only some runs need when it is asked for.

    Attributes
    ----------
    data : ModeData
    count : int
        Number of guards in force.
    origin : list
        Their elements, branches and names (element, branch, number).
    conditions : list
        Elements whose branch relations select, with the table of these and the selection.
    flows : Flows
        Closed forms of the motion; None where there are none.
    contacts : dict
        Responses to impulses in contacts that touch.
    watches, situations, variables : dict
        What to watch, what has to hold, and tables of single variables, by what they depend on.
    """

    def __init__(
        self,
        model: AffineModel,
        data: ModeData,
        relations: Rows | None = None,
        flow: Callable[[ModeData, float], AffineFlow] | None = None,
    ) -> None:
        self.data, self._model, self._relations = data, model, relations
        self.flows = None if flow is None else Flows(partial(flow, data))
        self.count = len(data.Gy)
        self.origin = []
        position: dict[int, int] = {}
        for element, target in zip(data.guard_element.tolist(), data.guard_target.tolist(), strict=True):
            k = position[element] = position.get(element, -1) + 1
            self.origin.append((element, target, (element, data.mode[element], k)))
        self.contacts: dict[tuple[int, ...], Contacts] = {}
        self.conditions = []
        for k, element in enumerate(model.elements):
            rows = element.relations
            if element.kind is Kind.CONDITION and rows is not None and element.select is not None:
                table = SignTable(forms_over_state(rows, data), data, model.T0, rows.A, model.scale)
                self.conditions.append((k, table, element.select))
        self.watches: dict[Hashable, FlowWatch] = {}
        self.situations: dict[Hashable, Held] = {}
        self.variables: dict[tuple[int, ...], SignTable] = {}

    def deselected(
        self,
        forced: Sequence[int],
        y: np.ndarray,
        known: Uncertainty,
        J1: np.ndarray | None = None,
        moved: Carried | None = None,
    ) -> list[tuple[int, int, int]]:
        """Elements whose relations select another branch, as in a `Verdict`; arguments as of `SignTable.signs`."""
        found = []
        for k, table, select in self.conditions:
            if forced[k] < 0:
                at, decided = table.signs(y, known, J1, moved)
                target = select(np.array(at))
                if target != self.data.mode[k]:
                    found.append((min(decided, default=VALUE), k, target))
        return found

    def verdict(self, instant: Instant) -> Verdict:
        """Restart in the mode and test all guards and conditions that are not forced.

        Raises
        ------
        Inadmissible
        """
        limits = instant.limits(self.data)
        values = restart(self._model, limits, instant.reinits)
        J1, J2, moved, known = None, None, None, instant.known
        if values.jumped:
            # All defects together: those that are beyond doubt by themselves may pull where all of them press.
            J1 = values.J1 + values.removing
            J2 = second_impulse(self._model, values, limits, instant.reinits)
        if values.jumped or (values.removed is not None and limits.moves):
            moved = limits.carried()
        if values.removed is not None:
            known = known.after(values, values.removed if moved is None else moved.removed)
        signs, levels = self.guards.signs(values.y, known, J1, moved, J2)
        if instant.crossed is not None and 0 in signs and not values.jumped:
            crossed = instant.crossed()
            if crossed is not None and crossed[0] == self.data.mode:
                _know_crossing(self, signs, levels, crossed[1])
        violations = _violated_guards(self, signs, levels, instant) if -1 in signs else []
        violations += self.deselected(instant.forced, values.y, known, J1, moved)
        return Verdict(self.data.mode, values, tuple(violations), signs=signs)

    @cached_property
    def guards(self) -> SignTable:
        """Signs of the guards in force."""
        model, data = self._model, self.data
        return SignTable(data.Gy, data, model.T0, data.guards[:, : model.n], model.scale, self._held_back)

    @property
    def _held_back(self) -> list[bool]:
        """Guards that read the speed of a friction which holds with all it has."""
        elements, mode = self._model.elements, self.data.mode
        return [elements[k].kind is Kind.FRICTION and mode[k] in AT_BREAKAWAY for k, *_ in self.origin]

    @staticmethod
    def keep(cache: dict[Hashable, Any], key: Hashable, value: Any) -> None:
        """Keep what follows from a situation; all is forgotten where there are too many."""
        if len(cache) >= MOST_SITUATIONS:
            cache.clear()
        cache[key] = value

    @property
    def flow(self) -> AffineFlow:
        """Closed form of the motion over the usual lengths."""
        assert self.flows is not None
        return self.flows.usual

    @cached_property
    def _over_z(self) -> np.ndarray:
        guards = self.data.guards[:, : self._model.n]
        return guards if self._relations is None else np.concatenate([guards, self._relations.A])

    @cached_property
    def forms(self) -> np.ndarray:
        """Guards in force over ``y``, then state relations (left minus right)."""
        if self._relations is None or not len(self._relations):
            return self.data.Gy
        return np.concatenate([self.data.Gy, forms_over_state(self._relations, self.data)])

    @cached_property
    def signs(self) -> SignTable:
        """Of the forms."""
        if self.forms is self.data.Gy:
            return self.guards
        deep = self._held_back + [False] * (len(self.forms) - self.count)
        return SignTable(self.forms, self.data, self._model.T0, self._over_z, self._model.scale, deep)


class CandidateTest:
    """Decides whether a candidate mode is consistent at an instant.

    Parameters
    ----------
    model : AffineModel
    modes : callable
        Reduction of a mode; raises `Inadmissible`.
    tables : callable, optional
        Makes the tables of a mode.

    Attributes
    ----------
    known : dict
        The tables that were made, by their modes.
    """

    def __init__(
        self,
        model: AffineModel,
        modes: Callable[[Mode], ModeData],
        tables: Callable[[ModeData], ModeTables] | None = None,
    ) -> None:
        self._model, self._modes = model, modes
        self._make = tables or partial(ModeTables, model)
        self.known: dict[Mode, ModeTables] = {}
        self._dependencies: dict[Mode, Dependencies] = {}

    def dependencies(self, mode: Mode) -> Dependencies:
        """What cancels in a mode, over the equations of its elements: the same whenever it is tried."""
        found = self._dependencies.get(mode)
        if found is None:
            found = self._dependencies[mode] = dependencies(self._model, mode, len(self._model.base))
        return found

    def __call__(self, mode: Mode, instant: Instant) -> Verdict:
        """Restart in ``mode`` and test all guards and conditions that are not forced."""
        try:
            return (self.known.get(mode) or self.tables(self._modes(mode))).verdict(instant)
        except Inadmissible as error:
            return Verdict(mode, None, (), error.with_traceback(None))

    def tables(self, data: ModeData) -> ModeTables:
        """Tables of one mode."""
        found = self.known.get(data.mode)
        if found is None:
            found = self.known[data.mode] = self._make(data)
        return found

    def forget(self, mode: Mode) -> None:
        """Give back the tables of one mode."""
        self.known.pop(mode, None)


def _know_crossing(
    tables: ModeTables, signs: list[int], levels: list[int], crossed: tuple[int, int, int]
) -> None:
    """A guard that was seen to cross zero is negative if its mode goes on, also where its rates are lost in rounding."""
    for i, (_, _, guard) in enumerate(tables.origin):
        if guard == crossed and signs[i] == 0:
            signs[i], levels[i] = -1, VALUE


def _violated_guards(
    tables: ModeTables, signs: list[int], levels: list[int], instant: Instant
) -> list[tuple[int, int, int]]:
    worst: dict[int, tuple[int, int, int]] = {}
    for sign, level, (element, target, guard) in zip(signs, levels, tables.origin, strict=True):
        if sign >= 0 or instant.forced[element] >= 0 or guard in instant.disabled_guards:
            continue
        if element not in worst or level < worst[element][0]:
            worst[element] = (level, element, target)
    return list(worst.values())


@dataclass
class SearchStats:
    """Choices of the next mode, how many of them a hint gave, and the candidates that the others examined."""

    searches: int = 0
    hints: int = 0
    candidates: int = 0

    def began(self) -> None:
        """Count a search that no hint gave."""
        self.searches += 1

    def examined(self) -> None:
        """Count a candidate."""
        self.candidates += 1

    def hinted(self, count: int) -> None:
        """Count searches whose hint was right."""
        self.searches += count
        self.hints += count


@dataclass(slots=True, eq=False)
class Choice:
    """The consistent mode as a restart in it, and the candidates tried on the way."""

    restart: Restart
    history: tuple[tuple[Mode, Tried], ...]
    signs: list[int] | None = None
    """Signs of the guards in force, those of impulses included; None where nothing was tested."""
    others: tuple[Mode, ...] = ()
    """Other consistent modes: in each a friction stays at rest that slides in the chosen one."""


class Chooser(Protocol):
    """What finds a mode where no hint does."""

    test: CandidateTest
    monotone: list[bool]
    """Elements whose moves have one outcome."""

    def rivals(self, begin: Mode, mode: Mode) -> tuple[Mode, ...] | None:
        """The modes that a search takes before one to which it has led; None where it may take any."""
        ...

    def is_unique(self, mode: Mode, forced: Sequence[int]) -> bool:
        """Whether no other mode suits any point that this one suits; false where that is not known."""
        ...

    def stays_out(self, verdict: Verdict, begin: Mode) -> bool:
        """Whether what has moved since another mode may not be as it was there: what leads back is above zero, or nothing."""
        ...

    def moves(self, chosen: Verdict) -> bool:
        """Whether all that could rest in a mode moves."""
        ...

    def begin(self, present: Mode, forced: Sequence[int]) -> Mode:
        """The mode to begin with."""
        ...

    def search(self, instant: Instant, start: Mode, stats: SearchStats) -> Choice:
        """The consistent mode."""
        ...


def only_these_move(these: Sequence[bool], start: Mode, mode: Mode) -> bool:
    """Whether all elements whose branch changes are among these."""
    return all(a == b or may for a, b, may in zip(start, mode, these, strict=True))
