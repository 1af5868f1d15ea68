"""Ideal converters: a speaker coil, a generator, and the balance of both powers."""

import numpy as np
import pytest

from acausal import Circuit, simulate
from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, Resistor
from acausal.components.electromechanical import RotationalEMF, TranslationalEMF
from acausal.components.rotational import ConstantSpeed, ConstantTorque, Inertia
from acausal.components.translational import Fixed, Mass, Spring

T = np.linspace(0.0, 2.0, 41)


def across(emf, *others) -> Circuit:
    """Named parts in a loop with an EMF, ``n`` of the EMF grounded."""
    model = Circuit()
    model.add("emf", emf)
    ground = model.add("ground", Ground())
    node = emf.p
    for name, part in others:
        model.add(name, part)
        model.connect(node, part.p)
        node = part.n
    model.connect(node, emf.n, ground.p)
    return model


def test_generator_at_constant_speed() -> None:
    model = across(RotationalEMF(k=0.5), ("load", Resistor(R=4.0)))
    drive = model.add("drive", ConstantSpeed(w_fixed=40.0))
    model.connect(drive.flange, model.emf.flange)
    result = simulate(model, 2.0)
    assert result["emf.v"].at(T) == pytest.approx(np.full_like(T, 20.0), rel=1e-13)
    assert result["emf.i"].at(T) == pytest.approx(np.full_like(T, -5.0), rel=1e-13)
    assert result["emf.flange.tau"].at(T) == pytest.approx(np.full_like(T, 2.5), rel=1e-13)
    assert result.energy("drive") == pytest.approx(-200.0, rel=1e-12)
    assert result.energy("load") == pytest.approx(200.0, rel=1e-12)
    assert result.energy("emf") == pytest.approx(0.0, abs=1e-10)


def test_an_inertia_behind_an_emf_is_a_capacitance() -> None:
    """``C = J / k**2``: a charged capacitor and the rotor share charge through a resistor."""
    model = across(RotationalEMF(k=0.5), ("R", Resistor(R=2.0)), ("C", Capacitor(C=0.25, v=8.0)))
    rotor = model.add("rotor", Inertia(J=0.1875))
    model.connect(model.emf.flange, rotor.flange_a)
    result = simulate(model, 2.0)
    decay = np.exp(-T / (2.0 * 0.1875))
    assert result["emf.v"].at(T) == pytest.approx(2.0 * (1.0 - decay), abs=1e-12)
    assert result["emf.w"].at(T) == pytest.approx(4.0 * (1.0 - decay), abs=1e-12)
    assert result.audit().balance == pytest.approx(0.0, abs=1e-12 * 8.0)


def test_an_emf_at_an_ideal_source_prescribes_the_speed() -> None:
    model = across(RotationalEMF(k=0.5), ("source", ConstantVoltage(V=10.0)))
    rotor, load = model.add("rotor", Inertia(J=0.3)), model.add("load", ConstantTorque(tau_constant=-1.5))
    model.connect(model.emf.flange, rotor.flange_a)
    model.connect(rotor.flange_b, load.flange)
    result = simulate(model, 2.0)
    assert result["rotor.w"].at(T) == pytest.approx(np.full_like(T, 20.0), rel=1e-13)
    assert result["emf.i"].at(T) == pytest.approx(np.full_like(T, 3.0), rel=1e-12)


def test_voice_coil_on_a_spring() -> None:
    """``m * s'' + k**2 / R * s' + c * s = k * V / R``."""
    model = across(TranslationalEMF(k=3.0), ("R", Resistor(R=6.0)), ("source", ConstantVoltage(V=4.0)))
    cone, spring, frame = (
        model.add("cone", Mass(m=0.5)),
        model.add("spring", Spring(c=8.0)),
        model.add("frame", Fixed()),
    )
    model.connect(model.emf.flange, cone.flange_a)
    model.connect(cone.flange_b, spring.flange_b)
    model.connect(spring.flange_a, frame.flange)
    result = simulate(model, 2.0)
    w = np.sqrt(8.0 / 0.5 - 1.5**2)
    s = 0.25 * (1.0 - np.exp(-1.5 * T) * (np.cos(w * T) + 1.5 / w * np.sin(w * T)))
    assert result["cone.s"].at(T) == pytest.approx(s, abs=1e-13)
    assert result["emf.v"].at(T) == pytest.approx(3.0 * result["cone.v"].at(T), abs=1e-13)
    assert result.energy("emf") == pytest.approx(0.0, abs=1e-12)
