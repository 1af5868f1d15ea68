"""Which modes a run analyses, and which it shares with runs before it."""

import math
from collections.abc import Iterator

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    If,
    Statement,
    Variable,
    assign,
    compile_model,
    der,
    if_else,
    pre,
    sample,
    when,
)
from acausal.simulation import numeric
from acausal.simulation.analysed_modes import AnalysedModes, Recent
from benchmarks.circuits import Leg
from examples.buck_converter import Buck

PERIOD, GROWTH = 0.1, 1.01


class Relay(Component):
    """``x`` decays, and ``u`` is one until a gain that grows with every sample, times ``x``, has come down to a half."""

    x: Variable = Variable(start=1.0)
    y: Variable = Variable(start=0.0, fixed=True)
    gain: Discrete = Discrete(float, start=1.0)

    def equations(self) -> Iterator[Statement]:
        yield when(sample(period=PERIOD, start=PERIOD), assign(self.gain, GROWTH * pre(self.gain)))
        yield Eq(der(self.x), -self.x)
        yield Eq(der(self.y), if_else(self.gain * self.x > 0.5, 1.0, 0.0))


def test_a_gain_that_a_relation_reads_makes_no_new_analysis() -> None:
    result = compile_model(Relay()).simulate(2.0)
    crossing = next(
        t
        for k in range(20)
        if PERIOD * k <= (t := math.log(2.0 * GROWTH**k)) < PERIOD * (k + 1)
        or t < PERIOD * k
        and (t := PERIOD * k)
    )
    assert result["y"].final == pytest.approx(crossing, rel=1e-12)
    assert result.stats.mode_analyses == 1


class Variator(Component):
    """A storage that is emptied through a resistance, which grows with every sample, or not at all."""

    q: Variable = Variable(start=1.0)
    i: Variable = Variable()
    resistance: Discrete = Discrete(float, start=1.0)
    closed: Discrete = Discrete(bool, start=True)

    def equations(self) -> Iterator[Statement]:
        yield when(
            sample(period=PERIOD, start=PERIOD),
            assign(self.resistance, 1.0 + pre(self.resistance)),
            assign(self.closed, ~pre(self.closed)),
        )
        yield Eq(der(self.q), -self.i)
        yield If(self.closed, [Eq(self.q, self.resistance * self.i)], [Eq(self.i, 0.0)])


def test_only_modes_that_contain_what_has_changed_are_analysed_anew() -> None:
    result = compile_model(Variator()).simulate(1.0 - 1e-9)
    # Closed with 1, 3, 5, 7, 9; open in between, always with the same equations.
    charge = math.exp(-PERIOD * sum(1.0 / r for r in (1, 3, 5, 7, 9)))
    assert result["q"].final == pytest.approx(charge, rel=1e-12)
    assert result.stats.mode_analyses == 6


def test_neither_length_nor_starts_are_numbers_of_an_analysis() -> None:
    program = compile_model(Buck())
    first = program.simulate(2e-4)
    other = program.simulate(5e-4, initial={"capacitor.v": 3.0})
    assert (first.stats.mode_analyses, other.stats.mode_analyses) == (4, 0)
    alone = compile_model(Buck()).simulate(5e-4, initial={"capacitor.v": 3.0})
    for name in ("load.v", "inductor.i"):
        assert other[name].final == alone[name].final


def test_tables_that_were_not_used_for_longest_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = 3e-4
    free = compile_model(Buck()).simulate(stop)
    monkeypatch.setattr(numeric, "MODE_BYTES", 1)
    program = compile_model(Buck())
    program.cores.modes = AnalysedModes(limit=1)
    tight = program.simulate(stop)
    assert tight["load.v"].final == free["load.v"].final
    assert tight.stats.mode_analyses > free.stats.mode_analyses


def test_what_is_kept_stays_below_its_limit() -> None:
    gone: list[int] = []
    kept: Recent[int, int] = Recent(100, gone.append)
    for k in range(4):
        kept.put(k, k, 30)
        kept.get(0)
    assert (gone, kept.bytes, len(kept)) == ([1], 90, 3)
    kept.put(9, 9, 1000)
    assert len(kept) == 1


def test_modes_of_many_switches_are_small() -> None:
    program = compile_model(Leg(n=12))
    result = program.simulate(1e-3, initial={f"cells[{k}].capacitor.v": 1000.0 for k in range(12)})
    assert len(result.modes) >= 3
    assert program.cores.modes.bytes < 0.1e6 * result.stats.mode_analyses
