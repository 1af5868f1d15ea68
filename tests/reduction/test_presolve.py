"""The presolved model has exactly the solutions of the original rows."""

from __future__ import annotations

import numpy as np
import pytest

from acausal.reduction.presolve import Presolved, presolve
from acausal.structure.incidence import IntegerRows
from tests.oracles.rref import null_basis, rank, same_span


def dense(rows: IntegerRows) -> np.ndarray:
    return rows.csr().toarray().astype(object)


class Model:
    """Integer rows written by name, ``add(a=1, b=-1)`` for a - b = 0, and networks of two-terminal elements."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.rows: list[dict[int, int]] = []
        self.remainder: list[bool] = []
        self.nodes: dict[str, list[str]] = {}

    def add(self, remainder: bool = False, **terms: int) -> int:
        """Append a row and return its id."""
        self.rows.append({self.ids.setdefault(name, len(self.ids)): value for name, value in terms.items()})
        self.remainder.append(remainder)
        return len(self.rows) - 1

    def one_port(self, name: str, p: str, n: str) -> None:
        """Element with difference v and flow i between the nodes p and n."""
        self.add(**{f"{name}.v": 1, f"{name}.p.v": -1, f"{name}.n.v": 1})
        self.add(**{f"{name}.i": 1, f"{name}.p.i": -1})
        self.add(**{f"{name}.p.i": 1, f"{name}.n.i": 1})
        for port, node in (("p", p), ("n", n)):
            self.add(**{f"{name}.{port}.v": 1, f"{node}.v": -1})
            self.nodes.setdefault(node, []).append(f"{name}.{port}.i")

    def close(self, ground: str | None = None) -> None:
        """Sum the flows of every node; fix one potential."""
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
    if len(result.dependent):
        unseen = np.setdiff1d(np.arange(n), visible)
        assert len(result.pinned) + len(result.loose) == len(unseen) - rank(dense(rows)[:, unseen])
        assert len(result.pinned) == len(result.dependent) or not len(result.loose)
        check_islands(dense(rows), result, unseen)
    assert not (dense(result.R) @ dense(rows)).any()
    assert (np.diff(result.y) > 0).all()
    assert np.array_equal(dense(result.W)[result.y], np.eye(ny, dtype=int))
    assert np.isin(np.flatnonzero(differentiated), result.y).all()
    for variable in np.flatnonzero(protected):
        row, shift = dense(result.W)[variable], dense(result.V)[variable]
        assert not row.any() or (np.abs(row).sum() == 1 and not shift.any())


def check_islands(matrix: np.ndarray, result: Presolved, unseen: np.ndarray) -> None:
    """Each island carries one freedom that leaves every row and every other representative alone."""
    representatives = np.concatenate((result.pinned, result.loose))
    for variable, island in zip(representatives, result.islands, strict=True):
        assert variable in island
        assert np.isin(island, unseen).all()
        vectors = null_basis(matrix[:, island])
        assert vectors[:, island == variable].any()
        assert not np.isin(np.setdiff1d(representatives, [variable]), island).any()


def random_rows(rng: np.random.Generator, m: int, n: int) -> IntegerRows:
    rows = []
    for _ in range(m):
        count = min(n, int(rng.choice([1, 2, 2, 2, 3, 3, 4])))
        values = rng.choice([-1, 1], count) * rng.choice([1, 1, 1, 1, 2, 3], count)
        rows.append(dict(zip(rng.choice(n, count, replace=False).tolist(), values.tolist(), strict=True)))
    return IntegerRows.from_dicts(rows, n)


@pytest.mark.sweep(every=4)
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


def test_ladder_keeps_two_unknowns_per_section() -> None:
    """R-C ladder: the potentials of the nodes are the capacitors' differences, the sums of flows are solved."""
    model, sections = Model(), 6
    model.one_port("source", "n0", "g")
    for k in range(sections):
        model.one_port(f"r{k}", f"n{k}", f"n{k + 1}")
        model.one_port(f"c{k}", f"n{k + 1}", "g")
    model.close("g")
    der = tuple(f"c{k}.v" for k in range(sections))
    used = (
        *der,
        "source.v",
        *(f"r{k}.{x}" for k in range(sections) for x in "vi"),
        *(f"c{k}.i" for k in range(sections)),
    )
    result = model.presolve(der=der, used=used)
    assert len(result.y) == 2 * sections + 1
    assert result.K.m == 0
    assert len(result.dependent) == 0
    seen = [model.ids[name] for name in used]
    assert result.W.lengths[seen].max() <= 2


