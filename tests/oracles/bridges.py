"""Piecewise-exact diode bridges behind a source impedance, all diodes truly ideal.

The sources are states too: ``s = sin(w t)``, ``c = cos(w t)`` with ``s' = w c``, ``c' = -w s``, set afresh from the
time at the start of every sampling interval. Modes and transitions are written by hand.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tests.oracles.piecewise import AffineFlow, Guard, Mode, Segment, advance

PHASES = 2 * np.pi / 3 * np.array([0.0, -1.0, 1.0])  # phase k is V sin(w t + PHASES[k])


@dataclass(frozen=True)
class SinglePhase:
    """Source ``V sin(w t)`` with `Rs`, `Ls`; full bridge; `C` parallel to `R` on the direct-current side."""

    V: float = 325.0
    f: float = 50.0
    Ls: float = 1e-3
    Rs: float = 0.1
    C: float = 1e-3
    R: float = 50.0


@dataclass(frozen=True)
class ThreePhase:
    """Three sources in star (floating star point) with `Rs`, `Ls` each; six-diode bridge; load `R` and `L` in series."""

    V: float = 325.0
    f: float = 50.0
    Ls: float = 1e-3
    Rs: float = 0.1
    L: float = 10e-3
    R: float = 10.0


@dataclass(frozen=True)
class BridgeRun:
    """States on the sample grid (one row per time), and the segments between commutations and samples."""

    states: np.ndarray
    segments: tuple[Segment, ...]

    @property
    def commutations(self) -> np.ndarray:
        """Times at which the conducting set changed."""
        pairs = zip(self.segments, self.segments[1:], strict=False)
        return np.array([b.start for a, b in pairs if a.mode != b.mode])


def single_phase(p: SinglePhase, times: Any) -> BridgeRun:
    """Bridge from rest; columns of `states`: source current i, capacitor voltage v.

    ========= ============================= ====================== ===========================================
    mode      source current                capacitor              holds while
    ========= ============================= ====================== ===========================================
    blocked   i = 0                         C v' = -v/R            ``|vs| <= v``
    positive  Ls i' = vs - Rs i - v         C v' = i - v/R         ``i >= 0``
    negative  Ls i' = vs - Rs i + v         C v' = -i - v/R        ``i <= 0``
    ========= ============================= ====================== ===========================================
    """
    w, V = 2 * np.pi * p.f, p.V

    def stop(x: Any) -> tuple[str, Any]:
        x = np.array([0.0, *x[1:]])
        reached = {"positive": V * x[2] > x[1], "negative": -V * x[2] > x[1]}
        return next((mode for mode, on in reached.items() if on), "blocked"), x

    def conducting(sign: float) -> Mode:
        row_i = [-p.Rs / p.Ls, -sign / p.Ls, V / p.Ls, 0]
        row_v = [sign / p.C, -1 / (p.R * p.C), 0, 0]
        return Mode(
            AffineFlow([row_i, row_v, *_oscillator(w, 2)], np.zeros(4)), (Guard((sign, 0, 0, 0), 0.0, stop),)
        )

    blocked = AffineFlow([[0] * 4, [0, -1 / (p.R * p.C), 0, 0], *_oscillator(w, 2)], np.zeros(4))
    guards = (
        Guard((0, 1, -V, 0), 0.0, lambda x: ("positive", x)),
        Guard((0, 1, V, 0), 0.0, lambda x: ("negative", x)),
    )
    modes = {"blocked": Mode(blocked, guards), "positive": conducting(1.0), "negative": conducting(-1.0)}
    return _sampled(modes, "positive", np.zeros(2), w, np.asarray(times, float))


def three_phase(p: ThreePhase, times: Any) -> BridgeRun:
    """Bridge from rest; columns of `states`: load current j, current of the second phase of a commutating pair.

    Two diodes (top a, bottom b): ``(L + 2 Ls) j' = va - vb - (R + 2 Rs) j``; the third phase lies between the rails,
    ``vn <= vc <= vp`` with ``vp = va - Ls j' - Rs j`` and ``vn = vb + Ls j' + Rs j`` against the star point.
    Three diodes (a and c on one rail, b on the other; sign = 1 for the top rail, ``i`` the magnitude in c)::

        Ls (j - i)' + Rs (j - i) - Ls i' - Rs i = sign (va - vc)
        (L + Ls) j' + (R + Rs) j + Ls i' + Rs i = sign (vc - vb)

    and the mode holds while ``0 <= i <= j`` and the load sees no reversed voltage, ``L j' + R j >= 0``.
    """
    w = 2 * np.pi * p.f
    modes: dict[str, Mode] = {}
    for b in range(3):
        a, c = (k for k in range(3) if k != b)
        for sign in (1, -1):
            modes[_pair_name(a, b, sign)] = _two_diodes(p, w, a, b, c, sign)
            modes[_pair_name(c, b, sign)] = _two_diodes(p, w, c, b, a, sign)
            modes[_triple_name(b, sign)] = _three_diodes(p, w, a, b, c, sign)
    return _sampled(modes, _pair_name(2, 1, 1), np.zeros(2), w, np.asarray(times, float))


def _pair_name(a: int, b: int, sign: int) -> str:
    top, bottom = (a, b) if sign > 0 else (b, a)
    return f"{top}/{bottom}"


def _triple_name(b: int, sign: int) -> str:
    pair = "".join(str(k) for k in range(3) if k != b)
    return f"{pair}/{b}" if sign > 0 else f"{b}/{pair}"


def _source(p: ThreePhase, k: int) -> np.ndarray:
    """Row of phase voltage k over the state (j, i, s, c)."""
    return p.V * np.array([0, 0, np.cos(PHASES[k]), np.sin(PHASES[k])])


def _two_diodes(p: ThreePhase, w: float, a: int, b: int, c: int, sign: int) -> Mode:
    va, vb, vc = (_source(p, k) for k in (a, b, c))
    drive = sign * (va - vb)
    current = np.array([1.0, 0, 0, 0])
    slope = (drive - (p.R + 2 * p.Rs) * current) / (p.L + 2 * p.Ls)
    drop = p.Ls * slope + p.Rs * current
    rail_a, rail_b = sign * va - drop, sign * vb + drop

    def joins(kept: int, own: int, side: int, x: Any) -> tuple[str, Any]:
        """Phase c joins phase `own`, which carried the whole current; `kept` stays alone on the other rail."""
        second_is_new = c > own
        return _triple_name(kept, side), np.array([x[0], 0.0 if second_is_new else x[0], x[2], x[3]])

    guards = (
        Guard(tuple(rail_a - sign * vc), 0.0, partial(joins, b, a, sign)),
        Guard(tuple(sign * vc - rail_b), 0.0, partial(joins, a, b, -sign)),
    )
    return Mode(AffineFlow([slope, np.zeros(4), *_oscillator(w, 2)], np.zeros(4)), guards)


def _three_diodes(p: ThreePhase, w: float, a: int, b: int, c: int, sign: int) -> Mode:
    va, vb, vc = (_source(p, k) for k in (a, b, c))
    inductance = np.array([[p.Ls, -2 * p.Ls], [p.L + p.Ls, p.Ls]])
    j, i = np.array([1.0, 0, 0, 0]), np.array([0, 1.0, 0, 0])
    rhs = [sign * (va - vc) - p.Rs * (j - 2 * i), sign * (vc - vb) - (p.R + p.Rs) * j - p.Rs * i]
    rates = np.linalg.solve(inductance, np.array(rhs))

    def leaves(survivor: int, x: Any) -> tuple[str, Any]:
        return _pair_name(survivor, b, sign), np.array([x[0], 0.0, x[2], x[3]])

    def reverses(x: Any) -> tuple[str, Any]:
        msg = "the load voltage reverses; modes with both diodes of a leg conducting are not written"
        raise NotImplementedError(msg)

    guards = (
        Guard(tuple(i), 0.0, partial(leaves, a)),
        Guard(tuple(j - i), 0.0, partial(leaves, c)),
        Guard(tuple(p.L * rates[0] + p.R * j), 0.0, reverses),
    )
    return Mode(AffineFlow([*rates, *_oscillator(w, 2)], np.zeros(4)), guards)


def _oscillator(w: float, before: int) -> list[list[float]]:
    return [[0.0] * before + [0.0, w], [0.0] * before + [-w, 0.0]]


def _sampled(modes: dict[str, Mode], mode: str, x: np.ndarray, w: float, times: np.ndarray) -> BridgeRun:
    states: list[np.ndarray] = []
    segments: list[Segment] = []
    t = 0.0
    for end in times:
        state = np.array([*x[:2], np.sin(w * t), np.cos(w * t)])
        mode, state, part = advance(modes, mode, state, end - t, t)
        x, t = state, end
        segments += part
        states.append(state[:2])
    return BridgeRun(np.array(states), tuple(segments))
