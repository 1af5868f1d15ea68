"""Large models cost what is new in them: shared parts count once, and long sums and tables are linear."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Parameter,
    Variable,
    compile_model,
    der,
    exp,
    if_else,
    initially,
    maximum,
    mod,
    pre,
    reinit,
    require,
    simulate,
    sin,
    sqrt,
    time,
    when,
)
from acausal.errors import AcausalError, BalanceError, ContradictionError
from acausal.modeling.expressions import walk
from acausal.reduction.exosystem import decompose

SECONDS = 60
"""A path for each use of a part takes years; the slowest of these takes two seconds."""


@pytest.fixture(autouse=True)
def ends_in_time() -> Iterator[None]:
    def late(*_: Any) -> None:
        msg = f"not finished after {SECONDS} s"
        raise TimeoutError(msg)

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def same(z: Any, levels: int = 60) -> Any:
    """The value of z as a part that occurs 2**levels times."""
    for _ in range(levels):
        z = 0.5 * z + 0.5 * z
    return z


class Shared(Component):
    """dx/dt = ``rate``, which a subclass gives, or -1."""

    x: Variable = Variable(start=1.0)
    y: Discrete = Discrete(start=0.0)
    a: Parameter = Parameter(default=2.0)
    w: Parameter = Parameter(default=3.0, unit="1/s")

    def rate(self) -> Any:
        return -1

    def others(self) -> list[Any]:
        return []

    def equations(self) -> Iterator[Any]:
        yield Eq(der(self.x), self.rate())
        yield from self.others()


def model(rate: Any = None, others: Any = None) -> Shared:
    own = {"rate": rate, "others": others}
    return type("Case", (Shared,), {k: v for k, v in own.items() if v is not None})()


def kinks(z: Any) -> Any:
    for _ in range(60):
        z = 0.5 * maximum(z, z) + 0.5 * z
    return z


W = 3.0
FINAL = {
    "a state": (model(lambda s: -same(s.x)), math.exp(-1)),
    "a nonlinear state": (
        model(lambda s: -same(sin(s.x))),
        2 * math.atan(math.tan(0.5) * math.exp(-1)),
    ),
    "a factor": (model(lambda s: -same(s.a) * s.x), math.exp(-2)),
    "kinks": (model(lambda s: -kinks(s.x)), math.exp(-1)),
    "time": (model(lambda s: same(time)), 1.5),
    "a sinusoid": (model(lambda s: same(sin(s.w * time))), 1 + (1 - math.cos(W)) / W),
    "the angle of a sinusoid": (model(lambda s: sin(same(s.w * time))), 1 + (1 - math.cos(W)) / W),
    "an exponential": (model(lambda s: same(exp(-s.w * time))), 1 + (1 - math.exp(-W)) / W),
    "a function by pieces": (model(lambda s: same(sqrt(1 + s.w * time))), 1 + 14 / 9),
    "a choice in time": (
        model(lambda s: same(if_else(time < 0.5, sin(s.w * time), s.w * time))),
        1 + (1 - math.cos(W / 2)) / W + W / 2 * 0.75,
    ),
    "periodic time": (model(lambda s: same(mod(time, 0.25))), 1.125),
    "a slope": (
        type("Slope", (Shared,), {"equations": lambda s: iter([Eq(der(same(s.a * s.x)), -2 * s.x)])})(),
        math.exp(-1),
    ),
    "a condition": (
        model(None, lambda s: [when(same(s.x) < 0.5, reinit(s.x, pre(s.x) + 1))]),
        1.0,
    ),
    "a condition of time": (
        model(None, lambda s: [when(same(time) > 0.5, reinit(s.x, pre(s.x) + 1))]),
        1.0,
    ),
    "an action": (
        model(None, lambda s: [when(s.x < 0.5, reinit(s.x, same(pre(s.x) + s.w * time)))]),
        1.5,
    ),
    "an initial equation": (
        model(lambda s: -s.x, lambda s: [initially(Eq(same(s.x), 2.0))]),
        2 * math.exp(-1),
    ),
    "requirements": (
        model(
            None,
            lambda s: [
                require(same(s.a) > 1, "a"),
                require(same(s.x) > -1, "x"),
                require(same(time) > -1, "t"),
            ],
        ),
        0.0,
    ),
}


@pytest.mark.parametrize("case", FINAL)
def test_a_part_shared_on_sixty_levels_costs_once(case: str) -> None:
    built, final = FINAL[case]
    program = compile_model(built)
    assert program.simulate(1.0)["x"].final == pytest.approx(final, abs=1e-6)
    program.residual()
    program.structure()


def test_a_binding_shared_on_sixty_levels_costs_once() -> None:
    class Whole(Component):
        k: Parameter = Parameter(default=2.0)

        def build(self) -> None:
            self.part = Shared(a=same(self.k))

    assert simulate(Whole(), 1.0)["part.a"].final == pytest.approx(2.0)


@pytest.mark.parametrize("error", [BalanceError, ContradictionError])
def test_an_error_shows_shared_parts_shortened(error: type[AcausalError]) -> None:
    class Wrong(Component):
        x: Variable = Variable(start=1.0)
        y: Variable = Variable()

        def equations(self) -> Iterator[Eq]:
            yield Eq(same(self.x + self.y), 1)
            if error is ContradictionError:
                yield Eq(same(self.y + self.x), same(2 + self.y - self.y))

    with pytest.raises(error) as info:
        simulate(Wrong(), 1.0)
    assert len(str(info.value)) < 2000


def test_a_shared_part_is_one_term_with_the_sum_of_its_factors() -> None:
    part = sin(3.0 * time)
    (term,) = decompose(2 * part - (part + part) / 4 + if_else(time < 1, part, 0 * part))
    assert term.kind == "sinusoid"
    assert sum(1 for n in walk(term.expr) if n is part) == 1
