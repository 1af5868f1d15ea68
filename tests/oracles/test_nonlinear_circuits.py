"""The oracles of nonlinear circuits against published values and conserved quantities."""

import re

import numpy as np
import pytest

from tests.oracles.nonlinear_circuits import (
    amplifier,
    gate,
    joined,
    saturated_current,
    saturation_current,
)
from tests.oracles.reference_data import reference_root, requires_case


def amplifier_at_the_end() -> np.ndarray:
    """Published potentials of the eight nodes at 0.2 s."""
    text = (reference_root() / "ivp_transistor_amplifier" / "case.md").read_text()
    return np.array([float(x) for x in re.findall(r"^\| y\d \| (\S+) \|$", text, re.MULTILINE)])


@requires_case("ivp_transistor_amplifier")
@pytest.mark.slow
def test_amplifier_meets_the_published_end() -> None:
    published = amplifier_at_the_end()
    assert published.shape == (8,)
    end = amplifier(np.array([0.0, 0.2]), rtol=1e-10)[:, -1]
    np.testing.assert_allclose(end, published, atol=1e-9)


def test_amplifier_starts_at_the_stated_values() -> None:
    """3 V at the emitters, with base and emitter at one potential: no current."""
    start = amplifier(np.array([0.0, 1e-9]), rtol=1e-6)[:, 0]
    np.testing.assert_allclose(start, [0.0, 3.0, 3.0, 6.0, 3.0, 3.0, 6.0, 0.0], atol=1e-12)


def test_gate_meets_the_published_end() -> None:
    """Potentials of the output and of the node below it after 80 s: Test Set for IVP Solvers, release 2.4, "NAND gate"."""
    end = gate(np.arange(0.0, 81.0, 5.0), rtol=1e-10)[:, -1]
    np.testing.assert_allclose(end[[4, 9]], [4.970837023296724, -0.2090289583878100], rtol=1e-8)


def test_saturated_current_is_published() -> None:
    """Peak current 1.444100 A of the published case, at a flux of 1.25 Wb."""
    Ipar = saturation_current(1.0, 2.0, 0.5, 1.0)
    assert Ipar == pytest.approx(0.251725367, rel=2e-9)
    assert saturated_current(1.25, 2.0, 0.5, Ipar) == pytest.approx(1.444100, abs=5e-7)
    assert saturated_current(-1.0, 2.0, 0.5, Ipar) == pytest.approx(-1.0, rel=1e-14)


def test_linear_capacitors_share_by_capacitance() -> None:
    v, passed = joined((lambda u: 1e-6 * u, lambda u: 3e-6 * u), (10.0, 0.0))
    assert v == pytest.approx(2.5, rel=1e-14)
    assert passed == pytest.approx(7.5e-6, rel=1e-14)
