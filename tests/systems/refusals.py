"""Small models to break, and what an error must say: kind, text, component, line, and what to do."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from acausal import AcausalError, Component, ParameterError, Statement, Variable, connect, simulate
from acausal.components.electrical import ConstantVoltage, Ground, Resistor

MARK = "# <-"
Statements = Iterator[Statement]


class Scalar(Component):
    """One unknown."""

    x: Variable = Variable()


class Divider(Component):
    """A source on one resistor."""

    def build(self) -> None:
        self.source = ConstantVoltage(V=1.0)
        self.load = Resistor(R=2.0)
        self.ground = Ground()

    def equations(self) -> Statements:
        yield connect(self.source.p, self.load.p)
        yield connect(self.source.n, self.load.n, self.ground.p)


def run(model: Component) -> None:
    simulate(model, 1.0)


def marked(source: Callable[..., object]) -> int:
    """Line of a function that carries the mark."""
    lines, first = inspect.getsourcelines(source)
    (found,) = [first + k for k, line in enumerate(lines) if line.rstrip().endswith(MARK)]
    return found


@contextmanager
def refused(
    kind: type[AcausalError],
    match: str,
    *,
    hint: str,
    path: str | None = None,
    at: Callable[..., object] | None = None,
) -> Iterator[None]:
    """The block fails with exactly this kind of error, placed in component ``path`` at the marked line of ``at``."""
    with pytest.raises(kind, match=match) as info:
        yield
    error = info.value
    assert type(error) is kind
    assert hint in error.hint
    if path is not None:
        assert error.where[0].path == path
    if at is not None:
        assert (error.where[0].file, error.where[0].line) == (at.__code__.co_filename, marked(at))


def failed(kind: type[AcausalError], model: Component, t_end: float = 2.0, **options: object) -> AcausalError:
    """The error of a run."""
    with pytest.raises(kind) as info:
        simulate(model, t_end, **options)  # type: ignore[arg-type]
    assert type(info.value) is kind
    return info.value


def nothing_computed(error: AcausalError) -> bool:
    """The result of a run that failed at its start says so when it is read."""
    with pytest.raises(ParameterError, match="nothing was computed"):
        error.result["x"].at(0.0)
    return True
