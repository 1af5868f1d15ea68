"""Points of nonlinear modes by kernels: programs, small linear systems, Newton's method, and the stages of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np
import pytest

import acausal as ac
from acausal.compilation.programs import OPERATIONS, program_of
from acausal.components import electrical as el
from acausal.dynamics.stages import new_system
from acausal.kernels import linear_systems, loading, newton
from acausal.kernels.entries import ENTRIES
from acausal.kernels.loading import Bound, Packed
from acausal.kernels.newton import DAMPED, PointEquations, PointRoom
from acausal.kernels.programs import Arithmetic, execute
from acausal.simulation.nonlinear.point_kernels import PointKernels, PointSize
from acausal.simulation.nonlinear.system import NonlinearSystem

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 3.0, 1e-300, 710.0, -710.0, 1e10, np.inf, -np.inf, np.nan)


# -- programs ---------------------------------------------------------------------------------------------------------------


def evaluated(program: Arithmetic, *given: float) -> np.ndarray:
    program.inputs[:] = given
    with np.errstate(all="ignore"):
        execute(program)
    return program.outputs.copy()


@pytest.mark.parametrize("op", sorted(OPERATIONS))
def test_operations_are_those_of_casadi(op: int) -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    unary = op in _unary()
    f = ca.Function("f", [x, y], [ca.SX.unary(op, x) if unary else ca.SX.binary(op, x, y)])
    program = program_of(f)
    assert program is not None
    rng = np.random.default_rng(op)
    pairs = [(a, b) for a in SPECIAL for b in SPECIAL] + [tuple(p) for p in rng.normal(size=(200, 2)) * 3.0]
    for a, b in pairs:
        (found,), expected = evaluated(program, a, b), float(f(a, b))
        if np.isnan(expected) and op in (ca.OP_FMIN, ca.OP_FMAX):
            continue
        assert found == pytest.approx(expected, rel=4e-16, abs=0.0, nan_ok=True), (op, a, b)


def _unary() -> set[int]:
    names = (
        "ASSIGN", "NEG", "SQ", "TWICE", "INV", "NOT", "FLOOR", "CEIL", "FABS", "SIGN", "SQRT", "EXP", "LOG", "SIN", "COS", "TAN",
        "ASIN", "ACOS", "ATAN", "SINH", "COSH", "TANH",
    )  # fmt: skip
    return {getattr(ca, f"OP_{name}") for name in names}


# -- linear systems ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_small_systems_are_solved_whatever_the_units_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    plain, x = rng.normal(size=(n, n)), rng.normal(size=n)
    rows, columns = 10.0 ** rng.uniform(-12.0, 12.0, (2, n))
    system = new_system(n)
    system.matrix[:] = rows[:, None] * plain / columns
    system.scale[:] = columns
    right = rows * (plain @ x)
    assert linear_systems.factorise(system)
    assert linear_systems.substitute(system, right)
    assert right / columns == pytest.approx(x, rel=1e-14 * np.linalg.cond(plain))


def test_singular_and_infinite_systems_are_told() -> None:
    for matrix in (
        [[1.0, 2.0], [2.0, 4.0]],
        [[0.0, 0.0], [0.0, 1.0]],
        [[np.nan, 1.0], [1.0, 1.0]],
        [[np.inf]],
    ):
        system = new_system(len(matrix))
        system.matrix[:] = matrix
        assert not linear_systems.factorise(system)


# -- Newton's method --------------------------------------------------------------------------------------------------------


def kernels_of(rows: Callable[[Any], Any], n: int) -> PointKernels:
    """Kernels that solve ``rows(x) = 0``."""
    x, nothing = ca.SX.sym("x", n), ca.SX(0, 1)
    value = ca.vertcat(*rows(x))
    slope = ca.densify(ca.jacobian(value, x))
    size = 4.0 * 2.0**-52 * (ca.fabs(value) + ca.mtimes(ca.fabs(slope), ca.fabs(x))) + 1e-300
    programs = [
        program_of(ca.Function("f", [x, nothing, nothing], [value, *parts]))
        for parts in ([slope], [ca.densify(size)], [slope, ca.SX.zeros(n)])
    ]
    known = [program for program in programs if program is not None]
    assert len(known) == len(programs)
    return PointKernels(known, PointSize(0, n, 0), np.zeros(0, np.int64), np.ones(n), np.zeros((0, n)))


def solved(kernels: PointKernels, *begin: float, damped: bool = True) -> np.ndarray | None:
    none = np.zeros(0)
    found = kernels(none, np.array(begin), none, none, lambda _: None, damped)
    return None if found is None else found[0]


@pytest.mark.parametrize("begin", [1.0, 0.6, 3.0, 5.0, -5.0])
def test_exponentials_are_descended(begin: float) -> None:
    kernels = kernels_of(lambda x: [ca.exp(x / 0.025) - 1.0 + 0.1 * (x - 0.5)], 1)
    found = solved(kernels, begin)
    assert found is not None
    x = float(found[0])
    assert np.expm1(x / 0.025) + 0.1 * (x - 0.5) == pytest.approx(0.0, abs=1e-15)


def test_full_steps_do_not_leave_the_neighbourhood_of_a_guess() -> None:
    kernels = kernels_of(lambda x: [ca.atan(x)], 1)
    assert solved(kernels, 3.0, damped=False) is None
    assert solved(kernels, 3.0) == pytest.approx([0.0], abs=1e-15)
    assert solved(kernels, 0.1, damped=False) == pytest.approx([0.0], abs=1e-15)


def test_what_has_no_solution_is_not_found() -> None:
    for rows in (lambda x: [x * x + 1.0], lambda x: [ca.log(x)], lambda x: [x - x + 1.0]):
        assert solved(kernels_of(rows, 1), -2.0) is None


def test_several_unknowns_of_different_size() -> None:
    kernels = kernels_of(lambda x: [1e6 * x[0] + x[1] ** 2 - 4.0, x[0] * 1e6 - x[1] + 2.0], 2)
    assert solved(kernels, 0.0, 1.0) == pytest.approx([0.0, 2.0], rel=1e-14, abs=1e-20)


def test_changes_are_those_along_which_the_rows_hold() -> None:
    """x + y^2 z = 4 t and z = 2 y at y = 1: with x and time given, y and z follow."""
    v, t, nothing = ca.SX.sym("v", 3), ca.SX.sym("t"), ca.SX(0, 1)
    value = ca.vertcat(v[0] + v[1] ** 2 * v[2] - 4.0 * t, v[2] - 2.0 * v[1])
    slope, moved = ca.densify(ca.jacobian(value, v)), ca.densify(ca.jacobian(value, t))
    programs = [
        program_of(ca.Function("f", [v, t, nothing], [value, *parts]))
        for parts in ([slope], [ca.fabs(value)], [slope, moved])
    ]
    known = [program for program in programs if program is not None]
    kernels = PointKernels(
        known, PointSize(1, 2, 1), np.zeros(0, np.int64), np.ones(2), np.zeros((1, 4))
    )  # fmt: skip
    y, xi, none = np.array([2.0, 1.0, 2.0]), np.array([1.0]), np.zeros(0)
    found = kernels.moved(y, xi, none, np.array([[1.0, 0.0]]), True)
    # dx + 2 y z dy + y^2 dz = 4 dt with dz = 2 dy: dy = (4 dt - dx) / 6.
    assert found == pytest.approx(np.array([[1.0, 0.0], [-1 / 6, 4 / 6], [-2 / 6, 8 / 6]]))
    assert kernels.moved(np.array([2.0, np.nan, 2.0]), xi, none, np.array([[1.0, 0.0]]), True) is None
    assert kernels.moved(y, xi, none, np.zeros((1, 3)), True) is None


def test_compiled_and_interpreted_iterations_have_the_same_bits() -> None:
    rng = np.random.default_rng(5)
    kernels = kernels_of(lambda x: [ca.exp(x[0]) + ca.sin(x[1]) - 1.2, x[0] * x[1] - ca.tanh(x[1]) + 0.1], 2)
    equations: PointEquations = kernels._packed[0].record  # type: ignore[assignment]
    room: PointRoom = kernels._packed[1].record  # type: ignore[assignment]
    compiled = Bound("find_point", Packed(equations), Packed(room))
    for begin in rng.normal(size=(50, 2)):
        found = []
        for run in (compiled.run, lambda: newton.find_point(equations, room)):
            equations.rows.inputs[:], room.counts[:] = begin, 0
            room.counts[DAMPED] = 1
            with np.errstate(all="ignore"):
                found.append((run(), equations.rows.inputs.tolist(), room.counts.tolist()))
        assert found[0] == found[1]


# -- runs -------------------------------------------------------------------------------------------------------------------


class Clipper(ac.Component):
    """A sine behind a resistor at two exponential diodes and a capacitor, with a switch that opens."""

    def build(self) -> None:
        self.source, self.ground = el.SineVoltage(V=5.0, f=1e3), el.Ground()
        self.resistor, self.capacitor = el.Resistor(R=1e3), el.Capacitor(C=1e-8)
        self.up, self.down, self.load = el.Diode(), el.Diode(), el.Resistor(R=1e4)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.resistor.p)
        yield ac.connect(self.resistor.n, self.up.p, self.down.n, self.capacitor.p, self.load.p)
        yield ac.connect(self.source.n, self.up.n, self.down.p, self.capacitor.n, self.load.n, self.ground.p)


class Pendulum(ac.Component):
    """A point on a circle, whose crossings of the lowest place are counted."""

    x: ac.Variable = ac.Variable(start=1.0)
    y: ac.Variable = ac.Variable(start=0.0)
    vx: ac.Variable = ac.Variable()
    vy: ac.Variable = ac.Variable()
    F: ac.Variable = ac.Variable()
    hits: ac.Discrete = ac.Discrete(int, start=0)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(ac.der(self.x), self.vx)
        yield ac.Eq(ac.der(self.y), self.vy)
        yield ac.Eq(ac.der(self.vx), -self.F * self.x)
        yield ac.Eq(ac.der(self.vy), -self.F * self.y - 9.81)
        yield ac.Eq(self.x**2 + self.y**2, 1.0)
        yield ac.when(self.x > 0.0, ac.assign(self.hits, ac.pre(self.hits) + 1))


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["explicit", "implicit", "auto"])
@pytest.mark.parametrize(("model", "end", "name"), [(Clipper, 1e-3, "load.v"), (Pendulum, 2.0, "y")])
def test_runs_without_kernels_come_to_the_same(
    method: str, model: Any, end: float, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    times, tight = np.linspace(0.0, end, 200), {"method": method, "rtol": 1e-8}
    found = ac.simulate(model(), end, **tight)
    monkeypatch.setattr(NonlinearSystem, "kernels", lambda *_: None)
    expected = ac.simulate(model(), end, **tight)
    size = np.abs(expected[name].at(times)).max()
    assert found[name].at(times) == pytest.approx(expected[name].at(times), abs=1e-9 * size)
    assert [e.t for e in found.events] == pytest.approx([e.t for e in expected.events], rel=1e-10)
    assert found.stats.steps == expected.stats.steps
    assert found.stats.evaluations == expected.stats.evaluations


def test_kernels_are_in_use_where_they_are_compiled() -> None:
    if loading.compiled_function("find_point") is None:
        pytest.skip("kernels are interpreted")
    made = []
    right = PointKernels.__call__

    def counted(self: PointKernels, *arguments: Any) -> Any:
        made.append(1)
        return right(self, *arguments)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(PointKernels, "__call__", counted)
        ac.simulate(Clipper(), 1e-4)
    assert made and set(ENTRIES) >= {"find_point", "follow_stages"}


def test_as_many_rows_are_solved_as_there_are_unknowns() -> None:
    """Before states are chosen constraints have no coordinates that are solved from them."""
    if loading.compiled_function("find_point") is None:
        pytest.skip("kernels are interpreted")
    asked = []
    right = NonlinearSystem.kernels

    def noted(self: NonlinearSystem, dependent: np.ndarray) -> Any:
        asked.append((self, right(self, dependent), len(dependent)))
        return asked[-1][1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(NonlinearSystem, "kernels", noted)
        ac.simulate(Pendulum(), 0.1)
    system = asked[0][0]
    assert system.constraints == 2
    assert right(system, np.zeros(0, np.int64)) is None
    assert all((made is not None) == (count == 2) for _, made, count in asked)
