"""Functions of signals: of continuous and of piecewise constant ones, against closed forms."""

import copy
import math
import pickle
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    ParameterError,
    Result,
    Signal,
    Statement,
    UnknownNameError,
    Variable,
    assign,
    der,
    pre,
    sample,
    simulate,
    time,
    to,
    transitions,
    when,
)


class State(Enum):
    idle = 0
    busy = 1


class Other(Enum):
    idle = 0
    late = 1


class Counter(Component):
    """``x = exp(-t)``, ``b`` while x < 0.5, ``n`` counts from 1 every quarter second, busy in [0.5, 1.5)."""

    x: Variable = Variable(start=1, fixed=True)
    b: Discrete = Discrete(bool)
    n: Discrete = Discrete(int)
    z: Discrete = Discrete(float)
    q: Discrete = Discrete(State)
    p: Discrete = Discrete(State)
    o: Discrete = Discrete(Other)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -self.x)
        yield Eq(self.b, self.x < 0.5)
        yield when(sample(period=0.25), assign(self.n, pre(self.n) + 1), assign(self.z, pre(self.z) + 0.5))
        yield transitions(
            self.q,
            {
                State.idle: [to(State.busy, (time >= 0.5) & (time < 1.5))],
                State.busy: [to(State.idle, time >= 1.5)],
            },
        )
        yield transitions(self.p, {State.idle: [to(State.busy, time >= 1.0)]})
        yield transitions(self.o, {Other.idle: [to(Other.late, time >= 1.0)]})


@pytest.fixture(scope="module", params=["fresh", "loaded"])
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Result:
    made = simulate(Counter(), 2.0)
    if request.param == "fresh":
        return made
    file = tmp_path_factory.mktemp("arithmetic") / "counter.npz"
    made.save(file)
    return Result.load(file)


DECAY = (1.0 - np.exp(-2.0)) / 2.0
ON = (2.0 - np.log(2.0)) / 2.0
SQUARE = (1.0 - np.exp(-4.0)) / 4.0


