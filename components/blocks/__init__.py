"""Signals: sources, algebra, logic, sampling, averages and pulse width modulation.

Float signals are continuous variables, Boolean signals are discrete. Inputs are called ``u`` (``u1``, ``u2``) and
outputs ``y``, unless the block says otherwise. An input is connected, or given as keyword. A start value is given under
the name of its variable: ``Integrator(x=1.0)``, ``Hysteresis(on=True)``, ``ZeroOrderHold(samplePeriod=1e-3, held=2.0)``.
"""

from .averages import Mean as Mean
from .averages import PartialWindow as PartialWindow
from .averages import RootMeanSquare as RootMeanSquare
from .boolean_sources import BooleanConstant as BooleanConstant
from .boolean_sources import BooleanPulse as BooleanPulse
from .boolean_sources import BooleanStep as BooleanStep
from .boolean_sources import BooleanTable as BooleanTable
from .continuous import FirstOrder as FirstOrder
from .continuous import Integrator as Integrator
from .discrete import PartialDiscreteSISO as PartialDiscreteSISO
from .discrete import SampledPI as SampledPI
from .discrete import Sampler as Sampler
from .discrete import UnitDelay as UnitDelay
from .discrete import ZeroOrderHold as ZeroOrderHold
from .firing import PhaseAngle as PhaseAngle
from .interfaces import SI2SO as SI2SO
from .interfaces import SISO as SISO
from .interfaces import SO as SO
from .interfaces import BooleanSI2SO as BooleanSI2SO
from .interfaces import BooleanSISO as BooleanSISO
from .interfaces import BooleanSO as BooleanSO
from .interfaces import PartialComparison as PartialComparison
from .interfaces import PartialComparison2 as PartialComparison2
from .logical import And as And
from .logical import Comparator as Comparator
from .logical import Greater as Greater
from .logical import GreaterEqualThreshold as GreaterEqualThreshold
from .logical import GreaterThreshold as GreaterThreshold
from .logical import Hysteresis as Hysteresis
from .logical import Less as Less
from .logical import LessEqualThreshold as LessEqualThreshold
from .logical import LessThreshold as LessThreshold
from .logical import Nand as Nand
from .logical import Nor as Nor
from .logical import Not as Not
from .logical import Or as Or
from .logical import RSFlipFlop as RSFlipFlop
from .logical import Xor as Xor
from .math import Add as Add
from .math import Add3 as Add3
from .math import BooleanToReal as BooleanToReal
from .math import Feedback as Feedback
from .math import Gain as Gain
from .math import Limiter as Limiter
from .math import Product as Product
from .periodic import PartialPulse as PartialPulse
from .pwm import PWM as PWM
from .pwm import Carrier as Carrier
from .pwm import ComplementaryPWM as ComplementaryPWM
from .pwm import DeadTime as DeadTime
from .pwm import NaturalPWM as NaturalPWM
from .pwm import PartialPWM as PartialPWM
from .sources import Constant as Constant
from .sources import PartialSource as PartialSource
from .sources import Pulse as Pulse
from .sources import Ramp as Ramp
from .sources import Sine as Sine
from .sources import Step as Step
from .sources import TimeTable as TimeTable
