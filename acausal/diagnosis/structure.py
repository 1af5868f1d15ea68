"""The structure of a model: what is found and chosen before it is solved, with its order of solution, text and pictures."""

from __future__ import annotations

from typing import Any

from ..errors import counted
from ..values import frozen
from .drawing import draw_components, draw_incidence
from .facts import Facts
from .sequence import Block
from .text import structure_text


@frozen
class Structure(Facts):
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
        return self.blocks.loops

    def to_text(self, full: bool = False) -> str:
        """Return counts, constraints, states and the sorted sequence as text.

        Parameters
        ----------
        full : bool
            All blocks and aliases, with the places of the equations. Without it long lists are cut.
        """
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
        return draw_components(self.blocks, self.label, ax)