@pytest.mark.parametrize(
    ("text", "mean", "kind", "path"),
    [
        ("2*n", 9.0, int, "2*n"),
        ("n + n", 9.0, int, "n + n"),
        ("-n", -4.5, int, "-n"),
        ("+b", ON, int, "b"),
        ("b + n", ON + 4.5, int, "b + n"),
        ("b + b", 2.0 * ON, int, "b + b"),
        ("1 - b", 1.0 - ON, int, "1 - b"),
        ("True - b", 1.0 - ON, int, "True - b"),
        ("~b", 1.0 - ON, bool, "~b"),
        ("x + b", DECAY + ON, float, "x + b"),
        ("x + n", DECAY + 4.5, float, "x + n"),
        ("x + z", DECAY + 2.25, float, "x + z"),
        ("2.0*n", 9.0, float, "2*n"),
        ("n/2", 2.25, float, "n/2"),
        ("n//2", (0 + 1 + 1 + 2 + 2 + 3 + 3 + 4) / 8, float, "n // 2"),
        ("n % 2", 0.5, float, "n % 2"),
        ("n**2", sum(k * k for k in range(1, 9)) / 8, int, "n*n"),
        ("n**3", sum(k**3 for k in range(1, 9)) / 8, float, "n ** 3"),
        ("1/n", sum(1 / k for k in range(1, 9)) / 8, float, "1 / n"),
        ("n*b", sum(k for k in range(1, 9) if k > 3) / 8 + 3 * (0.75 - np.log(2.0)) / 2, int, "n*b"),
        ("n > 4", 0.5, bool, "n > 4"),
        ("(n > 2) & ~b", (np.log(2.0) - 0.5) / 2, bool, "(n > 2) & ~b"),
        ("(n > 4) | b", ON, bool, "(n > 4) | b"),
        ("b ^ (n > 4)", ON - 0.5, bool, "b ^ (n > 4)"),
        ("n & 1", 0.5, int, "n & 1"),
        ("np.maximum(n, 4)", (4 * 4 + 5 + 6 + 7 + 8) / 8, int, "maximum(n, 4)"),
        ("np.sqrt(n)", np.sqrt(np.arange(1, 9)).mean(), float, "sqrt(n)"),
        ("x*b", (0.5 - np.exp(-2.0)) / 2, float, "x*b"),
        ("x*n", sum(k * (np.exp(-(k - 1) / 4) - np.exp(-k / 4)) for k in range(1, 9)) / 2, float, "x*n"),
        ("abs(x - 0.5)", (0.5 - np.exp(-2.0) * 0 + np.exp(-2.0) + ON * 2 * 0.5 - np.log(2.0) * 0.5 - 0.5) / 2, float,
         "absolute(x - 0.5)"),
        ("1/x", (np.exp(2.0) - 1.0) / 2, float, "1 / x"),
        ("x/n", sum((np.exp(-(k - 1) / 4) - np.exp(-k / 4)) / k for k in range(1, 9)) / 2, float, "x / n"),
        ("x**3", (1.0 - np.exp(-6.0)) / 6, float, "x ** 3"),
        ("x*x*x", (1.0 - np.exp(-6.0)) / 6, float, "x*x*x"),
        ("np.log(x)", -1.0, float, "log(x)"),
        ("x < 0.5", ON, bool, "x < 0.5"),
        ("x**2 - x*n + n", SQUARE + 4.5 - sum(k * (np.exp(-(k - 1) / 4) - np.exp(-k / 4)) for k in range(1, 9)) / 2, float,
         "x*x - x*n + n"),
        ("q == 'busy'", 0.5, bool, "q == 1"),
        ("q == State.busy", 0.5, bool, "q == 1"),
        ("q != 1", 0.5, bool, "q != 1"),
        ("q == p", 0.5, bool, "q == p"),
    ],
)  # fmt: skip
def test_functions_of_signals_are_signals(
    result: Result, text: str, mean: float, kind: type, path: str
) -> None:
    signals = {k: result[k] for k in "xbnzqp"}
    made = eval(text, {**signals, "np": np, "State": State})
    assert isinstance(made, Signal)
    assert made.path == path
    assert made.mean() == pytest.approx(mean, rel=1e-11)
    assert made.values.dtype == {bool: bool, int: np.int64, float: np.float64}[kind]
    assert type(made.final) is kind
    # Both limits at an event, and everywhere else.
    for t, side in ((0.5, "left"), (0.5, "right"), (0.0, "left"), (1.3, "right"), (2.0, "right")):
        codes = {k: s.at(t, side) for k, s in signals.items()}
        codes["b"] = np.bool_(codes["b"]) if "~" in text else int(codes["b"])
        codes |= {k: State(codes[k]) for k in "qp"} if "State" in text else {}
        codes |= {k: State(codes[k]).name for k in "qp"} if "busy'" in text else {}
        if "/n" in text and codes["n"] == 0:
            continue
        expected = eval(text.replace("True", "1"), {**codes, "np": np, "State": State})
        assert made.at(t, side) == pytest.approx(float(expected), rel=1e-14)


