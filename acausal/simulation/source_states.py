"""Exosystem states during a run: closed forms of the model, and what is fed to open inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..codegen.sources import SourceProgram
from ..errors import NonFiniteError, ParameterError
from ..modes.core import Exosystem
from ..modes.exosystem import PIECE_DEGREE

_PIECE_ERROR = 1e-13
_NODES = np.cos(np.pi * np.arange(PIECE_DEGREE + 1) / PIECE_DEGREE)


class Feed:
    """A signal given from outside: number, callable, or (times, values) with linear interpolation."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        number: Any = value
        self.times = self.values = np.zeros(0)
        self.function: Callable[[float], Any] | None = None
        if callable(value):
            self.degree, self.function = PIECE_DEGREE, value
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            self.degree = 1
            self.times, self.values = (np.asarray(v, float) for v in value)
            ascending = self.times.ndim == 1 and (np.diff(self.times) >= 0).all()
            if len(self.times) != len(self.values) or len(self.times) == 0 or not ascending:
                raise ParameterError(
                    f"input `{name}` needs (times, values) of equal length with ascending times"
                )
        else:
            self.degree = 0
            if isinstance(value, str) or not hasattr(value, "__float__"):
                raise ParameterError(
                    f"input `{name}` takes a number, a callable or (times, values), got {value!r}"
                )
            self.values = np.array([float(number)])
        if not np.isfinite(self.values).all():
            raise NonFiniteError(f"input `{name}` has a value that is not finite")

    def states(self, t: float) -> list[float]:
        """Value and slope after ``t`` (for numbers and tables)."""
        if self.degree == 0:
            return [float(self.values[0])]
        k = int(np.searchsorted(self.times, t, side="right"))
        if k == 0 or k == len(self.times):
            return [float(self.values[0 if k == 0 else -1]), 0.0]
        slope = (self.values[k] - self.values[k - 1]) / (self.times[k] - self.times[k - 1])
        return [float(self.values[k - 1] + slope * (t - self.times[k - 1])), float(slope)]

    def next_break(self, t: float) -> float:
        """First breakpoint after ``t``."""
        k = int(np.searchsorted(self.times, t, side="right"))
        return float(self.times[k]) if self.degree == 1 and k < len(self.times) else math.inf


class Piece:
    """Chebyshev piece of a smooth function: value and scaled derivatives at any point of it."""

    def __init__(self, start: float, length: float, taylor: np.ndarray) -> None:
        self.start, self.end, self.taylor = start, start + length, taylor

    def states(self, t: float, unit: float) -> list[float]:
        """Derivatives times ``unit**k`` at ``t``."""
        shifted = np.polynomial.Polynomial(self.taylor)
        x = t - self.start
        found = []
        for k in range(PIECE_DEGREE + 1):
            found.append(float(shifted(x)) * unit**k)
            shifted = shifted.deriv()
        return found


def fit_piece(
    f: Callable[[float], float], t: float, span: float, scale: float, name: str = "a source"
) -> Piece:
    """Longest piece from ``t`` (halving from ``span``) that reproduces ``f`` to 1e-13 of its scale."""
    length = span
    for _ in range(60):
        x = 0.5 * (_NODES + 1.0)
        values = np.array([float(f(t + length * v)) for v in x])
        if not np.isfinite(values).all():
            wrong = float(t + length * x[np.flatnonzero(~np.isfinite(values))[-1]])
            raise NonFiniteError(
                f"{name} is not finite at t = {wrong:g}",
                hint="give a function that is finite during the whole run",
            )
        c = np.polynomial.chebyshev.chebfit(_NODES, values, PIECE_DEGREE)
        size = max(scale, float(np.abs(values).max()))
        probe = np.array([0.2345, 0.6789])
        miss = max(
            abs(float(f(t + length * v)) - np.polynomial.chebyshev.chebval(2 * v - 1, c)) for v in probe
        )
        if miss <= max(_PIECE_ERROR * size, 4 * np.spacing(size)):
            window = [0.0, length]
            power = np.polynomial.Chebyshev(c, domain=window).convert(
                kind=np.polynomial.Polynomial, domain=window, window=window
            )
            return Piece(t, length, power.coef)
        length *= 0.5
    raise NonFiniteError(f"{name} has no smooth piece at t = {t:g}", hint="give jumps as steps or tables")


