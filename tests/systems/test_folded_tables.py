"""Tables whose argument follows from them: at a fold of the characteristic the next branch along the path is taken."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import acausal as ac

XS, YS = (-1.0, 0.0, 1.0, 2.0, 6.0), (-4.0, 0.0, 4.0, 1.0, 5.0)


def rise_and_fall(low: float = 0.0) -> ac.Expr:
    return ac.table(ac.time, [0.0, 10.0, 20.0], [low, 10.0, low])


class LoadLine(ac.Component):
    """v + table(v) = u: the sum has its maximum 5 at v = 1 and its minimum 3 at v = 2."""

    v: ac.Variable = ac.Variable()

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(self.v + ac.table(self.v, XS, YS), rise_and_fall())


@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
def test_a_characteristic_with_a_falling_piece_jumps_at_its_folds(method: str) -> None:
    result = ac.simulate(LoadLine(), 20.0, method=method)
    t = np.linspace(0.01, 19.99, 1999)
    u = np.where(t < 10.0, t, 20.0 - t)
    high = np.where(t < 10.0, u > 5.0, u > 3.0)
    np.testing.assert_allclose(result["v"].at(t), np.where(high, (u + 1) / 2, u / 5), rtol=1e-14, atol=1e-15)
    assert [e.t for e in result.events] == pytest.approx([0.0, 5.0, 10.0, 17.0, 20.0], abs=1e-13)
    assert result.check().ok


@pytest.mark.parametrize("high", [False, True])
def test_a_saturated_amplifier_with_positive_feedback_keeps_its_side_until_the_other_is_the_only_one(
    high: bool,
) -> None:
    class Feedback(ac.Component):
        y: ac.Variable = ac.Variable()

        def equations(self) -> Iterator[ac.Statement]:
            first = 10.0 if high else -10.0
            u = ac.table(ac.time, [0.0, 20.0, 40.0], [first, -first, first])
            yield ac.Eq(self.y, ac.table(u + 0.5 * self.y, [-1.25, 1.25], [-5.0, 5.0]))

    result = ac.simulate(Feedback(), 40.0)
    sign = 1.0 if high else -1.0
    y = [result["y"].at(t) for t in (1.0, 11.24, 11.26, 20.0, 31.24, 31.26)]
    assert y == pytest.approx([5 * sign, 5 * sign, -5 * sign, -5 * sign, -5 * sign, 5 * sign], rel=1e-14)


def test_a_coil_on_such_a_characteristic_runs_through_two_branches_for_ever() -> None:
    """i' = 2 - 0.2 i - v between the folds (i = 4 and i = 1), with v = i / 4 and v = i + 1."""

    class Relaxation(ac.Component):
        i: ac.Variable = ac.Variable(start=-4.0)
        v: ac.Variable = ac.Variable()

        def equations(self) -> Iterator[ac.Statement]:
            yield ac.Eq(self.i, ac.table(self.v, XS, YS))
            yield ac.Eq(ac.der(self.i), 2.0 - 0.2 * self.i - self.v)

    low, high = 2.0 / 0.45, 1.0 / 1.2
    first = np.log((low + 4.0) / (low - 4.0)) / 0.45
    down, up = np.log((4.0 - high) / (1.0 - high)) / 1.2, np.log((low - 1.0) / (low - 4.0)) / 0.45
    result = ac.simulate(Relaxation(), first + 5.5 * (down + up))
    for n in range(5):
        begin = first + n * (down + up)
        for s in (0.1 * down, 0.9 * down):
            assert result["i"].at(begin + s) == pytest.approx(
                high + (4.0 - high) * np.exp(-1.2 * s), rel=1e-12
            )
        for s in (0.1 * up, 0.9 * up):
            want = low + (1.0 - low) * np.exp(-0.45 * s)
            assert result["i"].at(begin + down + s) == pytest.approx(want, rel=1e-12)
    assert result.check().ok


