"""Snapshots: the history of the rows of one table."""
