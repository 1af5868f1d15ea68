"""Ideal switches, diode and thyristors against closed forms."""

import numpy as np
import pytest

from acausal import simulate
from acausal.components.blocks import BooleanPulse
from acausal.components.electrical import (
    Capacitor,
    ConstantCurrent,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    IdealGTOThyristor,
    IdealOpeningSwitch,
    IdealThyristor,
    IdealTriac,
    IdealTwoWaySwitch,
    Inductor,
    RampVoltage,
    Resistor,
    SineVoltage,
)
from acausal.errors import FlowInterruptedError, RequirementError
from acausal.modeling import Circuit, Expr, Impulse, time
from tests.components.electrical.circuits import loop

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
F = 50.0
T = 1 / F
V = 10.0
NEVER = time < 0
ALWAYS = time >= 0


def between(start: float, stop: float) -> Expr:
    return (time >= start) & (time < stop)


def sine(t: np.ndarray) -> np.ndarray:
    return V * np.sin(2 * np.pi * F * t)


def instants(*edges: float, stop: float) -> np.ndarray:
    """Times over the run that keep clear of the given edges, where the values jump."""
    t = np.linspace(0, stop, 401)
    return t[np.all(np.abs(t[:, None] - np.array(edges)) > 1e-6 * stop, axis=1)]


# -- switches --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("Ron", "Goff"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.25), (0.5, 0.25)])
@pytest.mark.parametrize("closing", [True, False])
def test_switches_divide_with_ron_and_goff(closing: bool, Ron: float, Goff: float) -> None:
    kind = IdealClosingSwitch if closing else IdealOpeningSwitch
    switch = kind(Ron=Ron, Goff=Goff, control=between(1.0, 2.0))
    result = simulate(loop(source=ConstantVoltage(V=V), switch=switch, load=Resistor(R=2.0)), 3.0)
    closed, opened = V / (2.0 + Ron), V * Goff / (1 + 2.0 * Goff)
    inside, outside = (closed, opened) if closing else (opened, closed)
    np.testing.assert_allclose(
        result["load.i"].at(np.array([0.5, 1.0, 1.5, 2.0, 2.5])),
        [outside, inside, inside, outside, outside],
        **CLOSE,
    )
    assert result["load.i"].at(1.0, side="left") == pytest.approx(outside)
    assert result["switch.closed"].at(1.5) == closing
    assert result["switch.closed"].at(2.5) != closing


def test_closing_a_switch_shares_the_charge() -> None:
    """Two capacitors: the charge stays, half of the energy of the difference is lost."""
    switch = IdealClosingSwitch(control=time >= 1e-3)
    c = loop(a=Capacitor(C=2e-6, v=9.0), switch=switch, b=Capacitor(C=1e-6, v=0.0))
    result = simulate(c, 2e-3)
    assert result["a.v"].at(1e-3, side="left") == pytest.approx(9)
    assert result["a.v"].at(1e-3) == pytest.approx(6)
    assert result["b.v"].final == pytest.approx(6)


def chopped(interrupt: Impulse) -> Circuit:
    switch = IdealOpeningSwitch(control=time >= 0.5, interrupt=interrupt)
    return loop(source=ConstantVoltage(V=V), switch=switch, inductor=Inductor(L=2.0))


def test_opening_an_inductive_current_is_an_error() -> None:
    with pytest.raises(FlowInterruptedError, match="switch"):
        simulate(chopped(Impulse.ERROR), 1.0)
    with pytest.raises(FlowInterruptedError, match="switch"):
        simulate(chopped(Impulse.DEFAULT), 1.0)


def test_opening_an_inductive_current_can_be_allowed() -> None:
    for result in (
        simulate(chopped(Impulse.ALLOW), 1.0),
        simulate(chopped(Impulse.DEFAULT), 1.0, impulses="allow"),
    ):
        assert result["inductor.i"].at(0.5, side="left") == pytest.approx(2.5)
        np.testing.assert_allclose(result["inductor.i"].at(np.array([0.5, 0.7, 1.0])), 0, atol=1e-9)


