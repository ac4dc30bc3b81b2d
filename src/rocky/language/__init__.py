"""Spark SQL as a language: its syntax, types and functions, the binder, and the IR of a model.

Nothing here reads a file, knows a project or reaches Spark: text and table schemas go in, typed
facts and findings come out. Only `syntax` and `binder` know the parser library.
"""
