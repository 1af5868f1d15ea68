"""What is conserved may add up to nothing: a jump then leaves zero, and no rounding that an element would follow."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import exp

import pytest

from acausal import AcausalError, simulate
from acausal.components.blocks import BooleanStep
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    IdealClosingSwitch,
    IdealDiode,
    Resistor,
)
from tests.oracles.networks import GROUND, Element
from tests.systems.campaign_cases import network_case
from tests.systems.campaign_judge import attempt, judged
from tests.systems.circuits import circuit

pytestmark = pytest.mark.filterwarnings("ignore:given starts contradict")


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("late", [0.0, 1e-3])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("C", [0.7, 1.0, 3.0])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("v", [(0.1, 0.2, -0.3), (1.1, -3.7, 2.6), (-1.0, 5.0, -4.0)])
def test_equal_capacitors_that_have_no_charge_together(
    v: Sequence[float], size: float, C: float, side: int, late: float, order: Sequence[int]
) -> None:
    """Joined they have no voltage. The source beside them tells whether the diode holds them there or lets them be charged."""
    parts = [(f"c{k}", Capacitor(C=C, v=size * v[k]), f"n{k}", "0") for k in order]
    joins = [(f"s{k}", IdealClosingSwitch(), f"n{k}", "n") for k in range(3)]
    model = circuit(
        *parts,
        *joins,
        ("source", ConstantVoltage(V=side * size), "a", "0"),
        ("resistor", Resistor(R=1.0), "a", "n"),
        ("diode", IdealDiode(), "n", "0"),
        command=BooleanStep(startTime=late),
    )
    model.connect(model.command.y, *(getattr(model, name).control for name, *_ in joins))
    result = simulate(model, late + 1.0)
    assert [abs(result[f"c{k}.v"].at(late)) for k in range(3)] == [0.0, 0.0, 0.0]
    assert result["diode.i"].at(late) == pytest.approx(size if side > 0 else 0.0, rel=1e-12)
    charged = 0.0 if side > 0 else size * (exp(-1.0 / (3.0 * C)) - 1.0)
    assert result["c0.v"].final == pytest.approx(charged, rel=1e-6, abs=1e-12 * size)


def test_a_capacitor_that_transformers_discharge_with_others() -> None:
    """Charge from three capacitors leaves a fourth nothing; a coil of 5 A beside it is shorted, and keeps its current.

    Rounding of that charge, 1e-17 V, opened a diode of which only the motion afterwards says that it blocks.
    """
    leaks = Fraction(1, 10**5)
    network = [
        Element("S", "S1", GROUND, "n4", True, (leaks, leaks)),
        Element("C", "C1", "n6", GROUND, Fraction(1, 2), Fraction(-11, 2)),
        Element("C", "C2", "n1", "n5", Fraction(1, 2), Fraction(5)),
        Element("C", "C3", "n2", "n3", Fraction(1, 2), Fraction(-1)),
        Element("L", "L2", "n2", "n3", Fraction(1), Fraction(5)),
        Element("V", "V1", "n5", GROUND, Fraction(1, 2)),
        Element("X", "X1", "n3", "n2", Fraction(2), ("n3", "n4")),
        Element("X", "X2", GROUND, "n4", Fraction(1, 2), ("n2", "n1")),
        Element("X", "X3", "n6", "n3", Fraction(2), ("n5", GROUND)),
        Element("D", "D1", "n2", "n4"),
        Element("D", "D4", "n1", "n3"),
    ]
    case = network_case(network, 1e-3)
    answer = attempt(case, 2e-3)
    verdict = judged(case, answer)
    assert not isinstance(answer, AcausalError), answer
    assert verdict.outcome == "right", verdict.why
    assert answer["C3.v"].at(0.0) == 0.0
