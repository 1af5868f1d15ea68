"""Formulas of structures against what runs compute."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from acausal import Component, Start, compile_model, simulate
from acausal.diagnosis.structure import Structure
from acausal.flattening.flat_model import parameter_vector
from tests.diagnosis.models import Buck, Parallel, Pendulum, Series, Shaft, SliderCrank
from tests.diagnosis.reading import NAME

FUNCTIONS = {"sin": math.sin, "cos": math.cos, "tan": math.tan}


def parameters(model: Component) -> dict[str, float]:
    """Values of all parameters by path."""
    flat = compile_model(model).flat
    return {flat.parameter(k): float(p) for k, p in enumerate(parameter_vector(flat, {}))}


def evaluated(found: Structure, known: Mapping[str, float]) -> dict[str, float]:
    """Values by the printed formulas, one after the other."""
    values = dict(known)

    def number(match: Any) -> str:
        return match[0] if match[0] in FUNCTIONS else repr(values[match[0]])

    for block in found.blocks:
        made = [eval(NAME.sub(number, text), dict(FUNCTIONS)) for text in block.solution]
        values.update(zip(block.unknowns, made, strict=False))
    return values


def test_the_printed_formulas_of_a_ring_give_one_after_the_other_what_a_run_computes() -> None:
    found = compile_model(Series()).structure()
    values = evaluated(found, {"c.v": 1.5, "l.i": 0.3, **parameters(Series())})
    result = simulate(Series(), 1e-3)
    for name in ("r.v", "l.v", "der(l.i)", "der(c.v)"):
        assert values[name] == pytest.approx(float(result[name].at(0.0)), rel=1e-14)


POINT = Pendulum(x=Start(0.6, fixed=True), y=Start(-0.8, fixed=True))


@pytest.mark.parametrize("model", [Series(), Parallel(fed=False), Shaft(), Buck(), POINT, SliderCrank()])
def test_each_formula_agrees_with_a_run(model: Component) -> None:
    """Not one after the other: every formula is fed with what the run says about its arguments."""
    program = compile_model(model)
    found, result, given = program.structure(), program.simulate(1e-6), parameters(model)

    def number(match: Any) -> str:
        name = match[0]
        if name in FUNCTIONS:
            return name
        return f"({given[name] if name in given else float(result[name].at(0.0))!r})"

    pairs = [p for b in found.blocks for p in zip(b.unknowns, b.solution, strict=False)]
    assert len(pairs) >= 3
    for unknown, text in pairs:
        expected = float(result[unknown].at(0.0))
        value = eval(NAME.sub(number, text), dict(FUNCTIONS))
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-9), unknown
