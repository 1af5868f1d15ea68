"""Networks of resistances of very different sizes: what is small beside its terms has all the digits that equations give it."""

from __future__ import annotations

import io
from fractions import Fraction

import numpy as np
import pytest

from acausal import Circuit, Component, Discrete, Eq, Result, Variable, assign, der, pre, simulate, time, when
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    Inductor,
    Resistor,
    SineVoltage,
    VoltageSensor,
)

DIGITS = 2e-15
SIZES = [(1e9, 1e-3), (1e12, 1e-6), (1e12, 1e-12), (1e6, 1e-3), (1.0, 1e-12), (3e11, 7e-12)]


def network(parts: dict[str, Component], connections: list[str], backwards: bool = False) -> Circuit:
    circuit = Circuit()
    for name in reversed(parts) if backwards else parts:
        circuit.add(name, parts[name])
    for ends in reversed(connections) if backwards else connections:
        circuit.connect(*(getattr(parts[n], p) for n, p in (end.split(".") for end in ends.split())))
    return circuit


def divider(source: Component, first: float, second: float, backwards: bool, **more: Component) -> Circuit:
    parts = {"v": source, "a": Resistor(R=first), "b": Resistor(R=second), "g": Ground(), **more}
    middle = " ".join(["a.n b.p", *(f"{name}.p" for name in more)])
    ends = " ".join(["b.n v.n g.p", *(f"{name}.n" for name in more)])
    return network(parts, ["v.p a.p", middle, ends], backwards)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("small_first", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_divider_has_all_digits(sizes: tuple[float, float], small_first: bool, backwards: bool) -> None:
    first, second = sizes[::-1] if small_first else sizes
    result = simulate(divider(ConstantVoltage(V=1.0), first, second, backwards), 1.0)
    i = 1 / (Fraction(first) + Fraction(second))
    for name, R in (("a", Fraction(first)), ("b", Fraction(second))):
        assert result[f"{name}.v"].final == pytest.approx(float(R * i), rel=DIGITS)
        assert result[f"{name}.i"].final == pytest.approx(float(i), rel=DIGITS)
        assert result.energy(name) == pytest.approx(float(R * i * i), rel=DIGITS)
    assert result["b.p.v"].final == result["b.v"].final
    assert result.check().ok


@pytest.mark.parametrize("backwards", [False, True])
def test_slopes_and_sums_have_them_too(backwards: bool) -> None:
    result = simulate(divider(SineVoltage(V=1.0, f=1.0), 1e9, 1e-3, backwards), 1.0)
    part = float(Fraction(1e-3) / (Fraction(1e9) + Fraction(1e-3)))
    assert result["der(b.v)"].at(0.0) == pytest.approx(2.0 * np.pi * part, rel=DIGITS)
    assert result["b.v"].at(0.25) == pytest.approx(part, rel=DIGITS)
    assert (result["v.v"] - result["a.v"]).at(0.25) == pytest.approx(part, rel=DIGITS)
    assert result.energy("b") == pytest.approx(0.5 * part * part / 1e-3, rel=1e-12)


def test_a_part_across_several_has_them() -> None:
    parts = {
        "v": ConstantVoltage(V=1.0), "a": Resistor(R=1e10), "b": Resistor(R=1e-3), "c": Resistor(R=3e-4),
        "s": VoltageSensor(), "g": Ground(),
    }  # fmt: skip
    result = simulate(network(parts, ["v.p a.p", "a.n b.p s.p", "b.n c.p", "c.n s.n v.n g.p"]), 1.0)
    small = Fraction(1e-3) + Fraction(3e-4)
    right = float(small / (Fraction(1e10) + small))
    assert result["s.v"].final == pytest.approx(right, rel=DIGITS)


@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
def test_whatever_the_method(method: str) -> None:
    circuit = divider(ConstantVoltage(V=1.0), 1e9, 1e-3, False)
    circuit.add("w", Wave())
    result = simulate(circuit, 1.0, method=method)
    assert result["b.v"].final == pytest.approx(
        float(Fraction(1e-3) / (Fraction(1e9) + Fraction(1e-3))), rel=DIGITS
    )


class Wave(Component):
    """Something that moves."""

    x = Variable(start=1.0)

    def equations(self):
        yield Eq(der(self.x), -self.x)


class Ramp(Component):
    """A source that rises with time before a divider, and a count of when the small potential passes a number."""

    x = Variable(start=0.0)
    y = Variable()
    n = Discrete(int)

    def equations(self):
        yield Eq(der(self.x), 1.0)
        yield Eq(self.x - self.y, 1e12 * self.y)
        yield when(self.x - 1e12 * self.y > 3e-13, assign(self.n, pre(self.n) + 1))


def test_an_event_has_them() -> None:
    result = simulate(Ramp(), 1.0)
    small = 1 / (Fraction(10**12) + 1)
    assert result.events[-1].t == pytest.approx(float(Fraction(3e-13) / small), rel=1e-12)


def test_a_saved_result_has_them() -> None:
    result = simulate(divider(ConstantVoltage(V=1.0), 1e9, 1e-3, False), 1.0)
    file = io.BytesIO()
    result.save(file)
    file.seek(0)
    loaded = Result.load(file)
    assert loaded["b.v"].final == pytest.approx(1e-12 / (1.0 + 1e-12), rel=DIGITS)
    assert loaded.energy("b") == result.energy("b")


def ladder(R: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Potential and flow of every resistance: in series and to the ground in turn, the last one to the ground."""

    def seen(k: int) -> Fraction:
        if k == len(R) - 1:
            return R[k]
        return R[k] + seen(k + 1) if k % 2 == 0 else 1 / (1 / R[k] + 1 / seen(k + 1))

    v = Fraction(1)
    i, found = v / seen(0), []
    for k, r in enumerate(R):
        found.append((r * i, i) if k % 2 == 0 else (v, v / r))
        v, i = (v - r * i, i) if k % 2 == 0 else (v, i - v / r)
    return found


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_ladders_of_all_sizes_have_all_digits(seed: int, backwards: bool) -> None:
    rng = np.random.default_rng(seed)
    R = [float(x) for x in 10.0 ** rng.integers(-12, 13, rng.integers(3, 7)) * rng.choice([0.3, 0.7, 1.0])]
    nodes: list[list[str]] = [["v.p", "r0.p"], ["r0.n"]]
    ground = ["v.n", "g.p"]
    for k in range(1, len(R)):
        nodes[-1].append(f"r{k}.p")
        if k % 2 or k == len(R) - 1:
            ground.append(f"r{k}.n")
        else:
            nodes.append([f"r{k}.n"])
    parts = {"v": ConstantVoltage(V=1.0), **{f"r{k}": Resistor(R=x) for k, x in enumerate(R)}, "g": Ground()}
    result = simulate(network(parts, [" ".join(n) for n in (*nodes, ground)], backwards), 1.0)
    for k, (v, i) in enumerate(ladder([Fraction(x) for x in R])):
        assert result[f"r{k}.v"].final == pytest.approx(float(v), rel=DIGITS)
        assert result[f"r{k}.i"].final == pytest.approx(float(i), rel=DIGITS)
        assert result.energy(f"r{k}") == pytest.approx(float(v * i), rel=DIGITS)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_bridge_has_all_digits(backwards: bool) -> None:
    R = [1e12, 1e12, 1e12, 1e-12, 1.0]
    parts = {"v": ConstantVoltage(V=1.0), **{f"r{k}": Resistor(R=x) for k, x in enumerate(R)}, "g": Ground()}
    nodes = ["v.p r0.p r1.p", "r0.n r2.p r4.p", "r1.n r3.p r4.n", "r2.n r3.n v.n g.p"]
    result = simulate(network(parts, nodes, backwards), 1.0)
    G = [1 / Fraction(x) for x in R]
    left, right = G[0] + G[2] + G[4], G[1] + G[3] + G[4]
    determinant = left * right - G[4] ** 2
    a, b = (G[0] * right + G[4] * G[1]) / determinant, (left * G[1] + G[4] * G[0]) / determinant
    for k, v in enumerate((1 - a, 1 - b, a, b, a - b)):
        assert result[f"r{k}.v"].final == pytest.approx(float(v), rel=DIGITS)
        assert result[f"r{k}.i"].final == pytest.approx(float(v * G[k]), rel=DIGITS)


@pytest.mark.parametrize("backwards", [False, True])
def test_beside_states(backwards: bool) -> None:
    """A capacitor behind the large resistance, and an inductor with a load beside the small one."""
    more = {"l": Inductor(L=1.0)}
    result = simulate(divider(ConstantVoltage(V=1.0), 1e9, 1e-3, backwards, **more), 100.0)
    R = float(1 / (1 / Fraction(1e9) + 1 / Fraction(1e-3)))
    for t in (0.0, 10.0, 100.0):
        right = 1e-12 / (1.0 + 1e-12) * np.exp(-R * t)
        assert result["b.v"].at(t) == pytest.approx(right, rel=1e-12)


def test_a_state_before_the_divider() -> None:
    parts = {"c": Capacitor(C=1e-9, v=1.0), "a": Resistor(R=1e9), "b": Resistor(R=1e-3), "g": Ground()}
    circuit = network(parts, ["c.p a.p", "a.n b.p", "b.n c.n g.p"])
    result = simulate(circuit, 1.0)
    R = Fraction(1e9) + Fraction(1e-3)
    right = float(Fraction(1e-3) / R) * np.exp(-1.0 / float(R * Fraction(1e-9)))
    assert result["b.v"].final == pytest.approx(right, rel=DIGITS)
    assert result["der(b.v)"].final == pytest.approx(-right / float(R * Fraction(1e-9)), rel=DIGITS)


def test_what_cancels_exactly_stays_zero() -> None:
    parts = {
        "v": ConstantVoltage(V=1.0), "a": Resistor(R=3.0), "s": IdealClosingSwitch(control=time >= 0.0),
        "b": Resistor(R=7.0), "g": Ground(),
    }  # fmt: skip
    result = simulate(network(parts, ["v.p a.p", "a.n s.p", "s.n b.p", "b.n v.n g.p"]), 1.0)
    assert result["s.v"].final == 0.0
