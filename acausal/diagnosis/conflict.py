"""A set of equations that depend on each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import Location


@dataclass(frozen=True)
class Participant:
    """One equation of a conflict.

    ``role``: "held" (a value that is prescribed from outside), "element" (an equation of a branch in force), "given"
    (prescribes one variable, or holds a known quantity that is not zero), "law", "connection", or "open" (a flow where
    nothing is connected).
    """

    role: str
    text: str
    place: Location
    weight: float
    zeros: tuple[str, ...] = ()
    """Factors in it that are zero although they need not be."""
    factors: tuple[str, ...] = ()
    """Parameters in its factors."""
    nonlinear: bool = False

    @property
    def located(self) -> str:
        """Text with place."""
        return f"{self.text} at {self.place}" if str(self.place) else self.text


@dataclass(frozen=True)
class Conflict:
    """Equations of which a combination vanishes in all unknowns; without any one of them none does.

    ``defect`` is what the combination leaves of the known quantities: zero if one equation follows from the others.
    ``gap`` is the relative change of the factors in its laws that would make these depend on each other.
    """

    members: tuple[Participant, ...]
    defect: float = 0.0
    gap: float = 1.0

    def of(self, *roles: str) -> tuple[Participant, ...]:
        """Members of some roles."""
        return tuple(m for m in self.members if m.role in roles)

    @property
    def paths(self) -> tuple[str, ...]:
        """Components that take part with an equation of their own."""
        return tuple(dict.fromkeys(m.place.path for m in self.of("element", "given", "law")))


def conflict_of(members: Iterable[Participant], defect: float, gap: float = 1.0) -> Conflict:
    """Members in the order of their roles; the defect in the scale of the given quantities."""
    order = ("held", "element", "given", "law", "open", "connection")
    ordered = tuple(sorted(members, key=lambda m: order.index(m.role)))
    size = min((abs(m.weight) for m in ordered if m.role == "given"), default=1.0)
    return Conflict(ordered, abs(defect) / size, gap)
