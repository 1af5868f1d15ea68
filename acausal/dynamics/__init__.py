"""Propagators of one segment: the exact flow of affine modes, one-step methods, and the location of zeros along both."""