def test_two_terminal_network_without_ground_is_pinned() -> None:
    model = Model()
    model.one_port("r", "a", "b")
    model.one_port("c", "a", "b")
    model.close()
    result = model.presolve(der=("c.v",), used=("r.v", "r.i", "c.v", "c.i"))
    assert len(result.pinned) == len(result.dependent) == 1
    potentials = {name for name in model.ids if name.endswith(".v") and name not in ("r.v", "c.v")}
    assert set(model.names(result.islands[0])) == potentials
    assert result.R.m == 0
    assert len(result.y) == 2


def test_every_floating_island_is_pinned_on_its_own() -> None:
    model = Model()
    for k in range(3):
        model.one_port(f"r{k}", f"a{k}", f"b{k}")
        model.one_port(f"c{k}", f"a{k}", f"b{k}")
    model.close("b1")
    names = tuple(f"{x}{k}.{y}" for x in "rc" for k in range(3) for y in "vi")
    result = model.presolve(der=("c0.v", "c1.v", "c2.v"), used=names)
    assert [{name.split(".")[0][-1] for name in model.names(island)} for island in result.islands] == [
        {"0"},
        {"2"},
    ]


def test_floating_island_whose_potentials_are_seen_as_differences_only() -> None:
    """No potential is used itself, yet their differences are: the freedom is a combination of several unknowns."""
    model = Model()
    nodes = ["a", "b", "c", "d"]
    for k, p in enumerate(nodes):
        for n in nodes[k + 1 :]:
            model.one_port(p + n, p, n)
    model.close()
    elements = [p + n for k, p in enumerate(nodes) for n in nodes[k + 1 :]]
    result = model.presolve(used=tuple(f"{e}.{x}" for e in elements for x in "vi"))
    assert len(result.pinned) == 1
    assert set(model.names(result.islands[0])) >= {f"{node}.v" for node in nodes}


def test_used_potential_is_not_pinned() -> None:
    """The dependent row is found, but something else depends on the level of the island."""
    model = Model()
    model.one_port("r", "a", "b")
    model.one_port("c", "a", "b")
    model.close()
    result = model.presolve(used=("r.v", "r.i", "c.v", "c.i", "a.v"))
    assert len(result.dependent) == 1
    assert len(result.pinned) == 0


def test_contradictory_sources_are_named() -> None:
    """Two sources in parallel beside a load: 0 = r1 - r2, with both source equations and both differences."""
    model = Model()
    for name in ("s1", "s2", "load"):
        model.one_port(name, "a", "g")
    first, second = (model.add(remainder=True, **{f"{name}.v": 1}) for name in ("s1", "s2"))
    model.close("g")
    result = model.presolve(used=("load.v", "load.i"))
    assert result.R.m == 1
    entries = dict(zip(result.R.col.tolist(), result.R.val.tolist(), strict=True))
    assert entries[first] == -entries[second] != 0
    names = {name for row in result.R.col for name in model.names(np.array(list(model.rows[row])))}
    assert {"s1.v", "s2.v"} <= names
    assert not any(name.startswith("load") or name.endswith(".i") for name in names)
    assert set(model.names(result.islands[0])) >= {"s1.i", "s2.i"}


def test_loop_of_sources_sums_all_remainders() -> None:
    model = Model()
    ring = ["a", "b", "c", "d"]
    sources = []
    for k, node in enumerate(ring):
        model.one_port(f"s{k}", node, ring[(k + 1) % 4])
        sources.append(model.add(remainder=True, **{f"s{k}.v": 1}))
    model.close("a")
    result = model.presolve()
    assert result.R.m == 1
    coefficients = dense(result.R)[0][sources]
    assert (np.abs(coefficients) == 1).all()
    assert abs(coefficients.sum()) == 4


