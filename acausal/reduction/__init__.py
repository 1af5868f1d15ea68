"""Reduce: presolve, affine core, analysis of one mode, restart."""
