"""Values of the exact path: an affine switched model, one analysed mode, one restart.

Every affine form is stored as a residual ``E z' + A z + B xi`` over the core
unknowns ``z`` and the exosystem states ``xi`` (``xi' = S xi``; the sources).
An equation says that the residual is zero, a guard that it is not negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from hashlib import blake2b
from typing import Literal, Protocol

import numpy as np

from ..kernels.loading import Matrix
from ..values import frozen
from .double_double import Fine
from .rounding import ROUNDING, SUMMED, amplitudes

PREFERENCE = 2.0**10
"""Factor by which a variable of the next higher priority may be the worse pivot and still be kept as a state."""
CONTRADICTING = 1e-8
"""What sources leave of a condition on them, relative to its largest terms, from which they contradict each other; less is what
rounding in parameters and in the elimination leaves."""


class Texts(Protocol):
    """A tuple of texts, or what makes them when they are read."""

    def __len__(self) -> int: ...

    def __getitem__(self, k: int, /) -> str: ...


Mode = tuple[int, ...]
"""One branch index per element."""


@frozen
class Rows:
    """Affine forms ``E z' + A z + B xi``; shapes (m, n), (m, n), (m, q)."""

    E: np.ndarray
    A: np.ndarray
    B: np.ndarray

    def __len__(self) -> int:
        return int(self.A.shape[0])

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The three matrices."""
        return self.E, self.A, self.B

    def take(self, which: np.ndarray | list[int] | slice) -> Rows:
        """Some of the forms, by their numbers; one alone, or none, is a view."""
        if isinstance(which, list) and len(which) < 2:
            first = which[0] if which else 0
            which = slice(first, first + len(which))
        return Rows(self.E[which], self.A[which], self.B[which])


def digest(*arrays: np.ndarray) -> bytes:
    """Return what equal arrays have in common, and others not."""
    shapes = repr([a.shape for a in arrays]).encode()
    return blake2b(b"".join((shapes, *(a.tobytes() for a in arrays))), digest_size=16).digest()


class Kind(Enum):
    """What decides the branch of an element."""

    CONTROLLED = "controlled"
    """Discrete variables and time; constant during one search, no guards."""
    COMPLEMENTARITY = "complementarity"
    """Branches off (0), on (1) and disabled (2, only ever forced)."""
    FRICTION = "friction"
    """Branches stick (0), forward (1), backward (2) and free (3, only ever forced); where breaking away takes more than
    sliding, also at rest at the forward (4) and at the backward (5) breakaway level."""
    IMPACT = "impact"
    """Branches free (0) and contact (1); closing with an impulse applies the restitution."""
    CONDITION = "condition"
    """An ``If`` on continuous variables: consistent when ``select`` returns the branch itself."""
    MODES = "modes"
    """The general table of guards and targets."""


STICK, FORWARD_LIMIT, BACKWARD_LIMIT = 0, 4, 5
"""Branches of friction: at rest below its breakaway level, and at it."""
AT_BREAKAWAY = (FORWARD_LIMIT, BACKWARD_LIMIT)
"""Branches of friction that holds with all it has."""
SLIDING = (1, 2)
"""Branches of friction that moves."""


@frozen
class Branch:
    """One mode of an element: its equations, and the guards that keep it."""

    name: str
    equations: Rows
    guards: Rows
    targets: tuple[int, ...] = ()
    """Branch entered when guard k is violated, one per guard row."""
    cuts_flow: tuple[bool, ...] = ()
    """Per equation: the flow side of the pair is prescribed, an impulse on the blocked side interrupts it."""
    releases: tuple[int, ...] = ()
    """Targets that have another level of the same quantity: taken only where a solution at this level asks for them."""


@frozen
class Element:
    """A pair (x, y) whose equation depends on the branch in force."""

    path: str
    kind: Kind
    branches: tuple[Branch, ...]
    blocked: tuple[Rows, ...]
    """Per branch, the complementary variables (one row per equation): what the branch leaves undetermined."""
    monotone: bool = False
    """Dynamic variables are unique: hints may be used freely."""
    restitution: float = 0.0
    rest_speed: float | None = None
    impulse_allowed: bool | None = None
    """Policy of this element; None takes the default of the run."""
    shown: tuple[int, ...] = ()
    """The branch of the statement that every branch is shown as, where these are not the same."""
    absorbing: tuple[int, int] | None = None
    """MODES only: branches of which what they leave open makes the power that the element absorbs."""
    relations: Rows | None = None
    select: Callable[[np.ndarray], int] | None = None
    """CONDITION only: branch chosen by the lexicographic signs (-1, 0, 1) of ``relations``."""

    def shown_as(self, branch: int) -> int:
        """The branch of the statement that a branch is shown as."""
        return self.shown[branch] if self.shown else branch


@frozen
class Balance:
    """Magnitudes that make the rows and columns of one analysis comparable: those of z, of xi, and a unit of time."""

    z: np.ndarray
    xi: np.ndarray
    T0: float


@frozen
class AffineModel:
    """Core of a model with numbers in place: base equations, elements, exosystem, scales.

    ``len(base) + sum(q_k) == n`` with q_k equations per branch of element k.
    """

    names: Texts
    differentiated: np.ndarray
    """Mask (n,): z_j' occurs in an equation."""
    base: Rows
    elements: tuple[Element, ...]
    S: np.ndarray
    """Exosystem (q, q), block diagonal; sources are states of it."""
    scale: np.ndarray
    """Magnitudes of z (n,)."""
    xi_scale: np.ndarray
    """Magnitudes of xi (q,)."""
    T0: float
    """Time unit: shortest declared period, else the span of the run."""
    row_names: Texts = ()
    """Base equations as users wrote them, with file and line, for messages."""
    units: np.ndarray | None = None
    """Labels (n,): variables with the same label have the same unit; None: not known."""
    priority: np.ndarray | None = None
    """Ranks (n,) of the declared priorities as states, 0 for none; None: nothing is declared."""
    nominals: np.ndarray | None = None
    """Declared magnitudes (n,), 0 for none: analyses depend on these and on the equations, not on the scales of the run.
    None: analyses take the scales, as for models that linearise nonlinear rows, which serve points of one run."""

    def preferred(self, scale: np.ndarray) -> np.ndarray:
        """Magnitudes (n,) with which variables compete for being solved from a constraint: small for preferred states."""
        return scale if self.priority is None else scale * PREFERENCE**-self.priority

    def largest_of_unit(self, scale: np.ndarray) -> np.ndarray:
        """Largest magnitude of any variable of the same unit, (n,)."""
        if self.units is None:
            return scale
        group = self._units_alike
        largest = np.zeros(group.max(initial=-1) + 1)
        np.maximum.at(largest, group, scale)
        return largest[group]

    @cached_property
    def _units_alike(self) -> np.ndarray:
        """Numbers (n,), the same for variables of the same unit."""
        assert self.units is not None
        return np.unique(self.units, return_inverse=True)[1]

    def sum_of_unit(self, size: np.ndarray) -> np.ndarray:
        """Sum of the magnitudes of all variables of the same unit, (n,)."""
        if self.units is None:
            return np.full(len(size), size.sum())
        return np.bincount(self._units_alike, size)[self._units_alike]

    @cached_property
    def network_scale(self) -> np.ndarray:
        """Largest magnitude of any variable of the same unit, (n,)."""
        return self.largest_of_unit(self.scale)

    @cached_property
    def n(self) -> int:
        """Number of unknowns."""
        return len(self.names)

    @property
    def q(self) -> int:
        """Number of exosystem states."""
        return len(self.S)

    def rows(self, mode: Mode) -> Rows:
        """The square system in force: base equations, then those of the branches."""
        branches = [element.branches[k].equations for element, k in zip(self.elements, mode, strict=True)]
        return stack_rows([self.base, *branches], self)

    def name_of_row(self, mode: Mode, row: int) -> str:
        """A base equation as users wrote it, with its place, or for an equation of a branch the path of its element."""
        if row < len(self.base):
            return self.row_names[row] if row < len(self.row_names) else f"equation {row}"
        counts = [len(e.branches[k].equations) for e, k in zip(self.elements, mode, strict=True)]
        return self.elements[np.searchsorted(np.cumsum(counts), row - len(self.base), side="right")].path


