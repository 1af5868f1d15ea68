"""The residual in the hands of other solvers: integrators of DAEs and direct collocation."""

from collections.abc import Iterator

import casadi as ca
import numpy as np
import pytest

from acausal import Component, Eq, Input, Parameter, Residual, Statement, connect, exp
from acausal.components.electrical import (
    Capacitor,
    Ground,
    Inductor,
    OnePort,
    Resistor,
    SignalVoltage,
    SineVoltage,
)
from tests.oracles.charging import Charging
from tests.oracles.junction_rectifier import JunctionRectifier

RECTIFIER = JunctionRectifier()
GRID = np.linspace(0.0, 0.06, 121)


class JunctionDiode(OnePort):
    Ids: Parameter = Parameter(default=RECTIFIER.Ids, unit="A")
    Vt: Parameter = Parameter(default=RECTIFIER.Vt, unit="V")
    R: Parameter = Parameter(default=RECTIFIER.R, unit="Ohm")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, self.Ids * (exp(self.v / self.Vt) - 1) + self.v / self.R)


class Rectifier(Component):
    def build(self) -> None:
        self.source, self.line = SineVoltage(V=RECTIFIER.V, f=RECTIFIER.f), Resistor(R=RECTIFIER.Rs)
        self.diode, self.ground = JunctionDiode(), Ground()
        self.load, self.capacitor = Resistor(R=RECTIFIER.RL), Capacitor(C=RECTIFIER.C)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.line.p)
        yield connect(self.line.n, self.diode.p)
        yield connect(self.diode.n, self.load.p, self.capacitor.p)
        yield connect(self.source.n, self.load.n, self.capacitor.n, self.ground.p)


@pytest.fixture(scope="module")
def exact() -> np.ndarray:
    return RECTIFIER.capacitor(GRID)


@pytest.fixture(scope="module")
def residual() -> Residual:
    return Residual.of(Rectifier())


def test_integrators_of_casadi(residual: Residual, exact: np.ndarray) -> None:
    form = residual.semi_explicit()
    assert form.x.names == ("capacitor.v",)
    assert len(form.w) == 1
    t, x, w = ca.SX.sym("t"), ca.SX.sym("x", len(form.x)), ca.SX.sym("w", len(form.w))
    arguments = (t, x, w, [], residual.p.start, residual.d.start)
    dae = {"t": t, "x": x, "z": w, "ode": form.f(*arguments), "alg": form.g(*arguments)}
    options = {"reltol": 1e-10, "abstol": 1e-12}
    integrator = ca.integrator("integrator", "idas", dae, 0.0, GRID.tolist(), options)
    found = np.array(integrator(x0=form.x.start, z0=form.w.start)["xf"]).ravel()
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-6 * exact.max())


def test_ida_of_sundials(residual: Residual, exact: np.ndarray) -> None:
    """The implicit equations as they are, all 32 of them, with their Jacobian."""
    ida = pytest.importorskip("sksundae.ida")
    r = residual
    nx, n = len(r.x), len(r.x) + len(r.w)
    t, y, yp, cj = ca.SX.sym("t"), ca.SX.sym("y", n), ca.SX.sym("yp", n), ca.SX.sym("cj")
    F, _ = r.F(t, yp[:nx], y[:nx], y[nx:], [], r.p.start, r.d.start, r.m.start)
    value = ca.Function("value", [t, y, yp], [F])
    slope = ca.Function("slope", [t, y, yp, cj], [ca.densify(ca.jacobian(F, y) + cj * ca.jacobian(F, yp))])

    def resfn(t: float, y: np.ndarray, yp: np.ndarray, res: np.ndarray) -> None:
        res[:] = np.array(value(t, y, yp)).ravel()

    def jacfn(t: float, y: np.ndarray, yp: np.ndarray, res: np.ndarray, cj: float, JJ: np.ndarray) -> None:
        JJ[:, :] = np.array(slope(t, y, yp, cj))

    form = r.semi_explicit()
    start = form.full(0.0, form.x.start, form.w.start, [], r.p.start, r.d.start)
    xdot, x, w = (np.array(a).ravel() for a in start)
    # The slopes of the algebraic unknowns are not known at the start: they must not decide the first step.
    tolerance = np.repeat([1e-10, 1e-5], [nx, n - nx])
    solver = ida.IDA(resfn, jacfn=jacfn, algebraic_idx=list(range(nx, n)), rtol=1e-9, atol=tolerance)
    found = solver.solve(GRID, np.concatenate([x, w]), np.concatenate([xdot, np.zeros(len(w))]))
    np.testing.assert_allclose(found.y[:, 0], exact, rtol=0, atol=1e-6 * exact.max())


CHARGING = Charging()


class Charger(Component):
    u: Input = Input(unit="V")

    def build(self) -> None:
        c = CHARGING
        self.source, self.ground = SignalVoltage(v=self.u), Ground()
        self.resistor, self.inductor = Resistor(R=c.R), Inductor(L=c.L)
        self.filter, self.store = Capacitor(C=c.C1), Capacitor(C=c.C2)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.resistor.p)
        yield connect(self.resistor.n, self.filter.p, self.inductor.p)
        yield connect(self.inductor.n, self.store.p)
        yield connect(self.source.n, self.filter.n, self.store.n, self.ground.p)


def test_direct_collocation() -> None:
    """All variables at all collocation points are unknowns of the optimisation; the equations stay as sparse as they are."""
    r, intervals, degree = Residual.of(Charger()), 24, 5
    h = CHARGING.T / intervals
    tau = ca.collocation_points(degree, "legendre")
    C, D, B = ca.collocation_coeff(tau)
    opti, loss, controls = ca.Opti(), 0, []
    state = opti.variable(len(r.x))
    opti.subject_to(state == r.x.start)
    for _ in range(intervals):
        x, w, u = (opti.variable(n, degree) for n in (len(r.x), len(r.w), 1))
        xdot = ca.horzcat(state, x) @ C / h
        for j in range(degree):
            F, _ = r.F(0.0, xdot[:, j], x[:, j], w[:, j], u[:, j], r.p.start, r.d.start, r.m.start)
            opti.subject_to(F == 0)
        loss += h * (w[r.w.index("resistor.i"), :] * w[r.w.index("resistor.v"), :]) @ B
        controls.append(u)
        end = ca.horzcat(state, x) @ D
        state = opti.variable(len(r.x))
        opti.subject_to(state == end)
    opti.subject_to(state == r.x.values({"filter.v": CHARGING.V, "store.v": CHARGING.V}))
    opti.minimize(loss)
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "tol": 1e-10})
    solution = opti.solve()
    assert solution.value(loss) == pytest.approx(CHARGING.loss, rel=1e-8)
    t = (h * np.arange(intervals)[:, None] + h * np.array(tau)).ravel()
    found = np.concatenate([solution.value(u).ravel() for u in controls])
    np.testing.assert_allclose(found, CHARGING.at(t)[:, 3], rtol=0, atol=1e-5 * CHARGING.V)
