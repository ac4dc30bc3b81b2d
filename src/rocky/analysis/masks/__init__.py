"""Masks: classified values hidden by typed SQL expressions, and which column gets which."""