def test_flow_into_a_floating_island_contradicts() -> None:
    """A prescribed flow without a way back: 0 = r, while the potential is open."""
    model = Model()
    inflow = model.add(remainder=True, f=1)
    model.one_port("r", "a", "b")
    model.nodes["a"].append("f")
    model.close()
    result = model.presolve(used=("r.v", "r.i"))
    assert result.R.m == len(result.pinned) == 1
    assert inflow in result.R.col


def test_loop_of_rigid_links_has_one_dependent_row_each() -> None:
    model = Model()
    for k in range(5):
        model.add(**{f"x{k}": 1, f"x{(k + 1) % 5}": -1})
    result = model.presolve(used=("x3",))
    assert len(result.dependent) == 1
    assert result.W.lengths.tolist() == [1] * 5
    assert result.R.m == 0


def test_second_differentiated_alias_keeps_its_link() -> None:
    model = Model()
    first = model.add(v=1, w=-1)
    second = model.add(w=1, u=1)
    result = model.presolve(der=("v", "u"), used=("w",))
    assert model.names(result.y) == ["v", "u"]
    assert dense(result.K).tolist() == [[1, 1]]
    assert result.kept_row_origin[0] in (first, second)
    assert dense(result.W)[model.ids["w"]].tolist() == [1, 0]


def test_differentiated_zero_stays_an_equation() -> None:
    model = Model()
    model.add(v=1, w=-1)
    model.add(w=1)
    result = model.presolve(der=("v",), used=("w",))
    assert model.names(result.y) == ["v"]
    assert dense(result.K).tolist() == [[1]]
    assert dense(result.W)[model.ids["w"]].tolist() == [0]


def test_known_values_are_substituted_unless_differentiated() -> None:
    model = Model()
    row = model.add(remainder=True, a=-1)
    model.add(a=1, b=-1)
    other = model.add(remainder=True, v=1)
    model.add(b=1, v=1, c=-1)
    result = model.presolve(der=("v",), protect=("b",), used=("c",))
    assert model.names(result.y) == ["v"]
    assert dense(result.V)[model.ids["b"], row] == 1
    assert dense(result.V)[model.ids["c"], row] == 1
    assert dense(result.U)[0].tolist() == [0, 0, 1, 0]
    assert result.kept_row_origin.tolist() == [other]


def test_protected_variables_share_a_representative() -> None:
    model = Model()
    model.add(a=1, b=1)
    model.add(b=1, c=-1, d=-1)
    result = model.presolve(protect=("a", "b", "c"))
    assert dense(result.W)[model.ids["b"]].tolist() == [-1, 0]
    assert model.names(result.y) == ["a", "c"]


def test_protected_link_with_remainder_stays_a_row() -> None:
    model = Model()
    model.add(remainder=True, a=1, b=-1)
    result = model.presolve(protect=("a", "b"))
    assert len(result.y) == 2
    assert result.K.m == result.U.m == 1


def test_string_of_capacitors_keeps_short_definitions() -> None:
    model, count = Model(), 12
    for k in range(count):
        model.one_port(f"c{k}", f"n{k}", f"n{k + 1}")
    model.one_port("load", "n0", f"n{count}")
    model.close("n0")
    der = tuple(f"c{k}.v" for k in range(count))
    used = (*der, *(f"c{k}.i" for k in range(count)), "load.v", "load.i")
    result = model.presolve(der=der, used=used, max_terms=4)
    assert result.W.lengths[[model.ids[name] for name in used]].max() <= 4
    assert len(result.dependent) == 0


def test_no_rows_and_no_variables() -> None:
    nothing = np.zeros(0, bool)
    result = presolve(
        IntegerRows.empty(0), differentiated=nothing, protected=nothing, uses=nothing, has_remainder=nothing
    )
    assert len(result.y) == result.K.m == 0
