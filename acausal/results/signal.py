"""A variable over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .result import Result


class Signal:
    """Values of one variable; both limits at every event.

    Attributes
    ----------
    path, unit, doc : str
    t, values : (k,) arrays
        Points of ``result.t``; equal times are left and right limit.
    """

    def __init__(self, result: Result, path: str, unit: str, doc: str, evaluate: Any) -> None:
        self.path, self.unit, self.doc = path, unit, doc
        self._result, self._evaluate = result, evaluate
        self._values: np.ndarray | None = None

    @property
    def t(self) -> np.ndarray:
        return self._result.t

    @property
    def values(self) -> np.ndarray:
        if self._values is None:
            self._values = self._result.sample(self._evaluate)
        return self._values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.t)

    @property
    def final(self) -> float:
        """Last value: the right limit at the end."""
        return float(self.at(self._result.t_end))

    def at(self, t: Any, side: str = "right") -> Any:
        """Return the values at times ``t``; at an event the limit from ``side``.

        Raises
        ------
        ValueError
            For times outside the run.
        """
        return self._result.at(self._evaluate, t, side)

    def mean(self, t0: float | None = None, t1: float | None = None) -> float:
        """Return the mean over [t0, t1], by default the whole run."""
        a, b = self._window(t0, t1)
        return self._result.integral(self._evaluate, a, b, 1) / (b - a)

    def rms(self, t0: float | None = None, t1: float | None = None) -> float:
        """Return the root mean square over [t0, t1], by default the whole run."""
        a, b = self._window(t0, t1)
        return float(np.sqrt(self._result.integral(self._evaluate, a, b, 2) / (b - a)))

    def _window(self, t0: float | None, t1: float | None) -> tuple[float, float]:
        r = self._result
        return (r.t_start if t0 is None else t0), (r.t_end if t1 is None else t1)

    def __repr__(self) -> str:
        unit = f" [{self.unit}]" if self.unit else ""
        return f"<Signal {self.path}{unit}, {len(self.t)} points>"
