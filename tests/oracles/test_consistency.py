from fractions import Fraction as F
from itertools import product

import pytest

from tests.oracles.consistency import consistent_modes, feasible
from tests.oracles.networks import Element as E
from tests.oracles.networks import random_network


def conducting(network, **options):
    return [
        tuple(name for name, on in mode.on.items() if on) for mode in consistent_modes(network, **options)
    ]


def test_diode_with_resistor_follows_the_sign_of_the_source():
    def circuit(level):
        return [E("V", "V", "a", "0", level), E("D", "D", "a", "b"), E("R", "R", "b", "0", 5)]

    assert conducting(circuit(3)) == [("D",)]
    assert conducting(circuit(-3)) == [()]
    assert conducting(circuit(0)) == [(), ("D",)]


def test_derivative_of_the_source_decides_at_its_zero():
    def circuit(*taylor):
        return [E("V", "V", "a", "0", taylor), E("D", "D", "a", "b"), E("R", "R", "b", "0", 5)]

    assert conducting(circuit(0, 2)) == [("D",)]
    assert conducting(circuit(0, 0, -1)) == [()]


def test_joined_capacitors_share_charge_with_an_impulse():
    network = [E("C", "C1", "a", "0", 1, 10), E("S", "S", "a", "b", True), E("C", "C2", "b", "0", 3, 2)]
    (mode,) = consistent_modes(network)
    assert mode.states == {"C1": 4, "C2": 4}
    assert mode.impulse_order == 1
    assert mode.impulses == {"C1": -6, "C2": 6}
    assert mode.interrupted == ()


@pytest.mark.parametrize(("charged", "expected"), [("C1", {"C1": 5, "C2": 5}), ("C2", {"C1": 0, "C2": 10})])
def test_diode_between_capacitors_passes_charge_one_way(charged, expected):
    network = [E("C", "C1", "a", "0", 1, 0), E("D", "D", "a", "b"), E("C", "C2", "b", "0", 1, 0)]
    modes = consistent_modes(network, states={charged: 10})
    assert [mode.states for mode in modes] == [expected]


def test_opened_inductor_needs_a_diode():
    inductor = [E("V", "V", "a", "0", 1), E("L", "L", "a", "b", 2, 3), E("S", "S", "b", "0", False)]
    (mode,) = consistent_modes(inductor)
    assert (mode.states, mode.impulses, mode.interrupted) == ({"L": 0}, {"L": -6}, ("S",))
    (mode,) = consistent_modes([*inductor, E("D", "D", "b", "a")])
    assert (mode.on, mode.states, mode.impulse_order) == ({"D": True}, {"L": 3}, 0)


def test_shorted_and_opened_sources_have_no_mode():
    assert consistent_modes([E("V", "V", "a", "0", 3), E("S", "S", "a", "0", True)]) == []
    assert consistent_modes([E("I", "I", "a", "0", 3), E("D", "D", "a", "0")]) == []
    assert conducting([E("I", "I", "0", "a", 3), E("D", "D", "a", "0")]) == [("D",)]


def test_series_diodes_block_when_some_division_of_the_voltage_does():
    network = [
        E("V", "V", "a", "0", -3),
        E("D", "D1", "a", "b"),
        E("D", "D2", "b", "c"),
        E("R", "R", "c", "0", 1),
    ]
    modes = consistent_modes(network)
    assert [tuple(mode.on.values()) for mode in modes] == [(False, False), (False, True), (True, False)]
    assert [mode.undetermined for mode in modes] == [("D1", "D2"), (), ()]


def test_antiparallel_diode_of_a_closed_switch_has_a_free_circulating_current():
    network = [
        E("V", "V", "a", "0", 3),
        E("S", "S", "a", "b", True),
        E("D", "D", "b", "a"),
        E("R", "R", "b", "0", 1),
    ]
    modes = consistent_modes(network)
    assert [mode.undetermined for mode in modes] == [(), ("D",)]


def test_parallel_capacitor_and_source_need_an_impulse():
    (mode,) = consistent_modes([E("V", "V", "a", "0", 3), E("C", "C", "a", "0", F(1, 3), 1)])
    assert (mode.states, mode.impulses) == ({"C": 3}, {"C": F(2, 3)})


def test_inductor_in_series_with_a_current_source_takes_its_current_at_once():
    network = [E("I", "I", "0", "a", 1), E("L", "L", "a", "b", 1, 0), E("C", "C", "b", "0", 1, 0)]
    (mode,) = consistent_modes(network)
    assert (mode.impulse_order, mode.states["L"], mode.impulses["L"]) == (1, 1, 1)


