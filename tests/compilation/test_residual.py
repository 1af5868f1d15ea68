"""The residual of a flattened model: arguments, metadata, modes, guards and updates."""

import inspect
from collections.abc import Iterator
from enum import Enum

import casadi as ca
import numpy as np
import pytest

from acausal import (
    Circuit,
    Complementarity,
    Component,
    Discrete,
    DryFriction,
    Eq,
    If,
    Impact,
    Input,
    Mode,
    ModeNotSquareError,
    Modes,
    Output,
    Parameter,
    ParameterError,
    Residual,
    Start,
    Statement,
    StatementError,
    StructuralError,
    UnknownPathError,
    Variable,
    absolute,
    and_,
    assign,
    compile_model,
    der,
    if_else,
    leave,
    maximum,
    no_event,
    pre,
    reinit,
    require,
    sin,
    time,
    when,
)
from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, IdealDiode, Resistor
from examples.buck_converter import Buck

Statements = Iterator[Statement]


def row(residual: Residual, text: str) -> int:
    (found,) = [k for k, e in enumerate(residual.equations) if text in e.name]
    return found


def value(residual: Residual, text: str, **given: object) -> float:
    """One entry of F; arguments that are not given are zero."""
    names = residual.F.name_in()
    arguments = [given.get(n, np.zeros(residual.F.size1_in(k))) for k, n in enumerate(names)]
    return float(np.array(residual.F(*arguments)[0]).ravel()[row(residual, text)])


# -- arguments ---------------------------------------------------------------------------------------------------


def test_every_variable_is_a_state_an_algebraic_unknown_or_an_input() -> None:
    program = compile_model(Buck())
    r = program.residual()
    assert r.x.names == ("inductor.i", "capacitor.v")
    assert r.x.units == ("A", "V")
    assert {*r.x.names, *r.w.names} == {program.flat.variable(k) for k in range(program.flat.nv)}
    assert len(r.equations) == len(r.x) + len(r.w) == r.F.size1_out(0)


def test_equations_tell_where_they_were_written() -> None:
    r = Residual.of(Buck())
    load, joint = r.equations[row(r, "load: Eq(v, R*i)")], r.equations[row(r, "source.p.v = switch.p.v")]
    assert (load.place.path, load.place.file.endswith("basic.py")) == ("load", True)
    lines, first = inspect.getsourcelines(Buck.equations)
    assert joint.place.line == first + next(k for k, s in enumerate(lines) if "self.switch.p" in s)


class Rod(Component):
    L: Parameter = Parameter(default=2.0, unit="m", min=0.0)
    k: Parameter = Parameter(default=3.0, unit="1")
    x: Variable = Variable(unit="m", start=0.5, min=-1.0, max=4.0, nominal=0.1)
    y: Output = Output(unit="m")
    u: Input = Input(unit="m/s")

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.k * self.u)
        yield Eq(self.y, self.x + self.L)


class Frame(Component):
    size: Parameter = Parameter(default=5.0, unit="m")
    u: Input = Input(unit="m/s")
    end: Output = Output(unit="m")

    def build(self) -> None:
        self.rod = Rod(L=2 * self.size, x=Start(0.25), u=self.u)

    def equations(self) -> Statements:
        yield Eq(self.end, self.rod.y)


def test_metadata_of_fields() -> None:
    r = Residual.of(Frame())
    assert (r.x.names, r.u.names, r.y.names) == (("rod.x",), ("u",), ("end",))
    found = [float(getattr(r.x, a)[0]) for a in ("start", "min", "max", "nominal")]
    assert found == [0.25, -1.0, 4.0, 0.1]
    assert r.w.nominal.tolist() == [1.0] * len(r.w)
    assert r.x.values({"rod.x": 3.0}).tolist() == [3.0]
    with pytest.raises(UnknownPathError, match="rod"):
        r.x.values({"rod.X": 3.0})


def test_a_bound_parameter_is_an_expression_of_independent_ones() -> None:
    r = Residual.of(Frame())
    assert r.p.names == ("size", "rod.k")
    assert value(r, "rod: Eq(y, x + L)", p=[7.0, 1.0]) == -14.0


