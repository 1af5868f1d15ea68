"""S3, S4: an input that is changed from outside changes in micro-step 0 of its instant, like any other discrete."""

from collections.abc import Callable
from enum import Enum
from pathlib import Path

import pytest

from acausal import (
    Component,
    Discrete,
    DuplicateWriterError,
    Eq,
    Input,
    Output,
    Program,
    Result,
    Variable,
    assign,
    change,
    compile_model,
    der,
    edge,
    initial,
    not_,
    pre,
    sample,
    simulate,
    terminate,
    time,
    to,
    transitions,
    when,
)
from acausal.api import program as program_module
from acausal.simulation.large import sizes

from .observing import Statements, micro_steps

METHODS = pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])


class Phase(Enum):
    REST = 0
    WORK = 1


class Counters(Component):
    """Counts what inputs do, each in one of the ways in which a statement can see it."""

    go: Input = Input(bool)
    k: Input = Input(int)
    u: Input = Input(float)
    x: Variable = Variable()
    pulse: Discrete = Discrete(bool)
    copy: Discrete = Discrete(int)
    rest: Discrete = Discrete(int)
    phase: Discrete = Discrete(Phase)
    changes: Discrete = Discrete(int)
    rises: Discrete = Discrete(int)
    levels: Discrete = Discrete(int)
    either: Discrete = Discrete(int)
    pulses: Discrete = Discrete(int)
    copies: Discrete = Discrete(int)
    rests: Discrete = Discrete(int)
    above: Discrete = Discrete(int)
    first: Discrete = Discrete(int)
    works: Discrete = Discrete(int)
    before: Discrete = Discrete(int, start=-1)
    jump: Discrete = Discrete(int)
    taken: Discrete = Discrete(float, start=-1.0)
    seen: Discrete = Discrete(int, start=-1)

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.u - self.x)
        yield Eq(self.pulse, change(self.k))
        yield Eq(self.copy, self.k)
        yield Eq(self.rest, self.k - 2 * pre(self.k))
        counted = [
            (self.changes, [change(self.k)]), (self.rises, [edge(self.go)]), (self.levels, [self.go]),
            (self.either, [change(self.k), edge(self.go)]), (self.pulses, [self.pulse]),
            (self.copies, [change(self.copy)]), (self.rests, [change(self.rest)]), (self.above, [self.u > 0.5]),
        ]  # fmt: skip
        for counter, conditions in counted:
            yield when(conditions, assign(counter, pre(counter) + 1))
        yield when(edge(self.go), assign(self.first, pre(self.first) + 1)).elsewhen(
            change(self.k), assign(self.first, pre(self.first) + 100)
        )
        yield when(
            change(self.k), assign(self.before, pre(self.k)), assign(self.jump, self.k - pre(self.k)),
            assign(self.taken, self.u),
        )  # fmt: skip
        yield when(sample(period=1.0, start=0.5), assign(self.seen, self.k))
        yield transitions(
            self.phase,
            {
                Phase.REST: [to(Phase.WORK, edge(self.go), assign(self.works, pre(self.works) + 1))],
                Phase.WORK: [to(Phase.REST, change(self.k) & not_(self.go))],
            },
        )


COUNTS = ("changes", "rises", "levels", "either", "pulses", "copies", "rests", "above", "first", "works")


def counts(result: Result) -> list[int]:
    return [int(result[name].final) for name in COUNTS]


STEPS = [
    (1.0, False, 0, 0.0), (2.0, True, 1, 0.0), (3.0, True, 1, 1.0), (4.0, False, 5, 2.0), (5.0, True, 5, 0.0),
    (6.0, True, 4, 1.0), (7.0, True, 4, 1.0), (8.0, False, 4, 0.2), (9.0, False, 0, 0.7),
]  # fmt: skip
"""End of a step, with go, k and u during it: k changes at 1, 3, 5, 8; go rises at 1, 4; u passes 0.5 at 2, 5, 8."""
EXPECTED = [4, 2, 2, 5, 4, 4, 4, 3, 302, 2]


