"""Readers of a Compilation: lineage, lints, contracts, changes, imports; and that value itself."""