def changeover(switch: IdealTwoWaySwitch, feed: Inductor | ConstantCurrent | ConstantVoltage) -> Circuit:
    """A feed into ``p``, resistors of 2 and 4 from ``n1`` and ``n2`` to ground."""
    c = Circuit()
    c.add("feed", feed)
    c.add("switch", switch)
    r1, r2, ground = c.add("r1", Resistor(R=2.0)), c.add("r2", Resistor(R=4.0)), c.add("ground", Ground())
    c.connect(feed.p, switch.p)
    c.connect(switch.n1, r1.p)
    c.connect(switch.n2, r2.p)
    c.connect(ground.p, feed.n, r1.n, r2.n)
    return c


@pytest.mark.parametrize(("Ron", "Goff"), [(0.0, 0.0), (0.5, 0.1)])
def test_two_way_switch_changes_over(Ron: float, Goff: float) -> None:
    switch = IdealTwoWaySwitch(Ron=Ron, Goff=Goff, control=between(1.0, 2.0))
    result = simulate(changeover(switch, ConstantVoltage(V=V)), 3.0)
    t = np.array([0.5, 1.5, 2.5])
    on1, off1 = V / (2 + Ron), V * Goff / (1 + 2 * Goff)
    on2, off2 = V / (4 + Ron), V * Goff / (1 + 4 * Goff)
    np.testing.assert_allclose(result["r1.i"].at(t), [on1, off1, on1], **CLOSE)
    np.testing.assert_allclose(result["r2.i"].at(t), [off2, on2, off2], **CLOSE)
    assert result["switch.closed1"].at(0.5) and result["switch.closed2"].at(1.5)


def test_two_way_switch_does_not_interrupt_its_common_pin() -> None:
    """An inductor at ``p`` decays with one time constant, then with the other."""
    result = simulate(changeover(IdealTwoWaySwitch(control=time >= 1.0), Inductor(L=2.0, i=-3.0)), 2.0)
    np.testing.assert_allclose(
        result["feed.i"].at(np.array([1.0, 2.0])), [-3 * np.exp(-1), -3 * np.exp(-3)], **CLOSE
    )
    assert result["r2.v"].at(1.0) == pytest.approx(4 * 3 * np.exp(-1))


# -- diode -----------------------------------------------------------------------------------------------------

DIODES = [(Ron, Goff, Vknee) for Ron in (0.0, 0.3) for Goff in (0.0, 0.2) for Vknee in (0.0, 0.7)]


def diode_point(
    E: np.ndarray, R: float, Ron: float, Goff: float, Vknee: float
) -> tuple[np.ndarray, np.ndarray]:
    """Voltage and current where the load line ``v = E - R * i`` meets the two lines of the diode."""
    blocked = E / (1 + R * Goff)
    i = np.where(blocked < Vknee, Goff * blocked, (E - Vknee * (1 - Ron * Goff)) / (R + Ron))
    return E - R * i, i


@pytest.mark.parametrize(("Ron", "Goff", "Vknee"), DIODES)
def test_diode_characteristic(Ron: float, Goff: float, Vknee: float) -> None:
    source = RampVoltage(V=7.0, offset=-3.0, duration=1.0)
    circuit = loop(source=source, load=Resistor(R=2.0), diode=IdealDiode(Ron=Ron, Goff=Goff, Vknee=Vknee))
    result = simulate(circuit, 1.0)
    t = np.linspace(0, 1, 141)
    v, i = diode_point(-3 + 7 * t, 2.0, Ron, Goff, Vknee)
    np.testing.assert_allclose(result["diode.v"].at(t), v, **CLOSE)
    np.testing.assert_allclose(result["diode.i"].at(t), i, **CLOSE)
    assert np.all(result["diode.v"].values * result["diode.i"].values >= -1e-12)
    assert not result["diode.on"].at(0.1) and result["diode.on"].at(0.9)


