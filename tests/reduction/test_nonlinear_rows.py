"""Rows that are not affine: their derivatives along a motion, the affine models that touch them, their structure."""

from collections.abc import Iterator

import mpmath
import numpy as np
import pytest

from acausal import (
    Component,
    Eq,
    Parameter,
    Statement,
    Variable,
    compile_model,
    cos,
    der,
    exp,
    sin,
    time,
)
from acausal.compilation.nonlinear_rows import NonlinearFunctions
from acausal.reduction.nonlinear_rows import NonlinearRows
from acausal.simulation.continuation import begin

G = 9.81


class Driven(Component):
    """One nonlinear row over two variables, a derivative, a parameter and a function of time."""

    k: Parameter = Parameter(default=0.7)
    w: Parameter = Parameter(default=3.0, unit="1/s")
    x: Variable = Variable(start=1.0)
    u: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x) * cos(self.u), exp(self.k * self.x) - self.u * sin(self.w * time))
        yield Eq(self.u + self.x, 2.0)


def rho(slope: mpmath.mpf, u: mpmath.mpf, x: mpmath.mpf, source: mpmath.mpf) -> mpmath.mpf:
    return slope * mpmath.cos(u) - (mpmath.exp(mpmath.mpf("0.7") * x) - u * source)


def test_levels_are_total_derivatives() -> None:
    model = compile_model(Driven()).reduced
    nonlinear_rows = NonlinearRows(model)
    functions = NonlinearFunctions(nonlinear_rows)
    order = {"x'": 0.3, "x": -0.4, "u": 0.9, "source": 0.2}
    names = []
    (rows,) = model.nonlinear
    for k, derivative in rows.form.keys:
        names.append(model.flat.variable(k) + "'" * derivative)
    names += ["source"] * len(rows.form.knowns)
    jets = [np.array([f * order[n] for n in names]) for f in (1.0, -2.0, 5.0)]
    path = [[mpmath.mpf(float(j[names.index(n)])) for j in jets] for n in ("x'", "u", "x", "source")]

    def along(t: mpmath.mpf) -> mpmath.mpf:
        return rho(*(a + b * t + c * t * t / 2 for a, b, c in path))

    sign = float(np.sign(functions(0, jets[:1], np.array([0.7]))[0][0] / along(mpmath.mpf(0))))
    with mpmath.workdps(40):
        for level in range(3):
            expected = sign * float(mpmath.diff(along, 0, level))
            assert functions(level, jets[: level + 1], np.array([0.7]))[0][0] == pytest.approx(
                expected, rel=1e-12
            )


class Pendulum(Component):
    """Mass 1 kg on a massless rod of 1 m, in Cartesian coordinates."""

    x: Variable = Variable(start=0.6)
    y: Variable = Variable(start=-0.8)
    vx: Variable = Variable(start=0.8)
    vy: Variable = Variable(start=0.6)
    pull: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), -self.pull * self.x)
        yield Eq(der(self.vy), -self.pull * self.y - G)
        yield Eq(self.x**2 + self.y**2, 1.0)


def test_a_linearised_model_knows_hidden_constraints() -> None:
    """The rod pulls with v^2 - g y, which two differentiations of its constraint give."""
    program = compile_model(Pendulum())
    run = program.prepare(1.0)
    begin(run)
    data = run.data
    assert data.index == 3
    assert len(data.states) == 2
    z = dict(zip(run.core.model.names, data.T @ run.y, strict=True))
    slopes = dict(zip(run.core.model.names, data.T @ (data.Ay @ run.y), strict=True))
    assert z["x"] ** 2 + z["y"] ** 2 == pytest.approx(1.0, abs=1e-14)
    assert z["x"] * z["vx"] + z["y"] * z["vy"] == pytest.approx(0.0, abs=1e-14)
    pull = z["vx"] ** 2 + z["vy"] ** 2 - G * z["y"]
    assert z["pull"] == pytest.approx(pull, rel=1e-12)
    assert slopes["vx"] == pytest.approx(-pull * z["x"], rel=1e-12)


def test_differentiations_of_a_pendulum() -> None:
    run = compile_model(Pendulum()).prepare(1.0)
    begin(run)
    system = run.tangents.mode(run.core, run.state.mode, run.state.z, run.state.slopes, run.xi, run.present)
    assert sorted(system.orders.rows.tolist()) == [0, 0, 2]
    assert system.constraints == 2
    assert system.nx == 4