def test_a_parameter_changed_by_path_is_independent() -> None:
    model = Frame()
    model.rod.L = 1.5
    r = Residual.of(model)
    assert r.p.names == ("size", "rod.L", "rod.k")
    assert r.p.start.tolist() == [5.0, 1.5, 3.0]


def test_outputs_are_the_second_result() -> None:
    r = Residual.of(Frame())
    w = np.arange(1.0, len(r.w) + 1)
    y = r.F(0, 0, 0, w, 0, r.p.start, [], [])[1]
    assert float(y) == w[r.w.index("end")]


def test_the_mass_matrix_is_the_derivative_by_the_slopes() -> None:
    r = Residual.of(Buck())
    E = r.mass_matrix(*(np.ones(r.F.size1_in(k)) for k in range(7)), r.m.start)
    found = {(r.equations[i].name, r.x.names[j]) for i, j in zip(*E.sparsity().get_triplet(), strict=True)}
    assert found == {
        ("inductor: Eq(v, L*der(i))", "inductor.i"),
        ("capacitor: Eq(i, C*der(v))", "capacitor.v"),
    }


def test_a_part_with_open_ports_is_refused() -> None:
    with pytest.raises(ModeNotSquareError, match="4 equations for 6 unknowns") as info:
        Residual.of(Resistor(R=1.0))
    assert "put it into a model" in info.value.hint


class Follower(Component):
    u: Input = Input()
    x: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(self.x, der(self.u))


def test_the_derivative_of_an_open_input_is_refused() -> None:
    with pytest.raises(StructuralError, match="`u` is an open input"):
        Residual.of(Follower())


class Held(Component):
    x: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), pre(self.x))


def test_a_previous_value_in_an_equation_is_refused() -> None:
    with pytest.raises(StatementError, match=r"pre\(x\)"):
        Residual.of(Held())


# -- modes -------------------------------------------------------------------------------------------------------


class Kind(Enum):
    A = 0
    B = 1


class Elements(Component):
    """One of each, on unknowns of its own."""

    on: Input = Input(bool)
    a: Variable = Variable()
    b: Variable = Variable()
    c: Variable = Variable()
    v: Variable = Variable()
    f: Variable = Variable()
    gap: Variable = Variable()
    force: Variable = Variable()
    z: Variable = Variable()
    read: Variable = Variable()

    def equations(self) -> Statements:
        switch = If(and_(self.on, self.a > 2.0), [Eq(self.b, 1.0)], [Eq(self.b, 2.0 * self.a)], name="switch")
        yield switch
        yield Complementarity(self.a, self.c, enabled=self.on, name="valve")
        yield DryFriction(self.v, self.f, sliding=2.0, breakaway=3.0, name="brake")
        yield Impact(self.gap, self.force, name="stop")
        yield Modes(
            "gear",
            Mode("low", Eq(self.z, 1.0), leave("high", self.v - 5.0)),
            Mode("high", Eq(self.z, 2.0), leave("low", 4.0 - self.v)),
            start="high",
        )
        yield Eq(der(self.v), self.f)
        yield Eq(der(self.gap), self.force)
        yield Eq(self.read, if_else(switch.mode, 10.0, 20.0))
        yield Eq(self.a, time)


BRANCHES = [
    ("switch", "true", 1.0 - 1.0), ("switch", "false", 1.0 - 2.0 * 0.5), ("valve", "off", 7.0), ("valve", "on", 0.5),
    ("brake", "stick", 0.3), ("brake", "forward", 4.0 - 2.0), ("brake", "backward", 4.0 + 2.0), ("brake", "free", 4.0),
    ("stop", "free", 6.0), ("stop", "contact", 9.0), ("gear", "low", 8.0 - 1.0), ("gear", "high", 8.0 - 2.0),
]  # fmt: skip


@pytest.mark.parametrize(("element", "branch", "expected"), BRANCHES)
def test_the_mode_vector_selects_the_equations_of_a_branch(
    element: str, branch: str, expected: float
) -> None:
    r = Residual.of(Elements())
    x = r.x.values({"v": 0.3, "gap": 9.0})
    w = r.w.values({"a": 0.5, "b": 1.0, "c": 7.0, "f": 4.0, "force": 6.0, "z": 8.0})
    assert value(r, f"Elements.{element}:", x=x, w=w, m=r.mode({element: branch})) == expected


