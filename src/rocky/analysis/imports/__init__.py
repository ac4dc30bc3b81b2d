"""Contracts across projects: what one publishes, what another reads of it."""
