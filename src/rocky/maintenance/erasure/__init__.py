"""Erasure: the rows of one subject taken out of every version of the tables that carry its key."""