class SourceStates:
    """Right limits of the exosystem states, and the next time at which a piece ends."""

    def __init__(
        self,
        program: SourceProgram,
        exosystem: Exosystem,
        P: np.ndarray,
        feeds: tuple[Feed, ...],
        unit: float,
        span: float,
    ) -> None:
        self.program, self.P, self.feeds, self.unit, self.span = program, P, feeds, unit, span
        self.q = len(exosystem.S)
        self._function = program.states.copy()
        self._function.inputs[0][:] = P[program.p]
        self.plain: list[tuple[slice, slice]] = []
        self.general: list[tuple[slice, Any]] = []
        functions = dict(program.general)
        starts = [
            first + i * term.states
            for first, _, count, term in exosystem.blocks
            if term is not None
            for i in range(count)
        ]
        at = 0
        for k, (start, width) in enumerate(zip(starts, program.widths, strict=True)):
            if width:
                self.plain.append((slice(start, start + width), slice(at, at + width)))
                at += width
            else:
                self.general.append((slice(start, start + PIECE_DEGREE + 1), functions[k]))
        self.fed = [
            (first, feed) for (first, _, _, term), feed in zip(_inputs(exosystem), feeds, strict=True)
        ]
        self.pieces: dict[int, Piece] = {}
        self.constant: np.ndarray | None = None
        """The states where no source depends on anything that changes during a run; set when first computed."""
        self.varies = bool(self.plain or self.general or any(feed.degree for _, feed in self.fed))
        self.positions = np.concatenate(
            [np.arange(s.start, s.stop) for s, _ in self.plain] or [np.zeros(0, np.int64)]
        )

    def states(self, t: float, D: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Exosystem states after ``t``; not to be written to."""
        if self.constant is not None:
            return self.constant
        xi = np.zeros(self.q)
        xi[0] = 1.0
        f = self._function
        if len(self.positions):
            f.inputs[1][:] = D[self.program.d]
            f.inputs[2][:] = R[self.program.r]
            f.inputs[3][0] = t
            f()
            xi[self.positions] = f.outputs[0]
        for k, (at, function) in enumerate(self.general):
            arguments = (self.P[self.program.p], D[self.program.d], R[self.program.r])
            piece = self._piece(
                ("g", k), lambda s, f=function, a=arguments: float(f(*a, s)), t, arguments[1:]
            )
            xi[at] = piece.states(t, self.unit)
        for first, feed in self.fed:
            if feed.function is not None:
                piece = self._piece(("f", first), feed.function, t, (), f"input `{feed.name}`")
                xi[first : first + PIECE_DEGREE + 1] = piece.states(t, self.unit)
            else:
                values = feed.states(t)
                xi[first : first + len(values)] = values
        if not self.varies:
            self.constant = xi
        return xi

    def _piece(
        self, key: Any, f: Callable[[float], float], t: float, arguments: Any, name: str = "a source"
    ) -> Piece:
        found = self.pieces.get(key)
        stamp = tuple(a.tobytes() for a in arguments)
        if found is None or not found.start <= t < found.end or getattr(found, "stamp", stamp) != stamp:
            found = fit_piece(f, t, self.span, 0.0, name)
            found.stamp = stamp  # type: ignore[attr-defined]
            self.pieces[key] = found
        return found

    def next_break(self, t: float) -> float:
        """First time after ``t`` at which a piece or table segment of a source ends."""
        ends = [p.end for p in self.pieces.values()] + [feed.next_break(t) for _, feed in self.fed]
        return min((e for e in ends if e > t), default=math.inf)


def _inputs(exosystem: Exosystem) -> list[Any]:
    return [b for b in exosystem.blocks if b[3] is None]