def stepped(compiled: Program, method: str) -> Result:
    run = compiled.start(inputs={"go": False, "k": 0, "u": 0.0}, method=method)
    for end, go, k, u in STEPS:
        run.advance(end, inputs={"go": go, "k": k, "u": u})
    return run.result


def continued(compiled: Program, method: str) -> Result:
    result: Result | None = None
    for end, go, k, u in STEPS:
        result = compiled.simulate(end, inputs={"go": go, "k": k, "u": u}, start=result, method=method)
    assert result is not None
    return result


def changed_alone(compiled: Program, method: str) -> Result:
    """Inputs one after the other at one time, and only those that differ."""
    run = compiled.start(inputs={"go": False, "k": 0, "u": 0.0}, method=method)
    last: dict[str, float] = {"go": False, "k": 0, "u": 0.0}
    for end, go, k, u in STEPS:
        for name, value in {"go": go, "k": k, "u": u}.items():
            if last[name] != value:
                last[name] = value
                run.advance(run.t, inputs={name: value})
        run.advance(end)
    return run.result


@METHODS
@pytest.mark.parametrize("runs", [stepped, continued])
def test_changes_of_inputs_are_seen(runs: Callable[[Program, str], Result], method: str) -> None:
    result = runs(compile_model(Counters()), method)
    assert counts(result) == EXPECTED
    assert [result[name].final for name in ("before", "jump", "seen", "phase")] == [4, -4, 0, 0]
    assert result["pulse"].final == 0.0
    assert result["taken"].final == 0.2  # The left limit.


@METHODS
def test_changes_of_single_inputs_are_seen(method: str) -> None:
    result = changed_alone(compile_model(Counters()), method)
    # Go rises and falls before k changes: what fires for either does so for each, the chain as well.
    either, first = 6, 2 + 4 * 100
    assert counts(result) == [4, 2, 2, either, 4, 4, 4, 3, first, 2]


def test_large_models_see_changes_of_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "LARGE", 0)
    monkeypatch.setattr(program_module, "EXACT_STATES", 0)
    compiled = compile_model(Counters())
    kind = compiled.prepare(1.0, inputs={"go": False, "k": 0, "u": 0.0})
    assert kind.core.system is not None
    assert counts(stepped(compiled, "auto")) == EXPECTED
    assert counts(continued(compiled, "auto")) == EXPECTED


class Taken(Component):
    """What an action reads of a continuous variable is its left limit, however the input is given."""

    u: Input = Input(float)
    k: Input = Input(int)
    y: Variable = Variable()
    first: Discrete = Discrete(float)
    second: Discrete = Discrete(float)

    def equations(self) -> Statements:
        yield Eq(self.y, 2.0 * self.u)
        yield when([change(self.k), time >= 1.0], assign(self.first, self.y))
        yield when(pre(self.k) >= 1, assign(self.second, self.y))


def test_a_jump_of_a_table_is_read_from_the_left() -> None:
    result = simulate(Taken(), 2.0, inputs={"u": ([0.0, 1.0, 1.0, 2.0], [3.0, 3.0, 7.0, 7.0]), "k": 0})
    assert result["first"].final == 6.0


@METHODS
@pytest.mark.parametrize("new", [4.0, 5e6, lambda t: 4.0, ([0.0, 3.0], [4.0, 4.0])])
def test_so_is_an_input_that_is_given_anew(new: object, method: str) -> None:
    compiled, given = compile_model(Taken()), {"u": new, "k": 1}
    run = compiled.start(inputs={"u": 3.0, "k": 0}, method=method)
    run.advance(0.5)
    run.advance(0.75, inputs=given)
    before = compiled.simulate(0.5, inputs={"u": 3.0, "k": 0}, method=method)
    then = compiled.simulate(0.75, start=before, inputs=given, method=method)
    level = 5e6 if new == 5e6 else 4.0
    for result in (run.result, then):
        assert [result[name].final for name in ("first", "second")] == pytest.approx(
            [6.0, 2.0 * level], rel=1e-12
        )


