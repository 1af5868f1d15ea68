"""Planar mechanics: rigid bodies in a plane, with joints, line forces and closed loops.

Positions and forces are resolved in the world, angles are counterclockwise; forces and torques are positive into the
component. Give as many joints a start value of position and speed as the mechanism has degrees of freedom,
``Revolute(phi=0.5, w=2.0)``; all others follow. A closed loop may have more than one assembly: ``initial=`` of a run with the
position of another body tells which one is meant. Models are on the general path.
"""

from .forces import Damper as Damper
from .forces import PartialLineForceWithRate as PartialLineForceWithRate
from .forces import Spring as Spring
from .forces import SpringDamper as SpringDamper
from .interfaces import Frame as Frame
from .interfaces import PartialCoincident as PartialCoincident
from .interfaces import PartialLine as PartialLine
from .interfaces import PartialLineForce as PartialLineForce
from .interfaces import PartialRigid as PartialRigid
from .interfaces import PartialTwoFrames as PartialTwoFrames
from .joints import Driven as Driven
from .joints import IdealRolling as IdealRolling
from .joints import Prismatic as Prismatic
from .joints import Revolute as Revolute
from .joints import Rod as Rod
from .parts import Body as Body
from .parts import BodyShape as BodyShape
from .parts import Fixed as Fixed
from .parts import FixedRotation as FixedRotation
from .parts import FixedTranslation as FixedTranslation
from .parts import PartialBody as PartialBody
from .parts import World as World
from .sensors import AbsolutePosition as AbsolutePosition
from .sensors import AbsoluteVelocity as AbsoluteVelocity
from .sensors import CutForce as CutForce
from .sensors import PartialAbsoluteSensor as PartialAbsoluteSensor
from .sources import FrameForce as FrameForce
from .sources import PartialForce as PartialForce
from .sources import WorldForce as WorldForce
