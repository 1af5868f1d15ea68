"""What a start is sought with, and the point that an attempt has come to, as values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...dynamics.readout import Moment
from ...dynamics.work import Work
from ...reduction.affine import Mode, ModeData
from ...reduction.core import Values
from ...values import frozen
from ..failures import Failure
from ..instants.discrete import DiscretePart
from ..instants.hints import Hints
from ..nonlinear.bounds import Bounds
from ..nonlinear.linearisation import ModelInForce
from ..nonlinear.system import NonlinearSystem
from ..state import State
from .stated import Starts


@frozen
class StartTables:
    """What all attempts of a start read.

    Attributes
    ----------
    held : list of (int, float)
        Variables that are fixed, with their values.
    P : array
        Parameters.
    bounds : Bounds or None
        Within which core unknowns are sought first.
    numerical : bool
        Whether segments are integrated.
    """

    starts: Starts
    discrete: DiscretePart
    hints: Hints
    held: list[tuple[int, float]]
    P: np.ndarray
    bounds: Bounds | None
    numerical: bool
    work: Work


@frozen
class StartProblem(ModelInForce):
    """A mode, its equations and sources, and left limits, from which a start is sought.

    Attributes
    ----------
    linearisation : Linearisation
        Moved by the attempt.
    state : State
        The mode, left limits, discretes and relations.
    xi : array
        Sources.
    share : float
        Of the actual parts of homotopies.
    near : (n,) array or None
        Solution of nearly the same equations, where the search begins instead of at the left limits.
    entered : ModeData or None
        The analysis of the mode; None before one was found.
    y : (ny,) array
        State vector of the mode.
    """

    tables: StartTables
    state: State
    xi: np.ndarray
    share: float
    near: np.ndarray | None = None
    entered: ModeData | None = None
    y: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def at(self, **state: Any) -> StartProblem:
        """The problem with other attributes of its state."""
        return replace(self, state=replace(self.state, **state))

    def within(self, data: ModeData) -> StartProblem:
        """The problem in an analysed mode, with its left limits as state vector."""
        return replace(self, entered=data, y=data.state(self.z, self.slopes, self.xi))

    @property
    def data(self) -> ModeData:
        """The mode in force."""
        assert self.entered is not None
        return self.entered

    @property
    def mode(self) -> Mode:
        """The branch of every element."""
        return self.state.mode

    @property
    def z(self) -> np.ndarray:
        """Core unknowns where the search begins."""
        return self.state.z

    @property
    def slopes(self) -> np.ndarray:
        """Their derivatives."""
        return self.state.slopes

    @property
    def values(self) -> Values:
        """Parameters, discretes and relations."""
        return Values(self.tables.P, self.state.D, self.state.R, self.share)

    @property
    def starts(self) -> Starts:
        """Start values as they were stated."""
        return self.tables.starts

    @property
    def moment(self) -> Moment:
        """What variables outside the core are evaluated with."""
        return Moment(self.state.t, self.state.D, self.state.R, self.state.q)

    def system(self) -> NonlinearSystem:
        """The nonlinear equations of the mode."""
        return self.linearisation.mode(self.mode, self.z, self.slopes, self.xi, self.values)


@dataclass(eq=False)
class Refused(Exception):
    """No start was found; ``problem`` is where the attempt stood when it ended."""

    failure: Failure
    problem: StartProblem
