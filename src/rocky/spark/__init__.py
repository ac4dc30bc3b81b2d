"""Spark: the only package that imports pyspark. It asks Spark's analyser and runs nothing."""
