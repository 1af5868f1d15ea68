"""The provisional mode of a start: a consistent one next to the start values, in which these are completed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...dynamics.directions import generic_direction
from ...dynamics.noise import Uncertainty
from ...errors import ConsistencyError
from ...reduction.affine import Inadmissible, Mode, Restart
from ...reduction.open_mode import StructurallySingular
from ...reduction.parts import couplings
from ..failures import UNSOLVED, NotSolved, SearchFailed
from ..instants.choice import BESIDE, derivatives, mode_beside
from ..instants.collisions import transmitting
from ..instants.restart import LeftLimits, require_admissible
from ..instants.search import Choice, NoConsistentMode
from ..instants.transition import Instant
from ..nonlinear.state_selection import DependentConstraints
from .completion import MOST_MOVES
from .conditions import Conditions
from .left_limits import agreeing
from .overlaps import parted
from .problem import Refused, StartProblem
from .stated import Rank

Branches = Mapping[int, int]
"""Elements -> branches in which the search for the first mode begins."""


@dataclass(frozen=True)
class Beginning:
    """How an attempt begins.

    Attributes
    ----------
    branches : mapping
        Elements -> branches in which the search for the first mode begins.
    sides : tuple of int
        Relations that begin on the other side than that of the start values.
    """

    branches: Branches = field(default_factory=dict)
    sides: tuple[int, ...] = ()
    pieces: tuple[float, ...] | None = None
    """Pieces of tables, and integer parts, in which the first mode is sought; None for those of the start values."""


def known_relations(problem: StartProblem) -> np.ndarray:
    """Relations before any mode, at start values; those of rates stay as they are.

    A branch chosen against the values from which Newton's method begins may not be defined there.
    """
    rows, discrete = problem.core.relations, problem.tables.discrete
    known, values = abs(rows.E).sum(axis=1) == 0.0, rows.A @ problem.z + rows.B @ problem.xi
    R = problem.state.R.copy()
    for i in np.flatnonzero(known & ~np.isnan(values)).tolist():
        holds = discrete.operators[i](int(np.sign(values[i])))
        R[discrete.state_relations[i]] = float(holds)
    return R


def entered(problem: StartProblem, branches: Branches) -> StartProblem:
    """The problem in a consistent mode, with start values that agree whatever the mode.

    Raises
    ------
    Refused
    """
    if problem.core.system is not None:
        return problem.within(problem.core.mode(problem.mode))
    z = agreeing(problem.program, problem.linearisation.base, problem.starts, problem.z, problem.xi)
    problem, nonlinear = parted(problem.at(z=z)), problem.reduced.nonlinear
    if nonlinear and not problem.core.model.elements:
        found = as_it_is(problem)
        if found is not None:
            return found
    # Given branches are kept while the others adapt to them, if that can be.
    own = problem.state.forced
    kept = tuple(b if b >= 0 else branches.get(k, -1) for k, b in enumerate(own))
    failed: Exception | None = None
    for forced in dict.fromkeys((kept, own)):
        try:
            return _after(problem, _searched(problem, forced).restart, forced)
        except NoConsistentMode as error:
            failed = Refused(SearchFailed(error, own, problem.tables.held, "start"), problem)
        except UNSOLVED as error:
            failed = Refused(NotSolved(error, "start"), problem)
        except ConsistencyError as error:
            failed = error
        found = beside(problem) if nonlinear else None
        if found is not None:
            return found
    assert failed is not None
    raise failed


def _after(problem: StartProblem, restart: Restart, forced: tuple[int, ...]) -> StartProblem:
    """In the mode of a restart, or with the elements opened that take an impulse: no start follows through them."""
    hit = {k for k in _hit(problem, restart) if forced[k] < 0} if restart.jumped else set()
    if hit:
        hit -= _demanding(problem)
    if hit:
        mode = tuple(1 - b if k in hit else b for k, b in enumerate(restart.data.mode))
        apart = as_it_is(problem.at(mode=mode))
        if apart is not None:
            return apart
    data, moves = restart.data, {}
    if problem.tables.numerical:
        moves["slopes"], moves["second"] = derivatives(restart)
    xi = restart.y[len(data.states) :]
    return replace(problem.at(mode=data.mode, **moves), entered=data, y=restart.y, xi=xi)


def _hit(problem: StartProblem, restart: Restart) -> Iterator[int]:
    """The elements of two branches that take part in an impulse by which more than positions jump.

    Nothing that is conserved moves a position. One that leaps past an open element asks nothing of it; closed, this would be in
    the way of what leads there.
    """
    data, model, xi = restart.data, problem.core.model, restart.y[len(restart.data.states) :]
    limits = LeftLimits(data, problem.z, xi, Uncertainty.at(problem.state.t, model.S @ xi))
    of_others = data.constraints[:, : model.n][:, ~problem.program.unknowns.positions].any(axis=1)
    J1 = data.impulse @ np.where(of_others, limits.sudden, 0.0)
    return transmitting(model, replace(restart, J1=J1))


def _demanding(problem: StartProblem) -> set[int]:
    """Elements coupled to demands for more than values of states, which hold after the instant, in the mode there is then."""
    demands, model = Conditions(problem, Rank.STEADY_FIXED), problem.core.model
    more = (demands.unknown < 0) | (demands.rate_of >= 0)
    if demands.nonlinear_rows or demands.observed:
        return set(range(len(model.elements)))
    D, Z, _, _ = demands.stacked
    read = np.flatnonzero(more.astype(float) @ (abs(D) + abs(Z)))
    unknowns, _, elements = couplings(model)
    return set(np.flatnonzero(np.isin(elements, unknowns[read])).tolist())


def _searched(problem: StartProblem, forced: tuple[int, ...]) -> Choice:
    """The consistent mode next to the start values, some branches being ``forced``, and the point in it."""
    lin, z, xi, tables = problem.linearisation, problem.z, problem.xi, problem.tables

    def search(begin: Mode) -> Choice:
        known, disabled = Uncertainty.at(problem.state.t, lin.core.model.S @ xi), problem.state.disabled
        instant = Instant(known, z, xi, forced, disabled, ())
        # As the first micro-step asks, so that it finds the mode at once.
        present = tuple(f if f >= 0 else b for f, b in zip(forced, begin, strict=True))
        relations = tuple(problem.state.R[tables.discrete.state_relations].tolist())
        return tables.hints.next_mode(lin.core.search, present, instant, (), relations)

    if not problem.reduced.nonlinear:
        return search(problem.mode)
    return mode_beside(lin, search, (z, problem.slopes), xi, problem.values, problem.mode)


def as_it_is(problem: StartProblem) -> StartProblem | None:
    """In the present mode, linearised where that is; None unless its equations can be solved there."""
    lin, mode, nonlinear = problem.linearisation, problem.mode, problem.reduced.nonlinear
    try:
        data = lin.core.mode(mode)
        if nonlinear:
            lin.mode(mode, lin.z, problem.slopes, problem.xi, problem.values)
        else:
            require_admissible(lin.core.model, data, problem.xi)
    except (Inadmissible, ConsistencyError, *UNSOLVED):
        return None
    if nonlinear and len(data.admissible):
        return None  # Equations depend on each other there.
    return problem.within(data)


def beside(problem: StartProblem) -> StartProblem | None:
    """In the present mode, linearised beside start values at which it has no tangents; None if it has none there either."""
    mode = tuple(f if f >= 0 else b for f, b in zip(problem.state.forced, problem.mode, strict=True))
    for k in range(MOST_MOVES):
        linearise_beside(problem, k)
        found = as_it_is(problem.at(mode=mode))
        if found is not None:
            return found
    still = np.zeros(len(problem.z))
    problem.linearisation.linearise(problem.z, still, problem.xi, problem.values)
    return None


def linearise_beside(problem: StartProblem, k: int = 0) -> None:
    """Linearise beside the start values, in the direction ``k``."""
    lin, z = problem.linearisation, problem.z
    beside = z + BESIDE * lin.core.model.scale * generic_direction(len(z), k)
    lin.linearise(beside, np.zeros(len(z)), problem.xi, problem.values)


def leaves_out(refused: Refused) -> bool:
    """Whether constraints that follow from others were found, and are left out from now on.

    At start values that are not consistent more may depend on each other than elsewhere, so that this is seen beside them.
    """
    failure, problem = refused.failure, refused.problem
    cause, lin = failure.cause if isinstance(failure, NotSolved) else None, problem.linearisation
    before = lin.core, lin.z, lin.last
    if isinstance(cause, StructurallySingular):
        linearise_beside(problem)
    elif not isinstance(cause, DependentConstraints):
        return False
    found = problem.tangents.leave_out(problem.core.model, problem.mode)
    if not found:
        lin.go_back(*before)
    return found
