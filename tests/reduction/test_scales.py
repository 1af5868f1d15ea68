"""Network scales."""

import numpy as np
import pytest

from acausal.reduction.affine import AffineModel, Rows, stack_rows
from acausal.reduction.scales import propagate_scales
from tests.reduction.circuits import Circuit


def every_row(model: AffineModel) -> Rows:
    return stack_rows([model.base, *(b.equations for e in model.elements for b in e.branches)], model)


def scales(
    model: AffineModel, labels: dict[str, int], known: dict[str, float], T0: float
) -> dict[str, float]:
    start = np.array([known.get(name, 0.0) for name in model.names])
    units = np.array([labels[name[0]] for name in model.names])
    found = propagate_scales(every_row(model), start, np.ones(model.q), T0, units)
    return dict(zip(model.names, found.tolist(), strict=True))


UNITS = {"u": 0, "v": 0, "i": 1}


def test_a_source_reaches_everything() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: -230.0})
    circuit.R("r1", "a", "b", 10.0)
    circuit.R("r2", "b", "0", 20.0)
    found = scales(circuit.build(), UNITS, {}, 1.0)
    assert [found[name] for name in ("u.v", "v.a", "u.r1", "v.b", "u.r2", "i.r1", "i.v")] == [230.0] * 5 + [
        23.0
    ] * 2


def test_a_derivative_counts_as_value_over_time_unit() -> None:
    circuit = Circuit()
    circuit.V("v", "a", "0", {0: 5.0})
    circuit.C("c", "a", "0", 2e-3)
    assert scales(circuit.build(), UNITS, {}, 0.1)["i.c"] == pytest.approx(5.0 * 2e-3 / 0.1, rel=1e-15)


def test_the_largest_offer_wins_and_known_values_stay() -> None:
    rows = Rows(np.zeros((2, 3)), np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -2.0]]), np.zeros((2, 0)))
    known = np.array([3.0, 10.0, 0.0])
    assert propagate_scales(rows, known, np.zeros(0), 1.0, np.zeros(3, dtype=int)).tolist() == [
        3.0,
        10.0,
        5.0,
    ]


def test_what_no_equation_reaches_takes_the_largest_of_its_unit() -> None:
    rows = Rows(np.zeros((1, 4)), np.array([[1.0, -1.0, 0.0, 0.0]]), np.zeros((1, 0)))
    known = np.array([7.0, 0.0, 0.0, 0.0])
    assert propagate_scales(rows, known, np.zeros(0), 1.0, np.array([0, 0, 0, 1])).tolist() == [
        7.0,
        7.0,
        7.0,
        1.0,
    ]


@pytest.mark.parametrize("impedance", [1e-6, 1e6])
def test_scales_follow_the_impedance(impedance: float) -> None:
    def build(factor: float) -> dict[str, float]:
        circuit = Circuit()
        circuit.V("v", "a", "0", {0: 12.0})
        circuit.SW("s", "a", "b")
        circuit.L("l", "b", "c", 1e-3 * factor)
        circuit.R("r", "c", "0", 4.0 * factor)
        return scales(circuit.build(), UNITS, {}, 1e-3)

    plain, scaled = build(1.0), build(impedance)
    for name, size in plain.items():
        factor = 1.0 / impedance if name.startswith("i") else 1.0
        assert scaled[name] == pytest.approx(size * factor, rel=1e-13)
