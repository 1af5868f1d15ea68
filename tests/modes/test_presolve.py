"""The presolved model has exactly the solutions of the original rows."""

from __future__ import annotations

import numpy as np
import pytest

from acausal.modes.presolve import Presolved, presolve
from acausal.structure.incidence import IntegerRows
from tests.oracles.rref import null_basis, rank, same_span


def dense(rows: IntegerRows) -> np.ndarray:
    return rows.csr().toarray().astype(object)


class Model:
    """Integer rows written by name: ``add("a - b + 2*c", remainder=True)`` as ``{"a": 1, ...}``."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.rows: list[dict[int, int]] = []
        self.remainder: list[bool] = []

    def add(self, remainder: bool = False, **terms: int) -> int:
        self.rows.append({self.ids.setdefault(name, len(self.ids)): value for name, value in terms.items()})
        self.remainder.append(remainder)
        return len(self.rows) - 1

    def one_port(self, name: str, p: str, n: str) -> None:
        """Potential difference over nodes p and n, flow from p to n collected at the nodes."""
        self.add(**{f"{name}.v": 1, f"{name}.p.v": -1, f"{name}.n.v": 1})
        self.add(**{f"{name}.i": 1, f"{name}.p.i": -1})
        self.add(**{f"{name}.p.i": 1, f"{name}.n.i": 1})
        for port, node in (("p", p), ("n", n)):
            self.add(**{f"{name}.{port}.v": 1, f"{node}.v": -1})
            self.nodes.setdefault(node, []).append(f"{name}.{port}.i")

    nodes: dict[str, list[str]]

    def close(self, ground: str | None = None) -> None:
        for node, flows in self.nodes.items():
            extra = [f"{node}.ground.i"] if node == ground else []
            self.add(**dict.fromkeys([*flows, *extra], 1))
        if ground:
            self.add(**{f"{ground}.v": 1})

    def names(self, ids: np.ndarray) -> list[str]:
        by_id = {number: name for name, number in self.ids.items()}
        return [by_id[int(number)] for number in ids]

    def mask(self, *names: str) -> np.ndarray:
        result = np.zeros(len(self.ids), bool)
        result[[self.ids[name] for name in names]] = True
        return result

    def matrix(self) -> IntegerRows:
        return IntegerRows.from_dicts(self.rows, len(self.ids))

    def presolve(
        self,
        der: tuple[str, ...] = (),
        protect: tuple[str, ...] = (),
        used: tuple[str, ...] = (),
        **options: int,
    ) -> Presolved:
        arguments = {
            "differentiated": self.mask(*der),
            "protected": self.mask(*protect),
            "uses": self.mask(*used).astype(int),
            "has_remainder": np.array(self.remainder),
        }
        result = presolve(self.matrix(), **arguments, **options)
        check(self.matrix(), result, **arguments)
        return result


def network() -> Model:
    model = Model()
    model.nodes = {}
    return model


def check(rows: IntegerRows, result: Presolved, differentiated, protected, uses, has_remainder) -> None:
    """Compare with the exact solution space over (x, remainders); tie the bookkeeping to it."""
    n, m, known = rows.n, rows.m, np.flatnonzero(has_remainder)
    original = null_basis(np.hstack((dense(rows), np.eye(m, dtype=int).astype(object)[:, known])))
    ny, q = len(result.y), len(known)
    for part in (result.V, result.U):
        assert np.isin(part.col, known).all()
    conditions = np.vstack(
        (
            np.hstack((dense(result.K), dense(result.U)[:, known])),
            np.hstack((np.zeros((result.R.m, ny), object), dense(result.R)[:, known])),
        )
    )
    inner = null_basis(conditions)
    x = inner[:, :ny] @ dense(result.W).T + inner[:, ny:] @ dense(result.V)[:, known].T
    mapped = np.hstack((x, inner[:, ny:]))
    assert rank(original) == rank(mapped) + len(result.pinned)
    assert rank(np.vstack((original, mapped))) == rank(original)
    visible = np.flatnonzero(protected | differentiated | (uses > 0))
    seen = np.concatenate((visible, n + np.arange(q)))
    assert same_span(original[:, seen], mapped[:, seen])
    if not len(result.pinned):
        assert same_span(original, mapped)
    assert n - m == ny + len(result.pinned) - result.K.m - len(result.dependent)
    assert len(result.dependent) == m - rank(dense(rows))
    assert len(result.kept_row_origin) == result.K.m == result.U.m
    accounted = np.concatenate((result.kept_row_origin, result.dependent))
    assert len(np.unique(accounted)) == len(accounted)
    assert not (dense(result.R) @ dense(rows)).any()
    assert (np.diff(result.y) > 0).all()
    assert np.array_equal(dense(result.W)[result.y], np.eye(ny, dtype=int))
    assert np.isin(np.flatnonzero(differentiated), result.y).all()
    for variable in np.flatnonzero(protected):
        row, shift = dense(result.W)[variable], dense(result.V)[variable]
        assert not row.any() or (np.abs(row).sum() == 1 and not shift.any())


def random_rows(rng: np.random.Generator, m: int, n: int) -> IntegerRows:
    rows = []
    for _ in range(m):
        count = min(n, int(rng.choice([1, 2, 2, 2, 3, 3, 4])))
        values = rng.choice([-1, 1], count) * rng.choice([1, 1, 1, 1, 2, 3], count)
        rows.append(dict(zip(rng.choice(n, count, replace=False).tolist(), values.tolist(), strict=True)))
    return IntegerRows.from_dicts(rows, n)


@pytest.mark.parametrize("seed", range(400))
def test_random_systems_keep_their_solutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 14))
    m = int(rng.integers(0, n + 3))
    rows = random_rows(rng, m, n)
    density = rng.choice([0.0, 0.2, 0.5])
    arguments = {
        "differentiated": rng.random(n) < density * rng.random(),
        "protected": rng.random(n) < density,
        "uses": (rng.random(n) < rng.choice([0.1, 0.5, 1.0])).astype(int),
        "has_remainder": rng.random(m) < rng.choice([0.0, 0.2, 0.5]),
    }
    result = presolve(rows, **arguments, max_terms=int(rng.choice([2, 4, 8])))
    check(rows, result, **arguments)
