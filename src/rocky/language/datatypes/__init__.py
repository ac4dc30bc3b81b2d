"""Spark's data types, their text forms, and the rules by which they meet."""
