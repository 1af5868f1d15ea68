"""Bodies on a line that all meet at one instant, with random masses, contacts, levers and restitutions, against projections."""

import numpy as np
import pytest

from acausal import Component, Eq, Impact, Variable, der, simulate
from tests.oracles.impacts import settle


def bodies(mass: np.ndarray, G: np.ndarray, u: np.ndarray, e: np.ndarray) -> Component:
    """A model of bodies with the speeds `u` whose gaps ``G x`` vanish after 1 s."""
    fields = {
        f"{name}{i}": Variable(start=start)
        for i, v in enumerate(u.tolist())
        for name, start in (("x", -v), ("v", v))
    }
    fields |= {f"f{k}": Variable() for k in range(len(G))}

    def equations(self: Component):
        x, v = ([getattr(self, f"{name}{i}") for i in range(len(mass))] for name in "xv")
        f = [getattr(self, f"f{k}") for k in range(len(G))]
        for i, m in enumerate(mass.tolist()):
            yield Eq(der(x[i]), v[i])
            yield Eq(m * der(v[i]), sum(c * f[k] for k, c in enumerate(G[:, i].tolist()) if c))
        for k, row in enumerate(G.tolist()):
            gap = sum(c * x[i] for i, c in enumerate(row) if c)
            yield Impact(gap, f[k], restitution=float(e[k]), name=f"contact{k}")

    content = {**fields, "__annotations__": dict.fromkeys(fields, Variable), "equations": equations}
    return type("Bodies", (Component,), content | {"__module__": __name__})()


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    rng = np.random.default_rng(seed)
    n, c = int(rng.integers(2, 5)), int(rng.integers(1, 6))
    mass, G = 10.0 ** rng.uniform(-1, 1, n), np.zeros((c, n))
    for k in range(c):
        i, j = rng.choice(n, 2, replace=False)
        if rng.random() < 0.25:
            G[k, i] = rng.choice([-1, 1])
        else:
            G[k, i], G[k, j] = 1, -rng.choice([1, 1, 2])
    u = rng.integers(-2, 3, n).astype(float)
    e = np.where(rng.random(c) < 0.3, 0.0, rng.choice([0.3, 0.6, 0.9], c))
    # Contacts that part would have had negative gaps before.
    open_ = G @ u <= 0.0
    return (mass, G[open_], u, e[open_]) if (G[open_] @ u < 0.0).any() else None


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize(("method", "seeds"), [("auto", range(40)), ("explicit", range(8))])
def test_random_bodies(method: str, seeds: range) -> None:
    for case in filter(None, map(drawn, seeds)):
        mass, G, u, e = case
        result = simulate(bodies(mass, G, u, e), 1.02, method=method)
        after = np.array([result[f"v{i}"].at(1.01) for i in range(len(mass))])
        assert after == pytest.approx(settle(mass, G, u, e, 2e-6), abs=1e-5)
        lost = sum(sum(event.lost.values()) for event in result.events)
        energy = mass @ (u**2 - after**2) / 2
        assert lost == pytest.approx(energy, abs=1e-8 * (mass @ u**2))
