"""Parameters that are computed at the start."""

import math
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from scipy.optimize import brentq

from acausal import (
    AcausalError,
    Component,
    Discrete,
    Eq,
    ExpressionError,
    InitializationError,
    Parameter,
    ParameterError,
    Start,
    Statement,
    Structural,
    UnknownPathError,
    Variable,
    assign,
    atan,
    compile_model,
    connect,
    der,
    initially,
    pre,
    sample,
    simulate,
    when,
)
from acausal.components.translational import Fixed, Mass, Spring


class Hanging(Component):
    """A mass on a spring whose free length is such that it hangs at ``x``."""

    balanced: Structural = Structural(bool, default=True)
    c: Parameter = Parameter(default=100.0, unit="N/m")
    m: Parameter = Parameter(default=2.0, unit="kg", min=0.1)
    g: Parameter = Parameter(default=9.81, unit="m/s2")
    s0: Parameter = Parameter(default=0.1, unit="m", fixed=False, doc="Free length")
    x: Variable = Variable(unit="m", start=0.3)
    v: Variable = Variable(unit="m/s")

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.v)
        yield Eq(self.m * der(self.v), self.c * (self.s0 - self.x) - self.m * self.g)
        if self.balanced:
            yield initially(Eq(der(self.v), 0))


LENGTH = 0.3 + 2.0 * 9.81 / 100.0
"""Free length at which the weight is carried at 0.3 m."""


def test_free_length_from_equilibrium() -> None:
    """The start of the position holds, although it is a default: the parameter is what is computed."""
    result = simulate(Hanging(), 1.0)
    assert result.initial["s0"] == pytest.approx(LENGTH, rel=1e-14)
    assert result["s0"].final == pytest.approx(LENGTH, rel=1e-14)
    assert result["x"].final == pytest.approx(0.3, rel=1e-12)
    assert result.initial.reason("s0").startswith("initially")
    assert result.stats.paths == {"exact": 1}


def test_guess_moves_no_start() -> None:
    """A guess that is given ranks below the start of a state."""
    assert simulate(Hanging(s0=7.0), 1.0).initial["s0"] == pytest.approx(LENGTH, rel=1e-14)


def test_other_parameters_of_one_program() -> None:
    program = pickle.loads(pickle.dumps(compile_model(Hanging())))
    found = program.simulate(1.0, parameters={"c": 50.0}).initial["s0"]
    assert found == pytest.approx(0.3 + 2.0 * 9.81 / 50.0, rel=1e-14)


def test_steady_state_determines_it() -> None:
    found = simulate(Hanging(balanced=False), 1.0, initial="steady state").initial
    assert (found["s0"], found["x"]) == (pytest.approx(LENGTH, rel=1e-14), pytest.approx(0.3, rel=1e-14))


def test_value_for_the_run() -> None:
    assert simulate(Hanging(balanced=False), 1.0, initial={"s0": 0.2})["s0"].final == 0.2
    assert simulate(Hanging(balanced=False, s0=Start(0.2, fixed=True)), 1.0)["s0"].final == 0.2


class Stiffness(Hanging):
    """The stiffness is what follows; a factor makes the model nonlinear."""

    c: Parameter = Parameter(default=100.0, unit="N/m", fixed=False)
    s0: Parameter = Parameter(default=0.6, unit="m")


def test_factor() -> None:
    result = simulate(Stiffness(), 1.0)
    assert result["c"].final == pytest.approx(2.0 * 9.81 / (0.6 - 0.3), rel=1e-12)
    assert result["x"].final == pytest.approx(0.3, rel=1e-9)


class Loaded(Component):
    """A part of the library with one parameter computed, beside another one with the same given."""

    force: Parameter = Parameter(default=7.0, unit="N")

    def build(self) -> None:
        self.fixed = Fixed()
        self.spring = Spring(c=100.0, s_rel0=Start(0.1))
        self.other = Spring(c=50.0, s_rel0=0.25)
        self.mass = Mass(m=2.0, s=0.3, v=0.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.fixed.flange, self.spring.flange_a, self.other.flange_a)
        yield connect(self.mass.flange_a, self.spring.flange_b, self.other.flange_b)
        yield initially(Eq(self.spring.f, self.force))


def test_parameter_of_a_part() -> None:
    result = simulate(Loaded(), 1.0)
    assert result["spring.s_rel0"].final == pytest.approx(0.3 - 7.0 / 100.0, rel=1e-13)
    assert result["other.s_rel0"].final == 0.25
    rest = (100.0 * (0.3 - 0.07) + 50.0 * 0.25) / 150.0
    x = rest + (0.3 - rest) * math.cos(math.sqrt(150.0 / 2.0))
    assert result["mass.s"].final == pytest.approx(x, rel=1e-11)


