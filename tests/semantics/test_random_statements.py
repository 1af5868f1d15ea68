"""S3 to S5, S8: random networks of discrete statements, stepped, continued and saved, against an interpreter of micro-steps."""

import random
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from acausal import (
    ChatteringError,
    Component,
    Discrete,
    Eq,
    EventIterationError,
    Input,
    Result,
    Variable,
    and_,
    assign,
    change,
    compile_model,
    der,
    edge,
    mod,
    not_,
    or_,
    pre,
    sample,
    time,
    to,
    transitions,
    when,
    xor_,
)
from tests.oracles.micro_steps import Chain, Condition, Equation, Given, Interpreter, Machine

from .observing import Statements

STEP, END = 0.25, 4.0


class Phase(Enum):
    A = 0
    B = 1
    C = 2


Network = list[Machine | Equation | Chain | Given]
Inputs = dict[int | str, float]


def atom(rng: random.Random, k: int, network: Network, sampled: bool) -> Condition:
    kinds = ["time", "u", *(["sample"] if sampled else []), "pre", "now", "now", "edge", "change"]
    kind = rng.choice(kinds)
    if kind in ("time", "u", "sample"):
        at = {"time": (rng.randint(0, 12) * STEP,), "u": (0.5,), "sample": (rng.choice([0.5, 0.75]), 0.25)}
        return kind, *at[kind]
    j = rng.choice([j for j in range(k) if not (kind == "pre" and isinstance(network[j], Machine))])
    boolean = isinstance(network[j], Equation)
    if kind == "change" or (kind == "edge" and not boolean):
        return "change", j
    most = 1 if boolean else 2 if isinstance(network[j], Machine) else 3
    return ("edge", j) if kind == "edge" else (kind, j, rng.randint(1, most))


def condition(rng: random.Random, k: int, network: Network, sampled: bool = False) -> Condition:
    a = atom(rng, k, network, sampled)
    shape = rng.choice(["plain", "plain", "not", "and", "or", "xor"])
    if shape in ("plain", "not") or a[0] == "sample":
        return ("not", a) if shape == "not" and a[0] != "sample" else a
    return shape, a, atom(rng, k, network, False)


def network_of(rng: random.Random) -> Network:
    made: Network = [Given(rng.randint(0, 2)) for _ in range(rng.randint(1, 2))]
    for k in range(len(made), len(made) + rng.randint(3, 6)):
        match rng.choice(["machine", "equation", "when", "when"]):
            case "machine":
                ways = [
                    [
                        (rng.randrange(3), ("timer", 0.75) if rng.random() < 0.4 else condition(rng, k, made))
                        for _ in range(rng.randint(0, 2))
                    ]
                    for _ in range(3)
                ]
                made.append(Machine(rng.randrange(3), ways))
            case "equation":
                made.append(Equation(rng.randint(0, 1), condition(rng, k, made)))
            case _:
                branches = [
                    (
                        [condition(rng, k, made, True) for _ in range(rng.randint(1, 2))],
                        (rng.choice(["add", "set", "cycle"]), rng.randint(1, 3)),
                    )
                    for _ in range(rng.randint(1, 2))
                ]
                made.append(Chain(rng.randint(0, 1), branches))
    return made


def stated(me: Any, network: Network, k: int, c: Condition) -> Any:
    """A condition of statement ``k`` in the words of the language."""
    match c:
        case "time", at:
            return time >= at
        case "sample", period, start:
            return sample(period=period, start=start)
        case "u", level:
            return me.u > level
        case "timer", T:
            return time >= getattr(me, f"entered{k}") + T
        case "not", a:
            return not_(stated(me, network, k, a))
        case ("and" | "or" | "xor") as op, a, b:
            of = {"and": and_, "or": or_, "xor": xor_}[op]
            return of(stated(me, network, k, a), stated(me, network, k, b))
        case ("edge" | "change") as op, j:
            return {"edge": edge, "change": change}[op](getattr(me, f"d{j}"))
        case kind, j, level:
            d, s = getattr(me, f"d{j}"), network[j]
            if isinstance(s, Machine):
                return d.equals(Phase.C) if level > 1 else not_(d.equals(Phase.A))
            d = pre(d) if kind == "pre" else d
            return d if isinstance(s, Equation) else d >= level
        case _:
            raise ValueError(c)


