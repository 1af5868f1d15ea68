"""A comparison of metres with seconds is refused wherever a condition stands."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator

import pytest

import acausal as ac


class Phase(enum.Enum):
    FIRST = 0
    SECOND = 1


class Falling(ac.Component):
    """Decays to zero."""

    x: ac.Variable = ac.Variable(unit="m", start=1.0)
    tau: ac.Parameter = ac.Parameter(default=1.0, unit="s")
    count: ac.Discrete = ac.Discrete(int)
    near: ac.Discrete = ac.Discrete(start=1.0, unit="m")
    far: ac.Discrete = ac.Discrete(start=1.0, unit="m")
    phase: ac.Discrete = ac.Discrete(Phase)
    y: ac.Variable = ac.Variable(unit="m")


def falling(further: Callable[[Falling], ac.Statement], shown: bool = True) -> Falling:
    """The model with a statement more."""

    class Further(Falling):
        def equations(self) -> Iterator[ac.Statement]:
            yield ac.Eq(ac.der(self.x), -self.x / self.tau)
            yield further(self)
            if shown:
                yield ac.Eq(self.y, self.x)

    return Further()


def conditions(limit: Callable[[Falling], ac.Expr]) -> dict[str, Callable[[Falling], ac.Statement]]:
    return {
        "when": lambda m: ac.when(m.x < limit(m), ac.terminate("low")),
        "elsewhen": lambda m: ac.when(m.x < 0, ac.terminate("low")).elsewhen(
            m.x < limit(m), ac.terminate("low")
        ),
        "list": lambda m: ac.when([m.x < 0, ac.and_(m.x > 0, m.x < limit(m))], ac.terminate("low")),
        "require": lambda m: ac.require(m.x < 9 * limit(m), "too far"),
        "to": lambda m: ac.transitions(m.phase, {Phase.FIRST: [ac.to(Phase.SECOND, m.x < limit(m))]}),
        "action of to": lambda m: ac.transitions(
            m.phase, {Phase.FIRST: [ac.to(Phase.SECOND, m.x < 0.5, ac.assign(m.far, limit(m)))]}
        ),
    }


CASES = list(conditions(lambda m: m.tau))


@pytest.mark.parametrize("case", CASES)
def test_units_of_what_is_compared_must_agree(case: str) -> None:
    with pytest.raises(ac.UnitError, match="in s") as raised:
        ac.simulate(falling(conditions(lambda m: m.tau)[case]), 2.0)
    assert any("test_units_of_conditions.py" in str(place) for place in raised.value.where)
    assert ac.simulate(falling(conditions(lambda m: m.near)[case]), 0.1).status == "finished"


@pytest.mark.parametrize("seconds", [True, False])
def test_a_condition_chooses_equations(seconds: bool) -> None:
    def choose(m: Falling) -> ac.Statement:
        return ac.If(m.x < (m.tau if seconds else 0.5), [ac.Eq(m.y, 0)], [ac.Eq(m.y, m.x)])

    model = falling(choose, shown=False)
    if not seconds:
        assert ac.simulate(model, 0.1).status == "finished"
        return
    with pytest.raises(ac.UnitError, match="compared"):
        ac.simulate(model, 0.1)


def test_until_compares_equal_units() -> None:
    model = falling(conditions(lambda m: m.near)["when"])
    with pytest.raises(ac.UnitError, match="compared"):
        ac.simulate(model, 2.0, until=model.x < ac.time)
    assert ac.simulate(model, 2.0, until=model.x < 0.5 * model.near).t_end == pytest.approx(
        0.6931471805599453
    )