def test_a_mode_variable_in_an_equation_follows_the_mode_vector() -> None:
    r = Residual.of(Elements())
    assert value(r, "Eq(read", m=r.mode({"switch": True})) == -10.0
    assert value(r, "Eq(read", m=r.mode({"switch": "false"})) == -20.0


def test_modes_are_given_by_name_position_or_truth() -> None:
    r = Residual.of(Elements())
    assert r.m.names == ("switch", "valve", "brake", "stop", "gear")
    assert r.mode().tolist() == [1, 0, 0, 0, 1]
    given = {"switch": True, "valve": "on", "brake": 2, "gear": "low"}
    assert r.mode(given).tolist() == [0, 1, 2, 0, 0]
    with pytest.raises(ParameterError, match="`brake` has no branch 'stuck'"):
        r.mode({"brake": "stuck"})
    with pytest.raises(ParameterError, match="5 entries, got 2"):
        r.semi_explicit([0, 1])


GUARDS = [
    # element, branch, target, on, values, sign
    ("switch", "true", "false", 1, {"a": 3.0}, 1), ("switch", "true", "false", 0, {"a": 3.0}, -1),
    ("switch", "true", "false", 1, {"a": 1.0}, -1), ("switch", "false", "true", 1, {"a": 1.0}, 1),
    ("valve", "off", "on", 1, {"a": -0.1}, -1), ("valve", "on", "off", 1, {"c": 0.1}, 1),
    ("valve", "on", "disabled", 0, {}, -1), ("valve", "disabled", "off", 1, {}, -1), ("valve", "disabled", "off", 0, {}, 1),
    ("brake", "stick", "forward", 1, {"f": 2.9}, 1), ("brake", "stick", "forward", 1, {"f": 3.1}, -1),
    ("brake", "stick", "backward", 1, {"f": -3.1}, -1), ("brake", "forward", "stick", 1, {"v": -0.1}, -1),
    ("stop", "free", "contact", 1, {"gap": -0.1}, -1), ("stop", "contact", "free", 1, {"force": -0.1}, -1),
    ("gear", "low", "high", 1, {"v": 5.1}, -1), ("gear", "high", "low", 1, {"v": 4.1}, 1),
]  # fmt: skip


@pytest.mark.parametrize(("element", "branch", "target", "on", "given", "sign"), GUARDS)
def test_a_guard_is_negative_where_its_branch_is_left(
    element: str, branch: str, target: str, on: int, given: dict[str, float], sign: int
) -> None:
    r = Residual.of(Elements())
    k = r.m.index(element)
    names = r.modes[k].branches
    wanted = (k, names.index(branch), names.index(target))
    (n,) = [n for n, g in enumerate(r.guard_table) if (g.entry, g.branch, g.target) == wanted]
    x = r.x.values({a: b for a, b in given.items() if a in r.x.names})
    w = r.w.values({a: b for a, b in given.items() if a in r.w.names})
    g = r.guards(0, np.zeros(len(r.x)), x, w, [], [], on, r.mode({element: branch}))
    assert np.sign(float(g[n])) == sign


class Kinks(Component):
    x: Variable = Variable(start=2.0)
    y: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), if_else(time < 1.0, 1.0, -absolute(self.x)))
        yield Eq(self.y, maximum(self.x, 1.0) + no_event(if_else(self.x > 5.0, 1.0, 0.0)))


def test_relations_of_equations_are_entries_of_the_mode_vector() -> None:
    r = Residual.of(Kinks())
    assert r.m.names == ("time < 1", "x < 0", "x < 1")
    assert r.m.start.tolist() == [1, 0, 0]
    at = dict.fromkeys(["x < 0", "time < 1", "x < 1"], False)
    assert value(r, "der(x)", t=0.0, x=[2.0], m=r.mode(at)) == 2.0
    assert value(r, "der(x)", t=0.0, x=[2.0], m=r.mode({**at, "x < 0": True})) == -2.0
    assert value(r, "Eq(y", x=[2.0], w=[0.0], m=r.mode({**at, "x < 1": True})) == -1.0
    assert value(r, "Eq(y", x=[6.0], w=[0.0], m=r.mode(at)) == -7.0