@pytest.mark.parametrize(("Ron", "Goff", "Vknee"), DIODES)
def test_losses_given_for_one_run(Ron: float, Goff: float, Vknee: float) -> None:
    """Zero and non-zero losses on one model: the structure follows the values."""
    circuit = loop(
        source=RampVoltage(V=7.0, offset=-3.0, duration=1.0), load=Resistor(R=2.0), diode=IdealDiode()
    )
    result = simulate(circuit, 1.0, parameters={"diode.Ron": Ron, "diode.Goff": Goff, "diode.Vknee": Vknee})
    t = np.linspace(0, 1, 15)
    np.testing.assert_allclose(
        result["diode.i"].at(t), diode_point(-3 + 7 * t, 2.0, Ron, Goff, Vknee)[1], **CLOSE
    )


def test_diodes_in_series_share_the_reverse_voltage() -> None:
    """Nothing but equal leakage decides it."""
    circuit = loop(source=SineVoltage(V=V, f=F), a=IdealDiode(), b=IdealDiode(), load=Resistor(R=5.0))
    result = simulate(circuit, T)
    for name in ("a.v", "b.v"):
        np.testing.assert_allclose(result[name].at(np.array([0.25, 0.75]) * T), [0, -V / 2], **CLOSE)


def test_half_wave_rectifier() -> None:
    result = simulate(loop(source=SineVoltage(V=V, f=F), diode=IdealDiode(), load=Resistor(R=5.0)), 2 * T)
    t = np.linspace(0, 2 * T, 201)
    np.testing.assert_allclose(result["load.v"].at(t), np.maximum(sine(t), 0), atol=1e-8)
    assert result["load.v"].mean(0, 2 * T) == pytest.approx(V / np.pi)
    assert result["load.v"].rms(0, 2 * T) == pytest.approx(V / 2)


def test_diode_carries_an_inductive_current_on() -> None:
    """Free wheeling: the current passes from the switch to the diode and stays constant."""
    c = Circuit()
    source, switch = (
        c.add("source", ConstantVoltage(V=V)),
        c.add("switch", IdealClosingSwitch(control=time < 0.5)),
    )
    diode, inductor, ground = (
        c.add("diode", IdealDiode()),
        c.add("inductor", Inductor(L=2.0)),
        c.add("ground", Ground()),
    )
    c.connect(source.p, switch.p)
    c.connect(switch.n, diode.n, inductor.p)
    c.connect(ground.p, source.n, diode.p, inductor.n)
    result = simulate(c, 1.0)
    np.testing.assert_allclose(result["inductor.i"].at(np.array([0.25, 0.5, 1.0])), [1.25, 2.5, 2.5], **CLOSE)
    np.testing.assert_allclose(result["diode.i"].at(np.array([0.25, 0.5, 1.0])), [0, 2.5, 2.5], **CLOSE)


@pytest.mark.parametrize("kind", [IdealDiode, IdealThyristor, IdealGTOThyristor])
def test_lines_that_do_not_meet_are_refused(kind: type[IdealDiode]) -> None:
    gate = {} if kind is IdealDiode else {"fire": ALWAYS}
    part = kind(Ron=2.0, Goff=0.5, **gate)
    with pytest.raises(RequirementError, match="Ron \\* Goff"):
        simulate(loop(source=ConstantVoltage(V=V), part=part, load=Resistor(R=1.0)), 1.0)


# -- thyristors ------------------------------------------------------------------------------------------------


def test_thyristor_latches_until_its_current_is_zero() -> None:
    alpha, stop = 0.2 * T, 2 * T
    part = IdealThyristor(fire=between(alpha, alpha + 0.01 * T))
    result = simulate(loop(source=SineVoltage(V=V, f=F), thyristor=part, load=Resistor(R=5.0)), stop)
    t = instants(alpha, stop=stop)
    conducting = (t > alpha) & (t < T / 2)
    np.testing.assert_allclose(result["load.v"].at(t), np.where(conducting, sine(t), 0), atol=1e-8)
    assert result["thyristor.on"].at(alpha)
    assert not result["thyristor.on"].at(alpha, side="left")
    mean = V / (2 * np.pi) * (np.cos(2 * np.pi * 0.2) + 1) * T
    assert result["load.v"].mean(0, stop) * stop == pytest.approx(mean)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
