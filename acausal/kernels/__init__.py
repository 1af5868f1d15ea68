"""Inner loops on plain arrays: one source, run by Python as it is, and compiled when the package is built.

The dialect: loops and scalars; arrays are arguments, records of them are named tuples; nothing is allocated, raised, kept or
returned but numbers. So the same source gives the same bits interpreted and compiled.
"""
