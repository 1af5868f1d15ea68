"""Lexicographic test of a candidate mode.

A form that is affine in the variables is decided by the first entry of the sequence

    impulse part, value, first derivative, second derivative

that rises above its noise floor. This is the sign of the leading Laurent coefficient of the
solution for a step ``h -> 0``, so a candidate that passes solves the rational complementarity
problem of Heemels, Schumacher, Weiland, "The rational complementarity problem" (1999).
Third derivatives are rounding noise and are not consulted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...reduction.affine import (
    AffineModel,
    Element,
    Inadmissible,
    Kind,
    Mode,
    ModeData,
    Reason,
    Restart,
    Rows,
)
from ...reduction.impacts import Contacts
from ...reduction.index_reduction import Dependencies, dependencies
from ...reduction.restart import ROUNDING, restart
from ..uncertainty import Uncertainty

LEVELS = ("impulse", "value", "first derivative", "second derivative", "zero")
"""Names of the levels; the last one means that no entry is above its noise."""

SCALE_FLOOR = 1e-15
_VALUE = 1
_ZERO = 4


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

    Attributes
    ----------
    noise : (m, ny) array
        Noise of the values is at least ``noise @ abs(y)``.
    coefficients : (m, ny) array
        The part of it that comes from the coefficients of the forms and from the sources.
    """

    __slots__ = (
        "coefficients",
        "noise",
        "_absolute_z",
        "_chosen",
        "_flow",
        "_forms",
        "_over_z",
        "_rounding",
        "_seconds",
        "_size",
        "_states",
        "_tau",
        "_z_floor",
        "_z_scale",
    )

    def __init__(
        self,
        over_y: np.ndarray,
        data: ModeData,
        T0: float,
        over_z: np.ndarray | None = None,
        z_scale: np.ndarray | None = None,
    ) -> None:
        tau = min(T0, data.tau)
        flow, size = data.Ay * tau, np.abs(over_y)
        bound, self.coefficients = ROUNDING * size, np.zeros(over_y.shape)
        if over_z is not None:
            # Coefficients over y are sums over z in which the large terms may cancel.
            terms = np.abs(over_z) @ np.abs(data.T)
            bound += ROUNDING * terms
            self.coefficients = ROUNDING * np.maximum(terms - size, 0.0)
        nx = len(data.states)
        sources = SCALE_FLOOR * (size[:, nx:] @ amplitudes(data.Ay[nx:, nx:]))
        bound[:, nx:] += sources
        self.coefficients[:, nx:] += sources
        self._size, self._states, self._chosen = len(over_y), data.states, data.chosen
        self.noise, self._tau, self._flow = bound, tau, flow
        forms, moved, bounds = _surfaces(over_y, bound, flow, data.balance.z[data.states])
        self._forms, self._rounding = np.vstack([*forms, *moved]), np.vstack(bounds)
        self._seconds = tau ** np.arange(3.0)[:, None]
        self._over_z, self._z_scale = over_z, z_scale
        if over_z is not None and z_scale is not None:
            self._absolute_z = ROUNDING * np.abs(over_z)
            # Impulses are solved for at the scales of their unknowns: the largest rounds all of them.
            self._z_floor = SCALE_FLOOR * form_scale(over_z, z_scale)

    def signs(
        self, y: np.ndarray, known: Uncertainty, J1: np.ndarray | None = None
    ) -> tuple[list[int], list[int]]:
        """Signs (-1, 0, 1) of the forms at ``y`` and the levels that decided them (indices of `LEVELS`).

        ``known`` says how exactly: the rounding of the states as the last segment left them may exceed that of their values
        where terms cancel. ``J1`` is the impulse of the restart, None when nothing jumped.
        """
        m = self._size
        if m == 0:
            return [], []
        # Plain floats: for the usual handful of forms, arithmetic on arrays would cost several times as much.
        noise = self._rounding.dot(self._terms(y, known)).tolist()
        value = self._forms.dot(y).tolist()
        resolution, moved = known.late / self._tau, 3 * m
        shifted = self._shifted(known) if J1 is None else None
        signs, levels = [0] * m, [_ZERO] * m
        for i in range(m):
            k = i
            for level in (1, 2, 3):
                depth = noise[k] + resolution * abs(value[k + moved])
                if abs(value[k]) > (depth if shifted is None else depth + shifted[k]):
                    signs[i], levels[i] = (1 if value[k] > 0.0 else -1), level
                    break
                k += m
        if J1 is not None and self._over_z is not None:
            self._overrule_by_impulse(J1, signs, levels)
        return signs, levels

    def levels(self, y: np.ndarray, known: Uncertainty) -> tuple[np.ndarray, np.ndarray]:
        """Values and first two time derivatives (3, m) of the forms at ``y``, and their noise floors; arguments as in `signs`."""
        forms, bounds = [self._forms[: self._size]], [self.noise]
        for _ in range(3):
            forms.append(forms[-1] @ self._flow)
            bounds.append(bounds[-1] @ np.abs(self._flow))
        values = np.array([form @ y for form in forms])
        floors = np.array([bound @ self._terms(y, known) for bound in bounds[:3]])
        floors += known.late / self._tau * np.abs(values[1:])
        return values[:3] / self._seconds, floors / self._seconds

    def _shifted(self, known: Uncertainty) -> list[float] | None:
        """What value and derivatives (3 m,) change by while the crossing may be early or late.

        Left limits move as the mode before does. The motion of the mode that is tested says nothing of it: through a small
        loss it takes anything to zero within that time.
        """
        if known.shift is None:
            return None
        return np.abs(self._forms[: 3 * self._size].dot(self._chosen(known.shift))).tolist()

    def _terms(self, y: np.ndarray, known: Uncertainty) -> np.ndarray:
        """Magnitudes (ny,) whose rounding is that of ``y``."""
        size, error = np.abs(y), known.of(self._states)
        if error is not None:
            size[: len(error)] += error / ROUNDING
        return size

    def _overrule_by_impulse(self, J1: np.ndarray, signs: list[int], levels: list[int]) -> None:
        impulse = self._over_z @ J1
        duration = np.max(np.abs(J1) / self._z_scale, initial=0.0)
        noise = self._absolute_z @ np.abs(J1) + self._z_floor * duration
        for i in np.flatnonzero(np.abs(impulse) > noise).tolist():
            signs[i], levels[i] = (1 if impulse[i] > 0.0 else -1), 0


