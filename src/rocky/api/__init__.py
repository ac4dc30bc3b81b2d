"""The Python API's way in: projects from a path, compiled; runs, also on the caller's Spark."""
