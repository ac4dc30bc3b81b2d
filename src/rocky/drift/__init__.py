"""Drift: a live source held against its copy, and what is to be done about the difference."""