def test_moments_and_extremes_of_functions(result: Result) -> None:
    x, n, b = (result[k] for k in "xnb")
    assert (2 * n).rms() == pytest.approx(2 * np.sqrt((np.arange(1, 9) ** 2).mean()), rel=1e-14)
    assert (2 * n).max(0.0, 2.0) == 16
    assert (2 * n).max() == (2 * n).values.max() == 18  # the run ends with a tick
    assert type((2 * n).max()) is int
    assert (~b).min() is False
    assert (x + n).max(0.0, 2.0) == pytest.approx(8 + np.exp(-1.75), rel=1e-14)
    assert (x + n).max() == pytest.approx(9 + np.exp(-2.0), rel=1e-14)
    assert abs(x - 0.5).min() == pytest.approx(0.0, abs=1e-12)
    assert (x + n).rms() == pytest.approx(
        np.sqrt((SQUARE * 2 + sum(k * k / 4 + 2 * k * (np.exp(-(k - 1) / 4) - np.exp(-k / 4)) for k in range(1, 9))) / 2),
        rel=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose((2 * n).harmonics(0.5, 3), 2 * n.harmonics(0.5, 3), rtol=1e-13)


def test_what_has_no_meaning_is_refused(result: Result) -> None:
    x, n, b, q, o = (result[k] for k in "xnbqo")
    with pytest.raises(ParameterError, match="idle, busy, which are names"):
        _ = 2 * q
    with pytest.raises(ParameterError, match="which are names"):
        _ = q > 0
    with pytest.raises(ParameterError, match="which are names"):
        _ = q * np.ones(len(q))
    with pytest.raises(ParameterError, match="'late' is none of idle, busy"):
        _ = q == "late"
    with pytest.raises(ParameterError, match="none of idle, busy"):
        _ = q == Other.late
    with pytest.raises(ParameterError, match="one enumeration"):
        _ = q == o
    for other in ("a", None, 1j, object(), 10**400, ["a"], {}):
        with pytest.raises(ParameterError):
            _ = n + other
        with pytest.raises(ParameterError):
            _ = other == x
    for wrong in (lambda: ~x, lambda: x & b, lambda: x @ x, lambda: x + np.ones(3), lambda: n & 1.5):
        with pytest.raises(ParameterError):
            wrong()


def test_signals_of_two_results_are_no_signal(result: Result) -> None:
    other = simulate(Counter(), 2.0)
    with pytest.raises(ParameterError, match="different results"):
        _ = result["x"] - other["x"]
    with pytest.raises(ParameterError, match="different results"):
        _ = result["n"] == other["n"]


def test_a_signal_is_neither_true_nor_false(result: Result) -> None:
    x = result["x"]
    with pytest.raises(ParameterError, match="no truth value"):
        bool(x > 0.1)
    with pytest.raises(ParameterError, match="no truth value"):
        assert 0.0 < x < 2.0
    with pytest.raises(UnknownNameError, match=r"`signal.values.all` is over the points"):
        (x > 0.1).all()
    assert not hasattr(x, "tolist")


@pytest.mark.parametrize("use", [float, int, complex, round, "{:.3f}".format, lambda x: math.sin(x)])
def test_a_signal_is_no_number(result: Result, use: Callable[[Any], object]) -> None:
    with pytest.raises(ParameterError, match=r"`x` is no number[\s\S]*signal.final, signal.at\(t\)"):
        use(result["x"])
    assert f"{result['x']}" == repr(result["x"])


def test_beside_arrays_and_over_points_a_signal_is_its_values(result: Result) -> None:
    x, n = result["x"], result["n"]
    assert isinstance(n + np.ones(len(n)), np.ndarray)
    assert np.mean(n) == n.values.mean()
    assert np.add.reduce(n) == n.values.sum()
    whole, rest = divmod(n, 3)
    assert (whole.mean(), rest.mean()) == pytest.approx((np.mean([0, 0, 1, 1, 1, 2, 2, 2]), 9 / 8), rel=1e-14)
    values = np.ones(len(n))
    values += n
    np.testing.assert_array_equal(values, n.values + 1.0)
    y = x
    y += 1
    assert y is not x
    assert (y.final, x.final) == pytest.approx((1 + np.exp(-2.0), np.exp(-2.0)), rel=1e-14)


def test_functions_of_signals_can_be_copied(result: Result) -> None:
    made = np.sqrt(2 * result["n"] + result["x"]) * ~result["b"]
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert other.mean() == made.mean()


@pytest.mark.parametrize("how", ["fresh", "loaded", "continued", "stepped", "grid"])
def test_arrays_of_a_result_cannot_be_written_to(how: str, tmp_path: Path) -> None:
    grid = np.linspace(0.0, 2.0, 9)
    found = simulate(Counter(), 2.0, grid=grid if how == "grid" else None)
    if how == "loaded":
        found.save(tmp_path / "x.npz")
        found = Result.load(tmp_path / "x.npz")
    if how == "continued":
        model = Counter()
        found = simulate(model, 4.0, start=simulate(model, 2.0))
    if how == "stepped":
        from acausal import compile_model

        run = compile_model(Counter()).start()
        run.advance(2.0)
        found = run.result
    for attempt in range(2):
        before = found.t.copy()
        for array in (
            found.t, found["x"].t, found["x"].values, found["n"].values, (2 * found["n"]).values, np.asarray(found["x"]),
            found.events.times, found["x"].undetermined, found.stats.history, *found.table().values(), *found.points,
            found["x"].at(before[:2]), found.table(grid=grid[grid >= before[0]])["time"],
        ):  # fmt: skip
            if array.flags.writeable and array.size:
                array.flat[0] = 7
        for values in (found.parameters, found.final, found.stats.seconds, found.stats.events):
            values.clear() if attempt else None
        np.testing.assert_array_equal(found.t, before)
        assert found["x"].values[0] != 7
        assert found["x"].values[-1] == pytest.approx(np.exp(-before[-1]), rel=1e-6)
        assert not found["x"].undetermined.any()
        assert found.events.times[0] == before[0]
        assert (found.stats.history != 7).all()
        assert found.stats.seconds
    assert grid[0] == 0.0
    assert grid.flags.writeable
