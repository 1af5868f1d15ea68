"""Random networks: a consistent mode is found where one exists, and every run obeys the laws of networks.

Family "i" has every source behind an impedance, so that a mode always exists; family "ii" is unrestricted. The
exhaustive oracle decides about the start, where left limits may be anything; then all switches change over at once.
"""

import warnings
from collections.abc import Sequence

import numpy as np
import pytest

from acausal import (
    ContradictionError,
    ContradictorySourcesError,
    ModeNotSquareError,
    NoConsistentModeError,
    Result,
    SingularModelError,
    simulate,
)
from tests.oracles.consistency import consistent_modes
from tests.oracles.networks import Element, random_network
from tests.systems.network_models import model

CHANGE, STOP = 0.7, 2.0
NO_MODE = (
    ContradictionError,
    ContradictorySourcesError,
    ModeNotSquareError,
    NoConsistentModeError,
    SingularModelError,
)
BLOCK, FAST, ALL = 20, 40, 200
SEEDS = [
    pytest.param(range(k, k + BLOCK), id=f"{k}-{k + BLOCK - 1}", marks=() if k < FAST else pytest.mark.sweep)
    for k in range(0, ALL, BLOCK)
]


def run(network: Sequence[Element], stop: float) -> Result:
    with warnings.catch_warnings():
        # Islands without ground, explicit starts that move: both are frequent here.
        warnings.simplefilter("ignore")
        return simulate(model(network, CHANGE), stop, impulses="allow")


def state(e: Element) -> str:
    return f"{e.name}.i" if e.kind == "L" else f"{e.name}.v"


class Samples:
    """Voltages and currents of all elements on the grid of a run, right limits at the start."""

    def __init__(self, network: Sequence[Element], result: Result) -> None:
        self.v = {e.name: result[f"{e.name}.v"].values[1:] for e in network}
        self.i = {e.name: result[f"{e.name}.i"].values[1:] for e in network}
        # All values of the networks are of the order of one; nothing at all may be left of them.
        self.V, self.I = (1.0 + max(np.abs(x).max() for x in part.values()) for part in (self.v, self.i))


def check_start(network: Sequence[Element], result: Result) -> None:
    """The mode is one of the oracle's; dynamic variables are those of all of its modes.

    After an impulse the first mode may last for no time; the event then shows the one that stays.
    """
    modes = consistent_modes(network)
    assert modes, "the oracle finds no mode"
    changes = result.events[0].modes
    on = {e.name: changes.get(f"{e.name}.on", ("off", "off"))[1] == "on" for e in network if e.kind in "DT"}
    scale = 1.0 + max((abs(float(e.extra)) for e in network if e.kind in "LC"), default=0.0)
    for mode in modes:
        for e in network:
            exact = mode.states.get(e.name)
            if exact is not None:
                assert result[state(e)].at(0.0) == pytest.approx(float(exact), abs=1e-9 * scale), e.name
    instant = [step.after for step in result.steps if step.t == result.t_start]
    stays = all(mode == instant[0] for mode in instant)
    if stays and not any(mode.undetermined for mode in modes):
        assert on in [mode.on for mode in modes]


def check_laws(network: Sequence[Element], result: Result) -> None:
    """Tellegen's theorem, the laws of ideal valves, and the energy balance with impulses."""
    s = Samples(network, result)
    power = sum(s.v[e.name] * s.i[e.name] for e in network)
    assert np.abs(power).max() <= 1e-9 * s.V * s.I
    for e in network:
        v, i = s.v[e.name], s.i[e.name]
        if e.kind == "D" or (e.kind == "T" and e.value):
            assert v.max() <= 1e-9 * s.V, e.name
        if e.kind in "DT":
            assert i.min() >= -1e-9 * s.I, e.name
            assert np.abs(v * i).max() <= 1e-9 * s.V * s.I, e.name
        if e.kind == "T" and not e.value:
            assert not i.any(), e.name
    check_energy(network, result)


def check_energy(network: Sequence[Element], result: Result) -> None:
    def stored(t: float, side: str = "left") -> float:
        return sum(float(e.value) * result[state(e)].at(t, side) ** 2 / 2 for e in network if e.kind in "LC")

    audit, side = result.audit(), "left"
    if np.isnan(audit.energy_lost):
        # Start values contradict Kirchhoff's laws themselves: nobody knows with what energy these are moved.
        audit, side = result.audit(np.nextafter(0.0, 1.0)), "right"
    scale = stored(0.0) + stored(STOP) + sum(abs(part.energy) for part in audit)
    assert abs(audit.balance) <= 1e-9 * scale
    into_stores = sum(part.energy for part in audit if part.path[0] in "LC")
    assert abs(into_stores - (stored(STOP) - stored(0.0, side))) <= 1e-9 * scale
    heat = [part.energy for part in audit if part.path[0] == "R"]
    assert min(heat, default=0.0) >= -1e-9 * scale
    # What two valves that close together take up in the instant is determined only in sum.
    assert sum(part.energy for part in audit if part.path[0] in "SDT") >= -1e-9 * scale


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("seeds", SEEDS)
def test_sources_behind_impedances_always_have_a_mode(seeds: range) -> None:
    for seed in seeds:
        network = random_network(seed, "i")
        result = run(network, STOP)
        check_start(network, result)
        check_laws(network, result)


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("seeds", SEEDS)
def test_unrestricted_networks_have_a_mode_or_a_named_error(seeds: range) -> None:
    for seed in seeds:
        network = random_network(seed, "ii")
        try:
            result = run(network, STOP)
        except NO_MODE as error:
            if has_begun(error):
                continue
            assert not consistent_modes(network), f"seed {seed}: {error.what}"
        else:
            check_start(network, result)
            check_laws(network, result)


def has_begun(error: Exception) -> bool:
    """Whether the error came after the start, at the change of the switches or beyond."""
    result = getattr(error, "result", None)
    return result is not None and result.t_end > 0
