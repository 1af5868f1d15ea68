"""The record of a run as columns: what files hold, from which a record is made again.

Segments are columns of starts, ends, states and discrete rows, with tables of what evaluates them: the modes they were spent
in, the flows of closed forms, and polynomials in place of steps. Instants are columns too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from ..dynamics.closed_form import AffineFlow, Basis, Trajectory
from ..dynamics.point_frame import PointFrame
from ..dynamics.power_series import PowerSeries
from ..dynamics.readout import Moment, ReadMode, Readout
from ..reduction.affine import ExactMode, Mode
from ..reduction.double_double import Fine
from ..reduction.reduced_model import ReducedModel
from ..values import frozen
from .objects import register
from .record import Growing, Jump, MicroStep, Prefix, Recorded, Segment
from .series import SeriesMotion, series_of


@frozen
class Numbers:
    """Variables over the sources, and parameters: the numbers of one readout."""

    VK: Any
    P: np.ndarray


@frozen
class KeptMode(ExactMode):
    """An analysed mode as files have it."""

    left_over: Fine | None = None
    """What rounding has left of ``T`` and ``Ay``; not in files of formats up to 5."""

    def fine(self) -> Fine | None:
        """What rounding has left of ``T`` and ``Ay``."""
        return self.left_over


@frozen
class Trace:
    """Segments and instants of a run as columns and tables."""

    start: np.ndarray
    end: np.ndarray
    mode: np.ndarray
    """Per segment the place of its mode in ``modes``, of its numbers, of its flow (-1: integrated), and of its discrete row."""
    numbers_of: np.ndarray
    flow: np.ndarray
    D: np.ndarray
    R: np.ndarray
    q: np.ndarray
    """Integrals at the starts, (segments, nq)."""
    y: np.ndarray
    """States at the starts of exact segments, one behind the other."""
    modes: list[Any]
    numbers: list[Numbers]
    flows: list[AffineFlow]
    motions: list[SeriesMotion]
    """Of the integrated segments, in order."""
    rows: list[np.ndarray]
    """Distinct rows of discretes and relations."""
    t: np.ndarray
    """Per micro-step: time, number in its instant, places of kind, triggers, modes and rows."""
    step: np.ndarray
    step_rows: np.ndarray
    branches: list[Mode]
    kinds: list[str]
    triggers: list[tuple[Any, ...]]
    impulses: dict[int, tuple[Any, ...]]
    jumps: dict[int, tuple[Any, ...]]
    lost: dict[int, tuple[Any, ...]]
    parts: dict[int, tuple[Jump, ...]]
    z: np.ndarray
    left: np.ndarray
    """Left limits of core unknowns and discretes at the start."""
    reasons: dict[str, tuple[str, str]]
    core: Any
    """Variables over the core unknowns: what the states mean."""


register(KeptMode, Numbers, Trace, Jump, SeriesMotion, PointFrame, PowerSeries)
register(AffineFlow, without=("rooms",))
register(Basis, without=("_latest", "packed"))


class _Table:
    """Numbers of distinct things in the order of their first occurrence."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._place: dict[Any, int] = {}

    def place(self, key: Any, item: Any) -> int:
        found = self._place.get(key)
        if found is None:
            found = self._place[key] = len(self.items)
            self.items.append(item)
        return found

    def row(self, row: np.ndarray | None) -> int:
        return -1 if row is None else self.place((row.dtype.name, len(row), row.tobytes()), row)


