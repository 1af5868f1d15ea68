"""Names of a compiled model: paths and handles to variables, elements to branches, triggers to text."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from functools import cached_property
from typing import Any

import numpy as np

from ..compilation.discrete import Sample, Stop
from ..errors import DeclarationError, UnknownPathError, nearest
from ..flattening.integer_parts import HeldPart
from ..flattening.template import Located, look_up
from ..modeling.component import Component, existing_parts
from ..modeling.expressions import Expr, Symbol
from ..modeling.fields import Field
from ..modeling.ports import PortRef
from ..reduction.core import model_relation
from ..reduction.reduced_model import ReducedModel


class Names:
    """Looks up paths and handles, and writes numbers of the engine as text."""

    def __init__(
        self, model: ReducedModel, root: Component | None, samples: tuple[Sample, ...], stop: Stop
    ) -> None:
        self.model, self.flat, self.root, self.samples, self.stop = model, model.flat, root, samples, stop
        self._owners: dict[int, tuple[Component, str]] = {}

    # -- paths and handles ---------------------------------------------------------------------------------------

    def path(self, what: Any) -> str:
        """Return the path that a string, a symbol, a port field or ``der(symbol)`` stands for.

        Raises
        ------
        UnknownPathError
            For a handle whose component is no part of the compiled model.
        """
        if isinstance(what, str):
            return what
        if isinstance(what, Symbol):
            owner = self.component(what.owner)
            return f"{owner}.{what.name}" if owner else what.name
        if isinstance(what, Expr) and what.op == "der":
            return f"der({self.path(what.args[0])})"
        hint = 'give a path such as "load.v" or a handle such as model.load.v'
        if isinstance(what, PortRef):
            raise DeclarationError(f"{what!r} is a port, not a variable", hint=hint)
        raise DeclarationError(f"{what!r} ({type(what).__name__}) names no variable", hint=hint)

    def component(self, obj: Any) -> str:
        """Return the path of a component object of the compiled model, or a path as it is."""
        if isinstance(obj, str):
            return obj
        if self.root is None:
            raise UnknownPathError(
                f"a loaded result knows paths, not handles: {obj!r}", hint='give the path, such as "load.v"'
            )
        found = self._owners.get(id(obj))
        if found is None:
            self._owners = {id(o): (o, path) for path, o in existing_parts(self.root)}
            found = self._owners.get(id(obj))
        if found is None:
            raise UnknownPathError(
                f"this {type(obj).__name__} is no part of the compiled {self.flat.label}",
                why="handles are resolved by the identity of their component, not by name",
                hint="take the handle from the object that was compiled, or give the path",
            )
        return found[1]

    def find(self, what: Any) -> Located:
        """Return what a path or handle names."""
        return look_up(self.flat.root, self.path(what))

    @cached_property
    def signature(self) -> str:
        """Checksum of what a model consists of, but for what ends its runs."""
        ending, ticking = set(self.stop.relations.tolist()), set(self.stop.samples.tolist())
        relations = [self.relation(n) for n in range(self.model.nr) if n not in ending]
        texts = [self.flat.label, self.variables, self.discretes, self.elements, relations]
        samples = [self.sample(k) for k in range(len(self.samples)) if k not in ticking]
        return hashlib.sha256(repr([*texts, samples]).encode()).hexdigest()

    def continues(self, earlier: Names) -> bool:
        """Whether a run of this model can go on from the end of one of the earlier."""
        if earlier.root is not None:
            return earlier.root is self.root
        if self.signature != earlier.signature:
            return False
        a, b = self.model.W_core, earlier.model.W_core
        # What a condition reads stays in the core.
        return bool(len(self.stop.memory) + len(earlier.stop.memory)) or (
            a.shape == b.shape
            and all(np.array_equal(getattr(a, n), getattr(b, n)) for n in ("data", "indices", "indptr"))
        )

    @cached_property
    def variables(self) -> list[str]:
        """Paths of all continuous variables."""
        return [self.flat.variable(k) for k in range(self.flat.nv)]

    @cached_property
    def _sorted(self) -> tuple[list[str], list[int]]:
        """Names of all variables in the order of their letters, and their numbers."""
        order = sorted(range(len(self.variables)), key=self.variables.__getitem__)
        return [self.variables[x] for x in order], order

    def inside(self, path: str) -> tuple[int | None, list[int]]:
        """The variable of a path, if it names one, and all variables of the component of that path, if it names one."""
        names, numbers = self._sorted
        if not path:
            return None, numbers
        at = bisect_left(names, path)
        own = numbers[at] if at < len(names) and names[at] == path else None
        # In a path a component ends with a dot, and "/" follows that.
        return own, numbers[bisect_left(names, f"{path}.") : bisect_left(names, f"{path}/")]

    @cached_property
    def discretes(self) -> list[str]:
        """Paths of all discrete variables, those of elements included."""
        return [self.flat.discrete(k) for k in range(self.flat.nd)]

    @cached_property
    def held(self) -> dict[int, str]:
        """Discretes that tables and integer parts were given -> what they are a part of, with its component."""
        found: dict[int, str] = {}
        for k, i in self.flat.instances():
            s = self.flat.batches[k]
            path = self.flat.path(k, i)
            for name, field in s.template.discretes.items():
                slot = s.template.index("d", name)
                if isinstance(field, HeldPart) and slot is not None:
                    found[int(s.db[i]) + slot] = field.of + (f" in {path}" if path else "")
        return found

    @cached_property
    def pieces(self) -> np.ndarray:
        """Discretes that say in which piece a table is, and that are integer parts."""
        found = [np.zeros(0, np.int64)]
        for s in self.flat.batches:
            for name, field in s.template.discretes.items():
                slot = s.template.index("d", name)
                if isinstance(field, HeldPart) and not field.searched and slot is not None:
                    found.append(s.db + slot)
        return np.concatenate(found)

    @cached_property
    def declared(self) -> list[str]:
        """Paths of the variables and discretes that users, or the library, have declared."""
        return [*self.variables, *(path for k, path in enumerate(self.discretes) if k not in self.held)]

    @cached_property
    def states(self) -> list[str]:
        """Paths of the differentiated variables, one per core unknown."""
        W = self.model.W
        seen: dict[int, str] = {}
        for x in np.flatnonzero(self.model.differentiated).tolist():
            if W.indptr[x + 1] - W.indptr[x] == 1:
                seen.setdefault(int(W.indices[W.indptr[x]]), self.flat.variable(x))
        return list(seen.values())

    def batch_of(self, path: str) -> tuple[int, int]:
        """Return (batch, instance) of a component by its path.

        Raises
        ------
        UnknownPathError
            With the nearest components.
        """
        template, bases = self.flat.root, [0, 0, 0]
        for step in path.split(".") if path else ():
            found = template.child(step)
            if found is None:
                known = [p for p, _, _ in self.flat.root.children()]
                raise UnknownPathError(f"no component is named `{path}`", hint=nearest(path, known))
            group, row = found
            offsets = (group.voff[row], group.poff[row], group.doff[row])
            bases = [b + int(o) for b, o in zip(bases, offsets, strict=True)]
            template = group.template
        for k, s in enumerate(self.flat.batches):
            if s.template is template:
                same = (s.vb == bases[0]) & (s.pb == bases[1]) & (s.db == bases[2])
                return k, int(np.flatnonzero(same)[0])
        raise UnknownPathError(f"no component is named `{path}`")

    # -- elements ------------------------------------------------------------------------------------------------

    @cached_property
    def elements(self) -> list[tuple[str, tuple[str, ...]]]:
        """Path of the mode variable and names of the branches, per element."""
        found = []
        for rows, i in self.flat.each(self.model.elements):
            branches = tuple(rows.forms.statement.table.branches[b].name for b in rows.shown)
            found.append((self.flat.name_in(rows.batch, i, rows.forms.statement.name), branches))
        return found

    @cached_property
    def choices(self) -> frozenset[str]:
        """Names of elements that have no branch before the start: ``If``, and equations with comparisons in a loop."""
        kinds = [rows.forms.statement.table.kind for rows, _ in self.flat.each(self.model.elements)]
        return frozenset(
            path for (path, _), kind in zip(self.elements, kinds, strict=True) if kind in ("if", "relation")
        )

    @cached_property
    def mode_variables(self) -> dict[int, tuple[str, ...]]:
        """Discrete numbers of the mode variables of the elements -> names of the branches."""
        found: dict[int, tuple[str, ...]] = {}
        for rows in self.model.elements:
            s, statement = self.flat.batches[rows.batch], rows.forms.statement
            branches = tuple(b.name for b in statement.table.branches)
            slot = s.template.index("d", statement.name)
            if slot is None:
                continue
            numbers = s.db + slot
            found.update(dict.fromkeys(numbers.tolist(), branches))
        return found

    def codes(self, d: int, field: Field) -> dict[int, str]:
        """Return the names of the codes of a discrete: those of branches for a mode variable, empty for numbers."""
        members = member_names(field)
        return dict(enumerate(self.mode_variables[d])) if members and d in self.mode_variables else members

    # -- triggers ------------------------------------------------------------------------------------------------

    @cached_property
    def state_relations(self) -> list[int]:
        """Numbers of the relations that are not affine in time alone."""
        return [n for n in range(self.model.nr) if not self.model.relation_at(n)[0].relation.timed]

    @cached_property
    def timed_relations(self) -> list[int]:
        """Numbers of the relations that time decides."""
        return [n for n in range(self.model.nr) if self.model.relation_at(n)[0].relation.timed]

    def relation(self, number: int) -> str:
        """Return a relation as written, with its component."""
        rows, i = self.model.relation_at(number)
        path = self.flat.path(rows.batch, i)
        return f"{rows.relation.node}" + (f" in {path}" if path else "")

    @cached_property
    def deciding(self) -> dict[int, str]:
        """Relations that select the branch of equations in a loop -> what these determine."""
        found: dict[int, str] = {}
        for e, i in self.flat.each(e for e in self.model.elements if e.forms.replaced):
            for k in e.forms.conditions:
                name = self.flat.name_in(e.batch, i, e.forms.statement.name)
                found[model_relation(self.model, e.batch, k) + i] = name
        return found

    def sample(self, k: int) -> str:
        """Return the k-th sampled condition as written, with its component."""
        s = self.samples[k]
        path = self.flat.path(s.batch, s.instance)
        return f"{s.node}" + (f" in {path}" if path else "")


def value_of(field: Field, code: float) -> Any:
    """Return the value that the code of a discrete variable stands for: bool, int, float or the name of a member."""
    kind = getattr(field, "type", float)
    names = member_names(field)
    if names:
        return names.get(int(code), int(code))
    return kind(code)


def member_names(field: Field) -> dict[int, str]:
    """Return the names of the codes of an enumeration, empty for other fields."""
    from ..modeling.expressions import enum_index

    kind: Any = getattr(field, "type", None)
    return {enum_index(m): m.name for m in kind} if hasattr(kind, "__members__") else {}
