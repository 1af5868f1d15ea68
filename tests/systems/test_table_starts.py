"""Starts of states from which the argument of a table follows: the piece is that of the start, not the first one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import acausal as ac

CURVES = {
    "monotone": ((-1.0, 0.0, 6.0), (-4.0, 0.0, 5.0)),
    "two folds": ((-1.0, 0.0, 1.0, 2.0, 6.0), (-4.0, 0.0, 4.0, 1.0, 5.0)),
    "folds before zero": ((-6.0, -2.0, -1.0, 0.0, 1.0), (-5.0, -1.0, -4.0, 0.0, 4.0)),
    "beyond the start of v": ((1.0, 2.0, 3.0), (-4.0, 2.0, 5.0)),
    "before the start of v": ((-3.0, -2.0, -1.0), (-4.0, 2.0, 5.0)),
    "flat in the middle": ((-3.0, -1.0, 1.0, 3.0), (-4.0, 1.0, 1.0, 5.0)),
}


def curve(name: str, drive: float, cubic: bool = False, **start: object) -> ac.Component:
    """i = table(v), i' = drive - 0.2 i - v, with a nonlinear decay beside it."""

    class Curve(ac.Component):
        i: ac.Variable = ac.Variable(**start)  # type: ignore[arg-type]
        v: ac.Variable = ac.Variable()
        w: ac.Variable = ac.Variable()

        def equations(self) -> Iterator[ac.Statement]:
            yield ac.Eq(self.i, ac.table(self.v, *CURVES[name]))
            yield ac.Eq(ac.der(self.i), drive - 0.2 * self.i - self.v)
            yield ac.Eq(ac.der(self.w), -(self.w**3) if cubic else -self.w)

    return Curve()


def holds(result: ac.Result, name: str, i: float) -> None:
    assert result["i"].at(0.0) == pytest.approx(i, abs=1e-12)
    assert np.interp(result["v"].at(0.0), *CURVES[name]) == pytest.approx(i, abs=1e-12)


@pytest.mark.sweep(every=15)
@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("i", [0.0, 0.5, -3.0])
@pytest.mark.parametrize("cubic", [False, True])
def test_a_start_that_some_piece_admits_stays(name: str, i: float, cubic: bool) -> None:
    for drive in (2.0, -10.0):
        for fixed in (False, True):
            holds(ac.simulate(curve(name, drive, cubic, start=i, fixed=fixed), 1e-3), name, i)


def chosen(name: str, at: float, of: float) -> ac.Component:
    """As `curve`, with a start of the argument."""

    class Chosen(ac.Component):
        i: ac.Variable = ac.Variable(start=of)
        v: ac.Variable = ac.Variable(start=at)

        def equations(self) -> Iterator[ac.Statement]:
            yield ac.Eq(self.i, ac.table(self.v, *CURVES[name]))
            yield ac.Eq(ac.der(self.i), 2.0 - 0.2 * self.i - self.v)

    return Chosen()


@pytest.mark.parametrize("name", ["monotone", "two folds", "beyond the start of v"])
@pytest.mark.parametrize("v", [8.0, -8.0])
def test_a_start_of_an_argument_on_a_flat_end_moves_no_state(name: str, v: float) -> None:
    holds(ac.simulate(chosen(name, v, 3.0), 1e-3), name, 3.0)


@pytest.mark.parametrize(("v", "at"), [(0.4, 0.5), (1.6, 5 / 3), (4.0, 3.0)])
def test_the_start_of_an_argument_chooses_between_branches(v: float, at: float) -> None:
    result = ac.simulate(chosen("two folds", v, 2.0), 1e-3)
    holds(result, "two folds", 2.0)
    assert result["v"].at(0.0) == pytest.approx(at, rel=1e-12)


def test_several_tables_start_in_pieces_of_their_own() -> None:
    class Several(ac.Component):
        i: ac.Variable = ac.Variable(shape=(6,), start=0.0)
        v: ac.Variable = ac.Variable(shape=(6,))

        def equations(self) -> Iterator[ac.Statement]:
            for k in range(6):
                yield ac.Eq(self.i[k], ac.table(self.v[k], [1.0, 2.0, 3.0 + k], [-4.0, 2.0, 5.0]))
                yield ac.Eq(ac.der(self.i[k]), 2.0 - self.i[k] - self.v[k])

    result = ac.simulate(Several(), 1e-3)
    assert [result[f"i[{k}]"].at(0.0) for k in range(6)] == pytest.approx([0.0] * 6, abs=1e-13)
    assert [result[f"v[{k}]"].at(0.0) for k in range(6)] == pytest.approx([5 / 3] * 6, rel=1e-13)


def test_the_piece_among_very_many_is_found_at_once() -> None:
    xs = np.linspace(-1000.0, 1000.0, 200_001)
    ys = 10.0 * np.tanh(xs / 300.0) + xs * 1e-3

    class Fine(ac.Component):
        i: ac.Variable = ac.Variable(start=3.0)
        v: ac.Variable = ac.Variable()

        def equations(self) -> Iterator[ac.Statement]:
            yield ac.Eq(self.i, ac.table(self.v, xs.tolist(), ys.tolist()))
            yield ac.Eq(ac.der(self.i), 2.0 - self.i - self.v)

    result = ac.simulate(Fine(), 1e-6)
    assert result["i"].at(0.0) == pytest.approx(3.0, rel=1e-14)
    assert result["v"].at(0.0) == pytest.approx(np.interp(3.0, ys, xs), rel=1e-10)
    assert len([e for e in result.events if e.t < 1e-9]) <= 1


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("values", [(0.5, 0.5), (0.5, 3.0, 0.5)])
def test_tables_find_their_pieces_whatever_the_others_choose(values: tuple[float, ...], fixed: bool) -> None:
    """Each begins in a flat piece, beside which either neighbour agrees with the state, and one of them with its own range."""

    class Several(ac.Component):
        def build(self) -> None:
            self.part = [curve("flat in the middle", 2.0, start=i, fixed=fixed) for i in values]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = ac.simulate(Several(), 1e-3)
    for k, i in enumerate(values):
        assert result[f"part[{k}].i"].at(0.0) == pytest.approx(i, abs=1e-12)
