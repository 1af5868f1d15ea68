"""Exact flow of affine modes: evaluation, guard crossings, integrals of one segment."""

from .modal import AffineFlow, Trajectory
from .quadrature import integrate
from .scan import first_crossing

__all__ = ["AffineFlow", "Trajectory", "first_crossing", "integrate"]
