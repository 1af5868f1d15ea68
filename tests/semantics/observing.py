"""What a run logged: the values of discrete variables after every micro-step of an instant."""

from collections.abc import Iterator

from acausal import Result, Statement

Statements = Iterator[Statement]


def micro_steps(result: Result, t: float, *names: str) -> list[tuple[object, ...]]:
    """(number of the micro-step, values after it) for every micro-step of the instant at ``t``."""
    found = [result.names.find(name) for name in names]
    kinds = [getattr(f.field, "type", float) for f in found]
    at = [step for step in result.steps if step.t == t]
    return [(s.number, *(kind(s.D[f.index]) for f, kind in zip(found, kinds, strict=True))) for s in at]
