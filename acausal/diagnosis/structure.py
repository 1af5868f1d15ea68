"""The structure of a model: what is counted, found and chosen before it is solved, and the order of solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import Location, counted
from .sequence import Block, SolutionOrder


@dataclass(frozen=True)
class Counts:
    """Sizes of a model.

    Attributes
    ----------
    components : int
        Parts of the model at all levels, without itself.
    equations, unknowns : int
        Of the flattened model. Open inputs are given, and do not count.
    connections : int
        Equations that follow from connections and from ports that are not connected.
    differentiated : int
        Unknowns whose time derivative occurs.
    parameters, discretes, elements : int
        Parameters; discrete variables, those of elements included; statements with branches.
    aliases : int
        Unknowns that equal another one, its negative or zero by an equation that says no more than that.
    kept : int
        Unknowns of the blocks; derivatives that are solved for as unknowns of their own count too.
    """

    components: int
    equations: int
    unknowns: int
    connections: int
    differentiated: int
    parameters: int
    discretes: int
    elements: int
    aliases: int
    kept: int


@dataclass(frozen=True)
class Constraint:
    """A relation among differentiated variables, which leaves fewer of them free.

    Attributes
    ----------
    text : str
        What has to hold.
    order : int
        Differentiations of the equations it follows from: 0 for one that stands in the model, 1 and more for hidden ones.
    equations : tuple of str
        Equations it follows from, in the names of the model.
    places : tuple of Location
        Where these were written.
    variable : str
        What it determines, instead of the start value; "" where that is decided at each point anew.
    """

    text: str
    order: int
    equations: tuple[str, ...]
    places: tuple[Location, ...]
    variable: str = ""

    @property
    def hidden(self) -> bool:
        """True for a constraint that follows by differentiation."""
        return self.order > 0


@dataclass(frozen=True)
class State:
    """A variable that is integrated.

    Attributes
    ----------
    name, unit : str
    start : float
        Its start value.
    fixed : bool
        Whether the start value must hold.
    why : str
        Why it was chosen.
    """

    name: str
    unit: str
    start: float
    fixed: bool
    why: str


@dataclass(frozen=True)
class AliasMember:
    """A variable of an alias class: ``sign`` times the representative, zero for sign 0."""

    name: str
    sign: int


@dataclass(frozen=True)
class Alias:
    """Variables that are equal or opposite, and what is declared about them together.

    Attributes
    ----------
    representative : str
        The one that stands for all; "0" for variables that are zero.
    members : tuple of AliasMember
        The others.
    start : float or None
        Start value of the representative, from the member that declares it with the highest priority (fixed before given
        before declared by its class); None where nobody does.
    min, max : float
        The narrowest bounds of all members, with their signs.
    conflicts : tuple of str
        Start values and bounds that contradict each other.
    """

    representative: str
    members: tuple[AliasMember, ...]
    start: float | None
    min: float
    max: float
    conflicts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Structure:
    """How a model is solved, or how its equations could be sorted as they are written.

    Attributes
    ----------
    label : str
        Class of the model.
    reduced : bool
        True: as it is solved, after elimination of aliases and reduction of the index. False: as written.
    mode : mapping of str to str
        Statement -> branch it is described for; of statements that are not named all branches count.
    counts : Counts
    index : int or None
        How often equations have to be differentiated to obtain all derivatives, plus one where there are algebraic
        unknowns; None for a singular system.
    constraints : tuple of Constraint
    states : tuple of State
        Those that are known; as written, of the variables that no constraint involves.
    freedom : int or None
        Number of states. As written it is structural, and may be more than `states` names; None for a singular system.
    tied : tuple of str
        Differentiated variables that constraints tie to each other, where the equations alone cannot tell which of them
        are the other states.
    blocks : sequence of Block
        In solution order: a block uses unknowns of earlier ones only, besides states, inputs and time.
    aliases : sequence of Alias
    conflicts : tuple of str
        Start values and bounds of aliases that contradict each other.
    iteration : tuple of str
        Unknowns of Newton's method: as many as there are equations that are not affine. Empty for a model as written.
    surplus, open : tuple of str
        Equations of the over-determined and unknowns of the under-determined part of a structurally singular system.
    inputs : mapping of str to float, int or bool
        Open input -> its value at the point that is described; empty as written, where inputs have no values.
    open_ports : tuple of str
        Ports with nothing connected, whose flows are zero: free ends, or forgotten connections.
    notes : tuple of str
        What else should be known about it.
    """

    label: str
    reduced: bool
    mode: Mapping[str, str]
    counts: Counts
    index: int | None
    constraints: tuple[Constraint, ...]
    states: tuple[State, ...]
    freedom: int | None
    blocks: SolutionOrder
    tied: tuple[str, ...] = ()
    aliases: Sequence[Alias] = ()
    conflicts: tuple[str, ...] = ()
    iteration: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    open_ports: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        if self.freedom is None:
            return f"<Structure of {self.label}: structurally singular, {counted(len(self.blocks), 'block')}>"
        size = f"{counted(self.freedom, 'state')}, {counted(len(self.blocks), 'block')}"
        return f"<Structure of {self.label}: index {self.index}, {size}>"

    @property
    def loops(self) -> list[Block]:
        """Blocks of more than one equation."""
        return [self.blocks[k] for k in np.flatnonzero(self.blocks.sizes > 1).tolist()]

    def to_text(self, full: bool = False) -> str:
        """Return counts, constraints, states and the sorted sequence as text.

        Parameters
        ----------
        full : bool
            All blocks and aliases, with the places of the equations. Without it long lists are cut.
        """
        from .text import structure_text

        return structure_text(self, full)

    def plot_incidence(self, ax: Any = None) -> Any:
        """Draw which unknowns occur in which equations, both in solution order: blocks lie along the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default axes of a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from .drawing import draw_incidence

        return draw_incidence(self.blocks, self.label, ax)

    def plot_components(self, ax: Any = None) -> Any:
        """Draw the components and what connects them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default axes of a new figure.

        Returns
        -------
        matplotlib Axes
        """
        from .drawing import draw_components

        return draw_components(self.blocks, self.label, ax)
