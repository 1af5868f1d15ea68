"""Three-phase bridge whose diodes have a resistance and a leakage, piecewise exact with many digits.

The rates of a mode span from 1/(Goff Ls) to R/L, ten decades, and the voltage of a blocking diode is the difference of
currents times 1/Goff: in double precision an event is found with an error that shows in the sixth digit of the output.
Modes are not written by hand: potentials, diode currents and slopes of one mode solve a linear system. Every event
flips one diode, since with losses all inductor currents stay continuous.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

import mpmath
import numpy as np

from tests.oracles.bridges import PHASES, ThreePhase
from tests.oracles.piecewise import Guard, Mode, MpAffineFlow, advance

# States: two line currents, load current, sin(w t), cos(w t).
# Unknowns: potentials of the legs (0 to 2), of the upper rail, of the star point; currents of the upper (5 to 7) and
# lower (8 to 10) diodes; slopes of the line currents (11 to 13) and of the load current. The lower rail is grounded.
RAIL, STAR, UPPER, LOWER, SLOPE, LOAD, SIZE = 3, 4, 5, 8, 11, 14, 15
START = (0, 0, 1, 0, 1, 0)  # conducting from rest: upper diode of the third phase, lower diode of the second


def lossy_three_phase(
    p: ThreePhase, Ron: float, Goff: float, times: Iterable[Any], digits: int = 40
) -> np.ndarray:
    """Load current at ascending `times`, from rest: conducting ``v = Ron i``, blocking ``i = Goff v``."""
    with mpmath.workdps(digits):
        modes: dict[str, Mode] = {}
        name = _mode(modes, p, (mpmath.mpf(Ron), mpmath.mpf(Goff)), START)
        x = np.array([*_zeros(1, 4)[0], mpmath.mpf(1)], dtype=object)
        start, found = mpmath.mpf(0), []
        for end in times:
            name, x, _ = advance(modes, name, x, end - start, start)
            start = end
            found.append(float(x[2]))
        return np.array(found)


def _mode(modes: dict[str, Mode], p: ThreePhase, losses: tuple[Any, Any], on: tuple[int, ...]) -> str:
    name = "".join(map(str, on))
    if name not in modes:
        solution = _solve(p, losses, on)
        w = 2 * mpmath.pi * mpmath.mpf(p.f)
        A = [solution[SLOPE], solution[SLOPE + 1], solution[LOAD], *_zeros(2, 5)]
        A[3][4], A[4][3] = w, -w
        guards = []
        for d in range(6):
            drop = solution[d] - solution[RAIL] if d < 3 else -solution[d - 3]
            row = solution[UPPER + d] if on[d] else -drop
            flipped = tuple(b ^ (k == d) for k, b in enumerate(on))
            guards.append(Guard(tuple(row), mpmath.mpf(0), partial(_flip, modes, p, losses, flipped)))
        modes[name] = Mode(MpAffineFlow([list(row) for row in A], [mpmath.mpf(0)] * 5), tuple(guards))
    return name


def _flip(
    modes: dict[str, Mode], p: ThreePhase, losses: tuple[Any, Any], on: tuple[int, ...], x: Any
) -> tuple[str, Any]:
    return _mode(modes, p, losses, on), x


def _solve(p: ThreePhase, losses: tuple[Any, Any], on: tuple[int, ...]) -> np.ndarray:
    """Rows over the states of all unknowns of one mode."""
    V, Ls, Rs, L, R = (mpmath.mpf(v) for v in (p.V, p.Ls, p.Rs, p.L, p.R))
    M, B = _zeros(SIZE, SIZE), _zeros(SIZE, 5)
    line = _zeros(3, 5)
    line[0, 0] = line[1, 1] = mpmath.mpf(1)
    line[2, 0] = line[2, 1] = mpmath.mpf(-1)
    for k in range(3):
        turns = mpmath.mpf(int(np.sign(PHASES[k]))) / 3
        M[k, k], M[k, STAR], M[k, SLOPE + k] = 1, -1, Ls
        B[k] = -Rs * line[k]
        B[k, 3] += V * mpmath.cospi(2 * turns)
        B[k, 4] += V * mpmath.sinpi(2 * turns)
        M[3 + k, UPPER + k], M[3 + k, LOWER + k], B[3 + k] = 1, -1, line[k]
        _diode(M[6 + k], UPPER + k, {k: 1, RAIL: -1}, losses, on[k])
        _diode(M[9 + k], LOWER + k, {k: -1}, losses, on[3 + k])
    M[12, UPPER : UPPER + 3] = 1
    M[13, SLOPE : SLOPE + 3] = 1
    M[14, RAIL], M[14, LOAD] = 1, -L
    B[12, 2], B[14, 2] = mpmath.mpf(1), R
    inverse = mpmath.matrix(M.tolist()) ** -1
    return np.array((inverse * mpmath.matrix(B.tolist())).tolist(), dtype=object)


def _diode(row: Any, current: int, drop: dict[int, int], losses: tuple[Any, Any], on: int) -> None:
    Ron, Goff = losses
    row[current] = -Ron if on else mpmath.mpf(1)
    for potential, sign in drop.items():
        row[potential] = sign if on else -sign * Goff


def _zeros(m: int, n: int) -> np.ndarray:
    return np.array([[mpmath.mpf(0)] * n for _ in range(m)], dtype=object)
