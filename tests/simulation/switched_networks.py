"""Small builders of affine switched models: nodal networks and bodies with friction."""

import numpy as np

from acausal.reduction.affine import AffineModel, Branch, Element, Kind, Rows


def rows(n, q, *forms):
    """Forms from dictionaries ``{column: coefficient}``; keys "der": {...}, "xi": {...} hold the other parts."""
    out = Rows(np.zeros((len(forms), n)), np.zeros((len(forms), n)), np.zeros((len(forms), q)))
    for i, form in enumerate(forms):
        for key, value in form.items():
            if key in ("der", "xi"):
                part = out.E if key == "der" else out.B
                for column, coefficient in value.items():
                    part[i, column] += coefficient
            else:
                out.A[i, key] += value
    return out


def negated(form):
    return {
        key: {c: -v for c, v in value.items()} if isinstance(value, dict) else -value
        for key, value in form.items()
    }


def complementarity(path, n, q, a, b, can_disable=False):
    none = rows(n, q)
    a, b = rows(n, q, a), rows(n, q, b)
    branches = [Branch("off", b, a, (1,), (True,)), Branch("on", a, b, (0,), (False,))]
    blocked = [a, b]
    if can_disable:
        branches.append(Branch("disabled", b, none, (), (True,)))
        blocked.append(a)
    return Element(path, Kind.COMPLEMENTARITY, tuple(branches), tuple(blocked), monotone=True)


def friction(path, n, q, v, f, sliding, breakaway):
    """``sliding`` and ``breakaway`` multiply the source number 0, a constant 1; at rest below the latter, or at it."""

    def capacity(form, sign, size):
        return rows(n, q, {**form, "xi": {0: sign * size}})

    minus = negated(f)
    V, F, back, none = rows(n, q, v), rows(n, q, f), rows(n, q, negated(v)), rows(n, q)
    stick = rows(n, q, {**minus, "xi": {0: breakaway}}, {**f, "xi": {0: breakaway}})
    monotone = sliding == breakaway
    branches = (
        Branch("stick", V, stick, (1, 2) if monotone else (4, 5), (False,)),
        Branch("forward", capacity(f, -1, sliding), V, (0,), (False,)),
        Branch("backward", capacity(f, 1, sliding), back, (0,), (False,)),
        Branch("free", F, none, (), (False,)),
        Branch(
            "forward limit", capacity(f, -1, breakaway), rows(n, q, v, negated(v)), (0, 1), (False,), (1,)
        ),
        Branch(
            "backward limit", capacity(f, 1, breakaway), rows(n, q, negated(v), v), (0, 2), (False,), (2,)
        ),
    )
    return Element(
        path, Kind.FRICTION, branches, (F, V, V, V, V, V), monotone=monotone, shown=(0, 1, 2, 3, 0, 0)
    )


def switch(path, n, q, u, i):
    none, across, through = rows(n, q), rows(n, q, u), rows(n, q, i)
    branches = (Branch("open", through, none, (), (True,)), Branch("closed", across, none, (), (False,)))
    return Element(path, Kind.CONTROLLED, branches, (across, through))


