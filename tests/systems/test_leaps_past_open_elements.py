"""What has no mass leaps at the start past an element that is open: this stays open, and what is met takes the force."""

from collections.abc import Callable, Sequence
from fractions import Fraction as F
from typing import Any

import pytest

import acausal.components.electrical as el
import acausal.components.translational as tr
from acausal import Circuit, Component, Result, simulate
from tests.oracles.lines import GROUND, Part
from tests.systems import line_models
from tests.systems.line_models import Point, Push, Ratchet

METHODS = ["exact", "explicit", "implicit"]
PUSH, MASS, REACH = 6.0, 1.5, 1.0
pytestmark = pytest.mark.filterwarnings("ignore:given starts contradict")

Order = Callable[[Sequence[Part]], list[Part]]
ORDERS: dict[str, Order] = {
    "as stated": list,
    "reversed": lambda parts: list(reversed(parts)),
    "turned": lambda parts: [*parts[2:], *parts[:2]],
}


def point(n: str, node: str) -> Part:
    return Part("O", n, node, GROUND, None, (F(0),))


def push(node: str, force: float) -> Part:
    return Part("B", "B1", node, GROUND, F(force), F(force))


def mass(node: str, m: float = MASS, v: float = 0.0) -> Part:
    return Part("M", "M1", node, GROUND, F(m), (F(0), F(v)))


def ratchet(n: str, a: str, b: str) -> Part:
    return Part("R", n, a, b)


def stop(n: str, a: str, b: str, reach: float = REACH) -> Part:
    """``b`` comes no further than ``reach`` behind ``a``."""
    return Part("P", n, a, b, F(-reach))


def run(parts: Sequence[Part], method: str = "auto") -> Result:
    return simulate(line_models.model(parts, 2.0), 1.0, method=method)


def begins(result: Result, place: float, forces: dict[str, float]) -> None:
    """The place leaps to what it meets, the mass stays, and elements take the forces."""
    assert result["O1.s"].at(0.0) == pytest.approx(place, rel=1e-12)
    assert result["M1.s"].at(0.0) == 0.0
    assert {e: result[f"{e}.f"].at(0.0) for e in forces} == pytest.approx(forces, rel=1e-12)
    assert result.check().ok


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(("force", "m", "reach"), [(6.0, 1.5, 1.0), (5e6, 1e3, 1e-3), (1e-3, 1e-2, 1e3)])
@pytest.mark.parametrize("v", [0.0, 3.0])
def test_a_ratchet_beside_a_stop(
    v: float, force: float, m: float, reach: float, side: int, order: str, method: str
) -> None:
    """It could hold together with the stop, and what each of them would take nothing would tell."""
    ends = ("n1", "n2")[::side]
    parts = [
        point("O1", "n1"), push("n1", side * force), mass("n2", m, side * v),
        ratchet("R1", *ends[::-1]), stop("P1", *ends, reach),
    ]  # fmt: skip
    result = run(ORDERS[order](parts), method)
    begins(result, side * reach, {"R1": 0.0, "P1": -force})
    assert result["M1.s"].final == pytest.approx(side * (v + 0.5 * force / m), rel=1e-5)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("more", "forces"),
    [
        ([ratchet("R2", "n2", "n1")], {"R1": 0.0, "R2": 0.0, "P1": -PUSH}),
        ([stop("P2", "n1", "n2", 2.0)], {"R1": 0.0, "P1": -PUSH, "P2": 0.0}),
        ([ratchet("R2", "n2", "n1"), stop("P2", "n1", "n2", 2.0)], {"R1": 0.0, "R2": 0.0, "P1": -PUSH, "P2": 0.0}),
        # Stops that are met together have no less reason to hold than each other, and share.
        ([stop("P2", "n1", "n2")], {"R1": 0.0, "P1": -PUSH / 2, "P2": -PUSH / 2}),
    ],
    ids=["two ratchets", "two stops", "two of each", "two stops at once"],
)  # fmt: skip
def test_more_in_parallel(more: list[Part], forces: dict[str, float], order: str) -> None:
    parts = [
        point("O1", "n1"),
        push("n1", PUSH),
        mass("n2"),
        ratchet("R1", "n2", "n1"),
        stop("P1", "n1", "n2"),
    ]
    begins(run(ORDERS[order]([*parts, *more])), REACH, forces)


@pytest.mark.parametrize("order", ORDERS)
def test_two_pairs_in_series(order: str) -> None:
    parts = [
        point("O1", "n1"), push("n1", PUSH), ratchet("R1", "n3", "n1"), stop("P1", "n1", "n3"),
        point("O2", "n3"), ratchet("R2", "n2", "n3"), stop("P2", "n3", "n2"), mass("n2"),
    ]  # fmt: skip
    result = run(ORDERS[order](parts))
    begins(result, 2 * REACH, {"R1": 0.0, "P1": -PUSH, "R2": 0.0, "P2": -PUSH})
    assert result["O2.s"].at(0.0) == REACH


