"""Any variable of the model from the state of a segment: rows of matrices, and output equations on demand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..flattening.flat_model import VECTOR, kind_of
from ..flattening.forms import inner
from ..kernels.loading import Matrix
from ..modeling.array_forms import Algebra, ArrayForm, added_up, stacked
from ..modeling.expressions import Expr, Symbol
from ..reduction.affine import ExactMode, Rows
from ..reduction.core import Exosystem, model_relation
from ..reduction.double_double import over_state
from ..reduction.output_equations import OutputEquation
from ..reduction.reduced_model import ReducedModel
from ..reduction.rounding import SUMMED
from ..structure.incidence import dense_rows
from .closed_form import CHUNK
from .point_frame import PointFrame
from .quadrature import Course, Integrand, integrals, integrate

SPARSE = 300
"""Core unknowns above which rows over a point of them are kept sparse."""


@dataclass(slots=True, eq=False)
class Moment:
    """What a segment has besides its trajectory: start time, discretes, relations, integrals at the start."""

    t: float
    D: np.ndarray
    R: np.ndarray
    q: np.ndarray


ReadMode = ExactMode | PointFrame
"""What reading needs of a mode."""


class Readout:
    """Reads variables of one model with one set of parameters.

    Variables that the core determines are rows over ``y`` of a mode; the others
    are evaluated through the output equations, in their order. ``VK`` are all variables over the sources, a sparse (nv, q).
    """

    def __init__(self, model: ReducedModel, VK: Any, P: np.ndarray) -> None:
        self.model, self.VK, self.P = model, VK, P
        self.output_equation_of = {o.unknown: k for k, o in enumerate(model.output_equations)}
        self.integrals = [k for k, o in enumerate(model.output_equations) if o.integral]
        self.position = {k: n for n, k in enumerate(self.integrals)}
        self._rows: WeakKeyDictionary[ReadMode, dict[tuple[int, ...], Any]] = WeakKeyDictionary()
        self._readings: WeakKeyDictionary[ReadMode, dict[Any, Matrix]] = WeakKeyDictionary()
        self._frames: dict[tuple[Any, ...], PointFrame] = {}
        self._points: dict[bytes, PointFrame] = {}
        self._observed: dict[int, list[tuple[int, int]]] = {}
        self._forms: dict[tuple[int, int], ArrayForm] = {}
        unknowns = np.zeros(model.W.shape[1])
        unknowns[list(self.output_equation_of)] = 1.0
        self.outside = np.asarray(abs(model.W) @ unknowns) > 0.0
        """Mask over all variables: one that depends on an output equation."""

    # -- affine part ---------------------------------------------------------------------------------------------

    @classmethod
    def of(cls, model: ReducedModel, exosystem: Exosystem, P: np.ndarray) -> Readout:
        """Make the readout of a run with these sources."""
        return cls(model, (model.V_known @ exosystem.K).tocsr(), P)

    def rows(self, data: ReadMode, ids: tuple[int, ...]) -> Any:
        """Rows over y of the affine part of variables, (k, ny); a sparse matrix where y is long."""
        known = self._rows.setdefault(data, {})
        found = known.get(ids)
        if found is None:
            found = known[ids] = self._over_state(data, list(ids))
        return found

    def slope_rows(self, data: ReadMode, ids: tuple[int, ...]) -> Any:
        """The same of their time derivatives."""
        if isinstance(data, PointFrame):
            return self.rows(data, ids) @ data.Ay
        (W, V), k = self._dense(list(ids)), len(data.states)
        return over_state(data, np.zeros(W.shape), V @ data.Ay[k:, k:], W)

    def _dense(self, at: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Rows over core unknowns and over sources, dense."""
        rows = np.array(at, np.int64)
        return dense_rows(self.model.W_core, rows), dense_rows(self.VK, rows)

    def _over_state(self, data: ReadMode, at: list[int]) -> Any:
        """Rows over core unknowns and sources as rows over the state of a mode."""
        if not isinstance(data, PointFrame):
            return over_state(data, *self._dense(at))
        from scipy.sparse import csr_array, hstack

        W, V = self.model.W_core[at], self.VK[at]
        found: Any = W @ data.T + hstack([csr_array((W.shape[0], len(data.states))), V], format="csr")
        return found if W.shape[1] > SPARSE else found.toarray()

    def combined(
        self, data: ExactMode, terms: Mapping[tuple[int, bool], float], constant: float
    ) -> np.ndarray:
        """The row (1, ny) of a sum of variables and of time derivatives, (variable, whether its derivative) -> factor."""
        n, states = self.model.W_core.shape[1], len(data.states)
        (A, E), (B, rates) = np.zeros((2, 1, n)), np.zeros((2, 1, self.VK.shape[1]))
        B[0, 0] = constant
        for (k, slope), factor in terms.items():
            W, V = self._dense([k])
            (E if slope else A)[:] += factor * W
            (rates if slope else B)[:] += factor * V
        return over_state(data, A, B + rates @ data.Ay[states:, states:], E)

    def form(self, batch: int, expr: Expr) -> ArrayForm:
        """An expression of a batch, in which derivatives and relations are read as leaves are."""
        key = batch, id(expr)
        if key not in self._forms:
            relation_at = self.model.forms[batch].relation_at
            self._forms[key] = ArrayForm(expr, lambda n: n.op in ("der", "slope") or id(n) in relation_at)
        return self._forms[key]

    def core_rows(self, ids: tuple[int, ...]) -> Rows:
        """The same over core unknowns and sources, sparse."""
        A, B = self.model.W_core[list(ids)], self.VK[list(ids)]
        return Rows(0.0 * A, A, B)

    def row(self, data: ReadMode, k: int, slope: bool) -> Any:
        """The row (1, ny) of one variable or of its time derivative."""
        return (self.slope_rows if slope else self.rows)(data, (k,))

    def observed(self, k: int) -> list[tuple[int, int]]:
        """(output equation, factor) through which variable ``k`` depends on unknowns outside the core."""
        found = self._observed.get(k)
        if found is None:
            W = self.model.W
            cols, vals = W.indices[W.indptr[k] : W.indptr[k + 1]], W.data[W.indptr[k] : W.indptr[k + 1]]
            pairs = zip(cols.tolist(), vals.tolist(), strict=True)
            found = [(self.output_equation_of[j], int(v)) for j, v in pairs if j in self.output_equation_of]
            self._observed[k] = found
        return found

    def frame(self, S: np.ndarray) -> PointFrame:
        """Stands for a mode whose state is ``[z, z', xi]``: any point, on the constraints of a mode or not."""
        key = S.tobytes()
        found = self._points[key] = self._points.get(key) or PointFrame(self.model.W_core.shape[1], S)
        return found

    def moving_frame(
        self, S: np.ndarray, data: ReadMode, freedom: int, reason: Callable[[], str]
    ) -> PointFrame:
        """The same for a mode along its motion, with the generator of the sources; equal modes share one."""
        key = (data.mode, data.undetermined.tobytes(), data.index, freedom)
        found = self._frames.get(key)
        if found is None:
            found = self._frames[key] = PointFrame(
                self.model.W_core.shape[1], S, data.mode, data.undetermined, data.index, freedom,
                data.guard_element, reason=reason(),
            )  # fmt: skip
        return found

    @cached_property
    def dynamic(self) -> np.ndarray:
        """Mask of the core unknowns that stand for a differentiated variable."""
        found = np.zeros(self.model.W_core.shape[1], bool)
        W = self.model.W_core
        alone = self.model.differentiated & (np.diff(W.indptr) == 1)
        found[W.indices[W.indptr[:-1][alone]]] = True
        return found

    # -- values --------------------------------------------------------------------------------------------------

    def reading(self, data: ReadMode, ids: tuple[int, ...], slopes: tuple[int, ...]) -> Matrix:
        """The affine part of variables, then of time derivatives of others, over the state vector."""
        known = self._readings.setdefault(data, {})
        found = known.get((ids, slopes))
        if found is None:
            rows = [self.rows(data, ids), *([self.slope_rows(data, slopes)] if slopes else [])]
            dense = np.concatenate(
                [part if isinstance(part, np.ndarray) else part.toarray() for part in rows]
            )
            found = known[ids, slopes] = Matrix(dense)
        return found

    def columns(
        self,
        ids: tuple[int, ...],
        slopes: tuple[int, ...],
        data: ReadMode,
        trajectory: Course | None,
        moment: Moment,
        hs: np.ndarray,
        ys: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values (k, len(ids)) of several variables and time derivatives (k, len(slopes)) of others at once."""
        e = _Evaluation(self, data, trajectory, moment, hs, ys)
        values = _along(self.rows(data, ids), e.ys)
        rates = _along(self.slope_rows(data, slopes), e.ys)
        for n, k in enumerate(ids):
            if self.outside[k]:
                values[:, n] = e.variable(k)
        for n, k in enumerate(slopes):
            if self.outside[k]:
                rates[:, n] = e.slope(k)
        return values, rates

    def values(
        self, k: int, data: ReadMode, trajectory: Course, moment: Moment, hs: np.ndarray
    ) -> np.ndarray:
        """Values of variable ``k`` at the times ``hs`` of a segment."""
        return _Evaluation(self, data, trajectory, moment, hs, trajectory.sample(hs)).variable(k)

    def slopes(
        self, k: int, data: ReadMode, trajectory: Course, moment: Moment, hs: np.ndarray
    ) -> np.ndarray:
        """Time derivative of variable ``k`` at the times ``hs`` of a segment."""
        return _Evaluation(self, data, trajectory, moment, hs, trajectory.sample(hs)).slope(k)

    def at(
        self,
        ids: tuple[int, ...],
        data: ReadMode,
        y: np.ndarray,
        moment: Moment,
        slopes: tuple[int, ...] = (),
    ) -> np.ndarray:
        """Values of several variables, then time derivatives of others, at one state, integrals at ``moment.q``."""
        found = self.reading(data, ids, slopes)(y)
        for n, k in enumerate((*ids, *slopes)):
            if self.outside[k]:
                e = _Evaluation(self, data, None, moment, np.zeros(1), y[None, :])
                found[n] = (e.variable(k) if n < len(ids) else e.slope(k))[0]
        return found

    def expressions(
        self,
        which: Sequence[tuple[int, int, Expr]],
        data: ReadMode,
        ys: np.ndarray,
        moment: Moment,
        hs: np.ndarray,
    ) -> np.ndarray:
        """Values (len(which), k) of expressions of instances of batches at some states (k, ny) and times (k,)."""
        e = _Evaluation(self, data, None, moment, hs, ys)
        return np.array([e.expression(batch, i, expr) for batch, i, expr in which])

    def rates(self, data: ReadMode, y: np.ndarray, moment: Moment) -> np.ndarray:
        """Time derivatives of the integrals at one state."""
        e = _Evaluation(self, data, None, moment, np.zeros(1), y[None, :])
        return np.array([e.rate(k)[0] for k in self.integrals])

    def integrals_at(self, data: ReadMode, trajectory: Course, moment: Moment, hs: np.ndarray) -> np.ndarray:
        """Integrals (k, nq) at the times ``hs`` (k,) of a segment."""
        e = _Evaluation(self, data, trajectory, moment, hs, trajectory.sample(hs))
        columns = [self.model.output_equations[k].sign * e.output_equation(k) for k in self.integrals]
        return np.column_stack(columns) if columns else np.zeros((len(hs), 0))

    def advance(self, data: ReadMode, trajectory: Course, moment: Moment, h: float) -> np.ndarray:
        """Integrals at the end of a segment of length ``h``."""
        if not self.integrals or h <= 0.0:
            return moment.q
        rates, rounding = self._rates_of(self.integrals, data, trajectory, moment)
        return moment.q + integrate(trajectory, rates, 0.0, h, rounding=rounding)

    def grown(self, k: int, data: ReadMode, trajectory: Course, moment: Moment, hs: np.ndarray) -> np.ndarray:
        """What an integral output equation has grown by at times ``hs`` (k,) of a segment, not all of them its start."""
        return integrals(trajectory, hs, *self._rates_of([k], data, trajectory, moment))[:, 0]

    def _rates_of(
        self, which: list[int], data: ReadMode, trajectory: Course, moment: Moment
    ) -> tuple[Integrand, Callable[[np.ndarray], np.ndarray]]:
        """Time derivatives of some integral output equations along a segment, and their rounding at some times."""

        def rates(ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
            return _Evaluation(self, data, trajectory, moment, hs, ys).rates(which)

        def rounding(hs: np.ndarray) -> np.ndarray:
            e = _Evaluation(self, data, trajectory, moment, hs, trajectory.sample(hs))
            return e.rounding(which, trajectory.terms(hs))

        return rates, rounding


def _along(rows: Any, ys: np.ndarray) -> np.ndarray:
    """Values (k, m) of rows (m, ny) at states (k, ny)."""
    return (rows @ ys.T).T


class _Evaluation:
    """Values at some times of one segment; output equations are evaluated once."""

    def __init__(
        self,
        readout: Readout,
        data: ReadMode,
        trajectory: Course | None,
        moment: Moment,
        hs: np.ndarray,
        ys: np.ndarray,
    ) -> None:
        self.r, self.data, self.trajectory, self.moment = readout, data, trajectory, moment
        self.hs, self.ys = hs, ys
        self.known: dict[int, np.ndarray] = {}
        self.affine: dict[tuple[int, bool], np.ndarray] = {}
        """Affine parts read so far: (variable, whether its time derivative) -> values."""

    def read(self, k: int, slope: bool = False) -> np.ndarray:
        """Affine part of a variable, or of its time derivative."""
        found = self.affine.get((k, slope))
        if found is None:
            found = self.affine[k, slope] = _along(self.r.row(self.data, k, slope), self.ys)[:, 0]
        return found

    def variable(self, k: int) -> np.ndarray:
        total = self.read(k)
        for output_equation, factor in self.r.observed(k):
            total = total + factor * self.output_equation(output_equation)
        return total

    def slope(self, k: int) -> np.ndarray:
        total = self.read(k, slope=True)
        for number, factor in self.r.observed(k):
            o = self.r.model.output_equations[number]
            if not o.integral:
                return np.full(len(self.hs), np.nan)
            total = total + factor * o.sign * self.rate(number)
        return total

    def output_equation(self, k: int) -> np.ndarray:
        """Value of the unknown that output equation ``k`` determines."""
        if k not in self.known:
            o = self.r.model.output_equations[k]
            found = self._integral(k) if o.integral else o.sign * (self._solve(o) - self.read(o.variable))
            self.known[k] = found
        return self.known[k]

    def rate(self, k: int) -> np.ndarray:
        """Time derivative of the variable of an integral output equation."""
        return self._solve(self.r.model.output_equations[k])

    def rates(self, which: list[int]) -> np.ndarray:
        """The same of several, (k, len(which))."""
        return np.column_stack([self.rate(k) for k in which])

    def rounding(self, which: list[int], terms: np.ndarray) -> np.ndarray:
        """By how much rounding of what they read moves the rates, from the magnitudes (k, ny) of the terms of the states.

        Each affine part is moved up and down in turn by the rounding of the sum that it is. Products of two are so differenced
        exactly, also where one of them is below its rounding.
        """
        found = self.rates(which)
        times = len(self.hs)
        shape = times, len(self.affine), 2
        if not self.affine or math.prod(shape) * len(self.affine) > CHUNK:
            return np.zeros_like(
                found
            )  # A function of time alone; else it costs more than the halvings that it saves.
        each = np.repeat(np.arange(times), shape[1] * 2)
        moved = _Evaluation(self.r, self.data, self.trajectory, self.moment, self.hs[each], self.ys)
        for n, ((k, slope), values) in enumerate(self.affine.items()):
            sides = np.broadcast_to(values[:, None, None], shape).copy()
            rounding = SUMMED * _along(abs(self.r.row(self.data, k, slope)), terms)
            sides[:, n] += rounding * (1.0, -1.0)
            moved.affine[k, slope] = sides.ravel()
        up, down = moved.rates(which).reshape(*shape, -1).transpose(2, 0, 1, 3)
        return 0.5 * np.abs(up - down).sum(axis=1)

    def _solve(self, o: OutputEquation) -> np.ndarray:
        rest, factor = (self.expression(o.batch, o.instance, part) for part in (o.rest, o.factor))
        return -rest / factor

    def _integral(self, k: int) -> np.ndarray:
        o = self.r.model.output_equations[k]
        n = self.r.position[k]
        out = np.full(len(self.hs), self.moment.q[n])
        after = self.hs > 0.0
        if self.trajectory is None or not after.any():
            return o.sign * out
        known = getattr(self.trajectory, "known_integral", None)
        if known is not None:
            found, values = known(n, self.hs)
            out[found] = values
            after &= ~found
        if after.any():
            out[after] += self.r.grown(k, self.data, self.trajectory, self.moment, self.hs[after])
        return o.sign * out

    def expression(self, batch: int, i: int, expr: Expr) -> np.ndarray:
        """Value of an expression of an instance of a batch."""
        model, moment = self.r.model, self.moment
        forms, flat = model.forms[batch], model.flat

        def leaf(node: Expr) -> Any:
            local = forms.relation_at.get(id(node))
            if local is not None:
                return moment.R[model_relation(model, batch, local) + i] != 0.0
            if node.op in ("der", "slope"):
                return self.slope(flat.symbol(batch, i, "v", inner(node)))
            if isinstance(node, Symbol):
                kind = kind_of(node)
                k = flat.symbol(batch, i, kind, node)
                return self.r.P[k] if kind == "p" else moment.D[k] if kind == "d" else self.variable(k)
            return moment.t + self.hs if node.op == "time" else node.data

        def apply(node: Expr, args: list[Any]) -> Any:
            return args[0] if node.op == "pre" else VECTOR[node.op](*args)

        with np.errstate(all="ignore"):
            found = self.r.form(batch, expr).value(leaf, Algebra(stacked, added_up, apply))
            return np.broadcast_to(np.asarray(found, float), self.hs.shape)