class Network:
    """Nodal equations; node 0 is the ground, source number 0 the constant 1."""

    def __init__(self, S=((0.0,),), xi_scale=(1.0,), T0=1e-3, u0=10.0, i0=10.0):
        self.S, self.xi_scale, self.T0, self.u0, self.i0 = np.array(S), np.array(xi_scale), T0, u0, i0
        self.names, self.scale, self.nodes, self.currents = [], [], {}, {}
        self.equations, self.devices = [], []

    def _unknown(self, name, scale):
        self.names.append(name)
        self.scale.append(scale)
        return len(self.names) - 1

    def _potential(self, node):
        if node != 0 and node not in self.nodes:
            self.nodes[node] = self._unknown(f"v{node}", self.u0)
            self.currents[node] = {}
        return self.nodes.get(node)

    def _between(self, p, q):
        form = {}
        for node, sign in ((p, 1.0), (q, -1.0)):
            column = self._potential(node)
            if column is not None:
                form[column] = form.get(column, 0.0) + sign
        return form

    def _inject(self, p, q, form):
        """Current ``form`` flows from p to q."""
        for node, sign in ((p, 1.0), (q, -1.0)):
            if self._potential(node) is None:
                continue
            balance = self.currents[node]
            for key, value in form.items():
                if isinstance(value, dict):
                    part = balance.setdefault(key, {})
                    for column, coefficient in value.items():
                        part[column] = part.get(column, 0.0) + sign * coefficient
                else:
                    balance[key] = balance.get(key, 0.0) + sign * value

    def R(self, p, q, R, source=None):
        """Resistance, in series with the source ``{xi: coefficient}`` that lifts p.

        The conductance has few bits, so that sums are exact and a balance is a balance.
        """
        quantum = 2.0 ** (np.floor(np.log2(self.i0 / self.u0)) - 30)
        conductance = np.round(1 / R / quantum) * quantum
        form = {k: c * conductance for k, c in self._between(p, q).items()}
        if source:
            form["xi"] = {k: -c * conductance for k, c in source.items()}
        self._inject(p, q, form)

    def L(self, p, q, L):
        i = self._unknown(f"iL{len(self.names)}", self.i0)
        self._inject(p, q, {i: 1.0})
        self.equations.append({**{k: -c for k, c in self._between(p, q).items()}, "der": {i: L}})
        return i

    def C(self, p, q, C):
        across = self._between(p, q)
        u = self._unknown(f"uC{len(self.names)}", self.u0)
        self._inject(p, q, {"der": {u: C}})
        self.equations.append({**{k: -c for k, c in across.items()}, u: 1.0})
        return u

    def V(self, p, q, source):
        i = self._unknown(f"iV{len(self.names)}", self.i0)
        self._inject(p, q, {i: 1.0})
        self.equations.append({**self._between(p, q), "xi": {k: -c for k, c in source.items()}})
        return i

    def _device(self, make, p, q):
        i = self._unknown(f"i{len(self.names)}", self.i0)
        self._inject(p, q, {i: 1.0})
        self.devices.append((make, self._between(p, q), {i: 1.0}))
        return i

    def D(self, p, q, can_disable=False):
        """Ideal diode from p to q, a thyristor when it can be disabled."""

        def make(path, n, m, u, i):
            return complementarity(path, n, m, negated(u), i, can_disable)

        return self._device(make, p, q)

    def SW(self, p, q):
        return self._device(switch, p, q)

    def model(self):
        n, q = len(self.names), len(self.S)
        elements = tuple(make(f"e{k}", n, q, u, i) for k, (make, u, i) in enumerate(self.devices))
        return build(
            self.names,
            [*self.equations, *self.currents.values()],
            elements,
            self.S,
            self.scale,
            self.xi_scale,
            self.T0,
        )


def build(names, equations, elements, S, scale, xi_scale, T0):
    n, q = len(names), len(S)
    base = rows(n, q, *equations)
    differentiated = np.abs(base.E).sum(axis=0) > 0
    return AffineModel(
        tuple(names),
        differentiated,
        base,
        elements,
        np.array(S, float),
        np.array(scale, float),
        np.array(xi_scale, float),
        T0,
    )


