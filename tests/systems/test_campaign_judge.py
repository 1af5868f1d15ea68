"""The judge of the random campaign sees what is wrong, and takes rounding for what it is."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from acausal import Result
from tests.oracles.circuits import random_circuit
from tests.oracles.lines import Part
from tests.oracles.networks import GROUND, Element
from tests.oracles.random_lines import random_mechanism
from tests.systems import campaign_judge
from tests.systems.campaign_cases import Case, line_case, network_case
from tests.systems.campaign_families import FAMILIES
from tests.systems.campaign_judge import StoppedError, attempt, judged
from tests.systems.campaign_steps import stepping_defects


def test_small_steps_go_as_far_as_the_run_they_judge() -> None:
    """Also where they went farther for another method before."""
    network = [
        Element("V", "V", "a", GROUND, Fraction(3)),
        Element("R", "R", "a", "b", Fraction(1)),
        Element("C", "C", "b", GROUND, Fraction(1), Fraction(0)),
    ]
    case = network_case(network, 0.7)
    for span in (2.0, 0.5):
        answer = attempt(case, span)
        assert isinstance(answer, Result)
        assert stepping_defects(case, answer) == ("agrees", [])


def test_small_steps_change_when_the_run_does_that_they_judge() -> None:
    """The same network whose switch closes later is another case."""
    network = [
        Element("V", "V", "a", GROUND, Fraction(3)),
        Element("S", "S", "a", "b", False),
        Element("R", "R", "b", "c", Fraction(1)),
        Element("C", "C", "c", GROUND, Fraction(1), Fraction(0)),
    ]
    early, late = (network_case(network, change) for change in (0.5, 1.5))
    for case, other in ((early, late), (late, early)):
        answer = attempt(case, 2.0)
        assert isinstance(answer, Result)
        assert stepping_defects(case, answer) == ("agrees", [])
        assert stepping_defects(other, answer)[0] == "disagrees"


@pytest.mark.parametrize(("off", "outcome"), [(0.0, "right"), (6e-16, "right"), (1e-13, "wrong")])
@pytest.mark.parametrize("size", [1, 1000])
def test_a_small_speed_beside_a_loaded_spring_is_rounded_as_what_the_spring_can_give(
    size: int, off: float, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spring with 2 J at 2 kg gives 1.4 m/s, and is held but for 1 mN; ``off`` is a jump of the speed, in parts of 1 m/s."""
    push, read = Fraction(4 * size) + Fraction(size, 1000), campaign_judge.read
    parts = [
        Part("M", "M", "a", GROUND, Fraction(2), (Fraction(size), Fraction(0))),
        Part("K", "K", "a", GROUND, Fraction(4), Fraction(0)),
        Part("B", "B", "a", GROUND, push, push),
    ]
    case = line_case(parts, 1e-3)
    answer = attempt(case, 2e-3)

    def jumping(case: Case, result: Result, unknown: str, t: np.ndarray, side: str = "right") -> np.ndarray:
        late = (t > 6.2e-4) & (unknown == "v.a")
        return read(case, result, unknown, t, side) + np.where(late, off * size, 0.0)

    monkeypatch.setattr(campaign_judge, "read", jumping)
    verdict = judged(case, answer)
    assert verdict.outcome == outcome, verdict.why
    assert ("v.a does not follow" in verdict.why) == (outcome == "wrong")


