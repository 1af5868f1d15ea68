"""Explain a model: its equations one by one, and the structure in which they are solved."""

from __future__ import annotations

from .equations import Equations as Equations
