"""One-dimensional translational mechanics, with true sticking and rigid impacts.

Between two flanges ``s_rel = flange_b.s - flange_a.s`` and ``f = flange_b.f``, positive when it pulls the flanges
together. A start value is given under the name of its variable: ``Mass(m=1.0, s=0.5, v=2.0)``. A sticking contact does
not creep and a stop does not yield; which branch is in force is read as ``state`` or ``contact``.
"""

from .contact import ElastoGap as ElastoGap
from .contact import HardStop as HardStop
from .contact import ImpactStop as ImpactStop
from .contact import MassWithStopAndFriction as MassWithStopAndFriction
from .friction import Brake as Brake
from .friction import CoulombFriction as CoulombFriction
from .friction import Friction as Friction
from .friction import MassWithFriction as MassWithFriction
from .friction import PartialRodFriction as PartialRodFriction
from .friction import SupportFriction as SupportFriction
from .interfaces import Flange as Flange
from .interfaces import PartialCompliant as PartialCompliant
from .interfaces import PartialCompliantWithRelativeStates as PartialCompliantWithRelativeStates
from .interfaces import PartialMass as PartialMass
from .interfaces import PartialOneFlange as PartialOneFlange
from .interfaces import PartialOneFlangeAndSupport as PartialOneFlangeAndSupport
from .interfaces import PartialRigid as PartialRigid
from .interfaces import PartialSupport as PartialSupport
from .interfaces import PartialTwoFlanges as PartialTwoFlanges
from .interfaces import PartialTwoFlangesAndSupport as PartialTwoFlangesAndSupport
from .parts import CubicSpring as CubicSpring
from .parts import Damper as Damper
from .parts import Fixed as Fixed
from .parts import InitializeFlange as InitializeFlange
from .parts import Mass as Mass
from .parts import Rod as Rod
from .parts import Spring as Spring
from .parts import SpringDamper as SpringDamper
from .parts import TableSpring as TableSpring
from .sensors import AccSensor as AccSensor
from .sensors import ForceSensor as ForceSensor
from .sensors import MultiSensor as MultiSensor
from .sensors import PartialRelativeSensor as PartialRelativeSensor
from .sensors import PositionSensor as PositionSensor
from .sensors import PowerSensor as PowerSensor
from .sensors import RelAccSensor as RelAccSensor
from .sensors import RelPositionSensor as RelPositionSensor
from .sensors import RelSpeedSensor as RelSpeedSensor
from .sensors import SpeedSensor as SpeedSensor
from .sources import Accelerate as Accelerate
from .sources import ConstantForce as ConstantForce
from .sources import ConstantSpeed as ConstantSpeed
from .sources import EddyCurrentForce as EddyCurrentForce
from .sources import Force as Force
from .sources import Force2 as Force2
from .sources import ForceStep as ForceStep
from .sources import LinearSpeedDependentForce as LinearSpeedDependentForce
from .sources import PartialSpeedDependentForce as PartialSpeedDependentForce
from .sources import Position as Position
from .sources import QuadraticSpeedDependentForce as QuadraticSpeedDependentForce
from .sources import SignForce as SignForce
from .sources import Speed as Speed
