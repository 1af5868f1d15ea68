"""Laws of nonlinear devices and their slopes are finite wherever an iteration may try them."""

from typing import Any

import casadi as ca
import numpy as np
import pytest

from acausal.compilation.residual import Residual
from acausal.components.electrical import (
    IGBT,
    NMOS,
    NPN,
    PMOS,
    PNP,
    ConstantVoltage,
    Diode,
    Diode2,
    JunctionCapacitor,
    OpAmp,
    PowerMOSFET,
    SaturatingInductor,
    TableCapacitor,
    Varistor,
    ZDiode,
)
from tests.components.electrical.circuits import driven

DEVICES: list[Any] = [
    Diode(),
    Diode2(),
    ZDiode(),
    NMOS(),
    PMOS(),
    NPN(),
    PNP(),
    IGBT(),
    PowerMOSFET(),
    Varistor(Vn=100.0),
    SaturatingInductor(Lnom=1.0, Lzer=2.0, Linf=0.5),
    JunctionCapacitor(Cj=1e-9),
    TableCapacitor(table=((0.0, 2.0), (10.0, 1.0))),
    OpAmp(),
]


@pytest.mark.parametrize("device", DEVICES, ids=lambda d: type(d).__name__)
def test_residual_and_jacobian_are_finite(device: Any) -> None:
    residual = Residual.of(driven(device, **{name: ConstantVoltage(V=1.0) for name in device._ports}))
    x, w = len(residual.x.names), len(residual.w.names)
    others = [np.zeros(len(residual.u.names)), residual.p.start, residual.d.start, residual.m.start]
    slopes = residual.F.factory("slopes", residual.F.name_in(), ["jac:residual:x", "jac:residual:w"])
    for value in (0.0, 0.5, -0.5, 50.0, -50.0, 1e4, -1e4):
        at = [0.0, np.zeros(x), np.full(x, value), np.full(w, value), *others]
        for result in (*residual.F(*at), *slopes(*at)):
            assert np.all(np.isfinite(np.array(ca.DM(result))))
