"""SI unit strings and the dimension check of equations."""

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Expr,
    Parameter,
    UnitError,
    Variable,
    assign,
    atan2,
    der,
    exp,
    if_else,
    maximum,
    sample,
    simulate,
    sin,
    sqrt,
    time,
    when,
)
from acausal.modeling.dimensions import ANY, NOTHING, check_equation, dimension
from acausal.modeling.expressions import wrap
from acausal.modeling.units import parse_unit, power_of, product


@pytest.mark.parametrize(
    ("unit", "dimension"),
    [
        ("1", (0, 0, 0, 0, 0, 0, 0)),
        ("m/s2", (1, 0, -2, 0, 0, 0, 0)),
        ("N.m/rad", (2, 1, -2, 0, 0, 0, 0)),
        ("V", (2, 1, -3, -1, 0, 0, 0)),
        ("Ohm", (2, 1, -3, -2, 0, 0, 0)),
        ("Ohm*F", (0, 0, 1, 0, 0, 0, 0)),
        ("H", (2, 1, -2, -2, 0, 0, 0)),
        ("Wb/A", (2, 1, -2, -2, 0, 0, 0)),
        ("W/(m2.K)", (0, 1, -3, 0, -1, 0, 0)),
        ("J/kg/K", (2, 0, -2, 0, -1, 0, 0)),
        ("rad/s", (0, 0, -1, 0, 0, 0, 0)),
        ("s-1", (0, 0, -1, 0, 0, 0, 0)),
    ],
)
def test_exponents_of_m_kg_s_a_k_mol_cd(unit: str, dimension: tuple[int, ...]) -> None:
    assert parse_unit(unit) == dimension


def test_products_and_powers() -> None:
    volt, ampere = parse_unit("V"), parse_unit("A")
    assert volt is not None and ampere is not None
    assert product(volt, ampere) == parse_unit("W")
    assert product(volt, ampere, -1) == parse_unit("Ohm")
    assert power_of(parse_unit("m2"), 0.5) == parse_unit("m")  # type: ignore[arg-type]
    assert power_of(volt, 0.5) is None


@pytest.mark.parametrize("unit", ["furlong", "km", "m^2", "V A", "m/"])
def test_what_is_no_si_unit_is_refused_where_it_is_declared(unit: str) -> None:
    with pytest.raises(UnitError) as info:
        Variable(unit=unit)
    assert "m/s2" in info.value.hint


class Body(Component):
    m: Parameter = Parameter(default=2.0, unit="kg")
    w: Parameter = Parameter(default=1.0, unit="rad/s")
    s: Variable = Variable(unit="m")
    v: Variable = Variable(unit="m/s")
    f: Variable = Variable(unit="N")
    free: Variable = Variable()


body = Body()
s, v, f, m, w, free = body.s, body.v, body.f, Body.m.symbols(body), Body.w.symbols(body), body.free


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [
        (f, m * der(v)),
        (v, der(s)),
        (f, m * der(v) + 3),
        (f, 0),
        (f, 2 * f),
        (v, s / time),
        (free, f * v),
        (f, free * s),
        (v, sqrt(v * v)),
        (f, if_else(s > 0, f, 0)),
        (free, sin(w * time)),
        (free, exp(-s / s)),
    ],
)
def test_equations_that_agree(lhs: object, rhs: object) -> None:
    left, right = wrap(lhs), wrap(rhs)
    check_equation(left, right)
    found = dimension(left), dimension(right)
    assert found[0] == found[1] or any(side in found for side in (None, ANY, NOTHING))


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [
        (f, m * v),
        (s, v),
        (f, f + s),
        (s, if_else(s > 0, v, s)),
        (free, sin(s)),
        (free, if_else(s > v, 1, 0)),
    ],
)
def test_equations_that_disagree(lhs: object, rhs: object) -> None:
    with pytest.raises(UnitError, match="is in|are"):
        check_equation(wrap(lhs), wrap(rhs))


@pytest.mark.parametrize(
    ("lhs", "rhs", "what", "why", "hint"),
    [
        (f, m * v, "the left side `f` is in N (m.kg.s-2), the right side `m*v` in m.kg.s-1", "factor in s-1", "fields"),
        (v, der(v) * 2, "the left side `v` is in m.s-1, the right side `der(v)*2` in m.s-2", "factor in s", "make 2 a"),
        (free, sin(2 * s), "the argument `2*s` of `sin(...)` is in m; it must be without unit", "sin(2*s)", "quantity in m"),
        (f, f * (s + time), "`s` in m and `time` in s are added", "Eq(f, f*(s + time))", "fields"),
        (free, f / (v - der(v)), "`v` in m.s-1 and `der(v)` in m.s-2 are subtracted", "Eq(free, ", "fields"),
        (free, atan2(s, v), "`s` in m and `v` in m.s-1 are sides of one angle", "Eq(free, ", "fields"),
        (free, maximum(s, v), "`s` in m and `v` in m.s-1 are compared", "Eq(free, ", "fields"),
    ],
)  # fmt: skip
def test_both_sides_are_shown(lhs: Expr, rhs: Expr, what: str, why: str, hint: str) -> None:
    with pytest.raises(UnitError) as info:
        check_equation(wrap(lhs), wrap(rhs))
    assert info.value.what == what
    assert why in info.value.why and hint in info.value.hint


def test_discrete_values_have_units_too() -> None:
    class Sampled(Component):
        s: Variable = Variable(unit="m")
        held: Discrete = Discrete(float, unit="s")

        def equations(self):
            yield Eq(self.s, 1)
            yield when(sample(period=0.1), assign(self.held, self.s))

    class Followed(Sampled):
        def equations(self):
            yield Eq(self.s, 1)
            yield Eq(self.held, self.s)

    for model in (Sampled(), Followed()):
        with pytest.raises(UnitError, match="the left side `held` is in s, the right side `s` in m"):
            simulate(model, 1.0)


def test_a_model_with_units_runs() -> None:
    class Falling(Component):
        g: Parameter = Parameter(default=10.0, unit="m/s2")
        h: Variable = Variable(unit="m", start=5.0)
        v: Variable = Variable(unit="m/s")

        def equations(self):
            yield Eq(der(self.h), self.v)
            yield Eq(der(self.v), -self.g)

    assert simulate(Falling(), 1.0)["h"].final == pytest.approx(0.0, abs=1e-14)
