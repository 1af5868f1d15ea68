"""Large models: the affine model with sparse rows, and what is eliminated from it."""
