"""What comes to rest beside parallel frictions whose shares are open: some of these are at their limit, others hold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from acausal import Result, compile_model
from tests.oracles.lines import GROUND, Part
from tests.systems import line_models
from tests.systems.campaign_cases import line_case
from tests.systems.campaign_judge import attempt, judged

CHANGE, END = 3.0, 5.0


def braked(
    d: float = 1.0, level: float = 0.5, m: float = 2.5, push: float = 1.5, v: float = 1.0,
    later: float = 0.0, more: tuple[Part, ...] = (), released: bool = False,
) -> list[Part]:  # fmt: skip
    """A mass with a speed, braked by drags and by clutches to the ground and to a body that a push does not move.

    From `CHANGE` on it is pushed ``later``.
    """
    on, sign = (not released, not released), np.sign(v)
    return [
        Part("M", "M1", "n1", GROUND, Fraction(1, 2), (Fraction(1), Fraction(0))),
        Part("B", "B1", "n1", GROUND, -push * sign, -push * sign),
        Part("M", "M2", "n2", GROUND, m, (Fraction(-3, 4), v)),
        Part("B", "B2", "n2", GROUND, 0.0, later * sign),
        Part("W", "W1", "n1", "n2", level, on),
        Part("F", "F1", GROUND, "n1", 1e3, 1e3),
        Part("W", "W2", GROUND, "n2", level, (True, True)),
        Part("A", "D2", "n1", "n2", d),
        *more,
    ]


def motion(force: float, d: float, m: float, v: float) -> tuple[float, float]:
    """Time and way to rest of ``m v' = -force - d v**2``."""
    end = m / np.sqrt(force * d) * np.arctan(v * np.sqrt(d / force))
    return end, m / (2.0 * d) * np.log1p(d * v**2 / force)


MODELS: dict[str, dict[str, Any]] = {
    "shares at the level": {},
    "shares beyond the level": {"push": 2.0},
    "shares far beyond it": {"push": 50.0},
    "shares below it": {"push": 1.0},
    "no push": {"push": 0.0},
    "strong drag": {"d": 50.0, "push": 2.0},
    "weak drag": {"d": 1e-2, "push": 2.0, "v": 0.1},
    "heavy": {"m": 1e3, "level": 250.0, "push": 800.0, "v": 1.5},
    "light": {"m": 1e-3, "level": 1e-3, "d": 1e-2, "push": 0.01},
    "slow": {"v": 1e-3, "push": 2.0},
    "clutch released": {"released": True, "m": 2.0},
}


def run(parts: list[Part], method: str, **options: Any) -> Result:
    return compile_model(line_models.model(parts, CHANGE)).simulate(END, method=method, **options)


def rests(result: Result, parts: list[Part], d: float, accuracy: float) -> None:
    """Judge the time at which the mass comes to rest, where that is, and what holds it then."""
    by = {p.name: p for p in parts}
    m, (s, v), level = by["M2"].value, by["M2"].extra, by["W2"].value
    engaged = level * (1 + by["W1"].extra[0])
    end, way = motion(engaged, d, m, abs(v))
    t = np.linspace(end, END, 9)[1:]
    assert end < CHANGE
    assert result["M2.s"].at(t) == pytest.approx(float(s) + np.sign(v) * way, rel=accuracy)
    assert np.abs(result["M2.v"].at(t[t > end * (1 + accuracy)])).max() <= accuracy * abs(v)
    halfway = end - m / np.sqrt(engaged * d) * np.arctan(0.5 * abs(v) * np.sqrt(d / engaged))
    assert result["M2.v"].at(halfway) == pytest.approx(v / 2, rel=10.0 * accuracy)
    for name, f in (("W1", result["W1.f"].at(t)), ("W2", result["W2.f"].at(t))):
        assert np.abs(f).max() <= by[name].value * (1 + 1e-9)
    # Forces balance: the push on the mass is held by both clutches.
    pushed = np.where(t < CHANGE, by["B2"].value, by["B2"].extra)
    assert result["W1.f"].at(t) + result["W2.f"].at(t) == pytest.approx(pushed, abs=1e-9 * level)


