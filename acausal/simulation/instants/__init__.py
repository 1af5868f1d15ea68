"""Instant: micro-steps, the search for the next mode, and why none was found."""
