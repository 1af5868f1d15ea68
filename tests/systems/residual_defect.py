"""How well a result satisfies the equations as written: the residual over the largest term of every equation."""

import casadi as ca
import numpy as np

from acausal import Residual, Result
from acausal.compilation.residual_modes import ModeEntry


class Defects:
    """Residual of a result, and the terms it is measured by, at times with a side each.

    A relation that equations read is constant between events: its value at a time is the one at the middle of the
    stretch between events on the chosen side. Modes, discrete variables and all continuous variables come
    from the signals of the result.
    """

    def __init__(self, residual: Residual, result: Result) -> None:
        r = residual
        self.residual, self.result = residual, result
        self.p = np.array([result[n].at(result.t_start) for n in r.p.names], float)
        t, z = ca.SX.sym("t"), [ca.SX.sym(n, len(q)) for n, q in (("xdot", r.x), ("x", r.x), ("w", r.w))]
        rest = [ca.SX.sym(n, len(q)) for n, q in (("u", r.u), ("p", r.p), ("d", r.d), ("m", r.m))]
        columns, origin = ca.vertcat(*z), [ca.SX.zeros(a.numel()) for a in z]
        value = r.F(t, *z, *rest)[0]
        # A term is a derivative times its variable; what no variable multiplies is left at the origin.
        slopes = ca.jacobian(value, columns)
        self._terms = ca.Function("terms", [t, *z, *rest], [value, slopes, r.F(t, *origin, *rest)[0]])
        self._units = [*(f"{a}/s" for a in r.x.units), *r.x.units, *r.w.units]
        # Segments end at the kinks of sources too, which count as no events.
        self.edges = np.unique(np.concatenate([result.segments.start, [result.t_end]]))

    def arguments(self, t: np.ndarray, side: str, m: np.ndarray | None = None) -> list[tuple]:
        """Arguments of the functions of the residual at some times; the mode is that of the result by default."""
        m = self.modes(t, side) if m is None else m
        return list(zip(*self._values(t, side), m, strict=True))

    def _values(self, t: np.ndarray, side: str) -> list[np.ndarray]:
        r = self.residual
        slopes = tuple(f"der({n})" for n in r.x.names)

        def signals(names: tuple[str, ...]) -> np.ndarray:
            found = [np.asarray(self.result[n].at(t, side=side), float) for n in names]
            return np.array(found).reshape(len(names), len(t)).T

        found = [signals(n) for n in (slopes, r.x.names, r.w.names, r.u.names)]
        return [t, *found, np.tile(self.p, (len(t), 1)), signals(r.d.names)]

    def modes(self, t: np.ndarray, side: str) -> np.ndarray:
        """Mode vectors, shape (times, entries)."""
        r = self.residual
        m = np.zeros((len(t), len(r.modes)))
        elements = [k for k, entry in enumerate(r.modes) if entry.kind != "relation"]
        for k in elements:
            m[:, k] = branches(r.modes[k], np.asarray(self.result[r.modes[k].name].at(t, side=side)))
        if len(elements) < len(r.modes):
            at = np.searchsorted(self.edges, t, side="left" if side == "left" else "right")
            at = np.clip(at, 1, len(self.edges) - 1)
            middle = 0.5 * (self.edges[at - 1] + self.edges[at])
            for n, arguments in enumerate(self.arguments(middle, side, m)):
                m[n] = r.relations_at(*arguments)
        return m

    def worst(self, points: list[tuple[np.ndarray, str]]) -> tuple[np.ndarray, np.ndarray]:
        """Largest absolute residual and largest term of every equation over times with a side each."""
        arguments = [a for t, side in points for a in self.arguments(t, side)]
        z = abs(np.array([np.concatenate(a[1:4]) for a in arguments]))
        # A millionth of what flows or lies across elsewhere counts as a term: below it the values are rounding.
        units: dict[str, float] = {}
        for unit, size in zip(self._units, z.max(axis=0), strict=True):
            units[unit] = max(units.get(unit, 0.0), float(size))
        floor = 1e-6 * np.array([units[u] for u in self._units])
        residuals, terms = [], []
        for a, size in zip(arguments, z, strict=True):
            value, slopes, known = (abs(np.array(b)) for b in self._terms(*a))
            known = np.where(np.isfinite(known), known, 0.0)
            residuals.append(value.ravel())
            terms.append(np.concatenate([slopes * np.maximum(size, floor), known], axis=1).max(axis=1))
        return np.max(residuals, axis=0), np.max(terms, axis=0)


def branches(entry: ModeEntry, value: np.ndarray) -> np.ndarray:
    """Branches for values of a mode variable; disabled elements obey the equation of those that are off."""
    if entry.true_branch is None:
        return value.astype(int)
    return np.where(value.astype(bool), entry.true_branch, 1 - entry.true_branch)


def defect(residual: Residual, result: Result, times: np.ndarray, events: int | None = None) -> float:
    """Largest residual over the run, each equation scaled by its largest term in the run.

    Looked at are both limits of every event, or of some that are chosen by chance, and the given times. An equation
    all of whose terms vanish must vanish too.
    """
    d = Defects(residual, result)
    if not len(residual.equations):
        return 0.0
    edges = d.edges
    if events is not None and len(edges) > events:
        edges = np.sort(np.random.default_rng(1).choice(edges, events, replace=False))
    # No stretch follows the end, so that relations after an event there are not known.
    after = np.unique(np.concatenate([times, edges]))
    before = edges[edges > result.t_start]
    value, largest = d.worst([(after[after < result.t_end], "right"), (before, "left")])
    assert (value[largest == 0.0] == 0.0).all()
    return float(np.max(value / np.where(largest == 0.0, 1.0, largest)))
