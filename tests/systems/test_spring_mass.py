"""Spring and mass against the closed form: the same engine without any switch."""

import numpy as np

from acausal import Circuit, simulate
from acausal.components.translational import Fixed, Mass, Spring


def test_a_mass_on_a_spring_swings_for_a_hundred_periods() -> None:
    m, c, rest, s0, v0 = 2.0, 50.0, 1.0, 1.3, 0.5
    model = Circuit()
    wall, spring, mass = Fixed(), Spring(c=c, s_rel0=rest), Mass(m=m)
    for name, part in {"wall": wall, "spring": spring, "mass": mass}.items():
        model.add(name, part)
    model.connect(wall.flange, spring.flange_a)
    model.connect(spring.flange_b, mass.flange_a)
    w = np.sqrt(c / m)
    t = np.linspace(0, 100 * 2 * np.pi / w, 1001)
    result = simulate(model, t[-1], initial={"mass.s": s0, "mass.v": v0})
    cos, sin = np.cos(w * t), np.sin(w * t)
    position, speed = rest + (s0 - rest) * cos + v0 / w * sin, v0 * cos - w * (s0 - rest) * sin
    # The closed form has the rounding of the angle, 628 rad at the end.
    np.testing.assert_allclose(result["mass.s"].at(t), position, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result["mass.v"].at(t), speed, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result["mass.a"].at(t), -(w**2) * (position - rest), rtol=0, atol=1e-11)
    energy = 0.5 * c * (result["mass.s"].at(t) - rest) ** 2 + 0.5 * m * result["mass.v"].at(t) ** 2
    np.testing.assert_allclose(energy, 0.5 * c * (s0 - rest) ** 2 + 0.5 * m * v0**2, rtol=1e-12)
