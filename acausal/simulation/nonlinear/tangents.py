"""What a run needs of the nonlinear rows: affine models that linearise them at a point, and the nonlinear modes themselves."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np

from ...compilation.nonlinear_rows import NonlinearFunctions
from ...dynamics.assembly import flow_of_sources
from ...dynamics.closed_form import AffineFlow, Trajectory
from ...dynamics.directions import generic_direction
from ...kernels.newton import REACHED
from ...reduction.affine import AffineModel, Mode, Rows, stack_rows
from ...reduction.columns import Begun
from ...reduction.core import NOTHING, TANGENT_STATES, Values
from ...reduction.linearize import Numbering, SlopeSums, linearised_model, linearised_rows
from ...reduction.open_mode import AFFINE, LEFT_OUT, OpenMode, open_mode, orders
from ...reduction.redundancy import least_rows, open_directions, redundant_rows
from ...reduction.rounding import HALF, ROUNDING, UNIT
from ..analysed_modes import MODE_BYTES, AnalysedModes, Recent
from ..numeric import NumericCore
from ..state import Redundant
from .bounds import Bounds, open_bounds
from .system import Coordinates, NonlinearSystem

STEEPEST = 1e60
"""Values and slopes beyond would drown all others of a model."""
FLATTEST = 1e-60
"""Slope, relative to the largest of its row, below which one that is not zero is taken for that small: its squares and
those of its inverse, which the elimination needs, stay within the range of doubles."""
MOST_HALVINGS = 30
"""Of the arguments of a row that has no finite value where it should be linearised."""
PERTURBATION = 1e-3
"""Distance, in units of the scale of the arguments, of the second point at which incidence is looked at."""
KEPT_BYTES = MODE_BYTES // 10
"""Of models in which modes have closed forms; of what affine rows make of modes; of analyses of modes that come again with the
same numbers: what is blocked, saturated or at rest has the slopes it had before."""


class Tangents:
    """Linearised models and nonlinear modes for one set of numbers.

    Parameters
    ----------
    core : NumericCore
        The affine rows alone.
    functions : NonlinearFunctions
        Copied: two runs share none.
    bounds : Bounds, optional
        Bounds of the core unknowns while a start is sought.
    """

    def __init__(
        self, core: NumericCore, functions: NonlinearFunctions, bounds: Bounds | None = None
    ) -> None:
        self.core, self.nonlinear_rows = core, functions.rows
        self.numbering = Numbering.of(core.reduced)
        self.Z, self.D, _ = functions.rows.variables
        self.X = functions.rows.sources(core.exosystem)
        D, Z, X = (SlopeSums.of(M, functions.rows) for M in (self.D, self.Z, self.X))
        self._over = D, Z, X
        model = core.model
        self.scale = (
            abs(self.Z) @ model.scale + abs(self.D) @ model.scale / model.T0 + abs(self.X) @ model.xi_scale
        )
        self.functions = functions.rescaled(self.scale)
        read = np.zeros(model.n, bool)
        read[self.Z.indices] = True
        # In the place of a differentiated variable the elimination solves its derivative.
        read &= ~model.differentiated
        read[self.D.indices] = True
        self.read = read
        states = model.differentiated.astype(float)
        alone = (abs(self.Z) @ states > 0.0) & (abs(self.Z) @ (1.0 - states) == 0.0)
        self._may_vanish = alone | ~functions.bent
        """Mask over the arguments: states, and others where their own values do not decide the slope."""
        single = (self.Z.indptr[1:] - self.Z.indptr[:-1] == 1) & (abs(self.D).sum(axis=1) == 0.0)
        self._read_alone = np.where(single, np.append(self.Z.indices, 0)[self.Z.indptr[:-1]], model.n)
        """Core unknown that each argument is a multiple of; the number of unknowns where it is none."""
        self.analysed = 0
        self.deep = False
        """Nonlinear rows are differentiated twice in some mode, and there are signs to be told along the motion."""
        self._bounds = bounds
        self._flows: dict[int, AffineFlow] = {}
        self._modes: dict[Mode, NonlinearSystem] = {}
        self._bends: dict[Mode, int] = {}
        """The first row that bends in a mode, whatever discretes and relations are."""
        self._exact: Recent[tuple[Mode, bytes], tuple[NumericCore | None, int]] = Recent(KEPT_BYTES)
        self._begun: Recent[Mode, Begun] = Recent(KEPT_BYTES)
        self._constants: tuple[Any, np.ndarray] = None, np.zeros(0)
        self._linearised: tuple[tuple[bytes, ...], NumericCore] | None = None
        """The model that was asked for last: an instant begins where the segment before it ended."""
        position = np.full(core.reduced.n_rows + 1, AFFINE)
        position[self.nonlinear_rows.rows] = np.arange(len(self.nonlinear_rows))
        self._number_of = position
        """Nonlinear row of every form row; the last entry serves rows without a form."""

        n, q = model.n, model.q
        self._size = 8 * (2 * core.reduced.n_rows * (2 * n + q) + 4 * (n + q) ** 2)
        """Bytes of another model with the same rows, and of a mode of it."""
        shared = AnalysedModes(2 * KEPT_BYTES, self._size)
        self._made_of = partial(core.linearised, shared=shared, begun=self._affine_part)
        self.left_out = np.zeros(0, np.int64)
        """Nonlinear rows that follow from others everywhere, as far as is known."""
        self.dependent = np.zeros(0, np.int64)
        """These and the others."""

    def leave_out(self, model: AffineModel, mode: Mode) -> bool:
        """Leave out the nonlinear rows that follow from others where a model linearises, and return whether there are any.

        What they leave undetermined is chosen as small as possible.
        """
        among = self._places(np.setdiff1d(self.rows_in_force(mode), self.left_out))
        found, part = (self.numbering.base[at] for at in redundant_rows(model, mode, among))
        if not len(found):
            return False
        position = self.nonlinear_rows.position
        left_out = np.sort(np.append(self.left_out, [position[row] for row in found.tolist()]))
        dependent = np.union1d(self.dependent, [position[row] for row in part.tolist()])
        self.leave((tuple(left_out.tolist()), tuple(dependent.tolist())))
        return True

    @property
    def redundant(self) -> Redundant:
        """Nonlinear rows left out, and all that take part."""
        return tuple(self.left_out.tolist()), tuple(self.dependent.tolist())

    def leave(self, redundant: Redundant) -> None:
        """Leave out just these nonlinear rows."""
        self.left_out, self.dependent = (np.array(which, np.int64) for which in redundant)
        rows = self.nonlinear_rows.rows
        self._number_of[rows] = np.arange(len(rows))
        self._number_of[rows[self.left_out]] = LEFT_OUT
        self.forget_modes()
        self._linearised = None
        self._exact, self._begun, self._bends = Recent(KEPT_BYTES), Recent(KEPT_BYTES), {}

    def open_unknowns(self, model: AffineModel) -> np.ndarray:
        """Core unknowns that are open where a model linearises, because rows follow from others."""
        found = open_directions(model, self._places(self.left_out))
        return np.flatnonzero(False if found is None else found.any(axis=1))

    def _places(self, nonlinear: np.ndarray) -> np.ndarray:
        """Rows of the base that are these nonlinear rows."""
        return np.flatnonzero(np.isin(self.numbering.base, self.nonlinear_rows.rows[nonlinear]))

    def constants(self, values: Values) -> np.ndarray:
        """Constants of the nonlinear rows; the last ones are kept, for they seldom change."""
        key = self.nonlinear_rows.read(values)
        if self._constants[0] != key:
            self._constants = key, self.nonlinear_rows.constant_values(values)
        return self._constants[1]

    def sources(self, S: Any, xi: np.ndarray) -> Trajectory:
        """The sources with generator ``S`` from now on, without the states that only linearised models have."""
        core, q = self.core, S.shape[0]
        flow = self._flows.get(q)
        if flow is None:
            flow = core.values.still(("flow", q), NOTHING, partial(flow_of_sources, S), core.exosystem)
            self._flows[q] = flow
        return flow.start(xi[:q])

    def arguments(self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """Arguments of the nonlinear rows."""
        return self.Z @ z + self.D @ slopes + self.X @ xi

    def at(
        self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray, values: Values, bends: np.ndarray | None = None
    ) -> NumericCore:  # fmt: skip
        """The affine model that linearises the nonlinear one at a point, made when it is first looked at.

        Parameters
        ----------
        z, slopes : (n,) arrays
            Core unknowns and their time derivatives, those of algebraic ones included.
        xi : (q,) array
        bends : (n,) array, optional
            Second time derivatives of what nonlinear constraints read; without them third derivatives are not looked at.
        """
        if self.core.system is not None or not len(self.nonlinear_rows):
            return self.core
        constants = self.constants(values)
        bends = bends if self.deep else None
        parts = (z, slopes, xi, constants) if bends is None else (z, slopes, xi, constants, bends)
        key = tuple([part.tobytes() for part in parts])
        if self._linearised is None or self._linearised[0] != key:
            linearise = partial(self._linearise, z, slopes, xi, constants, bends)
            self._linearised = key, self._made_of(linearise)
        return self._linearised[1]

    def _linearise(
        self,
        z: np.ndarray,
        slopes: np.ndarray,
        xi: np.ndarray,
        constants: np.ndarray,
        bends: np.ndarray | None,
    ) -> tuple[Rows, AffineModel]:
        core = self.core
        a0, value, gradient = self._tangent(self.arguments(z, slopes, xi), constants)
        value = self._through_zero(a0, value, gradient, constants)
        moved, none = core.exosystem.S @ xi, np.zeros_like(slopes)
        a1 = self.arguments(slopes, none, moved)
        bend = self._remainder([a0, a1], constants)
        third = np.zeros(len(self.nonlinear_rows))
        if bends is not None:
            third = self._remainder(
                [a0, a1, self.arguments(bends, none, core.exosystem.S @ moved)], constants
            )
        forms = linearised_rows(self.nonlinear_rows, core.forms, a0, value, gradient, bend, third, self._over)
        return self._shared_out(forms) if len(self.left_out) else (forms, self._with(forms))

    @cached_property
    def _squares(self) -> np.ndarray:
        """Sum of the squares of all variables of the model in SI units, (n, n) over the core unknowns."""
        W = self.core.reduced.W_core
        return (W.T @ W).toarray()

    def _with(self, forms: Rows) -> AffineModel:
        return linearised_model(self.core.model, self.numbering, forms, self.core.exosystem.S)

    def exact(self, mode: Mode, values: Values) -> tuple[NumericCore | None, int]:
        """The model in which a mode has a closed form, and -1; else None, and the first row that bends of those that decide."""
        bends = self._bends.get(mode)
        if bends is not None:
            return None, bends
        constants = self.constants(values)
        key = mode, constants.tobytes()
        found = self._exact.get(key)
        if found is None:
            found = self._straight(mode, constants)
            if found[0] is None and self.nonlinear_rows.steady[found[1]]:
                self._bends[mode] = found[1]
            self._exact.put(
                key, found, constants.nbytes + (0 if found[0] in (None, self.core) else self._size)
            )
        return found

    def _straight(self, mode: Mode, constants: np.ndarray) -> tuple[NumericCore | None, int]:
        rows, core = self.nonlinear_rows, self.core
        value, gradient = np.zeros(len(rows)), np.zeros(len(rows.owner))
        own = np.unique(self._number_of[self.numbering.mode_decided(mode)])
        if LEFT_OUT in own:
            return None, int(self.left_out[0])
        for k in own[own >= 0].tolist():
            own_constants, own_arguments = (
                slice(*np.searchsorted(owner, [k, k + 1])) for owner in (rows.constant_owner, rows.owner)
            )
            found = self.functions.affine(k, constants[own_constants])
            if found is None:
                return None, k
            value[k], gradient[own_arguments] = found
            core = self._made_of(partial(self._placed, value, gradient))
        blocked = self._number_of[self.numbering.mode_blocked(mode)]
        if (blocked >= 0).any() and len(core.mode(mode).settled):
            return None, int(blocked.max())
        return core, -1

    def _affine_part(self, mode: Mode) -> Begun:
        """What the rows of a mode that are affine in any case make of its analysis."""
        found = self._begun.get(mode)
        if found is None:
            found = Begun.of(self.core.model, mode, np.flatnonzero(self.numbers_in_force(mode) == AFFINE))
            self._begun.put(mode, found, found.nbytes)
        return found

    def _placed(self, value: np.ndarray, gradient: np.ndarray) -> tuple[Rows, AffineModel]:
        """The affine rows, with those that are affine at present: values where arguments are zero, and slopes."""
        none, core = np.zeros(len(value)), self.core
        forms = linearised_rows(
            self.nonlinear_rows, core.forms, np.zeros(len(gradient)), value, gradient, none, none, self._over
        )
        return forms, linearised_model(core.model, self.numbering, forms, core.model.S)

    def _shared_out(self, forms: Rows) -> tuple[Rows, AffineModel]:
        """The tangents where what the rows left out leave undetermined is chosen in their place."""
        at = self._places(self.left_out)
        rows, which = least_rows(self._with(forms), at, self._squares), self.numbering.base[at]
        if rows is None:
            return forms, self._with(forms)
        forms.E[which], forms.A[which], forms.B[which] = 0.0, rows, 0.0
        return forms, self._with(forms)

    def _remainder(self, jets: list[np.ndarray], constants: np.ndarray) -> np.ndarray:
        """The next total derivative of the rows, without the part that is linear in that of the arguments."""
        found = np.array(self.functions(len(jets), [*jets, np.zeros_like(jets[0])], constants)[0])
        found[~(np.abs(found) < STEEPEST)] = 0.0
        return found

    def _tangent(self, a0: np.ndarray, constants: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Arguments, values and slopes; rows beyond the range of doubles are linearised nearer to zero.

        Rows that have no value there either get any tangent: Newton's method finds and names them.
        """
        owner, m = self.nonlinear_rows.owner, len(self.nonlinear_rows)
        wild = np.zeros(m, bool)
        value, gradient = np.zeros(m), np.zeros(len(owner))
        for _ in range(MOST_HALVINGS):
            value, gradient = (np.array(x) for x in self.functions(0, [a0], constants))
            steep = ~(np.abs(gradient) < STEEPEST)
            wild = ~(np.abs(value) < STEEPEST) | (np.bincount(owner[steep], minlength=m) > 0)
            if not wild.any():
                return a0, value, self._lifted(self._without_noise(a0, gradient, constants))
            a0 = np.where(wild[owner], 0.5 * a0, a0)
        gradient[wild[owner]], value[wild] = 1.0, 0.0
        return a0, value, gradient

    def _through_zero(
        self, a0: np.ndarray, value: np.ndarray, gradient: np.ndarray, constants: np.ndarray
    ) -> np.ndarray:
        """Values that take tangents through zero which miss it by no more than rounding of their row.

        Signs would be read from it: an exponential law without flow is zero up to the rounding of its exponential.
        """
        owner, m = self.nonlinear_rows.owner, len(self.nonlinear_rows)
        along = np.bincount(owner, gradient * a0, m)
        off = np.abs(value - along)
        small = (off > 0.0) & (off <= ROUNDING * np.bincount(owner, np.abs(gradient) * self.scale, m))
        if not small.any():
            return value
        small &= off <= REACHED * self.functions.rounding(a0, constants, UNIT * np.abs(a0))
        return np.where(small, along, value)

    def _without_noise(self, a0: np.ndarray, gradient: np.ndarray, constants: np.ndarray) -> np.ndarray:
        """Slopes without those that the rounding of the point may have made, as of ``cos(x)`` at zero.

        They would be weak pivots with infinite factors. Of ``q*abs(q)`` with an algebraic ``q`` nothing else determines ``q``;
        of ``L*cos(phi)`` at zero another row has a slope, ``L*sin(phi)``.
        """
        moved = ROUNDING * self.scale * generic_direction(len(a0))
        noise = np.abs(self.functions(1, [a0, moved], constants)[1])
        slight = self._sizes(gradient, HALF)[1]
        elsewhere = np.zeros(self.core.model.n + 1, bool)
        elsewhere[self._read_alone[(gradient != 0.0) & ~slight]] = True
        elsewhere[-1] = False
        may_vanish = self._may_vanish | elsewhere[self._read_alone]
        gradient[may_vanish & slight & (np.abs(gradient) <= noise)] = 0.0
        return gradient

    def _lifted(self, gradient: np.ndarray) -> np.ndarray:
        """Slopes with those lifted that are nearly zero, as of ``q*abs(q)`` where ``q`` has all but vanished."""
        least, low = self._sizes(gradient, FLATTEST)
        gradient[low] = np.sign(gradient[low]) * least[low] / self.scale[low]
        return gradient

    def _sizes(self, gradient: np.ndarray, part: float) -> tuple[np.ndarray, np.ndarray]:
        """A part of the largest term of the row of every slope, and which terms are smaller, but not zero."""
        size = np.abs(gradient) * self.scale
        largest = np.zeros(len(self.nonlinear_rows))
        np.maximum.at(largest, self.nonlinear_rows.owner, size)
        least = part * largest[self.nonlinear_rows.owner]
        return least, (size > 0.0) & (size < least)

    def mode(
        self, core: NumericCore, mode: Mode, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray, values: Values
    ) -> NonlinearSystem:
        """The nonlinear mode; its structure is taken from the neighbourhood of a point.

        Raises
        ------
        Inadmissible, StructurallySingular
        """
        found = self.known(mode) or self._made(core, mode, z, slopes, xi, values)
        found.seek_within(open_bounds(self._bounds, found.mode, found.orders))
        return found

    def known(self, mode: Mode) -> NonlinearSystem | None:
        """The nonlinear mode, if its structure has been found before."""
        return self._modes.get(mode)

    def _made(
        self, core: NumericCore, mode: Mode, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray, values: Values
    ) -> NonlinearSystem:
        self.analysed += 1
        if self.core.system is not None:
            self._modes[mode] = self.core.system.copy()
            return self._modes[mode]
        data = core.mode(mode)
        nonlinear_row = self.numbers_in_force(mode)
        opened = open_mode(core.model, mode, data, nonlinear_row, self.read)
        chosen = core.model.base.A[self._places(self.left_out)] @ opened.z_of
        made = self._system(opened, (z, slopes, xi, values), chosen)
        if not (len(data.settled) and len(self.nonlinear_rows)):
            self._modes[mode] = made
        return made

    def _system(
        self, opened: OpenMode, at: tuple[np.ndarray, np.ndarray, np.ndarray, Values], chosen: np.ndarray
    ) -> NonlinearSystem:
        model = self.core.model
        over_v = self.Z @ opened.z_of + self.D @ opened.slope_of
        ns, m = len(opened.states), len(opened.open)
        over_v[:, ns + m :] += self.X.toarray()
        q = model.q - TANGENT_STATES if len(self.nonlinear_rows) else model.q
        over_v, S = over_v[:, : ns + m + q], model.S[:q, :q]
        shared = np.abs(chosen[:, ns : ns + m]) > HALF * np.abs(chosen).max(
            axis=1, initial=0.0, keepdims=True
        )
        found, order = orders(opened, self.nonlinear_rows.owner, over_v, self._gradients(*at), shared)
        opened, over_v = opened.arranged(order, q), over_v[:, order.of_columns(q)]
        signs = bool(model.elements) or len(self.core.relations.A) > 0
        self.deep |= signs and bool((found.rows > 1).any())
        coordinates = np.concatenate([opened.states, opened.open])
        scale = model.scale[coordinates]
        scale[ns:][opened.slopes] /= model.T0
        priority = None if model.priority is None else model.priority[coordinates]
        return NonlinearSystem(
            opened, found, over_v, self.functions, S, Coordinates(scale, model.T0, priority),
            (self.left_out, self._squares) if len(self.left_out) else None,
        )  # fmt: skip

    def _gradients(
        self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray, values: Values
    ) -> list[np.ndarray]:
        """Derivatives at a point and beside it."""
        if not len(self.nonlinear_rows):
            return []
        constants, a0 = self.constants(values), self.arguments(z, slopes, xi)
        beside = a0 + PERTURBATION * self.scale * generic_direction(len(a0))
        found = [np.array(self.functions(0, [a], constants)[1]) for a in (a0, beside)]
        return [np.where(np.isfinite(g), g, 1.0) for g in found]

    def forget_bounds(self) -> None:
        """From now on points are sought next to the last one, wherever that is."""
        self._bounds = None

    def forget_modes(self) -> None:
        """The nonlinear rows are others from now on, and with them the structure of the modes."""
        self._modes.clear()

    def numbers_in_force(self, mode: Mode) -> np.ndarray:
        """Nonlinear row of every equation of a mode, `AFFINE` and `LEFT_OUT` for others."""
        return self._number_of[self.numbering.mode(mode)]

    def rows_in_force(self, mode: Mode) -> np.ndarray:
        """Nonlinear rows among the equations of a mode."""
        rows = self.numbers_in_force(mode)
        return rows[rows >= 0]

    def watched(self, core: NumericCore, mode: Mode) -> tuple[Rows, np.ndarray]:
        """Guards in force and all state relations, and the nonlinear row of each or -1."""
        model = core.model
        guards = [e.branches[b].guards for e, b in zip(model.elements, mode, strict=True)]
        rows = stack_rows([*guards, core.relations], model)
        return rows, self._number_of[self.numbering.mode_guards(mode)]
