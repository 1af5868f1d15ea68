"""Flatten: a tree of components becomes one model of arrays, by batches of instances."""

from .flat_model import Batch as Batch
from .flat_model import FlatModel as FlatModel
from .flat_model import parameter_vector as parameter_vector
from .flat_model import start_values as start_values
from .flatten import flatten as flatten
from .flatten import overrides as overrides
