"""S2: the branch of a switching statement is a discrete variable, readable in equations and results."""

import pytest

from acausal import (
    Complementarity,
    Component,
    Discrete,
    DryFriction,
    Eq,
    If,
    Impact,
    Mode,
    Modes,
    Parameter,
    Variable,
    assign,
    der,
    edge,
    leave,
    pre,
    simulate,
    sin,
    time,
    when,
)

from .observing import Statements


class Rectifier(Component):
    """``y`` is the positive part of a sine; the mode is counted and copied."""

    w: Parameter = Parameter(default=1.0, unit="rad/s")
    y: Variable = Variable()
    s: Variable = Variable()
    on: Discrete = Discrete(bool)
    count: Discrete = Discrete(int)

    def equations(self) -> Statements:
        pair = Complementarity(self.y - sin(self.w * time), self.y, name="conducting")
        yield pair
        yield Eq(self.s, sin(self.w * time))
        yield Eq(self.on, pair.mode)
        yield when(edge(self.on), assign(self.count, pre(self.count) + 1))


def test_a_complementarity_is_a_bool() -> None:
    result = simulate(Rectifier(), 10.0)
    assert result["conducting"].at([1.0, 4.0, 7.0]) == pytest.approx([1.0, 0.0, 1.0])
    assert result["on"].at([1.0, 4.0, 7.0]) == pytest.approx([1.0, 0.0, 1.0])
    assert result["count"].final == 2


def test_an_if_is_a_bool_under_its_name() -> None:
    class Model(Component):
        x: Variable = Variable()

        def equations(self) -> Statements:
            yield If(time > 1, [Eq(self.x, 1)], [Eq(self.x, 2)], name="late")

    result = simulate(Model(), 2.0)
    assert result["late"].at([0.5, 1.5]) == pytest.approx([0.0, 1.0])


def test_friction_contact_and_modes_have_named_branches() -> None:
    class Model(Component):
        v: Variable = Variable(start=1.0)
        f: Variable = Variable()
        h: Variable = Variable(start=1.0)
        w: Variable = Variable(start=-1.0)
        force: Variable = Variable()
        x: Variable = Variable()
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.v), -self.f)
            yield DryFriction(self.v, self.f, sliding=1.0, breakaway=1.0, name="friction")
            yield Eq(der(self.h), self.w)
            yield Eq(der(self.w), self.force)
            yield Impact(self.h, self.force, name="contact")
            yield Eq(der(self.x), 1)
            low, high = Mode("low", Eq(self.y, 1), leave("high", self.x - 0.5)), Mode("high", Eq(self.y, 2))
            yield Modes("level", low, high, start="low")

    result = simulate(Model(), 2.0)
    events = result.events
    assert result["friction"].names == dict(enumerate(("stick", "forward", "backward", "free")))
    assert result["level"].names == {0: "low", 1: "high"}
    changes = {path: branches for event in events for path, branches in event.modes.items() if event.t > 0.0}
    assert changes["friction"] == ("forward", "stick")
    assert changes["contact"] == ("free", "contact")
    assert changes["level"] == ("low", "high")
