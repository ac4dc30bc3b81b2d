"""The Python API's way in: projects from a path, compiled; runs, on the caller's own Spark or not."""