def folded(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a characteristic with many extrema."""
    rng = np.random.default_rng(seed)
    return np.cumsum(0.2 + rng.random(12)) - 6.0, 3.0 * rng.normal(size=12)


def smooth(n: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.linspace(0.0, 6.0, n + 1)
    return x, 4.0 * np.exp(-(((x - 1.0) / 0.6) ** 2)) + 0.12 * x**2


def along(f: np.ndarray, x: np.ndarray, u: np.ndarray, start: float) -> np.ndarray:
    """What v + table(v) = u leads to, from one value of u to the next: the solution onto which the last one moves.

    A point at which the sum rises with v moves down while the sum is above u, and up while it is below.
    """
    found, v = [], start
    for level in u:
        g = f - level
        at = np.interp(v, x, g)
        crossings = x[:-1] - g[:-1] * np.diff(x) / np.where(g[1:] == g[:-1], np.nan, np.diff(g))
        real = crossings[(g[:-1] * g[1:] <= 0.0) & (g[1:] != g[:-1])]
        v = float(real[real >= v].min() if at < 0.0 else real[real <= v].max())
        found.append(v)
    return np.array(found)


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize(
    "points", [*map(folded, range(8)), smooth(30), smooth(80)], ids=[*map(str, range(8)), "smooth", "finer"]
)
def test_the_branch_that_is_reached_lies_next_along_the_path(points: tuple[np.ndarray, np.ndarray]) -> None:
    xs, ys = points

    class Case(ac.Component):
        v: ac.Variable = ac.Variable()

        def equations(self) -> Iterator[ac.Statement]:
            u = ac.table(ac.time, [0.0, 10.0, 30.0, 40.0], [-20.0, 20.0, -20.0, 20.0])
            yield ac.Eq(self.v + ac.table(self.v, xs.tolist(), ys.tolist()), u)

    result = ac.simulate(Case(), 40.0)
    x = np.concatenate([[-100.0], xs, [100.0]])
    f = x + np.interp(x, xs, ys)
    t = np.linspace(0.0, 40.0, 8001)[1:-1]
    want = along(f, x, np.interp(t, [0.0, 10.0, 30.0, 40.0], [-20.0, 20.0, -20.0, 20.0]), -20.0 - ys[0])
    got = result["v"].at(t)
    # In the step of a sample in which a fold lies its jump may come one sample later.
    jumps = np.abs(np.diff(want, prepend=want[0])) > 0.1
    quiet = ~(jumps | np.roll(jumps, -1) | np.roll(jumps, 1))
    np.testing.assert_allclose(got[quiet], want[quiet], rtol=1e-11, atol=1e-11)
    assert result.check().ok


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("seed", range(10))
def test_coupled_tables_satisfy_their_equations(seed: int) -> None:
    """Two or three unknowns with a table each, coupled by a positive matrix."""
    rng = np.random.default_rng(seed)
    m = 2 + seed % 2
    g = 0.5 * rng.normal(size=(m, m))
    g = g @ g.T + np.eye(m) * 10 ** rng.uniform(-1.5, 0.5)
    tables = [(np.sort(2 * rng.normal(size=6)), 2 * np.cumsum(rng.random(6) ** 3) - 2) for _ in range(m)]
    levels = 3 * rng.normal(size=(4, m))

    class Coupled(ac.Component):
        v: ac.Variable = ac.Variable(shape=(m,))

        def equations(self) -> Iterator[ac.Statement]:
            for k in range(m):
                source = ac.table(ac.time, [0.0, 1.0, 2.0, 3.0], levels[:, k].tolist())
                others = sum(float(g[k, j]) * self.v[j] for j in range(m))
                yield ac.Eq(
                    others + ac.table(self.v[k], tables[k][0].tolist(), tables[k][1].tolist()), source
                )

    result = ac.simulate(Coupled(), 3.0)
    t = np.linspace(0.01, 2.99, 200)
    v = np.array([result[f"v[{k}]"].at(t) for k in range(m)])
    u = [np.interp(t, [0.0, 1.0, 2.0, 3.0], levels[:, k]) for k in range(m)]
    lifted = [np.interp(v[k], *tables[k]) for k in range(m)]
    np.testing.assert_allclose(g @ v + lifted, u, rtol=1e-9, atol=1e-9)
