"""Energy through the ports of components: exact along segments, and the share of impulses at instants.

Tellegen's theorem: since potentials are equal and flows sum to zero in every connection,
the energies into all parts of a closed model sum to zero, impulses included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DeclarationError
from ..flattening.flat_model import VECTOR, Stamp, kind_of
from ..flattening.trace import locate_symbol
from ..flow.readout import Moment, Readout
from ..modeling.expressions import Expr, Symbol, fold, walk
from .names import Names, window
from .record import Jump, Segment

if TYPE_CHECKING:
    from .result import Result


@dataclass(frozen=True)
class Part:
    """Energy of one component in J: all of it, and the part that impulses carried."""

    path: str
    energy: float
    impulsive: float
    stores: bool
    """The component differentiates a variable."""


class Audit(tuple[Part, ...]):
    """Energies into the parts of a model.

    ``stored`` went into parts that differentiate a variable, ``lost`` into the
    others, ``supplied`` came from them; ``balance`` is the sum of all, zero up to rounding.
    """

    __slots__ = ()

    @property
    def stored(self) -> float:
        """Energy in J into parts that store."""
        return sum(p.energy for p in self if p.stores)

    @property
    def lost(self) -> float:
        """Energy in J that the other parts took up."""
        return sum(p.energy for p in self if not p.stores and p.energy > 0)

    @property
    def supplied(self) -> float:
        """Energy in J that the other parts gave."""
        return -sum(p.energy for p in self if not p.stores and p.energy < 0)

    @property
    def balance(self) -> float:
        """Sum over all parts in J."""
        return sum(p.energy for p in self)

    def __repr__(self) -> str:
        lines = [f"  {'into':24s} {'energy [J]':>14s} {'impulses [J]':>14s}"]
        lines += [f"  {p.path:24s} {p.energy:14.6g} {p.impulsive:14.6g}" for p in self]
        lines.append(
            f"  stored {self.stored:.6g} J, lost {self.lost:.6g} J, supplied {self.supplied:.6g} J, balance {self.balance:.3g} J"
        )
        return "\n".join(lines)


class PowerMeter:
    """Power into the ports of chosen instances, as functions of the state.

    Parameters
    ----------
    names : Names
    instances : sequence of (stamp, instances)
    """

    def __init__(self, names: Names, instances: Sequence[tuple[int, np.ndarray]]) -> None:
        self.flat, self.instances = names.flat, instances
        values: dict[int, None] = {}
        slopes: dict[int, None] = {}
        for k, at in instances:
            stamp = self.flat.stamps[k]
            for expr in stamp.template.powers:
                for node in walk(expr):
                    if isinstance(node, Symbol) and kind_of(node) == "v":
                        values.update(dict.fromkeys(self._numbers(stamp, at, node).tolist()))
                    elif node.op == "der":
                        slopes.update(dict.fromkeys(self._numbers(stamp, at, node.args[0]).tolist()))  # type: ignore[arg-type]
        self.ids, self.slopes = tuple(values), tuple(slopes)
        self.column = {x: k for k, x in enumerate(self.ids)}
        self.slope_column = {x: k for k, x in enumerate(self.slopes)}

    def _numbers(self, stamp: Stamp, at: np.ndarray, symbol: Symbol) -> np.ndarray:
        return stamp.vb[at] + locate_symbol(stamp.template, "v", symbol)

    def fold(
        self,
        leaf: Callable[[Stamp, np.ndarray, Symbol, bool], Any],
        apply: Callable[[Expr, list[Any]], Any],
        constant: Callable[[float], Any],
    ) -> list[Any]:
        """Evaluate the power expressions; one sum per group of instances."""
        found = []
        for k, at in self.instances:
            stamp = self.flat.stamps[k]

            def one(node: Expr, stamp: Stamp = stamp, at: np.ndarray = at) -> Any:
                return (
                    leaf(stamp, at, node, False)
                    if isinstance(node, Symbol)
                    else constant(float(node.data or 0.0))
                )

            def inner(node: Expr, args: list[Any], stamp: Stamp = stamp, at: np.ndarray = at) -> Any:
                if node.op == "der":
                    return leaf(stamp, at, node.args[0], True)  # type: ignore[arg-type]
                return apply(node, args)

            total = constant(0.0)
            for expr in stamp.template.powers:
                total = apply(Expr("+"), [total, fold(expr, one, inner)])
            found.append(total)
        return found

    def along(self, segment: Segment, hs: np.ndarray) -> np.ndarray:
        """Powers (k, instances) at the times ``hs`` (k,) of a segment."""
        s = segment
        X, S = s.readout.columns(self.ids, self.slopes, s.data, s.trajectory, s.moment, hs)

        def leaf(stamp: Stamp, at: np.ndarray, symbol: Symbol, slope: bool) -> np.ndarray:
            if kind_of(symbol) == "p":
                return s.readout.P[stamp.pb[at] + locate_symbol(stamp.template, "p", symbol)]
            columns = self.slope_column if slope else self.column
            return (S if slope else X)[:, [columns[x] for x in self._numbers(stamp, at, symbol).tolist()]]

        parts = self.fold(leaf, lambda node, args: VECTOR[node.op](*args), float)
        sizes = [len(at) for _, at in self.instances]
        return np.hstack([np.broadcast_to(p, (len(hs), n)) for p, n in zip(parts, sizes, strict=True)])

    def at_jump(self, jump: Jump, readout: Readout, moment: Moment) -> np.ndarray:
        """Energies (instances,) that the impulses of a micro-step carry."""
        X, S, dX, dS = _means_and_impulses(jump, readout, moment, self.ids, self.slopes)

        def leaf(stamp: Stamp, at: np.ndarray, symbol: Symbol, slope: bool) -> tuple[Any, Any]:
            if kind_of(symbol) == "p":
                return readout.P[stamp.pb[at] + locate_symbol(stamp.template, "p", symbol)], 0.0
            columns = self.slope_column if slope else self.column
            which = [columns[x] for x in self._numbers(stamp, at, symbol).tolist()]
            return (S[which], dS[which]) if slope else (X[which], dX[which])

        parts = self.fold(leaf, _differential, lambda value: (value, 0.0))
        sizes = [len(at) for _, at in self.instances]
        return np.concatenate([np.broadcast_to(p[1], (n,)) for p, n in zip(parts, sizes, strict=True)])


def _differential(node: Expr, args: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Value and directional derivative of one operation."""
    (a, da), (b, db) = args[0], args[-1]
    match node.op:
        case "+":
            return a + b, da + db
        case "-":
            return a - b, da - db
        case "neg":
            return -a, -da
        case "*":
            return a * b, da * b + a * db
        case "/":
            return a / b, (da - a / b * db) / b
    raise DeclarationError(f"the power of a port is a sum of products, not `{node.op}`")


