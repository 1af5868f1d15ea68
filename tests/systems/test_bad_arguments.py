"""Arguments of the wrong kind are refused by name before anything is computed."""

from typing import Any

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    DeclarationError,
    Eq,
    Input,
    Parameter,
    ParameterError,
    compile_model,
    simulate,
)
from acausal.components.blocks import BooleanTable, TimeTable
from acausal.components.electrical import Capacitor, Resistor, TableVoltage

from .refusals import Divider, Scalar, Statements, refused


class Driven(Scalar):
    """One unknown that an input gives."""

    u: Input = Input(float)

    def equations(self) -> Statements:
        yield Eq(self.x, self.u)


@pytest.mark.parametrize("value", [1e-320, -5e-324, 10**400])
def test_numbers_that_cannot_be_computed_with(value: float) -> None:
    with refused(ParameterError, "`C` of Capacitor must be", hint=""):
        Capacitor(C=value)
    with refused(ParameterError, "`load.R` must be", hint="", path="load"):
        simulate(Divider(), 1.0, parameters={"load.R": value})


def test_bound_parameter_that_has_no_inverse() -> None:
    class Model(Component):
        R: Parameter = Parameter(default=1e-300)

        def build(self) -> None:
            self.load = Resistor(R=1e-10 * self.R)

    with refused(
        ParameterError, r"`load.R` must be 0 or at least 2.2\d*e-308", hint="change `R`", path="load"
    ):
        simulate(Model(), 1.0)


def test_start_value_beyond_the_range_of_floats() -> None:
    with refused(DeclarationError, "the start value `v` of Capacitor must be a finite number", hint=""):
        Capacitor(C=1.0, v=10**400)


def test_keywords_only() -> None:
    positional: Any = Resistor
    with refused(DeclarationError, "Resistor takes keywords only, got 1", hint="Resistor(R=...)"):
        positional(1)


def test_circuit_is_no_part_of_itself() -> None:
    circuit = Circuit()
    with refused(DeclarationError, "a Circuit cannot be a part of itself, as `me`", hint="second object"):
        circuit.add("me", circuit)
    outer = Circuit()
    circuit.add("outer", outer)
    with refused(DeclarationError, "cannot be a part of itself", hint="second object"):
        outer.add("inner", circuit)


def test_name_of_a_part_is_a_string() -> None:
    name: Any = 3
    with refused(DeclarationError, "the name of a part is a string, got 3", hint="r1"):
        Circuit().add(name, Resistor(R=1.0))


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ((), "at least one row"),
        ("abc", "at least one row"),
        (((0, 1), (0,)), r"rows of two finite numbers \(x, y\), got \(0,\)"),
        (((0, "a"),), "rows of two finite numbers"),
        (((0, 1), (1, float("nan"))), "rows of two finite numbers"),
        (((1, 0), (0, 1)), "must ascend, but 0 follows 1"),
    ],
)
def test_tables_of_points(table: Any, text: str) -> None:
    with refused(ParameterError, f"`table` of TableVoltage .*{text}", hint=""):
        TableVoltage(table=table)
    with refused(ParameterError, f"`table` of TimeTable .*{text}", hint=""):
        TimeTable(table=table)


@pytest.mark.parametrize("table", [(0.5, 0.2), (float("nan"),), ("a",), "abc", 3])
def test_tables_of_times(table: Any) -> None:
    with refused(ParameterError, "`table` of BooleanTable ", hint=""):
        BooleanTable(table=table)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"parameters": [1]}, "`parameters` takes a mapping"),
        ({"parameters": "load.R"}, "`parameters` takes a mapping"),
        ({"parameters": {3: 1.0}}, "by path, a string, got 3"),
        ({"initial": [("load.v", 1)]}, "`initial` takes a mapping"),
        ({"inputs": 5}, "`inputs` takes a mapping"),
        ({"inputs": "x"}, "`inputs` takes a mapping"),
        ({"save": 5}, "`save` takes a list of paths"),
        ({"grid": ["a"]}, "grid must be"),
        ({"rtol": np.array([1.0, 2.0])}, "`rtol` must be positive"),
    ],
)
def test_options_of_the_wrong_kind(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        simulate(Divider(), 1.0, **options)


def test_end_of_a_run_is_one_time() -> None:
    end: Any = np.array([1.0, 2.0])
    with refused(ParameterError, "`t_end` must be a finite time", hint=""):
        simulate(Divider(), end)
    with refused(ParameterError, "`t_end` must be a finite time", hint=""):
        simulate(Divider(), 10**400)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (lambda t: "x", "must return a number, got 'x' at t = "),
        (lambda t: np.array([t, t]), "must return a number, got array"),
        (lambda: 1.0, "cannot be called with the time: too many positional"),
        (np.array([1.0, 2.0]), "takes a number, a callable or"),
        (([0.0, 1.0], ["a", "b"]), "takes a number, a callable or"),
        (10**400, "takes a number, a callable or"),
    ],
)
def test_inputs_of_the_wrong_kind(value: Any, text: str) -> None:
    with pytest.raises(ParameterError, match=f"input `u` {text}"):
        simulate(Driven(), 1.0, inputs={"u": value})
    stepped = compile_model(Driven()).start(inputs={"u": 1.0})
    with pytest.raises(ParameterError, match=f"input `u` {text}"):
        stepped.advance(1.0, inputs={"u": value})


def test_functions_without_a_signature_are_taken() -> None:
    assert simulate(Driven(), 1.0, inputs={"u": np.sin})["x"].final == pytest.approx(np.sin(1.0), rel=1e-12)


def test_questions_to_signals() -> None:
    signal = simulate(Divider(), 1.0)["load.v"]
    value: Any = "a"
    with refused(ParameterError, "`load.v` is asked for at times in seconds, got 'a'", hint=""):
        signal.at(value)
    with refused(ParameterError, "a window is two times in seconds", hint=""):
        signal.mean(value, 1)
