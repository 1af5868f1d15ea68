"""Structures of models with open inputs: the values they are described for are named."""

from collections.abc import Iterator

from acausal import Component, Eq, If, Input, Statement, Variable, compile_model, der


class Fed(Component):
    """Inputs of all types, one of which decides whether a variable is differentiated."""

    u: Input = Input(float)
    on: Input = Input(bool)
    n: Input = Input(int)
    x, y = Variable(), Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.u - self.x)
        yield If(self.on, [Eq(der(self.y), -self.y)], [Eq(self.y, 0.0)], name="lag")


def test_inputs_that_are_not_given_are_named_with_the_values_taken() -> None:
    found = compile_model(Fed()).structure()
    assert found.inputs == {"u": 0.0, "on": False, "n": 0}
    (note,) = found.notes
    assert note.startswith("not given, taken as zero: `u`, `on`, `n`")
    text = str(found)
    assert "u = 0" in text
    assert "on = False" in text
    assert found.freedom == 1


def test_inputs_that_are_given_count_with_their_values_at_the_start() -> None:
    found = compile_model(Fed()).structure(inputs={"u": lambda t: 2.0 + t, "on": True, "n": 4})
    assert found.inputs == {"u": 2.0, "on": True, "n": 4}
    assert found.notes == ()
    assert found.freedom == 2


def test_as_written_inputs_have_no_values() -> None:
    found = compile_model(Fed()).structure(reduce=False)
    assert (found.inputs, found.notes) == ({}, ())
