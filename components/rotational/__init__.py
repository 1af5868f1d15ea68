"""One-dimensional rotational mechanics, with true sticking.

Between two flanges ``phi_rel = flange_b.phi - flange_a.phi`` and ``tau = flange_b.tau``, positive when it reduces
``phi_rel``. A start value is given under the name of its variable: ``Inertia(J=1.0, phi=0.5, w=2.0)``. A sticking
contact does not creep; which branch of a friction is in force is read as ``state``.
"""

from .backlash import ElastoBacklash as ElastoBacklash
from .backlash import ElastoBacklash2 as ElastoBacklash2
from .backlash import PartialBacklash as PartialBacklash
from .belts import ElasticBelt as ElasticBelt
from .belts import IdealBelt as IdealBelt
from .belts import RopePulley as RopePulley
from .friction import BearingFriction as BearingFriction
from .friction import Brake as Brake
from .friction import Clutch as Clutch
from .friction import CoulombFriction as CoulombFriction
from .friction import OneWayClutch as OneWayClutch
from .friction import PartialDisc as PartialDisc
from .friction import PartialShaftFriction as PartialShaftFriction
from .gears import IdealGear as IdealGear
from .gears import IdealGearR2T as IdealGearR2T
from .gears import IdealPlanetary as IdealPlanetary
from .gears import IdealRollingWheel as IdealRollingWheel
from .gears import PartialRotationalToTranslational as PartialRotationalToTranslational
from .gears import RackAndPinion as RackAndPinion
from .interfaces import Flange as Flange
from .interfaces import PartialCompliant as PartialCompliant
from .interfaces import PartialCompliantWithRelativeStates as PartialCompliantWithRelativeStates
from .interfaces import PartialOneFlange as PartialOneFlange
from .interfaces import PartialOneFlangeAndSupport as PartialOneFlangeAndSupport
from .interfaces import PartialRigid as PartialRigid
from .interfaces import PartialSupport as PartialSupport
from .interfaces import PartialTwoFlanges as PartialTwoFlanges
from .interfaces import PartialTwoFlangesAndSupport as PartialTwoFlangesAndSupport
from .lossy_gear import LossyGear as LossyGear
from .parts import CubicSpring as CubicSpring
from .parts import Damper as Damper
from .parts import Disc as Disc
from .parts import Fixed as Fixed
from .parts import Inertia as Inertia
from .parts import InitializeFlange as InitializeFlange
from .parts import Spring as Spring
from .parts import SpringDamper as SpringDamper
from .parts import TableSpring as TableSpring
from .sensors import AccSensor as AccSensor
from .sensors import AngleSensor as AngleSensor
from .sensors import MultiSensor as MultiSensor
from .sensors import PartialRelativeSensor as PartialRelativeSensor
from .sensors import PowerSensor as PowerSensor
from .sensors import RelAccSensor as RelAccSensor
from .sensors import RelAngleSensor as RelAngleSensor
from .sensors import RelSpeedSensor as RelSpeedSensor
from .sensors import SpeedSensor as SpeedSensor
from .sensors import TorqueSensor as TorqueSensor
from .sources import Accelerate as Accelerate
from .sources import ConstantSpeed as ConstantSpeed
from .sources import ConstantTorque as ConstantTorque
from .sources import EddyCurrentTorque as EddyCurrentTorque
from .sources import LinearSpeedDependentTorque as LinearSpeedDependentTorque
from .sources import PartialSpeedDependentTorque as PartialSpeedDependentTorque
from .sources import Position as Position
from .sources import QuadraticSpeedDependentTorque as QuadraticSpeedDependentTorque
from .sources import SignTorque as SignTorque
from .sources import Speed as Speed
from .sources import Torque as Torque
from .sources import Torque2 as Torque2
from .sources import TorqueStep as TorqueStep
