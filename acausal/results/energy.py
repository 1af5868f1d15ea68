"""Energy through the ports of components: exact along segments, and the share of impulses at instants.

Tellegen's theorem: since potentials are equal and flows sum to zero in every connection,
the energies into all parts of a closed model sum to zero, impulses included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, islice, pairwise

import numpy as np

from ..errors import UnknownPathError, nearest
from ..flattening.flat_model import FlatModel
from ..flattening.template import Template
from ..reduction.rounding import SUMMED
from .power import Instances, generator_of, powers_of
from .record import STARTS, TOGETHER, Jump, MicroStep, Segment, StepColumns
from .recording import Recording
from .segments import window

NEGLIGIBLE = 1e-9
"""Share of the largest energies of a run below which the sum of others is rounding."""
POWERS = "powers into all parts"
MOST_SHOWN = 40
"""Parts in the text of an audit: those with the largest energies."""


@dataclass(frozen=True)
class Part:
    """Energy of one component in J: all of it, and the part that impulses carried."""

    path: str
    energy: float
    impulsive: float


class Audit(tuple[Part, ...]):
    """Energies into the parts of a model, negative for what they gave.

    Whether a part stores what it takes, loses it, or both (a mass with friction), is known to its
    equations alone. The energies themselves are exact, but for the shares of elements that lose energy together within an
    instant: these are those of straight lines between both limits. Where they let an element give energy which stores none,
    no share is determined, but the sum is: it stands in `lost`, and below the printed table.

    Attributes
    ----------
    lost : dict
        Element -> energy in J that it absorbed within instants. Elements that share impulses stand together, "a, b", where
        straight lines between both limits, by which energies of instants are split, make one of them negative. What connections
        lose between parts whose starts contradict each other stands under "contradicting start values".
    """

    lost: dict[str, float]

    def __new__(cls, parts: Iterable[Part] = (), lost: Mapping[str, float] | None = None) -> Audit:
        """Return the audit of some parts."""
        made = super().__new__(cls, parts)
        made.lost = dict(lost or {})
        return made

    def __getnewargs__(self) -> tuple[tuple[Part, ...], dict[str, float]]:
        return tuple(self), self.lost

    @property
    def energy_lost(self) -> float:
        """Energy in J absorbed by all elements within instants."""
        return sum(self.lost.values())

    @property
    def balance(self) -> float:
        """Sum in J over all parts, and of what connections between contradicting starts lose: zero up to rounding.

        After numerical integration up to its tolerance.
        """
        return sum(p.energy for p in self) + self.lost.get(STARTS, 0.0)

    def into(self, path: str) -> float:
        """Return the energy in J into one part, or into all parts inside a component.

        Raises
        ------
        UnknownPathError
            With the nearest parts.
        """
        inside = [p.energy for p in self if p.path == path or p.path.startswith((f"{path}.", f"{path}["))]
        if not inside:
            raise UnknownPathError(
                f"the audit has no part `{path}`", hint=nearest(path, [p.path for p in self])
            )
        return sum(inside)

    def __repr__(self) -> str:
        lines = [f"  {'into':24s} {'energy [J]':>14s} {'impulses [J]':>14s}"]
        order = sorted(range(len(self)), key=lambda k: -abs(self[k].energy))
        shown = [self[k] for k in sorted(order[:MOST_SHOWN])]
        lines += [f"  {p.path:24s} {p.energy:14.6g} {p.impulsive:14.6g}" for p in shown]
        if len(self) > MOST_SHOWN:
            lines.append(f"  and {len(self) - MOST_SHOWN} more")
        lines.append(f"  balance {self.balance:.3g} J, lost within instants {self.energy_lost:.6g} J")
        together = [f"    {path}: {energy:.6g} J" for path, energy in self.lost.items() if TOGETHER in path]
        if together:
            lines.append(
                "  of what these lost together only the sum is determined; the rows split it by straight lines:"
            )
            lines += together[:MOST_SHOWN]
        return "\n".join(lines)


# -- sums over a run -------------------------------------------------------------------------------------------------


def energies(
    result: Recording, instances: Instances, t0: float | None, t1: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Energies of instances in a window, and the part of them that impulses carried; numbered in the order given."""
    a, b = window(t0, t1, result.t_start, result.t_end)
    count = sum(len(at) for _, at in instances)
    flow, impulsive = np.zeros(count), np.zeros(count)
    if not len(result.segments):
        return flow, impulsive
    jumps = jumps_within(result, a, b)
    for powers in powers_of(result.segments.groups[0].readout, instances):
        at = powers.owners
        flow[at] += powers.integral(result.segments, a, b)
        for _, jump, segment in jumps:
            impulsive[at] += powers.at_jump(jump, segment.readout, generator_of(segment.data), segment.moment)
    return flow + impulsive, impulsive