class Begun(Component):
    """Inputs do not change at the start, whatever they are."""

    go: Input = Input(bool)
    k: Input = Input(int)
    n: Discrete = Discrete(int)
    begun: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield when([change(self.k), edge(self.go), self.go], assign(self.n, pre(self.n) + 1))
        yield when(initial(), assign(self.begun, self.k))


@METHODS
def test_inputs_do_not_change_at_the_start(method: str) -> None:
    result = simulate(Begun(), 1.0, inputs={"go": True, "k": 3}, method=method)
    assert [result[name].final for name in ("n", "begun")] == [0.0, 3.0]


def test_what_was_before_is_seen_in_micro_step_0_alone() -> None:
    run = compile_model(Counters()).start(inputs={"go": False, "k": 0, "u": 0.0})
    run.advance(1.0)
    run.advance(1.0, inputs={"k": 2})
    assert micro_steps(run.result, 1.0, "k", "pulse", "changes", "rest") == [
        (0, 2, True, 1, 2), (1, 2, False, 1, -2),
    ]  # fmt: skip


def test_a_snapshot_takes_inputs_back() -> None:
    run = compile_model(Counters()).start(inputs={"go": False, "k": 0, "u": 0.0})
    run.advance(1.0, inputs={"k": 2})
    snapshot = run.snapshot()
    for _ in range(2):
        run.advance(2.0, inputs={"k": 3, "go": True})
        assert [run.result[name].final for name in ("changes", "rises", "before")] == [2.0, 1.0, 2.0]
        run.restore(snapshot)


@METHODS
def test_saved_runs_are_continued_with_other_inputs(method: str, tmp_path: Path) -> None:
    model = Counters()
    before = simulate(model, 1.0, inputs={"go": False, "k": 1, "u": 0.0}, method=method)
    before.save(tmp_path / "run")
    for start in (before, Result.load(tmp_path / "run")):
        then = simulate(model, 2.0, start=start, inputs={"k": 4, "go": True}, method=method)
        assert [then[name].final for name in ("changes", "rises", "before", "jump")] == [1.0, 1.0, 1.0, 3.0]


class Inner(Component):
    """A part that an input of the model is passed on to."""

    go: Input = Input(bool)
    n: Discrete = Discrete(int)
    out: Output = Output(bool)

    def equations(self) -> Statements:
        yield when(edge(self.go), assign(self.n, pre(self.n) + 1))
        yield Eq(self.out, not_(self.go))


class Outer(Component):
    go: Input = Input(bool)

    def build(self) -> None:
        self.first = Inner(go=self.go)
        self.second = Inner(go=self.first.out)

    def equations(self) -> Statements:
        yield from ()


def test_parts_see_changes_too() -> None:
    run = compile_model(Outer()).start(inputs={"go": False})
    for k in range(1, 7):
        run.advance(float(k), inputs={"go": k % 2 == 0})
    assert [run.result[path].final for path in ("first.n", "second.n")] == [3.0, 2.0]


class Determined(Component):
    k: Input = Input(int)

    def equations(self) -> Statements:
        yield Eq(self.k, 3)


def test_an_input_that_a_statement_determines_is_refused() -> None:
    with pytest.raises(DuplicateWriterError, match="`k` is an input of the model, and determined") as info:
        compile_model(Determined())
    assert info.value.where


class Ended(Component):
    k: Input = Input(int)
    n: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield when(time >= 0.5, terminate("done"))
        yield when(change(self.k), assign(self.n, pre(self.n) + 1))


def test_inputs_of_a_finished_run_change_nothing() -> None:
    run = compile_model(Ended()).start(inputs={"k": 0})
    run.advance(1.0, inputs={"k": 1})
    run.advance(2.0, inputs={"k": 2})
    assert (run.t, run.result["n"].final, run.result["k"].final) == (0.5, 1.0, 1.0)
