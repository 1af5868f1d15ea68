"""Broken models that are equations only: too many, too few, in the wrong place, dependent, unsolvable, of unlike units."""

from acausal import (
    BalanceError,
    Component,
    ContradictionError,
    ConvergenceError,
    Discrete,
    DuplicateWriterError,
    Eq,
    If,
    InitializationError,
    NonFiniteError,
    Parameter,
    SingularModelError,
    StatementError,
    UnitError,
    Variable,
    cos,
    der,
    sin,
    sqrt,
    time,
)

from .broken_models import Broken
from .refusals import Statements


class Three(Component):
    """Three unknowns."""

    x: Variable = Variable()
    y: Variable = Variable()
    z: Variable = Variable()


class Surplus(Three):
    """``x`` has two equations too many to live with ``y``; ``z`` is fine."""

    def equations(self) -> Statements:
        yield Eq(self.x, 1)  # <-
        yield Eq(self.z, time)
        yield Eq(self.x, 2)  # <-
        yield Eq(self.y, self.z)


class Lacking(Three):
    """Nothing is said about ``z``."""

    def equations(self) -> Statements:
        yield Eq(self.x, 1)
        yield Eq(self.y, 2 * self.x)


class LackingPair(Three):
    """One equation for ``y`` and ``z`` together."""

    def equations(self) -> Statements:
        yield Eq(self.x, 1)
        yield Eq(self.y + self.z, self.x)  # <-


class Inner(Three):
    """A part that forgets an equation."""

    def equations(self) -> Statements:
        yield Eq(self.x, 1)
        yield Eq(self.y, 2 * self.x)


class LackingWithin(Component):
    """The part is to blame, not the whole."""

    s: Variable = Variable()

    def build(self) -> None:
        self.inner = Inner()

    def equations(self) -> Statements:
        yield Eq(self.s, self.inner.x)


class Misplaced(Three):
    """As many equations as unknowns, but two for ``x`` and one for ``y`` and ``z``."""

    def equations(self) -> Statements:
        yield Eq(self.x, 1)  # <-
        yield Eq(self.x, time)  # <-
        yield Eq(self.y, 3 * self.z)


class MisplacedNonlinear(Component):
    """The same with roots: two equations for ``x``, one for ``y`` and ``z``, and a state beside them."""

    s: Variable = Variable(start=1.0)
    x: Variable = Variable(start=1.0)
    y: Variable = Variable(start=1.0)
    z: Variable = Variable(start=1.0)

    def equations(self) -> Statements:
        yield Eq(der(self.s), -(self.s**3))
        yield Eq(self.x**2, 1)  # <-
        yield Eq(self.x**3, 1)  # <-
        yield Eq(self.y * self.z, 1)  # <-


class Contradicting(Three):
    """Twice the same sum of two unknowns, with different values."""

    def equations(self) -> Statements:
        yield Eq(self.x + self.y, 1)  # <-
        yield Eq(self.z, time)
        yield Eq(2 * self.x + 2 * self.y, 3)  # <-


class DependentState(Component):
    """Two equations for the rates of two variables say the same, by the values of parameters."""

    a: Parameter = Parameter(default=0.3)
    b: Parameter = Parameter(default=0.1)
    x: Variable = Variable()
    y: Variable = Variable()
    s: Variable = Variable(start=1.0)

    def equations(self) -> Statements:
        yield Eq(der(self.s), -self.s)
        yield Eq(self.a * der(self.x) + 3 * der(self.y), 0)  # <-
        yield Eq(self.b * der(self.x) + der(self.y), 0)  # <-


class NumbersOnly(Three):
    """An equation in which nothing is unknown."""

    a: Parameter = Parameter(default=2.0)
    b: Parameter = Parameter(default=3.0)

    def equations(self) -> Statements:
        yield Eq(self.x, time)
        yield Eq(self.a, self.b)  # <-
        yield Eq(self.y + self.z, 0)


class LiteralsOnly(Component):
    """Two is three."""

    x: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(2, 3)  # <-


class TwoWriters(Component):
    """Two equations for one discrete variable."""

    on: Discrete = Discrete(bool)
    x: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(self.x, time)
        yield Eq(self.on, self.x > 0.5)  # <-
        yield Eq(self.on, self.x > 0.7)  # <-


