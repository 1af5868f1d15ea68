"""Curves that semiconductor devices share, continued beyond the range in which they can be evaluated.

All make no events and stay finite for any argument: the part of the argument inside the range is cut out with
``clamp``, so that an exponential is never taken of more than its limit.
"""

from __future__ import annotations

from acausal.modeling import Expr, exp, maximum, minimum, no_event


def clamp(x: Expr, low: Expr | float, high: Expr | float) -> Expr:
    """Return ``x`` limited to the range from ``low`` to ``high``."""
    return no_event(minimum(maximum(x, low), high))


def exlin(x: Expr, high: Expr | float) -> Expr:
    """Return ``exp(x)`` up to ``high``, continued by its tangent."""
    inner = no_event(minimum(x, high))
    return exp(inner) * (1 + x - inner)


def exlin2(x: Expr, low: Expr | float, high: Expr | float) -> Expr:
    """Return ``exp(x)`` between ``low`` and ``high``, continued by its tangents."""
    inner = clamp(x, low, high)
    return exp(inner) * (1 + x - inner)


def exlin2_integral(x: Expr, low: Expr | float, high: Expr | float) -> Expr:
    """Return the integral of `exlin2` that equals ``exp(x)`` between the limits."""
    inner = clamp(x, low, high)
    return exp(inner) * (1 + (x - inner) + (x - inner) ** 2 / 2)


def depletion_integral(x: Expr, m: Expr) -> Expr:
    """Return the integral from 0 to ``x`` of ``(1 - x) ** -m``, the integrand continued by ``1 + m * x`` above 0.

    The capacitance of a junction over its zero-bias value as a function of voltage over diffusion voltage.
    """
    below = no_event(minimum(x, 0))
    above = x - below
    return (1 - (1 - below) ** (1 - m)) / (1 - m) + above + m * above**2 / 2
