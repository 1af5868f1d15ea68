"""Converters between electrical and mechanical power: ideal ones, and DC machines.

Positive current into ``p``, or ``pin_ap``, at positive speed: electrical power becomes mechanical. By the sign convention
the torque on a connected load is ``-flange.tau``. A start value is given under the name of its variable:
``DC_PermanentMagnet(wMechanical=100.0)``.
"""

from .converters import RotationalEMF as RotationalEMF
from .converters import TranslationalEMF as TranslationalEMF
from .dc_machines import DC_ElectricalExcited as DC_ElectricalExcited
from .dc_machines import DC_PermanentMagnet as DC_PermanentMagnet
from .dc_machines import DC_SeriesExcited as DC_SeriesExcited
from .dc_machines import PartialDCMachine as PartialDCMachine
from .dc_machines import PartialExcitedMachine as PartialExcitedMachine
