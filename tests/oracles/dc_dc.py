"""Piecewise-exact references for buck, boost and buck-boost converters with truly ideal switch and diode.

States are ``x = (i, v)``: inductor current and capacitor voltage, both 0 at the start. The switch is closed during
the first ``duty`` of every period. In all modes ``C v' = k i - v/R``:

========== ============================ ============================= ==========================================
converter  "on" (switch closed)         "off" (diode conducts)        "idle" (neither conducts, i = 0)
========== ============================ ============================= ==========================================
buck       L i' = Vin - v, k = 1        L i' = -v, k = 1              leaves to "off" when v < 0
boost      L i' = Vin, k = 0            L i' = Vin - v, k = 1         leaves to "off" when v < Vin
buck-boost L i' = Vin, k = 0            L i' = v, k = -1 (v <= 0)     leaves to "off" when v > 0
========== ============================ ============================= ==========================================

The diode stops conducting when i reaches 0. For the buck-boost v is the (negative) output voltage against ground.
"""

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from tests.oracles.piecewise import AffineFlow, Guard, Mode, MpAffineFlow, Segment, advance, sample


@dataclass(frozen=True)
class Converter:
    """Parameters in SI units; `kind` is "buck", "boost" or "buck-boost"."""

    kind: str
    Vin: float
    duty: float
    L: float
    C: float
    R: float
    f: float
    periods: int


@dataclass(frozen=True)
class ConverterRun:
    """Result of a reference run.

    Attributes
    ----------
    current, voltage : float
        Inductor current and capacitor voltage at the end.
    max_current, max_voltage : float
        Largest magnitudes of the two states over the run, ripple crests included.
    mean_voltage : float
        Mean of the capacitor voltage over the last period.
    conduction_modes : tuple of str
        Names of the visited modes, sorted.
    dcm_instants : ndarray
        Times at which the inductor current reached zero and the diode blocked.
    segments : tuple of Segment
        The whole trajectory, in order.
    """

    current: float
    voltage: float
    max_current: float
    max_voltage: float
    mean_voltage: float
    conduction_modes: tuple[str, ...]
    dcm_instants: np.ndarray
    segments: tuple[Segment, ...]
    modes: dict[str, Mode]

    def states(self, times: Any) -> np.ndarray:
        """States ``(i, v)`` at `times`, shape ``(len(times), 2)``."""
        return sample(self.modes, self.segments, times)


BUCK_CCM = Converter("buck", 24.0, 0.5, 47e-6, 100e-6, 5.0, 100e3, 1000)
BUCK_DCM = Converter("buck", 24.0, 0.5, 47e-6, 10e-6, 200.0, 100e3, 1000)
BOOST_CCM = Converter("boost", 24.0, 0.5, 47e-6, 100e-6, 5.0, 100e3, 1000)
BOOST_DCM = Converter("boost", 24.0, 0.5, 47e-6, 10e-6, 200.0, 100e3, 1000)
BUCK_BOOST_CCM = Converter("buck-boost", 24.0, 0.5, 47e-6, 100e-6, 5.0, 100e3, 1000)
BUCK_BOOST_DCM = Converter("buck-boost", 24.0, 0.5, 47e-6, 10e-6, 200.0, 100e3, 1000)


def simulate(converter: Converter) -> ConverterRun:
    """Run a converter with ideal elements from rest."""
    period = 1 / converter.f
    phases = (converter.duty * period, (1 - converter.duty) * period)
    return _run(converter, _ideal_modes(converter), phases, np.zeros(2), _opened)


def simulate_buck_with_leakage(converter: Converter, Goff: float = 1e-9, digits: int = 40) -> ConverterRun:
    """Run a buck whose open switch and blocking diode leak with the conductance `Goff`, in extended precision.

    With both open, the switch node floats between the leakages: ``u = Vin/2 - i/(2 Goff)`` and ``L i' = u - v``,
    an eigenvalue of about ``-1/(2 Goff L)``. The diode (current ``i - Goff Vin`` while it conducts) blocks when its
    current reaches zero, and conducts again when ``u < 0``.
    """
    with mpmath.workdps(digits):
        period = 1 / mpmath.mpf(converter.f)
        phases = (converter.duty * period, (1 - mpmath.mpf(converter.duty)) * period)
        leak = mpmath.mpf(Goff) * converter.Vin

        def opened(x: Any) -> tuple[str, Any]:
            return ("off" if x[0] > leak else "idle"), x

        rest = np.array([mpmath.mpf(0), mpmath.mpf(0)], dtype=object)
        return _run(converter, _leaky_modes(converter, Goff), phases, rest, opened)


