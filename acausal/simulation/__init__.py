"""Run: programs, instants, the choice of modes, the loop."""
