"""What a start is sought with: the numbers of one mode, and the point at which the search begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dynamics.readout import Moment
from ...dynamics.work import Work
from ...flattening.flat_model import FlatModel
from ...reduction.affine import Mode, ModeData
from ...reduction.core import Values
from ...reduction.reduced_model import ReducedModel
from ..compiled import CompiledModel
from ..nonlinear.bounds import Bounds
from ..nonlinear.linearisation import Linearisation
from ..nonlinear.system import NonlinearSystem
from ..nonlinear.tangents import Tangents
from ..numeric import NumericCore
from ..run import Run
from .stated import Starts


@dataclass(frozen=True, eq=False)
class StartProblem:
    """A mode, its equations and sources, start values, and left limits.

    Attributes
    ----------
    values : Values
        Parameters, discretes, relations and share of homotopies.
    y : (ny,) array
        State vector of the mode.
    z, slopes : (n,) arrays
        Core unknowns and their derivatives where the search begins.
    near : (n,) array or None
        Solution of nearly the same equations, where it begins instead.
    bounds : Bounds or None
        Within which core unknowns are sought first.
    """

    program: CompiledModel
    starts: Starts
    linearisation: Linearisation
    core: NumericCore
    mode: Mode
    data: ModeData
    values: Values
    moment: Moment
    y: np.ndarray
    z: np.ndarray
    slopes: np.ndarray
    near: np.ndarray | None
    bounds: Bounds | None
    work: Work

    @classmethod
    def of(cls, run: Run) -> StartProblem:
        """The problem of a run as it is."""
        return cls(
            run.program, run.starts, run.linearisation, run.core, run.mode, run.data, run.present, run.moment(),
            run.y, run.z, run.slopes, run.near, run.bounds, run.work,
        )  # fmt: skip

    @property
    def reduced(self) -> ReducedModel:
        """The reduced model."""
        return self.program.reduced

    @property
    def flat(self) -> FlatModel:
        """The flat model."""
        return self.program.flat

    @property
    def tangents(self) -> Tangents:
        """The nonlinear rows."""
        return self.linearisation.tangents

    @property
    def xi(self) -> np.ndarray:
        """Sources."""
        return self.y[len(self.data.states) :]

    def system(self) -> NonlinearSystem:
        """The nonlinear equations of the mode."""
        return self.tangents.mode(self.core, self.mode, self.z, self.slopes, self.xi, self.values)