def test_guards_of_relations_change_sign_with_them() -> None:
    r = Residual.of(Kinks())
    table = [(r.m.names[g.entry], g.branch) for g in r.guard_table]
    g = np.array(r.guards(3.0, 0, 0.5, 0, [], [], [], r.m.start)).ravel()
    found = dict(zip(table, g.tolist(), strict=True))
    assert found[("time < 1", 1)] == -2.0
    assert found[("time < 1", 0)] == 2.0
    assert found[("x < 1", 1)] == 0.5
    assert found[("x < 0", 0)] == 0.5


def test_derivatives_are_those_of_the_branch_in_force() -> None:
    r = Residual.of(Kinks())
    x, w, m = ca.SX.sym("x"), ca.SX.sym("w"), ca.SX.sym("m", 3)
    J = ca.Function("J", [x, m], [ca.jacobian(r.F(0, 0, x, w, [], [], [], m)[0], x)])
    slopes = {True: 0.0, False: 1.0}  # of der(x) + abs(x), or of der(x) - 1
    for begun, slope in slopes.items():
        found = np.array(J(2.0, r.mode({"time < 1": begun, "x < 0": False}))).ravel()
        assert found[row(r, "der(x)")] == slope


# -- updates -----------------------------------------------------------------------------------------------------


class Counting(Component):
    limit: Parameter = Parameter(default=4.0)
    x: Variable = Variable()
    n: Discrete = Discrete(int)
    last: Discrete = Discrete(float)
    many: Discrete = Discrete(bool)

    def equations(self) -> Statements:
        yield Eq(der(self.x), 1.0)
        yield Eq(self.many, self.n > 2)
        yield when(
            self.x > self.limit, assign(self.n, pre(self.n) + 1), reinit(self.x, self.x - self.n), assign(self.last, time)
        )  # fmt: skip


def test_updates_give_new_values() -> None:
    r = Residual.of(Counting())
    equation, chain = r.updates
    assert (equation.kind, equation.assigned) == ("equation", ("many",))
    assert (chain.kind, chain.condition) == ("when", "x > limit")
    assert (chain.assigned, chain.reinitialised) == (("n", "last"), ("x",))
    d, before = r.d.values({"n": 3}), r.d.values({"n": 2})
    found = chain.values(0.5, 0, 9.0, [], [], r.p.start, d, r.m.start, before)
    assert np.array(found).ravel().tolist() == [3.0, 0.5, 6.0]
    many = equation.values(0.5, 0, 9.0, [], [], r.p.start, d, r.m.start, before)
    assert float(many) == 1.0


def test_names_of_instances_of_one_class_differ() -> None:
    model = Circuit()
    parts = [model.add(f"d{k}", IdealDiode()) for k in range(3)]
    source, ground = model.add("source", ConstantVoltage(V=1.0)), model.add("ground", Ground())
    store = model.add("store", Capacitor(C=1.0))
    model.connect(source.p, parts[0].p)
    for a, b in zip(parts, parts[1:], strict=False):
        model.connect(a.n, b.p)
    model.connect(parts[-1].n, store.p)
    model.connect(source.n, store.n, ground.p)
    r = Residual.of(model)
    assert r.m.names == ("d0.on", "d1.on", "d2.on")
    assert r.p.names[:3] == ("d0.Ron", "d0.Goff", "d0.Vknee")


def test_a_residual_does_not_pickle() -> None:
    import pickle

    with pytest.raises(TypeError, match="pickle the model"):
        pickle.dumps(Residual.of(Frame()))


def test_a_rate_that_only_a_requirement_reads_is_a_rate_of_the_residual() -> None:
    """Exporting and checking the model ended with a KeyError."""

    class Swing(Component):
        x: Variable = Variable()
        w: Parameter = Parameter(default=1.0, unit="1/s")

        def equations(self) -> Statements:
            yield Eq(self.x, sin(self.w * time))
            yield require(der(self.x) < 5.0, "too fast")

    program = compile_model(Swing())
    assert program.residual().x.names == ("x",)
    result = program.simulate(1.0)
    assert result["x"].final == pytest.approx(np.sin(1.0), rel=1e-12)
    assert result.check().ok
