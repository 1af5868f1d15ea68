"""Record: segments, signals, tables, plots."""
