"""Numbers in place: the affine core of a reduced model for one set of parameters and discrete values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from ..errors import NonFiniteError
from ..flattening.flat_model import VECTOR, kind_of
from ..flattening.locating import locate_symbol
from ..modeling.expressions import Expr, Symbol, fold
from ..values import frozen
from .affine import Rows
from .exosystem import PIECE_DEGREE, Term
from .reduced_model import Factor, FormRows, Known, ReducedModel, Sparse

NOTHING = np.zeros(0, np.int64), np.zeros(0, np.int64)
"""Discretes and relations that expressions of parameters read."""
TANGENT_STATES = 3
"""States ``tau^3/6``, ``tau^2/2`` and ``tau`` at the end of the exosystem of a model with nonlinear rows: the time since the
point where an affine model linearises it, zero there (see `linearize`)."""


Made = TypeVar("Made")


@frozen
class Values:
    """Numbers that expressions may read: parameters, discretes, relations."""

    P: np.ndarray
    D: np.ndarray
    R: np.ndarray
    homotopy: float = 1.0
    """Share of the actual parts of homotopies; less than one only on the way to the start."""
    kept: dict[Any, tuple[Any, Any]] | None = None
    """What was made before with these parameters, and the discretes, the relations and what else it was made of."""

    def still(
        self, key: Any, read: tuple[np.ndarray, np.ndarray], make: Callable[[], Made], rest: Any = None
    ) -> Made:
        """Return what was kept if no discrete, no relation and nothing of the ``rest`` that it is made of has changed since.

        Else return what ``make`` returns.
        """
        if self.kept is None:
            return make()
        discretes, relations = read
        state = self.D[discretes].tobytes(), self.R[relations].tobytes(), rest
        found = self.kept.get(key)
        if found is None or found[0] != state:
            found = self.kept[key] = state, make()
        return found[1]


def evaluate(
    model: ReducedModel, batch: int, expr: Expr, values: Values, instances: np.ndarray | None = None
) -> np.ndarray:
    """Evaluate an expression without continuous variables for all, or some, instances of a batch."""
    forms, s = model.forms[batch], model.flat.batches[batch]
    at = s.instances if instances is None else instances

    def relation(node: Expr) -> np.ndarray | None:
        k = forms.relation_at.get(id(node))
        return None if k is None else (values.R[model_relation(model, batch, k) + at] != 0.0).astype(float)

    def leaf(node: Expr) -> Any:
        if isinstance(node, Symbol):
            kind = kind_of(node)
            k = locate_symbol(s.template, kind, node)
            return values.P[s.pb[at] + k] if kind == "p" else values.D[s.db[at] + k]
        return np.float64(node.data or 0.0)  # which divides by zero as arrays do

    def apply(node: Expr, args: list[Any]) -> Any:
        if node.op == "pre":
            return args[0]
        found = np.asarray(VECTOR[node.op](*args))
        # What is true counts as one, also where it is added.
        return found.astype(float) if found.dtype == bool else found

    def side(node: Expr) -> Expr | None:
        decided = relation(node.args[0]) if node.op == "if_else" else None
        if decided is None or decided.any() != decided.all():
            return None
        return node.args[1 if decided.all() else 2]

    with np.errstate(all="ignore"):
        found = fold(expr, leaf, apply, relation, instead=side)
        return np.broadcast_to(np.asarray(found, float), at.shape)


def evaluate_changed(model: ReducedModel, batch: int, expr: Expr, values: Values) -> np.ndarray:
    """The same for an expression of the model, evaluated only if something that it reads has changed."""
    read = model.reads(batch, expr)
    return values.still((batch, id(expr)), read, lambda: evaluate(model, batch, expr, values))


def model_relation(model: ReducedModel, batch: int, local: int) -> int:
    """Return the number of the first instance of a relation of a batch."""
    return model.relation_first[batch][local]


@frozen
class Exosystem:
    """All time-dependent known expressions as states xi, xi' = S xi; xi[0] = 1 carries the static ones."""

    S: np.ndarray
    K: Sparse
    """Known values (nk, q) from the states."""
    blocks: tuple[tuple[int, int, int, Term | None], ...]
    """(first state, known number, count of instances, term): chains of ``term.states`` states per instance."""
    static: np.ndarray
    """Values of the static known expressions (nk,), zero elsewhere."""


def build_exosystem(
    model: ReducedModel, values: Values, input_degrees: tuple[int, ...], piece_time: float
) -> Exosystem:
    """Number the exosystem states and set up their generator; the same object as long as nothing in it changes.

    ``input_degrees``: per open input the degree of the polynomial pieces it is fed with.
    ``piece_time``: time unit of the chains of general functions, so that their entries stay comparable.
    """
    given = input_degrees, piece_time
    return values.still("exosystem", model.rates, lambda: _exosystem(model, values, *given), given)


