"""Steps meet the tolerance without waste: on stable smooth problems the error lies between a thirtieth and thirty times of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import acausal as ac

MOST = 30.0


class Problem(NamedTuple):
    """A span, starts, and rates of some states; ``m`` has the functions."""

    span: float
    start: Sequence[float]
    rates: Callable[[Sequence[Any], Any], Sequence[Any]]


PROBLEMS = {
    "decay in turns": Problem(5.0, [1.0], lambda x, m: [-x[0] * m.cos(x[0])]),
    "logistic growth": Problem(10.0, [0.1], lambda x, m: [x[0] * (1.0 - x[0])]),
    "pendulum": Problem(10.0, [1.0, 0.0], lambda x, m: [x[1], -m.sin(x[0])]),
    "van der Pol": Problem(10.0, [2.0, 0.0], lambda x, m: [x[1], (1.0 - x[0] ** 2) * x[1] - x[0]]),
    "predator and prey": Problem(10.0, [1.0, 0.5], lambda x, m: [x[0] * (1.0 - x[1]), x[1] * (x[0] - 1.0)]),
    "rigid body": Problem(
        10.0,
        [1.0, 0.0, 0.9],
        lambda x, m: [-2.0 * x[1] * x[2], 1.25 * x[2] * x[0], -0.5 * x[0] * x[1]],
    ),
    "Kepler": Problem(
        6.0,
        [0.5, 0.0, 0.0, 3.0**0.5],
        lambda x, m: [x[2], x[3], *(-u / (x[0] ** 2 + x[1] ** 2) ** 1.5 for u in x[:2])],
    ),
    "Brusselator": Problem(
        10.0,
        [1.5, 3.0],
        lambda x, m: [1.0 + x[0] ** 2 * x[1] - 4.0 * x[0], 3.0 * x[0] - x[0] ** 2 * x[1]],
    ),
}


def states_of(problem: Problem) -> ac.Component:
    """States with the rates of a problem."""

    class States(ac.Component):
        x: ac.Variable = ac.Variable(shape=(len(problem.start),))

        def equations(self) -> Iterator[ac.Statement]:
            rates = problem.rates([self.x[i] for i in range(len(problem.start))], ac)
            for i, rate in enumerate(rates):
                yield ac.Eq(ac.der(self.x[i]), rate)

    return States()


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("method", ["explicit", "implicit", "auto"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_error_is_about_the_tolerance(name: str, method: str, rtol: float) -> None:
    problem = span, start, rates = PROBLEMS[name]
    t = np.linspace(0.0, span, 501)
    wanted = solve_ivp(
        lambda _, x: rates(list(x), np), (0.0, span), start, method="DOP853", rtol=1e-13, atol=1e-13, t_eval=t
    ).y
    initial = {f"x[{i}]": value for i, value in enumerate(start)}
    result = ac.simulate(states_of(problem), span, method=method, rtol=rtol, initial=initial)
    errors = [np.abs(result[f"x[{i}]"].at(t) - row).max() / np.abs(row).max() for i, row in enumerate(wanted)]
    assert rtol / MOST < max(errors) < rtol * MOST