def _opened(x: Any) -> tuple[str, Any]:
    return ("off", x) if x[0] > 0 else ("idle", np.array([0.0, x[1]]))


def _blocks(x: Any) -> tuple[str, Any]:
    return "idle", np.array([0.0, x[1]])


def _conducts(x: Any) -> tuple[str, Any]:
    return "off", x


def _ideal_modes(c: Converter) -> dict[str, Mode]:
    k_on, k_off, u_on, u_off, sign = {
        "buck": (1.0, 1.0, c.Vin, 0.0, -1.0),
        "boost": (0.0, 1.0, c.Vin, c.Vin, -1.0),
        "buck-boost": (0.0, -1.0, c.Vin, 0.0, 1.0),
    }[c.kind]
    damping = -1 / (c.R * c.C)
    feedback_on = -1 / c.L if c.kind == "buck" else 0.0
    on = AffineFlow([[0, feedback_on], [k_on / c.C, damping]], [u_on / c.L, 0])
    off = AffineFlow([[0, sign / c.L], [k_off / c.C, damping]], [u_off / c.L, 0])
    idle = AffineFlow([[0, 0], [0, damping]], [0, 0])
    return {
        "on": Mode(on),
        "off": Mode(off, (Guard((1.0, 0.0), 0.0, _blocks),)),
        "idle": Mode(idle, (Guard((0.0, -sign), -u_off, _conducts),)),
    }


def _leaky_modes(c: Converter, Goff: float) -> dict[str, Mode]:
    L, C, R, Vin, G = (mpmath.mpf(value) for value in (c.L, c.C, c.R, c.Vin, Goff))
    lower = [1 / C, -1 / (R * C)]
    on = MpAffineFlow([[0, -1 / L], lower], [Vin / L, 0])
    off = MpAffineFlow([[0, -1 / L], lower], [0, 0])
    idle = MpAffineFlow([[-1 / (2 * G * L), -1 / L], lower], [Vin / (2 * L), 0])
    return {
        "on": Mode(on),
        "off": Mode(off, (Guard((1, 0), -G * Vin, lambda x: ("idle", x)),)),
        "idle": Mode(idle, (Guard((-1 / (2 * G), 0), Vin / 2, _conducts),)),
    }


def _run(c: Converter, modes: dict[str, Mode], phases: tuple[Any, Any], x: Any, opened: Any) -> ConverterRun:
    segments: list[Segment] = []
    area = None
    for n in range(c.periods):
        first = len(segments)
        start = n / c.f
        mode, x, part = advance(modes, "on", x, phases[0], start)
        segments += part
        mode, x = opened(x)
        mode, x, part = advance(modes, mode, x, phases[1], start + phases[0])
        segments += part
        if n == c.periods - 1:
            area = sum(modes[s.mode].flow.integral(s.x, s.duration)[1] for s in segments[first:])
    crests = _crests(modes, segments, x)
    idle = [float(s.start) for s in segments if s.mode == "idle"]
    visited = tuple(sorted({s.mode for s in segments}))
    mean = float(area / (phases[0] + phases[1]))
    return ConverterRun(
        float(x[0]), float(x[1]), crests[0], crests[1], mean, visited, np.array(idle), tuple(segments), modes
    )


def _crests(modes: dict[str, Mode], segments: list[Segment], last: Any) -> list[float]:
    """Largest magnitude of each state: ends of segments, and zeros of the derivative where these could be larger."""
    ends = np.array([*(s.x for s in segments), last]).astype(float)
    best = np.max(np.abs(ends), axis=0)
    for k, s in enumerate(segments):
        flow = modes[s.mode].flow
        A, b = np.asarray(flow.A, float), np.asarray(flow.b, float)
        if s.mode == "idle":
            continue
        rates = np.abs(ends[k : k + 2] @ A.T + b)
        reach = np.max(np.abs(ends[k : k + 2]), axis=0) + float(s.duration) * np.max(rates, axis=0)
        for j in np.flatnonzero(reach > best):
            sign = np.sign(A[j] @ ends[k] + b[j])
            tau = getattr(flow, "twin", flow).first_crossing(
                sign * A[j], sign * b[j], ends[k], float(s.duration)
            )
            if tau is not None:
                best[j] = max(best[j], abs(getattr(flow, "twin", flow).at(ends[k], tau)[j]))
    return [float(value) for value in best]
