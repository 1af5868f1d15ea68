"""What the analysis of a mode found, in the numbering of the flattened model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from ..reduction.core import Values
from ..simulation.starts.stated import Starts
from ..values import frozen

Key = tuple[int, int]
"""A variable of the flattened model, and the order of its derivative."""


@frozen
class AffineConstraint:
    """``sum factors[v] * x_v + offset = 0`` with constant factors; ``moving``: the offset depends on time or inputs.

    Attributes
    ----------
    order : int
        Differentiations after which it appeared.
    factors : dict of int to float
        By variable.
    offset : float
        Constant part.
    moving : bool
    equations : dict of int to int
        Equations it follows from -> how often they are differentiated; -1 - k for the k-th integer row of the core
        if that is an input.
    dependent : int
        Variable it determines.
    """

    order: int
    factors: dict[int, float]
    offset: float
    moving: bool
    equations: dict[int, int]
    dependent: int


@frozen
class NonlinearConstraint:
    """Equation that is not affine, differentiated ``order`` times, and the coordinates that occur in it then."""

    equation: int
    order: int
    keys: tuple[Key, ...]


@frozen
class Findings:
    """States and constraints of one mode at a point.

    Attributes
    ----------
    values : Values
        Parameters, discrete variables and relations.
    starts : Starts
    mode : tuple of int
        Branch of every element.
    index : int
    states : tuple of Key
        What is integrated.
    affine : tuple of AffineConstraint
    coordinates : tuple of Key
        Variables and derivatives that equations which are not affine may tie, states among them.
    iterated : tuple of Key
        Unknowns of Newton's method.
    nonlinear : tuple of NonlinearConstraint
        Equations that are not affine with their derivatives, those of order 0 left out.
    hidden : dict of int to int
        Equation that is not affine -> how many of its derivatives, itself included, constrain coordinates.
    slope : callable, optional
        (variable, order) -> the coordinates and their derivatives, with factors, that make up its time derivative, or
        None where time takes part.
    integrals : tuple of int
        Variables that are integrated beside everything else.
    open : tuple of int
        Variables that nothing determines in this mode.
    """

    values: Values
    starts: Starts
    mode: tuple[int, ...]
    index: int
    states: tuple[Key, ...]
    affine: tuple[AffineConstraint, ...] = ()
    coordinates: tuple[Key, ...] = ()
    iterated: tuple[Key, ...] = ()
    nonlinear: tuple[NonlinearConstraint, ...] = ()
    hidden: dict[int, int] = field(default_factory=dict)
    slope: Callable[[int, int], dict[Key, float] | None] | None = None
    integrals: tuple[int, ...] = ()
    open: tuple[int, ...] = ()
