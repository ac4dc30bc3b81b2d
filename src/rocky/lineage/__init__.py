"""Column lineage over a compiled project."""