class UnequalBranches(Component):
    """Two equations on one side of an `If`, one on the other."""

    on: Discrete = Discrete(bool)
    x: Variable = Variable()
    y: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(self.on, time > 0.5)
        yield If(self.on, [Eq(self.x, 1), Eq(self.y, 2)], [Eq(self.x, 2)])  # <-


class UnitsOfSides(Component):
    """A mass is no time."""

    m: Variable = Variable(unit="kg")
    t: Variable = Variable(unit="s")

    def equations(self) -> Statements:
        yield Eq(self.t, time)
        yield Eq(self.m, 2 * self.t)  # <-


class UnitsWithin(Component):
    """A mass per time is added to a force."""

    m: Variable = Variable(unit="kg")
    v: Variable = Variable(unit="m/s")
    F: Variable = Variable(unit="N")

    def equations(self) -> Statements:
        yield Eq(self.m, 2)
        yield Eq(self.F, 3)
        yield Eq(self.m * der(self.v), self.F + der(self.m))  # <-


class UnitsOfArgument(Component):
    """The argument of a sine is a time, since the frequency is forgotten."""

    f: Parameter = Parameter(default=50.0, unit="Hz")
    v: Variable = Variable(unit="V")
    V: Parameter = Parameter(default=1.0, unit="V")

    def equations(self) -> Statements:
        yield Eq(self.v, self.V * sin(6.28 * time))  # <-


class NoRoot(Component):
    """A square is negative."""

    x: Variable = Variable(start=1.0)
    y: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.y), self.x)
        yield Eq(self.x**2 + 1, 0)  # <-


class NoValue(Component):
    """The root of a negative number, at once."""

    y: Variable = Variable(start=-2.0)
    x: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.y), self.x)
        yield Eq(self.x, sqrt(self.y))  # <-


class NoCosine(Component):
    """Two equations of one loop that meet nowhere, beside one that is fine."""

    x: Variable = Variable(start=0.5)
    y: Variable = Variable(start=0.5)
    z: Variable = Variable(start=0.5)
    s: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.s), self.x + self.z)
        yield Eq(cos(self.x) + self.y, 3)  # <-
        yield Eq(self.y, sin(self.x))
        yield Eq(self.z, cos(self.z))


class Divided(Component):
    """A denominator becomes zero at half of its squared start, ``d = sqrt(d0**2 - 2 t)``; a flywheel turns beside it."""

    d: Variable = Variable(start=0.25)
    y: Variable = Variable()
    w: Variable = Variable(start=1.0)

    def equations(self) -> Statements:
        yield Eq(der(self.d), -self.y)
        yield Eq(self.y * self.d, 1)  # <-
        yield Eq(der(self.w), -self.w * self.w)


class DeepConstraint(Component):
    """A nonlinear path is prescribed to a body on two springs in a row: five differentiations."""

    x: Variable = Variable()
    v: Variable = Variable()
    y: Variable = Variable()
    u: Variable = Variable()
    force: Variable = Variable()
    omega: Parameter = Parameter(default=1.0, unit="1/s")

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.v)
        yield Eq(der(self.v), self.y - self.x)
        yield Eq(der(self.y), self.u)
        yield Eq(der(self.u), self.force - self.y)
        yield Eq(self.x + self.x**3, sin(self.omega * time))  # <-


class Pendulum(Component):
    """A pendulum without length."""

    L: Parameter = Parameter(default=0.0, unit="m")
    x: Variable = Variable(unit="m")
    y: Variable = Variable(unit="m")
    vx: Variable = Variable(unit="m/s")
    vy: Variable = Variable(unit="m/s")
    T: Variable = Variable(unit="1/s2")

    def equations(self) -> Statements:
        yield Eq(self.vx, der(self.x))
        yield Eq(self.vy, der(self.y))
        yield Eq(der(self.vx), -self.T * self.x)
        yield Eq(der(self.vy), -self.T * self.y - 9.81)
        yield Eq(self.x**2 + self.y**2, self.L**2)  # <-


