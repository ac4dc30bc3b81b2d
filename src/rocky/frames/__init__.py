"""DataFrame code before it runs: plans of PySpark's client, without a server, read by our binder.

A plan is lowered to Spark SQL text, layer by layer, and bound as any model is; the place of each
piece leads back to the call in the author's file.
"""