@pytest.mark.parametrize("Ron", [Fraction(1, 1000), Fraction(1, 10**6)])
@pytest.mark.parametrize(
    ("off", "outcome"), [(0.0, "right"), (1e-16, "right"), (1e-13, "wrong"), (1e-9, "wrong")]
)
def test_a_small_current_through_a_small_resistance_is_rounded_as_the_volts_behind_it(
    off: float, outcome: str, Ron: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3 V on both sides, and 0.1 uA through it; ``off`` is an error of that in parts of what 3 V would drive through it."""
    network = [
        Element("C", "C", "a", GROUND, Fraction(3), Fraction(3)),
        Element("S", "S", "a", "b", True, (Ron, Ron)),
        Element("C", "F", "b", GROUND, Fraction(1, 4), Fraction(3)),
        Element("R", "R", "b", GROUND, Fraction(3 * 10**7)),
    ]
    case, read = network_case(network, 1.0), campaign_judge.read
    answer = attempt(case, 2e-3)
    fault = off * 3.0 / float(Ron)

    def faulty(case: Case, result: Result, unknown: str, t: np.ndarray, side: str = "right") -> np.ndarray:
        return read(case, result, unknown, t, side) + (fault if unknown == "i.F" else 0.0)

    monkeypatch.setattr(campaign_judge, "read", faulty)
    verdict = judged(case, answer)
    assert verdict.outcome == outcome, verdict.why
    assert ("i.F" in verdict.why) == (outcome == "wrong")


def test_the_judge_sees_a_wrong_number() -> None:
    """The equations of another resistor, mass or force are violated by a right run."""
    network = random_circuit(10, grounded=True)
    answer = attempt(network_case(network, 1e-3), 2e-3)
    assert isinstance(answer, Result)
    assert judged(network_case(network, 1e-3), answer).outcome == "right"
    carrying = [k for k, e in enumerate(network) if e.kind == "R" and answer[f"{e.name}.i"].final]
    assert carrying
    for k in carrying:
        other = [*network]
        other[k] = network[k]._replace(value=network[k].value * (1 + Fraction(1, 10**6)))
        assert judged(network_case(other, 1e-3), answer).outcome == "wrong"
    parts = random_mechanism(1)
    answer = attempt(line_case(parts, 1e-3), 2e-3)
    assert judged(line_case(parts, 1e-3), answer).outcome == "right"
    for k, e in enumerate(parts):
        if e.kind in "MB":
            changed = [*parts]
            changed[k] = e._replace(value=e.value + 1)
            assert judged(line_case(changed, 1e-3), answer).outcome == "wrong", e


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize(("name", "kinds", "seed"), [("network runs", "CR", 3), ("mechanism runs", "MFB", 6)])
def test_small_steps_see_a_wrong_trajectory(name: str, kinds: str, seed: int) -> None:
    """They agree with a right run, and with no run of another capacitor, resistor, mass, friction or force."""
    family = FAMILIES[name]
    parts = family.describe(seed)
    case = family.case(parts, family.change)
    answer = attempt(case, family.span)
    assert stepping_defects(case, answer) == ("agrees", [])
    for kind in kinds:
        k = next(k for k, e in enumerate(parts) if e.kind == kind)
        other = [*parts]
        other[k] = parts[k]._replace(value=parts[k].value + 4)
        assert stepping_defects(family.case(other, family.change), answer)[0] == "disagrees", kind


def test_the_judge_sees_wrong_characteristics_jumps_and_energies() -> None:
    """A right run is that of no other cubic conductor, junction, choke, spring, or drag, and no other energies balance it."""
    network = [
        Element("V", "V", "a", GROUND, Fraction(3)),
        Element("J", "J", "a", "b"),
        Element("N", "N", "b", "c", Fraction(1)),
        Element("Y", "Y", "c", GROUND, Fraction(1), Fraction(1, 4)),
        Element("C", "C", "c", GROUND, Fraction(1), Fraction(2)),
    ]
    parts = [
        Part("M", "M", "a", GROUND, Fraction(2), (Fraction(0), Fraction(3))),
        Part("Q", "Q", "a", GROUND, Fraction(4), Fraction(1)),
        Part("A", "A", "a", GROUND, Fraction(1)),
    ]
    for made, given, changed in ((network_case, network, "NYC"), (line_case, parts, "MQA")):
        case = made(given, 0.2)
        answer = attempt(case, 0.5, method="explicit")
        assert judged(case, answer, 1e-5).outcome == "right"
        for k, e in enumerate(given):
            if e.kind in changed:
                other = [*given]
                other[k] = e._replace(value=e.value * Fraction(1001, 1000))
                assert judged(made(other, 0.2), answer, 1e-5).outcome == "wrong", e
        for off in (
            {"stored": lambda values, of=case.stored: 1.001 * of(values)},
            {"power": lambda values, after, of=case.power: tuple(0.999 * x for x in of(values, after))},
        ):
            assert "energy" in judged(replace(case, **off), answer, 1e-5).why


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("kind", ["R", "N"])
def test_a_stiff_run_is_judged_as_far_as_it_went(kind: str) -> None:
    """A capacitor of 1 F is charged through 1 Ohm in 1 s, beside one that follows it in 10 us by a line or by a cubic law."""
    network = [
        Element("V", "V", "a", GROUND, Fraction(3)),
        Element("R", "R", "a", "b", Fraction(1)),
        Element("C", "C", "b", GROUND, Fraction(1), Fraction(1)),
        Element(kind, "K", "a", "c", Fraction(10) if kind == "N" else Fraction(1, 10)),
        Element("C", "F", "c", GROUND, Fraction(1, 10**4), Fraction(1)),
    ]
    case = network_case(network, 0.7)
    answer = attempt(case, 2.0, method="explicit")
    assert isinstance(answer, StoppedError)
    assert 0.01 < answer.result.t_end < 1.0
    assert 2000 <= answer.result.stats.held <= answer.result.stats.steps < 3000
    verdict = judged(case, answer, 1e-5)
    assert (verdict.outcome, verdict.why) == ("stiff", f"stopped at t = {answer.result.t_end:.3g} s")
    for k in (1, 3):
        other = [*network]
        other[k] = network[k]._replace(value=network[k].value * Fraction(1001, 1000))
        assert judged(network_case(other, 0.7), answer, 1e-5).outcome == "wrong"


def test_a_run_that_is_not_stiff_is_not_stopped() -> None:
    """Accuracy holds 3000 steps along an oscillation."""
    network = [
        Element("L", "L", "a", GROUND, Fraction(1, 10), Fraction(0)),
        Element("C", "C", "a", GROUND, Fraction(1, 10), Fraction(1)),
    ]
    case = network_case(network, 0.7)
    answer = attempt(case, 60.0, method="explicit")
    assert isinstance(answer, Result), answer
    assert answer.stats.steps > 2500