class Saturating(Component):
    """``Psi = Linf i + (Lzer - Linf) Ipar atan(i / Ipar)`` with ``Ipar`` such that ``Psi / i = Lnom`` at ``Inom``.

    The law and its initial equation are those of SaturatingInductor in the Modelica Standard Library.
    """

    Inom: Parameter = Parameter(default=1.0, unit="A")
    Lnom: Parameter = Parameter(default=1.0, unit="H")
    Lzer: Parameter = Parameter(default=2.0, unit="H")
    Linf: Parameter = Parameter(default=0.5, unit="H")
    Ipar: Parameter = Parameter(default=0.1, unit="A", fixed=False)
    v: Parameter = Parameter(default=1.0, unit="V")
    i: Variable = Variable(unit="A")
    Psi: Variable = Variable(unit="Wb")

    def equations(self) -> Iterator[Statement]:
        spread = self.Lzer - self.Linf
        yield Eq(self.Psi, self.Linf * self.i + spread * self.Ipar * atan(self.i / self.Ipar))
        yield Eq(der(self.Psi), self.v)
        yield initially(
            Eq(self.Lnom - self.Linf, spread * self.Ipar / self.Inom * atan(self.Inom / self.Ipar))
        )


def test_saturating_inductor() -> None:
    scale: Any = brentq(lambda s: 1.5 * s * math.atan(1.0 / s) - 0.5, 1e-3, 10.0, xtol=1e-15)
    current = brentq(lambda i: 0.5 * i + 1.5 * scale * math.atan(i / scale) - 3.0, 0.0, 10.0, xtol=1e-15)
    result = simulate(Saturating(), 3.0)
    assert result["Ipar"].final == pytest.approx(scale, rel=1e-10)
    assert result["i"].final == pytest.approx(current, rel=1e-6)
    assert result["i"].at(1.0) == pytest.approx(1.0, rel=1e-6)  # Psi = Lnom Inom there


class Two(Hanging):
    """One condition for two parameters."""

    g: Parameter = Parameter(default=9.81, unit="m/s2", fixed=False)


def test_nothing_determines_it() -> None:
    with pytest.raises(InitializationError, match="nothing determines `s0`"):
        simulate(Hanging(balanced=False), 1.0)
    with pytest.raises(InitializationError, match="nothing determines `g`, `s0`"):
        simulate(Two(), 1.0)


class Sampled(Component):
    """A period has to be known before the run."""

    T: Parameter = Parameter(default=1.0, unit="s", fixed=False)
    n: Discrete = Discrete(int)

    def equations(self) -> Iterator[Statement]:
        yield when(sample(period=self.T), assign(self.n, pre(self.n) + 1))


class Bound(Component):
    """A binding is evaluated before the run."""

    k: Parameter = Parameter(default=1.0, unit="m", fixed=False)

    def build(self) -> None:
        self.spring = Spring(c=100.0, s_rel0=self.k)


class Chain(Component):
    """A count decides the structure."""

    n: Parameter = Parameter(default=3, fixed=False)

    def build(self) -> None:
        self.parts_ = [Fixed() for _ in range(self.n)]  # type: ignore[call-overload]


def test_needed_before_the_run() -> None:
    with pytest.raises(ExpressionError, match="period of sample.. is `T`, which is computed at the start"):
        simulate(Sampled(), 1.0)
    with pytest.raises(ParameterError, match="`s_rel0` of Spring is bound to `k`"):
        simulate(Bound(), 1.0)
    with pytest.raises(ExpressionError, match="not an integer while the model is built"):
        simulate(Chain(), 1.0)


def test_assignment_and_parameters() -> None:
    model = Hanging()
    with pytest.raises(ParameterError, match="computed at the start and cannot be assigned"):
        model.s0 = 2.0
    with pytest.raises(UnknownPathError, match="no parameter is named `s0`"):
        simulate(model, 1.0, parameters={"s0": 2.0})
    assert simulate(model, 1.0)[model.s0].final == pytest.approx(LENGTH, rel=1e-14)


def test_bounds_are_checked() -> None:
    class Positive(Hanging):
        s0: Parameter = Parameter(default=0.1, unit="m", fixed=False, max=0.4)

    with pytest.raises(AcausalError, match="`s0` must be at most 0.4"):
        simulate(Positive(), 1.0)
