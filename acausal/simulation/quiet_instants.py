"""Instants of nonlinear models after which nothing is near zero: the mode goes on that followed before, and none is analysed.

An analysis linearises at the point, which is another one at every instant. Where guards and relations are clear of zero their
values alone decide, and Newton's method gives these. What follows from the structure of a mode, and how it rounds, is taken from
the last time that the mode was analysed.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels.segments import ANEW, is_power
from ..reduction.affine import Element, Inadmissible, Kind, Mode, ModeData
from ..reduction.rounding import ROUNDING
from ..results.record import MicroStep
from ..values import frozen
from .failures import UNSOLVED
from .instants.choice import close_to, smooth
from .instants.hints import Cause
from .instants.transition import IMPULSE, Instant, ModeTables, only_these_move
from .nonlinear.motion import Motion
from .nonlinear.newton import NewtonFailure
from .nonlinear.state_selection import DependentConstraints
from .nonlinear.system import NonlinearSystem
from .numeric import NumericCore
from .propagator import Arrival
from .repeating import Repeating

CLEAR = 1e-6
"""Part of the largest terms of a form that its value has to exceed to be clear of zero."""
TOLERANCES = 10.0
"""The same in relative tolerances: what was integrated is no more exact."""


@frozen
class ClearForms:
    """Guards of a mode, then all relations, over core unknowns, their time derivatives and sources."""

    A: np.ndarray
    E: np.ndarray
    B: np.ndarray

    def signs(
        self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray, size: np.ndarray, part: float
    ) -> list[int]:
        """Signs of the values, zero where they are not clear of it, with unknowns of these magnitudes."""
        values = self.A @ z + self.E @ slopes + self.B @ xi
        terms = np.abs(self.A) @ size + np.abs(self.E) @ np.abs(slopes) + np.abs(self.B) @ np.abs(xi)
        return np.where(np.abs(values) > part * terms, np.sign(values), 0.0).astype(int).tolist()


def keeps_slopes(system: NonlinearSystem) -> bool:
    """Whether no derivative among the open unknowns is differentiated: it would not be known where a mode begins."""
    return not bool((system.mode.slopes & (system.orders.unknowns > 0)).any())


class QuietInstants(Repeating):
    """A run that passes such instants."""

    _cleared: np.ndarray | None = None
    """The last point of this kind."""

    @cached_property
    def _forms(self) -> dict[tuple[NumericCore, Mode], ClearForms | None]:
        return {}

    @cached_property
    def _jumping(self) -> dict[Mode, ModeTables]:
        """Tables of modes in which impulses bar elements, as they were analysed the last time."""
        return {}

    def follow(self, end: Arrival) -> None:
        """Take the point at the end of a segment, and the size of its steps."""
        super().follow(end)
        if end.first is not None:
            self.state.firsts = tuple({**dict(self.state.firsts), self.state.mode: end.first}.items())

    def passes(self, instant: Instant, triggers: tuple[Any, ...], k: int) -> bool:
        """Go on behind micro-step ``k`` of a scheduled instant in the mode to which its cause has led before; whether it does.

        Not where that is not clear of zero.
        """
        lin, state = self.linearisation, self.state
        if not self.may_pass:
            return False
        cause = Cause(state.mode, triggers, instant.forced, instant.disabled_guards, self.state_relations)
        known = self.hints.known(cause)
        mode = next(iter(known), None)
        alike = None if mode is None else lin.alike(mode)
        if mode is None or alike is None or lin.exact(mode, self.present) is not None:
            return False
        system = lin.tangents.known(mode)
        if system is None or not keeps_slopes(system):
            return False
        begin = self.base.search.begin(state.mode, instant.forced)
        if is_power(self.visits.get(mode, 0) + 1, ANEW):
            # Both are analysed anew, for they may round otherwise by now.
            self._jumping.pop(begin, None)
            return False
        before = lin.last
        with suppress(NewtonFailure, DependentConstraints):
            if mode != begin and self.ended(state.mode, instant, mode) is None:
                return False
            motion = lin.begin(instant.z_minus, state.slopes, instant.xi, system, self.present, lin.z, True)
            z, slopes = motion.unknowns(motion.last)
            stays = self._unmoved(instant, z, alike.data, before, motion) and np.isfinite(slopes).all()
            signs = self.clear_signs(mode, z, slopes, instant.xi) if stays else None
            if signs is not None and min(signs[: alike.count], default=1) > 0:
                came, state.mode = state.mode, mode
                state.D = self.discrete.written(state.D, mode)
                step = MicroStep(state.t, k, "time", triggers, came, mode, D=state.D, R=state.R)
                self.record.steps.append(step)
                self.stand_clear(z, slopes, instant.xi, motion, signs)
                self.hints.stats.hinted(1)
                return True
        lin.go_back(lin.core, lin.z, before)
        return False

    def stand_clear(
        self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray, motion: Motion, signs: list[int] | None
    ) -> None:
        """Take a point from which a motion goes on in the present mode; the ``signs`` of forms are known where all are clear."""
        lin, state, system = self.linearisation, self.state, motion.system
        state.second = system.z_of @ motion.bends(motion.last) if lin.tangents.deep else np.zeros(len(z))
        state.z, state.slopes, self.xi = z, slopes, xi
        lin.ready(z, xi, motion)
        self.linearise()
        self._arrive()
        if signs is not None:
            self._signs, self._cleared = (self.core, signs), z

    def ended(self, present: Mode, instant: Instant, mode: Mode) -> tuple[Mode, Mode] | None:
        """The mode with which a search begins, and another one, where that ends by just what moves in this; None if not known."""
        lin, begin = self.linearisation, self.base.search.begin(present, instant.forced)
        if begin == mode or self._may_jump or not only_these_move(self._complementary, begin, mode):
            return None
        moved = {k for k, (a, b) in enumerate(zip(begin, mode, strict=True)) if a != b}
        last = lin.last
        try:
            motion = smooth(lin, self.state.slopes, instant.z_minus, instant.xi, self.present, begin)
        except UNSOLVED:
            return None
        finally:
            lin.go_back(lin.core, lin.z, last)
        if motion is not None:
            refused = self._refused(instant, begin, *motion.unknowns(motion.last))
        else:
            refused = self._refused_at_once(instant, begin)
        return (begin, mode) if refused is None or refused == moved else None

    def _refused_at_once(self, instant: Instant, mode: Mode) -> set[int] | None:
        """Elements that impulses bar from a mode, as they did where it was analysed the last time; None where sources bar it."""
        core = self.linearisation.core
        try:
            if mode not in self._jumping:
                self._jumping[mode] = core.tables(core.mode(mode))
            verdict = self._jumping[mode].verdict(instant)
        except Inadmissible:
            return None
        return {k for level, k, _ in verdict.violations if level == IMPULSE}

    def _unmoved(
        self, instant: Instant, z: np.ndarray, data: ModeData, before: Motion | None, motion: Motion
    ) -> bool:
        """Whether no differentiated variable jumps: what moves at once carries impulses, however little it moves.

        Those that follow from constraints are told again, to what Newton's method leaves open, and stay where these say what they
        said ``before``.
        """
        left, model = instant.z_minus, self.base.model
        size = np.maximum(np.abs(z), np.abs(left))
        if (np.abs(z - left) <= ROUNDING * size)[model.differentiated].all():
            return True
        if before is None or not np.array_equal(before.constants, motion.constants):
            return False
        xi = before.last.xi
        over, now = data.constraints[:, len(z) : len(z) + len(xi)], instant.xi[: len(xi)]
        if (np.abs(over @ (now - xi)) > ROUNDING * (np.abs(over) @ np.abs(xi))).any():
            return False
        return bool(close_to(model.scale, z, left)[model.differentiated].all())

    def signs(self) -> list[int]:
        """Lexicographic signs of all guards and relations at the present state."""
        state = self.state
        here = self._signs is not None and self._signs[0] is self.core
        if not here and self.may_pass and "data" not in self.__dict__:
            found = self.clear_signs(state.mode, state.z, state.slopes, self.xi)
            self._signs = None if found is None else (self.core, found)
        return super().signs()

    @property
    def may_pass(self) -> bool:
        """Whether there are nonlinear rows, and nothing that decides by more than signs."""
        return (
            bool(self.reduced.nonlinear)
            and self.base.system is None
            and self.bounds is None
            and not self._may_jump
        )

    def clear_signs(self, mode: Mode, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray) -> list[int] | None:
        """Signs of the guards of a mode and of relations at a point of it; None where one is not clear, or bends."""
        forms = self.clear_forms(mode)
        signs = None if forms is None else forms.signs(z, slopes, xi, *self._clear_from(z))
        return signs if signs is not None and all(signs) else None

    def _refused(self, instant: Instant, mode: Mode, z: np.ndarray, slopes: np.ndarray) -> set[int]:
        """Elements of which a guard is clearly negative at a point of a mode."""
        forms, elements = self.clear_forms(mode), self._elements
        if forms is None:
            return set()
        guards = ((k, b, g) for k, b in enumerate(mode) for g in range(len(elements[k].branches[b].guards)))
        signs = forms.signs(z, slopes, instant.xi, *self._clear_from(z))
        return {
            guard[0]
            for sign, guard in zip(signs, guards, strict=False)
            if sign < 0 and instant.forced[guard[0]] < 0 and guard not in instant.disabled_guards
        }

    @property
    def clear_part(self) -> float:
        """Part of its terms that the value of a form has to exceed to be clear of zero."""
        return max(CLEAR, TOLERANCES * self.method.tolerances.rtol)

    def _clear_from(self, z: np.ndarray) -> tuple[np.ndarray, float]:
        """Magnitudes of the core unknowns, and the part of the terms of a form from which on it is clear of zero."""
        return np.maximum(np.abs(z), self.integration.size), self.clear_part

    @property
    def is_clear(self) -> bool:
        """Whether the present point is one of these."""
        return self._cleared is self.state.z

    @property
    def _complementary(self) -> list[bool]:
        return [element.kind is Kind.COMPLEMENTARITY for element in self._elements]

    @property
    def _elements(self) -> tuple[Element, ...]:
        return self.base.model.elements

    def clear_forms(self, mode: Mode) -> ClearForms | None:
        """Guards of a mode, then relations; None where one bends."""
        key = self.base, mode
        if key not in self._forms:
            rows, nonlinear = self.tangents.watched(self.base, mode)
            self._forms[key] = None if (nonlinear >= 0).any() else ClearForms(rows.A, rows.E, rows.B)
        return self._forms[key]

    @cached_property
    def _may_jump(self) -> bool:
        """Whether there are elements that decide by more than their guards, or that latch."""
        kinds = (Kind.IMPACT, Kind.CONDITION)
        return bool(self.discrete.latches) or any(e.kind in kinds for e in self._elements)
