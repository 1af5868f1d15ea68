"""Algebraic and continuous blocks."""

import numpy as np
import pytest

from acausal.components.blocks import (
    Add,
    Add3,
    BooleanToReal,
    Feedback,
    FirstOrder,
    Gain,
    Integrator,
    Limiter,
    Product,
    Sine,
)
from acausal.errors import RequirementError
from tests.components.signals import run

W = 2 * np.pi
T = np.linspace(0.0, 3.0, 61)


def sine(k: float = 1.0) -> Sine:
    return Sine(amplitude=k, f=1.0)


def test_gain() -> None:
    y = run(3.0, ("s.y", "b.u"), s=sine(), b=Gain(k=-2.5))["b.y"]
    assert y.at(T) == pytest.approx(-2.5 * np.sin(W * T), abs=1e-12)


def test_add() -> None:
    y = run(3.0, ("s.y", "b.u1"), s=sine(), b=Add(u2=3.0, k1=2.0, k2=-1.0))["b.y"]
    assert y.at(T) == pytest.approx(2.0 * np.sin(W * T) - 3.0, abs=1e-12)


def test_add3() -> None:
    y = run(3.0, ("s.y", "b.u1", "b.u2"), s=sine(), b=Add3(u3=1.0, k1=2.0, k2=3.0, k3=4.0))["b.y"]
    assert y.at(T) == pytest.approx(5.0 * np.sin(W * T) + 4.0, abs=1e-12)


def test_feedback() -> None:
    y = run(3.0, ("s.y", "b.u2"), s=sine(), b=Feedback(u1=1.0))["b.y"]
    assert y.at(T) == pytest.approx(1.0 - np.sin(W * T), abs=1e-12)


def test_product_of_signals_is_observed() -> None:
    y = run(3.0, ("s.y", "b.u1", "b.u2"), s=sine(2.0), b=Product())["b.y"]
    assert y.at(T) == pytest.approx(4.0 * np.sin(W * T) ** 2, abs=1e-12)


def test_limiter_limits_to_the_last_bit() -> None:
    y = run(3.0, ("s.y", "b.u"), s=sine(2.0), b=Limiter(uMin=-0.5, uMax=1.0))["b.y"]
    assert y.at(T) == pytest.approx(np.clip(2.0 * np.sin(W * T), -0.5, 1.0), abs=1e-12)


def test_limits_in_wrong_order_are_refused() -> None:
    with pytest.raises(RequirementError, match="lower limit must not exceed"):
        run(1.0, b=Limiter(uMin=1.0, uMax=-1.0, u=0.0))


def test_boolean_to_real() -> None:
    assert run(1.0, b=BooleanToReal(u=True, realTrue=5.0, realFalse=2.0))["b.y"].final == 5.0
    assert run(1.0, b=BooleanToReal(u=False, realTrue=5.0, realFalse=2.0))["b.y"].final == 2.0


def test_integrator() -> None:
    y = run(3.0, ("s.y", "b.u"), s=sine(), b=Integrator(k=2.0, x=1.0))["b.y"]
    assert y.at(T) == pytest.approx(1.0 + 2.0 * (1.0 - np.cos(W * T)) / W, abs=1e-12)


def test_first_order_step_response() -> None:
    y = run(3.0, b=FirstOrder(k=2.0, T=0.5, u=1.0))["b.y"]
    assert y.at(T) == pytest.approx(2.0 * (1.0 - np.exp(-T / 0.5)), abs=1e-12)


def test_first_order_without_time_constant_is_a_gain() -> None:
    y = run(3.0, ("s.y", "b.u"), s=sine(), b=FirstOrder(k=2.0, T=0.0))["b.y"]
    assert y.at(T) == pytest.approx(2.0 * np.sin(W * T), abs=1e-12)
