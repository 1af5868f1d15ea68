"""S1: time is pairs (t, k); between instants discrete variables, relations and modes are constant."""

import pytest

from acausal import Component, Discrete, Eq, If, Variable, assign, der, pre, sample, simulate, time, when

from .observing import Statements, micro_steps


class Chain(Component):
    """At t = 1 the change of ``a`` reaches ``b`` and ``c`` one micro-step later each."""

    a: Discrete = Discrete(bool)
    b: Discrete = Discrete(bool)
    c: Discrete = Discrete(bool)

    def equations(self) -> Statements:
        yield Eq(self.a, time >= 1.0)
        yield Eq(self.b, pre(self.a))
        yield Eq(self.c, pre(self.b))


def test_one_instant_has_several_micro_steps() -> None:
    result = simulate(Chain(), 2.0)
    assert [(k, *d) for k, *d in micro_steps(result, 1.0, "a", "b", "c")] == [
        (0, True, False, False),
        (1, True, True, False),
        (2, True, True, True),
    ]


def test_results_keep_both_limits_of_an_instant_and_nothing_between() -> None:
    result = simulate(Chain(), 2.0)
    for name in "abc":
        assert not result[name].at(1.0, side="left")
        assert result[name].at(1.0, side="right")
    assert [float(t) for t in result.t].count(1.0) == 2


def test_discretes_are_constant_between_instants() -> None:
    class Staircase(Component):
        n: Discrete = Discrete(int)

        def equations(self) -> Statements:
            yield when(sample(period=0.5), assign(self.n, pre(self.n) + 1))

    n = simulate(Staircase(), 2.0)["n"]
    assert n.at([0.0, 0.25, 0.4999, 0.5, 0.9, 1.49, 1.5]).tolist() == [1, 1, 1, 2, 2, 3, 4]


def test_candidates_of_a_search_leave_no_trace() -> None:
    class Switched(Component):
        x: Variable = Variable()

        def equations(self) -> Statements:
            yield If(self.x > 1, [Eq(der(self.x), 1)], [Eq(der(self.x), 2)], name="fast")

    result = simulate(Switched(), 1.0)
    assert [event.modes for event in result.events if event.modes and event.t > 0.0] == [
        {"fast": ("false", "true")}
    ]
    assert result["x"].final == pytest.approx(1.5, rel=1e-12)
