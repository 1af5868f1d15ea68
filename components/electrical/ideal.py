"""Ideal switches, diode and thyristors.

All work with ``Ron = Goff = 0``, their defaults: nothing stiff is put in the
place of an ideal element.
"""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Complementarity,
    Component,
    Eq,
    Expr,
    If,
    Impulse,
    Input,
    Parameter,
    Statement,
    Structural,
    Variable,
    connect,
    require,
)

from .interfaces import HeatingOnePort, Pin, TwoPin


class IdealSwitch(HeatingOnePort):
    """Partial: a path that is closed, ``v = Ron * i``, or open, ``i = Goff * v``.

    A component yields `path` with the condition under which it is closed. The
    state is read as ``closed``.
    """

    Ron: Parameter = Parameter(default=0.0, unit="Ohm", min=0, doc="Resistance when closed")
    Goff: Parameter = Parameter(default=0.0, unit="S", min=0, doc="Conductance when open")
    interrupt: Structural[Impulse] = Structural(
        Impulse, default=Impulse.DEFAULT, doc="What to do when opening cuts a current that has no other path"
    )

    def path(self, closed: Expr) -> If:
        """Return the statement of a path that conducts while ``closed`` holds."""
        on, off = Eq(self.v, self.Ron * self.i), Eq(self.i, self.Goff * self.v)
        return If(closed, [on], [off], impulse=self.interrupt, name="closed")


class IdealClosingSwitch(IdealSwitch):
    """Switch that is closed while ``control`` is true: ``v = Ron * i``, else ``i = Goff * v``.

    It opens whatever flows, without arc and bounce: an inductive current needs another path, see ``interrupt``.
    """

    control: Input = Input(bool, doc="True: closed")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield self.path(closed=self.control)


class IdealOpeningSwitch(IdealSwitch):
    """Switch that is open while ``control`` is true: ``i = Goff * v``, else ``v = Ron * i``.

    It opens whatever flows, without arc and bounce: an inductive current needs another path, see ``interrupt``.
    """

    control: Input = Input(bool, doc="True: open")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield self.path(closed=~self.control)


class IdealTwoWaySwitch(Component):
    """Changeover switch: ``p`` is joined to ``n2`` while ``control`` is true, else to ``n1``.

    Path k from ``p`` to ``nk``: ``vk = Ron * ik`` if joined, else ``ik = Goff * vk``.
    Both paths change over in one instant, so an inductive current at ``p`` is never interrupted;
    one at ``n1`` or ``n2`` is. There is no gap and no overlap of the contacts.
    """

    p = Pin()
    n1 = Pin()
    n2 = Pin()
    Ron: Parameter = Parameter(default=0.0, unit="Ohm", min=0, doc="Resistance of the closed path")
    Goff: Parameter = Parameter(default=0.0, unit="S", min=0, doc="Conductance of the open path")
    interrupt: Structural[Impulse] = Structural(
        Impulse, default=Impulse.DEFAULT, doc="What to do when opening cuts a current that has no other path"
    )
    control: Input = Input(bool, doc="True: p is joined to n2; false: to n1")
    v1: Variable = Variable(unit="V", doc="Voltage drop from p to n1")
    i1: Variable = Variable(unit="A", doc="Current from p to n1")
    v2: Variable = Variable(unit="V", doc="Voltage drop from p to n2")
    i2: Variable = Variable(unit="A", doc="Current from p to n2")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.v1, self.p.v - self.n1.v)
        yield Eq(self.v2, self.p.v - self.n2.v)
        yield Eq(self.i1, -self.n1.i)
        yield Eq(self.i2, -self.n2.i)
        yield Eq(0, self.p.i + self.n1.i + self.n2.i)
        on1, off1 = Eq(self.v1, self.Ron * self.i1), Eq(self.i1, self.Goff * self.v1)
        on2, off2 = Eq(self.v2, self.Ron * self.i2), Eq(self.i2, self.Goff * self.v2)
        yield If(~self.control, [on1], [off1], impulse=self.interrupt, name="closed1")
        yield If(self.control, [on2], [off2], impulse=self.interrupt, name="closed2")


