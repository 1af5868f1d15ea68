"""Piecewise-affine models of the tests in these folders, each with a span that a numerical integration takes quickly."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from acausal import ChatteringError, Component, ContradictorySourcesError, FlowInterruptedError, time
from acausal.components.electrical import (
    Capacitor,
    IdealClosingSwitch,
    IdealDiode,
    IdealGTOThyristor,
    IdealThyristor,
    Inductor,
)
from tests.components.rotational.test_drive_train import DriveTrain
from tests.oracles import dc_dc
from tests.oracles.networks import random_network
from tests.semantics.test_s12_if import Hysteresis
from tests.semantics.test_s13_modes import Cycle, Gated
from tests.systems import general_path_models as models
from tests.systems import (
    network_models,
    test_bridges,
    test_capacitors_and_flows,
    test_grazing,
    test_half_wave,
)
from tests.systems.ladder import Ladder
from tests.systems.test_dc_dc import converter
from tests.systems.test_edge_cases import Ball, Toggled
from tests.systems.test_flyback import Flyback
from tests.systems.test_inverter import Inverter
from tests.systems.test_lossy_bridge import LossyBridge
from tests.systems.test_multiplier import multiplier
from tests.systems.test_scaling import Buck
from tests.systems.test_six_pulse import SixPulseBridge
from tests.systems.test_thyristors import ThyristorBridge

T = 0.02
ALWAYS = time >= 0
RUNNING = (4, 5, 7, 14, 16, 19, 22, 31)
"""Unrestricted random networks that have a consistent mode throughout."""


@dataclass(frozen=True, eq=False)
class Case:
    """A model, its span in seconds, and options of the run."""

    build: Callable[[], Component]
    span: float
    options: Mapping[str, Any] = field(default_factory=dict)


CASES = {
    "series RLC": Case(models.series_rlc, 5e-3),
    "freewheeling": Case(models.freewheeling, 0.1),
    "charging to rest": Case(models.charging, 0.1),
    "half wave": Case(lambda: test_half_wave.half_wave(0.05), 3 * T),
    "half wave, leaking": Case(lambda: test_half_wave.half_wave(0.05, Goff=1e-4), T),
    "bridge at a resistor": Case(models.bridge_at_resistor, 2 * T),
    "bridge at a choke": Case(models.bridge_at_choke, 2 * T),
    "bridge at a capacitor": Case(models.bridge_at_capacitor, 2 * T),
    **{
        f"bridge with capacitor load, ground {g}": Case(lambda g=g: test_bridges.capacitor_load(g), 2.9 * T)
        for g in ("minus", "b", "elsewhere")
    },
    "oscillator damped by a bridge": Case(models.damped_oscillator, 2e-3),
    **{
        f"{c.kind} {'DCM' if c.R > 100 else 'CCM'}": Case(lambda c=c: converter(c), 40 / c.f)
        for c in (
            dc_dc.BUCK_CCM,
            dc_dc.BUCK_DCM,
            dc_dc.BOOST_CCM,
            dc_dc.BOOST_DCM,
            dc_dc.BUCK_BOOST_CCM,
            dc_dc.BUCK_BOOST_DCM,
        )
    },
    **{
        f"buck, impedances {z:g}, times {s:g}": Case(
            lambda z=z, s=s: Buck(R=100.0, impedance=z, slowness=s), 30 * 10e-6 * s
        )
        for z, s in ((1e-6, 1e3), (1e6, 1e-3))
    },
    "flyback": Case(Flyback, 40 * 10e-6),
    "six pulse, ideal lines": Case(lambda: SixPulseBridge(Ls=0.0), T),
    "six pulse": Case(lambda: SixPulseBridge(Ls=1e-3, Rs=0.1), 2 * T),
    "thyristor bridge": Case(lambda: ThyristorBridge(alpha=np.deg2rad(40)), 2 * T),
    "thyristor bridge at a resistor": Case(lambda: ThyristorBridge(alpha=np.deg2rad(90), L=0.0), 2 * T),
    "gate pulse that is lost": Case(
        lambda: models.battery_charger((time >= 0.2 * T / 12) & (time < 0.999 * T / 12)), 2 * T
    ),
    "gate pulse that fires": Case(
        lambda: models.battery_charger((time >= 0.2 * T / 12) & (time < 1.001 * T / 12)), 2 * T
    ),
    "triac": Case(models.triac, 2.0),
    "inverter": Case(Inverter, T / 4),
    "multiplier": Case(lambda: multiplier(0.0, 1e6), 5 * T),
    "low-pass": Case(models.low_pass, 60.0),
    "series inductors": Case(models.series_inductors, 1.0),
    "joined capacitors": Case(
        test_capacitors_and_flows.two_capacitors, 2e-3, {"initial": {"c1.v": 10.0, "c2.v": 0.0}}
    ),
    "coil and diode": Case(lambda: test_capacitors_and_flows.coil(diode=True), 0.02),
    "coil that is cut": Case(
        lambda: test_capacitors_and_flows.coil(diode=False), 0.02, {"impulses": "allow"}
    ),
    **{
        f"{kind.__name__} {law} {type(load).__name__}": Case(
            lambda kind=kind, law=law, load=load: models.element(
                kind(
                    Ron=law[0],
                    Goff=law[1],
                    Vknee=law[2],
                    **({} if kind is IdealDiode else {"fire": ALWAYS}),
                ),
                *([("storage", load)] if load else []),
            ),
            2 * T,
        )
        for (kind, law), load in product(
            (
                (IdealDiode, (0.0, 1e-9, 0.7)),
                (IdealThyristor, (0.1, 1e-4, 9.0)),
                (IdealGTOThyristor, (1e-6, 0.0, 0.7)),
            ),
            (None, Capacitor(C=1e-3)),
        )
    },
    "diode (0.1, 0, 0.7) Inductor": Case(
        lambda: models.element(IdealDiode(Ron=0.1, Vknee=0.7), ("storage", Inductor(L=5e-3))), 2 * T
    ),
    "switch with leakage": Case(
        lambda: models.element(
            IdealClosingSwitch(Ron=1e-6, Goff=0.25, control=(time >= 0.006) & (time < 0.016))
        ),
        T,
    ),
    **{
        f"grazing 1e-{k}": Case(lambda k=k: test_grazing.charger(1 + 10.0**-k, phase=0.3), 3 * T)
        for k in (1, 3, 5, 7, 9)
    },
    **{f"below by 1e-{k}": Case(lambda k=k: test_grazing.charger(1 - 10.0**-k), 3 * T) for k in (1, 5, 9)},
    "touching": Case(lambda: test_grazing.charger(1.0), 3 * T),
    **{
        f"grazing 1e-{k} with a state": Case(
            lambda k=k: test_grazing.charger(1 + 10.0**-k, phase=0.2, L=1e-4), 3 * T
        )
        for k in (2, 4)
    },
    "ladder": Case(lambda: Ladder(n=12), 1.0),
    "ball": Case(models.ball, 3.0),
    "ball with reinit": Case(Ball, 3.0),
    "impact of two masses": Case(models.two_balls, 2.0),
    "two stops": Case(models.two_stops, 4.9),
    "leaving a stop": Case(models.leaving_a_stop, 5.0),
    "spring and mass": Case(models.spring_and_mass, 12.0),
    "stick-slip": Case(models.stick_slip, 60.0),
    "oscillator with friction": Case(models.damped_by_friction, 6.0),
    "clutch": Case(models.clutch, 4.0),
    "brake": Case(models.brake, 8.0),
    "drive train": Case(DriveTrain, 3.0),
    "dog clutch": Case(models.DogClutch, 4.0),
    "backlash": Case(models.Backlash, 4.0),
    "toggled in one instant": Case(Toggled, 1.0),
    "furnace": Case(Cycle, 2.9),
    "gated way out": Case(Gated, 3.0),
    "hysteresis": Case(Hysteresis, 2.0),
    **{
        f"random network {family}{seed}": Case(
            lambda seed=seed, family=family: network_models.model(random_network(seed, family), 0.7),
            2.0,
            {"impulses": "allow"},
        )
        for family, seed in [*(("i", k) for k in range(0, 30, 2)), *(("ii", k) for k in RUNNING)]
    },
}

STIFF = {
    "diode bridge with losses": (Case(LossyBridge, 0.01), 1e6 / 1e-3),
    "half wave, leaking": (
        Case(lambda: test_half_wave.half_wave(0.05, Goff=1e-9), T),
        1e9 / 0.05,
    ),
    "buck, leaking": (Case(lambda: converter(dc_dc.BUCK_DCM, Goff=1e-9), 10e-6 * 20), 1e9 / 47e-6),
    "diode (0.1, 1e-4, 0.7) Inductor": (
        Case(
            lambda: models.element(IdealDiode(Ron=0.1, Goff=1e-4, Vknee=0.7), ("storage", Inductor(L=5e-3))),
            2 * T,
        ),
        1e4 / 5e-3,
    ),
}
"""Cases with a blocked inductor behind a leakage, and the rate ``1 / (Goff * L)`` in 1/s at which its flow decays."""

REFUSED = {
    "flow without path": (
        Case(lambda: test_capacitors_and_flows.coil(diode=False), 0.02),
        FlowInterruptedError,
    ),
    "shorted source": (Case(models.shorted_source, 2e-3), ContradictorySourcesError),
    "relay without hysteresis": (Case(models.Relay, 2.0), ChatteringError),
}
"""Cases that end in an error."""