def statements(me: Any, network: Network) -> Statements:
    yield Eq(der(me.x), me.u - me.x)
    for k, s in enumerate(network):
        d = getattr(me, f"d{k}")
        match s:
            case Equation():
                yield Eq(d, stated(me, network, k, s.value))
            case Machine():
                entered = assign(getattr(me, f"entered{k}"), time)
                ways = [[to(Phase(q), stated(me, network, k, c), entered) for q, c in way] for way in s.ways]
                yield transitions(d, dict(zip(Phase, ways, strict=True)))
            case Chain():
                chain = None
                for conditions, (kind, n) in s.branches:
                    value = {"set": n, "add": pre(d) + n, "cycle": mod(pre(d) + 1, n)}[kind]
                    branch = [stated(me, network, k, c) for c in conditions], assign(d, value)
                    chain = when(*branch) if chain is None else chain.elsewhen(*branch)
                assert chain is not None
                yield chain
            case Given():
                pass


def model_of(network: Network) -> Component:
    fields: dict[str, Any] = {"x": Variable(), "u": Input(float)}
    for k, s in enumerate(network):
        match s:
            case Machine():
                fields |= {f"d{k}": Discrete(Phase, start=Phase(s.start)), f"entered{k}": Discrete(float)}
            case Given():
                fields[f"d{k}"] = Input(int)
            case _:
                fields[f"d{k}"] = Discrete(bool if isinstance(s, Equation) else int, start=s.start)
    kinds = {name: type(f) for name, f in fields.items()}
    made = {
        "__annotations__": kinds,
        "__module__": __name__,
        "equations": lambda self: statements(self, network),
    }
    return type("Network", (Component,), {**fields, **made})()


def changes_of(rng: random.Random, network: Network) -> dict[float, Inputs]:
    """Inputs by the times from which they hold, all of them at the first."""
    names = [k for k, s in enumerate(network) if isinstance(s, Given)]
    found: dict[float, Inputs] = {0.0: {"u": rng.randint(0, 1), **{k: network[k].start for k in names}}}
    for n in sorted(rng.sample(range(1, int(END / STEP)), 4)):
        found[n * STEP] = {name: rng.randint(0, 2) for name in ("u", *names) if rng.random() < 0.7}
    return found


def expected(network: Network, changes: Mapping[float, Inputs]) -> dict[float, list[int]] | None:
    """Variables after the instants on the grid; None if one of them takes too many micro-steps."""
    run = Interpreter(network, changes[0.0]["u"])
    found: dict[float, list[int]] = {}
    for n in range(int(END / STEP) + 1):
        t, given = n * STEP, dict(changes.get(n * STEP, {})) if n else {}
        if not run.instant(t):
            return None
        discrete = {k: int(v) for k, v in given.items() if isinstance(k, int)}
        if given and not run.instant(t, False, discrete, given.get("u")):
            return None
        found[t] = list(run.now)
    return found


def named(inputs: Inputs) -> dict[str, float]:
    return {name if isinstance(name, str) else f"d{name}": value for name, value in inputs.items()}


def stepped(model: Component, changes: Mapping[float, Inputs], method: str, folder: Path) -> list[Result]:
    run = compile_model(model).start(inputs=named(changes[0.0]), method=method)
    for t, inputs in changes.items():
        if t > 0.0:
            run.advance(t)
            snapshot = run.snapshot()
            run.advance(t + STEP, inputs=named(inputs))
            run.restore(snapshot)
            run.advance(t, inputs=named(inputs))
    run.advance(END)
    return [run.result]


def continued(model: Component, changes: Mapping[float, Inputs], method: str, folder: Path) -> list[Result]:
    compiled, results, result = compile_model(model), list[Result](), None
    for n, (inputs, end) in enumerate(zip(changes.values(), [*list(changes)[1:], END], strict=True)):
        given = named(inputs) or None
        if n % 2:
            result = compiled.simulate(end, start=result, inputs=given, method=method)
        else:
            result = compiled.simulate(9.0, until=time >= end, start=result, inputs=given, method=method)
        results.append(result)
        result.save(folder / "run")
        result = Result.load(folder / "run") if n % 3 else result
    return results


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("seed", range(20))
def test_random_statements(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    network = network_of(rng)
    changes = changes_of(rng, network)
    wanted = expected(network, changes)
    way, method = (stepped, continued)[seed % 2], ("auto", "explicit", "auto", "implicit")[seed // 2 % 4]
    if wanted is None:
        with pytest.raises((EventIterationError, ChatteringError)):
            way(model_of(network), changes, method, tmp_path)
        return
    results = way(model_of(network), changes, method, tmp_path)
    for t, values in wanted.items():
        result = next(r for r in reversed(results) if r.t[0] <= t <= r.t_end)
        assert [int(result[f"d{k}"].at(t)) for k in range(len(network))] == values, (t, network, changes)
