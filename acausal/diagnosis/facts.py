"""What is counted, found and chosen before a model is solved, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import Location
from ..values import frozen
from .sequence import SolutionOrder


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
class SelectedState:
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


@frozen
class Facts:
    """What a `Structure` holds; it lists the meanings."""

    label: str
    reduced: bool
    mode: Mapping[str, str]
    counts: Counts
    index: int | None
    constraints: tuple[Constraint, ...]
    states: tuple[SelectedState, ...]
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
