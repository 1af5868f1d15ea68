"""Where a run stands, as a value: what the words of failures and notices are made from."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..dynamics.readout import Moment
from ..reduction.affine import Mode, ModeData
from ..reduction.core import Values
from ..values import frozen
from .nonlinear.linearisation import ModelInForce
from .nonlinear.steps import Steps
from .numeric import NumericCore
from .starts.stated import Starts
from .state import State


@frozen
class Standing(ModelInForce):
    """A run at one moment; whoever reads it changes nothing of the run.

    Attributes
    ----------
    state : State
        A copy.
    xi : array
        States of the sources there.
    present : Values
        Parameters, discretes and relations there.
    base, core : NumericCore
        The affine rows, and the affine model that linearises all rows at ``linearisation.z``.
    steps : Steps or None
        Those of the integrated segment that was begun last.
    entered : ModeData or (NumericCore, Mode) or None
        The mode of the last complete micro-step, which may have to be analysed first; None before the first.
    relations : tuple of int
        Numbers of the relations that follow the guards among what is watched.
    """

    starts: Starts
    numerical: bool
    state: State
    xi: np.ndarray
    present: Values
    base: NumericCore
    steps: Steps | None
    entered: ModeData | tuple[NumericCore, Mode] | None
    relations: tuple[int, ...]

    @cached_property
    def data(self) -> ModeData:
        """The mode of the last complete micro-step."""
        assert self.entered is not None
        if isinstance(self.entered, tuple):
            core, mode = self.entered
            return core.mode(mode)
        return self.entered

    def read(self, ids: tuple[int, ...]) -> np.ndarray:
        """Values of continuous variables after the last complete micro-step."""
        if not ids:
            return np.zeros(0)
        state, data = self.state, self.data
        y = data.state(state.z, state.slopes, self.xi)
        return self.core.readout.at(ids, data, y, Moment(state.t, state.D, state.R, state.q))
