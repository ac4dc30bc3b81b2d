"""Spark's functions: the generated catalogue, and hand rules for what no table can say."""
