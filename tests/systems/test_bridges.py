"""Single-phase diode bridge: capacitor and inductive loads, grounded and floating."""

import warnings

import numpy as np
import pytest

from acausal import Circuit, Result, simulate
from acausal.components.electrical import Capacitor, IdealDiode, Inductor, Resistor, SineVoltage
from tests.oracles.bridges import SinglePhase, single_phase
from tests.systems.circuits import circuit, commutations, diode_bridge

V, F = 325.0, 50.0
PERIODS = 5
STOP = (PERIODS - 0.05) / F
PAIRS = {(False, False, False, False), (True, False, False, True), (False, True, True, False)}
"""Conduction of t0, t1, b0, b1: none, or one pair."""
CASE = SinglePhase(V=V, f=F)


def capacitor_load(ground: str) -> Circuit:
    return circuit(
        ("source", SineVoltage(V=V, f=F), "a", "b"),
        ("inductance", Inductor(L=CASE.Ls), "a", "c"),
        ("resistance", Resistor(R=CASE.Rs), "c", "d"),
        *diode_bridge("db", "plus", "minus"),
        ("capacitor", Capacitor(C=CASE.C), "plus", "minus"),
        ("load", Resistor(R=CASE.R), "plus", "minus"),
        ground=ground,
    )


def conduction(result: Result) -> list[tuple[bool, ...]]:
    """What conducts after the start and after every commutation."""
    t = np.append(0.0, commutations(result))
    return list(zip(*(result[f"{d}.on"].at(t).astype(bool) for d in ("t0", "t1", "b0", "b1")), strict=True))


# With the negative rail, the source or nothing at ground, the blocked bridge leaves other potentials undetermined.
@pytest.fixture(scope="module", params=["minus", "b", "a", "elsewhere"])
def charged(request: pytest.FixtureRequest) -> Result:
    with warnings.catch_warnings():
        warnings.simplefilter("error" if request.param != "elsewhere" else "ignore")
        return simulate(capacitor_load(request.param), STOP)


def test_pairs_commutate_in_one_event(charged: Result) -> None:
    assert set(conduction(charged)) == PAIRS
    exact = single_phase(CASE, [STOP]).commutations
    np.testing.assert_allclose(commutations(charged), exact, rtol=1e-14)


def test_capacitor_and_source_current_are_exact(charged: Result) -> None:
    t = np.linspace(0, STOP, 101)[1:]
    exact = single_phase(CASE, t).states
    scale = np.abs(exact).max(axis=0)
    assert np.abs(charged["inductance.i"].at(t) - exact[:, 0]).max() <= 1e-13 * scale[0]
    assert np.abs(charged["capacitor.v"].at(t) - exact[:, 1]).max() <= 1e-13 * scale[1]


def test_blocking_diodes_share_the_difference(charged: Result) -> None:
    blocked = conduction(charged).index((False,) * 4)
    t = commutations(charged)[blocked - 1 : blocked + 1].mean()
    vs, v = V * np.sin(2 * np.pi * F * t), charged["capacitor.v"].at(t)
    shares = {"t0": vs - v, "b1": vs - v, "t1": -vs - v, "b0": -vs - v}
    for diode, share in shares.items():
        assert charged[f"{diode}.v"].at(t) == pytest.approx(share / 2, rel=1e-12)


def test_a_bridge_without_ground_runs_with_one_warning() -> None:
    with pytest.warns(UserWarning) as caught:
        simulate(capacitor_load("elsewhere"), 1 / F)
    (warning,) = caught
    text = str(warning.message)
    assert "no reference in the island {" in text
    assert "source.p.v" in text
    assert "is pinned to zero" in text


def test_a_capacitor_straight_at_the_bridge() -> None:
    C, R = 1e-3, 50.0
    result = simulate(
        circuit(
            ("source", SineVoltage(V=V, f=F), "a", "b"),
            *diode_bridge("ab", "plus", "0"),
            ("capacitor", Capacitor(C=C), "plus", "0"),
            ("load", Resistor(R=R), "plus", "0"),
        ),
        2 / F,
    )
    assert set(conduction(result)) == PAIRS
    # The bridge current C vs' + vs/R ends at tan(w t) = -w R C; the capacitor then discharges into the load.
    w = 2 * np.pi * F
    ends = (np.pi - np.arctan(w * R * C)) / w + np.arange(4) / (2 * F)
    np.testing.assert_allclose(commutations(result)[::2], ends, rtol=1e-14)
    t = np.linspace(0, 1, 50) * (commutations(result)[1] - ends[0]) + ends[0]
    exact = V * np.sin(w * ends[0]) * np.exp(-(t - ends[0]) / (R * C))
    np.testing.assert_allclose(result["capacitor.v"].at(t), exact, rtol=1e-13)


@pytest.fixture(scope="module")
def inductive() -> Result:
    return simulate(
        circuit(
            ("source", SineVoltage(V=V, f=F), "a", "b"),
            *diode_bridge("ab", "plus", "0"),
            ("load", Resistor(R=10.0), "plus", "c"),
            ("choke", Inductor(L=50e-3), "c", "0"),
        ),
        STOP,
    )


def test_an_inductive_load_sees_the_rectified_source(inductive: Result) -> None:
    t = np.linspace(0, STOP, 5003)[1:-1]
    output = inductive["load.v"].at(t) + inductive["choke.v"].at(t)
    assert np.abs(output - np.abs(V * np.sin(2 * np.pi * F * t))).max() <= 1e-11


def test_an_inductive_load_commutates_at_the_zero_crossings(inductive: Result) -> None:
    assert set(conduction(inductive)) == PAIRS - {(False,) * 4}
    np.testing.assert_allclose(commutations(inductive), np.arange(1, 2 * PERIODS) / (2 * F), rtol=1e-14)


def test_a_bridge_of_lossy_diodes_tends_to_the_ideal_one() -> None:
    def run(**diode: float) -> Result:
        return simulate(
            circuit(
                ("source", SineVoltage(V=V, f=F), "a", "b"),
                *diode_bridge("ab", "plus", "0", lambda: IdealDiode(**diode)),
                ("load", Resistor(R=50.0), "plus", "0"),
            ),
            0.9 / F,
        )

    t = np.array([0.003, 0.012])
    source = np.abs(V * np.sin(2 * np.pi * F * t))
    lossy = run(Ron=0.5, Vknee=0.8)["load.v"].at(t)
    np.testing.assert_allclose(lossy, (source - 1.6) * 50 / 51, rtol=1e-13)
