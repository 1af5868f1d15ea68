"""Random networks of masses, springs and gears start from random conditions, or are refused with the right reason."""

import warnings

import numpy as np
import pytest

from acausal import Circuit, Eq, InitializationError, Residual, Result, Start, initially, simulate
from acausal.components import rotational, translational
from tests.oracles.start_conditions import GROUND, Coupling, Network, Row, Spring

from .residual_defect import defect

NAMES = {
    "rotational": (rotational.Inertia, "J", {"q": "phi", "v": "w", "a": "a"}),
    "translational": (translational.Mass, "m", {"q": "s", "v": "v", "a": "a"}),
}
TENS = [pytest.param(k, marks=() if k < 4 else pytest.mark.sweep) for k in range(15)]


class Case:
    """One random network, its model, and its conditions with the text that names each in an error."""

    def __init__(self, domain: str, seed: int) -> None:
        self.rng = np.random.default_rng((seed, len(domain)))
        self.domain, self.circuit = domain, Circuit()
        self.kind, self.inertia_name, self.symbols = NAMES[domain]
        self.network = self._network()
        self.motion = self._some_motion()
        self.conditions: list[tuple[Row, float]] = []
        self.texts: list[str] = []
        self.initial: dict[str, float] = {}
        starts = self._choose()
        self._build(starts)

    def _number(self) -> float:
        return round(float(self.rng.uniform(0.5, 2.0)) * float(self.rng.choice([-1, 1])), 3)

    def _network(self) -> Network:
        rng, n = self.rng, int(self.rng.integers(2, 6))
        couplings = []
        for a in range(1, n):
            kind = rng.integers(0, 4)
            if kind == 0:
                ratio = self._number() if self.domain == "rotational" else 1.0
                couplings.append(Coupling(a, int(rng.integers(0, a)), ratio, 0.0))
        if rng.random() < 0.2:
            couplings.append(Coupling(0, GROUND, 0.0, self._number()))
        springs = [
            Spring(int(a), int(b), abs(self._number()), self._number())
            for a, b in rng.integers(GROUND, n, (int(rng.integers(0, n + 2)), 2))
            if a != b
        ]
        inertia = tuple(abs(self._number()) for _ in range(n))
        return Network(inertia, tuple(couplings), tuple(springs))

    def _some_motion(self) -> np.ndarray:
        """A motion that the network may have, all unknowns of the oracle."""
        A, b = self.network.equations()
        _, s, V = np.linalg.svd(A)
        free = V[int((s > 1e-9).sum()) :]
        return np.linalg.lstsq(A, b, rcond=1e-10)[0] + free.T @ self.rng.uniform(-1, 1, len(free))

    def _value(self, row: Row) -> float:
        """What the motion gives; now and then something else, which others may contradict."""
        wrong = self._number() if self.rng.random() < 0.15 else 0.0
        return round(float(self.network.row(row) @ self.motion), 12) + wrong

    def _choose(self) -> dict[int, dict[str, Start]]:
        """Random conditions: fixed starts, values of the run, initial equations."""
        rng, n = self.rng, len(self.network.inertia)
        starts: dict[int, dict[str, Start]] = {}
        for _ in range(int(rng.integers(1, 2 * n + 2))):
            kind, body = str(rng.choice(["q", "v", "a"])), int(rng.integers(0, n))
            name = f"b{body}.{self.symbols[kind]}"
            how = rng.integers(0, 4)
            if how == 0 and self.symbols[kind] not in starts.get(body, {}) and name not in self.initial:
                value = self._value({(kind, body): 1.0})
                starts.setdefault(body, {})[self.symbols[kind]] = Start(value, fixed=True)
                self._condition({(kind, body): 1.0}, value, f"`{name}`")
            elif how == 1 and self.symbols[kind] not in starts.get(body, {}) and name not in self.initial:
                self.initial[name] = value = self._value({(kind, body): 1.0})
                self._condition({(kind, body): 1.0}, value, f"`{name}`")
            elif how == 2 and self.network.springs:
                k = int(rng.integers(0, len(self.network.springs)))
                s, name = self.network.springs[k], f"k{k}.{self.symbols['q']}_rel"
                if name not in self.initial:
                    row: Row = {("q", s.b): 1.0}
                    row[("q", s.a)] = row.get(("q", s.a), 0.0) - 1.0
                    self.initial[name] = value = self._value(row)
                    self._condition(row, value, f"`{name}`")
            elif how == 3:
                factors = np.round(rng.uniform(-2, 2, n), 2)
                row = {(kind, i): float(f) for i, f in enumerate(factors)}
                self._condition(row, self._value(row), "")
        return starts

    def _condition(self, row: Row, value: float, text: str) -> None:
        self.conditions.append((row, value))
        self.texts.append(text)

    def _build(self, starts: dict[int, dict[str, Start]]) -> None:
        c, module = self.circuit, rotational if self.domain == "rotational" else translational
        bodies = []
        for i, J in enumerate(self.network.inertia):
            values = {self.inertia_name: J, **starts.get(i, {})}
            bodies.append(c.add(f"b{i}", self.kind(**values)))
        ground = c.add("ground", module.Fixed())

        def flange(i: int) -> object:
            return ground.flange if i == GROUND else bodies[i].flange_a

        for m, k in enumerate(self.network.couplings):
            if k.b == GROUND:
                fixed = {"phi0": k.offset} if self.domain == "rotational" else {"s0": k.offset}
                c.connect(c.add(f"fixed{m}", module.Fixed(**fixed)).flange, bodies[k.a].flange_a)
            elif self.domain == "rotational":
                gear = c.add(f"gear{m}", rotational.IdealGear(ratio=k.ratio))
                c.connect(bodies[k.a].flange_b, gear.flange_a)
                c.connect(gear.flange_b, bodies[k.b].flange_b)
            else:
                c.connect(bodies[k.a].flange_b, bodies[k.b].flange_b)
        for m, s in enumerate(self.network.springs):
            rest = {"phi_rel0": s.rest} if self.domain == "rotational" else {"s_rel0": s.rest}
            spring = c.add(f"k{m}", module.Spring(c=s.c, **rest))
            c.connect(spring.flange_a, flange(s.a))
            c.connect(spring.flange_b, flange(s.b))
        for k, (row, value) in enumerate(self.conditions):
            if not self.texts[k]:
                total = sum(f * getattr(bodies[i], self.symbols[kind]) for (kind, i), f in row.items())
                c.state(initially(Eq(total, value)))
                self.texts[k] = f", {value!r})"

    def run(self) -> Result:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return simulate(self.circuit, 1e-3, initial=self.initial)

    def read(self, result: Result, row: Row) -> float:
        """A form in a result at the start."""
        found = 0.0
        for (kind, body), factor in row.items():
            if body != GROUND:
                found += factor * float(result[f"b{body}.{self.symbols[kind]}"].at(0.0))
        return found


