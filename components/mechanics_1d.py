"""Laws that the libraries of mechanics share, stated once for angles and torques as for positions and forces.

Their components name the quantities and give them units; what one says about ``phi``, ``w`` and ``tau``
the other says about ``s``, ``v`` and ``f``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acausal.modeling import (
    DryFriction,
    Eq,
    Expr,
    Mode,
    Modes,
    Statement,
    absolute,
    curve_problem,
    leave,
    maximum,
    minimum,
    no_event,
    require,
    table,
)


def limited(x: Expr, low: Expr | float, high: Expr | float) -> Expr:
    """Return ``x`` limited to the range from ``low`` to ``high``."""
    return minimum(maximum(x, low), high)


def beyond(x: Expr, b: Expr) -> Expr:
    """Return by how much ``x`` is outside of a clearance ``b``, the range from ``-b / 2`` to ``b / 2``."""
    return maximum(x - b / 2, 0) + minimum(x + b / 2, 0)


def characteristic(x: Expr, points: Sequence[Sequence[float]]) -> Expr:
    """Return the piecewise-linear function of ``x`` through at least two points, continued with its outer slopes."""
    xs, ys = zip(*points, strict=True)
    first, last = (ys[1] - ys[0]) / (xs[1] - xs[0]), (ys[-1] - ys[-2]) / (xs[-1] - xs[-2])
    return table(x, xs, ys) + first * minimum(x - xs[0], 0) + last * maximum(x - xs[-1], 0)


def characteristic_problem(points: tuple) -> str:
    """Return what is wrong with the points of a `characteristic`, "" if nothing is."""
    return curve_problem(points) or ("" if len(points) > 1 else "needs at least two rows (x, y)")


def linear_in_speed(nominal: Expr, v: Expr, same_direction: bool) -> Expr:
    """Return ``nominal * v`` for a relative speed ``v``, or ``nominal * |v|`` if the direction does not depend on it."""
    return nominal * (absolute(v) if same_direction else v)


def quadratic_in_speed(nominal: Expr, v: Expr, same_direction: bool) -> Expr:
    """Return ``nominal * v * |v|`` for a relative speed ``v``, or ``nominal * v**2`` if the direction does not depend on it."""
    # The slope is continuous at v = 0, so no event is due.
    return nominal * v * (v if same_direction else no_event(absolute(v)))


def eddy_current(peak: Expr, v: Expr) -> Expr:
    """Return the braking force at the speed ``v``, in units of the speed at which it is largest, ``peak`` (Kloss)."""
    return 2 * peak * v / (1 + v**2)


def nonzero(x: Expr, name: str) -> Statement:
    """Require that the parameter ``x``, called ``name``, is not zero: what it couples would come apart."""
    return require(absolute(x) > 0, f"the `{name}` must not be zero")


def dry_friction(
    v: Expr, f: Expr, sliding: Expr, breakaway: Expr, viscous: Expr, what: str
) -> Iterator[Statement]:
    """Yield dry friction with stiction, and that sticking holds at least what sliding does; ``what``: force or torque."""
    message = f"the breakaway {what} must not be smaller than the sliding {what}"
    yield require(breakaway >= sliding, message)
    yield DryFriction(v, f, sliding=sliding, breakaway=breakaway, viscous=viscous)


def friction_disc(v: Expr, f: Expr, capacity: Expr, peak: Expr, f_normalized: Expr) -> DryFriction:
    """Return the friction of discs that a normalised force presses; not positive means open."""
    return DryFriction(v, f, sliding=capacity, breakaway=peak * capacity, engaged=f_normalized > 0)


def one_way_disc(v: Expr, f: Expr, capacity: Expr, peak: Expr) -> Modes:
    """Return the friction of discs that cannot turn backwards, ``v >= 0``: locked, any force below the breakaway holds."""
    return Modes(
        "state",
        Mode("locked", Eq(v, 0), leave("sliding", f - peak * capacity)),
        Mode("sliding", Eq(f, capacity), leave("locked", -v)),
        curve=(v, f),
        start="locked",
    )