@pytest.mark.parametrize("alone", [True, False])
def test_thyristors_in_series_have_to_be_fired_together(alone: bool, method: str) -> None:
    """One that is fired alone carries nothing and blocks again when its pulse ends, whatever is fired later."""
    parts = {
        "source": ConstantVoltage(V=V),
        "first": IdealThyristor(fire=between(1.0, 2.0)),
        "second": IdealThyristor(fire=between(3.0 if alone else 1.5, 4.0)),
        "load": Resistor(R=2.0),
        "choke": Inductor(L=0.1),
    }
    result = simulate(loop(**parts), 5.0, method=method)
    assert result["first.on"].at(1.5)
    assert result["first.on"].at(3.5) == (not alone)
    assert result["load.i"].final == pytest.approx(0.0 if alone else V / 2.0, rel=1e-6, abs=1e-12)
    assert result.check().ok


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("width", "conducts"), [(10.0, False), (70.0, True)])
def test_a_six_pulse_bridge_needs_pulses_that_overlap(width: float, conducts: bool, backwards: bool) -> None:
    """Fired at 80 degrees with a resistor behind it, where its current has gaps (Mohan, Undeland, Robbins, chapter 6)."""
    circuit, amplitude, angle, resistance = Circuit(), 325.0, 80.0, 10.0
    ground, load = circuit.add("ground", Ground()), circuit.add("load", Resistor(R=resistance))
    for k in (2, 1, 0) if backwards else (0, 1, 2):
        source = circuit.add(f"v{k}", SineVoltage(V=amplitude, f=F, phase=-2 * np.pi * k / 3))
        circuit.connect(source.n, ground.p)
        for name, begin, pin in ((f"u{k}", 30 + 120 * k, load.p), (f"l{k}", 210 + 120 * k, load.n)):
            start = (begin + angle) % 360 / 360 * T
            pulse = circuit.add(f"f{name}", BooleanPulse(period=T, width=width / 3.6, startTime=start))
            part = circuit.add(name, IdealThyristor(fire=pulse.y))
            inner, outer = (part.p, part.n) if name[0] == "u" else (part.n, part.p)
            circuit.connect(source.p, inner)
            circuit.connect(outer, pin)
    result = simulate(circuit, 3 * T)
    mean = 3 * np.sqrt(3) * amplitude / (np.pi * resistance) * (1 + np.cos(np.radians(angle + 60)))
    assert result["load.i"].mean(T, 3 * T) == pytest.approx(mean if conducts else 0.0, rel=1e-9, abs=1e-12)


def test_thyristor_does_not_fire_backward() -> None:
    """Fired in the negative half wave only: nothing. Still fired at the next zero crossing: conducts from there."""
    for fire, end in ((between(0.6 * T, 0.9 * T), T), (between(0.6 * T, 1.1 * T), 1.5 * T)):
        part = IdealThyristor(fire=fire)
        result = simulate(loop(source=SineVoltage(V=V, f=F), thyristor=part, load=Resistor(R=5.0)), 2 * T)
        t = np.linspace(0, 2 * T, 401)
        expected = np.where((t > T) & (t < end), sine(t), 0)
        np.testing.assert_allclose(result["load.v"].at(t), expected, atol=1e-8)


def test_a_thyristor_that_is_always_fired_is_a_diode() -> None:
    part = IdealThyristor(fire=ALWAYS, Ron=0.3, Goff=0.2, Vknee=0.7)
    result = simulate(loop(source=SineVoltage(V=V, f=F), load=Resistor(R=2.0), thyristor=part), 2 * T)
    t = np.linspace(0, 2 * T, 201)
    v, i = diode_point(sine(t), 2.0, 0.3, 0.2, 0.7)
    np.testing.assert_allclose(result["thyristor.v"].at(t), v, atol=1e-8)
    np.testing.assert_allclose(result["thyristor.i"].at(t), i, atol=1e-8)


