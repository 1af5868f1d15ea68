"""Starts of models too large for dense matrices."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from acausal import (
    Component,
    Eq,
    InitializationError,
    Program,
    Result,
    Statement,
    Structural,
    Variable,
    compile_model,
    der,
    initially,
    reinit,
    sample,
    when,
)
from acausal.api import program as programs
from acausal.components.electrical import Capacitor, Resistor
from acausal.simulation.large import sizes
from acausal.simulation.large.sizes import LARGE
from tests.systems.ladder import Ladder, Section
from tests.systems.test_homotopy import Fading, Follower, Relaxing

COUNT = LARGE + 20


def cells(kind: type[Fading], *, helped: bool) -> Program:
    """Many balances next to each other, each at another place."""

    class Cells(Component):
        def build(self) -> None:
            self.cell = [kind(helped=helped, a=15.0 + 0.03 * k) for k in range(COUNT)]

    program = compile_model(Cells())
    assert program.prepare(1.0).core.system is not None
    return program


def places(program: Program, **options: object) -> np.ndarray:
    """Where the balances are at the start."""
    result = program.simulate(1e-3, **options)  # type: ignore[arg-type]
    return np.array([result[f"cell[{k}].x"].at(0.0) for k in range(COUNT)])


def test_homotopy_of_algebraic_equations() -> None:
    with pytest.raises(InitializationError, match="were not solved"):
        places(cells(Follower, helped=False))
    assert places(cells(Follower, helped=True)) == pytest.approx(15.0 + 0.03 * np.arange(COUNT), rel=1e-12)


def test_homotopy_of_a_steady_state() -> None:
    with pytest.raises(InitializationError, match="steady state"):
        places(cells(Relaxing, helped=False), initial="steady state")
    found = places(cells(Relaxing, helped=True), initial="steady state")
    assert found == pytest.approx(15.0 + 0.03 * np.arange(COUNT), rel=1e-12)


def test_steady_state_of_ten_thousand_sections() -> None:
    n = 10_000
    result = compile_model(Ladder(n=n)).simulate(1e-3, initial="steady state")
    v = np.array([result[f"section[{k}].c.v"].at(0.0) for k in range(0, n, 999)])
    assert np.abs(v - 1.0).max() < 1e-12
    assert result["source.i"].final == pytest.approx(0.0, abs=1e-9)


class Root(Component):
    """Two roots; the start says which one is meant."""

    x: Variable = Variable(start=4.0)
    y: Variable = Variable(start=1.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -self.x)
        yield Eq(self.y**2, self.x)


def test_starts_of_computed_variables_are_guesses() -> None:
    class Roots(Component):
        def build(self) -> None:
            self.cell = [Root(y=-1.0 if k % 3 else 1.0) for k in range(600)]

    result = compile_model(Roots()).simulate(1e-3)
    found = np.array([result[f"cell[{k}].y"].at(0.0) for k in range(600)])
    assert found == pytest.approx(np.where(np.arange(600) % 3, -2.0, 2.0), rel=1e-12)


def both(model: Component, monkeypatch: pytest.MonkeyPatch, initial: object) -> list[Result]:
    """Runs with sparse rows and by the analysis of dense modes."""
    dense = compile_model(model).simulate(1e-3, initial=initial)  # type: ignore[arg-type]
    with monkeypatch.context() as patched:
        patched.setattr(sizes, "LARGE", 0)
        patched.setattr(sizes, "MAX_UNKNOWNS", 0)
        patched.setattr(programs, "EXACT_STATES", 0)
        program = compile_model(model)
        assert program.prepare(1e-3).core.system is not None
        return [program.simulate(1e-3, initial=initial), dense]  # type: ignore[arg-type]


class Summed(Ladder):
    """A ladder with a sum of voltages that is prescribed, and holds where all is discharged."""

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield initially(Eq(self.section[0].c.v + self.section[1].c.v, 0.0))


AT = [f"section[{k}].c.v" for k in range(8)]
"""Voltages of the sections."""
PARTLY = [
    (Ladder, {"section[5].c": "steady state"}, [0.0] * 8),
    (Ladder, {"section[0].c": "steady state"}, [0.5, *[0.0] * 7]),
    (Ladder, {"section[0].c": "steady state", "section[1].c.v": 0.4}, [0.7, 0.4, *[0.0] * 6]),
    (Summed, {"section[5].c": "steady state"}, [0.0] * 8),
    # Beside a value that stays, neighbours in the mean have it.
    (Ladder, {"section[4].c": "steady state", "section[4].c.v": 0.25}, [*[0.0] * 3, *[0.25] * 3, 0.0, 0.0]),
    # All can rest but the section whose value is given: from the source the voltage falls linearly to it.
    (Ladder, {"": "steady state", "section[4].c.v": 0.5}, [0.9, 0.8, 0.7, 0.6, *[0.5] * 4]),
]


@pytest.mark.parametrize(("kind", "initial", "exact"), PARTLY)
def test_some_are_at_rest(
    kind: type[Ladder], initial: dict[str, object], exact: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A section rests at the mean of its neighbours; what is not asked to rest keeps its start."""
    for result in both(kind(n=8), monkeypatch, initial):
        assert [result[name].at(0.0) for name in AT] == pytest.approx(exact, abs=1e-12)
    sparse, _ = both(kind(n=8), monkeypatch, initial)
    for path, wanted in initial.items():
        if wanted != "steady state":
            assert sparse.initial.reason(path) == "initial="
        elif path and f"{path}.v" not in initial:
            assert sparse.initial.reason(f"{path}.v") == "steady state"
            assert sparse.initial.reason("section[7].c.v") == "default start"


