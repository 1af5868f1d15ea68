"""Emit: expressions of a reduced model as compiled functions."""
