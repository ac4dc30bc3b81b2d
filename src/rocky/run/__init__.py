"""Runs, in order: prepare, reuse, execute (materialize: one strategy a file), record."""
