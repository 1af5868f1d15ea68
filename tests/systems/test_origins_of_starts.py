"""Where the values of a start come from is kept with the result."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from acausal import Component, Result, Statement, UnknownPathError, connect, simulate
from acausal.components import electrical as el


class Filter(Component):
    """A loaded low-pass on a sine with offset."""

    def build(self) -> None:
        self.source, self.ground = el.SineVoltage(V=2.0, f=50.0, offset=10.0, phase=0.5), el.Ground()
        self.line, self.coil = el.Resistor(R=1.0), el.Inductor(L=1.0)
        self.capacitor, self.load = el.Capacitor(C=1.0, v=1.0), el.Resistor(R=4.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.line.p)
        yield connect(self.line.n, self.coil.p)
        yield connect(self.coil.n, self.capacitor.p, self.load.p)
        yield connect(self.capacitor.n, self.load.n, self.source.n, self.ground.p)


def test_the_origins_are_kept_in_files_and_by_continued_runs(tmp_path: Path) -> None:
    model = Filter()
    first = simulate(model, 1e-3, initial={"coil.i": 2.0})
    first.save(tmp_path / "run.npz")
    loaded = Result.load(tmp_path / "run.npz")
    assert loaded.initial == first.initial and loaded.initial.entries == first.initial.entries
    assert [e.reason for e in loaded.initial.entries] == ["initial=", "given start"]
    second = simulate(model, 2e-3, start=first)
    assert {e.reason for e in second.initial.entries} == {"continued"}
    with pytest.raises(KeyError):
        first.initial.reason("line.i")


def test_the_reason_of_a_path_that_is_not_told_names_the_nearest() -> None:
    with pytest.raises(UnknownPathError, match="`capacitor.w`") as info:
        simulate(Filter(), 1e-3).initial.reason("capacitor.w")
    assert "capacitor.v" in info.value.hint
