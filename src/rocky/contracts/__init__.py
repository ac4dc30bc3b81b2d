"""Declared promises checked against inferred schemas."""