EQUATIONS = {
    "one equation too many": Broken(
        Surplus, BalanceError, ("Surplus", "`x`", "Eq(x, 1)", "Eq(x, 2)"), ("`z`", "`y`", "Eq(y"), "remove"
    ),
    "one equation too few": Broken(Lacking, BalanceError, ("Lacking", "`z`"), ("`x`", "`y`"), "equation"),
    "two unknowns share an equation": Broken(
        LackingPair, BalanceError, ("`y`", "`z`", "Eq(y + z, x)"), ("`x`",), "equation"
    ),
    "a part lacks an equation": Broken(
        LackingWithin, BalanceError, ("Inner", "inner", "`z`"), ("`x`", "`y`", "LackingWithin"), "equation"
    ),
    "equations in the wrong place": Broken(
        Misplaced,
        ContradictionError,
        ("Eq(x, 1)", "Eq(x, time)"),
        (),
        "remove one of them",
        "determines `y`, `z`",
    ),
    "nonlinear equations in the wrong place": Broken(
        MisplacedNonlinear,
        SingularModelError,
        ("Eq(x**2, 1)", "Eq(x**3, 1)", "`y`", "`z`"),
        ("Eq(der(s)",),
        "remove an equation that prescribes what others prescribe already; state a further equation for `y`, `z`",
        "determine `x` more than once",
    ),
    "an equation contradicted": Broken(
        Contradicting, ContradictionError, ("Eq(x + y, 1)",), ("`z`", "Eq(z"), "remove", "1 = 0"
    ),
    "dependent by numbers, with a state": Broken(
        DependentState,
        SingularModelError,
        ("`x`",),
        ("`s`", "Eq(der(s)"),
        "the values of `a`, `b`",
        "one of these equations follows from the others: Eq(a*der(x) + 3*der(y), 0)",
    ),
    "an equation of parameters": Broken(
        NumbersOnly, ContradictionError, ("Eq(a, b)", "`y`", "`z`"), ("`x`",), "require(...)", "1 = 0"
    ),
    "an equation of numbers": Broken(
        LiteralsOnly, ContradictionError, ("Eq(2, 3)", "`x`"), (), "it holds no unknown", "1 = 0"
    ),
    "a discrete equation twice": Broken(TwoWriters, DuplicateWriterError, ("`on`",), ("`x`",), ""),
    "branches of unequal counts": Broken(
        UnequalBranches, StatementError, ("2 equations", "1 in the other"), (), "as many"
    ),
    "sides of different units": Broken(
        UnitsOfSides, UnitError, ("`m`", "`2*t`", "kg", "s"), (), "unit", "Eq(m, 2*t)"
    ),
    "terms of different units": Broken(
        UnitsWithin,
        UnitError,
        ("`F`", "m.kg.s-2", "`der(m)`", "kg.s-1"),
        (),
        "unit",
        "Eq(m*der(v), F + der(m))",
    ),
    "an argument with a unit": Broken(
        UnitsOfArgument,
        UnitError,
        ("sin", "`6.28*time`", "in s"),
        (),
        "make 6.28 a Parameter",
        "Eq(v, V*sin(6.28*time))",
    ),
    "no root": Broken(
        NoRoot, InitializationError, ("`Eq(x**2 + 1, 0)`", "`x` = "), ("Eq(der(y)",), "start values"
    ),
    "no value at the start": Broken(
        NoValue, NonFiniteError, ("`Eq(x, sqrt(y))`", "`y` = -2"), ("Eq(der(y)",), "start values inside"
    ),
    "a loop without solution": Broken(
        NoCosine,
        InitializationError,
        ("`Eq(cos(x) + y, 3)`", "`x` = ", "`y` = "),
        ("Eq(z", "`z`", "Eq(der(s)"),
        "start values",
    ),
    "a denominator that becomes zero": Broken(
        Divided,
        ConvergenceError,
        ("`Eq(y*d, 1)`", "`d` = ", "`y` = "),
        ("Eq(der(w)",),
        "division",
        until=0.03125,
    ),
    "too many differentiations": Broken(
        DeepConstraint,
        SingularModelError,
        ("`Eq(x + x**3, sin(omega*time))`",),
        ("Eq(der(u)",),
        "lower derivative",
    ),
    "a pendulum without length": Broken(
        Pendulum, SingularModelError, ("`x` = 0", "`y` = 0", "Eq(x**2 + y**2, L**2)"), ("Eq(vx",), "`L`"
    ),
}
