"""DC machines: nominal points, step responses, audits."""

import numpy as np
import pytest

from acausal import Circuit, Result, simulate
from acausal.components.electrical import ConstantCurrent, ConstantVoltage, Ground, Resistor, SineVoltage
from acausal.components.electromechanical import DC_ElectricalExcited, DC_PermanentMagnet, DC_SeriesExcited
from acausal.components.rotational import ConstantSpeed, ConstantTorque, Damper, Fixed
from acausal.components.thermal import FixedTemperature, HeatCapacitor, ThermalConductor
from acausal.errors import RequirementError
from tests.oracles.dc_machines import ConstantExcitation, separately_excited, series_excited

T = np.linspace(0.0, 1.0, 41)
W = 1425 * 2 * np.pi / 60
K = 95.0 / W
W_SERIES = 1410 * 2 * np.pi / 60
C = 94.0 / W_SERIES / 100.0


def supplied(machine, source, load, *, excitation=None) -> Circuit:
    """A machine at a source, with a one-flange load; a series machine is connected in series."""
    model = Circuit()
    for name, part in (("machine", machine), ("source", source), ("load", load), ("ground", Ground())):
        model.add(name, part)
    model.connect(source.p, machine.pin_ap)
    if isinstance(machine, DC_SeriesExcited):
        model.connect(machine.pin_an, machine.pin_ep)
        model.connect(machine.pin_en, source.n, model.ground.p)
    else:
        model.connect(machine.pin_an, source.n, model.ground.p)
    if excitation is not None:
        model.add("excitation", excitation)
        model.connect(excitation.p, machine.pin_ep)
        model.connect(excitation.n, machine.pin_en, model.ground.p)
    if isinstance(load, Damper):
        model.add("frame", Fixed())
        model.connect(model.frame.flange, load.flange_a)
        model.connect(machine.flange, load.flange_b)
    else:
        model.connect(machine.flange, load.flange)
    return model


def closed(result: Result, tolerance: float) -> bool:
    audit = result.audit()
    return abs(audit.balance) <= tolerance * max(abs(part.energy) for part in audit)


def test_permanent_magnet_machine_runs_up() -> None:
    model = supplied(DC_PermanentMagnet(), ConstantVoltage(V=100.0), ConstantTorque(tau_constant=-K * 20.0))
    result = simulate(model, 1.0)
    w, i = ConstantExcitation(V=100.0, R=0.05, L=1.5e-3, k=K, J=0.15, load=K * 20.0).speed_and_current(T)
    assert result.modes[0].path == "exact"
    assert result["machine.wMechanical"].at(T) == pytest.approx(w, abs=1e-11 * W)
    assert result["machine.ia"].at(T) == pytest.approx(i, abs=1e-11 * np.abs(i).max())
    assert result["machine.tauElectrical"].at(T) == pytest.approx(K * i, abs=1e-11 * K * np.abs(i).max())
    assert result["machine.tauShaft"].at(T) == pytest.approx(np.full_like(T, K * 20.0), rel=1e-12)
    assert closed(result, 1e-12)


@pytest.mark.parametrize(
    "machine, excitation, w",
    [
        (DC_PermanentMagnet(La=0.0, wMechanical=W), None, W),
        (DC_ElectricalExcited(La=0.0, ie=1.0, wMechanical=W), ConstantVoltage(V=100.0), W),
        (DC_SeriesExcited(ia=100.0, wMechanical=W_SERIES), None, W_SERIES),
    ],
    ids=lambda x: type(x).__name__ if hasattr(x, "Jr") else "",
)
def test_the_nominal_point_is_a_steady_state(machine, excitation, w: float) -> None:
    """Nominal voltage and torque at nominal speed: nominal current, and nothing changes."""
    tau = (100.0 - 6.0 if isinstance(machine, DC_SeriesExcited) else 95.0) / w * 100.0
    model = supplied(
        machine, ConstantVoltage(V=100.0), ConstantTorque(tau_constant=-tau), excitation=excitation
    )
    result = simulate(model, 1.0)
    assert result["machine.wMechanical"].at(T) == pytest.approx(np.full_like(T, w), rel=1e-9)
    assert result["machine.ia"].at(T) == pytest.approx(np.full_like(T, 100.0), rel=1e-7)


def test_separately_excited_machine_with_its_field_rising() -> None:
    model = supplied(
        DC_ElectricalExcited(Le=10.0),
        ConstantVoltage(V=100.0),
        Damper(d=0.3),
        excitation=ConstantVoltage(V=100.0),
    )
    result = simulate(model, 1.0, rtol=1e-9)
    ia, ie, w = separately_excited(100.0, 100.0, 0.05, 1.5e-3, 100.0, 10.0, K, 0.15, 0.3, T)
    assert result["machine.ie"].at(T) == pytest.approx(ie, abs=1e-7)
    assert result["machine.ia"].at(T) == pytest.approx(ia, abs=1e-7 * np.abs(ia).max())
    assert result["machine.wMechanical"].at(T) == pytest.approx(w, abs=1e-7 * W)
    assert closed(result, 1e-7)


def test_field_weakening_raises_the_speed_without_load() -> None:
    model = supplied(
        DC_ElectricalExcited(ie=0.5),
        ConstantVoltage(V=100.0),
        Damper(d=0.0),
        excitation=ConstantCurrent(I=-0.5),
    )
    result = simulate(model, 10.0)
    assert result["machine.wMechanical"].final == pytest.approx(100.0 / (0.5 * K), rel=1e-6)


