"""S10: a run ends when its condition becomes true, or where it starts, and then says so; a continued one likewise."""

from pathlib import Path

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Expr,
    Result,
    Variable,
    assign,
    compile_model,
    der,
    pre,
    reinit,
    sample,
    simulate,
    time,
    when,
)

from .observing import Statements

METHODS = pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])


class Falling(Component):
    x: Variable = Variable(start=1.0)

    def equations(self):
        yield Eq(der(self.x), -1.0)


@pytest.mark.parametrize("method", ["auto", "explicit"])
def test_a_condition_that_holds_at_the_start_ends_the_run_with_a_warning(method: str) -> None:
    model = Falling()
    with pytest.warns(UserWarning, match=r"ends where it starts, at t = 0: until x > 0.5"):
        result = simulate(model, 2.0, until=model.x > 0.5, method=method)
    assert result.t_end == 0.0
    assert result.status == "until x > 0.5"


def test_a_condition_that_becomes_true_ends_the_run_without_one() -> None:
    model = Falling()
    assert simulate(model, 2.0, until=model.x < 0.5).t_end == pytest.approx(0.5, rel=1e-12)


class Saw(Component):
    """Rises with slope one and falls back at one; counts that, and half seconds by a clock."""

    x: Variable = Variable()
    n: Discrete = Discrete(int)
    ticks: Discrete = Discrete(int)
    halves: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield Eq(der(self.x), 1.0)
        yield when(self.x >= 1.0, reinit(self.x, 0.0), assign(self.n, pre(self.n) + 1))
        yield when(sample(period=0.5, start=0.25), assign(self.ticks, pre(self.ticks) + 1))
        yield when(self.x >= 0.5, assign(self.halves, pre(self.halves) + 1))


def read_back(result: Result, folder: Path | None) -> Result:
    if folder is None:
        return result
    result.save(folder / "run")
    return Result.load(folder / "run")


@pytest.mark.sweep(every=4)
@METHODS
@pytest.mark.parametrize("saved", [False, True])
def test_each_continuation_ends_on_its_own_condition(method: str, saved: bool, tmp_path: Path) -> None:
    model, result = Saw(), None
    folder = tmp_path if saved else None
    conditions: list[tuple[Expr, float]] = [
        (model.n >= 1, 1.0), (model.n >= 2, 2.0), (model.x > 0.25, 2.25), (model.x > 0.75, 2.75),
        (time >= 3.5, 3.5), (time >= 3.75, 3.75), ((model.x > 0.25) & (pre(model.n) >= 4), 4.25),
        (model.ticks >= 10, 4.75), (sample(period=1.0, start=0.0) & (model.n > 3), 5.0),
        (sample(period=1.0, start=0.0) & (model.n > 3), 6.0),
    ]  # fmt: skip
    for condition, end in conditions:
        result = simulate(model, 50.0, until=condition, start=result, method=method)
        assert result.t_end == pytest.approx(end, abs=1e-9), str(condition)
        assert result.status == f"until {condition}"
        result = read_back(result, folder)
    last = simulate(model, 8.75, start=result, method=method)
    assert [last[name].final for name in ("n", "ticks", "halves")] == [8.0, 18.0, 9.0]


@METHODS
def test_a_condition_that_holds_ends_a_continuation_where_it_starts(method: str) -> None:
    model = Saw()
    first = simulate(model, 50.0, until=model.n >= 1, method=method)
    for before in (first, simulate(model, 1.25, start=first, method=method)):
        for condition in (model.n >= 1, model.x < 0.5, time >= 1.0):
            with pytest.warns(UserWarning, match="ends where it starts"):
                again = simulate(model, 50.0, until=condition, start=before, method=method)
            assert (again.t_end, again["n"].final) == (before.t_end, 1.0)
            # Nothing has happened there.
            then = simulate(model, 4.75, start=again, method=method)
            assert [then[name].final for name in ("n", "ticks", "halves")] == [4.0, 10.0, 5.0]


@METHODS
def test_a_run_that_a_condition_has_ended_is_stepped_on(method: str) -> None:
    model = Saw()
    compiled = compile_model(model)
    first = compiled.simulate(50.0, until=(model.n >= 1) & (model.x < 0.5), method=method)
    run = compiled.start(start=first, method=method)
    for k in range(5, 20):
        run.advance(k / 4)
    assert not run.finished
    assert [run.result[name].final for name in ("n", "ticks", "halves")] == [4.0, 10.0, 5.0]


class Integrals(Component):
    """Nothing but a condition reads these: a condition on one of them makes it a state of its run alone."""

    a: Variable = Variable()
    b: Variable = Variable(start=10.0)
    c: Variable = Variable()
    slow: Variable = Variable(start=1.0)

    def equations(self) -> Statements:
        yield Eq(der(self.a), 1.0)
        yield Eq(der(self.b), 2.0)
        yield Eq(self.c, 3.0 * self.a + self.b)
        yield Eq(der(self.slow), -self.slow)


@pytest.mark.sweep(every=4)
@METHODS
@pytest.mark.parametrize("saved", [False, True])
def test_conditions_on_different_variables_follow_each_other(
    method: str, saved: bool, tmp_path: Path
) -> None:
    model, result = Integrals(), None
    conditions: list[tuple[Expr, float]] = [
        (model.a > 1.0, 1.0), (model.b > 13.0, 1.5), (model.c > 20.0, 2.0), (model.a + model.b > 17.5, 2.5),
        (time >= 2.75, 2.75), (model.slow < 0.05, 2.995732273553991), (model.b > 16.5, 3.25),
    ]  # fmt: skip
    for condition, end in conditions:
        result = simulate(model, 50.0, until=condition, start=result, method=method, rtol=1e-9)
        found = [result[name].final for name in ("a", "b", "c", "slow")]
        assert result.t_end == pytest.approx(end, abs=1e-7), str(condition)
        assert found == pytest.approx(
            [end, 10.0 + 2.0 * end, 10.0 + 5.0 * end, 2.718281828459045**-end], abs=1e-7
        )
        result = read_back(result, tmp_path if saved else None)
    last = simulate(model, 4.0, start=result, method=method, rtol=1e-9)
    assert [last[name].final for name in ("a", "b", "c")] == pytest.approx([4.0, 18.0, 30.0], abs=1e-7)