def jumps_within(result: Recording, a: float, b: float) -> list[tuple[float, Jump, Segment]]:
    """Times of parts of jumps in a window, the parts, and the segment that follows each."""
    found = []
    for step in _steps(result, a, b):
        if step.parts:
            which, _ = result.segments.locate(np.array([step.t]), "right")
            segment = result.segments.all[int(which[0])]
            found += [(step.t, part, segment) for part in step.parts]
    return found


def _steps(result: Recording, a: float, b: float) -> list[MicroStep]:
    """Micro-steps in (a, b] that may have moved something; those of the first instant count with what follows it."""
    single = (
        islice(block, count)
        for block, _, count in result.steps.blocks()
        if not isinstance(block, StepColumns)
    )
    return [s for s in chain.from_iterable(single) if a < s.t <= b or s.t == a == result.t_start]


def energy_into(result: Recording, path: str, t0: float | None, t1: float | None) -> float:
    """Energy in J that flowed into one component."""
    k, i = result.names.batch_of(path)
    if not result.names.flat.batches[k].template.powers:
        return 0.0
    return float(energies(result, [(k, np.array([i]))], t0, t1)[0][0])


def audit(result: Recording, t0: float | None, t1: float | None) -> Audit:
    """Energies into all parts that are not made of parts with ports."""
    names = result.names
    each = leaves(names.flat)
    total, impulsive = energies(result, each, t0, t1)
    places = [(k, i) for k, at in each for i in at.tolist()]
    parts = [
        Part(names.flat.path(k, i), float(e), float(j))
        for (k, i), e, j in zip(places, total, impulsive, strict=True)
    ]
    a, b = window(t0, t1, result.t_start, result.t_end)
    lost: dict[str, float] = {}
    for path, energy in (entry for step in _steps(result, a, b) for entry in step.lost):
        lost[path] = lost.get(path, 0.0) + energy
    return Audit(sorted(parts, key=lambda p: p.path), lost)


def leaves(flat: FlatModel) -> list[tuple[int, np.ndarray]]:
    """Instances with ports that are not made of parts with ports."""
    return [
        (k, s.instances)
        for k, s in enumerate(flat.batches)
        if s.template.powers and not _takes_power_inside(s.template)
    ]


CUT = 0.6180339887498949
"""Part of a run, and of a segment, after which energies are counted anew: after whole periods they are back where they were,
however large they are in between. No period divides a run like this."""


def balances(result: Recording, times: np.ndarray) -> list[tuple[str, float, float, float]]:
    """(what, time, sum, sum of the magnitudes) of the energies into all parts: of the run and of every instant with a jump.

    Magnitudes of a run are those of two parts of it, where they are largest, or of an instant.

    Of a run that was integrated, the powers where they balance worst among ``times`` are taken in place of energies.
    """
    parts = leaves(result.names.flat)
    if not parts or not result.t_start < result.t_end:
        return []
    found = _energies_of_instants(result, parts)
    # Energies and powers are not compared with each other.
    largest = max((entry[3] for entry in found), default=0.0)
    if all(g.flow or not result.segments.length[g.members].any() for g in result.segments.groups):
        whole = _energies_of_run(result, parts, largest)
        largest = max(largest, whole[3])
    else:
        whole = _worst_power(result, parts, times)
    return [whole, *(entry for entry in found if entry[3] > NEGLIGIBLE * largest)]


def _energies_of_run(
    result: Recording, parts: list[tuple[int, np.ndarray]], least: float
) -> tuple[str, float, float, float]:
    """The same of the run, with at least some magnitude."""
    # What nothing determines at the start is left out, with all of that instant.
    lost, begin = lost_by_starts(result), result.t_start
    if np.isnan(lost):
        lost, begin = 0.0, float(np.nextafter(begin, np.inf))
    cuts = result.t_start + CUT * (result.t_end - result.t_start), _within_busiest(result, parts)
    edges = sorted({begin, *(t for t in cuts if begin < t < result.t_end), result.t_end})
    windows = np.array([energies(result, parts, a, b)[0] for a, b in pairwise(edges)])
    sums = [np.abs([windows[:k].sum(axis=0), windows[k:].sum(axis=0)]).sum() for k in range(len(windows))]
    total, size = abs(float(windows.sum()) + lost), max(*map(float, sums), least) + abs(lost)
    if total > NEGLIGIBLE * size:
        total = max(0.0, total - _rounded(result, parts))
    return "energies into all parts", result.t_end, total, size


