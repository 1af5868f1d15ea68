"""Writes the generated pages of the documentation."""