def _exosystem(
    model: ReducedModel, values: Values, input_degrees: tuple[int, ...], piece_time: float
) -> Exosystem:
    from scipy.sparse import csr_array

    static = values.still("static", NOTHING, lambda: _static_values(model, values))
    blocks: list[tuple[int, int, int, Term | None]] = []
    firsts: list[tuple[int, int]] = []
    parts: list[tuple[int, np.ndarray]] = []
    q = 1
    for known, term, generators in _chains(model, values, input_degrees, piece_time):
        blocks.append((q, known, len(generators), term))
        for i, generator in enumerate(generators):
            firsts.append((known + i, q))
            parts.append((q, generator))
            q += len(generator)
    if model.nonlinear:
        q += TANGENT_STATES
    S = np.zeros((q, q))
    for first, generator in parts:
        S[first : first + len(generator), first : first + len(generator)] = generator
    if model.nonlinear:
        S[q - 3, q - 2] = S[q - 2, q - 1] = S[q - 1, 0] = 1.0
    entries = np.array([*firsts, *((k, 0) for k in np.flatnonzero(static))], np.int64).reshape(-1, 2)
    data = np.concatenate([np.ones(len(firsts)), static[static != 0.0]])
    K = csr_array((data, (entries[:, 0], entries[:, 1])), shape=(model.nk, q))
    return Exosystem(S, K, tuple(blocks), static)


def _static_values(model: ReducedModel, values: Values) -> np.ndarray:
    """Values of the static known expressions (nk,), zero elsewhere."""
    found = np.zeros(model.nk)
    for known in model.knowns:
        if known.static:
            own = evaluate(model, known.batch, known.expr, values)
            if not np.isfinite(own).all():
                raise _known_not_finite(model, known, own)
            found[known.first : known.first + known.count] = own
    return found


def _chains(
    model: ReducedModel, values: Values, input_degrees: tuple[int, ...], piece_time: float
) -> Iterator[tuple[int, Term | None, list[np.ndarray]]]:
    """Chains of states: the first known number they are for, the term, and a generator for each instance of it."""
    for known in model.knowns:
        for term in known.terms:
            rates = [0.0] * known.count
            if term.rate is not None:
                rates = evaluate_changed(model, known.batch, term.rate, values).tolist()
            yield known.first, term, [_generator(term.kind, term.states, r, piece_time) for r in rates]
    for (_, _, known_number), degree in zip(model.inputs, input_degrees, strict=True):
        kind = "pieces" if degree > 1 else "polynomial"
        yield known_number, None, [_generator(kind, degree + 1, 0.0, piece_time)]


def _generator(kind: str, n: int, rate: float, unit: float) -> np.ndarray:
    if kind == "sinusoid":
        return np.array([[0.0, 1.0], [-(rate**2), 0.0]])
    if kind == "exponential":
        return np.array([[rate]])
    return np.diag(np.full(n - 1, 1.0 / unit if n > PIECE_DEGREE else 1.0), 1)


@frozen
class CoreMatrices:
    """All form rows and the core equations over the core unknowns.

    ``forms``: every affine form of the model; ``base``: the equations of the core.
    """

    forms: Rows
    base: Rows
    exosystem: Exosystem


def core_matrices(
    model: ReducedModel, values: Values, exosystem: Exosystem, sparse: bool = False
) -> CoreMatrices:
    """Evaluate all factors and gather them over the core unknowns, in dense matrices or in sparse ones by rows.

    Raises
    ------
    NonFiniteError
        When a coefficient is infinite or not a number.
    """
    from scipy.sparse import csr_array

    steady, changing = model.factors
    if sparse:
        # Adding sparse matrices takes as long as making them.
        steady, changing = (), (*steady, *changing)
    given = exosystem, sparse
    known, variables, kept = values.still(
        "sources", NOTHING, lambda: _source_rows(model, exosystem, sparse), given
    )
    over = model.W_core, variables

    def begun() -> list[Any]:
        empty = csr_array((model.n_rows, model.W_core.shape[1]))
        first = [part if sparse else part.toarray() for part in (empty, empty, known)]
        return _added(first, _places(model, steady, *over), _numbers(model, steady, values))

    forms = values.still("forms", NOTHING, begun, given)
    if changing:
        places = values.still("places", NOTHING, lambda: _places(model, changing, *over), given)
        forms = _added(forms, places, _numbers(model, changing, values))
    base = (_stacked(own[model.staying], more) for own, more in zip(forms, kept, strict=True))
    return CoreMatrices(Rows(*forms), Rows(*base), exosystem)


