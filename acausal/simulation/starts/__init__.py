"""Start: what is demanded of the first instant, the values completed from it, and what they follow from."""
