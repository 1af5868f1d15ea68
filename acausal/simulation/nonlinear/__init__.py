"""Nonlinear models: their equations along a motion, integrated numerically, with located crossings."""