def _surfaces(
    form: np.ndarray, bound: np.ndarray, flow: np.ndarray, weight: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Rows of the value and of two derivatives, each where those before it vanish.

    So flows that agree where a form vanishes decide alike, as those of both sides of a characteristic with a kink: how far the
    value may be off, times what one of them makes of it, is in neither. It is the states, of magnitudes ``weight``, that may be
    off; the sources are known. With them the rates of these rows while those before them go on to vanish, and bounds of their
    rounding.
    """
    forms, rates, bounds, states = [form], [], [bound], slice(len(weight))
    for _ in range(3):
        row, least = forms[-1] @ flow, bounds[-1] @ np.abs(flow)
        for before, rounding in zip(forms, bounds, strict=True):
            if before is forms[-1]:
                rates.append(row)
            unit = before[:, states] * weight
            size = np.max(np.abs(unit), axis=1, initial=0.0, keepdims=True)
            unit = np.divide(unit, size, out=np.zeros_like(unit), where=size > 0.0)
            square = np.sum(unit * unit, axis=1, keepdims=True) * size
            part = np.sum(row[:, states] * weight * unit, axis=1, keepdims=True)
            share = np.divide(part, square, out=np.zeros_like(part), where=size > 0.0)
            row, least = row - share * before, least + np.abs(share) * rounding
        forms.append(np.where(np.abs(row) > least, row, 0.0))
        bounds.append(least)
    return forms[:3], rates, bounds[:3]


def forms_over_state(rows: Rows, data: ModeData) -> np.ndarray:
    """The forms ``E z' + A z + B xi`` over ``y`` in one mode, shape (m, ny)."""
    over_y = rows.A @ data.T + rows.E @ (data.T @ data.Ay)
    over_y[:, len(data.states) :] += rows.B
    return over_y


def amplitudes(S: np.ndarray) -> np.ndarray:
    """Matrix by which the magnitudes of sources give at least their amplitudes: a sinusoid keeps its own where it vanishes."""
    size = np.abs(S)
    both = (size > 0.0) & (size.T > 0.0)
    return np.eye(len(S)) + np.sqrt(np.divide(size, size.T, out=np.zeros_like(size), where=both))


def form_scale(over_z: np.ndarray, z_scale: np.ndarray) -> np.ndarray:
    """Magnitudes (m,) of the variables in forms: of the largest term of each."""
    return np.max(np.abs(over_z) * z_scale, axis=1, initial=0.0)


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
    forced: Sequence[int]
    disabled_guards: frozenset[tuple[int, int, int]] | tuple[tuple[int, int, int], ...] = ()
    reinits: Sequence[tuple[int, float]] = ()
    crossed: tuple[Mode, tuple[int, int, int]] | None = None
    """Mode before the instant and guard that has crossed zero in it, if nothing but that has happened."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a candidate, in the names of its model: printed, one line for the history of a search."""

    reason: Reason | None = None
    """Why the mode cannot exist, None if it does."""
    where: tuple[str, ...] = ()
    """Names of what makes it impossible."""
    violated: tuple[tuple[str, str], ...] = ()
    """Elements with a violated guard, and the level that decided it."""

    def __str__(self) -> str:
        if self.reason is not None:
            return f"{self.reason}: {', '.join(self.where)}"
        if not self.violated:
            return "consistent"
        return "violated: " + ", ".join(f"{name} ({level})" for name, level in self.violated)


@dataclass(slots=True, eq=False)
class Verdict:
    """Outcome of one test; ``restart`` is None for a mode that cannot exist, ``reason`` and ``where`` then say why."""

    mode: Mode
    restart: Restart | None
    violations: tuple[tuple[int, int, int], ...]
    """(level, element, target), the first violated guard of an element at its most singular level."""
    reason: Reason | None = None
    where: tuple[str, ...] = ()
    signs: list[int] | None = None
    """Signs of the guards in force at the restart, None where an impulse decided."""

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
        return Tried(self.reason, self.where, violated)


class _PreparedMode:
    """Everything a test needs of one mode, arranged once."""

    __slots__ = ("conditions", "contacts", "guards", "origin")

    def __init__(self, model: AffineModel, data: ModeData) -> None:
        n, T0 = model.n, model.T0
        self.guards = SignTable(data.Gy, data, T0, data.guards[:, :n], model.scale)
        self.origin = []
        position: dict[int, int] = {}
        for element, target in zip(data.guard_element.tolist(), data.guard_target.tolist(), strict=True):
            k = position[element] = position.get(element, -1) + 1
            self.origin.append((element, target, (element, data.mode[element], k)))
        self.contacts: dict[tuple[int, ...], Contacts] = {}
        """Responses to impulses in contacts that touch."""
        self.conditions = []
        for k, element in enumerate(model.elements):
            rows = element.relations
            if element.kind is Kind.CONDITION and rows is not None and element.select is not None:
                table = SignTable(forms_over_state(rows, data), data, T0, rows.A, model.scale)
                self.conditions.append((k, table, element.select))


class CandidateTest:
    """Decides whether a candidate mode is consistent at an instant.

    Parameters
    ----------
    model : AffineModel
    modes : callable
        Cached reduction of a mode; raises `Inadmissible`.
    """

    def __init__(self, model: AffineModel, modes: Callable[[Mode], ModeData]) -> None:
        self._model, self._modes = model, modes
        self._prepared: dict[ModeData, _PreparedMode] = {}
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
            data = self._modes(mode)
            prepared = self.prepared(data)
            values = restart(
                self._model, data, instant.z_minus, instant.xi, instant.reinits, instant.known.doubt
            )
        except Inadmissible as error:
            return Verdict(mode, None, (), error.reason, error.where)
        J1 = values.J1 if values.jumped else None
        signs, levels = prepared.guards.signs(values.y, instant.known, J1)
        if instant.crossed is not None and instant.crossed[0] == data.mode and not values.jumped:
            _know_crossing(prepared, signs, levels, instant.crossed[1])
        violations = _violated_guards(prepared, signs, levels, instant)
        for k, table, select in prepared.conditions:
            if instant.forced[k] < 0:
                at, decided = table.signs(values.y, instant.known, J1)
                target = select(np.array(at))
                if target != mode[k]:
                    violations.append((min(decided, default=_VALUE), k, target))
        return Verdict(mode, values, tuple(violations), signs=signs if J1 is None else None)

    def prepared(self, data: ModeData) -> _PreparedMode:
        """Tables of one mode."""
        found = self._prepared.get(data)
        if found is None:
            found = self._prepared[data] = _PreparedMode(self._model, data)
        return found

    def forget(self, data: ModeData) -> None:
        """Give back the tables of one mode."""
        self._prepared.pop(data, None)


def _know_crossing(
    prepared: _PreparedMode, signs: list[int], levels: list[int], crossed: tuple[int, int, int]
) -> None:
    """A guard that was seen to cross zero is negative if its mode goes on, also where its rates are lost in rounding."""
    for i, (_, _, guard) in enumerate(prepared.origin):
        if guard == crossed and signs[i] == 0:
            signs[i], levels[i] = -1, _VALUE


def _violated_guards(
    prepared: _PreparedMode, signs: list[int], levels: list[int], instant: Instant
) -> list[tuple[int, int, int]]:
    if -1 not in signs:
        return []
    worst: dict[int, tuple[int, int, int]] = {}
    for sign, level, (element, target, guard) in zip(signs, levels, prepared.origin, strict=True):
        if sign >= 0 or instant.forced[element] >= 0 or guard in instant.disabled_guards:
            continue
        if element not in worst or level < worst[element][0]:
            worst[element] = (level, element, target)
    return list(worst.values())
