"""Power into the ports of components by their expressions, also of variables that only output equations determine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dynamics.readout import Moment, Readout
from ..errors import DeclarationError
from ..flattening.flat_model import VECTOR, Batch, kind_of
from ..flattening.forms import inner
from ..flattening.locating import locate_symbol
from ..modeling.expressions import Expr, Symbol, fold, walk
from .names import Names
from .record import Jump, KnownJump
from .segments import Segment


class PowerMeter:
    """Power into the ports of chosen instances, by the expressions of the ports.

    Parameters
    ----------
    names : Names
    instances : sequence of (batch, instances)
    """

    def __init__(self, names: Names, instances: Sequence[tuple[int, np.ndarray]]) -> None:
        self.flat, self.instances = names.flat, instances
        values: dict[int, None] = {}
        slopes: dict[int, None] = {}
        for k, at in instances:
            batch = self.flat.batches[k]
            for expr in batch.template.powers:
                for node in walk(expr):
                    if isinstance(node, Symbol) and kind_of(node) == "v":
                        values.update(dict.fromkeys(self._numbers(batch, at, node).tolist()))
                    elif node.op == "der":
                        slopes.update(dict.fromkeys(self._numbers(batch, at, inner(node)).tolist()))
        self.ids, self.slopes = tuple(values), tuple(slopes)
        self.column = {x: k for k, x in enumerate(self.ids)}
        self.slope_column = {x: k for k, x in enumerate(self.slopes)}

    def _numbers(self, batch: Batch, at: np.ndarray, symbol: Symbol) -> np.ndarray:
        return batch.vb[at] + locate_symbol(batch.template, "v", symbol)

    def fold(
        self,
        leaf: Callable[[Batch, np.ndarray, Symbol, bool], Any],
        apply: Callable[[Expr, list[Any]], Any],
        constant: Callable[[float], Any],
    ) -> list[Any]:
        """Evaluate the power expressions; one sum per group of instances."""
        found = []
        for k, at in self.instances:
            batch = self.flat.batches[k]

            def one(node: Expr, batch: Batch = batch, at: np.ndarray = at) -> Any:
                return (
                    leaf(batch, at, node, False)
                    if isinstance(node, Symbol)
                    else constant(float(node.data or 0.0))
                )

            def above(node: Expr, args: list[Any], batch: Batch = batch, at: np.ndarray = at) -> Any:
                if node.op == "der":
                    return leaf(batch, at, inner(node), True)
                return apply(node, args)

            total = constant(0.0)
            for expr in batch.template.powers:
                total = apply(Expr("+"), [total, fold(expr, one, above)])
            found.append(total)
        return found

    def along(self, segment: Segment, ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Powers (k, instances) at the states ``ys`` (k, ny) and times ``hs`` (k,) of a segment."""
        return self._along(segment, ys, hs, lambda x: x, lambda node, args: VECTOR[node.op](*args))

    def bounds(self, segment: Segment, ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Sums of the magnitudes of the terms of the powers."""
        return self._along(segment, ys, hs, np.abs, _magnitude)

    def _along(
        self,
        segment: Segment,
        ys: np.ndarray,
        hs: np.ndarray,
        read: Callable[[np.ndarray], np.ndarray],
        apply: Callable[[Expr, list[Any]], Any],
    ) -> np.ndarray:
        s = segment
        X, S = map(read, s.readout.columns(self.ids, self.slopes, s.data, s.trajectory, s.moment, hs, ys))

        def leaf(batch: Batch, at: np.ndarray, symbol: Symbol, slope: bool) -> np.ndarray:
            kind = kind_of(symbol)
            if kind == "p":
                return read(s.readout.P[batch.pb[at] + locate_symbol(batch.template, "p", symbol)])
            if kind == "d":
                return read(s.moment.D[batch.db[at] + locate_symbol(batch.template, "d", symbol)])
            columns = self.slope_column if slope else self.column
            return (S if slope else X)[:, [columns[x] for x in self._numbers(batch, at, symbol).tolist()]]

        parts = self.fold(leaf, apply, lambda value: float(read(np.asarray(value))))
        sizes = [len(at) for _, at in self.instances]
        return np.hstack([np.broadcast_to(p, (len(hs), n)) for p, n in zip(parts, sizes, strict=True)])

    def at_jump(self, jump: Jump | KnownJump, readout: Readout, moment: Moment) -> np.ndarray:
        """Energies (instances,) that the impulses of a micro-step carry."""
        X, S, dX, dS = read_impulses(jump, readout, moment, self.ids, self.slopes)

        def leaf(batch: Batch, at: np.ndarray, symbol: Symbol, slope: bool) -> tuple[Any, Any]:
            kind = kind_of(symbol)
            if kind == "p":
                return readout.P[batch.pb[at] + locate_symbol(batch.template, "p", symbol)], 0.0
            if kind == "d":
                return moment.D[batch.db[at] + locate_symbol(batch.template, "d", symbol)], 0.0
            columns = self.slope_column if slope else self.column
            which = [columns[x] for x in self._numbers(batch, at, symbol).tolist()]
            return (S[which], dS[which]) if slope else (X[which], dX[which])

        parts = self.fold(leaf, _differential, lambda value: (value, 0.0))
        sizes = [len(at) for _, at in self.instances]
        return np.concatenate([np.broadcast_to(p[1], (n,)) for p, n in zip(parts, sizes, strict=True)])


def _magnitude(node: Expr, args: list[Any]) -> Any:
    """Bound of one operation from those of its arguments."""
    if node.op in ("+", "-"):
        return args[0] + args[-1]
    return args[0] if node.op == "neg" else VECTOR[node.op](*args)


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


def means_and_impulses(jump: Jump | KnownJump, readout: Readout) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the state ``[z, z', xi]`` of `Readout.frame` over an instant, and its time integral."""
    n, left, right = len(jump.J1), jump.left, jump.right
    direction = np.zeros(len(left))
    moved = readout.dynamic
    direction[:n] = jump.J1
    direction[n : 2 * n][moved] = (right - left)[:n][moved]
    mean = 0.5 * (left + right)
    if jump.mean is not None:
        mean[: len(jump.mean)] = jump.mean  # Slopes are not in files of format 4 from before they were kept.
    return mean, direction


def read_impulses(
    jump: Jump | KnownJump, readout: Readout, moment: Moment, ids: tuple[int, ...], slopes: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Means of variables and slopes at an instant, and their time integrals over it."""
    frame = readout.frame
    mean, direction = means_and_impulses(jump, readout)
    # Output equations are affine in what carries impulses: a step of the size of the mean loses no digits.
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
    plain = [k for k, x in enumerate(ids) if not readout.outside[x]]
    dX[plain] = readout.rows(frame, tuple(ids[k] for k in plain)) @ direction
    return X0, S0, dX, dS
