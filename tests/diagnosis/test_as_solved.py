"""Structures as solved: known indices, states and constraints; the printed formulas give what a run computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import casadi as ca
import numpy as np
import pytest

import acausal.api.structure as structure_stage
from acausal import (
    Circuit,
    Component,
    Eq,
    Input,
    Parameter,
    Statement,
    Variable,
    compile_model,
    connect,
    der,
    simulate,
    sin,
    tanh,
)
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    Resistor,
)
from acausal.components.planar import Body, Prismatic, Revolute, World
from acausal.diagnosis.structure import Structure
from acausal.errors import RequirementError, UnknownPathError
from acausal.flattening.flat_model import parameter_vector, start_values
from acausal.simulation.starts.stated import Starts
from tests.diagnosis.models import Buck, Parallel, Pendulum, Series, Shaft
from tests.diagnosis.reading import assert_solvable_in_order


def structure(model: Component, **options: Any) -> Structure:
    found = compile_model(model).structure(**options)
    assert_solvable_in_order(found)
    return found


def names(found: Structure) -> list[str]:
    return [s.name for s in found.states]


# -- circuits --------------------------------------------------------------------------------------------------------


def test_a_ring_is_a_chain_of_assignments_with_two_states() -> None:
    found = structure(Series())
    assert (found.index, found.constraints) == (1, ())
    assert sorted(names(found)) == ["c.v", "l.i"]
    assert [(s.start, s.unit) for s in sorted(found.states, key=lambda s: s.name)] == [(1.5, "V"), (0.3, "A")]
    assert all(b.is_assignment for b in found.blocks)
    assert found.counts.unknowns == found.counts.kept + found.counts.aliases


@pytest.mark.parametrize("reduce", [True, False])
def test_states_start_where_the_run_starts(reduce: bool) -> None:
    found = compile_model(Series()).structure(reduce, initial={"c.v": 2.0})
    starts = {s.name: (s.start, s.fixed) for s in found.states}
    declared = {s.name: (s.start, s.fixed) for s in compile_model(Series()).structure(reduce).states}
    assert starts == {**declared, "c.v": (2.0, True)}


def test_states_of_a_large_model_start_where_the_run_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure_stage, "MOST_ANALYSED", 1)
    found = compile_model(Series()).structure(initial={"c.v": 2.0})
    assert {s.name: (s.start, s.fixed) for s in found.states}["c.v"] == (2.0, True)


def test_a_zero_resistance_is_a_formula_without_the_resistance() -> None:
    found = structure(Series(), parameters={"R": 0.0})
    formula = {b.unknowns[0]: b.solution[0] for b in found.blocks}
    assert formula["r.v"] == "0"


def test_two_capacitors_beside_a_source_have_no_states() -> None:
    found = structure(Parallel())
    assert (found.index, names(found)) == (2, [])
    assert [c.order for c in found.constraints] == [0, 0]
    assert {c.variable for c in found.constraints} == {"a.v", "b.v"}
    assert "a.v = source.V" in {text for c in found.constraints for text in c.equations}
    value = {u: v for b in found.blocks for u, v in zip(b.unknowns, b.values, strict=True)}
    assert (value["a.v"], value["b.v"], value["a.i"], value["b.i"]) == (3.0, 3.0, 0.0, 0.0)


def test_two_capacitors_alone_share_one_state_and_a_linear_loop() -> None:
    found = structure(Parallel(fed=False))
    assert (found.index, len(found.states), len(found.constraints)) == (2, 1, 1)
    (constraint,) = found.constraints
    assert constraint.equations == ("a.v = b.v",) or constraint.equations == ("b.v = a.v",)
    assert {constraint.variable, *names(found)} == {"a.v", "b.v"}
    assert constraint.variable in found.states[0].why


def test_a_converter_has_two_states_while_its_switch_is_closed() -> None:
    found = structure(Buck())
    assert found.mode == {"switch.closed": "true", "diode.on": "off"}
    assert (found.index, sorted(names(found)), found.constraints) == (1, ["c.v", "l.i"], ())


def test_a_converter_with_everything_open_has_one_state_and_a_constraint() -> None:
    found = structure(Buck(), mode={"switch.closed": False, "diode.on": "off"})
    assert (found.index, names(found)) == (2, ["c.v"])
    (constraint,) = found.constraints
    assert (constraint.order, constraint.variable) == (0, "l.i")
    assert any("switch.i" in text or "diode.i" in text or "l.i" in text for text in constraint.equations)
    formula = {b.unknowns[0]: b.solution[0] for b in found.blocks}
    assert formula["der(l.i)"] == "0"


def test_a_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownPathError, match=r"no statement with branches is named `switch.open`"):
        compile_model(Buck()).structure(mode={"switch.open": True})


class Bridge(Component):
    """Five laws i = g v^3 in a bridge, fed through a resistance of one: two inner nodes and an outer one."""

    v: Any = Variable(shape=(5,))
    i: Any = Variable(shape=(5,))
    e, a, b, total = Variable(start=1.0), Variable(start=0.5), Variable(start=0.4), Variable()

    def equations(self) -> Iterator[Statement]:
        potentials = (self.e - self.a, self.e - self.b, self.a, self.b, self.a - self.b)
        for k, difference in enumerate(potentials):
            yield Eq(self.v[k], difference)
            yield Eq(self.i[k], (k + 1.0) * self.v[k] ** 3)
        yield Eq(self.i[0], self.i[2] + self.i[4])
        yield Eq(self.i[1] + self.i[4], self.i[3])
        yield Eq(self.total, self.i[0] + self.i[1])
        yield Eq(self.e, 2.0 - self.total)


def test_a_loop_of_nonlinear_laws_is_torn() -> None:
    """Three node potentials decide everything, so three guesses suffice for the loop of all laws."""
    found = structure(Bridge())
    (loop,) = found.loops
    assert not loop.linear
    assert (found.states, found.constraints) == ((), ())
    assert {f"i[{k}]" for k in range(5)} <= set(loop.unknowns)
    assert len(loop.tearing) == len(loop.residuals) <= 5
    assert set(loop.residuals) <= set(loop.equations)
    assert set(loop.tearing) <= set(loop.unknowns)
    assert len(found.iteration) == 5  # Newton's method has an unknown for every law that is not affine
    assert set(found.iteration) <= set(loop.unknowns)


# -- mechanics -------------------------------------------------------------------------------------------------------


def test_three_coupled_inertias_have_one_degree_of_freedom() -> None:
    found = structure(Shaft())
    assert found.index == 3
    assert len(found.states) == 2
    (phi,) = {n.split(".")[0] for n in names(found)}
    assert set(names(found)) == {f"{phi}.phi", f"{phi}.w"}
    assert sorted(c.order for c in found.constraints) == [0, 0, 1, 1]
    angles = [c for c in found.constraints if c.order == 0]
    assert {t for c in angles for t in c.equations} == {"j[0].phi = j[1].phi", "j[1].phi = j[2].phi"}
    assert all(c.hidden and "d/dt" in c.equations[0] for c in found.constraints if c.order)
    loop = max(found.loops, key=lambda b: len(b.unknowns))
    assert loop.linear
    assert {f"der(j[{k}].w)" for k in range(3)} <= set(loop.unknowns)


@pytest.mark.parametrize(
    ("x", "y", "states"), [(1.0, 0.0, {"y", "vy"}), (0.0, -1.0, {"x", "vx"}), (0.6, -0.8, {"x", "vx"})]
)
def test_the_coordinate_along_the_circle_is_the_state(x: float, y: float, states: set[str]) -> None:
    """Where the constraint has the larger slope in x, x is solved from it."""
    found = structure(Pendulum(), initial={"x": x, "y": y})
    assert found.index == 3
    assert set(names(found)) == states
    assert [(c.text, c.order) for c in found.constraints] == [
        ("x**2 + y**2 = L**2", 0),
        ("d/dt (x**2 + y**2 = L**2)", 1),
    ]
    solved = {"x", "vx", "y", "vy"} - states
    assert solved <= {u for b in found.blocks for u in b.unknowns}
    (loop,) = found.loops
    assert loop.linear
    assert set(loop.unknowns) == {"der(vx)", "der(vy)", "F"}
    formula = dict(zip(loop.unknowns, loop.solution, strict=True))
    at = {"x": 0.3, "y": -0.7, "vx": 1.1, "vy": 0.4, "g": 9.81}
    # The constraint, differentiated twice: vx^2 + vy^2 = F (x^2 + y^2) + g y.
    force = (1.1**2 + 0.4**2 + 9.81 * 0.7) / (0.3**2 + 0.7**2)
    assert eval(formula["F"], dict(at)) == pytest.approx(force, rel=1e-14)
    assert eval(formula["der(vx)"], dict(at)) == pytest.approx(-force * 0.3, rel=1e-14)


# -- aliases ---------------------------------------------------------------------------------------------------------


class Signs(Component):
    """Two names for one variable and its negative, each with something declared."""

    a = Variable(unit="m", start=2.0, min=0.0)
    b = Variable(unit="m", max=-1.0)
    c = Variable(unit="m", max=5.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.b, -self.a)
        yield Eq(self.c, self.a)
        yield Eq(der(self.a), 1.0)


def test_aliases_keep_starts_and_bounds_with_their_signs() -> None:
    (alias,) = structure(Signs()).aliases
    assert alias.representative == "a"
    assert {(m.name, m.sign) for m in alias.members} == {("b", -1), ("c", 1)}
    assert (alias.start, alias.min, alias.max, alias.conflicts) == (2.0, 1.0, 5.0, ())
    assert "a = -b, c" in compile_model(Signs()).structure().to_text(full=True)
    with pytest.raises(RequirementError, match="`c` must be at most 5"):
        simulate(Signs(), 4.0)


class Known(Component):
    """An algebraic variable with two names."""

    a, b = Variable(start=1.0, max=3.0), Variable(start=-2.0, min=4.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.a, self.b)
        yield Eq(self.b**3, 8.0)


def test_a_start_is_taken_from_the_alias_that_has_one() -> None:
    """The law b^3 = b + 6 has one root, 2; the iteration begins at the start of the other name."""

    class Named(Component):
        a, b = Variable(), Variable(start=1.9)

        def equations(self) -> Iterator[Statement]:
            yield Eq(self.a, self.b)
            yield Eq(self.a**3, self.a + 6.0)

    (alias,) = structure(Named()).aliases
    assert alias.start == 1.9
    assert simulate(Named(), 1.0)["a"].final == pytest.approx(2.0, rel=1e-14)


def test_contradicting_starts_and_bounds_are_reported() -> None:
    import numpy as np

    from acausal.diagnosis.aliases import Aliases, merge_aliases
    from acausal.flattening.flatten import flatten

    flat = flatten(Known())
    classes = merge_aliases(flat, np.zeros(2, bool), [])
    starts = Starts(*start_values(flat, parameter_vector(flat, {}))[:3])
    conflicts = Aliases(flat, classes, starts).conflicts
    assert conflicts[0] == "declared starts of aliases differ: `a` = 1, `b` = -2"
    assert "no value of `a` lies within the bounds of its aliases" in conflicts


# -- inputs, and models too large for numbers --------------------------------------------------------------------------


class Led(Component):
    """A position that follows an input, whose speed is asked for."""

    u = Input(float, unit="m")
    x, v = Variable(unit="m"), Variable(unit="m/s")

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.v)
        yield Eq(self.x, self.u)


def test_a_variable_that_follows_an_input_is_no_state() -> None:
    found = structure(Led())
    assert (found.index, found.states) == (2, ())
    (constraint,) = found.constraints
    assert (constraint.text, constraint.equations, constraint.variable) == ("x = u", ("x = u",), "x")
    formula = {b.unknowns[0]: b.solution[0] for b in found.blocks}
    assert formula == {"x": "u", "der(x)": "der(u)", "v": "der(x)"}


class Chain(Component):
    """A ladder of many sections."""

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=1.0), Ground()
        self.r = [Resistor(R=1.0) for _ in range(600)]
        self.c = [Capacitor(C=1.0) for _ in range(600)]

    def equations(self) -> Iterator[Statement]:
        left = self.source.p
        for r, c in zip(self.r, self.c, strict=True):
            yield connect(left, r.p)
            yield connect(r.n, c.p)
            left = r.n
        yield connect(self.source.n, self.ground.p, *(c.n for c in self.c))


def test_a_large_model_is_sorted_without_numbers() -> None:
    found = structure(Chain())
    assert (found.index, len(found.states)) == (1, 600)
    assert any("too large" in note for note in found.notes)
    assert found.counts.unknowns == found.counts.kept + found.counts.aliases
    assert len(str(found).splitlines()) < 60


# -- numbers of states, counted another way ----------------------------------------------------------------------------


def freedom(model: Component, mode: Mapping[str, Any]) -> int:
    """Degree of ``det(s E - A)`` of the equations as written: how fast it grows with s."""
    r = compile_model(model).residual()
    w, x, m = ca.SX.sym("w", len(r.w)), ca.SX.sym("x", len(r.x)), r.mode(mode)
    slopes = ca.SX.sym("slopes", len(r.x))
    value = r.F(0.0, slopes, x, w, r.u.start, r.p.start, r.d.start, m)[0]
    start = ca.vertcat(np.zeros(len(r.x)), r.x.start, r.w.start)
    J = ca.Function("J", [ca.vertcat(slopes, x, w)], [ca.jacobian(value, ca.vertcat(slopes, x, w))])(
        start
    ).full()
    n = len(r.x)
    size = [
        np.linalg.slogdet(np.hstack([s * J[:, :n] + J[:, n : 2 * n], J[:, 2 * n :]]))[1] for s in (1e7, 1e8)
    ]
    return round((size[1] - size[0]) / np.log(10.0))


CLOSED, OPEN = {"switch.closed": True, "diode.on": "off"}, {"switch.closed": False, "diode.on": "off"}


@pytest.mark.parametrize(
    ("model", "mode", "expected"),
    [
        (Series(), {}, 2),
        (Parallel(), {}, 0),
        (Parallel(fed=False), {}, 1),
        (Shaft(), {}, 2),
        (Buck(), CLOSED, 2),
        (Buck(), OPEN, 1),
    ],
)
def test_there_are_as_many_states_as_the_determinant_has_zeros(
    model: Component, mode: dict[str, Any], expected: int
) -> None:
    assert freedom(model, mode) == expected
    assert len(compile_model(model).structure(mode=mode).states) == expected


# -- what numbers leave idle -------------------------------------------------------------------------------------------


def guided(n: tuple[float, float]) -> Structure:
    """A body on a slide of direction ``n``, on a frame that turns freely."""
    model = Circuit()
    world, hinge = model.add("world", World()), model.add("hinge", Revolute())
    slide, body = model.add("slide", Prismatic(n=n)), model.add("body", Body(m=1.0, I=0.1))
    model.connect(world.frame_b, hinge.frame_a)
    model.connect(hinge.frame_b, slide.frame_a)
    model.connect(slide.frame_b, body.frame_a)
    return structure(model)


def test_what_is_zero_by_parameters_is_neither_shown_nor_incident_in_nonlinear_equations() -> None:
    """Along the first axis of a frame the direction is (cos phi, sin phi); along (3, 4) it is turned by (0.6, 0.8)."""
    straight, oblique = (
        next(c.text for c in guided(n).constraints if c.text.startswith("slide.s"))
        for n in ((2.0, 0.0), (3.0, 4.0))
    )
    c, s, x, y = "cos(body.frame_a.phi)", "sin(body.frame_a.phi)", "body.frame_a.x", "body.frame_a.y"
    assert straight == f"slide.s = {c}*{x} + {s}*{y}"
    assert oblique == f"slide.s = ({c}*0.6 - {s}*0.8)*{x} + ({s}*0.6 + {c}*0.8)*{y}"


def test_a_coupling_that_is_zero_by_parameters_couples_nothing() -> None:
    class Coupled(Component):
        """Two equations that form a loop unless k is zero."""

        k: Parameter = Parameter()
        x, y = Variable(), Variable()

        def equations(self) -> Iterator[Statement]:
            yield Eq(self.x + tanh(self.x), 1 + self.k * sin(self.y))
            yield Eq(self.y + tanh(self.y), self.x)

    assert [b.unknowns for b in structure(Coupled(k=0.0)).blocks] == [("x",), ("y",)]
    assert [len(b.unknowns) for b in structure(Coupled(k=0.5)).blocks] == [2]
