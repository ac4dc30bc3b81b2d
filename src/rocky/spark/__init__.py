"""The only package that talks to pyspark."""
