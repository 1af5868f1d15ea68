"""SI unit strings and the dimension check of equations."""

import pytest

from acausal import (
    Component,
    Eq,
    Parameter,
    UnitError,
    Variable,
    der,
    exp,
    if_else,
    simulate,
    sin,
    sqrt,
    time,
)
from acausal.modeling.dimensions import check_equation
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
    check_equation(wrap(lhs), wrap(rhs))


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
    with pytest.raises(UnitError, match="has dimension"):
        check_equation(wrap(lhs), wrap(rhs))


def test_a_model_with_units_runs() -> None:
    class Falling(Component):
        g: Parameter = Parameter(default=10.0, unit="m/s2")
        h: Variable = Variable(unit="m", start=5.0)
        v: Variable = Variable(unit="m/s")

        def equations(self):
            yield Eq(der(self.h), self.v)
            yield Eq(der(self.v), -self.g)

    assert simulate(Falling(), 1.0)["h"].final == pytest.approx(0.0, abs=1e-14)
