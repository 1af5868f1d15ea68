"""Integer and graph algorithms on sparse arrays: exact elimination, matching, blocks, index.

Equations and unknowns are integers here; no pass knows a name, a symbol or a number of the model. Every pass takes
arrays and returns a frozen value of arrays; ties are broken by id, so results are the same in every process.
"""

from __future__ import annotations

from .aliases import AliasClasses as AliasClasses
from .aliases import AliasEdges as AliasEdges
from .aliases import alias_classes as alias_classes
from .aliases import alias_edges as alias_edges
from .aliases import independent_edges as independent_edges
from .blocks import Blocks as Blocks
from .blocks import sort_blocks as sort_blocks
from .blocks import written_order as written_order
from .decomposition import Decomposition as Decomposition
from .decomposition import StructuralPart as StructuralPart
from .decomposition import decompose as decompose
from .elimination import Echelon as Echelon
from .elimination import NullSpace as NullSpace
from .elimination import echelon as echelon
from .elimination import null_space as null_space
from .incidence import Incidence as Incidence
from .incidence import IntegerRows as IntegerRows
from .incidence import stack as stack
from .matching import Matching as Matching
from .matching import alternating_reach as alternating_reach
from .matching import maximum_matching as maximum_matching
from .merging import Merged as Merged
from .merging import merge as merge
from .offsets import Offsets as Offsets
from .offsets import sigma_offsets as sigma_offsets
from .peeling import Peeled as Peeled
from .peeling import peel as peel
