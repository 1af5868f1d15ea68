"""Partial blocks: signals without behaviour."""

from __future__ import annotations

from acausal.modeling import Component, Input, Output


class SO(Component):
    """Single output."""

    y: Output = Output(float, doc="Output")


class SISO(SO):
    """Single input, single output."""

    u: Input = Input(float, doc="Input")


class SI2SO(SO):
    """Two inputs, single output."""

    u1: Input = Input(float, doc="First input")
    u2: Input = Input(float, doc="Second input")


class BooleanSO(Component):
    """Single Boolean output."""

    y: Output = Output(bool, doc="Output")


class BooleanSISO(BooleanSO):
    """Boolean input and output."""

    u: Input = Input(bool, doc="Input")


class BooleanSI2SO(BooleanSO):
    """Two Boolean inputs, Boolean output."""

    u1: Input = Input(bool, doc="First input")
    u2: Input = Input(bool, doc="Second input")


class PartialComparison(BooleanSO):
    """Boolean output that follows from one continuous input."""

    u: Input = Input(float, doc="Input")


class PartialComparison2(BooleanSO):
    """Boolean output that follows from two continuous inputs."""

    u1: Input = Input(float, doc="First input")
    u2: Input = Input(float, doc="Second input")
