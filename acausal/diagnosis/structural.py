"""What no numbers can mend: equations that determine too much, and unknowns that are left without."""

from __future__ import annotations

import numpy as np

from ..errors import Location, SingularModelError
from ..flattening.flat_model import FlatModel
from ..flattening.open_ports import ports
from ..flattening.unbalanced import MOST_UNMATCHED, Unbalanced, Written
from ..structure.decomposition import decompose
from ..structure.incidence import Incidence
from ..values import frozen
from .equations import Equations
from .wording import MOST_NAMED, quoted


@frozen
class _Parts:
    """The parts of the Dulmage-Mendelsohn decomposition of a model, by number and in words."""

    equations: Equations
    surplus: list[int]
    lacking: list[int]
    words: Unbalanced

    @classmethod
    def of(cls, equations: Equations) -> _Parts:
        """Decompose equations as they are written; a variable and its derivative count as one unknown."""
        flat = equations.flat
        unknown = np.setdiff1d(np.arange(flat.nv), sorted(equations.inputs))
        whole = Incidence.from_pairs(equations.row, equations.col, (len(equations), flat.nv))
        parts = decompose(whole.restricted(np.arange(len(equations)), unknown))

        def ordered(rows: np.ndarray) -> list[int]:
            return sorted(rows.tolist(), key=lambda k: (equations.is_connection(k), k))

        def stated(rows: list[int]) -> tuple[Written, ...]:
            return tuple(Written(equations.written(k), equations.place(k)) for k in rows)

        def names(columns: list[int]) -> tuple[str, ...]:
            return tuple(flat.variable(v) for v in columns)

        surplus, shared = ordered(parts.over.equations), ordered(parts.under.equations)
        lacking = unknown[parts.under.unknowns].tolist()
        over = unknown[parts.over.unknowns].tolist()
        words = Unbalanced(stated(surplus), names(over), names(lacking), stated(shared))
        return cls(equations, surplus, lacking, words)


def structurally_singular(flat: FlatModel, parameters: np.ndarray, at: str) -> SingularModelError | None:
    """Return the error for a model whose equations cannot be matched with its unknowns; None if they can.

    Parameters
    ----------
    flat : FlatModel
    parameters : ndarray
        Values of all parameters.
    at : str
        Activity and time, as the begin of the sentence.
    """
    parts = _Parts.of(Equations(flat, parameters=parameters))
    words = parts.words
    if not (words.surplus or words.lacking):
        return None
    if words.surplus and _only_flows(flat, parts.lacking):
        return _held_too_often(parts, at)
    names = ", ".join(f"`{name}`" for name in words.lacking[:MOST_UNMATCHED])
    return SingularModelError(
        f"{at}no unique solution: {f'nothing is left to determine {names}' if names else 'too many equations'}",
        where=[w.place for w in (*words.surplus, *words.shared)][:MOST_UNMATCHED],
        why=words.reason,
        hint=words.remedy,
        about=(*words.overdetermined[:MOST_UNMATCHED], *words.lacking[:MOST_UNMATCHED]),
    )


def _only_flows(flat: FlatModel, variables: list[int]) -> bool:
    """True when flows of ports are among some variables, and no potentials."""
    wanted, flows = set(variables), 0
    for port in ports(flat):
        for k, f in enumerate(port.kind.fields().values(), port.first):
            if k in wanted and not f.flow:
                return False
            flows += k in wanted
    return flows > 0


def _held_too_often(parts: _Parts, at: str) -> SingularModelError:
    """Parts prescribe each other's potentials more often than needed, so that the flows between them are open."""
    e = parts.equations
    places: dict[str, Location] = {}
    for k in parts.surplus:
        if not e.is_connection(k):
            places.setdefault(e.path(k) or e.flat.label, e.place(k))
    names = quoted(list(places))
    return SingularModelError(
        f"{at}no unique solution: {names} hold each other more often than needed",
        where=list(places.values())[:MOST_NAMED],
        why=f"{quoted(parts.words.overdetermined)} are determined more than once,"
        f" and nothing is left to determine {quoted(parts.words.lacking)}",
        about=(*places, *parts.words.overdetermined[:MOST_NAMED], *parts.words.lacking[:MOST_NAMED]),
        hint=f"leave out one of {names}, or a connection of them, let one of them move, or give one some compliance",
    )
