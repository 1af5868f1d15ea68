"""Exosystem states during a run: closed forms of the model, and what is fed to open inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from ...compilation.lowering import Buffered
from ...compilation.sources import SourceProgram
from ...errors import NonFiniteError, ParameterError
from ...reduction.core import Exosystem
from ...reduction.exosystem import PIECE_DEGREE
from .expansion import Expansion
from .piece import Piece
from .pieces import Pieces, Stretch, typical_size

_SLACK = 64.0
"""Factor by which the unit of time may be smaller than the pieces in force allow."""


class OpenInput:
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
        self.size = float(np.abs(self.values).max(initial=0.0))
        """Magnitude; of a callable, when measured."""
        self._measured = self.function is None

    def measure(self, t: float, span: float) -> None:
        """Take the magnitude of a callable from some values in ``[t, t + span]``, to a power of two."""
        if self._measured or self.function is None:
            return
        first = abs(float(self.function(t)))
        size = max(typical_size(self.function, t, span), first if math.isfinite(first) else 0.0)
        self.size, self._measured = math.ldexp(1.0, math.frexp(size)[1]) if size else 0.0, True

    def suits(self, before: OpenInput) -> bool:
        """Whether the numbers that were made for the input ``before`` do for this one."""
        return self.degree == before.degree and self.size <= 100.0 * before.size

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


class SourceStates:
    """Right limits of the exosystem states, and the next time at which a piece ends.

    Parameters
    ----------
    program : SourceProgram
    exosystem : Exosystem
    P : np.ndarray
        All parameters.
    open_inputs : tuple of OpenInput
    unit, base : float
        Unit of time of the derivatives of pieces, now and where pieces are long.
    stretch : Stretch
        Of all functions of time.
    """

    def __init__(
        self,
        program: SourceProgram,
        exosystem: Exosystem,
        P: np.ndarray,
        open_inputs: tuple[OpenInput, ...],
        unit: float,
        base: float,
        stretch: Stretch,
    ) -> None:
        self.program, self.P, self.open_inputs, self.unit, self.base = program, P, open_inputs, unit, base
        self.stretch = stretch
        self.q = len(exosystem.S)
        self._function = program.states.copy()
        self._function.inputs[0][:] = P[program.p]
        self.plain: list[tuple[slice, slice]] = []
        self.fitted: list[Fitted] = []
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
                source = _General(functions[k], P[program.p])
                pieces = Pieces(source, "a source", stretch, source.expansion)
                self.fitted.append(Fitted(start, pieces, source))
        self.fed: list[tuple[int, OpenInput]] = []
        for (first, _, _, _), open_input in zip(_inputs(exosystem), open_inputs, strict=True):
            if open_input.function is None:
                self.fed.append((first, open_input))
            else:
                pieces = Pieces(open_input.function, f"input `{open_input.name}`", stretch)
                self.fitted.append(Fitted(first, pieces))
        self.constant: np.ndarray | None = None
        """The states where no source depends on anything that changes during a run; set when first computed."""
        self.varies = bool(self.plain or self.fitted or any(open_input.degree for _, open_input in self.fed))
        self.positions = np.concatenate(
            [np.arange(s.start, s.stop) for s, _ in self.plain] or [np.zeros(0, np.int64)]
        )

    def states(self, t: float, D: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Exosystem states after ``t``; not to be written to."""
        if self.constant is not None:
            return self.constant
        xi = np.zeros(self.q)
        xi[0] = 1.0
        self.evaluate(t, D, R, xi)
        self._fit(t, D, R)
        for fitted in self.fitted:
            first = fitted.first
            xi[first : first + PIECE_DEGREE + 1] = fitted.piece.states(t, self.unit)
        for first, open_input in self.fed:
            values = open_input.states(t)
            xi[first : first + len(values)] = values
        if not self.varies:
            self.constant = xi
        return xi

    def evaluate(self, t: float, D: np.ndarray, R: np.ndarray, xi: np.ndarray) -> None:
        """Put what functions of time are at ``t``, which have no breaks while relations stay, into ``xi`` (q,)."""
        if len(self.positions):
            f = self._function
            f.inputs[1][:] = D[self.program.d]
            f.inputs[2][:] = R[self.program.r]
            f.inputs[3][0] = t
            f()
            xi[self.positions] = f.outputs[0]

    def doubt(self, t: float) -> np.ndarray | None:
        """How far the states may move at ``t`` because pieces end there that are not exact, (q,); None where none do."""
        found = None
        for fitted in self.fitted:
            if fitted.before is not None and fitted.piece.start == t:
                found = np.zeros(self.q) if found is None else found
                errors = fitted.before.errors(self.unit) + fitted.piece.errors(self.unit)
                found[fitted.first : fitted.first + PIECE_DEGREE + 1] += errors
        return found

    def unit_at(self, t: float, D: np.ndarray, R: np.ndarray) -> float:
        """Return a unit of time that suits the pieces after ``t``: the present one if it does."""
        if not self.fitted:
            return self.unit
        self._fit(t, D, R)
        allowed = min(self.base, min(fitted.piece.unit for fitted in self.fitted))
        if allowed / _SLACK <= self.unit <= allowed:
            return self.unit
        return self.base * 4.0 ** math.floor(math.log(allowed / self.base, 4.0))

    def count_in(self, unit: float) -> None:
        """Count time in this unit."""
        self.unit = unit

    def _fit(self, t: float, D: np.ndarray, R: np.ndarray) -> None:
        """Have a piece of every fitted source that holds after ``t``."""
        if not self.fitted:
            return
        d, r = D[self.program.d], R[self.program.r]
        batch = d.tobytes() + r.tobytes()
        for fitted in self.fitted:
            fitted.at(t, d, r, batch)

    def next_break(self, t: float) -> float:
        """First time after ``t`` at which a piece or table segment of a source ends; ``t`` if a piece has ended."""
        if not (self.fitted or self.fed):
            return math.inf
        ends = [fitted.next_break(t) for fitted in self.fitted]
        ends += [open_input.next_break(t) for _, open_input in self.fed]
        return min(ends, default=math.inf)