def test_blocked_thyristor_is_open_and_fired_one_is_a_diode():
    def circuit(fired):
        return [E("V", "V", "a", "0", 3), E("T", "T", "a", "b", fired), E("R", "R", "b", "0", 5)]

    assert conducting(circuit(False)) == [()]
    assert conducting(circuit(True)) == [("T",)]


def test_bridge_with_inductive_load_freewheels_at_the_reversal():
    def bridge(level, current):
        return [
            E("V", "V", "a", "b", level),
            *(
                E("D", name, p, n)
                for name, p, n in (("D1", "a", "p"), ("D2", "b", "p"), ("D3", "m", "a"), ("D4", "m", "b"))
            ),
            E("R", "R", "p", "q", 1),
            E("L", "L", "q", "m", 1, current),
        ]

    assert conducting(bridge(2, 5)) == [("D1", "D4")]
    assert conducting(bridge(-2, 5)) == [("D2", "D3")]
    (mode,) = consistent_modes(bridge(-2, 5))
    assert mode.states == {"L": 5}


def test_feasible_solves_small_systems_exactly():
    assert feasible([-1, 3], [[1], [-1]])
    assert not feasible([-4, 3], [[1], [-1]])
    assert feasible([-1, -1, 2], [[1, 0], [0, 1], [-1, -1]])
    assert not feasible([-1, -1, 1], [[1, 0], [0, 1], [-1, -1]])
    assert feasible([0, -5], [[0, 1], [1, 1]])
    assert not feasible([-1], [[0]])


def brute_force(network, S=F(2) ** 400):
    """Assignments whose tableau is regular at S, solved densely; None for singular ones."""
    diodes = [e for e in network if e.kind in "DT"]
    nodes = sorted({n for e in network for n in (e.p, e.n)} - {"0"})
    index = {("e", n): k for k, n in enumerate(nodes)} | {
        e.name: len(nodes) + k for k, e in enumerate(network)
    }
    result = {}
    for on in product((False, True), repeat=len(diodes)):
        state = dict(zip((d.name for d in diodes), on, strict=True))
        if any(d.kind == "T" and not d.value and state[d.name] for d in diodes):
            continue
        rows = [[F(0)] * (len(index) + 1) for _ in index]
        for k, e in enumerate(network):
            row = rows[len(nodes) + k]
            v, i, rhs = {
                "R": (1, -(e.value or 0), 0),
                "L": (1, -S * F(e.value or 0), -F(e.value or 0) * (e.extra or 0)),
                "C": (-S * F(e.value or 0), 1, -F(e.value or 0) * (e.extra or 0)),
                "V": (1, 0, F(e.value or 0) / S),
                "I": (0, 1, F(e.value or 0) / S),
            }.get(e.kind, (1, 0, 0) if (e.value if e.kind == "S" else state.get(e.name)) else (0, 1, 0))
            row[index[e.name]], row[-1] = F(i), F(rhs)
            for node, sign in ((e.p, 1), (e.n, -1)):
                if node != "0":
                    row[index["e", node]] += sign * v
                    rows[index["e", node]][index[e.name]] += sign
        x = solve(rows)
        if x is None:
            result[on] = None
            continue
        ok = []
        for d in diodes:
            u = sum(s * x[index["e", n]] for n, s in ((d.p, 1), (d.n, -1)) if n != "0")
            ok.append(x[index[d.name]] >= 0 if state[d.name] else (d.kind == "T" and not d.value) or u <= 0)
        result[on] = all(ok)
    return result


def solve(rows):
    n = len(rows)
    for k in range(n):
        p = next((j for j in range(k, n) if rows[j][k]), None)
        if p is None:
            return None
        rows[k], rows[p] = rows[p], rows[k]
        rows[k] = [a / rows[k][k] for a in rows[k]]
        for j in range(n):
            if j != k and rows[j][k]:
                rows[j] = [a - rows[j][k] * b for a, b in zip(rows[j], rows[k], strict=True)]
    return [row[-1] for row in rows]


@pytest.mark.parametrize("family", ["i", "ii"])
def test_condensed_evaluation_agrees_with_dense_elimination(family):
    compared = 0
    for seed in range(25):
        network = random_network(seed, family, size=8, diodes=2)
        found = {tuple(mode.on.values()) for mode in consistent_modes(network)}
        for on, expected in brute_force(network).items():
            if expected is not None:
                assert (on in found) == expected, (seed, on)
                compared += 1
    assert compared > 20


def test_passive_family_always_has_a_mode_with_unique_states():
    for seed in range(60):
        modes = consistent_modes(random_network(seed, "i"))
        assert modes
        assert all(mode.states == modes[0].states for mode in modes)
        assert all(mode.impulse_order <= 1 for mode in modes)
