"""Linear combinations and products of signals of one result: signals again, over time and not over points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre

from .affine import ONE, Affine, affine_integral
from .panels import NODES, TO_SERIES, Panels
from .source import Source

SLIVER = 8.0
"""Length, in units of the rounding of time, of what lies between two roundings of one event."""


class Combination:
    """Sum of sources of one result with factors, and a constant."""

    def __init__(self, parts: Sequence[tuple[float, Source]], constant: float) -> None:
        first = parts[0][1]
        self.parts, self.constant = tuple(parts), constant
        self.result, self.t_start, self.t_end = first.result, first.t_start, first.t_end

    @property
    def t(self) -> np.ndarray:
        """Points in seconds."""
        return self.parts[0][1].t

    def _sum(self, values: Sequence[np.ndarray]) -> np.ndarray:
        total = sum(f * v for (f, _), v in zip(self.parts, values, strict=True))
        return np.asarray(total + self.constant)

    def sample(self) -> np.ndarray:
        """Values at ``t``."""
        return self._sum([s.sample() for _, s in self.parts])

    def at(self, t: np.ndarray, side: str) -> np.ndarray:
        """Limits from one side at times within the run."""
        return self._sum([s.at(t, side) for _, s in self.parts])

    def undetermined(self) -> np.ndarray:
        """Mask over ``t``: one of the signals is open."""
        return np.logical_or.reduce([s.undetermined() for _, s in self.parts])

    def affine(self) -> Affine | None:
        """The values as an affine form; None if a part is none."""
        total = Affine({}, self.constant)
        for factor, source in self.parts:
            part = source.affine()
            if part is None:
                return None
            total = total.plus(part, factor)
        return total

    def factors(self, power: int) -> tuple[Affine, Affine] | None:
        """Two affine forms whose product is the value to a power; None if there are none."""
        whole = self.affine()
        return None if whole is None else (whole, whole if power == 2 else ONE)

    def power_integral(self, a: float, b: float, power: int) -> float:
        """Integral over [a, b] of the value to a power."""
        factors = self.factors(power)
        if factors is not None:
            return affine_integral(self.result.segments, *factors, a, b)
        panels = self.panels(a, b, b - a)
        return panels.integral(panels.values**power)

    def panels(self, a: float, b: float, longest: float) -> Panels:
        """Series on the panels that all parts have in common: a piece of a polynomial is one."""
        found = [s.panels(a, b, longest) for _, s in self.parts]
        edges = np.unique(np.concatenate([[p.middle - p.half, p.middle + p.half] for p in found], axis=None))
        apart = np.diff(edges, prepend=-np.inf) > SLIVER * np.spacing(np.abs(edges).max(initial=0.0))
        edges = edges[apart]
        middle, half = 0.5 * (edges[:-1] + edges[1:]), 0.5 * np.diff(edges)
        t = middle[:, None] + half[:, None] * NODES
        series = self._sum([_values(p, t, middle) for p in found]) @ TO_SERIES
        return Panels(middle, half, series, all(p.resolved for p in found))


class Product(Combination):
    """Product of two sources of one result."""

    def __init__(self, left: Source, right: Source) -> None:
        super().__init__([(1.0, left), (1.0, right)], 0.0)

    def affine(self) -> Affine | None:
        """None: a product is no affine form."""
        return None

    def factors(self, power: int) -> tuple[Affine, Affine] | None:
        """The factors, for the first power."""
        left, right = (s.affine() for _, s in self.parts)
        return None if power != 1 or left is None or right is None else (left, right)

    def _sum(self, values: Sequence[np.ndarray]) -> np.ndarray:
        return values[0] * values[1]


def _values(panels: Panels, t: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Values of series at times (p, n), each row of which lies in one panel together with its ``middle``."""
    order = np.argsort(panels.middle)
    starts = (panels.middle - panels.half)[order]
    k = order[np.maximum(np.searchsorted(starts, middle, side="right") - 1, 0)]
    x = (t - panels.middle[k][:, None]) / panels.half[k][:, None]
    return legendre.legval(x, panels.series[k].T[:, :, None], tensor=False)


@dataclass(frozen=True, eq=False)
class Operand:
    """An operand or an outcome: where its values come from, its name and its unit."""

    source: Source
    name: str
    unit: str


def combined(operation: str, terms: Sequence[Operand | float]) -> Operand | None:
    """Return a sum, a multiple or a product of terms of one result; None for other operations and several results.

    ``operation`` is the name of a ufunc of numpy; at least one term is no number.
    """
    rule = _RULES.get(operation)
    results = {id(t.source.result) for t in terms if isinstance(t, Operand)}
    return rule(*terms) if rule is not None and len(results) == 1 else None


def _sum(a: Operand | float, b: Operand | float, sign: float, word: str) -> Operand:
    terms = [(1.0, a), (sign, b)]
    parts = [(f, x.source) for f, x in terms if isinstance(x, Operand)]
    constant = sum(f * x for f, x in terms if not isinstance(x, Operand))
    units = {x.unit for _, x in terms if isinstance(x, Operand)}
    right = _factor(b) if sign < 0.0 and isinstance(b, Operand) else _name(b)
    unit = units.pop() if len(units) == 1 else ""
    return Operand(Combination(parts, constant), f"{_name(a)} {word} {right}", unit)


def _multiple(term: Operand, factor: float, name: str) -> Operand:
    return Operand(Combination([(factor, term.source)], 0.0), name, term.unit)


def _product(a: Operand | float, b: Operand | float) -> Operand:
    if isinstance(a, Operand) and isinstance(b, Operand):
        unit = f"{a.unit}.{b.unit}" if a.unit and b.unit else a.unit or b.unit
        return Operand(Product(a.source, b.source), f"{_factor(a)}*{_factor(b)}", unit)
    term, factor = (a, b) if isinstance(a, Operand) else (b, a)
    assert isinstance(term, Operand) and not isinstance(factor, Operand)
    return _multiple(term, factor, f"{factor:g}*{_factor(term)}")


def _quotient(a: Operand | float, b: Operand | float) -> Operand | None:
    if isinstance(b, Operand) or not b or not isinstance(a, Operand):
        return None
    return _multiple(a, 1.0 / b, f"{_factor(a)}/{b:g}")


def _power(a: Operand | float, b: Operand | float) -> Operand | None:
    return _product(a, a) if isinstance(a, Operand) and not isinstance(b, Operand) and b == 2.0 else None


def _name(x: Operand | float) -> str:
    return x.name if isinstance(x, Operand) else f"{x:g}"


def _factor(term: Operand) -> str:
    source = term.source
    if not isinstance(source, Combination) or isinstance(source, Product):
        return term.name
    return f"({term.name})" if len(source.parts) + bool(source.constant) > 1 else term.name


_RULES: dict[str, Callable[..., Operand | None]] = {
    "add": lambda a, b: _sum(a, b, 1.0, "+"),
    "subtract": lambda a, b: _sum(a, b, -1.0, "-"),
    "multiply": _product,
    "divide": _quotient,
    "square": lambda a: _product(a, a),
    "power": _power,
    "negative": lambda a: _multiple(a, -1.0, f"-{_factor(a)}"),
    "positive": lambda a: a,
}