class _General:
    """A general function of time of the model, at the discretes and relations in force."""

    def __init__(self, function: ca.Function, p: np.ndarray) -> None:
        self._function = Buffered(function)
        self._function.inputs[0][:] = p
        expansion = Expansion(function)
        self.expansion = partial(self._expanded, expansion) if expansion.known else None

    def take(self, d: np.ndarray, r: np.ndarray) -> None:
        """Have these values of discretes and relations in force."""
        self._function.inputs[1][:], self._function.inputs[2][:] = d, r

    def __call__(self, t: float) -> float:
        self._function.inputs[3][0] = t
        self._function()
        return float(self._function.outputs[0][0])

    def _expanded(
        self, expansion: Expansion, middle: np.ndarray, half: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return expansion(self._function.inputs[:3], middle, half)


class Fitted:
    """A source that is fitted by pieces: position of its states, and the piece in force."""

    piece: Piece

    def __init__(self, first: int, pieces: Pieces, source: _General | None = None) -> None:
        self.first, self.pieces, self.source = first, pieces, source
        self.batch: bytes | None = None
        self.before: Piece | None = None
        """The piece in force before."""

    def at(self, t: float, d: np.ndarray, r: np.ndarray, batch: bytes) -> None:
        """Have the piece that holds after ``t``; a new one where a general function changed."""
        if self.source is None:
            batch = b""
        if batch == self.batch and self.pieces.holds(self.piece, t):
            return
        if self.source is not None:
            self.source.take(d, r)
        before = None if self.batch is None else self.piece
        self.piece, self.batch, self.before = self.pieces.next(t), batch, before

    def next_break(self, t: float) -> float:
        """End of the piece in force; ``t`` if that has ended."""
        if self.batch is None:
            return math.inf
        if self.piece.end > t:
            return self.piece.end
        return math.inf if self.pieces.holds(self.piece, t) else t


def _inputs(exosystem: Exosystem) -> list[Any]:
    return [b for b in exosystem.blocks if b[3] is None]
