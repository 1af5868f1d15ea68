"""A tiny nodal builder of affine switched models, for tests of their modes."""

from __future__ import annotations

import math

import numpy as np

from acausal.reduction.affine import AffineModel, Branch, Element, Kind, Rows

Terms = dict[str, float]
Form = tuple[Terms, Terms, dict[int, float]]
"""Coefficients of z, z' and xi."""


def terms(what: str | Terms) -> Terms:
    return {what: 1.0} if isinstance(what, str) else what


def times(factor: float, what: str | Terms) -> Terms:
    return {name: factor * value for name, value in terms(what).items()}


class Builder:
    """Equations in words: variables by name, source 0 is the constant 1."""

    def __init__(self, T0: float = 1.0) -> None:
        self.T0 = T0
        self.names: list[str] = []
        self.scale: dict[str, float] = {}
        self.equations: list[Form] = []
        self.labels: list[str] = []
        self.parts: list[dict] = []
        self.S = np.zeros((1, 1))
        self.xi = [1.0]

    def var(self, name: str, scale: float = 1.0) -> str:
        assert name not in self.scale
        self.names.append(name)
        self.scale[name] = scale
        return name

    def eq(
        self, alg: Terms, der: Terms | None = None, source: dict[int, float] | None = None, label: str = ""
    ) -> None:
        """0 = alg z + der z' + source xi."""
        self.equations.append((alg, der or {}, source or {}))
        self.labels.append(label or f"eq{len(self.equations) - 1}")

    def sine(self, omega: float, phase: float = 0.0) -> int:
        q = len(self.S)
        S = np.zeros((q + 2, q + 2))
        S[:q, :q] = self.S
        S[q, q + 1], S[q + 1, q] = omega, -omega
        self.S = S
        self.xi += [math.sin(phase), math.cos(phase)]
        return q

    def ramp(self) -> int:
        q = len(self.S)
        S = np.zeros((q + 1, q + 1))
        S[:q, :q] = self.S
        S[q, 0] = 1.0
        self.S = S
        self.xi.append(0.0)
        return q

    def element(
        self,
        path: str,
        kind: Kind,
        branches: list[tuple[list[Form], list[tuple[Form, int]]]],
        blocked: list[list[Form]],
        **options: object,
    ) -> None:
        self.parts.append(
            {"path": path, "kind": kind, "branches": branches, "blocked": blocked, "options": options}
        )

    def switch(self, name: str, u: str | Terms, i: str | Terms) -> None:
        """Branch 0 open, 1 closed."""
        open_, closed = (terms(i), {}, {}), (terms(u), {}, {})
        self.element(name, Kind.CONTROLLED, [([open_], []), ([closed], [])], [[closed], [open_]])

    def diode(self, name: str, u: str | Terms, i: str | Terms) -> None:
        a, b = (times(-1.0, u), {}, {}), (terms(i), {}, {})
        self.element(
            name, Kind.COMPLEMENTARITY, [([b], [(a, 1)]), ([a], [(b, 0)])], [[a], [b]], monotone=True
        )

    def impact(self, name: str, gap: str | Terms, force: str, e: float, **options: object) -> None:
        g, f = (terms(gap), {}, {}), (terms(force), {}, {})
        self.element(
            name, Kind.IMPACT, [([f], [(g, 1)]), ([g], [(f, 0)])], [[g], [f]], restitution=e, **options
        )

    def friction(self, name: str, v: str | Terms, f: str | Terms, sliding: float, breakaway: float) -> None:
        speed, force = (terms(v), {}, {}), (terms(f), {}, {})
        ahead, back = (terms(f), {}, {0: -sliding}), (terms(f), {}, {0: sliding})
        minus = times(-1.0, v), {}, {}
        stick = [((times(-1.0, f), {}, {0: breakaway}), 1), ((terms(f), {}, {0: breakaway}), 2)]
        self.element(
            name,
            Kind.FRICTION,
            [([speed], stick), ([ahead], [(speed, 0)]), ([back], [(minus, 0)]), ([force], [])],
            [[force], [speed], [speed], [speed]],
        )

    def build(self) -> AffineModel:
        index = {name: j for j, name in enumerate(self.names)}
        n, q = len(self.names), len(self.S)

        def rows(forms: list[Form]) -> Rows:
            E, A, B = np.zeros((len(forms), n)), np.zeros((len(forms), n)), np.zeros((len(forms), q))
            for k, (alg, der, source) in enumerate(forms):
                for name, value in alg.items():
                    A[k, index[name]] += value
                for name, value in der.items():
                    E[k, index[name]] += value
                for j, value in source.items():
                    B[k, j] += value
            return Rows(E, A, B)

        elements = []
        for part in self.parts:
            branches = tuple(
                Branch(str(k), rows(equations), rows([g for g, _ in guards]), tuple(t for _, t in guards))
                for k, (equations, guards) in enumerate(part["branches"])
            )
            blocked = tuple(rows(forms) for forms in part["blocked"])
            elements.append(Element(part["path"], part["kind"], branches, blocked, **part["options"]))
        base = rows(self.equations)
        differentiated = base.E.any(axis=0)
        assert len(base) + sum(len(e.branches[0].equations) for e in elements) == n
        return AffineModel(
            tuple(self.names),
            differentiated,
            base,
            tuple(elements),
            self.S,
            np.array([self.scale[name] for name in self.names]),
            np.ones(q),
            self.T0,
            tuple(self.labels),
        )


