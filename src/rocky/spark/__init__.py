"""Spark: the only package that imports pyspark.

`interface`, `settings`, `java` and `source_files` must stay importable without it: a run that
builds nothing loads these and no pyspark.
"""
