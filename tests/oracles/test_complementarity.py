"""Oracles of instants against the exhaustive one and against closed forms."""

from fractions import Fraction

import pytest

from tests.oracles import circuits, lines
from tests.oracles.complementarity import in_mode, solution
from tests.oracles.consistency import consistent_modes
from tests.oracles.lcp import lemke
from tests.oracles.lines import BACKWARD, FORWARD, STICK, Part
from tests.oracles.networks import Element, random_network
from tests.oracles.random_lines import random_mechanism


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("family", ["i", "ii"])
def test_a_mode_is_found_exactly_where_enumeration_finds_one(family: str) -> None:
    none = 0
    for seed in range(40):
        network = random_network(seed, family)
        modes = consistent_modes(network)
        system, starts = circuits.system(network), circuits.starts(network)
        found = solution(system, starts)
        assert (found is None) == (not modes), seed
        none += found is None
        if found is None:
            continue
        assert in_mode(system, starts, found.positive) is not None
        for mode in modes:
            given = in_mode(system, starts, [mode.on[p.name] for p in system.pairs])
            assert given is not None
            for answer in (found, given):
                for e in network:
                    exact, value = mode.states.get(e.name), answer.values.get(circuits.state(e))
                    if exact is not None and value is not None:
                        assert value == pytest.approx(float(exact), abs=1e-12), (seed, e.name)
    assert none == {"i": 0, "ii": 13}[family]


def test_lemke_ends_in_a_ray_where_there_is_no_solution() -> None:
    assert lemke([[0.0, 1.0], [-1.0, 0.0]], [-1.0, -1.0]).z is None
    assert lemke([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]).z == pytest.approx([4 / 3, 7 / 3])
    # An example on which the method cycles without a rule (Kostreva, 1979).
    M = [[1, 2, 0], [0, 1, 2], [2, 0, 1]]
    found = lemke([[Fraction(x) for x in row] for row in M], [Fraction(-1)] * 3)
    assert found.z == [Fraction(1, 3)] * 3


def test_transformer_and_losses() -> None:
    network = [
        Element("V", "V1", "a", "0", Fraction(12)),
        Element("X", "X1", "a", "0", Fraction(3), ("b", "0")),
        Element("D", "D1", "b", "c", None, (Fraction(1), Fraction(1, 100))),
        Element("R", "R1", "c", "0", Fraction(3)),
    ]
    found = solution(circuits.system(network), {})
    assert found is not None and found.positive == (True,)
    assert found.values["i.R1"] == pytest.approx(1.0)
    assert found.values["i.X1"] == pytest.approx(1 / 3)
    back = [network[0]._replace(value=Fraction(-12)), *network[1:]]
    found = solution(circuits.system(back), {})
    assert found is not None and found.positive == (False,)
    assert found.values["i.R1"] == pytest.approx(-4 / 103)


def test_a_shorted_source_has_no_mode() -> None:
    network = [Element("V", "V1", "a", "0", Fraction(1)), Element("D", "D1", "a", "0")]
    assert solution(circuits.system(network), {}) is None


def block(force: int, sliding: int, breakaway: int, speed: int = 0) -> list[Part]:
    return [
        Part("M", "M1", "n1", "0", Fraction(2), (Fraction(0), Fraction(speed))),
        Part("B", "B1", "n1", "0", Fraction(force), Fraction(force)),
        Part("F", "F1", "0", "n1", Fraction(sliding), Fraction(breakaway)),
    ]


@pytest.mark.parametrize(
    ("parts", "mode", "force"),
    [
        (block(4, 10, 10), STICK, 4),
        (block(4, 3, 3), FORWARD, 3),
        (block(-4, 3, 3), BACKWARD, -3),
        (block(4, 3, 5), STICK, 4),
        (block(6, 3, 5), FORWARD, 3),
        (block(4, 3, 5, speed=1), FORWARD, 3),
        (block(4, 3, 5, speed=-1), BACKWARD, -3),
    ],
)
def test_a_block_with_stiction(parts: list[Part], mode: tuple[bool, bool], force: int) -> None:
    found = lines.consistent(parts, lines.starts(parts))
    assert found is not None
    assert lines.frictions(lines.system(parts), found.positive)["F1"] == mode
    assert found.values["f.F1"] == pytest.approx(force)
    assert found.slopes["v.n1"] == pytest.approx(float(parts[1].value - force) / 2)
    others = {m for m in (STICK, FORWARD, BACKWARD) if lines.judged(parts, lines.starts(parts), {"F1": m})}
    # Between the two levels a resting block may stick or slide.
    between = mode == STICK and parts[2].value < abs(force)
    assert others == ({STICK, FORWARD} if between else {mode})


def test_what_moves_at_once_slides_before_what_only_begins_to_move() -> None:
    """At 2 N the second mass is just held; the damper moves it by the second derivative of its speed, if the first holds 2 N."""
    parts = [
        Part("M", "M1", "n1", "0", Fraction(1), (Fraction(0), Fraction(0))),
        Part("M", "M2", "n2", "0", Fraction(1), (Fraction(0), Fraction(0))),
        Part("B", "B1", "n1", "0", Fraction(10), Fraction(10)),
        Part("F", "F1", "n1", "n2", Fraction(1), Fraction(2)),
        Part("F", "F2", "n2", "0", Fraction(1, 2), Fraction(2)),
        Part("D", "D1", "n1", "n2", Fraction(1)),
    ]
    found = lines.consistent(parts, lines.starts(parts))
    assert found is not None
    assert (found.slopes["v.n1"], found.slopes["v.n2"]) == pytest.approx((9.0, 0.0))
    assert found.values["f.F2"] == pytest.approx(-1.0)
    assert (found.orders["v.n1"], found.orders["s.n1"], "v.n2" in found.orders) == (1, 2, False)


def test_a_plastic_impact_keeps_momentum() -> None:
    parts = [
        Part("M", "M1", "n1", "0", Fraction(2), (Fraction(0), Fraction(3))),
        Part("M", "M2", "n2", "0", Fraction(1), (Fraction(0), Fraction(0))),
        Part("P", "P1", "n1", "n2", Fraction(0)),
    ]
    found = lines.consistent(parts, lines.starts(parts))
    assert found is not None and found.positive == (True,)
    assert (found.values["v.n1"], found.values["v.n2"]) == pytest.approx((2.0, 2.0))
    assert found.impulses["b.P1"] == pytest.approx(2.0)


def test_a_lever_carries_force_and_inertia() -> None:
    parts = [
        Part("M", "M1", "n1", "0", Fraction(1), (Fraction(2), Fraction(0))),
        Part("M", "M2", "n2", "0", Fraction(4), (Fraction(1), Fraction(0))),
        Part("G", "G1", "n1", "n2", Fraction(2)),
        Part("B", "B1", "n1", "0", Fraction(6), Fraction(6)),
        Part("F", "F1", "n2", "0", Fraction(4), Fraction(4)),
    ]
    # At node 1: m1 + m2 / 4 = 2 kg, pushed by 6 N, held by 4 / 2 N.
    found = lines.consistent(parts, lines.starts(parts))
    assert found is not None
    assert found.values["f.G1"] == pytest.approx(-4.0)
    assert found.values["f.F1"] == pytest.approx(-4.0)


def test_independent_copies_are_decided_one_by_one() -> None:
    one = random_mechanism(4)
    many = random_mechanism(4, copies=12)
    first, all_of_them = (lines.consistent(p, lines.starts(p)) for p in (one, many))
    assert first is not None and all_of_them is not None
    assert all_of_them.positive == first.positive * 12
