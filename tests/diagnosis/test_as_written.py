"""The sorted sequence of the equations as written: textbook loops, exact orders, structural index."""

import math
from collections.abc import Callable, Iterator

import pytest

from acausal import (
    Component,
    Eq,
    Expr,
    Input,
    Parameter,
    Statement,
    Variable,
    compile_model,
    connect,
    cos,
    der,
    simulate,
    sin,
    sqrt,
)
from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, IdealClosingSwitch, Resistor
from acausal.components.thermal import HeatCapacitor
from acausal.diagnosis.algebra import without_idle_parts
from acausal.diagnosis.structure import Structure
from acausal.modeling.expressions import Symbol, constant
from tests.diagnosis.models import Pendulum
from tests.diagnosis.reading import assert_solvable_in_order


def structure(model: Component) -> Structure:
    found = compile_model(model).structure(reduce=False)
    assert_solvable_in_order(found)
    return found


class Five(Component):
    """Five unknowns."""

    a, b, c, d, e = Variable(), Variable(), Variable(), Variable(), Variable()


class Chain(Five):
    """Assignments in the wrong order."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.a, self.d - self.c)
        yield Eq(self.b, self.c + self.a - 3)
        yield Eq(self.c, 6 + self.d * self.e)
        yield Eq(self.d, 2)
        yield Eq(self.e, 3)


class Functions(Five):
    """Assignments with functions, the last of an input."""

    u = Input(float)

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.a, self.b**2 + 3)
        yield Eq(self.b, sin(self.c * self.e))
        yield Eq(self.c, sqrt(self.d + 4.5))
        yield Eq(self.d, math.pi / 2)
        yield Eq(self.e, self.last())

    def last(self) -> Expr:
        return self.u


class Loop(Functions):
    """The same with a loop through the last equation."""

    def last(self) -> Expr:
        return self.a**2 + self.u


class LinearLoop(Component):
    """Two equations that must be solved together, after a third."""

    x, y, z = Variable(), Variable(), Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.x, self.y + 16)
        yield Eq(self.y, -self.x - self.z)
        yield Eq(self.z, 5)


def test_assignments_are_sorted() -> None:
    found = structure(Chain())
    assert [b.unknowns for b in found.blocks] == [("d",), ("e",), ("c",), ("a",), ("b",)]
    assert [b.solution[0] for b in found.blocks] == ["2", "3", "6 + d*e", "d - c", "c + a - 3"]
    assert [b.values[0] for b in found.blocks] == [2.0, 3.0, 12.0, -10.0, -1.0]
    assert all(b.is_assignment and b.linear for b in found.blocks)


def test_functions_are_sorted_and_the_written_order_is_kept_where_it_may_be() -> None:
    found = structure(Functions())
    assert [b.unknowns for b in found.blocks] == [("d",), ("c",), ("e",), ("b",), ("a",)]
    assert found.blocks[1].values[0] == pytest.approx(math.sqrt(math.pi / 2 + 4.5), rel=1e-15)
    assert found.blocks[2].values[0] is None  # an input


def test_a_nonlinear_loop_is_one_block_with_one_tear() -> None:
    found = structure(Loop())
    assert [set(b.unknowns) for b in found.blocks] == [{"d"}, {"c"}, {"a", "b", "e"}]
    (loop,) = found.loops
    assert not loop.linear
    assert not loop.solution
    assert len(loop.tearing) == len(loop.residuals) == 1


def test_a_linear_loop_is_solved_symbolically() -> None:
    found = structure(LinearLoop())
    assert [set(b.unknowns) for b in found.blocks] == [{"z"}, {"x", "y"}]
    (loop,) = found.loops
    assert loop.linear
    formula, value = (
        dict(zip(loop.unknowns, loop.solution, strict=True)),
        dict(zip(loop.unknowns, loop.values, strict=True)),
    )
    assert formula["x"] == "(16 - z)/2"
    assert value == {"x": 5.5, "y": -10.5}
    assert "x = (16 - z)/2 = 5.5" in str(found)
    assert eval(formula["y"], {"z": 5.0}) == -10.5
    result = simulate(LinearLoop(), 1.0)
    assert [result["x"].final, result["y"].final] == [5.5, -10.5]


class Divider(Component):
    """Two equations with parameters as factors."""

    r: Parameter = Parameter(default=2.0)
    s: Parameter = Parameter(default=3.0)
    i, v = Variable(), Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.v, self.r * self.i)
        yield Eq(10 - self.v, self.s * self.i)


def test_parameters_stay_in_the_solution() -> None:
    (loop,) = structure(Divider()).loops
    formula = dict(zip(loop.unknowns, loop.solution, strict=True))
    for r, s in ((2.0, 3.0), (0.5, 7.0)):
        assert eval(formula["i"], {"r": r, "s": s}) == pytest.approx(10 / (r + s), rel=1e-15)
        assert eval(formula["v"], {"r": r, "s": s}) == pytest.approx(10 * r / (r + s), rel=1e-15)
    assert dict(zip(loop.unknowns, loop.values, strict=True)) == {"i": 2.0, "v": 4.0}


class Charging(Component):
    """A capacitor charged through a switch."""

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=1.0), Ground()
        self.switch, self.load = IdealClosingSwitch(control=True), Resistor(R=2.0)
        self.capacitor = Capacitor(C=0.5)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.load.p)
        yield connect(self.load.n, self.capacitor.p)
        yield connect(self.source.n, self.capacitor.n, self.ground.p)


def test_states_are_known_and_their_derivatives_are_solved_for() -> None:
    found = structure(Charging())
    assert (found.index, [s.name for s in found.states], found.constraints) == (1, ["capacitor.v"], ())
    assert found.counts.components == 5
    assert (
        found.counts.equations == found.counts.unknowns == len(compile_model(Charging()).residual().equations)
    )
    unknowns = [u for b in found.blocks for u in b.unknowns]
    assert "der(capacitor.v)" in unknowns
    assert "capacitor.v" not in unknowns


def test_a_mode_selects_the_branches() -> None:
    program = compile_model(Charging())
    both = program.structure(reduce=False)
    closed = program.structure(reduce=False, mode={"switch.closed": True})
    assert not all(b.linear for b in both.loops)
    assert closed.mode == {"switch.closed": "true"}
    assert all(b.linear for b in closed.blocks)
    assert "switch.v = switch.Ron*switch.i" in [e for b in closed.blocks for e in b.equations]


def test_the_pendulum_has_index_three_and_its_constraint_is_differentiated_twice() -> None:
    found = structure(Pendulum())
    assert found.index == 3
    assert [(c.text, c.order) for c in found.constraints] == [
        ("x**2 + y**2 = L**2", 0),
        ("d/dt (x**2 + y**2 = L**2)", 1),
    ]
    (loop,) = found.loops
    assert "d^2/dt^2 (x**2 + y**2 = L**2)" in loop.equations
    # Accelerations and the force are determined together, and linearly.
    assert {"der(x, 2)", "der(y, 2)", "F"} <= set(loop.unknowns)
    assert loop.linear


class Touching(Component):
    """Two heat capacitors at one node, one apart, and an integral of an input."""

    u: Input = Input(float)
    q: Variable = Variable()

    def build(self) -> None:
        self.a, self.b, self.apart = HeatCapacitor(C=1.0), HeatCapacitor(C=2.0), HeatCapacitor(C=3.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.a.port, self.b.port)
        yield Eq(der(self.q), self.u)


def test_states_are_counted_and_those_that_no_constraint_involves_are_named() -> None:
    found = structure(Touching())
    # One node, one body apart, one integral.
    assert (found.index, found.freedom) == (2, 3)
    assert [s.name for s in found.states] == ["q", "apart.T"]
    assert set(found.tied) == {"a.T", "b.T"}
    assert "index 2, 3 states" in str(found)
    assert "1 of a.T, b.T, which constraints tie; numbers decide which: reduce=True" in str(found)
    assert len(compile_model(Touching()).structure().states) == 3


def test_positions_and_speeds_of_a_pendulum_are_tied() -> None:
    found = structure(Pendulum())
    assert (found.freedom, found.states) == (2, ())
    assert set(found.tied) == {"x", "y", "vx", "vy"}


class Singular(Component):
    """One equation too many for a, none for c."""

    a, b, c = Variable(), Variable(), Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.a, 3.0)
        yield Eq(2.5 * self.a, 7.0)
        yield Eq(der(self.b), self.a + self.b)


def test_a_singular_system_shows_its_parts() -> None:
    found = compile_model(Singular()).structure(reduce=False)
    assert found.index is None
    assert set(found.surplus) == {"a = 3", "2.5*a = 7"}
    assert found.open == ("c",)
    assert [b.unknowns for b in found.blocks] == [("der(b)",)]
    assert found.freedom is None
    assert "structurally singular" in str(found)
    assert "structurally singular" in repr(found)


class Ladder(Component):
    """A chain of sections."""

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=1.0), Ground()
        self.r, self.c = [Resistor(R=1.0) for _ in range(1000)], [Capacitor(C=1.0) for _ in range(1000)]

    def equations(self) -> Iterator[Statement]:
        left = self.source.p
        for r, c in zip(self.r, self.c, strict=True):
            yield connect(left, r.p)
            yield connect(r.n, c.p)
            left = r.n
        yield connect(self.source.n, self.ground.p, *(c.n for c in self.c))


def test_a_large_model_is_summarised() -> None:
    found = compile_model(Ladder()).structure(reduce=False)
    text = str(found)
    assert len(found.states) == 1000
    assert len(text.splitlines()) < 60
    assert "more blocks" in text
    sizes = [len(b.equations) for b in found.blocks[:20]]
    assert sum(sizes) == len(sizes)


# -- what numbers leave idle -------------------------------------------------------------------------------------------


def test_literal_zeros_and_ones_are_neither_shown_nor_incident() -> None:
    class Idle(Component):
        """A triangle, hidden behind factors of zero and one."""

        x, y, z = Variable(), Variable(), Variable()

        def equations(self) -> Iterator[Statement]:
            yield Eq(1 * self.x + 0 * self.y, 2 * 3 + 0 * self.z)
            yield Eq(sin(self.y) + 0 * self.z + 0, self.x / 12)
            yield Eq(self.z * cos(0 * self.x), self.y**1 / 1)

    found = compile_model(Idle()).structure(reduce=False)
    assert [b.unknowns for b in found.blocks] == [("x",), ("y",), ("z",)]
    assert [b.equations for b in found.blocks] == [("x = 6",), ("sin(y) = x/12",), ("z = y",)]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (lambda x: 2 * 3 * x, "6*x"),
        (lambda x: x / 4 * 1, "x/4"),
        (lambda x: x * (constant(1) / 3), "x*(1/3)"),
        (lambda x: x * sqrt(constant(4.0)), "x*2"),
        (lambda x: x * sqrt(constant(2.0)), "x*sqrt(2)"),
        (lambda x: 0 / (x + 1) + x, "x"),
        (lambda x: x + constant(-8) ** (constant(1) / 3), "x + (-8)**(1/3)"),
    ],
)
def test_literal_numbers_are_put_together_where_that_is_shorter(
    written: Callable[[Expr], Expr], shown: str
) -> None:
    assert str(without_idle_parts(written(Symbol(None, "x", None)))) == shown