def stack_rows(parts: Sequence[Rows], model: AffineModel) -> Rows:
    """All forms of ``parts`` in one; the model gives the shape of an empty stack."""
    if not parts:
        return Rows(np.zeros((0, model.n)), np.zeros((0, model.n)), np.zeros((0, model.q)))
    if len(parts) == 1:
        return parts[0]
    return Rows(*map(np.concatenate, zip(*(part.parts for part in parts), strict=True)))


@frozen
class ExactMode:
    """What reading needs of an analysed mode; y = [z[states]; xi] is its state vector.

    ``z = T y``, ``y' = Ay y`` (time in seconds, all variables in their own units).
    """

    mode: Mode
    states: np.ndarray
    """Indices into z of the selected states (physical variables, never mixtures)."""
    T: np.ndarray
    Ay: np.ndarray
    undetermined: np.ndarray
    """Mask (n,): value is a don't-care, shown as least norm."""
    index: int
    guard_element: np.ndarray
    """Owner of every guard in force."""

    path = "exact"
    """Way of integration."""

    def fine(self) -> Fine | None:
        """What rounding has left of ``T`` and ``Ay``."""
        return None

    reason = ""

    @cached_property
    def unknowns(self) -> Matrix:
        """The core unknowns ``T y`` of a state vector."""
        return Matrix(self.T)

    @property
    def freedom(self) -> int:
        """Number of states."""
        return len(self.states)

    @cached_property
    def sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """Magnitudes of ``T`` and ``Ay``."""
        return np.abs(self.T), np.abs(self.Ay)

    @cached_property
    def fastest(self) -> float:
        """Largest sum of the magnitudes of the coefficients of a rate."""
        return float(self.sizes[1].sum(axis=1).max(initial=0.0))


