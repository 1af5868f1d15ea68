"""An interpreter of discrete statements: micro-steps as the language defines them, on a grid of times, without any sorting.

Statement k determines variable k and reads variables before k as they are now, all others by ``pre``. A condition is a tuple:
("time", t), ("sample", period, start), ("u", level): the real input is above it, ("timer", T): of a state machine that was
entered T ago, ("not", c), ("and" | "or" | "xor", c, c), ("now" | "pre", k, level): at least that, ("edge", k), ("change", k).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Condition = tuple[Any, ...]
MOST = 50


@dataclass
class Machine:
    """States 0, 1, 2 with their ways out, (target, condition), in written order."""

    start: int
    ways: Sequence[Sequence[tuple[int, Condition]]]


@dataclass
class Equation:
    """Holds in every micro-step."""

    start: int
    value: Condition


@dataclass
class Chain:
    """A `when` and its `elsewhen`: (conditions, value), the value ("add", d), ("set", value) or ("cycle", n)."""

    start: int
    branches: Sequence[tuple[Sequence[Condition], tuple[str, int]]]


@dataclass
class Given:
    """A discrete input."""

    start: int


@dataclass
class Interpreter:
    """The variables after the last micro-step, and what conditions were."""

    statements: Sequence[Machine | Equation | Chain | Given]
    u: float
    now: list[int] = field(default_factory=list)
    held: dict[tuple[int, int, int], bool] = field(default_factory=dict)
    entered: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.now = [s.start for s in self.statements]
        # Before the start nothing fires or moves, but it is noted what holds.
        self._micro_step(0.0, False, {}, resting=True)

    def instant(
        self, t: float, ticks: bool = True, given: Mapping[int, int] | None = None, u: float | None = None
    ) -> bool:
        """Micro-steps until nothing changes; false if that takes too many. Inputs change in the first one."""
        for k in range(MOST):
            new, moved = self._micro_step(t, ticks and k == 0, (given or {}) if k == 0 else {})
            quiet = new == self.now and not moved and k > 0
            self.now, self.entered = new, self.entered | dict.fromkeys(moved, t)
            self.u = self.u if u is None else u
            if quiet:
                return True
        return False

    def _micro_step(
        self, t: float, ticks: bool, given: Mapping[int, int], resting: bool = False
    ) -> tuple[list[int], list[int]]:
        new, moved = list(self.now), list[int]()
        for k, s in enumerate(self.statements):
            match s:
                case Given():
                    new[k] = given.get(k, new[k])
                case Equation():
                    new[k] = int(self._holds(s.value, new, t, ticks, k))
                case Machine():
                    ways = [] if resting else s.ways[self.now[k]]
                    open_ = [target for target, c in ways if self._holds(c, new, t, ticks, k)]
                    new[k], moved = (open_ or [new[k]])[0], moved + [k] * bool(open_)
                case Chain():
                    fired = [
                        value
                        for b, (_, value) in enumerate(s.branches)
                        if self._fires(s, k, b, new, t, ticks)
                    ]
                    if fired and not resting:
                        kind, n = fired[0]
                        new[k] = n if kind == "set" else self.now[k] + (n if kind == "add" else 1)
                        new[k] %= n if kind == "cycle" else 1000
        return new, moved

    def _fires(self, s: Chain, k: int, b: int, new: list[int], t: float, ticks: bool) -> bool:
        fires = False
        for n, c in enumerate(s.branches[b][0]):
            holds = self._holds(c, new, t, ticks, k)
            fires |= holds and not self.held.get((k, b, n), False)
            self.held[k, b, n] = holds
        return fires

    def _holds(self, c: Condition, new: list[int], t: float, ticks: bool, k: int) -> bool:
        match c:
            case "time", at:
                return t >= at
            case "sample", period, start:
                return ticks and t >= start and (t - start) % period == 0.0
            case "u", level:
                return self.u > level
            case "timer", T:
                return t >= self.entered.get(k, 0.0) + T
            case "not", a:
                return not self._holds(a, new, t, ticks, k)
            case ("and" | "or" | "xor") as op, a, b:
                both = self._holds(a, new, t, ticks, k), self._holds(b, new, t, ticks, k)
                return {"and": all(both), "or": any(both), "xor": both[0] != both[1]}[op]
            case "edge", j:
                return new[j] >= 1 and not self.now[j] >= 1
            case "change", j:
                return new[j] != self.now[j]
            case _:
                return (new if c[0] == "now" else self.now)[c[1]] >= c[2]
