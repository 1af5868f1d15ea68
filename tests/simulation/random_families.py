"""Random networks and mechanisms that are hard for a search: loops, cut sets, parallel and massless parts, stiction."""

import numpy as np

from acausal.reduction.affine import AffineModel, Mode
from tests.simulation.switched_networks import Network, build, complementarity, friction

Case = tuple[AffineModel, np.ndarray, Mode, tuple[int, ...]]
"""Model, left limits, mode before the instant, forced branches."""


class Networks(Network):
    """Networks with ideal transformers."""

    def T(self, p1, q1, p2, q2, n):
        i = self._unknown(f"iT{len(self.names)}", self.i0)
        self._inject(p1, q1, {i: 1.0})
        self._inject(p2, q2, {i: -n})
        ratio = dict(self._between(p1, q1))
        for column, c in self._between(p2, q2).items():
            ratio[column] = ratio.get(column, 0.0) - n * c
        self.equations.append(ratio)


def hard_network(rng: np.random.Generator, count: int) -> Case:
    """A connected network of ``count`` parts of any kind, ideal sources and switches among them."""
    net, forced = Networks(), []
    nodes = max(3, count // 2)
    pairs = [(k, int(rng.integers(0, k))) for k in range(1, nodes + 1)]
    pairs += [tuple(rng.choice(nodes + 1, 2, replace=False).tolist()) for _ in range(count - nodes)]
    for p, q in pairs:
        kind = rng.choice(list("RLCVDST"), p=[0.2, 0.12, 0.12, 0.1, 0.34, 0.07, 0.05])
        level = {0: np.round(64 * rng.uniform(-10, 10)) / 64}
        if kind == "R":
            net.R(p, q, 10 ** rng.uniform(-1, 3))
        elif kind == "L":
            net.L(p, q, 10 ** rng.uniform(-5, -2))
        elif kind == "C":
            net.C(p, q, 10 ** rng.uniform(-7, -3))
        elif kind == "V" and rng.random() < 0.4:
            net.V(p, q, level)
        elif kind == "V":
            net.R(p, q, 10 ** rng.uniform(-1, 1), level)
        elif kind == "T":
            a, b = rng.choice(nodes + 1, 2, replace=False).tolist()
            net.T(p, q, a, b, float(rng.choice([0.5, 2.0, 3.0])))
        else:
            (net.D if kind == "D" else net.SW)(p, q)
            forced.append(-1 if kind == "D" else int(rng.integers(0, 2)))
    model = net.model()
    z = np.where(
        model.differentiated & (rng.random(model.n) > 0.3), np.round(rng.uniform(-20, 20, model.n)) / 4, 0.0
    )
    return model, z, tuple(f if f >= 0 else int(rng.random() < 0.25) for f in forced), tuple(forced)


def mechanism(rng: np.random.Generator, count: int) -> Case:
    """A row of bodies, some without mass, with friction, stops and springs to their neighbours and to the ground."""
    names, equations, z, scale = [], [], [], []

    def unknown(name, size, value):
        names.append(name)
        scale.append(size)
        z.append(value)
        return len(names) - 1

    moving = rng.random() < 0.5
    s, v, balances = [], [], []
    for k in range(count):
        s.append(unknown(f"s{k}", 1.0, float(k)))
        v.append(unknown(f"v{k}", 1.0, float(np.round(rng.uniform(-1.4, 1.4))) if moving else 0.0))
        load = float(np.round(8 * rng.uniform(-5, 5)) / 8) if rng.random() < 0.7 else 0.0
        mass = {v[k]: 2.0 ** int(rng.integers(-1, 2))} if rng.random() < 0.85 else {}
        balances.append({"xi": {0: -load}, "der": mass})
        equations.append({"der": {s[k]: 1.0}, v[k]: -1.0})
    made = []
    for k in range(count):
        for kind, other, chance in (
            ("friction", -1, 0.7), ("friction", k - 1, 0.5), ("stop", -1, 0.4), ("stop", k - 1, 0.5), ("spring", k - 1, 0.2)
        ):  # fmt: skip
            if rng.random() < chance and (k or other == -1):
                force = unknown(f"f{len(names)}", 5.0, 0.0)
                balances[k][force] = 1.0
                if other >= 0:
                    balances[other][force] = -1.0
                made.append((kind, k, other, force))
    elements, mode, n = [], [], len(names)
    for kind, k, other, force in made:
        speed = {v[k]: 1.0} if other < 0 else {v[k]: 1.0, v[other]: -1.0}
        place = {s[k]: 1.0} if other < 0 else {s[k]: 1.0, s[other]: -1.0}
        rate = sum(c * z[j] for j, c in speed.items())
        distance = sum(c * z[j] for j, c in place.items())
        if kind == "spring":
            stiffness = 2.0 ** int(rng.integers(0, 6))
            pull = {j: -stiffness * c for j, c in place.items()}
            equations.append({force: 1.0, **pull, "xi": {0: stiffness * distance}})
        elif kind == "friction":
            level = float(np.round(8 * rng.uniform(0.2, 4)) / 8)
            breakaway = level * (1.0 if rng.random() < 0.5 else 1.5)
            elements.append(friction(f"friction{k},{other}", n, 1, speed, {force: 1.0}, level, breakaway))
            mode.append(0 if rate == 0 else 1 if rate > 0 else 2)
        else:
            gap = {**place, "xi": {0: -distance + (0.0 if rng.random() < 0.6 else 0.5)}}
            elements.append(complementarity(f"stop{k},{other}", n, 1, gap, {force: -1.0}))
            mode.append(0)
    model = build(names, equations + balances, tuple(elements), [[0.0]], scale, [1.0], 1.0)
    return model, np.array(z), tuple(mode), (-1,) * len(elements)
