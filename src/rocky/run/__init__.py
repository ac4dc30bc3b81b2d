"""Runs, floor by floor: prepare, reuse, execute (materialize: one strategy a file), record."""
