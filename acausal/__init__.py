"""Component-oriented, acausal, hybrid physical modelling with truly ideal switching."""

import importlib as _importlib
import typing as _typing

from .api.program import Program as Program
from .api.program import compile_model as compile_model
from .api.program import simulate as simulate

if _typing.TYPE_CHECKING:
    from .api.sweep import Sweep as Sweep
    from .api.sweep import random_sets as random_sets
    from .api.sweep import sweep as sweep
    from .compilation.residual import Residual as Residual
    from .diagnosis.structure import Structure as Structure

from .errors import AcausalError as AcausalError
from .errors import BalanceError as BalanceError
from .errors import ChatteringError as ChatteringError
from .errors import ConsistencyError as ConsistencyError
from .errors import ContradictionError as ContradictionError
from .errors import ContradictorySourcesError as ContradictorySourcesError
from .errors import ConvergenceError as ConvergenceError
from .errors import DeclarationError as DeclarationError
from .errors import DiscreteValueError as DiscreteValueError
from .errors import DuplicateNameError as DuplicateNameError
from .errors import DuplicateWriterError as DuplicateWriterError
from .errors import EventIterationError as EventIterationError
from .errors import ExpressionError as ExpressionError
from .errors import FlowInterruptedError as FlowInterruptedError
from .errors import ImpactError as ImpactError
from .errors import InfiniteImpulseError as InfiniteImpulseError
from .errors import InitializationError as InitializationError
from .errors import ModelError as ModelError
from .errors import ModelSizeError as ModelSizeError
from .errors import ModeNotSquareError as ModeNotSquareError
from .errors import NoConsistentModeError as NoConsistentModeError
from .errors import NonFiniteError as NonFiniteError
from .errors import NotAffineError as NotAffineError
from .errors import ParameterError as ParameterError
from .errors import PortMismatchError as PortMismatchError
from .errors import RequirementError as RequirementError
from .errors import SimulationError as SimulationError
from .errors import SingularModelError as SingularModelError
from .errors import StatementError as StatementError
from .errors import StiffnessWarning as StiffnessWarning
from .errors import StructuralError as StructuralError
from .errors import UnconnectedInputError as UnconnectedInputError
from .errors import UnitError as UnitError
from .errors import UnknownNameError as UnknownNameError
from .errors import UnknownPathError as UnknownPathError
from .modeling import Circuit as Circuit
from .modeling import Complementarity as Complementarity
from .modeling import Component as Component
from .modeling import Discrete as Discrete
from .modeling import DryFriction as DryFriction
from .modeling import Eq as Eq
from .modeling import Expr as Expr
from .modeling import Flow as Flow
from .modeling import FrictionState as FrictionState
from .modeling import If as If
from .modeling import Impact as Impact
from .modeling import Impulse as Impulse
from .modeling import Input as Input
from .modeling import Mode as Mode
from .modeling import Modes as Modes
from .modeling import Output as Output
from .modeling import Parameter as Parameter
from .modeling import Port as Port
from .modeling import Start as Start
from .modeling import Statement as Statement
from .modeling import Structural as Structural
from .modeling import Symbol as Symbol
from .modeling import Variable as Variable
from .modeling import absolute as absolute
from .modeling import acos as acos
from .modeling import and_ as and_
from .modeling import asin as asin
from .modeling import assign as assign
from .modeling import atan as atan
from .modeling import atan2 as atan2
from .modeling import change as change
from .modeling import connect as connect
from .modeling import cos as cos
from .modeling import cosh as cosh
from .modeling import der as der
from .modeling import edge as edge
from .modeling import exp as exp
from .modeling import floor as floor
from .modeling import homotopy as homotopy
from .modeling import if_else as if_else
from .modeling import initial as initial
from .modeling import initially as initially
from .modeling import leave as leave
from .modeling import log as log
from .modeling import maximum as maximum
from .modeling import minimum as minimum
from .modeling import mod as mod
from .modeling import no_event as no_event
from .modeling import not_ as not_
from .modeling import or_ as or_
from .modeling import pre as pre
from .modeling import reinit as reinit
from .modeling import require as require
from .modeling import sample as sample
from .modeling import sign as sign
from .modeling import sin as sin
from .modeling import sinh as sinh
from .modeling import sqrt as sqrt
from .modeling import table as table
from .modeling import tan as tan
from .modeling import tanh as tanh
from .modeling import terminal as terminal
from .modeling import terminate as terminate
from .modeling import time as time
from .modeling import to as to
from .modeling import transitions as transitions
from .modeling import when as when
from .modeling import xor_ as xor_
from .results.drawing import Drawing as Drawing
from .results.result import Result as Result
from .results.signal import Signal as Signal

__version__ = "0.1.0"
_LATER = {
    "Residual": "compilation.residual",
    "Structure": "diagnosis.structure",
    "Sweep": "api.sweep",
    "random_sets": "api.sweep",
    "sweep": "api.sweep",
}
"""What the first run of most scripts does without: imported when it is first asked for."""


def __getattr__(name: str) -> _typing.Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module(f"{__name__}.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
