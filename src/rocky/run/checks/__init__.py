"""Checks: assertions on built tables and unit tests of models, as values and their outcomes."""