def test_thyristor_holds_an_inductive_current_beyond_the_zero_of_the_source() -> None:
    """R-L load fired at alpha: conducts to the root beta of the load current."""
    from scipy.optimize import brentq

    R, L, alpha = 5.0, 20e-3, 0.2 * T
    w = 2 * np.pi * F
    Z, phi = np.hypot(R, w * L), np.arctan2(w * L, R)

    def current(t: np.ndarray | float) -> np.ndarray | float:
        return V / Z * (np.sin(w * t - phi) - np.sin(w * alpha - phi) * np.exp(-(t - alpha) * R / L))

    beta = brentq(current, 0.5 * T, T, xtol=1e-16)
    c = loop(
        source=SineVoltage(V=V, f=F),
        thyristor=IdealThyristor(fire=between(alpha, 0.3 * T)),
        R=Resistor(R=R),
        L=Inductor(L=L),
    )
    result = simulate(c, T)
    t = np.linspace(0, T, 201)
    np.testing.assert_allclose(
        result["L.i"].at(t), np.where((t > alpha) & (t < beta), current(t), 0), atol=1e-9
    )
    assert not result["thyristor.on"].at(beta + 1e-9 * T)
    assert result["thyristor.on"].at(beta - 1e-9 * T)


def test_gto_turns_off_with_its_gate() -> None:
    part = IdealGTOThyristor(fire=between(0.1 * T, 0.3 * T))
    result = simulate(loop(source=SineVoltage(V=V, f=F), gto=part, load=Resistor(R=5.0)), T)
    t = instants(0.1 * T, 0.3 * T, stop=T)
    np.testing.assert_allclose(
        result["load.v"].at(t), np.where((t > 0.1 * T) & (t < 0.3 * T), sine(t), 0), atol=1e-8
    )
    assert result["gto.on"].at(0.3 * T, side="left") and not result["gto.on"].at(0.3 * T)


def test_gto_blocks_backward() -> None:
    part = IdealGTOThyristor(fire=ALWAYS, Vknee=1.0)
    result = simulate(loop(source=SineVoltage(V=V, f=F), gto=part, load=Resistor(R=5.0)), T)
    t = np.linspace(0, T, 201)
    np.testing.assert_allclose(result["load.v"].at(t), np.maximum(sine(t) - 1.0, 0), atol=1e-8)


# -- triac -----------------------------------------------------------------------------------------------------


def test_triac_controls_both_half_waves() -> None:
    alpha, stop = 0.15 * T, 2 * T
    gate = between(alpha, alpha + 0.02 * T) | between(0.5 * T + alpha, 0.52 * T + alpha)
    result = simulate(
        loop(source=SineVoltage(V=V, f=F), triac=IdealTriac(fire=gate), load=Resistor(R=5.0)), stop
    )
    t = instants(alpha, 0.5 * T + alpha, stop=stop)
    expected = np.where((t < T) & (t % (T / 2) > alpha), sine(t), 0)
    np.testing.assert_allclose(result["load.v"].at(t), expected, atol=1e-8)
    a = 2 * np.pi * 0.15
    assert result["load.v"].rms(0, T) == pytest.approx(
        V * np.sqrt((np.pi - a + np.sin(2 * a) / 2) / (2 * np.pi))
    )


def test_a_triac_that_is_always_fired_conducts_both_ways() -> None:
    triac = IdealTriac(fire=ALWAYS, Vknee=0.8)
    result = simulate(loop(source=SineVoltage(V=V, f=F), triac=triac, load=Resistor(R=5.0)), T)
    t = np.linspace(0, T, 201)
    u = sine(t)
    np.testing.assert_allclose(result["load.v"].at(t), np.sign(u) * np.maximum(np.abs(u) - 0.8, 0), atol=1e-8)


def test_a_fired_triac_without_threshold_is_a_connection() -> None:
    result = simulate(
        loop(source=SineVoltage(V=V, f=F), triac=IdealTriac(fire=ALWAYS), load=Resistor(R=5.0)), 2 * T
    )
    t = np.linspace(0, 2 * T, 201)
    np.testing.assert_allclose(result["load.v"].at(t), sine(t), atol=1e-8)


def test_a_triac_that_is_never_fired_leaks() -> None:
    triac = IdealTriac(fire=NEVER, Goff=0.05)
    result = simulate(loop(source=SineVoltage(V=V, f=F), triac=triac, load=Resistor(R=5.0)), T)
    t = np.linspace(0, T, 101)
    np.testing.assert_allclose(result["triac.i"].at(t), sine(t) * 0.1 / (1 + 5 * 0.1), atol=1e-9)
