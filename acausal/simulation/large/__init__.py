"""Large models: equations, motions and runs with sparse matrices."""