class Circuit(Builder):
    """Two-pin components between nodes; unknowns ``v.node``, ``u.name`` and ``i.name``; node "0" is the reference."""

    def __init__(self, T0: float = 1.0, u0: float = 1.0, i0: float = 1.0) -> None:
        super().__init__(T0)
        self.u0, self.i0 = u0, i0
        self.nodes: dict[str, Terms] = {}

    def branch(self, name: str, p: str, n: str) -> tuple[str, str]:
        u, i = self.var(f"u.{name}", self.u0), self.var(f"i.{name}", self.i0)
        voltage: Terms = {u: 1.0}
        for node, sign in ((p, 1.0), (n, -1.0)):
            if node not in self.nodes:
                self.nodes[node] = {}
                if node != "0":
                    self.var(f"v.{node}", self.u0)
            self.nodes[node][i] = self.nodes[node].get(i, 0.0) + sign
            if node != "0":
                voltage[f"v.{node}"] = voltage.get(f"v.{node}", 0.0) - sign
        self.eq(voltage, label=f"voltage of {name}")
        return u, i

    def R(self, name: str, p: str, n: str, R: float) -> None:
        u, i = self.branch(name, p, n)
        self.eq({u: 1.0, i: -R}, label=f"law of {name}")

    def L(self, name: str, p: str, n: str, L: float) -> None:
        u, i = self.branch(name, p, n)
        self.eq({u: -1.0}, {i: L}, label=f"law of {name}")

    def C(self, name: str, p: str, n: str, C: float) -> None:
        u, i = self.branch(name, p, n)
        self.eq({i: -1.0}, {u: C}, label=f"law of {name}")

    def V(self, name: str, p: str, n: str, source: dict[int, float]) -> None:
        u, _ = self.branch(name, p, n)
        self.eq({u: 1.0}, source={k: -v for k, v in source.items()}, label=f"law of {name}")

    def SW(self, name: str, p: str, n: str) -> None:
        self.switch(name, *self.branch(name, p, n))

    def D(self, name: str, p: str, n: str) -> None:
        self.diode(name, *self.branch(name, p, n))

    def build(self) -> AffineModel:
        for node, flows in self.nodes.items():
            if node != "0":
                self.eq(dict(flows), label=f"balance of {node}")
        return super().build()


def at(model: AffineModel, **values: float) -> np.ndarray:
    """Vector z with some values by name, ``_`` standing for the dot."""
    z = np.zeros(model.n)
    for name, value in values.items():
        z[model.names.index(name.replace("_", "."))] = value
    return z


def value(model: AffineModel, z: np.ndarray, name: str) -> float:
    return float(z[model.names.index(name)])