def _means_and_impulses(
    jump: Jump, readout: Readout, moment: Moment, ids: tuple[int, ...], slopes: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Means of both limits of variables and slopes, and their time integrals over the instant."""
    n = len(jump.z_before)
    frame = readout.frame
    left = _point(jump.z_before, jump.before, jump.y_before)
    right = _point(jump.after.T @ jump.y_after, jump.after, jump.y_after)
    mean = 0.5 * (left + right)
    direction = np.zeros(len(mean))
    moved = readout.dynamic
    direction[:n] = jump.J1
    direction[n : 2 * n][moved] = (right - left)[:n][moved]
    # Observers are affine in what carries impulses: a step of the size of the mean loses no digits.
    size, base = float(np.abs(jump.J1).max(initial=0.0)), float(np.abs(mean).max(initial=1.0))
    unit = base / size if size > 0.0 else 1.0
    X0, S0 = (a[0] for a in readout.columns(ids, slopes, frame, None, moment, np.zeros(1), mean[None, :]))
    X1, S1 = (
        a[0]
        for a in readout.columns(
            ids, slopes, frame, None, moment, np.zeros(1), (mean + unit * direction)[None, :]
        )
    )
    dX, dS = (X1 - X0) / unit, (S1 - S0) / unit
    plain = [k for k, x in enumerate(ids) if not readout.observed(x)]
    dX[plain] = readout.rows(frame, tuple(ids[k] for k in plain)) @ direction
    return X0, S0, dX, dS


def _point(z: np.ndarray, data: Any, y: np.ndarray) -> np.ndarray:
    return np.concatenate([z, data.T @ (data.Ay @ y), y[len(data.states) :]])


# -- sums over a run -------------------------------------------------------------------------------------------------


def energies(
    result: Result, meter: PowerMeter, t0: float | None, t1: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Energies (instances,) of a window, and the part of them that impulses carried."""
    a, b = window(t0, t1, result.t_start, result.t_end)
    flow = result.segments.integral(meter.along, a, b)
    impulsive = np.zeros(len(flow))
    for step in result.steps:
        if step.jump is not None and a < step.t <= b:
            which, _ = result.segments.locate(np.array([step.t]), "right")
            segment = result.segments.all[int(which[0])]
            impulsive += meter.at_jump(step.jump, segment.readout, segment.moment)
    return flow + impulsive, impulsive


def energy_into(result: Result, path: str, t0: float | None, t1: float | None) -> float:
    """Energy in J that flowed into one component."""
    k, i = result.names.stamp_of(path)
    if not result.names.flat.stamps[k].template.powers:
        return 0.0
    return float(energies(result, PowerMeter(result.names, [(k, np.array([i]))]), t0, t1)[0][0])


def audit(result: Result, t0: float | None, t1: float | None) -> Audit:
    """Energies into all parts without sub-components."""
    names = result.names
    stamps = names.flat.stamps
    leaves = [
        (k, np.arange(len(s.vb))) for k, s in enumerate(stamps) if s.template.powers and not s.template.groups
    ]
    if not leaves:
        return Audit(())
    total, impulsive = energies(result, PowerMeter(names, leaves), t0, t1)
    places = [(k, i) for k, at in leaves for i in at.tolist()]
    stores = {k: _stores(stamps[k].template) for k, _ in leaves}
    parts = [
        Part(names.flat.path(k, i), float(e), float(j), stores[k])
        for (k, i), e, j in zip(places, total, impulsive, strict=True)
    ]
    return Audit(sorted(parts, key=lambda p: p.path))


def _stores(template: Any) -> bool:
    return any(node.op == "der" for r in template.residuals for node in walk(r.expr))
