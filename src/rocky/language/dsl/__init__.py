"""The `.rocky` language: pipelines of steps over tables, an optional form of a model's query.

`tokens` reads a text, `pipelines` and `expressions` make its tree, `lowering` turns the tree into
Spark SQL that knows where each piece was written, `layout` writes the tree anew. Nothing after
this package sees anything but Spark SQL.
"""
