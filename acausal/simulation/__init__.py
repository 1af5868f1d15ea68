"""Run: starts, instants, the choice of modes, segments, the loop."""
