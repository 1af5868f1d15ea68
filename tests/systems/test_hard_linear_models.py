"""Linear models that were answered wrongly or not at all, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import mpmath as mp
import numpy as np
import pytest

import acausal as ac
from acausal.components import blocks
from acausal.components import electrical as el


class Lags(ac.Component):
    """Four equal lags, the first of which follows an exponential of nearly their rate."""

    hits: ac.Discrete = ac.Discrete(int, start=0)
    seconds: ac.Parameter = ac.Parameter(default=1.0, unit="s")

    def build(self) -> None:
        self.lag = [blocks.FirstOrder(T=self.seconds) for _ in range(4)]

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(self.lag[0].u, ac.exp(-1.0001 * ac.time / self.seconds))
        for before, after in zip(self.lag, self.lag[1:], strict=False):
            yield ac.connect(before.y, after.u)
        yield ac.when(self.lag[3].y > 0.19, ac.assign(self.hits, ac.pre(self.hits) + 1))


@pytest.mark.parametrize("end", [30.0, 300.0, 1e4])
def test_lags_behind_an_exponential_of_nearly_their_rate(end: float) -> None:
    """In a run of 300 s the last one was 0 instead of 0.0153 after a second, and the event was missed."""
    result = ac.simulate(Lags(), end)
    last = result["lag[3].y"]
    with mp.workdps(50):
        a = mp.mpf("0.0001")
        # Response of 1 / (s + 1)^4 to exp(-(1 + a) t): exp(-t) / a^4 (exp(-a t) less its Taylor polynomial of degree 3).
        exact = [
            float(
                mp.exp(-t) / a**4 * (mp.exp(-a * t) - sum((-a * t) ** k / mp.factorial(k) for k in range(4)))
            )
            for t in map(mp.mpf, (0.5, 1.0, 3.0, 10.0))
        ]
    assert last.at(np.array([0.5, 1.0, 3.0, 10.0])) == pytest.approx(exact, rel=1e-9)
    assert result["hits"].final == 1
    assert last.max() == pytest.approx(0.19535118666613852, rel=1e-10)
    if end > 100.0:
        assert last.mean() * end == pytest.approx(1.0 / 1.0001, rel=1e-10)


def test_integrals_of_integrals_are_states() -> None:
    """Each level was a quadrature within one: `check` of five took 27 s."""
    model = ac.Circuit()
    y = model.add("u", blocks.Constant(k=1.0)).y
    for k in range(8):
        y = model.add(f"i{k}", blocks.Integrator(u=y)).y
    result = ac.simulate(model, 1.0)
    assert result.modes[0].states == 8
    assert result["i7.x"].final == pytest.approx(1.0 / math.factorial(8), rel=1e-14)
    assert result["i7.x"].rms() == pytest.approx(1.0 / math.factorial(8) / math.sqrt(17.0), rel=1e-12)
    assert result.check().ok


def ladder(L: list[float], C: list[float], R: list[float], G: list[float]) -> ac.Component:
    """Coils and capacitors in a ladder from 1 V, ``L i' = v - R i - v'`` and ``C v' = i - G v - i'``."""
    model = ac.Circuit()
    source, ground = model.add("source", el.ConstantVoltage(V=1.0)), model.add("ground", el.Ground())
    returns, node = [source.n, ground.p], source.p
    for k, (inductance, capacitance, r, g) in enumerate(zip(L, C, R, G, strict=True)):
        coil, resistor = model.add(f"L{k}", el.Inductor(L=inductance)), model.add(f"R{k}", el.Resistor(R=r))
        capacitor, leak = (
            model.add(f"C{k}", el.Capacitor(C=capacitance)),
            model.add(f"G{k}", el.Conductor(G=g)),
        )
        model.connect(node, coil.p)
        model.connect(coil.n, resistor.p)
        model.connect(resistor.n, capacitor.p, leak.p)
        returns += [capacitor.n, leak.n]
        node = capacitor.p
    model.connect(*returns)
    return model


@pytest.mark.parametrize("end", [1e-12, 1e-9, 1e-8, 1e-6, 1e-3])
def test_a_passive_ladder_of_very_different_parts_runs(end: float) -> None:
    """One group of all its modes, with rates of 1e15 and 1e1 per second, overflowed: "the model is unstable"."""
    parts = [1e-9, 0.3], [1e-12, 5e-8], [40.0, 9e-4], [2000.0, 1e-6]
    result = ac.simulate(ladder(*parts), end)
    (L0, L1), (C0, C1), (R0, R1), (G0, G1) = parts
    A = mp.matrix(
        [
            [-R0 / L0, -1 / L0, 0, 0, 1 / L0],
            [1 / C0, -G0 / C0, -1 / C0, 0, 0],
            [0, 1 / L1, -R1 / L1, -1 / L1, 0],
            [0, 0, 1 / C1, -G1 / C1, 0],
            [0, 0, 0, 0, 0],
        ]
    )
    with mp.workdps(80):
        exact = mp.expm(A * end)[:4, 4]
    found = [result[path].final for path in ("L0.i", "C0.v", "L1.i", "C1.v")]
    assert found == pytest.approx([float(x) for x in exact], rel=1e-9)


@pytest.mark.parametrize("end", [9e-7, 1e-5, 1e-4, 9e-3, 0.9])
def test_what_is_smaller_than_rounding_of_what_drives_it_is_no_contradiction(end: float) -> None:
    """Behind two shunts of 20 nOhm 1 V leaves 1e-28 V, and steps of 1e-31 V in it refused the run."""
    result = ac.simulate(ladder([8e-4, 6e-7, 0.07], [2e-7, 2e-5, 5e-4], [2.0] * 3, [5e7] * 3), end)
    assert result["L0.i"].final == pytest.approx(0.5 * (1.0 - math.exp(-2.0 * end / 8e-4)), rel=1e-6)


class Amplified(ac.Component):
    """Lags with a gain of 300, each behind the one before, behind a constant or a slow sine."""

    count: ClassVar[int] = 5

    def build(self) -> None:
        self.source = blocks.Sine(amplitude=1.0, f=0.5 / math.pi) if self.turning else blocks.Constant(k=1.0)
        self.lag = [blocks.FirstOrder(T=1.0, k=300.0) for _ in range(self.count)]

    turning: ClassVar[bool] = False

    def equations(self) -> Iterator[ac.Statement]:
        for before, after in zip([self.source, *self.lag], self.lag, strict=False):
            yield ac.connect(before.y, after.u)


class AmplifiedSine(Amplified):
    """The same behind the sine."""

    turning: ClassVar[bool] = True


@pytest.mark.parametrize("model", [Amplified, AmplifiedSine])
@pytest.mark.parametrize("end", [0.003, 0.01, 0.1])
def test_amplified_lags_in_a_run_far_shorter_than_their_time_constants(
    model: type[Amplified], end: float
) -> None:
    """Steady parts of 1e12 were split off from 1 that is left of them: 2 % off, or refused."""
    result, n = ac.simulate(model(), end), Amplified.count
    A = mp.zeros(n + 2)
    for k in range(n):
        A[k, k], A[k, k - 1 if k else n] = -1, 300
    if model.turning:
        A[n, n + 1], A[n + 1, n] = 1, -1
    start = mp.zeros(n + 2, 1)
    start[n + 1 if model.turning else n] = 1
    for t in (0.5 * end, end):
        with mp.workdps(60):
            exact = float((mp.expm(A * mp.mpf(t)) * start)[n - 1])
        assert result[f"lag[{n - 1}].y"].at(t) == pytest.approx(exact, rel=1e-10)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("first", [None, 1e-9, 1e-5])
def test_a_short_first_piece_hides_no_rates_that_cancel(first: float | None) -> None:
    """Only some segments of a mode are looked into; a long one behind a short one was 4e-5 off, and finished."""
    model = ac.Circuit()
    source, ground = model.add("source", el.ConstantVoltage(V=1.0)), model.add("ground", el.Ground())
    slow, fast = model.add("slow", el.Resistor(R=1.3e6)), model.add("fast", el.Resistor(R=0.7e-6))
    near, far = model.add("near", el.Capacitor(C=1.1e-6)), model.add("far", el.Capacitor(C=0.9e-6))
    model.connect(source.p, slow.p)
    model.connect(slow.n, near.p, fast.p)
    model.connect(fast.n, far.p)
    model.connect(source.n, near.n, far.n, ground.p)
    run = ac.Program(model).start()
    with pytest.raises(ac.ConsistencyError, match="rates that cancel exceed the motion of"):
        if first is not None:
            run.advance(first)
        run.advance(1.0)


def sallen_key(gains: list[float]) -> ac.Component:
    """Low passes of second order with a corner at 1e4 per second, each behind the one before, at a step of 1 V."""
    model = ac.Circuit()
    source, ground = model.add("source", el.StepVoltage(V=1.0)), model.add("ground", el.Ground())
    before, returns = source.p, [source.n, ground.p]
    for k, gain in enumerate(gains):
        amplifier = model.add(f"op{k}", el.IdealOpAmp3Pin())
        first, second = model.add(f"ra{k}", el.Resistor(R=1e4)), model.add(f"rb{k}", el.Resistor(R=1e4))
        back, down = model.add(f"ca{k}", el.Capacitor(C=1e-8)), model.add(f"cb{k}", el.Capacitor(C=1e-8))
        low, high = (
            model.add(f"rg{k}", el.Resistor(R=1e3)),
            model.add(f"rf{k}", el.Resistor(R=1e3 * (gain - 1))),
        )
        model.connect(before, first.p)
        model.connect(first.n, second.p, back.p)
        model.connect(second.n, down.p, amplifier.in_p)
        model.connect(low.n, amplifier.in_n, high.p)
        model.connect(high.n, amplifier.out, back.n)
        returns += [down.n, low.p]
        before = amplifier.out
    model.connect(*returns)
    return model


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("gains", [[1.068, 1.586, 2.482], [2.482, 1.586, 1.068], [1.586] * 6, [2.2] * 8])
@pytest.mark.parametrize("end", [3e-6, 1e-5, 3e-5, 1e-4, 1e-3])
def test_what_a_cascade_hands_on_within_its_time_constants(gains: list[float], end: float) -> None:
    """Between modes 1e-16 of the first stage were left, where the last one had come to 1e-19 or 1e-9, and `check` failed."""
    result, n = ac.simulate(sallen_key(gains), end), len(gains)
    # y'' = w**2 (G u - y) - (3 - G) w y', in units of w.
    A = mp.zeros(2 * n + 1)
    for k in range(n):
        gain = 1 + mp.mpf(1e3 * (gains[k] - 1)) / 1000
        A[2 * k, 2 * k + 1], A[2 * k + 1, 2 * k], A[2 * k + 1, 2 * k + 1] = 1, -1, gain - 3
        A[2 * k + 1, 2 * k - 2 if k else 2 * n] = gain
    with mp.workdps(60):
        exact = float(mp.expm(A * mp.mpf(end) * 10000)[2 * n - 2, 2 * n])
    last = result[f"rf{n - 1}.n.v"]
    assert last.final == pytest.approx(exact, rel=1e-8)
    assert result.check().ok
