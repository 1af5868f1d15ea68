"""A place without mass on a spring leaps at the start until it meets a contact: the mass behind that stays where it is given."""

from collections.abc import Callable, Sequence
from fractions import Fraction as F
from math import cos, sin, sqrt

import pytest

from acausal import Result, simulate
from tests.oracles.lines import GROUND, Part
from tests.systems import line_models

METHODS = ["exact", "explicit", "implicit"]
pytestmark = pytest.mark.filterwarnings("ignore:given starts contradict")

Order = Callable[[Sequence[Part]], list[Part]]
ORDERS: dict[str, Order] = {
    "as stated": list,
    "reversed": lambda parts: list(reversed(parts)),
    "turned": lambda parts: [*parts[2:], *parts[:2]],
}


def place(at: float = 0.0) -> Part:
    return Part("O", "O1", "n1", GROUND, None, (F(at),))


def push(force: float) -> Part:
    return Part("B", "B1", "n1", GROUND, F(force), F(force))


def spring(c: float = 1.0, to: str = GROUND, kind: str = "K") -> Part:
    return Part(kind, "K1", to, "n1", F(c), F(0))


def mass(n: str, node: str, m: float = 1.0, s: float = 0.0, v: float = 0.0) -> Part:
    return Part("M", n, node, GROUND, F(m), (F(s), F(v)))


def contact(n: str, a: str, b: str, reach: float = 1.0) -> Part:
    """``b`` comes no further than ``reach`` behind ``a``."""
    return Part("P", n, a, b, F(-reach))


def begins(result: Result, **expected: float) -> None:
    assert {n: result[n.replace("_", ".")].at(0.0) for n in expected} == pytest.approx(expected, rel=1e-12)
    assert result.check().ok


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ratchet", [False, True])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(
    ("force", "c", "m", "reach"), [(5.0, 1.0, 1.0, 1.0), (5e6, 1e3, 1e3, 1e-3), (1e-3, 1e-6, 1e-2, 10.0)]
)
@pytest.mark.parametrize("v", [0.0, 3.0])
def test_it_pushes_the_mass_from_where_that_is(
    v: float,
    force: float,
    c: float,
    m: float,
    reach: float,
    side: int,
    ratchet: bool,
    order: str,
    method: str,
) -> None:
    a, b = ("n1", "n2")[::side]
    parts = [
        place(),
        push(side * force),
        spring(c),
        mass("M1", "n2", m, v=side * v),
        contact("P1", a, b, reach),
    ]
    if ratchet:
        parts.append(Part("R", "R1", b, a))
    result = simulate(line_models.model(ORDERS[order](parts), 2.0), 0.25, method=method)
    begins(result, O1_s=side * reach, M1_s=0.0, M1_v=side * v, P1_f=c * reach - force)
    rate, amplitude = sqrt(c / m), force / c - reach
    moved = amplitude * (1.0 - cos(0.25 * rate)) + v / rate * sin(0.25 * rate)
    assert result["M1.s"].final == pytest.approx(side * moved, rel=1e-5)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("at", [1.0, 3.0, 5.0])
def test_a_place_beyond_the_contact_goes_back_to_it(at: float, order: str) -> None:
    """Nothing keeps it, even where it would rest without the contact."""
    parts = [place(at), push(5.0), spring(), mass("M1", "n2"), contact("P1", "n1", "n2")]
    begins(simulate(line_models.model(ORDERS[order](parts), 2.0), 0.25), O1_s=1.0, M1_s=0.0, P1_f=-4.0)


@pytest.mark.parametrize("order", ORDERS)
def test_a_place_beyond_the_contact_that_a_force_pulls_away(order: str) -> None:
    parts = [place(3.0), push(-5.0), spring(), mass("M1", "n2"), contact("P1", "n1", "n2")]
    begins(simulate(line_models.model(ORDERS[order](parts), 2.0), 0.25), O1_s=-5.0, M1_s=0.0, P1_f=0.0)


@pytest.mark.parametrize("order", ORDERS)
def test_a_spring_on_a_mass(order: str) -> None:
    parts = [
        place(),
        push(5.0),
        spring(to="n3"),
        mass("M1", "n2"),
        mass("M2", "n3"),
        contact("P1", "n1", "n2"),
    ]
    result = simulate(line_models.model(ORDERS[order](parts), 2.0), 0.25)
    begins(result, O1_s=1.0, M1_s=0.0, M2_s=0.0, P1_f=-4.0)


@pytest.mark.parametrize("order", ORDERS)
def test_a_nonlinear_spring(order: str) -> None:
    parts = [place(), push(5.0), spring(kind="Q"), mass("M1", "n2"), contact("P1", "n1", "n2")]
    begins(simulate(line_models.model(ORDERS[order](parts), 2.0), 0.25), O1_s=1.0, M1_s=0.0, P1_f=-3.0)


@pytest.mark.parametrize("order", ORDERS)
def test_masses_that_overlap_beside_it_part(order: str) -> None:
    """They do as if the place were not there, and it meets the mass where this then is."""
    parts = [
        place(), push(5.0), spring(), mass("M1", "n2", s=0.5), mass("M2", "n3", s=-0.5),
        contact("P1", "n1", "n2"), contact("P2", "n2", "n3", 0.0),
    ]  # fmt: skip
    result = simulate(line_models.model(ORDERS[order](parts), 2.0), 0.25)
    begins(result, O1_s=1.0, M1_s=0.0, M2_s=0.0, P1_f=-4.0)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("m", [1.0, 3.0, 1e-3])
@pytest.mark.parametrize(
    ("left", "at", "right"),
    [(-0.25, 0.0, 0.25), (0.0, 0.2, 0.5), (0.0, 0.5, 0.5), (0.0, 1.0, 0.5), (0.0, -1.0, 0.5)],
)
def test_masses_that_overlap_through_it_part(
    left: float, at: float, right: float, m: float, order: str
) -> None:
    """Without mass it cannot keep them where they are, nor does it matter where it is."""
    parts = [
        place(at), spring(), mass("M1", "n2", s=left), mass("M2", "n3", m, s=right),
        contact("P1", "n1", "n2", 0.0), contact("P2", "n3", "n1", 0.0),
    ]  # fmt: skip
    result = simulate(line_models.model(ORDERS[order](parts), 2.0), 0.25)
    found = [result[n].at(0.0) for n in ("O1.s", "M1.s", "M2.s")]
    assert found == pytest.approx([(left + m * right) / (1.0 + m)] * 3, rel=1e-12, abs=1e-15)
    assert result.check().ok