def test_shunt_machine_keeps_its_speed_when_the_voltage_changes() -> None:
    """Excitation from the same supply: ``w = (V - Ra * ia) / (k * V / (Re * IeNominal))``, without load independent of V."""
    machine = DC_ElectricalExcited(ie=0.8)
    model = supplied(machine, ConstantVoltage(V=80.0), Damper(d=0.0))
    model.connect(machine.pin_ep, machine.pin_ap)
    model.connect(machine.pin_en, machine.pin_an)
    result = simulate(model, 5.0)
    assert result["machine.wMechanical"].final == pytest.approx(100.0 / K, rel=1e-6)


def test_series_machine_runs_up() -> None:
    model = supplied(DC_SeriesExcited(), ConstantVoltage(V=100.0), Damper(d=0.4))
    result = simulate(model, 1.0, rtol=1e-9)
    i, w = series_excited(100.0, 0.06, 2e-3, C, 0.15, 0.4, T)
    assert result["machine.ia"].at(T) == pytest.approx(i, abs=1e-7 * i.max())
    assert result["machine.ie"].at(T) == pytest.approx(i, abs=1e-7 * i.max())
    assert result["machine.wMechanical"].at(T) == pytest.approx(w, abs=1e-7 * w.max())
    assert closed(result, 1e-7)


def test_series_machine_turns_one_way_on_alternating_current() -> None:
    """Held still: ``L i' + R i = V sin``, and a torque ``c * i**2`` of one sign."""
    model = supplied(DC_SeriesExcited(), SineVoltage(V=20.0, f=50.0), ConstantSpeed(w_fixed=0.0))
    result = simulate(model, 0.6, rtol=1e-8)
    Z = 0.06 + 1j * 2 * np.pi * 50.0 * 2e-3
    mean = C * abs(20.0 / Z) ** 2 / 2
    assert result["machine.tauElectrical"].mean(0.5, 0.6) == pytest.approx(mean, rel=1e-6)
    assert result["machine.tauElectrical"].at(np.linspace(0.5, 0.6, 201)).min() > -1e-9 * mean


def test_a_generator_feeds_a_resistor() -> None:
    model = supplied(DC_PermanentMagnet(), Resistor(R=0.95), ConstantSpeed(w_fixed=W))
    result = simulate(model, 1.0)
    assert result["machine.ia"].final == pytest.approx(-95.0 / 1.0, rel=1e-12)
    assert result["source.v"].final == pytest.approx(95.0 * 0.95, rel=1e-12)
    assert closed(result, 1e-12)


def test_a_nominal_point_that_the_resistance_takes_up_is_refused() -> None:
    model = supplied(DC_PermanentMagnet(Ra=1.0), ConstantVoltage(V=100.0), ConstantTorque(tau_constant=0.0))
    with pytest.raises(RequirementError, match="none is left"):
        simulate(model, 1.0)


ALPHA = 3.92e-3


def winding(R: float, T_ref: float, T: float) -> float:
    """Resistance at ``T`` of a copper winding that has ``R`` at ``T_ref``: proportional to ``T - 293.15 + 1 / ALPHA``."""
    return R * (T - 293.15 + 1 / ALPHA) / (T_ref - 293.15 + 1 / ALPHA)


def test_a_motor_heats_its_winding_to_a_balance_of_heat() -> None:
    """At constant current and held still: ``C T' = R(T) I**2 - G (T - Ta)``, linear in T."""
    machine = DC_PermanentMagnet(Ra=0.05, TaRef=333.15, alpha20a=ALPHA, useThermalPort=True)
    model = supplied(machine, ConstantCurrent(I=-80.0), ConstantSpeed(w_fixed=0.0))
    body, way = model.add("body", HeatCapacitor(C=400.0, T=300.0)), model.add("way", ThermalConductor(G=5.0))
    room = model.add("room", FixedTemperature(T=300.0))
    model.connect(machine.heatPortArmature, body.port, way.port_a)
    model.connect(way.port_b, room.port)
    result = simulate(model, 600.0, rtol=1e-9)
    t = np.linspace(0.0, 600.0, 13)
    heat = winding(0.05, 333.15, 300.0) * 6400.0
    rate = (5.0 - (winding(0.05, 333.15, 301.0) - winding(0.05, 333.15, 300.0)) * 6400.0) / 400.0
    rise = heat / (400.0 * rate) * (1 - np.exp(-rate * t))
    assert result["body.T"].at(t) == pytest.approx(300.0 + rise, abs=1e-6)
    assert closed(result, 1e-7)


def test_a_warm_series_machine_is_nominal_at_its_nominal_temperatures() -> None:
    """Resistances at the temperatures of the nominal point: nominal current at nominal speed and voltage."""
    machine = DC_SeriesExcited(
        ia=100.0,
        wMechanical=W_SERIES,
        useThermalPort=True,
        alpha20a=ALPHA,
        alpha20e=ALPHA,
        TaNominal=368.15,
        TeNominal=353.15,
    )
    model = supplied(machine, ConstantVoltage(V=100.0), ConstantSpeed(w_fixed=W_SERIES))
    model.add("armature", FixedTemperature(T=368.15))
    model.add("excitation", FixedTemperature(T=353.15))
    model.connect(machine.heatPortArmature, model.armature.port)
    model.connect(machine.heatPortExcitation, model.excitation.port)
    result = simulate(model, 0.1)
    assert result["machine.ia"].at([0.0, 0.1]) == pytest.approx([100.0, 100.0], rel=1e-9)
    warm = [winding(0.05, 293.15, 368.15), winding(0.01, 293.15, 353.15)]
    assert [result[f"{n}.port.Q_flow"].at(0.1) for n in ("armature", "excitation")] == pytest.approx(
        [R * 1e4 for R in warm], rel=1e-9
    )
