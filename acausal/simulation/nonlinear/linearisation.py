"""The nonlinear equations of a run where they are looked at: an affine model that linearises them, and motions beside it."""

from __future__ import annotations

import numpy as np

from ...dynamics.work import Work
from ...flattening.flat_model import FlatModel
from ...reduction.affine import Mode
from ...reduction.core import Values
from ...reduction.open_mode import AFFINE
from ...reduction.reduced_model import ReducedModel
from ...values import frozen
from ..compiled import CompiledModel
from ..instants.transition import ModeTables
from ..large.motion import LargeMotion
from ..large.system import LargeSystem
from ..numeric import NumericCore
from .accuracy import unknowns_from
from .beginning import settled
from .motion import Motion
from .newton import NewtonFailure
from .state_selection import DependentConstraints
from .system import NonlinearSystem
from .tangents import Tangents


class Linearisation:
    """What stands for the equations of a run at present.

    Parameters
    ----------
    base : NumericCore
        The affine rows.
    tangents : Tangents or None
        The others; None where equations are affine and evaluated in closed form.
    work : Work
        Counts what motions do.

    Attributes
    ----------
    core : NumericCore
        The affine model in force.
    z : (n,) array
        Where it linearises.
    last : Motion or None
        The motion made last, for messages.
    """

    def __init__(self, base: NumericCore, tangents: Tangents | None, z: np.ndarray, work: Work) -> None:
        self.base = self.core = base
        self._tangents, self._work, self.z = tangents, work, z
        self.last: Motion | None = None
        self._alike: dict[Mode, ModeTables] = {}
        self._ready: tuple[np.ndarray, np.ndarray, Motion] | None = None
        """Core unknowns and sources at the begin of a motion, and that."""
        self._begun: dict[Mode, np.ndarray] = {}
        """Open unknowns with which the last motion of each mode began: a guess where that of an event leads nowhere."""

    @property
    def tangents(self) -> Tangents:
        """Nonlinear rows and modes."""
        assert self._tangents is not None
        return self._tangents

    def use(self, base: NumericCore, tangents: Tangents | None) -> None:
        """Go on with other numbers, whose rows linearise where that is asked for next."""
        if tangents is not None and self._tangents is not None:
            tangents.leave(self._tangents.redundant)
        self.base, self._tangents, self._begun, self._alike, self._ready = base, tangents, {}, {}, None
        if tangents is None:
            self.core = base

    def linearise(
        self,
        z: np.ndarray,
        slopes: np.ndarray,
        xi: np.ndarray,
        values: Values,
        bends: np.ndarray | None = None,
    ) -> None:
        """Take the affine model that linearises at a point."""
        self.z, self.core = z, self.tangents.at(z, slopes, xi, values, bends)

    def affine_rows(self, mode: Mode) -> np.ndarray:
        """Numbers of the equations of a mode that are affine."""
        if not self.core.reduced.nonlinear:
            return np.arange(self.core.model.n)
        return np.flatnonzero(np.asarray(self.tangents.numbers_in_force(mode)) == AFFINE)

    def exact(self, mode: Mode, values: Values) -> NumericCore | None:
        """The model in which a mode has a closed form, None where an equation in force, or what ends it, is not affine."""
        return self.base if self._tangents is None else self._tangents.exact(mode, values)[0]

    def alike(self, mode: Mode) -> ModeTables | None:
        """Tables of a mode as it was analysed the last time: its structure, and how it rounds; None if it never was."""
        return self._alike.get(mode)

    def keep(self, tables: ModeTables) -> None:
        """Keep the tables of a mode that is analysed where equations linearise at present."""
        self._alike[tables.data.mode] = tables

    def take(self, core: NumericCore) -> None:
        """Take an affine model that is no tangent."""
        self.core = core

    def go_back(self, core: NumericCore, z: np.ndarray, last: Motion | None) -> None:
        """Go back to a model that linearised at ``z``, and to what was the last motion then."""
        self.core, self.z, self.last, self._ready = core, z, last, None

    def mode(
        self, mode: Mode, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray, values: Values
    ) -> NonlinearSystem:
        """A nonlinear mode; its structure is taken from the neighbourhood of a point."""
        return self.tangents.mode(self.core, mode, z, slopes, xi, values)

    def begin(
        self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray, system: NonlinearSystem, values: Values,
        guess: np.ndarray | None = None, foreseen: bool = False,
    ) -> Motion:  # fmt: skip
        """The motion through the point next to ``z``; ``guess`` is where algebraic unknowns are sought instead.

        Where the mode is ``foreseen`` they are sought from where its last motion began, too.

        Raises
        ------
        NewtonFailure, DependentConstraints
        """
        ready = None if self._ready is None else self._begun_already(z, xi, system, values)
        if ready is not None:
            self._ready = None  # It moves from here.
            return ready
        motion = self.made(z, slopes, xi, system, values, guess)
        motion.select(motion.last)
        mode = system.mode.mode
        motion.accept(settled(motion, self._begun.get(mode) if foreseen else None))
        self._begun[mode] = motion.last.H
        return motion

    def ready(self, z: np.ndarray, xi: np.ndarray, motion: Motion) -> None:
        """Begin with a motion, once, where the next one is to begin at the same unknowns and sources."""
        self._ready = z, xi, motion

    def _begun_already(
        self, z: np.ndarray, xi: np.ndarray, system: NonlinearSystem, values: Values
    ) -> Motion | None:
        """That motion, if it is in the same mode with the same numbers."""
        assert self._ready is not None
        own, sources, motion = self._ready
        if own is not z or sources is not xi or motion.system is not system:
            return None
        return motion if np.array_equal(motion.constants, self.tangents.constants(values)) else None

    def made(
        self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray, system: NonlinearSystem, values: Values,
        guess: np.ndarray | None = None,
    ) -> Motion:  # fmt: skip
        """A motion at a point that need not be consistent."""
        opened, p = system.mode, system.orders.unknowns
        h = np.where(opened.slopes, slopes[opened.open], z[opened.open])
        h1 = np.where(opened.slopes, 0.0, slopes[opened.open])
        X = np.concatenate([z[opened.states], h[p >= 1], h1[p >= 2]])
        if guess is not None:
            h = np.where(opened.slopes, h, guess[opened.open])
        H = np.where(p == 0, h, np.where(p == 1, h1, 0.0))
        constants = self.tangents.constants(values)
        sources = self.tangents.sources(system.S, xi)
        kind = LargeMotion if isinstance(system, LargeSystem) else Motion
        motion = self.last = kind(system, sources, constants, X, H, self._work)
        return motion

    def solved_from(
        self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray, system: NonlinearSystem, values: Values
    ) -> np.ndarray | None:
        """Magnitudes (n,) of the terms that give the core unknowns at a point; None where they are not told."""
        last, ready = self.last, self._ready
        try:
            motion = self.begin(z, slopes, xi, system, values)
        except (NewtonFailure, DependentConstraints):
            return None
        finally:
            self.last, self._ready = last, ready
        return unknowns_from(motion) if motion.batched else None

    def forget_motion(self) -> None:
        """The last motion may have been left with half of its values."""
        self.last = self._ready = None


@frozen
class ModelInForce:
    """A compiled model, and what stands for its equations at some moment."""

    program: CompiledModel
    linearisation: Linearisation

    @property
    def flat(self) -> FlatModel:
        """The model as it was declared."""
        return self.program.flat

    @property
    def reduced(self) -> ReducedModel:
        """The model as it is solved."""
        return self.program.reduced

    @property
    def core(self) -> NumericCore:
        """The affine model in force."""
        return self.linearisation.core

    @property
    def tangents(self) -> Tangents:
        """The nonlinear rows."""
        return self.linearisation.tangents
