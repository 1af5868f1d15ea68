"""One instant: micro-steps of relations, discrete equations, mode choice and restart until nothing changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...errors import AcausalError, Location
from ...reduction.affine import Inadmissible, Kind, Mode, Restart
from ...reduction.impacts import FREE, lost_energy, start_limits
from ...reduction.restart import restart as entered
from ...results.record import Jump, MicroStep
from ..confirmation import confirm_instant, confirm_jump, confirm_recorded, missed_statement, require
from ..failures import (
    UNSOLVED,
    CrossingUnresolved,
    DiscreteUnsound,
    GivenContradict,
    ImpactsUnending,
    Micro,
    NoMotionAfterImpact,
    NotFinite,
    NotSolved,
    ReadNotFinite,
    RequirementMissed,
    SearchFailed,
    SeveralModes,
    TwoReinits,
    Unsettled,
)
from ..run import Run
from ..uncertainty import Uncertainty
from ..watch import can_trigger, orientations
from .choice import bend_along
from .collisions import ImpactFailed, Stage, can_collide, collisions
from .discrete import Outcome
from .impulse_policy import interruption
from .lexicographic import ROUNDING, Instant
from .search import NoConsistentMode


class Process:
    """What happens in an instant of a run."""

    def __init__(self, run: Run) -> None:
        self.run, self.discrete, self.limit = run, run.discrete, run.options.max_micro_steps
        self.resolution = run.tolerance
        """Events closer than this share the instant."""

    # -- the instant ---------------------------------------------------------------------------------------------

    def process(
        self,
        kind: str,
        triggers: tuple[Any, ...],
        ticks: Sequence[bool] = (),
        reinits: list[tuple[int, float]] | None = None,
    ) -> None:
        """Run the micro-steps of the present instant of the run."""
        run = self.run
        trail: list[Micro] = []
        jumped = False
        for k in range(self.limit + 1):
            first = k == 0
            outcome = self.evaluate(
                ticks if first else (), kind == "start" and first, kind == "terminal" and first
            )
            quiet = (not first or kind == "terminal") and self._same(outcome)
            # What an impulse decided need not hold after it.
            if quiet and not (jumped and turning(run) is not None):
                run.take(outcome)
                break
            requested = self._reinits(outcome) if outcome.fired else []
            if first and reinits:
                requested = reinits + requested
            if first or jumped or requested or self._moves(outcome):
                jumped = self._accept(outcome, requested, kind, triggers, k)
            else:
                run.take(outcome)
                step = MicroStep(run.t, k, kind, triggers, run.mode, run.mode, D=run.D, R=run.R)
                run.record.steps.append(step)
            trail.append((run.D, run.mode, run.y, outcome.R, run.memory))
            if k == self.limit or (k > 0 and _repeats(trail)):
                raise self._unsettled(trail)
        self._check()
        confirm_instant(run)

    def evaluate(self, ticks: Sequence[bool], initial: bool, terminal: bool) -> Outcome:
        """Evaluate relations at the values of the previous micro-step, then the discrete part."""
        run, discrete = self.run, self.discrete
        R = run.R
        if len(discrete.state_relations):
            R = R.copy()
            R[discrete.state_relations] = run.relation_values()
        x: Any = ()
        if discrete.x_ids or discrete.slope_ids:
            x = run.read(discrete.x_ids, discrete.slope_ids)
            if not math.isfinite(float(x.sum())) and not np.isfinite(x).all():
                raise run.failed(ReadNotFinite(discrete.x_ids, discrete.slope_ids, x))
        now = (run.t, self.resolution, initial, terminal)
        found = discrete(run.D, R, x, ticks, run.memory, now, run.mode)
        if found.fired and discrete.compares(found):
            # Only then does it matter how variables move: a mode that is left at once need not be analysed for that.
            x = np.concatenate([x, self._motions(discrete.compared).ravel()])
            found = discrete(run.D, R, x, ticks, run.memory, now, run.mode)
        if not found.sound:
            raise run.failed(DiscreteUnsound(found.D))
        if found.defects is not None:
            require(run, missed_statement(self.discrete.program, found), run.t)
        return found

    def _motions(self, ids: tuple[int, ...]) -> np.ndarray:
        """First two derivatives of variables and the depths at which values and these count as zero, one row for each."""
        run = self.run
        if run.core.system is None:
            levels = run.core.variables(run.data, ids).levels(run.y, run.known)
        else:
            levels = run.along(run.core.readout.core_rows(ids), np.full(len(ids), -1)).levels(run.known)
        return run.core.motions(ids, *levels)

    def _same(self, o: Outcome) -> bool:
        run = self.run
        same = not o.fired and o.forced == run.forced and o.disabled == run.disabled
        return same and _equal(o.D, run.D) and _equal(o.R, run.R)

    def _moves(self, o: Outcome) -> bool:
        """Whether another mode or point may follow from a micro-step after one that has led to the present ones.

        Not where it changes only discretes and relations that no equation, source or element reads: the same search would find
        the same.
        """
        run, source = self.run, self.run.sources.program
        if run.numerical or o.forced != run.forced or o.disabled != run.disabled:
            return True
        discretes, relations = run.reduced.frozen
        return not (
            _equal(o.D[discretes], run.D[discretes])
            and _equal(o.D[source.d], run.D[source.d])
            and _equal(o.R[relations], run.R[relations])
            and _equal(o.R[source.r], run.R[source.r])
        )

    def _reinits(self, o: Outcome) -> list[tuple[int, float]]:
        found = []
        places: dict[Any, tuple[int, Location]] = {}
        for b in o.fired:
            branch = self.discrete.program.branches[b]
            for x, position in branch.reinits:
                target = self.run.program.unknowns.reinit_target(x)[:2]
                if target in places:
                    raise self.run.failed(TwoReinits(places[target], (x, branch.place)))
                places[target] = x, branch.place
                value = self.discrete.value(position)
                if not np.isfinite(value):
                    raise self.run.failed(NotFinite("reinit", (x,), (value,), place=branch.place))
                found.append((x, value))
            for message in branch.messages:
                self.run.stop(message or "terminated")
        return found

    # -- acceptance ----------------------------------------------------------------------------------------------

    def _accept(
        self, o: Outcome, requested: list[tuple[int, float]], kind: str, triggers: tuple[Any, ...], k: int
    ) -> bool:
        """Make one micro-step; whether a differentiated variable jumped in it."""
        run = self.run
        run.take(o)
        xi = run.refresh_core()
        core_reinits = run.apply_reinits(requested) if requested else []
        z_minus = run.z
        first = kind == "start" and k == 0
        begin = start_limits(run.core.model, z_minus, xi) if first else z_minus
        left = partial(self._left, first, z_minus if begin is None else begin)
        crossed = self._crossed(triggers, xi, k)
        known = _known(run, kind == "start")
        try:
            choice = run.next_mode(
                z_minus,
                xi,
                run.mode,
                o.forced,
                triggers,
                disabled_guards=o.disabled,
                reinits=core_reinits,
                known=known,
                crossed=crossed,
            )
            restart, parts = choice.restart, ()
            if restart.jumped and can_collide(run.core.model, restart):
                # A contact touches and rebounds to what moves it by itself.
                located = Uncertainty(known.late, known.each, known.rate)
                instant = Instant(located, z_minus, xi, o.forced, o.disabled, core_reinits)
                restart, parts = self._collide(restart, instant, left)
        except ImpactFailed as failure:
            raise run.failed(NoMotionAfterImpact(failure)) from None
        except (NoConsistentMode, Inadmissible) as error:
            here = Instant(known, z_minus, xi, o.forced, o.disabled, core_reinits)
            if crossed is not None and run.core.test(run.mode, here).consistent:
                raise run.failed(CrossingUnresolved(crossed[1][0])) from None
            raise run.failed(SearchFailed(error, o.forced, requested, kind)) from None
        except UNSOLVED as failure:
            raise run.failed(NotSolved(failure, "start" if kind == "start" else "restart")) from None
        if choice.others:
            run.notify(run, SeveralModes(choice.restart.data.mode, choice.others))
        before, logged = run.mode, dict[str, Any]()
        if restart.jumped:
            if kind != "start":  # There left limits may contradict the model.
                cut = interruption(run.core.model, restart, z_minus, run.options.impulses)
                if cut is not None:
                    raise run.failed(cut)
            # Start values that contradict what holds in every mode are moved, and nothing says with what energy.
            stages = () if begin is None else parts or (left(restart),)
            confirm_jump(run, restart, parts or (left(restart),), core_reinits, bool(parts))
            logged = self._jump(restart, z_minus, xi, stages)
            if begin is not None:
                confirm_recorded(run, logged["parts"], begin, restart)
        error = known.each if restart.jumped else None
        run.enter(restart, choice.signs if restart is choice.restart else None, error)
        after, D, R = restart.data.mode, run.D, run.R
        run.record.steps.append(MicroStep(run.t, k, kind, triggers, before, after, D=D, R=R, **logged))
        return restart.jumped

    def _crossed(
        self, triggers: tuple[Any, ...], xi: np.ndarray, k: int
    ) -> tuple[Mode, tuple[int, int, int]] | None:
        """Mode and guard whose crossing alone caused the first micro-step ``k`` of an instant, None without any."""
        run, hit = self.run, self.run.pending
        if (
            k
            or run.reduced.nonlinear
            or hit is None
            or hit < 0
            or triggers != (hit,)
            or hit >= run.tables.guards
        ):
            return None
        size = run.core.amplitudes @ np.abs(xi)
        moved = np.abs(xi - run.y[len(run.y) - len(xi) :])
        if (moved > ROUNDING * size + self.resolution * (np.abs(run.core.exosystem.S) @ np.abs(xi))).any():
            return None
        return run.mode, run.core.test.prepared(run.data).origin[hit][2]

    def _collide(
        self, restart: Restart, instant: Instant, left: Callable[[Restart], Stage]
    ) -> tuple[Restart, tuple[Stage, ...]]:
        """What the law of impact makes of an inelastic restart in which contacts with restitution take an impulse."""
        run = self.run

        def solve(z: np.ndarray, mode: Mode, forced: tuple[int, ...], first: bool) -> Restart:
            return run.next_mode(
                z,
                instant.xi,
                mode,
                forced,
                ("collision",),
                disabled_guards=instant.disabled_guards,
                reinits=instant.reinits if first else (),
                known=instant.known,
            ).restart

        found = collisions(restart, left, instant, lambda: run.core, solve)
        if found.plastic:
            run.notify(run, ImpactsUnending(found.plastic))
        return found.restart, found.stages

    def _left(self, first: bool, z_minus: np.ndarray, restart: Restart) -> Stage:
        """The way from the left limits to a restart.

        Before the first instant nothing is in force; contacts were open where the start values agree with that.
        """
        run = self.run
        before, y = run.data, run.y
        if first:
            model, mode = run.core.model, before.mode
            opened = tuple(
                FREE if e.kind is Kind.IMPACT else b for e, b in zip(model.elements, mode, strict=True)
            )
            if opened != mode:
                with suppress(Inadmissible):
                    data = run.core.mode(opened)
                    found = entered(model, data, z_minus, y[len(before.states) :])
                    before, y = (before, y) if found.jumped else (data, found.y)
        return Stage(before, y, z_minus, restart.data, restart.y, restart.z, restart.J1)

    def _jump(
        self, restart: Restart, z_minus: np.ndarray, xi: np.ndarray, parts: tuple[Stage, ...]
    ) -> dict[str, Any]:
        """What the record of a micro-step says of a jump."""
        run = self.run
        model, J1 = run.core.model, restart.J1
        size = np.abs(J1)
        some = np.flatnonzero(size > 1e-12 * size.max(initial=0.0)).tolist()
        unit = run.program.unknowns.unit_of_core
        impulses = tuple((model.names[j], unit(j), float(J1[j])) for j in some)
        largest = model.largest_of_unit(np.maximum(np.abs(restart.z), np.abs(z_minus)))
        moved = np.flatnonzero(model.differentiated & (np.abs(restart.z - z_minus) > ROUNDING * largest))
        jumps = tuple((model.names[j], float(z_minus[j]), float(restart.z[j])) for j in moved.tolist())
        ways = tuple(self._part(s, xi) for s in parts)
        lost = np.zeros(len(model.elements))
        for p, s in zip(ways, parts, strict=True):
            lost += lost_energy(model, p.before, p.after, p.z_before, s.z_after, p.J1, xi, p.mean)
        losses = tuple((model.elements[e].path, float(v)) for e, v in enumerate(lost) if v != 0.0)
        return {"impulses": impulses, "jumps": jumps, "lost": losses, "parts": ways}

    def _part(self, s: Stage, xi: np.ndarray) -> Jump:
        run = self.run
        jump = Jump(s.before, s.y_before, s.z_before, s.after, s.y_after, s.J1)
        if not run.reduced.nonlinear or not s.J1.any():
            return jump
        bend = bend_along(run.linearisation, s.before.mode, s.z_before, s.z_after, xi, run.present)
        return (
            jump if bend is None else replace(jump, mean=0.5 * (jump.left + jump.right)[: len(bend)] + bend)
        )

    # -- failures ------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        """Known quantities do not contradict each other, and requirements hold."""
        run, missed = self.run, self.discrete.missed()
        if run.reduced.presolved.R.m:
            xi = run.sources.states(run.t, run.D, run.R)
            row = run.base.contradicting_row(xi)
            if row is not None:
                raise run.failed(GivenContradict(row, xi))
        if missed is not None:
            raise run.failed(RequirementMissed(*self.discrete.program.checks[missed], run.t))

    def _unsettled(self, trail: list[Micro]) -> AcausalError:
        first = max(0, len(trail) - 6)
        return self.run.failed(Unsettled(trail[first:], first, self._switching_relations()))

    def _switching_relations(self) -> list[int]:
        run, which = self.run, self.discrete.state_relations
        values = run.relation_values() if len(which) else np.zeros(0)
        return [int(n) for n, v in zip(which, values, strict=True) if v != run.R[n]]


def _known(run: Run, start: bool) -> Uncertainty:
    """How exactly the left limits are known: the first instant is when it is, others are as late as what moves in them."""
    known = run.known
    if start:
        # What Newton's method completes is as exact as its last step; what is stated is exact.
        solved = ROUNDING * run.core.model.scale if run.reduced.nonlinear else None
        return known._replace(error=solved)
    rate = run.slopes if run.numerical else run.data.T.dot(run.data.Ay.dot(run.y))
    return Uncertainty(known.late, known.error, rate, run.sources.doubt(run.t), known.shift)


def process(
    run: Run,
    kind: str,
    triggers: tuple[Any, ...],
    ticks: Sequence[bool] = (),
    reinits: list[tuple[int, float]] | None = None,
) -> None:
    """Run the micro-steps of the present instant of a run."""
    Process(run).process(kind, triggers, ticks, reinits)


def evaluated(run: Run) -> Outcome:
    """The discrete part at the present values of the run, between its instants."""
    return Process(run).evaluate((), False, False)


def turning(run: Run) -> int | None:
    """The form that is about to change its sign at the present point; None without any."""
    tables = run.tables
    if not (tables.guards or len(run.discrete.state_relations)):
        return None
    values = run.R[run.discrete.state_relations].tolist()
    side = orientations(tables.guards, run.program.unknowns.relation_operators, values)
    found = np.array(run.tested()) * side < 0.0
    found &= can_trigger(run.data, run.forced, run.disabled, len(found))
    return int(np.argmax(found)) if found.any() else None


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    # Bytes are the cheaper comparison; zeros of different sign are left to the dear one.
    return a.tobytes() == b.tobytes() or bool((a == b).all())


def _repeats(trail: list[Micro]) -> bool:
    """Whether the last state occurred before; what remembers that a `when` has fired belongs to it."""
    D, mode, y, R, memory = trail[-1]
    arrays = D, y, R, memory
    before = [(s[0], *s[2:]) for s in trail[:-1] if s[1] == mode]
    return any(all(map(np.array_equal, arrays, s)) for s in before)