@frozen
class _Places:
    """Where numbers enter a matrix: ``weight`` times a number is added at (row, column)."""

    number: np.ndarray
    row: np.ndarray
    column: np.ndarray
    weight: np.ndarray
    shape: tuple[int, int]

    def added(self, matrix: Any, numbers: np.ndarray) -> Any:
        """A new matrix, dense or sparse as the one given."""
        values, at = self.weight * numbers[self.number], (self.row, self.column)
        if isinstance(matrix, np.ndarray):
            found = matrix.copy()
            np.add.at(found, at, values)
            return found
        from scipy.sparse import csr_array

        found = csr_array((values, at), shape=self.shape)
        return matrix + found if matrix.nnz else found


def _added(matrices: Iterable[Any], places: tuple[_Places, ...], numbers: np.ndarray) -> list[Any]:
    return [p.added(matrix, numbers) for p, matrix in zip(places, matrices, strict=True)]


def _places(
    model: ReducedModel, factors: tuple[Factor, ...], W: Sparse, known: Sparse
) -> tuple[_Places, ...]:
    """Where factors enter the forms, over derivatives, values and sources, if ``W`` and ``known`` make variables of these."""
    none = [np.zeros(0, np.int64)]
    row = np.concatenate(none + [r.first + model.flat.batches[r.batch].instances for r, *_ in factors])
    variable = np.concatenate(none + [model.flat.batches[r.batch].vb + k for r, k, *_ in factors])
    counts = [len(model.flat.batches[r.batch]) for r, *_ in factors]
    derivative = np.repeat(np.array([d for _, _, d, _ in factors], bool), counts)
    found = []
    for over, which in ((W, derivative), (W, ~derivative), (known, ~derivative)):
        numbers = np.flatnonzero(which)
        entries = over[variable[numbers]].tocoo()
        number = numbers[entries.row]
        shape = model.n_rows, over.shape[1]
        found.append(_Places(number, row[number], entries.col, entries.data, shape))
    return tuple(found)


def _numbers(model: ReducedModel, factors: tuple[Factor, ...], values: Values) -> np.ndarray:
    """Values of factors in every instance, one after the other."""
    found = [np.zeros(0)]
    for r, k, _, factor in factors:
        found.append(evaluate_changed(model, r.batch, factor, values))
        if not np.isfinite(found[-1]).all():
            raise _not_finite(model, r, k, factor, found[-1])
    return np.concatenate(found)


def _source_rows(
    model: ReducedModel, exosystem: Exosystem, sparse: bool
) -> tuple[Sparse, Sparse, tuple[Any, ...]]:
    """Known parts of all forms and of all variables over the sources, and the integer rows of the core."""
    from scipy.sparse import csr_array

    known, variables = (part @ exosystem.K for part in (model.known_of_form, model.V_known))
    K, U = model.K_core
    kept = csr_array(K.shape), K, U @ exosystem.K
    return known, variables, kept if sparse else tuple(matrix.toarray() for matrix in kept)


def _stacked(own: Any, more: Any) -> Any:
    from scipy.sparse import vstack

    return np.concatenate([own, more]) if isinstance(own, np.ndarray) else vstack([own, more], format="csr")


def form_matrices(model: ReducedModel, values: Values) -> tuple[Any, Any]:
    """Return the factors of all affine forms: ``E`` and ``A`` (n_rows, nv).

    Raises
    ------
    NonFiniteError
        When a factor is infinite or not a number.
    """
    from scipy.sparse import csr_array, eye_array

    factors = model.factors[0] + model.factors[1]
    empty, itself = csr_array((model.n_rows, model.flat.nv)), eye_array(model.flat.nv, format="csr")
    E, A, _ = _added([empty] * 3, _places(model, factors, itself, itself), _numbers(model, factors, values))
    return E, A


def _not_finite(model: ReducedModel, r: FormRows, k: int, factor: Expr, value: np.ndarray) -> NonFiniteError:
    i = int(np.flatnonzero(~np.isfinite(value))[0])
    name = model.flat.variable(int(model.flat.batches[r.batch].vb[i]) + k)
    template = model.flat.batches[r.batch].template
    return NonFiniteError(
        f"the factor of `{name}`, `{factor}`, is {value[i]}",
        where=(model.flat.location(r.batch, i, template.origin_of(factor)),),
        hint="a parameter that may be zero must not stand in a denominator",
    )


def _known_not_finite(model: ReducedModel, known: Known, value: np.ndarray) -> NonFiniteError:
    i = int(np.flatnonzero(~np.isfinite(value))[0])
    origin = model.flat.batches[known.batch].template.origin_of(known.expr)
    return NonFiniteError(
        f"`{known.expr}` is {value[i]}",
        where=(model.flat.location(known.batch, i, origin),),
        hint="a parameter that may be zero must not stand in a denominator",
    )
