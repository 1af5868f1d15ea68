"""Heat transfer between bodies of one temperature each.

Temperatures are absolute, in K; heat flows are positive into the component. Between two ports ``Q_flow`` passes from
``port_a`` to ``port_b``. A start value is given under the name of its variable: ``HeatCapacitor(C=10.0, T=350.0)``. Lossy
parts of other domains have a heat port while ``useHeatPort`` is true.
"""

from .interfaces import Element1D as Element1D
from .interfaces import HeatPort as HeatPort
from .interfaces import PartialConditionalHeatPort as PartialConditionalHeatPort
from .interfaces import PartialOnePort as PartialOnePort
from .interfaces import PartialTwoPorts as PartialTwoPorts
from .parts import BodyRadiation as BodyRadiation
from .parts import Convection as Convection
from .parts import ConvectiveResistor as ConvectiveResistor
from .parts import HeatCapacitor as HeatCapacitor
from .parts import PartialConvection as PartialConvection
from .parts import ThermalCollector as ThermalCollector
from .parts import ThermalConductor as ThermalConductor
from .parts import ThermalResistor as ThermalResistor
from .sensors import HeatFlowSensor as HeatFlowSensor
from .sensors import RelTemperatureSensor as RelTemperatureSensor
from .sensors import TemperatureSensor as TemperatureSensor
from .sources import FixedHeatFlow as FixedHeatFlow
from .sources import FixedTemperature as FixedTemperature
from .sources import PrescribedHeatFlow as PrescribedHeatFlow
from .sources import PrescribedTemperature as PrescribedTemperature
