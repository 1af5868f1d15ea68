"""Results in files: arrays and text in NumPy's npz format, read without running any code from it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any

import numpy as np

from ..errors import ParameterError, UnknownPathError, nearest
from .events import Event, as_json, from_json
from .initial import InitialValue, InitialValues
from .modes import Modes, ModeVisit, Stats
from .panels import Panels, equal_parts
from .signal import Signal
from .view import ResultView

FORMAT = 1
KINDS: dict[str, type] = {"bool": bool, "int": int, "float": float}


def write(result: ResultView, file: Any, paths: Sequence[Any] | None) -> None:
    """Write times, values and events; `ResultView.save`."""
    signals = [result[p] for p in (result.paths if paths is None else paths)]
    by_kind: dict[str, list[np.ndarray]] = {}
    described = []
    for s in signals:
        kind = {"b": "bool", "i": "int"}.get(s.values.dtype.kind, "float")
        by_kind.setdefault(kind, []).append(s.values)
        names = {str(k): v for k, v in s.names.items()}
        open_values = np.flatnonzero(s.undetermined).tolist()
        described.append(
            {
                "path": s.path,
                "unit": s.unit,
                "doc": s.doc,
                "kind": kind,
                "names": names,
                "undetermined": open_values,
            }
        )
    about = {
        "format": FORMAT, "label": result.label, "status": result.status, "t_start": result.t_start, "t_end": result.t_end,
        "signals": described, "states": [p for p in result.states if any(s.path == p for s in signals)],
        "parameters": result.parameters, "initial": result.initial, "origins": result.initial.as_json(), "final": result.final,
        "stats": asdict(result.stats),
        "modes": [asdict(m) for m in result.modes], "events": [as_json(e) for e in result.events],
    }  # fmt: skip
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    arrays: dict[str, Any] = {kind: np.stack(values) for kind, values in by_kind.items()}
    if hasattr(file, "write"):
        np.savez_compressed(file, about=text, t=result.t, **arrays)
    else:
        with open(file, "wb") as stream:
            np.savez_compressed(stream, about=text, t=result.t, **arrays)


def read(file: Any) -> LoadedResult:
    """Read a saved result; `Result.load`."""
    with nullcontext(file) if hasattr(file, "read") else open(file, "rb") as stream:
        try:
            with np.load(stream, allow_pickle=False) as archive:
                about = json.loads(archive["about"].tobytes())
                arrays = {name: archive[name] for name in archive.files if name != "about"}
            return LoadedResult(about, arrays)
        except (ValueError, KeyError, TypeError, EOFError, AttributeError, zipfile.BadZipFile) as error:
            hint = f"write it with result.save(file); this version reads format {FORMAT}"
            raise ParameterError(
                f"{getattr(file, 'name', file)} is no saved result", why=str(error), hint=hint
            ) from error


class LoadedResult(ResultView):
    """A result read from a file: the stored signals, linear between the stored points."""

    def __init__(self, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']}")
        self.label, self.status = str(about["label"]), str(about["status"])
        self.t_start, self.t_end = float(about["t_start"]), float(about["t_end"])
        self.parameters, self.saved = dict(about["parameters"]), None
        self.stats = Stats(**about["stats"])
        self._about, self._t = about, arrays["t"]
        self._signals: dict[str, Signal] = {}
        counts: dict[str, int] = {}
        for d in about["signals"]:
            kind = d["kind"]
            counts[kind] = counts.get(kind, -1) + 1
            source = _Stored(self, arrays[kind][counts[kind]], d["undetermined"], kind != "float")
            names = {int(k): v for k, v in d["names"].items()}
            self._signals[d["path"]] = Signal(source, d["path"], d["unit"], d["doc"], KINDS[kind], names)

    def __getitem__(self, path: Any) -> Signal:
        if not isinstance(path, str):
            raise UnknownPathError(
                f"a loaded result knows paths, not handles: {path!r}", hint='give the path, such as "load.v"'
            )
        if path not in self._signals:
            raise UnknownPathError(f"`{path}` is not in the file", hint=nearest(path, self._signals))
        return self._signals[path]

    @property
    def t(self) -> np.ndarray:
        """Points in seconds; equal times are left and right limit of an event."""
        return self._t

    @property
    def paths(self) -> list[str]:
        """Paths that tables and files hold by default."""
        return list(self._signals)

    @property
    def states(self) -> list[str]:
        """Paths of the differentiated variables."""
        return list(self._about["states"])

    @property
    def initial(self) -> InitialValues:
        """Values of the differentiated variables after the first instant, and what each follows from."""
        entries = (InitialValue(*entry) for entry in self._about.get("origins", ()))
        return InitialValues(self._about["initial"], entries)

    @property
    def final(self) -> dict[str, float]:
        """Values of the differentiated variables at the end."""
        return dict(self._about["final"])

    @property
    def events(self) -> list[Event]:
        """Events in order of time."""
        return [from_json(e) for e in self._about["events"]]

    @property
    def modes(self) -> Modes:
        """Distinct modes in the order of their first visit."""
        return Modes(ModeVisit(**m) for m in self._about["modes"])


class _Stored:
    """Values at points, straight lines between them; discrete values stay until the next point."""

    def __init__(
        self, result: LoadedResult, values: np.ndarray, undetermined: list[int], discrete: bool
    ) -> None:
        self.result, self.values, self.discrete = result, values, discrete
        self.t_start, self.t_end = result.t_start, result.t_end
        self.t = result.t
        self.open = undetermined

    def sample(self) -> np.ndarray:
        return self.values

    def undetermined(self) -> np.ndarray:
        mask = np.zeros(len(self.t), bool)
        mask[self.open] = True
        return mask

    def at(self, t: np.ndarray, side: str) -> np.ndarray:
        """Limits from one side: at a stored time the last (right) or first (left) of the equal points."""
        if not len(self.t):
            raise ParameterError("the file holds no points")
        k = np.searchsorted(self.t, t, side="right" if side == "right" else "left")
        k = np.clip(k - 1 if side == "right" else k, 0, len(self.t) - 1)
        exact = self.t[k] == t
        left = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, max(len(self.t) - 2, 0))
        if self.discrete or len(self.t) < 2:
            return np.where(exact, self.values[k], self.values[left])
        span = self.t[left + 1] - self.t[left]
        part = np.clip((t - self.t[left]) / np.where(span > 0.0, span, 1.0), 0.0, 1.0)
        return np.where(
            exact, self.values[k], self.values[left] + part * (self.values[left + 1] - self.values[left])
        )

    def affine(self) -> None:
        """None: points are no closed form."""
        return None

    def power_integral(self, a: float, b: float, power: int) -> float:
        """Exact for the straight lines (Simpson's rule)."""
        t, v = self._corners(a, b)
        if self.discrete:
            return float(np.sum(np.diff(t) * v[:-1] ** power))
        middle = 0.5 * (v[:-1] + v[1:])
        return float(np.sum(np.diff(t) * (v[:-1] ** power + 4.0 * middle**power + v[1:] ** power)) / 6.0)

    def _corners(self, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
        """Points of [a, b] with its ends."""
        inside = (self.t > a) & (self.t < b)
        ends = self.at(np.array([a]), "right"), self.at(np.array([b]), "left")
        values = np.concatenate([ends[0], self.values[inside], ends[1]]).astype(float)
        return np.concatenate([[a], self.t[inside], [b]]), values

    def panels(self, a: float, b: float, longest: float) -> Panels:
        """Exact for the straight lines."""
        t, v = self._corners(a, b)
        line = np.flatnonzero(np.diff(t) > 0.0)
        left, right, of = equal_parts(t[line], t[line + 1], longest)
        k = line[of]
        slope = 0.0 if self.discrete else (v[k + 1] - v[k]) / (t[k + 1] - t[k])
        middle, half = 0.5 * (left + right), 0.5 * (right - left)
        return Panels(middle, half, np.stack([v[k] + slope * (middle - t[k]), slope * half], axis=1))
