"""Record: segments, signals, tables, plots."""

from .result import Result as Result
from .signal import Signal as Signal