class IdealSemiconductor(HeatingOnePort):
    """Partial: two straight lines that meet in the knee ``(Vknee, Goff * Vknee)``.

    Conducting: ``v = Vknee + Ron * (i - Goff * Vknee)``; blocking: ``i = Goff * v``.
    Passive for all parameters, ``v * i >= 0``. The state is read as ``on``.
    """

    Ron: Parameter = Parameter(default=0.0, unit="Ohm", min=0, doc="Differential resistance when conducting")
    Goff: Parameter = Parameter(default=0.0, unit="S", min=0, doc="Conductance when blocking")
    Vknee: Parameter = Parameter(default=0.0, unit="V", min=0, doc="Forward threshold voltage")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield require(
            self.Ron * self.Goff < 1, "`Ron * Goff` must be below 1: conducting must be steeper than blocking"
        )

    def blocking(self) -> Expr:
        """Return the distance of ``v`` below the conducting line, in V: zero while conducting."""
        return self.Vknee + self.Ron * (self.i - self.Goff * self.Vknee) - self.v

    def conducting(self) -> Expr:
        """Return the current above the leakage, in A: zero while blocking."""
        return self.i - self.Goff * self.v


class IdealDiode(IdealSemiconductor):
    """Ideal diode, ``0 <= Vknee - v``, ``0 <= i``, one of them zero; with ``Ron`` and ``Goff``: `IdealSemiconductor`.

    Conducts without loss forward, blocks without leakage backward. There is no reverse recovery and no breakdown.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Complementarity(self.blocking(), self.conducting())


class IdealThyristor(IdealSemiconductor):
    """Ideal thyristor: a diode that starts to conduct only while ``fire`` is true, and stops at zero current.

    Once on it conducts until its current has come down to zero, whether fired or not. The latching and holding
    currents are zero and the turn-off time is zero: it blocks forward voltage at once after a zero crossing, and so it
    does when the pulse ends before any current flows. Two in series have to be fired together, except where others
    leak (``Goff``): their leakage is a current too, and holds.
    """

    fire: Input = Input(bool, doc="True: may start to conduct")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Complementarity(self.blocking(), self.conducting(), enabled=self.fire, latch=True)


class IdealGTOThyristor(IdealSemiconductor):
    """Ideal gate turn-off thyristor: a diode while ``fire`` is true, else ``i = Goff * v``.

    Turns off whatever flows, without tail current: an inductive current needs another path.
    """

    fire: Input = Input(bool, doc="True: may conduct; false: blocks")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Complementarity(self.blocking(), self.conducting(), enabled=self.fire)


class IdealTriac(TwoPin):
    """Ideal triac: two antiparallel thyristors, `IdealThyristor`, with one gate.

    Conducts either way once fired, until its current comes down to zero. While ``fire`` stays true the current
    passes from one direction to the other. Both thyristors leak: the conductance when blocking is ``2 * Goff``.
    The snubber that a real triac needs with inductive loads is not included.
    """

    Ron: Parameter = Parameter(default=0.0, unit="Ohm", min=0, doc="Differential resistance when conducting")
    Goff: Parameter = Parameter(
        default=0.0, unit="S", min=0, doc="Conductance of each thyristor when blocking"
    )
    Vknee: Parameter = Parameter(default=0.0, unit="V", min=0, doc="Threshold voltage, in both directions")
    fire: Input = Input(bool, doc="True: may start to conduct, in either direction")

    def build(self) -> None:
        self.forward = IdealThyristor(Ron=self.Ron, Goff=self.Goff, Vknee=self.Vknee, fire=self.fire)
        self.backward = IdealThyristor(Ron=self.Ron, Goff=self.Goff, Vknee=self.Vknee, fire=self.fire)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield connect(self.p, self.forward.p, self.backward.n)
        yield connect(self.n, self.forward.n, self.backward.p)