@pytest.mark.parametrize("order", ORDERS)
def test_a_wall(order: str) -> None:
    parts = [point("O1", "n1"), push("n1", PUSH), ratchet("R1", GROUND, "n1"), stop("P1", "n1", GROUND)]
    result = run(ORDERS[order](parts))
    assert [result[x].at(0.0) for x in ("O1.s", "R1.f", "P1.f")] == [REACH, 0.0, -PUSH]
    assert result["O1.s"].final == REACH


@pytest.mark.parametrize("order", ORDERS)
def test_a_place_that_is_pushed_back_to_where_nothing_overlaps(order: str) -> None:
    """The mass need not move with it."""
    parts = [
        point("O1", "n1"), push("n1", -PUSH), Part("P", "P0", GROUND, "n1", F(1)), mass("n2"),
        ratchet("R1", "n2", "n1"), stop("P1", "n1", "n2"),
    ]  # fmt: skip
    begins(run(ORDERS[order](parts)), REACH, {"P0": -PUSH, "R1": 0.0, "P1": 0.0})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rest", [{}, {"v": 0.0}], ids=["default", "given"])
def test_a_speed_follows_through_no_contact_while_a_place_leaps(rest: dict[str, float], method: str) -> None:
    """What collides does so by the momentum there is, whatever leaps beside it."""
    c = Circuit()
    ground, pushed = c.add("ground", tr.Fixed()), c.add("pushed", Push(before=PUSH, after=PUSH, change=2.0))
    place, hits = c.add("place", Point(s=0.0)), c.add("hits", tr.ImpactStop())
    rests, lock = c.add("rests", tr.ImpactStop(s_rel0=-REACH)), c.add("lock", Ratchet())
    a, b = c.add("a", tr.Mass(m=1.0, s=0.0, v=2.0)), c.add("b", tr.Mass(m=3.0, s=0.0, **rest))
    c.connect(place.flange, pushed.flange, rests.flange_a, lock.flange_b)
    c.connect(ground.flange, rests.flange_b, lock.flange_a)
    c.connect(a.flange_b, hits.flange_a)
    c.connect(hits.flange_b, b.flange_a)
    result = simulate(c, 1.0, method=method)
    assert result["place.s"].at(0.0) == REACH
    assert [result[x].at(0.0) for x in ("a.v", "b.v")] == pytest.approx([0.5, 0.5], rel=1e-12)
    assert result.audit().energy_lost == pytest.approx(1.5, rel=1e-12)


@pytest.mark.parametrize("kind", [el.IdealDiode, lambda: el.IdealThyristor(fire=True)])
@pytest.mark.parametrize("reverse", [False, True])
def test_what_conducts_in_parallel_charges_as_one_does(reverse: bool, kind: Callable[[], Component]) -> None:
    c = Circuit()
    ground = c.add("ground", el.Ground())
    full, empty = c.add("full", el.Capacitor(C=1.0, v=10.0)), c.add("empty", el.Capacitor(C=1.0))
    beside: list[Any] = [el.IdealDiode(), kind()]
    for k, element in enumerate(reversed(beside) if reverse else beside):
        d: Any = c.add(f"d{k}", element)
        c.connect(full.p, d.p)
        c.connect(d.n, empty.p)
    c.connect(full.n, empty.n, ground.p)
    result = simulate(c, 1.0)
    assert [result[x].at(0.0) for x in ("full.v", "empty.v")] == pytest.approx([5.0, 5.0], rel=1e-12)


@pytest.mark.parametrize("count", [1, 3])
def test_blocking_diodes_in_parallel_take_the_flux_of_coils_in_series(count: int) -> None:
    """Here closing them lets both coils keep what they begin with: the impulse decides, no default."""
    c = Circuit()
    ground = c.add("ground", el.Ground())
    a, b = c.add("a", el.Inductor(L=1.0, i=1.0)), c.add("b", el.Inductor(L=1.0))
    c.connect(a.n, b.p)
    c.connect(a.p, b.n, ground.p)
    for k in range(count):
        d: Any = c.add(f"d{k}", el.IdealDiode())
        c.connect(a.n, d.n)
        c.connect(d.p, ground.p)
    result = simulate(c, 1.0)
    assert [result["a.i"].at(0.0), result["b.i"].at(0.0)] == pytest.approx([0.5, 0.5], rel=1e-12)