def check(case: Case) -> bool:
    """Compare one case with the oracle; whether it can start."""
    if not case.network.possible(case.conditions):
        with pytest.raises(InitializationError) as info:
            case.run()
        what = info.value.what
        named = [c for c, text in zip(case.conditions, case.texts, strict=True) if text in what]
        assert named, what
        assert not case.network.possible(named), f"what is named can hold: {what}"
        return False
    result = case.run()
    for row, value in case.conditions:
        size = sum(abs(f * case.read(result, {key: 1.0})) for key, f in row.items())
        assert abs(case.read(result, row) - value) <= 1e-9 * max(1.0, abs(value), size)
    for i in range(len(case.network.inertia)):
        for kind in "qva":
            expected = case.network.determined(case.conditions, {(kind, i): 1.0})
            if expected is not None:
                assert case.read(result, {(kind, i): 1.0}) == pytest.approx(expected, rel=1e-7, abs=1e-7)
    assert defect(Residual.of(case.circuit), result, np.array([0.0])) <= 1e-9
    return True


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("domain", NAMES)
@pytest.mark.parametrize("tens", TENS)
def test_random_networks_start_or_are_refused(domain: str, tens: int) -> None:
    assert any([check(Case(domain, 10 * tens + k)) for k in range(10)])


def test_oracle_on_two_coupled_bodies() -> None:
    """With ``q0 = 2 q1`` and a spring of stiffness 3 on body 1, ``(4 J0 + J1) a1 = -3 q1``."""
    network = Network((1.0, 5.0), (Coupling(0, 1, 2.0, 0.0),), (Spring(GROUND, 1, 3.0, 0.0),))
    at = [({("q", 1): 1.0}, 6.0)]
    assert network.determined(at, {("a", 1): 1.0}) == pytest.approx(-2.0)
    assert network.determined(at, {("v", 1): 1.0}) is None
    assert network.possible([*at, ({("a", 0): 1.0}, -4.0)])
    assert not network.possible([*at, ({("a", 0): 1.0}, -3.0)])