def test_what_follows_from_a_prescribed_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse, _ = both(Ladder(n=8), monkeypatch, {"source.i": -0.8})
    assert sparse["section[0].c.v"].at(0.0) == pytest.approx(0.9, abs=1e-12)
    assert sparse.initial.reason("section[0].c.v") == "follows from the equations"
    assert sparse.initial.reason("section[1].c.v") == "default start"


def test_a_large_model_partly_at_rest() -> None:
    """In a model that is large indeed: sections whose defaults stay, and one between them that is at rest."""
    result = compile_model(Ladder(n=3200)).simulate(1e-3, initial={"section[0].c": "steady state"})
    assert [result[name].at(0.0) for name in AT[:3]] == pytest.approx([0.5, 0.0, 0.0], abs=1e-12)


class Restarted(Component):
    """A decay that something sets anew at once."""

    x: Variable = Variable(start=0.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), 1.0 - self.x)
        yield when(sample(period=1.0), reinit(self.x, 3.0))


def test_an_instant_that_undoes_the_steady_state(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InitializationError, match="steady|der"):
        compile_model(Restarted()).simulate(1e-3, initial="steady state")
    with monkeypatch.context() as patched:
        patched.setattr(sizes, "LARGE", 0)
        patched.setattr(programs, "EXACT_STATES", 0)
        with pytest.raises(InitializationError, match=r"der\(`x`\) = 0 does not hold"):
            compile_model(Restarted()).simulate(1e-3, initial="steady state")


def stated(parts: dict[tuple[int, str], dict[str, float]]) -> Component:
    """A ladder of eight sections, with starts of some of their parts."""

    class Stated(Section):
        number: Structural[int] = Structural(int)

        def build(self) -> None:
            r, c = (dict[str, Any](parts.get((self.number, name), {})) for name in "rc")
            self.r, self.c = Resistor(R=self.R, **r), Capacitor(C=self.C, **c)

    class StatedLadder(Ladder):
        def build(self) -> None:
            super().build()
            self.section = [Stated(R=1 / 8, C=1 / 8, number=k) for k in range(8)]

    return StatedLadder(n=8)


@pytest.mark.parametrize(
    "parts",
    [
        {(1, "r"): {"v": 0.25}},
        {(1, "r"): {"i": 2.0}},
        {(1, "c"): {"i": 2.0}},
        {(1, "c"): {"v": 0.3}, (1, "r"): {"v": 0.25}},
    ],
)
def test_given_starts_of_others_than_states_hold(
    parts: dict[tuple[int, str], dict[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = both(stated(parts), monkeypatch, {})
    for result in results:
        for (k, part), starts in parts.items():
            for name, value in starts.items():
                assert result[f"section[{k}].{part}.{name}"].at(0.0) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    ("parts", "moved"),
    [
        ({(0, "c"): {"v": 0.1}, (1, "c"): {"v": 0.3}, (1, "r"): {"v": 0.25}}, r"`section\[1\].r.v` from 0.25 to -0.2"),
        ({(1, "r"): {"v": 0.25, "i": 3.0}}, r"`section\[1\].r.v` from 0.25 to 0, `section\[1\].r.i` from 3 to 0"),
    ],
)  # fmt: skip
def test_given_starts_that_do_not_hold_are_told(
    parts: dict[tuple[int, str], dict[str, float]], moved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of states come first, and stay."""
    for large in (True, False):
        with pytest.warns(UserWarning, match=moved), monkeypatch.context() as patched:
            if large:
                patched.setattr(sizes, "LARGE", 0)
                patched.setattr(sizes, "MAX_UNKNOWNS", 0)
                patched.setattr(programs, "EXACT_STATES", 0)
            result = compile_model(stated(parts)).simulate(1e-3)
        for (k, part), starts in parts.items():
            if part == "c":
                assert result[f"section[{k}].c.v"].at(0.0) == starts["v"]


def test_starts_beside_nonlinear_equations_hold_and_those_that_these_give_are_guesses() -> None:
    class Rated(Root):
        w: Variable = Variable()

        def equations(self) -> Iterator[Statement]:
            yield from super().equations()
            yield Eq(self.w + der(self.x), self.x)

    class Cells(Component):
        def build(self) -> None:
            self.cell = [Rated(y=-1.0 if k % 3 else 1.0, w=3.0 + k) for k in range(300)]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compile_model(Cells()).simulate(1e-3)
    found = np.array([[result[f"cell[{k}].{name}"].at(0.0) for name in "wxy"] for k in range(300)])
    w = 3.0 + np.arange(300)
    roots = np.where(np.arange(300) % 3, -1.0, 1.0) * np.sqrt(w / 2.0)
    assert found == pytest.approx(np.column_stack([w, w / 2.0, roots]), rel=1e-9)