@pytest.mark.sweep(every=18)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("name", MODELS)
def test_a_mass_that_comes_to_rest_stays_where_it_is(name: str, method: str, rtol: float) -> None:
    """Of clutches that could take no less than their level all were left sliding at 1e-18 m/s, which no instant could mend."""
    parts = braked(**MODELS[name])
    rests(run(parts, method, rtol=rtol), parts, next(p.value for p in parts if p.name == "D2"), 30.0 * rtol)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("kind", ["one", "against", "along", "ground"])
def test_drags_in_parallel_change_their_branches_with_the_clutches(
    kind: str, method: str, sign: float, order: int
) -> None:
    """A second drag the other way around, the same way around, or from the ground; declared in either order."""
    places = {"against": ("n2", "n1"), "along": ("n1", "n2"), "ground": (GROUND, "n2")}
    more = (Part("A", "D1", *places[kind], 1.5),) if kind in places else ()
    for push in (1.5, 2.0, 7.0):
        parts = braked(v=sign, push=push, more=more, d=0.5)[::order]
        rests(run(parts, method), parts, 2.0 if more else 0.5, 1e-5)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("push", [1.0, 1.5, 2.0, 7.0])
def test_clutches_at_rest_hold_up_to_the_sum_of_their_levels(push: float, sign: float, method: str) -> None:
    """2.5 kg at rest are pushed with 0.9 N, then with 1.4 N, where two clutches hold 1 N."""
    for later in (0.9, -0.9, 1.4, -1.4):
        parts = braked(push=push, v=sign, later=later)
        if method == "exact":
            parts = [p._replace(kind="D") if p.kind == "A" else p for p in parts]
        moved = run(parts, method)["M2.v"]
        beyond = max(abs(later) - 1.0, 0.0) * np.sign(later) * sign
        # v' = (beyond - d v |v|) / m with d = 1, or d v of a damper.
        rest, elapsed = CHANGE - 0.1, END - CHANGE
        final = np.sqrt(abs(beyond)) * np.tanh(np.sqrt(abs(beyond)) * elapsed / 2.5) * np.sign(beyond)
        if method == "exact":
            final = beyond * -np.expm1(-elapsed / 2.5)
        assert moved.at(rest) == pytest.approx(0.0, abs=1e-9)
        assert moved.final == pytest.approx(final, rel=1e-5, abs=1e-9)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_lever_a_clutch_and_drags_that_stop_at_once_run_right(sign: int, method: str) -> None:
    """The branches of two drags and three frictions change in one instant."""
    half, start = Fraction(1, 2), (Fraction(-3, 4), Fraction(sign))
    on = (True, True)
    parts = [
        Part("M", "M1", "n1", GROUND, half, (Fraction(1), Fraction(-sign))),
        Part("B", "B1", "n1", GROUND, Fraction(7, 2) * sign, Fraction(-3, 2) * sign),
        Part("M", "M2", "n2", GROUND, Fraction(2), start),
        Part("G", "G1", "n3", "n2", Fraction(1)),
        Part("M", "M3", "n3", GROUND, half, start),
        Part("A", "D1", "n2", "n1", Fraction(10)),
        Part("W", "W1", "n1", "n3", half, on),
        Part("F", "F1", GROUND, "n1", Fraction(3), Fraction(3)),
        Part("W", "W2", GROUND, "n2", half, on),
        Part("A", "D2", "n1", "n3", Fraction(50)),
    ]
    case = line_case(parts, 0.7)
    for options in ({}, {"rtol": 1e-8}):
        answer = attempt(case, 2.0, method=method, **options)
        assert isinstance(answer, Result), answer
        assert judged(case, answer, 1e-5).outcome == "right"