def random_network(rng, K):
    """Spanning tree of R, L, C and V+R branches, some resistive meshes, K diodes anywhere."""
    network = Network(T0=1e-3)
    N = max(4, K // 2 + 2)
    for k in range(1, N + 1):
        p, q, kind = k, int(rng.integers(0, k)), rng.choice(4, p=[0.3, 0.25, 0.25, 0.2])
        if kind == 0:
            network.R(p, q, 10 ** rng.uniform(-1, 2))
        elif kind == 1:
            network.L(p, q, 10 ** rng.uniform(-4, -2))
        elif kind == 2:
            network.C(p, q, 10 ** rng.uniform(-6, -3))
        else:
            network.R(p, q, 10 ** rng.uniform(-1, 1), {0: np.round(1024 * rng.uniform(-10, 10)) / 1024})
    for _ in range(N // 2):
        p, q = rng.choice(N + 1, 2, replace=False)
        network.R(int(p), int(q), 10 ** rng.uniform(0, 3))
    for _ in range(K):
        p, q = rng.choice(N + 1, 2, replace=False)
        network.D(int(p), int(q))
    return network.model()


def friction_stack(rng, K, coincide):
    """K bodies, each with friction to the ground and to its lower neighbour; returns model, z, mode of the speeds."""
    n = 3 * K
    v, f, g = (np.arange(K) + K * k for k in range(3))
    force, equations, elements = rng.uniform(-5, 5, K), [], []
    for k in range(K):
        balance = {f[k]: 1.0, g[k]: 1.0, "der": {v[k]: rng.uniform(0.5, 2)}, "xi": {0: -force[k]}}
        if k + 1 < K:
            balance[g[k + 1]] = -1.0
        equations.append(balance)
        ground, neighbour = rng.uniform(0.5, 3), rng.uniform(0.2, 2)
        relative = {v[k]: 1.0} if k == 0 else {v[k]: 1.0, v[k - 1]: -1.0}
        elements.append(friction(f"ground{k}", n, 1, {v[k]: 1.0}, {f[k]: 1.0}, ground, ground))
        elements.append(friction(f"neighbour{k}", n, 1, relative, {g[k]: 1.0}, neighbour, neighbour))
    z = np.zeros(n)
    if coincide:
        z[v] = np.round(rng.uniform(-1, 1, K))
    speeds = [w for k in range(K) for w in (z[v[k]], z[v[k]] - (z[v[k - 1]] if k else 0.0))]
    mode = tuple(0 if w == 0 else 1 if w > 0 else 2 for w in speeds)
    names = [f"{letter}{k}" for letter in "vfg" for k in range(K)]
    return build(names, equations, tuple(elements), [[0.0]], [1.0] * K + [5.0] * (2 * K), [1.0], 1.0), z, mode


def bodies_above_each_other(rng, gaps):
    """A body for each gap to the one below it, or to the ground; returns model and z."""
    K, n = len(gaps), 3 * len(gaps)
    s, v, f = (np.arange(K) + K * k for k in range(3))
    equations, elements = [], []
    for k in range(K):
        carried = {} if k + 1 == K else {f[k + 1]: 1.0}
        mass = rng.integers(4, 17) / 8  # What falls freely together exerts no force, without rounding.
        equations.append({"der": {s[k]: 1.0}, v[k]: -1.0})
        equations.append({"der": {v[k]: mass}, f[k]: -1.0, **carried, "xi": {0: 10.0 * mass}})
        gap = {s[k]: 1.0} if k == 0 else {s[k]: 1.0, s[k - 1]: -1.0}
        free, contact = rows(n, 1, {f[k]: 1.0}), rows(n, 1, gap)
        branches = Branch("free", free, contact, (1,)), Branch("contact", contact, free, (0,))
        elements.append(Element(f"contact{k}", Kind.IMPACT, branches, (contact, free), monotone=True))
    z = np.concatenate([np.cumsum(gaps), rng.integers(-2, 3, K), np.zeros(K)])
    names = [f"{letter}{k}" for letter in "svf" for k in range(K)]
    scale = [1.0] * (2 * K) + [10.0] * K
    return build(names, equations, tuple(elements), [[0.0]], scale, [1.0], 1.0), z


LOW, LINEAR, HIGH = range(3)


def saturation(n, q, e, y, limit):
    """Amplifier of infinite gain: e = 0 inside the limits of y."""
    up, down = {y: -1.0, "xi": {0: limit}}, {y: 1.0, "xi": {0: limit}}
    branches = (
        Branch("low", rows(n, q, down), rows(n, q, {e: -1.0}), (LINEAR,)),
        Branch("linear", rows(n, q, {e: 1.0}), rows(n, q, up, down), (HIGH, LOW)),
        Branch("high", rows(n, q, up), rows(n, q, {e: 1.0}), (LINEAR,)),
    )
    blocked = (rows(n, q, {e: 1.0}), rows(n, q, {y: 1.0}), rows(n, q, {e: 1.0}))
    return Element("amplifier", Kind.MODES, branches, blocked)


def feedback(sign, beta=0.5, limit=15.0, scale=(10.0, 10.0)):
    """e = sign * beta * y - u with u the source number 1, a ramp."""
    element = saturation(2, 2, 0, 1, limit)
    equation = {0: 1.0, 1: -sign * beta, "xi": {1: 1.0}}
    return build(["e", "y"], [equation], (element,), [[0.0, 0.0], [1.0, 0.0]], scale, [1.0, 10.0], 1.0)
