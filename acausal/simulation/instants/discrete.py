"""The discrete part of a model: relations, discrete equations and conditions as one function of arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...reduction.affine import Element, Kind, Mode
from ...reduction.assemble import truth
from ...reduction.reduced_model import ReducedModel
from ..compiled import CompiledModel

DISABLED = {Kind.COMPLEMENTARITY: 2, Kind.FRICTION: 3}
FORCED = {Kind.CONTROLLED: (0, 1), **{kind: (-1, branch) for kind, branch in DISABLED.items()}}
"""Forced branch while the control or enabling condition holds, and while it does not; -1 is none."""


@dataclass(slots=True, eq=False)
class Outcome:
    """Results of one evaluation of the discrete part."""

    D: np.ndarray
    memory: np.ndarray
    R: np.ndarray
    fired: tuple[int, ...]
    forced: tuple[int, ...]
    disabled: frozenset[tuple[int, int, int]]
    timed_next: float
    """Next time that a relation of time asks for."""
    sound: bool
    """Every discrete variable has a value of its type."""
    defects: np.ndarray | None
    """By how much discretes and relations of time miss their statements, None for nothing."""


Now = tuple[float, float, bool, bool]
"""A time as the discrete part sees it: seconds, their resolution, whether it is the first instant, and the last one."""


class DiscretePart:
    """The discrete part of one run.

    Parameters
    ----------
    program : CompiledModel
    elements : sequence of Element
    P : array
        All parameters.
    accuracy : float
        Part of a value that the run may miss.
    """

    def __init__(
        self, program: CompiledModel, elements: Sequence[Element], P: np.ndarray, accuracy: float
    ) -> None:
        self.program = program.discrete
        self.f = self.program.update.copy()
        self._evaluate = self.f.evaluate
        self.f.inputs[0][:] = P[self.program.p]
        self.f.inputs[6][4] = accuracy
        self.x_ids, self.slope_ids = tuple(self.program.x.tolist()), tuple(self.program.slopes.tolist())
        self.compared = tuple(self.program.compared.tolist())
        self.state_relations = self.program.r
        self.operators = _operators(program.reduced)
        self._branches = [FORCED.get(e.kind, (-1, -1)) for e in elements]
        latched = enumerate(_latches(program.reduced))
        self.latches = [k for k, on in latched if on and elements[k].kind in DISABLED]
        self.mode_slots = _mode_slots(program.reduced)
        self._shown: dict[Mode, tuple[np.ndarray, np.ndarray]] = {}
        """Discrete variables of elements, with their values, in the modes that were entered."""
        self._decided: tuple[Any, tuple[int, ...], frozenset[tuple[int, int, int]]] = None, (), frozenset()
        """Controls, flags and mode of the last evaluation, with what they force and disable."""

    def __call__(
        self,
        D: np.ndarray,
        R: np.ndarray,
        x: Any,
        ticks: Sequence[bool],
        memory: np.ndarray,
        now: Now,
        mode: Mode,
        given: np.ndarray | None = None,
    ) -> Outcome:
        """Evaluate all discrete equations and conditions once.

        ``x`` may end before the motions of what is compared: they count where a branch fires that `compares`. ``given`` are
        discretes whose inputs count from now on; without them inputs stay.
        """
        _, to_D, to_R, to_x, to_ticks, to_memory, clock, to_inputs = self.f.inputs
        to_D[:] = D
        if len(to_inputs):
            to_inputs[:] = (D if given is None else given)[self.program.inputs]
        to_R[:] = R
        if len(to_x):
            to_x[: len(x)], to_x[len(x) :] = x, 0.0
        if len(to_ticks):
            to_ticks[:] = ticks if len(ticks) else 0.0
        to_memory[:] = memory
        clock[0], clock[1], clock[2], clock[3] = now
        self._evaluate()
        new_D, new_memory, new_R, times, fired, _, _, controls, flags, sound, off = self.f.outputs
        timed_next, soon = math.inf, now[0] + now[1]
        if len(times):
            for s in times.tolist():
                if soon < s < timed_next:
                    timed_next = s
        events = fired.tolist()
        which = tuple([b for b, on in enumerate(events) if on]) if any(events) else ()
        forced, disabled = self._decide(controls, flags, mode)
        defects = None if sound[1] else off.copy()
        D, memory, R = _kept(D, new_D), _kept(memory, new_memory), _kept(R, new_R)
        return Outcome(D, memory, R, which, forced, disabled, timed_next, sound[0] != 0.0, defects)

    def at_start(
        self, start: np.ndarray, D: np.ndarray, R: np.ndarray, ticks: Sequence[bool], memory: np.ndarray, now: Now,
        mode: Mode,
    ) -> Outcome:  # fmt: skip
        """The first micro-step as far as start values of all variables tell: slopes count as zero."""
        return self(D, R, start[list(self.x_ids)], ticks, memory, now, mode)

    def compares(self, o: Outcome) -> frozenset[int]:
        """Variables that the actions of the branches that have fired compare."""
        return frozenset[int]().union(*(self.program.branches[b].compares for b in o.fired))

    def _decide(
        self, controls: np.ndarray, flags: np.ndarray, mode: Mode
    ) -> tuple[tuple[int, ...], frozenset[tuple[int, int, int]]]:
        """Branches that controls force, and guards that are switched off."""
        key = controls.tobytes(), flags.tobytes(), mode if self.latches else ()
        if key == self._decided[0]:
            return self._decided[1:]
        forced = [
            on if control else off
            for control, (on, off) in zip(controls.tolist(), self._branches, strict=True)
        ]
        for k in self.latches:
            if mode[k] == 1:
                forced[k] = -1
        disabled = frozenset([g for g, on in zip(self.program.guards, flags.tolist(), strict=True) if not on])
        self._decided = key, tuple(forced), disabled
        return self._decided[1:]

    def value(self, position: int) -> float:
        """Value of a reinit after the last evaluation."""
        return float(self.f.outputs[5][position])

    def missed(self) -> int | None:
        """The first requirement that did not hold in the last evaluation; None without any."""
        checks = self.f.outputs[6].tolist()
        return None if all(checks) else checks.index(0.0)

    @property
    def enabled(self) -> np.ndarray:
        """Flags of enabled guards of the last evaluation, which the next one overwrites."""
        return self.f.outputs[8]

    @property
    def forces(self) -> np.ndarray:
        """Branches (elements, 2) that a control forces where it does not hold and where it does, -1 for none."""
        return np.array([(off, on) for on, off in self._branches], np.int64).reshape(-1, 2)

    def shown(self, mode: Mode) -> tuple[np.ndarray, np.ndarray]:
        """Discrete variables of elements, and their values in a mode."""
        found = self._shown.get(mode)
        if found is None:
            places = [(place, branch) for place, branch in zip(self.mode_slots, mode, strict=True) if place]
            numbers, values = [p[0] for p, _ in places], [p[1][b] for p, b in places]
            found = self._shown[mode] = np.array(numbers, np.int64), np.array(values, float)
        return found

    def written(self, D: np.ndarray, mode: Mode) -> np.ndarray:
        """Discrete variables with those of elements as the mode says."""
        shown = self.shown(mode)
        if not len(shown[0]):
            return D
        D = D.copy()
        D[shown[0]] = shown[1]
        return D

    def with_branches(self, D: np.ndarray, branches: Mapping[int, int]) -> np.ndarray:
        """Discrete variables with those of some elements as their branches say."""
        D = D.copy()
        for k, branch in branches.items():
            place = self.mode_slots[k]
            if place is not None:
                D[place[0]] = place[1][branch]
        return D


def _kept(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """The array before where nothing has changed, which is never written to: most micro-steps confirm the one before."""
    return before if before.tobytes() == now.tobytes() else now.copy()


def _operators(reduced: ReducedModel) -> list[Callable[[int], bool]]:
    return [
        partial(truth, r.relation.node.op)
        for r, _ in reduced.flat.each(reduced.relations)
        if not r.relation.timed
    ]


def _latches(reduced: ReducedModel) -> list[bool]:
    return [rows.forms.statement.table.latch for rows, _ in reduced.flat.each(reduced.elements)]


def _mode_slots(reduced: ReducedModel) -> list[tuple[int, list[float]] | None]:
    """Discrete number of the mode variable of every element and its value in every branch, None for those without one."""
    found = []
    for rows in reduced.elements:
        s = reduced.flat.batches[rows.batch]
        slot = s.template.index("d", rows.forms.statement.name)
        true, shown = rows.forms.statement.table.true_branch, rows.shown
        code = [float(k if true is None else k == true) for k in shown]
        found += [None if slot is None else (int(d) + slot, code) for d in s.db]
    return found