@frozen
class ModeData(ExactMode):
    """Everything that follows from one mode."""

    constraints: np.ndarray
    """Rows over [z; xi], zero on z of the mode: hidden and visible constraints among differentiated variables.

    Row k is solved for ``dependent[k]``; its largest coefficient times ``balance.z`` lies in [1, 2).
    """
    admissible: np.ndarray
    """Rows over xi that must vanish for the mode to exist (already includes the derivatives along S).

    Their largest coefficient times ``balance.xi`` is 1.
    """
    culprits: Callable[[np.ndarray], list[str]] = field(repr=False)
    """Names the equations and elements that contradict each other in some of these rows, of which there is a mask."""
    guards: np.ndarray
    """Rows over [z; xi] of all guards in force, (ng, n + q)."""
    guard_target: np.ndarray
    Gy: np.ndarray
    """guards @ [T; 0 I]: guards over y."""
    tau: float
    """1 / max |eigenvalue|, infinite where nothing moves."""
    dependent: np.ndarray
    """Indices into z of the differentiated variables solved from the constraints, one per row."""
    settled: np.ndarray
    """Rows over [unknowns; differentiated z; xi] that give undetermined variables their least-norm values."""
    balance: Balance
    maps: Callable[[ModeData], tuple[np.ndarray, np.ndarray, np.ndarray]] = field(repr=False)
    """Computes ``jump`` and ``impulse``; called once, when a differentiated variable first moves."""
    map_of_limits: Callable[[ModeData], np.ndarray] = field(repr=False)
    """Computes ``of_limits``; called once, when what ``jump`` and ``impulse`` make of a defect first cancels."""
    left_over: Callable[[], Fine] = field(repr=False)
    """Computes what rounding has left of ``T`` and ``Ay``; called when terms of something that is read cancel."""
    sizes_of_constraints: Callable[[], np.ndarray] = field(repr=False)
    """Computes ``constraint_sizes``; called once, when a constraint is first not met to the last digits."""

    def fine(self) -> Fine:
        """What rounding has left of ``T`` and ``Ay``."""
        return self.left_over()

    def state(self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """The state vector (ny,) at a point; its slopes follow from the mode."""
        return np.concatenate([z[self.states], xi])

    def chosen(self, point: np.ndarray) -> np.ndarray:
        """The state vector (ny,) of values (n + q,) of unknowns and sources."""
        return np.concatenate([point[self.states], point[len(self.T) :]])

    @cached_property
    def _maps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.maps(self)

    @property
    def moves_known(self) -> bool:
        """Whether `jump` and `impulse` were computed."""
        return "_maps" in self.__dict__

    @property
    def jump(self) -> np.ndarray:
        """Movement of the selected states per unit of ``r = constraints @ [z-; xi]``, shape (n_states, n_constraints).

        It conserves the quantities in E; where ``r`` is zero the states are taken over exactly.
        """
        return self._maps[0]

    @property
    def impulse(self) -> np.ndarray:
        """J1, the time integral of z over the instant, per unit of ``constraints @ [z-; xi]``, (n, n_constraints)."""
        return self._maps[1]

    @cached_property
    def moved(self) -> Matrix:
        """The movement of the states for defects of the constraints."""
        return Matrix(self.jump)

    @cached_property
    def movement(self) -> tuple[np.ndarray, np.ndarray]:
        """`jump` and `impulse` in one, and their magnitudes."""
        both = np.concatenate(self._maps[:2])
        return both, np.abs(both)

    @cached_property
    def of_limits(self) -> np.ndarray:
        """The selected states after a jump, then J1, over [z-; xi], shape (n_states + n, n + q): the same without differences."""
        return self.map_of_limits(self)

    @cached_property
    def constraint_terms(self) -> np.ndarray:
        """Magnitudes of the coefficients of the constraints."""
        return np.abs(self.constraints)

    @cached_property
    def constraint_sizes(self) -> np.ndarray:
        """The same with those of the equations each combines, also what cancels.

        Sources round by their amplitudes, also where they vanish.
        """
        found, n, states = self.sizes_of_constraints(), len(self.T), len(self.states)
        found[:, n:] += found[:, n:] @ (SUMMED / ROUNDING * amplitudes(self.Ay[states:, states:]))
        return found

    @property
    def unmet(self) -> np.ndarray:
        """Combinations of ``constraints @ [z-; xi]`` that no impulse removes, (k, n_constraints)."""
        return self._maps[2]


@dataclass(slots=True, eq=False)
class Restart:
    """Consistent values after an instant in a candidate mode."""

    data: ModeData
    y: np.ndarray
    z: np.ndarray
    J1: np.ndarray
    jumped: bool
    """A differentiated variable moved by more than rounding (else J1 is zero)."""
    removed: np.ndarray | None = None
    """How far defects of constraints that are no jump have moved the selected states, which are known no better; None: not."""
    defects: np.ndarray | None = None
    """These defects, which nothing decides by."""

    @property
    def removing(self) -> np.ndarray:
        """The impulse that has removed these defects; all that moves the values is its sum with ``J1``."""
        return np.zeros(len(self.J1)) if self.defects is None else self.data.impulse @ self.defects


Reason = Literal["singular", "contradictory sources", "reinit"]
"""Why a mode cannot exist: it leaves unknowns open, sources contradict each other, or prescribed values its constraints."""


class Inadmissible(Exception):
    """A candidate mode cannot exist.

    ``name`` is called for the culprits when they are asked for: of most candidates nobody does.
    """

    def __init__(self, reason: Reason, name: Callable[[], Iterable[str]] = tuple) -> None:
        super().__init__(reason)
        self.reason: Reason = reason
        self._name = name

    @cached_property
    def where(self) -> tuple[str, ...]:
        """Names of what makes the mode impossible."""
        return tuple(dict.fromkeys(self._name()))

    def __str__(self) -> str:
        return f"{self.reason}: {', '.join(self.where)}"
