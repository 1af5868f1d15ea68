"""Statements whose equation depends on a mode: choices, one-sided elements, friction, contacts, the general table.

Each gives a table: per branch its residuals, the guards that keep it, and the
complementary quantities that it leaves undetermined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, ClassVar, cast

from ..errors import StatementError
from ..values import frozen
from .dimensions import dimension
from .expressions import Expr, Symbol, condition, constant, walk, wrap
from .statements import Eq, Named, only
from .typed_fields import Discrete
from .units import parse_unit


class Impulse(Enum):
    """What to do when an opening element cuts a flow."""

    ERROR = "error"
    ALLOW = "allow"
    DEFAULT = "default"
    """As the run says."""


class FrictionState(Enum):
    """Branches of ``DryFriction``."""

    STICK = 0
    FORWARD = 1
    BACKWARD = 2
    FREE = 3


@frozen
class Leave:
    """A guard: the branch is left for ``target`` when ``g`` becomes negative and ``enabled`` holds."""

    target: int
    g: Expr
    enabled: Expr | None = None


@frozen
class BranchTable:
    """One branch of an element: what holds, what keeps it, what it leaves open."""

    name: str
    residuals: tuple[Expr, ...]
    guards: tuple[Leave, ...]
    blocked: tuple[Expr, ...]


@frozen
class ElementTable:
    """Everything the engine needs to know about one element."""

    kind: str
    branches: tuple[BranchTable, ...]
    control: Expr | None = None
    """Condition of an ``If``: true selects branch 0."""
    enabled: Expr | None = None
    latch: bool = False
    breakaway: Expr | None = None
    monotone: bool = False
    restitution: Expr | None = None
    rest_speed: Expr | None = None
    impulse: str | None = None
    start: int = 0
    absorbing: tuple[int, int] | None = None
    """Branches of ``Modes`` that leave the two quantities of a curve open, whose product is a power."""

    BESIDE: ClassVar[tuple[str, ...]] = ("control", "enabled", "breakaway", "restitution", "rest_speed")

    @property
    def true_branch(self) -> int | None:
        """Branch in which a Boolean mode variable is true; None if the mode variable is the branch itself."""
        return {"if": 0, "complementarity": 1, "impact": 1}.get(self.kind)

    @property
    def beside(self) -> Iterator[Expr]:
        """Expressions that stand beside the branches."""
        return (expr for name in self.BESIDE if (expr := getattr(self, name)) is not None)


class If(Named):
    """Equations switched by a condition; both branches hold equally many, the k-th complementary to the k-th.

    Parameters
    ----------
    cond : condition
        On discrete variables and time: it selects the branch. With relations of continuous
        variables: a branch is possible if its own solution satisfies the condition that selects it.
    then, otherwise : list of Eq
        In force while the condition is true, and while it is false.
    impulse : Impulse, optional
        What to do when the change of branch cuts a flow; by default as the run says. Only what is declared as a `Flow` is
        one: a plain `Variable` jumps, and events tell the impulse.
    name : str
        Path of the branch in results: true or false.

    Raises
    ------
    StatementError
        If the branches are empty, of different length, or hold something else than `Eq`.
    """

    __slots__ = ("condition", "impulse", "otherwise", "then")

    def __init__(
        self,
        cond: Any,
        then: Sequence[Eq],
        otherwise: Sequence[Eq],
        *,
        impulse: Impulse | None = None,
        name: str = "branch",
    ) -> None:
        super().__init__(name)
        for branch in (then, otherwise):
            only(Eq, branch, f"If `{name}` takes lists of Eq", "If(condition, [Eq(a, b)], [Eq(a, c)])")
        self.condition, self.impulse = condition(cond), impulse
        self.then, self.otherwise = tuple(then), tuple(otherwise)
        if len(self.then) != len(self.otherwise) or not self.then:
            a, b = len(self.then), len(self.otherwise)
            raise StatementError(
                f"If `{name}` has {a} equation{'s' * (a != 1)} in one branch and {b} in the other",
                hint="state as many in both, at least one: whatever the condition, the same number of unknowns is determined",
            )

    def table(self) -> ElementTable:
        """Return the branches with their residuals, guards and blocked quantities."""
        a = tuple(e.residual for e in self.then)
        b = tuple(e.residual for e in self.otherwise)
        given = None if self.impulse is None else Impulse(self.impulse)
        policy = None if given in (None, Impulse.DEFAULT) else given.value
        branches = (BranchTable("true", a, (), b), BranchTable("false", b, (), a))
        return ElementTable("if", branches, control=self.condition, impulse=policy)


class Complementarity(Named):
    """``0 <= a``, ``0 <= b``, ``a * b = 0``: off means b = 0, on means a = 0.

    Parameters
    ----------
    a, b : expression
    enabled : condition
        While false: b = 0 and ``a`` is free.
    latch : bool
        Stays enabled while it is on and ``b`` is above zero.
    """

    __slots__ = ("a", "b", "enabled", "latch")

    def __init__(self, a: Any, b: Any, *, enabled: Any = True, latch: bool = False, name: str = "on") -> None:
        super().__init__(name)
        self.a, self.b, self.latch = wrap(a), wrap(b), latch
        self.enabled = condition(enabled)

    def table(self) -> ElementTable:
        """Return the branches with their residuals, guards and blocked quantities."""
        a, b = self.a, self.b
        always = self.enabled.op == "true" and self.enabled.data
        return ElementTable(
            "complementarity",
            (
                BranchTable("off", (b,), (Leave(1, a),), (a,)),
                BranchTable("on", (a,), (Leave(0, b),), (b,)),
                BranchTable("disabled", (b,), (), (a,)),
            ),
            enabled=None if always else self.enabled,
            latch=self.latch,
            monotone=True,
        )


class DryFriction(Named):
    """Friction force ``f`` against relative velocity ``v``, with true sticking.

    Sliding: ``f = +-(sliding + viscous * |v|)``; sticking: ``v = 0`` while ``|f| <= breakaway``.

    Parameters
    ----------
    v, f : expression
        Relative velocity and the force against it, so that ``f * v`` is dissipated.
    sliding : expression, or callable of ``|v|``
        Force while sliding.
    breakaway : expression
        Largest force while sticking. Not below ``sliding`` at rest; identically zero means no friction at all.
    viscous : expression
        Force by velocity that is added while sliding.
    engaged : condition
        While false there is no friction.
    """

    __slots__ = ("breakaway", "engaged", "f", "sliding", "v", "viscous")

    def __init__(
        self,
        v: Any,
        f: Any,
        *,
        sliding: Any,
        breakaway: Any,
        viscous: Any = 0.0,
        engaged: Any = True,
        name: str = "state",
    ) -> None:
        super().__init__(name)
        self.v, self.f, self.viscous, self.breakaway = wrap(v), wrap(f), wrap(viscous), wrap(breakaway)
        self.sliding: Callable[[Expr], Any] = sliding if callable(sliding) else lambda speed: sliding
        self.engaged = condition(engaged)

    def mode_field(self) -> Discrete:
        """Return the field of the state: an enum `FrictionState`."""
        field = Discrete(FrictionState)
        field.name = self.name
        return field

    def table(self) -> ElementTable:
        """Return the branches with their residuals, guards and blocked quantities."""
        v, f, Fs = self.v, self.f, self.breakaway
        forward = f - (wrap(self.sliding(v)) + self.viscous * v)
        backward = f + (wrap(self.sliding(-v)) - self.viscous * v)
        always = self.engaged.op == "true" and self.engaged.data
        return ElementTable(
            "friction",
            (
                BranchTable("stick", (v,), (Leave(1, Fs - f), Leave(2, Fs + f)), (f,)),
                BranchTable("forward", (forward,), (Leave(0, v),), (v,)),
                BranchTable("backward", (backward,), (Leave(0, -v),), (v,)),
                BranchTable("free", (f,), (), (v,)),
            ),
            enabled=None if always else self.engaged,
            breakaway=Fs,
        )


class Impact(Named):
    """A one-sided contact with restitution: ``gap >= 0``, ``force >= 0``.

    An impact turns the velocity of the gap from ``v`` into ``-restitution * v`` within the instant, with momentum
    conserved (Newton's law of impact). Contacts that touch pass an impulse on in rounds, each with its own restitution;
    what no impulse reaches keeps its values.

    Parameters
    ----------
    gap, force : expression
        Distance, and the force that presses; one of them is zero.
    restitution : expression
        Ratio of the relative speeds after and before, 0 to 1.
    rest_speed : expression, optional
        Below this approach speed contact is kept. By default it is 1e-6 of the fastest approach of the contacts that share
        masses in the same instant, and bouncing comes to an end where a flight is too short for the resolution of time.
    """

    __slots__ = ("force", "gap", "rest_speed", "restitution")

    def __init__(
        self, gap: Any, force: Any, *, restitution: Any = 0.0, rest_speed: Any = None, name: str = "contact"
    ) -> None:
        super().__init__(name)
        self.gap, self.force, self.restitution = wrap(gap), wrap(force), wrap(restitution)
        self.rest_speed = None if rest_speed is None else wrap(rest_speed)

    def table(self) -> ElementTable:
        """Return the branches with their residuals, guards and blocked quantities."""
        return ElementTable(
            "impact",
            (
                BranchTable("free", (self.force,), (Leave(1, self.gap),), (self.gap,)),
                BranchTable("contact", (self.gap,), (Leave(0, self.force),), (self.force,)),
            ),
            restitution=self.restitution,
            rest_speed=self.rest_speed,
        )


@frozen
class leave:  # noqa: N801 (a verb of the language)
    """Leave the mode for ``target`` when ``g`` becomes positive and ``enabled`` holds.

    Parameters
    ----------
    target : str
        Name of the next mode.
    g : expression
        Write ``x - limit`` for "above the limit", ``limit - x`` for "below".
    enabled : condition
    """

    target: str
    g: Any
    enabled: Any = True


_MODE = 'Mode("name", Eq(a, b), leave("other", x - limit))'


class Mode:
    """One mode of ``Modes``: its equation and the ways out.

    Parameters
    ----------
    name : str
    equation : Eq
        In force in this mode.
    *leaves : leave
        Ways out; if several are open, the one written first is taken.

    Raises
    ------
    StatementError
        For something else than one equation and ways out.
    """

    __slots__ = ("equation", "leaves", "name")

    def __init__(self, name: str, equation: Eq, *leaves: leave) -> None:
        only(Eq, [equation], f"Mode `{name}` takes one equation", _MODE)
        only(leave, leaves, f"Mode `{name}` takes ways out after its equation", _MODE)
        self.name, self.equation, self.leaves = name, equation, leaves


class Modes(Named):
    """The general element: one equation per mode, left when a ``leave`` expression becomes positive.

    Parameters
    ----------
    name : str
        Path of the mode in results.
    *modes : Mode
    curve : (expression, expression), optional
        The two quantities between which the modes draw a characteristic: a mode whose equation reads the second one leaves the
        first one open, others leave the second one open. A product that is a power is what the element absorbs.
    start : str
        Name of the mode before the first instant.

    Raises
    ------
    StatementError
        If names repeat, a name is unknown, or something else than modes is given.
    """

    __slots__ = ("curve", "enum", "modes", "start")

    def __init__(self, name: str, *modes: Mode, curve: tuple[Any, Any] | None = None, start: str) -> None:
        super().__init__(name)
        only(Mode, modes, f"Modes `{name}` takes modes", _MODE)
        self.modes, self.curve = modes, curve
        names = [m.name for m in modes]
        if len(set(names)) != len(names) or start not in names:
            raise StatementError(f"Modes `{name}`: mode names must differ and include start `{start}`")
        missing = [x.target for m in modes for x in m.leaves if x.target not in names]
        if missing:
            raise StatementError(f"Modes `{name}` leaves for `{missing[0]}`, which is not one of {names}")
        self.enum = Enum(name, {n: k for k, n in enumerate(names)})
        self.start = names.index(start)

    def mode_field(self) -> Discrete:
        """Return the field of the mode: an enum of the names of the modes."""
        field = Discrete(cast(type, self.enum))
        field.name = self.name
        return field

    def table(self) -> ElementTable:
        """Return the branches with their residuals, guards and blocked quantities."""
        index = {m.name: k for k, m in enumerate(self.modes)}
        branches, open_ = [], []
        for m in self.modes:
            guards = tuple(
                Leave(index[x.target], -wrap(x.g), None if x.enabled is True else condition(x.enabled))
                for x in m.leaves
            )
            open_.append(self._open(m))
            branches.append(BranchTable(m.name, (m.equation.residual,), guards, (open_[-1],)))
        absorbing = None
        if self.curve is not None and dimension(wrap(self.curve[0]) * wrap(self.curve[1])) == parse_unit("W"):
            first, second = ([k for k, x in enumerate(open_) if x is y] for y in map(wrap, self.curve))
            absorbing = (first[0], second[0]) if first and second else None
        return ElementTable("modes", tuple(branches), start=self.start, absorbing=absorbing)

    def _open(self, mode: Mode) -> Expr:
        """What a mode leaves open: the one quantity of the curve or the other; else what the first other mode prescribes."""
        if self.curve is not None:
            x, y = map(wrap, self.curve)
            return x if _read(mode.equation.residual) & _read(y) else y
        return next((o.equation.residual for o in self.modes if o is not mode), constant(0.0))


def _read(expr: Expr) -> set[tuple[int, str]]:
    """The fields that an expression reads."""
    return {(id(x.owner), x.name) for x in walk(expr) if isinstance(x, Symbol)}


Element = If | Complementarity | DryFriction | Impact | Modes