def _rounded(result: Recording, parts: list[tuple[int, np.ndarray]]) -> float:
    """By how much rounding of what is read from states may move the energies of the run."""
    segments = result.segments
    each = powers_of(segments.groups[0].readout, parts)
    return sum(powers.rounding(segments, CUT * segments.length) for powers in each)


def _within_busiest(result: Recording, parts: list[tuple[int, np.ndarray]]) -> float:
    """A time within the segment in which parts exchange most: what is lent there may be back at its end, and stay there."""
    segments = result.segments
    h = CUT * segments.length
    exchanged = np.zeros(len(segments))
    for powers in powers_of(segments.groups[0].readout, parts):
        exchanged += segments.length * np.abs(powers.within(segments, h)).sum(axis=1)
    k = int(np.argmax(exchanged))
    return float(segments.start[k] + h[k])


def _worst_power(
    result: Recording, parts: list[tuple[int, np.ndarray]], times: np.ndarray
) -> tuple[str, float, float, float]:
    """The same of the powers at the time where they balance worst, in proportion to the largest of all times."""
    segments = result.segments
    found = powers_of(segments.groups[0].readout, parts)
    which, hs = segments.locate(times[times < result.t_end], "right")
    count = sum(len(at) for _, at in parts)
    t, total, size = [], [], []
    for k in np.unique(which).tolist():
        s, at = segments.all[k], hs[which == k]
        ys = s.trajectory.sample(at)
        into, terms = np.zeros((2, len(at), count))
        for powers in found:
            into[:, powers.owners] += powers.along(s, ys, at)
            terms[:, powers.owners] += powers.bounds(s, ys, at)
        t.append(s.start + at)
        total.append(np.maximum(np.abs(into.sum(axis=1)) - SUMMED * terms.sum(axis=1), 0.0))
        # Where no part gives or takes anything, rounding of the products is all there is, in their sum too.
        size.append(np.maximum(np.abs(into), NEGLIGIBLE * terms).sum(axis=1))
    sums = np.concatenate(total) if total else np.zeros(1)
    worst = int(np.argmax(np.where(np.isnan(sums), np.inf, sums)))
    at_worst = float(np.concatenate(t)[worst]) if t else result.t_start
    return POWERS, at_worst, float(sums[worst]), float(np.max(np.concatenate(size))) if size else 0.0


def _energies_of_instants(
    result: Recording, parts: list[tuple[int, np.ndarray]]
) -> list[tuple[str, float, float, float]]:
    """The same within every instant with a jump, with what connections between contradicting starts lose."""
    found = powers_of(result.segments.groups[0].readout, parts)
    instants: dict[float, list[np.ndarray]] = {}
    for t, jump, segment in jumps_within(result, -np.inf, result.t_end):
        carried = instants.setdefault(t, [])
        carried += [
            powers.at_jump(jump, segment.readout, generator_of(segment.data), segment.moment)
            for powers in found
        ]
    if result.t_start in instants:
        instants[result.t_start].append(np.array([lost_by_starts(result)]))
    sums = [(t, np.concatenate(energies)) for t, energies in instants.items() if energies]
    return [
        ("energies within the instant", t, float(e.sum()), float(np.abs(e).sum()))
        for t, e in sums
        if not np.isnan(e).any()
    ]


def unknown_at_start(result: Recording) -> list[str]:
    """Parts into which starts that contradict each other carry energy that nothing determines."""
    if not np.isnan(lost_by_starts(result)):
        return []
    return [p.path for p in audit(result, None, None) if np.isnan(p.impulsive)]


def lost_by_starts(result: Recording) -> float:
    """Energy that connections between parts lose whose starts contradict each other."""
    first = _steps(result, result.t_start, result.t_start)
    return sum(energy for step in first for path, energy in step.lost if path == STARTS)


def _takes_power_inside(template: Template) -> bool:
    """Whether a sub-component has ports; one that only computes, such as a signal block, takes nothing."""
    return any(g.template.powers or _takes_power_inside(g.template) for g in template.groups)
