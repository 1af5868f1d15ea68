"""A small part of the random campaign of `benchmarks/campaign.py`: every run is right, every refusal too."""

from fractions import Fraction

import pytest

from acausal import Result
from tests.oracles.circuits import random_circuit
from tests.oracles.lines import random_mechanism
from tests.systems.campaign_families import FAMILIES
from tests.systems.campaign_judge import attempt, judged, line_case, network_case

SEEDS = {
    "networks": (1, 2, 3, 5, 10, 13),
    "free networks": (2, 5, 7, 9, 11, 16),
    "ideal networks": (0, 1, 2, 3, 4, 6, 8, 10),
    "resting": (3, 5, 9, 10, 14, 16, 19),
    "moving": (0, 4, 5, 9, 12),
    "copies": (0, 1, 3, 6),
    "network runs": (0, 1, 2, 3, 4, 5, 6, 7),
    "mechanism runs": (0, 1, 4, 8),
    "weak losses": (13, 19, 27, 39),
}
"""Seeds of every family that have found defects; the many others are left to the campaign."""


@pytest.mark.parametrize("name", SEEDS)
def test_random_models_run_right(name: str) -> None:
    family = FAMILIES[name]
    for seed in SEEDS[name]:
        verdict = family.run(family.describe(seed), "exact" if name == "weak losses" else "auto")
        assert verdict.outcome in ("right", "right refusal"), (seed, verdict.why)


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_integrated_circuits_with_losses_agree_with_their_closed_form(method: str) -> None:
    family = FAMILIES["general path"]
    for seed in (3, 18, 20, 25):
        verdict = family.run(family.describe(seed), method)
        assert verdict.outcome in ("right", "too stiff"), (seed, verdict.why)


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_networks_with_nonlinear_parts_run_right(method: str) -> None:
    family = FAMILIES["nonlinear runs"]
    for seed in (0, 2, 5):
        verdict = family.run(family.describe(seed), method)
        assert verdict.outcome == "right", (seed, verdict.why)


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
