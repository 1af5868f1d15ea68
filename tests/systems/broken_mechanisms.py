"""Broken planar mechanisms: loops that do not close, lock, or are closed too often."""

from acausal import (
    Component,
    ConvergenceError,
    InitializationError,
    RequirementError,
    SingularModelError,
    connect,
)
from acausal.components.planar import Body, Fixed, FixedTranslation, Prismatic, Revolute, Rod, World
from acausal.components.rotational import ConstantSpeed

from .broken_models import Broken
from .refusals import Statements


class FourBar(Component):
    """A crank, a coupler and a rocker that span at most 0.45 m between pivots 1 m apart."""

    def build(self) -> None:
        self.world, self.pivot = World(), Fixed(r=(1.0, 0.0))
        self.crank, self.arm = Revolute(phi=0.7, w=1.0), FixedTranslation(r=(0.1, 0.0))
        self.coupler, self.rocker = Rod(L=0.15), Rod(L=0.2)
        self.weight, self.flywheel = Body(m=1.0, I=0.1), Body(m=1.0, I=0.1)

    def equations(self) -> Statements:
        yield connect(self.world.frame_b, self.crank.frame_a)
        yield connect(self.crank.frame_b, self.arm.frame_a, self.flywheel.frame_a)
        yield connect(self.arm.frame_b, self.coupler.frame_a)
        yield connect(self.coupler.frame_b, self.weight.frame_a, self.rocker.frame_b)
        yield connect(self.pivot.frame_b, self.rocker.frame_a)


class ShortRod(Component):
    """A slider-crank whose rod is shorter than its crank: it locks when the rod stands across the slide."""

    def build(self) -> None:
        self.world, self.drive = World(), ConstantSpeed(w_fixed=1.0)
        self.crank, self.arm = Revolute(useAxisFlange=True), FixedTranslation(r=(0.3, 0.0))
        self.rod, self.slide, self.piston = Rod(L=0.2), Prismatic(s=0.5), Body(m=2.0, I=0.1, g=0.0)

    def equations(self) -> Statements:
        yield connect(self.world.frame_b, self.crank.frame_a, self.slide.frame_a)
        yield connect(self.drive.flange, self.crank.axis)
        yield connect(self.crank.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.rod.frame_a)
        yield connect(self.rod.frame_b, self.slide.frame_b, self.piston.frame_a)


class Welded(Component):
    """A four-bar linkage with rigid parts in the place of all its joints."""

    def build(self) -> None:
        self.world, self.pivot = World(), Fixed(r=(1.0, 0.0))
        self.crank, self.coupler = FixedTranslation(r=(0.0, 0.2)), FixedTranslation(r=(1.0, 0.0))
        self.rocker, self.weight = FixedTranslation(r=(0.0, -0.2)), Body(m=1.0, I=0.1)

    def equations(self) -> Statements:
        yield connect(self.world.frame_b, self.crank.frame_a)
        yield connect(self.crank.frame_b, self.coupler.frame_a, self.weight.frame_a)
        yield connect(self.coupler.frame_b, self.rocker.frame_a)
        yield connect(self.rocker.frame_b, self.pivot.frame_b)


class TwoSlides(Component):
    """A body on two parallel slides, either of which keeps it from turning."""

    def build(self) -> None:
        self.world, self.body = World(), Body(m=1.0, I=0.1)
        self.left, self.right = Prismatic(), Prismatic()

    def equations(self) -> Statements:
        yield connect(self.world.frame_b, self.left.frame_a, self.right.frame_a)
        yield connect(self.left.frame_b, self.right.frame_b, self.body.frame_a)


class NoWorld(Component):
    """A body on an arm whose hinge is attached to nothing."""

    def build(self) -> None:
        self.hinge, self.arm, self.body = Revolute(), FixedTranslation(r=(1.0, 0.0)), Body(m=1.0, I=0.1)

    def equations(self) -> Statements:
        yield connect(self.hinge.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.body.frame_a)


class NoDirection(Component):
    """A slide along nothing."""

    def build(self) -> None:
        self.world, self.slide, self.body = World(), Prismatic(n=(0.0, 0.0)), Body(m=1.0, I=0.1)

    def equations(self) -> Statements:
        yield connect(self.world.frame_b, self.slide.frame_a)
        yield connect(self.slide.frame_b, self.body.frame_a)


MECHANISMS = {
    "a linkage that does not close": Broken(
        FourBar,
        InitializationError,
        ("`coupler`", "`rocker`", "Eq(dx, L*cos(phi))", "coupler.phi", "rocker.phi", "joints.py"),
        ("Eq(der(m",),
        "close",
    ),
    "a rod shorter than the crank": Broken(
        ShortRod,
        ConvergenceError,
        ("`Eq(dy, L*sin(phi))` of `rod`", "`arm`", "`slide`", "`rod.phi` = -1.57"),
        ("of `piston`", "of `drive`"),
        "check the lengths",
        "singular configuration",
        until=0.729727656226966,
    ),
    "a linkage without joints": Broken(
        Welded,
        SingularModelError,
        (
            "`world`, `pivot`, `crank`, `coupler`, `rocker` hold each other more often than needed",
            "`world.frame_b.fx`",
        ),
        ("`weight`", "`Welded`"),
        "leave out one of",
    ),
    "two slides side by side": Broken(
        TwoSlides,
        SingularModelError,
        ("`world`, `left`, `right` hold each other more often than needed", "`left.frame_a.tau`"),
        ("`body`",),
        "leave out one of",
        "`left.frame_a.phi`",
    ),
    "a hinge on nothing": Broken(
        NoWorld,
        SingularModelError,
        ("nothing determines `hinge.phi`",),
        ("arm.", "body."),
        "port `frame_a` of `hinge` is not connected to anything",
    ),
    "a slide without direction": Broken(
        NoDirection,
        RequirementError,
        ("`n` must not be zero", "at slide"),
        ("`body`",),
        "change the parameters",
    ),
}