def trace_of(record: Recorded, which: np.ndarray, hs: np.ndarray) -> Trace:
    """Return the columns of a record; points of interest are times ``hs`` since the starts of the segments ``which``."""
    order = np.argsort(which, kind="stable")
    which, hs = which[order], hs[order]
    modes, numbers, flows, rows = _Table(), _Table(), _Table(), _Table()
    segments = record.segments
    of = np.empty((len(segments), 5), np.int64)
    y, motions = [], []
    for k, s in enumerate(segments):
        exact = s.trajectory if isinstance(s.trajectory, Trajectory) else None
        of[k] = (
            modes.place(id(s.data), s.data), numbers.place(id(s.readout), s.readout),
            flows.place(id(exact.flow), exact.flow) if exact else -1,
            rows.row(s.moment.D), rows.row(s.moment.R),
        )  # fmt: skip
        if exact:
            y.append(exact.y0)
        else:
            a, b = np.searchsorted(which, (k, k + 1))
            motions.append(_as_series(s, hs[a:b]))
    steps = record.steps
    branches, kinds, triggers = _Table(), _Table(), _Table()
    numbered = np.empty((len(steps), 5), np.int64)
    step_rows = np.empty((len(steps), 2), np.int64)
    for k, s in enumerate(steps):
        numbered[k] = (
            s.number, kinds.place(s.kind, s.kind), triggers.place(s.triggers, s.triggers),
            branches.place(s.before, s.before), branches.place(s.after, s.after),
        )  # fmt: skip
        step_rows[k] = rows.row(s.D), rows.row(s.R)
    q = [s.moment.q for s in segments]
    mode, numbers_of, flow, D, R = of.T.copy()
    return Trace(
        np.array([s.start for s in segments]), np.array([s.end for s in segments]), mode, numbers_of, flow, D, R,
        np.array(q).reshape(len(q), -1), np.concatenate(y) if y else np.zeros(0),
        [_kept(m) for m in modes.items], [Numbers(r.VK, r.P) for r in numbers.items], flows.items, motions, rows.items,
        np.array([s.t for s in steps]), numbered, step_rows, branches.items, kinds.items, triggers.items,
        _those(s.impulses for s in steps), _those(s.jumps for s in steps), _those(s.lost for s in steps),
        _those(s.parts for s in steps), record.z, record.D, record.reasons(),
        segments[0].readout.model.W_core if segments else None,
    )  # fmt: skip


def _kept(data: ReadMode) -> ReadMode:
    if isinstance(data, PointFrame):
        return data
    return KeptMode(*(getattr(data, f.name) for f in fields(ExactMode)), left_over=data.fine())


def _as_series(s: Segment, points: np.ndarray) -> SeriesMotion:
    motion: Any = s.trajectory
    if isinstance(motion, SeriesMotion):
        return motion
    return series_of(
        motion, s.end - s.start, points, lambda hs: s.readout.integrals_at(s.data, motion, s.moment, hs)
    )


def _those(values: Iterable[Any]) -> dict[int, Any]:
    return {k: v for k, v in enumerate(values) if v}


def record_of(trace: Trace, model: ReducedModel) -> Recorded:
    """Return the record that columns stand for; ``model`` is the one that was run."""
    readouts = [Readout(model, n.VK, n.P) for n in trace.numbers]
    at, motions, segments = 0, iter(trace.motions), []
    for k, (start, end) in enumerate(zip(trace.start.tolist(), trace.end.tolist(), strict=True)):
        data = trace.modes[trace.mode[k]]
        trajectory: Any
        if trace.flow[k] < 0:
            trajectory = next(motions)
        else:
            flow = trace.flows[trace.flow[k]]
            trajectory = flow.start(trace.y[at : at + flow.ny])
            at += flow.ny
        moment = Moment(start, trace.rows[trace.D[k]], trace.rows[trace.R[k]], trace.q[k])
        segments.append(Segment(start, end, data, trajectory, moment, readouts[trace.numbers_of[k]]))
    steps = []
    columns = zip(trace.t.tolist(), trace.step.tolist(), trace.step_rows.tolist(), strict=True)
    for k, (t, (number, kind, triggers, before, after), (D, R)) in enumerate(columns):
        steps.append(
            MicroStep(
                t, number, trace.kinds[kind], trace.triggers[triggers], trace.branches[before], trace.branches[after],
                trace.impulses.get(k, ()), trace.jumps.get(k, ()), trace.lost.get(k, ()), trace.parts.get(k, ()),
                _row(trace, D), _row(trace, R),
            )
        )  # fmt: skip
    passed, stepped = Prefix(Growing([segments]), len(segments)), Prefix(Growing([steps]), len(steps))
    return Recorded(passed, stepped, trace.z, trace.left, lambda: trace.reasons)


def _row(trace: Trace, k: int) -> np.ndarray | None:
    return None if k < 0 else trace.rows[k]
