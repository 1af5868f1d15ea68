"""Numerical integration of ordinary differential equations, one step at a time, with dense output."""

from .automatic import Automatic, Stiffness
from .dormand_prince import DormandPrince
from .problem import Problem, StepFailure, StepSizeError
from .rosenbrock import Rosenbrock
from .step import Step
from .stepper import Stepper

__all__ = [
    "Automatic",
    "DormandPrince",
    "Problem",
    "Rosenbrock",
    "Step",
    "StepFailure",
    "StepSizeError",
    "Stepper",
    "Stiffness",
]
