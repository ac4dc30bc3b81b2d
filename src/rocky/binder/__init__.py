"""Syntax to typed facts, one clause a file."""
