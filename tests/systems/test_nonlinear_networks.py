"""Elements that drive each other through equations that bend, against a root of the equations of each combination of branches."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.optimize import fsolve

from acausal import (
    Complementarity,
    Component,
    ConvergenceError,
    Discrete,
    Eq,
    NoConsistentModeError,
    Parameter,
    Program,
    Variable,
    assign,
    compile_model,
    der,
    time,
    when,
)

from .refusals import Statements

COUNT = 3
REFUSED = (103, 111, 148, 158)
"""Seeds of which Newton's method finds a root that does not suit from every guess."""
STARTS = 12
"""Guesses from which roots of each combination are sought."""


class Network(Component):
    """``a = q + M b + c b**2``, of which each pair has one that vanishes; all b do until q changes."""

    q: Discrete = Discrete(start=5.0, shape=(COUNT,))
    later: Parameter = Parameter(shape=(COUNT,))
    M: Parameter = Parameter(shape=(COUNT * COUNT,))
    c: Parameter = Parameter(shape=(COUNT,))
    a: Variable = Variable(shape=(COUNT,))
    b: Variable = Variable(shape=(COUNT,))
    x: Variable = Variable(start=1.0)

    def equations(self) -> Statements:
        yield when(time > 0.5, *[assign(self.q[i], self.later[i]) for i in range(COUNT)])
        yield Eq(der(self.x), self.b[0] - self.x)
        for i in range(COUNT):
            driven = sum((self.M[COUNT * i + j] * self.b[j] for j in range(COUNT)), self.q[i])
            yield Eq(self.a[i], driven + self.c[i] * self.b[i] ** 2)
            yield Complementarity(self.a[i], self.b[i], name=f"pair{i}")


@cache
def program() -> Program:
    return compile_model(Network())


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each pair carries more the more it is driven, and drives others either way."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(COUNT, COUNT))
    np.fill_diagonal(M, 0.3 + np.abs(np.diag(M)))
    return M, rng.uniform(0.0, 0.4, COUNT), 2.0 * rng.normal(size=COUNT)


def roots(M: np.ndarray, c: np.ndarray, q: np.ndarray, carries: tuple[int, ...]) -> list[np.ndarray]:
    """Values of b at which those that carry do so, and all others are open."""
    on, found = np.flatnonzero(carries), []
    for k in range(STARTS):
        b = np.zeros(COUNT)
        b[on] = np.random.default_rng(k).uniform(0.0, 5.0, len(on))
        if len(on):
            missed = lambda y: q[on] + M[np.ix_(on, on)] @ y + c[on] * y**2  # noqa: E731
            b[on], _, solved, _ = fsolve(missed, b[on], full_output=True)
            if solved != 1:
                continue
        a = q + M @ b + c * b**2
        if (b[on] > 0.0).all() and (np.delete(a, on) > 0.0).all():
            found.append(b)
    return found


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("seed", range(100, 160))
def test_one_of_the_roots_that_suit_is_found(seed: int) -> None:
    """Tangents where all are open refuse one in ten: modes are tried on their own tangents then."""
    M, c, q = drawn(seed)
    given = {
        **{f"later[{i}]": q[i] for i in range(COUNT)},
        **{f"c[{i}]": c[i] for i in range(COUNT)},
        **{f"M[{k}]": M.ravel()[k] for k in range(COUNT * COUNT)},
    }
    known = [b for carries in product((0, 1), repeat=COUNT) for b in roots(M, c, q, carries)]
    try:
        result = program().simulate(0.6, parameters=given)
    except NoConsistentModeError as error:
        assert "another root of the nonlinear equations" in str(error)
        assert seed in REFUSED or not known
        return
    found = np.array([result[f"b[{i}]"].final for i in range(COUNT)])
    assert any(np.allclose(found, b, rtol=1e-6, atol=1e-9) for b in known)
    assert result.check().ok


class Rootless(Component):
    """What ``s`` leaves no root of, beside a pair of elements with roots in all modes."""

    s: Discrete = Discrete(start=0.5)
    w: Variable = Variable(start=0.5)
    g: Variable = Variable()
    a: Variable = Variable()
    b: Variable = Variable()
    x: Variable = Variable(start=1.0)

    def equations(self) -> Statements:
        yield when(time > 0.5, assign(self.s, 2.0))
        yield Eq(der(self.x), -self.x)
        yield Eq(self.w**2, 1 - self.s)
        yield Eq(self.g + self.g**3, self.b)
        yield Eq(self.a + self.g**3, 1 + self.s * self.b)
        yield Complementarity(self.a, self.b, name="pair")


def test_what_is_tried_in_vain_leaves_nothing_behind() -> None:
    """The equation that has no root is named, not one of those that were solved for modes beside it."""
    with pytest.raises(ConvergenceError, match=r"Eq\(w\*\*2, 1 - s\)") as caught:
        compile_model(Rootless()).simulate(1.0)
    assert "g**3" not in str(caught.value)
