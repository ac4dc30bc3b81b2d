"""The engine: what a run needs of Spark as a protocol, and Spark behind it."""
