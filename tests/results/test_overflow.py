"""Values beyond the range of doubles: our errors or infinities, never a warning of NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from acausal import (
    AcausalError,
    Component,
    Eq,
    NonFiniteError,
    Statement,
    Structural,
    Variable,
    der,
    exp,
    simulate,
)


class Growing(Component):
    x: Variable = Variable(start=1.0)
    y: Variable = Variable()
    case: Structural[Any] = Structural(object)

    def equations(self) -> Iterator[Statement]:
        rate, seen = self.case(self)
        yield Eq(der(self.x), rate)
        yield Eq(self.y, seen)


READINGS: tuple[Callable[[Any], Any], ...] = (
    lambda r: r["y"].mean(),
    lambda r: r["y"].rms(),
    lambda r: r["y"].max(),
    lambda r: (r["y"] * r["y"]).mean(),
    lambda r: r["y"].at(np.linspace(r.t_start, r.t_end, 7)),
    lambda r: r.table(["x", "y"]),
    lambda r: r.check(5),
)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("method", ["auto", "implicit"])
@pytest.mark.parametrize(
    "case",
    [
        lambda m: (-m.x, m.x**-400),
        lambda m: (2.0 * m.x, exp(exp(3.0 * m.x))),
        lambda m: (700.0 * m.x, m.x),
    ],
)
def test_readings_of_huge_values(case: Any, method: str) -> None:
    try:
        result = simulate(Growing(case=case), 0.95, method=method)
    except AcausalError as error:
        assert error.result is not None
        result = error.result
    for read in READINGS:
        try:
            read(result)
        except NonFiniteError:
            continue
